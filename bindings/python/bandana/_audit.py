"""Attacks on mechanisms, which measure how much privacy they lose at least."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias

from bandana import _bandana, _html
from bandana._privacy import Claim, Guarantee
from bandana._run import check_stop, check_whole

if TYPE_CHECKING:
    import numpy as np

    Draw: TypeAlias = Callable[[int, int, np.random.Generator], Any]


@dataclass(frozen=True)
class Target:
    """Something that `audit` can attack.

    Attributes:
        name: its name.
        summary: what it is.
        nominal: the guarantee that is attacked unless another one is given. A delta of 0 means that it takes no delta.
        draws: the number of draws unless another one is given.
        known_to_fail: why the claim is false, or None. Such a claim is not ours; it is here to be refuted.
    """

    name: str
    summary: str
    nominal: Guarantee
    draws: int
    known_to_fail: str | None


@dataclass(frozen=True)
class Finding:
    """What an attack has found. Both bounds hold together, with probability `confidence` at least.

    Attributes:
        target: the name of the target.
        claim: the claim that was attacked, or None if there was none.
        epsilon_lower: a lower bound on the true epsilon, at the claimed delta.
        delta_lower: a lower bound on the true delta, at the claimed epsilon.
        refuted: whether one of them exceeds the claim.
        distinguisher: the way to tell the neighbours apart that is behind epsilon_lower.
        draws: the number of draws under each neighbour.
        confidence: the confidence of both bounds.
        known_to_fail: why the claim is known to be false, or None.
    """

    target: str
    claim: Claim | None
    epsilon_lower: float
    delta_lower: float
    refuted: bool
    distinguisher: str
    draws: int
    confidence: float
    known_to_fail: str | None = None

    @classmethod
    def _from(cls, document: dict[str, Any]) -> Finding:
        claim = document["claim"]
        return cls(
            document["target"], Claim._from(claim) if claim else None, document["epsilon_lower"],
            document["delta_lower"], document["verdict"] == "refuted", document["distinguisher"], document["draws"],
            document["confidence"], document.get("known_to_fail"),
        )  # fmt: skip

    def _repr_html_(self) -> str:
        claim = "none" if self.claim is None else f"({self.claim.epsilon:.4g}, {self.claim.delta:.3g})"
        verdict = "no claim" if self.claim is None else "REFUTED" if self.refuted else "not refuted"
        rows = [
            ["target", "claim", "epsilon at least", "delta at least", "draws", "verdict"],
            [self.target, claim, f"{self.epsilon_lower:.3f}", f"{self.delta_lower:.3g}", str(self.draws), verdict],
        ]
        return _html.table(rows) + (f"<p>{escape(self.known_to_fail)}</p>" if self.known_to_fail else "")


def audit_targets() -> list[Target]:
    """Returns everything that `audit` can attack by name.

    >>> audit_targets()[0].draws >= 1000
    True
    """
    return [
        Target(each["target"], each["summary"], Guarantee(**each["nominal"]), each["draws"], each["known_to_fail"])
        for each in json.loads(_bandana.audit_targets())
    ]


def _rng(low: int, high: int) -> np.random.Generator:
    import numpy as np

    return np.random.Generator(np.random.Philox(key=[low, high]))


def _optional(value: Any) -> float | None:
    return None if value is None else float(value)


def audit(
    target: str | Draw,
    *,
    claim: tuple[float, float] | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    draws: int | None = None,
    confidence: float = 0.999999,
    seed: int = 1,
    threads: int = 0,
    secure: bool = False,
    stop: threading.Event | None = None,
) -> Finding:
    """Attacks a mechanism, and returns how much privacy it loses at least.

    Args:
        target: a name of audit_targets(), or a mechanism of your own: a function draw(neighbour, n, rng) that returns n
            rows of what an adversary sees, for neighbour 0 or 1, with all randomness from the numpy generator rng. It is
            called once beforehand with n = 1.
        claim: the (epsilon, delta) that your own mechanism claims; None means that the audit only measures.
        epsilon: the epsilon of a named target, > 0; None is its default.
        delta: the delta of a named target, in (0, 1); None is its default.
        draws: the draws under each neighbour, >= 1000; None is the target's default, and 100,000 for your own.
        confidence: the probability that a true claim is not refuted, in (0, 1).
        seed: the seed of the draws.
        threads: the number of threads, 0 or more; 0 means one per core. Your own mechanism is drawn from one. The finding
            does not depend on it.
        secure: whether noise comes from the service's generator instead of the seed.
        stop: an event that ends the audit as Ctrl-C does.

    Raises:
        SpecError: there is no such target, or a value is not accepted.
        ValueError: draw does not return n rows.
        KeyboardInterrupt: the audit was interrupted.

    >>> def draw(neighbour, n, rng):
    ...     return neighbour + rng.laplace(size=n)
    >>> found = audit(draw, claim=(1, 0), draws=20_000)     # true of real numbers; the last bits of doubles tell more
    >>> found.refuted, found.distinguisher
    (True, 'lowest bit of coordinate 0')
    >>> audit(lambda neighbour, n, rng: draw(neighbour, n, rng).round(2), claim=(1, 0), draws=20_000).refuted
    False
    """
    check_stop(stop)
    threads = check_whole("threads", threads, 0)
    seed = check_whole("seed", seed, 0)

    def tick() -> None:
        if stop is not None and stop.is_set():
            raise KeyboardInterrupt("stopped")

    if isinstance(target, str):
        if claim is not None:
            raise TypeError("claim is for a mechanism of your own; a named target takes epsilon and delta")
        answer = _bandana.audit(
            name=target, epsilon=_optional(epsilon), delta=_optional(delta),
            draws=None if draws is None else check_whole("draws", draws, 1000), confidence=float(confidence),
            seed=seed, secure=bool(secure), threads=threads, tick=tick,
        )  # fmt: skip
        return Finding._from(json.loads(answer))
    if not callable(target):
        raise TypeError("target: a name of audit_targets(), or a function draw(neighbour, n, rng)")
    if epsilon is not None or delta is not None or secure:
        raise TypeError("epsilon, delta and secure are for named targets; a mechanism of your own takes claim")
    import numpy as np

    row = np.asarray(target(0, 1, _rng(0, 0)), dtype=float)
    if row.ndim not in (1, 2) or row.shape[0] != 1:
        raise ValueError(f"draw(0, 1, rng) must return one row, not an array of shape {row.shape}")
    if claim is not None:
        claim = Guarantee(float(claim[0]), float(claim[1]))
        if not (0 < claim[0] < float("inf") and 0 <= claim[1] < 1):
            raise ValueError(f"claim = {tuple(claim)}: not accepted (accepted: epsilon > 0 and delta in [0, 1))")
    answer = _bandana.audit_own(
        draw=target, dimension=row.size, claim=None if claim is None else (claim[0], claim[1]),
        draws=100_000 if draws is None else check_whole("draws", draws, 1000), confidence=float(confidence), seed=seed,
        tick=tick,
    )  # fmt: skip
    return Finding._from(json.loads(answer))
