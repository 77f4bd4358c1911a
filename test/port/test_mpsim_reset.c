/* SPDX-License-Identifier: BSD-3-Clause */

/* A simulated PF asks to be reset, and is. */

#include <errno.h>

#include "mpsim_control.h"
#include "octo_port.h"

#define FLOW 7

static RTE_ATOMIC(unsigned int) nb_heard;

static int
hear(uint16_t port, enum rte_eth_event_type event, void *arg, void *ret)
{
	RTE_SET_USED(event);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	assert_int_equal(port, octo_port_pf(0));
	rte_atomic_fetch_add_explicit(&nb_heard, 1, rte_memory_order_release);
	return 0;
}

static int
setup(void **state)
{
	nb_heard = 0;
	rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_INTR_RESET, hear, NULL);
	return octo_port_setup(state);
}

static int
teardown(void **state)
{
	rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_INTR_RESET, hear, NULL);
	return octo_port_teardown(state);
}

#define reset_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static uint16_t
start_pfs(void)
{
	static const struct octo_port_conf two_pfs;

	octo_port_add_pfs(&two_pfs);
	octo_port_up(octo_port_pf(0), 2);
	octo_port_up(octo_port_pf(1), 2);
	return octo_port_pf(0);
}

/* The event is raised in another thread. */
static void
ask_for_reset(const char *fault)
{
	const unsigned int before = nb_heard;

	assert_int_equal(rte_pmd_mpsim_fault(fault), 0);
	octo_port_await(nb_heard == before + 1);
}

/* Does PF 0 get what is sent? */
static bool
works(void)
{
	struct octo_port_tally tally = {0};

	octo_port_send(octo_port_pf(1), 0, FLOW, 8);
	octo_port_receive(octo_port_pf(0), 0, 8, &tally);
	return tally.packets == 8;
}

static void
test_it_works_again_after_a_reset(void **state)
{
	const uint16_t port = start_pfs();
	struct mpsim_account a;

	(void)state;
	assert_true(works());
	ask_for_reset("net_mpsim0,reset");
	assert_false(works());
	assert_int_equal(octo_port_xstat(port, "rx_dead_drops"), 8);
	/* a restart is not enough */
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_false(works());
	assert_int_equal(rte_eth_dev_reset(port), 0);
	octo_port_up(port, 2);
	assert_true(works());
	assert_int_equal(rte_pmd_mpsim_account_get("T", &a), 0);
	assert_int_equal(a.unaccounted, 0);
}

/* Also where nothing asks for it: neither queues, nor rules. */
static void
test_it_is_as_after_its_probe(void **state)
{
	const uint16_t port = start_pfs();
	struct rte_eth_dev_info info;
	struct mpsim_account a;

	(void)state;
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	assert_int_equal(rte_eth_dev_reset(port), 0);
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_int_equal(info.nb_rx_queues, 0);
	assert_int_equal(rte_eth_dev_start(port), -EINVAL);
	assert_int_equal(rte_pmd_mpsim_account_get("T", &a), 0);
	assert_int_equal(a.rules, 0);
	octo_port_up(port, 2);
	assert_true(works());
}

static void
test_a_reset_that_fails_changes_nothing(void **state)
{
	const uint16_t port = start_pfs();

	(void)state;
	ask_for_reset("net_mpsim0,reset,fail");
	assert_int_equal(rte_eth_dev_reset(port), -EIO);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_false(works());
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,clear"), 0);
	assert_true(works());
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		reset_test(test_it_works_again_after_a_reset),
		reset_test(test_it_is_as_after_its_probe),
		reset_test(test_a_reset_that_fails_changes_nothing),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
