"""Logs of another policy's rounds, with the names of the Open Bandit Pipeline (obp)."""

from __future__ import annotations

import csv
import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy

from bandana import _bandana
from bandana._policy import ArmPolicy, ContextPolicy, Policy, UserPolicy

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bandana._environments import Floats, Integers


@dataclass(frozen=True)
class ValueEstimate:
    """An estimate of the expected reward per round of a policy.

    Attributes:
        value: the estimate.
        standard_error: its standard error.
        interval: an interval that contains the value with probability 1 - level, by the central limit theorem.
        bernstein: such an interval that is right for any number of rounds; None without `weight_bound`.
        effective_sample_size: how many rounds of the policy itself would tell as much.
        largest_weight: the largest weight of a round.
    """

    value: float
    standard_error: float
    interval: tuple[float, float]
    bernstein: tuple[float, float] | None
    effective_sample_size: float
    largest_weight: float


def _array(name: str, values: ArrayLike, dimensions: int) -> Floats:
    array = numpy.ascontiguousarray(values, dtype=float)
    if array.ndim != dimensions:
        raise ValueError(f"{name}: an array of shape {array.shape}, not one of {dimensions} dimensions")
    if not numpy.isfinite(array).all():
        raise ValueError(f"{name}: not all numbers are finite")
    return array


class Log:
    """Rounds that another policy has played. The arguments have the Open Bandit Pipeline's names, so that
    `Log(**feedback)` takes its dictionary.

    Args:
        context: the contexts, (n, d).
        action: the actions that were played, from 0, (n,).
        reward: their rewards, (n,).
        pscore: the probabilities with which the logging policy has drawn them, (n,), in (0, 1].
        n_actions: the number of actions.
        action_context: features of the actions, (n_actions, m), or None.
        position: must be the same in all rounds, or None.
        expected_reward: the mean of every action in every round, (n, n_actions), or None: regret is not known.
        n_rounds: the number of rounds, which is checked.
        pi_b: the logging policy's distribution; it is not used.

    Raises:
        ValueError: arrays do not belong together, or a number is not accepted.

    >>> import bandana
    >>> log = bandana.Log(context=[[1.0], [2.0]], action=[0, 1], reward=[0.0, 1.0], pscore=[0.5, 0.5], n_actions=2)
    >>> len(log)
    2
    """

    def __init__(
        self,
        *,
        context: ArrayLike,
        action: ArrayLike,
        reward: ArrayLike,
        pscore: ArrayLike,
        n_actions: int,
        action_context: ArrayLike | None = None,
        position: ArrayLike | None = None,
        expected_reward: ArrayLike | None = None,
        n_rounds: int | None = None,
        pi_b: Any = None,
    ) -> None:
        self.context = _array("context", context, 2)
        self.reward = _array("reward", reward, 1)
        self.pscore = _array("pscore", pscore, 1)
        n = len(self.context)
        actions = numpy.asarray(action)
        if actions.ndim != 1 or not numpy.issubdtype(actions.dtype, numpy.integer):
            raise ValueError(f"action: an array of {actions.dtype} and shape {actions.shape}, not of whole numbers and (n,)")
        self.action = numpy.ascontiguousarray(actions, dtype=numpy.int64)
        self.n_actions = int(n_actions)
        for name, array in (("action", self.action), ("reward", self.reward), ("pscore", self.pscore)):
            if len(array) != n:
                raise ValueError(f"{name}: {len(array)} rounds, but context has {n}")
        if n_rounds is not None and n_rounds != n:
            raise ValueError(f"n_rounds = {n_rounds}, but context has {n} rounds")
        if position is not None and len(numpy.unique(numpy.asarray(position))) > 1:
            raise ValueError("position: it differs between rounds; only logs of one position are accepted")
        self.action_context = None if action_context is None else _array("action_context", action_context, 2)
        if self.action_context is not None and len(self.action_context) != self.n_actions:
            raise ValueError(f"action_context: {len(self.action_context)} rows for {self.n_actions} actions")
        self.expected_reward = None
        if expected_reward is not None:
            expected = numpy.asarray(expected_reward, dtype=float)
            if expected.ndim == 3 and expected.shape[2] == 1:
                expected = expected[:, :, 0]
            self.expected_reward = _array("expected_reward", expected, 2)
            if self.expected_reward.shape != (n, self.n_actions):
                raise ValueError(f"expected_reward: shape {self.expected_reward.shape}, not {(n, self.n_actions)}")
        self._core = _bandana.Log(self.context, self.action, self.reward, self.pscore, self.n_actions)

    def __len__(self) -> int:
        return len(self.context)

    def __repr__(self) -> str:
        return f"<Log: {len(self)} rounds, {self.n_actions} actions, contexts of dimension {self.context.shape[1]}>"

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Writes the file that `environment.kind = "replay"` reads, and the actions' features, if there are any, into a
        file beside it that ends with .actions.csv.

        Args:
            path: the file.
        """
        path = Path(path)
        columns = [f"context_{j}" for j in range(self.context.shape[1])]
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow([*columns, "action", "reward", "pscore"])
            for x, a, r, p in zip(self.context.tolist(), self.action.tolist(), self.reward.tolist(), self.pscore.tolist()):
                writer.writerow([*map(repr, x), a, repr(r), repr(p)])
        if self.action_context is not None:
            with _actions_of(path).open("w", newline="", encoding="utf-8") as file:
                writer = csv.writer(file)
                writer.writerow([f"action_context_{j}" for j in range(self.action_context.shape[1])])
                writer.writerows([list(map(repr, row)) for row in self.action_context.tolist()])

    def _overrides(self, folder: Path) -> dict[str, Any]:
        """Returns what a spec must have to replay this log from a folder."""
        path = folder / "log.csv"
        self.to_csv(path)
        overrides: dict[str, Any] = {"environment.kind": "replay", "environment.log": "obp"}
        overrides |= {"environment.file": str(path), "environment.actions": self.n_actions}
        if self.action_context is not None:
            overrides["environment.action_context"] = str(_actions_of(path))
        return overrides

    def _contexts_for(self, policy: ContextPolicy) -> Floats:
        """Returns the contexts as the policy wants them: one for each round, or one for each action, which has the
        products of every entry of the context with every feature of the action."""
        if getattr(policy, "multi", False):
            return self.context
        if self.action_context is None:
            raise ValueError("policy: with one theta for all arms it needs the log's action_context; or make it with multi=True")
        products = self.context[:, None, :, None] * self.action_context[None, :, None, :]
        return numpy.ascontiguousarray(products.reshape(len(self), self.n_actions, -1))

    def probabilities(self, policy: Policy | Callable[[Floats], ArrayLike] | ArrayLike) -> Floats:
        """Returns the probability of every action in every round, (n, n_actions).

        Args:
            policy: a policy of bandana.policies, whose best arms by its model of this moment get probability 1; a
                function of the contexts (n, d) that returns probabilities; or probabilities.
        """
        if isinstance(policy, ContextPolicy):
            chosen = policy.predict(self._contexts_for(policy), exploit=True)
            chances = numpy.zeros((len(self), self.n_actions))
            chances[numpy.arange(len(self)), chosen] = 1
        else:
            given = policy(self.context) if callable(policy) else policy
            chances = _array("policy", given, 2)  # type: ignore[arg-type]
        if chances.shape != (len(self), self.n_actions):
            raise ValueError(f"policy: probabilities of shape {chances.shape}, not {(len(self), self.n_actions)}")
        if (chances < 0).any() or not numpy.allclose(chances.sum(axis=1), 1, rtol=0, atol=1e-9):
            raise ValueError("policy: the probabilities of a round must be >= 0 and add up to 1")
        return chances

    def value(
        self,
        policy: Policy | Callable[[Floats], ArrayLike] | ArrayLike,
        estimator: Literal["dr", "ips", "snips", "replay"] = "dr",
        *,
        level: float = 0.05,
        rewards: tuple[float, float] | None = None,
        weight_bound: float | None = None,
        penalty: float = 1.0,
        seed: int = 1,
    ) -> ValueEstimate:
        """Estimates what a fixed policy would earn per round. It must not have been learned from this log.

        Args:
            policy: as for `probabilities`.
            estimator: "dr": doubly robust, cross-fitted; "ips": inverse propensity scores; "snips": self-normalised;
                "replay": the mean reward of rounds in which policy and log agree.
            level: the probability that an interval misses the value.
            rewards: an interval that certainly contains all rewards; None: the smallest and the largest of the log, with
                which no interval is certain.
            weight_bound: a bound on the ratio of probabilities that holds for certain, for Bernstein's interval.
            penalty: of "dr": the penalty of its regression.
            seed: of "replay": the seed of its coins.

        Raises:
            SpecError: there are too few rounds, or a number is not accepted.
        """
        if estimator not in ("dr", "ips", "snips", "replay"):
            raise ValueError(f"estimator = {estimator!r}: not accepted (accepted: dr, ips, snips, replay)")
        low, high = rewards or (float(self.reward.min()), float(self.reward.max()))
        if not low < high:
            high = low + 1.0
        chances = numpy.ascontiguousarray(self.probabilities(policy))
        if estimator == "replay":
            return self._replayed(chances, level, (low, high), seed)
        answer = self._core.value(estimator, chances, (low, high), level, weight_bound, penalty)
        return ValueEstimate(
            answer["value"],
            answer["standard_error"],
            answer["normal"],
            answer["bernstein"],
            answer["effective_sample_size"],
            answer["largest_weight"],
        )

    def _replayed(self, chances: Floats, level: float, rewards: tuple[float, float], seed: int) -> ValueEstimate:
        from statistics import NormalDist

        rng = numpy.random.Generator(numpy.random.Philox(key=seed))
        draws = rng.random(len(self))[:, None]
        chosen = numpy.minimum((chances.cumsum(axis=1) <= draws).sum(axis=1), self.n_actions - 1).astype(numpy.int64)
        earned = self.reward[self._core.counts(numpy.ascontiguousarray(chosen), seed)]
        n = len(earned)
        if n < 2:
            return ValueEstimate(float("nan"), float("nan"), rewards, None, float(n), 1.0)
        value, error = float(earned.mean()), float(earned.std(ddof=1) / n**0.5)
        reach = NormalDist().inv_cdf(1 - level / 2) * error
        interval = (max(rewards[0], value - reach), min(rewards[1], value + reach))
        return ValueEstimate(value, error, interval, None, float(n), 1.0)


def _actions_of(path: Path) -> Path:
    return path.with_suffix(".actions.csv")


class ObpPolicy:
    """A policy of bandana.policies with the methods that the Open Bandit Pipeline's simulator calls."""

    len_list = 1

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._contexts: Floats | None = None

    @property
    def policy_type(self) -> Any:
        """"contextual" or "contextfree"; obp's own enum where obp is installed."""
        word = "contextfree" if isinstance(self._policy, ArmPolicy) else "contextual"
        try:
            PolicyType = importlib.import_module("obp.policy.policy_type").PolicyType
        except ImportError:
            return word
        return PolicyType.CONTEXT_FREE if word == "contextfree" else PolicyType.CONTEXTUAL

    @property
    def n_actions(self) -> int:
        """The number of arms."""
        return int(getattr(self._policy, "arms"))

    @property
    def dim(self) -> int:
        """The dimension of a context."""
        return int(getattr(self._policy, "dimension", 0))

    def select_action(self, context: ArrayLike | None = None) -> Integers:
        """Returns the arm to play, as an array of one.

        Args:
            context: the context of the round, (1, dim) or (dim,).
        """
        if isinstance(self._policy, ArmPolicy):
            return numpy.array([self._policy.select()])
        assert isinstance(self._policy, ContextPolicy)
        return numpy.array([self._policy.select(self._given(context))])

    def update_params(self, action: int, reward: float, context: ArrayLike | None = None) -> None:
        """Learns what came of a round.

        Args:
            action: the arm.
            reward: what came of it.
            context: the context of the round.
        """
        if isinstance(self._policy, ArmPolicy):
            self._policy.update(action, float(reward))
        else:
            assert isinstance(self._policy, UserPolicy)
            self._policy.update(self._given(context), action, float(reward))

    def _given(self, context: ArrayLike | None) -> Floats:
        if context is None:
            raise ValueError("context: this policy needs one")
        array = numpy.ascontiguousarray(context, dtype=float)
        return numpy.ascontiguousarray(array.reshape(-1)) if array.shape == (1, self.dim) else array


def obp(policy: Policy) -> ObpPolicy:
    """Wraps a policy for the Open Bandit Pipeline's simulator.

    Args:
        policy: a policy of bandana.policies; one with contexts must have `multi=True`, as obp has one context in a round.

    Raises:
        TypeError, ValueError: the policy has no such form.

    >>> import bandana, numpy
    >>> wrapped = bandana.obp(bandana.policies.LinUcb(arms=3, dimension=2, rewards=(0, 1), horizon=100, multi=True))
    >>> wrapped.n_actions, wrapped.dim, wrapped.len_list
    (3, 2, 1)
    """
    if not isinstance(policy, (ArmPolicy, UserPolicy)):
        raise TypeError(f"policy: a {type(policy).__name__}, not a policy of users or of arms")
    if isinstance(policy, UserPolicy) and not getattr(policy, "multi", False):
        raise ValueError("policy: obp has one context in a round, so make the policy with multi=True")
    return ObpPolicy(policy)
