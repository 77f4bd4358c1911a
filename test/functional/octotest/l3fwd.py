# SPDX-License-Identifier: BSD-3-Clause
"""Stock l3fwd between hosts, each on a port of its own."""

from pathlib import Path
from typing import Sequence, Tuple

import pytest

from . import env
from .netns import Host
from .process import Process
from .telemetry import Telemetry


def start(hosts: Sequence[Host], ports: Sequence[int], vdevs: Sequence[str], directory: Path,
          app: Sequence[str] = ("-P",)) -> Tuple[Process, Telemetry]:
    """Two queues on each port, queue i with lcore i; routes to the hosts' networks."""
    binary = env.find_built("octo-l3fwd") or env.find_binary("dpdk-l3fwd")
    if binary is None:
        pytest.skip("l3fwd is not built")
    prefix = env.unique()
    l3fwd = Process(_argv(str(binary), prefix, hosts, ports, vdevs, directory, app))
    l3fwd.expect(r"L3FWD: +-- lcoreid=1", timeout=60)
    return l3fwd, Telemetry(prefix)


def _argv(binary: str, prefix: str, hosts: Sequence[Host], ports: Sequence[int],
          vdevs: Sequence[str], directory: Path, app: Sequence[str]) -> list:
    rules4, rules6 = directory / "v4.cfg", directory / "v6.cfg"
    rules4.write_text("".join(f"R10.{h.number}.0.0/24 {p}\n"
                              for h, p in zip(hosts, ports)))
    rules6.write_text("".join(f"Rfd0{h.number}::/64 {p}\n"
                              for h, p in zip(hosts, ports)))
    config = ",".join(f"({p},{q},{q})" for p in ports for q in (0, 1))
    return [binary, "--no-huge", "-m", "512", "--no-pci",
            "--lcores=0@0,1@1", f"--file-prefix={prefix}",
            *([] if "octo-" in binary else env.plugin_args()),
            *vdevs, "--", *app, f"-p{sum(1 << p for p in ports):#x}",
            f"--config={config}", f"--rule_ipv4={rules4}",
            f"--rule_ipv6={rules6}",
            *(f"--eth-dest={p},{h.mac}" for h, p in zip(hosts, ports))]
