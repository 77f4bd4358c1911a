/* SPDX-License-Identifier: BSD-3-Clause */

/* PFs that have to be reset, and what a start of the port resets. */

#include <rte_cycles.h>

#include <ethdev_driver.h>

#include "octo_port.h"
#include "octo_private.h"
#include "mpsim_control.h"

/* In it a PF that may be joined is. */
#define RECOVERY_US 5000000

static const struct octo_port_conf two_pfs = {.replug = true};

/* The PF that is reset, as that of a VF whose PF was. */
static struct {
	struct eth_dev_ops ops;
	const struct eth_dev_ops *real;
	RTE_ATOMIC(uint32_t) resets;
	int code; /* errno of a refusal */
} victim;

static int
reset(struct rte_eth_dev *dev)
{
	RTE_SET_USED(dev);
	rte_atomic_fetch_add_explicit(&victim.resets, 1, rte_memory_order_relaxed);
	return -victim.code;
}

static uint32_t
resets(void)
{
	return rte_atomic_load_explicit(&victim.resets, rte_memory_order_relaxed);
}

static uint16_t
create_with_reset(int code)
{
	const uint16_t port = octo_port_create(&two_pfs);
	struct rte_eth_dev *dev = &rte_eth_devices[octo_port_pf(1)];

	victim.real = dev->dev_ops;
	victim.ops = *dev->dev_ops;
	victim.ops.dev_reset = reset;
	victim.resets = 0;
	victim.code = code;
	dev->dev_ops = &victim.ops;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	assert_int_equal(octo_port_rule_pf(port, 7), 1);
	rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_INTR_RESET, NULL);
	assert_int_equal(resets(), 0);
	return port;
}

static void
test_a_pf_is_reset_when_it_asks_for_it(void **state)
{
	const uint16_t port = create_with_reset(0);

	(void)state;
	octo_port_await(resets() == 1 && octo_port_leads_to(port, 7, 1, 1));
	octo_port_assert_arrives(port, 7, 1, 10);
	assert_int_equal(octo_port_xstat(port, "replugs"), 1);
	assert_int_equal(resets(), 1);
}

static struct {
	struct octo_dev *octo;
	RTE_ATOMIC(bool) held;
	RTE_ATOMIC(bool) let_go;
} mutex;

static bool
is_set(const RTE_ATOMIC(bool) * flag)
{
	return rte_atomic_load_explicit(flag, rte_memory_order_acquire);
}

static void *
hold_mutex(void *arg)
{
	RTE_SET_USED(arg);
	octo_lock(mutex.octo);
	rte_atomic_store_explicit(&mutex.held, true, rte_memory_order_release);
	while (!is_set(&mutex.let_go))
		octo_wait_us(100);
	octo_unlock(mutex.octo);
	return NULL;
}

/* Both events come while a thread is inside of the port: the later one counts. */
static void
test_a_pf_that_recovers_is_not_reset(void **state)
{
	const uint16_t port = create_with_reset(0);
	struct rte_eth_dev *dev = &rte_eth_devices[octo_port_pf(1)];

	(void)state;
	octo_port_await(resets() == 1 && octo_port_leads_to(port, 7, 1, 1));
	mutex.octo = rte_eth_devices[port].data->dev_private;
	mutex.held = false;
	mutex.let_go = false;
	octo_port_thread_start(hold_mutex, NULL);
	octo_port_await_thread(is_set(&mutex.held));
	rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_INTR_RESET, NULL);
	rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_ERR_RECOVERING, NULL);
	rte_atomic_store_explicit(&mutex.let_go, true, rte_memory_order_release);
	octo_port_thread_stop();
	octo_port_pass_us(RECOVERY_US);
	assert_int_equal(resets(), 1);
	assert_false(octo_port_pf_is_started(port, 1));
	rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_RECOVERY_SUCCESS, NULL);
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	octo_port_assert_arrives(port, 7, 1, 10);
	assert_int_equal(resets(), 1);
}

/* One that cannot be reset is removed, and probed again. */
static void
test_a_pf_that_is_not_reset_is_replaced(void **state)
{
	const uint16_t port = create_with_reset(EIO);

	(void)state;
	octo_port_await(resets() >= 1 && octo_port_leads_to(port, 7, 1, 1));
	octo_port_assert_arrives(port, 7, 1, 10);
	assert_int_equal(resets(), 1);
}

static int
link_of(uint16_t port)
{
	struct rte_eth_link link;

	assert_int_equal(rte_eth_link_get_nowait(port, &link), 0);
	return link.link_status;
}

/* As with other drivers; and a PF that comes back later is like the others. */
static void
test_a_start_sets_the_link_up(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	assert_int_equal(rte_eth_dev_set_link_down(port), 0);
	octo_port_await(link_of(port) == RTE_ETH_LINK_DOWN);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_await(link_of(port) == RTE_ETH_LINK_UP);
	octo_port_remove_pf(1);
	octo_port_add_pf(&two_pfs, 1);
	octo_port_await(octo_port_pf_is_started(port, 1));
	octo_port_await(link_of(octo_port_pf(1)) == RTE_ETH_LINK_UP);
	assert_int_equal(link_of(octo_port_pf(0)), RTE_ETH_LINK_UP);
}

/*
 * The link is set down, and up by the start, of which a PF that recovers meanwhile hears
 * nothing: drivers remember what they were told last.
 */
static void
test_a_start_sets_the_link_up_of_a_pf_that_recovers(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	assert_int_equal(rte_eth_dev_set_link_down(port), 0);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,recovery,start"), 0);
	octo_port_await(!octo_port_pf_is_started(port, 1));
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_await(link_of(port) == RTE_ETH_LINK_UP);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,recovery,success"), 0);
	octo_port_await(octo_port_pf_is_started(port, 1));
	octo_port_await(link_of(octo_port_pf(1)) == RTE_ETH_LINK_UP);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_pf_is_reset_when_it_asks_for_it),
		octo_port_test(test_a_pf_that_recovers_is_not_reset),
		octo_port_test(test_a_pf_that_is_not_reset_is_replaced),
		octo_port_test(test_a_start_sets_the_link_up),
		octo_port_test(test_a_start_sets_the_link_up_of_a_pf_that_recovers),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
