"""What is promised to whom: claims, and the statements of which they are part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, NamedTuple


class Guarantee(NamedTuple):
    """(epsilon, delta)-differential privacy.

    Attributes:
        epsilon: the privacy loss, 0 or more. Smaller is more private.
        delta: the probability that the loss is larger, from 0 to 1.
    """

    epsilon: float
    delta: float


@dataclass(frozen=True)
class Claim:
    """A bound on what one adversary can learn about one unit. Printing it gives a sentence.

    Attributes:
        adversary: who the adversary is, and what it sees.
        epsilon: the proved epsilon.
        delta: the proved delta.
        unit: the unit that is protected.
        neighbours: which change of the data is hidden: "replace-one" or "add-remove".
        proof: the note with the proof, in docs/proofs/.
        only_if: the condition without which the claim says nothing, or None.
        asked: whether epsilon was asked for against this adversary. Other claims follow from the mechanism.
        text: the claim as a sentence.
    """

    adversary: str
    epsilon: float
    delta: float
    unit: str
    neighbours: str
    proof: str
    only_if: str | None = None
    asked: bool = True
    text: str = field(default="", repr=False)

    def __str__(self) -> str:
        return self.text

    @property
    def guarantee(self) -> Guarantee:
        """The pair of epsilon and delta."""
        return Guarantee(self.epsilon, self.delta)

    @classmethod
    def _from(cls, json: Mapping[str, Any]) -> Claim:
        return cls(**{name: json[name] for name in cls.__dataclass_fields__ if name in json})


@dataclass(frozen=True)
class Statement:
    """What a run promises, and what it was asked for. Printing it gives sentences.

    Attributes:
        nominal: the guarantee that was asked for, or None if there is no privacy.
        delivered: the claims that are proved; empty if there are none.
        void: why the claims do not hold for this run, or None if they hold.
    """

    nominal: Guarantee | None
    delivered: list[Claim]
    void: str | None

    @classmethod
    def _from(cls, json: Mapping[str, Any]) -> Statement:
        nominal = json["nominal"]
        return cls(
            Guarantee(nominal["epsilon"], nominal["delta"]) if nominal else None,
            [Claim._from(claim) for claim in json["delivered"]],
            json["void"],
        )

    def __str__(self) -> str:
        lines = [f"VOID: {self.void}"] if self.void else []
        lines += [str(claim) for claim in self.delivered]
        return "\n".join(lines) or "no privacy is claimed"

    def _repr_html_(self) -> str:
        void = f"<p><b>VOID</b>: {escape(self.void)}</p>" if self.void else ""
        if not self.delivered:
            return void + "<p>No privacy is claimed.</p>"
        return void + "<ul>" + "".join(f"<li>{escape(str(claim))}</li>" for claim in self.delivered) + "</ul>"
