# SPDX-License-Identifier: BSD-3-Clause
"""./octo test fresh: what it runs, and why it does not begin."""

import re
import subprocess

import pytest

from octotest import env
from octotest.door import Door

pytestmark = pytest.mark.no_c


@pytest.fixture
def door(tmp_path) -> Door:
    """A front door in a clone, where a minimal root cannot be made."""
    made = Door(tmp_path)
    made.python("good", "")
    made.program("bin", "mmdebstrap", "echo 'E: no network' >&2; exit 1")
    made.write("repo/README.md", (env.REPO / "README.md").read_text())
    for words in (["init", "-q"], ["add", "-A"],
                  ["-c", "user.name=N", "-c", "user.email=n@example.org",
                   "commit", "-q", "-m", "test: add all"]):
        subprocess.run(["git", "-C", tmp_path / "repo", *words], check=True)
    return made


def _plan(door, which: str) -> list:
    """The commands, as they are given to the root."""
    script = f'root={door.top}/repo; . $root/devtools/common.sh; ' \
             f'. $root/devtools/fresh.sh; {which}'
    done = subprocess.run(["bash", "-ec", script], check=True, text=True,
                          capture_output=True)
    return done.stdout.splitlines()


def test_what_is_run_is_what_the_readme_says(door):
    """All commands of its list, word by word, and nothing else."""
    text = (env.REPO / "README.md").read_text()
    block = text.partition("## Three commands\n\n")[2].partition("\n\n")[0]
    commands = [line.partition("#")[0].strip() for line in block.splitlines()]
    assert len(commands) == 3 and all(c.startswith("./octo") for c in commands)
    assert _plan(door, "whole_plan octo") == [f"octo {c}" for c in commands]
    short = _plan(door, "short_plan")
    assert short[:2] == ["octo ./octo setup", "root ./octo demo"]
    assert all(line.startswith("root ./octo test ") for line in short[2:])


def test_short_takes_tests_that_are_there(door):
    """A name of a file or a test that was renamed would select nothing."""
    text = (env.REPO / "devtools/fresh.sh").read_text()
    chosen = "".join(re.findall(r"^fresh_functional\+?='(.*)'$", text, re.MULTILINE))
    traffic = (env.REPO / "test/functional/test_traffic.py").read_text()
    assert "test_traffic and (exact or " in chosen and '"exact"' in traffic
    for name in re.findall(r"\btest_\w+", chosen):
        assert (env.REPO / f"test/functional/{name}.py").exists() or f"def {name}(" in traffic


def test_without_package_sources_there_is_one_error(door, root):
    """It says what could not be made and why, and leaves nothing."""
    done = door.octo("test", "fresh", "--short")
    assert done.returncode == 1 and done.stdout == ""
    errors = [x for x in done.stderr.splitlines() if x.startswith("octo: ")]
    assert len(errors) == 1, done.stderr
    assert "package sources" in errors[0] and "no network" in errors[0]
    assert list((door.top / "repo/.deps").iterdir()) == []


def test_readme_without_commands_is_refused(door, root):
    """To run nothing is not to pass."""
    door.write("repo/README.md", "# Nothing\n")
    done = door.octo("test", "fresh")
    assert done.returncode == 1 and "README.md" in done.stderr


def test_who_is_not_root_is_told(door):
    """Before anything is installed."""
    within = ("unshare", "--user") if env.IS_ROOT else ()
    done = door.octo("test", "fresh", within=within)
    assert done.returncode == 1 and "needs root" in done.stderr
    assert door.asked_for() == []


# Processes in namespaces that write for as long as they live, as tests do.
BUSY = r'''
set -e
work=$1
. "$2/devtools/fresh.sh"
for ((i = 0; i < 10; i++)); do
	mkdir -p "$work/root"
	unshare --mount --pid --fork --kill-child --propagation private sh -c '
		for n in 1 2 3 4; do
			(while :; do mktemp -d "$0/root/XXXXXXXX"; done) &
		done
		wait' "$work" >"$work/log" 2>&1 &
	fresh_pid=$!
	until [ -s "$work/log" ]; do sleep 0.1; done
	leave_fresh
	[ ! -e "$work" ]
done
'''


def test_nothing_is_left_of_what_was_killed(tmp_path, root):
    """What dies with its namespaces may write while its directory is removed."""
    subprocess.run(["bash", "-c", BUSY, "bash", tmp_path / "work", env.REPO], check=True,
                   timeout=env.seconds(120))
