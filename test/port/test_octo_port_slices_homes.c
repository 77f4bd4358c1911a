/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The RETA, rules of many flows and indirect actions name octo queues. Where the PFs are slices of
 * one port, their home legs stand for these queues, also after a queue has got another home.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

#include "octo_port.h"
#include "octo_port_fault.h"
#include "octo_port_flows.h"

#define TIMES 12

static const struct octo_port_conf one_node = {.sliced = true};

/* As long as the driver is told to expect at most. */
#define NAPI_US 400

/* A leg that gives its packets only some time after an empty poll, as a socket of AF_XDP. */
struct napi {
	struct rte_mbuf *pkts[4096];
	uint16_t nb;
	uint16_t ready;  /* of these, to be polled */
	uint64_t kicked; /* time of the empty poll, 0: none */
};

static struct napi napi;

static uint16_t
deliver_by_napi(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t nb, uint16_t max,
		void *arg)
{
	struct napi *n = arg;
	uint16_t got;

	RTE_SET_USED(port);
	RTE_SET_USED(queue);
	assert_true(n->nb + nb <= (int)RTE_DIM(n->pkts));
	memcpy(&n->pkts[n->nb], pkts, nb * sizeof(pkts[0]));
	n->nb += nb;
	if (n->ready == 0 && n->kicked == 0) {
		n->kicked = octo_now();
	} else if (n->ready == 0 &&
		   octo_now() >= n->kicked + rte_get_timer_hz() * NAPI_US / 1000000) {
		n->ready = n->nb;
		n->kicked = 0;
	}
	got = RTE_MIN(n->ready, max);
	memcpy(pkts, n->pkts, got * sizeof(pkts[0]));
	memmove(n->pkts, &n->pkts[got], (n->nb - got) * sizeof(pkts[0]));
	n->nb -= got;
	n->ready -= got;
	return got;
}

/* Many times, under load: what is under way arrives first. */
static void
test_rss_follows_its_queue(void **state)
{
	struct octo_port_flows t;
	uint64_t before;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_flows_begin(&t, &octo_port_flows_two_nodes, 1, &octo_port_flows_rss);
	octo_port_flows_pass_often(&t, 20);
	assert_true(octo_port_flows_lead_to(0));
	assert_int_equal(octo_port_strays(t.port), 0);
	for (unsigned int i = 1; i <= TIMES; i++) {
		octo_port_run_on(i % 2);
		for (int n = 0; n < 2000 && !octo_port_flows_lead_to(i % 2); n++)
			octo_port_flows_pass(&t, true);
		assert_true(octo_port_flows_lead_to(i % 2));
		octo_port_flows_pass_often(&t, 20);
		before = octo_port_strays(t.port);
		octo_port_flows_pass_often(&t, 20);
		assert_int_equal(octo_port_strays(t.port), before);
	}
	octo_port_flows_assert_all_arrive(&t);
}

/* Flows with and without rules, of the same queue. */
static void
test_rules_follow_beside_the_reta(void **state)
{
	struct octo_port_flows t;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_flows_begin(&t, &octo_port_flows_two_nodes, 1, &octo_port_flows_rss);
	assert_non_null(octo_port_steer(t.port, 3, 0, NULL));
	for (unsigned int i = 1; i <= TIMES; i++) {
		octo_port_run_on(i % 2);
		for (int n = 0; n < 2000 && !(octo_port_flows_lead_to(i % 2) &&
					      octo_port_rule_pf(t.port, 3) == (int)(i % 2));
		     n++)
			octo_port_flows_pass(&t, true);
		assert_true(octo_port_flows_lead_to(i % 2));
		assert_int_equal(octo_port_rule_pf(t.port, 3), i % 2);
	}
	octo_port_flows_assert_all_arrive(&t);
}

/* Packets stray meanwhile, and it is tried again. */
static void
test_a_reta_that_is_refused_follows_later(void **state)
{
	struct octo_port_faults *faults;
	struct octo_port_flows t;
	char *text = NULL;
	size_t len = 0;
	FILE *log = open_memstream(&text, &len);

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_flows_begin(&t, &octo_port_flows_two_nodes, 1, &octo_port_flows_rss);
	faults = octo_port_faults_on(0);
	octo_port_flows_pass_often(&t, 20);
	faults->reta_update = EIO;
	rte_openlog_stream(log);
	octo_port_run_on(1);
	for (int n = 0; n < 2000 && octo_port_strays(t.port) < 1000; n++)
		octo_port_flows_pass(&t, true);
	assert_true(octo_port_strays(t.port) >= 1000);
	assert_true(octo_port_flows_lead_to(0));
	rte_openlog_stream(NULL);
	fclose(log);
	assert_string_equal(text, "OCTO: port 1: the RETA does not follow queue 0 to PF "
				  "net_mpsim0[1::2] yet\n");
	free(text);
	faults->reta_update = 0;
	for (int n = 0; n < 20000 && !octo_port_flows_lead_to(1); n++)
		octo_port_flows_pass(&t, true);
	assert_true(octo_port_flows_lead_to(1));
	octo_port_flows_assert_all_arrive(&t);
}

/* The ring of a leg that is held back has room for all that comes until the other one settles. */
static void
pass_slowly(struct octo_port_flows *t)
{
	octo_port_flows_send(t);
	for (int i = 0; i < 6; i++) {
		octo_port_pass_us(50);
		octo_port_flows_receive(t, 0);
	}
}

/* An empty ring proves nothing there, which the fence must know. */
static void
test_order_is_kept_though_polls_make_packets_come(void **state)
{
	const struct rte_eth_rxtx_callback *callback;
	struct octo_port_flows t;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_claim_af_xdp();
	octo_port_flows_begin(&t, &octo_port_flows_two_nodes, 1, &octo_port_flows_rss);
	memset(&napi, 0, sizeof(napi));
	/* the other leg delivers at once, so that its packets could overtake those of this one */
	callback = rte_eth_add_rx_callback(octo_port_pf(0), 0, deliver_by_napi, &napi);
	assert_non_null(callback);
	for (unsigned int i = 1; i <= TIMES; i++) {
		octo_port_run_on(i % 2);
		for (int n = 0; n < 2000 && !octo_port_flows_lead_to(i % 2); n++)
			pass_slowly(&t);
		assert_true(octo_port_flows_lead_to(i % 2));
		for (int n = 0; n < 20; n++)
			pass_slowly(&t);
	}
	octo_port_flows_assert_all_arrive(&t);
	/* ethdev keeps them for the next port of this number */
	assert_int_equal(rte_eth_remove_rx_callback(octo_port_pf(0), 0, callback), 0);
}

/* A queue that is in no entry has nothing to be changed, and gets its home with its first entry. */
static void
test_the_applications_reta_names_homes(void **state)
{
	struct octo_port_flows t;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_flows_begin(&t, &octo_port_flows_two_nodes, 2, &octo_port_flows_rss);
	octo_port_lead_all_to(t.port, 0);
	octo_port_run_on(1);
	for (int n = 0; n < 2000 && !octo_port_flows_lead_to(1); n++)
		octo_port_flows_pass(&t, true);
	assert_true(octo_port_flows_lead_to(1));
	/* no fence is between the queues of the old RETA and those of the new one */
	octo_port_flows_assert_all_arrive(&t);
	octo_port_lead_all_to(t.port, 1);
	assert_int_equal(octo_port_reta_of(0), RTE_BIT32(2 * 1 + 1));
	octo_port_flows_pass_often(&t, 20);
	octo_port_flows_assert_all_arrive(&t);
}

static const struct rte_flow_indir_action_conf ingress = {.ingress = 1};
static const struct rte_flow_action end = {.type = RTE_FLOW_ACTION_TYPE_END};

/* Of all IPv4 packets. */
static struct rte_flow *
create(uint16_t port, const struct rte_flow_action *first, const struct rte_flow_action *second,
       struct rte_flow_error *error)
{
	const struct rte_flow_action actions[] = {*first, *second, end};
	const struct rte_flow_item pattern[] = {
		{.type = RTE_FLOW_ITEM_TYPE_ETH},
		{.type = RTE_FLOW_ITEM_TYPE_IPV4},
		{.type = RTE_FLOW_ITEM_TYPE_END},
	};
	const struct rte_flow_attr attr = {.ingress = 1};

	*error = (struct rte_flow_error){.message = NULL};
	return rte_flow_create(port, &attr, pattern, actions, error);
}

/* Without RSS all would come by queue 0. Queue 1 is at home on the second slice. */
static void
test_a_rule_of_many_flows_leads_to_a_queue(void **state)
{
	const struct rte_flow_action_queue index = {.index = 1};
	const struct rte_flow_action_mark id = {.id = 5};
	const struct rte_flow_action mark = {.type = RTE_FLOW_ACTION_TYPE_MARK, .conf = &id};
	const struct rte_flow_action queue = {.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &index};
	struct rte_flow_error error;
	struct octo_port_flows t;

	(void)state;
	octo_port_flows_begin(&t, &one_node, 2, NULL);
	assert_non_null(create(t.port, &mark, &queue, &error));
	octo_port_flows_pass_often(&t, 10);
	octo_port_flows_assert_all_arrive(&t);
	assert_int_equal(t.by_queue[0], 0);
	assert_int_equal(octo_port_strays(t.port), 0);
}

static void
test_a_rule_spreads_flows_over_home_legs(void **state)
{
	const uint16_t queues[] = {3, 1, 2};
	const struct rte_flow_action_rss to = {
		.queue_num = 3, .queue = queues, .types = RTE_ETH_RSS_NONFRAG_IPV4_UDP};
	const struct rte_flow_action spread = {.type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &to};
	const struct rte_flow_action none = {.type = RTE_FLOW_ACTION_TYPE_VOID};
	struct rte_flow_error error;
	struct octo_port_flows t;

	(void)state;
	octo_port_flows_begin(&t, &one_node, 4, NULL);
	assert_non_null(create(t.port, &spread, &none, &error));
	octo_port_flows_pass_often(&t, 10);
	octo_port_flows_assert_all_arrive(&t);
	assert_int_equal(t.by_queue[0], 0);
	assert_true((t.by_queue[1] > 0) + (t.by_queue[2] > 0) + (t.by_queue[3] > 0) >= 2);
	assert_int_equal(octo_port_strays(t.port), 0);
}

/* Though the ethdev has the rule with legs in their place. */
static void
test_a_query_names_the_queues_of_the_rule(void **state)
{
	const uint16_t queues[] = {3, 1, 2};
	const struct rte_flow_action_rss to = {
		.queue_num = 3, .queue = queues, .types = RTE_ETH_RSS_NONFRAG_IPV4_UDP};
	const struct rte_flow_action spread = {.type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &to};
	const struct rte_flow_action none = {.type = RTE_FLOW_ACTION_TYPE_VOID};
	struct rte_flow_action by_handle = {.type = RTE_FLOW_ACTION_TYPE_INDIRECT};
	const struct rte_flow_action *const actions[] = {&spread, &by_handle};
	struct rte_flow_action_rss answer;
	struct rte_flow_error error;
	struct octo_port_flows t;

	(void)state;
	octo_port_flows_begin(&t, &one_node, 4, NULL);
	by_handle.conf = rte_flow_action_handle_create(t.port, &ingress, &spread, &error);
	assert_non_null(by_handle.conf);
	for (unsigned int i = 0; i < RTE_DIM(actions); i++) {
		struct rte_flow *rule = create(t.port, actions[i], &none, &error);

		assert_non_null(rule);
		answer = (struct rte_flow_action_rss){.queue_num = 0};
		assert_int_equal(rte_flow_query(t.port, rule, &spread, &answer, &error), 0);
		assert_int_equal(answer.types, to.types);
		assert_int_equal(answer.queue_num, 3);
		assert_memory_equal(answer.queue, queues, sizeof(queues));
		assert_int_equal(rte_flow_destroy(t.port, rule, &error), 0);
	}
}

static void
test_an_indirect_action_leads_to_a_queue(void **state)
{
	struct rte_flow_action_queue index = {.index = 1};
	const struct rte_flow_action queue = {.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &index};
	const struct rte_flow_action none = {.type = RTE_FLOW_ACTION_TYPE_VOID};
	struct rte_flow_action by_handle = {.type = RTE_FLOW_ACTION_TYPE_INDIRECT};
	struct rte_flow_action_handle *handle;
	struct rte_flow_error error;
	uint32_t before;
	struct octo_port_flows t;

	(void)state;
	octo_port_flows_begin(&t, &one_node, 3, NULL);
	handle = rte_flow_action_handle_create(t.port, &ingress, &queue, &error);
	assert_non_null(handle);
	by_handle.conf = handle;
	assert_non_null(create(t.port, &by_handle, &none, &error));
	octo_port_flows_pass_often(&t, 10);
	octo_port_flows_assert_all_arrive(&t);
	assert_int_equal(t.by_queue[1], t.sent[0] * OCTO_PORT_FLOWS);
	before = t.by_queue[1];
	index.index = 2;
	assert_int_equal(rte_flow_action_handle_update(t.port, handle, &queue, &error), 0);
	octo_port_flows_pass_often(&t, 10);
	octo_port_flows_assert_all_arrive(&t);
	assert_int_equal(t.by_queue[1], before);
	assert_true(t.by_queue[2] > 0);
	assert_int_equal(octo_port_strays(t.port), 0);
}

static void
by_queue(uint16_t port, struct rte_flow_error *error)
{
	const struct rte_flow_action_queue index = {.index = 0};
	const struct rte_flow_action queue = {.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &index};
	const struct rte_flow_action none = {.type = RTE_FLOW_ACTION_TYPE_VOID};

	assert_non_null(create(port, &queue, &none, error));
}

static void
by_rss(uint16_t port, struct rte_flow_error *error)
{
	const uint16_t queues[] = {0};
	const struct rte_flow_action_rss to = {.queue_num = 1, .queue = queues};
	const struct rte_flow_action spread = {.type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &to};
	const struct rte_flow_action none = {.type = RTE_FLOW_ACTION_TYPE_VOID};

	assert_non_null(create(port, &spread, &none, error));
}

static struct rte_flow_action_handle *
by_indirect(uint16_t port, const struct rte_flow_action *action, struct rte_flow_error *error)
{
	const struct rte_flow_action none = {.type = RTE_FLOW_ACTION_TYPE_VOID};
	struct rte_flow_action_handle *handle;
	struct rte_flow_action by_handle = {.type = RTE_FLOW_ACTION_TYPE_INDIRECT};

	handle = rte_flow_action_handle_create(port, &ingress, action, error);
	assert_non_null(handle);
	by_handle.conf = handle;
	assert_non_null(create(port, &by_handle, &none, error));
	return handle;
}

static void
by_indirect_queue(uint16_t port, struct rte_flow_error *error)
{
	const struct rte_flow_action_queue index = {.index = 0};
	const struct rte_flow_action queue = {.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &index};

	by_indirect(port, &queue, error);
}

static void
by_indirect_rss(uint16_t port, struct rte_flow_error *error)
{
	const uint16_t queues[] = {0};
	const struct rte_flow_action_rss to = {.queue_num = 1, .queue = queues};
	const struct rte_flow_action spread = {.type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &to};

	by_indirect(port, &spread, error);
}

/* Under load, there and back: what is under way arrives first, and then nothing strays. */
static void
follow_home(void (*steer)(uint16_t port, struct rte_flow_error *error))
{
	struct rte_flow_error error;
	struct octo_port_flows t;
	uint64_t before;

	octo_port_flows_begin(&t, &octo_port_flows_two_nodes, 1, NULL);
	steer(t.port, &error);
	octo_port_flows_pass_often(&t, 20);
	assert_int_equal(octo_port_strays(t.port), 0);
	for (unsigned int i = 1; i <= TIMES; i++) {
		octo_port_run_on(i % 2);
		for (int n = 0; n < 2000 && octo_port_xstat(t.port, "rehomes") < i; n++)
			octo_port_flows_pass(&t, true);
		octo_port_flows_pass_often(&t, 20);
		before = octo_port_strays(t.port);
		octo_port_flows_pass_often(&t, 20);
		assert_int_equal(octo_port_strays(t.port), before);
	}
	assert_true(octo_port_strays(t.port) > 0);
	octo_port_flows_assert_all_arrive(&t);
	octo_port_destroy();
}

static void
test_rules_follow_their_queue(void **state)
{
	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	follow_home(by_queue);
	follow_home(by_rss);
	follow_home(by_indirect_queue);
	follow_home(by_indirect_rss);
}

/* More packets are on their way, to the queue that the rule names now. */
static void
set_out(struct octo_port_flows *t)
{
	octo_port_flows_send(t);
	octo_port_flows_receive(t, 0);
}

/* By the application: the next burst has packets from before it and from after it. */
static void
test_an_update_of_an_indirect_action_keeps_the_order(void **state)
{
	struct rte_flow_action_queue index = {.index = 0};
	const struct rte_flow_action queue = {.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &index};
	struct rte_flow_action_handle *handle;
	struct rte_flow_error error;
	struct octo_port_flows t;
	uint32_t before;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_flows_begin(&t, &octo_port_flows_two_nodes, 2, NULL);
	handle = by_indirect(t.port, &queue, &error);
	for (unsigned int i = 1; i <= TIMES; i++) {
		octo_port_flows_pass_often(&t, 20);
		set_out(&t);
		index.index = i % 2;
		before = t.by_queue[index.index];
		assert_int_equal(rte_flow_action_handle_update(t.port, handle, &queue, &error), 0);
		set_out(&t);
		octo_port_pass_us(400);
		for (int n = 0; n < 2000 && t.by_queue[index.index] < before + 100; n++)
			octo_port_flows_pass(&t, true);
		assert_true(t.by_queue[index.index] >= before + 100);
	}
	octo_port_flows_assert_all_arrive(&t);
	assert_true(octo_port_xstat(t.port, "fence_opened") >= TIMES);
}

/* The port may have other homes when it is started again. */
static void
test_rules_follow_over_a_restart(void **state)
{
	struct rte_flow_error error;
	struct octo_port_flows t;
	uint64_t before;

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_flows_begin(&t, &octo_port_flows_two_nodes, 1, NULL);
	by_queue(t.port, &error);
	octo_port_flows_pass_often(&t, 20);
	octo_port_flows_assert_all_arrive(&t);
	assert_int_equal(rte_eth_dev_stop(t.port), 0);
	octo_port_run_on(1);
	assert_int_equal(rte_eth_dev_start(t.port), 0);
	octo_port_flows_pass_often(&t, 100);
	before = octo_port_strays(t.port);
	octo_port_flows_pass_often(&t, 20);
	assert_int_equal(octo_port_strays(t.port), before);
	octo_port_flows_assert_all_arrive(&t);
}

static void
test_a_queue_that_is_not_there(void **state)
{
	const struct rte_flow_action_queue index = {.index = 2};
	const uint16_t queues[] = {0, 2};
	const struct rte_flow_action_rss to = {.queue_num = 2, .queue = queues};
	const struct rte_flow_action queue = {.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &index};
	const struct rte_flow_action spread = {.type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &to};
	const struct rte_flow_action none = {.type = RTE_FLOW_ACTION_TYPE_VOID};
	const struct rte_flow_action *const wrong[] = {&queue, &spread};
	struct rte_flow_error error;
	struct octo_port_flows t;

	(void)state;
	octo_port_flows_begin(&t, &one_node, 2, NULL);
	for (size_t i = 0; i < RTE_DIM(wrong); i++) {
		assert_null(create(t.port, wrong[i], &none, &error));
		assert_int_equal(rte_errno, EINVAL);
		assert_non_null(strstr(error.message, "queue"));
		error.message = NULL;
		assert_null(rte_flow_action_handle_create(t.port, &ingress, wrong[i], &error));
		assert_int_equal(rte_errno, EINVAL);
		assert_non_null(strstr(error.message, "queue"));
	}
}

/* All queues of the port include legs that nothing polls, and a list may be of any length. */
static void
test_rss_without_queues_or_with_too_many(void **state)
{
	static const uint16_t queues[100000];
	const struct rte_flow_action_rss wrong[] = {
		{.queue_num = 0},
		{.queue_num = 2},
		{.queue_num = RTE_MAX_QUEUES_PER_PORT + 1, .queue = queues},
		{.queue_num = RTE_DIM(queues), .queue = queues},
		{.queue_num = UINT32_MAX, .queue = queues},
	};
	const struct rte_flow_action none = {.type = RTE_FLOW_ACTION_TYPE_VOID};
	struct rte_flow_action spread = {.type = RTE_FLOW_ACTION_TYPE_RSS};
	struct rte_flow_error error;
	struct octo_port_flows t;

	(void)state;
	octo_port_flows_begin(&t, &one_node, 2, NULL);
	for (size_t i = 0; i <= RTE_DIM(wrong); i++) {
		spread.conf = i < RTE_DIM(wrong) ? &wrong[i] : NULL;
		assert_null(create(t.port, &spread, &none, &error));
		assert_non_null(error.message);
		error.message = NULL;
		assert_null(rte_flow_action_handle_create(t.port, &ingress, &spread, &error));
		assert_non_null(error.message);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_rss_follows_its_queue),
		octo_port_test(test_rules_follow_beside_the_reta),
		octo_port_test(test_a_reta_that_is_refused_follows_later),
		octo_port_test(test_order_is_kept_though_polls_make_packets_come),
		octo_port_test(test_the_applications_reta_names_homes),
		octo_port_test(test_a_rule_of_many_flows_leads_to_a_queue),
		octo_port_test(test_a_rule_spreads_flows_over_home_legs),
		octo_port_test(test_a_query_names_the_queues_of_the_rule),
		octo_port_test(test_an_indirect_action_leads_to_a_queue),
		octo_port_test(test_rules_follow_their_queue),
		octo_port_test(test_an_update_of_an_indirect_action_keeps_the_order),
		octo_port_test(test_rules_follow_over_a_restart),
		octo_port_test(test_a_queue_that_is_not_there),
		octo_port_test(test_rss_without_queues_or_with_too_many),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
