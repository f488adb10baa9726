"""What the tests of the Python package share."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

BANDANA = os.environ.get("BANDANA", "")
SOURCE = pathlib.Path(os.environ.get("BANDANA_SOURCE", pathlib.Path(__file__).parents[2]))


def pytest_collection_modifyitems(items):
    if not BANDANA:
        raise pytest.UsageError("BANDANA is the path of the built program; script/test --label python sets it")


@pytest.fixture
def bandana_json():
    """Runs the program with --json and returns the document. An exit code other than those accepted fails the test."""

    def call(*arguments, accepted=(0,)):
        done = subprocess.run([BANDANA, "--json", *map(str, arguments)], capture_output=True, text=True, check=False)
        assert done.returncode in accepted, done.stderr + done.stdout
        return json.loads(done.stdout)

    return call


@pytest.fixture
def cli():
    """Runs the program quietly."""

    def call(*arguments, accepted=(0,)):
        done = subprocess.run([BANDANA, "--quiet", *map(str, arguments)], capture_output=True, text=True, check=False)
        assert done.returncode in accepted, done.stderr + done.stdout
        return done

    return call


@pytest.fixture
def python():
    """Runs a program in a Python of its own and returns what it prints."""

    def call(program, **options):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, **options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return call


@pytest.fixture
def small():
    """A spec that takes milliseconds, with a sweep."""
    return {
        "name": "small",
        "horizon": 2000,
        "seed": 7,
        "replicates": 3,
        "environment": {"kind": "linear", "dimension": 3, "actions": 10, "client_sd": 0.1},
        "algorithm": {"name": "dp-dpe"},
        "privacy": {"delta": 1e-3},
        "sweep": {"privacy.model": ["none", "central", "local"], "privacy.epsilon": [1, 10]},
    }


@pytest.fixture
def long():
    """A spec that takes minutes, in many short replicates."""
    return {
        "horizon": 20_000,
        "replicates": 20_000,
        "environment": {"kind": "mab", "actions": 20},
        "federation": {"agents": 1},
        "algorithm": {"name": "ucb1"},
        "privacy": {"model": "none"},
    }
