#!/usr/bin/env python3
"""check_first_algorithm.py PROGRAM EXPECTED

Holds the program of docs/your-first-algorithm.md to what the page says: it prints EXPECTED, the same every time, and
on other seeds too every regret stays below blind play's.
"""

import pathlib
import re
import subprocess
import sys


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    program, expected = sys.argv[1], pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")
    for _ in range(2):
        if (output := run(program)) != expected:
            sys.exit(f"the page says:\n{expected}\nthe program says:\n{output}")
    for seed in range(1, 6):
        output = run(program, str(seed))
        regret = {name: float(value) for name, value in re.findall(r"^(\w+) +regret +([\d.]+)", output, re.MULTILINE)}
        if set(regret) != {"blind", "none", "central", "shuffle", "local"}:
            sys.exit(f"seed {seed}: not the five lines of the page:\n{output}")
        for name in ("none", "central", "shuffle", "local"):
            if not regret[name] < regret["blind"]:
                sys.exit(f"seed {seed}: {name} is no better than blind play:\n{output}")


if __name__ == "__main__":
    main()
