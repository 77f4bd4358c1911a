# SPDX-License-Identifier: BSD-3-Clause
"""devtools/in-tree.sh: what it makes of a tree with the lists of a DPDK."""

import fnmatch
import re
import subprocess
from pathlib import Path

import pytest

from octotest import env

pytestmark = pytest.mark.no_c

SCRIPT = env.REPO / "devtools/in-tree.sh"

LISTS = {
    "VERSION": "99.11.0\n",
    ".mailmap": "Somebody <somebody@example.org>\n",
    "MAINTAINERS": "PCAP PMD\nM: Somebody <somebody@example.org>\n",
    "lib/meson.build": "libraries = [\n        'pcapng',\n]\n",
    "drivers/net/meson.build": "drivers = [\n        'mvneta',\n        'pcap',\n]\n",
    "doc/guides/nics/index.rst": ".. toctree::\n\n    mvneta\n    pcap\n",
    "devtools/parse-flow-support.sh":
        "exclude()\n{\n\tcase $dir in\n\t\t*) cat\n\tesac\n}\n"
        "include()\n{\n\tcase $dir in\n\tesac\n}\n",
    "devtools/mailmap-ctl.py":
        "import sys\nprint(sys.argv[2], file=open('.mailmap', 'a'))\n",
}


def _run(*words: object) -> subprocess.CompletedProcess:
    return subprocess.run([SCRIPT, *words], text=True, capture_output=True,
                          check=False, timeout=env.seconds(30))


def _files(top: Path) -> dict:
    return {path.relative_to(top): path.read_bytes()
            for path in top.rglob("*")
            if path.is_file() and ".git" not in path.parts}


@pytest.fixture
def dpdk(tmp_path) -> Path:
    """A tree with as much of a DPDK as is edited."""
    for name, text in LISTS.items():
        path = tmp_path / "dpdk" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "dpdk"


def test_drivers_are_put_in_as_they_are(dpdk, tmp_path):
    """Sources unchanged, lists extended, the given tree untouched."""
    before = _files(dpdk)
    done = _run("-o", tmp_path / "out", dpdk, "copy")
    assert done.returncode == 0, done.stdout + done.stderr
    assert _files(dpdk) == before
    copy = tmp_path / "out/dpdk"
    for name in ("lib/octo", "lib/octo_measure", "lib/nudma", "drivers/net/octo", "drivers/net/mpsim"):
        ours = _files(env.REPO / name)
        ours.pop(Path("version.map"), None)
        assert _files(copy / name) == ours
    assert (copy / "drivers/net/meson.build").read_text() == \
        "drivers = [\n        'mpsim',\n        'mvneta',\n        'octo',\n        'pcap',\n]\n"
    assert "'octo',\n        'octo_measure',\n        'pcapng'" in (copy / "lib/meson.build").read_text()
    assert "    mpsim\n    mvneta\n    octo\n    pcap\n" in \
        (copy / "doc/guides/nics/index.rst").read_text()
    script = (copy / "devtools/parse-flow-support.sh").read_text()
    assert script.count("\t\tocto)") == script.count("\t\tmpsim)") == 2
    commits = subprocess.run(["git", "-C", copy, "log", "--format=%s", "base.."],
                             check=True, capture_output=True, text=True).stdout
    assert [line.split(":")[0] for line in commits.splitlines()] == \
        ["net/mpsim", "net/octo", "nudma", "octo_measure", "octo"]


def test_copy_is_made_again(dpdk, tmp_path):
    """What was changed in the copy is gone, nothing is there twice."""
    assert _run("-o", tmp_path / "out", dpdk, "copy").returncode == 0
    first = _files(tmp_path / "out/dpdk")
    (tmp_path / "out/dpdk/lib/octo/octo_plan.c").write_text("changed")
    (tmp_path / "out/dpdk/drivers/net/octo/more.c").write_text("")
    assert _run("-o", tmp_path / "out", dpdk, "copy").returncode == 0
    assert _files(tmp_path / "out/dpdk") == first


def test_pages_refer_to_no_page_that_stays_outside():
    """Sphinx takes a reference to an unknown page for an error in DPDK's guides."""
    guides = env.REPO / "doc/guides/nics"
    assert [(name, page) for name in ("octo", "mpsim")
            for page in re.findall(r":doc:`(?:[^`<]*<)?([^`>]+)",
                                   (guides / f"{name}.rst").read_text())
            if page not in ("octo", "mpsim")] == []


def test_unknown_list_is_an_error(dpdk, tmp_path):
    """A DPDK whose lists look different is not guessed at."""
    (dpdk / "lib/meson.build").write_text("libraries = []\n")
    done = _run("-o", tmp_path / "out", dpdk, "copy")
    assert done.returncode == 1
    assert "lib/meson.build has no" in done.stdout
    assert "copy         FAILED" in done.stdout


@pytest.mark.parametrize("words, status, says", [
    ((), 2, "usage:"), (("-x",), 2, "usage:"), (("{dir}",), 1, "VERSION"),
    (("{dpdk}", "cpy"), 1, "no such step: cpy")])
def test_wrong_use(dpdk, tmp_path, words, status, says):
    """What is wrong is said, nothing is made."""
    done = _run("-o", tmp_path / "out", *(
        word.format(dir=tmp_path, dpdk=dpdk) for word in words))
    assert done.returncode == status and says in done.stderr
    assert not (tmp_path / "out").exists()


def test_processes_linked_with_another_dpdk_are_left_out():
    """The second process that a test starts is of our own build, not of that tree."""
    globs = re.findall(r'--ignore-glob="([^"]+)"', SCRIPT.read_text())
    files = [str(path) for path in (env.REPO / "test/functional").glob("test_*.py")
             if re.search(r'^PROGRAM = env.test_program', path.read_text(), re.MULTILINE)]
    assert files
    assert [file for file in files if not any(fnmatch.fnmatch(file, glob) for glob in globs)] == []
