"""Privacy losses and their sums.

For two laws P and Q of an output, the privacy loss is L = ln(P/Q) under P, and infinite where Q is zero. The least
delta at an epsilon is

    delta(epsilon) = E max(0, 1 - e^(epsilon - L)).                                                                 (1)

Independent releases add their losses. The law of one loss is an `Atoms`, a `Gaussian` or a `Laplace`. Two methods
compute (1) for a sum of losses:

- `Inversion` needs no grid. As a function of l, max(0, 1 - e^(epsilon - l)) has the two-sided Laplace transform
  e^(-z epsilon)/(z (z + 1)). So (1) is the integral of M(z) e^(-z epsilon)/(z (z + 1)) along a vertical line, where
  M(z) = E e^(zL) is the product of the transforms of all releases. The trapezoidal rule converges very fast if a fair
  share of the variance is Gaussian.
- `Grid` rounds every loss up to a multiple of h and convolves the masses. Rounding up makes the loss larger, so this
  gives a delta that is too large. Had every loss been rounded down, the sum of k losses would be k h smaller. So the
  true epsilon is between the computed one and the computed one minus k h.
"""

import math

import numpy
import scipy.fft
import scipy.optimize
import scipy.special

MOST_CELLS = 2 ** 20


class Atoms:
    """Finitely many losses with their masses under P, and a mass at infinity."""

    def __init__(self, losses, masses, infinite=0.0):
        self.losses, self.masses, self.infinite = numpy.asarray(losses, float), numpy.asarray(masses, float), infinite

    def transform(self, z):
        """E e^(zL) of the finite part, for an array z."""
        z = numpy.atleast_1d(z)
        per_block = max(1, 2_000_000 // self.losses.size)
        return numpy.concatenate([numpy.exp(numpy.multiply.outer(z[i:i + per_block], self.losses)) @ self.masses
                                  for i in range(0, z.size, per_block)])

    def cells(self, h):
        """(k, masses of the losses in ((k - 1) h, k h]), where k is an array."""
        k = numpy.ceil(self.losses / h).astype(int)
        masses = numpy.bincount(k - k.min(), self.masses)
        return k.min() + numpy.arange(masses.size), masses

    def tilted_moments(self, c):
        """Mean and variance of L under the law ~ e^(cL) P."""
        weights = self.masses * numpy.exp(c * (self.losses - self.losses.max()))
        weights /= weights.sum()
        mean = weights @ self.losses
        return mean, weights @ (self.losses - mean) ** 2

    def support(self):
        return self.losses.min(), self.losses.max()


class Gaussian:
    """N(mu, 1) against N(0, 1): L ~ N(mu^2/2, mu^2)."""

    def __init__(self, mu):
        self.mu, self.infinite = mu, 0.0

    def transform(self, z):
        return numpy.exp(self.mu ** 2 / 2 * z * (z + 1))

    def cells(self, h):
        reach = 40 * self.mu
        edges = numpy.arange(math.floor((self.mu ** 2 / 2 - reach) / h), math.ceil((self.mu ** 2 / 2 + reach) / h) + 1)
        x = (edges * h - self.mu ** 2 / 2) / self.mu
        upper = x[:-1] > 0  # differences of the smaller tail keep their digits
        masses = numpy.where(upper, scipy.special.ndtr(-x[:-1]) - scipy.special.ndtr(-x[1:]),
                             scipy.special.ndtr(x[1:]) - scipy.special.ndtr(x[:-1]))
        return edges[1:], masses

    def tilted_moments(self, c):
        return self.mu ** 2 * (c + 0.5), self.mu ** 2

    def support(self):
        return -math.inf, math.inf


class Laplace:
    """Laplace noise of scale b and a shift of D, a = D/b.

    With y >= D the loss is a or -a, and between the two means it is linear in y: L = a with mass 1/2, L = -a with mass
    e^-a/2, and between them L has the density e^((l - a)/2)/4.
    """

    def __init__(self, a):
        self.a, self.infinite = a, 0.0

    def transform(self, z):
        z = numpy.atleast_1d(z).astype(complex)
        a, w = self.a, z + 0.5
        between = numpy.where(abs(w) < 1e-9, 2 * a, (numpy.exp(w * a) - numpy.exp(-w * a)) / numpy.where(w == 0, 1, w))
        return numpy.exp(z * a) / 2 + numpy.exp(-a - z * a) / 2 + math.exp(-a / 2) * between / 4

    def cells(self, h):
        k = numpy.arange(math.ceil(-self.a / h), math.ceil(self.a / h) + 1)
        high = numpy.minimum(k * h, self.a)
        low = numpy.maximum((k - 1) * h, -self.a)
        masses = numpy.exp((low - self.a) / 2) * numpy.expm1((high - low) / 2) / 2
        masses[-1] += 0.5
        masses[0] += math.exp(-self.a) / 2
        return k, masses

    def tilted_moments(self, c):
        k, masses = self.cells(self.a / 1000)
        return Atoms(k * (self.a / 1000), masses).tilted_moments(c)

    def support(self):
        return -self.a, self.a


def randomized_response(epsilon, delta=0.0):
    """The law that dominates every (epsilon, delta)-DP release: mass delta at infinity, else losses of +-epsilon."""
    q = 1 / (1 + math.exp(-epsilon))
    return Atoms([epsilon, -epsilon], [(1 - delta) * q, (1 - delta) * (1 - q)], delta)


def shifted(log_masses, shift, negligible):
    """The loss of integer noise X against X + shift. `log_masses` are those of consecutive values, up to a constant.

    The values at which X + shift has no mass have infinite loss. Values with a mass below `negligible` in all at either
    end are dropped, which makes delta smaller by no more than `negligible`.
    """
    log_masses = numpy.asarray(log_masses, float)
    masses = numpy.exp(log_masses - log_masses.max())
    masses /= masses.sum()
    infinite = float(masses[:shift].sum())
    losses, masses = log_masses[shift:] - log_masses[:-shift], masses[shift:]
    keep = (numpy.cumsum(masses) > negligible / 2) & (numpy.cumsum(masses[::-1])[::-1] > negligible / 2)
    return Atoms(losses[keep], masses[keep], infinite)


def finite_share(releases):
    """The probability that all losses are finite."""
    return math.exp(sum(count * math.log1p(-law.infinite) for law, count in releases))


def log_moment(releases, c):
    """ln E e^(cL) of the sum, for one real c; infinite or not a number where doubles overflow."""
    with numpy.errstate(all="ignore"):
        return float(sum(count * numpy.log(law.transform(numpy.array([c]))[0].real) for law, count in releases))


def best_exponent(releases, epsilon):
    """The c > 0 at which Chernoff's bound on (1) is least. It is the line to integrate along, or the tilt of masses."""
    def bound(log_c):
        c = math.exp(log_c)
        value = log_moment(releases, c) - c * epsilon - math.log(c * (c + 1))
        return value if math.isfinite(value) else 1e300
    # The bound need not be convex in log c where a transform overflows, so a coarse search comes first.
    start = min(numpy.linspace(math.log(1e-3), math.log(3000), 40), key=bound)
    found = scipy.optimize.minimize_scalar(bound, bounds=(start - 0.5, start + 0.5), method="bounded")
    return math.exp(found.x)


def first_guess(releases, delta):
    """An epsilon that is a little too large, since max(0, 1 - e^-x) <= e^(cx) c^c/(c + 1)^(c + 1) for every c > 0."""
    left = max(delta - 1 + finite_share(releases), 1e-3 * delta)

    def bound(log_c):
        c = math.exp(log_c)
        value = (log_moment(releases, c) + c * math.log(c) - (c + 1) * math.log(c + 1) - math.log(left)) / c
        return value if math.isfinite(value) else math.inf
    most = sum(count * law.support()[1] for law, count in releases)
    return max(min(most, *map(bound, numpy.linspace(math.log(1e-3), math.log(3000), 80))), 1e-4)


def tilted_moments(releases, c):
    """Mean and standard deviation of the sum under the tilted law ~ e^(cL) P."""
    moments = [(law.tilted_moments(c), count) for law, count in releases]
    return (sum(count * mean for (mean, _), count in moments),
            math.sqrt(sum(count * variance for (_, variance), count in moments)))


def tilted_range(releases, c):
    """An interval outside of which the sum has a tilted mass below e^-45 on either side, by Chernoff's bound."""
    low, high = (sum(count * law.support()[end] for law, count in releases) for end in (0, 1))
    _, spread = tilted_moments(releases, c)
    here = log_moment(releases, c)
    for s in numpy.geomspace(0.1, 100, 30) / max(spread, 1e-9):
        below, above = (sign * (log_moment(releases, c + sign * s) - here + 45) / s for sign in (-1, 1))
        low = max(low, below) if math.isfinite(below) else low
        high = min(high, above) if math.isfinite(above) else high
    return low, high


class Inversion:
    """delta(epsilon) for epsilon near `guess`, by the integral of the transforms."""

    def __init__(self, releases, guess):
        self.lost = 1 - finite_share(releases)
        c = best_exponent(releases, guess)
        gauss = sum(count * law.mu ** 2 for law, count in releases if isinstance(law, Gaussian))
        if gauss == 0:
            raise ValueError("the integral converges too slowly without a Gaussian release")
        _, spread = tilted_moments(releases, c)
        # The rule with step 2 pi/period adds the values at epsilon +- period and so on. These are negligible if the
        # period is many standard deviations long and e^(-c period) is far below delta.
        bound = math.exp(log_moment(releases, c) - c * guess)
        period = 2 * guess + 30 * spread + (40 - math.log(bound)) / c
        reach = 9.5 / math.sqrt(gauss)
        count = math.ceil(reach * period / (2 * math.pi))
        self.step = reach / count
        u = self.step * numpy.arange(count + 1)
        self.z = c + 1j * u
        values = numpy.ones(u.size, complex)
        for law, times in releases:
            values *= (law.transform(self.z) * math.exp(-c * guess / len(releases) / times)) ** times
        self.values, self.shift = values / (self.z * (self.z + 1)), guess
        self.values[0] /= 2

    def delta(self, epsilon):
        factor = numpy.exp(-self.z * (epsilon - self.shift) - 1j * self.z.imag * self.shift)
        return self.lost + self.step / math.pi * float(numpy.sum(self.values * factor).real)

    def epsilon(self, delta):
        """(epsilon, epsilon): the two ends of a bracket of no width."""
        found = root(self.delta, delta, self.shift)
        return found, found


class Grid:
    """delta(epsilon) by convolution on a grid. Losses are rounded up; `error` is the most by which their sum grows."""

    def __init__(self, releases, guess, cells=MOST_CELLS):
        self.guess = guess
        self.lost = 1 - finite_share(releases)
        # Tilting keeps the digits of small masses. More of it than this is of no use, and would need a finer grid.
        c = min(best_exponent(releases, guess), 30 / guess)
        low, high = tilted_range(releases, c)
        h = self.h = (high - low) / (cells - 2 * sum(count for _, count in releases) - 64)
        self.error = sum(count for _, count in releases) * h
        spectrum, log_mass = 1, 0.0
        for law, count in releases:
            k, masses = law.cells(h)
            masses = masses * numpy.exp(c * k * h)
            total = masses.sum()
            log_mass += count * math.log(total)
            folded = numpy.bincount(k % cells, masses / total, cells)
            spectrum = spectrum * scipy.fft.rfft(folded) ** count
        tilted = scipy.fft.irfft(spectrum, cells)
        first = math.floor(low / h) - 16
        k = first + numpy.arange(cells)
        self.losses = k * h
        # Rounding errors of the transforms are of the order of 1e-16 of the largest tilted mass.
        self.masses = numpy.roll(tilted, -(first % cells)) * numpy.exp(log_mass - c * self.losses)

    def delta(self, epsilon):
        first = numpy.searchsorted(self.losses, epsilon)
        return self.lost - float(self.masses[first:] @ numpy.expm1(epsilon - self.losses[first:]))

    def epsilon(self, delta):
        """The two ends of a bracket that holds the least epsilon."""
        high = root(self.delta, delta, self.guess)
        return max(0.0, high - self.error), high


def root(function, value, guess):
    """Where the falling function has the value; zero if that is at or below zero. The search begins at the guess."""
    low, high = 0.9 * guess, 1.1 * guess
    while function(low) <= value:
        if low < 1e-9 * guess:
            return 0.0
        low, high = low - max(0.1 * low, 0.02 * guess), low
        low = max(low, 0.0)
    while function(high) > value:
        if high > 100 * guess:
            raise ArithmeticError(f"no epsilon up to {high} has delta {value}: the guess {guess} is too far off")
        low, high = high, 1.1 * high
    # Logarithms make the function nearly straight.
    return scipy.optimize.brentq(lambda e: math.log(max(function(e), 1e-300) / value), low, high,
                                 xtol=1e-13, rtol=1e-12)
