"""Makes a Jupyter notebook of a page: its Python blocks are cells of code, and the rest is cells of Markdown.

What a page shows as output is left out, because the notebook makes it: the text block and the picture after a cell.
"""

import json
import re
import sys
import pathlib

import markdown

PAGES = ("docs/tutorial.md",)  # the pages that are offered as notebooks


def cells(page):
    """Yields ("code" or "markdown", text)."""
    lines = page.read_text(encoding="utf-8").splitlines(keepends=True)
    text, position, after_code = [], 0, False
    for block in markdown.blocks(page):
        end = block.line + block.text.count("\n") + 1  # the closing fence's line, counted from 1
        before = "".join(lines[position:block.line - 1])
        position = end
        if block.language == "text" and after_code and not before.strip():
            after_code = False
            continue
        text.append(prose(before, after_code))
        after_code = block.language == "python" and not block.norun
        if after_code:
            if "".join(text).strip():
                yield "markdown", "".join(text).strip()
            text = []
            yield "code", block.text.rstrip()
        else:
            text.append("".join(lines[block.line - 1:end]))
    text.append(prose("".join(lines[position:]), after_code))
    if "".join(text).strip():
        yield "markdown", "".join(text).strip()


def prose(text, after_code):
    """Returns text whose links, which lead nowhere outside of the site, are plain words."""
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)\n?", "", text)
    return re.sub(r"\[([^\]]*)\]\([^)\s]*\)", r"\1", text)


def from_page(page):
    """Returns the notebook as JSON. The same page gives the same bytes."""
    made = []
    for number, (kind, text) in enumerate(cells(page)):
        cell = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": text.splitlines(keepends=True)}
        if kind == "code":
            cell |= {"execution_count": None, "outputs": []}
        made.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = {"cells": made, "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(from_page(pathlib.Path(sys.argv[1]).resolve()))
