#!/usr/bin/env python3
"""extract.py MARKDOWN FOLDER FILE...

Writes the blocks of a page that carry a title (```cpp title=NAME) to FOLDER/NAME; blocks of one title become one file,
in their order. Fails unless FILE... are among the titles.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "docs/site"))

import markdown  # noqa: E402


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    page, folder, wanted = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    files = {}
    for block in markdown.blocks(page):
        if block.title:
            files[block.title] = files.get(block.title, "") + block.text
    if missing := [name for name in wanted if name not in files]:
        sys.exit(f"{page}: its blocks make {sorted(files)}, missing are {missing}")
    folder.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        (folder / name).write_text(files[name], encoding="utf-8")


if __name__ == "__main__":
    main()
