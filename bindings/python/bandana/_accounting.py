"""What several releases promise together, and the ledger of what was spent."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bandana import _bandana, _html
from bandana._privacy import Claim, Guarantee

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class AccountProof:
    """What one proof gives for a list of releases.

    Attributes:
        proof: the name: "gdp", "pld", "renyi", "zcdp" or "basic".
        title: the name for people.
        epsilon: the epsilon that it proves, or None if it proves none.
        delta: the delta that it proves, or None if it proves none.
        why_not: why it proves none, or None.
    """

    proof: str
    title: str
    epsilon: float | None
    delta: float | None
    why_not: str | None


@dataclass(frozen=True)
class AccountReport:
    """What a list of releases promises. It answers for a list that was fixed beforehand.

    Attributes:
        epsilon: the best epsilon that is proved.
        delta: the delta that goes with it.
        proof: the name of the proof that gives them.
        unit: the unit that is protected.
        neighbours: which change of the data is hidden.
        worst_cohort: the cohort whose units have this guarantee, or None if there are no cohorts.
        proofs: every proof, best first, and why the others give none.
        note: the condition under which the guarantee holds.
        json: the document of the command line.
    """

    epsilon: float
    delta: float
    proof: str
    unit: str
    neighbours: str
    worst_cohort: str | None
    proofs: list[AccountProof]
    note: str
    json: dict[str, Any]

    @property
    def guarantee(self) -> Guarantee:
        """The pair of epsilon and delta."""
        return Guarantee(self.epsilon, self.delta)

    def _rows(self) -> list[list[str]]:
        rows = [["proof", "epsilon", "delta", ""]]
        for each in self.proofs:
            figures = ["-" if value is None else f"{value:.5g}" for value in (each.epsilon, each.delta)]
            rows.append([each.title, *figures, "used" if each.proof == self.proof else each.why_not or ""])
        return rows

    def _sentence(self) -> str:
        return (
            f"({self.epsilon:.5g}, {self.delta:.5g})-differentially private for one {self.unit}, "
            f"{self.neighbours} neighbours"
        )

    def __str__(self) -> str:
        return f"{self._sentence()}\n\n{_html.text(self._rows())}\n\n{self.note}"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self._sentence())}</p>{_html.table(self._rows())}<p>{escape(self.note)}</p>"


class Accountant:
    """Adds releases up. The list must be fixed beforehand: what is released must not decide what is released later.

    Args:
        unit: the unit that is protected, such as "client" or "record".
        neighbours: "replace-one" or "add-remove".

    >>> acc = Accountant(unit="client", neighbours="replace-one")
    >>> acc.add("gaussian", sigma=60, sensitivity=2.5, count=52, name="weekly sums")
    >>> round(acc.epsilon(delta=1e-6), 4)
    1.2939
    """

    def __init__(self, unit: str, neighbours: str) -> None:
        self._common = {"unit": unit, "neighbours": neighbours}
        self._events: list[dict[str, Any]] = []

    def add(
        self,
        mechanism: str,
        *,
        count: int,
        cohort: str = "",
        disjoint: bool = False,
        name: str = "",
        **parameters: float,
    ) -> None:
        """Adds releases of one mechanism.

        Args:
            mechanism: the mechanism, one of `Accountant.mechanisms()`.
            count: the number of such releases, from 1 to 1e9.
            cohort: the set of units that the releases concern; "" means everyone. Cohorts are disjoint.
            disjoint: whether the releases are over disjoint units, such that each unit is in only one of them.
            name: a name for people.
            **parameters: the parameters of the mechanism, such as sigma and sensitivity.

        Raises:
            SpecError: the mechanism or a parameter is unknown or missing, or a value is not accepted.

        >>> Accountant(unit="client", neighbours="replace-one").add("gaussian", sigma=1, count=1)
        Traceback (most recent call last):
            ...
        bandana.errors.SpecError: sensitivity: missing ...
        """
        event: dict[str, Any] = {"name": name} if name else {}
        event |= {"mechanism": mechanism, **self._common, "count": _plain(count)}
        event |= {"disjoint": disjoint} if disjoint else {}
        event |= {"cohort": cohort} if cohort else {}
        event |= {key: _plain(value) for key, value in parameters.items()}
        _bandana.check_event(json.dumps(event))
        self._events.append(event)

    @property
    def events(self) -> list[dict[str, Any]]:
        """The releases so far, as `bandana account` reads them."""
        return [dict(event) for event in self._events]

    def to_json(self) -> str:
        """Returns the list as JSON text, which `bandana account` reads."""
        return json.dumps(self._events, indent=1)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Accountant:
        """Reads the releases of a file that `bandana account` reads.

        Raises:
            SpecError: the file cannot be read, or an event is not accepted.
        """
        document = json.loads(_bandana.read_account(os.fspath(path)))
        events = document["events"] if isinstance(document, Mapping) else document
        first = events[0] if events else {"unit": "", "neighbours": ""}
        accountant = cls(first["unit"], first["neighbours"])
        accountant._events = events
        return accountant

    @staticmethod
    def mechanisms() -> dict[str, dict[str, str]]:
        """Returns the mechanisms and their parameters with what is accepted.

        >>> list(Accountant.mechanisms()["gaussian"])
        ['sigma', 'sensitivity']
        """
        return {
            kind["name"]: {p["name"]: f"{p['meaning']} ({p['accepted']})" for p in kind["parameters"]}
            for kind in json.loads(_bandana.mechanisms())
        }

    def epsilon(self, delta: float) -> float:
        """Returns the least epsilon that is proved at this delta, in [0, 1)."""
        return self.report(delta=delta).epsilon

    def delta(self, epsilon: float) -> float:
        """Returns the least delta that is proved at this epsilon, >= 0."""
        return self.report(epsilon=epsilon).delta

    def report(self, *, delta: float | None = None, epsilon: float | None = None) -> AccountReport:
        """Returns every proof, best first. Give `delta` or `epsilon`.

        Raises:
            SpecError: there are no events, or no proof gives a guarantee.

        >>> acc = Accountant(unit="client", neighbours="replace-one")
        >>> acc.add("gaussian", sigma=4, sensitivity=1, count=1)
        >>> [proof.proof for proof in acc.report(delta=1e-6).proofs][0]
        'gdp'
        """
        if (delta is None) == (epsilon is None):
            raise TypeError("give delta or epsilon")
        request: dict[str, Any] = {"events": self._events}
        request |= {"delta": _plain(delta)} if delta is not None else {"epsilon": _plain(epsilon)}
        answer = json.loads(_bandana.account(json.dumps(request)))
        return AccountReport(
            answer["epsilon"], answer["delta"], answer["proof"], answer["unit"], answer["neighbours"],
            answer["worst_cohort"], [AccountProof(**each) for each in answer["proofs"]],
            f"The guarantee holds for a list that was fixed beforehand. Proofs: {answer['proof_note']}", answer,
        )  # fmt: skip

    def __repr__(self) -> str:
        common = ", ".join(f"{key}={value!r}" for key, value in self._common.items())
        return f"<Accountant({common}): {len(self._events)} kinds of releases>"


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") and not isinstance(value, (int, float)) else value


@dataclass(frozen=True)
class Spent:
    """What one unit, or all together, has spent.

    Attributes:
        releases: the number of releases, or None for a total.
        spent: the amount by name ("epsilon", "rho" or "mu_squared", and "delta").
        left: what is left of the budget, rounded down; None where there is no budget.
    """

    releases: int | None
    spent: dict[str, float]
    left: dict[str, float] | None


class Ledger:
    """The record of what a deployment has spent, verified when it is opened. It is read only.

    Args:
        path: the file of the ledger.

    Attributes:
        header: who owns it, its claims and its budgets.
        head: the number and hash of its last line. Keep it elsewhere, and give it to `verify` later.
        charges: the releases, in order.
        notes: sentences on a ledger that is being written, or whose writer crashed.

    Raises:
        SpecError: there is no such file.
        DataError: something does not verify.

    >>> Ledger("no such file")
    Traceback (most recent call last):
        ...
    bandana.errors.SpecError: ...no such file...
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        document = json.loads(_bandana.read_ledger(str(self._path), None))
        self._document = document
        self.header: dict[str, Any] = {
            key: document[key]
            for key in ("deployment", "configuration", "void", "began", "measure", "budget", "deployment_budget")
        }
        self.header["claims"] = [Claim._from(claim) for claim in document["claims"]]
        self.head: dict[str, Any] = document["head"]
        self.charges: list[dict[str, Any]] = document["charges"]
        self.notes: list[str] = document["notes"]
        self._units: dict[int, dict[str, Any]] = {each["client"]: each for each in document["clients"]}

    def spent(self, unit: int | None = None) -> Spent:
        """Returns what a unit has spent and what it has left; without a unit, what all releases together have.

        Args:
            unit: the number of a client, from 1.
        """
        amount = self._document["amount"]
        if unit is None:
            return Spent(self._document["releases"], self._document["total"], None)
        if isinstance(unit, bool) or not hasattr(unit, "__index__") or unit < 1:
            raise ValueError(f"unit = {unit!r}: not accepted (accepted: a whole number from 1)")
        account = self._units.get(int(unit))
        if account is None and self._document["all_spent"]:  # a back-up was restored without the last lines
            return Spent(0, dict(self.header["budget"]), {amount: 0.0, "delta": 0.0})
        if account is None:
            return Spent(0, {amount: 0.0, "delta": 0.0}, dict(self.header["budget"]))
        return Spent(account["releases"], account["spent"], account["left"])

    @property
    def largest(self) -> tuple[int, Spent] | None:
        """The unit that has spent the most, and what; None if nobody has."""
        largest = self._document["largest"]
        if largest is None:
            return None
        return largest["client"], Spent(largest["releases"], largest["spent"], largest["left"])

    def verify(self, head: str | None = None) -> bool:
        """Reads and verifies the file again, and returns True.

        Args:
            head: the hash of a head that was noted earlier, elsewhere. No line up to that one was then altered, even if
                someone rewrote the whole file.

        Raises:
            DataError: something does not verify.
        """
        _bandana.read_ledger(str(self._path), head)
        return True

    def to_pandas(self) -> pd.DataFrame:
        """Returns the charges as a frame, one row per release.

        Raises:
            ImportError: pandas is not installed.
        """
        import pandas as pd

        amount = self._document["amount"]
        columns = ["seq", "time", "node", "epoch", "epsilon", "delta", f"loss_{amount}", "loss_delta", "clients", "units"]
        rows = [
            [c["seq"], c["time"], c["node"], c["epoch"], c["guarantee"]["epsilon"], c["guarantee"]["delta"],
             c["loss"][amount], c["loss"]["delta"], c["clients"], c["units"]]
            for c in self.charges
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=columns)

    def __repr__(self) -> str:
        return (
            f"<Ledger of {self.header['deployment']!r}: {self._document['releases']} releases, "
            f"{self._document['units']} clients>"
        )
