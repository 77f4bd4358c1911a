/* SPDX-License-Identifier: BSD-3-Clause */

#include "octo_port_random.h"

#define FLOW_QUEUE_SIZE 16

static struct random_port *const r = &random_port;

/* Not where a PF has no flow queues, or refuses. */
void
random_make_table(void)
{
	const struct rte_flow_template_table_attr attr = {.flow_attr.ingress = 1,
							  .nb_flows = RANDOM_FLOWS};
	const struct rte_flow_pattern_template_attr pattern_attr = {.ingress = 1};
	const struct rte_flow_actions_template_attr actions_attr = {.ingress = 1};
	const struct rte_flow_action_queue open = {0};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &open},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	struct octo_port_table *t = &r->table;
	struct octo_flow_rule rule;

	if (r->mode == RANDOM_GENTLE ||
	    octo_port_flow_queues(r->port, 1, FLOW_QUEUE_SIZE, NULL) != 0)
		return;
	octo_port_build(&rule, 0, 0);
	*t = (struct octo_port_table){.port = r->port};
	t->pattern = rte_flow_pattern_template_create(r->port, &pattern_attr, rule.pattern, NULL);
	t->actions = rte_flow_actions_template_create(r->port, &actions_attr, actions, actions,
						      NULL);
	if (t->pattern != NULL && t->actions != NULL)
		t->table = rte_flow_template_table_create(r->port, &attr, &t->pattern, 1,
							  &t->actions, 1, NULL);
	r->has_table = t->table != NULL;
	random_say("table: %d", r->has_table);
	if (r->has_table)
		return;
	if (t->actions != NULL)
		rte_flow_actions_template_destroy(r->port, t->actions, NULL);
	if (t->pattern != NULL)
		rte_flow_pattern_template_destroy(r->port, t->pattern, NULL);
}

/*
 * A rule that failed has to be destroyed; one whose destruction failed is still there. After a
 * flush there is none.
 */
static void
take_result(const struct rte_flow_op_result *result)
{
	const uintptr_t data = (uintptr_t)result->user_data;
	const bool destroyed = data >> 16 != 0;
	const unsigned int i = (data & UINT16_MAX) - RANDOM_FIRST_PORT;
	struct random_flow *f = &r->flow[i];

	assert_true(i < RANDOM_FLOWS);
	assert_true(f->pending);
	random_say("result of %s %u: %d", destroyed ? "destroy" : "create", RANDOM_FIRST_PORT + i,
		   result->status);
	f->pending = false;
	if (f->rule == NULL)
		return;
	if (destroyed && result->status == RTE_FLOW_OP_SUCCESS)
		f->rule = NULL;
	if (destroyed || result->status == RTE_FLOW_OP_SUCCESS)
		return;
	assert_int_equal(rte_flow_destroy(r->port, f->rule, NULL), 0);
	f->rule = NULL;
}

void
random_pull(void)
{
	struct rte_flow_op_result results[4];
	int nb = 1;

	while (r->has_table && nb > 0) {
		nb = rte_flow_pull(r->port, 0, results, RTE_DIM(results), NULL);
		for (int i = 0; i < nb; i++)
			take_result(&results[i]);
	}
}

static void *
user_data(uint16_t src_port, bool destroy)
{
	return (void *)((uintptr_t)src_port | (uintptr_t)destroy << 16);
}

void
random_op_async(void)
{
	const unsigned int i = random_below(RANDOM_FLOWS);
	const struct rte_flow_op_attr attr = {.postpone = random_one_in(2)};
	const uint16_t src_port = RANDOM_FIRST_PORT + i, queue = random_below(RANDOM_QUEUES);
	struct random_flow *f = &r->flow[i];
	struct octo_flow_rule rule;

	if (!r->has_table || r->stopped || f->pending)
		return;
	if (f->rule != NULL) {
		f->pending = f->tabled &&
			     rte_flow_async_destroy(r->port, 0, &attr, f->rule,
						    user_data(src_port, true), NULL) == 0;
		random_say("enqueue destruction of %u: %d", src_port, f->pending);
		return;
	}
	octo_port_build(&rule, src_port, queue);
	*f = (struct random_flow){.queue = queue, .handle = -1, .tabled = true};
	f->rule = rte_flow_async_create(r->port, 0, &attr, r->table.table, rule.pattern, 0,
					rule.actions, 0, user_data(src_port, false), NULL);
	f->pending = f->rule != NULL;
	random_say("enqueue %u to %u: %p", src_port, queue, (void *)f->rule);
}

void
random_op_push_or_pull(void)
{
	if (!r->has_table)
		return;
	if (random_one_in(2))
		rte_flow_push(r->port, 0, NULL);
	if (random_one_in(2))
		random_pull();
}

static struct rte_flow *
make_other(unsigned int i)
{
	const struct rte_flow_item_ipv4 v4 = {.hdr.dst_addr = rte_cpu_to_be_32(0x0a090900 + i)};
	const struct rte_flow_item_ipv4 mask = {.hdr.dst_addr = RTE_BE32(UINT32_MAX)};
	const struct rte_flow_item pattern[] = {
		{.type = RTE_FLOW_ITEM_TYPE_ETH},
		{.type = RTE_FLOW_ITEM_TYPE_IPV4, .spec = &v4, .mask = &mask},
		{.type = RTE_FLOW_ITEM_TYPE_END},
	};
	const struct rte_flow_action_queue queue = {.index = random_below(RANDOM_QUEUES)};
	const struct rte_flow_action_mark mark = {.id = i};
	const struct rte_flow_action_jump jump = {.group = 1};
	const struct rte_flow_action first[] = {
		{.type = RTE_FLOW_ACTION_TYPE_MARK, .conf = &mark},
		{.type = RTE_FLOW_ACTION_TYPE_COUNT},
		{.type = RTE_FLOW_ACTION_TYPE_VOID},
	};
	const struct rte_flow_action fates[] = {
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &queue},
		{.type = RTE_FLOW_ACTION_TYPE_DROP},
		{.type = RTE_FLOW_ACTION_TYPE_JUMP, .conf = &jump},
	};
	const struct rte_flow_attr attr = {.ingress = 1, .group = i % 2};
	const struct rte_flow_action actions[] = {
		first[random_below(RTE_DIM(first))],
		fates[random_below(attr.group == 0 ? 3 : 2)],
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};

	return rte_flow_create(r->port, &attr, pattern, actions, NULL);
}

/* To the PF that is there now. */
static struct rte_flow *
make_transfer(unsigned int i)
{
	const unsigned int pf = random_below(r->nb_ports);
	struct octo_flow_rule rule;

	if (!octo_port_pf_is_there(pf))
		return NULL;
	octo_port_build_mpfs(&rule, RANDOM_FIRST_PORT + RANDOM_ALL + i, pf);
	return rte_flow_create(r->port, &rule.attr, rule.pattern, rule.actions, NULL);
}

/* Rules for packets that nobody sends: of any kind, in groups, of the switch. */
void
random_op_other(void)
{
	const unsigned int i = random_below(RANDOM_OTHERS);
	int ret;

	if (r->other[i] == NULL) {
		r->other[i] = i < 2 ? make_transfer(i) : make_other(i);
		random_say("other %u: %p", i, (void *)r->other[i]);
		return;
	}
	ret = rte_flow_destroy(r->port, r->other[i], NULL);
	random_say("destroy other %u: %d", i, ret);
	if (ret == 0)
		r->other[i] = NULL;
}
