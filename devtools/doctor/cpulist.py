# SPDX-License-Identifier: BSD-3-Clause
"""Lists of CPUs as the kernel and EAL write them: 0-3,8."""

import re


def parse(text):
    """Sorted CPU numbers; what is no list is none."""
    cpus = set()
    for part in (text or "").split(","):
        match = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part)
        if match:
            cpus.update(range(int(match[1]), int(match[2] or match[1]) + 1))
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
