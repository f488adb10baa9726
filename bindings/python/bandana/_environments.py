"""Environments in Python: what a class must have so that the lab can run algorithms in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Floats = NDArray[numpy.float64]
    Integers = NDArray[numpy.int64]
    Rng = numpy.random.Generator
Accepted: TypeAlias = "tuple[float, float] | Sequence[str] | None"


def option(default: Any, sentence: str, accepted: Accepted = None) -> Any:
    """Declares a field of an environment or an algorithm as an option that a spec can set.

    Args:
        default: its default: a bool, an int, a float or a text. Values must have the same type.
        sentence: what the option means.
        accepted: the smallest and the largest number, or a list of words. None: everything.

    >>> import bandana, dataclasses
    >>> @dataclasses.dataclass
    ... class Ads(bandana.UserEnvironment):
    ...     tilt: float = bandana.option(0.1, "How much an arm's direction counts.", accepted=(0, 1))
    >>> Ads().tilt
    0.1
    """
    if not isinstance(default, (bool, int, float, str)):
        raise TypeError(f"option: the default is a bool, an int, a float or a text, not a {type(default).__name__}")
    return dataclasses.field(default=default, metadata={"bandana": (sentence, accepted)})


@dataclass(frozen=True)
class Facts:
    """What an environment declares about itself. All of it is public: an algorithm may rest on it, and claims hold only
    where it is true.

    Attributes:
        arms: the number of arms.
        dimension: the dimension of a context, or of an action's vector; 0: arms have no vectors.
        rewards: the interval of rewards; rewards outside are clipped, and counted.
        context_norm: no context is longer; longer ones are clipped, and counted.
        theta_norm: no parameter is longer.
        link: how the mean depends on the inner product: "identity", "logistic", "probit" or "poisson".
        multi: whether every arm has a theta of its own, and a round one context.
        reward_proxy: the sub-Gaussian proxy of a reward given its mean; None: half of the length of `rewards`.
        people: the number of clients or agents. Every round of a UserEnvironment has a new user.
        actions: of a SlotEnvironment whose arms are vectors: one row for each arm.
        reward: the law of a reward given its mean, if it has a name: "bernoulli", "rademacher", "gaussian" (of standard
            deviation `reward_proxy`) or "uniform"; "bounded": it is in `rewards`, and nothing else is known.
        client_sd: how far clients' own parameters spread around theta.
        misspecification: |mean of x - <theta, x>| is at most this for every action.
        public_seed: the seed of public coins.
        horizon: the number of rounds. The spec sets it.
    """

    arms: int
    dimension: int = 0
    rewards: tuple[float, float] = (0.0, 1.0)
    context_norm: float = 1.0
    theta_norm: float = 1.0
    link: Literal["identity", "logistic", "probit", "poisson"] = "identity"
    multi: bool = False
    reward_proxy: float | None = None
    people: int = 1
    actions: Any = None
    reward: Literal["bounded", "bernoulli", "rademacher", "gaussian", "uniform"] = "bounded"
    client_sd: float = 0.0
    misspecification: float = 0.0
    public_seed: int = 1
    horizon: int = 0


class Environment:
    """The base of environments in Python. A dataclass's fields are its options."""

    facts: Facts
    """What is public. It may be a property, if it depends on options."""

    block_size: ClassVar[int] = 4096
    """How many rounds are drawn at once. Results depend on it."""


class UserEnvironment(Environment):
    """Every round has a new user. Write `block`, and set `facts`."""

    def block(self, n: int, rng: Rng) -> tuple[Floats, Floats, Floats | None]:
        """Draws the potential outcomes of n users at once.

        Args:
            n: the number of users.
            rng: the generator of this block. It alone may determine what is drawn.

        Returns:
            The contexts, (n, arms, dimension) or (n, dimension) with `multi`; the rewards of every arm, (n, arms); and
            their means, (n, arms), or None if regret is not known.
        """
        raise NotImplementedError(f"{type(self).__name__}.block")


class RoundEnvironment(Environment):
    """Every agent meets a decision set of its own in every round. Write `block`, and set `facts` with `people`."""

    block_size: ClassVar[int] = 256

    def block(self, agent: int, first: int, n: int, rng: Rng) -> tuple[Floats, Floats, Floats | None]:
        """Draws rounds first, ..., first + n - 1 of an agent.

        Args:
            agent: the agent, from 1.
            first: the first round, from 1.
            n: the number of rounds.
            rng: the generator of this block. It alone may determine what is drawn.

        Returns:
            The contexts, (n, arms, dimension); the rewards of every arm, (n, arms); and their means, (n, arms), or None
            if regret is not known.
        """
        raise NotImplementedError(f"{type(self).__name__}.block")


class SlotEnvironment(Environment):
    """People pull arms that all share. Write `answer`, and set `facts` with `people`."""

    def answer(self, who: int, epoch: int, arms: Integers, counts: Integers, rng: Rng) -> Floats:
        """Returns what comes of pulls.

        Args:
            who: the client or agent, from 1.
            epoch: the phase of the algorithm.
            arms: the arms.
            counts: how often each of them is pulled.
            rng: the generator of this answer.

        Returns:
            The sum of the rewards of each pull, as many as there are arms in `arms`.
        """
        raise NotImplementedError(f"{type(self).__name__}.answer")

    def gaps(self) -> Floats | None:
        """Returns by how much the mean of each arm is below the best; None: nobody knows, and there is no regret."""
        return None
