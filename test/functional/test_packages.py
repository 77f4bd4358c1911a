# SPDX-License-Identifier: BSD-3-Clause
"""Installed drivers: by package and by ninja, used, upgraded and removed.

All of it happens in a sandbox that nothing outside of a test sees.
"""

import contextlib
import json
import re
import subprocess
from pathlib import Path
from typing import List

import pytest

from octotest import env, hugepages, sandbox, vdevs
from octotest.netns import run
from octotest.process import Process, ProcessError
from octotest.testpmd import Testpmd

DRIVERS = "dpdk-octo"
TOOLS = "dpdk-octo-dev"
# What changes whenever anything is installed, and the caches that go with it.
BOOKS = ("/etc/ld.so.cache", "/var/cache/ldconfig", "/var/cache/man",
         "/var/lib/dpkg", "/var/log")

PROGRAM = r"""
#include <stdio.h>
#include <rte_eal.h>
#include <rte_ethdev.h>

int
main(int argc, char **argv)
{
	struct rte_eth_dev_info info;
	uint16_t port;

	if (rte_eal_init(argc, argv) < 0 ||
	    rte_eth_dev_get_port_by_name("net_octo0", &port) != 0 ||
	    rte_eth_dev_info_get(port, &info) != 0)
		return 1;
	printf("driver=%s\n", info.driver_name);
	return rte_eal_cleanup();
}
"""


def _pc(*words: str) -> str:
    return run("pkg-config", *words).strip()


def _version() -> str:
    text = (env.REPO / "meson.build").read_text()
    return re.search(r"version: '([^']+)'", text)[1]


def _pmd_dir() -> str:
    log = (env.BUILD / "configure.log").read_text()
    return re.search(r"PMD directory *: *(\S+)", log)[1]


def _abi() -> str:
    """As in librte_eal.so.23.0."""
    eal = Path(_pc("--variable=libdir", "libdpdk"), "librte_eal.so")
    return eal.resolve().name.partition(".so.")[2]


def _fields(deb: Path, name: str) -> str:
    return run("dpkg-deb", "-f", deb, name).strip()


def _files(deb: Path) -> List[str]:
    """Full names of all but directories."""
    lines = run("dpkg-deb", "-c", deb).splitlines()
    return [line.split()[5][1:] for line in lines if line[0] != "d"]


@pytest.fixture(scope="module")
def debs():
    """The packages, fresh from `octo package`, by name."""
    if env.ASAN:
        pytest.skip("packages are built without sanitizers")
    if env.find_binary("dpkg") is None:
        pytest.skip("no dpkg: not a Debian system")
    if _pc("--variable=prefix", "libdpdk") != "/usr":
        pytest.skip("libdpdk is of no package")
    done = subprocess.run([env.REPO / "octo", "package"], text=True,
                          capture_output=True, check=False,
                          timeout=env.seconds(300))
    assert done.returncode == 0, done.stderr
    paths = [Path(line) for line in done.stdout.splitlines()]
    return {p.name.partition("_")[0]: p for p in paths}


@contextlib.contextmanager
def _system():
    """A system on which nothing of this project is installed, or a skip."""
    if not env.IS_ROOT:
        pytest.skip("mount namespaces need root")
    try:
        with sandbox.made(_pc("--variable=libdir", "libdpdk")) as system:
            yield system
    except sandbox.NoSandbox as err:
        pytest.skip(f"no overlay in a mount namespace: {err}")


@pytest.fixture
def box():
    """A system to install to."""
    with _system() as system:
        yield system


@pytest.fixture(scope="module")
def installed(debs):
    """A system with the packages, for tests that change nothing."""
    with _system() as system:
        system.run("dpkg", "-i", *debs.values())
        yield system


def _forwards(system, binary=None) -> None:
    """An octo port over two PFs carries packets, without -d."""
    with Testpmd(vdevs.looped(), plugins=False, binary=binary,
                 prefix=system.argv()) as pmd:
        assert [(p.name, p.driver) for p in pmd.ports()] == \
            [("net_octo0", "net_octo")]
        pmd.start("io", first=True)
        pmd.wait_until("traffic", lambda:
                       pmd.stats(pmd.port())["RX-packets"] > 1000)
        pmd.wait_until("rates", lambda: pmd.telemetry.get(
            "/octo/measure", pmd.port()).get("rx_packets_per_second", 0) > 0)
        pmd.stop_forwarding()


def _leftovers(system) -> List[str]:
    return [name for name in sorted(system.written())
            if not name.startswith(BOOKS)]


# The packages as files.

def test_packages_have_the_version_of_the_project(debs):
    """debian/changelog follows meson.build."""
    assert sorted(debs) == [DRIVERS, TOOLS]
    for deb in debs.values():
        assert _fields(deb, "Version").rpartition("-")[0] == _version()


def test_packages_depend_on_the_abi(debs):
    """Exactly the DPDK release: a soname may outlive it."""
    depends = _fields(debs[DRIVERS], "Depends").split(", ")
    major = _abi().partition(".")[0]
    release = ".".join(_pc("--modversion", "libdpdk").split(".")[:2])
    eal = [d for d in depends if d.startswith("librte-eal")]
    assert [d for d in eal if f"(>= {release})" in d]
    assert [d for d in eal if f"(<< {release}." in d]
    assert all(re.match(rf"librte-eal{major}(?!\d)", d) for d in eal)
    for name in ("ethdev", "kvargs", "bus-vdev"):
        owner = re.compile(rf"librte-{name}{major}(?!\d)")
        assert any(owner.match(d) for d in depends)
    version = _fields(debs[DRIVERS], "Version")
    assert f"{DRIVERS} (= {version})" in _fields(debs[TOOLS], "Depends")


def test_drivers_are_named_as_those_of_dpdk(debs):
    """librte_net_octo.so.23.0 and the link of its soname, where EAL looks."""
    abi = _abi()
    wanted = {f"{_pmd_dir()}/librte_{name}.so.{suffix}"
              for name in (*(f"net_{driver}" for driver in env.DRIVERS), "octo_measure")
              for suffix in (abi, abi.partition(".")[0])}
    found = {f for f in _files(debs[DRIVERS]) if f.startswith(_pmd_dir())}
    assert found == wanted


# Used.

def test_stock_testpmd_finds_octo(installed):
    """No -d, no option at all: the drivers are just there."""
    _forwards(installed)


def test_stock_proc_info_finds_octo(huge_dir, box, debs, program):
    """So do secondary processes."""
    box.run("dpkg", "-i", debs[DRIVERS])
    with Testpmd(vdevs.looped(), memory=None, plugins=False,
                 prefix=box.argv(),
                 eal=["-m", "256", f"--huge-dir={huge_dir}",
                      *hugepages.SHARED]) as pmd:
        process = Process([
            program("dpdk-proc-info"), "--no-pci",
            f"--file-prefix={pmd.file_prefix}", "--",
            f"-p{1 << pmd.port():#x}", "--xstats"], prefix=box.argv())
        assert process.wait(60) == 0, process.text
        assert "rx_home_packets: " in process.text


def test_octo_testpmd_loads_the_drivers_once(installed):
    """It is linked with them, and EAL finds them again."""
    with Testpmd(vdevs.looped(), plugins=False, prefix=installed.argv(),
                 binary="/usr/bin/octo-testpmd") as pmd:
        shown = pmd.cmd(f"octo show topology {pmd.port()}")
        assert "net_mpsim1" in shown
        maps = Path(f"/proc/{pmd.pid}/maps").read_text()
        for name in ("librte_net_octo.so", "librte_octo_measure.so"):
            copies = {line.split()[4] for line in maps.splitlines() if name in line}
            assert len(copies) == 1
        assert pmd.telemetry.get("/octo/measure", pmd.port())["measured"] == 0


def test_installed_program_measures(installed):
    """By the sockets of applications, wherever they are started."""
    with Testpmd(vdevs.looped(), plugins=False, prefix=installed.argv()) as pmd:
        process = Process(["dpdk-octo-measure.py", "-f", pmd.file_prefix, "--interval", "0.01",
                           "--count", "1"], prefix=installed.argv())
        assert process.wait() == 0, process.text
        assert "PF 1 net_mpsim1" in process.text


def test_installed_demo_shows_what_it_claims(installed):
    """The same program as ./octo demo."""
    process = Process(["octo-demo", "--packets", "100000"],
                      prefix=installed.argv())
    assert process.wait(60) == 0, process.text


def test_pkg_config_links_a_program(installed, tmp_path):
    """Compiled and linked by the flags, it has the drivers without EAL's."""
    (tmp_path / "program.c").write_text(PROGRAM)
    installed.run("sh", "-ec", f"cd {tmp_path}; cc program.c -o program "
                  "$(pkg-config --cflags --libs libdpdk-octo)")
    needed = run("readelf", "-d", tmp_path / "program")
    for name in env.DRIVERS:
        assert f"librte_net_{name}.so.{_abi().partition('.')[0]}" in needed
    process = Process([
        tmp_path / "program", "--no-huge", "-m", "64", "--no-pci",
        f"--file-prefix={env.unique()}", *vdevs.looped()],
        prefix=installed.argv())
    assert process.wait(60) == 0, process.text
    assert "driver=net_octo\n" in process.text


def test_pkg_config_tells_version_and_place(installed):
    """What build systems ask for."""
    def ask(word: str) -> str:
        return installed.run("pkg-config", word, "libdpdk-octo").strip()
    assert ask("--modversion") == _version()
    assert ask("--variable=driverdir") == _pmd_dir()


# Removed, upgraded, refused.

def test_removal_leaves_nothing(box, debs):
    """No file, link or directory; and the port is unknown again."""
    box.run("dpkg", "-i", *debs.values())
    assert _leftovers(box) != []
    box.run("dpkg", "-r", DRIVERS, TOOLS)
    assert _leftovers(box) == []
    assert "no packages found" in box.run("dpkg-query", "-W", DRIVERS, TOOLS,
                                          check=False)
    with pytest.raises(ProcessError):
        Testpmd(vdevs.looped(), plugins=False, prefix=box.argv())


def _repacked(deb: Path, tmp: Path, version: str, extra: str) -> Path:
    """The package with another version and one more file."""
    tree = tmp / version
    run("dpkg-deb", "-R", deb, tree)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"^Version: .*", f"Version: {version}",
                              control.read_text(), flags=re.MULTILINE))
    (tree / extra.lstrip("/")).write_text("of another version\n")
    made = tmp / f"{version}.deb"
    run("dpkg-deb", "--root-owner-group", "-b", tree, made)
    return made


def test_upgrade_replaces_the_older_version(box, debs, tmp_path):
    """A file that the new version lacks is gone, the drivers are the new."""
    extra = "/usr/share/doc/dpdk-octo/of-old"
    older = _repacked(debs[DRIVERS], tmp_path, "0.0.9-1", extra)
    box.run("dpkg", "-i", older)
    assert extra in box.written()
    box.run("dpkg", "-i", debs[DRIVERS])
    assert extra not in box.written()
    assert box.run("dpkg-query", "-W", "-f", "${Version}", DRIVERS) == \
        _fields(debs[DRIVERS], "Version")
    _forwards(box)


def test_package_refuses_another_dpdk_of_the_same_soname(box, debs):
    """Drivers see more of DPDK than its soname stands for."""
    status = "/var/lib/dpkg/status"
    eal = re.search(r"librte-eal\S+", _fields(debs[DRIVERS], "Depends"))[0]
    box.run("sed", "-i", f"/^Package: {eal}$/,/^$/s/^Version: .*/"
            "Version: 99.11-1/", status)
    out = box.run("dpkg", "-i", debs[DRIVERS], check=False)
    assert f"depends on {eal} (<<" in out
    assert "install ok installed" not in box.run(
        "dpkg-query", "-W", "-f", "${Status}", DRIVERS)


def _octo(system, *words: str) -> subprocess.CompletedProcess:
    if env.BUILD != env.REPO / "build":
        pytest.skip(f"the front door runs what is in build/, not {env.BUILD}")
    return subprocess.run(system.argv("./octo", *words), text=True,
                          capture_output=True, check=False,
                          timeout=env.seconds(60))


@pytest.mark.parametrize("words", [("demo",), ("testpmd", "--help"),
                                   ("test", "-k", "tuple"), ("plugins",)])
def test_front_door_refuses_a_second_copy(installed, words):
    """And says how to be rid of the first."""
    done = _octo(installed, *words)
    assert done.returncode == 1, done.stderr
    assert done.stdout == ""
    assert _pmd_dir() in done.stderr
    assert done.stderr.endswith(f"first: apt remove {DRIVERS}\n")


# Without a package.

def _install(system=None, dest=None) -> None:
    words = ["meson", "install", "-C", env.BUILD, "--no-rebuild",
             *(["--destdir", dest] if dest else [])]
    (system.run if system else run)(*words)


def test_staged_install_has_the_files_of_the_packages(debs, tmp_path):
    """DESTDIR is respected; the packages lose nothing and add nothing."""
    _install(dest=tmp_path)
    prefix = "/usr/local"
    staged = {re.sub(f"^{prefix}/", "/usr/", f"/{p.relative_to(tmp_path)}")
              for p in tmp_path.rglob("*")
              if p.is_symlink() or not p.is_dir()}
    packed = {f for deb in debs.values() for f in _files(deb)}
    own = re.compile(r"/usr/share/doc/[^/]+/(changelog.*|copyright)$")
    assert staged == {
        re.sub(r"\.gz$", "", f) for f in packed if not own.match(f)}


def test_pkg_config_finds_it_whatever_libdir_meson_thinks_of(tmp_path):
    """Without dpkg-architecture that is lib64, where Debian's does not look."""
    options = json.loads(run("meson", "introspect", "--buildoptions", env.BUILD))
    source = next(o["value"] for o in options if o["name"] == "dpdk_src")
    run("meson", "setup", tmp_path / "build", env.REPO, "--libdir=lib64",
        "-Dtests=false", "-Dapps=false", f"-Ddpdk_src={source}")
    plan = json.loads(run("meson", "introspect", "--installed", tmp_path / "build"))
    files = {Path(file) for file in plan.values() if file.endswith(".pc")}
    libdir = Path(_pc("--variable=libdir", "libdpdk")).relative_to(
        _pc("--variable=prefix", "libdpdk"))
    assert {file.parent for file in files} == {Path("/usr/local") / libdir / "pkgconfig"}


def test_ninja_install_is_found_and_removed(box):
    """The stock testpmd finds it; octo's advice, followed, is enough."""
    if env.ASAN:
        pytest.skip("the stock testpmd has no sanitizers")
    _install(box)
    _forwards(box)
    advice = _octo(box, "plugins").stderr.rpartition("first: ")[2].strip()
    assert advice.startswith("rm /")
    box.run("sh", "-ec", advice)
    assert not any("librte_net_octo" in f or "librte_octo_measure" in f
                   for f in box.written())
    assert _octo(box, "plugins").stdout.startswith("-d ")


def test_ninja_uninstall_leaves_nothing(box):
    """Neither files nor directories."""
    _install(box)
    assert _leftovers(box) != []
    box.run("ninja", "-C", env.BUILD, "uninstall")
    assert _leftovers(box) == []
