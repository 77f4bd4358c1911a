# SPDX-License-Identifier: BSD-3-Clause
"""The machine is what the other tests take it for."""


def test_two_nodes(bare):
    """The kernel sees the nodes, their CPUs and how far they are apart."""
    node = "/sys/devices/system/node/node"
    assert bare.read(f"{node}0/cpulist") == "0-1"
    assert bare.read(f"{node}1/cpulist") == "2-3"
    assert bare.read(f"{node}0/distance").split() == ["10", "21"]
    assert bare.read(f"{node}1/distance").split() == ["21", "10"]


def test_commands_tell_how_they_ended(bare):
    """Output byte by byte, standard error included, and the exit status."""
    assert bare.call("printf 'a\\nb'; echo c >&2; exit 3") == (3, "a\nbc\n")
    assert bare.call("true") == (0, "")
    long = bare.run("seq 20000")
    assert long.split() == [str(i + 1) for i in range(20000)]


def test_programs_have_a_terminal(bare):
    """A program on a terminal can be typed at, and killed."""
    with_status = bare.process("sh", "-c", "tty; read x; echo got $x; exit 4")
    with_status.expect("/dev/pts/")
    with_status.send("word")
    with_status.expect("got word")
    assert with_status.wait() == 4
    for _ in range(5):  # more than there are shells: they serve again
        endless = bare.process("sh", "-c", "echo begun; sleep 1000")
        endless.expect("begun")
        endless.kill()
    interrupted = bare.process("sh", "-c", "echo begun; sleep 1000")
    interrupted.expect("begun")
    interrupted.send("\x03")
    assert interrupted.wait() != 0


def test_every_program_is_run(bare):
    """Whoever attaches at once when another has left is not taken for the one who left."""
    for number in range(60):
        said = bare.process("echo", "said", str(number))
        assert said.wait() == 0, said.text
        assert said.text.split() == ["said", str(number)]
