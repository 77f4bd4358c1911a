# SPDX-License-Identifier: BSD-3-Clause
"""A child process on a pseudo terminal, talked to by expect-like calls."""

import os
import pty
import re
import select
import signal
import subprocess
import time
from typing import Dict, List, Optional, Sequence

from . import env, threads
from .sanitizer import Sanitizer

# A job in the background ignores it, and so would its children; a handler is not inherited.
signal.signal(signal.SIGINT, signal.default_int_handler)

# All processes of the running test, for failure reports.
STARTED: List["Process"] = []
# Threads that got no CPU while a test failed.
STARVED: List[str] = []


class ProcessError(AssertionError):
    """The process died or did not say in time what was expected."""


class Process:
    """stdout and stderr on one pty, so that their order is kept."""

    LOOK = 1.0  # seconds at most, for which nothing else is done
    QUIET = 60.0  # seconds without a word, after which it is looked whether it has a CPU

    def __init__(self, argv: Sequence[str],
                 environ: Optional[Dict[str, str]] = None,
                 prefix: Sequence[str] = ()) -> None:
        self.argv = [*prefix, *map(str, argv)]
        self.sanitizer = Sanitizer()
        self.text = ""
        self.status: Optional[int] = None
        self.starved = ""  # threads that were ready to run and got no CPU, once it was given up
        self._master, slave = pty.openpty()
        full = {**os.environ, "TERM": "dumb", "LC_ALL": "C",
                "RUNTIME_DIRECTORY": str(env.runtime_base()),
                **self.sanitizer.environment(), **(environ or {})}
        self._popen = subprocess.Popen(
            self.argv, stdin=slave, stdout=slave, stderr=slave, env=full,
            start_new_session=True, close_fds=True)
        os.close(slave)
        STARTED.append(self)

    @property
    def pid(self) -> int:
        """The process id."""
        return self._popen.pid

    def alive(self) -> bool:
        """Has it not ended?"""
        return self._master >= 0 and self._popen.poll() is None

    @property
    def open(self) -> bool:
        """Is there anything to be read, or may there be?"""
        return self._master >= 0

    def read(self, timeout: float = 0.0) -> bool:
        """Take in what was printed; False once the process closed its end."""
        ready, _, _ = select.select([self._master], [], [], timeout)
        if not ready:
            return True
        try:
            data = os.read(self._master, 65536)
        except OSError:
            return False
        self.text += data.decode(errors="replace").replace("\r", "")
        return bool(data)

    def expect(self, pattern: str, start: int = 0,
               timeout: float = 20.0) -> "re.Match[str]":
        """Wait until the output after offset `start` matches."""
        left = env.seconds(timeout)
        quiet = 0.0
        regex = re.compile(pattern)
        while True:
            found = regex.search(self.text, start)
            if found:
                return found
            if left <= 0:
                raise ProcessError(f"no {pattern!r} in time from:\n"
                                   f"{self._condition(start)}")
            if quiet > self.QUIET and self._is_starved():
                raise ProcessError(f"no {pattern!r}, and no CPU:\n{self._condition(start)}")
            since, length = time.monotonic(), len(self.text)
            if not self.read(min(left, self.LOOK)):
                found = regex.search(self.text, start)
                if found:
                    return found
                raise ProcessError(f"{self.argv[0]} ended before "
                                   f"{pattern!r}:\n{self.text[-3000:]}")
            # while the whole machine stood still, the process could not answer either
            took = min(time.monotonic() - since, self.LOOK)
            left -= took
            quiet = quiet + took if len(self.text) == length and quiet <= self.QUIET else 0.0

    def _is_starved(self) -> bool:
        self.starved = self.starved or threads.starved(self.pid)
        return self.starved != ""

    def _condition(self, start: int) -> str:
        """Of one that does not answer."""
        return "\n".join([self.text[start:][-3000:], threads.table(self.pid),
                          *self.sanitizer.said()])

    def send(self, text: str) -> None:
        """Type a line."""
        os.write(self._master, text.encode() + b"\n")

    def send_signal(self, number: int) -> None:
        """Send a signal to the process only."""
        self._popen.send_signal(number)

    def stand_still(self) -> None:
        """Until SIGCONT. A thread stops when it is to run, others may run meanwhile."""
        self.send_signal(signal.SIGSTOP)
        left = env.seconds(20)
        while threads.moving(self.pid):
            if left <= 0:
                raise ProcessError(f"it does not stop:\n{threads.table(self.pid)}")
            time.sleep(0.02)
            left -= 0.02

    def wait(self, timeout: float = 20.0) -> int:
        """Read until the process ends and return its exit status."""
        left = env.seconds(timeout)
        while left > 0 and self._popen.poll() is None:
            since = time.monotonic()
            if not self.read(0.2):
                time.sleep(0.01)  # it has closed its end, and is about to go
            left -= min(time.monotonic() - since, self.LOOK)
        self.status = self._popen.poll()
        if self.status is None:
            condition = self._condition(0)
            self.kill()
            raise ProcessError(f"{self.argv[0]} did not end:\n{condition}")
        length = -1
        while length < len(self.text):  # all that it has left
            length = len(self.text)
            self.read(0)
        self._close()
        complaints = self.sanitizer.complaints()
        assert not complaints, "\n".join(complaints)
        return self.status

    def _close(self) -> None:
        if self._master >= 0:
            os.close(self._master)
            self._master = -1

    def kill(self) -> None:
        """End it now; for cleaning up after a failure, of which the reason may be gone with it."""
        if self._popen.poll() is None:
            self._is_starved()
            self._popen.send_signal(signal.SIGKILL)
            self._popen.wait()
        self._close()
        self.sanitizer.discard()

    def stop(self, number: int = signal.SIGINT, timeout: float = 20) -> int:
        """Ask it to end by a signal."""
        if self._popen.poll() is None:
            self.send_signal(number)
        return self.wait(timeout)

    def rss_kib(self) -> int:
        """Resident memory."""
        return self._status("VmRSS")

    def naps(self) -> int:
        """How often the main thread went to sleep."""
        return self._status("voluntary_ctxt_switches")

    def _status(self, key: str) -> int:
        with open(f"/proc/{self.pid}/status", encoding="ascii") as status:
            for line in status:
                if line.startswith(key + ":"):
                    return int(line.split()[1])
        raise ProcessError(f"no {key}")


def report() -> str:
    """The end of what every process of this test printed."""
    parts = []
    for process in STARTED:
        if process.open:
            process.read(0)
        tail = "\n".join(process.text.splitlines()[-80:]
                         + process.sanitizer.complaints())
        parts.append(f"$ {' '.join(process.argv)}\n{tail}")
    return "\n\n".join(parts)


def kill_leftovers() -> None:
    """Kill what was started, but not what is to be kept for other tests."""
    for child in list(STARTED):
        if not getattr(child, "keep", False):
            child.kill()
            STARTED.remove(child)
