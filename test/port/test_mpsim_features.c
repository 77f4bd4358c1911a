/* SPDX-License-Identifier: BSD-3-Clause */

/* What a PF of mpsim says of itself, and counts for each queue. */

#include "octo_port.h"

#define FLOW 7

static const struct octo_port_conf one_pf = {.nb_pfs = 1};

/* Two queues with these offloads. */
static uint16_t
start_pf(uint64_t tx_offloads)
{
	const struct rte_eth_conf conf = {.txmode = {.offloads = tx_offloads}};
	uint16_t port;

	octo_port_add_pfs(&one_pf);
	port = octo_port_pf(0);
	octo_port_up_as(port, 2, &conf);
	return port;
}

static void
test_its_link_has_the_speed_that_it_can_have(void **state)
{
	uint16_t port = start_pf(0);

	(void)state;
	octo_port_assert_full_speed(port);
}

static void
test_bursts_are_simulated(void **state)
{
	uint16_t port = start_pf(0);
	struct rte_eth_burst_mode rx = {0}, tx = {0};

	(void)state;
	assert_int_equal(rte_eth_rx_burst_mode_get(port, 1, &rx), 0);
	assert_int_equal(rte_eth_tx_burst_mode_get(port, 1, &tx), 0);
	assert_string_equal(rx.info, "Scalar, simulated");
	assert_string_equal(tx.info, "Scalar, simulated");
}

static void
test_buffers_are_freed_fast(void **state)
{
	uint16_t port = start_pf(RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE);
	const unsigned int before = rte_mempool_in_use_count(octo_port_pool);
	struct octo_port_tally tally = {0};

	(void)state;
	octo_port_send(port, 0, FLOW, 100);
	octo_port_await((octo_port_poll(port, 0, 32, &tally), octo_port_poll(port, 1, 32, &tally),
			 tally.packets == 100));
	assert_int_equal(rte_mempool_in_use_count(octo_port_pool), before);
}

/* ethdev asks for the counters of queues and makes xstats of them. */
static void
test_each_queue_has_counters(void **state)
{
	uint16_t port = start_pf(0);
	struct octo_port_tally tally = {0};

	(void)state;
	for (uint16_t q = 0; q < 2; q++)
		assert_non_null(octo_port_steer(port, FLOW + q, q, NULL));
	octo_port_send(port, 0, FLOW, 10);
	octo_port_send(port, 1, FLOW, 20);
	octo_port_send(port, 1, FLOW + 1, 3);
	octo_port_receive(port, 0, 30, &tally);
	octo_port_receive(port, 1, 3, &tally);
	assert_int_equal(octo_port_xstat(port, "rx_q0_packets"), 30);
	assert_int_equal(octo_port_xstat(port, "rx_q1_packets"), 3);
	assert_int_equal(octo_port_xstat(port, "rx_q0_bytes"), 30 * OCTO_PORT_FRAME_LEN);
	assert_int_equal(octo_port_xstat(port, "tx_q0_packets"), 10);
	assert_int_equal(octo_port_xstat(port, "tx_q1_packets"), 23);
	assert_int_equal(octo_port_xstat(port, "tx_q1_bytes"), 23 * OCTO_PORT_FRAME_LEN);
}

/* It belongs to no kernel's interface unless devargs say so. */
static void
test_it_reports_an_interface(void **state)
{
	const struct octo_port_conf conf = {.nb_pfs = 2, .pf = {[1] = "ifindex=7"}};
	struct rte_eth_dev_info info;

	(void)state;
	octo_port_add_pfs(&conf);
	assert_int_equal(rte_eth_dev_info_get(octo_port_pf(0), &info), 0);
	assert_int_equal(info.if_index, 0);
	assert_int_equal(rte_eth_dev_info_get(octo_port_pf(1), &info), 0);
	assert_int_equal(info.if_index, 7);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_its_link_has_the_speed_that_it_can_have),
		octo_port_test(test_bursts_are_simulated),
		octo_port_test(test_buffers_are_freed_fast),
		octo_port_test(test_each_queue_has_counters),
		octo_port_test(test_it_reports_an_interface),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
