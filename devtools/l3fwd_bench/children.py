# SPDX-License-Identifier: BSD-3-Clause
"""The programs that are run. They end with this one, however that ends."""

import contextlib
import ctypes
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Iterator

PR_SET_PDEATHSIG = 1
LOOK_SECONDS = 0.02
END_SECONDS = 10
TAIL_LINES = 12


class Interrupts:
    """Makes ^C an exception, but not where a program was begun and nobody knows of it yet."""

    def __init__(self) -> None:
        self._held = self._came = False

    def come(self, *_) -> None:
        """As a signal handler."""
        if not self._held:
            raise KeyboardInterrupt
        self._came = True

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """What comes in here is raised at its end."""
        self._held, self._came = True, False
        try:
            yield
        finally:
            self._held = False
        if self._came:
            raise KeyboardInterrupt


INTERRUPTS = Interrupts()


class Failed(Exception):
    """What ended the benchmark: a sentence, and what a program said."""


_prctl = ctypes.CDLL(None).prctl


def _die_with_parent():
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Child:
    """A running program; what it says goes to a file."""

    def __init__(self, name: str, argv, log: Path, runtime: Path) -> None:
        self.name = name
        self._log = log
        with open(log, "wb") as out:
            try:
                self._popen = subprocess.Popen(
                    argv, stdin=subprocess.PIPE, stdout=out, stderr=subprocess.STDOUT,
                    start_new_session=True, preexec_fn=_die_with_parent,
                    env={**os.environ, "RUNTIME_DIRECTORY": str(runtime)})
            except OSError as err:
                raise Failed(f"{argv[0]} does not run: {err.strerror}") from err

    @property
    def pid(self) -> int:
        """The process id."""
        return self._popen.pid

    def text(self) -> str:
        """All that it has said."""
        return self._log.read_text(errors="replace")

    def tell(self, line: str) -> None:
        """A line on its standard input."""
        try:
            self._popen.stdin.write(line.encode() + b"\n")
            self._popen.stdin.flush()
        except OSError as err:
            raise Failed(self._last_words("is gone")) from err

    def check(self) -> None:
        """Does it run yet?"""
        if self._popen.poll() is not None:
            raise Failed(self._last_words(f"ended with status {self._popen.returncode}"))

    def expect(self, pattern: str, timeout: float, start: int = 0) -> "re.Match[str]":
        """Wait until what it says after this offset matches."""
        deadline = time.monotonic() + timeout
        while True:
            ended = self._popen.poll() is not None
            found = re.compile(pattern).search(self.text(), start)
            if found:
                return found
            if ended:
                self.check()
            if time.monotonic() > deadline:
                raise Failed(self._last_words(f"did not come to {pattern!r} in {timeout:.0f} s"))
            time.sleep(LOOK_SECONDS)

    def _last_words(self, what):
        said = "\n".join(self.text().splitlines()[-TAIL_LINES:])
        return f"{self.name} {what}; it said last:\n{said}"

    def stop(self) -> None:
        """As ^C would, and by force if that is of no use."""
        for number in (signal.SIGINT, signal.SIGKILL):
            if self._popen.poll() is None:
                self._popen.send_signal(number)
                try:
                    self._popen.wait(END_SECONDS)
                except subprocess.TimeoutExpired:
                    pass
        try:
            self._popen.stdin.close()
        except OSError:
            pass
