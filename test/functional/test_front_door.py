# SPDX-License-Identifier: BSD-3-Clause
"""./octo: what it says without building or installing anything."""

import re
import subprocess

import pytest

from octotest import env

COMMANDS = ["setup", "build", "demo", "test", "testpmd", "l3fwd", "docs",
            "clean", "help"]


def _octo(*words: str, cwd=None) -> subprocess.CompletedProcess:
    return subprocess.run([env.REPO / "octo", *words], text=True, cwd=cwd,
                          capture_output=True, check=False,
                          timeout=env.seconds(30))


@pytest.mark.parametrize("words", [(), ("help",), ("--help",)])
def test_help_names_every_command(words):
    """Help is an answer, not an error."""
    done = _octo(*words)
    assert done.returncode == 0 and done.stderr == ""
    for command in COMMANDS:
        assert re.search(rf"^\s+{command}\b", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("words", [
    ("nonsense",), ("build", "--nonsense"), ("test", "--nonsense"),
    ("test", "-k"), ("docs", "extra"), ("clean", "--some"),
])
def test_wrong_use_is_one_line_and_status_2(words):
    """The message names the culprit; nothing is begun."""
    done = _octo(*words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert words[-1] in done.stderr or words[0] in done.stderr


def test_works_from_anywhere(tmp_path):
    """By its path, from another directory, through a link."""
    link = tmp_path / "octo"
    link.symlink_to(env.REPO / "octo")
    done = subprocess.run([link, "help"], cwd=tmp_path, text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0 and "demo" in done.stdout
