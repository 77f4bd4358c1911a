/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * End of lingering rules that were not replaced. Without the rule, RSS chooses the flow's
 * queue, mostly another one, and order must be kept. First the PFs that the flow does not
 * use lose the rule, then the switch; after the grace time the last PF loses it. So the
 * flow's queue changes once, whichever PF the switch then sends it to.
 */

#include "octo_clock.h"
#include "octo_elapsed.h"
#include "octo_private.h"

/* A batch ends at this cost, or after this time; its fences are open meanwhile. */
#define BATCH_RULES 256
#define BATCH_US 250
/* Cost of a rule without an MPFS rule: all its PF rules are destroyed after the grace time. */
#define UNLED_COST 16

/* Record since when each poller's epoch has been unchanged. */
static void
track_pollers(struct octo_dev *octo, uint32_t now)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	struct octo_lingering *p = &octo->lingering;

	for (uint16_t i = 0; i < data->nb_rx_queues; i++) {
		struct octo_rxq *q = data->rx_queues[i];
		const uint32_t epoch = q == NULL ?
					       0 :
					       rte_atomic_load_explicit(&q->epoch.value,
									rte_memory_order_relaxed);

		if (p->tracked && p->poller[i].epoch == epoch)
			continue;
		p->poller[i].epoch = epoch;
		p->poller[i].since = now;
	}
	p->tracked = true;
}

/* A fence on such a queue would time out as well. */
static bool
is_silent(const struct octo_dev *octo, uint16_t queue, uint32_t now)
{
	return octo_elapsed_32(octo->lingering.poller[queue].since, now) >=
	       octo->fences.settings.timeout_ms;
}

static bool
must_hold(const struct octo_dev *octo, uint16_t from, uint16_t to, uint32_t now)
{
	return from != to && !is_silent(octo, from, now) && !is_silent(octo, to, now);
}

/* Can the move be fenced now, or need it no fence? */
static bool
can_hold(struct octo_dev *octo, uint16_t from, uint16_t to, uint32_t now)
{
	return !must_hold(octo, from, to, now) || octo_fence_can_arm_move_locked(octo, from, to);
}

static bool
hold(struct octo_dev *octo, uint16_t from, uint16_t to, uint32_t now)
{
	if (!can_hold(octo, from, to, now))
		return false;
	if (must_hold(octo, from, to, now))
		octo_fence_arm_move_locked(octo, from, to);
	return true;
}

/*
 * Hold the leg that the flow goes to without an MPFS rule: the default-PF rule's, else the
 * other of two PFs, else the transfer proxy PF's. The RETA's, if the PFs are slices of one port.
 */
static bool
hold_leg(struct octo_dev *octo, const struct rte_flow *rule, uint32_t now)
{
	const uint8_t known = octo->sliced ? octo_rss_pf_locked(octo, &rule->tuple) :
					     octo_default_pf_target(octo);
	const uint8_t from = octo_rule_pf(octo, rule);
	const uint8_t by_default = octo->nb_pfs == 2 ? !from :
				   octo->sliced      ? OCTO_NO_PF :
						       octo->proxy;
	const uint8_t to = known != OCTO_NO_PF ? known : by_default;

	if (from == OCTO_NO_PF || to == OCTO_NO_PF || to == from ||
	    is_silent(octo, rule->queue, now))
		return true;
	return octo_fence_arm_home_locked(octo, rule->queue, to) == 0;
}

/*
 * Fence all queues, or none, as the new queue is unknown. The rule's own queue is included,
 * for the change of the PF.
 */
static bool
hold_all(struct octo_dev *octo, const struct rte_flow *rule, uint32_t now)
{
	const uint16_t nb = octo_data(octo)->nb_rx_queues;

	for (uint16_t i = 0; i < nb; i++)
		if (!can_hold(octo, rule->queue, i, now))
			return false;
	if (!hold_leg(octo, rule, now))
		return false;
	for (uint16_t i = 0; i < nb; i++)
		hold(octo, rule->queue, i, now);
	return true;
}

static bool
hold_for(struct octo_dev *octo, const struct rte_flow *rule, uint32_t now)
{
	const int to = octo_rss_queue_locked(octo, &rule->tuple);

	if (to < 0)
		return hold_all(octo, rule, now);
	return to == rule->queue ? hold_leg(octo, rule, now) :
				   hold(octo, rule->queue, (uint16_t)to, now);
}

/* Remove the rule from the PFs that its flow does not use, and from the switch. */
static void
let_go(struct octo_dev *octo, struct rte_flow *rule)
{
	const uint8_t from = octo_rule_pf(octo, rule);

	for (uint8_t pf = 0; pf < octo->nb_ports; pf++)
		if (!octo->sliced && from != OCTO_NO_PF && pf != from)
			octo_replace_by_none(octo, pf, &rule->arfs[pf]);
	if (octo->mpfs_ops != NULL)
		octo->mpfs_ops->remove(octo, rule, NULL);
}

/*
 * Has the rule lingered long enough? At once, if what led its flow was lost, or leads to a PF that
 * is not usable.
 */
static bool
is_due(const struct octo_dev *octo, const struct rte_flow *rule, uint32_t now)
{
	const uint8_t pf = rule->lead.pf;

	if (octo_elapsed_32(rule->installed, now) >= octo->fences.settings.linger_ms)
		return true;
	return pf != OCTO_NO_PF &&
	       (!octo_rule_leads_to(octo, rule, pf) || !(octo->plan.usable & RTE_BIT32(pf)));
}

/* Take rules that are due, or all, and can be fenced now, oldest first. */
static void
take_batch(struct octo_dev *octo, struct octo_rules *batch, bool all, uint32_t now)
{
	const uint64_t end = octo_deadline(BATCH_US);
	struct rte_flow *rule = TAILQ_FIRST(&octo->lingering.rules);
	unsigned int n = 0;

	while (rule != NULL && n < BATCH_RULES && octo_now() < end) {
		struct rte_flow *next = TAILQ_NEXT(rule, next);

		if ((all || is_due(octo, rule, now)) && hold_for(octo, rule, now)) {
			octo_rule_linger_take_locked(octo, rule);
			n += octo_rule_pf(octo, rule) == OCTO_NO_PF ? UNLED_COST : 1;
			let_go(octo, rule);
			TAILQ_INSERT_TAIL(batch, rule, next);
		}
		rule = next;
	}
}

/* Returns whether more rules linger and this call ended some. */
static bool
end_batch(struct octo_dev *octo, bool all)
{
	struct octo_rules batch = TAILQ_HEAD_INITIALIZER(batch);
	const uint32_t now = (uint32_t)octo_now_ms();
	struct rte_flow *rule;
	bool any;

	if (octo->lingering.nb == 0) {
		octo->lingering.tracked = false;
		return false;
	}
	track_pollers(octo, now);
	take_batch(octo, &batch, all, now);
	any = !TAILQ_EMPTY(&batch);
	if (any)
		octo_move_await_grace(octo);
	while ((rule = TAILQ_FIRST(&batch)) != NULL) {
		TAILQ_REMOVE(&batch, rule, next);
		octo_fanout_end_locked(octo, rule);
	}
	/* includes fences that were armed for a rule which could not end */
	octo_fence_flipped_all_locked(octo);
	return any && octo->lingering.nb > 0;
}

/* Called by the control thread. Returns as end_batch(). */
bool
octo_rule_end_tick_locked(struct octo_dev *octo)
{
	return end_batch(octo, false);
}

/* End all lingering rules, in order; those that cannot be fenced now end at once. */
void
octo_rule_end_all_locked(struct octo_dev *octo)
{
	while (end_batch(octo, true))
		continue;
	octo_rule_linger_end_locked(octo);
}
