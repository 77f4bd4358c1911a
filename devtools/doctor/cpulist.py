# SPDX-License-Identifier: BSD-3-Clause
"""Lists of CPUs as the kernel and EAL write them: 0-3,8."""

import re

MOST_CPUS = 8192  # that Linux can be built for


def parse(text):
    """Sorted CPU numbers; what is no list is none."""
    cpus = set()
    for part in (text or "").split(","):
        match = re.fullmatch(r"\s*([0-9]{1,9})(?:-([0-9]{1,9}))?\s*", part)
        if match:
            last = min(int(match[2] or match[1]), MOST_CPUS - 1)
            cpus.update(range(int(match[1]), last + 1))
    return sorted(cpus)


def render(cpus):
    """The shortest list."""
    parts, cpus = [], sorted(cpus)
    while cpus:
        end = next((i for i in range(1, len(cpus)) if cpus[i] != cpus[0] + i), len(cpus))
        parts.append(f"{cpus[0]}-{cpus[end - 1]}" if end > 2
                     else ",".join(map(str, cpus[:end])))
        cpus = cpus[end:]
    return ",".join(parts)
