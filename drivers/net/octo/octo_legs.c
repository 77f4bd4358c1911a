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

/* By octo port, in a secondary. The lock is used as the registry's: octo_registry.c. */
static struct {
	struct octo_dev *octo;
	uint64_t owner_id; /* owner ids are unique */
} borrowed[RTE_MAX_ETHPORTS];
static pthread_rwlock_t borrowed_lock = PTHREAD_RWLOCK_INITIALIZER;

static void
write_lock(void)
{
	octo_lock_order_wait(OCTO_RANK_BORROWED, 0);
	pthread_rwlock_wrlock(&borrowed_lock);
}

static void
read_lock(void)
{
	pthread_rwlock_rdlock(&borrowed_lock);
	octo_lock_order_took(OCTO_RANK_BORROWED, 0);
}

void
octo_legs_borrow(struct octo_dev *octo)
{
	octo_legs_borrowed = true;
	write_lock();
	borrowed[octo->port_id].octo = octo;
	borrowed[octo->port_id].owner_id = octo->owner_id;
	rte_atomic_fetch_add_explicit(&octo->legs.nb_borrowers, 1, rte_memory_order_relaxed);
	pthread_rwlock_unlock(&borrowed_lock);
	rte_atomic_store_explicit(&seen[octo->port_id], 0, rte_memory_order_release);
}

const struct octo_dev *
octo_legs_return(uint16_t port_id, uint64_t owner_id)
{
	struct octo_dev *octo = NULL;

	if (port_id >= RTE_MAX_ETHPORTS)
		return NULL;
	write_lock();
	if (borrowed[port_id].owner_id == owner_id)
		octo = borrowed[port_id].octo;
	if (octo != NULL) {
		rte_atomic_fetch_sub_explicit(&octo->legs.nb_borrowers, 1,
					      rte_memory_order_relaxed);
		borrowed[port_id].octo = NULL;
	}
	pthread_rwlock_unlock(&borrowed_lock);
	return octo;
}

struct octo_dev *
octo_legs_hold(uint16_t port_id)
{
	struct octo_dev *octo;

	if (port_id >= RTE_MAX_ETHPORTS)
		return NULL;
	read_lock();
	octo = borrowed[port_id].octo;
	if (octo == NULL)
		octo_legs_unhold();
	return octo;
}

void
octo_legs_unhold(void)
{
	octo_lock_order_left(OCTO_RANK_BORROWED, 0);
	pthread_rwlock_unlock(&borrowed_lock);
}

void
octo_legs_foreach_borrowed(void (*fn)(struct octo_dev *octo, uint16_t arg), uint16_t arg)
{
	read_lock();
	for (unsigned int i = 0; i < RTE_DIM(borrowed); i++)
		if (borrowed[i].octo != NULL)
			fn(borrowed[i].octo, arg);
	octo_legs_unhold();
}

uint32_t
octo_legs_nb_borrowers(const struct octo_dev *octo)
{
	return rte_atomic_load_explicit(&octo->legs.nb_borrowers, rte_memory_order_relaxed);
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
