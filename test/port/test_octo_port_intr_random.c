/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rx interrupts with threads: one sends single packets at random moments by random legs, another
 * one sleeps without a time limit. If a packet did not wake it, the test would hang.
 */

#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_epoll.h>
#include <rte_interrupts.h>
#include <rte_pause.h>
#include <rte_random.h>

#include "octo_port.h"

#define LEGS 4
#define FLOW 200
/* The environment may ask for more. */
#define PACKETS 2000
#define PACKETS_ENV "OCTO_PORT_PACKETS"
#define PAUSES 1000
#define LONG_MS 10

static struct {
	uint16_t port;
	RTE_ATOMIC(uint64_t) received;
	RTE_ATOMIC(uint64_t) when; /* the last one */
	RTE_ATOMIC(uint64_t) sleeps;
	RTE_ATOMIC(bool) ready;
	RTE_ATOMIC(bool) over;
} poller;

static void
poll_until_empty(struct octo_port_tally *tally)
{
	while (octo_port_poll(poller.port, 0, 32, tally) > 0) {
		rte_atomic_store_explicit(&poller.when, octo_now(), rte_memory_order_relaxed);
		rte_atomic_store_explicit(&poller.received, tally->packets,
					  rte_memory_order_release);
	}
}

static void *
sleep_and_poll(void *arg)
{
	struct octo_port_tally tally = {0};
	struct rte_epoll_event event;

	assert_int_equal(rte_eth_dev_rx_intr_ctl_q(poller.port, 0, RTE_EPOLL_PER_THREAD,
						   RTE_INTR_EVENT_ADD, NULL),
			 0);
	rte_atomic_store_explicit(&poller.ready, true, rte_memory_order_release);
	while (!rte_atomic_load_explicit(&poller.over, rte_memory_order_relaxed)) {
		poll_until_empty(&tally);
		assert_int_equal(rte_eth_dev_rx_intr_enable(poller.port, 0), 0);
		/* the last packet may have been polled: nothing would wake */
		if (rte_atomic_load_explicit(&poller.over, rte_memory_order_acquire))
			break;
		assert_int_equal(rte_epoll_wait(RTE_EPOLL_PER_THREAD, &event, 1, -1), 1);
		rte_atomic_fetch_add_explicit(&poller.sleeps, 1, rte_memory_order_relaxed);
		assert_int_equal(rte_eth_dev_rx_intr_disable(poller.port, 0), 0);
	}
	poll_until_empty(&tally);
	return arg;
}

static bool
has_received(uint64_t packets)
{
	return rte_atomic_load_explicit(&poller.received, rte_memory_order_acquire) >= packets;
}

/* Before the next packet: the poller is awake, arms the legs, or sleeps. */
static void
wait_a_moment(void)
{
	if (rte_rand_max(16) == 0)
		octo_wait_us(rte_rand_max(2000));
	for (uint64_t i = rte_rand_max(PAUSES); i > 0; i--)
		rte_pause();
}

/* Returns the time until it was received. */
static uint64_t
send_one(uint64_t nb_before)
{
	struct octo_port_tally none = {0};
	const uint64_t begin = octo_now();

	octo_port_send(poller.port, 1, FLOW + rte_rand_max(LEGS), 1);
	/* poll another queue, so that the packet is in its ring before anything is signalled */
	if (rte_rand_max(2) == 0)
		octo_port_poll(poller.port, 1, 32, &none);
	while (!has_received(nb_before + 1))
		octo_wait_us(1);
	return rte_atomic_load_explicit(&poller.when, rte_memory_order_relaxed) - begin;
}

static uint64_t
nb_packets(void)
{
	const char *given = getenv(PACKETS_ENV);

	return given == NULL ? PACKETS : strtoull(given, NULL, 10);
}

static void
test_every_packet_wakes(void **state)
{
	const struct octo_port_conf conf = {.nb_pfs = LEGS};
	const struct rte_eth_conf with_interrupts = {.intr_conf = {.rxq = 1}};
	const uint64_t packets = nb_packets();
	uint64_t longest = 0, all = 0, late = 0, sleeps;

	(void)state;
	octo_port_time_is_real();
	poller.port = octo_port_create(&conf);
	octo_port_up_as(poller.port, 2, &with_interrupts);
	for (unsigned int pf = 0; pf < LEGS; pf++)
		assert_non_null(octo_port_overrule(FLOW + pf, pf));
	octo_port_thread_start(sleep_and_poll, NULL);
	while (!rte_atomic_load_explicit(&poller.ready, rte_memory_order_acquire))
		octo_wait_us(100);
	for (uint64_t i = 0; i < packets; i++) {
		uint64_t time;

		wait_a_moment();
		time = send_one(i);
		longest = RTE_MAX(longest, time);
		late += time > LONG_MS * rte_get_timer_hz() / MS_PER_S;
		all += time;
	}
	sleeps = rte_atomic_load_explicit(&poller.sleeps, rte_memory_order_relaxed);
	print_message("%" PRIu64 " packets, %" PRIu64 " sleeps; waited %.1f us, at most %.1f us; "
		      "%" PRIu64 " longer than %u ms\n",
		      packets, sleeps, 1e6 * all / packets / rte_get_timer_hz(),
		      1e6 * longest / rte_get_timer_hz(), late, LONG_MS);
	assert_true(octo_port_strays(poller.port) > 0);
	assert_true(sleeps > 0);
	/* pairs with the acquire after arming */
	rte_atomic_store_explicit(&poller.over, true, rte_memory_order_release);
	octo_port_send(poller.port, 1, FLOW, 1);
	octo_port_thread_stop();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_every_packet_wakes),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
