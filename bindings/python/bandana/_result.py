"""What a run leaves: its points, tables, curves, promises, and its files."""

from __future__ import annotations

import csv
import json
import math
import os
import shutil
import sys
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bandana import _bandana, _html
from bandana._privacy import Statement
from bandana._spec import Spec
from bandana.errors import DataError, SpecError

if TYPE_CHECKING:
    import matplotlib.axes
    import numpy as np
    import numpy.typing as npt
    import pandas as pd

    Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Metric:
    """A metric at the end of a point's replicates. NaN stands for what is not known, such as the spread of one replicate.

    Attributes:
        mean: the mean over replicates.
        sd: the standard deviation over replicates.
        se: the standard error of the mean, sd / sqrt(n).
        n: the number of replicates.
        values: the value of each replicate.
    """

    mean: float
    sd: float
    se: float
    n: int
    values: list[float]


@dataclass(frozen=True, eq=False)
class Curve:
    """A metric over time, as read-only numpy arrays of one length.

    Attributes:
        t: the rounds of the checkpoints.
        mean: the mean over replicates.
        sd: the standard deviation over replicates; NaN with one replicate.
        se: the standard error of the mean; NaN with one replicate.
        median: the median over replicates.
        q10: the 10 % quantile over replicates.
        q90: the 90 % quantile over replicates.
    """

    t: npt.NDArray[np.int64]
    mean: Array
    sd: Array
    se: Array
    median: Array
    q10: Array
    q90: Array


@dataclass(frozen=True, eq=False)
class Point:
    """One combination of settings, and what came out.

    Attributes:
        label: the name of the point, as tables and charts show it.
        point: its value of each key that varies.
        algorithm: the name of its algorithm.
        metrics: the metrics at the end, by name.
        curve: the regret over time.
        privacy: what it promises.
    """

    label: str
    point: dict[str, Any]
    algorithm: str
    metrics: dict[str, Metric]
    curve: Curve
    privacy: Statement


class Verdict(NamedTuple):
    """A claim of a paper, and whether a run shows it.

    Attributes:
        claim: the claim, as a sentence.
        paper: where the paper makes it.
        expected: whether we expect to see it; the exhibit gives the reason if not.
        holds: whether the run shows it.
        evidence: the numbers, with standard errors.
    """

    claim: str
    paper: str
    expected: bool
    holds: bool
    evidence: str


class _NoSuchPoint(KeyError):
    def __str__(self) -> str:
        return str(self.args[0])


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _frozen(values: Any) -> Array:
    import numpy as np

    array = np.array([_number(value) for value in values], dtype=np.float64)
    array.flags.writeable = False
    return array


def _curve(t: Sequence[int], json: Mapping[str, Any], n: int) -> Curve:
    import numpy as np

    sd = _frozen(json["sd"])
    rounds = np.array(t, dtype=np.int64)
    rounds.flags.writeable = False
    return Curve(rounds, _frozen(json["mean"]), sd, _frozen(sd / math.sqrt(n)), _frozen(json["median"]),
                 _frozen(json["q10"]), _frozen(json["q90"]))  # fmt: skip


def _point(json: Mapping[str, Any]) -> Point:
    metrics = {
        name: Metric(_number(m["mean"]), _number(m["sd"]), _number(m["se"]), m["n"], [_number(v) for v in m["values"]])
        for name, m in json["metrics"].items()
    }
    curve = _curve(json["curve"]["t"], json["curve"]["regret"], json["replicates"])
    return Point(json["label"], json["point"], json["algorithm"], metrics, curve, Statement._from(json["privacy"]))


def _quantile(ordered: Array, q: float) -> Array:
    """Returns a quantile of each column of sorted rows, by the formula of the library, to the bit."""
    import numpy as np

    position = q * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    values: Array = ordered[below] + (position - below) * (ordered[above] - ordered[below])
    return np.where(np.isnan(ordered).any(axis=0), np.nan, values)


def in_notebook() -> bool:
    """Returns whether the program is a notebook's kernel."""
    return "ipykernel" in sys.modules


class Result:
    """What a run leaves. In a notebook it is shown as the table that the command line prints.

    Attributes:
        summary: the content of summary.json, unchanged.
        folder: the folder with the files of the run.
        points: the points, in the order of the results.

    >>> import bandana
    >>> result = bandana.run({"horizon": 1000, "replicates": 3, "environment": {"dimension": 3, "actions": 10},
    ...                       "algorithm": {"name": "lin-ucb"}, "privacy": {"model": "none"}})
    >>> result.points[0].label
    'lin-ucb'
    >>> result["lin-ucb"].metrics["regret"].n
    3
    """

    summary: dict[str, Any]
    folder: Path
    points: list[Point]

    def __init__(self, folder: Path, *, temporary: Path | None = None, spec: Spec | None = None) -> None:
        """Reads the files of a run. Use bandana.run or bandana.load instead."""
        self.folder = folder
        self.summary = json.loads(_read(folder / "summary.json"))
        self.points = [_point(point) for point in self.summary["points"]]
        self._spec = spec
        self._table: tuple[list[str], list[list[str]]] | None = None
        self._cleanup = (
            weakref.finalize(self, shutil.rmtree, str(temporary), ignore_errors=True) if temporary else None
        )

    @property
    def spec(self) -> Spec:
        """The experiment, with every default written out."""
        if self._spec is None:
            self._spec = Spec.load(self.folder / "spec.toml")
        return self._spec

    def __getitem__(self, key: str | int | Mapping[str, Any]) -> Point:
        """Returns one point: by its label, by its index, or by values of keys that only this point has.

        Raises:
            KeyError: no point is meant, or more than one. The message lists those there are.
        """
        if isinstance(key, int):
            return self.points[key]
        if isinstance(key, str):
            found = [point for point in self.points if point.label == key]
        else:
            absent = object()
            found = [
                point
                for point in self.points
                if all(point.point.get(name, absent) == value for name, value in key.items())
            ]
        if len(found) == 1:
            return found[0]
        here = "; ".join(f"{point.label}: {point.point}" for point in (found or self.points))
        what = "is not a point; there are" if not found else "is more than one point"
        raise _NoSuchPoint(f"{key!r} {what}: {here}")

    def __len__(self) -> int:
        return len(self.points)

    def _rows(self) -> tuple[list[str], list[list[str]]]:
        """Returns the header of results.csv and its rows."""
        if self._table is None:
            with open(self.folder / "results.csv", newline="", encoding="utf-8") as file:
                rows = list(csv.reader(file))
            self._table = rows[0], rows[1:]
        return self._table

    @property
    def metric_names(self) -> list[str]:
        """The names of the metrics, in the order of results.csv."""
        return list(self.summary["points"][0]["metrics"])

    def _check_metric(self, metric: str) -> None:
        if metric in self.metric_names:
            return
        raise SpecError._about("metric", metric, "no such metric", ", ".join(self.metric_names))

    def to_pandas(self, metrics: Sequence[str] | None = None) -> pd.DataFrame:
        """Returns results.csv as a frame: one row per point, replicate and checkpoint, and a column per key that varies.

        Args:
            metrics: the metrics that become columns; None means all. The values are those of the file, to the bit.

        Raises:
            SpecError: there is no such metric.
            ImportError: pandas is not installed.

        >>> import bandana
        >>> result = bandana.run({"horizon": 1000, "algorithm.name": "lin-ucb", "environment.dimension": 3,
        ...                       "privacy.model": "none", "sweep": {"environment.actions": [5, 10]}})
        >>> list(result.to_pandas(["regret"]).columns)
        ['point', 'label', 'environment.actions', 'replicate', 't', 'regret']
        """
        import pandas as pd

        for metric in metrics or []:
            self._check_metric(metric)
        frame = pd.read_csv(
            self.folder / "results.csv", float_precision="round_trip", converters={"label": str}, encoding="utf-8"
        )
        if metrics is None:
            return frame
        left_out = set(self.metric_names) - set(metrics)
        return frame[[column for column in frame.columns if column not in left_out]]

    def final(self, metric: str = "regret") -> pd.DataFrame:
        """Returns a metric at the end of the run, as a frame with the columns mean, sd, se and n, by label.

        Args:
            metric: the name of the metric, as results.csv has it.

        Raises:
            SpecError: there is no such metric.
            ImportError: pandas is not installed.
        """
        import pandas as pd

        self._check_metric(metric)
        rows = [point.metrics[metric] for point in self.points]
        return pd.DataFrame(
            {
                "mean": [row.mean for row in rows],
                "sd": [row.sd for row in rows],
                "se": [row.se for row in rows],
                "n": [row.n for row in rows],
            },
            index=pd.Index([point.label for point in self.points], name="label"),
        )

    def _curves(self, metric: str) -> list[Curve]:
        """Returns the curve of each point."""
        import numpy as np

        self._check_metric(metric)
        in_summary = [point["curve"].get(metric) for point in self.summary["points"]]
        if all(in_summary):
            return [
                _curve(point["curve"]["t"], curve, point["replicates"])
                for point, curve in zip(self.summary["points"], in_summary)
            ]
        header, rows = self._rows()
        at, of_point, of_replicate = header.index(metric), header.index("point"), header.index("replicate")
        values: dict[int, dict[int, list[float]]] = {}
        for row in rows:
            values.setdefault(int(row[of_point]), {}).setdefault(int(row[of_replicate]), []).append(float(row[at]))
        curves = []
        for index, point in enumerate(self.summary["points"]):
            table = np.array(list(values[index].values()))
            n = len(table)
            mean = np.add.reduce(table, axis=0) / n
            with np.errstate(invalid="ignore", divide="ignore"):
                sd = np.sqrt(np.add.reduce((table - mean) ** 2, axis=0) / np.float64(n - 1))
            if n == 1:
                sd = np.full_like(mean, np.nan)
            ordered = np.sort(table, axis=0)
            json = {"mean": mean, "sd": sd, "median": _quantile(ordered, 0.5), "q10": _quantile(ordered, 0.1),
                    "q90": _quantile(ordered, 0.9)}  # fmt: skip
            curves.append(_curve(point["curve"]["t"], json, n))
        return curves

    def curves(self, metric: str = "regret") -> dict[str, Curve]:
        """Returns a metric over time by label, as numpy arrays.

        Args:
            metric: the name of the metric, as results.csv has it.

        Raises:
            SpecError: there is no such metric.
        """
        return {point.label: curve for point, curve in zip(self.points, self._curves(metric))}

    @property
    def privacy(self) -> dict[str, Statement]:
        """What each point promises, by label. Printing a statement gives the sentences of the report."""
        return {point.label: point.privacy for point in self.points}

    def plot(
        self,
        metric: str = "regret",
        x: str = "t",
        band: str | None = "sd",
        ax: matplotlib.axes.Axes | None = None,
        log: bool = True,
    ) -> matplotlib.axes.Axes:
        """Draws a metric over time, or against a key that varies.

        Args:
            metric: the name of the metric, as results.csv has it.
            x: "t", or a key that varies and has numbers, such as "privacy.epsilon".
            band: what the band shows: "sd" (the standard deviation over replicates), "se" (the standard error of the
                mean), "quantile" (the 10 % to 90 % quantiles), or None.
            ax: the axes to draw on; None makes a figure of a paper's width.
            log: whether the axes are logarithmic, where the values allow it.

        Raises:
            SpecError: there is no such metric, key or band.
            ImportError: matplotlib is not installed.
        """
        from bandana import _plot

        return _plot.plot(self, metric, x, band, ax, log)

    def report(self, open: bool = False) -> Path:
        """Returns the path of report.html. In a notebook the page is shown in a frame, too.

        Args:
            open: whether to open the page in the browser.
        """
        path = self.folder / "report.html"
        if in_notebook():
            from IPython.display import HTML, display

            page = escape(path.read_text(encoding="utf-8"), quote=True)
            display(HTML(f'<iframe srcdoc="{page}" width="100%" height="720" style="border:0"></iframe>'))
        if open:
            import webbrowser

            webbrowser.open(path.absolute().as_uri())
        return path

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Copies the files of the run, and stops depending on a temporary folder.

        Args:
            folder: the folder of the copy. It must be new.

        Raises:
            SpecError: the folder exists.
        """
        target = Path(folder)
        if target.exists():
            raise SpecError._about("", "", "exists already", "a new folder", file=str(target))
        shutil.copytree(self.folder, target)
        self.folder = target
        if self._cleanup is not None:
            self._cleanup()
        return target

    def __repr__(self) -> str:
        text = json.dumps(self.summary)
        table = _html.text(_bandana.result_rows(text))
        remarks = _bandana.remarks(text).rstrip("\n")
        return "\n".join([f"{self.summary['name']}", table] + ([remarks] if remarks else []))

    def _repr_html_(self) -> str:
        text = json.dumps(self.summary)
        rows = [[escape(cell) for cell in row] for row in _bandana.result_rows(text)]
        for row, point in zip(rows[1:], self.points):
            row[-1] = f'<span title="{escape(str(point.privacy), quote=True)}">{row[-1]}</span>'
        remarks = "".join(f"<p>{escape(line)}</p>" for line in _bandana.remarks(text).splitlines())
        promises = "".join(
            f"<dt><b>{escape(point.label)}</b></dt><dd>{point.privacy._repr_html_()}</dd>" for point in self.points
        )
        return (
            _html.table(rows, caption=self.summary["name"], raw=True)
            + remarks
            + f"<details><summary>What each point promises</summary><dl>{promises}</dl></details>"
        )


class Reproduction(Result):
    """What `reproduce` returns: a result, and whether it shows what the paper claims.

    Attributes:
        verdicts: one for each claim.
    """

    verdicts: list[Verdict]

    def __init__(self, folder: Path, *, temporary: Path | None = None, spec: Spec | None = None) -> None:
        """Reads the files of a run. Use bandana.reproduce or bandana.load instead."""
        super().__init__(folder, temporary=temporary, spec=spec)
        self.verdict = json.loads(_read(folder / "verdict.json"))
        claims = self.verdict["verdicts"]
        self._judged = [claim.get("judged", True) for claim in claims]
        self._left = [claim.get("left", False) for claim in claims]
        self.verdicts = [Verdict(*(claim[name] for name in Verdict._fields)) for claim in claims]

    @property
    def as_expected(self) -> bool:
        """Whether every claim came out as we expect. Claims that this scale leaves to scale paper do not count."""
        return "UNEXPECTED" not in self._outcomes()

    def _outcomes(self) -> list[str]:
        outcomes = []
        for verdict, judged, left in zip(self.verdicts, self._judged, self._left):
            expected = judged and verdict.holds == verdict.expected
            outcomes.append("left to scale paper" if left else "as expected" if expected else "UNEXPECTED")
        return outcomes

    def _verdict_rows(self) -> list[list[str]]:
        rows = [["claim", "paper", "expected", "holds", "evidence"]]
        word = {True: "yes", False: "no"}
        rows += [[v.claim, v.paper, word[v.expected], word[v.holds], v.evidence] for v in self.verdicts]
        return rows

    def __repr__(self) -> str:
        lines = [
            f"{outcome}: {v.claim}: {v.evidence}" for outcome, v in zip(self._outcomes(), self.verdicts)
        ]
        return "\n".join([super().__repr__(), *lines])

    def _repr_html_(self) -> str:
        return super()._repr_html_() + _html.table(self._verdict_rows(), caption="Claims", numbers=False)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        accepted = "the folder of a finished run, with spec.toml, results.csv and summary.json"
        raise SpecError._about("", "", "cannot be read", accepted, file=str(path)) from None


def load(folder: str | os.PathLike[str]) -> Result:
    """Reads what a run has left, from Python or from the command line.

    Args:
        folder: the folder of the run.

    Raises:
        SpecError: the folder has no summary.json.
        DataError: a file of the run is damaged.

    >>> load("no such folder")
    Traceback (most recent call last):
    bandana.errors.SpecError: no such folder/summary.json: cannot be read (accepted: the folder of a finished run, with spec.toml, results.csv and summary.json)
    """
    path = Path(folder)
    try:
        return Reproduction(path) if (path / "verdict.json").exists() else Result(path)
    except (KeyError, ValueError) as error:
        if isinstance(error, SpecError):
            raise
        raise DataError(f"{path}: not the files of a run: {error!r}") from error
