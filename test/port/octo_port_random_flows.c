/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include <rte_version.h>

#include <ethdev_driver.h>

#include "octo_port_random.h"
#include "octo_private.h"
#include "rte_pmd_octo.h"

/* The first rule of a flow may overtake packets for so long; they are polled every 5 ms at last. */
#define FIRST_MS 26

static struct random_port *const r = &random_port;

static const struct rte_flow_action count[] = {
	{.type = RTE_FLOW_ACTION_TYPE_COUNT},
	{.type = RTE_FLOW_ACTION_TYPE_END},
};

static struct random_flow *
any_flow(void)
{
	return &r->flow[random_below(RANDOM_FLOWS)];
}

static uint16_t
src_port_of(const struct random_flow *f)
{
	return RANDOM_FIRST_PORT + (f - r->flow);
}

void
random_query(struct random_flow *f)
{
	struct rte_flow_query_count counted = {.reset = r->step < UINT32_MAX && random_one_in(8)};

	if (f->rule == NULL || !f->counts ||
	    rte_flow_query(r->port, f->rule, count, &counted, NULL) != 0)
		return;

	if (counted.hits < f->hits)
		fail_msg("flow %u: hits fell from %" PRIu64 " to %" PRIu64, src_port_of(f), f->hits,
			 counted.hits);
	f->hits = counted.reset ? 0 : counted.hits;
}

static void
query_all_by_handle(void)
{
	struct rte_flow_query_count counted = {0};

	if (r->count == NULL ||
	    rte_flow_action_handle_query(r->port, r->count, &counted, NULL) != 0)
		return;
	if (counted.hits < r->count_hits)
		fail_msg("hits of all fell from %" PRIu64 " to %" PRIu64, r->count_hits,
			 counted.hits);
	r->count_hits = counted.hits;
}

void
random_op_query_all(void)
{
	query_all_by_handle();
	for (unsigned int i = 0; i < RANDOM_FLOWS; i++)
		random_query(&r->flow[i]);
}

void
random_create(struct random_flow *f)
{
	const struct random_handle *h = &r->handle[random_below(RANDOM_HANDLES)];
	const bool by_handle = random_one_in(4) && h->action != NULL;
	const struct rte_flow_action_age age = {.timeout = 1 + random_below(3), .context = f};
	struct rte_flow_error error = {0};
	struct octo_flow_rule rule;
	unsigned int nb = 1;

	f->queue = random_below(RANDOM_QUEUES);
	f->handle = -1;
	f->hits = 0;
	f->tabled = false;
	f->shared = !by_handle && r->count != NULL && random_one_in(4);
	f->counts = !by_handle && !f->shared && random_one_in(2);
	f->ages = !by_handle && !f->shared && !f->counts && r->mode != RANDOM_GENTLE &&
		  random_one_in(6);
	octo_port_build(&rule, src_port_of(f), f->queue);
	if (f->counts)
		rule.actions[nb++] = count[0];
	if (f->ages)
		rule.actions[nb++] = (struct rte_flow_action){
			.type = RTE_FLOW_ACTION_TYPE_AGE,
			.conf = &age,
		};
	rule.actions[nb] = count[1];
	if (by_handle) {
		f->handle = h - r->handle;
		f->rule = octo_port_steer_by(r->port, src_port_of(f), h->action, &error);
	} else if (f->shared) {
		f->rule = octo_port_steer_and_count_by(r->port, src_port_of(f), f->queue, r->count,
						       &error);
	} else {
		f->rule = rte_flow_create(r->port, &rule.attr, rule.pattern, rule.actions, &error);
	}
	random_say("create %u to %u by %d, ages %d: %p %s", src_port_of(f), f->queue, f->handle,
		   f->ages, (void *)f->rule, f->rule == NULL ? error.message : "");
}

/* Rules that say more than their queue, and those of tables, are not moved. */
static void
move(struct random_flow *f)
{
	const uint16_t queue = random_below(RANDOM_QUEUES);
	struct rte_pmd_octo_tuple tuple;
	struct rte_flow_error error;
	int ret;

	if (f->handle >= 0)
		return;
	assert_int_equal(rte_pmd_octo_tuple_read(&tuple, "udp", "10.0.0.1", src_port_of(f),
						 "10.0.0.2", 9, NULL),
			 0);
	ret = rte_pmd_octo_steer_move(r->port, &tuple, queue, &error);
	random_say("move %u to %u: %d", src_port_of(f), queue, ret);
	if (ret == 0)
		f->queue = queue;
}

void
random_op_create_or_move(void)
{
	struct random_flow *f = any_flow();

	if (f->rule != NULL) {
		move(f);
		return;
	}
	f->rest = octo_now() + FIRST_MS * rte_get_timer_hz() / MS_PER_S;
	random_create(f);
}

static bool
destroy(struct random_flow *f)
{
	int ret;

	if (f->rule == NULL || f->pending)
		return false;
	ret = rte_flow_destroy(r->port, f->rule, NULL);
	random_say("destroy %u: %d", src_port_of(f), ret);
	if (ret != 0)
		return false;
	f->rule = NULL;
	return true;
}

void
random_op_destroy(void)
{
	struct random_flow *f = any_flow();

	if (destroy(f) && random_one_in(2))
		random_create(f);
}

/* Another rule takes the flow over. */
void
random_op_replace(void)
{
	struct random_flow *f = any_flow();

	if (f->handle >= 0 || !destroy(f))
		return;
	if (random_one_in(2))
		random_send_gently();
	f->queue = random_below(RANDOM_QUEUES);
	f->counts = false;
	f->shared = false;
	f->ages = false;
	f->rule = octo_port_steer(r->port, src_port_of(f), f->queue, NULL);
	random_say("replaced %u to %u: %p", src_port_of(f), f->queue, (void *)f->rule);
}

void
random_op_flush(void)
{
	int ret;

	if (r->stopped || !random_one_in(10))
		return;
	/* the handles are void even if a rule is left */
	ret = rte_flow_flush(r->port, NULL);
	random_say("flush: %d", ret);
	r->may_keep |= ret != 0;
	for (unsigned int i = 0; i < RANDOM_FLOWS; i++)
		r->flow[i].rule = NULL;
	random_pull();
	memset(r->flow, 0, sizeof(r->flow));
	memset(r->other, 0, sizeof(r->other));
	memset(r->steered, 0, sizeof(r->steered));
}

void
random_op_change_handle(void)
{
	struct random_handle *h = &r->handle[random_below(RANDOM_HANDLES)];
	const struct rte_flow_indir_action_conf conf = {.ingress = 1};
	const struct rte_flow_action_queue index = {.index = random_below(RANDOM_QUEUES)};
	const struct rte_flow_action action = {.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &index};
	const int i = h - r->handle;
	int ret;

	if (h->action == NULL) {
		h->action = rte_flow_action_handle_create(r->port, &conf, &action, NULL);
		h->queue = index.index;
		random_say("handle %d to %u: %p", i, index.index, (void *)h->action);
	} else if (random_one_in(4)) {
		ret = rte_flow_action_handle_destroy(r->port, h->action, NULL);
		random_say("handle %d destroyed: %d", i, ret);
		if (ret == 0)
			h->action = NULL;
	} else {
		ret = rte_flow_action_handle_update(r->port, h->action, &action, NULL);
		random_say("handle %d updated to %u: %d", i, index.index, ret);
		if (ret == 0)
			h->queue = index.index;
	}
}

/* By the API: a rule may lose its counter, and get one. */
void
random_op_update(void)
{
#if RTE_VERSION >= RTE_VERSION_NUM(23, 7, 0, 0)
	struct random_flow *f = any_flow();
	const struct rte_flow_action_queue index = {.index = random_below(RANDOM_QUEUES)};
	const bool counts = random_one_in(2);
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &index},
		{.type = counts ? RTE_FLOW_ACTION_TYPE_COUNT : RTE_FLOW_ACTION_TYPE_VOID},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	struct rte_flow_error error = {0};
	int ret;

	if (f->rule == NULL || f->pending)
		return;
	ret = rte_flow_actions_update(r->port, f->rule, actions, &error);
	random_say("update %u to %u, count %d: %d %s", src_port_of(f), index.index, counts, ret,
		   ret == 0 ? "" : error.message);
	if (ret != 0)
		return;
	f->queue = index.index;
	f->handle = -1;
	f->counts = counts;
	f->ages = false;
	f->shared = false;
	f->hits = 0;
#endif
}

/* Only rules that are there, and age. */
void
random_op_aged(void)
{
	void *contexts[RANDOM_FLOWS];
	const int nb = rte_flow_get_aged_flows(r->port, contexts, RTE_DIM(contexts), NULL);

	if (random_one_in(3))
		octo_port_pass_us(US_PER_S);
	for (int i = 0; i < nb; i++) {
		const struct random_flow *f = contexts[i];

		assert_true(f >= r->flow && f < r->flow + RANDOM_FLOWS);
		assert_non_null(f->rule);
		assert_true(f->ages);
	}
}

/* A COUNT action of several rules: it may only be destroyed without them. */
void
random_op_count(void)
{
	const struct rte_flow_indir_action_conf conf = {.ingress = 1};
	bool used = false;
	int ret;

	if (r->count == NULL) {
		r->count = rte_flow_action_handle_create(r->port, &conf, &count[0], NULL);
		r->count_hits = 0;
		random_say("count of all: %p", (void *)r->count);
		return;
	}
	if (!random_one_in(3))
		return;
	for (unsigned int i = 0; i < RANDOM_FLOWS; i++)
		used |= r->flow[i].rule != NULL && r->flow[i].shared;
	ret = rte_flow_action_handle_destroy(r->port, r->count, NULL);
	random_say("count of all destroyed: %d", ret);
	assert_true(ret != 0 || !used);
	if (ret == 0)
		r->count = NULL;
}

/* Commands give way: their rules may be gone after a start, or with their queue. */
unsigned int
random_nb_steered(void)
{
	struct octo_view_rule rules[64];
	uint32_t total;
	const int nb = rte_pmd_octo_view_rules(r->port, 0, rules, RTE_DIM(rules), &total);
	unsigned int nb_steered = 0;

	for (int i = 0; i < nb; i++) {
		const unsigned int f = rte_be_to_cpu_16(rules[i].tuple.src_port) -
				       RANDOM_FIRST_PORT - RANDOM_FLOWS;

		if (f >= RANDOM_FREE || rules[i].learned)
			continue;
		nb_steered++;
		assert_true(r->steered[f]);
	}
	return nb_steered;
}

/* Flows of which no rule is made by ethdev. */
void
random_op_steer(void)
{
	const unsigned int i = random_below(RANDOM_FREE / 2);
	struct rte_pmd_octo_tuple tuple;
	struct rte_flow_error error;
	int ret;

	assert_int_equal(rte_pmd_octo_tuple_read(&tuple, "udp", "10.0.0.1",
						 RANDOM_FIRST_PORT + RANDOM_FLOWS + i, "10.0.0.2",
						 9, NULL),
			 0);
	if (!r->steered[i]) {
		ret = rte_pmd_octo_steer_add(r->port, &tuple, random_below(RANDOM_QUEUES), &error);
		random_say("steer %u: %d", i, ret);
		r->steered[i] = ret == 0;
	} else if (random_one_in(2)) {
		ret = rte_pmd_octo_steer_move(r->port, &tuple, random_below(RANDOM_QUEUES), &error);
		random_say("steered %u moves: %d", i, ret);
	} else if (random_one_in(4)) {
		ret = rte_pmd_octo_steer_remove_all(r->port, &error);
		random_say("steer none: %d", ret);
		if (ret >= 0)
			memset(r->steered, 0, sizeof(r->steered));
	} else {
		ret = rte_pmd_octo_steer_remove(r->port, &tuple, &error);
		random_say("steered %u is removed: %d", i, ret);
		r->steered[i] = ret != 0 && ret != -ENOENT;
	}
}
