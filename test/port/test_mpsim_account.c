/* SPDX-License-Identifier: BSD-3-Clause */

/* What becomes of PFs that come and go, and of the frames that they had. */

#include "octo_port.h"

#include "mpsim_control.h"

#define IDLE_QUEUE 1

static const struct octo_port_conf four_pfs = {.nb_pfs = 4};
static const struct octo_port_conf slow_pfs = {.nb_pfs = 2, .all = "latency_us=1000000"};

static void
start_pf(unsigned int pf)
{
	octo_port_up(octo_port_pf(pf), 2);
}

static void
start_pfs(const struct octo_port_conf *conf)
{
	octo_port_add_pfs(conf);
	for (unsigned int pf = 0; pf < conf->nb_pfs; pf++)
		start_pf(pf);
}

static struct mpsim_account
account(void)
{
	struct mpsim_account a;

	assert_int_equal(rte_pmd_mpsim_account_get("T", &a), 0);
	assert_int_equal(a.unaccounted, 0);
	return a;
}

static struct rte_flow *
send_to_pf(unsigned int proxy, uint16_t src_port, unsigned int pf)
{
	struct octo_flow_rule r;

	octo_port_build_mpfs(&r, src_port, pf);
	return rte_flow_create(octo_port_pf(proxy), &r.attr, r.pattern, r.actions, NULL);
}

static uint64_t
receive(unsigned int pf, uint64_t n)
{
	struct octo_port_tally tally = {0};

	octo_port_receive(octo_port_pf(pf), 0, n, &tally);
	return tally.packets;
}

/* Delivered, on a ring, dropped for want of a descriptor, and then lost with the PF. */
static void
test_every_frame_is_somewhere(void **state)
{
	struct mpsim_account a;

	(void)state;
	start_pfs(&four_pfs);
	octo_port_send(octo_port_pf(1), 0, 7, OCTO_PORT_NB_DESC + 10);
	assert_int_equal(account().on_wire, OCTO_PORT_NB_DESC + 10);
	octo_port_pump(IDLE_QUEUE);
	a = account();
	assert_int_equal(a.sent, OCTO_PORT_NB_DESC + 10);
	assert_int_equal(a.taken, OCTO_PORT_NB_DESC + 10);
	assert_int_equal(a.in_rings, OCTO_PORT_NB_DESC);
	assert_int_equal(a.dropped, 10);
	assert_int_equal(receive(0, 100), 128);
	assert_int_equal(account().delivered, 128);
	octo_port_remove_pf(0);
	a = account();
	assert_int_equal(a.sent, OCTO_PORT_NB_DESC + 10);
	assert_int_equal(a.delivered, 128);
	assert_int_equal(a.lost, OCTO_PORT_NB_DESC - 128);
	assert_int_equal(a.dropped, 10);
	assert_int_equal(a.in_rings, 0);
}

/* What waits in a Tx ring is not sent, and nowhere else. */
static void
test_a_tx_ring_is_accounted_for(void **state)
{
	const struct octo_port_conf conf = {.nb_pfs = 2, .all = "tx_delay_us=60000000"};

	(void)state;
	start_pfs(&conf);
	octo_port_send(octo_port_pf(1), 0, 7, 5);
	assert_int_equal(account().in_tx_rings, 5);
	assert_int_equal(account().sent, 0);
	octo_port_remove_pf(1);
	assert_int_equal(account().in_tx_rings, 0);
	assert_int_equal(account().lost_in_tx, 5);
}

static void
test_a_pipeline_is_accounted_for(void **state)
{
	(void)state;
	start_pfs(&slow_pfs);
	octo_port_send(octo_port_pf(1), 0, 7, 5);
	octo_port_pump(IDLE_QUEUE);
	assert_int_equal(account().in_pipelines + account().in_rings, 5);
	octo_port_remove_pf(0);
	assert_int_equal(account().lost, 5);
	assert_int_equal(account().in_pipelines, 0);
}

/* What is on its way when nobody is there to hear it any more. */
static void
test_a_wire_that_stops(void **state)
{
	(void)state;
	start_pfs(&slow_pfs);
	octo_port_send(octo_port_pf(1), 0, 7, 5);
	assert_int_equal(rte_eth_dev_stop(octo_port_pf(0)), 0);
	assert_int_equal(account().on_wire, 5);
	assert_int_equal(rte_eth_dev_stop(octo_port_pf(1)), 0);
	assert_int_equal(account().on_wire, 0);
	assert_int_equal(account().lost_on_wire, 5);
}

static void
test_no_such_nic(void **state)
{
	struct mpsim_account a;

	(void)state;
	assert_int_equal(rte_pmd_mpsim_account_get("T", &a), -ENODEV);
}

/* Each goes back to where it was, whoever comes first: rules and default_pf= name places. */
static void
test_pfs_that_return_have_their_places(void **state)
{
	(void)state;
	start_pfs(&four_pfs);
	octo_port_remove_pf(0);
	octo_port_remove_pf(2);
	octo_port_add_pf(&four_pfs, 2);
	start_pf(2);
	octo_port_send(octo_port_pf(1), 0, 7, 8);
	assert_int_equal(receive(1, 8), 8); /* the first that is there, as there is no PF 0 */
	octo_port_add_pf(&four_pfs, 0);
	start_pf(0);
	octo_port_send(octo_port_pf(1), 0, 7, 8);
	assert_int_equal(receive(0, 8), 8);
	assert_non_null(send_to_pf(1, 7, 2));
	octo_port_send(octo_port_pf(1), 0, 7, 8);
	assert_int_equal(receive(2, 8), 8);
}

/* The rules die with the PF that they were made on; the next one takes over. */
static void
test_the_next_pf_is_the_proxy(void **state)
{
	uint16_t proxy = RTE_MAX_ETHPORTS;

	(void)state;
	start_pfs(&four_pfs);
	assert_non_null(send_to_pf(0, 7, 3));
	octo_port_send(octo_port_pf(1), 0, 7, 8);
	assert_int_equal(receive(3, 8), 8);
	octo_port_remove_pf(0);
	assert_int_equal(rte_flow_pick_transfer_proxy(octo_port_pf(3), &proxy, NULL), 0);
	assert_int_equal(proxy, octo_port_pf(1));
	octo_port_send(octo_port_pf(1), 0, 7, 8);
	assert_int_equal(receive(1, 8), 8);
	assert_null(send_to_pf(2, 7, 3));
	assert_non_null(send_to_pf(1, 7, 3));
	octo_port_send(octo_port_pf(1), 0, 7, 8);
	assert_int_equal(receive(3, 8), 8);
	/* and stays it when the first is there again, or its rules had to go once more */
	octo_port_add_pf(&four_pfs, 0);
	start_pf(0);
	assert_int_equal(rte_flow_pick_transfer_proxy(octo_port_pf(0), &proxy, NULL), 0);
	assert_int_equal(proxy, octo_port_pf(1));
	octo_port_send(octo_port_pf(1), 0, 7, 8);
	assert_int_equal(receive(3, 8), 8);
	octo_port_remove_pf(1);
	assert_int_equal(rte_flow_pick_transfer_proxy(octo_port_pf(3), &proxy, NULL), 0);
	assert_int_equal(proxy, octo_port_pf(0));
}

/* Send n frames that a rule sends to PF 2, which is to be lost. */
static void
lose_pf_2(const struct octo_port_conf *conf, bool removed)
{
	start_pfs(conf);
	assert_non_null(send_to_pf(0, 7, 2));
	octo_port_send(octo_port_pf(1), 0, 7, 8);
	assert_int_equal(receive(2, 8), 8);
	if (removed)
		octo_port_remove_pf(2);
	else
		assert_int_equal(rte_pmd_mpsim_fault("net_mpsim2,surprise,60000000"), 0);
	octo_port_send(octo_port_pf(1), 0, 7, 8);
}

/* The worst that a NIC can do: it goes on as it was told. */
static void
test_a_lost_pf_gets_its_packets(void **state)
{
	(void)state;
	lose_pf_2(&four_pfs, true);
	assert_int_equal(receive(0, 8), 0);
	assert_int_equal(account().dropped, 8);
}

/* One that sees the link of the PF go, whether or not anybody has removed it yet. */
static void
test_a_lost_pf_is_routed_around(void **state)
{
	static const struct octo_port_conf around = {.nb_pfs = 4, .nic = "lost_pf=default"};

	(void)state;
	for (int removed = 0; removed < 2; removed++) {
		lose_pf_2(&around, removed);
		assert_int_equal(receive(0, 8), 8);
		assert_int_equal(account().dropped, 0);
		/* the default PF itself */
		assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,surprise,60000000"), 0);
		octo_port_send(octo_port_pf(1), 0, 7, 8);
		octo_port_send(octo_port_pf(1), 0, 8, 8);
		assert_int_equal(receive(1, 16), 16);
		octo_port_destroy();
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_every_frame_is_somewhere),
		octo_port_test(test_a_tx_ring_is_accounted_for),
		octo_port_test(test_a_pipeline_is_accounted_for),
		octo_port_test(test_a_wire_that_stops),
		octo_port_test(test_no_such_nic),
		octo_port_test(test_pfs_that_return_have_their_places),
		octo_port_test(test_the_next_pf_is_the_proxy),
		octo_port_test(test_a_lost_pf_gets_its_packets),
		octo_port_test(test_a_lost_pf_is_routed_around),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
