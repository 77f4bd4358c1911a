/* SPDX-License-Identifier: BSD-3-Clause */

/* The address that a poller waits at: that of the home leg, if no other leg has anything. */

#include <errno.h>

#include <ethdev_driver.h>
#include <rte_power_intrinsics.h>

#include "octo_port.h"
#include "octo_port_async.h"

#define HOME_FLOW 100
#define STRAY_FLOW 200
#define MOVED_FLOW 300
#define SETTLE_US 1000000

static struct octo_port_tally tally;

/* Queue 0 is at home on PF 0; a flow comes to it by PF 1. */
static uint16_t
start_port(void)
{
	const struct octo_port_conf conf = {0};
	const uint16_t port = octo_port_create(&conf);

	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, HOME_FLOW, 0, NULL));
	assert_non_null(octo_port_overrule(STRAY_FLOW, 1));
	tally = (struct octo_port_tally){0};
	octo_port_assert_arrives(port, HOME_FLOW, 0, 1);
	return port;
}

static void
assert_addr_is_of(uint16_t port, unsigned int pf)
{
	struct rte_power_monitor_cond got, own;

	assert_int_equal(rte_eth_get_monitor_addr(port, 0, &got), 0);
	assert_int_equal(rte_eth_get_monitor_addr(octo_port_pf(pf), 0, &own), 0);
	assert_ptr_equal(got.addr, own.addr);
}

/* Would a poller go on waiting at the address? */
static bool
waits_at(const struct rte_power_monitor_cond *cond)
{
	assert_int_equal(cond->size, sizeof(uint32_t));
	return cond->fn(*(volatile uint32_t *)cond->addr, cond->opaque) == 0;
}

static void
test_it_is_that_of_the_home_leg(void **state)
{
	const uint16_t port = start_port();
	struct rte_power_monitor_cond cond;

	(void)state;
	assert_addr_is_of(port, 0);
	assert_int_equal(rte_eth_get_monitor_addr(port, 0, &cond), 0);
	assert_true(waits_at(&cond));
	octo_port_send(port, 1, HOME_FLOW, 1);
	octo_port_pump(1);
	assert_false(waits_at(&cond));
	octo_port_receive(port, 0, 1, &tally);
	assert_int_equal(rte_eth_get_monitor_addr(port, 0, &cond), 0);
	assert_true(waits_at(&cond));
}

static void
test_a_stray_is_polled_first(void **state)
{
	const uint16_t port = start_port();
	struct rte_power_monitor_cond cond;

	(void)state;
	octo_port_send(port, 1, STRAY_FLOW, 1);
	octo_port_pump(1);
	assert_int_equal(rte_eth_get_monitor_addr(port, 0, &cond), -EBUSY);
	octo_port_receive(port, 0, 1, &tally);
	assert_addr_is_of(port, 0);
}

static void
test_a_fence_is_closed_first(void **state)
{
	const uint16_t port = start_port();
	struct rte_flow_action to = {.type = RTE_FLOW_ACTION_TYPE_QUEUE,
				     .conf = &(const struct rte_flow_action_queue){.index = 1}};
	struct rte_flow_action_handle *handle = octo_port_indirect_queue(port, 0);
	struct rte_power_monitor_cond cond;

	(void)state;
	assert_non_null(octo_port_steer_by(port, MOVED_FLOW, handle, NULL));
	octo_port_poll(port, 1, 32, &tally);
	assert_int_equal(rte_flow_action_handle_update(port, handle, &to, NULL), 0);
	for (uint16_t q = 0; q < 2; q++)
		assert_int_equal(rte_eth_get_monitor_addr(port, q, &cond), -EBUSY);
	octo_port_await((octo_port_poll(port, 0, 32, &tally), octo_port_poll(port, 1, 32, &tally),
			 rte_eth_get_monitor_addr(port, 0, &cond) == 0));
	assert_int_equal(rte_eth_get_monitor_addr(port, 1, &cond), 0);
}

/* The fence ends with the queue that it is of, and the queue that it waited for may sleep again. */
static void
test_a_fence_ends_with_its_queue(void **state)
{
	const uint16_t port = start_port();
	struct rte_flow_action to = {.type = RTE_FLOW_ACTION_TYPE_QUEUE,
				     .conf = &(const struct rte_flow_action_queue){.index = 1}};
	struct rte_flow_action_handle *handle = octo_port_indirect_queue(port, 0);
	struct rte_power_monitor_cond cond;

	(void)state;
	assert_non_null(octo_port_steer_by(port, MOVED_FLOW, handle, NULL));
	octo_port_poll(port, 1, 32, &tally);
	assert_int_equal(rte_flow_action_handle_update(port, handle, &to, NULL), 0);
	assert_int_equal(rte_eth_get_monitor_addr(port, 0, &cond), -EBUSY);
	assert_int_equal(rte_eth_dev_rx_queue_stop(port, 1), 0);
	octo_port_pass_us(SETTLE_US);
	octo_port_poll(port, 0, 32, &tally);
	assert_int_equal(rte_eth_get_monitor_addr(port, 0, &cond), 0);
}

static void
test_it_is_of_another_pf_when_the_home_is_lost(void **state)
{
	const uint16_t port = start_port();
	struct rte_power_monitor_cond cond;

	(void)state;
	octo_port_remove_pf(0);
	assert_int_equal(rte_eth_get_monitor_addr(port, 0, &cond), -EBUSY);
	octo_port_poll(port, 0, 32, &tally);
	assert_addr_is_of(port, 1);
}

static uint32_t
cannot_count(void *queue)
{
	RTE_SET_USED(queue);
	return (uint32_t)-ENOTSUP;
}

static int
cannot_tell(void *queue, uint16_t offset)
{
	RTE_SET_USED(queue);
	RTE_SET_USED(offset);
	return -ENOTSUP;
}

static void
test_a_pf_that_cannot_count(void **state)
{
	const uint16_t port = start_port();
	struct rte_eth_fp_ops *ops = &rte_eth_fp_ops[octo_port_pf(1)];
	struct rte_power_monitor_cond cond;

	(void)state;
	ops->rx_queue_count = (void *)cannot_count;
	assert_addr_is_of(port, 0);
	ops->rx_descriptor_status = cannot_tell;
	assert_int_equal(rte_eth_get_monitor_addr(port, 0, &cond), -ENOTSUP);
}

static void
test_a_home_without_an_address(void **state)
{
	const uint16_t port = start_port();
	struct rte_eth_dev *pf = &rte_eth_devices[octo_port_pf(0)];
	const struct eth_dev_ops *real = pf->dev_ops;
	struct eth_dev_ops ops = *real;
	struct rte_power_monitor_cond cond;

	(void)state;
	ops.get_monitor_addr = NULL;
	pf->dev_ops = &ops;
	assert_int_equal(rte_eth_get_monitor_addr(port, 0, &cond), -ENOTSUP);
	pf->dev_ops = real;
	assert_addr_is_of(port, 0);
}

/* The power library asks before it lets a poller wait, and wants the queue stopped. */
static void
test_a_stopped_port_without_an_address(void **state)
{
	const uint16_t port = start_port();
	struct rte_eth_dev *pf = &rte_eth_devices[octo_port_pf(1)];
	const struct eth_dev_ops *real = pf->dev_ops;
	struct eth_dev_ops ops = *real;
	struct rte_power_monitor_cond cond;

	(void)state;
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_get_monitor_addr(port, 0, &cond), -EBUSY);
	ops.get_monitor_addr = NULL;
	pf->dev_ops = &ops;
	assert_int_equal(rte_eth_get_monitor_addr(port, 0, &cond), -ENOTSUP);
	pf->dev_ops = real;
	assert_int_equal(rte_eth_get_monitor_addr(port, 0, &cond), -EBUSY);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_it_is_that_of_the_home_leg),
		octo_port_test(test_a_stray_is_polled_first),
		octo_port_test(test_a_fence_is_closed_first),
		octo_port_test(test_a_fence_ends_with_its_queue),
		octo_port_test(test_it_is_of_another_pf_when_the_home_is_lost),
		octo_port_test(test_a_pf_that_cannot_count),
		octo_port_test(test_a_home_without_an_address),
		octo_port_test(test_a_stopped_port_without_an_address),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
