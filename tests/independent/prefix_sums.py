"""Running sums of a stream, by explicit matrices.

A mechanism releases C x + noise and estimates all prefix sums A x, A the lower triangle of ones, as B times the
released values, B C = A. One record changes one entry of x by at most D, so the sensitivity is D times the longest
column of C. The estimate at step t has the variance sigma^2 |row t of B|^2.
"""

import functools
import math

import mpmath
import numpy

import gaussian
from comparison import Call, Fault, at_least, at_most, equal, flipped, log_uniform, plus, times

NAME = "prefix-sum"
MECHANISMS = ("tree", "honaker", "toeplitz")
SMALL = 160  # up to here whole matrices are built


def tree_matrix(n):
    """The rows of the tree's nodes with the step at which each is released: a node is complete at its last step."""
    rows, steps = [], []
    for t in range(1, n + 1):
        length = 1
        while t % length == 0:
            row = numpy.zeros(n)
            row[t - length:t] = 1
            rows.append(row)
            steps.append(t)
            length *= 2
    return numpy.array(rows), numpy.array(steps)


def tree_variances(n):
    """A prefix is the union of the largest nodes that fit, one after the other."""
    variances = []
    for t in range(1, n + 1):
        nodes, rest = 0, t
        while rest:
            rest -= 1 << (rest.bit_length() - 1)
            nodes += 1
        variances.append(nodes)
    return numpy.array(variances, float)


def least_squares_variances(n):
    """The least variance of an unbiased estimate of each prefix from the nodes that are released by then."""
    matrix, steps = tree_matrix(n)
    variances = []
    for t in range(1, n + 1):
        seen = matrix[steps <= t][:, :t]
        ones = numpy.ones(t)
        variances.append(ones @ numpy.linalg.solve(seen.T @ seen, ones))
    return numpy.array(variances)


def root_matrix(n):
    """The lower triangular Toeplitz matrix C with C C = A, entry by entry from that equation."""
    c = numpy.zeros(n)
    c[0] = 1
    for k in range(1, n):  # the sum over i of c_i c_(k-i) is 1
        c[k] = (1 - c[1:k] @ c[k - 1:0:-1]) / 2
    return numpy.array([[c[i - j] if i >= j else 0.0 for j in range(n)] for i in range(n)])


@functools.lru_cache(maxsize=None)
def strategy(mechanism, n):
    """(length of the longest column, largest variance, last variance, released values), for noise of variance 1."""
    if n <= SMALL:
        if mechanism == "toeplitz":
            matrix = root_matrix(n)
            variances = numpy.sum(matrix ** 2, axis=1)
        else:
            matrix = tree_matrix(n)[0]
            variances = tree_variances(n) if mechanism == "tree" else least_squares_variances(n)
        return (numpy.sqrt(numpy.max(numpy.sum(matrix ** 2, axis=0))), variances.max(), variances[-1], len(matrix))
    if mechanism == "toeplitz":
        k = numpy.arange(1, n)
        squares = numpy.concatenate([[1.0], numpy.cumprod(((2 * k - 1) / (2 * k)) ** 2)])
        total = math.fsum(squares)
        return math.sqrt(total), total, total, n
    # The first step is in one node of each length up to n. Nodes are estimated from themselves and their halves.
    lengths = [1 << h for h in range(n.bit_length())]
    weight = [1.0]
    for _ in lengths[1:]:
        weight.append(1.0 if mechanism == "tree" else 1 / (1 + 1 / (2 * weight[-1])))
    t = numpy.arange(1, n + 1)
    variances = sum(((t >> h) & 1) * weight[h] for h in range(len(lengths)))
    return math.sqrt(len(lengths)), variances.max(), variances[-1], sum(n // length for length in lengths)


def memory(mechanism, n):
    """The values that are kept per coordinate: all of them, or one of each length."""
    return n if mechanism == "toeplitz" else n.bit_length()


def draw(rng):
    n = rng.randint(1, SMALL) if rng.random() < 0.6 else round(log_uniform(rng, SMALL, 1_000_000))
    options = {"n": n, "epsilon": log_uniform(rng, 1e-2, 20), "delta": log_uniform(rng, 1e-12, 0.1),
               "sensitivity": log_uniform(rng, 1e-2, 1e2)}
    kind = rng.random()
    if kind < 0.25:
        options["calibration"] = "paper"
    elif kind < 0.65:
        options["mechanism"] = rng.choice(MECHANISMS)
    elif kind < 0.85:
        options["memory"] = rng.randint(n.bit_length(), n)
    return Call("calibrate", options, "prefix-sum")


def compare(call, answer):
    asked = call.options
    n, epsilon, delta, change = (asked[key] for key in ("n", "epsilon", "delta", "sensitivity"))
    multiplier = gaussian.least_multiplier(epsilon, delta)
    chosen, sigma = answer["mechanism"], answer["sigma"]
    stddevs = {}
    for mechanism in MECHANISMS:
        column, most, _, released = strategy(mechanism, n)
        stddevs[mechanism] = float(multiplier * column * change * math.sqrt(most))
        other = next(each for each in answer["alternatives"] if each["mechanism"] == mechanism)
        yield equal(f"sigma of {mechanism} in the table", other["sigma"], multiplier * column * change, 1e-9, ROUNDING)
        yield equal(f"stddev of {mechanism} in the table", other["stddev"], stddevs[mechanism], 1e-9, ROUNDING)
        yield equal(f"memory of {mechanism} in the table", other["memory"], memory(mechanism, n), 0, "whole numbers")
        yield equal(f"bits of {mechanism} in the table", other["bits_per_coordinate"], 64 * released / n, 1e-12,
                    "rounding of a quotient")

    column, most, last, released = strategy(chosen, n)
    sensitivity = column * change
    if asked.get("calibration") == "paper":
        levels = 1 + (n - 1).bit_length()  # 1 + ceil(log2 n)
        paper = 4 * mpmath.sqrt(levels) * change * mpmath.log(2 / mpmath.mpf(delta)) / epsilon
        yield equal("sigma of P3's formula", sigma, paper, 1e-9, "rounding of doubles")
    else:
        allowed = [each for each in MECHANISMS if memory(each, n) <= asked.get("memory", n)]
        wanted = [asked["mechanism"]] if "mechanism" in asked else allowed
        yield equal("the mechanism is allowed", chosen in wanted, True, 0, "it is a choice")
        yield at_most("the mechanism has the least stddev", answer["stddev"], min(stddevs[each] for each in wanted),
                      1e-9, ROUNDING)
        yield at_least("sigma is enough", sigma, multiplier * sensitivity, 1e-13, "rounding of our longest column")
        yield at_most("sigma is the least", sigma, multiplier * sensitivity, 1e-9, ROUNDING)
    yield equal("sensitivity", answer["sensitivity"], sensitivity, 1e-11, "bandana adds 1e-12 to a column's length")
    yield equal("stddev", answer["stddev"], sigma * math.sqrt(most), 1e-9, "rounding of our least squares")
    yield equal("largest variance", answer["max_variance"], sigma ** 2 * most, 1e-9, "rounding of our least squares")
    yield equal("stddev at the last step", answer["last_stddev"], sigma * math.sqrt(last), 1e-9,
                "rounding of our least squares")
    yield equal("memory", answer["memory"], memory(chosen, n), 0, "whole numbers")
    yield equal("released values", answer["released"], released, 0, "whole numbers")
    yield equal("bits per coordinate", answer["bits_per_coordinate"], 64 * released / n, 1e-12,
                "rounding of a quotient")
    truth = gaussian.least_epsilon(answer["delivered"]["delta"], sensitivity / mpmath.mpf(sigma))
    yield from gaussian.delivered(answer, truth, epsilon, delta)


ROUNDING = "width of bandana's bracket, and 1e-12 that it adds to a column's length"


def edit_table(mechanism, key, factor):
    def edit(answer):
        for each in answer["alternatives"]:
            if each["mechanism"] == mechanism:
                each[key] *= factor
        return answer
    return edit


def other_mechanism(answer):
    """Names another mechanism than the one whose numbers are given."""
    answer["mechanism"] = "tree" if answer["mechanism"] == "toeplitz" else "toeplitz"
    return answer


FAULTS = [
    Fault("half the noise", times("sigma", 0.5)),
    Fault("1 % less noise", times("sigma", 0.99)),
    Fault("1 % more noise", times("sigma", 1.01)),
    Fault("sensitivity off by 1 %", times("sensitivity", 0.99)),
    Fault("stddev off by 1 %", times("stddev", 1.01)),
    Fault("largest variance off by 1 %", times("max_variance", 0.99)),
    Fault("stddev at the last step off by 1 %", times("last_stddev", 0.99)),
    Fault("memory off by one", plus("memory", 1)),
    Fault("released values off by one", plus("released", 1)),
    Fault("bits off by 1 %", times("bits_per_coordinate", 1.01)),
    Fault("another mechanism", lambda answer: other_mechanism(answer) if answer["released"] > 1 else None),
    Fault("epsilon understated by 1 %", times("delivered.epsilon", 0.99)),
    Fault("epsilon overstated by 1 %", times("delivered.epsilon", 1.01)),
    Fault("delta understated by 1 %", times("delivered.delta", 0.99)),
    Fault("met is negated", flipped("met")),
    *(Fault(f"{key} of {mechanism} in the table off", edit_table(mechanism, key, 2 if key == "memory" else 1.01))
      for mechanism in MECHANISMS for key in ("sigma", "stddev", "memory", "bits_per_coordinate")),
]
