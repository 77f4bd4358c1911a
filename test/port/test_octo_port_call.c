/* SPDX-License-Identifier: BSD-3-Clause */

/* Calls of the PFs' ports, which most bursts make without a look at anything else. */

#include <ethdev_driver.h>

#include "octo_port.h"

#include "octo_private.h"

#define QUEUES 2
#define BURSTS 200

/* What callbacks of a PF's queue have seen. */
struct seen {
	uint16_t port;
	uint16_t queue;
	uint64_t packets;
	uint64_t of_others; /* said to be of another port or queue */
};

static void
note(struct seen *seen, uint16_t port, uint16_t queue, uint16_t nb)
{
	seen->packets += nb;
	seen->of_others += port != seen->port || queue != seen->queue ? nb : 0;
}

static uint16_t
on_rx(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t nb, uint16_t max, void *arg)
{
	RTE_SET_USED(pkts);
	assert_true(nb <= max);
	note(arg, port, queue, nb);
	return nb;
}

static uint16_t
on_tx(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t nb, void *arg)
{
	RTE_SET_USED(pkts);
	note(arg, port, queue, nb);
	return nb;
}

static void
send_and_receive(uint16_t port, struct octo_port_tally *tally)
{
	for (int i = 0; i < BURSTS; i++) {
		octo_port_send(port, 0, 1000, 1);
		octo_port_poll(port, 0, 32, tally);
	}
	octo_port_receive(port, 0, BURSTS, tally);
}

/* They are told the PF's own port and queue, of each packet once, and can go again. */
static void
test_callbacks_of_a_pf_are_called(void **state)
{
	const struct octo_port_conf conf = {0};
	const uint16_t port = octo_port_create(&conf);
	struct seen rx = {.port = octo_port_pf(0)}, tx = rx;
	struct octo_port_tally tally = {0};
	const struct rte_eth_rxtx_callback *rx_callback, *tx_callback;

	(void)state;
	octo_port_up(port, QUEUES);
	octo_port_steer(port, 1000, 0, NULL);
	rx_callback = rte_eth_add_rx_callback(rx.port, 0, on_rx, &rx);
	tx_callback = rte_eth_add_tx_callback(tx.port, 0, on_tx, &tx);
	assert_non_null(rx_callback);
	assert_non_null(tx_callback);
	send_and_receive(port, &tally);
	assert_int_equal(tally.wrong_port, 0);
	assert_int_equal(rx.packets, BURSTS);
	assert_int_equal(tx.packets, BURSTS);
	assert_int_equal(rx.of_others + tx.of_others, 0);

	assert_int_equal(rte_eth_remove_rx_callback(rx.port, 0, rx_callback), 0);
	assert_int_equal(rte_eth_remove_tx_callback(tx.port, 0, tx_callback), 0);
	tally = (struct octo_port_tally){0};
	send_and_receive(port, &tally);
	assert_int_equal(rx.packets, BURSTS);
	assert_int_equal(tx.packets, BURSTS);
}

/* Of the next bursts of queue 0, Rx and Tx, those that go the short way; seen from inside. */
static int
count_kept(uint16_t port)
{
	const struct octo_rxq *rx = rte_eth_devices[port].data->rx_queues[0];
	const struct octo_txq *tx = rte_eth_devices[port].data->tx_queues[0];

	return (rx->call.thread != 0) + (tx->call.thread != 0);
}

/* The control thread has the sender look again at times of its own. */
static bool
keeps(uint16_t port)
{
	struct octo_port_tally tally = {0};

	send_and_receive(port, &tally);
	return count_kept(port) == 2;
}

/* What a burst function of the PF was called with. */
static void *rx_queue, *tx_queue;

static uint16_t
rx_of_another(void *queue, struct rte_mbuf **pkts, uint16_t nb)
{
	RTE_SET_USED(pkts);
	RTE_SET_USED(nb);
	rx_queue = queue;
	return 0;
}

static uint16_t
tx_of_another(void *queue, struct rte_mbuf **pkts, uint16_t nb)
{
	RTE_SET_USED(pkts);
	RTE_SET_USED(nb);
	tx_queue = queue;
	return 0;
}

/* A PF's queue was set up anew, and its driver has other burst functions: the next burst. */
static void
test_the_queue_of_now_is_called(void **state)
{
	const struct octo_port_conf conf = {0};
	const uint16_t port = octo_port_create(&conf);
	struct rte_eth_fp_ops *ops = &rte_eth_fp_ops[octo_port_pf(0)];
	const struct rte_eth_fp_ops real = *ops;
	void *queues[QUEUES] = {queues, NULL};
	struct rte_mbuf *pkts[4] = {NULL};

	(void)state;
	octo_port_up(port, QUEUES);
	octo_port_steer(port, 1000, 0, NULL);
	octo_port_await(keeps(port));
	rx_queue = NULL;
	tx_queue = NULL;
	ops->rxq.data = queues;
	ops->txq.data = queues;
	ops->rx_pkt_burst = rx_of_another;
	ops->tx_pkt_burst = tx_of_another;
	assert_int_equal(rte_eth_rx_burst(port, 0, pkts, RTE_DIM(pkts)), 0);
	assert_int_equal(rte_eth_tx_burst(port, 0, pkts, 0), 0);
	*ops = real;
	assert_ptr_equal(rx_queue, queues);
	assert_ptr_equal(tx_queue, queues);
}

/* Legs that are the same again may be other ports: whoever was silent meanwhile looks anew. */
static void
test_calls_are_forgotten_when_legs_change(void **state)
{
	const struct octo_port_conf conf = {.replug = true};
	const uint16_t port = octo_port_create(&conf);

	(void)state;
	octo_port_up(port, QUEUES);
	octo_port_steer(port, 1000, 0, NULL);
	octo_port_await(keeps(port));
	octo_port_remove_pf(1);
	assert_int_equal(count_kept(port), 0);
	octo_port_await(keeps(port));
	octo_port_add_pf(&conf, 1);
	octo_port_await(octo_port_pf_is_started(port, 1));
	octo_port_await(count_kept(port) == 0);
	octo_port_await(keeps(port));
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(count_kept(port), 0);
}

static bool
is_signed(struct octo_txq *tx)
{
	const bool is = octo_legs_is_here(&tx->process);

	rte_atomic_store_explicit(&tx->process, 0, rte_memory_order_relaxed);
	return is;
}

/* A process that is killed inside is not waited for: its id must be in the queue by then. */
static void
test_all_that_a_sender_calls_says_who_it_is(void **state)
{
	const struct octo_port_conf conf = {0};
	const uint16_t port = octo_port_create(&conf);
	struct rte_mbuf *pkt;
	struct octo_txq *tx;

	(void)state;
	octo_port_up(port, QUEUES);
	tx = rte_eth_devices[port].data->tx_queues[0];
	assert_false(is_signed(tx));
	octo_port_make(port, 1000, &pkt, 1);
	assert_int_equal(rte_eth_tx_prepare(port, 0, &pkt, 1), 1);
	assert_true(is_signed(tx));
	rte_pktmbuf_free(pkt);
	rte_eth_tx_done_cleanup(port, 0, 0);
	assert_true(is_signed(tx));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_callbacks_of_a_pf_are_called),
		octo_port_test(test_the_queue_of_now_is_called),
		octo_port_test(test_calls_are_forgotten_when_legs_change),
		octo_port_test(test_all_that_a_sender_calls_says_who_it_is),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
