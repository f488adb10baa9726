"""The two lines of the README install the package, without a network and without the tree that it was built in."""

import os
import subprocess
import sys
import zipfile

import bandana
from conftest import SOURCE


def clean():
    """The environment of a user: nothing leads to the build."""
    return {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "BANDANA"))}


def test_pip_installs_into_an_environment(tmp_path):
    environment = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", environment], check=True)
    done = subprocess.run(
        [environment / "bin" / "pip", "--disable-pip-version-check", "install", "--no-build-isolation", "--no-index",
         "--no-deps", SOURCE / "bindings" / "python"],
        capture_output=True, text=True, check=False, env=clean(),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    program = """
import bandana, pathlib
print(bandana.__version__)
print(pathlib.Path(bandana.__file__).parent)
print(*{line.split()[-1] for line in open("/proc/self/maps") if "libbandana" in line})
bandana.run({"horizon": 10, "algorithm.name": "ucb1", "environment": {"kind": "mab", "actions": 5}, "federation.agents": 1, "privacy.model": "none"})
"""
    done = subprocess.run(
        [environment / "bin" / "python", "-c", program], capture_output=True, text=True, check=False, env=clean(), cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    version, package, library = done.stdout.splitlines()
    assert version == bandana.__version__
    assert package.startswith(str(environment)) and library.startswith(package)


def test_the_wheel_has_what_it_needs_and_nothing_else(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--no-build-isolation", "--no-index", "--no-deps",
         "--wheel-dir", tmp_path, SOURCE / "bindings" / "python"],
        capture_output=True, text=True, check=False, env=clean(),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    names = {name.split("/", 1)[1] for name in zipfile.ZipFile(wheel).namelist() if name.startswith("bandana/")}
    package = SOURCE / "bindings" / "python" / "bandana"
    ours = {path.name for path in package.iterdir() if path.suffix in (".py", ".pyi", ".typed")}
    binaries = {name for name in names - ours}
    assert ours <= names and len(binaries) == 2, binaries
    assert {name.split(".")[0] for name in binaries} == {"_bandana", "libbandana"}
