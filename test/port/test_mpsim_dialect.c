/* SPDX-License-Identifier: BSD-3-Clause */

/* Transfer rules of mpsim: only those in its own dialect have an effect, others may be taken. */

#include <stdio.h>

#include "octo_port.h"

#define FLOW 7
#define NB_PACKETS 16

/* Two PFs that are used directly; the wire is theirs, and packets without a rule go to PF 0. */
static void
start_pfs(const char *dialect, const char *suffix)
{
	struct octo_port_conf conf = {0};
	char nic[64];

	snprintf(nic, sizeof(nic), "dialect=%s%s", dialect, suffix);
	conf.nic = nic;
	octo_port_add_pfs(&conf);
	for (unsigned int pf = 0; pf < 2; pf++)
		octo_port_up(octo_port_pf(pf), 1);
}

static struct rte_flow_action_handle *
queue_of_pf_1(void)
{
	const struct rte_flow_indir_action_conf conf = {.ingress = 1};
	const struct rte_flow_action_queue queue = {.index = 0};
	const struct rte_flow_action action = {RTE_FLOW_ACTION_TYPE_QUEUE, &queue};
	struct rte_flow_action_handle *h;

	h = rte_flow_action_handle_create(octo_port_pf(1), &conf, &action, NULL);
	assert_non_null(h);
	return h;
}

/* A rule in this dialect that leads to PF 1; NULL if it is refused. */
static struct rte_flow *
make_rule(enum octo_dialect_id dialect)
{
	struct rte_flow_error error = {.message = NULL};
	struct octo_flow_rule r;
	struct octo_tuple t;
	struct rte_flow *flow;

	assert_int_equal(octo_tuple_read(&t, "udp", "10.0.0.1", FLOW, "10.0.0.2", 9, NULL), 0);
	if (dialect == OCTO_DIALECT_INDIRECT)
		octo_flow_build_indirect(&r, &t, 0, queue_of_pf_1(), false);
	else
		octo_flow_build_transfer(&r, dialect, &t, 0, octo_port_pf(0), octo_port_pf(1),
					 false);
	flow = rte_flow_create(octo_port_pf(0), &r.attr, r.pattern, r.actions, &error);
	if (flow == NULL)
		assert_non_null(error.message);
	return flow;
}

static void
assert_arrives_at(unsigned int pf)
{
	struct octo_port_tally tally = {0};

	octo_port_send(octo_port_pf(0), 0, FLOW, NB_PACKETS);
	octo_port_receive(octo_port_pf(pf), 0, NB_PACKETS, &tally);
	assert_int_equal(tally.packets, NB_PACKETS);
}

static void
check(enum octo_dialect_id own, enum octo_dialect_id rule, bool takes_any)
{
	struct rte_flow *flow;

	start_pfs(octo_dialect_get(own)->name, takes_any ? "/any" : "");
	flow = make_rule(rule);
	if (own != rule && !takes_any)
		assert_null(flow);
	else
		assert_non_null(flow);
	assert_arrives_at(own == rule ? 1 : 0);
	octo_port_destroy();
}

static void
test_rules_of_other_dialects_are_refused(void **state)
{
	(void)state;
	for (unsigned int own = 0; own < OCTO_NB_DIALECTS; own++)
		for (unsigned int rule = 0; rule < OCTO_NB_DIALECTS; rule++)
			check(own, rule, false);
}

static void
test_rules_of_other_dialects_match_nothing(void **state)
{
	(void)state;
	for (unsigned int own = 0; own < OCTO_NB_DIALECTS; own++)
		for (unsigned int rule = 0; rule < OCTO_NB_DIALECTS; rule++)
			check(own, rule, true);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_rules_of_other_dialects_are_refused),
		octo_port_test(test_rules_of_other_dialects_match_nothing),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
