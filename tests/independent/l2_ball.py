"""Randomizers of a vector of an l2 ball, by quadrature.

The output is a random direction: with probability p it is in the cap of directions whose height <u, v> over the
input's direction u is at least gamma, else it is outside. The height of a uniform direction in d dimensions is the
cosine of an angle with density proportional to sin^(d-2). Let r be the cap's share of the sphere, and M the integral
of the height over the cap. The two densities p/r and (1 - p)/(1 - r) must have a ratio of at most e^epsilon. The mean
height of the output is m = M (p/r - (1 - p)/(1 - r)), and the output is as long as radius/m, so that its mean is the
input.
"""

import functools
import math

import mpmath
import numpy
import scipy.optimize

from comparison import Call, Fault, at_least, at_most, equal, flipped, log_uniform, times

NAME = "l2-ball"
NODES, WEIGHTS = numpy.polynomial.legendre.leggauss(60)


def split(low, high, d):
    """Pieces of [low, high] on each of which sin^(d-2) changes little."""
    width = 1.0 / math.sqrt(d + 1)
    count = min(400, max(1, math.ceil((high - low) / width)))
    return numpy.linspace(low, high, count + 1)


def integrals(d, high):
    """The integrals of sin^(d-2) and of cos sin^(d-2) over the angles [0, high], in doubles, over that up to pi."""
    def integrate(end, with_height):
        edges = split(0.0, end, d)
        half = numpy.diff(edges)[:, None] / 2
        angle = edges[:-1, None] + half * (1 + NODES)
        value = numpy.sin(angle) ** (d - 2) * (numpy.cos(angle) if with_height else 1)
        return float(numpy.sum(half * WEIGHTS * value))
    whole = 2 * integrate(math.pi / 2, False)
    return integrate(high, False) / whole, integrate(high, True) / whole


@functools.lru_cache(maxsize=None)
def cap(d, gamma):
    """(share of the sphere, mean height over the cap times this share), with 30 digits."""
    if d == 1:
        return mpmath.mpf(1) / 2, mpmath.mpf(1) / 2
    with mpmath.workdps(30):
        high = mpmath.acos(mpmath.mpf(gamma))

        def integrate(end, with_height):
            points = [mpmath.mpf(x) for x in numpy.linspace(0, 1, min(9, 2 + math.isqrt(d)))]
            # Most of the mass is near the end of the interval, where the sine is largest.
            points = [end * (1 - (1 - x) ** 3) for x in points]
            return mpmath.quad(lambda a: mpmath.sin(a) ** (d - 2) * (mpmath.cos(a) if with_height else 1), points)
        whole = 2 * integrate(mpmath.pi / 2, False)
        return integrate(high, False) / whole, integrate(high, True) / whole


@functools.lru_cache(maxsize=None)
def best_mean(d, epsilon):
    """The largest m that any cap allows, by a search over its angle."""
    if d == 1:
        return math.tanh(epsilon / 2)

    def negative(angle):
        r, height = integrals(d, angle)
        # p = e^epsilon r/(1 + (e^epsilon - 1) r) makes the ratio of the densities e^epsilon.
        return -math.expm1(epsilon) * height / (1 + math.expm1(epsilon) * r)
    start = min(numpy.linspace(0.02, math.pi / 2, 60), key=negative)
    found = scipy.optimize.minimize_scalar(negative, bounds=(max(1e-3, start - 0.05), min(math.pi / 2, start + 0.05)),
                                           method="bounded", options={"xatol": 1e-9})
    return -found.fun


def draw(rng):
    d = rng.choice([1, 2, 3, rng.randint(4, 20), round(log_uniform(rng, 20, 800))])
    # In two dimensions bandana's stddev at the radius loses digits at a larger epsilon: 4e-6 of it at 22, 0.1 at 29.
    options = {"dimension": d, "epsilon": log_uniform(rng, 0.02, 12), "radius": log_uniform(rng, 0.1, 100)}
    kind = rng.random()
    if kind < 0.2:
        options["calibration"] = "paper"
    elif kind < 0.4:
        options["randomizer"] = "duchi"
    return Call("calibrate", options, "l2-ball")


def compare(call, answer):
    asked = call.options
    d, epsilon, radius = asked["dimension"], asked["epsilon"], asked["radius"]
    p, gamma = mpmath.mpf(answer["p"]), answer["gamma"]
    r, height = cap(d, gamma)
    truth = mpmath.log(p / (1 - p) * (1 - r) / r)
    mean = height * (p / r - (1 - p) / (1 - r))
    yield equal("share of the sphere in the cap", answer["cap_mass"], r, 1e-11,
                "rounding of the incomplete beta function")
    yield equal("length over radius", answer["scale"], 1 / mean, 1e-9, "rounding where 1/m is computed from p and r")
    yield equal("length", answer["length"], radius / mean, 1e-9, "rounding of the same")
    yield equal("stddev at zero", answer["stddev"], radius / (mean * mpmath.sqrt(d)), 1e-9, "rounding of the same")
    at_radius = radius * mpmath.sqrt(max(0, 1 / mean ** 2 - 1) / d)
    yield equal("stddev at the radius", answer["stddev_at_radius"], at_radius, 1e-7, "rounding of a difference")
    if answer["mechanism"] == "duchi":
        ratio = mpmath.gamma(mpmath.mpf(d + 1) / 2) / mpmath.gamma(mpmath.mpf(d) / 2 + 1)
        duchi = mpmath.sqrt(mpmath.pi) / 2 * mpmath.coth(mpmath.mpf(epsilon) / 2) * d * ratio
        yield equal("scale of Duchi et al.", answer["scale"], duchi, max(1e-9, 2e-11 / epsilon), LESS_EPSILON)
    else:
        yield at_most("no cap has a smaller scale", answer["scale"], 1 / best_mean(d, epsilon),
                      max(1e-9, 2e-11 / epsilon), LESS_EPSILON)
    yield at_most("p is private", truth, epsilon, 0, "30 digits")
    yield at_least("p is the largest", truth, epsilon, max(1e-9, 3e-11 / epsilon), LESS_EPSILON)
    yield at_least("delivered epsilon is true", answer["delivered"]["epsilon"], truth, 0, "30 digits")
    yield at_most("delivered epsilon is the least", answer["delivered"]["epsilon"], truth, max(1e-9, 3e-11 / epsilon),
                  LESS_EPSILON)
    yield equal("delivered delta", answer["delivered"]["delta"], 0, 0, "the randomizer is purely private")
    yield equal("met", answer["met"], answer["delivered"]["epsilon"] <= epsilon, 0, "it is a comparison")


LESS_EPSILON = "docs/proofs/l2-ball.md: p is set for epsilon - 1e-11, and 5e-12 is added to what is delivered"


def odds(factor):
    """An edit that multiplies the odds p : 1 - p."""
    def edit(answer):
        q = answer["p"] / (1 - answer["p"]) * factor
        answer["p"] = q / (1 + q)
        return answer
    return edit


FAULTS = [
    Fault("odds of the cap 1 % too large", odds(1.01)),
    Fault("odds of the cap 1 % too small", odds(0.99)),
    Fault("gamma off by 1 %", times("gamma", 1.01)),
    Fault("cap's share off by 1 %", times("cap_mass", 0.99)),
    Fault("scale off by 1 %", times("scale", 1.01)),
    Fault("length off by 1 %", times("length", 0.99)),
    Fault("stddev off by 1 %", times("stddev", 0.99)),
    Fault("stddev at the radius off by 1 %", times("stddev_at_radius", 0.99)),
    Fault("epsilon understated by 1 %", times("delivered.epsilon", 0.99)),
    Fault("epsilon overstated by 1 %", times("delivered.epsilon", 1.01)),
    Fault("a delta", lambda answer: answer | {"delivered": answer["delivered"] | {"delta": 1e-6}}),
    Fault("met is negated", flipped("met")),
]
