/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Lingering rules: destroyed, but still on the PFs. A rule lingers for a short time, as the
 * next rule of its flow often follows at once: that one is its replacement, and the flow
 * moves from queue to queue in order (octo_move.c). A learned rule lingers when the
 * application creates a rule of its own for the flow.
 *
 * Only this file and octo_rule_end.c handle them.
 */

#include "octo_agent.h"
#include "octo_clock.h"
#include "octo_private.h"

/* For the grace time of a batch, and as times are whole milliseconds. */
#define MARGIN_MS 2

static uint32_t
index_of(const struct octo_tuple *tuple)
{
	return octo_tuple_hash(tuple, 0) % OCTO_LINGERING_BUCKETS;
}

static struct octo_rules *
bucket_of(struct octo_dev *octo, const struct octo_tuple *tuple)
{
	return &octo->lingering.by_tuple[index_of(tuple)];
}

/* Take the rule off the lists; the caller owns it then. */
void
octo_rule_linger_take_locked(struct octo_dev *octo, struct rte_flow *rule)
{
	octo_assert_locked(octo);
	TAILQ_REMOVE(&octo->lingering.rules, rule, next);
	TAILQ_REMOVE(bucket_of(octo, &rule->tuple), rule, next_of_queue);
	octo->lingering.nb--;
	octo->lingering.stale_until[index_of(&rule->tuple)] = octo_now_ms() +
							      octo->fences.settings.timeout_ms +
							      MARGIN_MS;
}

static void
end(struct octo_dev *octo, struct rte_flow *rule)
{
	octo_rule_linger_take_locked(octo, rule);
	octo_fanout_end_locked(octo, rule);
}

/*
 * Linger only if a packet of the flow may be under way, and the PFs can be told to move the
 * flow.
 */
static bool
may_linger(const struct octo_dev *octo, const struct rte_flow *rule)
{
	const struct octo_rxq *q;

	if (!octo->started || !octo_rule_has_tuple(rule) || rule->generic || rule->by_table ||
	    octo->agent_queues || octo->agent_resyncing || octo_mpfs_agent_is_asked(octo, rule))
		return false;
	q = octo_data(octo)->rx_queues[rule->queue];
	return q != NULL && q->tracking.node >= 0;
}

/*
 * Make the rule linger. Returns false, and leaves the rule as it was, if it cannot. If
 * there are too many, the oldest ends.
 */
bool
octo_rule_linger_locked(struct octo_dev *octo, struct rte_flow *rule)
{
	octo_assert_locked(octo);
	if (!may_linger(octo, rule))
		return false;
	if (octo->lingering.nb == OCTO_LINGERING_MAX)
		end(octo, TAILQ_FIRST(&octo->lingering.rules));
	octo_rule_store_delist_locked(octo, rule);
	/* a creation that waits in octo_mpfs_agent_await_locked() sees it as freed */
	if (octo->agent != NULL)
		octo_agent_forget(octo->agent, rule);
	octo_rule_ext_drop(octo, rule);
	rule->installed = (uint32_t)octo_now_ms();
	TAILQ_INSERT_TAIL(&octo->lingering.rules, rule, next);
	TAILQ_INSERT_TAIL(bucket_of(octo, &rule->tuple), rule, next_of_queue);
	octo->lingering.nb++;
	return true;
}

/*
 * End all lingering rules at once: their room, or what they match, is needed. Returns
 * whether there were any.
 */
bool
octo_rule_linger_end_locked(struct octo_dev *octo)
{
	const bool any = octo->lingering.nb > 0;

	octo_assert_locked(octo);
	while (octo->lingering.nb > 0)
		end(octo, TAILQ_FIRST(&octo->lingering.rules));
	return any;
}

/* The switch was reset: it leads none of their flows. */
void
octo_rule_linger_forget_switch(struct octo_dev *octo)
{
	struct rte_flow *rule;

	TAILQ_FOREACH(rule, &octo->lingering.rules, next)
		octo_fanout_unlead(rule);
}

/* Does the switch lead the flow of any lingering rule to this PF? */
bool
octo_rule_linger_leads_to_locked(const struct octo_dev *octo, uint8_t pf)
{
	const struct rte_flow *rule;

	TAILQ_FOREACH(rule, &octo->lingering.rules, next)
		if (octo_rule_pf(octo, rule) == pf)
			return true;
	return false;
}

static struct rte_flow *
find(struct octo_dev *octo, const struct octo_tuple *tuple)
{
	struct rte_flow *rule;

	if (octo->lingering.nb == 0)
		return NULL;
	TAILQ_FOREACH(rule, bucket_of(octo, tuple), next_of_queue)
		if (octo_tuple_equal(&rule->tuple, tuple))
			return rule;
	return NULL;
}

/* The queue of the lingering rule with this tuple, or -1 if there is none. */
int
octo_rule_linger_queue_locked(struct octo_dev *octo, const struct octo_tuple *tuple)
{
	const struct rte_flow *rule = find(octo, tuple);

	octo_assert_locked(octo);
	return rule == NULL ? -1 : rule->queue;
}

/*
 * May the sample be of a packet that a lingering rule led to its queue, and has the rule ended
 * since? Such packets come until the fence is closed, at the latest when its source has been
 * silent for long. It is also true of other flows of the bucket: one that is in the queue of RSS
 * is learned all the same, see is_of_lingering(), and any other strays until a later sample.
 */
bool
octo_rule_linger_is_stale_locked(const struct octo_dev *octo, const struct octo_sample *s)
{
	octo_assert_locked(octo);
	return s->when <= octo->lingering.stale_until[index_of(&s->tuple)];
}

/* A replacement takes over the flow of a lingering rule. */
struct replacement {
	struct octo_move move;
	struct rte_flow *old;
	struct rte_flow *new;
	uint32_t had;   /* mask of PFs that had the old rule */
	bool new_leads; /* the flow is led by the replacement's MPFS rule */
	struct octo_pf_rule from;
	struct octo_pf_rule to;
};

/* Swap the rules on one PF. Never in place: the replacement has counters of its own. */
static int
change(struct octo_move *m, uint8_t pf, bool back, struct rte_flow_error *error)
{
	struct replacement *s = container_of(m, struct replacement, move);
	struct octo_handle *gone = back ? &s->new->arfs[pf] : &s->old->arfs[pf];
	struct octo_handle *come = back ? &s->old->arfs[pf] : &s->new->arfs[pf];
	int ret = 0;

	if (!octo_port_is(&m->octo->port[pf], OCTO_PORT_RUNNING))
		return 0;
	if (back && !(s->had & RTE_BIT32(pf)))
		octo_replace_by_none(m->octo, pf, gone);
	else
		ret = octo_replace_anew(m->octo, pf, gone, back ? &s->to : &s->from,
					back ? &s->from : &s->to, error);
	if (ret == 0) {
		*come = *gone;
		*gone = (struct octo_handle){0};
	}
	return ret;
}

/*
 * Hand over the MPFS rule. A learned one has another priority, so it is made to look stale
 * and is inserted again.
 */
static void
hand_over(struct rte_flow *from, struct rte_flow *to)
{
	const bool was_learned = from->origin == OCTO_BY_LEARNING;
	const bool is_learned = to->origin == OCTO_BY_LEARNING;

	to->lead = from->lead;
	if (was_learned != is_learned)
		to->lead.pf_life = OCTO_LIFE_NONE;
	octo_fanout_unlead(from);
}

static void
follow(struct octo_move *m, uint16_t from, uint16_t to)
{
	struct replacement *s = container_of(m, struct replacement, move);
	const bool back = s->new_leads;

	/* `from` does not tell the direction: both queues may be the same */
	RTE_SET_USED(from);
	s->new_leads = !back;
	hand_over(back ? s->new : s->old, back ? s->old : s->new);
	octo_move_lead_locked(m, back ? s->old : s->new, to);
}

static int
replace(struct octo_dev *octo, struct rte_flow *old, struct rte_flow *new)
{
	const struct octo_rule_spec before = octo_fanout_spec_of(octo, old);
	struct octo_rule_spec after = octo_fanout_spec_of(octo, new);
	struct replacement s = {
		.move = {.octo = octo,
			 .from = old->queue,
			 .to = new->queue,
			 .home = octo_move_home_locked(octo, old, new->queue),
			 .users = 1,
			 .change = change,
			 .follow = follow},
		.old = old,
		.new = new,
	};
	int ret = octo_fanout_write(octo, &before, &s.from, NULL);

	after.pf = s.move.home;

	if (ret == 0)
		ret = octo_fanout_write(octo, &after, &s.to, NULL);
	for (uint8_t pf = 0; pf < octo->nb_ports; pf++)
		s.had |= octo_rule_on(octo, old, pf) != NULL ? RTE_BIT32(pf) : 0;
	return ret == 0 ? octo_move_locked(&s.move, NULL) : ret;
}

/* A learned rule is not on the PFs, so it cannot replace another. */
static bool
may_replace(const struct rte_flow *old, const struct rte_flow *new)
{
	return new->origin != OCTO_BY_LEARNING &&
	       (old->priority == new->priority || old->origin == OCTO_BY_LEARNING);
}

/*
 * Let a new rule take over the flow of the lingering rule with its tuple. Returns false if
 * there was none, or if the PFs refused; the old rule has ended in any case.
 */
bool
octo_rule_linger_replace_locked(struct octo_dev *octo, struct rte_flow *new)
{
	struct rte_flow *old = find(octo, &new->tuple);
	int ret = -EINVAL;

	if (old == NULL)
		return false;
	/* off the list first: making room ends only the others */
	octo_rule_linger_take_locked(octo, old);
	if (may_replace(old, new))
		ret = replace(octo, old, new);
	if (octo_rule_says_full(ret) && octo_rule_linger_end_locked(octo))
		ret = replace(octo, old, new);
	octo_fanout_end_locked(octo, old);
	return ret == 0;
}
