"""What all policies share. bandana.policies has the classes, which script/stubs writes from the registry."""

from __future__ import annotations

import functools
import inspect
import json
import os
import secrets
import struct
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, cast, overload

from bandana import _bandana
from bandana._privacy import Claim, Guarantee, Statement
from bandana.errors import DataError, InsecureSeedWarning

if TYPE_CHECKING:
    from bandana._environments import Floats, Integers

P = TypeVar("P", bound="Policy")

_FILE = "bandana.policies"  # what stands for the algorithm in a file of docs/saving.md
_PROCESS = (
    "The claims are against those who see the model and what it chooses for others. "
    "They hold if neither whether nor when a reward is handed in depends on the reward. "
    "The process that runs the policy sees every context and every reward."
)
_NEW_USERS = (
    "Each update without `user` counts as a new user. A person who sends n messages without a number gets n times the "
    "epsilon and the delta of one message."
)


@dataclass(frozen=True)
class PolicyStatement(Statement):
    """What a policy promises. Printing it gives sentences.

    Attributes:
        nominal: the guarantee that was asked for, or None if there is no privacy.
        delivered: the claims that are proved; empty if there are none.
        void: why the claims do not hold, or None if they hold.
        notes: what a reader of the claims must know.
    """

    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return "\n".join([super().__str__(), *self.notes])


@dataclass(frozen=True, eq=False, slots=True)
class Token:
    """A decision whose reward comes later. It can be pickled, and serves once.

    Attributes:
        action: the arm to play, from 0.
    """

    action: int
    _context: Floats | None = field(repr=False)
    _policy: str = field(repr=False)
    _number: int = field(repr=False)


class Policy:
    """The base of all policies. One policy is for one thread at a time."""

    _algorithm: ClassVar[str]
    _time: ClassVar[int]
    _models: ClassVar[tuple[str, ...]]
    _options: ClassVar[tuple[str, ...]]
    _privacy: ClassVar[tuple[str, ...]]
    _core: _bandana.Policy | None = None
    _name: str | None = None

    # --- scikit-learn's protocol

    @classmethod
    def _parameters(cls) -> Mapping[str, inspect.Parameter]:
        return _arguments_of(cast(Any, cls))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Returns the arguments of the constructor by name, as scikit-learn does.

        Args:
            deep: ignored; no argument is an estimator.
        """
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self: P, **params: Any) -> P:
        """Sets arguments of the constructor, and forgets what was learned.

        Raises:
            ValueError: there is no such argument.
        """
        known = self._parameters()
        for name in params:
            if name not in known:
                raise ValueError(f"{name}: not an argument of {type(self).__name__} (accepted: {', '.join(known)})")
        for name, value in params.items():
            setattr(self, name, value)
        self._core = None
        self._name = None
        return self

    def __repr__(self) -> str:
        given = [
            f"{name}={getattr(self, name)!r}"
            for name, parameter in self._parameters().items()
            if parameter.default is inspect.Parameter.empty or getattr(self, name) != parameter.default
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    # --- the model, which is made at first use

    def _given(self, name: str) -> bool:
        return bool(getattr(self, name) != self._parameters()[name].default)

    def _privacy_values(self) -> dict[str, Any]:
        model = getattr(self, "model", "none")
        values: dict[str, Any] = {"model": model}
        for name in self._privacy:
            if name == "out_of_range" or model != "none":
                value = getattr(self, name)
                if value is None and name == "sampler":
                    value = "exact" if getattr(self, "seed", None) is None else "fast"
                if value is not None:
                    values[name] = value
        return values

    def _facts(self) -> dict[str, Any]:
        low, high = getattr(self, "rewards")
        facts = {"rewards.low": float(low), "rewards.high": float(high)}
        for name in ("arms", "dimension", "horizon", "context_norm", "theta_norm", "link", "multi", "reward_proxy"):
            value = getattr(self, name, None)
            if value is not None:
                facts[name] = value
        return facts

    def _made(self, state: bytes | None = None) -> _bandana.Policy:
        seed = getattr(self, "seed", None)
        budget = getattr(self, "budget", None)
        ledger = getattr(self, "ledger", None)
        if seed is not None and self._privacy_values()["model"] != "none":
            warnings.warn(
                f"the noise comes from seed {seed}: whoever knows it can subtract the noise, so no claim holds",
                InsecureSeedWarning,
                stacklevel=3,
            )
        core = _bandana.make_policy(
            self._algorithm,
            self._time,
            {name: getattr(self, name) for name in self._options if self._given(name)},
            self._privacy_values(),
            self._facts(),
            None if seed is None else int(seed),
            None if budget is None else (float(budget[0]), float(budget[1])),
            "" if ledger is None else os.fspath(ledger),
            self._name or secrets.token_hex(16),
        )
        if state is not None:
            core.restore(state)
        self._core = core
        return core

    def _model(self) -> _bandana.Policy:
        return self._core or self._made()

    @property
    def rounds_(self) -> int:
        """The number of rounds that the policy has learned from."""
        return self._core.learned if self._core is not None else 0

    @property
    def claims(self) -> PolicyStatement:
        """Who is protected against whom, and what everybody must know about it."""
        claims, notes, void = self._model().statement()
        values = self._privacy_values()
        nominal = None
        if values["model"] != "none":
            nominal = Guarantee(float(values["epsilon"]), float(values.get("delta", 0.0)))
        seed = getattr(self, "seed", None)
        if seed is not None:
            void = f"The noise comes from seed {seed}. Whoever knows the seed can subtract the noise."
        delivered = [Claim._from({**claim, "only_if": claim["only_if"] or None}) for claim in claims]
        if delivered:
            notes = [*notes, _PROCESS, *self._own_notes()]
        return PolicyStatement(nominal, delivered, void or None, notes)

    def _own_notes(self) -> list[str]:
        return []

    # --- tokens

    def _issue(self, core: _bandana.Policy, action: int, context: Floats | None) -> Token:
        return Token(action, context, core.name, core.issue())

    def _serve(self, token: Token, reward: float, user: int | None) -> bool:
        core = self._model()
        if not isinstance(token, Token):
            raise TypeError(f"token: a {type(token).__name__}, not what select(..., token=True) has returned")
        if token._policy != core.name:
            raise ValueError("token: another policy has issued it; give it to that one, or to one loaded from its file")
        return core.reward(token._number, token._context, token.action, reward, user)

    # --- files

    def _packed(self, state: bytes) -> bytes:
        params = {name: _plain(value) for name, value in self.get_params().items()}
        header = json.dumps({"class": type(self).__name__, "params": params}).encode()
        return struct.pack("<Q", len(header)) + header + state

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the policy into a file that only its owner can read (docs/saving.md). An old file is replaced.

        Args:
            path: the file.

        Raises:
            OutsideError: the file cannot be written.
        """
        _bandana.save_policy(os.fspath(path), _FILE, {}, self._packed(self._model().save()))

    @classmethod
    def load(cls: type[P], path: str | os.PathLike[str]) -> P:
        """Returns the policy that was saved to a file. It continues as if it had never stopped.

        Args:
            path: the file. `Policy.load` takes a file of any class, and a class takes only its own.

        Raises:
            SpecError: there is no such file, or it holds another policy.
            DataError: the file is damaged.
        """
        packed = _bandana.load_policy(os.fspath(path), _FILE, {})
        try:
            (size,) = struct.unpack_from("<Q", packed)
            header = json.loads(packed[8 : 8 + size])
            kind = _class_named(header["class"])
            params = header["params"]
        except (struct.error, ValueError, KeyError, TypeError, AttributeError):
            raise DataError(f"{Path(path)}: the file holds no policy of bandana.policies") from None
        if not issubclass(kind, cls):
            raise ValueError(f"{Path(path)}: the file holds a {kind.__name__}, not a {cls.__name__}")
        policy = kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in params.items()})
        policy._made(packed[8 + size :])
        return policy

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = {"params": self.get_params()}
        if self._core is not None:
            if self._core.secret:
                raise TypeError(f"{type(self).__name__} cannot be pickled: {self._core.secret}")
            state["core"] = self._core.save()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state["params"].items():
            setattr(self, name, value)
        if "core" in state:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", InsecureSeedWarning)  # the first policy has warned
                self._made(state["core"])


@functools.cache
def _arguments_of(cls: Any) -> Mapping[str, inspect.Parameter]:
    parameters = dict(inspect.signature(cls.__init__).parameters)
    del parameters["self"]
    return parameters


def _plain(value: Any) -> Any:
    import numpy  # here, because it takes longer than importing this package

    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value.item() if isinstance(value, numpy.generic) else value


def _class_named(name: str) -> type[Any]:
    from bandana import policies

    kind = getattr(policies, name)
    if not (isinstance(kind, type) and issubclass(kind, Policy)):
        raise ValueError(name)
    return kind


class ContextPolicy(Policy):
    """A policy that sees the contexts of all arms in every round: `contexts` has the shape (arms, dimension), or
    (dimension,) if every arm has a theta of its own (`multi=True`)."""

    @overload
    def select(self, contexts: Floats, *, token: Literal[False] = False) -> int: ...
    @overload
    def select(self, contexts: Floats, *, token: Literal[True]) -> Token: ...
    def select(self, contexts: Floats, *, token: bool = False) -> int | Token:
        """Returns the arm to play, from 0; or a Token that holds it.

        Args:
            contexts: the contexts of this round, float64 in C order.
            token: whether to return a Token, for a reward that comes later.

        Raises:
            TypeError, ValueError: the array has another type, order or shape, or a number is not finite.
        """
        core = self._core or self._made()
        action = core.select(contexts)
        if not token:
            return action
        context = contexts if contexts.ndim == 1 else contexts[action]
        return self._issue(core, action, context.copy())

    def predict(self, X: Floats, exploit: bool = False) -> Integers:
        """Returns the arms for many rounds.

        Args:
            X: the contexts of n rounds: (n, arms, dimension), or (n, dimension) with `multi=True`.
            exploit: whether to take the best arms by the model of this moment, without any exploration.

        Raises:
            TypeError, ValueError: the array has another type, order or shape, or a number is not finite.
        """
        return (self._core or self._made()).predict(X, exploit)

    def partial_fit(self: P, X: Floats, actions: Integers, rewards: Floats) -> P:
        """Learns from n rounds in their order: the same as n updates, bit for bit. Other threads run meanwhile.

        Args:
            X: the contexts of n rounds: (n, arms, dimension), or (n, dimension) with `multi=True`.
            actions: the arms that were played, int64.
            rewards: what came of them, float64. A reward outside of `rewards` is clipped.

        Raises:
            TypeError, ValueError: an array has another type, order or shape, or a number is not finite. Then nothing
                was learned.
        """
        (self._core or self._made()).partial_fit(X, actions, rewards)
        return self


class UserPolicy(ContextPolicy):
    """A policy that meets a new user in every round. It learns from one message of each, which is private with
    `model="local"`. With `multi=True` it first plays every arm in turn (the warm-up); rewards of other arms teach it
    nothing until then."""

    def update(self, contexts: Floats, action: int, reward: float, *, user: int | None = None) -> bool:
        """Learns what came of a round, from one message of its user.

        Args:
            contexts: the contexts of the round, float64 in C order.
            action: the arm that was played, from 0.
            reward: what came of it. A reward outside of `rewards` is clipped.
            user: the user's number, from 1, if users may come again. Each message is charged to the user's budget.

        Returns:
            Whether the policy has learned: in a warm-up it learns nothing from an arm whose turn it is not.

        Raises:
            BudgetError: the user's budget is too small. Then nothing was learned.
            TypeError, ValueError: an argument is not what it must be.
        """
        return (self._core or self._made()).update(contexts, action, reward, user)

    def reward(self, token: Token, reward: float, *, user: int | None = None) -> bool:
        """Learns the reward of a decision of some time ago: `update` with what the token remembers.

        Args:
            token: what `select(contexts, token=True)` has returned. It serves once.
            reward: what came of the decision.
            user: the user's number, as in `update`.

        Returns:
            Whether the policy has learned, as in `update`.

        Raises:
            SpecError: the token has had its reward.
            ValueError: another policy has issued the token.
            BudgetError: the user's budget is too small. Then the token can still be used.
        """
        return self._serve(token, reward, user)

    def decision_function(self, X: Floats) -> Floats:
        """Returns the scores of all arms by the public model: inner products of contexts and thetas, (n, arms).

        Args:
            X: the contexts of n rounds: (n, arms, dimension), or (n, dimension) with `multi=True`.
        """
        return (self._core or self._made()).scores(X)

    @property
    def thetas_(self) -> Floats | None:
        """The public model, one row for each theta; a copy."""
        return self._model().thetas()

    def _own_notes(self) -> list[str]:
        return [_NEW_USERS]


class SiloPolicy(ContextPolicy):
    """A policy of one silo that keeps its people's records and releases private sums of them to itself."""

    def update(self, contexts: Floats, action: int, reward: float) -> bool:
        """Learns what came of a round. The record stays in the policy until the next release.

        Args:
            contexts: the contexts of the round, float64 in C order.
            action: the arm that was played, from 0.
            reward: what came of it. A reward outside of `rewards` is clipped.

        Returns:
            True.

        Raises:
            TypeError, ValueError: an argument is not what it must be.
        """
        return (self._core or self._made()).update(contexts, action, reward)

    def reward(self, token: Token, reward: float) -> bool:
        """Learns the reward of a decision of some time ago.

        Args:
            token: what `select(contexts, token=True)` has returned. It serves once.
            reward: what came of the decision.

        Raises:
            SpecError: the token has had its reward.
        """
        return self._serve(token, reward, None)


class ArmPolicy(Policy):
    """A policy without contexts."""

    @overload
    def select(self, *, token: Literal[False] = False) -> int: ...
    @overload
    def select(self, *, token: Literal[True]) -> Token: ...
    def select(self, *, token: bool = False) -> int | Token:
        """Returns the arm to play, from 0; or a Token that holds it.

        Args:
            token: whether to return a Token, for a reward that comes later.

        Raises:
            SpecError: the horizon is reached.
        """
        core = self._core or self._made()
        action = core.select()
        return self._issue(core, action, None) if token else action

    def update(self, action: int, reward: float) -> bool:
        """Learns what came of a pull.

        Args:
            action: the arm, from 0.
            reward: what came of it.

        Returns:
            Whether the pull counts: an algorithm that plans its pulls learns nothing from others.

        Raises:
            SpecError: the horizon is reached.
            TypeError, ValueError: an argument is not what it must be.
        """
        return (self._core or self._made()).update(action, reward)

    def reward(self, token: Token, reward: float) -> bool:
        """Learns the reward of a decision of some time ago.

        Args:
            token: what `select(token=True)` has returned. It serves once.
            reward: what came of the decision.

        Raises:
            SpecError: the token has had its reward.
        """
        return self._serve(token, reward, None)

    def partial_fit(self: P, actions: Integers, rewards: Floats) -> P:
        """Learns from n pulls in their order: the same as n updates, bit for bit.

        Args:
            actions: the arms, int64.
            rewards: what came of them, float64.
        """
        (self._core or self._made()).partial_fit(actions, rewards)
        return self
