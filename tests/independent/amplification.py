"""Amplification by shuffling, by direct summation.

Feldman, McMillan and Talwar (2021), Theorem 3.2: what the server sees of n shuffled reports of an epsilon0-LDP
randomizer is a function of (A + D, C - A + 1 - D) or of (A + 1 - D, C - A + D), where C ~ Bin(n - 1, e^-epsilon0), A
~ Bin(C, 1/2) and D ~ Ber(e^epsilon0/(e^epsilon0 + 1)). delta(epsilon) is the hockey stick divergence of these two
laws.
"""

import functools
import math

import mpmath
import numpy
import scipy.optimize
import scipy.special
import scipy.stats

from comparison import Call, Fault, at_least, at_most, equal, flipped, log_uniform, times
from losses import Atoms

NAME = "amplification"
FEW = 24  # up to here all outcomes are summed with many digits
BETA = "accuracy of scipy's incomplete beta function"
DOCUMENTED = "docs/proofs/amplification.md: delta is too large by at most 1e-7 of itself, up to units of rounding"


@functools.lru_cache(maxsize=4)
def outcomes(n, epsilon0):
    """The probabilities of all outcomes under the two laws, with 60 digits."""
    u = mpmath.exp(-mpmath.mpf(epsilon0))
    q = 1 / (1 + u)
    pairs = []
    for c in range(n):
        weight = math.comb(n - 1, c) * u ** c * (1 - u) ** (n - 1 - c) / 2 ** c
        for k in range(c + 2):  # the first count of the pair
            before, here = (math.comb(c, k - 1) if k else 0), math.comb(c, k)
            pairs.append((weight * (q * before + (1 - q) * here), weight * ((1 - q) * before + q * here)))
    return pairs


def exact_delta(n, epsilon0, epsilon):
    if epsilon >= epsilon0:
        return 0
    e = mpmath.exp(mpmath.mpf(epsilon))
    return mpmath.fsum(max(0, first - e * second) for first, second in outcomes(n, epsilon0))


def clones(n, u, negligible):
    """The likely values of C ~ Bin(n - 1, u), and their probabilities."""
    low = int(scipy.stats.binom.ppf(negligible, n - 1, u))
    high = int(scipy.stats.binom.isf(negligible, n - 1, u))
    c = numpy.arange(max(0, low - 1), min(n - 1, high + 1) + 1)
    return c, scipy.stats.binom.pmf(c, n - 1, u)


def summed_delta(n, epsilon0, epsilon):
    """The same in doubles.

    Given C = c, P/Q grows with the first count, so the largest P(S) - e^epsilon Q(S) is reached on a half-line
    S = {k, k + 1, ...}. Three k around the place where P = e^epsilon Q are tried, against rounding.
    """
    u, e = math.exp(-epsilon0), math.exp(epsilon)
    q = 1 / (1 + u)
    if epsilon >= epsilon0:
        return 0.0
    c, weights = clones(n, u, 1e-22)
    # P/Q = (q t + 1 - q)/((1 - q) t + q) with t = k/(c + 1 - k).
    t = (e * q - (1 - q)) / (q - e * (1 - q))
    middle = numpy.ceil(t / (1 + t) * (c + 1))
    best = numpy.zeros(c.size)
    tails = [at_least_heads(c, middle + j) for j in (-2, -1, 0, 1)]
    for from_before, from_k in zip(tails, tails[1:]):
        best = numpy.maximum(best, (q - e * (1 - q)) * from_before - (e * q - (1 - q)) * from_k)
    return float(numpy.sum(weights * best))


def at_least_heads(c, k):
    """P(Bin(c, 1/2) >= k)."""
    inside = scipy.special.betainc(numpy.maximum(k, 1), numpy.maximum(c - k + 1, 1), 0.5)
    return numpy.where(k <= 0, 1.0, numpy.where(k > c, 0.0, inside))


def least_delta(n, epsilon0, epsilon):
    return exact_delta(n, epsilon0, epsilon) if n <= FEW else summed_delta(n, epsilon0, epsilon)


def largest_epsilon0(n, epsilon, delta):
    """The largest epsilon0 with delta(epsilon) <= delta; it is at least epsilon."""
    high = max(2 * epsilon, 1e-3)
    while least_delta(n, high, epsilon) <= delta:
        high *= 1.5
        if high > 60:
            return high
    return scipy.optimize.brentq(lambda e0: float(least_delta(n, e0, epsilon)) - delta, epsilon, high,
                                 xtol=1e-14, rtol=1e-12)


def closed_form(n, epsilon0, delta):
    """Theorem 3.1; None where it does not apply."""
    if not epsilon0 <= math.log(n / (16 * math.log(2 / delta))):
        return None
    e0 = math.exp(epsilon0)
    return math.log1p((e0 - 1) / (e0 + 1) * (8 * math.sqrt(e0 * math.log(4 / delta) / n) + 8 * e0 / n))


def largest_by_closed_form(n, epsilon, delta):
    most = n / (16 * math.log(2 / delta))
    if most <= 1:
        return epsilon
    most = math.log(most) * (1 - 1e-15)
    if closed_form(n, most, delta) <= epsilon:
        return max(epsilon, most)
    return max(epsilon, scipy.optimize.brentq(lambda e0: closed_form(n, e0, delta) - epsilon, 0, most, xtol=1e-14))


def loss(n, epsilon0, negligible):
    """The loss of one shuffled release as a law of atoms."""
    u = math.exp(-epsilon0)
    q = 1 / (1 + u)
    all_losses, all_masses = [], []
    c_values, weights = clones(n, u, negligible / 4)
    for c, weight in zip(c_values, weights):
        reach = math.sqrt(c * math.log(8 / negligible) / 2) + 1
        k = numpy.arange(max(0, math.floor(c / 2 - reach)), min(c + 1, math.ceil(c / 2 + reach)) + 1)
        before, here = (scipy.stats.binom.pmf(j, c, 0.5) for j in (k - 1, k))
        mass = q * before + (1 - q) * here
        # P/Q with P(k - 1)/P(k) = k/(c + 1 - k)
        all_losses.append(numpy.log((q * k + (1 - q) * (c + 1 - k)) / ((1 - q) * k + q * (c + 1 - k))))
        all_masses.append(weight * mass)
    return Atoms(numpy.concatenate(all_losses), numpy.concatenate(all_masses))


def draw(rng):
    n = rng.randint(2, FEW) if rng.random() < 0.3 else round(log_uniform(rng, FEW, 300_000))
    options = {"n": n, "delta": log_uniform(rng, 1e-10, 1e-2)}
    if rng.random() < 0.6:
        options["epsilon0"] = log_uniform(rng, 0.05, 8)
    else:
        options["epsilon"] = log_uniform(rng, 0.02, 3)
    if rng.random() < 0.3 and (options.get("epsilon") or closed_form(n, options["epsilon0"], options["delta"])):
        options["calibration"] = "paper"
    return Call("calibrate", options, "amplification")


def compare(call, answer):
    asked = call.options
    n, delta, epsilon0 = asked["n"], asked["delta"], answer["epsilon0"]
    paper = asked.get("calibration") == "paper"
    if "epsilon" in asked:
        epsilon = asked["epsilon"]
        yield equal("no gain", answer["mechanism"] == "local", epsilon0 == epsilon, 0, "it is a comparison")
        if paper:
            yield equal("epsilon0 of the closed form", epsilon0, largest_by_closed_form(n, epsilon, delta), 1e-7,
                        "width of bandana's bracket")
        else:
            most = largest_epsilon0(n, epsilon, delta)
            yield at_most("epsilon0 is not too large", epsilon0, most, 1e-9, BETA)
            yield at_least("epsilon0 is the largest", epsilon0, most, 1e-7, DOCUMENTED)
        yield equal("met", answer["met"], answer["delivered"]["epsilon"] <= epsilon, 0, "it is a comparison")
    else:
        yield equal("epsilon0 is the asked one", epsilon0, asked["epsilon0"], 0, "it is copied")
    if answer.get("closed_form") is not None:
        yield equal("closed form", answer["closed_form"], closed_form(n, epsilon0, delta), 1e-9, "rounding of doubles")
    local = answer["mechanism"] == "local"  # nothing is gained by the shuffler
    yield equal("delivered delta", answer["delivered"]["delta"], 0 if local else delta, 0, "it is copied")
    # Deltas are compared, because a small error of delta moves epsilon far where delta hardly falls with epsilon. Where
    # delta falls fast, the width of bandana's bracket of epsilon moves delta far; the second comparison takes it off.
    promised = answer["delivered"]
    truth, before = (least_delta(n, epsilon0, promised["epsilon"] * factor) for factor in (1, 1 - 1e-7))
    yield at_least("delivered delta is true at the delivered epsilon", promised["delta"], truth,
                   *((1e-30, "60 digits") if n <= FEW else (1e-8, BETA)))
    if paper and "epsilon0" in asked:
        yield equal("delivered epsilon is that of the closed form", promised["epsilon"],
                    closed_form(n, epsilon0, delta), 1e-9, "rounding of doubles")
    elif promised["epsilon"] > 0:
        yield at_most("delivered delta is the least just below the delivered epsilon", promised["delta"], before, 3e-7,
                      DOCUMENTED)


FAULTS = [
    Fault("epsilon0 understated by 1 %", times("epsilon0", 0.99)),
    Fault("epsilon0 overstated by 1 %", times("epsilon0", 1.01)),
    Fault("closed form off by 1 %", times("closed_form", 1.01)),
    Fault("epsilon understated by 1 %", times("delivered.epsilon", 0.99)),
    Fault("epsilon overstated by 1 %", times("delivered.epsilon", 1.01)),
    Fault("delta understated by 1 %", times("delivered.delta", 0.99)),
    Fault("no gain is claimed", lambda answer: answer | {"mechanism": "local"}
          if answer["asked"] and answer["mechanism"] != "local" else None),
    Fault("met is negated", lambda answer: flipped("met")(answer) if answer["asked"] else None),
]
