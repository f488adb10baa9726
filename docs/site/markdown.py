"""Reads Markdown pages: their fenced blocks and their links. Everything that handles pages uses these functions."""

import dataclasses
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


@dataclasses.dataclass
class Block:
    language: str
    words: tuple  # the words after the language, for example norun or title=main.cc
    line: int  # of the opening fence, counted from 1
    text: str

    @property
    def title(self):
        titles = [word.removeprefix("title=") for word in self.words if word.startswith("title=")]
        return titles[0] if titles else None

    @property
    def norun(self):
        return "norun" in self.words


def pages():
    """Returns the pages that the site shows: all of docs/, and the pages of the tree that docs/ links to."""
    found = sorted(path for path in (ROOT / "docs").rglob("*.md"))
    return found + [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "src/bandana/README.md", "web/README.md")]


def fence_of(line):
    """Returns the marker of a line that opens or closes a block, or None."""
    found = re.match(r" {0,3}(`{3,})(?!.*`)", line)
    return found.group(1) if found else None


def blocks(page):
    """Yields each fenced block of a page."""
    fence = None
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(keepends=True), 1):
        marker = fence_of(line)
        if fence is None:
            if marker:
                fence, words, text, start = marker, line.strip().lstrip("`").split(), [], number
        elif marker and len(marker) >= len(fence) and line.strip() == marker:
            yield Block(words[0] if words else "", tuple(words[1:]), start, "".join(text))
            fence = None
        else:
            text.append(line)
    if fence is not None:
        sys.exit(f"{page}: the block that begins in line {start} is not closed")


LINK = re.compile(r"(`+)(?:(?!\1).)+?\1|\]\(([^()\s]+)\)")


def replace_links(text, replace):
    """Returns the text with every link's target as `replace(target, line)` says; code is left as it is."""
    fence, lines = None, []
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        marker = fence_of(line)
        if fence is not None:
            if marker and len(marker) >= len(fence) and line.strip() == marker:
                fence = None
        elif marker:
            fence = marker
        else:
            line = LINK.sub(lambda m: f"]({replace(m[2], number)})" if m[2] else m[0], line)
        lines.append(line)
    return "".join(lines)


def index_links(text):
    """Yields (heading, target) for the links that begin a list item or a row of a table: an index page's entries."""
    heading, fence = "", None
    for line in text.splitlines():
        marker = fence_of(line)
        if marker:
            fence = None if fence else marker
        elif fence is None:
            if line.startswith("## "):
                heading = line[3:].strip()
            found = re.match(r"\s*(?:\||-|\d+\.)\s*\[[^\]]*\]\(([^)#\s]+)\)", line)
            if found:
                yield heading, found[1]
