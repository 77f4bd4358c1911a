# SPDX-License-Identifier: BSD-3-Clause
"""Runs stock binaries with sanitized plugins and judges the reports."""

import re
import shutil
import tempfile
from pathlib import Path
from typing import Dict, List

from . import env

# A frame is told by its source or, without symbols, by its library.
OURS = re.compile(r"librte_net_octo|/net/octo|/lib/octo|/app/octo")


class Sanitizer:
    """One process's sanitizer environment and its reports."""

    def __init__(self) -> None:
        self.dir = Path(tempfile.mkdtemp(
            prefix="asan-", dir=env.runtime_base())) if env.ASAN else None

    def preloaded(self) -> List[str]:
        """What the loader has to load before all else."""
        return [] if self.dir is None else [env.ASAN_RUNTIME]

    def environment(self) -> Dict[str, str]:
        """What to add to the environment of the process."""
        if self.dir is None:
            return {}
        log = f"log_path={self.dir}/report"
        return {
            "LD_PRELOAD": " ".join(self.preloaded()),
            "ASAN_OPTIONS": f"detect_leaks=1:halt_on_error=1:{log}",
            # EAL leaks a little of its own: exit codes tell nothing here.
            "LSAN_OPTIONS": "exitcode=0",
            "UBSAN_OPTIONS": f"print_stacktrace=1:halt_on_error=1:{log}",
        }

    def discard(self) -> None:
        """Nobody wants to know: the process was killed."""
        if self.dir is not None:
            shutil.rmtree(self.dir)
            self.dir = None

    def said(self) -> List[str]:
        """Every report so far that is about our code; a leak if we are in it."""
        if self.dir is None:
            return []
        found: List[str] = []
        for path in sorted(self.dir.iterdir()):
            found += _judge(path.read_text(errors="replace"))
        return found

    def complaints(self) -> List[str]:
        """The same of a process that has ended."""
        found = self.said()
        self.discard()
        return found


def _judge(text: str) -> List[str]:
    if "LeakSanitizer" not in text:
        return [text]
    blocks = re.split(r"\n\s*\n", text)
    return [b for b in blocks if "leak of" in b and OURS.search(b)]
