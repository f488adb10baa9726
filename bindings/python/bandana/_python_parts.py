"""The Python side of environments and algorithms that are classes: it makes the objects and checks what they return."""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy

from bandana import _bandana
from bandana._algorithms import Plan, SlotAlgorithm, Statistics, UserAlgorithm
from bandana._environments import Environment, Facts, RoundEnvironment, SlotEnvironment, UserEnvironment
from bandana._run import python_names

if TYPE_CHECKING:
    from bandana._environments import Floats

_SLOT, _ROUND, _TICK, _USER = 0, 1, 2, 3  # TimeModel, in bandit/world.h
_CONTEXT = 8  # Stream::kContext, in core/bit_source.h


def generator(seed: int, replicate: int, agent: int, first: int) -> numpy.random.Generator:
    """Returns the generator of a block. Its words are those of the library's stream of contexts with this key."""
    counter = (agent << 64) + (first << 128) + (_CONTEXT << 192) - 1  # numpy adds 1 before it draws
    return numpy.random.Generator(numpy.random.Philox(counter=counter, key=seed + (replicate << 64)))


def _cards(cls: type[Any]) -> list[dict[str, Any]]:
    """Returns the options of a class, as the registry wants them."""
    if not dataclasses.is_dataclass(cls):
        return []
    cards = []
    for field in dataclasses.fields(cls):
        sentence, accepted = field.metadata.get("bandana", (f"An option of {cls.__name__}.", None))
        default = field.default
        if not isinstance(default, (bool, int, float, str)):
            raise TypeError(f"{cls.__name__}.{field.name}: an option needs a default; declare it with bandana.option(...)")
        kind = type(default).__name__
        words: list[str] = []
        low, high = -numpy.inf, numpy.inf
        if accepted is not None and kind == "str":
            words = [str(word) for word in accepted]
            text = ", ".join(words)
        elif accepted is not None:
            low, high = float(accepted[0]), float(accepted[1])
            text = f"a {'whole ' if kind == 'int' else ''}number in [{accepted[0]}, {accepted[1]}]"
        else:
            text = {"bool": "true, false", "int": "a whole number", "float": "a finite number", "str": "a text"}[kind]
        if kind == "int":
            low, high = max(low, -(2.0**62)), min(high, 2.0**62)
        cards.append(
            {"key": field.name, "kind": kind, "required": False, "default": default, "accepted": text}
            | {"sentence": sentence, "words": words, "low": low, "high": high}
        )
    return cards


def _checked(what: str, array: Any, shape: tuple[int, ...]) -> Floats:
    """Returns the array as float64 in C order, or says what is wrong with it."""
    out = numpy.ascontiguousarray(array, dtype=float)
    if out.shape != shape:
        raise ValueError(f"{what}: an array of shape {out.shape}, not {shape}")
    if not numpy.isfinite(out).all():
        raise ValueError(f"{what}: not all numbers are finite")
    return out


class _World:
    """An environment of one replicate, as C++ asks it."""

    def __init__(
        self, cls: type[Environment], values: dict[str, Any], horizon: int, seed: int, replicate: int, time: int
    ) -> None:
        self._own: Any = cls(**values)
        self._key = (seed, replicate)
        self._name = cls.__name__
        facts = self._own.facts
        if not isinstance(facts, Facts):
            raise TypeError(f"{self._name}.facts: a {type(facts).__name__}, not a bandana.Facts")
        self._facts = facts
        low, high = facts.rewards
        self.block_size = int(cls.block_size)
        if self.block_size < 1:
            raise ValueError(f"{self._name}.block_size = {self.block_size}: not accepted (accepted: a whole number >= 1)")
        if not (numpy.isfinite([low, high]).all() and low < high):
            raise ValueError(f"{self._name}.facts.rewards = {facts.rewards}: two finite numbers, the first is smaller")
        self.facts = {field.name: getattr(facts, field.name) for field in dataclasses.fields(facts)}
        actions = facts.actions
        dimension = facts.dimension
        if actions is not None:
            actions = _checked(f"{self._name}.facts.actions", actions, (facts.arms, numpy.shape(actions)[-1]))
            dimension = actions.shape[1]
            actions = actions.tolist()
        self.facts |= {"low": float(low), "high": float(high), "horizon": horizon, "actions": actions}
        self.facts |= {"dimension": dimension, "people": horizon if time == _USER else facts.people}
        if facts.reward_proxy is None:
            self.facts["reward_proxy"] = (high - low) / 2
        self._time = time
        self.gaps: list[float] = []
        if isinstance(self._own, SlotEnvironment):
            gaps = self._own.gaps()
            if gaps is not None:
                self.gaps = _checked(f"{self._name}.gaps()", gaps, (facts.arms,)).tolist()

    def block(self, agent: int, first: int, n: int) -> tuple[Floats, Floats, Floats | None]:
        rng = generator(*self._key, agent, first)
        if self._time == _USER:
            drawn = self._own.block(n, rng)
        else:
            drawn = self._own.block(agent, first, n, rng)
        if not isinstance(drawn, tuple) or len(drawn) != 3:
            raise TypeError(f"{self._name}.block returns contexts, rewards and means (or None)")
        arms, dimension = self._facts.arms, self._facts.dimension
        shape = (n, dimension) if self._facts.multi else (n, arms, dimension)
        contexts = _checked(f"{self._name}.block: contexts", drawn[0], shape)
        rewards = _checked(f"{self._name}.block: rewards", drawn[1], (n, arms))
        means = drawn[2]
        if means is not None:
            means = _checked(f"{self._name}.block: means", means, (n, arms))
        return contexts, rewards, means

    def answer(self, who: int, epoch: int, asked: int, arms: list[int], counts: list[int]) -> list[float]:
        # A client is asked once in an epoch. An agent that works in ticks always has epoch 0 and is asked many times.
        rng = generator(*self._key, who, (epoch << 40) + asked)
        sums = self._own.answer(who, epoch, numpy.array(arms), numpy.array(counts), rng)
        return _checked(f"{self._name}.answer", sums, (len(arms),)).tolist()  # type: ignore[no-any-return]


def _facts_from(facts: dict[str, Any]) -> Facts:
    return Facts(**facts)


class _Slots:
    """A SlotAlgorithm of one run, as C++ asks it."""

    def __init__(self, cls: type[SlotAlgorithm], values: dict[str, Any], facts: dict[str, Any]) -> None:
        self._own = cls(**values)
        self._name = cls.__name__
        self._arms = facts["arms"]
        self._plan: Plan | None = None
        self._own.start(_facts_from(facts))

    def plan(self, left: int, people: int) -> Plan | None:
        plan = self._own.plan()
        self._plan = plan
        if plan is None:
            return None
        if not isinstance(plan, Plan):
            raise TypeError(f"{self._name}.plan returns a bandana.Plan or None, not a {type(plan).__name__}")
        arms, counts = [int(arm) for arm in plan.arms], [int(count) for count in plan.counts]
        if not arms or len(arms) != len(counts):
            raise ValueError(f"{self._name}.plan: {len(arms)} arms and {len(counts)} counts; as many, and at least one")
        if not all(0 <= arm < self._arms for arm in arms):
            raise ValueError(f"{self._name}.plan: arms {arms}, not from 0 to {self._arms - 1}")
        if min(counts) < 1 or sum(counts) > left:
            raise ValueError(f"{self._name}.plan: counts {counts}, not numbers >= 1 that add up to at most {left}")
        if not 0 <= plan.clients <= people:
            raise ValueError(f"{self._name}.plan: {plan.clients} clients, of {people} that have not taken part yet")
        return Plan(arms, counts, int(plan.clients), plan.bounds)

    def learn(self, means: list[float], noise_sd: list[float]) -> None:
        assert self._plan is not None
        self._own.learn(self._plan, numpy.array(means), numpy.array(noise_sd))

    def best(self) -> int:
        best = int(self._own.best())
        if not 0 <= best < self._arms:
            raise ValueError(f"{self._name}.best returns {best}, not an arm from 0 to {self._arms - 1}")
        return best


class _Users:
    """A UserAlgorithm of one run, as C++ asks it."""

    def __init__(self, cls: type[UserAlgorithm], values: dict[str, Any], facts: dict[str, Any]) -> None:
        self._own = cls(**values)
        self._name = cls.__name__
        self.mechanism = cls.mechanism
        self.chooses = cls.choose is not UserAlgorithm.choose
        self._slots = facts["arms"] if facts["multi"] else 1
        self._multi = facts["multi"]
        self._d = facts["dimension"]
        self._arms = facts["arms"]
        self._shape = (self._slots, self._d) if self._multi else (self._d,)
        self._size = self._slots * self._d
        triangle = numpy.tril_indices(self._d)
        self._rows, self._columns = triangle
        self._own.start(_facts_from(facts))

    def thetas(self) -> Floats:
        thetas = self._own.thetas()
        if type(thetas) is numpy.ndarray and thetas.dtype == float and thetas.shape == self._shape:
            out = thetas if thetas.flags.c_contiguous else numpy.ascontiguousarray(thetas)
            if numpy.isfinite(out.sum()):
                return out
        return _checked(f"{self._name}.thetas", thetas, self._shape)

    def learn(self, message: Floats, users: int) -> None:
        if self.mechanism == "gradient":
            self._own.learn(message.reshape(self._shape) if message.size == self._size else message, users)
            return
        parts = message.reshape(self._slots, -1)
        gram = numpy.zeros((self._slots, self._d, self._d))
        entries = len(self._rows)
        gram[:, self._rows, self._columns] = parts[:, :entries]
        gram[:, self._columns, self._rows] = parts[:, :entries]
        moments = parts[:, entries:]
        self._own.learn(Statistics(gram, moments) if self._multi else Statistics(gram[0], moments[0]), users)

    def choose(self, contexts: Floats, coin: Any) -> int:
        arm = int(self._own.choose(contexts, coin))
        if not 0 <= arm < self._arms:
            raise ValueError(f"{self._name}.choose returns {arm}, not an arm from 0 to {self._arms - 1}")
        return arm


def _sentence(cls: type[Any]) -> str:
    return (inspect.getdoc(cls) or f"The class {cls.__name__}").split("\n")[0]


def register(name: str, cls: type[Any]) -> None:
    """Gives a class of environments or algorithms a name for the rest of the process: a spec can then have it in
    `environment.kind` or `algorithm.name`. A class of the same name takes the place of the one before.

    Args:
        name: the name in specs.
        cls: a UserEnvironment, RoundEnvironment, SlotEnvironment, SlotAlgorithm or UserAlgorithm.

    Raises:
        SpecError: an entry that is not a Python class has the name.
        TypeError: the class is none of these, or an option has no default.
    """
    if not isinstance(cls, type):
        raise TypeError(f"{name}: a {type(cls).__name__}, not a class")
    cards, sentence = _cards(cls), _sentence(cls)

    def world(values: dict[str, Any], horizon: int, seed: int, replicate: int, time: int) -> _World:
        return _World(cls, values, horizon, seed, replicate, time)

    if issubclass(cls, UserEnvironment):
        _bandana.add_world(name, _USER, sentence, cards, world)
    elif issubclass(cls, RoundEnvironment):
        _bandana.add_world(name, _ROUND, sentence, cards, world)
    elif issubclass(cls, SlotEnvironment):
        for time in (_SLOT, _TICK):
            _bandana.add_world(name, time, sentence, cards, world)
    elif issubclass(cls, SlotAlgorithm):
        _bandana.add_family(name, _SLOT, "dp-dpe", sentence, cards, lambda values, facts: _Slots(cls, values, facts))
    elif issubclass(cls, UserAlgorithm):
        like = {"gradient": "ldp-sgd", "regression": "ldp-ols"}.get(cls.mechanism)
        if like is None:
            raise ValueError(f'{cls.__name__}.mechanism = {cls.mechanism!r}: not accepted (accepted: "gradient", "regression")')
        _bandana.add_family(name, _USER, like, sentence, cards, lambda values, facts: _Users(cls, values, facts))
    else:
        raise TypeError(
            f"{cls.__name__}: not a UserEnvironment, RoundEnvironment, SlotEnvironment, SlotAlgorithm or UserAlgorithm"
        )
    python_names.add(name)


def load_plugin(path: str | os.PathLike[str]) -> None:
    """Loads a plugin in C++: its algorithms and worlds then have names. Its code runs in this process.

    Args:
        path: the shared library.

    Raises:
        SpecError: the file is no plugin of this version, or a name of it is taken.
    """
    _bandana.load_plugin(os.fspath(path))


@contextlib.contextmanager
def registered(environments: Mapping[str, Any], algorithms: Mapping[str, Any], log: Any) -> Iterator[dict[str, Any]]:
    """Makes the Python parts of a run known. Yields what the spec must have because of the log, by dotted key."""
    for name, cls in {**environments, **algorithms}.items():
        register(name, cls)
    if log is None:
        yield {}
        return
    from bandana._log import Log

    if not isinstance(log, Log):
        raise TypeError(f"log: a {type(log).__name__}, not a bandana.Log")
    with tempfile.TemporaryDirectory(prefix="bandana-log-") as folder:
        yield log._overrides(Path(folder))
