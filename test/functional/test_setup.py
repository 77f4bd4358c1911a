# SPDX-License-Identifier: BSD-3-Clause
"""./octo: sets up all that a command uses, before it begins."""

import os
from pathlib import Path

import pytest

from octotest.door import Door

pytestmark = pytest.mark.no_c


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
    (("versions", "dpdk"), "scapy", "python3-scapy"),
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


@pytest.mark.parametrize("words", [
    ("steering", "--plot", "x.png"), ("nudma", "--plot", "x.gif"), ("nudma", "--plot"),
    ("nudma", "--plot", "x.png", "--help"),
])
def test_nothing_is_installed_for_a_picture_that_is_not_drawn(door, words):
    """octo-bench refuses the option, or prints its help."""
    door.python("odd", "matplotlib")
    door.octo("bench", *words, hidden="matplotlib")
    assert "apt-get" not in [words[0] for words in door.asked_for()]


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


# What a program says of whether another could build meanwhile.
FREE = "flock -n {top}/repo/build true && echo {name} free >>{asked} || echo {name} locked >>{asked}"


def test_one_octo_builds_at_a_time(door):
    """Meson and ninja have the build directory for themselves; the program that runs then has not."""
    def say(name: str) -> str:
        return FREE.format(top=door.top, name=name, asked=door.asked)

    demo = door.write("demo", f"#!/bin/sh\n{say('demo')}\n")
    target = door.top / "repo/build/app/octo-demo"
    door.program("bin", "meson", f"mkdir -p $2; {say('meson')}; touch $2/build.ninja")
    door.program("bin", "ninja", f"{say('ninja')}; mkdir -p {target}; "
                 f"install -m 755 {demo} {target}/octo-demo")
    done = door.octo("demo")
    assert done.returncode == 0, done.stderr
    assert door.asked_for() == [["meson", "locked"], ["ninja", "locked"], ["ninja", "locked"],
                                ["demo", "free"]]
