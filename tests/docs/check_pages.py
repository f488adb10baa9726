#!/usr/bin/env python3
"""check_pages.py COMPILED...

Checks all pages of the documentation together: the number of blocks that cannot run is what norun.txt says, and every
C++ block with a title is on a page of COMPILED, the pages whose C++ the build compiles.
"""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "docs/site"))

import markdown  # noqa: E402


def counts():
    """Returns {page: number of blocks that cannot run} for pages that have some."""
    found = {}
    for page in markdown.pages():
        number = sum(block.norun for block in markdown.blocks(page))
        if number:
            found[str(page.relative_to(markdown.ROOT))] = number
    return found


def main():
    if sys.argv[1:] == ["--help"]:
        sys.exit(__doc__.strip())
    lines = (HERE / "norun.txt").read_text(encoding="utf-8").splitlines()
    allowed = {page: int(number) for page, number in (line.split() for line in lines if line and not line.startswith("#"))}
    found, wrong = counts(), []
    for page in sorted(allowed | found):
        was, now = allowed.get(page, 0), found.get(page, 0)
        if now > was:
            wrong.append(f"{page}: {now} blocks cannot run, and there were {was}. Make the new ones run")
        elif now < was:
            wrong.append(f"{page}: only {now} blocks cannot run; write this number into tests/docs/norun.txt")
    compiled = {pathlib.Path(name).resolve() for name in sys.argv[1:]}
    for page in markdown.pages():
        if page not in compiled and any(block.language == "cpp" and block.title for block in markdown.blocks(page)):
            wrong.append(f"{page.relative_to(markdown.ROOT)}: its C++ is not compiled; see tests/docs/CMakeLists.txt")
    sys.exit("\n".join(wrong) or None)


if __name__ == "__main__":
    main()
