/* SPDX-License-Identifier: BSD-3-Clause */

/* Links of mpsim: two threads look at one; the cable of a NIC whose PFs are all out. */

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

static bool
exists(const char *nic)
{
	struct mpsim_account account;

	return rte_pmd_mpsim_account_get(nic, &account) == 0;
}

static uint64_t
received_by(uint16_t port)
{
	struct rte_eth_stats stats;

	assert_int_equal(rte_eth_stats_get(port, &stats), 0);
	return stats.ipackets;
}

/* A NIC without the PFs that a fault has taken away is a NIC, at its end of the cable. */
static void
test_a_nic_outlives_pfs_that_are_out(void **state)
{
	(void)state;
	assert_int_equal(rte_eal_hotplug_add("vdev", "net_mpsim0", "nic=A"), 0);
	assert_int_equal(rte_eal_hotplug_add("vdev", "net_mpsim1", "nic=B,wire=nic:A"), 0);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,remove"), 0);
	octo_port_await(!octo_port_pf_is_there(0));
	assert_int_equal(rte_eal_hotplug_remove("vdev", "net_mpsim1"), 0);
	assert_true(exists("A"));
	assert_int_equal(rte_eal_hotplug_add("vdev", "net_mpsim1", "nic=B"), 0);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,plug"), 0);
	octo_port_await(octo_port_pf_is_there(0));
	for (unsigned int pf = 0; pf < 2; pf++)
		octo_port_up(octo_port_pf(pf), 1);
	octo_port_send(octo_port_pf(0), 0, 7, 10);
	assert_int_equal(rte_eth_promiscuous_enable(octo_port_pf(1)), 0);
	octo_port_receive(octo_port_pf(1), 0, 10, &(struct octo_port_tally){0});
	assert_int_equal(received_by(octo_port_pf(1)), 10);
	for (unsigned int pf = 0; pf < 2; pf++)
		assert_int_equal(rte_eal_hotplug_remove("vdev", octo_port_pf_name(pf)), 0);
	assert_false(exists("A"));
	assert_false(exists("B"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_link_that_two_threads_look_at),
		octo_port_test(test_a_nic_outlives_pfs_that_are_out),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
