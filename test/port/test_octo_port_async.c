/* SPDX-License-Identifier: BSD-3-Clause */

/* Rules of the port through flow queues: one on every PF, and the way to the right one. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include "octo_port_async.h"
#include "octo_port_fault.h"
#include "octo_private.h"

#define OK RTE_FLOW_OP_SUCCESS
#define FAILED RTE_FLOW_OP_ERROR

static const struct octo_port_conf two_pfs;

static void
assert_refused(bool refused, int code, const struct rte_flow_error *error, const char *words)
{
	assert_true(refused);
	assert_int_equal(rte_errno, code);
	assert_non_null(error->message);
	if (strstr(error->message, words) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", error->message, words);
}

static void
test_rules_lead_home(void **state)
{
	struct octo_port_table t;
	uint16_t port = octo_port_start_with_table(&two_pfs, &t);
	struct rte_flow *flows[4];

	(void)state;
	for (uint16_t i = 0; i < 4; i++) {
		flows[i] = octo_port_enqueue(&t, 100 + i, i, true, NULL);
		assert_non_null(flows[i]);
	}
	octo_port_pull_nothing(port);
	assert_int_equal(rte_flow_push(port, 0, NULL), 0);
	for (uint16_t i = 0; i < 4; i++)
		octo_port_pull(port, 100 + i, OK);
	assert_int_equal(rte_eth_xstats_reset(port), 0);
	for (uint16_t i = 0; i < 4; i++) {
		assert_int_equal(octo_port_rule_pf(port, 100 + i), i % 2);
		octo_port_assert_arrives(port, 100 + i, i, 20);
	}
	assert_int_equal(octo_port_xstat(port, "rx_stray_packets"), 0);
	for (uint16_t i = 0; i < 4; i++)
		assert_int_equal(octo_port_enqueue_destroy(port, flows[i], 200 + i, false), 0);
	for (uint16_t i = 0; i < 4; i++)
		octo_port_pull(port, 200 + i, OK);
	assert_int_equal(octo_port_rule_pf(port, 100), -2);
	octo_port_assert_arrives(port, 103, 0, 20);
	octo_port_table_destroy(&t);
}

/* A rejected rule has no tuple any more that its text could be of. */
static void
assert_dump_says_rejected(uint16_t port, struct rte_flow *flow)
{
	char *text = NULL;
	size_t len;
	FILE *file = open_memstream(&text, &len);

	assert_non_null(file);
	assert_int_equal(rte_flow_dev_dump(port, flow, file, NULL), 0);
	assert_int_equal(fclose(file), 0);
	assert_non_null(
		strstr(text, "by the application: rejected by a PF\n  rules on PFs: none\n"));
	free(text);
}

/* Had a rejected rule left anything on a PF, that would be full soon. */
static void
check_rejected(const struct octo_port_conf *conf, unsigned int room)
{
	struct octo_port_table t;
	uint16_t port = octo_port_start_with_table(conf, &t);
	struct rte_flow *flow;

	for (uint16_t i = 0; i < room; i++) {
		assert_non_null(octo_port_enqueue(&t, 100 + i, i % 4, false, NULL));
		octo_port_pull(port, 100 + i, OK);
	}
	for (unsigned int i = 0; i < 20; i++) {
		flow = octo_port_enqueue(&t, 200, 1, false, NULL);
		assert_non_null(flow);
		octo_port_pull(port, 200, FAILED);
		octo_port_pull_nothing(port);
		assert_int_equal(octo_port_rule_pf(port, 200), -2);
		assert_dump_says_rejected(port, flow);
		assert_int_equal(octo_port_enqueue_destroy(port, flow, 201, false), 0);
		octo_port_pull(port, 201, OK);
	}
	for (uint16_t i = 0; i < room; i++)
		octo_port_assert_arrives(port, 100 + i, i % 4, 20);
	assert_int_equal(octo_port_xstat(port, "steered_flows"), room);
}

static void
test_a_pf_that_is_full(void **state)
{
	const struct octo_port_conf conf = {.pf = {"arfs_entries=5", "arfs_entries=4"}};

	(void)state;
	check_rejected(&conf, 4);
}

static void
test_a_switch_that_is_full(void **state)
{
	const struct octo_port_conf conf = {.nic = "mpfs_entries=4", .all = "arfs_entries=5"};

	(void)state;
	check_rejected(&conf, 4);
}

static void
test_a_tuple_is_steered_once(void **state)
{
	struct octo_port_table t;
	uint16_t port = octo_port_start_with_table(&two_pfs, &t);
	struct rte_flow_error error;

	(void)state;
	assert_non_null(octo_port_steer(port, 7, 0, NULL));
	assert_refused(octo_port_enqueue(&t, 7, 1, false, &error) == NULL, EEXIST, &error,
		       "already");
	assert_non_null(octo_port_enqueue(&t, 8, 1, true, NULL));
	assert_refused(octo_port_steer(port, 8, 0, &error) == NULL, EEXIST, &error, "already");
	assert_refused(octo_port_enqueue(&t, 9, 4, true, &error) == NULL, EINVAL, &error, "queue");
	assert_int_equal(rte_flow_push(port, 0, NULL), 0);
	octo_port_pull(port, 8, OK);
	octo_port_pull_nothing(port);
}

static void
test_a_full_queue_refuses(void **state)
{
	struct octo_port_table t;
	uint16_t port = octo_port_start_with_table(&two_pfs, &t);
	struct rte_flow_error error;

	(void)state;
	for (uint16_t i = 0; i < 16; i++)
		assert_non_null(octo_port_enqueue(&t, 100 + i, 0, true, NULL));
	assert_refused(octo_port_enqueue(&t, 200, 0, true, &error) == NULL, EAGAIN, &error, "full");
	assert_int_equal(rte_flow_push(port, 0, NULL), 0);
	octo_port_pull(port, 100, OK);
	assert_non_null(octo_port_enqueue(&t, 200, 0, true, NULL));
}

static void
test_a_pf_without_flow_queues_is_named(void **state)
{
	const struct octo_port_conf conf = {.pf = {NULL, "caps=-async"}};
	uint16_t port = octo_port_create(&conf);
	struct rte_flow_error error;

	(void)state;
	assert_int_equal(octo_port_configure(port, 1), 0);
	assert_refused(octo_port_flow_queues(port, 1, 16, &error) == -ENOTSUP, ENOTSUP, &error,
		       "PF net_mpsim1");
}

/* The second PF refuses: the first is to have the old flow queues, which the port goes on with. */
static void
test_a_pf_that_refuses_other_flow_queues(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_faults *faults = octo_port_faults_on(1);
	struct octo_port_table t;

	(void)state;
	assert_int_equal(octo_port_configure(port, 4), 0);
	assert_int_equal(octo_port_flow_queues(port, 2, 16, NULL), 0);
	faults->flow_configure = ENOMEM;
	assert_int_equal(octo_port_flow_queues(port, 1, 4, NULL), -ENOMEM);
	faults->flow_configure = 0;
	octo_port_table_create(&t, port, 64);
	assert_int_equal(rte_eth_dev_start(port), 0);
	for (uint16_t i = 0; i < 16; i++)
		assert_non_null(octo_port_enqueue(&t, 100 + i, i % 4, true, NULL));
	assert_int_equal(rte_flow_push(port, 0, NULL), 0);
	for (uint16_t i = 0; i < 16; i++)
		octo_port_pull(port, 100 + i, OK);
	octo_port_faults_off();
}

/* PFs report a rule by the context that octo gave them, also where the template gives one. */
static void
check_aging(bool common)
{
	static int context;
	const struct rte_flow_action_age age = {.timeout = 10, .context = &context};
	const struct rte_flow_action_age mask = {.timeout = 0xffffff, .context = (void *)-1};
	const struct rte_flow_action_queue queue = {.index = 1};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_AGE, .conf = &age},
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &queue},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	const struct rte_flow_action masks[] = {
		{.type = RTE_FLOW_ACTION_TYPE_AGE, .conf = common ? &mask : NULL},
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	const struct rte_flow_op_attr now = {0};
	struct octo_port_table open, t;
	uint16_t port = octo_port_start_with_table(&two_pfs, &open);
	struct octo_flow_rule r;
	void *aged[4];

	octo_port_table_create_as(&t, port, 4, actions, masks);
	octo_port_build(&r, 7, 1);
	assert_non_null(rte_flow_async_create(port, 0, &now, t.table, r.pattern, 0, actions, 0,
					      (void *)7, NULL));
	octo_port_pull(port, 7, OK);
	assert_int_equal(rte_flow_get_aged_flows(port, aged, RTE_DIM(aged), NULL), 0);
	octo_port_pass_us(11 * 1000 * 1000);
	assert_int_equal(rte_flow_get_aged_flows(port, aged, RTE_DIM(aged), NULL), 1);
	assert_ptr_equal(aged[0], &context);
}

static void
test_rules_of_tables_age(void **state)
{
	(void)state;
	check_aging(false);
}

static void
test_rules_of_tables_age_by_the_template(void **state)
{
	(void)state;
	check_aging(true);
}

static void
test_flushing_and_stopping(void **state)
{
	struct octo_port_table t;
	uint16_t port = octo_port_start_with_table(&two_pfs, &t);
	struct rte_flow_error error;

	(void)state;
	assert_non_null(octo_port_enqueue(&t, 7, 1, false, NULL));
	octo_port_pull(port, 7, OK);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_refused(octo_port_enqueue(&t, 8, 1, false, &error) == NULL, EINVAL, &error,
		       "start it first");
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_int_equal(octo_port_rule_pf(port, 7), 1);
	octo_port_assert_arrives(port, 7, 1, 20);
	assert_non_null(octo_port_enqueue(&t, 8, 1, true, NULL));
	assert_int_equal(rte_flow_flush(port, NULL), 0);
	octo_port_pull(port, 8, OK);
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 0);
	octo_port_assert_arrives(port, 7, 0, 20);
	octo_port_table_destroy(&t);
}

/* There is room for one rule: were the flushed one left on a PF, no other would fit. */
static void
check_flush_of_a_destroyed_rule(bool created, uint32_t queue_id)
{
	const struct octo_port_conf conf = {.nic = "mpfs_entries=1", .all = "arfs_entries=1"};
	const struct rte_flow_op_attr postponed = {.postpone = 1};
	struct rte_flow_op_result result;
	struct octo_port_table t;
	uint16_t port = octo_port_start_with_table(&conf, &t);
	struct rte_flow *flow = octo_port_enqueue(&t, 7, 1, !created, NULL);

	assert_non_null(flow);
	if (created)
		octo_port_pull(port, 7, OK);
	assert_int_equal(rte_flow_async_destroy(port, queue_id, &postponed, flow, (void *)8, NULL),
			 0);
	assert_int_equal(rte_flow_push(port, queue_id, NULL), 0);
	assert_int_equal(rte_flow_flush(port, NULL), 0);
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 0);
	if (!created)
		octo_port_pull(port, 7, OK);
	assert_int_equal(rte_flow_pull(port, queue_id, &result, 1, NULL), 1);
	assert_int_equal((uintptr_t)result.user_data, 8);
	assert_int_equal(result.status, OK);
	octo_port_pull_nothing(port);
	assert_non_null(octo_port_enqueue(&t, 7, 3, false, NULL));
	octo_port_pull(port, 7, OK);
	assert_int_equal(octo_port_rule_pf(port, 7), 1);
	octo_port_assert_arrives(port, 7, 3, 20);
	assert_int_equal(rte_flow_flush(port, NULL), 0);
	octo_port_table_destroy(&t);
}

static void
test_flushing_what_is_being_destroyed(void **state)
{
	(void)state;
	check_flush_of_a_destroyed_rule(true, 0);
}

static void
test_flushing_what_is_being_made_and_destroyed(void **state)
{
	(void)state;
	check_flush_of_a_destroyed_rule(false, 0);
}

static void
test_flushing_what_another_queue_destroys(void **state)
{
	(void)state;
	check_flush_of_a_destroyed_rule(true, 1);
}

/* It is the application's until it destroys it, and on no PF, also none that joins. */
static void
test_a_rejected_rule_and_a_pf_that_joins(void **state)
{
	const struct octo_port_conf conf = {.replug = true, .pf = {"arfs_entries=1"}};
	struct octo_port_table t;
	const uint16_t port = octo_port_start_with_table(&conf, &t);
	struct octo_dev *octo = octo_of(&rte_eth_devices[port]);
	const struct rte_flow *rule;

	(void)state;
	assert_non_null(octo_port_enqueue(&t, 7, 1, false, NULL));
	octo_port_pull(port, 7, OK);
	assert_non_null(octo_port_enqueue(&t, 8, 1, false, NULL));
	octo_port_pull(port, 8, FAILED);
	octo_port_remove_pf(1);
	octo_port_add_pf(&conf, 1);
	octo_port_await(octo->role[1].state == OCTO_PF_ACTIVE);
	rule = TAILQ_FIRST(&octo->others);
	assert_true(rule->rejected);
	for (uint8_t pf = 0; pf < 2; pf++)
		assert_null(octo_rule_on(octo, rule, pf));
}

static void
test_a_pf_goes(void **state)
{
	struct octo_port_table t;
	uint16_t port = octo_port_start_with_table(&two_pfs, &t);
	struct rte_flow *flow;

	(void)state;
	flow = octo_port_enqueue(&t, 7, 1, false, NULL);
	octo_port_pull(port, 7, OK);
	assert_non_null(octo_port_enqueue(&t, 8, 1, true, NULL));
	octo_port_remove_pf(1);
	assert_int_equal(rte_flow_push(port, 0, NULL), 0);
	octo_port_pull(port, 8, OK);
	octo_port_await(octo_port_rule_pf(port, 7) == 0);
	octo_port_assert_arrives(port, 7, 1, 20);
	octo_port_assert_arrives(port, 8, 1, 20);
	assert_int_equal(octo_port_enqueue_destroy(port, flow, 9, false), 0);
	octo_port_pull(port, 9, OK);
}

/* In order: each waits for those before it. */
static void
test_indirect_actions_through_a_queue(void **state)
{
	const struct rte_flow_indir_action_conf ingress = {.ingress = 1};
	const struct rte_flow_op_attr postponed = {.postpone = 1};
	struct rte_flow_action_handle *h;
	struct rte_flow_action_queue queue;
	struct rte_flow_action action;
	struct octo_port_table t;
	uint16_t port = octo_port_start_with_table(&two_pfs, &t);

	(void)state;
	octo_port_queue_action(&action, &queue, 0);
	h = rte_flow_async_action_handle_create(port, 0, &postponed, &ingress, &action, (void *)1,
						NULL);
	assert_non_null(h);
	assert_non_null(octo_port_steer_by(port, 7, h, NULL));
	queue.index = 3;
	assert_int_equal(rte_flow_async_action_handle_update(port, 0, &postponed, h, &action,
							     (void *)2, NULL),
			 0);
	queue.index = 2; /* it was read already */
	assert_int_equal(
		rte_flow_async_action_handle_destroy(port, 0, &postponed, h, (void *)3, NULL), 0);
	assert_int_equal(octo_port_rule_pf(port, 7), 0);
	assert_int_equal(rte_flow_push(port, 0, NULL), 0);
	octo_port_pull(port, 1, OK);
	octo_port_pull(port, 2, OK);
	octo_port_pull(port, 3, FAILED);
	assert_int_equal(octo_port_rule_pf(port, 7), 1);
	octo_port_assert_arrives(port, 7, 3, 20);
}

/* The switch has room for one rule, so that a second one for the same flow would fail. */
static void
test_a_queue_that_changes_under_way(void **state)
{
	const struct octo_port_conf conf = {.nic = "mpfs_entries=1", .all = "arfs_entries=1"};
	struct rte_flow_action_handle *h;
	struct rte_flow_action_queue queue;
	struct rte_flow_action action;
	struct octo_port_table open, t;
	uint16_t port = octo_port_start_with_table(&conf, &open);
	struct rte_flow *flow;

	(void)state;
	octo_port_table_create_by_handle(&t, port, 4);
	h = octo_port_indirect_queue(port, 0);
	octo_port_queue_action(&action, &queue, 3);
	flow = octo_port_enqueue_by(&t, 7, h, true);
	assert_non_null(flow);
	assert_int_equal(rte_flow_action_handle_update(port, h, &action, NULL), 0);
	assert_int_equal(rte_flow_push(port, 0, NULL), 0);
	octo_port_pull(port, 7, OK);
	assert_int_equal(octo_port_rule_pf(port, 7), 1);
	assert_int_equal(rte_eth_xstats_reset(port), 0);
	octo_port_assert_arrives(port, 7, 3, 20);
	assert_int_equal(octo_port_xstat(port, "rx_stray_packets"), 0);
	assert_int_equal(octo_port_enqueue_destroy(port, flow, 8, false), 0);
	octo_port_pull(port, 8, OK);
	assert_int_equal(rte_flow_action_handle_destroy(port, h, NULL), 0);
	octo_port_table_destroy(&t);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	assert_int_equal(octo_port_rule_pf(port, 7), 1);
	octo_port_assert_arrives(port, 7, 1, 20);
}

/* A template whose rules all lead where h does. */
static struct rte_flow_actions_template *
template_with(uint16_t port, struct rte_flow_action_handle *h)
{
	const struct rte_flow_actions_template_attr attr = {.ingress = 1};
	const struct rte_flow_action_queue given = {.index = UINT16_MAX};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_INDIRECT, .conf = h},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	const struct rte_flow_action masks[] = {
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &given},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	struct rte_flow_actions_template *t;

	t = rte_flow_actions_template_create(port, &attr, actions, masks, NULL);
	assert_non_null(t);
	return t;
}

static void
test_a_template_keeps_its_indirect_action(void **state)
{
	struct rte_flow_error error = {.message = NULL};
	struct rte_flow_actions_template *with;
	struct rte_flow_action_handle *h;
	struct octo_port_table t;
	uint16_t port = octo_port_start_with_table(&two_pfs, &t);
	int ret;

	(void)state;
	h = octo_port_indirect_queue(port, 3);
	with = template_with(port, h);
	ret = rte_flow_action_handle_destroy(port, h, &error);
	assert_refused(ret == -EBUSY, EBUSY, &error, "templates have this indirect action");
	assert_int_equal(rte_flow_actions_template_destroy(port, with, NULL), 0);
	assert_int_equal(rte_flow_action_handle_destroy(port, h, NULL), 0);
	/* what is left when the port is closed */
	template_with(port, octo_port_indirect_queue(port, 2));
	octo_port_close_and_remove(port);
}

static void
test_closing_with_all_of_it(void **state)
{
	struct octo_port_table t;
	uint16_t port = octo_port_start_with_table(&two_pfs, &t);

	(void)state;
	assert_non_null(octo_port_enqueue(&t, 7, 1, false, NULL));
	assert_non_null(octo_port_enqueue(&t, 8, 1, true, NULL));
	octo_port_close_and_remove(port);
	/* the PFs are as they were: what was made of them is gone */
	assert_int_equal(octo_port_flow_queues(octo_port_pf(0), 1, 4, NULL), 0);
	assert_int_equal(octo_port_flow_queues(octo_port_pf(1), 1, 4, NULL), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_rules_lead_home),
		octo_port_test(test_a_pf_that_is_full),
		octo_port_test(test_a_switch_that_is_full),
		octo_port_test(test_a_tuple_is_steered_once),
		octo_port_test(test_a_full_queue_refuses),
		octo_port_test(test_a_pf_without_flow_queues_is_named),
		octo_port_test(test_a_pf_that_refuses_other_flow_queues),
		octo_port_test(test_rules_of_tables_age),
		octo_port_test(test_rules_of_tables_age_by_the_template),
		octo_port_test(test_flushing_and_stopping),
		octo_port_test(test_flushing_what_is_being_destroyed),
		octo_port_test(test_flushing_what_is_being_made_and_destroyed),
		octo_port_test(test_flushing_what_another_queue_destroys),
		octo_port_test(test_a_rejected_rule_and_a_pf_that_joins),
		octo_port_test(test_a_pf_goes),
		octo_port_test(test_indirect_actions_through_a_queue),
		octo_port_test(test_a_queue_that_changes_under_way),
		octo_port_test(test_a_template_keeps_its_indirect_action),
		octo_port_test(test_closing_with_all_of_it),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
