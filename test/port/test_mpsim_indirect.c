/* SPDX-License-Identifier: BSD-3-Clause */

/* Indirect actions of a PF of mpsim: what rules share. */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>

#include "octo_port_async.h"

static const struct rte_flow_indir_action_conf ingress = {.ingress = 1};
static const struct octo_port_conf one_pf = {.nb_pfs = 1};

/* A PF whose frames go to queue 0 if no rule says otherwise. */
static uint16_t
start_pf(void)
{
	uint16_t port;

	octo_port_add_pfs(&one_pf);
	port = octo_port_pf(0);
	octo_port_up(port, 4);
	return port;
}

static uint64_t
receive(uint16_t port, uint16_t src_port, uint16_t queue, unsigned int n)
{
	struct octo_port_tally tally = {0};

	octo_port_send(port, 0, src_port, n);
	octo_port_receive(port, queue, n, &tally);
	return tally.packets;
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
test_an_update_moves_all_rules(void **state)
{
	uint16_t port = start_pf();
	struct rte_flow_action_handle *h = octo_port_indirect_queue(port, 1);
	struct rte_flow_action update;
	struct rte_flow_action_queue queue;

	(void)state;
	for (uint16_t i = 1; i <= 3; i++)
		assert_non_null(octo_port_steer_by(port, i, h, NULL));
	for (uint16_t i = 1; i <= 3; i++)
		assert_int_equal(receive(port, i, 1, 8), 8);
	octo_port_queue_action(&update, &queue, 3);
	assert_int_equal(rte_flow_action_handle_update(port, h, &update, NULL), 0);
	for (uint16_t i = 1; i <= 3; i++)
		assert_int_equal(receive(port, i, 3, 8), 8);
	assert_int_equal(receive(port, 4, 0, 8), 8);
}

static void
test_what_rules_have_stays(void **state)
{
	uint16_t port = start_pf();
	struct rte_flow_action_handle *h = octo_port_indirect_queue(port, 1);
	struct rte_flow_error error;
	struct rte_flow *rules[2];

	(void)state;
	rules[0] = octo_port_steer_by(port, 1, h, NULL);
	rules[1] = octo_port_steer_by(port, 2, h, NULL);
	assert_refused(rte_flow_action_handle_destroy(port, h, &error) == -EBUSY, EBUSY, &error,
		       "2 rules");
	assert_int_equal(rte_flow_destroy(port, rules[0], NULL), 0);
	assert_refused(rte_flow_action_handle_destroy(port, h, &error) == -EBUSY, EBUSY, &error,
		       "1 rules");
	assert_int_equal(receive(port, 2, 1, 8), 8);
	assert_int_equal(rte_flow_destroy(port, rules[1], NULL), 0);
	assert_int_equal(rte_flow_action_handle_destroy(port, h, NULL), 0);
	/* a rule that was refused has nothing */
	h = octo_port_indirect_queue(port, 1);
	assert_non_null(octo_port_steer(port, 1, 1, NULL));
	assert_null(octo_port_steer_by(port, 1, h, NULL));
	assert_int_equal(rte_flow_action_handle_destroy(port, h, NULL), 0);
}

static void
test_a_counter_of_two_rules(void **state)
{
	const struct rte_flow_action count = {.type = RTE_FLOW_ACTION_TYPE_COUNT};
	struct rte_flow_query_count q = {.reset = 1};
	uint16_t port = start_pf();
	struct rte_flow_action_handle *h = rte_flow_action_handle_create(port, &ingress, &count,
									 NULL);
	struct rte_flow_error error;
	struct rte_flow *rule;

	(void)state;
	assert_non_null(h);
	rule = octo_port_steer_and_count_by(port, 1, 1, h, NULL);
	assert_non_null(rule);
	assert_non_null(octo_port_steer_and_count_by(port, 2, 2, h, NULL));
	assert_int_equal(receive(port, 1, 1, 8), 8);
	assert_int_equal(receive(port, 2, 2, 4), 4);
	assert_int_equal(receive(port, 3, 0, 2), 2);
	assert_int_equal(rte_flow_action_handle_query(port, h, &q, NULL), 0);
	assert_int_equal(q.hits_set, 1);
	assert_int_equal(q.hits, 12);
	assert_int_equal(q.bytes, 12 * OCTO_PORT_FRAME_LEN);
	q.reset = 0;
	assert_int_equal(rte_flow_action_handle_query(port, h, &q, NULL), 0);
	assert_int_equal(q.hits, 0);
	assert_refused(rte_flow_action_handle_destroy(port, h, &error) == -EBUSY, EBUSY, &error,
		       "2 rules");
	assert_int_equal(rte_flow_destroy(port, rule, NULL), 0);
	assert_int_equal(receive(port, 2, 2, 4), 4);
	assert_int_equal(rte_flow_action_handle_query(port, h, &q, NULL), 0);
	assert_int_equal(q.hits, 4);
	assert_refused(rte_flow_action_handle_update(port, h, &count, &error) == -ENOTSUP, ENOTSUP,
		       &error, "can be updated");
}

static bool
is_aged(uint16_t port, struct rte_flow_action_handle *h)
{
	struct rte_flow_query_age q = {0};

	assert_int_equal(rte_flow_action_handle_query(port, h, &q, NULL), 0);
	assert_int_equal(q.sec_since_last_hit_valid, 1);
	return q.aged;
}

static void
test_an_age_is_updated(void **state)
{
	const struct rte_flow_update_age longer = {.timeout_valid = 1, .timeout = 10000};
	const struct rte_flow_update_age none = {.timeout_valid = 1};
	const struct rte_flow_action_age conf = {.timeout = 1};
	const struct rte_flow_action age = {.type = RTE_FLOW_ACTION_TYPE_AGE, .conf = &conf};
	uint16_t port = start_pf();
	struct rte_flow_action_handle *h = rte_flow_action_handle_create(port, &ingress, &age,
									 NULL);
	struct rte_flow_error error;

	(void)state;
	assert_non_null(h);
	assert_non_null(octo_port_steer_and_count_by(port, 1, 1, h, NULL));
	octo_port_await(is_aged(port, h));
	assert_refused(rte_flow_action_handle_update(port, h, &none, &error) == -EINVAL, EINVAL,
		       &error, "at least a second");
	assert_true(is_aged(port, h));
	assert_int_equal(rte_flow_action_handle_update(port, h, &longer, NULL), 0);
	assert_false(is_aged(port, h));
	assert_refused(rte_flow_action_handle_destroy(port, h, &error) == -EBUSY, EBUSY, &error,
		       "1 rules");
}

static void
test_an_update_that_is_refused(void **state)
{
	const struct rte_flow_action drop = {.type = RTE_FLOW_ACTION_TYPE_DROP};
	uint16_t port = start_pf();
	struct rte_flow_action_handle *h = octo_port_indirect_queue(port, 1);
	struct rte_flow_query_count count;
	struct rte_flow_action_queue queue;
	struct rte_flow_action update;
	struct rte_flow_error error;

	(void)state;
	assert_non_null(octo_port_steer_by(port, 1, h, NULL));
	octo_port_queue_action(&update, &queue, 4);
	assert_refused(rte_flow_action_handle_update(port, h, &update, &error) == -EINVAL, EINVAL,
		       &error, "queue index 4");
	assert_refused(rte_flow_action_handle_update(port, h, &drop, &error) == -EINVAL, EINVAL,
		       &error, "of its type");
	assert_refused(rte_flow_action_handle_update(port, h, NULL, &error) == -EINVAL, EINVAL,
		       &error, "of its type");
	assert_int_equal(receive(port, 1, 1, 8), 8);
	assert_refused(rte_flow_action_handle_query(port, h, &count, &error) == -ENOTSUP, ENOTSUP,
		       &error, "can be queried");
	assert_refused(rte_flow_action_handle_create(port, &ingress, &drop, &error) == NULL,
		       ENOTSUP, &error, "can be indirect");
	assert_refused(rte_flow_action_handle_create(port, &ingress, &update, &error) == NULL,
		       EINVAL, &error, "queue index 4");
}

static void
test_of_another_pf(void **state)
{
	const struct octo_port_conf two = {0};
	struct rte_flow_action_handle *h;
	struct rte_flow_error error;

	(void)state;
	octo_port_add_pfs(&two);
	octo_port_up(octo_port_pf(0), 4);
	octo_port_up(octo_port_pf(1), 4);
	h = octo_port_indirect_queue(octo_port_pf(0), 1);
	assert_refused(octo_port_steer_by(octo_port_pf(1), 1, h, &error) == NULL, EINVAL, &error,
		       "not of port net_mpsim1");
	assert_int_equal(rte_flow_action_handle_destroy(octo_port_pf(0), h, NULL), 0);
}

static void
test_a_pf_without_them(void **state)
{
	const struct octo_port_conf conf = {.nb_pfs = 1, .all = "caps=-indirect"};
	const struct rte_flow_action count = {.type = RTE_FLOW_ACTION_TYPE_COUNT};
	struct rte_flow_error error;

	(void)state;
	octo_port_add_pfs(&conf);
	octo_port_up(octo_port_pf(0), 1);
	assert_refused(rte_flow_action_handle_create(octo_port_pf(0), &ingress, &count, &error) ==
			       NULL,
		       ENOTSUP, &error, "no indirect actions");
}

/* By flow queue: in order, each with a result. */
static void
test_through_a_flow_queue(void **state)
{
	const struct rte_flow_op_attr postponed = {.postpone = 1};
	struct rte_flow_action_handle *h;
	struct rte_flow_action_queue queue;
	struct rte_flow_action action;
	uint16_t port;

	(void)state;
	octo_port_add_pfs(&one_pf);
	port = octo_port_pf(0);
	assert_int_equal(octo_port_configure(port, 4), 0);
	assert_int_equal(octo_port_flow_queues(port, 1, 8, NULL), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_queue_action(&action, &queue, 1);
	h = rte_flow_async_action_handle_create(port, 0, &postponed, &ingress, &action, (void *)1,
						NULL);
	assert_non_null(h);
	assert_non_null(octo_port_steer_by(port, 7, h, NULL));
	assert_int_equal(receive(port, 7, 1, 8), 8);
	octo_port_queue_action(&action, &queue, 2);
	assert_int_equal(rte_flow_async_action_handle_update(port, 0, &postponed, h, &action,
							     (void *)2, NULL),
			 0);
	queue.index = 3; /* it was read already */
	assert_int_equal(
		rte_flow_async_action_handle_destroy(port, 0, &postponed, h, (void *)3, NULL), 0);
	octo_port_pull_nothing(port);
	assert_int_equal(receive(port, 7, 1, 8), 8);
	assert_int_equal(rte_flow_push(port, 0, NULL), 0);
	octo_port_pull(port, 1, RTE_FLOW_OP_SUCCESS);
	octo_port_pull(port, 2, RTE_FLOW_OP_SUCCESS);
	octo_port_pull(port, 3, RTE_FLOW_OP_ERROR);
	assert_int_equal(receive(port, 7, 2, 8), 8);
}

static struct rte_flow *
age_after_a_second(uint16_t port, uint16_t src_port)
{
	const struct rte_flow_action_age age = {.timeout = 1};
	const struct rte_flow_action_queue queue = {.index = 1};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_AGE, .conf = &age},
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &queue},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	struct octo_flow_rule r;

	octo_port_build(&r, src_port, 1);
	return rte_flow_create(port, &r.attr, r.pattern, actions, NULL);
}

/* A look that comes late finds the rule as old as at the last one: it was hit in between. */
static void
test_a_rule_ages_again_after_a_hit(void **state)
{
	uint16_t port = start_pf();
	struct rte_flow *rule = age_after_a_second(port, 7);
	void *context;

	(void)state;
	assert_non_null(rule);
	assert_int_equal(rte_flow_get_aged_flows(port, NULL, 0, NULL), 0);
	for (int i = 0; i < 3; i++) {
		octo_port_pass_us_alone(2 * US_PER_S);
		octo_port_pass_us(US_PER_S);
		octo_port_await(rte_flow_get_aged_flows(port, NULL, 0, NULL) == 1);
		assert_int_equal(rte_flow_get_aged_flows(port, &context, 1, NULL), 1);
		assert_ptr_equal(context, rule);
		assert_int_equal(rte_flow_get_aged_flows(port, NULL, 0, NULL), 0);
		assert_int_equal(receive(port, 7, 1, 1), 1);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_an_update_moves_all_rules),
		octo_port_test(test_what_rules_have_stays),
		octo_port_test(test_a_counter_of_two_rules),
		octo_port_test(test_an_age_is_updated),
		octo_port_test(test_an_update_that_is_refused),
		octo_port_test(test_of_another_pf),
		octo_port_test(test_a_pf_without_them),
		octo_port_test(test_through_a_flow_queue),
		octo_port_test(test_a_rule_ages_again_after_a_hit),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
