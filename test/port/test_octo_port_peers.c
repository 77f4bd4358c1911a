/* SPDX-License-Identifier: BSD-3-Clause */

/* What a secondary process does to the port that it has attached. Here it is the primary, too. */

#include <dlfcn.h>
#include <unistd.h>

#include <ethdev_driver.h>

#include "octo_port.h"
#include "octo_port_fault.h"

#include "octo_peers.h"
#include "octo_private.h"

static const struct octo_port_conf two_pfs = {0};

static void
raise_in_secondary(uint16_t pf_port_id, enum rte_eth_event_type event)
{
	octo_legs_borrowed = true;
	if (event == RTE_ETH_EVENT_DESTROY)
		octo_peers_lose_pf(pf_port_id);
	else
		rte_eth_dev_callback_process(&rte_eth_devices[pf_port_id], event, NULL);
	octo_legs_borrowed = false;
}

/* What bursts of the secondary get of an Rx queue. */
static unsigned int
poll_in_secondary(uint16_t port, uint16_t queue)
{
	struct rte_mbuf *pkts[32];
	unsigned int got = 0;
	uint16_t n;

	octo_legs_borrowed = true;
	for (int i = 0; i < 100; i++) {
		n = octo_rx_burst_borrowed(rte_eth_devices[port].data->rx_queues[queue], pkts,
					   RTE_DIM(pkts));
		rte_pktmbuf_free_bulk(pkts, n);
		got += n;
	}
	octo_legs_borrowed = false;
	return got;
}

/* EAL has it detached, and attached again as the primary or another secondary cannot detach it. */
static void
test_a_pf_that_is_attached_again_is_polled(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	octo_port_assert_arrives(port, 7, 1, 10);
	raise_in_secondary(octo_port_pf(1), RTE_ETH_EVENT_DESTROY);
	raise_in_secondary(octo_port_pf(1), RTE_ETH_EVENT_NEW);
	octo_port_pass_us(10000);
	octo_port_assert_arrives(port, 7, 1, 10);
}

/* As if the secondary had been killed when it had detached the PF: nobody attaches it again. */
static void
test_a_pf_that_a_secondary_has_detached_is_polled_by_others(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	raise_in_secondary(octo_port_pf(1), RTE_ETH_EVENT_DESTROY);
	octo_port_assert_arrives(port, 7, 1, 10);
}

/* Not even when the primary has started the port anew, until it is attached again. */
static void
test_a_pf_that_a_secondary_has_detached_is_not_used_there(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	raise_in_secondary(octo_port_pf(1), RTE_ETH_EVENT_DESTROY);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	octo_port_send(port, 0, 7, 10);
	assert_int_equal(poll_in_secondary(port, 1), 0);
	raise_in_secondary(octo_port_pf(1), RTE_ETH_EVENT_NEW);
	assert_int_equal(poll_in_secondary(port, 1), 10);
}

/* @return what a burst of the secondary sends of ten packets. */
static uint16_t
send_in_secondary(struct octo_txq *q, uint16_t port)
{
	struct rte_mbuf *pkts[10];
	uint16_t sent;

	octo_port_make(port, 7, pkts, RTE_DIM(pkts));
	octo_legs_borrowed = true;
	sent = octo_tx_burst_borrowed(q, pkts, RTE_DIM(pkts));
	octo_legs_borrowed = false;
	rte_pktmbuf_free_bulk(pkts + sent, RTE_DIM(pkts) - sent);
	return sent;
}

/* The secondary receives and sends by the other PF, until it has this one again. */
static void
test_a_secondary_without_a_pf_uses_another(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_rxq *rxq;
	struct octo_txq *txq;

	(void)state;
	octo_port_up(port, 2);
	rxq = rte_eth_devices[port].data->rx_queues[1];
	txq = rte_eth_devices[port].data->tx_queues[1];
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	send_in_secondary(txq, port);
	assert_int_equal(txq->sent[1], 10);
	assert_int_equal(poll_in_secondary(port, 1), 10);
	raise_in_secondary(octo_port_pf(1), RTE_ETH_EVENT_DESTROY);
	poll_in_secondary(port, 1);
	assert_int_equal(rxq->home, 0);
	octo_port_await(octo_port_rule_pf(port, 7) == 0);
	assert_int_equal(send_in_secondary(txq, port), 10);
	assert_int_equal(txq->sent[0], 10);
	assert_int_equal(poll_in_secondary(port, 1), 10);
	raise_in_secondary(octo_port_pf(1), RTE_ETH_EVENT_NEW);
	poll_in_secondary(port, 1);
	assert_int_equal(rxq->home, 1);
	for (int i = 0; i < 100; i++)
		send_in_secondary(txq, port);
	assert_int_equal(txq->home, 1);
}

/* Queue 0 is the primary's, queue 1 the secondary's. */
static bool
poll_both(uint16_t port, struct octo_rxq *q)
{
	octo_port_poll(port, 0, 32, NULL);
	poll_in_secondary(port, 1);
	octo_port_pass_us(100);
	return !octo_gate_is_held(&q->gate);
}

/* A flow moves from a queue of a secondary, which does not get what is on a PF that it lacks. */
static void
test_a_fence_does_not_wait_for_a_pf_that_a_secondary_lacks(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_dev *octo = rte_eth_devices[port].data->dev_private;
	struct octo_rxq *q;

	(void)state;
	octo_port_up(port, 2);
	q = rte_eth_devices[port].data->rx_queues[0];
	raise_in_secondary(octo_port_pf(1), RTE_ETH_EVENT_DESTROY);
	octo_port_await(poll_both(port, q));
	octo_lock(octo);
	octo_fence_arm_move_locked(octo, 1, 0);
	octo_fence_flipped_locked(octo, 0);
	octo_unlock(octo);
	assert_true(octo_gate_is_held(&q->gate));
	octo_port_await(poll_both(port, q));
	assert_int_equal(q->gate.counts.timeouts, 0);
}

/* In a burst of the secondary: does the queue know whose it is? */
static const RTE_ATOMIC(int32_t) * signature;
static int32_t signed_by;

int
rte_eth_dev_is_valid_port(uint16_t port)
{
	static int (*real)(uint16_t port);

	if (real == NULL)
		real = (int (*)(uint16_t))(uintptr_t)dlsym(RTLD_NEXT, __func__);
	if (signature != NULL)
		signed_by = *signature;
	signature = NULL;
	return real(port);
}

/* If it is killed in its first burst, nobody waits for that for long. */
static void
test_the_first_burst_of_a_secondary_is_signed(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_txq *q;

	(void)state;
	octo_port_up(port, 2);
	q = rte_eth_devices[port].data->tx_queues[1];
	assert_int_equal(q->process, 0);
	signed_by = 0;
	signature = &q->process;
	octo_legs_borrowed = true;
	octo_tx_burst_borrowed(q, NULL, 0);
	octo_legs_borrowed = false;
	assert_int_equal(signed_by, getpid());
}

/* A secondary was killed while it sent during a switch, and another one sends. */
static uint16_t
send_after_a_killed_process(uint16_t port, int32_t process)
{
	struct octo_txq *q = rte_eth_devices[port].data->tx_queues[1];

	q->to = 0;
	q->via = OCTO_TX_NO_PF;
	q->holder = process;
	octo_port_pass_us(100000);
	return send_in_secondary(q, port);
}

static void
test_another_sends_after_a_process_that_was_killed(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_txq *q;

	(void)state;
	octo_port_up(port, 2);
	q = rte_eth_devices[port].data->tx_queues[1];
	send_in_secondary(q, port);
	assert_int_equal(send_after_a_killed_process(port, octo_port_dead_process()), 10);
	assert_int_equal(q->sent[0], 10);
}

/* It may live: the id is unknown here. */
static void
test_a_sender_of_another_pid_namespace_is_waited_for(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	const int32_t process = octo_port_dead_process();
	struct octo_dev *octo = rte_eth_devices[port].data->dev_private;

	(void)state;
	octo_port_up(port, 2);
	octo->legs.borrowers.process[0] = RTE_BIT64(32) | (uint32_t)process;
	assert_int_equal(send_after_a_killed_process(port, process), 0);
	octo->legs.borrowers.process[0] = 0;
	/* a start is told that nobody sends */
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_int_equal(send_in_secondary(rte_eth_devices[port].data->tx_queues[1], port), 10);
}

/* The queue is set up anew before the control thread has seen that its sender was killed. */
static void
test_what_a_killed_process_put_aside_is_counted(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_eth_stats stats;
	struct octo_txq *q;

	(void)state;
	octo_port_up(port, 2);
	q = rte_eth_devices[port].data->tx_queues[1];
	q->via = OCTO_TX_NO_PF;
	q->holder = octo_port_dead_process();
	q->stash.first = 3;
	q->stash.nb = 10;
	assert_int_equal(rte_eth_dev_stop(port), 0);
	octo_port_up(port, 2);
	assert_int_equal(octo_port_xstat(port, "tx_switch_drops"), 7);
	assert_int_equal(octo_port_xstat(port, "tx_switch_waiting"), 0);
	assert_int_equal(rte_eth_stats_get(port, &stats), 0);
	assert_int_equal(stats.oerrors, 7);
	assert_int_equal(send_in_secondary(rte_eth_devices[port].data->tx_queues[1], port), 10);
}

static const struct octo_port_conf four_pfs = {.nb_pfs = 4, .replug = true};

static uint16_t
create_four(void)
{
	uint16_t port = octo_port_create(&four_pfs);

	octo_port_up(port, 4);
	for (uint16_t q = 0; q < 4; q++) {
		assert_non_null(octo_port_steer(port, 7 + q, q, NULL));
		octo_port_await(octo_port_leads_to(port, 7 + q, q, q));
	}
	return port;
}

/* One after the other; the secondary gets what has come meanwhile. */
static void
test_pfs_that_are_attached_again(void **state)
{
	uint16_t port = create_four();

	(void)state;
	for (uint16_t pf = 1; pf < 4; pf++) {
		raise_in_secondary(octo_port_pf(pf), RTE_ETH_EVENT_DESTROY);
		octo_port_send(port, 0, 7 + pf, 10);
	}
	for (uint16_t pf = 1; pf < 4; pf += 2)
		raise_in_secondary(octo_port_pf(pf), RTE_ETH_EVENT_NEW);
	assert_int_equal(poll_in_secondary(port, 1), 10);
	assert_int_equal(poll_in_secondary(port, 2), 0);
	assert_int_equal(poll_in_secondary(port, 3), 10);
	raise_in_secondary(octo_port_pf(2), RTE_ETH_EVENT_NEW);
	assert_int_equal(poll_in_secondary(port, 2), 10);
}

/* Nor does the loss and the return of another PF change that. */
static void
test_a_pf_that_is_detached_is_not_polled(void **state)
{
	uint16_t port = create_four();

	(void)state;
	raise_in_secondary(octo_port_pf(2), RTE_ETH_EVENT_DESTROY);
	octo_port_send(port, 0, 9, 10);
	octo_port_remove_pf(3);
	assert_int_equal(poll_in_secondary(port, 2), 0);
	octo_port_add_pf(&four_pfs, 3);
	octo_port_await(octo_port_pf_is_started(port, 3));
	assert_int_equal(poll_in_secondary(port, 2), 0);
	raise_in_secondary(octo_port_pf(2), RTE_ETH_EVENT_NEW);
	assert_int_equal(poll_in_secondary(port, 2), 10);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_pf_that_is_attached_again_is_polled),
		octo_port_test(test_a_pf_that_a_secondary_has_detached_is_polled_by_others),
		octo_port_test(test_a_pf_that_a_secondary_has_detached_is_not_used_there),
		octo_port_test(test_a_secondary_without_a_pf_uses_another),
		octo_port_test(test_a_fence_does_not_wait_for_a_pf_that_a_secondary_lacks),
		octo_port_test(test_the_first_burst_of_a_secondary_is_signed),
		octo_port_test(test_another_sends_after_a_process_that_was_killed),
		octo_port_test(test_a_sender_of_another_pid_namespace_is_waited_for),
		octo_port_test(test_what_a_killed_process_put_aside_is_counted),
		octo_port_test(test_pfs_that_are_attached_again),
		octo_port_test(test_a_pf_that_is_detached_is_not_polled),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
