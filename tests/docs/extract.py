#!/usr/bin/env python3
"""extract.py MARKDOWN FOLDER FILE...

Writes the fenced blocks of a page that carry a title (```cpp title=NAME) to FOLDER/NAME; blocks of one title become
one file, in their order. Fails unless the titles are exactly FILE..., and if a C++ block has no title: all C++ code
that a page shows must be compiled.
"""

import pathlib
import sys


def blocks(page):
    """Yields (language, title or None, text) for each fenced block."""
    fence = None
    for line in page.read_text(encoding="utf-8").splitlines(keepends=True):
        if not line.startswith("```"):
            if fence is not None:
                text.append(line)
        elif fence is None:
            fence, text = line[3:].split(), []
        else:
            titles = [word.removeprefix("title=") for word in fence if word.startswith("title=")]
            yield fence[0] if fence else "", titles[0] if titles else None, "".join(text)
            fence = None
    if fence is not None:
        sys.exit(f"{page}: the last block is not closed")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    page, folder, wanted = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), set(sys.argv[3:])
    files = {}
    for language, title, text in blocks(page):
        if title is None and language == "cpp":
            sys.exit(f"{page}: a C++ block without a title begins with: {text.splitlines()[:1]}")
        if title is not None:
            files[title] = files.get(title, "") + text
    if set(files) != wanted:
        sys.exit(f"{page}: its blocks make {sorted(files)}, expected are {sorted(wanted)}")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
