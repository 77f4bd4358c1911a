# SPDX-License-Identifier: BSD-3-Clause
"""./octo doctor: each command that it prints starts, in the simulator's stand-in for the machine."""

import contextlib

import pytest

from octotest import captured, env, standin
from octotest.agent import Agent
from octotest.judged import looker
from octotest.testpmd import Testpmd
from octotest.view import View

SMALL_RINGS = ["--rxd=64", "--txd=64"]


def _nodes(seen) -> dict:
    return {address: max(pf["node"], pf["root_node"], 0) for nic in seen.json["nics"]
            for pf in nic["pfs"] for address in (pf["address"], *pf["own_vfs"].values())}


def _check_octo_port(pmd, name, told) -> None:
    """Its PFs and its tier are those that doctor promised."""
    topology = View(pmd, name).topology()
    devargs, = (a for a in told["eal"] if a.startswith(f"--vdev={name},"))
    assert len(topology["pfs"]) == devargs.count(",pf=")
    assert len(topology["queues"]) == max(told["workers"], 1)
    if told["tier"]:
        assert topology["tier"] == told["tier"]
    assert (topology["mpfs"] == "slices") == ("net_af_xdp" in devargs)


def _start(told, nodes, address, switch=None) -> None:
    made = standin.make(told, nodes, address, switch)
    with Testpmd(made.vdevs, lcores=made.lcores, queues=made.queues, app=SMALL_RINGS,
                 memory=512, mbufs=16384) as pmd:
        assert [(port.port, port.name) for port in pmd.ports()] == list(enumerate(made.ports))
        pmd.start("io")
        pmd.stop_forwarding()
        for name in made.ports:
            if name.startswith("net_octo"):
                _check_octo_port(pmd, name, told)
        assert "is away" not in pmd.text  # octo-agent


def _with_tier_mac(told) -> dict:
    """As doctor wants it where peers can send to an address of each PF."""
    assert "append ,tier=mac to --vdev=net_octo" in told["why"]
    eal = [f"{a},tier=mac" if a.startswith("--vdev=net_octo") else a for a in told["eal"]]
    return {**told, "eal": eal, "tier": "mac"}


def _agent(told, address, root):
    """The octo-agent that doctor wants to be started before."""
    words = standin.agent_words(told, address, root)
    assert (words is not None) == ("agent=" in " ".join(told["eal"]))
    if words is not None and env.find_built("octo-agent") is None:
        pytest.skip("octo-agent is not built")
    return contextlib.nullcontext() if words is None else Agent(words[0], [], words[1])


@pytest.mark.parametrize("name", captured.names())
def test_command_starts(tmp_path, name):
    """One at least for each machine."""
    if env.find_binary("dpdk-testpmd") is None:
        pytest.skip("there is no dpdk-testpmd")
    seen = looker(tmp_path)(name)
    assert seen.json["arguments"]
    for told in seen.json["arguments"]:
        address = f"unix:{tmp_path}/agent.sock"
        with _agent(told, address, tmp_path / "m0"):
            _start(told, _nodes(seen), address)


@pytest.mark.parametrize("name", ["apart", "four-sockets", "snap-io"])
def test_command_starts_with_tier_mac(tmp_path, name):
    """Of PFs that are apart; their switch sorts by address."""
    if env.find_binary("dpdk-testpmd") is None:
        pytest.skip("there is no dpdk-testpmd")
    seen = looker(tmp_path)(name)
    assert seen.states() == ["apart"]
    for told in seen.json["arguments"]:
        _start(_with_tier_mac(told), _nodes(seen), None, "mac")
