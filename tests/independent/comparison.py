"""One comparison of a number that bandana printed with the number that we computed, and the call that printed it."""

import dataclasses
import json
import pathlib
import shlex
import subprocess
import tempfile

AT_LEAST, AT_MOST, EQUAL = "at least", "at most", "equal to"


@dataclasses.dataclass(frozen=True)
class Comparison:
    """bandana's number must be at least, at most or equal to ours, up to a relative tolerance.

    `reason` says why the tolerance is not zero, or why it is.
    """
    what: str
    bandana: object
    rule: str
    ours: object
    tolerance: float
    reason: str

    def holds(self):
        """A number that is not a number, or is missing, never passes."""
        if isinstance(self.ours, (bool, str)):
            return self.rule == EQUAL and self.bandana == self.ours
        if isinstance(self.bandana, (bool, str)) or self.bandana is None:
            return False
        slack = self.tolerance * abs(self.ours)
        not_below = self.bandana >= self.ours - slack
        not_above = self.bandana <= self.ours + slack
        return {AT_LEAST: not_below, AT_MOST: not_above, EQUAL: not_below and not_above}[self.rule]

    def __str__(self):
        verdict = "ok    " if self.holds() else "WRONG "
        tolerance = f"within {self.tolerance:.2g}" if self.tolerance else "exactly"
        return (f"  {verdict}{self.what}: bandana {shown(self.bandana)}, {self.rule} ours {shown(self.ours)} "
                f"{tolerance} ({self.reason})")


def shown(number):
    if isinstance(number, (bool, str, int)) or number is None:
        return str(number)
    return f"{float(number):.12g}"


def at_least(what, bandana, ours, tolerance, reason):
    return Comparison(what, bandana, AT_LEAST, ours, tolerance, reason)


def at_most(what, bandana, ours, tolerance, reason):
    return Comparison(what, bandana, AT_MOST, ours, tolerance, reason)


def equal(what, bandana, ours, tolerance, reason):
    return Comparison(what, bandana, EQUAL, ours, tolerance, reason)


@dataclasses.dataclass(frozen=True)
class Call:
    """A call of `bandana calibrate` (options is a dictionary), of `bandana account` (events and a question), or of
    `bandana run` (options are the keys of a spec)."""
    command: str
    options: dict
    mechanism: str = ""
    events: tuple = ()

    def words(self):
        return [word for key, value in self.options.items() for word in (f"--{key}", written(value))]

    def spec(self):
        """The spec of a run. JSON's numbers, texts and lists are also TOML's."""
        return "".join(f"{key} = {json.dumps(value)}\n" for key, value in self.options.items())

    def __str__(self):
        if self.command == "run":
            return f"bandana run /dev/stdin --json <<<{shlex.quote(self.spec())}"
        file = f" <<<{shlex.quote(json.dumps(list(self.events)))}" if self.events else ""
        where = " /dev/stdin" if self.events else f" {self.mechanism}"
        return f"bandana {self.command}{where} {' '.join(self.words())} --json{file}"


def written(value):
    """repr of a double is read back as the same double."""
    return value if isinstance(value, str) else repr(value)


class Bandana:
    def __init__(self, path):
        self.path = path

    def answer(self, call):
        """The JSON document that bandana prints."""
        if call.command == "run":
            return self.summary(call)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            subject = call.mechanism
            if call.events:
                json.dump(list(call.events), file)
                file.flush()
                subject = file.name
            done = subprocess.run([self.path, call.command, subject, *call.words(), "--json"],
                                  capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise RuntimeError(f"{call}\nexit {done.returncode}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)


    def summary(self, call):
        """What `bandana run` prints about a spec."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "claims.toml").write_text(call.spec())
            done = subprocess.run([self.path, "run", path / "claims.toml", "--out", path / "out", "--json"],
                                  capture_output=True, text=True, timeout=120)
        if done.returncode != 0:
            raise RuntimeError(f"{call}\nexit {done.returncode}: {done.stdout}{done.stderr}")
        return json.loads(done.stdout)


@dataclasses.dataclass(frozen=True)
class Fault:
    """A wrong answer, made from a right one: `edit` changes the document, or returns None if it does not apply."""
    name: str
    edit: object


def times(path, factor):
    """An edit that multiplies the number at `path`, for example "delivered.epsilon"."""
    *parents, key = path.split(".")

    def edit(document):
        place = document
        for parent in parents:
            place = place[parent]
        if not place.get(key):
            return None  # missing or zero
        place[key] *= factor
        return document
    return edit


def plus(key, difference):
    """An edit that adds to a whole number."""
    def edit(document):
        if key not in document:
            return None
        document[key] += difference
        return document
    return edit


def flipped(key):
    """An edit that negates a truth value."""
    def edit(document):
        if key not in document:
            return None
        document[key] = not document[key]
        return document
    return edit


def log_uniform(rng, low, high):
    """Three significant digits, so that a person can type the number."""
    return float(f"{low * (high / low) ** rng.random():.3g}")
