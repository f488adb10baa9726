#!/usr/bin/env python3
"""check_site.py FOLDER

Checks the built site: every link leads to a file and an anchor of it, every picture and script is there, and nothing
has an address outside.
"""

import html.parser
import pathlib
import re
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__(convert_charrefs=True)
        self.ids, self.links = set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.ids.add(value)
            elif name in ("href", "src", "data", "poster", "action") and value is not None:
                self.links.append((tag, value))


def check(folder):
    """Yields what is wrong with the site."""
    pages = {path: Page(path) for path in sorted(folder.rglob("*.html"))}
    if not pages:
        yield f"{folder}: there is no page"
    for path, page in pages.items():
        where = path.relative_to(folder)
        for tag, target in page.links:
            url = urllib.parse.urlsplit(target)
            if url.scheme or url.netloc:
                if url.scheme != "data":
                    yield f"{where}: {tag}: {target}: an address outside"
                continue
            other = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
            if not other.is_file():
                yield f"{where}: {target}: there is no such file"
            elif url.fragment and other in pages and tag != "use":
                anchor = urllib.parse.unquote(url.fragment)
                if anchor not in pages[other].ids and anchor != "top":
                    yield f"{where}: {target}: the page has no such anchor"
    for path in sorted(folder.rglob("*.css")):
        for target in re.findall(r"url\(\s*[\"']?([^)\"']+)", path.read_text(encoding="utf-8")):
            if target.startswith(("data:", "#")):
                continue
            other = (path.parent / urllib.parse.unquote(urllib.parse.urlsplit(target).path)).resolve()
            if target.startswith("/") or "//" in target:
                yield f"{path.relative_to(folder)}: {target}: an address outside"
            elif not other.is_file():
                yield f"{path.relative_to(folder)}: {target}: there is no such file"


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__.strip())
    wrong = list(check(pathlib.Path(sys.argv[1]).resolve()))
    for one in wrong[:50]:
        print(one, file=sys.stderr)
    if wrong:
        sys.exit(f"check_site.py: {len(wrong)} mistakes")


if __name__ == "__main__":
    main()
