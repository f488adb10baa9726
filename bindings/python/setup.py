"""Puts the extension, which CMake builds, and the library beside it into the package."""

import os
import pathlib
import re
import shutil
import subprocess

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("BANDANA_BUILD", ROOT / "build"))
VERSION = re.search(r"project\(bandana VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]

README = """Bandits with differential privacy. This wheel is for Debian 12 on x86-64-v3: it has libbandana, and needs Debian's
packages libabsl20220623, libfmt9 and libssl3."""


class CMakeBuild(build_ext):
    """Builds the target _bandana in the folder of the other builds, so that a built library is used again."""

    def run(self):
        subprocess.run([ROOT / "script/build", "release", "--python", "--target", "_bandana"], check=True)
        target = pathlib.Path(self.build_lib) / "bandana"
        shutil.rmtree(target / "lib", ignore_errors=True)
        install = ["cmake", "--install", BUILD, "--component", "wheel", "--prefix", target]
        subprocess.run([*map(str, install)], check=True, stdout=subprocess.DEVNULL)


setup(
    version=VERSION,
    long_description=README,
    ext_modules=[Extension("bandana._bandana", [])],
    cmdclass={"build_ext": CMakeBuild},
)
