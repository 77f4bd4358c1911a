/* SPDX-License-Identifier: BSD-3-Clause */

/* Rules of flow queues whose destruction a PF or the switch refuses. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>

#include "octo_port_async.h"
#include "octo_port_fault.h"

#define OK RTE_FLOW_OP_SUCCESS
#define FAILED RTE_FLOW_OP_ERROR

/* A flow queue of a PF takes no more; what is pulled of it means nothing to anybody. */
static void
fill_queue_of_pf(uint16_t pf)
{
	static char scratch[1024];
	const struct rte_flow_op_attr now = {0};
	const struct rte_flow_indir_action_conf conf = {.ingress = 1};
	const struct rte_flow_action count = {
		.type = RTE_FLOW_ACTION_TYPE_COUNT,
		.conf = &(const struct rte_flow_action_count){0},
	};

	while (rte_flow_async_action_handle_create(pf, 0, &now, &conf, &count, scratch, NULL) !=
	       NULL)
		;
	assert_int_equal(rte_errno, EAGAIN);
}

/* The second PF has room for one rule: none is left there when the next is made. */
static void
test_a_pf_that_takes_no_destruction(void **state)
{
	const struct octo_port_conf conf = {.pf = {[1] = "arfs_entries=1"}};
	struct octo_port_table t;
	uint16_t port = octo_port_start_with_table(&conf, &t);
	struct rte_flow *flow = octo_port_enqueue(&t, 100, 1, false, NULL);

	(void)state;
	assert_non_null(flow);
	octo_port_pull(port, 100, OK);
	fill_queue_of_pf(octo_port_pf(1));
	assert_int_equal(octo_port_enqueue_destroy(port, flow, 101, false), 0);
	octo_port_pull(port, 101, FAILED);
	assert_int_equal(octo_port_enqueue_destroy(port, flow, 102, false), 0);
	octo_port_pull(port, 102, OK);
	assert_non_null(octo_port_enqueue(&t, 103, 1, false, NULL));
	octo_port_pull(port, 103, OK);
	octo_port_assert_arrives(port, 103, 1, 20);
}

/* The MPFS rule stays as well, and with it the 5-tuple, until the rule is destroyed again. */
static void
test_a_switch_that_takes_no_destruction(void **state)
{
	struct octo_port_table t;
	uint16_t port = octo_port_start_with_table(&(const struct octo_port_conf){0}, &t);
	struct octo_port_faults *faults = octo_port_faults_on(0);
	struct rte_flow *flow = octo_port_enqueue(&t, 100, 1, false, NULL);

	(void)state;
	octo_port_pull(port, 100, OK);
	faults->destroy = EBUSY;
	assert_int_equal(octo_port_enqueue_destroy(port, flow, 101, false), 0);
	octo_port_pull(port, 101, FAILED);
	assert_null(octo_port_enqueue(&t, 100, 1, false, NULL));
	assert_int_equal(rte_errno, EEXIST);
	faults->destroy = 0;
	assert_int_equal(octo_port_enqueue_destroy(port, flow, 102, false), 0);
	octo_port_pull(port, 102, OK);
	assert_int_equal(octo_port_rule_pf(port, 100), -2);
	assert_non_null(octo_port_enqueue(&t, 100, 1, false, NULL));
	octo_port_pull(port, 100, OK);
	octo_port_assert_arrives(port, 100, 1, 20);
}

/* It has had the handle back: it is not given it again. */
static void
test_a_pf_that_fails_a_destruction(void **state)
{
	const struct octo_port_conf conf = {0};
	struct octo_port_table t;
	uint16_t port = octo_port_start_with_table(&conf, &t);
	struct rte_flow *flow = octo_port_enqueue(&t, 100, 1, false, NULL);

	(void)state;
	octo_port_pull(port, 100, OK);
	octo_port_fail_destroy = octo_port_pf(1);
	assert_int_equal(octo_port_enqueue_destroy(port, flow, 101, false), 0);
	octo_port_pull(port, 101, FAILED);
	octo_port_fail_destroy = octo_port_pf(1);
	assert_int_equal(octo_port_enqueue_destroy(port, flow, 102, false), 0);
	octo_port_pull(port, 102, OK);
	assert_int_equal(octo_port_fail_destroy, octo_port_pf(1));
	octo_port_fail_destroy = RTE_MAX_ETHPORTS;
}

/* Without a flow queue of the application's: the handle stays valid, for another attempt. */
static void
test_a_pf_that_fails_a_destruction_of_a_single_rule(void **state)
{
	const struct octo_port_conf conf = {0};
	struct octo_port_table t;
	uint16_t port = octo_port_start_with_table(&conf, &t);
	struct rte_flow *flow = octo_port_enqueue(&t, 100, 1, false, NULL);
	struct rte_flow_error error = {0};

	(void)state;
	octo_port_pull(port, 100, OK);
	octo_port_fail_destroy = octo_port_pf(1);
	assert_int_equal(rte_flow_destroy(port, flow, &error), -EIO);
	assert_int_equal(rte_errno, EIO);
	assert_non_null(error.message);
	assert_int_equal(octo_port_fail_destroy, RTE_MAX_ETHPORTS);
	octo_port_pull_nothing(port);
	assert_int_equal(rte_flow_template_table_destroy(port, t.table, NULL), -EBUSY);
	assert_int_equal(rte_flow_destroy(port, flow, NULL), 0);
	octo_port_table_destroy(&t);
}

/* The rules are gone all the same. */
static void
test_a_pf_that_fails_a_destruction_of_a_flush(void **state)
{
	const struct octo_port_conf conf = {0};
	struct octo_port_table t;
	uint16_t port = octo_port_start_with_table(&conf, &t);

	(void)state;
	assert_non_null(octo_port_enqueue(&t, 100, 1, false, NULL));
	octo_port_pull(port, 100, OK);
	octo_port_fail_destroy = octo_port_pf(1);
	assert_int_equal(rte_flow_flush(port, NULL), -EIO);
	octo_port_table_destroy(&t);
}

static uint16_t
give_none_of_second(uint16_t pf)
{
	return pf == octo_port_pf(1) ? 0 : UINT16_MAX;
}

/* What a flow queue made is none of rte_flow_destroy() of the PF: the rule stays there. */
static void
test_a_flush_where_a_pf_takes_no_destruction(void **state)
{
	const struct octo_port_conf conf = {.pf = {[1] = "arfs_entries=1"}};
	struct octo_port_table t;
	uint16_t port = octo_port_start_with_table(&conf, &t);
	char *text = NULL;
	size_t len = 0;
	FILE *log = open_memstream(&text, &len);

	(void)state;
	assert_non_null(log);
	assert_non_null(octo_port_enqueue(&t, 100, 1, false, NULL));
	octo_port_pull(port, 100, OK);
	fill_queue_of_pf(octo_port_pf(1));
	octo_port_results_given = give_none_of_second;
	rte_openlog_stream(log);
	assert_int_equal(rte_flow_flush(port, NULL), -EIO);
	rte_openlog_stream(NULL);
	octo_port_results_given = NULL;
	fclose(log);
	assert_non_null(strstr(text, "1 rules stay"));
	free(text);
	octo_port_pull_nothing(port);
	assert_non_null(octo_port_enqueue(&t, 101, 1, false, NULL));
	octo_port_pull(port, 101, FAILED);
}

/* It has the rule without a flow queue, as one that came back. */
static void
test_a_pf_without_the_table(void **state)
{
	const struct octo_port_conf conf = {.replug = true};
	struct octo_port_table t;
	uint16_t port = octo_port_start_with_table(&conf, &t);
	struct octo_port_faults *faults;
	struct rte_flow *flow;

	(void)state;
	octo_port_remove_pf(1);
	octo_port_add_pf(&conf, 1);
	octo_port_await(octo_port_pf_is_started(port, 1));
	flow = octo_port_enqueue(&t, 100, 1, false, NULL);
	octo_port_pull(port, 100, OK);
	faults = octo_port_faults_on(1);
	faults->destroy = EBUSY;
	assert_int_equal(octo_port_enqueue_destroy(port, flow, 101, false), 0);
	octo_port_pull(port, 101, FAILED);
	faults->destroy = 0;
	assert_int_equal(octo_port_enqueue_destroy(port, flow, 102, false), 0);
	octo_port_pull(port, 102, OK);
	assert_non_null(octo_port_enqueue(&t, 100, 1, false, NULL));
	octo_port_pull(port, 100, OK);
	octo_port_assert_arrives(port, 100, 1, 20);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_pf_that_takes_no_destruction),
		octo_port_test(test_a_switch_that_takes_no_destruction),
		octo_port_test(test_a_pf_that_fails_a_destruction),
		octo_port_test(test_a_pf_that_fails_a_destruction_of_a_single_rule),
		octo_port_test(test_a_pf_that_fails_a_destruction_of_a_flush),
		octo_port_test(test_a_flush_where_a_pf_takes_no_destruction),
		octo_port_test(test_a_pf_without_the_table),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
