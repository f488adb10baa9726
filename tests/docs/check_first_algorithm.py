#!/usr/bin/env python3
"""check_first_algorithm.py PROGRAM EXPECTED

Checks that the program of docs/your-first-algorithm.md does what the page says: it prints EXPECTED, the same every
time, and also on other seeds every regret is below that of blind play.
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
        if set(regret) != {"none", "central", "shuffle", "local"}:
            sys.exit(f"seed {seed}: not the four lines of the page:\n{output}")
        for name in ("central", "shuffle"):
            if not regret[name] <= 1.01 * regret["none"]:
                sys.exit(f"seed {seed}: {name} costs more than the page says:\n{output}")
        if not regret["local"] < 42_533:
            sys.exit(f"seed {seed}: local is no better than blind play:\n{output}")


if __name__ == "__main__":
    main()
