# SPDX-License-Identifier: BSD-3-Clause
"""devtools/check-layers.py: calls upward and cycles are found in what a compiler made."""
import subprocess
import sys

import pytest

from octotest import env

pytestmark = pytest.mark.no_c

CHECK = env.REPO / "devtools" / "check-layers.py"
TWO = "allow upward 0\nallow cycle 0\nlayer low: a\nlayer high: b c\n"


def compile_files(directory, calls):
    """calls: {file: files that it calls}"""
    for file, others in calls.items():
        source = directory / f"net_octo_octo_{file}.c"
        source.write_text("".join(f"void {o}(void);\n" for o in others) +
                          f"void {file}(void);\nvoid {file}(void) {{ " +
                          "".join(f"{o}(); " for o in others) + "}\n")
        subprocess.run(["cc", "-c", source, "-o", f"{source}.o"], check=True)


def check(directory, layers=TWO, *options):
    (directory / "layers.txt").write_text(layers)
    return subprocess.run([sys.executable, CHECK, directory, "--layers", directory / "layers.txt",
                           *options], capture_output=True, text=True, timeout=60)


def test_calls_downward_pass(tmp_path):
    compile_files(tmp_path, {"a": [], "b": ["a"], "c": ["a", "b"]})
    assert check(tmp_path).returncode == 0


def test_a_call_upward_is_named(tmp_path):
    compile_files(tmp_path, {"a": ["c"], "b": ["a"], "c": []})
    result = check(tmp_path)
    assert result.returncode == 1
    assert "upward edges: 1, and 0 are allowed" in result.stdout
    assert "low a -> high c: c" in result.stdout


def test_a_cycle_is_named(tmp_path):
    compile_files(tmp_path, {"a": [], "b": ["c"], "c": ["b", "a"]})
    result = check(tmp_path)
    assert result.returncode == 1
    assert "cycle of 2: b c" in result.stdout


def test_what_is_less_than_allowed_is_to_be_lowered(tmp_path):
    compile_files(tmp_path, {"a": [], "b": ["a"], "c": ["a"]})
    result = check(tmp_path, TWO.replace("upward 0", "upward 3"))
    assert result.returncode == 1
    assert "upward edges: 0: lower the 3" in result.stdout


@pytest.mark.parametrize("file", ["d"])
def test_a_file_without_a_layer_is_refused(tmp_path, file):
    compile_files(tmp_path, {"a": [], file: []})
    result = check(tmp_path)
    assert result.returncode == 1
    assert f"no layer for: {file}" in result.stderr


def test_the_graph_can_be_drawn(tmp_path):
    compile_files(tmp_path, {"a": ["c"], "b": ["a"], "c": []})
    dot = check(tmp_path, TWO, "--dot").stdout
    assert dot.startswith("digraph octo {") and dot.rstrip().endswith("}")
    assert "b -> a;" in dot and "a -> c [color=red" in dot
