/* SPDX-License-Identifier: BSD-3-Clause */

/* What mpsim says of a link while several threads look at it. */

#include <pthread.h>

#include <rte_alarm.h>

#include "octo_clock.h"
#include "octo_port.h"

#include "mpsim_control.h"

static const struct octo_port_conf two_pfs = {0};

static bool
is_set(RTE_ATOMIC(bool) * flag)
{
	return rte_atomic_load_explicit(flag, rte_memory_order_acquire);
}

static bool
has_link(uint16_t port)
{
	struct rte_eth_link link;

	assert_int_equal(rte_eth_link_get_nowait(port, &link), 0);
	return link.link_status == RTE_ETH_LINK_UP;
}

#define TOGGLES 20

static void *
toggle_link(void *done)
{
	for (unsigned int i = 0; i < TOGGLES; i++) {
		rte_eth_dev_set_link_down(octo_port_pf(0));
		rte_eth_dev_set_link_up(octo_port_pf(0));
	}
	rte_atomic_store_explicit((RTE_ATOMIC(bool) *)done, true, rte_memory_order_release);
	return NULL;
}

static void
note_alarm(void *arg)
{
	rte_atomic_store_explicit((RTE_ATOMIC(bool) *)arg, true, rte_memory_order_release);
}

/* The interrupt thread looks at a link while another thread sets it: the last one counts. */
static void
test_a_link_that_two_threads_look_at(void **state)
{
	RTE_ATOMIC(bool) done, told;
	pthread_t thread;

	(void)state;
	octo_port_add_pfs(&two_pfs);
	octo_port_up(octo_port_pf(0), 1);
	octo_port_await(has_link(octo_port_pf(0)));
	for (unsigned int i = 0; i < 100; i++) {
		done = told = false;
		assert_int_equal(pthread_create(&thread, NULL, toggle_link, &done), 0);
		while (!is_set(&done))
			assert_int_equal(rte_pmd_mpsim_fault("T,link,up"), 0);
		pthread_join(thread, NULL);
		/* it is behind those that look at the link */
		assert_int_equal(rte_eal_alarm_set(2, note_alarm, &told), 0);
		while (!is_set(&told))
			octo_wait_us(10);
		if (!has_link(octo_port_pf(0)))
			fail_msg("round %u: the link is up, and is said to be down", i);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_link_that_two_threads_look_at),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
