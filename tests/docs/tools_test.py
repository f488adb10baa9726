#!/usr/bin/env python3
"""The tools of the documentation find mistakes that are planted here."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "docs/site"), str(HERE)]

import check_site  # noqa: E402
import exhibits  # noqa: E402
import markdown  # noqa: E402
import notebook  # noqa: E402
import run_page  # noqa: E402


def fenced(words, text):
    return f"```{words}\n{text}\n```\n\n"


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        program = self.folder / "bandana"
        program.write_text("#!/bin/sh\necho first line; echo the value is 17; exit ${1:-0}\n")
        program.chmod(0o755)

    def run_page(self, text, *options):
        """Returns what is wrong with a page, or an empty text."""
        page = self.folder / "page.md"
        page.write_text("# A page\n\n" + text)
        run = subprocess.run([sys.executable, HERE / "run_page.py", page, "--bandana", self.folder / "bandana", *options],
                             capture_output=True, text=True)
        self.assertEqual(run.returncode != 0, bool(run.stderr), run.stderr)
        return run.stderr

    def test_python_blocks_are_one_program(self):
        good = fenced("python", "a = 20") + fenced("python", "print('so')\na + 1") + fenced("text", "so\n21")
        self.assertEqual(self.run_page(good), "")
        self.assertIn("-22", self.run_page(good.replace("21", "22")))
        self.assertIn("NameError", self.run_page(fenced("python", "unknown")))
        self.assertIn("page.md:3", self.run_page(fenced("python", "unknown")))

    def test_console_blocks_are_compared(self):
        good = fenced("console", "$ bandana\nfirst line\nthe value is 17")
        self.assertEqual(self.run_page(good), "")
        self.assertEqual(self.run_page(good.replace("17", "...")), "")
        self.assertEqual(self.run_page(good.replace("first line", "...")), "")
        self.assertIn("-the value is 18", self.run_page(good.replace("17", "18")))
        self.assertNotEqual(self.run_page(good.replace("\nthe value is 17", "")), "")
        self.assertNotEqual(self.run_page(fenced("console", "$ bandana")), "")
        self.assertIn("exit code 1", self.run_page(fenced("console", "$ bandana 1\n...")))
        self.assertEqual(self.run_page(fenced("console exit=1", "$ bandana 1\n...")), "")
        self.assertIn("not accepted as a command", self.run_page(fenced("console", "$ rm page.md")))

    def test_every_block_has_a_language_and_runs_or_says_so(self):
        self.assertIn("language ''", self.run_page(fenced("", "x")))
        self.assertIn("language 'bash'", self.run_page(fenced("bash", "x")))
        self.assertIn("cannot run", self.run_page(fenced("sh", "x")))
        self.assertEqual(self.run_page(fenced("sh norun", "x")), "")
        self.assertIn("neither a title nor norun", self.run_page(fenced("cpp", "x")))
        self.assertIn("not JSON", self.run_page(fenced("json", "{")))
        self.assertIn("not closed", self.run_page("```python\n"))

    def test_titles_make_files(self):
        text = fenced("json title=a.json", "[1]") + fenced("python", "import json\njson.load(open('a.json'))") + fenced("text", "[1]")
        self.assertEqual(self.run_page(text), "")

    def test_update_writes_outputs(self):
        self.assertEqual(self.run_page(fenced("python", "print('so')") + fenced("text", "") + fenced("console", "$ bandana"), "--update"), "")
        self.assertIn("```text\nso\n```", (self.folder / "page.md").read_text())
        self.assertIn("$ bandana\nfirst line\nthe value is 17\n```", (self.folder / "page.md").read_text())

    def test_a_picture_must_be_the_one_that_is_made(self):
        self.assertIn("is not the picture", self.run_page(fenced("python", "open('unknown.svg', 'w').write('x');")))

    def test_dots(self):
        self.assertTrue(run_page.matches("a\n...\nb\n", "a\nb\n"))
        self.assertTrue(run_page.matches("a\n...\nb\n", "a\nx\ny\nb\n"))
        self.assertFalse(run_page.matches("a\n...\nb\n", "a\nx\n"))
        self.assertFalse(run_page.matches("a ... b\n", "a\nb\n"))

    def test_links_in_code_are_left_alone(self):
        text = "[a](b.md) `[a](b.md)`\n```cpp\n[a](b.md)\n```\n[c](d.md#e)\n"
        self.assertEqual(markdown.replace_links(text, lambda target, line: f"{line}:{target}"),
                         "[a](1:b.md) `[a](b.md)`\n```cpp\n[a](b.md)\n```\n[c](5:d.md#e)\n")

    def test_notebook(self):
        page = self.folder / "page.md"
        page.write_text("# T\n\nSee [that](x.md).\n\n" + fenced("python", "a = 1\na") + fenced("text", "1") + "![p](p.svg)\n\nThe end.\n")
        cells = json.loads(notebook.from_page(page))["cells"]
        self.assertEqual([(cell["cell_type"], "".join(cell["source"])) for cell in cells],
                         [("markdown", "# T\n\nSee that."), ("code", "a = 1\na"), ("markdown", "The end.")])

    def test_verdicts_are_read(self):
        found = exhibits.verdicts()
        self.assertIn("p1-fig2a", found)
        self.assertTrue(all(category and claim for rows in found.values() for category, claim, _ in rows))


class Site(unittest.TestCase):
    def check(self, **pages):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in pages.items():
                (pathlib.Path(folder) / f"{name}.html").write_text(text)
            return list(check_site.check(pathlib.Path(folder).resolve()))

    def test_links(self):
        self.assertEqual(self.check(a='<a href="b.html#x">', b='<p id="x"><a href="a.html">'), [])
        self.assertIn("no such file", self.check(a='<a href="b.html">')[0])
        self.assertIn("no such anchor", self.check(a='<a href="b.html#y">', b='<p id="x">')[0])
        self.assertIn("no such anchor", self.check(a='<a href="#y">')[0])
        self.assertIn("no such file", self.check(a='<img src="b.png">')[0])
        self.assertIn("outside", self.check(a='<a href="https://example.org">')[0])
        self.assertIn("outside", self.check(a='<script src="//example.org/x.js">')[0])
        self.assertNotEqual(self.check(), [])

    def test_style_sheets(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder).resolve()
            (path / "a.html").write_text("<p>")
            for text, wrong in [("@import url(a.html);", 0), ("@import url(/x/y.css);", 1), ("a { b: url('https://e.org/x') }", 1), ("a { b: url(x.png) }", 1)]:
                (path / "a.css").write_text(text)
                self.assertEqual(len(list(check_site.check(path))), wrong, text)


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)
    unittest.main()
