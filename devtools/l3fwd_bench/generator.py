# SPDX-License-Identifier: BSD-3-Clause
"""Traffic generators: octo-gen, or a command that keeps the contract of doc/guides/bench.rst."""

import json
import math
import shlex
import subprocess

from .children import Child, Failed
from .search import Trial

START_SECONDS = 30
SLACK_SECONDS = 60  # on top of the trial itself


def read_answer(text: str, rate: float) -> Trial:
    """The last line of what a generator printed; ValueError says what is wrong with it."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise ValueError("it printed nothing")
    try:
        answer = json.loads(lines[-1])
        sent, received = answer["sent"], answer["received"]
        seconds = float(answer["seconds"])
    except (ValueError, KeyError, TypeError) as err:
        raise ValueError("its last line is no JSON object with sent, received and seconds: "
                         f"{lines[-1][:200]}") from err
    if not (_is_count(sent) and _is_count(received) and 0 < seconds < math.inf):
        raise ValueError("sent and received must be counts, and seconds more than 0: "
                         f"{lines[-1][:200]}")
    if received > sent:
        raise ValueError(f"it received more than it sent: {lines[-1][:200]}")
    return Trial(rate, int(sent), int(received), seconds)


def _is_count(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) \
        and value >= 0 and value == int(value)


def traffic_args(options, mac: str):
    """Which packets: what octo-gen and a command are told alike."""
    return ["--size", str(options.size), "--flows", str(options.flows), "--dst-mac", mac]


class Command:
    """A command that is run anew for each trial."""
    exact = False  # nobody knows what else it sends

    def __init__(self, options) -> None:
        self._options = options
        self._argv = shlex.split(options.tg)
        self._mac = ""

    def await_start(self) -> None:
        """Nothing is to be waited for."""

    def aim(self, mac: str) -> None:
        """At this address from now on."""
        self._mac = mac

    def argv(self, mac: str, rate: str, seconds: str):
        """The command line of a trial."""
        return [*self._argv, "--rate", rate, "--seconds", seconds,
                *traffic_args(self._options, mac)]

    def run(self, rate: float, seconds: float) -> Trial:
        """One trial."""
        argv = self.argv(self._mac, f"{rate:.0f}", f"{seconds:g}")
        try:
            done = subprocess.run(argv, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                                  timeout=seconds + SLACK_SECONDS, check=False)
        except OSError as err:
            raise Failed(f"--tg {argv[0]}: {err.strerror}") from err
        except subprocess.TimeoutExpired as err:
            raise Failed(f"--tg {argv[0]}: a trial of {seconds:g} s took more than "
                         f"{SLACK_SECONDS} s longer") from err
        if done.returncode != 0:
            raise Failed(f"--tg {argv[0]}: exit status {done.returncode}")
        try:
            return read_answer(done.stdout, rate)
        except ValueError as err:
            raise Failed(f"--tg {argv[0]}: {err}") from err

    def close(self) -> None:
        """Nothing runs."""


class Own:
    """A running octo-gen, which is told one trial after the other."""
    exact = True

    def __init__(self, argv, log, runtime) -> None:
        self._child = Child("octo-gen", argv, log, runtime)

    def await_start(self) -> None:
        """Until it takes trials."""
        self._child.expect("octo-gen: ready", START_SECONDS)

    def run(self, rate: float, seconds: float) -> Trial:
        """One trial."""
        start = len(self._child.text())
        self._child.tell(f"{rate:.0f} {seconds:g}")
        found = self._child.expect(r'\{"sent".*\}\n', seconds + SLACK_SECONDS, start)
        try:
            return read_answer(found[0], rate)
        except ValueError as err:
            raise Failed(f"octo-gen: {err}") from err

    def close(self) -> None:
        """End it."""
        self._child.stop()
