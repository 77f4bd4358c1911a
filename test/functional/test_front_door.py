# SPDX-License-Identifier: BSD-3-Clause
"""./octo: what it says without building or installing anything."""

import os
import re
import subprocess

import pytest

from octotest import env

pytestmark = pytest.mark.no_c

COMMANDS = ["setup", "build", "demo", "measure", "bench", "test", "versions", "testpmd",
            "l3fwd", "package", "docs", "clean", "help", "fuzz", "doctor"]
# What makes a DPDK source tree, as far as is looked at.
TREE = ["meson.build", "lib/ethdev/ethdev_driver.h",
        "app/test-pmd/meson.build", "drivers/net/ring/meson.build"]


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


@pytest.mark.parametrize("option", ["-h", "--help"])
@pytest.mark.parametrize("command", ["setup", "build", "test", "fuzz", "versions", "plugins",
                                     "package", "docs", "clean"])
def test_every_command_has_help(command, option):
    """That of its own alone, and nothing is begun."""
    done = _octo(command, option)
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith(f"usage: ./octo {command} ")
    others = [c for c in COMMANDS if re.search(rf"^\s+{c}\b.*   ", done.stdout, re.MULTILINE)]
    assert others == [] and "./octo help" in done.stdout


@pytest.mark.many(asan=1)
@pytest.mark.parametrize("words", [
    ("nonsense",), ("build", "--nonsense"), ("test", "--nonsense"),
    ("test", "-k"), ("test", "unit", "--short"), ("docs", "extra"), ("clean", "--some"),
    ("build", "--dpdk-src"), ("build", "--dpdk-src", "/nonexistent"),
    ("testpmd", "--dpdk-src", "/nonexistent"), ("versions",),
    ("versions", "--json"), ("versions", "--nonsense"),
    ("package", "extra"), ("fuzz", "nonsense"), ("fuzz", "--seconds", "no"),
    ("fuzz", "flow", "devargs", __file__), ("doctor", "extra"),
    ("doctor", "--nonsense"), ("doctor", "--root", "/nonexistent"),
    ("doctor", "--json"), ("doctor", "--capture"),
    ("test", "functional", "unit", "-k", "no_such_test"),
    ("test", "fresh", "-k", "name"), ("test", "vm", "--shell", "-k", "name"),
    ("test", "vm", "--short", "--shell"),
    ("setup", "build", "extra"), ("plugins", "--nonsense"), ("plugins", "extra"),
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


def _tree(path, version: str, files=tuple(TREE)):
    path.mkdir()
    (path / "VERSION").write_text(version + "\n")
    for name in files:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).touch()
    return path


@pytest.mark.parametrize("command", ["build", "test", "plugins", "testpmd",
                                     "versions"])
def test_what_is_no_dpdk_tree_is_refused(tmp_path, command):
    """One line names what is missing, or the release that is needed."""
    partial = _tree(tmp_path / "partial", "25.11.0", TREE[:2])
    old = _tree(tmp_path / "old", "21.11.3")
    for tree, says in ((partial, TREE[2]), (old, "22.11"),
                       (tmp_path, "VERSION")):
        option = [] if command == "versions" else ["--dpdk-src"]
        done = _octo(command, *option, str(tree))
        assert done.returncode == 1 and done.stdout == ""
        assert len(done.stderr.splitlines()) == 1
        assert says in done.stderr and str(tree) in done.stderr


def test_table_that_cannot_be_written_is_told_before_the_builds(tmp_path):
    """Of a tree that cannot be built, so that nothing takes long."""
    done = _octo("versions", "--json", "/nonexistent/f", str(_tree(tmp_path / "tree", "22.11.1")))
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and "--json /nonexistent/f" in done.stderr


@pytest.mark.parametrize("option", ["-h", "--help"])
@pytest.mark.parametrize("script", ["in-tree", "mlx5-rfc", "app-patch"])
def test_scripts_have_help(script, option):
    """By either word, as an answer."""
    done = subprocess.run([env.REPO / "devtools" / f"{script}.sh", option], text=True,
                          capture_output=True, check=False, timeout=env.seconds(30))
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith(f"usage: devtools/{script}.sh ")


def test_tests_that_were_added_are_compiled(tmp_path):
    """Though the build directory is older than they are."""
    def ninja(*tests):
        return "rule again\n  command = cp new.ninja build.ninja\n  generator = 1\n" \
               "build build.ninja: again new.ninja\n" \
               "rule make\n  command = touch $out\n" \
               + "".join(f"build test/unit/{test}: make\n" for test in tests) \
               + "build all: phony " + " ".join(f"test/unit/{test}" for test in tests) + "\n"

    old = tmp_path / "build.ninja"
    old.write_text(ninja("test_old"))
    os.utime(old, (0, 0))
    (tmp_path / "new.ninja").write_text(ninja("test_old", "test_new"))
    skipped = "use_given_dpdk need prepare_build refuse_installed_drivers " \
              "switch_autogroups_off run_unit say_result"
    script = f"root={env.REPO}; . $root/devtools/common.sh; . $root/devtools/build.sh; " \
             ". $root/devtools/test.sh; " \
             f"for f in {skipped}; do eval \"$f() {{ :; }}\"; done; " \
             f"choose_build_dir() {{ build_dir={tmp_path}; }}; test_command unit"
    subprocess.run(["bash", "-euc", script], check=True, capture_output=True, text=True,
                   timeout=env.seconds(30))
    assert {path.name for path in (tmp_path / "test/unit").iterdir()} == {"test_old", "test_new"}
