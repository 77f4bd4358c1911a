# SPDX-License-Identifier: BSD-3-Clause
"""devtools/mlx5-rfc.sh: the RFC for the mlx5 PMD, and the layouts that it adds."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from octotest import env

pytestmark = pytest.mark.no_c

SCRIPT = env.REPO / "devtools/mlx5-rfc.sh"
EDIT = env.REPO / "devtools/edit-tree.py"
EDITS = sorted((env.REPO / "devtools/mlx5-rfc").glob("*.edit"))
PATCHED = os.environ.get("OCTO_MLX5_TREE")

# Offset and size in bits, by Linux' include/linux/mlx5/mlx5_ifc.h: "net/mlx5: Add mlx5_ifc bits
# used for supporting single netdev Socket-Direct" (netdev, 20231214020832.50703-2-saeed@kernel.org),
# "net/mlx5: Add alias flow table bits" (linux-rdma, September 2023), and en/rqt.c, which fills
# rq_vhca_id_format and rq_vhca. Also fields behind those that the RFC takes from reserved bits.
LAYOUT = {
    "cmd_hca_cap.vhca_id": (0x30, 16),
    "cmd_hca_cap.cross_vhca_rqt": (0x462, 1),
    "cmd_hca_cap.ipsec_offload": (0x46a, 1),
    "cmd_hca_cap.max_num_eqs": (0x470, 16),
    "cmd_hca_cap_2.cross_vhca_object_to_object_supported": (0xe0, 32),
    "cmd_hca_cap_2.allowed_object_for_other_vhca_access_high": (0x100, 32),
    "cmd_hca_cap_2.allowed_object_for_other_vhca_access": (0x120, 32),
    "cmd_hca_cap_2.generate_wqe_type": (0x2a0, 32),
    "cmd_hca_cap_2.max_rqt_vhca_id": (0x3b0, 16),
    "cmd_hca_cap_2.flow_table_hash_type": (0x43c, 4),
    "rqtc.list_q_type": (0xa5, 3),
    "rqtc.rqt_max_size": (0xb0, 16),
    "rqtc.rq_vhca_id_format": (0xc0, 1),
    "rqtc.rqt_actual_size": (0xd0, 16),
    "rqtc.rq_num[0]": (0x780, 32),
    "rqtc.rq_num[1]": (0x7a0, 32),
    "rq_num.rq_num": (0x8, 24),
    "rq_vhca.rq_num": (0x8, 24),
    "rq_vhca.rq_vhca_id": (0x30, 16),
    "create_rqt_in.rqt_context": (0x100, 0x780),
    "modify_rqt_in.rqtn": (0x48, 24),
    "modify_rqt_in.rqt_context": (0x100, 0x780),
    "general_obj_in_cmd_hdr.obj_type": (0x30, 16),
    "general_obj_in_cmd_hdr.obj_id": (0x40, 32),
    "general_obj_in_cmd_hdr.alias_object": (0x60, 1),
    "create_alias_obj_in.alias_ctx": (0x80, 0x200),
    "alias_context.vhca_id_to_be_accessed": (0x0, 16),
    "alias_context.status": (0x1d, 3),
    "alias_context.object_id_to_be_accessed": (0x20, 32),
    "alias_context.access_key": (0x80, 0x100),
    "alias_context.metadata": (0x180, 0x80),
    "allow_other_vhca_access_in.object_type_to_be_accessed": (0x90, 16),
    "allow_other_vhca_access_in.object_id_to_be_accessed": (0xa0, 32),
    "allow_other_vhca_access_in.access_key": (0x100, 0x100),
}
SIZES = {"rq_num": 0x20, "rq_vhca": 0x40, "cmd_hca_cap": 0x800, "cmd_hca_cap_2": 0x800,
         "alias_context": 0x200, "allow_other_vhca_access_in": 0x200}

# An RQ table of RQ 0x123456 of vHCA 0x789a and of RQ 1 of vHCA 2, in the order of bytes that the
# firmware reads.
TABLE = "00123456" "0000789a" "00000001" "00000002"


def _run(*words: object, **variables: str) -> subprocess.CompletedProcess:
    return subprocess.run([str(word) for word in words], text=True, capture_output=True,
                          check=False, timeout=env.seconds(60), env={**os.environ, **variables})


def _tree(top: Path, files: dict) -> Path:
    for name, text in files.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return top


def _edit(tmp_path: Path, tree: Path, script: str) -> subprocess.CompletedProcess:
    path = tmp_path / "1.edit"
    path.write_text("# SPDX\nnet/x: subject\n\nbody\n\n" + script)
    return _run(EDIT, path, tree)


def test_edits(tmp_path):
    """Each kind of edit does what its description says."""
    tree = _tree(tmp_path / "tree", {"a": "one\ntwo\nthree\nfour\nfive\n", "r_1": "x\n", "r_2": "x\n"})
    done = _edit(tmp_path, tree, "@ a\n/ ^two\ns (w)o => \\1O\n+2b\n<2a\n/ ^three\n- ^four\n"
                 "/ five\n\\ ^2b\n-\n@ r_*\n/ x\n+y\n@ a\n/ one\n<zero\n")
    assert done.returncode == 0, done.stderr
    assert (tree / "a").read_text() == "zero\none\ntwO\n2a\nfive\n"
    assert (tree / "r_1").read_text() == "x\n"
    assert (tree / "r_2").read_text() == "x\ny\n"
    assert _run(EDIT, "--message", tmp_path / "1.edit").stdout == "net/x: subject\n\nbody\n"


@pytest.mark.parametrize("script,complaint", [
    ("@ a\n/ two\n+2b\n@ b\n/ nowhere\n", "b: no line after line 0 matches 'nowhere' (line 10 of 1.edit)"),
    ("@ a\n/ two\n\\ two\n", "a: no line before line 2 matches 'two'"),
    ("@ a\n/ two\n- six\n", "a: no line after line 2 matches 'six'"),
    ("@ a\n/ two\ns six => seven\n", "a: line 2 does not match 'six'"),
    ("@ missing\n/ two\n", "missing: No such file or directory"),
    ("@ a\n? two\n", "line 7 of 1.edit is not an edit"),
], ids=["forward", "back", "delete", "substitute", "file", "edit"])
def test_edit_that_does_not_fit(tmp_path, script, complaint):
    """One line of error names the file and the expression, and no file is changed."""
    files = {"a": "one\ntwo\n", "b": "three\n"}
    tree = _tree(tmp_path / "tree", files)
    done = _edit(tmp_path, tree, script)
    assert done.returncode == 1
    assert complaint in done.stderr and done.stderr.count("\n") == 1
    assert {name: (tree / name).read_text() for name in files} == files


def test_tree_is_too_old(tmp_path):
    """A tree without the places to edit: one error, no patches, the tree as before."""
    files = {"VERSION": "22.11.0\n", "drivers/common/mlx5/mlx5_prm.h": "struct x;\n",
             "drivers/common/mlx5/mlx5_devx_cmds.h": "", "drivers/common/mlx5/mlx5_devx_cmds.c": ""}
    tree = _tree(tmp_path / "dpdk", files)
    done = _run(SCRIPT, "-o", tmp_path / "out", "--dpdk-src", tree, "series")
    assert done.returncode != 0
    assert "this tree is too different: drivers/common/mlx5/mlx5_prm.h: no line after line 0 " \
        "matches '^struct mlx5_ifc_cmd_hca_cap_bits'" in done.stdout + done.stderr
    assert not list(tmp_path.glob("out/**/*.patch"))
    assert {name: (tree / name).read_text() for name in files} == files


@pytest.mark.parametrize("words,complaint", [
    (["--dpdk-src", "/nonexistent"], "/nonexistent is not a DPDK source tree: it has no file VERSION"),
    (["series"], "usage:"),
    (["--dpdk-src"], "usage:"),
    (["--source", "x"], "usage:"),
], ids=["tree", "missing", "value", "option"])
def test_wrong_use(words, complaint):
    """Wrong arguments are refused at once."""
    done = _run(SCRIPT, *words)
    assert done.returncode != 0 and complaint in done.stderr


@pytest.mark.parametrize("script", EDITS, ids=lambda path: path.stem)
def test_message(script):
    """Messages are such as DPDK's check-git-log.sh accepts."""
    headline, empty, *body = _run(EDIT, "--message", script).stdout.splitlines()
    assert re.fullmatch(r"(common|net)/mlx5(/hws)?: [a-z][^_.]*", headline) and len(headline) <= 60
    assert not empty and body
    assert max(map(len, body)) <= 75


@pytest.mark.parametrize("script", EDITS, ids=lambda path: path.stem)
def test_new_lines(script):
    """New lines of C are indented by tabs and of at most 100 columns."""
    name = ""
    for line in script.read_text().splitlines():
        name = line[1:].strip() if line.startswith("@") else name
        if name.endswith((".c", ".h")) and line.startswith(("+", "<")):
            assert len(line[1:].expandtabs(8)) <= 100, line
            assert not re.search(r"^ {8}|[ \t]$", line[1:]), line


PROGRAM = """
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "mlx5_prm.h"

#define FIELD(type, field) printf("%s.%s %zu %zu\\n", #type, #field, \\
	offsetof(struct mlx5_ifc_##type##_bits, field), \\
	sizeof(((struct mlx5_ifc_##type##_bits *)0)->field))
#define SIZE(type) printf("%s %zu\\n", #type, sizeof(struct mlx5_ifc_##type##_bits))

int
main(void)
{
	unsigned char table[2 * MLX5_ST_SZ_BYTES(rq_vhca)] = {0};
	unsigned char *second = table + MLX5_ST_SZ_BYTES(rq_vhca);

	@FIELDS@
	MLX5_SET(rq_vhca, table, rq_num, 0x123456);
	MLX5_SET(rq_vhca, table, rq_vhca_id, 0x789a);
	MLX5_SET(rq_vhca, second, rq_num, 1);
	MLX5_SET(rq_vhca, second, rq_vhca_id, 2);
	printf("table ");
	for (size_t i = 0; i < sizeof(table); i++)
		printf("%02x", table[i]);
	printf("\\n");
	return 0;
}
"""


# In place of rdma-core's headers and of a build's, on which the layouts do not depend.
STUBS = {
    "mlx5_glue.h": "#include <stdint.h>\n#include <rte_common.h>\n"
                   "struct mlx5_wqe_srq_next_seg { uint64_t x[2]; };\n"
                   "struct mlx5_wqe_data_seg { uint64_t x[2]; };\n",
    "mlx5_autoconf.h": "",
    "rte_build_config.h": "#define RTE_CACHE_LINE_SIZE 64\n#define RTE_ARCH_X86_64 1\n"
                          "#define RTE_ARCH_64 1\n",
}
INCLUDES = ("drivers/common/mlx5", "lib/eal/include", "lib/eal/x86/include",
            "lib/eal/linux/include", "lib/log", "config")


@pytest.fixture(scope="module")
def prm(tmp_path_factory) -> dict:
    """What a program says that was compiled with the patched header."""
    if not PATCHED:
        pytest.skip("OCTO_MLX5_TREE is not set: devtools/mlx5-rfc.sh --dpdk-src DIR makes that tree")
    tree, work = Path(PATCHED), tmp_path_factory.mktemp("prm")
    stubs = _tree(work, STUBS)
    fields = [f"FIELD({name.replace('.', ', ', 1)});" for name in LAYOUT]
    fields += [f"SIZE({name});" for name in SIZES]
    (work / "prm.c").write_text(PROGRAM.replace("@FIELDS@", "\n\t".join(fields)))
    includes = [f"-I{directory}" for directory in (stubs, *(tree / name for name in INCLUDES))]
    done = _run("cc", "-march=native", "-include", "rte_config.h", *includes, "-o", work / "prm",
                work / "prm.c")
    assert done.returncode == 0, done.stderr
    words = [line.split() for line in _run(work / "prm").stdout.splitlines()]
    return {name: values for name, *values in words}


@pytest.mark.parametrize("name", LAYOUT)
def test_layout(prm, name):
    """Fields are where Linux' driver has them."""
    assert tuple(map(int, prm[name])) == LAYOUT[name]


@pytest.mark.parametrize("name", SIZES)
def test_size(prm, name):
    """Structures are as long as those of Linux' driver."""
    assert int(prm[name][0]) == SIZES[name]


def test_table(prm):
    """The entries of an RQ table are in big-endian words."""
    assert prm["table"] == [TABLE]
