/* SPDX-License-Identifier: BSD-3-Clause */

/* Rules of any kind: what all PFs take is on all of them, as the application wrote it. */

#include <errno.h>
#include <stdlib.h>

#include <rte_errno.h>

#include "octo_port.h"
#include "octo_port_taker.h"

#include "octo_flow_build.h"

#define NB_PFS 2

static const struct octo_port_conf two_pfs;
static const struct rte_flow_item eth[] = {{.type = RTE_FLOW_ITEM_TYPE_ETH},
					   {.type = RTE_FLOW_ITEM_TYPE_END}};
static struct octo_port_taker *taker[NB_PFS];

static uint16_t
make_port(void)
{
	uint16_t port = octo_port_create(&two_pfs);

	for (unsigned int pf = 0; pf < NB_PFS; pf++)
		taker[pf] = octo_port_taker_on(pf);
	octo_port_up(port, 2);
	return port;
}

static int
teardown(void **state)
{
	int ret = octo_port_teardown(state);

	octo_port_takers_off();
	return ret;
}

static struct rte_flow *
create(uint16_t port, const struct rte_flow_attr *attr, const struct rte_flow_item *pattern,
       const struct rte_flow_action *actions, struct rte_flow_error *error)
{
	if (error != NULL)
		*error = (struct rte_flow_error){.message = NULL};
	return rte_flow_create(port, attr, pattern, actions, error);
}

/* ETH, and one action more than the fate. */
static struct rte_flow *
create_simple(uint16_t port, enum rte_flow_action_type type, const void *conf,
	      struct rte_flow_error *error)
{
	const struct rte_flow_attr attr = {.ingress = 1, .group = 3, .priority = OCTO_PORT_TAKEN};
	const struct rte_flow_action actions[] = {
		{.type = type, .conf = conf},
		{.type = RTE_FLOW_ACTION_TYPE_PASSTHRU},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};

	return create(port, &attr, eth, actions, error);
}

static void
assert_on_pfs(unsigned int first, unsigned int second)
{
	assert_int_equal(taker[0]->nb, first);
	assert_int_equal(taker[1]->nb, second);
}

static void
test_a_rule_is_on_every_pf(void **state)
{
	const struct rte_flow_action_mark mark = {.id = 77};
	uint16_t port = make_port();
	struct rte_flow *rule = create_simple(port, RTE_FLOW_ACTION_TYPE_MARK, &mark, NULL);

	(void)state;
	assert_non_null(rule);
	assert_on_pfs(1, 1);
	for (unsigned int pf = 0; pf < NB_PFS; pf++) {
		const struct octo_port_taken *t = &taker[pf]->rule[0];

		assert_int_equal(t->attr.group, 3);
		assert_int_equal(t->attr.priority, OCTO_PORT_TAKEN);
		assert_int_equal(t->attr.ingress, 1);
		assert_int_equal(t->nb_items, 1);
		assert_int_equal(t->nb_actions, 2);
		assert_int_equal(t->mark, 77);
	}
	/* it steers no flow */
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 0);
	assert_int_equal(rte_flow_destroy(port, rule, NULL), 0);
	assert_on_pfs(0, 0);
}

static void
test_all_pfs_or_none(void **state)
{
	uint16_t port = make_port();
	struct rte_flow_error error;

	(void)state;
	for (unsigned int pf = 0; pf < NB_PFS; pf++) {
		char words[64];

		taker[pf]->refuse = ENOTSUP;
		assert_null(create_simple(port, RTE_FLOW_ACTION_TYPE_FLAG, NULL, &error));
		assert_int_equal(rte_errno, ENOTSUP);
		assert_int_equal(error.type, RTE_FLOW_ERROR_TYPE_ITEM);
		/* what the PF means is not the application's */
		assert_null(error.cause);
		snprintf(words, sizeof(words), "PF net_mpsim%u: made up for the test", pf);
		assert_string_equal(error.message, words);
		assert_on_pfs(0, 0);
		taker[pf]->refuse = 0;
	}
	assert_non_null(create_simple(port, RTE_FLOW_ACTION_TYPE_FLAG, NULL, &error));
}

static void
test_validation_asks_every_pf(void **state)
{
	const struct rte_flow_attr attr = {.ingress = 1, .priority = OCTO_PORT_TAKEN};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_DROP},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	uint16_t port = make_port();
	struct rte_flow_error error;

	(void)state;
	assert_int_equal(rte_flow_validate(port, &attr, eth, actions, &error), 0);
	taker[1]->refuse = EPERM;
	assert_int_equal(rte_flow_validate(port, &attr, eth, actions, &error), -EPERM);
	assert_string_equal(error.message, "PF net_mpsim1: made up for the test");
	assert_on_pfs(0, 0);
}

/* What the PFs would not look at, a copy would. */
static void
test_lengths_without_contents_are_refused(void **state)
{
	const struct rte_flow_attr attr = {.ingress = 1, .priority = OCTO_PORT_TAKEN};
	const struct rte_flow_action drop[] = {{.type = RTE_FLOW_ACTION_TYPE_DROP},
					       {.type = RTE_FLOW_ACTION_TYPE_END}};
	const struct rte_flow_action_rss rss = {.queue_num = 2};
	const struct rte_flow_item_raw raw = {.length = 4};
	const struct rte_flow_item pattern[] = {{.type = RTE_FLOW_ITEM_TYPE_RAW, .spec = &raw},
						{.type = RTE_FLOW_ITEM_TYPE_END}};
	uint16_t port = make_port();
	struct rte_flow_error error;

	(void)state;
	assert_null(create_simple(port, RTE_FLOW_ACTION_TYPE_RSS, &rss, &error));
	assert_int_equal(rte_errno, EINVAL);
	assert_non_null(strstr(error.message, "but no queues"));
	assert_null(create(port, &attr, pattern, drop, &error));
	assert_int_equal(rte_errno, EINVAL);
	assert_non_null(strstr(error.message, "but no pattern"));
	assert_on_pfs(0, 0);
}

static void
test_flush_takes_all(void **state)
{
	uint16_t port = make_port();

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_non_null(create_simple(port, RTE_FLOW_ACTION_TYPE_FLAG, NULL, NULL));
	assert_non_null(octo_port_steer(port, 7, 0, NULL));
	assert_on_pfs(3, 3);
	assert_int_equal(rte_flow_flush(port, NULL), 0);
	assert_on_pfs(0, 0);
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 0);
}

static void
test_kept_over_a_stop(void **state)
{
	const struct rte_flow_action_mark mark = {.id = 5};
	uint16_t port = make_port();
	struct rte_flow *rule = create_simple(port, RTE_FLOW_ACTION_TYPE_MARK, &mark, NULL);

	(void)state;
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_on_pfs(0, 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_on_pfs(1, 1);
	assert_int_equal(taker[1]->rule[0].mark, 5);
	assert_int_equal(rte_flow_destroy(port, rule, NULL), 0);
	assert_on_pfs(0, 0);
}

static void
test_kept_queues_must_stay(void **state)
{
	const uint16_t queues[] = {1, 1};
	const struct rte_flow_action_rss rss = {.queue_num = 2, .queue = queues};
	uint16_t port = make_port();

	(void)state;
	assert_non_null(create_simple(port, RTE_FLOW_ACTION_TYPE_RSS, &rss, NULL));
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(octo_port_configure(port, 1), -EBUSY);
	assert_int_equal(rte_flow_flush(port, NULL), 0);
	assert_int_equal(octo_port_configure(port, 1), 0);
}

/* Neither of a flow nor of anything else, whatever the PFs would take. */
static void
test_tier_none_takes_no_rule(void **state)
{
	const struct octo_port_conf none = {.octo = "tier=none"};
	const struct rte_flow_action_mark mark = {.id = 9};
	uint16_t port = octo_port_create(&none);
	struct rte_flow_error error;

	(void)state;
	for (unsigned int pf = 0; pf < NB_PFS; pf++)
		taker[pf] = octo_port_taker_on(pf);
	octo_port_up(port, 2);
	assert_null(octo_port_steer(port, 1000, 1, &error));
	assert_int_equal(rte_errno, ENOTSUP);
	assert_null(create_simple(port, RTE_FLOW_ACTION_TYPE_MARK, &mark, &error));
	assert_int_equal(rte_errno, ENOTSUP);
	assert_string_equal(error.message, "the port was made with tier=none: it takes no rules");
	assert_on_pfs(0, 0);
}

/* A 5-tuple to a queue and something more: also sent to the queue's PF. */
static void
test_a_marked_flow_has_an_mpfs_rule(void **state)
{
	const struct rte_flow_action_mark mark = {.id = 9};
	struct octo_tuple t = octo_tuple_example;
	uint16_t port = make_port();
	struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_MARK, .conf = &mark},
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	struct octo_view_rule view;
	struct octo_flow_rule r;
	struct rte_flow *rule;
	uint32_t total;

	(void)state;
	octo_flow_build_queue(&r, &t, OCTO_PORT_TAKEN, 1, false);
	actions[1].conf = &r.queue;
	rule = create(port, &r.attr, r.pattern, actions, NULL);
	assert_non_null(rule);
	assert_on_pfs(1, 1);
	assert_int_equal(taker[0]->rule[0].mark, 9);
	assert_int_equal(rte_pmd_octo_view_rules(port, 0, &view, 1, &total), 1);
	assert_int_equal(view.queue, 1);
	assert_int_equal(view.pf, 1);
	assert_null(create(port, &r.attr, r.pattern, actions, NULL));
	assert_int_equal(rte_errno, EEXIST);
	assert_int_equal(rte_flow_destroy(port, rule, NULL), 0);
	assert_int_equal(rte_pmd_octo_view_rules(port, 0, &view, 1, &total), 0);
	assert_on_pfs(0, 0);
}

/* Which of two rules of one flow wins is the PFs' business. */
static void
test_the_same_flow_at_another_priority(void **state)
{
	struct octo_tuple t = octo_tuple_example;
	uint16_t port = make_port();
	struct octo_flow_rule r;

	(void)state;
	octo_flow_build_queue(&r, &t, 0, 1, false);
	assert_non_null(create(port, &r.attr, r.pattern, r.actions, NULL));
	r.attr.priority = OCTO_PORT_TAKEN;
	assert_non_null(create(port, &r.attr, r.pattern, r.actions, NULL));
	assert_on_pfs(1, 1);
	assert_int_equal(octo_port_xstat(port, "steered_flows"), 1);
}

static void
test_count_is_the_sum(void **state)
{
	const struct rte_flow_action count = {.type = RTE_FLOW_ACTION_TYPE_COUNT};
	struct rte_flow_query_count got = {.reset = 1};
	uint16_t port = make_port();
	struct rte_flow *rule = create_simple(port, RTE_FLOW_ACTION_TYPE_COUNT, NULL, NULL);

	(void)state;
	taker[0]->count = (struct rte_flow_query_count){
		.hits_set = 1, .bytes_set = 1, .hits = 3, .bytes = 300};
	taker[1]->count = (struct rte_flow_query_count){
		.hits_set = 1, .bytes_set = 1, .hits = 4, .bytes = 400};
	assert_int_equal(rte_flow_query(port, rule, &count, &got, NULL), 0);
	assert_int_equal(got.hits, 7);
	assert_int_equal(got.bytes, 700);
	assert_true(got.hits_set && got.bytes_set);
	assert_true(taker[0]->reset && taker[1]->reset);
	got.reset = 0;
	assert_int_equal(rte_flow_query(port, rule, &count, &got, NULL), 0);
	assert_false(taker[0]->reset || taker[1]->reset);
}

static void
assert_count(uint16_t port, struct rte_flow *rule, bool reset, uint64_t hits)
{
	const struct rte_flow_action count = {.type = RTE_FLOW_ACTION_TYPE_COUNT};
	struct rte_flow_query_count got = {.reset = reset};

	assert_int_equal(rte_flow_query(port, rule, &count, &got, NULL), 0);
	assert_int_equal(got.hits, hits);
	assert_int_equal(got.bytes, 100 * hits);
}

static void
set_count(unsigned int pf, uint64_t hits)
{
	taker[pf]->count = (struct rte_flow_query_count){
		.hits_set = 1, .bytes_set = 1, .hits = hits, .bytes = 100 * hits};
}

/* What a PF had counted when it was asked last stays in the sum. */
static void
test_count_does_not_go_back_with_a_pf(void **state)
{
	uint16_t port = make_port();
	struct rte_flow *rule = create_simple(port, RTE_FLOW_ACTION_TYPE_COUNT, NULL, NULL);

	(void)state;
	set_count(0, 3);
	set_count(1, 20);
	assert_count(port, rule, false, 23);
	octo_port_remove_pf(1);
	set_count(0, 8);
	assert_count(port, rule, true, 28);
	set_count(0, 1);
	assert_count(port, rule, false, 1);
}

/* What a PF has reset already is not lost. */
static void
test_a_reset_that_a_pf_refuses(void **state)
{
	const struct rte_flow_action count = {.type = RTE_FLOW_ACTION_TYPE_COUNT};
	struct rte_flow_query_count got = {.reset = 1};
	uint16_t port = make_port();
	struct rte_flow *rule = create_simple(port, RTE_FLOW_ACTION_TYPE_COUNT, NULL, NULL);

	(void)state;
	set_count(0, 10);
	set_count(1, 3);
	taker[1]->refuse_count = EIO;
	assert_int_equal(rte_flow_query(port, rule, &count, &got, NULL), -EIO);
	assert_true(taker[0]->reset);
	taker[1]->refuse_count = 0;
	set_count(0, 12);
	assert_count(port, rule, true, 25);
	set_count(0, 1);
	set_count(1, 0);
	assert_count(port, rule, false, 1);
}

static void
assert_handle_count(uint16_t port, const struct rte_flow_action_handle *handle, bool reset,
		    uint64_t hits)
{
	struct rte_flow_query_count got = {.reset = reset};

	assert_int_equal(rte_flow_action_handle_query(port, handle, &got, NULL), 0);
	assert_int_equal(got.hits, hits);
	assert_int_equal(got.bytes, 100 * hits);
}

static void
test_a_reset_of_an_indirect_count_that_a_pf_refuses(void **state)
{
	const struct rte_flow_indir_action_conf ingress = {.ingress = 1};
	const struct rte_flow_action count = {.type = RTE_FLOW_ACTION_TYPE_COUNT};
	struct rte_flow_query_count got = {.reset = 1};
	uint16_t port = make_port();
	struct rte_flow_action_handle *handle;

	(void)state;
	handle = rte_flow_action_handle_create(port, &ingress, &count, NULL);
	assert_non_null(handle);
	set_count(0, 10);
	set_count(1, 3);
	taker[1]->refuse_count = EIO;
	assert_int_equal(rte_flow_action_handle_query(port, handle, &got, NULL), -EIO);
	assert_true(taker[0]->reset);
	taker[1]->refuse_count = 0;
	set_count(0, 12);
	assert_handle_count(port, handle, true, 25);
	set_count(0, 1);
	set_count(1, 0);
	assert_handle_count(port, handle, false, 1);
	assert_int_equal(rte_flow_action_handle_destroy(port, handle, NULL), 0);
}

static void
test_what_was_not_asked_for_cannot_be_queried(void **state)
{
	const struct rte_flow_action count = {.type = RTE_FLOW_ACTION_TYPE_COUNT};
	const struct rte_flow_action meter = {.type = RTE_FLOW_ACTION_TYPE_METER};
	struct rte_flow_query_count got = {0};
	uint16_t port = make_port();
	struct rte_flow *rule = create_simple(port, RTE_FLOW_ACTION_TYPE_FLAG, NULL, NULL);
	struct rte_flow_error error;

	(void)state;
	assert_int_equal(rte_flow_query(port, rule, &count, &got, &error), -EINVAL);
	assert_int_equal(rte_flow_query(port, rule, &meter, &got, &error), -ENOTSUP);
	assert_string_equal(error.message, "only count, age and rss can be queried");
}

static uint16_t
proxy_of(uint16_t port)
{
	uint16_t proxy = RTE_MAX_ETHPORTS;

	assert_int_equal(rte_flow_pick_transfer_proxy(port, &proxy, NULL), 0);
	return proxy;
}

/* With the ethdev port in an item, or without any for RTE_MAX_ETHPORTS. */
static struct rte_flow *
create_transfer(uint16_t port, uint16_t named, struct rte_flow_error *error)
{
	const struct rte_flow_attr attr = {.transfer = 1, .priority = OCTO_PORT_TAKEN};
	const struct rte_flow_item_ethdev spec = {.port_id = named};
	const struct rte_flow_item pattern[] = {
		{.type = named == RTE_MAX_ETHPORTS ? RTE_FLOW_ITEM_TYPE_ETH :
						     RTE_FLOW_ITEM_TYPE_REPRESENTED_PORT,
		 .spec = named == RTE_MAX_ETHPORTS ? NULL : &spec},
		{.type = RTE_FLOW_ITEM_TYPE_END},
	};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_DROP},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};

	return create(port, &attr, pattern, actions, error);
}

/*
 * The rule is made on the octo port, which finds the switch's own proxy. A rule that an application
 * made on that PF would be lost with it.
 */
static void
test_the_port_is_the_proxy_of_its_rules(void **state)
{
	uint16_t port = make_port();
	struct rte_flow_error error;

	(void)state;
	assert_int_equal(proxy_of(octo_port_pf(1)), octo_port_pf(0));
	assert_int_equal(proxy_of(port), port);
	assert_non_null(create_transfer(proxy_of(port), octo_port_pf(1), &error));
	assert_on_pfs(1, 0);
	octo_port_remove_pf(0);
	assert_int_equal(proxy_of(port), port);
}

static void
test_transfer_goes_to_the_switch_of_the_pf_named(void **state)
{
	uint16_t port = make_port();
	struct rte_flow_error error;
	struct rte_flow *rule;

	(void)state;
	for (unsigned int pf = 0; pf < NB_PFS; pf++) {
		rule = create_transfer(port, octo_port_pf(pf), &error);
		assert_non_null(rule);
		/* the first PF has the switch of both */
		assert_on_pfs(1, 0);
		assert_int_equal(rte_flow_destroy(port, rule, &error), 0);
		assert_on_pfs(0, 0);
	}
	/* none of these errors is taken for a PF that is gone, to which the rule would not go */
	for (int code = 1; code < 10; code++) {
		taker[0]->refuse_proxy = code;
		assert_null(create_transfer(port, octo_port_pf(0), &error));
		assert_int_equal(rte_errno, code);
		assert_non_null(strstr(error.message, "there is no proxy"));
	}
	taker[0]->refuse_proxy = 0;
	assert_null(create_transfer(port, port, &error));
	assert_int_equal(rte_errno, ENOTSUP);
	assert_non_null(strstr(error.message, "name one of its PFs"));
	assert_null(create_transfer(port, RTE_MAX_ETHPORTS, &error));
	assert_int_equal(rte_errno, ENOTSUP);
	assert_non_null(strstr(error.message, "represented_port"));
	assert_int_equal(error.type, RTE_FLOW_ERROR_TYPE_ACTION);
	assert_on_pfs(0, 0);
}

static void
test_egress_goes_to_every_pf(void **state)
{
	const struct rte_flow_attr attr = {.egress = 1, .priority = OCTO_PORT_TAKEN};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_DROP},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	uint16_t port = make_port();

	(void)state;
	assert_non_null(create(port, &attr, eth, actions, NULL));
	assert_on_pfs(1, 1);
	assert_int_equal(taker[1]->rule[0].attr.egress, 1);
}

static char *
dump(uint16_t port, struct rte_flow *rule)
{
	char *text = NULL;
	size_t len;
	FILE *file = open_memstream(&text, &len);

	assert_non_null(file);
	assert_int_equal(rte_flow_dev_dump(port, rule, file, NULL), 0);
	fclose(file);
	return text;
}

static void
test_dump_tells_rules_and_asks_pfs(void **state)
{
	uint16_t port = make_port();
	struct rte_flow *rule = create_simple(port, RTE_FLOW_ACTION_TYPE_FLAG, NULL, NULL);
	char *text;

	(void)state;
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	text = dump(port, NULL);
	assert_non_null(strstr(text, "udp 10.0.0.1:7 > 10.0.0.2:9 to queue 1"));
	assert_non_null(strstr(text, "MPFS rule to PF: net_mpsim1"));
	assert_non_null(strstr(text, "ingress group 3 priority 10, pattern ETH, actions FLAG "
				     "PASSTHRU\n  rules on PFs: net_mpsim0, net_mpsim1"));
	assert_non_null(strstr(text, "PF net_mpsim1:\ntaker net_mpsim1: all"));
	free(text);
	text = dump(port, rule);
	assert_null(strstr(text, "10.0.0.1"));
	assert_non_null(strstr(text, "taker net_mpsim0: one"));
	free(text);
}

static void
test_rules_leave_with_a_pf(void **state)
{
	uint16_t port = make_port();
	struct rte_flow *rule = create_simple(port, RTE_FLOW_ACTION_TYPE_FLAG, NULL, NULL);

	(void)state;
	octo_port_remove_pf(1);
	assert_int_equal(rte_flow_destroy(port, rule, NULL), 0);
	assert_int_equal(taker[0]->nb, 0);
	assert_non_null(create_simple(port, RTE_FLOW_ACTION_TYPE_FLAG, NULL, NULL));
}

#define generic_test(f) cmocka_unit_test_setup_teardown(f, octo_port_setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		generic_test(test_a_rule_is_on_every_pf),
		generic_test(test_all_pfs_or_none),
		generic_test(test_validation_asks_every_pf),
		generic_test(test_lengths_without_contents_are_refused),
		generic_test(test_flush_takes_all),
		generic_test(test_kept_over_a_stop),
		generic_test(test_kept_queues_must_stay),
		generic_test(test_a_marked_flow_has_an_mpfs_rule),
		generic_test(test_tier_none_takes_no_rule),
		generic_test(test_the_same_flow_at_another_priority),
		generic_test(test_count_is_the_sum),
		generic_test(test_count_does_not_go_back_with_a_pf),
		generic_test(test_a_reset_that_a_pf_refuses),
		generic_test(test_a_reset_of_an_indirect_count_that_a_pf_refuses),
		generic_test(test_what_was_not_asked_for_cannot_be_queried),
		generic_test(test_the_port_is_the_proxy_of_its_rules),
		generic_test(test_transfer_goes_to_the_switch_of_the_pf_named),
		generic_test(test_egress_goes_to_every_pf),
		generic_test(test_dump_tells_rules_and_asks_pfs),
		generic_test(test_rules_leave_with_a_pf),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
