# SPDX-License-Identifier: BSD-3-Clause
"""devtools/app-patch.sh: patches for applications, here of sources that stand for theirs."""

import os
import subprocess
from pathlib import Path

import pytest

from octotest import env

pytestmark = pytest.mark.no_c

SCRIPT = env.REPO / "devtools/app-patch.sh"
DRIVERS = "src/plugins/dpdk/device/driver.c"
LIST = """static dpdk_driver_t dpdk_drivers[] = {
  {
    .drivers = DPDK_DRIVERS ({ "net_enic", "Cisco VIC" }),
  },
  {
    .drivers = DPDK_DRIVERS ({ "net_failsafe", "FailsafeEthernet" }),
  },
};
"""
ENTRY = """  {
    .drivers = DPDK_DRIVERS ({ "net_octo", "Octo multi-PF port" }),
    .interface_name_prefix = "OctoEthernet",
    .enable_rxq_int = 1,
    .supported_flow_actions = DPDK_VNET_FLOW_SUPPORTED_ACTIONS,
    .need_tx_prepare = 1,
  },
"""


def _run(*words: object) -> subprocess.CompletedProcess:
    who = {f"GIT_CONFIG_{what}_{i}": value for i, pair in enumerate(
        (("user.name", "A Tester"), ("user.email", "tester@example.org")))
        for what, value in zip(("KEY", "VALUE"), pair)}
    return subprocess.run([str(word) for word in words], text=True, capture_output=True,
                          check=False, timeout=env.seconds(60),
                          env={**os.environ, "GIT_CONFIG_COUNT": "2", **who})


def _source(top: Path, text: str) -> Path:
    path = top / "vpp" / DRIVERS
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return top / "vpp"


def test_patch(tmp_path, program):
    """The driver enters VPP's list, by a signed patch that applies; the given tree stays."""
    program("git")
    source = _source(tmp_path, LIST)
    done = _run(SCRIPT, "-o", tmp_path / "out", "vpp", source, "series", "apply")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (source / DRIVERS).read_text() == LIST
    before, after = LIST.split('  {\n    .drivers = DPDK_DRIVERS ({ "net_failsafe"')
    assert (tmp_path / "out/vpp" / DRIVERS).read_text() == \
        before + ENTRY + '  {\n    .drivers = DPDK_DRIVERS ({ "net_failsafe"' + after
    patch, = (tmp_path / "out/patches").iterdir()
    assert "Signed-off-by: A Tester <tester@example.org>" in patch.read_text()


def test_tree_is_another(tmp_path, program):
    """A tree without the places to edit: one error, and no patch."""
    program("git")
    source = _source(tmp_path, "int x;\n")
    done = _run(SCRIPT, "-o", tmp_path / "out", "vpp", source, "series")
    assert done.returncode != 0
    assert f"this tree is too different: {DRIVERS}: no line after line 0 matches " \
        "'\"net_failsafe\"'" in done.stdout
    assert not list(tmp_path.glob("out/**/*.patch"))


def _ovs(top: Path) -> Path:
    """What stands for Open vSwitch; its configure says with what it links."""
    tree = top / "out/ovs"
    for name, text in (("lib/dpif-netdev.c", ""), ("boot.sh", "#!/bin/sh\n"),
                       ("configure", "#!/bin/sh\necho all: >Makefile\necho \"flags:$LDFLAGS.\"\n")):
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    return tree


@pytest.mark.parametrize("version,flags", [
    ("22.11.11", "-Wl,-z,now -Wl,--defsym=rte_vhost_driver_set_max_queue_num=0"),
    ("23.07.0", "-Wl,-z,now"),
    ("25.11.0", "-Wl,-z,now"),
])
def test_ovs_is_linked_without_what_dpdk_lacks(tmp_path, program, monkeypatch, version, flags):
    """A function for vhost ports that an older DPDK has not; other flags stay."""
    for name in ("git", "autoconf", "automake", "libtoolize", "make", "pkg-config"):
        program(name)
    (tmp_path / "libdpdk.pc").write_text(f"Name: x\nDescription: x\nVersion: {version}\n")
    monkeypatch.setenv("PKG_CONFIG_PATH", str(tmp_path))
    monkeypatch.setenv("LDFLAGS", "-Wl,-z,now")
    tree = _ovs(tmp_path)
    done = _run(SCRIPT, "-o", tmp_path / "out", "ovs", tree, "build")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"flags:{flags}.\n" in done.stdout


@pytest.mark.parametrize("says,status,complaint", [
    ("ovs-vswitchd (Open vSwitch) 4.0.90", 0, "was built without DPDK: nothing to run"),
    (None, 1, "was not built"),
])
def test_ovs_that_cannot_be_run(tmp_path, program, says, status, complaint):
    """Whatever DPDK there is, it is the built program that has to have one."""
    program("git")
    tree = _ovs(tmp_path)
    if says is not None:
        (tree / "vswitchd").mkdir()
        (tree / "vswitchd/ovs-vswitchd").write_text(f"#!/bin/sh\necho '{says}'\n")
        (tree / "vswitchd/ovs-vswitchd").chmod(0o755)
    done = _run(SCRIPT, "-o", tmp_path / "out", "ovs", tree, "run")
    assert done.returncode == status, done.stdout + done.stderr
    assert complaint in done.stdout + done.stderr


VPP = """cmake_minimum_required(VERSION 3.19)
project(vpp NONE)
message("plugins ${VPP_PLUGINS}, without OpenSSL: ${CMAKE_DISABLE_FIND_PACKAGE_OpenSSL}.")
foreach(target vpp vppctl dpdk_plugin)
  add_custom_target(${target} COMMENT "making ${target}" COMMAND true)
endforeach()
"""


@pytest.mark.parametrize("version,without", [("22.11.11", "ON"), ("23.03.0", "")])
def test_vpp_is_built_without_what_dpdk_lacks(tmp_path, program, monkeypatch, version, without):
    """Its use of cryptodev, which it builds if it finds OpenSSL, wants a newer DPDK."""
    for name in ("git", "cmake", "ninja", "pkg-config", "dpkg"):
        program(name)
    for name in ("python3-ply", "libelf-dev", "libnl-route-3-dev", "libssl-dev", "uuid-dev"):
        if subprocess.run(["dpkg", "-s", name], capture_output=True, check=False).returncode:
            pytest.skip(f"{name} is not there")
    (tmp_path / "libdpdk.pc").write_text(f"Name: x\nDescription: x\nVersion: {version}\n")
    monkeypatch.setenv("PKG_CONFIG_PATH", str(tmp_path))
    tree = _source(tmp_path / "out", LIST)
    (tree / "src/CMakeLists.txt").write_text(VPP)
    done = _run(SCRIPT, "-o", tmp_path / "out", "vpp", tree, "build")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"plugins dpdk, without OpenSSL: {without}.\n" in done.stdout
    assert all(f"making {target}" in done.stdout for target in ("vpp", "vppctl", "dpdk_plugin"))


def test_vpp_that_cannot_be_run(tmp_path, program):
    """A patch alone has no program."""
    program("git")
    (tmp_path / "out/vpp").mkdir(parents=True)
    done = _run(SCRIPT, "-o", tmp_path / "out", "vpp", _source(tmp_path, LIST), "run")
    assert done.returncode != 0
    assert "VPP was not built: the step build does that" in done.stdout


@pytest.mark.parametrize("words,complaint", [
    (["vpp", "/nonexistent"], f"/nonexistent is not a source tree of vpp: it has no file {DRIVERS}"),
    (["ovs", "/nonexistent"],
     "/nonexistent is not a source tree of ovs: it has no file lib/dpif-netdev.c"),
    (["snort", "/nonexistent"], "usage:"),
    (["vpp"], "usage:"),
    (["--source", "vpp", "x"], "usage:"),
], ids=["vpp", "ovs", "application", "missing", "option"])
def test_wrong_use(words, complaint):
    """Wrong arguments are refused at once."""
    done = _run(SCRIPT, *words)
    assert done.returncode != 0 and complaint in done.stderr
