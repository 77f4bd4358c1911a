/* SPDX-License-Identifier: BSD-3-Clause */

/* The pipeline of a PF of mpsim: when frames come out, and what becomes of them otherwise. */

#include <rte_udp.h>

#include "octo_port.h"

#define LATENCY_MS 100
#define IDLE_QUEUE 1

/* PF 0, where all goes that no rule sends elsewhere, is slow; PF 1 is not. */
static const struct octo_port_conf slow_and_fast = {.pf = {"latency_us=100000"}};

static uint16_t
start_pfs(void)
{
	octo_port_add_pfs(&slow_and_fast);
	octo_port_up(octo_port_pf(0), 2);
	octo_port_up(octo_port_pf(1), 2);
	return octo_port_pf(0);
}

static uint64_t
latency(void)
{
	return rte_get_timer_hz() / MS_PER_S * LATENCY_MS;
}

/* Source port of the next frame in the queue; it will come. */
static uint16_t
next_frame(uint16_t port, uint16_t queue)
{
	struct rte_mbuf *m;
	uint16_t src_port;

	while (rte_eth_rx_burst(port, queue, &m, 1) == 0)
		octo_port_pass_us(100);
	src_port = rte_be_to_cpu_16(
		rte_pktmbuf_mtod_offset(m, const struct rte_udp_hdr *, RTE_ETHER_HDR_LEN + 20)
			->src_port);
	rte_pktmbuf_free(m);
	return src_port;
}

static void
test_frames_come_late_and_in_order(void **state)
{
	const uint16_t port = start_pfs();
	const uint64_t begin = octo_now();

	(void)state;
	for (uint16_t i = 0; i < 100; i++)
		octo_port_send(port, 0, i, 1);
	for (uint16_t i = 0; i < 100; i++) {
		assert_int_equal(next_frame(port, 0), i);
		assert_true(octo_now() - begin >= latency());
	}
	assert_int_equal(octo_port_xstat(port, "rx_good_packets"), 100);
	assert_int_equal(octo_port_xstat(port, "rx_good_bytes"), 100 * OCTO_PORT_FRAME_LEN);
}

/* What they are for: nothing else than a fence keeps this in order. */
static void
test_a_flow_that_changes_pf_overtakes_itself(void **state)
{
	const uint16_t port = start_pfs(), fast = octo_port_pf(1);
	const uint64_t begin = octo_now();
	struct octo_flow_rule r;

	(void)state;
	octo_port_send(port, 0, 7, 1);
	octo_port_pump(IDLE_QUEUE);
	octo_port_build_mpfs(&r, 7, 1);
	assert_non_null(rte_flow_create(port, &r.attr, r.pattern, r.actions, NULL));
	octo_port_send(port, 0, 7, 1);
	assert_int_equal(next_frame(fast, 0), 7);
	assert_int_equal(rte_eth_rx_queue_count(port, 0), 0);
	octo_port_await(rte_eth_rx_queue_count(port, 0) == 1);
	assert_true(octo_now() - begin >= latency());
	assert_int_equal(rte_eth_rx_descriptor_status(port, 0, 0), RTE_ETH_RX_DESC_DONE);
	assert_int_equal(next_frame(port, 0), 7);
}

/* Descriptors are taken when frames come out. */
static void
test_a_full_ring_drops_what_comes_out(void **state)
{
	const uint16_t port = start_pfs();
	struct octo_port_tally tally = {0};

	(void)state;
	octo_port_send(port, 0, 7, OCTO_PORT_NB_DESC + 88);
	octo_port_pump(IDLE_QUEUE);
	octo_port_await(octo_port_xstat(port, "rx_ring_full_drops") == 88 ||
			rte_eth_rx_queue_count(port, 0) == 0);
	octo_port_await(rte_eth_rx_queue_count(port, 0) == OCTO_PORT_NB_DESC);
	octo_port_receive(port, 0, OCTO_PORT_NB_DESC + 1, &tally);
	assert_int_equal(tally.packets, OCTO_PORT_NB_DESC);
	assert_int_equal(octo_port_xstat(port, "rx_ring_full_drops"), 88);
	assert_int_equal(octo_port_xstat(port, "rx_missed_errors"), 88);
}

/* Some on the ring, some on their way to it; a queue that stops drops those. */
static void
test_a_pf_that_stops_loses_what_it_has(void **state)
{
	const uint16_t port = start_pfs();

	(void)state;
	octo_port_send(port, 0, 7, 5);
	octo_port_await(rte_eth_rx_queue_count(port, 0) == 5 ||
			(octo_port_pump(IDLE_QUEUE), false));
	octo_port_send(port, 0, 7, 8);
	octo_port_pump(IDLE_QUEUE);
	assert_int_equal(octo_port_xstat(port, "rx_lost_in_dead_rings"), 0);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(octo_port_xstat(port, "rx_lost_in_dead_rings"), 13);
	octo_port_remove_pf(0);
	assert_int_equal(octo_port_xstat(octo_port_pf(1), "rx_lost_in_dead_rings"), 13);
}

static void
test_a_queue_that_stops_takes_nothing(void **state)
{
	const uint16_t port = start_pfs();

	(void)state;
	octo_port_send(port, 0, 7, 8);
	octo_port_pump(IDLE_QUEUE);
	assert_int_equal(rte_eth_dev_rx_queue_stop(port, 0), 0);
	octo_port_await(octo_port_xstat(port, "rx_stopped_drops") == 8 ||
			(octo_port_pump(IDLE_QUEUE), false));
	assert_int_equal(octo_port_xstat(port, "rx_good_packets"), 0);
}

/* More than it holds is dropped, and everything is somewhere. */
static void
test_a_full_pipeline_drops(void **state)
{
	const uint16_t port = start_pfs();
	uint64_t taken = 0;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		octo_port_send(port, 0, 7, 2000);
		octo_port_pump(IDLE_QUEUE);
	}
	assert_int_equal(octo_port_xstat(port, "nic_wire_packets"), 6000);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	taken += octo_port_xstat(port, "rx_pipeline_full_drops");
	taken += octo_port_xstat(port, "rx_ring_full_drops");
	assert_true(taken > 0);
	assert_int_equal(taken + octo_port_xstat(port, "rx_lost_in_dead_rings"), 6000);
}

/* A descriptor whose frame is dropped gets another buffer. */
static void
test_dropped_frames_give_back_their_descriptors(void **state)
{
	const struct octo_port_conf posted = {.pf = {"latency_us=1000,fill_rings=1"}};
	uint16_t port;

	(void)state;
	octo_port_add_pfs(&posted);
	port = octo_port_pf(0);
	octo_port_up(port, 2);
	octo_port_up(octo_port_pf(1), 2);
	for (unsigned int i = 0; i < 2 * OCTO_PORT_NB_DESC / 32; i++) {
		octo_port_send(port, 0, 7, 32);
		octo_port_pump(IDLE_QUEUE);
		assert_int_equal(rte_eth_dev_rx_queue_stop(port, 0), 0);
		octo_port_pass_us(2000);
		octo_port_pump(IDLE_QUEUE);
		assert_int_equal(rte_eth_dev_rx_queue_start(port, 0), 0);
	}
	octo_port_send(port, 0, 8, 1);
	octo_port_pump(IDLE_QUEUE);
	octo_port_pass_us(2000);
	octo_port_pump(IDLE_QUEUE);
	assert_int_equal(rte_eth_rx_queue_count(port, 0), 1);
	assert_int_equal(next_frame(port, 0), 8);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_dropped_frames_give_back_their_descriptors),
		octo_port_test(test_frames_come_late_and_in_order),
		octo_port_test(test_a_flow_that_changes_pf_overtakes_itself),
		octo_port_test(test_a_full_ring_drops_what_comes_out),
		octo_port_test(test_a_pf_that_stops_loses_what_it_has),
		octo_port_test(test_a_queue_that_stops_takes_nothing),
		octo_port_test(test_a_full_pipeline_drops),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
