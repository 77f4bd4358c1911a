/* SPDX-License-Identifier: BSD-3-Clause */

/* Who asks for statistics, xstats, link or info does not wait for who makes rules. */

#include <ethdev_driver.h>
#include <rte_flow_driver.h>

#include "octo_port.h"

#define SRC_PORT 1000
#define MAX_XSTATS 512

static const struct octo_port_conf two_pfs = {.nb_pfs = 2};

/* A PF that takes for a rule as long as the test likes. */
static struct {
	struct eth_dev_ops ops;
	struct rte_flow_ops flow_ops;
	const struct eth_dev_ops *real;
	const struct rte_flow_ops *real_flow;
	uint16_t octo;
	RTE_ATOMIC(bool) inside;
	RTE_ATOMIC(bool) let_go;
} slow;

static bool
is_set(const RTE_ATOMIC(bool) * flag)
{
	return rte_atomic_load_explicit(flag, rte_memory_order_acquire);
}

static void
set(RTE_ATOMIC(bool) * flag, bool value)
{
	rte_atomic_store_explicit(flag, value, rte_memory_order_release);
}

static struct rte_flow *
slow_create(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
	    const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	    struct rte_flow_error *error)
{
	set(&slow.inside, true);
	while (!is_set(&slow.let_go))
		octo_wait_us(100);
	return slow.real_flow->create(dev, attr, pattern, actions, error);
}

static int
slow_flow_ops_get(struct rte_eth_dev *dev, const struct rte_flow_ops **ops)
{
	int ret = slow.real->flow_ops_get(dev, &slow.real_flow);

	slow.flow_ops = *slow.real_flow;
	slow.flow_ops.create = slow_create;
	*ops = &slow.flow_ops;
	return ret;
}

static void *
make_a_rule(void *arg)
{
	struct rte_flow_error error;

	RTE_SET_USED(arg);
	octo_port_steer(slow.octo, SRC_PORT, 0, &error);
	return NULL;
}

/* From now on a thread is inside of rte_flow_create(). */
static uint16_t
begin(void)
{
	struct rte_eth_dev *dev;
	uint16_t port = octo_port_create(&two_pfs);

	octo_port_up(port, 2);
	octo_port_assert_arrives(port, SRC_PORT + 1, 0, 8);
	dev = &rte_eth_devices[octo_port_pf(1)];
	slow.real = dev->dev_ops;
	slow.ops = *dev->dev_ops;
	slow.ops.flow_ops_get = slow_flow_ops_get;
	slow.octo = port;
	set(&slow.inside, false);
	set(&slow.let_go, false);
	dev->dev_ops = &slow.ops;
	octo_port_thread_start(make_a_rule, NULL);
	octo_port_await_thread(is_set(&slow.inside));
	return port;
}

/* The rule is made after all. */
static void
end(uint16_t port)
{
	set(&slow.let_go, true);
	octo_port_thread_stop();
	rte_eth_devices[octo_port_pf(1)].dev_ops = slow.real;
	assert_true(octo_port_rule_pf(port, SRC_PORT) >= 0);
}

static uint64_t
xstat(uint16_t port, const char *name)
{
	uint64_t value = UINT64_MAX;
	uint64_t id;

	assert_int_equal(rte_eth_xstats_get_id_by_name(port, name, &id), 0);
	assert_int_equal(rte_eth_xstats_get_by_id(port, &id, &value, 1), 1);
	return value;
}

static void
test_statistics_do_not_wait(void **state)
{
	struct rte_eth_stats stats;
	uint16_t port = begin();

	(void)state;
	assert_int_equal(rte_eth_stats_get(port, &stats), 0);
	assert_int_equal(stats.ipackets, 8);
	assert_int_equal(rte_eth_stats_reset(port), 0);
	assert_int_equal(rte_eth_stats_get(port, &stats), 0);
	assert_int_equal(stats.ipackets, 0);
	end(port);
}

/* The rule that is being made is none yet. */
static void
test_xstats_do_not_wait(void **state)
{
	static struct rte_eth_xstat_name names[MAX_XSTATS];
	static struct rte_eth_xstat values[MAX_XSTATS];
	uint16_t port = begin();
	int nb;

	(void)state;
	nb = rte_eth_xstats_get_names(port, names, MAX_XSTATS);
	assert_in_range(nb, 1, MAX_XSTATS);
	assert_int_equal(rte_eth_xstats_get(port, values, MAX_XSTATS), nb);
	assert_int_equal(xstat(port, "steered_flows"), 0);
	end(port);
	assert_int_equal(xstat(port, "steered_flows"), 1);
}

static void
test_link_and_info_do_not_wait(void **state)
{
	struct rte_eth_dev_info info;
	struct rte_eth_link link;
	struct rte_eth_rxq_info queue;
	uint16_t port = begin();

	(void)state;
	assert_int_equal(rte_eth_link_get_nowait(port, &link), 0);
	assert_int_equal(link.link_status, RTE_ETH_LINK_UP);
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_int_equal(rte_eth_rx_queue_info_get(port, 0, &queue), 0);
	end(port);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_statistics_do_not_wait),
		octo_port_test(test_xstats_do_not_wait),
		octo_port_test(test_link_and_info_do_not_wait),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
