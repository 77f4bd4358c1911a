/* SPDX-License-Identifier: BSD-3-Clause */

/* Tx rings of a PF of mpsim, that hold frames for a while. */

#include <errno.h>
#include <pthread.h>

#include <ethdev_driver.h>

#include "octo_port.h"

#include "mpsim.h"
#include "mpsim_control.h"

#define FLOW 7
#define WIRE_FRAMES 64
#define LAST (OCTO_PORT_NB_DESC - 1)
/* longer than any test: what is in a ring stays there until the queue is stopped */
#define FOR_EVER "tx_delay_us=60000000"

static uint16_t
start_pf(const char *args)
{
	const struct octo_port_conf conf = {.nb_pfs = 1, .all = args};
	uint16_t port;

	octo_port_add_pfs(&conf);
	port = octo_port_pf(0);
	assert_int_equal(octo_port_configure(port, 2), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	return port;
}

static void
test_frames_wait_and_arrive(void **state)
{
	uint16_t port = start_pf("tx_delay_us=1000");
	struct octo_port_tally tally = {0};

	(void)state;
	octo_port_send(port, 0, FLOW, 100);
	octo_port_await((octo_port_poll(port, 0, 32, &tally), octo_port_poll(port, 1, 32, &tally),
			 tally.packets == 100));
	assert_int_equal(tally.wrong_flow, 0);
	assert_int_equal(rte_eth_tx_descriptor_status(port, 0, LAST), RTE_ETH_TX_DESC_DONE);
	assert_int_equal(octo_port_xstat(port, "tx_good_packets"), 100);
}

static void
test_descriptors_are_in_use_meanwhile(void **state)
{
	uint16_t port = start_pf(FOR_EVER);

	(void)state;
	assert_int_equal(rte_eth_tx_descriptor_status(port, 0, LAST), RTE_ETH_TX_DESC_DONE);
	octo_port_send(port, 0, FLOW, 3);
	assert_int_equal(rte_eth_tx_descriptor_status(port, 0, LAST), RTE_ETH_TX_DESC_FULL);
	assert_int_equal(rte_eth_tx_descriptor_status(port, 0, LAST - 2), RTE_ETH_TX_DESC_FULL);
	assert_int_equal(rte_eth_tx_descriptor_status(port, 0, LAST - 3), RTE_ETH_TX_DESC_DONE);
	assert_int_equal(rte_eth_tx_descriptor_status(port, 0, LAST + 1), -EINVAL);
	assert_int_equal(rte_eth_tx_descriptor_status(port, 1, LAST), RTE_ETH_TX_DESC_DONE);
	assert_int_equal(rte_eth_tx_done_cleanup(port, 0, 0), 0);
}

static void
test_what_is_done_is_counted_once(void **state)
{
	uint16_t port = start_pf("tx_delay_us=100");
	uint32_t done = 0;

	(void)state;
	octo_port_send(port, 0, FLOW, 3);
	octo_port_await((done += rte_eth_tx_done_cleanup(port, 0, 2)) == 3);
	assert_int_equal(rte_eth_tx_done_cleanup(port, 0, 0), 0);
}

static void
test_a_full_ring_takes_no_more(void **state)
{
	uint16_t port = start_pf(FOR_EVER);
	struct rte_mbuf *pkts[32];

	(void)state;
	octo_port_send(port, 0, FLOW, OCTO_PORT_NB_DESC - 20);
	octo_port_make(port, FLOW, pkts, 32);
	assert_int_equal(rte_eth_tx_burst(port, 0, pkts, 32), 20);
	assert_int_equal(rte_eth_tx_burst(port, 0, pkts + 20, 12), 0);
	assert_int_equal(rte_eth_tx_descriptor_status(port, 0, 0), RTE_ETH_TX_DESC_FULL);
	rte_pktmbuf_free_bulk(pkts + 20, 12);
}

static void
test_a_queue_that_is_stopped_loses_them(void **state)
{
	uint16_t port = start_pf(FOR_EVER);
	struct octo_port_tally tally = {0};

	(void)state;
	octo_port_send(port, 0, FLOW, 9);
	assert_int_equal(rte_eth_dev_tx_queue_stop(port, 0), 0);
	assert_int_equal(octo_port_xstat(port, "tx_ring_drops"), 9);
	assert_int_equal(octo_port_xstat(port, "tx_errors"), 9);
	assert_int_equal(octo_port_xstat(port, "tx_good_packets"), 0);
	assert_int_equal(rte_eth_dev_tx_queue_start(port, 0), 0);
	assert_int_equal(rte_eth_tx_descriptor_status(port, 0, LAST), RTE_ETH_TX_DESC_DONE);
	assert_int_equal(octo_port_poll(port, 0, 32, &tally), 0);
}

static uint16_t
start_narrow_pf(const char *args)
{
	const struct octo_port_conf conf = {.nb_pfs = 1, .wire_ring = WIRE_FRAMES, .all = args};
	uint16_t port;

	octo_port_add_pfs(&conf);
	port = octo_port_pf(0);
	assert_int_equal(octo_port_configure(port, 1), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	return port;
}

/* @return how many of 32 frames were taken; the others are freed. */
static uint16_t
try_to_send(uint16_t port)
{
	struct rte_mbuf *pkts[32];
	uint16_t sent;

	octo_port_make(port, FLOW, pkts, 32);
	sent = rte_eth_tx_burst(port, 0, pkts, 32);
	rte_pktmbuf_free_bulk(pkts + sent, 32 - sent);
	return sent;
}

/* For as long as it was told: here for longer than any test takes. */
static void
test_a_full_wire_is_waited_for(void **state)
{
	uint16_t port = start_narrow_pf("wire_wait_us=3600000000");
	struct octo_port_tally tally = {0};

	(void)state;
	octo_port_send(port, 0, FLOW, WIRE_FRAMES);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(try_to_send(port), 0);
	octo_port_receive(port, 0, WIRE_FRAMES, &tally);
	assert_int_equal(tally.packets, WIRE_FRAMES);
	assert_int_equal(try_to_send(port), 32);
	assert_int_equal(octo_port_xstat(port, "tx_wire_full_drops"), 0);
}

/* And not for ever: who sends until it is taken, and polls then, goes on. */
static void
test_a_wire_that_stays_full_drops(void **state)
{
	uint16_t port = start_narrow_pf("wire_wait_us=1000");
	struct octo_port_tally tally = {0};
	uint64_t taken = 0;

	(void)state;
	octo_port_send(port, 0, FLOW, WIRE_FRAMES);
	assert_int_equal(try_to_send(port), 0);
	octo_port_await((taken += try_to_send(port)) > 0);
	/* at once then, for as long as it is fuller than half */
	assert_int_equal(try_to_send(port), 32);
	octo_port_receive(port, 0, WIRE_FRAMES, &tally);
	assert_int_equal(tally.packets, WIRE_FRAMES);
	assert_int_equal(octo_port_xstat(port, "tx_good_packets"), WIRE_FRAMES);
	assert_int_equal(octo_port_xstat(port, "tx_wire_full_drops"), taken + 32);
	assert_int_equal(octo_port_xstat(port, "tx_errors"), taken + 32);
	octo_port_send(port, 0, FLOW, WIRE_FRAMES);
	assert_int_equal(try_to_send(port), 0);
}

static void
test_a_full_wire_drops_at_once(void **state)
{
	uint16_t port = start_narrow_pf("wire_wait_us=0");
	struct octo_port_tally tally = {0};

	(void)state;
	octo_port_send(port, 0, FLOW, 10 * WIRE_FRAMES);
	assert_int_equal(octo_port_xstat(port, "tx_good_packets"), WIRE_FRAMES);
	assert_int_equal(octo_port_xstat(port, "tx_wire_full_drops"), 9 * WIRE_FRAMES);
	octo_port_receive(port, 0, WIRE_FRAMES, &tally);
	assert_int_equal(tally.packets, WIRE_FRAMES);
}

/* A Tx ring is no way around it. */
static void
test_a_tx_ring_drops_at_a_full_wire(void **state)
{
	uint16_t port = start_narrow_pf("wire_wait_us=0,tx_delay_us=1");
	struct octo_port_tally tally = {0};

	(void)state;
	octo_port_send(port, 0, FLOW, 2 * WIRE_FRAMES);
	octo_port_await((rte_eth_tx_descriptor_status(port, 0, LAST),
			 octo_port_xstat(port, "tx_wire_full_drops") == WIRE_FRAMES));
	octo_port_receive(port, 0, WIRE_FRAMES, &tally);
	assert_int_equal(tally.packets, WIRE_FRAMES);
}

static void *
receive(void *arg)
{
	const uint16_t port = (uint16_t)(uintptr_t)arg;

	while (!octo_port_thread_must_stop()) {
		struct rte_mbuf *pkts[32];

		rte_pktmbuf_free_bulk(pkts, rte_eth_rx_burst(port, 0, pkts, 32));
		rte_pktmbuf_free_bulk(pkts, rte_eth_rx_burst(port, 1, pkts, 32));
	}
	return NULL;
}

/* Pollers move frames from the ring meanwhile: neither waits for the other for ever. */
static void
test_a_queue_is_stopped_while_it_sends(void **state)
{
	uint16_t port = start_pf("tx_delay_us=10");

	(void)state;
	octo_port_thread_start(receive, (void *)(uintptr_t)port);
	for (int i = 0; i < 300; i++) {
		octo_port_send(port, 0, FLOW, 8);
		assert_int_equal(rte_eth_dev_tx_queue_stop(port, 0), 0);
		assert_int_equal(rte_eth_dev_tx_queue_start(port, 0), 0);
	}
	octo_port_thread_stop();
}

/* The NIC knows what went with a PF. */
static void
test_a_dead_pf_takes_them_along(void **state)
{
	const struct octo_port_conf conf = {.all = FOR_EVER};

	(void)state;
	octo_port_add_pfs(&conf);
	for (unsigned int pf = 0; pf < 2; pf++) {
		assert_int_equal(octo_port_configure(octo_port_pf(pf), 1), 0);
		assert_int_equal(rte_eth_dev_start(octo_port_pf(pf)), 0);
	}
	octo_port_send(octo_port_pf(0), 0, FLOW, 5);
	octo_port_remove_pf(0);
	assert_int_equal(octo_port_xstat(octo_port_pf(1), "nic_dead_tx_ring_drops"), 5);
}

static void
test_a_pf_may_tell_nothing(void **state)
{
	uint16_t port = start_pf("caps=-txstatus/-txdone");

	(void)state;
	assert_int_equal(rte_eth_tx_descriptor_status(port, 0, 0), -ENOTSUP);
	assert_int_equal(rte_eth_tx_done_cleanup(port, 0, 0), -ENOTSUP);
}

static void
test_without_a_ring_nothing_waits(void **state)
{
	uint16_t port = start_pf(NULL);
	struct octo_port_tally tally = {0};

	(void)state;
	octo_port_send(port, 0, FLOW, 32);
	assert_int_equal(rte_eth_tx_descriptor_status(port, 0, LAST), RTE_ETH_TX_DESC_DONE);
	assert_int_equal(rte_eth_tx_done_cleanup(port, 0, 0), 0);
	assert_int_equal(octo_port_poll(port, 0, 32, &tally) + octo_port_poll(port, 1, 32, &tally),
			 32);
}

/* Buffers that the application shares are copied, for the first time on this NIC. */
static void
test_a_running_pf_gets_a_queue_with_offloads(void **state)
{
	const struct rte_eth_txconf vlan = {.offloads = RTE_ETH_TX_OFFLOAD_VLAN_INSERT};
	uint16_t port = start_pf(NULL);
	struct octo_port_tally tally = {0};
	struct rte_mbuf *m;

	(void)state;
	assert_int_equal(rte_eth_dev_tx_queue_stop(port, 1), 0);
	assert_int_equal(rte_eth_tx_queue_setup(port, 1, 64, SOCKET_ID_ANY, &vlan), 0);
	octo_port_make(port, FLOW, &m, 1);
	m->ol_flags |= RTE_MBUF_F_TX_VLAN;
	rte_mbuf_refcnt_update(m, 1);
	assert_int_equal(rte_eth_tx_burst(port, 1, &m, 1), 0);
	assert_int_equal(rte_eth_dev_tx_queue_start(port, 1), 0);
	assert_int_equal(rte_eth_tx_burst(port, 1, &m, 1), 1);
	assert_int_equal(octo_port_xstat(port, "tx_copied_packets"), 1);
	rte_pktmbuf_free(m);
	octo_port_await((octo_port_poll(port, 0, 32, &tally), octo_port_poll(port, 1, 32, &tally),
			 tally.packets == 1));
}

static RTE_ATOMIC(bool) is_stuck;

static void *
get_stuck(void *ret)
{
	*(int *)ret = rte_pmd_mpsim_fault("net_mpsim0,tx_stuck,on");
	rte_atomic_store_explicit(&is_stuck, true, rte_memory_order_release);
	return NULL;
}

static void *
set_up_queue(void *ret)
{
	*(int *)ret = rte_eth_tx_queue_setup(octo_port_pf(0), 1, LAST + 1, SOCKET_ID_ANY, NULL);
	return NULL;
}

static uint32_t
nb_waiting(const struct mpsim_nic *nic)
{
	return rte_atomic_load_explicit(&nic->waiters, rte_memory_order_relaxed);
}

static void
get_stuck_during_setup(struct mpsim_nic *nic)
{
	int ret[2] = {-1, -1};
	pthread_t thread[2];

	octo_port_time_is_real();
	mpsim_nic_lock(nic);
	assert_int_equal(pthread_create(&thread[0], NULL, set_up_queue, &ret[0]), 0);
	while (nb_waiting(nic) < 1)
		octo_wait_us(100);
	assert_int_equal(pthread_create(&thread[1], NULL, get_stuck, &ret[1]), 0);
	while (nb_waiting(nic) < 2 &&
	       !rte_atomic_load_explicit(&is_stuck, rte_memory_order_acquire))
		octo_wait_us(100);
	mpsim_nic_unlock(nic);
	for (unsigned int i = 0; i < RTE_DIM(thread); i++) {
		assert_int_equal(pthread_join(thread[i], NULL), 0);
		assert_int_equal(ret[i], 0);
	}
}

/* The NIC is used meanwhile: both wait for it, and the queue is stuck, too. */
static void
test_a_queue_is_set_up_while_the_pf_gets_stuck(void **state)
{
	const struct octo_port_conf conf = {.nb_pfs = 1};
	const struct rte_eth_conf two_senders = {0};
	uint16_t port;

	(void)state;
	octo_port_add_pfs(&conf);
	port = octo_port_pf(0);
	assert_int_equal(octo_port_configure(port, 1), 0);
	assert_int_equal(rte_eth_dev_configure(port, 1, 2, &two_senders), 0);
	get_stuck_during_setup(((struct mpsim_pf *)rte_eth_devices[port].data->dev_private)->nic);
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_send(port, 1, FLOW, 3);
	assert_int_equal(rte_eth_tx_descriptor_status(port, 1, LAST), RTE_ETH_TX_DESC_FULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_frames_wait_and_arrive),
		octo_port_test(test_descriptors_are_in_use_meanwhile),
		octo_port_test(test_what_is_done_is_counted_once),
		octo_port_test(test_a_full_ring_takes_no_more),
		octo_port_test(test_a_queue_that_is_stopped_loses_them),
		octo_port_test(test_a_running_pf_gets_a_queue_with_offloads),
		octo_port_test(test_a_full_wire_is_waited_for),
		octo_port_test(test_a_wire_that_stays_full_drops),
		octo_port_test(test_a_full_wire_drops_at_once),
		octo_port_test(test_a_tx_ring_drops_at_a_full_wire),
		octo_port_test(test_a_queue_is_stopped_while_it_sends),
		octo_port_test(test_a_queue_is_set_up_while_the_pf_gets_stuck),
		octo_port_test(test_a_dead_pf_takes_them_along),
		octo_port_test(test_a_pf_may_tell_nothing),
		octo_port_test(test_without_a_ring_nothing_waits),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
