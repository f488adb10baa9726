"""Algorithms in Python: what a class must have so that the lab can run it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from bandana._environments import Facts

if TYPE_CHECKING:
    from bandana._environments import Floats


@dataclass(frozen=True)
class Plan:
    """What a SlotAlgorithm plays next, and whom it asks.

    Attributes:
        arms: the arms, in the order in which they are played.
        counts: how often each of them is played; they add up to rounds of the horizon.
        clients: how many clients play along and report their average reward of each arm; each takes part once. 0: the
            arms are played, and nobody reports.
        bounds: the interval to which a client's averages are clipped; None: the interval of rewards.
    """

    arms: Sequence[int]
    counts: Sequence[int]
    clients: int
    bounds: tuple[float, float] | None = None


class SlotAlgorithm:
    """An algorithm that plans, asks clients, and learns what is released. Clients, privatizers, the shuffler and budgets
    are the library's: this class sees released values alone, so the claims of the trust models stand. The fields of a
    dataclass are its options.
    """

    def start(self, facts: Facts) -> None:
        """Begins a run.

        Args:
            facts: what is public of the environment.
        """

    def plan(self) -> Plan | None:
        """Returns what to play next; None: `best()` is played to the end."""
        raise NotImplementedError(f"{type(self).__name__}.plan")

    def learn(self, plan: Plan, means: Floats, noise_sd: Floats) -> None:
        """Learns from a release.

        Args:
            plan: the plan that the clients have answered.
            means: the average over clients of each arm of the plan, with noise.
            noise_sd: the standard deviation of the noise in each of them.
        """
        raise NotImplementedError(f"{type(self).__name__}.learn")

    def best(self) -> int:
        """Returns the arm to play after the last plan. It must be a function of what was learned."""
        raise NotImplementedError(f"{type(self).__name__}.best: it is wanted when plan() returns None")


@dataclass(frozen=True)
class Statistics:
    """The message of a user with `mechanism = "regression"`: x x' and (r - centre) x with noise.

    Attributes:
        gram: (d, d), or (arms, d, d) with `multi`.
        moments: (d,), or (arms, d) with `multi`.
    """

    gram: Floats
    moments: Floats


class UserAlgorithm:
    """An algorithm that meets a new user in every round. The library chooses greedily by `thetas()`, makes the question to
    the user, draws the noise and charges. If `choose` is overridden, Python sees every user's contexts, and the claim is
    narrowed to its author's word. The fields of a dataclass are its options.
    """

    mechanism: ClassVar[Literal["gradient", "regression"]] = "gradient"
    """What a user sends: the gradient (mean - r) x of its loss at theta, or the statistics x x' and (r - centre) x."""

    def start(self, facts: Facts) -> None:
        """Begins a run.

        Args:
            facts: what is public of the environment.
        """

    def thetas(self) -> Floats:
        """Returns the public model: (d,), or (arms, d) with `multi`. It is read at the start and after every `learn`."""
        raise NotImplementedError(f"{type(self).__name__}.thetas")

    def learn(self, message: Floats | Statistics, users: int) -> None:
        """Learns from a message.

        Args:
            message: with "gradient", a noisy gradient (d,), or (arms, d) with `multi`; with "regression", a Statistics.
            users: the number of users whose data it holds.
        """
        raise NotImplementedError(f"{type(self).__name__}.learn")

    def choose(self, contexts: Floats, coin: Callable[[], float]) -> int:
        """Returns the arm for a user. Override it only if greedy choices by `thetas()` do not do.

        Args:
            contexts: the user's contexts, (arms, d), or (1, d) with `multi`. Keep nothing of them.
            coin: a function that draws a uniform number in [0, 1).
        """
        raise NotImplementedError(f"{type(self).__name__}.choose")
