/* SPDX-License-Identifier: BSD-3-Clause */

/* Indirect actions of the port: one on every PF, and flows that follow an update. */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>

#include "octo_port_async.h"
#include "octo_port_fault.h"

static const struct rte_flow_indir_action_conf ingress = {.ingress = 1};
static const struct rte_flow_action count = {.type = RTE_FLOW_ACTION_TYPE_COUNT};
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

static int
update(uint16_t port, struct rte_flow_action_handle *h, uint16_t queue,
       struct rte_flow_error *error)
{
	struct rte_flow_action_queue index;
	struct rte_flow_action action;

	octo_port_queue_action(&action, &index, queue);
	return rte_flow_action_handle_update(port, h, &action, error);
}

/* Queue Q is at home on PF Q % 2. */
static void
test_an_update_takes_all_flows_along(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow_action_handle *h;

	(void)state;
	octo_port_up(port, 4);
	h = octo_port_indirect_queue(port, 0);
	for (uint16_t i = 1; i <= 3; i++)
		assert_non_null(octo_port_steer_by(port, i, h, NULL));
	assert_non_null(octo_port_steer(port, 4, 0, NULL));
	for (uint16_t queue = 1; queue <= 4; queue++) {
		assert_int_equal(update(port, h, queue % 4, NULL), 0);
		assert_int_equal(rte_eth_xstats_reset(port), 0);
		for (uint16_t i = 1; i <= 3; i++) {
			assert_int_equal(octo_port_rule_pf(port, i), queue % 2);
			octo_port_assert_arrives(port, i, queue % 4, 20);
		}
		assert_int_equal(octo_port_xstat(port, "rx_q%u_home_packets", queue % 4), 60);
		assert_int_equal(octo_port_xstat(port, "rx_stray_packets"), 0);
		assert_int_equal(octo_port_rule_pf(port, 4), 0);
		octo_port_assert_arrives(port, 4, 0, 20);
	}
}

static void
test_an_update_to_the_same_queue(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow_action_handle *h;

	(void)state;
	octo_port_up(port, 4);
	h = octo_port_indirect_queue(port, 1);
	for (uint16_t i = 1; i <= 3; i++)
		assert_non_null(octo_port_steer_by(port, i, h, NULL));
	assert_int_equal(update(port, h, 1, NULL), 0);
	for (uint16_t i = 1; i <= 3; i++) {
		assert_int_equal(octo_port_rule_pf(port, i), 1);
		octo_port_assert_arrives(port, i, 1, 20);
	}
	assert_int_equal(update(port, h, 2, NULL), 0);
	for (uint16_t i = 1; i <= 3; i++) {
		assert_int_equal(octo_port_rule_pf(port, i), 0);
		octo_port_assert_arrives(port, i, 2, 20);
	}
}

static void
test_all_pfs_or_none(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_faults *first = octo_port_faults_on(0);
	struct octo_port_faults *second = octo_port_faults_on(1);
	struct rte_flow_action_handle *h;
	struct rte_flow_error error;

	(void)state;
	octo_port_up(port, 4);
	second->handle_create = ENOSPC;
	assert_refused(rte_flow_action_handle_create(port, &ingress, &count, &error) == NULL,
		       ENOSPC, &error, "PF net_mpsim1: made up");
	assert_int_equal(first->handles, 0);
	second->handle_create = 0;
	h = octo_port_indirect_queue(port, 0);
	assert_int_equal(first->handles, 1);
	assert_int_equal(second->handles, 1);
	assert_non_null(octo_port_steer_by(port, 7, h, NULL));
	second->handle_update = EBUSY;
	assert_refused(update(port, h, 1, &error) == -EBUSY, EBUSY, &error,
		       "PF net_mpsim1: made up");
	assert_int_equal(octo_port_rule_pf(port, 7), 0);
	octo_port_assert_arrives(port, 7, 0, 20);
	assert_refused(rte_flow_action_handle_destroy(port, h, &error) == -EBUSY, EBUSY, &error,
		       "destroy them first");
	assert_int_equal(rte_flow_flush(port, NULL), 0);
	assert_int_equal(rte_flow_action_handle_destroy(port, h, NULL), 0);
	assert_int_equal(first->handles, 0);
	assert_int_equal(second->handles, 0);
}

/* One that a PF does not give up is the application's yet, and works. */
static void
test_a_destroy_that_fails_keeps_the_handle(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_faults *first = octo_port_faults_on(0);
	struct octo_port_faults *second = octo_port_faults_on(1);
	struct rte_flow_action_handle *h;
	struct rte_flow_error error;

	(void)state;
	octo_port_up(port, 4);
	h = octo_port_indirect_queue(port, 0);
	second->handle_destroy = EIO;
	for (int i = 0; i < 3; i++)
		assert_refused(rte_flow_action_handle_destroy(port, h, &error) == -EIO, EIO, &error,
			       "PF net_mpsim1: made up");
	assert_int_equal(first->handles, 1);
	assert_int_equal(second->handles, 1);
	assert_non_null(octo_port_steer_by(port, 7, h, NULL));
	octo_port_assert_arrives(port, 7, 0, 20);
	assert_int_equal(rte_flow_flush(port, NULL), 0);
	second->handle_destroy = 0;
	assert_int_equal(rte_flow_action_handle_destroy(port, h, NULL), 0);
	assert_int_equal(first->handles, 0);
	assert_int_equal(second->handles, 0);
}

static void
test_a_pf_without_them_is_named(void **state)
{
	const struct octo_port_conf conf = {.pf = {NULL, "caps=-indirect"}};
	uint16_t port = octo_port_create(&conf);
	struct rte_flow_error error;

	(void)state;
	octo_port_up(port, 2);
	assert_refused(rte_flow_action_handle_create(port, &ingress, &count, &error) == NULL,
		       ENOTSUP, &error, "PF net_mpsim1");
}

static void
test_bad_updates(void **state)
{
	const struct rte_flow_action drop = {.type = RTE_FLOW_ACTION_TYPE_DROP};
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow_action_handle *h;
	struct rte_flow_error error;

	(void)state;
	octo_port_up(port, 2);
	h = octo_port_indirect_queue(port, 0);
	assert_non_null(octo_port_steer_by(port, 7, h, NULL));
	assert_refused(update(port, h, 2, &error) == -EINVAL, EINVAL, &error, "queue index");
	assert_refused(rte_flow_action_handle_update(port, h, &drop, &error) == -EINVAL, EINVAL,
		       &error, "of the same type");
	assert_refused(rte_flow_action_handle_update(port, h, NULL, &error) == -EINVAL, EINVAL,
		       &error, "of the same type");
	assert_refused(octo_port_steer_by(port, 7, h, &error) == NULL, EEXIST, &error, "already");
	octo_port_assert_arrives(port, 7, 0, 20);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_refused(update(port, h, 1, &error) == -EINVAL, EINVAL, &error, "start it first");
}

static void
assert_counted(uint16_t port, struct rte_flow_action_handle *h, uint64_t hits, bool reset)
{
	struct rte_flow_query_count q = {.reset = reset};

	assert_int_equal(rte_flow_action_handle_query(port, h, &q, NULL), 0);
	assert_int_equal(q.hits_set, 1);
	assert_int_equal(q.hits, hits);
	assert_int_equal(q.bytes, hits * OCTO_PORT_FRAME_LEN);
}

/* One flow counts on the first PF, the other on the second. */
static void
test_a_counter_is_the_sum_and_survives(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow_action_handle *h;

	(void)state;
	octo_port_up(port, 2);
	h = rte_flow_action_handle_create(port, &ingress, &count, NULL);
	assert_non_null(h);
	assert_non_null(octo_port_steer_and_count_by(port, 7, 0, h, NULL));
	assert_non_null(octo_port_steer_and_count_by(port, 8, 1, h, NULL));
	octo_port_assert_arrives(port, 7, 0, 20);
	assert_counted(port, h, 20, false);
	octo_port_assert_arrives(port, 8, 1, 20);
	assert_counted(port, h, 40, true);
	assert_counted(port, h, 0, false);
	octo_port_assert_arrives(port, 8, 1, 20);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_counted(port, h, 20, false);
	octo_port_assert_arrives(port, 7, 0, 20);
	assert_counted(port, h, 40, true);
	assert_counted(port, h, 0, false);
}

/* As its PFs tell it. */
static void
test_a_rule_tells_what_its_indirect_counter_has(void **state)
{
	const struct rte_flow_action actions[] = {count, {.type = RTE_FLOW_ACTION_TYPE_END}};
	struct rte_flow_query_count q = {.reset = 1};
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow_action_handle *h;
	struct rte_flow *rule;

	(void)state;
	octo_port_up(port, 2);
	h = rte_flow_action_handle_create(port, &ingress, &count, NULL);
	rule = octo_port_steer_and_count_by(port, 7, 0, h, NULL);
	assert_non_null(octo_port_steer_and_count_by(port, 8, 1, h, NULL));
	octo_port_assert_arrives(port, 8, 1, 20);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_assert_arrives(port, 7, 0, 5);
	assert_int_equal(rte_flow_query(port, rule, actions, &q, NULL), 0);
	assert_int_equal(q.hits, 25);
	assert_counted(port, h, 0, false);
}

static void
test_a_counter_does_not_go_back_with_a_pf(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow_action_handle *h;

	(void)state;
	octo_port_up(port, 2);
	h = rte_flow_action_handle_create(port, &ingress, &count, NULL);
	assert_non_null(octo_port_steer_and_count_by(port, 8, 1, h, NULL));
	octo_port_assert_arrives(port, 8, 1, 20);
	assert_counted(port, h, 20, false);
	octo_port_remove_pf(1);
	octo_port_assert_arrives(port, 8, 1, 5);
	assert_counted(port, h, 25, true);
	assert_counted(port, h, 0, false);
}

static void
test_they_are_kept_over_stop_and_start(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_faults *second = octo_port_faults_on(1);
	struct rte_flow_action_handle *h;

	(void)state;
	octo_port_up(port, 2);
	h = octo_port_indirect_queue(port, 0);
	assert_non_null(octo_port_steer_by(port, 7, h, NULL));
	assert_int_equal(update(port, h, 1, NULL), 0);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(second->handles, 0);
	/* the handle leads to the second queue */
	assert_int_equal(octo_port_configure(port, 1), -EBUSY);
	assert_int_equal(octo_port_configure(port, 2), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_int_equal(second->handles, 1);
	assert_int_equal(octo_port_rule_pf(port, 7), 1);
	octo_port_assert_arrives(port, 7, 1, 20);
	assert_int_equal(update(port, h, 0, NULL), 0);
	assert_int_equal(octo_port_rule_pf(port, 7), 0);
	octo_port_assert_arrives(port, 7, 0, 20);
}

static void
test_rss_needs_its_queues(void **state)
{
	const uint16_t queues[] = {0, 1};
	const struct rte_flow_action_rss rss = {.queue_num = 2, .queue = queues};
	const struct rte_flow_action action = {.type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &rss};
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(rte_flow_action_handle_create(port, &ingress, &action, NULL));
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(octo_port_configure(port, 1), -EBUSY);
	assert_int_equal(octo_port_configure(port, 2), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
}

static void
test_a_pf_goes(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow_action_handle *h;

	(void)state;
	octo_port_up(port, 2);
	h = octo_port_indirect_queue(port, 1);
	assert_non_null(octo_port_steer_by(port, 7, h, NULL));
	octo_port_remove_pf(1);
	assert_int_equal(update(port, h, 0, NULL), 0);
	octo_port_assert_arrives(port, 7, 0, 20);
	assert_int_equal(rte_flow_flush(port, NULL), 0);
	assert_int_equal(rte_flow_action_handle_destroy(port, h, NULL), 0);
}

/* A switch that cannot follow makes strays, no losses, and is asked again. */
static void
test_a_switch_that_cannot_follow(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_faults *proxy = octo_port_faults_on(0);
	struct rte_flow_action_handle *h;

	(void)state;
	octo_port_up(port, 2);
	h = octo_port_indirect_queue(port, 0);
	assert_non_null(octo_port_steer_by(port, 7, h, NULL));
	proxy->create_transfer = EIO;
	assert_int_equal(update(port, h, 1, NULL), 0);
	octo_port_assert_arrives(port, 7, 1, 20);
	proxy->create_transfer = 0;
	octo_port_await(octo_port_rule_pf(port, 7) == 1);
	octo_port_assert_arrives(port, 7, 1, 20);
}

/* The PFs refuse what has a length and no list; copying it must not come first. */
static void
test_a_list_that_is_missing(void **state)
{
	const struct rte_flow_action_rss rss = {.queue_num = 2};
	const struct rte_flow_action actions[] = {{.type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &rss},
						  {.type = RTE_FLOW_ACTION_TYPE_END}};
	const struct rte_flow_item eth[] = {{.type = RTE_FLOW_ITEM_TYPE_ETH},
					    {.type = RTE_FLOW_ITEM_TYPE_END}};
	const struct rte_flow_attr attr = {.ingress = 1};
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow_error error = {0};

	(void)state;
	octo_port_up(port, 2);
	assert_refused(rte_flow_action_handle_create(port, &ingress, actions, &error) == NULL,
		       EINVAL, &error, "but no queues");
	assert_refused(rte_flow_create(port, &attr, eth, actions, &error) == NULL, EINVAL, &error,
		       "but no queues");
}

/* The operation would be performed on freed memory. */
static void
test_an_action_that_a_flow_queue_has(void **state)
{
	const struct rte_flow_op_attr postponed = {.postpone = 1};
	struct rte_flow_error error = {.message = NULL};
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow_query_count hits;
	struct rte_flow_action_handle *h;

	(void)state;
	assert_int_equal(octo_port_configure(port, 2), 0);
	assert_int_equal(octo_port_flow_queues(port, 1, 16, NULL), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	h = rte_flow_action_handle_create(port, &ingress, &count, NULL);
	assert_non_null(h);
	assert_int_equal(
		rte_flow_async_action_handle_query(port, 0, &postponed, h, &hits, (void *)1, NULL),
		0);
	assert_refused(rte_flow_action_handle_destroy(port, h, &error) == -EBUSY, EBUSY, &error,
		       "flow queue");
	assert_int_equal(
		rte_flow_async_action_handle_destroy(port, 0, &postponed, h, (void *)2, NULL), 0);
	assert_int_equal(
		rte_flow_async_action_handle_destroy(port, 0, &postponed, h, (void *)3, NULL), 0);
	assert_int_equal(rte_flow_push(port, 0, NULL), 0);
	octo_port_pull(port, 1, RTE_FLOW_OP_SUCCESS);
	/* the last one destroys it */
	octo_port_pull(port, 2, RTE_FLOW_OP_ERROR);
	octo_port_pull(port, 3, RTE_FLOW_OP_SUCCESS);
	/* and once more with an action that is left when the port is closed */
	h = octo_port_indirect_queue(port, 1);
	assert_int_equal(
		rte_flow_async_action_handle_destroy(port, 0, &postponed, h, (void *)4, NULL), 0);
	octo_port_close_and_remove(port);
}

/* PFs with this flag name aged flows by flow queue only, which octo does not do. */
static void
test_flow_queues_are_not_strict(void **state)
{
	const struct rte_flow_port_attr attr = {.flags = RTE_FLOW_PORT_FLAG_STRICT_QUEUE};
	const struct rte_flow_queue_attr size = {.size = 16};
	const struct rte_flow_queue_attr *queues[] = {&size};
	struct rte_flow_error error = {.message = NULL};
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow_queue_info queue;
	struct rte_flow_port_info info;

	(void)state;
	assert_int_equal(octo_port_configure(port, 2), 0);
	assert_int_equal(rte_flow_info_get(octo_port_pf(0), &info, &queue, NULL), 0);
	assert_int_equal(info.supported_flags, RTE_FLOW_PORT_FLAG_STRICT_QUEUE);
	assert_int_equal(rte_flow_info_get(port, &info, &queue, NULL), 0);
	assert_int_equal(info.supported_flags, 0);
	assert_refused(rte_flow_configure(port, &attr, 1, queues, &error) == -ENOTSUP, ENOTSUP,
		       &error, "port flag");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_an_update_takes_all_flows_along),
		octo_port_test(test_an_update_to_the_same_queue),
		octo_port_test(test_all_pfs_or_none),
		octo_port_test(test_a_destroy_that_fails_keeps_the_handle),
		octo_port_test(test_a_pf_without_them_is_named),
		octo_port_test(test_bad_updates),
		octo_port_test(test_a_counter_is_the_sum_and_survives),
		octo_port_test(test_a_rule_tells_what_its_indirect_counter_has),
		octo_port_test(test_a_counter_does_not_go_back_with_a_pf),
		octo_port_test(test_they_are_kept_over_stop_and_start),
		octo_port_test(test_rss_needs_its_queues),
		octo_port_test(test_a_pf_goes),
		octo_port_test(test_a_switch_that_cannot_follow),
		octo_port_test(test_a_list_that_is_missing),
		octo_port_test(test_an_action_that_a_flow_queue_has),
		octo_port_test(test_flow_queues_are_not_strict),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
