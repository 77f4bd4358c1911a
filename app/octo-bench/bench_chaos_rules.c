/* SPDX-License-Identifier: BSD-3-Clause */

/* Rules of chaos: made, moved in either way, destroyed, flushed. */

#include <rte_cycles.h>
#include <rte_flow.h>

#include "bench_chaos.h"
#include "octo_flow_build.h"

/* Every other flow has its queue by an indirect action. */
static struct rte_flow_action_handle *
make_handle(struct chaos *c, const struct rte_flow_action *queue)
{
	const struct rte_flow_indir_action_conf conf = {.ingress = 1};
	struct rte_flow_error error = {0};

	return rte_flow_action_handle_create(c->nic.octo, &conf, queue, &error);
}

static bool
create(struct chaos *c, uint32_t flow)
{
	struct chaos_rule *r = &c->rule[flow];
	struct rte_flow_error error = {0};
	struct octo_flow_rule rule;
	struct octo_tuple tuple;

	bench_flow_tuple(flow, &tuple);
	octo_flow_build_queue(&rule, &tuple, 0, r->queue, false);
	if (flow % 2 == 0 && r->handle == NULL)
		r->handle = make_handle(c, &rule.actions[0]);
	if (r->handle != NULL) {
		rule.actions[0].type = RTE_FLOW_ACTION_TYPE_INDIRECT;
		rule.actions[0].conf = r->handle;
	}
	r->flow = rte_flow_create(c->nic.octo, &rule.attr, rule.pattern, rule.actions, &error);
	return r->flow != NULL;
}

static void
destroy(struct chaos *c, uint32_t flow)
{
	struct chaos_rule *r = &c->rule[flow];
	struct rte_flow_error error = {0};

	if (r->flow != NULL && rte_flow_destroy(c->nic.octo, r->flow, &error) == 0)
		r->flow = NULL;
}

static void
move(struct chaos *c, uint32_t flow)
{
	struct chaos_rule *r = &c->rule[flow];
	const struct rte_flow_action_queue conf = {.index = !r->queue};
	const struct rte_flow_action queue = {
		.type = RTE_FLOW_ACTION_TYPE_QUEUE,
		.conf = &conf,
	};
	struct rte_flow_error error = {0};

	if (r->handle != NULL) {
		if (rte_flow_action_handle_update(c->nic.octo, r->handle, &queue, &error) == 0)
			r->queue = !r->queue;
		return;
	}
	destroy(c, flow);
	r->queue = !r->queue;
	create(c, flow);
}

static void
query(const struct chaos *c, uint32_t flow)
{
	const struct rte_flow_action count[] = {
		{.type = RTE_FLOW_ACTION_TYPE_COUNT},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	struct rte_flow_query_count answer = {0};
	struct rte_flow_error error = {0};

	if (c->rule[flow].flow != NULL)
		rte_flow_query(c->nic.octo, c->rule[flow].flow, count, &answer, &error);
}

void
chaos_change_rule(struct chaos *c, uint64_t r)
{
	const uint32_t flow = r % CHAOS_FLOWS;

	switch (r >> 32 & 7) {
	case 0:
		destroy(c, flow);
		break;
	case 1:
		query(c, flow);
		break;
	case 2:
	case 3:
	case 4:
		move(c, flow);
		break;
	default:
		if (c->rule[flow].flow == NULL)
			create(c, flow);
	}
}

void
chaos_flush_rules(struct chaos *c)
{
	struct rte_flow_error error = {0};

	/* the handles are void also if it fails, says rte_flow.h */
	rte_flow_flush(c->nic.octo, &error);
	for (uint32_t flow = 0; flow < CHAOS_FLOWS; flow++)
		c->rule[flow].flow = NULL;
}

bool
chaos_make_all_rules(struct chaos *c)
{
	const uint64_t end = chaos_deadline(CHAOS_PATIENCE_S);
	unsigned int missing;

	for (;;) {
		missing = 0;
		for (uint32_t flow = 0; flow < CHAOS_FLOWS; flow++)
			missing += c->rule[flow].flow == NULL && !create(c, flow);
		if (missing == 0 || rte_rdtsc() > end)
			return missing == 0;
		rte_delay_us_sleep(CHAOS_LOOK_US);
	}
}

void
chaos_forget_rules(struct chaos *c)
{
	struct rte_flow_error error = {0};

	chaos_flush_rules(c);
	for (uint32_t flow = 0; flow < CHAOS_FLOWS; flow++) {
		struct chaos_rule *r = &c->rule[flow];

		if (r->handle != NULL &&
		    rte_flow_action_handle_destroy(c->nic.octo, r->handle, &error) == 0)
			r->handle = NULL;
	}
}
