#!/usr/bin/env python3
"""What the Python package costs: an empty call, importing, and a run against the command line's.

script/bench --python runs this. Times are the best of several; read ratios.
"""

import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time
import timeit

BANDANA = os.environ["BANDANA"]
SOURCE = pathlib.Path(os.environ["BANDANA_SOURCE"])


def row(what: str, value: str, limit: str = "") -> None:
    print(f"{what:58}  {value:>24}  {limit}", flush=True)


def import_ms(before: str, module: str) -> float:
    """Milliseconds of the processor, so that other programs do not count."""
    program = f"import time{before}; t = time.process_time(); import {module}; print(time.process_time() - t)"
    times = [float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout)
             for _ in range(9)]
    return 1000 * min(times)


def children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def own_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def run_against_the_command_line(file: pathlib.Path, changes: dict[str, int]) -> tuple[float, float, float, float]:
    """Seconds of the wall and of the processors, of the command line and of Python. They take turns, and the best of
    each counts. Importing is not part of it, nor is starting the program."""
    import bandana

    best = [float("inf")] * 4
    start = min(timeit.repeat(lambda: subprocess.run([BANDANA, "--version"], capture_output=True, check=True), number=1, repeat=5))
    with tempfile.TemporaryDirectory() as folder:
        for i in range(5):
            cpu, begin = children_cpu(), time.perf_counter()
            subprocess.run(
                [BANDANA, "--quiet", "run", file, "--out", f"{folder}/cli{i}", *(f"--set={k}={v}" for k, v in changes.items())],
                check=True, capture_output=True,
            )
            best[0] = min(best[0], time.perf_counter() - begin - start)
            best[2] = min(best[2], children_cpu() - cpu - start)
            cpu, begin = own_cpu(), time.perf_counter()
            bandana.run(file, set=changes, out=f"{folder}/python{i}", progress=False)
            best[1] = min(best[1], time.perf_counter() - begin)
            best[3] = min(best[3], own_cpu() - cpu)
    return best[0], best[1], best[2], best[3]


def main() -> None:
    row("", "measured", "no slower than")
    row("import bandana, without numpy's own time", f"{import_ms(', numpy', 'bandana'):.1f} ms", "30 ms")
    row("import numpy", f"{import_ms('', 'numpy'):.1f} ms")
    import bandana

    spec = bandana.Spec({"horizon": 10, "algorithm.name": "ucb1", "environment": {"kind": "mab", "actions": 5}, "federation.agents": 1,
                         "privacy.model": "none"})
    core = spec._core
    seconds = min(timeit.repeat(lambda: core.replicates, number=200_000, repeat=5)) / 200_000
    row("an empty call of the extension", f"{1e-6 / seconds:.1f} million a second")
    file = SOURCE / "experiments" / "p1-models.toml"
    cli, python, cli_cpu, python_cpu = run_against_the_command_line(file, {"horizon": 1_000_000, "replicates": 2})
    row("run / command line, time on the clock (p1-models)", f"{python / cli:.3f} ({python:.2f} s)", "1.05")
    row("run / command line, time of the processor", f"{python_cpu / cli_cpu:.3f} ({python_cpu:.2f} s)", "1.05")


if __name__ == "__main__":
    main()
