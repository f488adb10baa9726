"""Runs: what the command line's `run` and `reproduce` do."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from bandana import _bandana
from bandana._result import Reproduction, Result, in_notebook
from bandana._spec import Spec, SpecLike, as_spec

Progress: TypeAlias = "bool | Callable[[int, int], object] | None"

# The names of environments and algorithms of this process that are Python classes. A run with one of them has one thread.
python_names: set[str] = set()


@contextlib.contextmanager
def _python_parts(
    environments: Mapping[str, Any] | None, algorithms: Mapping[str, Any] | None, log: Any
) -> Iterator[dict[str, Any]]:
    """Makes the Python parts of a run known before its spec is parsed, and forgets them after the run. Yields what the
    spec must have because of them, as overrides by dotted key."""
    if environments is None and algorithms is None and log is None:
        yield {}
        return
    from bandana import _python_parts as parts

    with parts.registered(environments or {}, algorithms or {}, log) as overrides:
        yield overrides


def _has_python_parts(spec: Spec) -> bool:
    return any(
        point.settings[key] in python_names
        for point in spec.points
        for key in ("algorithm.name", "environment.kind")
        if key in point.settings
    )


class _Bar(Protocol):
    def update_to(self, done: int, total: int) -> None: ...

    def close(self) -> None: ...


class _Callable:
    """Calls a user's function when there is news."""

    def __init__(self, call: Callable[[int, int], object]) -> None:
        self._call = call
        self._last = (-1, -1)

    def update_to(self, done: int, total: int) -> None:
        if (done, total) != self._last:
            self._last = (done, total)
            self._call(done, total)

    def close(self) -> None:
        pass


class _Tqdm:
    """A bar by tqdm, in a terminal or a notebook."""

    def __init__(self, tqdm: Any, what: str, unit: str) -> None:
        self._make: Callable[[int, int], Any] = lambda done, total: tqdm(
            total=total, initial=done, desc=what, unit=unit, leave=False
        )
        self._bar: Any = None

    def update_to(self, done: int, total: int) -> None:
        if self._bar is None:
            self._bar = self._make(done, total)
        if done != self._bar.n:
            self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


class _Lines:
    """Lines on stderr, where a bar is wanted and tqdm is not installed."""

    def __init__(self, what: str, unit: str) -> None:
        self._what, self._unit, self._last = what, unit, -1

    def update_to(self, done: int, total: int) -> None:
        percent = 100 * done // total
        if percent // 10 != self._last:
            self._last = percent // 10
            print(f"{self._what}: {done} of {total} {self._unit}s", file=sys.stderr, flush=True)

    def close(self) -> None:
        pass


def _bar(progress: Progress, what: str, unit: str) -> _Bar | None:
    if callable(progress):
        return _Callable(progress)
    if progress not in (None, True, False):
        raise TypeError("progress: True, False, None or a function of (done, total)")
    if progress is False or (progress is None and not in_notebook() and not sys.stderr.isatty()):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # tqdm warns in notebooks without widgets, and then prints text
            from tqdm.auto import tqdm
    except ImportError:
        return _Lines(what, unit) if progress else None
    return _Tqdm(tqdm, what, unit)


def check_whole(name: str, value: Any, least: int) -> int:
    """Returns the whole number, or raises what is wrong with it."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{name}: a whole number >= {least}, not {type(value).__name__}")
    if value < least:
        raise ValueError(f"{name} = {value}: not accepted (accepted: a whole number >= {least})")
    return int(value.__index__())


def check_stop(stop: Any) -> None:
    """Raises what is wrong with something that is given as `stop`."""
    if stop is not None and not callable(getattr(stop, "is_set", None)):
        raise TypeError("stop: a threading.Event")


@contextlib.contextmanager
def ticking(
    progress: Progress, stop: threading.Event | None, what: str, unit: str
) -> Iterator[Callable[[int, int], None]]:
    """Yields what the extension calls while it works: it shows progress, and raises where the work is to stop."""
    check_stop(stop)
    bar = _bar(progress, what, unit)

    def tick(done: int, total: int) -> None:
        if stop is not None and stop.is_set() and not (0 < total <= done):
            raise KeyboardInterrupt("stopped; resume=True goes on where a folder was given")
        if bar is not None and total > 0:
            bar.update_to(done, total)

    try:
        yield tick
    finally:
        if bar is not None:
            bar.close()


_PLAIN_WORD = re.compile(r"[A-Za-z0-9._\-/=+,:]+")


def _quoted(text: str) -> str:
    """Returns the text as one word for a shell, as the command line writes it in reports."""
    return text if _PLAIN_WORD.fullmatch(text) else "'" + text.replace("'", "'\\''") + "'"


def _folder(out: str | os.PathLike[str] | None) -> tuple[Path, Path | None]:
    """Returns the folder of the results, and the temporary folder around it if there is one."""
    if out is not None:
        return Path(out), None
    temporary = Path(tempfile.mkdtemp(prefix="bandana-"))
    return temporary / "results", temporary


def _note_without_effect(spec: Spec) -> None:
    for key in spec.without_effect:
        warnings.warn(f"{key} has no effect: nothing in this run uses it", UserWarning, stacklevel=4)


def _execute(
    call: Callable[..., str],
    result: type[Result],
    spec: Spec,
    command: str,
    out: str | os.PathLike[str] | None,
    threads: int,
    processes: int,
    resume: bool,
    progress: Progress,
    stop: threading.Event | None,
) -> Any:
    threads = check_whole("threads", threads, 0)
    processes = check_whole("processes", processes, 1)
    if resume and out is None:
        raise ValueError("resume=True needs out=, the folder of the run that is to go on")
    check_stop(stop)
    _note_without_effect(spec)
    if _has_python_parts(spec):
        threads = 1  # one thread of Python at a time; processes= has several
    folder, temporary = _folder(out)
    try:
        with ticking(progress, stop, spec.name, "replicate") as tick:
            call(
                spec=spec._core, out=str(folder), threads=threads, processes=processes, resume=bool(resume),
                command=command, tick=tick,
            )  # fmt: skip
        return result(folder, temporary=temporary, spec=spec)
    except BaseException:
        if temporary is not None:
            shutil.rmtree(temporary, ignore_errors=True)
        raise


def run(
    spec: SpecLike,
    *,
    set: Mapping[str, Any] | None = None,
    out: str | os.PathLike[str] | None = None,
    threads: int = 0,
    processes: int = 1,
    resume: bool = False,
    progress: Progress = None,
    stop: threading.Event | None = None,
    log: Any = None,
    environments: Mapping[str, Any] | None = None,
    algorithms: Mapping[str, Any] | None = None,
) -> Result:
    """Runs an experiment, with the same results in the same files as the command line.

    Ctrl-C and a notebook's stop button end the run with KeyboardInterrupt. If a folder was given, the rows that were
    written stay, and `resume=True` goes on. Other threads of the program go on while it runs.

    Args:
        spec: the path of a TOML file, a dict of tables or dotted keys, or a Spec.
        set: values that override those of the spec, by dotted key, as --set does.
        out: the folder of the results, which must be new; None keeps them in a temporary folder that lives as long as the
            result.
        threads: the number of threads, 0 or more; 0 means one per core. Results do not depend on it.
        processes: the number of processes among which replicates are dealt out, 1 or more. Results do not depend on it.
            It is for environments and algorithms in Python, which have one thread in each process.
        resume: whether to continue an interrupted run in `out`.
        progress: None draws a bar in terminals and notebooks if tqdm is installed, True always, and False never; or a
            function that is called as progress(done, total) with numbers of replicates.
        stop: an event that ends the run as Ctrl-C does. It is for threads other than the main one, which get no signals.
        log: logged data for the spec to replay, instead of environment.file.
        environments: classes of environments, by the name that environment.kind has in the spec.
        algorithms: classes of algorithms, by the name that algorithm.name has in the spec.

    Raises:
        SpecError: a key or a value is not accepted, or the folder exists.
        OutsideError: a file cannot be written.
        KeyboardInterrupt: the run was interrupted.

    >>> result = run({"horizon": 2000, "seed": 7, "replicates": 2, "environment": {"dimension": 3, "actions": 10},
    ...               "algorithm": {"name": "lin-ucb"}, "privacy": {"model": "none"}})
    >>> [point.label for point in result.points]
    ['lin-ucb']
    """
    with _python_parts(environments, algorithms, log) as wanted:
        checked = as_spec(spec, {**wanted, **(set or {})})
        command = "bandana run " + (_quoted(checked._path) if checked._path and not checked._text else "spec.toml")
        for assignment in checked._overrides if not checked._text else []:
            command += f" --set {_quoted(assignment)}"
        return _execute(  # type: ignore[no-any-return]
            _bandana.run, Result, checked, command, out, threads, processes, resume, progress, stop
        )


def reproduce(
    exhibit: str | os.PathLike[str],
    scale: str = "quick",
    *,
    set: Mapping[str, Any] | None = None,
    out: str | os.PathLike[str] | None = None,
    threads: int = 0,
    processes: int = 1,
    resume: bool = False,
    progress: Progress = None,
    stop: threading.Event | None = None,
) -> Reproduction:
    """Runs a figure or table of a paper, and says which of the paper's claims the run shows.

    Args:
        exhibit: the name of an exhibit, which exhibits() lists, or the path of a TOML file with claims.
        scale: "smoke" (seconds, settles no claim), "quick" (less than a minute) or "paper" (the paper's own scale).
        set, out, threads, processes, resume, progress, stop: as for run.

    Raises:
        SpecError: there is no such exhibit or scale, or a value is not accepted.
        OutsideError: a file cannot be written.
        KeyboardInterrupt: the run was interrupted.

    >>> reproduce("p1-fig2").verdicts
    Traceback (most recent call last):
        ...
    bandana.errors.SpecError: exhibit = p1-fig2: ...
    """
    name = os.fspath(exhibit)
    overrides = _overrides_of(set)
    spec = Spec.__new__(Spec)
    spec._text, spec._path, spec._overrides = "", "", overrides
    spec._core = _bandana.Spec.exhibit(name, scale, overrides)
    command = f"bandana reproduce {_quoted(name)} --scale {scale}"
    for assignment in overrides:
        command += f" --set {_quoted(assignment)}"

    def call(**arguments: Any) -> str:
        return _bandana.reproduce(name=name, scale=scale, **arguments)

    return _execute(  # type: ignore[no-any-return]
        call, Reproduction, spec, command, out, threads, processes, resume, progress, stop
    )


def _overrides_of(given: Mapping[str, Any] | None) -> list[str]:
    from bandana._spec import _overrides

    return _overrides(given)
