/* SPDX-License-Identifier: BSD-3-Clause */

/* The flows of a queue follow it to its home, in slices: others get the mutex in between. */

#include <errno.h>

#include <rte_cycles.h>

#include "octo_clock.h"
#include "octo_private.h"

/* So many rules, or for so long, follow their queue at once: then others get the mutex. */
#define SLICE_RULES 64
#define SLICE_US 50

/* Of octo_rxq.rules_home: the rules are on their way, some lead here and some there. */
#define REHOMING (OCTO_NO_PF - 1)
/* How soon flows that could not follow their queue are tried again. */
#define REHOME_RETRY_MS 100u
/* A full table may stay full, and every try asks for every flow. */
#define REHOME_RETRY_MAX_MS 3200u

static void
rehome_rule(struct octo_dev *octo, struct rte_flow *rule, struct octo_rehoming *r)
{
	if (rule->pf == OCTO_NO_PF)
		r->failed += octo->mpfs_ops->insert(octo, rule, r->home, NULL) != 0;
	else
		r->failed += octo->mpfs_ops->flip(octo, rule, r->home, NULL) != 0;
	octo_rule_notes_moved(octo, rule);
}

static bool
must_rehome(const struct rte_flow *rule, uint8_t home)
{
	return !octo_rule_leads_to(rule, home) && !rule->pending;
}

/*
 * The flows of a queue go to its new home, some of them now: 0 if it was all of
 * them, -EAGAIN if there are more, or -EBUSY if they must wait for another change of
 * their path. In rehoming[queue] is how many could not go.
 */
static int
rehome(struct octo_dev *octo, uint16_t queue, uint8_t home)
{
	struct octo_rehoming *r = &octo->rehoming[queue];
	uint64_t end = octo_deadline(SLICE_US);
	unsigned int n = 0;
	int ret;

	if (!r->under_way || r->home != home)
		*r = (struct octo_rehoming){.under_way = true,
					    .home = home,
					    .next = TAILQ_FIRST(&octo->queue_rules[queue])};
	if (!octo_tier_has_mpfs(octo->tier))
		r->next = NULL;
	while (r->next != NULL && n < SLICE_RULES && octo_now() < end) {
		struct rte_flow *rule = r->next;

		if (must_rehome(rule, home)) {
			ret = octo_fence_arm_home_locked(octo, queue, home);
			if (ret != 0)
				return ret;
			/* that may have taken as long as a burst does */
			if (n++ == 0)
				end = octo_deadline(SLICE_US);
			rehome_rule(octo, rule, r);
		}
		r->next = TAILQ_NEXT(rule, next_of_queue);
	}
	octo_fence_flipped_locked(octo, queue);
	r->under_way = r->next != NULL;
	return r->under_way ? -EAGAIN : 0;
}

/* A flow that cannot follow strays, but arrives: said once, and tried again later. */
static void
end_rehome(struct octo_dev *octo, struct octo_rxq *q, uint8_t home)
{
	const unsigned int failed = octo->rehoming[q->queue_id].failed;

	if (failed == 0) {
		q->rules_home = home;
		q->rehome_retry = 0;
		q->rehome_pause = 0;
		octo->fences.rehomes++;
		return;
	}
	q->rules_home = OCTO_NO_PF;
	if (q->rehome_retry == 0)
		OCTO_LOG(WARNING, "port %u: %u flows of queue %u do not follow it to PF %s yet",
			 octo->port_id, failed, q->queue_id, octo->pf[home].name);
	q->rehome_pause = RTE_MIN(RTE_MAX(2 * q->rehome_pause, REHOME_RETRY_MS),
				  REHOME_RETRY_MAX_MS);
	q->rehome_retry = octo_now() + rte_get_timer_hz() * q->rehome_pause / MS_PER_S;
}

/* Some of the flows of a queue follow it to its home. Returns whether more could at once. */
static bool
follow_home(struct octo_dev *octo, struct octo_rxq *q)
{
	const uint8_t home = octo_topo_home_of(octo, q->queue_id);
	int ret;

	if (home == q->rules_home || octo_now() < q->rehome_retry)
		return false;
	/* whoever sets it to something else meanwhile wants all of them looked at again */
	if (q->rules_home != REHOMING)
		octo->rehoming[q->queue_id].under_way = false;
	q->rules_home = REHOMING;
	ret = rehome(octo, q->queue_id, home);
	if (ret == 0)
		end_rehome(octo, q, home);
	return ret == -EAGAIN;
}

/* See octo_home_rx(). A slice of each queue's flows: each is held up for one only. */
bool
octo_rehome_follow_locked(struct octo_dev *octo)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	bool more = false;

	for (uint16_t i = 0; i < data->nb_rx_queues; i++) {
		struct octo_rxq *q = data->rx_queues[i];

		if (q != NULL)
			more |= follow_home(octo, q);
	}
	return more;
}
