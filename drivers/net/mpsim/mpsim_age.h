/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_AGE_H
#define MPSIM_AGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "octo_clock.h"

/**
 * @file
 * AGE actions: the pump records the last hit of a rule, and an alarm once a second looks for
 * timeouts.
 */

struct mpsim_pf;
struct rte_eth_dev;
struct rte_flow_action_age;
struct rte_flow_error;
struct rte_flow_query_age;

/** Age of a rule, or of all rules with one indirect action. */
struct mpsim_age {
	LIST_ENTRY(mpsim_age) list;
	void *context;     /**< from the action, or the handle that the application has */
	uint64_t last;     /**< TSC of the last hit; written under the NIC's lock */
	uint64_t timeout;  /**< in TSC cycles */
	uint32_t refs;     /**< rules, and an indirect action's handle */
	uint64_t aged;     /**< value of `last` for which the event was handled; 0: none */
	uint64_t reported; /**< value of `last` for which the flow was reported; 0: none */
};

LIST_HEAD(mpsim_ages, mpsim_age);

static inline void
mpsim_age_hit(struct mpsim_age *age)
{
	age->last = octo_now();
}

/**
 * Start an age. Without the NIC's lock.
 *
 * @return
 *   An age with one reference, or NULL without memory.
 */
struct mpsim_age *mpsim_age_create(struct mpsim_pf *pf, const struct rte_flow_action_age *conf);

/** Set the timeout, and restart the age. Without the NIC's lock. */
void mpsim_age_set(struct mpsim_pf *pf, struct mpsim_age *age, uint32_t seconds);

/** Drop a reference. Without the NIC's lock. */
void mpsim_age_put(struct mpsim_pf *pf, struct mpsim_age *age);

/** Under the NIC's lock. */
void mpsim_age_query(const struct mpsim_age *age, struct rte_flow_query_age *query);

/** rte_flow_get_aged_flows() */
int mpsim_age_get_aged(struct rte_eth_dev *dev, void **contexts, uint32_t n,
		       struct rte_flow_error *error);

#endif /* MPSIM_AGE_H */
