/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTOSIM_AGE_H
#define OCTOSIM_AGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "octo_clock.h"

/**
 * @file
 * AGE actions: the pump notes when a rule was hit, and once a second somebody
 * looks which were not for too long.
 */

struct octosim_pf;
struct rte_eth_dev;
struct rte_flow_action_age;
struct rte_flow_error;
struct rte_flow_query_age;

/** Of a rule, or of all that use one indirect action. */
struct octosim_age {
	LIST_ENTRY(octosim_age) list;
	void *context;     /**< as given, or what the application holds */
	uint64_t last;     /**< TSC of the last hit; written under the NIC's lock */
	uint64_t timeout;  /**< in TSC cycles */
	uint32_t refs;     /**< rules, and a handle */
	uint64_t aged;     /**< the `last` for which the aging is news no more; 0: none */
	uint64_t reported; /**< the `last` for which the application was told; 0: none */
};

LIST_HEAD(octosim_ages, octosim_age);

static inline void
octosim_age_hit(struct octosim_age *age)
{
	age->last = octo_now();
}

/**
 * Start to watch. Without the NIC's lock.
 *
 * @return
 *   With one reference; NULL if there is no memory.
 */
struct octosim_age *
octosim_age_create(struct octosim_pf *pf, const struct rte_flow_action_age *conf);

/** Change the timeout, and start anew. Without the NIC's lock. */
void octosim_age_set(struct octosim_pf *pf, struct octosim_age *age, uint32_t seconds);

/** Give a reference back. Without the NIC's lock. */
void octosim_age_put(struct octosim_pf *pf, struct octosim_age *age);

/** Under the NIC's lock. */
void octosim_age_query(const struct octosim_age *age, struct rte_flow_query_age *query);

/** rte_flow_get_aged_flows() */
int octosim_age_get_aged(struct rte_eth_dev *dev, void **contexts, uint32_t n,
			 struct rte_flow_error *error);

#endif /* OCTOSIM_AGE_H */
