# SPDX-License-Identifier: BSD-3-Clause
"""./octo: sets up all that a command uses, before it begins.

A copy of the front door runs with an apt-get, a meson and a ninja that only say
what they were asked, and with Pythons from which modules are hidden.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import List

import pytest

from octotest import env

# Whoever imports a hidden module hears that it is not there.
HIDING = """
import os, sys

class Hiding:
    def find_spec(self, name, path=None, target=None):
        if name in os.environ.get("HIDDEN", "").split():
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Hiding())
"""


class Door:
    """The copy, and the machine that it believes to be on."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.path: List[Path] = []
        self.asked = top / "asked"
        self.asked.touch()
        shutil.copytree(env.REPO / "devtools", top / "repo/devtools")
        shutil.copy2(env.REPO / "octo", top / "repo/octo")
        release = subprocess.run(["pkg-config", "--modversion", "libdpdk"],
                                 check=True, capture_output=True, text=True)
        self.write("dpdk/VERSION", release.stdout)
        self.write("dpdk/lib/ethdev/ethdev_driver.h", "")
        self.write("site/sitecustomize.py", HIDING)
        for name in ("apt-get", "meson", "ninja", "sphinx-build"):
            self.program("bin", name, f'echo {name} "$@" >>{self.asked}; exit 1')
        self.program("bin", "sudo", 'exec "$@"')

    def write(self, name: str, text: str) -> Path:
        """A file of that machine."""
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def program(self, directory: str, name: str, script: str) -> None:
        """A program in a directory that is in PATH."""
        self.write(f"{directory}/{name}", f"#!/bin/sh\n{script}\n").chmod(0o755)
        if self.top / directory not in self.path:
            self.path.append(self.top / directory)

    def python(self, directory: str, hidden: str, modules: str = "") -> None:
        """A python3 in PATH, without some modules and with others."""
        self.program(directory, "python3",
                     f"HIDDEN='{hidden}' PYTHONPATH={self.top}/site:{modules} "
                     f"exec {sys.executable} \"$@\"")

    def octo(self, *words: str, hidden: str = "") -> subprocess.CompletedProcess:
        """Run a command where the distribution's python3 lacks what is hidden."""
        path = ":".join([*map(str, self.path), "/usr/bin:/bin:/usr/sbin:/sbin"])
        return subprocess.run(
            [self.top / "repo/octo", *words], text=True, capture_output=True,
            check=False, timeout=env.seconds(120), cwd=self.top,
            env={**os.environ, "PATH": path, "HIDDEN": hidden,
                 "PYTHONPATH": f"{self.top}/site", "DPDK_SRC": f"{self.top}/dpdk"})

    def asked_for(self) -> List[List[str]]:
        """The words of each command, in order."""
        return [line.split() for line in self.asked.read_text().splitlines()]


@pytest.fixture
def door(tmp_path) -> Door:
    """A front door to try."""
    return Door(tmp_path)


@pytest.mark.parametrize("words, lacks, package", [
    (("test",), "pytest", "python3-pytest"),
    (("test", "functional"), "pytest", "python3-pytest"),
    (("test", "vm"), "pytest", "python3-pytest"),
    (("test", "functional"), "scapy", "python3-scapy"),
    (("setup",), "pytest", "python3-pytest"),
    (("build",), "elftools", "python3-pyelftools"),
    (("docs",), "sphinx", "python3-sphinx"),
    (("bench", "nudma", "--plot", "x.png"), "matplotlib", "python3-matplotlib"),
])
def test_modules_of_two_pythons_do_not_count(door, words, lacks, package):
    """What a set of modules lacks in each python3 is installed before all else."""
    odd = "scapy" if lacks == "pytest" else lacks
    door.python("odd", odd)
    done = door.octo(*words, hidden=lacks)
    commands = door.asked_for()
    assert commands[:1] == [["apt-get", "-q", "update"]], done.stderr
    assert package in commands[1] and "install" in commands[1]
    assert {words[0] for words in commands} == {"apt-get"}
    assert done.returncode == 1 and "could not install" in done.stderr


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="it is an x86-64")
def test_the_virtual_machine_is_fetched_before_the_build(door):
    """A kernel and QEMU are no later news than a missing module."""
    door.python("good", "")
    done = door.octo("test", "vm")
    assert [words[0] for words in door.asked_for()][0] == "apt-get", done.stderr


def _stub(door: Door, directory: str, text: str) -> Path:
    door.write(f"{directory}/sphinx/__init__.py", text)
    door.write(f"{directory}/sphinx/__main__.py",
               f"import sys\nprint('sphinx', *sys.argv[1:], file=open('{door.asked}', 'a'))\n")
    return door.top / directory


def test_guides_are_written_by_a_sphinx_that_works(door):
    """Neither a sphinx-build of some other Python, nor a broken module."""
    door.python("odd", "", str(_stub(door, "broken", "raise RuntimeError('broken')")))
    door.python("good", "", str(_stub(door, "whole", "")))
    done = door.octo("docs", hidden="sphinx")
    assert done.returncode == 0, done.stderr
    assert [words[:2] for words in door.asked_for()] == [["sphinx", "-W"]]


def test_build_gets_the_python_that_was_found(door):
    """Meson does not look for one of its own."""
    door.python("odd", "elftools")
    door.python("good", "")
    done = door.octo("build", hidden="elftools")
    assert "meson could not configure" in done.stderr
    assert [words[:2] for words in door.asked_for()] == [["meson", "setup"]]
    assert f"-Dpython={door.top}/good/python3" in door.asked_for()[0]
