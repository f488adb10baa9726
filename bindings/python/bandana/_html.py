"""Tables for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_CELL = "padding:.3em .8em;border-bottom:1px solid rgba(128,128,128,.25);vertical-align:top"


def table(rows: Sequence[Sequence[str]], *, caption: str = "", numbers: bool = True, raw: bool = False) -> str:
    """Returns an HTML table whose first row is the header. Columns after the first are aligned to the right if they hold
    numbers. Cells are text, or HTML if `raw`."""

    def row(cells: Sequence[str], tag: str) -> str:
        out = ""
        for i, cell in enumerate(cells):
            side = "right" if numbers and i > 0 else "left"
            weight = ";font-weight:600" if tag == "th" else ""
            out += f'<{tag} style="{_CELL};text-align:{side}{weight}">{cell if raw else escape(cell)}</{tag}>'
        return f"<tr>{out}</tr>"

    title = f'<caption style="caption-side:top;text-align:left;padding:.3em .8em"><b>{escape(caption)}</b></caption>'
    body = "".join(row(cells, "td") for cells in rows[1:])
    return (
        '<table style="border-collapse:collapse;font-variant-numeric:tabular-nums">'
        + (title if caption else "")
        + f"<thead>{row(rows[0], 'th')}</thead><tbody>{body}</tbody></table>"
    )


def text(rows: Sequence[Sequence[str]]) -> str:
    """Returns the table as text, as the command line prints it."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
