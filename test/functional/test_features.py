# SPDX-License-Identifier: BSD-3-Clause
"""What the drivers' feature tables claim, tests show: test/features.ini."""

import configparser
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Dict, List, Set, Tuple

import pytest

from octotest import env

TABLES = env.REPO / "doc/guides/nics/features"
MAP = env.REPO / "test/features.ini"
IN_C = [env.REPO / "test/unit", env.REPO / "test/port"]
CALLBACKS = env.REPO / "devtools/callbacks.py"
FUNCTIONAL = env.REPO / "test/functional"
DRIVERS = sorted(path.stem for path in TABLES.glob("*.ini"))


def _read(path: Path) -> configparser.ConfigParser:
    """Keys as they are written, each once; some have colons in them."""
    parser = configparser.ConfigParser(delimiters=("=",), interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(path.read_text(), str(path))
    return parser


def _claims(driver: str) -> Set[Tuple[str, str]]:
    table = _read(TABLES / f"{driver}.ini")
    return {(section, name) for section in table.sections()
            for name, value in table[section].items() if value}


def _shown() -> Dict[Tuple[str, str], List[str]]:
    """By section and name: the tests."""
    table = _read(MAP)
    return {(section, name): value.split("\n")[1:]
            for section in table.sections() if section != "operations"
            for name, value in table[section].items()}


def _tests(ending: str) -> Set[str]:
    return {test for tests in _shown().values() for test in tests
            if test.partition("::")[0].endswith(ending)}


@pytest.mark.parametrize("driver", DRIVERS)
def test_what_is_claimed_has_a_test(driver):
    """Also what is claimed with a P."""
    shown = _shown()
    claims = _claims(driver)
    assert {c[0] for c in claims} == \
        {"Features", "rte_flow items", "rte_flow actions"}
    assert [c for c in sorted(claims)
            if not shown.get((f"{driver} {c[0]}", c[1]))] == []


def test_what_has_a_test_is_claimed():
    """A feature that was given up, or misspelt, is in nobody's table."""
    claims = {(f"{driver} {section}", name) for driver in DRIVERS
              for section, name in _claims(driver)}
    assert sorted(set(_shown()) - claims) == []


@pytest.mark.parametrize("driver", DRIVERS)
def test_what_has_an_operation_is_claimed(driver):
    """An operation that is new says of which feature it is."""
    path = env.REPO / f"drivers/net/{driver}/{driver}_ops.c"
    table = re.search(r"struct eth_dev_ops \w+ = \{(.*?)\n\};",
                      path.read_text(), re.DOTALL)
    names = re.findall(r"^\t\.(\w+) =", table[1], re.MULTILINE)
    features = _read(MAP)["operations"]
    assert len(names) > 20
    assert [name for name in names if name not in features] == []
    claims = {name for section, name in _claims(driver)}
    assert [name for name in names
            if features[name] and features[name] not in claims] == []


def _dpdk_source() -> Path:
    """The source that the drivers were built with."""
    known = env.BUILD / "meson-info/intro-buildoptions.json"
    options = json.loads(known.read_text()) if known.exists() else []
    return Path(next((o["value"] for o in options if o["name"] == "dpdk_src"), ""))


def test_the_guide_names_every_callback():
    """As the script compares them."""
    assert _run(CALLBACKS, _ethdev()) == (0, "")


@pytest.mark.parametrize("header, table, member", [
    ("ethdev_driver.h", "struct eth_dev_ops {", "eth_new_t new_callback;"),
    ("ethdev_driver.h", "rte_eth_dev {", "eth_new_t new_callback;"),
    ("rte_flow_driver.h", "struct rte_flow_ops {", "int (*new_callback)\n\t\t(void);"),
])
def test_a_callback_of_a_newer_ethdev_is_missed(tmp_path, header, table, member):
    """In each of its structures."""
    shutil.copytree(_ethdev() / "lib/ethdev", tmp_path / "lib/ethdev")
    path = tmp_path / "lib/ethdev" / header
    text = path.read_text()
    assert text.count(table) == 1
    path.write_text(text.replace(table, f"{table}\n\t{member}"))
    code, said = _run(CALLBACKS, tmp_path)
    assert code == 1 and said.endswith("refuses in callbacks.ini: new_callback\n")


def _ethdev() -> Path:
    source = _dpdk_source()
    if not (source / "lib/ethdev/ethdev_driver.h").exists():
        pytest.skip("the drivers were built without the source of DPDK")
    return source


def test_every_bit_without_a_name_has_a_row():
    """ethdev has no function for the names of RSS types and Rx metadata, which a C test could ask."""
    header = _dpdk_source() / "lib/ethdev/rte_ethdev.h"
    if not header.exists():
        pytest.skip("the drivers were built without the source of DPDK")
    bits = re.findall(r"^#define RTE_ETH_(?:RX_)?(RSS|METADATA)_(\w+)\s+RTE_BIT64\(", header.read_text(),
                      re.M)
    rows = re.findall(r"^\t(RSS|METADATA)\((\w+), ",
                      (env.REPO / "test/port/test_octo_port_flags.c").read_text(), re.M)
    assert len(bits) > 40
    assert sorted(set(bits) - set(rows)) == []


def _run(script: Path, source: Path) -> Tuple[int, str]:
    done = subprocess.run([sys.executable, script, source], capture_output=True, text=True)
    return done.returncode, done.stderr


def test_tests_are_named_as_they_should_be():
    """What is neither in C nor in Python would be looked for by nobody."""
    tests = {test for tests in _shown().values() for test in tests}
    assert sorted(test for test in tests if not re.fullmatch(
        r"test_\w+\.c::\w+|test_\w+\.py::test_\w+(\[.+\])?", test)) == []


def _is_run(test: str) -> bool:
    """Is it a function, in its program's list, and that built?"""
    name, function = test.split("::")
    found = [directory / name for directory in IN_C if (directory / name).exists()]
    if not found:
        return False
    path = found[0]
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    listed = " ".join(re.findall(r"struct CMUnitTest \w+\[\] = \{(.*?)\};",
                                 text, re.DOTALL))
    program = re.sub("^test_(octo_port_)?", "", path.stem)
    return bool(re.search(rf"^{function}\(void \*\*\w+\)\n\{{", text, re.M)
                and re.search(rf"\w\(\s*{function}\b", listed)
                and f"'{program}'" in path.with_name("meson.build").read_text())


def test_unit_tests_are_there():
    """Whoever renames one, or leaves it out, thinks of what it showed."""
    tests = _tests(".c")
    assert len(tests) > 20
    assert sorted(test for test in tests if not _is_run(test)) == []


def _collected(files: Set[str]) -> Set[str]:
    """Functions, and functions with parameters, that pytest finds there."""
    out = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--collect-only",
         *(FUNCTIONAL / name for name in files)],
        cwd=FUNCTIONAL, capture_output=True, text=True, check=False,
        timeout=env.seconds(120))
    found = set(re.findall(r"^(?:\S*/)?(test_\w+\.py::test_.*)$", out.stdout,
                           re.MULTILINE))
    assert found, out.stdout + out.stderr
    return found | {test.partition("[")[0] for test in found}


def test_functional_tests_are_there():
    """With the parameters that they are named with."""
    tests = _tests(".py")
    files = {test.partition("::")[0] for test in tests}
    found = _collected({name for name in files
                        if (FUNCTIONAL / name).exists()})
    assert sorted(tests - found) == []


@pytest.mark.parametrize("driver", DRIVERS)
def test_usage_doc_names_every_parameter(driver):
    """What the driver says of its devargs, its page explains."""
    sources = (env.REPO / "drivers/net" / driver).glob("*.c")
    told = re.search(r"RTE_PMD_REGISTER_PARAM_STRING\((.*?)\);",
                     "".join(path.read_text() for path in sources), re.DOTALL)
    names = re.findall(r"(\w+)=", told[1])
    page = (env.REPO / f"doc/guides/nics/{driver}.rst").read_text()
    assert len(names) > 3
    assert [name for name in names if f"``{name}=" not in page] == []
