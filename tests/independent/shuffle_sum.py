"""Shuffled binomial sums.

The server sees, in each coordinate, the value of one client plus Bin(N, p), where N counts the noise bits that the
adversary does not know. Neighbours move each coordinate by at most D steps, and the largest move is the worst. The loss
of one coordinate is ln P(X = x)/P(X = x - D), or ln P(X = x)/P(X = x + D) in the other direction. The losses of the
coordinates add.
"""

import functools
import math
from fractions import Fraction

import mpmath
import numpy

import gaussian
from comparison import Call, Fault, at_least, at_most, equal, flipped, log_uniform, plus, times
from losses import Grid, finite_share, first_guess, shifted

NAME = "shuffle-sum"
LOOSE = 3e-4
DOCUMENTED = "docs/proofs/shuffle-sum.md: epsilon exceeds the exact one by about 1e-4 of itself; ours is a bracket"


def binomial(trials, p, negligible):
    """ln P(X = x), up to a constant, for consecutive x. Values of less mass than `negligible` are left out."""
    spread = math.sqrt(trials * p * (1 - p))
    reach = spread * math.sqrt(2 * math.log(4 / negligible)) + math.log(4 / negligible)  # Bernstein
    low, high = max(0, math.floor(trials * p - reach)), min(trials, math.ceil(trials * p + reach))
    x = numpy.arange(low, high, dtype=float)
    steps = numpy.log((trials - x) / (x + 1) * (p / (1 - p)))  # P(x + 1)/P(x)
    return low, high, numpy.concatenate([[0.0], numpy.cumsum(steps)])


def coordinate(trials, shift, p, negligible, reverse=False):
    """The loss of one coordinate. `reverse` moves it downwards."""
    low, high, log_masses = binomial(trials, p, negligible)
    law = shifted(log_masses[::-1] if reverse else log_masses, shift, negligible)
    # A loss without a counterpart in the truncated law counts as infinite only at the true end of the support.
    if (high < trials) if reverse else (low > 0):
        law.infinite = 0.0
    return law


@functools.lru_cache(maxsize=None)
def least_epsilon(trials, shift, coordinates, delta, p=0.5):
    """A bracket of the least epsilon: that of the worst direction of each coordinate."""
    negligible = 1e-9 * delta / coordinates
    if p == 0.5:
        law = coordinate(trials, shift, p, negligible)
        return bracket([(law, coordinates)], delta)
    up, down = (coordinate(trials, shift, p, negligible, reverse) for reverse in (False, True))
    mixtures = [bracket([(law, count) for law, count in ((up, k), (down, coordinates - k)) if count], delta)
                for k in {0, coordinates // 2, coordinates}]
    return max(low for low, _ in mixtures), max(high for _, high in mixtures)


def bracket(releases, delta):
    if delta <= 1 - finite_share(releases):
        return math.inf, math.inf
    return Grid(releases, first_guess(releases, delta)).epsilon(delta)


def draw(rng):
    options = {"n": round(log_uniform(rng, 20, 20000)), "dimension": rng.choice([1, 2, 3, 5, 10, 20, 50]),
               "epsilon": log_uniform(rng, 0.1, 6), "delta": log_uniform(rng, 1e-9, 1e-2),
               "bound": log_uniform(rng, 0.1, 10)}
    if rng.random() < 0.4:
        options["honest-fraction"] = round(rng.uniform(0.3, 1), 2)
    if rng.random() < 0.4:
        options["colluding"] = rng.randint(1, 15)
    if rng.random() < 0.25:
        # P_VEC has so much noise that the binomial has millions of likely values; small n keep them few.
        options |= {"calibration": "paper", "n": rng.randint(20, 60), "dimension": rng.choice([1, 2, 4, 10]),
                    "epsilon": log_uniform(rng, 2, 12)}
    elif rng.random() < 0.5:
        options["loss"] = log_uniform(rng, 0.02, 0.5)
    return Call("calibrate", options, "shuffle-sum")


def compare(call, answer):
    asked = call.options
    n, s, epsilon, delta, bound = (asked[key] for key in ("n", "dimension", "epsilon", "delta", "bound"))
    g, b, p = answer["g"], answer["b"], answer["p"]
    span = 1 if p == 0.5 else 1 / math.sqrt(s)
    stddev = 2 * bound / (g * span) * math.sqrt(n * (b * p * (1 - p) + 0.25))
    multiplier = float(gaussian.least_multiplier(epsilon, delta))
    yield equal("bits", answer["bits_per_coordinate"], g + b, 0, "whole numbers")
    yield equal("stddev", answer["stddev"], stddev, 1e-9, "rounding of doubles")
    yield equal("stddev of the mean", answer["stddev_of_mean"], stddev / n, 1e-9, "rounding of doubles")
    yield equal("a trusted server's stddev", answer["gaussian_stddev"], 2 * bound * math.sqrt(s) * multiplier, 1e-8,
                "width of bandana's bracket")
    hiding = answer["hiding"]
    yield at_most("hiding clients are not too many", hiding, hiding_clients(asked, str), 0, "whole numbers")
    yield at_least("hiding clients are as many as possible", hiding, hiding_clients(asked, float), 0,
                   "whole numbers; the fraction is taken as the double that it is read as")
    if asked.get("calibration") == "paper":
        yield from compare_paper(asked, answer)
        # Bandana takes ends that are whole numbers, or nearly so, one step further outwards.
        shift, furthest = (g, g) if s == 1 else (written_range(g, s), written_range(g, s, 1e-6))
    else:
        shift = furthest = g
        yield from compare_least(asked, answer, multiplier)
    low, _ = least_epsilon(hiding * b, shift, s, answer["delivered"]["delta"], p)
    _, high = least_epsilon(hiding * b, furthest, s, answer["delivered"]["delta"], p)
    yield equal("delivered delta is the asked one", answer["delivered"]["delta"], delta, 0, "it is copied")
    yield at_least("delivered epsilon is true", answer["delivered"]["epsilon"], low, 1e-9,
                   "ours is the lower end of a bracket, with the rounding of the transforms")
    loose = LOOSE if p == 0.5 else 0.01
    yield at_most("delivered epsilon is the least", answer["delivered"]["epsilon"], high, loose,
                  DOCUMENTED if p == 0.5 else "docs/proofs/shuffle-sum.md: p = 1/4 costs less than 1 % of epsilon")
    yield equal("met", answer["met"], answer["delivered"]["epsilon"] <= epsilon, 0, "it is a comparison")


def hiding_clients(asked, read):
    """How many clients have noise that the adversary does not know: all who do not work with it, and at least one."""
    dishonest = (1 - Fraction(read(asked.get("honest-fraction", 1)))) * asked["n"]
    return max(1, asked["n"] - max(asked.get("colluding", 1), math.ceil(dishonest)))


def compare_least(asked, answer, multiplier):
    """b is the least for its g, and no smaller g is enough within the accepted loss."""
    s, epsilon, delta = (asked[key] for key in ("dimension", "epsilon", "delta"))
    g, b, hiding, loss = answer["g"], answer["b"], answer["hiding"], asked.get("loss", 0.1)

    def most_bits(levels):
        """The largest b with (b + 1) n/(4 g^2) <= (1 + loss)^2 m^2 s n/H."""
        return math.floor(4 * (1 + loss) ** 2 * multiplier ** 2 * s / hiding * levels ** 2 * (1 + 1e-9)) - 1
    yield equal("accepted loss", answer["loss"], loss, 0, "it is copied")
    yield equal("within loss", answer["within_loss"], b <= most_bits(g), 0, "it is a comparison")
    if b > 1:
        _, high = least_epsilon(hiding * (b - 1), g, s, delta)
        yield at_most("b is the least: asked epsilon is below that of b - 1", epsilon, high, LOOSE, DOCUMENTED)
    fewer = most_bits(g - 1)
    if answer["within_loss"] and fewer >= 1 and hiding * fewer >= g - 1 >= 1:
        _, high = least_epsilon(hiding * fewer, g - 1, s, delta)
        yield at_most("g is the least: asked epsilon is below that of g - 1", epsilon, high, LOOSE, DOCUMENTED)


def compare_paper(asked, answer):
    """The published constants."""
    n, s, epsilon, delta = (mpmath.mpf(asked[key]) for key in ("n", "dimension", "epsilon", "delta"))
    if s == 1:
        g = mpmath.ceil(mpmath.sqrt(n))
        b, p = mpmath.ceil(180 * g ** 2 * mpmath.log(2 / delta) / (epsilon ** 2 * n)), 0.5
    else:
        g = mpmath.ceil(max(2 * mpmath.sqrt(n), s, 4))
        b, p = mpmath.ceil(24e4 * g ** 2 * mpmath.log(4 * (s ** 2 + 1) / delta) ** 2 / (epsilon ** 2 * n)), 0.25
    yield equal("g of the paper", answer["g"], int(g), 0, "whole numbers")
    yield equal("b of the paper", answer["b"], int(b), 1e-12, "a double that is rounded up may be one larger")
    yield equal("p of the paper", answer["p"], p, 0, "it is a constant")
    yield equal("span of the paper", answer["span"], float(1 / mpmath.sqrt(s)), 1e-12, "rounding of a root")


def written_range(g, s, outwards=0.0):
    """The largest move of a coordinate in P_VEC: values lie in g/2 +- g/(2 sqrt s), and are rounded to either side."""
    half = mpmath.mpf(g) / (2 * mpmath.sqrt(s)) + outwards
    return int(mpmath.ceil(mpmath.mpf(g) / 2 + half) - mpmath.floor(mpmath.mpf(g) / 2 - half))


FAULTS = [
    Fault("half the noise bits", lambda answer: answer | {"b": answer["b"] // 2} if answer["b"] > 1 else None),
    Fault("a tenth more noise bits", lambda answer: answer | {"b": answer["b"] + max(2, answer["b"] // 10)}),
    Fault("a level more", plus("g", 1)),
    Fault("p off by 1 %", times("p", 1.01)),
    Fault("span off by 1 %", times("span", 1.01)),
    Fault("bits off by one", plus("bits_per_coordinate", 1)),
    Fault("stddev off by 1 %", times("stddev", 0.99)),
    Fault("stddev of the mean off by 1 %", times("stddev_of_mean", 0.99)),
    Fault("a trusted server's stddev off by 1 %", times("gaussian_stddev", 1.01)),
    Fault("a hiding client more", plus("hiding", 1)),
    Fault("a hiding client less", plus("hiding", -1)),
    Fault("accepted loss off by 1 %", times("loss", 1.01)),
    Fault("within loss is negated", flipped("within_loss")),
    Fault("epsilon understated by 1 %", times("delivered.epsilon", 0.99)),
    Fault("epsilon overstated by 2 %", times("delivered.epsilon", 1.02)),
    Fault("delta understated by half", times("delivered.delta", 0.5)),
    Fault("met is negated", flipped("met")),
]
