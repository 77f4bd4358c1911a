/* SPDX-License-Identifier: BSD-3-Clause */

/* The aggregated ports API of DPDK 23.03: PFs are counted, Tx queues pinned to them. */

#include <errno.h>

#include "octo_port.h"

#define FLOW 7
#define PACKETS 50

static const struct octo_port_conf three_pfs = {.nb_pfs = 3};

/* Two queues, stopped. */
static uint16_t
create_configured(void)
{
	uint16_t port = octo_port_create(&three_pfs);

	assert_int_equal(octo_port_configure(port, 2), 0);
	return port;
}

static void
check_sends_by(uint16_t port, uint16_t queue, unsigned int pf)
{
	struct octo_port_tally tally = {0};

	assert_int_equal(rte_eth_xstats_reset(port), 0);
	octo_port_send(port, queue, FLOW, PACKETS);
	assert_int_equal(octo_port_xstat(port, "tx_q%u_pf%u_packets", queue, pf), PACKETS);
	assert_int_equal(octo_port_xstat(port, "tx_pf%u_packets", pf), PACKETS);
	/* RSS says which queue they come by */
	octo_port_await(octo_port_poll(port, 0, 32, &tally) + octo_port_poll(port, 1, 32, &tally) ==
				0 &&
			tally.packets == PACKETS);
}

static void
test_pfs_are_counted(void **state)
{
	uint16_t port = octo_port_create(&three_pfs);

	(void)state;
	assert_int_equal(rte_eth_dev_count_aggr_ports(port), 3);
}

static void
test_a_pinned_queue_sends_by_its_pf(void **state)
{
	uint16_t port = create_configured();

	(void)state;
	assert_int_equal(rte_eth_dev_map_aggr_tx_affinity(port, 0, 3), 0);
	assert_int_equal(rte_eth_dev_map_aggr_tx_affinity(port, 1, 1), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	check_sends_by(port, 0, 2);
	check_sends_by(port, 1, 0);
}

static void
test_a_queue_is_pinned_before_it_is_set_up(void **state)
{
	const struct rte_eth_conf conf = {0};
	uint16_t port = octo_port_create(&three_pfs);

	(void)state;
	assert_int_equal(rte_eth_dev_configure(port, 2, 2, &conf), 0);
	assert_int_equal(rte_eth_dev_map_aggr_tx_affinity(port, 0, 2), 0);
	assert_int_equal(octo_port_setup_queues(port, 2), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	check_sends_by(port, 0, 1);
}

static void
test_what_is_not_there_is_refused(void **state)
{
	uint16_t port = octo_port_create(&three_pfs);

	(void)state;
	assert_int_equal(rte_eth_dev_map_aggr_tx_affinity(port, 0, 1), -EINVAL);
	assert_int_equal(octo_port_configure(port, 2), 0);
	assert_int_equal(rte_eth_dev_map_aggr_tx_affinity(port, 0, 2), 0);
	assert_int_equal(rte_eth_dev_map_aggr_tx_affinity(port, 0, 4), -EINVAL);
	assert_int_equal(rte_eth_dev_map_aggr_tx_affinity(port, 2, 1), -EINVAL);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_int_equal(rte_eth_dev_map_aggr_tx_affinity(port, 0, 1), -EBUSY);
	check_sends_by(port, 0, 1);
}

/* By 0, and by a new configuration: home is what it would be without. */
static void
test_a_pin_can_be_taken_back(void **state)
{
	uint16_t port = create_configured();

	(void)state;
	assert_int_equal(rte_eth_dev_map_aggr_tx_affinity(port, 0, 3), 0);
	assert_int_equal(rte_eth_dev_map_aggr_tx_affinity(port, 1, 3), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	check_sends_by(port, 0, 2);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_map_aggr_tx_affinity(port, 0, 0), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	check_sends_by(port, 0, 0);
	check_sends_by(port, 1, 2);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	octo_port_up(port, 2);
	check_sends_by(port, 1, 1);
}

static void
test_a_pin_does_not_outlive_its_pf(void **state)
{
	uint16_t port = create_configured();

	(void)state;
	assert_int_equal(rte_eth_dev_map_aggr_tx_affinity(port, 0, 3), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	check_sends_by(port, 0, 2);
	octo_port_remove_pf(2);
	check_sends_by(port, 0, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_pfs_are_counted),
		octo_port_test(test_a_pinned_queue_sends_by_its_pf),
		octo_port_test(test_a_queue_is_pinned_before_it_is_set_up),
		octo_port_test(test_what_is_not_there_is_refused),
		octo_port_test(test_a_pin_can_be_taken_back),
		octo_port_test(test_a_pin_does_not_outlive_its_pf),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
