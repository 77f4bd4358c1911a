# SPDX-License-Identifier: BSD-3-Clause
"""./octo bench l3fwd, which sets OCTO_L3FWD, OCTO_GEN, OCTO_WORK and OCTO_DPDK_VERSION.

Before it has those, it sets OCTO_CHECK_USE: wrong use is told before minutes of building.
"""

import json
import os
import signal
import sys
import tempfile
from pathlib import Path

from . import figures, layout, options, report, rounds, wires
from .children import INTERRUPTS, Failed
from .session import Place, hugepages_are_free

SHORT_PATH = 40
DONE, FAILED, WRONG_USE = 0, 1, 2


def _say(message):
    print(f"octo bench l3fwd: {message}", file=sys.stderr)


def _progress(message):
    """Over the same line on a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{message}")
        sys.stderr.flush()
    else:
        print(message, file=sys.stderr)


def _end_progress():
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")


def _on_signals(handler):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, handler)


def _run_in(wanted, wire, scratch, member):
    """The benchmark, and what ended it early."""
    work = Path(os.environ.get("OCTO_WORK", scratch))
    place = Place(wanted, wire, work, Path(scratch), hugepages_are_free())
    bench = rounds.Bench(place, [
        rounds.Case(rounds.setup_of(wanted, name, wire, member)) for name in wanted.cases],
        left_out=dict(wanted.left_out))
    failure = None
    try:
        if wire is not None:
            wire.open()
        rounds.run(bench, member, _progress)
    except KeyboardInterrupt:
        bench.interrupted = True
    except Failed as err:
        failure = str(err)
    finally:
        _on_signals(signal.SIG_IGN)
        if wire is not None:
            wire.close()
        _end_progress()
    return bench, failure


def _measure(wanted):
    version = os.environ.get("OCTO_DPDK_VERSION", "22.11")
    wire = None if wanted.on_hardware else wires.make(wanted.wire, f"l3b{os.getpid()}")
    # names of sockets have 107 characters at most, of which EAL's files need half
    place = "/tmp" if len(tempfile.gettempdir()) > SHORT_PATH else None
    with tempfile.TemporaryDirectory(prefix="octo-l3fwd-", dir=place) as scratch:
        bench, failure = _run_in(wanted, wire, scratch, layout.bond_word(version))
        if failure is not None:
            _say(failure)
            return FAILED
        found = figures.figures(bench, hugepages_are_free(), version)
    sys.stdout.write(report.text(found))
    if wanted.json is not None:
        Path(wanted.json).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if wanted.plot is not None:
        from . import plot  # matplotlib is there only where a plot is wanted
        plot.draw(found, wanted.plot)
    return FAILED if bench.interrupted else DONE


def main(args) -> int:
    """The exit code."""
    try:
        if os.environ.get("OCTO_CHECK_USE"):
            options.check(args)
            return DONE
        wanted = options.read(args)
    except options.WrongUse as err:
        _say(f"{err} (see: octo bench l3fwd --help)")
        return WRONG_USE
    _on_signals(INTERRUPTS.come)
    return _measure(wanted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
