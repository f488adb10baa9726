#!/usr/bin/env python3
"""Executes the notebook of each page that is offered as one, in a kernel of Jupyter. Fails if a cell raises."""

import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "docs/site"))

import nbclient  # noqa: E402
import nbformat  # noqa: E402

import markdown  # noqa: E402
import notebook  # noqa: E402


def main():
    for name in notebook.PAGES:
        made = nbformat.reads(notebook.from_page(markdown.ROOT / name), as_version=4)
        nbformat.validate(made)
        code = [cell for cell in made.cells if cell.cell_type == "code"]
        if not code:
            sys.exit(f"{name}: the notebook has no code")
        with tempfile.TemporaryDirectory() as folder:
            os.environ["IPYTHONDIR"] = folder
            os.environ["JUPYTER_RUNTIME_DIR"] = folder
            work = pathlib.Path(folder) / "work"
            work.mkdir()
            nbclient.NotebookClient(made, timeout=100, resources={"metadata": {"path": str(work)}}).execute()
        if not any(output.output_type in ("display_data", "execute_result") and "image/png" in output.data
                   for cell in code for output in cell.outputs):
            sys.exit(f"{name}: the notebook has drawn nothing")
        print(f"{name}: {len(code)} cells")


if __name__ == "__main__":
    main()
