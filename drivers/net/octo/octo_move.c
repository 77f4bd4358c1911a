/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Moves of flows to another queue, and with it to another PF. The consumer of the new queue is
 * held until that of the old queue has processed its packets (octo_fence.h). The home PF of the
 * new queue changes its rule first, then the switch leads the flows to that PF; the other PFs
 * change when no packets are on their way to them any more. So at any time a flow comes to a
 * queue by one PF only. See test/model/move.pml.
 */

#include <errno.h>

#include "octo_clock.h"
#include "octo_private.h"

/* Wait for the answer of an agent, if one is due: the next step depends on it. */
static int
settle(struct octo_dev *octo, struct rte_flow *rule)
{
	return octo->mpfs_ops->settle == NULL ? 0 : octo->mpfs_ops->settle(octo, rule);
}

/*
 * Make the switch lead the rule's flow to the new queue's home PF. Returns 0, or a negative
 * errno if it cannot.
 */
static int
lead_home(struct octo_move *m, struct rte_flow *rule)
{
	struct octo_dev *octo = m->octo;
	bool again;
	int ret;

	if (!octo->started || rule->pending || rule->rejected)
		return 0;
	/* the rule itself was changed; another leg of the same queue is a rehome's */
	if (octo->sliced && octo_rule_has_tuple(rule) && octo_rule_pf(octo, rule) != OCTO_NO_PF) {
		rule->lead = octo_fanout_lead(octo, m->home);
		return m->home == octo_topo_home_of(octo, rule->queue) ? 0 : -EBUSY;
	}
	if (!octo_tier_has_mpfs(octo->tier))
		return 0;
	/* it may be on its way to another PF */
	settle(octo, rule);
	if (octo_rule_leads_to(octo, rule, m->home))
		return 0;
	/* another leg of the same queue needs that queue's own HOME fence */
	if (m->from == m->to && octo_fence_arm_home_locked(octo, m->to, m->home) != 0)
		return -EBUSY;
	do {
		again = !rule->crowded;
		ret = octo_fanout_lead_to_locked(octo, rule, m->home);
		if (ret == 0)
			ret = settle(octo, rule);
	} while (ret != 0 && again && rule->crowded);
	return ret;
}

/* If the switch cannot lead the flow, it strays, and the control thread tries again. */
void
octo_move_lead_locked(struct octo_move *m, struct rte_flow *rule, uint16_t queue)
{
	const uint8_t before = octo_rule_pf(m->octo, rule);
	const uint8_t dialect = rule->lead.dialect;
	const uint16_t led_to = rule->lead.queue;

	if (lead_home(m, rule) != 0)
		octo_rule_store_mark_queue_locked(m->octo, queue);
	octo_rule_store_led_locked(m->octo, queue, m->home);
	m->rerouted |= octo_rule_pf(m->octo, rule) != before || rule->lead.dialect != dialect ||
		       rule->lead.queue != led_to;
	m->led += octo_rule_leads_to(m->octo, rule, m->home);
	octo_rule_ext_moved(m->octo, rule);
}

static void
move_rule(struct octo_move *m, struct rte_flow *rule, uint16_t queue)
{
	octo_rule_store_leave_queue(m->octo, rule);
	octo_rule_store_join_queue(m->octo, rule, queue);
	octo_move_lead_locked(m, rule, queue);
}

void
octo_move_await_grace(const struct octo_dev *octo)
{
	const uint64_t end = octo_now() + octo->grace_cycles;

	while (octo_gate_before(octo_now(), end))
		octo_sleep_us(1);
}

static int
change_others(struct octo_move *m, struct rte_flow_error *error)
{
	const uint8_t home = octo_port_index(m->octo, m->home);
	int ret = 0;
	int port;

	for (port = 0; port < m->octo->nb_ports; port++) {
		if (port == home)
			continue;
		ret = m->change(m, (uint8_t)port, false, error);
		if (ret != 0)
			break;
	}
	while (ret != 0 && --port >= 0)
		if (port != home)
			m->change(m, (uint8_t)port, true, NULL);
	return ret;
}

static void
follow(struct octo_move *m, uint16_t from, uint16_t to)
{
	m->led = 0;
	m->rerouted = false;
	m->follow(m, from, to);
	/* flows that come by other PFs change their queue when these PFs do */
	if (m->led == m->users)
		octo_fence_flipped_locked(m->octo, to);
	if (m->rerouted)
		octo_move_await_grace(m->octo);
}

/* A PF refused: move back, as a fenced move in the other direction. */
static void
go_back(struct octo_move *m)
{
	const uint8_t home = m->home;

	octo_fence_flipped_locked(m->octo, m->to);
	octo_fence_arm_move_locked(m->octo, m->to, m->from);
	m->home = octo_topo_home_of(m->octo, m->from);
	follow(m, m->to, m->from);
	m->change(m, octo_port_index(m->octo, home), true, NULL);
	octo_fence_flipped_locked(m->octo, m->from);
}

uint8_t
octo_move_home_locked(const struct octo_dev *octo, const struct rte_flow *rule, uint16_t to)
{
	const uint8_t pf = octo_rule_pf(octo, rule);
	const bool stays = octo->sliced && rule->queue == to && pf != OCTO_NO_PF;

	return stays ? pf : octo_topo_home_of(octo, to);
}

int
octo_move_locked(struct octo_move *m, struct rte_flow_error *error)
{
	int ret;

	octo_fence_arm_move_locked(m->octo, m->from, m->to);
	ret = m->change(m, octo_port_index(m->octo, m->home), false, error);
	if (ret == 0) {
		follow(m, m->from, m->to);
		ret = change_others(m, error);
		if (ret != 0)
			go_back(m);
	}
	octo_fence_flipped_locked(m->octo, m->to);
	if (ret != 0)
		rte_errno = -ret;
	return ret;
}

/* Move of one rule, which is replaced by another on each port. */
struct rule_move {
	struct octo_move move;
	struct rte_flow *rule;
	struct octo_pf_rule from;
	struct octo_pf_rule to;
};

static int
change_rule(struct octo_move *m, uint8_t port, bool back, struct rte_flow_error *error)
{
	struct rule_move *r = container_of(m, struct rule_move, move);

	return octo_replace_on_pf(m->octo, port, r->rule, back ? &r->to : &r->from,
				  back ? &r->from : &r->to, error);
}

static void
follow_rule(struct octo_move *m, uint16_t from, uint16_t to)
{
	struct rte_flow *rule = container_of(m, struct rule_move, move)->rule;

	RTE_SET_USED(from);
	if (octo_rule_has_tuple(rule))
		move_rule(m, rule, to);
}

/* A PF may have refused both the new rule and that of before: octo_sync.c looks at it. */
static void
put_back_lost(struct octo_dev *octo, struct rte_flow *rule, int ret)
{
	if (!octo_rule_has_tuple(rule)) {
		if (ret == 0)
			return;
		rule->ext->lost = true;
		octo_rule_store_mark_others_locked(octo);
	} else if (octo_fanout_lacking(octo, rule) != 0) {
		octo->sync.queue[rule->queue].lacking = true;
		octo_rule_store_mark_queue_locked(octo, rule->queue);
	}
}

int
octo_move_to_spec_locked(struct octo_dev *octo, struct rte_flow *rule,
			 const struct octo_rule_spec *spec, struct rte_flow_error *error)
{
	const struct octo_rule_spec old = octo_fanout_spec_of(octo, rule);
	struct octo_rule_spec new = *spec;
	struct rule_move r = {
		.move = {.octo = octo,
			 .from = rule->queue,
			 .to = spec->queue,
			 .home = octo_move_home_locked(octo, rule, spec->queue),
			 .users = 1,
			 .change = change_rule,
			 .follow = follow_rule},
		.rule = rule,
	};
	int ret = octo_fanout_write(octo, &old, &r.from, error);

	new.pf = r.move.home;
	if (ret == 0)
		ret = octo_fanout_write(octo, &new, &r.to, error);
	if (ret == 0)
		ret = octo_move_locked(&r.move, error);
	if (octo->started)
		put_back_lost(octo, rule, ret);
	return ret;
}

int
octo_move_exact_locked(struct octo_dev *octo, struct rte_flow *rule, uint16_t queue,
		       struct rte_flow_error *error)
{
	struct octo_rule_spec spec = octo_fanout_spec_of(octo, rule);

	spec.queue = queue;
	return octo_move_to_spec_locked(octo, rule, &spec, error);
}

/* Move of all flows of an indirect QUEUE action. */
struct handle_move {
	struct octo_move move;
	struct rte_flow_action_handle *handle;
	const struct rte_flow_action *old;
	const struct rte_flow_action *new;
};

static int
change_queue(struct octo_move *m, uint8_t port, bool back, struct rte_flow_error *error)
{
	struct handle_move *h = container_of(m, struct handle_move, move);

	return octo_indirect_update_on_pf(m->octo, h->handle, port, back ? h->old : h->new, error);
}

static void
follow_queue(struct octo_move *m, uint16_t from, uint16_t to)
{
	struct handle_move *h = container_of(m, struct handle_move, move);
	struct rte_flow *rule = TAILQ_FIRST(&m->octo->queue_rules[from]);

	/* rules would be appended to the same list and visited endlessly */
	if (from == to)
		return;
	while (rule != NULL) {
		struct rte_flow *next = TAILQ_NEXT(rule, next_of_queue);

		if (octo_rule_store_has_handle(rule, h->handle))
			move_rule(m, rule, to);
		rule = next;
	}
}

static uint16_t
queue_of(const struct rte_flow_action *action)
{
	return ((const struct rte_flow_action_queue *)action->conf)->index;
}

int
octo_move_indirect_locked(struct octo_dev *octo, struct rte_flow_action_handle *handle,
			  const struct rte_flow_action *old, const struct rte_flow_action *new,
			  struct rte_flow_error *error)
{
	struct handle_move h = {
		.move = {.octo = octo,
			 .from = queue_of(old),
			 .to = queue_of(new),
			 .home = octo_topo_home_of(octo, queue_of(new)),
			 .users = handle->users,
			 .change = change_queue,
			 .follow = follow_queue},
		.handle = handle,
		.old = old,
		.new = new,
	};

	return octo_move_locked(&h.move, error);
}
