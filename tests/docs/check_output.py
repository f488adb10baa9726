#!/usr/bin/env python3
"""check_output.py PROGRAM EXPECTED

Runs a program, which must print exactly what the file EXPECTED has.
"""

import pathlib
import subprocess
import sys


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    output = subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout
    expected = pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")
    if output != expected:
        sys.exit(f"the page says:\n{expected}\nthe program says:\n{output}")


if __name__ == "__main__":
    main()
