#!/usr/bin/env python3
"""run_page.py PAGE [--bandana PROGRAM] [--update]

Runs the fenced blocks of a page, in their order, in an empty folder of their own. The words after a block's language
say what it is:

  python    a program; all such blocks of a page are one program. What a block prints, and the value of its last line,
            as in a notebook, must be the `text` block that comes next, if there is one
            A block with a title is a file, which a console block runs
  console   lines that begin with `$ ` are commands: bandana ..., or python3 FILE. The lines below a command are its
            output. A line of dots stands for any lines, and dots in a line for any text. `exit=N`: the command ends with N
  toml      an experiment, which must be a valid spec, together with earlier blocks of its title
  json      must be valid
  text      what a python block prints; otherwise it is for reading only
  cpp       has a title, and CMakeLists.txt compiles it, or cannot run
  sh, cmake cannot run
  title=F   the block is written to the file F, which later blocks may read
  norun     the block cannot run. norun.txt has their number on each page

A picture that a block saves must be the picture of that name in docs/images, byte for byte. --update writes outputs and
pictures anew instead of comparing them.
"""

import argparse
import ast
import contextlib
import difflib
import io
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/site"))

import markdown  # noqa: E402

LANGUAGES = ("python", "console", "toml", "json", "text", "cpp", "cmake", "sh")


class Wrong(Exception):
    pass


def matches(expected, found):
    """Returns whether `found` is what the page shows, where dots stand for anything."""
    pattern = ""
    for line in expected.splitlines():
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += r"[^\n]*?".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ ]*\n"
    text = "".join(line.rstrip() + "\n" for line in found.rstrip().splitlines())
    return re.fullmatch(pattern, text) is not None


def compare(expected, found, what):
    if not matches(expected.rstrip() + "\n" if expected.strip() else "", found):
        difference = difflib.unified_diff(expected.splitlines(), found.splitlines(), "the page", "the program", lineterm="", n=1)
        raise Wrong(f"{what}:\n" + "\n".join(difference))


class Page:
    def __init__(self, path, bandana, folder, update):
        self.path, self.bandana, self.folder, self.update = path, bandana, folder, update
        self.names = {"__name__": "__main__"}
        self.changes = []  # (line of the fence, old text, new text)

    def run(self):
        blocks = list(markdown.blocks(self.path))
        for block, following in zip(blocks, [*blocks[1:], None]):
            try:
                self.block(block, following)
            except Wrong as wrong:
                sys.exit(f"{os.path.relpath(self.path, ROOT)}:{block.line}: {wrong}")
            if block.language == "python" and block.title and not any(
                    other.language == "console" and block.title in other.text for other in blocks):
                sys.exit(f"{os.path.relpath(self.path, ROOT)}:{block.line}: no console block runs {block.title}")
        self.pictures()
        if self.update:
            self.write()

    def block(self, block, following):
        if block.language not in LANGUAGES:
            raise Wrong(f"a block of the language '{block.language}'; accepted: {', '.join(LANGUAGES)}")
        if block.title:
            with open(self.folder / block.title, "a", encoding="utf-8") as file:
                file.write(block.text)
        if block.norun:
            return
        if block.language in ("sh", "cmake"):
            raise Wrong(f"a block of {block.language} cannot run; write console, or {block.language} norun")
        if block.language == "cpp" and not block.title:
            raise Wrong("a C++ block has neither a title nor norun")
        if block.language == "json":
            try:
                json.loads(block.text)
            except ValueError as error:
                raise Wrong(f"not JSON: {error}") from error
        if block.language == "toml":
            self.toml(block)
        if block.language == "console":
            self.console(block)
        if block.language == "python" and not block.title:
            self.python(block, following)

    def toml(self, block):
        import bandana

        try:
            bandana.Spec.parse((self.folder / block.title).read_text(encoding="utf-8") if block.title else block.text)
        except bandana.Error as error:
            raise Wrong(f"not a valid spec: {error}") from error

    def console(self, block):
        wanted = [int(word.removeprefix("exit=")) for word in block.words if word.startswith("exit=")] or [0]
        commands = re.split(r"^\$ ", block.text, flags=re.MULTILINE)
        if commands[0].strip():
            raise Wrong("the first line is not a command; it must begin with '$ '")
        shown = ""
        for command in commands[1:]:
            line, _, expected = command.partition("\n")
            words = shlex.split(line, comments=True)
            if words[0] not in ("bandana", "python3"):
                raise Wrong(f"{words[0]}: not accepted as a command; accepted: bandana, python3")
            words[0] = {"bandana": self.bandana, "python3": sys.executable}[words[0]]
            run = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=100)
            if run.returncode != wanted[0]:
                raise Wrong(f"{line}: exit code {run.returncode}\n{run.stderr}")
            output = run.stdout or run.stderr  # a failure may print its message alone
            if self.update and not matches(expected.rstrip() + "\n", output):
                expected = re.sub(r"\b\d+(\.\d+)? s\b", "... s", output)  # times differ
            shown += f"$ {line}\n{expected.rstrip()}\n" + ("\n" if len(commands) > 2 and command != commands[-1] else "")
            if not self.update:
                compare(expected, output, line)
        if self.update:
            self.changes.append((block.line, block.text, shown.rstrip() + "\n"))

    def python(self, block, following):
        tree = ast.parse(block.text)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        name, printed = f"{self.path.name}:{block.line}", io.StringIO()
        ast.increment_lineno(tree, block.line)
        try:
            with contextlib.redirect_stdout(printed), contextlib.chdir(self.folder):
                exec(compile(tree, name, "exec"), self.names)
                if last is not None:
                    value = eval(compile(ast.Expression(ast.increment_lineno(last, block.line).value), name, "eval"), self.names)
                    if value is not None:
                        print(repr(value))
        except Exception as error:
            raise Wrong("".join(traceback.format_exception(error)[-3:])) from error
        if following and following.language == "text" and not following.title and not following.norun:
            if self.update:
                if not matches(following.text, printed.getvalue()):
                    self.changes.append((following.line, following.text, printed.getvalue().rstrip() + "\n"))
            else:
                compare(following.text, printed.getvalue(), "another output")

    def pictures(self):
        for made in sorted(self.folder.glob("*.svg")):
            kept = ROOT / "docs/images" / made.name
            if self.update:
                kept.write_bytes(made.read_bytes())
            elif not kept.is_file() or kept.read_bytes() != made.read_bytes():
                sys.exit(f"{os.path.relpath(self.path, ROOT)}: docs/images/{made.name} is not the picture that the page makes; "
                         "run_page.py --update writes it anew")

    def write(self):
        lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True)
        for line, old, new in reversed(self.changes):
            lines[line:line + old.count("\n")] = [new]
        self.path.write_text("".join(lines), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--bandana", default=str(ROOT / "build/bandana"))
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        settings = pathlib.Path(folder) / "settings"
        settings.mkdir()
        (settings / "matplotlibrc").write_text("backend: Agg\nsvg.hashsalt: bandana\n", encoding="utf-8")  # the same bytes each time
        os.environ |= {"MATPLOTLIBRC": str(settings), "SOURCE_DATE_EPOCH": "0", "BANDANA": arguments.bandana}
        work = pathlib.Path(folder) / "work"
        work.mkdir()
        Page(arguments.page.resolve(), os.path.abspath(arguments.bandana), work, arguments.update).run()


if __name__ == "__main__":
    main()
