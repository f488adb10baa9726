#!/usr/bin/env python3
"""finish.py FOLDER

Debian's furo loads a style sheet from /javascript of a web server. This puts a copy beside furo's own style sheets.
"""

import pathlib
import sys

SERVED = "@import url(/javascript/normalize.css/normalize.css);"
INSTALLED = pathlib.Path("/usr/share/javascript/normalize.css/normalize.css")


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__.strip())
    styles = pathlib.Path(sys.argv[1]) / "_static/styles"
    text = (styles / "furo.css").read_text(encoding="utf-8")
    if SERVED in text:
        (styles / "normalize.css").write_bytes(INSTALLED.read_bytes())
        (styles / "furo.css").write_text(text.replace(SERVED, "@import url(normalize.css);"), encoding="utf-8")


if __name__ == "__main__":
    main()
