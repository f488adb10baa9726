"""How much noise a guarantee needs, and what guarantee the noise delivers.

The functions are those of `bandana calibrate`; their keyword arguments are its flags. No epsilon, delta or sensitivity has
a default.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from html import escape
from typing import Any, ClassVar, Literal, TypeVar

from bandana import _bandana, _html
from bandana._privacy import Guarantee

__all__ = [
    "Alternative",
    "Amplification",
    "Calibration",
    "GaussianNoise",
    "L2BallRandomizer",
    "LaplaceNoise",
    "PrefixSumNoise",
    "ShuffleSumNoise",
    "amplification",
    "gaussian",
    "l2_ball",
    "laplace",
    "prefix_sum",
    "shuffle_sum",
]

Formula = Literal["tight", "paper"]
Shape = Literal["box", "l1", "l2", "symmetric"]
Neighbours = Literal["replace-one", "add-remove"]


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """What all answers have in common. `stddev` and the other figures are in the units of the statistic.

    Attributes:
        mechanism: the mechanism in words.
        calibration: "tight", the least noise that is proved to be enough, or "paper", the formula of the paper.
        asked: the guarantee that was asked for, or None if the question was what a given noise delivers.
        delivered: the guarantee that the noise delivers.
        met: whether that is at least what was asked for. A formula of a paper may fail to.
        proof: the note with the proof, in docs/proofs/.
    """

    _name: ClassVar[str]

    mechanism: str
    calibration: str
    asked: Guarantee | None
    delivered: Guarantee
    met: bool
    proof: str

    def to_dict(self) -> dict[str, Any]:
        """Returns the JSON document of the command line."""
        document: dict[str, Any] = {"calibrate": self._name}
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, Guarantee):
                value = value._asdict()
            elif each.name == "alternatives":
                value = [{f.name: getattr(one, f.name) for f in fields(one)} for one in value]
            elif value is None and each.name not in ("asked", "closed_form"):
                continue
            elif each.name == "closed_form" and value == _ABSENT:
                continue
            document[each.name] = value
        return document

    def _repr_html_(self) -> str:
        rows = [["", "value"]]
        for name, value in self.to_dict().items():
            if name in ("asked", "delivered") and value is not None:
                value = f"({value['epsilon']:.6g}, {value['delta']:.3g})"
            if name not in ("calibrate", "alternatives"):
                rows.append([escape(name), escape(f"{value:.6g}" if isinstance(value, float) else str(value))])
        return _html.table(rows, caption=self._name, raw=True)


_ABSENT = "absent"


@dataclass(frozen=True, kw_only=True)
class GaussianNoise(Calibration):
    """Gaussian noise.

    Attributes:
        sigma: the standard deviation of the noise in each entry; of a symmetric matrix, off the diagonal.
        stddev: the same.
        multiplier: sigma / sensitivity.
        sensitivity: the l2 sensitivity of the whole statistic.
        sigma_diagonal: of a symmetric matrix: the standard deviation of the noise on the diagonal; else None.
    """

    _name: ClassVar[str] = "gaussian"

    sigma: float
    stddev: float
    multiplier: float
    sensitivity: float
    sigma_diagonal: float | None = None


@dataclass(frozen=True, kw_only=True)
class LaplaceNoise(Calibration):
    """Laplace noise.

    Attributes:
        scale: the scale of the noise in each entry.
        stddev: the standard deviation of the noise.
        sensitivity: the l1 sensitivity.
        sensitivity_units: of noise on a grid: the sensitivity in units of the grid; else None.
        scale_numerator: of noise on a grid: the scale in units is scale_numerator / scale_denominator; else None.
        scale_denominator: see scale_numerator.
    """

    _name: ClassVar[str] = "laplace"

    scale: float
    stddev: float
    sensitivity: float
    sensitivity_units: int | None = None
    scale_numerator: int | None = None
    scale_denominator: int | None = None


@dataclass(frozen=True)
class Alternative:
    """Another mechanism for the same running sums.

    Attributes:
        mechanism: "tree", "honaker" or "toeplitz".
        sigma: the standard deviation of the noise in each released value.
        stddev: the standard deviation of an estimated prefix sum, at the worst step.
        memory: how many values are kept per coordinate.
        bits_per_coordinate: how many bits are sent per step, on average.
    """

    mechanism: str
    sigma: float
    stddev: float
    memory: int
    bits_per_coordinate: float


@dataclass(frozen=True, kw_only=True)
class PrefixSumNoise(Calibration):
    """Noise for the running sums of a stream.

    Attributes:
        sigma: the standard deviation of the noise in each released value.
        stddev: the standard deviation of an estimated prefix sum, at the worst step.
        max_variance: stddev squared.
        last_stddev: the standard deviation of the estimate at the last step.
        sensitivity: the l2 sensitivity of all released values together.
        memory: how many values are kept per coordinate.
        released: how many values are released per coordinate, in all steps together.
        bits_per_coordinate: how many bits are sent per step, on average, with 64 bits per value.
        alternatives: the other mechanisms.
    """

    _name: ClassVar[str] = "prefix-sum"

    sigma: float
    stddev: float
    max_variance: float
    last_stddev: float
    sensitivity: float
    memory: int
    released: int
    bits_per_coordinate: float
    alternatives: tuple[Alternative, ...]


@dataclass(frozen=True, kw_only=True)
class ShuffleSumNoise(Calibration):
    """Levels and noise bits for sums in the shuffle model.

    Attributes:
        g: the levels of a coordinate.
        b: the noise bits per client and coordinate.
        p: the probability that a noise bit is one.
        bits_per_coordinate: g + b, which each client sends.
        stddev: the standard deviation of a coordinate of the sum over all clients, rounding included.
        stddev_of_mean: the standard deviation of a coordinate of the mean.
        gaussian_stddev: the noise that a trusted server would add.
        hiding: how many clients' noise counts for privacy, because the adversary does not know it.
        loss: of tight calibration: the accepted error, as a share; else None.
        within_loss: of tight calibration: whether the error is within loss; else None.
        span: of the paper's formula: the share of the levels that the range takes; else None.
    """

    _name: ClassVar[str] = "shuffle-sum"

    g: int
    b: int
    p: float
    bits_per_coordinate: int
    stddev: float
    stddev_of_mean: float
    gaussian_stddev: float
    hiding: int
    loss: float | None = None
    within_loss: bool | None = None
    span: float | None = None


@dataclass(frozen=True, kw_only=True)
class Amplification(Calibration):
    """What shuffling adds to a local randomizer.

    Attributes:
        epsilon0: the epsilon of each client's randomizer; the largest one, if epsilon was given.
        n: the number of reports that are shuffled together.
        closed_form: the epsilon by the closed form; None where it does not apply, "absent" where epsilon was given.
    """

    _name: ClassVar[str] = "amplification"

    epsilon0: float
    n: int
    closed_form: float | str | None = _ABSENT


@dataclass(frozen=True, kw_only=True)
class L2BallRandomizer(Calibration):
    """A locally private randomizer for a vector of an l2 ball.

    Attributes:
        p: the probability of the cap around the input.
        gamma: the height at which the cap begins.
        cap_mass: the share of the sphere that the cap covers.
        scale: the length of the output / radius.
        length: the length of the output.
        stddev: the root mean square error of a coordinate, at the worst input (zero).
        stddev_at_radius: the same, if the input is as long as the radius.
    """

    _name: ClassVar[str] = "l2-ball"

    p: float
    gamma: float
    cap_mass: float
    scale: float
    length: float
    stddev: float
    stddev_at_radius: float


_C = TypeVar("_C", bound=Calibration)


def _flag(name: str, value: Any) -> str:
    if hasattr(value, "item") and not isinstance(value, (int, float, str)):
        value = value.item()  # a scalar of numpy's
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise TypeError(f"{name}: a number or a word, not {type(value).__name__}")
    return value if isinstance(value, str) else repr(float(value)) if isinstance(value, float) else repr(int(value))


def _ask(kind: type[_C], **arguments: Any) -> _C:
    flags = {name: _flag(name, value) for name, value in arguments.items() if value is not None}
    answer = json.loads(_bandana.calibrate(kind._name, flags))
    del answer["calibrate"]
    for name in ("asked", "delivered"):
        if answer[name] is not None:
            answer[name] = Guarantee(answer[name]["epsilon"], answer[name]["delta"])
    if "alternatives" in answer:
        answer["alternatives"] = tuple(Alternative(**one) for one in answer["alternatives"])
    return kind(**answer)


def gaussian(
    *,
    epsilon: float,
    delta: float,
    sensitivity: float | None = None,
    shape: Shape | None = None,
    dimension: int | None = None,
    bound: float | None = None,
    neighbours: Neighbours | None = None,
    calibration: Formula = "tight",
) -> GaussianNoise:
    """Returns the Gaussian noise for (epsilon, delta)-differential privacy.

    Give `sensitivity`, or `shape` with `dimension`, `bound` and `neighbours`.

    Args:
        epsilon: the epsilon of the guarantee, > 0.
        delta: the delta of the guarantee, in (0, 1).
        sensitivity: the l2 sensitivity of the whole statistic, > 0.
        shape: the shape of what is released: "box" (each |x_i| <= bound), "l1" or "l2" (a ball of radius bound), or
            "symmetric" (the matrix v v', where v has length <= bound).
        dimension: the number of entries of x, or of v, >= 1.
        bound: the bound of the shape, > 0.
        neighbours: "replace-one" or "add-remove".
        calibration: "tight" is the least noise that we can prove to be enough; "paper" is the formula of the paper.

    Raises:
        SpecError: a value is not accepted.

    >>> gaussian(epsilon=1, delta=1e-6, sensitivity=1).sigma
    4.224678889328061
    """
    return _ask(
        GaussianNoise, epsilon=epsilon, delta=delta, sensitivity=sensitivity, shape=shape, dimension=dimension,
        bound=bound, neighbours=neighbours, calibration=calibration,
    )  # fmt: skip


def laplace(
    *,
    epsilon: float,
    range: float | None = None,
    shape: Shape | None = None,
    dimension: int | None = None,
    bound: float | None = None,
    neighbours: Neighbours | None = None,
    unit: float | None = None,
    calibration: Formula = "tight",
) -> LaplaceNoise:
    """Returns the Laplace noise for epsilon-differential privacy.

    Give `range`, or `shape` with `dimension`, `bound` and `neighbours`.

    Args:
        epsilon: the epsilon of the guarantee, > 0.
        range: the range of one number, > 0. A reward in [-1, 1] has range 2.
        shape: the shape of what is released: "box" (each |x_i| <= bound), "l1" or "l2" (a ball of radius bound).
        dimension: the number of entries of x, >= 1.
        bound: the bound of the shape, > 0.
        neighbours: "replace-one" or "add-remove".
        unit: the unit of a grid to which values are rounded, > 0. The noise is then discrete.
        calibration: "tight" is the least noise that we can prove to be enough; "paper" is the formula of the paper.

    Raises:
        SpecError: a value is not accepted.

    >>> laplace(epsilon=0.5, range=2).scale
    4.0
    """
    return _ask(
        LaplaceNoise, epsilon=epsilon, range=range, shape=shape, dimension=dimension, bound=bound,
        neighbours=neighbours, unit=unit, calibration=calibration,
    )  # fmt: skip


def prefix_sum(
    *,
    n: int,
    epsilon: float,
    delta: float,
    sensitivity: float,
    mechanism: Literal["auto", "tree", "honaker", "toeplitz"] = "auto",
    memory: int | None = None,
    calibration: Formula = "tight",
) -> PrefixSumNoise:
    """Returns the noise for the running sums of a stream, with a guarantee for the whole stream.

    Args:
        n: the number of steps, fixed beforehand, >= 1.
        epsilon: the epsilon of the guarantee, > 0.
        delta: the delta of the guarantee, in (0, 1).
        sensitivity: the largest l2 change of one increment between neighbours, > 0.
        mechanism: "auto" has the least variance at the worst step.
        memory: with mechanism "auto": the largest number of values that may be kept per coordinate; None is no limit.
        calibration: "tight" is the least noise that we can prove to be enough; "paper" is the formula of the paper.

    Raises:
        SpecError: a value is not accepted.

    >>> prefix_sum(n=1000, epsilon=1, delta=1e-6, sensitivity=1, mechanism="tree").mechanism
    'tree'
    """
    return _ask(
        PrefixSumNoise, n=n, epsilon=epsilon, delta=delta, sensitivity=sensitivity, mechanism=mechanism, memory=memory,
        calibration=calibration,
    )  # fmt: skip


def shuffle_sum(
    *,
    n: int,
    dimension: int,
    epsilon: float,
    delta: float,
    bound: float,
    colluding: int | None = None,
    honest_fraction: float | None = None,
    loss: float | None = None,
    calibration: Formula = "tight",
) -> ShuffleSumNoise:
    """Returns the levels and noise bits for sums in the shuffle model, with a guarantee against the server.

    Args:
        n: the number of clients, all of whom must report, >= 1.
        dimension: the number of coordinates of a client's vector, >= 1.
        epsilon: the epsilon of the guarantee, > 0.
        delta: the delta of the guarantee, in (0, 1).
        bound: every coordinate lies in [-bound, bound]; > 0.
        colluding: how many clients may work with the adversary, who knows their noise; None is 1.
        honest_fraction: the share of clients that follow the protocol, in (0, 1]; None is 1.
        loss: the extra error that is accepted, relative to a trusted server's Gaussian noise, > 0; None is 0.1.
        calibration: "tight" is the least noise that we can prove to be enough; "paper" is the formula of the paper.

    Raises:
        SpecError: a value is not accepted.

    >>> shuffle_sum(n=10_000, dimension=5, epsilon=1, delta=1e-6, bound=1).met
    True
    """
    return _ask(
        ShuffleSumNoise, n=n, dimension=dimension, epsilon=epsilon, delta=delta, bound=bound, colluding=colluding,
        honest_fraction=honest_fraction, loss=loss, calibration=calibration,
    )  # fmt: skip


def amplification(
    *,
    n: int,
    delta: float,
    epsilon0: float | None = None,
    epsilon: float | None = None,
    calibration: Formula = "tight",
) -> Amplification:
    """Returns the guarantee of shuffled reports of a local randomizer, or the largest epsilon0 for a guarantee.

    Give `epsilon0` or `epsilon`.

    Args:
        n: the number of reports that are shuffled together, of clients who do not work with the adversary, >= 1.
        delta: the delta of the guarantee, in (0, 1).
        epsilon0: the epsilon of the randomizer, > 0. The answer is the guarantee of what the server sees.
        epsilon: the epsilon of what the server sees, > 0. The answer is the largest epsilon0.
        calibration: "tight" is the numerical bound; "paper" is the closed form.

    Raises:
        SpecError: a value is not accepted.

    >>> amplification(n=10_000, delta=1e-6, epsilon0=1).delivered.epsilon < 0.1
    True
    """
    return _ask(Amplification, n=n, delta=delta, epsilon0=epsilon0, epsilon=epsilon, calibration=calibration)


def l2_ball(
    *,
    dimension: int,
    epsilon: float,
    radius: float,
    randomizer: Literal["privunit", "duchi"] | None = None,
    calibration: Formula = "tight",
) -> L2BallRandomizer:
    """Returns a locally private randomizer for a vector of an l2 ball.

    Args:
        dimension: the dimension of the vector, >= 1.
        epsilon: the epsilon of the guarantee, > 0.
        radius: the radius of the ball, > 0.
        randomizer: "privunit", which has the least variance, or "duchi"; None is "privunit", or the paper's "duchi".
        calibration: "tight", or "paper", which is duchi.

    Raises:
        SpecError: a value is not accepted.

    >>> l2_ball(dimension=10, epsilon=1, radius=1).mechanism
    'privunit'
    """
    return _ask(
        L2BallRandomizer, dimension=dimension, epsilon=epsilon, radius=radius, randomizer=randomizer,
        calibration=calibration,
    )  # fmt: skip
