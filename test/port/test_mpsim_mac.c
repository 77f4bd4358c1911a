/* SPDX-License-Identifier: BSD-3-Clause */

/* switch=mac: the destination address chooses the PF, and frames for several are copied. */

#include <string.h>

#include <rte_ether.h>

#include "octo_port.h"

#define BURST 32

static const struct octo_port_conf by_mac = {.nic = "switch=mac,mac=02:00:00:00:00:10"};

static const struct rte_ether_addr extra = {{0x02, 0, 0, 0, 0, 0x33}};
static const struct rte_ether_addr group = {{0x01, 0, 0x5e, 0, 0, 0x01}};
static const struct rte_ether_addr broadcast = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};

static uint16_t pfs[2];

static void
up(void)
{
	octo_port_add_pfs(&by_mac);
	for (unsigned int i = 0; i < RTE_DIM(pfs); i++) {
		pfs[i] = octo_port_pf(i);
		octo_port_up(pfs[i], 1);
	}
}

static struct rte_ether_addr
mac_of(unsigned int pf)
{
	struct rte_ether_addr mac;

	assert_int_equal(rte_eth_macaddr_get(pfs[pf], &mac), 0);
	return mac;
}

static unsigned int
receive(unsigned int pf)
{
	struct rte_mbuf *pkts[BURST];
	const uint16_t got = rte_eth_rx_burst(pfs[pf], 0, pkts, BURST);

	rte_pktmbuf_free_bulk(pkts, got);
	return got;
}

/* PF 0 sends a frame to this address: how many does each PF get? */
static void
assert_comes_by(struct rte_ether_addr dst, unsigned int by_0, unsigned int by_1)
{
	struct rte_mbuf *m;

	octo_port_make(pfs[0], 100, &m, 1);
	memcpy(rte_pktmbuf_mtod(m, void *), &dst, sizeof(dst));
	assert_int_equal(rte_eth_tx_burst(pfs[0], 0, &m, 1), 1);
	assert_int_equal(receive(0), by_0);
	assert_int_equal(receive(1), by_1);
}

static void
test_each_pf_has_its_address(void **state)
{
	static const struct rte_ether_addr changed = {{0x02, 0, 0, 0, 0, 0x44}};
	struct rte_ether_addr before;

	(void)state;
	up();
	before = mac_of(1);
	assert_int_equal(mac_of(0).addr_bytes[5], 0x10);
	assert_int_equal(before.addr_bytes[5], 0x11);
	assert_comes_by(mac_of(0), 1, 0);
	assert_comes_by(mac_of(1), 0, 1);
	assert_int_equal(rte_eth_dev_default_mac_addr_set(
				 pfs[1], (struct rte_ether_addr *)(uintptr_t)&changed),
			 0);
	assert_comes_by(changed, 0, 1);
	assert_comes_by(before, 0, 0);
	assert_comes_by(mac_of(0), 1, 0);
}

static void
test_an_added_address_belongs_to_its_pf(void **state)
{
	(void)state;
	up();
	assert_comes_by(extra, 0, 0);
	assert_int_equal(
		rte_eth_dev_mac_addr_add(pfs[1], (struct rte_ether_addr *)(uintptr_t)&extra, 0), 0);
	assert_comes_by(extra, 0, 1);
	assert_int_equal(
		rte_eth_dev_mac_addr_remove(pfs[1], (struct rte_ether_addr *)(uintptr_t)&extra), 0);
	assert_comes_by(extra, 0, 0);
}

static void
test_frames_for_several_are_copied(void **state)
{
	(void)state;
	up();
	assert_comes_by(broadcast, 1, 1);
	assert_comes_by(group, 0, 0);
	assert_int_equal(rte_eth_allmulticast_enable(pfs[1]), 0);
	assert_comes_by(group, 0, 1);
	assert_int_equal(rte_eth_promiscuous_enable(pfs[0]), 0);
	assert_comes_by(mac_of(1), 1, 1);
	assert_comes_by(extra, 1, 0);
}

static void
test_the_switch_takes_no_rules(void **state)
{
	struct octo_flow_rule r;
	struct rte_flow_error error;

	(void)state;
	up();
	octo_port_build_mpfs(&r, 100, 1);
	assert_int_not_equal(rte_flow_validate(pfs[0], &r.attr, r.pattern, r.actions, &error), 0);
	assert_non_null(strstr(error.message, "switch=mac"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_each_pf_has_its_address),
		octo_port_test(test_an_added_address_belongs_to_its_pf),
		octo_port_test(test_frames_for_several_are_copied),
		octo_port_test(test_the_switch_takes_no_rules),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
