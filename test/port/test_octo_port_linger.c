/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A rule that was destroyed leads its flow for a moment yet, in case that another
 * follows. Nobody sees it, and it is in nobody's way.
 */

#include <errno.h>

#include <rte_errno.h>

#include "octo_port.h"
#include "octo_port_fault.h"
#include "rte_pmd_octo.h"

#define FLOW 7

/* For longer than any test takes, and not at all. */
static const struct octo_port_conf lingering = {.octo = "linger_ms=10000"};
static const struct octo_port_conf hasty = {.octo = "linger_ms=0"};
static const struct octo_port_conf usual;

/* Both queues are polled: packets of a flow may be under way. */
static uint16_t
create(const struct octo_port_conf *conf)
{
	uint16_t port = octo_port_create(conf);
	struct octo_port_tally tally = {0};

	octo_port_up(port, 2);
	for (uint16_t q = 0; q < 2; q++)
		octo_port_poll(port, q, 32, &tally);
	return port;
}

/* Both queues go on, as fences want it. */
static void
assert_arrives(uint16_t port, uint16_t queue)
{
	struct octo_port_tally tally[2] = {0};
	const uint64_t sent = 20;

	octo_port_send(port, 0, FLOW, sent);
	for (int i = 0; i < 50000 && tally[queue].packets < sent; i++) {
		for (uint16_t q = 0; q < 2; q++)
			octo_port_poll(port, q, 32, &tally[q]);
		octo_port_pass_us(80);
	}
	assert_int_equal(tally[queue].packets, sent);
	assert_int_equal(tally[!queue].packets, 0);
}

static void
steer_and_destroy(uint16_t port, uint16_t queue)
{
	struct rte_flow_error error;
	struct rte_flow *rule = octo_port_steer(port, FLOW, queue, &error);

	assert_non_null(rule);
	assert_arrives(port, queue);
	assert_int_equal(rte_flow_destroy(port, rule, &error), 0);
}

/* Does this PF have a rule for the flow? */
static bool
is_on_pf(unsigned int pf)
{
	const uint16_t port = octo_port_pf(pf);
	struct rte_flow *rule = octo_port_steer(port, FLOW, 0, NULL);

	if (rule == NULL) {
		assert_int_equal(rte_errno, EEXIST);
		return true;
	}
	assert_int_equal(rte_flow_destroy(port, rule, NULL), 0);
	return false;
}

static bool
is_anywhere(void)
{
	struct rte_flow *on_switch = octo_port_overrule(FLOW, 0);

	if (on_switch == NULL)
		return true;
	assert_int_equal(rte_flow_destroy(octo_port_pf(0), on_switch, NULL), 0);
	return is_on_pf(0) || is_on_pf(1);
}

/* The only trace of it that there is. */
static uint32_t
nb_lingering(uint16_t port)
{
	struct octo_view_topology view;

	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	return view.nb_lingering;
}

static void
test_it_goes_after_a_while(void **state)
{
	uint16_t port = create(&usual);

	(void)state;
	steer_and_destroy(port, 1);
	octo_port_await(nb_lingering(port) == 0);
	assert_false(is_anywhere());
}

static void
test_it_goes_at_once_if_told_so(void **state)
{
	uint16_t port = create(&hasty);

	(void)state;
	steer_and_destroy(port, 1);
	assert_false(is_anywhere());
	assert_int_equal(nb_lingering(port), 0);
}

static void
test_nobody_sees_it(void **state)
{
	uint16_t port = create(&lingering);
	struct octo_view_topology view;
	struct octo_view_rule rule;
	struct rte_flow_error error;
	struct rte_pmd_octo_tuple tuple;
	const char *culprit;
	uint32_t total;

	(void)state;
	steer_and_destroy(port, 1);
	assert_true(is_on_pf(0) && is_on_pf(1));
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 0);
	assert_int_equal(rte_pmd_octo_view_rules(port, 0, &rule, 1, &total), 0);
	assert_int_equal(total, 0);
	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	assert_int_equal(view.nb_rules + view.nb_others, 0);
	assert_int_equal(nb_lingering(port), 1);
	assert_int_equal(octo_port_validate(port, FLOW, 0), 0);
	rte_pmd_octo_tuple_read(&tuple, "udp", "10.0.0.1", FLOW, "10.0.0.2", 9, &culprit);
	assert_int_equal(rte_pmd_octo_steer_move(port, &tuple, 0, &error), -ENOENT);
	assert_int_equal(rte_pmd_octo_steer_remove(port, &tuple, &error), -ENOENT);
	/* what it still does it does in order */
	assert_arrives(port, 1);
}

static struct rte_flow *
steer_and_count(uint16_t port, uint16_t queue)
{
	struct rte_flow_action actions[] = {
		{0}, {.type = RTE_FLOW_ACTION_TYPE_COUNT}, {.type = RTE_FLOW_ACTION_TYPE_END}};
	struct rte_flow_error error;
	struct octo_flow_rule r;

	octo_port_build(&r, FLOW, queue);
	actions[0] = r.actions[0];
	return rte_flow_create(port, &r.attr, r.pattern, actions, &error);
}

static void
test_the_next_one_counts_anew(void **state)
{
	static const struct rte_flow_action count[] = {{.type = RTE_FLOW_ACTION_TYPE_COUNT},
						       {.type = RTE_FLOW_ACTION_TYPE_END}};
	uint16_t port = create(&lingering);
	struct rte_flow_error error;

	(void)state;
	for (uint16_t i = 0; i < 4; i++) {
		struct rte_flow *rule = steer_and_count(port, i % 2);
		struct rte_flow_query_count hits = {0};

		assert_non_null(rule);
		assert_arrives(port, i % 2);
		assert_int_equal(rte_flow_query(port, rule, count, &hits, &error), 0);
		assert_int_equal(hits.hits, 20);
		assert_int_equal(rte_flow_destroy(port, rule, &error), 0);
	}
}

static void
test_a_flush_takes_it_along(void **state)
{
	uint16_t port = create(&lingering);

	(void)state;
	steer_and_destroy(port, 1);
	assert_int_equal(rte_flow_flush(port, NULL), 0);
	assert_false(is_anywhere());
}

static void
test_a_stop_takes_it_along(void **state)
{
	uint16_t port = create(&lingering);

	(void)state;
	steer_and_destroy(port, 1);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_false(is_anywhere());
}

static void
test_a_queue_that_stops_gets_nothing_by_it(void **state)
{
	uint16_t port = create(&lingering);

	(void)state;
	steer_and_destroy(port, 1);
	assert_int_equal(rte_eth_dev_rx_queue_stop(port, 1), 0);
	assert_false(is_anywhere());
}

/* Its room is somebody's who needs it. */
static void
check_room(const char *nic, const char *all)
{
	const struct octo_port_conf full = {.nic = nic, .all = all, .octo = "linger_ms=10000"};
	uint16_t port = create(&full);

	for (uint16_t i = 0; i < 3; i++)
		assert_non_null(octo_port_steer(port, 100 + i, i % 2, NULL));
	for (uint16_t i = 0; i < 8; i++) {
		steer_and_destroy(port, i % 2);
		/* the same with neither table having room for two */
		steer_and_destroy(port, !(i % 2));
		if (i % 2 == 0)
			continue;
		assert_non_null(octo_port_steer(port, 200 + i, 0, NULL));
		assert_int_equal(octo_port_xstat(port, "steered_flows"), 4);
		assert_int_equal(rte_flow_flush(port, NULL), 0);
		for (uint16_t k = 0; k < 3; k++)
			assert_non_null(octo_port_steer(port, 100 + k, k % 2, NULL));
	}
}

static void
test_a_full_switch_has_room(void **state)
{
	(void)state;
	check_room("mpfs_entries=4", NULL);
}

static void
test_full_pfs_have_room(void **state)
{
	(void)state;
	check_room(NULL, "arfs_entries=4");
}

/* A rule that does something else with the flow, or with more than it. */
static void
test_another_kind_of_rule_follows(void **state)
{
	static const struct rte_flow_action drop[] = {{.type = RTE_FLOW_ACTION_TYPE_DROP},
						      {.type = RTE_FLOW_ACTION_TYPE_END}};
	uint16_t port = create(&lingering);
	struct octo_port_tally tally = {0};
	struct rte_flow_error error;
	struct octo_flow_rule r;
	struct rte_flow *rule;

	(void)state;
	steer_and_destroy(port, 1);
	octo_port_build(&r, FLOW, 0);
	rule = rte_flow_create(port, &r.attr, r.pattern, drop, &error);
	assert_non_null(rule);
	octo_port_send(port, 0, FLOW, 20);
	for (uint16_t i = 0; i < 200; i++)
		octo_port_poll(port, i % 2, 32, &tally);
	assert_int_equal(tally.packets, 0);
	assert_int_equal(rte_flow_destroy(port, rule, &error), 0);
	steer_and_destroy(port, 0);
}

/* A port that only sends has no queue that a rule could have led to. */
static void
test_there_is_no_queue(void **state)
{
	static const struct rte_flow_action drop[] = {{.type = RTE_FLOW_ACTION_TYPE_DROP},
						      {.type = RTE_FLOW_ACTION_TYPE_END}};
	const struct rte_eth_conf conf = {0};
	uint16_t port = octo_port_create(&usual);
	struct rte_flow_error error;
	struct octo_flow_rule r;
	struct rte_flow *rule;

	(void)state;
	assert_int_equal(rte_eth_dev_configure(port, 0, 1, &conf), 0);
	octo_port_build(&r, FLOW, 0);
	rule = rte_flow_create(port, &r.attr, r.pattern, drop, &error);
	assert_non_null(rule);
	assert_int_equal(rte_flow_destroy(port, rule, &error), 0);
}

static void
test_a_rule_of_another_priority_follows(void **state)
{
	uint16_t port = create(&lingering);
	struct rte_flow_error error;
	struct octo_flow_rule r;

	(void)state;
	steer_and_destroy(port, 1);
	octo_port_build(&r, FLOW, 0);
	r.attr.priority = 1;
	assert_non_null(rte_flow_create(port, &r.attr, r.pattern, r.actions, &error));
	assert_arrives(port, 0);
	assert_false(is_on_pf(0) || is_on_pf(1));
}

/* The next one is made as if there had been none before, if it cannot go on with its flow. */
static void
test_a_pf_refuses_the_next_one(void **state)
{
	uint16_t port = create(&lingering);
	struct octo_port_faults *faults;
	struct rte_flow_error error;

	(void)state;
	for (unsigned int pf = 0; pf < 2; pf++) {
		faults = octo_port_faults_on(pf);
		/* another queue, and the same one */
		for (uint16_t queue = 0; queue < 2; queue++) {
			steer_and_destroy(port, 1);
			faults->create_ingress = EIO;
			assert_null(octo_port_steer(port, FLOW, queue, &error));
			assert_int_equal(rte_errno, EIO);
			faults->create_ingress = 0;
			assert_false(is_anywhere());
			assert_int_equal(octo_port_xstat(port, "steered_flows"), 0);
		}
	}
	steer_and_destroy(port, 0);
}

/* Nothing leads to a PF that died, and it does not get the rule when it is back. */
static void
test_a_pf_dies_and_returns(void **state)
{
	const struct octo_port_conf conf = {.replug = true, .octo = "linger_ms=10000"};
	uint16_t port = create(&conf);

	(void)state;
	for (unsigned int pf = 0; pf < 2; pf++) {
		steer_and_destroy(port, 1);
		octo_port_remove_pf(pf);
		octo_port_await(!octo_port_pf_is_started(port, pf));
		octo_port_add_pf(&conf, pf);
		octo_port_await(octo_port_pf_is_started(port, pf));
		assert_false(is_on_pf(0) || is_on_pf(1));
		steer_and_destroy(port, 0);
		assert_true(is_on_pf(0) && is_on_pf(1));
	}
}

/* It leads nobody to a PF that is no use, however long it may stay. */
static void
test_its_pf_loses_link(void **state)
{
	uint16_t port = create(&lingering);

	(void)state;
	steer_and_destroy(port, 1);
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(1)), 0);
	octo_port_await(!is_anywhere());
	assert_int_equal(rte_eth_dev_set_link_up(octo_port_pf(1)), 0);
}

/* What strays meanwhile may be learned: a rule of the switch alone. */
static void
test_the_flow_is_learned(void **state)
{
	const struct octo_port_conf conf = {.learn = true, .octo = "linger_ms=10000"};
	uint16_t port = create(&conf);
	struct rte_flow_error error;
	struct rte_pmd_octo_tuple tuple;
	struct rte_flow *rule;
	const char *culprit;

	(void)state;
	rte_pmd_octo_tuple_read(&tuple, "udp", "10.0.0.1", FLOW, "10.0.0.2", 9, &culprit);
	rule = octo_port_steer(port, FLOW, 1, NULL);
	assert_non_null(rule);
	/* to the switch's other priority, so that it can be overruled */
	assert_int_equal(rte_pmd_octo_steer_move(port, &tuple, 0, &error), 0);
	assert_int_equal(rte_flow_destroy(port, rule, &error), 0);
	assert_non_null(octo_port_overrule(FLOW, 1));
	for (int i = 0; i < 2000 && octo_port_xstat(port, "learned_flows") == 0; i++) {
		assert_arrives(port, 0);
		octo_port_pass_us(100);
	}
	assert_int_equal(octo_port_xstat(port, "learned_flows"), 1);
	assert_false(is_on_pf(0) || is_on_pf(1));
}

static bool secondary;

/* The driver asks this one. */
enum rte_proc_type_t
rte_eal_process_type(void)
{
	return secondary ? RTE_PROC_SECONDARY : RTE_PROC_PRIMARY;
}

/* The rules are the primary's, and so is what stops a queue. */
static void
test_a_secondary_ends_none(void **state)
{
	const uint16_t port = create(&lingering);

	(void)state;
	steer_and_destroy(port, 1);
	secondary = true;
	assert_int_equal(rte_eth_dev_rx_queue_stop(port, 1), -ENOTSUP);
	secondary = false;
	assert_int_equal(nb_lingering(port), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_it_goes_after_a_while),
		octo_port_test(test_it_goes_at_once_if_told_so),
		octo_port_test(test_nobody_sees_it),
		octo_port_test(test_the_next_one_counts_anew),
		octo_port_test(test_a_flush_takes_it_along),
		octo_port_test(test_a_stop_takes_it_along),
		octo_port_test(test_a_queue_that_stops_gets_nothing_by_it),
		octo_port_test(test_a_full_switch_has_room),
		octo_port_test(test_full_pfs_have_room),
		octo_port_test(test_another_kind_of_rule_follows),
		octo_port_test(test_there_is_no_queue),
		octo_port_test(test_a_rule_of_another_priority_follows),
		octo_port_test(test_a_pf_refuses_the_next_one),
		octo_port_test(test_a_pf_dies_and_returns),
		octo_port_test(test_its_pf_loses_link),
		octo_port_test(test_the_flow_is_learned),
		octo_port_test(test_a_secondary_ends_none),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
