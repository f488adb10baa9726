#!/usr/bin/env python3
"""stage.py OUT --bandana PROGRAM --doxygen FOLDER [--python]

Writes the sources of the site into the folder OUT, for Sphinx:
- the pages of docs/, with links to files of the tree turned into links to pages that show these files;
- one page for each algorithm, environment and trust model, from `bandana list --json`;
- one page for each exhibit, with its file and its last verdicts;
- a table of contents from every index page (README.md);
- the reference of the public C++ headers, from doxygen, which writes into FOLDER;
- with --python, that of the Python package, which must be importable.
"""

import argparse
import os
import pathlib
import sys

import cpp
import exhibits
import markdown
import notebook
import python_package
import registry
from markdown import ROOT

LANGUAGES = {".h": "cpp", ".cc": "cpp", ".py": "python", ".toml": "toml", ".sh": "bash", ".txt": "text", ".json": "json"}

ORPHAN = "---\norphan: true\n---\n\n"  # a page that is in no table of contents, which would be long


class Stage:
    def __init__(self, out):
        self.out = out
        self.sources = []  # files of the tree that a page shows
        self.images = set()
        self.written = set()
        self.append = {}  # what the site adds to the end of a page

    def place(self, path):
        """Returns where a file of the tree is staged, relative to OUT. Pages of docs/ are at the top."""
        inside = path.relative_to(ROOT)
        if path.is_relative_to(ROOT / "docs"):
            inside = path.relative_to(ROOT / "docs")
            return inside.with_name("index.md") if inside.name == "README.md" else inside
        inside = pathlib.Path("tree") / inside
        return inside if path.suffix in (".md", ".png", ".svg") else inside.with_name(inside.name + ".md")

    def write(self, place, text):
        """Writes a staged file. One that has not changed keeps its time, so that Sphinx does not read it again."""
        content = text if isinstance(text, bytes) else text.encode()
        path = self.out / place
        self.written.add(path)
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)

    def finish(self):
        """Removes what earlier runs have staged and this one has not."""
        for path in self.out.rglob("*"):
            if path.is_file() and path not in self.written:
                path.unlink()

    def link(self, page, target, line):
        """Returns what a link of a page of the tree is on the site."""
        if target.startswith(("http:", "https:", "mailto:", "#")):
            return target
        name, _, anchor = target.partition("#")
        path = pathlib.Path(os.path.normpath(page.parent / name))
        where = f"{page.relative_to(ROOT)}:{line}"
        if not path.exists() or not path.is_relative_to(ROOT):
            sys.exit(f"{where}: {target}: there is no such file")
        if path.is_dir() and (path / "README.md").exists():
            path = path / "README.md"
        if path.suffix in (".png", ".svg"):
            self.images.add(path)
        elif path not in markdown.pages() and path not in self.sources:
            self.sources.append(path)
        place = os.path.relpath(self.place(path), self.place(page).parent)
        return place + ("#" + anchor if anchor else "")

    def page(self, path):
        text = path.read_text(encoding="utf-8")
        staged = markdown.replace_links(text, lambda target, line: self.link(path, target, line))
        if str(path.relative_to(ROOT)) in notebook.PAGES:
            title, _, rest = staged.partition("\n")
            staged = f"{title}\n\n{{download}}`This page as a notebook <{path.stem}.ipynb>`.\n{rest}"
            self.write(self.place(path).with_suffix(".ipynb"), notebook.from_page(path))
        if path.name == "README.md" and path.is_relative_to(ROOT / "docs"):
            staged += self.contents(path, text)
        self.write(self.place(path), staged + self.append.get(str(self.place(path)), ""))

    def contents(self, path, text):
        """Returns the tables of contents of an index page: one for each of its headings that lists pages."""
        tables = {}
        for heading, target in markdown.index_links(text):
            linked = self.link(path, target, 0)
            own = tables.setdefault(heading, [])
            if linked.endswith(".md") and linked not in sum(tables.values(), []):
                own.append(linked)
        top = path.parent == ROOT / "docs"
        return "".join(toctree(own, heading if top else "") for heading, own in tables.items() if own)

    def source(self, path):
        """Shows a file, or lists a folder, of the tree."""
        inside = path.relative_to(ROOT)
        if path.is_dir():
            files = sorted(one for one in path.iterdir() if one.is_file())
            for one in files:
                if one not in self.sources and one not in markdown.pages():
                    self.sources.append(one)
            rows = [f"- [{one.name}]({os.path.relpath(self.place(one), self.place(path).parent)})" for one in files]
            self.write(self.place(path), f"{ORPHAN}# {inside}/\n\nThe files of this folder:\n\n" + "\n".join(rows) + "\n")
            return
        language = LANGUAGES.get(path.suffix, "text")
        text = path.read_text(encoding="utf-8")
        self.write(self.place(path), f"{ORPHAN}# {inside}\n\n`````{language}\n{text.rstrip()}\n`````\n")


def toctree(places, caption=""):
    lines = ["", "```{toctree}", ":hidden:"] + ([f":caption: {caption}"] if caption else []) + ["", *places, "```", ""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--bandana", required=True)
    parser.add_argument("--doxygen", required=True, type=pathlib.Path)
    parser.add_argument("--python", action="store_true")
    arguments = parser.parse_args()
    stage = Stage(arguments.out)
    reference = registry.write(stage, arguments.bandana)
    reference.append(exhibits.write(stage, arguments.bandana))
    reference.append(cpp.write(stage, arguments.doxygen))
    if arguments.python:
        reference.append(python_package.write(stage))
    reference.append(("../tree/index.md", "files of the source that these pages mention"))
    listed = "\n".join(f"- [{sentence}]({place})" for place, sentence in reference)
    stage.append["reference/index.md"] = f"\n## The pages\n{listed}\n" + toctree([place for place, _ in reference])
    for path in markdown.pages():
        stage.page(path)

    for path in stage.sources:  # grows while folders are listed
        stage.source(path)
    for path in sorted(stage.images):
        stage.write(stage.place(path), path.read_bytes())
    shown = [str(stage.place(path)) for path in stage.sources]
    listed = "\n".join(f"- [{place.removeprefix('tree/').removesuffix('.md')}]({os.path.relpath(place, 'tree')})" for place in shown)
    stage.write("tree/index.md", "# Files of the source\n\nThe pages of this site link to these files.\n\n" + listed + "\n")
    stage.finish()


if __name__ == "__main__":
    main()
