/* SPDX-License-Identifier: BSD-3-Clause */

/* A Tx queue goes from one PF to another: nothing is lost, nothing is overtaken. */

#include <dlfcn.h>
#include <pthread.h>

#include <ethdev_driver.h>

#include "octo_port.h"
#include "octo_private.h"
#include "octo_tracking.h"

#define FLOW 7
#define BURST 32
/* longer than any test */
#define FOR_EVER "tx_delay_us=60000000"

static struct {
	uint16_t port;
	uint16_t queue;
	uint32_t sent; /* the next sequence number */
	uint32_t seen;
	uint32_t reordered;
} run;

static void
start(const struct octo_port_conf *conf, uint16_t queue)
{
	memset(&run, 0, sizeof(run));
	octo_port_run_on(0);
	run.port = octo_port_create(conf);
	run.queue = queue;
	octo_port_up(run.port, 2);
}

static void
look_at(struct rte_mbuf **pkts, uint16_t n)
{
	/* whatever is missing will never be in its place */
	for (uint16_t i = 0; i < n; i++)
		run.reordered += octo_port_number(pkts[i]) != run.seen++;
	rte_pktmbuf_free_bulk(pkts, n);
}

static void
poll_all(void)
{
	struct rte_mbuf *pkts[BURST];

	for (uint16_t q = 0; q < 2; q++)
		look_at(pkts, rte_eth_rx_burst(run.port, q, pkts, BURST));
}

/* One burst. Returns how many were taken; the rest is forgotten, and gets no number. */
static uint16_t
send_burst(uint16_t n)
{
	const uint16_t sent = octo_port_send_numbered(run.port, run.queue, FLOW, run.sent, n);

	run.sent += sent;
	return sent;
}

static uint64_t
xstat(const char *name)
{
	return octo_port_xstat(run.port, "%s", name);
}

/* Until the queue has gone to another PF so many times, or at least wants to. */
static void
send_until_switched(uint64_t switches)
{
	while (xstat("tx_switches") < switches) {
		/* a queue looks where its thread is every 64 bursts */
		for (int i = 0; i < 64; i++) {
			send_burst(1 + i % 4);
			poll_all();
		}
	}
}

/* Leads to a queue that holds packets back, as the PF that it comes from never drains. */
static void
send_until_held(void)
{
	while (send_burst(1) == 1 && xstat("tx_switch_stashed") == 0)
		;
	assert_true(xstat("tx_switch_stashed") > 0);
}

static void
assert_all_arrive_in_order(void)
{
	octo_port_await((poll_all(), run.seen >= run.sent));
	assert_int_equal(run.seen, run.sent);
	assert_int_equal(run.reordered, 0);
}

static void
switch_to_and_fro(const struct octo_port_conf *conf, uint16_t queue, unsigned int switches)
{
	struct octo_port_conf restless = *conf;

	restless.octo = "dwell_ms=0";
	start(&restless, queue);
	send_burst(1);
	for (unsigned int i = 0; i < switches; i++) {
		octo_port_run_on((i + 1) % 2);
		send_until_switched(i + 1);
	}
	assert_all_arrive_in_order();
	assert_int_equal(xstat("tx_switches"), switches);
	assert_int_equal(xstat("tx_switch_timeouts"), 0);
	assert_int_equal(xstat("tx_switch_drops"), 0);
	assert_int_equal(xstat("tx_good_packets"), run.sent);
}

/* Each way there is a PF that takes its time. */
static void
test_order_is_kept(void **state)
{
	const struct octo_port_conf conf = {.two_nodes = true,
					    .pf = {"tx_delay_us=300", "tx_delay_us=10"}};

	(void)state;
	switch_to_and_fro(&conf, 0, 100);
}

static void
test_order_is_kept_on_four_pfs(void **state)
{
	const struct octo_port_conf conf = {
		.nb_pfs = 4,
		.two_nodes = true,
		.pf = {NULL, "tx_delay_us=10", "tx_delay_us=300", NULL},
	};

	(void)state;
	switch_to_and_fro(&conf, 1, 100);
}

/* What is done is counted, but for all it knows there may be more: shorter than the grace time. */
static void
test_order_is_kept_by_the_done_count(void **state)
{
	const struct octo_port_conf conf = {
		.two_nodes = true,
		.all = "caps=-txstatus",
		.pf = {"tx_delay_us=40", NULL},
	};

	(void)state;
	switch_to_and_fro(&conf, 0, 50);
}

static void
test_order_is_kept_by_time_alone(void **state)
{
	const struct octo_port_conf conf = {
		.two_nodes = true,
		.all = "caps=-txstatus/-txdone",
		.pf = {"tx_delay_us=40", NULL},
	};

	(void)state;
	switch_to_and_fro(&conf, 0, 50);
}

/* The first home is a guess: nothing was sent by it. */
static void
test_the_first_home_is_no_switch(void **state)
{
	const struct octo_port_conf conf = {.two_nodes = true, .all = FOR_EVER};

	(void)state;
	start(&conf, 0);
	octo_port_run_on(1);
	assert_int_equal(send_burst(BURST), BURST);
	assert_int_equal(xstat("tx_q0_pf1_packets"), BURST);
	assert_int_equal(xstat("tx_switches"), 0);
}

/* As often as makes sure from where. */
static void *
send_a_little(void *arg)
{
	RTE_SET_USED(arg);
	for (int i = 0; i < OCTO_TRACKING_SURE; i++)
		send_burst(1);
	return NULL;
}

/* Who sends for the first time is looked at; the same thread would be every 64 bursts. */
static void
test_another_thread_is_followed_at_once(void **state)
{
	const struct octo_port_conf conf = {.two_nodes = true};

	(void)state;
	start(&conf, 0);
	send_burst(3);
	octo_port_run_on(1);
	octo_port_thread_start(send_a_little, NULL);
	octo_port_await(xstat("tx_switches") == 1);
	octo_port_thread_stop();
	assert_all_arrive_in_order();
}

/* Once in a second it may: every change in between is none. */
static void
test_who_goes_back_and_forth_is_not_followed(void **state)
{
	const struct octo_port_conf conf = {.two_nodes = true, .octo = "dwell_ms=1000"};
	uint64_t seconds;

	(void)state;
	start(&conf, 0);
	send_burst(3);
	octo_port_run_on(1);
	send_until_switched(1);
	seconds = octo_now();
	for (int i = 0; i < 20; i++) {
		octo_port_run_on(i % 2);
		for (int burst = 0; burst < 100; burst++) {
			send_burst(1);
			poll_all();
		}
	}
	seconds = (octo_now() - seconds) / rte_get_timer_hz();
	assert_true(xstat("tx_switches") <= 2 + seconds);
	assert_all_arrive_in_order();
}

/* Some are put aside; then the application keeps them. */
static void
test_a_ring_that_does_not_drain_is_not_fed(void **state)
{
	const struct octo_port_conf conf = {.two_nodes = true, .pf = {FOR_EVER, NULL}};
	uint64_t by_old;

	(void)state;
	start(&conf, 0);
	send_burst(3);
	octo_port_run_on(1);
	send_until_held();
	by_old = xstat("tx_q0_pf0_packets");
	while (send_burst(BURST) == BURST)
		;
	assert_int_equal(send_burst(BURST), 0);
	assert_true(xstat("tx_switch_refused") >= BURST);
	assert_int_equal(xstat("tx_switch_stashed"), run.sent - by_old);
	assert_int_equal(xstat("tx_switch_waiting"), run.sent - by_old);
	assert_int_equal(xstat("tx_q0_pf0_packets"), by_old);
	assert_int_equal(xstat("tx_q0_pf1_packets"), 0);
	assert_int_equal(rte_eth_tx_descriptor_status(run.port, 0, OCTO_PORT_NB_DESC - 1),
			 RTE_ETH_TX_DESC_FULL);
}

/* What was put aside goes by the other PF; lost is what the dead one had on its ring. */
static void
test_a_dead_pf_is_not_waited_for(void **state)
{
	const struct octo_port_conf conf = {.two_nodes = true, .pf = {FOR_EVER, NULL}};
	uint64_t dead;

	(void)state;
	start(&conf, 0);
	send_burst(3);
	octo_port_run_on(1);
	send_until_held();
	send_burst(BURST);
	octo_port_remove_pf(0);
	dead = octo_port_xstat(octo_port_pf(1), "nic_dead_tx_ring_drops");
	run.seen = dead;
	send_burst(BURST);
	assert_all_arrive_in_order();
	assert_int_equal(xstat("tx_q0_pf1_packets"), run.sent - dead);
	assert_int_equal(xstat("tx_q0_pf0_packets"), dead);
}

/* A PF without link sends nothing of what it has. */
static void
test_a_pf_without_link_is_not_waited_for(void **state)
{
	const struct octo_port_conf conf = {
		.two_nodes = true, .nic = "default_pf=1", .pf = {FOR_EVER, NULL}};
	uint64_t by_old;

	(void)state;
	start(&conf, 0);
	send_burst(3);
	octo_port_run_on(1);
	send_until_held();
	by_old = xstat("tx_q0_pf0_packets");
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(0)), 0);
	run.seen = by_old;
	octo_port_await((poll_all(), run.seen == run.sent));
	assert_int_equal(run.reordered, 0);
	assert_int_equal(xstat("tx_q0_pf1_packets"), run.sent - by_old);
}

static unsigned int cleanups;

static int
count_cleanup(void *queue, uint32_t free_cnt)
{
	RTE_SET_USED(queue);
	RTE_SET_USED(free_cnt);
	cleanups++;
	return 0;
}

/* It may be sending by the same rings, and one thread may do that at a time. */
static void
test_a_cleanup_keeps_out_of_what_the_control_thread_does(void **state)
{
	const struct octo_port_conf conf = {.two_nodes = true, .pf = {FOR_EVER, NULL}};
	static struct eth_dev_ops ops;
	const struct eth_dev_ops *real;
	struct octo_txq *q;

	(void)state;
	cleanups = 0;
	start(&conf, 0);
	q = rte_eth_devices[run.port].data->tx_queues[0];
	real = rte_eth_devices[octo_port_pf(0)].dev_ops;
	ops = *real;
	ops.tx_done_cleanup = count_cleanup;
	send_burst(3);
	octo_port_run_on(1);
	send_until_held();
	for (unsigned int pf = 0; pf < 2; pf++)
		rte_eth_devices[octo_port_pf(pf)].dev_ops = &ops;
	/* as octo_tx_tick_locked() does */
	assert_true(octo_legs_try_lock(&q->holder));
	assert_int_equal(rte_eth_tx_done_cleanup(run.port, 0, 0), 0);
	octo_legs_unlock(&q->holder);
	assert_int_equal(cleanups, 0);
	assert_int_equal(rte_eth_tx_done_cleanup(run.port, 0, 0), 0);
	assert_int_equal(cleanups, 2);
	assert_int_equal(q->holder, 0);
	for (unsigned int pf = 0; pf < 2; pf++)
		rte_eth_devices[octo_port_pf(pf)].dev_ops = real;
}

/* The sender says nothing more, as one does that waits for an answer. */
static void
test_what_was_put_aside_does_not_wait_for_more(void **state)
{
	const struct octo_port_conf conf = {.two_nodes = true, .pf = {"tx_delay_us=300000", NULL}};

	(void)state;
	start(&conf, 0);
	send_burst(3);
	octo_port_run_on(1);
	send_until_held();
	assert_all_arrive_in_order();
	assert_int_equal(xstat("tx_switches"), 1);
}

static void
test_a_stuck_pf_is_given_up(void **state)
{
	const struct octo_port_conf conf = {.two_nodes = true, .pf = {FOR_EVER, NULL}};
	uint64_t by_old;

	(void)state;
	start(&conf, 0);
	send_burst(3);
	octo_port_run_on(1);
	send_until_held();
	by_old = xstat("tx_q0_pf0_packets");
	run.seen = by_old;
	octo_port_await((poll_all(), run.seen == run.sent));
	assert_int_equal(run.reordered, 0);
	assert_int_equal(xstat("tx_switch_timeouts"), 1);
	assert_int_equal(xstat("tx_q0_pf1_packets"), run.sent - by_old);
}

/* No buffer stays behind: see octo_port_teardown(). */
static void
test_a_stopped_port_drops_what_was_put_aside(void **state)
{
	const struct octo_port_conf conf = {.two_nodes = true, .pf = {FOR_EVER, NULL}};
	struct rte_eth_stats stats;
	uint64_t by_old;

	(void)state;
	start(&conf, 0);
	send_burst(3);
	octo_port_run_on(1);
	send_until_held();
	send_burst(10);
	by_old = xstat("tx_q0_pf0_packets");
	assert_int_equal(rte_eth_dev_stop(run.port), 0);
	assert_int_equal(xstat("tx_switch_drops"), run.sent - by_old);
	assert_int_equal(rte_eth_stats_get(run.port, &stats), 0);
	assert_int_equal(stats.oerrors, run.sent);
	/* and it starts anew, by the new PF */
	assert_int_equal(rte_eth_dev_start(run.port), 0);
	run.seen = run.sent;
	send_burst(BURST);
	assert_all_arrive_in_order();
	assert_int_equal(xstat("tx_q0_pf1_packets"), BURST);
}

/* It was killed while it sent what was put aside: that may be on a ring, or free, by now. */
static void
test_what_a_dead_sender_put_aside_is_not_sent(void **state)
{
	const struct octo_port_conf conf = {.two_nodes = true, .pf = {FOR_EVER, NULL}};
	struct rte_mbuf *aside[OCTO_TX_STASH];
	struct octo_txq *q;
	uint16_t n;

	(void)state;
	start(&conf, 0);
	q = rte_eth_devices[run.port].data->tx_queues[0];
	send_burst(3);
	octo_port_run_on(1);
	send_until_held();
	send_burst(10);
	n = q->stash.nb - q->stash.first;
	memcpy(aside, q->stash.pkts + q->stash.first, n * sizeof(*aside));
	assert_true(octo_legs_try_lock(&q->holder));
	assert_int_equal(rte_eth_dev_stop(run.port), 0);
	rte_pktmbuf_free_bulk(aside, n);
	assert_int_equal(rte_eth_dev_start(run.port), 0);
	octo_port_pass_us(100000);
	poll_all();
	assert_int_equal(run.seen, 0);
	assert_int_equal(xstat("tx_q0_pf1_packets"), 0);
	assert_int_equal(xstat("tx_switch_waiting"), 0);
	assert_int_equal(xstat("tx_switch_drops"), n);
	run.seen = run.sent;
	send_burst(BURST);
	assert_all_arrive_in_order();
}

/* The control mutex, once it is known. */
static uintptr_t control_mutex;
static __thread bool learns_mutex, gives_way;

/* Where this thread gives the control mutex back, the control thread has its turn. */
int
pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	static int (*real)(pthread_mutex_t *);
	int ret;

	if (real == NULL)
		real = (int (*)(pthread_mutex_t *))(uintptr_t)dlsym(RTLD_NEXT, __func__);
	ret = real(mutex);
	if (learns_mutex)
		control_mutex = (uintptr_t)mutex;
	if (!gives_way || (uintptr_t)mutex != control_mutex)
		return ret;
	gives_way = false;
	/* a PF without link is not waited for: what was put aside may go by the other */
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(0)), 0);
	octo_port_pass_us(100000);
	return ret;
}

static RTE_ATOMIC(uint32_t) stray_bursts;

static uint16_t
count_burst(void *queue, struct rte_mbuf **pkts, uint16_t nb)
{
	RTE_SET_USED(queue);
	RTE_SET_USED(pkts);
	rte_atomic_fetch_add_explicit(&stray_bursts, nb != 0, rte_memory_order_relaxed);
	return 0;
}

/* Nothing of it is sent by a queue that was stopped. */
static void
test_a_stopped_queue_drops_what_was_put_aside(void **state)
{
	const struct octo_port_conf conf = {.two_nodes = true, .pf = {FOR_EVER, NULL}};
	struct octo_view_topology view;
	uint64_t stashed;

	(void)state;
	start(&conf, 0);
	send_burst(3);
	octo_port_run_on(1);
	send_until_held();
	stashed = xstat("tx_switch_stashed");
	learns_mutex = true;
	assert_int_equal(rte_pmd_octo_view_topology(run.port, &view), 0);
	learns_mutex = false;
	rte_eth_fp_ops[octo_port_pf(1)].tx_pkt_burst = count_burst;
	gives_way = true;
	assert_int_equal(rte_eth_dev_tx_queue_stop(run.port, 0), 0);
	assert_false(gives_way);
	assert_int_equal(rte_atomic_load_explicit(&stray_bursts, rte_memory_order_relaxed), 0);
	assert_int_equal(xstat("tx_switch_drops"), stashed);
	assert_int_equal(xstat("tx_switch_waiting"), 0);
}

static void
set_up_again(void)
{
	assert_int_equal(rte_eth_tx_queue_setup(run.port, 0, 64, SOCKET_ID_ANY, NULL), 0);
	assert_int_equal(xstat("tx_switch_waiting"), 0);
	assert_int_equal(xstat("tx_switch_drops"), xstat("tx_switch_stashed"));
	assert_int_equal(rte_eth_dev_tx_queue_start(run.port, 0), 0);
	run.seen = run.sent;
	send_burst(BURST);
	assert_all_arrive_in_order();
	assert_int_equal(xstat("tx_q0_pf1_packets"), BURST);
}

/* The new queue has no switch to complete, and sends by the PF that is near at once. */
static void
test_a_queue_is_set_up_again_during_a_switch(void **state)
{
	const struct octo_port_conf conf = {.two_nodes = true, .pf = {FOR_EVER, NULL}};

	(void)state;
	start(&conf, 0);
	send_burst(3);
	octo_port_run_on(1);
	send_until_held();
	assert_int_equal(rte_eth_dev_tx_queue_stop(run.port, 0), 0);
	set_up_again();
}

/* The old PF is asked by a burst that puts packets aside, and the queue is stopped meanwhile. */
static int
stop_in_a_burst(void *queue, uint16_t offset)
{
	RTE_SET_USED(queue);
	RTE_SET_USED(offset);
	if (rte_eth_devices[run.port].data->tx_queue_state[0] == RTE_ETH_QUEUE_STATE_STARTED)
		assert_int_equal(rte_eth_dev_tx_queue_stop(run.port, 0), 0);
	return RTE_ETH_TX_DESC_FULL;
}

static void
test_what_a_late_burst_put_aside_is_counted(void **state)
{
	const struct octo_port_conf conf = {.two_nodes = true, .pf = {FOR_EVER, NULL}};
	struct rte_eth_fp_ops *old;
	eth_tx_descriptor_status_t real;

	(void)state;
	start(&conf, 0);
	old = &rte_eth_fp_ops[octo_port_pf(0)];
	real = old->tx_descriptor_status;
	send_burst(3);
	octo_port_run_on(1);
	send_until_held();
	old->tx_descriptor_status = stop_in_a_burst;
	send_burst(10);
	old->tx_descriptor_status = real;
	assert_true(xstat("tx_switch_waiting") >= 10);
	assert_int_equal(xstat("tx_switch_drops"), 0);
	set_up_again();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_order_is_kept),
		octo_port_test(test_order_is_kept_on_four_pfs),
		octo_port_test(test_order_is_kept_by_the_done_count),
		octo_port_test(test_order_is_kept_by_time_alone),
		octo_port_test(test_another_thread_is_followed_at_once),
		octo_port_test(test_who_goes_back_and_forth_is_not_followed),
		octo_port_test(test_the_first_home_is_no_switch),
		octo_port_test(test_a_ring_that_does_not_drain_is_not_fed),
		octo_port_test(test_a_dead_pf_is_not_waited_for),
		octo_port_test(test_a_pf_without_link_is_not_waited_for),
		octo_port_test(test_a_cleanup_keeps_out_of_what_the_control_thread_does),
		octo_port_test(test_what_was_put_aside_does_not_wait_for_more),
		octo_port_test(test_a_stuck_pf_is_given_up),
		octo_port_test(test_a_stopped_port_drops_what_was_put_aside),
		octo_port_test(test_what_a_dead_sender_put_aside_is_not_sent),
		octo_port_test(test_a_stopped_queue_drops_what_was_put_aside),
		octo_port_test(test_a_queue_is_set_up_again_during_a_switch),
		octo_port_test(test_what_a_late_burst_put_aside_is_counted),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
