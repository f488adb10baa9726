"""Laplace noise, on the real line and on a grid, with exact fractions.

Noise of scale s on a statistic that moves by at most D in l1 has the privacy loss (|y - b| - |y - a|)/s, which reaches
its largest value D/s. So epsilon = D/s is the least, and s must be at least D/epsilon.
"""

import math
from fractions import Fraction

import mpmath

from comparison import Call, Fault, at_least, at_most, equal, flipped, log_uniform, times, plus
from gaussian import shape_sensitivity

NAME = "laplace"


def draw(rng):
    options = {"epsilon": log_uniform(rng, 1e-3, 40)}
    if rng.random() < 0.5:
        options["range"] = log_uniform(rng, 1e-3, 1e3)
    else:
        options |= {"shape": rng.choice(["box", "l1", "l2"]), "dimension": rng.randint(1, 40),
                    "bound": log_uniform(rng, 1e-2, 1e2), "neighbours": rng.choice(["replace-one", "add-remove"])}
    if rng.random() < 0.5:
        options["unit"] = log_uniform(rng, 1e-6, 1e-1)
    elif "range" in options and rng.random() < 0.4:
        options["calibration"] = "paper"
    return Call("calibrate", options, "laplace")


def compare(call, answer):
    asked = call.options
    epsilon = Fraction(asked["epsilon"])
    if "range" in asked:
        sensitivity, dimension = Fraction(asked["range"]), 1
    else:
        dimension = asked["dimension"]
        sensitivity = Fraction(shape_sensitivity(asked["shape"], dimension, asked["bound"], asked["neighbours"], 1))
    if "unit" in asked:
        yield from compare_grid(asked, answer, sensitivity, dimension)
        scale = Fraction(answer["scale_numerator"], answer["scale_denominator"])
        truth = answer["sensitivity_units"] / scale
    else:
        scale = Fraction(answer["scale"])
        yield equal("sensitivity", answer["sensitivity"], sensitivity, 1e-12, "rounding of roots and products")
        yield equal("stddev", answer["stddev"], math.sqrt(2) * scale, 1e-12, "rounding of a root")
        least = sensitivity / epsilon
        if asked.get("calibration") == "paper":
            yield equal("scale of P2's formula", scale, least / 2, 1e-12, "rounding of a quotient")
        else:
            exact = "range" in asked
            yield at_least("scale is enough", scale, least, 0 if exact else 1e-14,
                           "fractions are exact" if exact else "our sensitivity has the rounding of a root")
            yield at_most("scale is the least", scale, least, 1e-14, "bandana rounds up to a double")
        truth = sensitivity / scale
    yield at_least("delivered epsilon is true", answer["delivered"]["epsilon"], truth, 1e-14,
                   "our sensitivity and bandana's quotient are rounded doubles")
    yield at_most("delivered epsilon is the least", answer["delivered"]["epsilon"], truth, 1e-12, "rounding of doubles")
    yield equal("delivered delta", answer["delivered"]["delta"], 0, 0, "Laplace noise is purely private")
    yield equal("met", answer["met"], answer["delivered"]["epsilon"] <= asked["epsilon"], 0, "it is a comparison")


def compare_grid(asked, answer, sensitivity, dimension):
    """The noise P(k) ~ exp(-|k|/t), t = numerator/denominator, in units of the grid."""
    unit = Fraction(asked["unit"])
    # Rounding to the nearest unit moves an entry that changes by y units by at most ceil(y). The sum of these over d
    # entries is a whole number below (the sum of the y) + d.
    exact = sensitivity / unit
    units = math.ceil(exact) + dimension - 1
    yield at_least("sensitivity in units is enough", answer["sensitivity_units"], units, 0 if dimension == 1 else 1e-14,
                   "whole numbers; in several dimensions our sensitivity is a rounded double")
    yield at_most("sensitivity in units is the least", answer["sensitivity_units"], units + 1, 1e-14,
                  "one unit more is allowed, because a quotient that is nearly whole may be rounded up")
    t = Fraction(answer["scale_numerator"], answer["scale_denominator"])
    least = answer["sensitivity_units"] / Fraction(asked["epsilon"])
    yield at_least("scale on the grid is enough", t, least, 0, "fractions are exact")
    yield at_most("scale on the grid is the least", t, least, 1e-6,
                  "the numerator is a whole number of at least 20 bits")
    yield equal("scale", answer["scale"], t * unit, 1e-12, "rounding of a product")
    yield equal("stddev", answer["stddev"], float(unit) * grid_stddev(t), 1e-9, "rounding of doubles")
    yield equal("sensitivity", answer["sensitivity"], answer["sensitivity_units"] * unit, 1e-12,
                "rounding of a product")


def grid_stddev(t):
    """By summation where the law has few values, else by the sums of the geometric series."""
    t = mpmath.mpf(t.numerator) / t.denominator
    a = mpmath.exp(-1 / t)
    if t < 50:
        weights = [a ** k for k in range(int(t * 80) + 10)]
        mass = 2 * mpmath.fsum(weights) - 1
        return float(mpmath.sqrt(2 * mpmath.fsum(k * k * weight for k, weight in enumerate(weights)) / mass))
    return float(mpmath.sqrt(2 * a) / (1 - a))


FAULTS = [
    Fault("half the noise", times("scale", 0.5)),
    Fault("1 % less noise", times("scale", 0.99)),
    Fault("1 % more noise", times("scale", 1.01)),
    Fault("half the noise on the grid", times("scale_denominator", 2)),
    Fault("twice the noise on the grid", times("scale_numerator", 2)),
    Fault("the grid's sensitivity is a unit too small", plus("sensitivity_units", -1)),
    Fault("the grid's sensitivity is two units too large", plus("sensitivity_units", 2)),
    Fault("sensitivity off by 1 %", times("sensitivity", 0.99)),
    Fault("stddev off by 1 %", times("stddev", 1.01)),
    Fault("epsilon understated by 1 %", times("delivered.epsilon", 0.99)),
    Fault("epsilon overstated by 1 %", times("delivered.epsilon", 1.01)),
    Fault("a delta", lambda answer: answer | {"delivered": answer["delivered"] | {"delta": 1e-6}}),
    Fault("met is negated", flipped("met")),
]
