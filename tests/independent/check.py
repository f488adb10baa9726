#!/usr/bin/env python3
"""tests/independent/check.py [--bandana PROGRAM] [--seed S] [--cases N] [--plant] [--quiet] [AREA...]

Computes the numbers of `bandana calibrate`, `bandana account` and of the claims of `bandana run` again and compares. It shares no code with bandana: it
starts from the definitions, and computes with mpmath and scipy. Parameters are random; the seed is printed.

Every line names what is compared, bandana's number, ours, the tolerance and the tolerance's reason. There are two kinds
of comparison: bandana must not promise more than is true; and where the documents say that a number is the least, it
must not be larger than the least by more than the tolerance.

  --bandana FILE   the program; build/bandana by default
  --seed S         chooses the parameters; 20261115 by default
  --cases N        how many random calls are made in each area; 40 by default
  --plant          gives the comparisons wrong answers instead, each fault in the first few calls where it is possible.
                   Each wrong answer must be rejected, and each comparison must reject at least one of them
  --quiet          prints only what is wrong, and one line per area
AREA is one of gaussian, laplace, prefix-sum, shuffle-sum, amplification, l2-ball, account, claims; all by default.
"""

import argparse
import collections
import copy
import os
import pathlib
import random
import sys
import time

sys.dont_write_bytecode = True  # leave no files in the source
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import account  # noqa: E402  (Python and numpy read these when they load a module)
import amplification  # noqa: E402
import claims  # noqa: E402
import gaussian  # noqa: E402
import l2_ball  # noqa: E402
import laplace  # noqa: E402
import prefix_sums  # noqa: E402
import shuffle_sum  # noqa: E402
from comparison import Bandana  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PLANTINGS = 4  # how many calls of each calibration have the same fault
AREAS = {area.NAME: area for area in (gaussian, laplace, prefix_sums, shuffle_sum, amplification, l2_ball, account,
                                   claims)}


def calls(area, seed, cases):
    """Each call has a generator of its own, so that a longer list begins with the shorter one."""
    return [area.draw(random.Random(f"{seed}/{area.NAME}/{i}")) for i in range(cases)]


def check(area, bandana, seed, cases, quiet):
    """Compares bandana's answers with ours. Returns how many comparisons there were, and how many are wrong."""
    total = wrong = 0
    for call in calls(area, seed, cases):
        try:
            comparisons = list(area.compare(call, bandana.answer(call)))
        except Exception:
            print(call, "  WRONG the comparison itself failed:", sep="\n", flush=True)
            raise
        bad = [each for each in comparisons if not each.holds()]
        total, wrong = total + len(comparisons), wrong + len(bad)
        lines = bad if quiet else comparisons
        if lines:
            print(call, *lines, sep="\n")
    return total, wrong


def plant(area, bandana, seed, cases, quiet):
    """Compares wrong answers with ours. Returns how many faults were planted, and how many rejections are missing."""
    missing, planted, rejects = 0, collections.Counter(), {}
    for call in calls(area, seed, cases):
        answer = bandana.answer(call)
        for each in area.compare(call, answer):
            rejects.setdefault(each.what, False)
        for fault in area.FAULTS:
            kind = fault.name, call.options.get("calibration")
            edited = fault.edit(copy.deepcopy(answer)) if planted[kind] < PLANTINGS else None
            if edited is None:
                continue
            planted[kind] += 1
            rejecting = [each.what for each in area.compare(call, edited) if not each.holds()]
            rejects |= dict.fromkeys(rejecting, True)
            if not rejecting:
                missing += 1
                print(call, f"  WRONG nothing rejects: {fault.name}", sep="\n")
            elif not quiet:
                print(call, f"  ok    {fault.name}: rejected by {', '.join(rejecting)}", sep="\n")
    unused = {fault.name for fault in area.FAULTS} - {name for name, _ in planted}
    blind = [what for what, rejected in rejects.items() if not rejected]
    for name in sorted(unused):
        print(f"{area.NAME}: WRONG no case has this fault: {name}")
    for what in blind:
        print(f"{area.NAME}: WRONG this comparison rejected nothing: {what}")
    return sum(planted.values()), missing + len(unused) + len(blind)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bandana", default=str(ROOT / "build" / "bandana"))
    parser.add_argument("--seed", type=int, default=20261115)
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--plant", action="store_true")
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("areas", nargs="*", metavar="AREA")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.areas if name not in AREAS]
    if unknown:
        parser.error(f"unknown area: {unknown[0]} (accepted: {', '.join(AREAS)})")
    if arguments.cases < 1:
        parser.error(f"--cases = {arguments.cases} (accepted: at least 1)")

    print(f"seed {arguments.seed}, {arguments.cases} cases in each area")
    bandana, failed, summary = Bandana(arguments.bandana), 0, []
    for name in arguments.areas or AREAS:
        start = time.monotonic()
        run, things = (plant, "planted faults") if arguments.plant else (check, "comparisons")
        total, wrong = run(AREAS[name], bandana, arguments.seed, arguments.cases, arguments.quiet)
        failed += wrong
        summary.append(f"{name}: {total} {things}, {wrong} wrong, {time.monotonic() - start:.1f} s")
    print(*summary, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
