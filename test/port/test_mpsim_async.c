/* SPDX-License-Identifier: BSD-3-Clause */

/* Rules of a PF of mpsim through flow queues. */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>

#include "octo_port_async.h"

#define OK RTE_FLOW_OP_SUCCESS
#define FAILED RTE_FLOW_OP_ERROR

/* A PF whose frames go to queue 0 if no rule says otherwise. */
static uint16_t
start_pf(uint32_t ops, struct octo_port_table *t, uint32_t nb_flows)
{
	const struct octo_port_conf conf = {.nb_pfs = 1};
	uint16_t port;

	octo_port_add_pfs(&conf);
	port = octo_port_pf(0);
	assert_int_equal(octo_port_configure(port, 4), 0);
	assert_int_equal(octo_port_flow_queues(port, 2, ops, NULL), 0);
	octo_port_table_create(t, port, nb_flows);
	assert_int_equal(rte_eth_dev_start(port), 0);
	return port;
}

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
test_a_rule_waits_for_the_push(void **state)
{
	struct octo_port_table t;
	uint16_t port = start_pf(4, &t, 4);
	struct rte_flow *flow;

	(void)state;
	flow = octo_port_enqueue(&t, 7, 3, true, NULL);
	assert_non_null(flow);
	octo_port_pull_nothing(port);
	octo_port_assert_arrives(port, 7, 0, 8);
	assert_int_equal(rte_flow_push(port, 0, NULL), 0);
	octo_port_assert_arrives(port, 7, 3, 8);
	octo_port_pull(port, 7, OK);
	octo_port_pull_nothing(port);
	assert_int_equal(octo_port_enqueue_destroy(port, flow, 8, true), 0);
	octo_port_assert_arrives(port, 7, 3, 8);
	assert_int_equal(rte_flow_push(port, 0, NULL), 0);
	octo_port_assert_arrives(port, 7, 0, 8);
	octo_port_pull(port, 8, OK);
	octo_port_table_destroy(&t);
}

/* Without postpone all that waits in front of it is performed as well. */
static void
test_results_come_in_order(void **state)
{
	struct octo_port_table t;
	uint16_t port = start_pf(8, &t, 8);
	struct rte_flow_op_result results[8];

	(void)state;
	for (uint16_t i = 1; i <= 4; i++)
		assert_non_null(octo_port_enqueue(&t, i, i % 4, i != 4, NULL));
	assert_int_equal(rte_flow_pull(port, 1, results, 8, NULL), 0);
	octo_port_pull(port, 1, OK);
	assert_int_equal(rte_flow_pull(port, 0, results, 8, NULL), 3);
	for (uint16_t i = 0; i < 3; i++) {
		assert_int_equal((uintptr_t)results[i].user_data, 2 + i);
		assert_int_equal(results[i].status, OK);
	}
	for (uint16_t i = 1; i <= 4; i++)
		octo_port_assert_arrives(port, i, i % 4, 8);
}

static void
test_a_full_queue_refuses(void **state)
{
	struct octo_port_table t;
	uint16_t port = start_pf(3, &t, 100);
	struct rte_flow_error error;

	(void)state;
	for (uint16_t i = 1; i <= 3; i++)
		assert_non_null(octo_port_enqueue(&t, i, 0, true, NULL));
	assert_refused(octo_port_enqueue(&t, 4, 0, true, &error) == NULL, EAGAIN, &error, "full");
	/* what was pushed is there until it is pulled */
	assert_int_equal(rte_flow_push(port, 0, NULL), 0);
	assert_refused(octo_port_enqueue(&t, 4, 0, true, &error) == NULL, EAGAIN, &error, "full");
	octo_port_pull(port, 1, OK);
	for (uint16_t i = 4; i <= 50; i++) {
		assert_non_null(octo_port_enqueue(&t, i, 0, false, NULL));
		assert_null(octo_port_enqueue(&t, i + 1, 0, false, NULL));
		octo_port_pull(port, i - 2, OK);
	}
}

/* rte_flow: a rule that was rejected is destroyed like any other. */
static void
test_a_rejected_rule(void **state)
{
	struct octo_port_table t;
	uint16_t port = start_pf(8, &t, 2);
	struct rte_flow *first, *second;
	struct rte_flow_error error;

	(void)state;
	first = octo_port_enqueue(&t, 7, 1, false, NULL);
	second = octo_port_enqueue(&t, 7, 2, false, NULL);
	assert_non_null(second);
	octo_port_pull(port, 7, OK);
	octo_port_pull(port, 7, FAILED);
	octo_port_assert_arrives(port, 7, 1, 8);
	assert_refused(octo_port_enqueue(&t, 8, 2, false, &error) == NULL, ENOSPC, &error,
		       "table is full");
	assert_int_equal(octo_port_enqueue_destroy(port, second, 9, false), 0);
	octo_port_pull(port, 9, OK);
	octo_port_assert_arrives(port, 7, 1, 8);
	assert_non_null(octo_port_enqueue(&t, 8, 2, false, NULL));
	octo_port_pull(port, 8, OK);
	assert_int_equal(octo_port_enqueue_destroy(port, first, 10, false), 0);
	octo_port_pull(port, 10, OK);
	octo_port_assert_arrives(port, 7, 0, 8);
}

static void
test_what_is_used_stays(void **state)
{
	struct octo_port_table t;
	uint16_t port = start_pf(8, &t, 2);
	struct rte_flow_error error;
	struct rte_flow *flow;

	(void)state;
	flow = octo_port_enqueue(&t, 7, 1, false, NULL);
	assert_refused(rte_flow_template_table_destroy(port, t.table, &error) == -EBUSY, EBUSY,
		       &error, "1 rules");
	assert_refused(rte_flow_pattern_template_destroy(port, t.pattern, &error) == -EBUSY, EBUSY,
		       &error, "1 template tables");
	assert_refused(rte_flow_actions_template_destroy(port, t.actions, &error) == -EBUSY, EBUSY,
		       &error, "1 template tables");
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_refused(octo_port_flow_queues(port, 1, 4, &error) == -EBUSY, EBUSY, &error,
		       "destroy them");
	assert_int_equal(octo_port_enqueue_destroy(port, flow, 7, false), 0);
	octo_port_table_destroy(&t);
	assert_int_equal(octo_port_flow_queues(port, 1, 4, NULL), 0);
}

static void
test_flushing_what_was_not_pushed(void **state)
{
	struct octo_port_table t;
	uint16_t port = start_pf(8, &t, 2);
	struct rte_flow *flow;

	(void)state;
	flow = octo_port_enqueue(&t, 7, 1, false, NULL);
	assert_int_equal(octo_port_enqueue_destroy(port, flow, 8, true), 0);
	assert_non_null(octo_port_enqueue(&t, 9, 1, true, NULL));
	assert_int_equal(rte_flow_flush(port, NULL), 0);
	octo_port_pull(port, 7, OK);
	octo_port_pull(port, 8, OK);
	octo_port_pull(port, 9, FAILED);
	assert_int_equal(rte_flow_push(port, 0, NULL), 0);
	octo_port_pull_nothing(port);
	octo_port_assert_arrives(port, 9, 0, 8);
	octo_port_table_destroy(&t);
}

static void
test_limits(void **state)
{
	const struct octo_port_conf conf = {.nb_pfs = 1};
	struct rte_flow_queue_info queue;
	struct rte_flow_port_info info;
	struct rte_flow_error error;
	uint16_t port;

	(void)state;
	octo_port_add_pfs(&conf);
	port = octo_port_pf(0);
	assert_int_equal(octo_port_configure(port, 1), 0);
	assert_int_equal(rte_flow_info_get(port, &info, &queue, NULL), 0);
	assert_true(info.max_nb_queues > 0 && info.max_nb_counters > 0 && queue.max_size > 0);
	assert_refused(octo_port_flow_queues(port, 0, 4, &error) == -EINVAL, EINVAL, &error,
		       "between 1 and");
	assert_refused(octo_port_flow_queues(port, info.max_nb_queues + 1, 4, &error) == -EINVAL,
		       EINVAL, &error, "between 1 and");
	assert_refused(octo_port_flow_queues(port, 1, queue.max_size + 1, &error) == -EINVAL,
		       EINVAL, &error, "can hold");
	assert_int_equal(octo_port_flow_queues(port, info.max_nb_queues, queue.max_size, NULL), 0);
}

static void
test_closing_with_all_of_it(void **state)
{
	struct octo_port_table t;
	uint16_t port = start_pf(8, &t, 8);

	(void)state;
	assert_non_null(octo_port_enqueue(&t, 7, 1, false, NULL));
	assert_non_null(octo_port_enqueue(&t, 8, 1, true, NULL));
	assert_int_equal(rte_eth_dev_stop(port), 0);
	/* the teardown closes the port: nothing may be left, as ASan would say */
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_rule_waits_for_the_push),
		octo_port_test(test_results_come_in_order),
		octo_port_test(test_a_full_queue_refuses),
		octo_port_test(test_a_rejected_rule),
		octo_port_test(test_what_is_used_stays),
		octo_port_test(test_flushing_what_was_not_pushed),
		octo_port_test(test_limits),
		octo_port_test(test_closing_with_all_of_it),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
