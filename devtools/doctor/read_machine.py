# SPDX-License-Identifier: BSD-3-Clause
"""Reads what a machine is: nodes, CPUs, hugepages, IOMMU."""

import re

from . import cpulist
from .model import Machine, Node, Pages

NODES = "sys/devices/system/node"
CPUS = "sys/devices/system/cpu"
MOST_THREADS = 64  # of a core
# The command line may have secrets in it: only these words are looked at, and captured.
BOOT_WORDS = re.compile(r"(intel_iommu|amd_iommu|iommu|iommu\.\w+|arm-smmu\S*|hugepages|hugepagesz|"
                        r"default_hugepagesz|isolcpus|nohz_full|rcu_nocbs|numa|numa_balancing|pci|"
                        r"vfio\S*)(=.*)?")


def _keep_boot_words(text):
    return " ".join(w for w in text.split() if BOOT_WORDS.fullmatch(w))


def _keep_cpu(text):
    vendor = re.search(r"^vendor_id\s*:.*$", text, re.MULTILINE)
    virtual = re.search(r"^flags\s*:.* hypervisor\b", text, re.MULTILINE)
    return "\n".join(filter(None, [vendor and vendor[0], virtual and "flags : hypervisor"]))


def _keep_hugetlbfs(text):
    return "\n".join(li for li in text.splitlines() if li.split()[2:3] == ["hugetlbfs"])


def _read_pages(tree, path):
    """Of one node, smallest size first."""
    pages = []
    for name in tree.names(path, r"hugepages-[0-9]{1,9}kB"):
        total = tree.read_int(f"{path}/{name}/nr_hugepages", 0)
        free = tree.read_int(f"{path}/{name}/free_hugepages", 0)
        pages.append(Pages(int(re.sub(r"\D", "", name)), total, free))
    return sorted(pages, key=lambda p: p.size_kb)


def _read_node(tree, number, packages):
    path = f"{NODES}/node{number}"
    cpus = [c for c in cpulist.parse(tree.read(f"{path}/cpulist")) if c in packages]
    memory = re.search(r"MemTotal:\s*([0-9]{1,15})", tree.read(f"{path}/meminfo") or "")
    return Node(number, cpus, sorted({packages[c] for c in cpus}),
                int(memory[1]) // 1024 if memory else None,
                _read_pages(tree, f"{path}/hugepages"))


def _read_nodes(tree, machine):
    """A kernel without NUMA shows no nodes: then all is one."""
    online = cpulist.parse(tree.read(f"{CPUS}/online"))
    packages = {}
    for cpu in online:
        topology = f"{CPUS}/cpu{cpu}/topology"
        packages[cpu] = max(tree.read_int(f"{topology}/physical_package_id", 0), 0)
        siblings = cpulist.parse(tree.read(f"{topology}/thread_siblings_list"))
        machine.siblings[cpu] = siblings[:MOST_THREADS]
    numbers = sorted(int(n[4:]) for n in tree.names(NODES, r"node[0-9]{1,4}"))
    machine.nodes = [_read_node(tree, n, packages) for n in numbers]
    if not numbers:
        machine.nodes = [Node(0, online, sorted(set(packages.values())), None,
                              _read_pages(tree, "sys/kernel/mm/hugepages"))]
    machine.isolated = cpulist.parse(tree.read(f"{CPUS}/isolated"))


def read(tree):
    """All but the NICs."""
    machine = Machine(kernel=" ".join((tree.read("proc/sys/kernel/osrelease") or "").split()[:1]))
    cpu = tree.read("proc/cpuinfo", _keep_cpu) or ""
    vendor = re.search(r"vendor_id\s*:\s*(\S+)", cpu)
    machine.vendor = vendor[1] if vendor else ""
    machine.virtual = "hypervisor" in cpu
    machine.boot_words = (tree.read("proc/cmdline", _keep_boot_words) or "").split()
    _read_nodes(tree, machine)
    mounts = (tree.read("proc/mounts", _keep_hugetlbfs) or "").splitlines()
    machine.huge_mounts = [li.split()[1] for li in mounts]
    machine.iommu = bool(tree.names("sys/kernel/iommu_groups", r"\d+"))
    unsafe = "sys/module/vfio/parameters/enable_unsafe_noiommu_mode"
    machine.unsafe_no_iommu = tree.read(unsafe) in ("Y", "1")
    machine.vfio_loaded = "vfio-pci" in tree.names("sys/bus/pci/drivers", "vfio-pci")
    machine.verbs = bool(tree.names("sys/class/infiniband_verbs", r"uverbs\d+"))
    return machine
