"""Cards: what there is to choose from, with every option, as the registry has it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, Generic, TypeVar, overload

from bandana import _bandana, _html
from bandana.errors import SpecError


@dataclass(frozen=True)
class Option:
    """An option of a spec.

    Attributes:
        key: its dotted key.
        default: its default; None means that it must be given.
        accepted: the values that are accepted.
        sentence: what it means.
        applies: the condition under which it has an effect, or "".
        words: its words and what each of them means.
    """

    key: str
    default: Any
    accepted: str
    sentence: str
    applies: str
    words: dict[str, str]


@dataclass(frozen=True)
class Card:
    """An algorithm, environment or privatizer.

    Attributes:
        name: the name that a spec has.
        paper: where it was published, or "".
        sentence: one sentence that explains it.
        options: its options.
        origin: the plugin or the program that brought it; "" if it ships.
        worlds: of an algorithm: the values of environment.kind that it accepts.
        trust: of an algorithm: the values of privacy.model that it accepts.
        played_by: of an environment: the algorithms that play in it.
    """

    name: str
    paper: str
    sentence: str
    options: list[Option] = field(repr=False)
    origin: str = ""
    worlds: list[str] = field(default_factory=list)
    trust: list[str] = field(default_factory=list)
    played_by: list[str] = field(default_factory=list)

    @property
    def _line(self) -> str:
        return self.sentence

    def _repr_html_(self) -> str:
        rows = [["option", "default", "accepted", "meaning"]]
        for option in self.options:
            meaning = escape(option.sentence + (f" Applies {option.applies}." if option.applies else ""))
            meaning += "".join(f"<br><code>{escape(w)}</code>: {escape(s)}" for w, s in option.words.items())
            default = "" if option.default is None else f"<code>{escape(json.dumps(option.default))}</code>"
            rows.append([f"<code>{escape(option.key)}</code>", default, escape(option.accepted), meaning])
        lists = [("Environments", self.worlds), ("Trust models", self.trust), ("Played by", self.played_by)]
        about = "".join(f"<p>{what}: {escape(', '.join(names))}.</p>" for what, names in lists if names)
        paper = f" ({escape(self.paper)})" if self.paper else ""
        title = f"<p><b>{escape(self.name)}</b>{paper}: {escape(self.sentence)}</p>"
        return title + about + (_html.table(rows, numbers=False, raw=True) if self.options else "")


@dataclass(frozen=True)
class Exhibit:
    """A figure or table of a paper that `reproduce` runs.

    Attributes:
        name: the name of the exhibit.
        title: what it shows.
        claims: the number of the paper's claims that it judges.
        stand_in: what stands in for data that are not public, or None.
    """

    name: str
    title: str
    claims: int
    stand_in: str | None

    @property
    def _line(self) -> str:
        return self.title


_T = TypeVar("_T", Card, Exhibit)


class Cards(Sequence[_T], Generic[_T]):
    """A list of cards. Cards are found by their place or by their name."""

    def __init__(self, cards: Sequence[_T]) -> None:
        self._cards: list[_T] = list(cards)

    @overload
    def __getitem__(self, key: int | str) -> _T: ...

    @overload
    def __getitem__(self, key: slice) -> list[_T]: ...

    def __getitem__(self, key: int | str | slice) -> _T | list[_T]:
        if not isinstance(key, str):
            return self._cards[key]
        for card in self._cards:
            if card.name == key:
                return card
        import difflib

        near = difflib.get_close_matches(key, self.names, 3, 0)
        raise SpecError._about("name", key, "unknown", f"nearest: {', '.join(near)}")

    def __len__(self) -> int:
        return len(self._cards)

    def __iter__(self) -> Iterator[_T]:
        return iter(self._cards)

    @property
    def names(self) -> list[str]:
        """The names of the cards."""
        return [card.name for card in self._cards]

    def _rows(self) -> list[list[str]]:
        rows = [["name", "what it is"]]
        for card in self._cards:
            rows.append([card.name, card._line])
        return rows

    def __repr__(self) -> str:
        width = max(len(name) for name in self.names)
        return "\n".join(f"{name.ljust(width)}  {what}" for name, what in self._rows()[1:])

    def _repr_html_(self) -> str:
        return _html.table(self._rows(), numbers=False)


def _entries(kind: str) -> Cards[Card]:
    cards = []
    for entry in json.loads(_bandana.entries(kind)):
        options = [
            Option(o["key"], o["default"], o["accepted"], o["help"], o["applies"], o["words"])
            for o in entry["options"]
        ]
        cards.append(
            Card(entry["name"], entry["paper"], entry["summary"], options, entry["origin"], entry["worlds"],
                 entry["trust"], entry["played_by"])
        )  # fmt: skip
    return Cards(cards)


def algorithms() -> Cards[Card]:
    """Returns the algorithms of the registry, with their options.

    >>> algorithms()["dp-dpe"].trust
    ['none', 'central', 'local', 'shuffle']
    """
    return _entries("algorithms")


def environments() -> Cards[Card]:
    """Returns the environments of the registry, with their options.

    >>> "linear" in environments().names
    True
    """
    return _entries("environments")


def privatizers() -> Cards[Card]:
    """Returns the trust models and what each of them takes.

    >>> len(privatizers()) > 3
    True
    """
    return _entries("privatizers")


def exhibits() -> Cards[Exhibit]:
    """Returns the figures and tables of papers that `reproduce` runs.

    >>> exhibits()["p1-fig2a"].claims > 0
    True
    """
    return Cards([Exhibit(**exhibit) for exhibit in json.loads(_bandana.exhibits())])
