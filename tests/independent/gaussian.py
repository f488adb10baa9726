"""The Gaussian mechanism: N(mu, 1) against N(0, 1), mu = sensitivity / sigma.

The privacy loss ln(p/q) is mu x - mu^2/2, so it is above epsilon where x > epsilon/mu + mu/2. Hence the least delta is

    delta(epsilon) = P(N(mu, 1) > c) - e^epsilon P(N(0, 1) > c),   c = epsilon/mu + mu/2,

which is the formula of Balle and Wang (2018). mpmath computes it with 60 digits.
"""

import functools
import itertools
import math

import mpmath
import numpy

from comparison import Call, Fault, at_least, at_most, equal, flipped, log_uniform, times

NAME = "gaussian"
mpmath.mp.dps = 60
ROUNDED_UP = "bandana rounds the end of its bracket up"
BRACKET = "width of bandana's bracket and rounding of doubles"


def upper_tail(x):
    return mpmath.erfc(x / mpmath.sqrt(2)) / 2


def least_delta(epsilon, mu):
    epsilon, mu = mpmath.mpf(epsilon), mpmath.mpf(mu)
    c = epsilon / mu + mu / 2
    return upper_tail(c - mu) - mpmath.exp(epsilon) * upper_tail(c)


def bisect(function, low, high, steps=110):
    """The root of an increasing function, by halving."""
    for _ in range(steps):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return (low + high) / 2


@functools.lru_cache(maxsize=None)
def least_epsilon(delta, mu):
    """Zero if even epsilon = 0 has a smaller delta."""
    if least_delta(0, mu) <= delta:
        return mpmath.mpf(0)
    high = mpmath.mpf(1)
    while least_delta(high, mu) > delta:
        high *= 2
    return bisect(lambda epsilon: delta - least_delta(epsilon, mu), mpmath.mpf(0), high)


@functools.lru_cache(maxsize=None)
def least_multiplier(epsilon, delta):
    """The least sigma / sensitivity."""
    log_mu = bisect(lambda t: least_delta(epsilon, mpmath.exp(t)) - delta, mpmath.mpf(-40), mpmath.mpf(12))
    return mpmath.exp(-log_mu)


def corners(shape, dimension, bound):
    """Vectors among which are the longest of the shape, and two that are the farthest apart."""
    if shape == "box":
        far = numpy.full(dimension, bound)
    elif shape == "l1":
        far = numpy.eye(dimension)[0] * bound
    else:  # the diagonal, which is the longest in l1 and as long as any other in l2
        far = numpy.full(dimension, bound / math.sqrt(dimension))
    return [far, -far, *(numpy.eye(dimension)[:2] * bound)]


def shape_sensitivity(shape, dimension, bound, neighbours, norm):
    """The largest change of a sum over vectors of the shape, found among its corners.

    A symmetric matrix v v' gets noise whose diagonal is sqrt2 times as large. A change of the diagonal therefore counts
    1/sqrt2, and each entry above the diagonal counts once.
    """
    if shape == "symmetric":
        vectors = corners("l2", dimension, bound)[2:]

        def size(change):
            return math.sqrt(numpy.sum(numpy.diag(change) ** 2) / 2 + numpy.sum(numpy.triu(change, 1) ** 2))
        points = [numpy.outer(v, v) for v in vectors] + [numpy.zeros((dimension, dimension))]
        none = points[-1]
    else:
        def size(change):
            return numpy.linalg.norm(change, norm)
        points = corners(shape, dimension, bound)
        none = numpy.zeros(dimension)
    if neighbours == "add-remove":
        return max(size(point - none) for point in points)
    return max(size(a - b) for a, b in itertools.combinations(points, 2))


def draw(rng):
    epsilon, delta = log_uniform(rng, 1e-3, 40), log_uniform(rng, 1e-14, 0.2)
    options = {"epsilon": epsilon, "delta": delta}
    if rng.random() < 0.5:
        options["sensitivity"] = log_uniform(rng, 1e-3, 1e3)
    else:
        options |= {"shape": rng.choice(["box", "l1", "l2", "symmetric"]), "dimension": rng.randint(1, 40),
                    "bound": log_uniform(rng, 1e-2, 1e2), "neighbours": rng.choice(["replace-one", "add-remove"])}
    options["calibration"] = rng.choice(["tight", "tight", "paper"])
    return Call("calibrate", options, "gaussian")


def compare(call, answer):
    asked = call.options
    epsilon, delta, sigma = asked["epsilon"], asked["delta"], answer["sigma"]
    sensitivity = asked.get("sensitivity")
    if sensitivity is None:
        sensitivity = shape_sensitivity(asked["shape"], asked["dimension"], asked["bound"], asked["neighbours"], 2)
    yield equal("sensitivity", answer["sensitivity"], sensitivity, 1e-12, "rounding of roots and products")
    yield equal("multiplier", answer["multiplier"], sigma / answer["sensitivity"], 1e-12, "rounding of a quotient")
    if "sigma_diagonal" in answer:
        yield equal("sigma on the diagonal", answer["sigma_diagonal"], math.sqrt(2) * sigma, 1e-12,
                    "rounding of a root")
    if asked["calibration"] == "tight":
        least = sensitivity * least_multiplier(epsilon, delta)
        yield at_least("sigma is enough", sigma, least, 1e-14,
                       ROUNDED_UP + "; ours has the rounding of the sensitivity")
        yield at_most("sigma is the least", sigma, least, 1e-9, BRACKET)
    else:
        classic = sensitivity * mpmath.sqrt(2 * mpmath.log(1.25 / mpmath.mpf(delta))) / epsilon
        yield equal("sigma of the classic formula", sigma, classic, 1e-12, "rounding of a root and a quotient")
    truth = least_epsilon(answer["delivered"]["delta"], sensitivity / mpmath.mpf(sigma))
    yield from delivered(answer, truth, epsilon, delta)


def delivered(answer, truth, epsilon, delta):
    """What every (epsilon, delta) of Gaussian noise must satisfy."""
    yield equal("delivered delta is the asked one", answer["delivered"]["delta"], delta, 0, "it is copied")
    yield at_least("delivered epsilon is true", answer["delivered"]["epsilon"], truth, 1e-11,
                   ROUNDED_UP + "; a tight sigma may deliver exactly the asked epsilon")
    yield at_most("delivered epsilon is the least", answer["delivered"]["epsilon"], truth, 1e-8, BRACKET)
    yield equal("met", answer["met"], answer["delivered"]["epsilon"] <= epsilon, 0, "it is a comparison")


FAULTS = [
    Fault("half the noise", times("sigma", 0.5)),
    Fault("1 % less noise", times("sigma", 0.99)),
    Fault("1 % more noise", times("sigma", 1.01)),
    Fault("epsilon understated by 1 %", times("delivered.epsilon", 0.99)),
    Fault("epsilon overstated by 1 %", times("delivered.epsilon", 1.01)),
    Fault("delta understated by 1 %", times("delivered.delta", 0.99)),
    Fault("sensitivity off by 1 %", times("sensitivity", 0.99)),
    Fault("multiplier off by 1 %", times("multiplier", 1.01)),
    Fault("noise of the diagonal as elsewhere", times("sigma_diagonal", 2 ** -0.5)),
    Fault("met is negated", flipped("met")),
]
