/* SPDX-License-Identifier: BSD-3-Clause */

/* Which groups come in, and that a PF that comes back lets in no other than the rest does. */

#include <errno.h>

#include <ethdev_driver.h>

#include "octo_port.h"
#include "octo_port_fault.h"
#include "octo_private.h"

#define FLOW 7

static const struct octo_port_conf two_pfs = {.replug = true};

static struct rte_ether_addr groups[] = {
	{{0x01, 0, 0x5e, 0, 0, 1}},
	{{0x01, 0, 0x5e, 0, 0, 2}},
	{{0x01, 0, 0x5e, 0, 0, 3}},
};

/* What one PF of the NIC lets in, the NIC does. */
static bool
is_let_in(uint16_t port, const struct rte_ether_addr *dst)
{
	struct octo_port_tally tally = {0};
	struct rte_mbuf *m;

	octo_port_make(port, FLOW, &m, 1);
	rte_pktmbuf_mtod(m, struct rte_ether_hdr *)->dst_addr = *dst;
	assert_int_equal(rte_eth_tx_burst(port, 0, &m, 1), 1);
	octo_port_receive(port, 0, 1, &tally);
	return tally.packets == 1;
}

static void
assert_let_in(uint16_t port, bool first, bool second, bool third)
{
	octo_port_assert_arrives(port, FLOW, 0, 1);
	assert_int_equal(is_let_in(port, &groups[0]), first);
	assert_int_equal(is_let_in(port, &groups[1]), second);
	assert_int_equal(is_let_in(port, &groups[2]), third);
}

static void
set_groups(uint16_t port, unsigned int first, unsigned int n)
{
	assert_int_equal(rte_eth_dev_set_mc_addr_list(port, groups + first, n), 0);
}

static uint16_t
create(void)
{
	uint16_t port = octo_port_create(&two_pfs);

	octo_port_up(port, 1);
	return port;
}

static void
begin_recovery(unsigned int pf)
{
	rte_eth_dev_callback_process(&rte_eth_devices[octo_port_pf(pf)],
				     RTE_ETH_EVENT_ERR_RECOVERING, NULL);
}

static void
end_recovery(uint16_t port, unsigned int pf)
{
	rte_eth_dev_callback_process(&rte_eth_devices[octo_port_pf(pf)],
				     RTE_ETH_EVENT_RECOVERY_SUCCESS, NULL);
	octo_port_await(octo_port_pf_is_started(port, pf));
}

static void
test_only_groups_of_the_list(void **state)
{
	uint16_t port = create();

	(void)state;
	assert_let_in(port, false, false, false);
	set_groups(port, 0, 2);
	assert_let_in(port, true, true, false);
	set_groups(port, 1, 2);
	assert_let_in(port, false, true, true);
	set_groups(port, 0, 0);
	assert_let_in(port, false, false, false);
}

/* Nobody could tell the PF, which has them yet when it is back. */
static void
test_a_pf_recovers_and_has_no_groups(void **state)
{
	uint16_t port = create();

	(void)state;
	for (unsigned int pf = 0; pf < 2; pf++) {
		set_groups(port, 0, 2);
		begin_recovery(pf);
		set_groups(port, 0, 0);
		/* what has no rule comes by the first */
		if (pf == 1)
			assert_let_in(port, true, true, false);
		end_recovery(port, pf);
		assert_let_in(port, false, false, false);
	}
}

static void
test_a_pf_recovers_and_has_other_groups(void **state)
{
	uint16_t port = create();

	(void)state;
	for (unsigned int pf = 0; pf < 2; pf++) {
		set_groups(port, 0, 2);
		begin_recovery(pf);
		set_groups(port, 1, 2);
		end_recovery(port, pf);
		assert_let_in(port, false, true, true);
	}
}

/* It has them by itself: the other goes then. */
static void
test_a_pf_that_comes_back_has_the_groups(void **state)
{
	uint16_t port = create();

	(void)state;
	set_groups(port, 0, 2);
	for (unsigned int pf = 0; pf < 2; pf++) {
		octo_port_remove_pf(pf);
		octo_port_add_pf(&two_pfs, pf);
		octo_port_await(octo_port_pf_is_started(port, pf));
		octo_port_remove_pf(1 - pf);
		assert_let_in(port, true, true, false);
		octo_port_add_pf(&two_pfs, 1 - pf);
		octo_port_await(octo_port_pf_is_started(port, 1 - pf));
	}
}

static void
test_groups_go_with_the_port(void **state)
{
	uint16_t port = create();

	(void)state;
	set_groups(port, 0, 2);
	octo_port_close_and_remove(port);
	octo_port_up(octo_port_pf(0), 1);
	octo_port_up(octo_port_pf(1), 1);
	assert_let_in(octo_port_pf(0), false, false, false);
}

/* It had the octo port's, also when it was taken back. */
static void
test_a_pf_that_recovered_gets_its_own_address_back(void **state)
{
	static const struct octo_port_conf two_addresses = {.replug = true, .nic = "switch=mac"};
	uint16_t port = octo_port_create(&two_addresses);
	struct rte_ether_addr own, now;

	(void)state;
	assert_int_equal(rte_eth_macaddr_get(octo_port_pf(1), &own), 0);
	octo_port_up(port, 1);
	begin_recovery(1);
	end_recovery(port, 1);
	assert_int_equal(rte_eth_macaddr_get(octo_port_pf(1), &now), 0);
	assert_false(rte_is_same_ether_addr(&now, &own));
	octo_port_close_and_remove(port);
	assert_int_equal(rte_eth_macaddr_get(octo_port_pf(1), &now), 0);
	assert_true(rte_is_same_ether_addr(&now, &own));
}

/* It is there, but does not start: it has the octo port's until the close. */
static void
test_a_pf_that_cannot_join_gets_its_own_address_back(void **state)
{
	static const struct octo_port_conf two_addresses = {.replug = true, .nic = "switch=mac"};
	uint16_t port = octo_port_create(&two_addresses);
	const struct octo_dev *octo = octo_of(&rte_eth_devices[port]);
	struct rte_ether_addr own, now;

	(void)state;
	assert_int_equal(rte_eth_macaddr_get(octo_port_pf(1), &own), 0);
	octo_port_up(port, 1);
	begin_recovery(1);
	octo_port_faults_on(1)->start = EIO;
	rte_eth_dev_callback_process(&rte_eth_devices[octo_port_pf(1)],
				     RTE_ETH_EVENT_RECOVERY_SUCCESS, NULL);
	octo_port_await(octo->port[1].fsm.state == OCTO_PORT_FOREIGN);
	assert_int_equal(rte_eth_macaddr_get(octo_port_pf(1), &now), 0);
	assert_false(rte_is_same_ether_addr(&now, &own));
	octo_port_close_and_remove(port);
	assert_int_equal(rte_eth_macaddr_get(octo_port_pf(1), &now), 0);
	assert_true(rte_is_same_ether_addr(&now, &own));
}

static bool
has_mac(unsigned int pf, const struct rte_ether_addr *mac)
{
	struct rte_ether_addr macs[128];
	const int nb = rte_eth_macaddrs_get(octo_port_pf(pf), macs, RTE_DIM(macs));

	for (int i = 0; i < nb; i++)
		if (rte_is_same_ether_addr(&macs[i], mac))
			return true;
	return false;
}

static int
refuse_mac(struct rte_eth_dev *dev, struct rte_ether_addr *mac, uint32_t index, uint32_t pool)
{
	(void)dev;
	(void)mac;
	(void)index;
	(void)pool;
	return -ENOSPC;
}

/* The first PF has one of the addresses by itself, one by the octo port, and lacks one. */
static void
test_a_refused_address_is_as_it_was(void **state)
{
	static struct eth_dev_ops ops;
	struct rte_ether_addr macs[] = {
		{{2, 0, 0, 0, 9, 1}}, {{2, 0, 0, 0, 9, 2}}, {{2, 0, 0, 0, 9, 3}}};
	uint16_t port = create();
	struct rte_eth_dev *dev = &rte_eth_devices[octo_port_pf(1)];
	const struct eth_dev_ops *real = dev->dev_ops;

	(void)state;
	assert_int_equal(rte_eth_dev_mac_addr_add(octo_port_pf(0), &macs[0], 0), 0);
	assert_int_equal(rte_eth_dev_mac_addr_add(port, &macs[1], 0), 0);
	ops = *real;
	ops.mac_addr_add = refuse_mac;
	dev->dev_ops = &ops;
	for (unsigned int i = 0; i < RTE_DIM(macs); i++)
		assert_int_equal(rte_eth_dev_mac_addr_add(port, &macs[i], 1), -ENOSPC);
	dev->dev_ops = real;
	assert_true(has_mac(0, &macs[0]));
	assert_true(has_mac(0, &macs[1]));
	assert_true(has_mac(1, &macs[1]));
	assert_false(has_mac(0, &macs[2]));
}

#define VLAN 77

static bool
lets_in_vlan(uint16_t pf)
{
	return rte_eth_devices[pf].data->vlan_filter_conf.ids[VLAN / 64] >> (VLAN % 64) & 1;
}

static void
test_vlans_go_with_the_port(void **state)
{
	uint16_t port = create();

	(void)state;
	assert_int_equal(rte_eth_dev_set_vlan_offload(port, RTE_ETH_VLAN_FILTER_OFFLOAD), 0);
	assert_int_equal(rte_eth_dev_vlan_filter(port, VLAN, 1), 0);
	assert_true(lets_in_vlan(octo_port_pf(1)));
	octo_port_close_and_remove(port);
	assert_false(lets_in_vlan(octo_port_pf(0)));
	assert_false(lets_in_vlan(octo_port_pf(1)));
}

/* ethdev takes no VLANs from a PF whose filter is off. */
static void
test_vlans_of_a_filter_that_was_off_go_with_the_port(void **state)
{
	uint16_t port = create();

	(void)state;
	assert_int_equal(rte_eth_dev_set_vlan_offload(port, RTE_ETH_VLAN_FILTER_OFFLOAD), 0);
	assert_int_equal(rte_eth_dev_vlan_filter(port, VLAN, 1), 0);
	assert_int_equal(rte_eth_dev_set_vlan_offload(port, 0), 0);
	assert_true(lets_in_vlan(octo_port_pf(0)));
	octo_port_close_and_remove(port);
	for (unsigned int pf = 0; pf < 2; pf++) {
		assert_false(lets_in_vlan(octo_port_pf(pf)));
		assert_int_equal(rte_eth_dev_get_vlan_offload(octo_port_pf(pf)), 0);
	}
}

/* ethdev takes them from then on, and remembers them. */
static void
test_vlans_are_let_in_before_the_configuration(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	assert_int_equal(rte_eth_dev_set_vlan_offload(port, RTE_ETH_VLAN_FILTER_OFFLOAD), 0);
	assert_int_equal(rte_eth_dev_vlan_filter(port, VLAN, 1), 0);
	octo_port_up(port, 2);
	for (unsigned int pf = 0; pf < 2; pf++)
		assert_true(lets_in_vlan(octo_port_pf(pf)));
}

/* The filter was off when the PF came back. */
static void
test_a_pf_has_the_vlans_of_a_filter_that_was_off(void **state)
{
	uint16_t port = create();

	(void)state;
	assert_int_equal(rte_eth_dev_set_vlan_offload(port, RTE_ETH_VLAN_FILTER_OFFLOAD), 0);
	assert_int_equal(rte_eth_dev_vlan_filter(port, VLAN, 1), 0);
	assert_int_equal(rte_eth_dev_set_vlan_offload(port, 0), 0);
	octo_port_remove_pf(1);
	octo_port_add_pf(&two_pfs, 1);
	octo_port_await(octo_port_pf_is_started(port, 1));
	assert_int_equal(rte_eth_dev_set_vlan_offload(port, RTE_ETH_VLAN_FILTER_OFFLOAD), 0);
	assert_true(lets_in_vlan(octo_port_pf(0)));
	assert_true(lets_in_vlan(octo_port_pf(1)));
}

static int
refuse_vlan(struct rte_eth_dev *dev, uint16_t id, int on)
{
	(void)dev;
	(void)id;
	(void)on;
	return -ENOSPC;
}

/* The other PFs are as before: they had the VLAN, or did not have it. */
static void
test_a_refused_vlan_is_as_it_was(void **state)
{
	static struct eth_dev_ops ops;
	uint16_t port = create();
	struct rte_eth_dev *dev = &rte_eth_devices[octo_port_pf(1)];
	const struct eth_dev_ops *real = dev->dev_ops;

	(void)state;
	ops = *real;
	ops.vlan_filter_set = refuse_vlan;
	assert_int_equal(rte_eth_dev_set_vlan_offload(port, RTE_ETH_VLAN_FILTER_OFFLOAD), 0);
	assert_int_equal(rte_eth_dev_vlan_filter(port, VLAN, 1), 0);
	for (int on = 0; on < 2; on++) {
		dev->dev_ops = &ops;
		assert_int_equal(rte_eth_dev_vlan_filter(port, VLAN, on), -ENOSPC);
		dev->dev_ops = real;
		assert_true(lets_in_vlan(octo_port_pf(0)));
	}
	assert_int_equal(rte_eth_dev_vlan_filter(port, VLAN, 0), 0);
	for (int on = 0; on < 2; on++) {
		dev->dev_ops = &ops;
		assert_int_equal(rte_eth_dev_vlan_filter(port, VLAN, on), -ENOSPC);
		dev->dev_ops = real;
		assert_false(lets_in_vlan(octo_port_pf(0)));
	}
}

/* Is the tag taken from a frame that comes in by this queue? */
static bool
is_stripped(uint16_t port, uint16_t queue)
{
	struct rte_mbuf *m, *came = NULL;
	bool stripped;

	octo_port_lead_all_to(port, queue);
	octo_port_make(port, FLOW, &m, 1);
	m->vlan_tci = VLAN;
	assert_int_equal(rte_vlan_insert(&m), 0);
	assert_int_equal(rte_eth_tx_burst(port, 0, &m, 1), 1);
	octo_port_await(came != NULL || rte_eth_rx_burst(port, queue, &came, 1) == 1);
	stripped = (came->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0;
	assert_int_equal(came->pkt_len, OCTO_PORT_FRAME_LEN + (stripped ? 0 : RTE_VLAN_HLEN));
	rte_pktmbuf_free(came);
	return stripped;
}

/* What both PFs do: the frames come by the one that is left. */
static void
assert_strips(uint16_t port, uint16_t queue, bool expected)
{
	for (unsigned int pf = 0; pf < 2; pf++) {
		octo_port_await(octo_port_pf_is_started(port, 1 - pf));
		octo_port_remove_pf(pf);
		assert_int_equal(is_stripped(port, queue), expected);
		octo_port_add_pf(&two_pfs, pf);
		octo_port_await(octo_port_pf_is_started(port, pf));
	}
}

/* What the port says: offloads of the port are not those of a queue's own. */
static bool
is_said_to_strip(uint16_t port, uint16_t queue)
{
	struct rte_eth_rxq_info info;

	assert_int_equal(rte_eth_rx_queue_info_get(port, queue, &info), 0);
	return (info.conf.offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP) != 0;
}

static const struct rte_eth_conf *
to_strip(uint64_t offloads)
{
	static struct rte_eth_conf conf;

	conf = (struct rte_eth_conf){
		.rxmode = {.mq_mode = RTE_ETH_MQ_RX_RSS, .offloads = offloads},
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_UDP,
	};
	return &conf;
}

static uint16_t
create_to_strip(uint64_t offloads)
{
	uint16_t port = octo_port_create(&two_pfs);

	octo_port_up_as(port, 2, to_strip(offloads));
	return port;
}

/* On every PF, also on one that comes back. */
static void
test_a_queue_strips_alone(void **state)
{
	uint16_t port = create_to_strip(0);

	(void)state;
	assert_int_equal(rte_eth_dev_set_vlan_strip_on_queue(port, 1, 1), 0);
	assert_true(is_said_to_strip(port, 1));
	assert_false(is_said_to_strip(port, 0));
	for (int i = 0; i < 2; i++)
		assert_strips(port, 1, true);
	assert_strips(port, 0, false);
	assert_int_equal(rte_eth_dev_set_vlan_strip_on_queue(port, 1, 0), 0);
	assert_strips(port, 1, false);
}

/* The offload of the port, as it was configured, is not that of the queue any more. */
static void
test_a_queue_alone_does_not_strip(void **state)
{
	uint16_t port = create_to_strip(RTE_ETH_RX_OFFLOAD_VLAN_STRIP);

	(void)state;
	assert_int_equal(rte_eth_dev_set_vlan_strip_on_queue(port, 0, 0), 0);
	for (int i = 0; i < 2; i++)
		assert_strips(port, 0, false);
	assert_strips(port, 1, true);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_strips(port, 0, false);
}

static void
test_the_port_replaces_what_queues_strip(void **state)
{
	uint16_t port = create_to_strip(0);

	(void)state;
	assert_int_equal(rte_eth_dev_set_vlan_strip_on_queue(port, 0, 1), 0);
	assert_int_equal(rte_eth_dev_set_vlan_offload(port, RTE_ETH_VLAN_STRIP_OFFLOAD), 0);
	assert_strips(port, 1, true);
	assert_int_equal(rte_eth_dev_set_vlan_offload(port, 0), 0);
	assert_false(is_said_to_strip(port, 0));
	assert_strips(port, 0, false);
	assert_strips(port, 1, false);
}

/* No PF strips where one cannot. */
static void
test_a_pf_cannot_strip_for_a_queue(void **state)
{
	static struct eth_dev_ops ops;
	const struct eth_dev_ops *real;
	uint16_t port = create_to_strip(0);
	struct rte_eth_dev *dev = &rte_eth_devices[octo_port_pf(1)];

	(void)state;
	real = dev->dev_ops;
	ops = *real;
	ops.vlan_strip_queue_set = NULL;
	dev->dev_ops = &ops;
	assert_int_equal(rte_eth_dev_set_vlan_strip_on_queue(port, 0, 1), 0);
	dev->dev_ops = real;
	assert_strips(port, 0, false);
}

/* It has no PF's queue yet, and what is asked for is forgotten. */
static void
test_a_queue_that_is_not_set_up_cannot_strip(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	assert_int_equal(rte_eth_dev_configure(port, 1, 1, to_strip(0)), 0);
	assert_int_equal(rte_eth_dev_set_vlan_strip_on_queue(port, 0, 1), 0);
	assert_int_equal(octo_port_setup_queues(port, 1), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_strips(port, 0, false);
}

/* mac= is the address that the simulated NIC begins with; it may have got another one. */
static void
test_a_pf_returns_when_the_address_is_another_one(void **state)
{
	static const struct octo_port_conf conf = {.replug = true, .nic = "mac=02:00:00:00:00:77"};
	struct rte_ether_addr mac = {{0x02, 0, 0, 0, 0, 0x55}}, of_pf;
	uint16_t port = octo_port_create(&conf);

	(void)state;
	octo_port_up(port, 2);
	assert_int_equal(rte_eth_dev_default_mac_addr_set(port, &mac), 0);
	octo_port_remove_pf(0);
	octo_port_await(octo_port_pf_is_started(port, 0));
	for (unsigned int pf = 0; pf < 2; pf++) {
		assert_int_equal(rte_eth_macaddr_get(octo_port_pf(pf), &of_pf), 0);
		assert_memory_equal(&of_pf, &mac, sizeof(mac));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_only_groups_of_the_list),
		octo_port_test(test_a_pf_recovers_and_has_no_groups),
		octo_port_test(test_a_pf_recovers_and_has_other_groups),
		octo_port_test(test_a_pf_that_comes_back_has_the_groups),
		octo_port_test(test_groups_go_with_the_port),
		octo_port_test(test_a_pf_that_recovered_gets_its_own_address_back),
		octo_port_test(test_a_pf_that_cannot_join_gets_its_own_address_back),
		octo_port_test(test_a_refused_address_is_as_it_was),
		octo_port_test(test_vlans_go_with_the_port),
		octo_port_test(test_vlans_of_a_filter_that_was_off_go_with_the_port),
		octo_port_test(test_vlans_are_let_in_before_the_configuration),
		octo_port_test(test_a_pf_has_the_vlans_of_a_filter_that_was_off),
		octo_port_test(test_a_refused_vlan_is_as_it_was),
		octo_port_test(test_a_queue_strips_alone),
		octo_port_test(test_a_queue_alone_does_not_strip),
		octo_port_test(test_the_port_replaces_what_queues_strip),
		octo_port_test(test_a_pf_cannot_strip_for_a_queue),
		octo_port_test(test_a_queue_that_is_not_set_up_cannot_strip),
		octo_port_test(test_a_pf_returns_when_the_address_is_another_one),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
