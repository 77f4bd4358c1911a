/* SPDX-License-Identifier: BSD-3-Clause */

/* PFs that are slices of one port's queues. What is the same with any PFs is tested elsewhere. */

#include <errno.h>
#include <string.h>

#include <ethdev_driver.h>
#include <rte_bus_vdev.h>
#include <rte_errno.h>

#include "octo_port_async.h"
#include "octo_port_fault.h"

static const struct octo_port_conf interleaved = {.sliced = true, .replug = true};
static const struct octo_port_conf contiguous = {.contiguous = true, .replug = true};
static const struct octo_port_conf three = {.sliced = true, .nb_pfs = 3};

static void
assert_all_work(uint16_t port, uint32_t nb)
{
	struct octo_view_rule rules[16];
	uint32_t total;

	assert_int_equal(rte_pmd_octo_view_rules(port, 0, rules, RTE_DIM(rules), &total), nb);
	for (uint32_t i = 0; i < nb; i++) {
		assert_string_equal(rules[i].status, "works");
		assert_int_equal(rules[i].hits, 10);
	}
}

/* Queue Q is at home on PF Q % 2, and all that is steered to it comes by that one's leg. */
static void
check_steering(uint16_t port, uint16_t nb_queues)
{
	for (uint16_t q = 0; q < nb_queues; q++) {
		assert_non_null(octo_port_steer(port, 100 + q, q, NULL));
		octo_port_assert_arrives(port, 100 + q, q, 10);
		assert_int_equal(octo_port_rule_pf(port, 100 + q), q % 2);
	}
	assert_int_equal(octo_port_strays(port), 0);
	assert_int_equal(octo_port_xstat(port, "rx_home_packets"), 10 * nb_queues);
	assert_all_work(port, nb_queues);
}

static void
test_flows_come_by_the_home_leg(void **state)
{
	uint16_t port = octo_port_create(&interleaved);

	(void)state;
	octo_port_up(port, 4);
	check_steering(port, 4);
}

/* Queues of the port between the slices' are set up and idle. */
static void
test_contiguous_slices_have_idle_queues(void **state)
{
	uint16_t port = octo_port_create(&contiguous);
	struct rte_eth_dev_info info;

	(void)state;
	octo_port_up(port, 3);
	check_steering(port, 3);
	assert_int_equal(rte_eth_dev_info_get(octo_port_pf(0), &info), 0);
	assert_int_equal(info.nb_rx_queues, 8 + 3);
	assert_int_equal(info.nb_tx_queues, 8 + 3);
}

/* As some drivers want it. */
static void
test_the_port_has_as_many_tx_as_rx_queues(void **state)
{
	const struct rte_eth_conf conf = {0};
	uint16_t port = octo_port_create(&interleaved);
	struct rte_eth_dev_info info;

	(void)state;
	assert_int_equal(rte_eth_dev_configure(port, 4, 1, &conf), 0);
	for (uint16_t q = 0; q < 4; q++)
		assert_int_equal(
			rte_eth_rx_queue_setup(port, q, 128, SOCKET_ID_ANY, NULL, octo_port_pool),
			0);
	assert_int_equal(rte_eth_tx_queue_setup(port, 0, 128, SOCKET_ID_ANY, NULL), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_int_equal(rte_eth_dev_info_get(octo_port_pf(0), &info), 0);
	assert_int_equal(info.nb_rx_queues, 8);
	assert_int_equal(info.nb_tx_queues, 8);
	check_steering(port, 4);
}

static void
test_the_port_is_asked_once(void **state)
{
	const struct rte_eth_conf conf = {.rxmode.offloads = RTE_ETH_RX_OFFLOAD_VLAN_FILTER};
	uint16_t port = octo_port_create(&interleaved);
	const struct octo_port_faults *asked = octo_port_faults_on(0);

	(void)state;
	octo_port_up_as(port, 2, &conf);
	assert_int_equal(asked->configures, 1);
	assert_int_equal(asked->starts, 1);
	assert_int_equal(rte_eth_dev_vlan_filter(port, 7, 1), 0);
	assert_int_equal(asked->vlan_ids, 1);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(asked->stops, 1);
}

static void
test_the_port_offers_what_the_shortest_slice_has(void **state)
{
	struct rte_eth_dev_info info, pf;
	uint16_t port = octo_port_create(&three);

	(void)state;
	assert_int_equal(rte_eth_dev_info_get(octo_port_pf(0), &pf), 0);
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_int_equal(info.max_rx_queues, pf.max_rx_queues / 3);
	assert_int_equal(info.max_tx_queues, pf.max_tx_queues / 3);
	octo_port_up(port, info.max_rx_queues);
	for (uint16_t q = 0; q < info.max_rx_queues; q++) {
		assert_non_null(octo_port_steer(port, q, q, NULL));
		octo_port_assert_arrives(port, q, q, 4);
	}
	assert_int_equal(octo_port_strays(port), 0);
}

static uint64_t
hits_of(uint16_t port, struct rte_flow *rule)
{
	const struct rte_flow_action action[] = {{.type = RTE_FLOW_ACTION_TYPE_COUNT},
						 {.type = RTE_FLOW_ACTION_TYPE_END}};
	struct rte_flow_query_count count = {0};
	struct rte_flow_error error;

	assert_int_equal(rte_flow_query(port, rule, action, &count, &error), 0);
	return count.hits;
}

static struct rte_flow *
steer_counted(uint16_t port, uint16_t src_port, uint16_t queue)
{
	struct octo_flow_rule built, counted;
	struct rte_flow_error error;

	octo_port_build(&built, src_port, queue);
	counted = built;
	counted.actions[0] = (struct rte_flow_action){.type = RTE_FLOW_ACTION_TYPE_COUNT,
						      .conf = &counted.count};
	counted.actions[1] = built.actions[0];
	counted.actions[2] = (struct rte_flow_action){.type = RTE_FLOW_ACTION_TYPE_END};
	return rte_flow_create(port, &counted.attr, built.pattern, counted.actions, &error);
}

/* The rule of another leg has a counter of its own. */
static void
test_hits_go_on_over_rehomes(void **state)
{
	static const struct octo_port_conf two_nodes = {.sliced = true, .two_nodes = true};
	uint16_t port = octo_port_create(&two_nodes);
	struct rte_flow *rule;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_run_on(0);
	octo_port_up(port, 1);
	rule = steer_counted(port, 7, 0);
	assert_non_null(rule);
	for (int i = 0; i < 4; i++) {
		octo_port_run_on(i % 2);
		octo_port_await(octo_port_leads_to(port, 7, 0, i % 2));
		octo_port_assert_arrives(port, 7, 0, 10);
		assert_int_equal(hits_of(port, rule), 10 * (i + 1));
	}
	assert_int_equal(octo_port_strays(port), 0);
}

/* There is no room for the new rule beside the old one. */
static void
test_a_full_table_rehomes(void **state)
{
	static const struct octo_port_conf small = {
		.sliced = true, .two_nodes = true, .all = "arfs_entries=2"};
	uint16_t port = octo_port_create(&small);

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_run_on(0);
	octo_port_up(port, 1);
	assert_non_null(octo_port_steer(port, 7, 0, NULL));
	assert_non_null(octo_port_steer(port, 8, 0, NULL));
	assert_null(octo_port_steer(port, 9, 0, NULL));
	assert_int_equal(rte_errno, ENOSPC);
	for (int i = 1; i < 4; i++) {
		octo_port_run_on(i % 2);
		octo_port_await(octo_port_leads_to(port, 7, 0, i % 2));
		octo_port_await(octo_port_leads_to(port, 8, 0, i % 2));
	}
	octo_port_assert_arrives(port, 7, 0, 10);
	octo_port_assert_arrives(port, 8, 0, 10);
	assert_int_equal(octo_port_strays(port), 0);
}

static const char *
pool_of_queue(uint16_t queue)
{
	struct rte_eth_rxq_info info;

	assert_int_equal(rte_eth_rx_queue_info_get(octo_port_pf(0), queue, &info), 0);
	return info.mp->name;
}

static void
process(enum rte_eth_event_type event)
{
	rte_eth_dev_callback_process(&rte_eth_devices[octo_port_pf(0)], event, NULL);
}

static void
check_it_is_back(uint16_t port)
{
	octo_port_await(octo_port_pf_is_started(port, 0) && octo_port_pf_is_started(port, 1));
	octo_port_await(octo_port_leads_to(port, 101, 1, 1));
	octo_port_await(octo_port_leads_to(port, 100, 0, 0));
	for (uint16_t q = 0; q < 2; q++)
		octo_port_assert_arrives(port, 100 + q, q, 10);
	assert_int_equal(octo_port_xstat(port, "rx_q1_stray_packets"), 0);
}

/* The port would take the application's queue for its own. */
static void
test_another_priority_is_no_second_rule(void **state)
{
	uint16_t port = octo_port_create(&interleaved);
	struct rte_flow_error error;
	struct octo_flow_rule r;

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	octo_port_build(&r, 7, 1);
	r.attr.priority = 1;
	assert_null(rte_flow_create(port, &r.attr, r.pattern, r.actions, &error));
	assert_int_equal(rte_errno, EEXIST);
	octo_port_assert_arrives(port, 7, 1, 10);
}

static void
test_a_port_that_only_sends_has_rules(void **state)
{
	const struct rte_eth_conf conf = {0};
	const struct rte_flow_attr attr = {.ingress = 1};
	const struct rte_flow_item pattern[] = {{.type = RTE_FLOW_ITEM_TYPE_ETH},
						{.type = RTE_FLOW_ITEM_TYPE_END}};
	const struct rte_flow_action actions[] = {{.type = RTE_FLOW_ACTION_TYPE_DROP},
						  {.type = RTE_FLOW_ACTION_TYPE_END}};
	uint16_t port = octo_port_create(&interleaved);
	struct rte_flow_error error;

	(void)state;
	assert_int_equal(rte_eth_dev_configure(port, 0, 2, &conf), 0);
	for (uint16_t q = 0; q < 2; q++)
		assert_int_equal(rte_eth_tx_queue_setup(port, q, 128, SOCKET_ID_ANY, NULL), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	rte_flow_create(port, &attr, pattern, actions, &error);
	octo_port_send(port, 1, 7, 10);
}

/* As when its table was not cleared: no rule counts as installed that is not. */
static void
test_a_port_that_refuses_gets_its_rules_later(void **state)
{
	uint16_t port = octo_port_create(&interleaved);
	struct octo_port_faults *faults;

	(void)state;
	octo_port_up(port, 2);
	check_steering(port, 2);
	faults = octo_port_faults_on(0);
	process(RTE_ETH_EVENT_ERR_RECOVERING);
	octo_port_pass_us(20000);
	faults->create_ingress = ENOSPC;
	process(RTE_ETH_EVENT_RECOVERY_SUCCESS);
	octo_port_await(octo_port_pf_is_started(port, 0) && octo_port_pf_is_started(port, 1));
	octo_port_pass_us(20000);
	assert_int_equal(octo_port_rule_pf(port, 101), -1);
	assert_null(octo_port_steer(port, 7, 1, NULL));
	faults->create_ingress = 0;
	check_it_is_back(port);
}

static void
test_idle_queues_let_go_of_their_pool(void **state)
{
	uint16_t port = octo_port_create(&contiguous);
	struct rte_mempool *other;

	(void)state;
	octo_port_up(port, 2);
	assert_string_equal(pool_of_queue(3), octo_port_pool->name);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	other = rte_pktmbuf_pool_create("other", 8191, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
					SOCKET_ID_ANY);
	assert_non_null(other);
	for (uint16_t q = 0; q < 2; q++)
		assert_int_equal(rte_eth_rx_queue_setup(port, q, 128, SOCKET_ID_ANY, NULL, other),
				 0);
	for (uint16_t q = 0; q < 10; q++)
		assert_string_equal(pool_of_queue(q), "other");
	octo_port_destroy();
	rte_mempool_free(other);
}

static void
test_counters_are_of_octo_queues(void **state)
{
	uint16_t port = octo_port_create(&interleaved);
	struct rte_eth_stats stats;

	(void)state;
	octo_port_up(port, 4);
	for (uint16_t q = 0; q < 4; q++) {
		struct octo_port_tally tally = {0};

		assert_non_null(octo_port_steer(port, q, q, NULL));
		octo_port_send(port, q, q, 10 * (q + 1));
		octo_port_receive(port, q, 10 * (q + 1), &tally);
		assert_int_equal(octo_port_xstat(port, "rx_q%u_packets", q), 10 * (q + 1));
		assert_int_equal(octo_port_xstat(port, "tx_q%u_packets", q), 10 * (q + 1));
		assert_int_equal(octo_port_xstat(port, "tx_q%u_bytes", q),
				 10 * (q + 1) * OCTO_PORT_FRAME_LEN);
	}
	assert_int_equal(rte_eth_stats_get(port, &stats), 0);
	assert_int_equal(stats.ipackets, 100);
	assert_int_equal(stats.opackets, 100);
	assert_int_equal(stats.imissed, 0);
	assert_int_equal(octo_port_xstat(port, "tx_pf0_packets"), 10 + 30);
	assert_int_equal(octo_port_xstat(port, "tx_pf1_packets"), 20 + 40);
}

/* As drivers of NICs with several PCIe endpoints divide their queues. */
static void
test_parts_are_of_all_queues_of_the_port(void **state)
{
	static const struct octo_port_conf conf = {.sliced = true, .all = "queues=9"};
	struct rte_eth_dev_info info;
	uint16_t port;

	(void)state;
	octo_port_add_pf(&conf, 0);
	assert_int_equal(rte_eal_hotplug_add("vdev", OCTO_PORT_NAME,
					     "pf=net_mpsim0[0/2],pf=net_mpsim0[1/2],learn=off"),
			 0);
	assert_int_equal(rte_eth_dev_get_port_by_name(OCTO_PORT_NAME, &port), 0);
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_int_equal(info.max_rx_queues, 4);
	octo_port_up(port, 4);
	check_steering(port, 4);
	/* queues 0 to 4, and 5 to 8 */
	assert_int_equal(rte_eth_dev_info_get(octo_port_pf(0), &info), 0);
	assert_int_equal(info.nb_rx_queues, 9);
}

/* The parts are others than those of the port that it replaces. */
static void
test_a_port_with_more_queues_is_plugged(void **state)
{
	static const struct octo_port_conf small = {
		.sliced = true, .replug = true, .all = "queues=8"};
	static const struct octo_port_conf large = {
		.sliced = true, .replug = true, .all = "queues=12"};
	struct rte_eth_dev_info info;
	uint16_t port;

	(void)state;
	octo_port_add_pf(&small, 0);
	assert_int_equal(rte_eal_hotplug_add("vdev", OCTO_PORT_NAME,
					     "pf=net_mpsim0[0/2],pf=net_mpsim0[1/2],learn=off"),
			 0);
	assert_int_equal(rte_eth_dev_get_port_by_name(OCTO_PORT_NAME, &port), 0);
	octo_port_up(port, 4);
	octo_port_remove_pf(0);
	octo_port_pass_us(20000);
	octo_port_add_pf(&large, 0);
	octo_port_pass_us(1000000);
	assert_false(octo_port_pf_is_started(port, 0));
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	check_steering(port, 4);
	assert_int_equal(rte_eth_dev_info_get(octo_port_pf(0), &info), 0);
	assert_int_equal(info.nb_rx_queues, 6 + 4);
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_int_equal(info.max_rx_queues, 6);
}

static void
test_each_slice_has_buffers_of_its_node(void **state)
{
	static const struct octo_port_conf local = {
		.sliced = true, .two_nodes = true, .octo = "pools=local"};
	uint16_t port = octo_port_create(&local);

	(void)state;
	octo_port_up(port, 2);
	for (uint16_t q = 0; q < 2; q++) {
		assert_string_equal(pool_of_queue(2 * q), octo_port_pool->name);
		assert_string_not_equal(pool_of_queue(2 * q + 1), octo_port_pool->name);
	}
}

/* All slices go and come back with their port. */
static void
test_the_port_recovers(void **state)
{
	uint16_t port = octo_port_create(&interleaved);

	(void)state;
	octo_port_up(port, 2);
	check_steering(port, 2);
	process(RTE_ETH_EVENT_ERR_RECOVERING);
	octo_port_pass_us(20000);
	assert_false(octo_port_pf_is_started(port, 0));
	assert_false(octo_port_pf_is_started(port, 1));
	process(RTE_ETH_EVENT_RECOVERY_SUCCESS);
	check_it_is_back(port);
	process(RTE_ETH_EVENT_INTR_RESET);
	octo_port_pass_us(20000);
	check_it_is_back(port);
}

static void
test_the_port_is_plugged_again(void **state)
{
	uint16_t port = octo_port_create(&contiguous);
	struct rte_eth_stats stats;

	(void)state;
	octo_port_up(port, 2);
	check_steering(port, 2);
	octo_port_remove_pf(0);
	octo_port_pass_us(20000);
	assert_int_equal(octo_port_rule_pf(port, 101), -1);
	assert_non_null(octo_port_steer(port, 200, 1, NULL));
	octo_port_add_pf(&contiguous, 0);
	check_it_is_back(port);
	octo_port_assert_arrives(port, 200, 1, 10);
	assert_int_equal(octo_port_rule_pf(port, 200), 1);
	assert_int_equal(rte_eth_stats_get(port, &stats), 0);
	assert_int_equal(stats.ipackets, 20 + 20 + 10);
}

static void
test_stop_and_start_keep_the_rules(void **state)
{
	uint16_t port = octo_port_create(&interleaved);

	(void)state;
	octo_port_up(port, 4);
	check_steering(port, 4);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	/* other legs are the queues' now, and idle ones are not */
	octo_port_up(port, 5);
	for (uint16_t q = 0; q < 4; q++)
		octo_port_assert_arrives(port, 100 + q, q, 10);
	assert_int_equal(octo_port_strays(port), 0);
}

static void
test_single_queues_stop_and_start(void **state)
{
	uint16_t port = octo_port_create(&interleaved);

	(void)state;
	octo_port_up(port, 2);
	check_steering(port, 2);
	assert_int_equal(rte_eth_dev_rx_queue_stop(port, 1), 0);
	assert_int_equal(rte_eth_dev_rx_queue_start(port, 1), 0);
	octo_port_assert_arrives(port, 101, 1, 10);
	octo_port_assert_arrives(port, 100, 0, 10);
}

static void
assert_refused(int ret, const struct rte_flow_error *error)
{
	assert_non_null(error->message);
	if (ret != -ENOTSUP)
		fail_msg("%d: %s", ret, error->message);
	assert_non_null(strstr(error->message, "slices of one port"));
}

/* The queues of a flow queue's rules could not be rewritten when their home changes. */
static void
test_there_are_no_flow_queues(void **state)
{
	uint16_t port = octo_port_create(&interleaved);
	struct rte_flow_error error = {.message = NULL};

	(void)state;
	assert_int_equal(octo_port_configure(port, 2), 0);
	assert_refused(octo_port_flow_queues(port, 1, 32, &error), &error);
}

static int
probe(const char *args)
{
	const int ret = rte_vdev_init("net_octo1", args);

	if (ret == 0)
		rte_vdev_uninit("net_octo1");
	return ret;
}

static void
test_what_is_no_slice_is_refused(void **state)
{
	static const char *const wrong[] = {
		"pf=net_mpsim0[0::2]@0,pf=net_mpsim0[0::4]@1",
		"pf=net_mpsim0[0::2]@0,pf=net_mpsim1[1::2]@1",
		"pf=net_mpsim0[0::2]@0,pf=net_mpsim0@1",
		"pf=net_mpsim0,pf=net_mpsim0[1::2]@1",
		"pf=net_mpsim0[0-7],pf=net_mpsim0[7-9]",
		"pf=net_mpsim0[0-7],pf=net_mpsim0[100-110]",
		"pf=net_mpsim0[0::2,pf=net_mpsim0[1::2]",
		"pf=net_mpsim0[0::2]x,pf=net_mpsim0[1::2]",
		"pf=[0::2],pf=[1::2]",
		"pf=net_mpsim0[0/2],pf=net_mpsim0[1/3]",
		/* the port has 16 queues */
		"pf=net_mpsim0[1/2],pf=net_mpsim0[0-8]",
		"pf=net_mpsim0[0/17],pf=net_mpsim0[16/17]",
		"pf=net_mpsim0[],pf=net_mpsim0[1::2]",
		"pf=net_mpsim0[0::2]@0,pf=net_mpsim0[1::2]@1,agent=unix:/nowhere",
	};

	(void)state;
	octo_port_add_pf(&interleaved, 0);
	octo_port_add_pf(&interleaved, 1);
	for (size_t i = 0; i < RTE_DIM(wrong); i++)
		if (probe(wrong[i]) != -EINVAL)
			fail_msg("%s", wrong[i]);
	assert_int_equal(probe("pf=net_mpsim0[0::2]@0,pf=net_mpsim0[1::2]@1"), 0);
	/* what is left is a slice, too */
	assert_int_equal(probe("pf=net_mpsim0[1::2]@1"), 0);
	assert_int_equal(probe("pf=net_mpsim0[0::1]"), 0);
	assert_int_equal(probe("pf=net_mpsim0[1/2],pf=net_mpsim0[0-7]"), 0);
}

static void
test_a_slice_is_named_with_its_queues(void **state)
{
	uint16_t port = octo_port_create(&three);
	struct octo_view_topology view;

	(void)state;
	octo_port_up(port, 1);
	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	assert_int_equal(view.nb_pfs, 3);
	assert_string_equal(view.mpfs, "slices");
	assert_string_equal(view.tier, "exact");
	assert_string_equal(view.pf[0].name, "net_mpsim0[0::3]");
	assert_string_equal(view.pf[2].name, "net_mpsim0[2::3]");
	assert_int_equal(view.pf[2].port_id, octo_port_pf(0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_flows_come_by_the_home_leg),
		octo_port_test(test_contiguous_slices_have_idle_queues),
		octo_port_test(test_the_port_has_as_many_tx_as_rx_queues),
		octo_port_test(test_the_port_is_asked_once),
		octo_port_test(test_the_port_offers_what_the_shortest_slice_has),
		octo_port_test(test_another_priority_is_no_second_rule),
		octo_port_test(test_a_port_that_only_sends_has_rules),
		octo_port_test(test_a_port_that_refuses_gets_its_rules_later),
		octo_port_test(test_idle_queues_let_go_of_their_pool),
		octo_port_test(test_hits_go_on_over_rehomes),
		octo_port_test(test_a_full_table_rehomes),
		octo_port_test(test_counters_are_of_octo_queues),
		octo_port_test(test_parts_are_of_all_queues_of_the_port),
		octo_port_test(test_a_port_with_more_queues_is_plugged),
		octo_port_test(test_each_slice_has_buffers_of_its_node),
		octo_port_test(test_the_port_recovers),
		octo_port_test(test_the_port_is_plugged_again),
		octo_port_test(test_stop_and_start_keep_the_rules),
		octo_port_test(test_single_queues_stop_and_start),
		octo_port_test(test_there_are_no_flow_queues),
		octo_port_test(test_what_is_no_slice_is_refused),
		octo_port_test(test_a_slice_is_named_with_its_queues),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
