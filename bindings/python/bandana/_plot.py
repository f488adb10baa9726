"""Figures fit for a paper."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from bandana.errors import SpecError

if TYPE_CHECKING:
    import matplotlib.axes

    from bandana._result import Curve, Point, Result

# Colours that people with any colour vision can tell apart (M. Okabe and K. Ito), the darker ones first. Line styles and
# markers tell curves apart in print without colours.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)))
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")

_STYLE = {
    "font.size": 9,
    "axes.labelsize": 9,
    "axes.titlesize": 10,
    "legend.fontsize": 8,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#d9d9d9",
    "grid.linewidth": 0.6,
    "xtick.direction": "out",
    "ytick.direction": "out",
    "figure.dpi": 110,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "figure.constrained_layout.use": True,
}

_BANDS = {
    "sd": "bands: one standard deviation over replicates",
    "se": "bands: one standard error of the mean",
    "quantile": "lines: median; bands: 10 % to 90 % of replicates",
    None: "",
}

_NAMES = {
    "best_action_rate": "share of rounds with the best action",
    "bytes_on_wire": "bytes sent",
    "clients": "clients",
    "communication_bits": "bits sent",
    "communication_cost": "communication cost",
    "communication_reals": "numbers sent",
    "regret": "cumulative regret",
    "regret_per_agent": "cumulative regret per agent",
    "t": "rounds",
    "value": "reward per round",
}


def _name(key: str) -> str:
    return _NAMES.get(key, key.rsplit(".", 1)[-1].replace("_", " "))


def _axis_name(key: str) -> str:
    """Returns the name of a key on an axis. Greek letters are what readers of the field expect there."""
    short = key.rsplit(".", 1)[-1]
    return {"epsilon": "privacy loss ε", "delta": "δ"}.get(short, _name(key))


def _legend_entry(label: str, point: Point) -> str:
    return f"{label} (claim void)" if point.privacy.void else label


def _sides(curve: Curve, band: str | None) -> tuple[Any, Any, Any]:
    """Returns the middle of a curve and the two sides of its band."""
    if band == "quantile":
        return curve.median, curve.q10, curve.q90
    if band is None:
        return curve.mean, None, None
    half = curve.sd if band == "sd" else curve.se
    return curve.mean, curve.mean - half, curve.mean + half


def _spread(values: Any) -> float:
    """Returns the ratio of the largest to the smallest positive value; 0 if some value is not positive."""
    finite = [float(value) for value in values if math.isfinite(value)]
    if not finite or min(finite) <= 0:
        return 0.0
    return max(finite) / min(finite)


def _lines_over(result: Result, metric: str, x: str) -> list[tuple[str, list[tuple[float, Point, Curve]]]]:
    """Returns the points along a key, grouped by the values of the other keys that vary."""
    numbers = sorted(
        {
            key
            for point in result.points
            for key, value in point.point.items()
            if isinstance(value, (int, float)) and not isinstance(value, bool)
        }
    )
    if x not in numbers:
        raise SpecError._about("x", x, "not a key that varies and has numbers", ", ".join(["t", *numbers]))
    lines: dict[Any, list[tuple[float, Point, Curve]]] = {}
    labels: dict[Any, str] = {}
    short = x.rsplit(".", 1)[-1]
    everywhere: list[tuple[str, Point, Curve]] = []
    for point, curve in zip(result.points, result._curves(metric)):
        if x not in point.point:
            everywhere.append((point.label, point, curve))  # the key has no effect there: a level line
            continue
        words = point.label.split(" ")
        label = " ".join(word for word in words if not word.startswith(f"{short}=")).strip()
        others = (label, tuple(sorted((key, str(v)) for key, v in point.point.items() if key != x)))
        labels[others] = label or _name(metric)
        lines.setdefault(others, []).append((float(point.point[x]), point, curve))
    found = [(labels[key], sorted(line, key=lambda item: item[0])) for key, line in lines.items()]
    xs = [at for _, line in found for at, _, _ in line]
    for label, point, curve in everywhere:
        found.append((label, [(at, point, curve) for at in (min(xs), max(xs))]))
    return found


def _shade(colour: str, depth: float) -> tuple[float, ...]:
    """Returns the colour mixed with white; 1 is the colour itself."""
    from matplotlib.colors import to_rgb

    return tuple(1 - depth * (1 - channel) for channel in to_rgb(colour))


def _looks(points: list[Point]) -> list[tuple[Any, Any]]:
    """Returns a colour and a line style for the curve of each point. Where points vary in a number and in something else,
    a colour means the something else, and shade and style mean the number."""
    numbers = {
        key
        for point in points
        for key, value in point.point.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
    groups: dict[Any, list[int]] = {}
    for i, point in enumerate(points):
        others = tuple(sorted((key, str(value)) for key, value in point.point.items() if key not in numbers))
        groups.setdefault(others, []).append(i)
    deepest = max(len(members) for members in groups.values())
    looks: list[tuple[Any, Any]] = [("", "")] * len(points)
    if len(numbers) == 1 and 1 < len(groups) <= len(_COLOURS) and 1 < deepest <= len(_LINES):
        for colour, members in zip(_COLOURS, groups.values()):
            for rank, i in enumerate(members):
                last = len(members) - 1
                looks[i] = _shade(colour, 1 - 0.55 * (last - rank) / max(last, 1)), _LINES[last - rank]
        return looks
    for i in range(len(points)):
        turn, colour_at = divmod(i, len(_COLOURS))
        looks[i] = _COLOURS[colour_at], _LINES[(turn + colour_at) % len(_LINES)]
    return looks


def plot(
    result: Result, metric: str, x: str, band: str | None, ax: matplotlib.axes.Axes | None, log: bool
) -> matplotlib.axes.Axes:
    """Draws what Result.plot describes."""
    import matplotlib
    import numpy as np

    if band not in _BANDS:
        raise SpecError._about("band", str(band), "not accepted", '"sd", "se", "quantile", None')
    result._check_metric(metric)
    drawn: list[tuple[str, Any, Any, Any, Any, bool]] = []  # label, x, middle, low, high, whether markers are drawn
    if x == "t":
        for point, curve in zip(result.points, result._curves(metric)):
            middle, low, high = _sides(curve, band)
            drawn.append((_legend_entry(point.label, point), curve.t, middle, low, high, False))
    else:
        for label, line in _lines_over(result, metric, x):
            void = all(point.privacy.void for _, point, _ in line)
            sides = [_sides(curve, band) for _, _, curve in line]
            columns = [None if sides[0][i] is None else np.array([float(s[i][-1]) for s in sides]) for i in range(3)]
            xs = np.array([at for at, _, _ in line])
            level = len(line) == 2 and line[0][1] is line[1][1]
            entry = f"{label} (claim void)" if void else label
            drawn.append((entry, xs, columns[0], columns[1], columns[2], not level))

    own = ax is None
    with matplotlib.rc_context(_STYLE):
        if ax is None:
            import matplotlib.pyplot as plt

            longest = max(len(each[0]) for each in drawn)
            beside = len(drawn) > 1
            width = 4.6 + (min(2.6, 0.7 + 0.058 * longest) if beside else 0)
            _, ax = plt.subplots(figsize=(width, max(3.1, 0.19 * len(drawn) + 0.8)))
        all_x = np.concatenate([each[1] for each in drawn])
        all_y = np.concatenate([each[2] for each in drawn])
        positive = all_y[np.isfinite(all_y) & (all_y > 0)]
        log_x = log and _spread(all_x) >= 10
        log_y = log and len(positive) > 0 and not (np.nanmin(all_y) < 0) and positive.max() / positive.min() >= 10
        floor = float(positive.min()) if len(positive) else 0.0
        if x == "t":
            looks = _looks(result.points)
        else:
            looks = [(_COLOURS[i % len(_COLOURS)], _LINES[(i // len(_COLOURS) + i) % len(_LINES)]) for i in range(len(drawn))]
        for i, (label, xs, middle, low, high, marked) in enumerate(drawn):
            middle = np.asarray(middle, dtype=float)
            if log_y:
                middle = np.where(middle > 0, middle, np.nan)  # a regret of 0 has no place on a logarithmic axis
            (curve_line,) = ax.plot(
                xs, middle, label=label, color=looks[i][0], linestyle=looks[i][1], linewidth=1.4,
                marker=_MARKERS[i % len(_MARKERS)] if marked else None, markersize=4,
            )  # fmt: skip
            if low is not None and np.isfinite(low).any():
                bottom = np.maximum(low, floor / 2) if log_y else low
                ax.fill_between(xs, bottom, high, color=curve_line.get_color(), alpha=0.15, linewidth=0)
        if log_x:
            ax.set_xscale("log")
        if log_y:
            ax.set_yscale("log")
        elif np.nanmin(all_y) >= 0:
            ax.set_ylim(bottom=0)
        if log_x and x != "t":
            ticks = sorted(set(all_x.tolist()))
            if len(ticks) <= 8:
                ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
                ax.minorticks_off() if not log_y else ax.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
        if not log_x and not log_y:
            ax.ticklabel_format(style="sci", axis="both", scilimits=(-3, 5), useMathText=True)
        ax.set_xlabel(_axis_name(x))
        ax.set_ylabel(_name(metric) + ("" if x == "t" else " at the end"))
        ax.margins(x=0.02)
        if len(drawn) > 1 or any(each[0].endswith("(claim void)") for each in drawn):
            if own and len(drawn) > 1:
                ax.legend(
                    loc="upper left", bbox_to_anchor=(1.02, 1), borderaxespad=0, frameon=False, handlelength=2.6
                )
            else:
                ax.legend(loc="best", frameon=True, framealpha=0.9, edgecolor="none", handlelength=2.6)
        if own:
            ax.grid(True, which="major")
    return ax
