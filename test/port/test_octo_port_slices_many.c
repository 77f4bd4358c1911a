/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * PFs that are slices of one port, and many rules of several flows that name a queue: when it gets
 * another home, they are written again in slices, and flows, rules and homes go on changing.
 */

#include <errno.h>
#include <string.h>

#include <rte_mbuf.h>

#include "mpsim_control.h"
#include "octo_port.h"
#include "octo_port_fault.h"
#include "octo_port_flows.h"
#include "octo_private.h"

#define RULES 200
#define RULE_US "100"
/* Of the histogram: several rules, but by far not all of them. */
#define LONG_US 1024
#define TIMES 6

static const struct rte_flow_indir_action_conf ingress = {.ingress = 1};
static struct octo_port_flows t;

static struct octo_dev *
dev_of(uint16_t port)
{
	return octo_of(&rte_eth_devices[port]);
}

/* Of UDP from this port, whatever the addresses: a rule of several flows. */
static struct rte_flow *
create(uint16_t src_port, const struct rte_flow_action *action)
{
	const struct rte_flow_action actions[] = {*action, {.type = RTE_FLOW_ACTION_TYPE_END}};
	const struct rte_flow_item_udp udp = {.hdr.src_port = rte_cpu_to_be_16(src_port)};
	const struct rte_flow_item_udp mask = {.hdr.src_port = RTE_BE16(0xffff)};
	const struct rte_flow_item pattern[] = {
		{.type = RTE_FLOW_ITEM_TYPE_ETH},
		{.type = RTE_FLOW_ITEM_TYPE_IPV4},
		{.type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &udp, .mask = &mask},
		{.type = RTE_FLOW_ITEM_TYPE_END},
	};
	const struct rte_flow_attr attr = {.ingress = 1};
	struct rte_flow_error error = {.message = NULL};
	struct rte_flow *rule = rte_flow_create(t.port, &attr, pattern, actions, &error);

	if (rule == NULL)
		fail_msg("%s", error.message);
	return rule;
}

static struct rte_flow *
to_queue(uint16_t src_port, uint16_t queue)
{
	const struct rte_flow_action_queue index = {.index = queue};
	const struct rte_flow_action action = {.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &index};

	return create(src_port, &action);
}

static struct rte_flow *
to_both_queues(uint16_t src_port)
{
	const uint16_t queues[] = {0, 1};
	const struct rte_flow_action_rss rss = {
		.queue_num = 2, .queue = queues, .types = RTE_ETH_RSS_NONFRAG_IPV4_UDP};
	const struct rte_flow_action action = {.type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &rss};

	return create(src_port, &action);
}

static struct rte_flow_action_handle *
indirect_to_queue(uint16_t queue)
{
	const struct rte_flow_action_queue index = {.index = queue};
	const struct rte_flow_action action = {.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &index};
	struct rte_flow_error error;
	struct rte_flow_action_handle *handle = rte_flow_action_handle_create(t.port, &ingress,
									      &action, &error);

	assert_non_null(handle);
	return handle;
}

static struct rte_flow *
by_handle(uint16_t src_port, struct rte_flow_action_handle *handle)
{
	const struct rte_flow_action action = {.type = RTE_FLOW_ACTION_TYPE_INDIRECT,
					       .conf = handle};

	return create(src_port, &action);
}

static uint64_t
long_holds(void)
{
	struct octo_hold_view view;
	uint64_t n = 0;

	assert_int_equal(octo_view_hold(t.port, &view), 0);
	for (unsigned int i = octo_hold_bucket(LONG_US); i < OCTO_HOLD_BUCKETS; i++)
		n += view.holds[i];
	return n;
}

static void
make_rules_slow(void)
{
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,rule_slow," RULE_US), 0);
}

/* No more than the ring of a leg takes while it is held. */
static void
go_on(void)
{
	static unsigned int calls;

	if (calls++ % 8 == 0)
		octo_port_flows_send(&t);
	for (uint16_t q = 0; q < t.nb_queues; q++)
		octo_port_flows_receive(&t, q);
}

static uint64_t
rehomes(void)
{
	return octo_port_xstat(t.port, "rehomes");
}

static void
await_rehomes(uint64_t nb)
{
	for (int n = 0; n < 20000 && rehomes() < nb; n++)
		octo_port_flows_pass(&t, true);
	assert_true(rehomes() >= nb);
}

/* What is under way has arrived. */
static void
assert_nothing_strays(void)
{
	uint64_t before;

	octo_port_flows_pass_often(&t, 20);
	before = octo_port_strays(t.port);
	octo_port_flows_pass_often(&t, 20);
	assert_int_equal(octo_port_strays(t.port), before);
}

/* Other threads get the mutex between two of them. */
static void
test_the_lock_is_held_for_few_rules_at_a_time(void **state)
{
	uint64_t before;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_flows_begin(&t, &octo_port_flows_two_nodes, 1, NULL);
	for (uint16_t i = 0; i < RULES; i++)
		to_queue(1000 + i, 0);
	octo_port_flows_pass_often(&t, 20);
	make_rules_slow();
	before = long_holds();
	octo_port_run_on(1);
	await_rehomes(1);
	assert_int_equal(long_holds(), before);
	octo_port_flows_assert_all_arrive(&t);
}

/* Flows are led by rules and by indirect actions, each in another slice. */
static void
test_flows_stay_in_order_over_slices(void **state)
{
	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_flows_begin(&t, &octo_port_flows_two_nodes, 1, NULL);
	for (uint16_t flow = 0; flow < OCTO_PORT_FLOWS / 2; flow++)
		to_queue(flow, 0);
	for (uint16_t flow = OCTO_PORT_FLOWS / 2; flow < OCTO_PORT_FLOWS; flow++)
		by_handle(flow, indirect_to_queue(0));
	make_rules_slow();
	octo_port_meanwhile(go_on);
	for (unsigned int i = 1; i <= TIMES; i++) {
		octo_port_run_on(i % 2);
		await_rehomes(i);
		assert_nothing_strays();
	}
	assert_true(octo_port_strays(t.port) > 0);
	octo_port_flows_assert_all_arrive(&t);
}

/* Two queues get another home, and each rule leads to both. */
static void
test_a_rule_of_two_queues_follows_both(void **state)
{
	uint64_t before;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_flows_begin(&t, &octo_port_flows_two_nodes, 2, NULL);
	for (uint16_t flow = 0; flow < OCTO_PORT_FLOWS; flow++)
		to_both_queues(flow);
	octo_port_flows_pass_often(&t, 20);
	make_rules_slow();
	octo_port_meanwhile(go_on);
	before = rehomes();
	for (unsigned int i = 1; i <= TIMES; i++) {
		octo_port_run_on(i % 2);
		await_rehomes(before + 2 * i);
		assert_nothing_strays();
	}
	assert_true(t.by_queue[0] > 0 && t.by_queue[1] > 0);
	assert_true(octo_port_strays(t.port) > 0);
	octo_port_flows_assert_all_arrive(&t);
}

/* Polls alone, so that no round of the control thread is due meanwhile. */
static void
poll_from(int node, uint16_t queue)
{
	octo_port_run_on(node);
	for (int n = 0; n < 100000 && octo_topo_home_of(dev_of(t.port), queue) != node; n++)
		octo_port_flows_receive(&t, queue);
	assert_int_equal(octo_topo_home_of(dev_of(t.port), queue), node);
}

/* Each of the queues has rules of its own, and one goes over the list at a time. */
static void
test_two_queues_are_rehomed_at_the_same_time(void **state)
{
	uint64_t before;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_flows_begin(&t, &octo_port_flows_two_nodes, 2, NULL);
	for (uint16_t flow = 0; flow < OCTO_PORT_FLOWS; flow++)
		to_queue(flow, flow / (OCTO_PORT_FLOWS / 2));
	octo_port_flows_pass_often(&t, 20);
	make_rules_slow();
	octo_port_meanwhile(go_on);
	before = rehomes();
	for (unsigned int i = 1; i <= TIMES; i++) {
		octo_port_run_on(i % 2);
		await_rehomes(before + 2 * i);
		assert_nothing_strays();
	}
	octo_port_flows_assert_all_arrive(&t);
}

/* As far as some of the rules; the caller has the mutex then. */
static struct octo_dev *
stop_on_the_way(void)
{
	struct octo_dev *octo = dev_of(t.port);

	octo_port_flows_pass_often(&t, 20);
	make_rules_slow();
	poll_from(1, 0);
	octo_lock(octo);
	for (int n = 0; n < 3; n++)
		assert_true(octo_sync_step_locked(octo));
	assert_true(octo->sync.queue[0].naming);
	return octo;
}

static void
go_to_the_end(struct octo_dev *octo)
{
	assert_true(octo->sync.queue[0].naming);
	octo_unlock(octo);
	await_rehomes(1);
	assert_nothing_strays();
	octo_port_flows_assert_all_arrive(&t);
}

/* Rules that come on the way name the new home's leg, and the walk does not miss a rule. */
static void
test_rules_come_and_go_on_the_way(void **state)
{
	struct rte_flow *rules[OCTO_PORT_FLOWS];
	struct rte_flow_error error;
	struct octo_dev *octo;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_flows_begin(&t, &octo_port_flows_two_nodes, 1, NULL);
	for (uint16_t flow = 0; flow < OCTO_PORT_FLOWS; flow++)
		rules[flow] = to_queue(1000 + flow, 0);
	for (uint16_t flow = 0; flow < OCTO_PORT_FLOWS / 2; flow++)
		to_queue(flow, 0);
	octo = stop_on_the_way();
	assert_ptr_equal(octo->sync.cursor[OCTO_CURSOR_NAMING], rules[3]);
	for (uint16_t flow = 2; flow < 5; flow++)
		assert_int_equal(rte_flow_destroy(t.port, rules[flow], &error), 0);
	for (uint16_t flow = OCTO_PORT_FLOWS / 2; flow < OCTO_PORT_FLOWS; flow++)
		to_queue(flow, 0);
	go_to_the_end(octo);
}

static void
test_indirect_actions_go_on_the_way(void **state)
{
	struct rte_flow_action_handle *handles[OCTO_PORT_FLOWS];
	struct rte_flow_error error;
	struct octo_dev *octo;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_flows_begin(&t, &octo_port_flows_two_nodes, 1, &octo_port_flows_rss);
	for (uint16_t flow = 0; flow < OCTO_PORT_FLOWS; flow++)
		handles[flow] = indirect_to_queue(0);
	by_handle(5, handles[5]);
	octo = stop_on_the_way();
	assert_ptr_equal(octo->sync.handle, handles[3]);
	for (uint16_t flow = 2; flow < 5; flow++)
		assert_int_equal(rte_flow_action_handle_destroy(t.port, handles[flow], &error), 0);
	assert_ptr_equal(octo->sync.handle, handles[5]);
	go_to_the_end(octo);
}

/* The queue goes home again before all has followed it. */
static void
test_a_home_changes_on_the_way(void **state)
{
	struct octo_dev *octo;
	uint64_t since;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_flows_begin(&t, &octo_port_flows_two_nodes, 1, NULL);
	for (uint16_t flow = 0; flow < OCTO_PORT_FLOWS; flow++)
		to_queue(flow, 0);
	octo = stop_on_the_way();
	poll_from(0, 0);
	octo_unlock(octo);
	since = octo_now();
	await_rehomes(1);
	/* at the first try */
	assert_true(octo_now() - since < rte_get_timer_hz() / 20);
	assert_int_equal(octo->leg_pf[0], 0);
	assert_nothing_strays();
	octo_port_flows_assert_all_arrive(&t);
}

/* As octo_port_flows_pass(), but each queue is polled from a node of its own. */
static void
pass_from(int node0, int node1, bool send)
{
	if (send)
		octo_port_flows_send(&t);
	octo_port_pass_us(80);
	octo_port_run_on(node0);
	octo_port_flows_receive(&t, 0);
	octo_port_run_on(node1);
	octo_port_flows_receive(&t, 1);
}

/*
 * Rules lead to the old leg of queue 0, as they were refused: they get the new one with that of
 * queue 1, before they are tried again, and behind a fence of either.
 */
static void
test_a_rule_of_two_queues_is_late_for_one(void **state)
{
	struct octo_port_faults *faults;
	struct octo_dev *octo;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_flows_begin(&t, &octo_port_flows_two_nodes, 2, NULL);
	for (uint16_t flow = 0; flow < OCTO_PORT_FLOWS; flow++)
		to_both_queues(flow);
	octo_port_flows_pass_often(&t, 100);
	octo = dev_of(t.port);
	octo_port_lack_update();
	faults = octo_port_faults_on(0);
	faults->create_ingress = EIO;
	for (int n = 0; n < 2000 && octo->sync.queue[0].retry == 0; n++)
		pass_from(1, 0, true);
	assert_true(octo->sync.queue[0].divided);
	faults->create_ingress = 0;
	/* the fence of the first try closes */
	for (int n = 0; n < 100; n++)
		pass_from(1, 0, false);
	poll_from(1, 1);
	/* the old leg of queue 0 has many packets when the rules get the new one */
	for (int n = 0; n < 10; n++) {
		octo_port_flows_send(&t);
		octo_sleep_us(80);
		octo_port_flows_receive(&t, 1);
	}
	octo_lock(octo);
	while (octo_sync_step_locked(octo))
		continue;
	octo_unlock(octo);
	assert_int_equal(octo->leg_pf[1], 1);
	/* the next try is far */
	assert_true(octo->sync.queue[0].divided);
	for (int n = 0; n < 10; n++) {
		octo_port_flows_send(&t);
		octo_sleep_us(80);
		octo_port_flows_receive(&t, 1);
	}
	octo_port_flows_assert_all_arrive(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_the_lock_is_held_for_few_rules_at_a_time),
		octo_port_test(test_flows_stay_in_order_over_slices),
		octo_port_test(test_a_rule_of_two_queues_follows_both),
		octo_port_test(test_two_queues_are_rehomed_at_the_same_time),
		octo_port_test(test_rules_come_and_go_on_the_way),
		octo_port_test(test_indirect_actions_go_on_the_way),
		octo_port_test(test_a_home_changes_on_the_way),
		octo_port_test(test_a_rule_of_two_queues_is_late_for_one),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
