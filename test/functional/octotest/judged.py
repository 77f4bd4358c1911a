# SPDX-License-Identifier: BSD-3-Clause
"""What ./octo doctor says of the machines in test/fixtures/doctor."""

import contextlib
import io
import json
import sys
import tempfile

from . import captured, env

sys.path.insert(0, str(env.REPO / "devtools"))
sys.dont_write_bytecode = True

from doctor import __main__ as doctor_main  # noqa: E402  pylint: disable=wrong-import-position

READY, IN_THE_WAY, WRONG_USE = 0, 1, 2


class Seen:
    """What doctor says of a machine, run within the test as there are many of them."""

    def __init__(self, root, *words) -> None:
        out = io.StringIO()
        with tempfile.NamedTemporaryFile() as file, contextlib.redirect_stdout(out):
            self.status = doctor_main.main(
                ["--root", str(root), "--json", file.name, *map(str, words)])
            self.json = json.load(file)
        self.text = out.getvalue()
        assert self.status in (READY, IN_THE_WAY)
        assert self.json["ready"] == (self.status == READY)
        assert ("\nReady.\n" in self.text) == (self.status == READY)

    def marked(self, mark: str) -> list:
        """Findings of that mark, each as one line."""
        return [f"{f['about']} {f['text']}" for f in self.json["findings"] if f["mark"] == mark]

    def obstacles(self) -> list:
        """What is in the way."""
        return self.marked("in the way")

    def todo(self, about: str) -> str:
        """What to do about something."""
        return "\n".join(line for f in self.json["findings"] if f["about"] == about
                         for line in f["todo"])

    def kinds(self) -> list:
        """Of all NICs."""
        return [nic["kind"] for nic in self.json["nics"]]

    def arguments(self, nic: int = 0) -> dict:
        """All that is said of how to start a program with a NIC."""
        return next((a for a in self.json["arguments"] if a["nic"] == nic), {})

    def eal(self, nic: int = 0) -> str:
        """The arguments for a NIC."""
        return " ".join(self.arguments(nic).get("eal", []))

    def states(self) -> list:
        """How the kernel presents the PFs of each wire of NIC 0."""
        return [port["state"] for port in self.json["nics"][0]["ports"]]


def looker(tmp_path):
    """A function that lets doctor look at a machine, after lines of it were changed.

    A change is a path and the file's text, "PATH: TEXT", or a line of a section of a fixture.
    """
    def look(name: str, *changes: str) -> Seen:
        root = tmp_path / f"m{len(list(tmp_path.iterdir()))}"
        machine = captured.make(name, root)
        for change in changes:
            section, sign, line = change.rpartition("] ")
            if sign:
                machine.line(section.lstrip("["), line)
            else:
                machine.write(*change.split(": ", 1))
        return Seen(root)
    return look
