/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_CREDIT_H
#define OCTO_CREDIT_H

#include <stdint.h>

#include <rte_common.h>
#include <rte_cycles.h>

#include "octo_clock.h"

/**
 * @file
 * The time for which a port waits for another process while it holds its mutex: a short time for
 * each answer is free, and a peer has a limited credit for waits beyond that, so a slow one cannot
 * hold the port up again and again. Under the mutex.
 */

/** Free wait per answer, and the largest credit for waits beyond that. */
#define OCTO_CREDIT_FREE_MS 10
#define OCTO_CREDIT_MS 1000
/** One part in so many of the time that passes is given back as credit. */
#define OCTO_CREDIT_SHARE 20

struct octo_credit {
	uint64_t left; /**< in TSC cycles, as all times here */
	uint64_t at;   /**< when it was earned last */
};

static inline uint64_t
octo_credit_ms(unsigned int n)
{
	return rte_get_timer_hz() * n / MS_PER_S;
}

/** Give a new peer the full credit. */
static inline void
octo_credit_init(struct octo_credit *c)
{
	*c = (struct octo_credit){.left = octo_credit_ms(OCTO_CREDIT_MS), .at = octo_now()};
}

/** For how long may the port wait for the next answer? */
static inline uint64_t
octo_credit_may_wait(struct octo_credit *c)
{
	const uint64_t now = octo_now();

	c->left = RTE_MIN(c->left + (now - c->at) / OCTO_CREDIT_SHARE,
			  octo_credit_ms(OCTO_CREDIT_MS));
	c->at = now;
	return octo_credit_ms(OCTO_CREDIT_FREE_MS) + c->left;
}

/** The port has waited since then. */
static inline void
octo_credit_waited(struct octo_credit *c, uint64_t since)
{
	const uint64_t waited = octo_now() - since;
	const uint64_t free = octo_credit_ms(OCTO_CREDIT_FREE_MS);

	if (waited > free)
		c->left -= RTE_MIN(c->left, waited - free);
}

#endif /* OCTO_CREDIT_H */
