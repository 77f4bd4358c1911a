/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rehome: when a queue has a new home, its flows are led to that PF, in slices, so that
 * other threads get the mutex in between.
 */

#include <errno.h>

#include <rte_cycles.h>

#include "octo_clock.h"
#include "octo_private.h"

/* A slice of one queue ends after so many rules, or after this time. */
#define SLICE_RULES 64
#define SLICE_US 50

/*
 * Value of octo_rxq.rules_home during a rehome: some rules lead to the new home, some do
 * not.
 */
#define REHOMING (OCTO_NO_PF - 1)
/* Delay before flows that failed to rehome are retried the first time. */
#define REHOME_RETRY_MS 100u
/* Upper limit of the retry delay: a full table may stay full, and a retry tries every flow. */
#define REHOME_RETRY_MAX_MS 3200u

static void
rehome_rule(struct octo_dev *octo, struct rte_flow *rule, struct octo_rehoming *r)
{
	if (octo_rule_pf(octo, rule) == OCTO_NO_PF)
		r->failed += octo->mpfs_ops->insert(octo, rule, r->home, NULL) != 0;
	else
		r->failed += octo->mpfs_ops->flip(octo, rule, r->home, NULL) != 0;
	octo_rule_notes_moved(octo, rule);
}

static bool
must_rehome(const struct octo_dev *octo, const struct rte_flow *rule, uint8_t home)
{
	return !octo_rule_leads_to(octo, rule, home) && !rule->pending;
}

/*
 * Lead a slice of the queue's rules to its new home.
 *
 * Returns 0 when all rules were visited, -EAGAIN when some are left, or -EBUSY when another
 * fence of the queue has to close first. rehoming[queue].failed counts the rules that
 * failed.
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

		if (must_rehome(octo, rule, home)) {
			ret = octo_fence_arm_home_locked(octo, queue, home);
			if (ret != 0)
				return ret;
			/*
			 * Arming the fence may have waited for a burst: start the slice's time
			 * here.
			 */
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

/* A flow that failed to rehome arrives as a stray: log once, retry after a delay. */
static void
end_rehome(struct octo_dev *octo, struct octo_rxq *q, uint8_t home)
{
	const unsigned int failed = octo->rehoming[q->queue_id].failed;
	char name[OCTO_PF_NAME_MAX];

	if (failed == 0) {
		q->rules_home = home;
		q->rehome_retry = 0;
		q->rehome_pause = 0;
		octo->fences.rehomes++;
		return;
	}
	q->rules_home = OCTO_NO_PF;
	octo_pf_format(octo, home, name, sizeof(name));
	if (q->rehome_retry == 0)
		OCTO_LOG(WARNING, "port %u: %u flows of queue %u do not follow it to PF %s yet",
			 octo->port_id, failed, q->queue_id, name);
	q->rehome_pause = RTE_MIN(RTE_MAX(2 * q->rehome_pause, REHOME_RETRY_MS),
				  REHOME_RETRY_MAX_MS);
	q->rehome_retry = octo_now() + rte_get_timer_hz() * q->rehome_pause / MS_PER_S;
}

/* Rehome a slice of a queue's flows. Returns whether another slice can follow at once. */
static bool
follow_home(struct octo_dev *octo, struct octo_rxq *q)
{
	const uint8_t home = octo_topo_home_of(octo, q->queue_id);
	int ret;

	if (home == q->rules_home || octo_now() < q->rehome_retry)
		return false;
	/* rules_home was set to another value meanwhile: start again with the first rule */
	if (q->rules_home != REHOMING)
		octo->rehoming[q->queue_id].under_way = false;
	q->rules_home = REHOMING;
	ret = rehome(octo, q->queue_id, home);
	if (ret == 0)
		end_rehome(octo, q, home);
	return ret == -EAGAIN;
}

/*
 * One slice of each queue in turn, so no queue waits for all flows of another. See
 * octo_home_rx().
 */
bool
octo_rehome_follow_locked(struct octo_dev *octo)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	bool more = false;

	octo_assert_locked(octo);
	for (uint16_t i = 0; i < data->nb_rx_queues; i++) {
		struct octo_rxq *q = data->rx_queues[i];

		if (q != NULL)
			more |= follow_home(octo, q);
	}
	return more;
}
