#!/usr/bin/env python3
"""finish.py FOLDER

Makes Debian's furo work on pages that are opened as files. It loads a style sheet from /javascript of a web server, which
is copied beside furo's own. And its script is a module that imports another one, which browsers refuse for files, so
both are put into one plain script.
"""

import pathlib
import sys

SERVED = "@import url(/javascript/normalize.css/normalize.css);"
IMPORT = 'import Gumshoe from "./gumshoe-patched.js";'
INSTALLED = pathlib.Path("/usr/share/javascript/normalize.css/normalize.css")


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__.strip())
    static = pathlib.Path(sys.argv[1]) / "_static"
    styles, script = static / "styles", static / "scripts/furo.js"
    text = (styles / "furo.css").read_text(encoding="utf-8")
    if SERVED in text:
        (styles / "normalize.css").write_bytes(INSTALLED.read_bytes())
        (styles / "furo.css").write_text(text.replace(SERVED, "@import url(normalize.css);"), encoding="utf-8")
    code = script.read_text(encoding="utf-8")
    if code.startswith(IMPORT):
        gumshoe = (static / "scripts/gumshoe-patched.js").read_text(encoding="utf-8")  # it sets window.Gumshoe
        script.write_text(gumshoe + code.removeprefix(IMPORT), encoding="utf-8")


if __name__ == "__main__":
    main()
