/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <signal.h>

#include "octo_private.h"

bool octo_legs_borrowed;
int32_t octo_legs_process;

bool
octo_legs_may_be_dead(const RTE_ATOMIC(int32_t) * process)
{
	const int32_t id = rte_atomic_load_explicit(process, rte_memory_order_relaxed);

	return id != 0 && id != octo_legs_process && kill(id, 0) != 0 && errno == ESRCH;
}

/* By octo port: the last change of its legs that this process has seen. */
static RTE_ATOMIC(uint32_t) seen[RTE_MAX_ETHPORTS];

void
octo_legs_change(struct octo_dev *octo, uint32_t live)
{
	rte_atomic_store_explicit(&octo->legs.live, live, rte_memory_order_relaxed);
	/* pairs with the acquire in octo_legs_look() */
	rte_atomic_fetch_add_explicit(&octo->legs.changes, 1, rte_memory_order_release);
}

void
octo_legs_borrow(struct octo_dev *octo)
{
	octo_legs_borrowed = true;
	rte_atomic_fetch_add_explicit(&octo->legs.nb_borrowers, 1, rte_memory_order_relaxed);
	rte_atomic_store_explicit(&seen[octo->port_id], 0, rte_memory_order_release);
	octo_registry_add(octo);
}

const struct octo_dev *
octo_legs_return(uint16_t port_id, uint64_t owner_id)
{
	struct octo_dev *octo = octo_registry_remove(port_id, owner_id);

	if (octo != NULL)
		rte_atomic_fetch_sub_explicit(&octo->legs.nb_borrowers, 1,
					      rte_memory_order_relaxed);
	return octo;
}

/* May run in several threads at once: all of them store the same values. */
void
octo_legs_look(const struct octo_dev *octo)
{
	RTE_ATOMIC(uint32_t) *mine = &seen[octo->port_id];
	const uint32_t now = rte_atomic_load_explicit(&octo->legs.changes,
						      rte_memory_order_acquire);
	uint32_t live;

	/* pairs with the release below, in another thread */
	if (likely(now == rte_atomic_load_explicit(mine, rte_memory_order_acquire)))
		return;
	live = rte_atomic_load_explicit(&octo->legs.live, rte_memory_order_relaxed);
	for (uint8_t leg = 0; leg < octo->nb_pfs; leg++)
		if (live & RTE_BIT32(leg))
			octo_lower_refresh_queues(octo->pf[leg].port->port_id);
	rte_atomic_store_explicit(mine, now, rte_memory_order_release);
}
