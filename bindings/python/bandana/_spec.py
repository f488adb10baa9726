"""Specs: what an experiment is, checked before it runs."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from bandana import _bandana

SpecLike: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any] | Spec"

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True)
class Estimate:
    """How long a run will take, measured on short cuts of it.

    Attributes:
        seconds: the time of all replicates together, in seconds. 0 means that the run is sure to be short.
        threads: the number of threads that the estimate is for.
        text: the sentence of the command line, empty below one minute.
    """

    seconds: float
    threads: int
    text: str


@dataclass(frozen=True)
class SpecPoint:
    """One combination of settings of a spec.

    Attributes:
        label: the name of the point, as tables and charts show it.
        point: its value of each key that varies.
        settings: the value of every option that has an effect, by dotted key.
    """

    label: str
    point: dict[str, Any]
    settings: dict[str, Any]


def _plain(value: Any) -> Any:
    """Returns the value with Python's own types instead of numpy's and of paths."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "tolist") and not isinstance(value, (bool, int, float, str)):
        return value.tolist()  # numpy's scalars and arrays
    return value


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _text(name)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _toml_value(value: Any, key: str) -> str:
    value = _plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, str):
        return _text(str(value))
    if isinstance(value, Mapping):
        items = (f"{_key(str(name))} = {_toml_value(each, f'{key}.{name}')}" for name, each in value.items())
        return "{" + ", ".join(items) + "}"
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        return "[" + ", ".join(_toml_value(each, key) for each in value) + "]"
    raise TypeError(
        f"{key}: a spec holds numbers, texts, truth values, lists and dicts of them, not {type(value).__name__}"
    )


def _leaves(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yields the values of a table by dotted key."""
    for name, value in table.items():
        if not isinstance(name, str):
            raise TypeError(f"{prefix}{name!r}: the keys of a spec are texts")
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _lines(table: Mapping[str, Any], quoted: bool = False) -> Iterator[str]:
    given = set()
    for key, value in _leaves(table):
        if key in given:
            raise ValueError(f"{key} is given twice: as a dotted key and in a dict")
        given.add(key)
        name = _text(key) if quoted else ".".join(_key(part) for part in key.split("."))
        yield f"{name} = {_toml_value(value, key)}"


def _to_toml(spec: Mapping[str, Any]) -> str:
    """Returns the TOML text of a spec that is a dict of tables or of dotted keys."""
    base = {key: value for key, value in spec.items() if key not in ("sweep", "variant")}
    lines = [] if "name" in base else ['name = "experiment"']
    lines += _lines(base)
    variants = _plain(spec.get("variant", []))
    if isinstance(variants, Mapping) or not isinstance(variants, Sequence):
        raise TypeError("variant: a list of dicts, each with a label")
    for variant in variants:
        if not isinstance(variant, Mapping):
            raise TypeError("variant: a list of dicts, each with a label")
        lines += ["[[variant]]", *_lines(variant)]
    sweep = spec.get("sweep", {})
    if not isinstance(sweep, Mapping):
        raise TypeError("sweep: a dict of lists, by dotted key")
    if sweep:
        lines += ["[sweep]", *_lines(sweep, quoted=True)]
    return "\n".join(lines) + "\n"


def _overrides(given: Mapping[str, Any] | None) -> list[str]:
    """Returns assignments as --set takes them."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise TypeError('set: a dict of values by dotted key, such as {"privacy.epsilon": 2}')
    return [f"{key}={_toml_value(value, key)}" for key, value in _leaves(given)]


class Spec:
    """An experiment that has been checked: every key, every value, and how they fit together.

    Args:
        spec: a dict of tables or dotted keys, with the names that TOML files have. `sweep` is a dict of lists, and
            `variant` a list of dicts with a label. Numbers may be numpy's. A whole number has no point.
        set: values that override those of the spec, its sweeps and its variants, by dotted key.

    Raises:
        SpecError: a key or a value is not accepted. Its fields say which, and what is accepted.
        TypeError: a value is of a type that no spec holds.

    >>> spec = Spec({"horizon": 1000, "algorithm": {"name": "lin-ucb"}, "environment": {"dimension": 3, "actions": 10},
    ...              "privacy.model": "none"})
    >>> [point.label for point in spec.points]
    ['lin-ucb']
    """

    def __init__(self, spec: Mapping[str, Any], *, set: Mapping[str, Any] | None = None) -> None:
        if not isinstance(spec, Mapping):
            raise TypeError("Spec takes a dict; Spec.load reads a file, and Spec.parse reads TOML text")
        self._init(_to_toml(spec), "", [], set)

    def _init(self, text: str | None, path: str, overrides: list[str], set: Mapping[str, Any] | None) -> None:
        self._text = text
        self._path = path
        self._overrides = overrides + _overrides(set)
        if text is None:
            self._core = _bandana.Spec.load(path, self._overrides)
        else:
            self._core = _bandana.Spec.parse(text, path, self._overrides)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, set: Mapping[str, Any] | None = None) -> Spec:
        """Reads and checks a TOML file.

        Args:
            path: the file.
            set: values that override those of the file, by dotted key.

        Raises:
            SpecError: the file cannot be read, or a key or a value is not accepted.

        >>> Spec.load("no such file.toml")
        Traceback (most recent call last):
        bandana.errors.SpecError: no such file.toml: cannot be read (accepted: a readable TOML file)
        """
        spec = cls.__new__(cls)
        spec._init(None, os.fspath(path), [], set)
        return spec

    @classmethod
    def parse(cls, text: str, *, set: Mapping[str, Any] | None = None) -> Spec:
        """Checks a spec that is TOML text. Relative paths in it begin at the working folder.

        Args:
            text: the TOML text.
            set: values that override those of the text, by dotted key.

        Raises:
            SpecError: the text is not TOML, or a key or a value is not accepted.

        >>> Spec.parse("horizons = 10")
        Traceback (most recent call last):
        bandana.errors.SpecError: spec:1: horizons: unknown key (accepted: nearest known key: horizon)
        """
        spec = cls.__new__(cls)
        spec._init(text, "spec", [], set)
        return spec

    def _with(self, set: Mapping[str, Any] | None) -> Spec:
        """Returns the spec with values overridden, checked again."""
        spec = Spec.__new__(Spec)
        spec._init(self._text, self._path, self._overrides, set)
        return spec

    @property
    def name(self) -> str:
        """The name of the experiment."""
        return self._core.name

    @property
    def points(self) -> list[SpecPoint]:
        """The combinations of settings that are run, in the order of the results."""
        return [SpecPoint(*point) for point in self._core.points]

    @property
    def replicates(self) -> int:
        """How often each point is run, each time with seeds of its own."""
        return self._core.replicates

    @property
    def swept(self) -> list[str]:
        """The keys of the sweep, in its order."""
        return self._core.swept

    @property
    def toml(self) -> str:
        """The resolved spec, with every default written out. It is the file spec.toml of a run."""
        return self._core.toml

    @property
    def sha256(self) -> str:
        """The digest of `toml`, in hexadecimal."""
        return self._core.sha256

    @property
    def without_effect(self) -> list[str]:
        """The keys that were given and that nothing in the run uses."""
        return self._core.without_effect

    def estimate(self, *, threads: int = 0) -> Estimate:
        """Estimates how long a run will take, in a few seconds at most.

        Args:
            threads: the number of threads of the run; 0 means all cores.

        >>> Spec({"horizon": 10, "algorithm.name": "lin-ucb", "environment": {"dimension": 3, "actions": 10},
        ...       "privacy.model": "none"}).estimate().text
        ''
        """
        threads = threads if threads > 0 else len(os.sched_getaffinity(0))
        return Estimate(*_bandana.estimate(self._core, threads))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spec) and self.toml == other.toml

    def __hash__(self) -> int:
        return hash(self.toml)

    def __repr__(self) -> str:
        points = len(self._core.points)
        return f"<Spec {self.name!r}: {points} point{'s' * (points != 1)}, {self.replicates} replicates>"

    def __str__(self) -> str:
        return self.toml


def as_spec(spec: SpecLike, set: Mapping[str, Any] | None) -> Spec:
    """Returns what a user gives as a spec, checked."""
    if isinstance(spec, Spec):
        return spec if not set else spec._with(set)
    if isinstance(spec, Mapping):
        return Spec(spec, set=set)
    if isinstance(spec, str) and "\n" in spec:
        raise TypeError("a spec is a path, a dict or a Spec; for TOML text there is bandana.Spec.parse")
    if isinstance(spec, (str, os.PathLike)):
        return Spec.load(spec, set=set)
    raise TypeError(f"a spec is a path, a dict or a Spec, not {type(spec).__name__}")
