# SPDX-License-Identifier: BSD-3-Clause
"""The plugins as files: what they say, need and export; stock loading."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Dict

import pytest

from octotest import env
from octotest.testpmd import Testpmd

PARAMETERS = {
    "octo": ["pf", "socket_map", "socket", "mac"],
    "mpsim": ["nic", "socket", "wire", "default_pf", "mpfs_entries",
                "arfs_entries", "queues", "mac", "ignore"],
}


@pytest.mark.parametrize("name", env.DRIVERS)
def test_pmdinfo_lists_name_and_parameters(name, program):
    """dpdk-pmdinfo.py finds the driver's name and every devarg."""
    out = subprocess.run(
        [sys.executable, program("dpdk-pmdinfo.py"),
         env.built_driver(name)],
        check=True, capture_output=True, text=True).stdout
    info = [i for i in json.loads(out) if i["name"] == f"net_{name}"]
    assert len(info) == 1
    known = set(re.findall(r"(\w+)=", info[0]["params"]))
    assert set(PARAMETERS[name]) <= known


@pytest.mark.parametrize("path", env.built_plugins(), ids=lambda path: path.name)
def test_ldd_finds_everything(path, program):
    """No library that the plugin needs is missing."""
    if not path.exists():
        pytest.skip("it is no plugin here")
    out = subprocess.run([program("ldd"), "-r", path],
                         check=True, capture_output=True, text=True)
    text = out.stdout + out.stderr
    assert "not found" not in text
    missing = re.findall(r"undefined symbol: (\w+)", text)
    assert [m for m in missing if not _sanitizer(m)] == []


def _sanitizer(symbol: str) -> bool:
    return env.ASAN and symbol.startswith(("__asan", "__ubsan", "__lsan"))


@pytest.mark.parametrize("name", env.DRIVERS)
def test_exports_only_what_its_map_names(name, program):
    """A plugin must not leak its inner names into the application."""
    out = subprocess.run([program("nm"), "-D", "--defined-only",
                          env.built_driver(name)],
                         check=True, capture_output=True, text=True).stdout
    symbols = {line.split()[-1].split("@")[0] for line in out.splitlines()}
    text = (env.REPO / "drivers/net" / name / "version.map").read_text()
    named = set(re.findall(r"^\s*(\w+);", text, re.MULTILINE)) - {"local"}
    symbols = {s for s in symbols if not re.match(r"DPDK_|EXPERIMENTAL|"
                                                  r"INTERNAL", s)}
    assert symbols <= named
    assert symbols and all(s.startswith(f"rte_pmd_{name}_") for s in symbols)
    assert len(symbols) <= 16


HEADER = env.REPO / "drivers/net/octo/rte_pmd_octo.h"


def test_header_declares_what_is_exported(program):
    """Functions for applications; views are for octo_source.c."""
    out = subprocess.run([program("nm"), "-D", "--defined-only",
                          env.built_driver("octo")],
                         check=True, capture_output=True, text=True).stdout
    exported = set(re.findall(r"\b(rte_pmd_octo_\w+)", out))
    declared = set(re.findall(r"^(?:int|char \*)\s*(rte_pmd_octo_\w+)\(",
                              HEADER.read_text(), re.MULTILINE))
    assert {s for s in exported
            if not re.match("rte_pmd_octo_(measure|view)_", s)} == declared


@pytest.mark.parametrize("language, compiler", [("c", "cc"), ("c++", "c++")])
def test_header_is_for_applications(language, compiler, program):
    """It needs no other header before it, in C and in C++."""
    flags = subprocess.run(["pkg-config", "--cflags", "libdpdk"], check=True,
                           capture_output=True, text=True).stdout.split()
    done = subprocess.run(
        [program(compiler), *flags, "-DALLOW_EXPERIMENTAL_API", "-Wall", "-Wextra", "-Werror",
         "-fsyntax-only", "-x", language, HEADER],
        check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_measuring_exports_only_what_its_map_names(program):
    """So does the plugin that measures."""
    path = env.built_plugins()[-1]
    if not path.exists():
        pytest.skip("it is no plugin here")
    out = subprocess.run([program("nm"), "-D", "--defined-only", path],
                         check=True, capture_output=True, text=True).stdout
    symbols = {line.split()[-1].split("@")[0] for line in out.splitlines()} - {"EXPERIMENTAL"}
    text = (env.REPO / "drivers/octo_measure.map").read_text()
    assert symbols == set(re.findall(r"^\s*(\w+);", text, re.MULTILINE))


def symbol_table(program, *archives: Path) -> str:
    """The table that objdump makes of them."""
    return subprocess.run([program("objdump"), "-t", *archives], check=True,
                          capture_output=True, text=True).stdout


def exports(name: str) -> Dict[str, str]:
    """The section of each function that the library exports, and of its data."""
    tags = {"EXPERIMENTAL": ".text.experimental", "INTERNAL": ".text.internal"}
    return {symbol: tags[kind] for path in env.REPO.glob(f"lib/{name}/*.c")
            for kind, symbol in re.findall(r"^RTE_EXPORT_(\w+)_SYMBOL\((\w+)", path.read_text(),
                                           re.MULTILINE)}


@pytest.mark.parametrize("name", ["octo", "octo_measure"])
def test_library_exports_what_it_tags(name, program):
    """In a DPDK tree others see of a library only what it exports."""
    root = Path(env.IN_TREE) if env.IN_TREE else env.BUILD
    out = symbol_table(program, root / f"lib/librte_{name}.a")
    tagged = {symbol: section for section, symbol in re.findall(
        r" g +F +(\.text\.(?:experimental|internal))\s.*\b(\w+)$", out, re.MULTILINE)}
    data = set(re.findall(r" g +O +\S+\s.*\b(\w+)$", out, re.MULTILINE))
    assert tagged == {symbol: tag for symbol, tag in exports(name).items() if symbol not in data}


def test_library_exports_what_it_shares(program):
    """The drivers and the other library call nothing else of it."""
    if env.IN_TREE:
        pytest.skip("there the linker sees it")
    defined = set(re.findall(r" g +[FO] +\S+\s.*\b(\w+)$",
                             symbol_table(program, env.BUILD / "lib/librte_octo.a"), re.MULTILINE))
    users = [env.BUILD / "lib/librte_octo_measure.a", *env.BUILD.glob("drivers/libtmp_rte_net_*.a")]
    called = set(re.findall(r"\*UND\*.*\b(\w+)$", symbol_table(program, *users), re.MULTILINE))
    assert len(users) == 3 and called & defined
    assert not called & defined - set(exports("octo"))


def test_stock_testpmd_loads_both_drivers():
    """The distribution's binary makes an octo port with -d alone, and tells its rates."""
    vdevs = ["--vdev=net_mpsim0,nic=A", "--vdev=net_mpsim1,nic=A",
             "--vdev=net_octo0,pf=net_mpsim0,pf=net_mpsim1"]
    with Testpmd(vdevs) as pmd:
        assert [(p.name, p.driver) for p in pmd.ports()] == \
            [("net_octo0", "net_octo")]
        assert not re.search(r"plugin|dlopen|undefined symbol|failed",
                             pmd.boot_text)
        assert pmd.telemetry.get("/octo/measure", pmd.port())["measured"] == 0
