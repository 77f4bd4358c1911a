# SPDX-License-Identifier: BSD-3-Clause
"""./octo doctor, also as: PYTHONPATH=devtools python3 -m doctor"""

import argparse
import os
import sys

from . import capture, diagnosis, read_machine, read_nics, render, report
from .directory import Directory
from .tree import TooMuch, Tree

READY, IN_THE_WAY, WRONG_USE = 0, 1, 2

EPILOG = """exit code: 0 ready, 1 something is in the way, 2 wrong use. Nothing is changed on the
machine. Root sees more: serial numbers of boards, and the kernel's multi-PF netdev."""


class WrongUse(Exception):
    """One sentence that names the argument."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message):
        raise WrongUse(message)


def _options(args):
    parser = Parser(prog="octo doctor", epilog=EPILOG, allow_abbrev=False,
                    description="Says which NICs of this machine are multi-PF, and what to start "
                    "a DPDK program with, or what is in the way.")
    parser.add_argument("--json", metavar="FILE",
                        help="write it for programs, too; - for standard output, and nothing else")
    parser.add_argument("--root", metavar="DIR|FILE.tar", default="/",
                        help="look at another machine: sys/ and proc/ below DIR, or a capture")
    parser.add_argument("--capture", metavar="FILE.tar",
                        help="save what was read, to be looked at elsewhere with --root")
    return parser.parse_args(args)


def _look(root):
    """(what was read, diagnosis) of the machine below a directory, or in a capture."""
    try:
        source = Directory(root) if os.path.isdir(root) else capture.Capture(root)
        if not source.is_directory("sys"):
            raise capture.BadCapture("there is no sys/ in it")
        tree = Tree(source)
        machine = read_machine.read(tree)
        read_nics.read(tree, machine)
    except (capture.BadCapture, TooMuch, OSError) as err:
        raise WrongUse(f"--root {root}: {getattr(err, 'strerror', None) or err}") from err
    return tree.seen, diagnosis.diagnose(machine)


def _write(option, path, write):
    try:
        write(path)
    except OSError as err:
        raise WrongUse(f"{option} {path}: {err.strerror}") from err


def _write_text(text):
    def write(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return write


def _run(args):
    options = _options(args)
    if options.capture == "-":  # standard output has the report
        raise WrongUse("--capture -: the name of a file is needed")
    seen, found = _look(options.root)
    if options.capture:
        _write("--capture", options.capture, lambda path: capture.write(seen, path))
    if options.json and options.json != "-":
        _write("--json", options.json, _write_text(report.text(found)))
    # nothing where standard output is closed
    print(report.text(found) if options.json == "-" else render.text(found), end="", flush=True)
    return READY if found.is_ready() else IN_THE_WAY


def main(args):
    """The exit code."""
    try:
        return _run(args)
    except WrongUse as err:
        print(f"octo: doctor: {err} (see: octo doctor --help)", file=sys.stderr)
        return WRONG_USE
    except OSError as err:
        if not isinstance(err, BrokenPipeError):  # as by: octo doctor | head
            print(f"octo: doctor: cannot print: {err.strerror}", file=sys.stderr)
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # pylint: disable=consider-using-with
        return IN_THE_WAY


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
