# SPDX-License-Identifier: BSD-3-Clause
"""The guides of the drivers name what the sources have."""

import re

import pytest

from octotest import env

pytestmark = pytest.mark.no_c

GUIDES = env.REPO / "doc/guides"
DRIVERS = env.REPO / "drivers/net"


def _guide(name: str) -> str:
    return (GUIDES / f"nics/{name}.rst").read_text()


def _missing(names, text: str) -> list:
    assert len(names) > 10
    return [name for name in names if name not in text]


@pytest.mark.parametrize("driver, table", [
    ("octo", r'^\t\{"(\w+)", read_'),
    ("mpsim", r'^\t\{(?:\.key = "|NUMBER\()(\w+)'),
], ids=["octo", "mpsim"])
def test_every_devarg_has_an_entry(driver, table):
    source = (DRIVERS / f"{driver}/{driver}_args.c").read_text()
    names = [f"\n``{name}=" for name in re.findall(table, source, re.MULTILINE)]
    assert _missing(names, _guide(driver)) == []


@pytest.mark.parametrize("driver, source, names", [
    ("octo", "octo_xstats.c", r'\bput\([^;]*?"([^"]+)"'),
    ("mpsim", "mpsim_stats.c", r'COUNTER\("(?!model_)(\w+)"'),
], ids=["octo", "mpsim"])
def test_every_xstat_is_in_the_table(driver, source, names):
    text = re.sub(r"<\w>", "%u", _guide(driver).partition("\nExtended statistics\n")[2])
    found = re.findall(names, (DRIVERS / driver / source).read_text())
    # the table has ``..._bytes`` behind packets, and pf<P>_... for all names of a PF
    rows = [f"``{name}``" for name in found
            if not name.endswith("%.*s") and not re.fullmatch(r"rx_q%u_\w+_bytes", name)]
    assert _missing(rows, text) == []


def test_every_telemetry_key_is_named():
    source = (DRIVERS / "octo/octo_telemetry.c").read_text()
    text = _guide("octo")
    text = text[text.index("\nTelemetry\n~~~"):text.index("\nMeasuring any application\n")]
    keys = re.findall(r'(?:dict_\w+|add_address|open_dict)\(\w+,\s*"(\w+)"', source)
    commands = re.findall(r'\{?"(/octo/\w+)"', source)
    assert _missing([f"``{key}``" for key in keys], text) == []
    assert [command for command in commands if f"``{command}" not in text] == []


def test_internals_name_files_and_functions_that_exist():
    names = re.findall(r"``(?:struct )?(octo_\w+(?:\.[ch])?)(?:\(\))?``",
                       (GUIDES / "internals.rst").read_text())
    files = {path.name: path.read_text() for top in ("drivers/net/octo", "lib/octo")
             for path in (env.REPO / top).glob("*.[ch]")}
    known = set(files).union(*(re.findall(r"\w+", text) for text in files.values()))
    assert len(names) > 50
    assert [name for name in names if name not in known] == []


def test_papers_name_tests_that_exist():
    names = re.findall(r"``(test_\w+)``", (GUIDES / "papers.rst").read_text())
    paths = [path for top in ("functional", "port", "vm")
             for path in (env.REPO / "test" / top).glob("test_*.*")]
    known = {path.stem for path in paths}.union(
        *(re.findall(r"^def (\w+)", path.read_text(), re.MULTILINE) for path in paths))
    assert len(names) > 10
    assert [name for name in names if name not in known] == []
