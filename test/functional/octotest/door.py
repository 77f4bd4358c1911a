# SPDX-License-Identifier: BSD-3-Clause
"""A copy of the front door, on a machine that is made up.

It has an apt-get, a meson and a ninja that only say what they were asked, and
Pythons from which modules are hidden.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import List

from . import env

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
        for name in ("meson.build", "lib/ethdev/ethdev_driver.h",
                     "app/test-pmd/meson.build", "drivers/net/ring/meson.build"):
            self.write(f"dpdk/{name}", "")
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

    def octo(self, *words: str, hidden: str = "", within=()) -> subprocess.CompletedProcess:
        """Run a command where the distribution's python3 lacks what is hidden.

        within is a command that runs it.
        """
        path = ":".join([*map(str, self.path), "/usr/bin:/bin:/usr/sbin:/sbin"])
        return subprocess.run(
            [*within, self.top / "repo/octo", *words], text=True, capture_output=True,
            check=False, timeout=env.seconds(120), cwd=self.top,
            env={**os.environ, "PATH": path, "HIDDEN": hidden,
                 "PYTHONPATH": f"{self.top}/site", "DPDK_SRC": f"{self.top}/dpdk"})

    def asked_for(self) -> List[List[str]]:
        """The words of each command, in order."""
        return [line.split() for line in self.asked.read_text().splitlines()]
