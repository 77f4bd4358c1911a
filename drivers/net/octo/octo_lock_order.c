/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdbool.h>
#include <stdlib.h>

#include <rte_debug.h>

#include "octo_lock_order.h"
#include "octo_log.h"

#ifdef OCTO_DEBUG_LOCKS

struct held {
	uint8_t rank; /* enum octo_lock_rank */
	uint16_t port_id;
	unsigned int depth;
};

/* The locks of this thread, in any order. A process that dies takes its bookkeeping along. */
static __thread struct held held[16];
static __thread unsigned int nb_held;

static const char *
name_of(uint8_t rank)
{
	static const char *const names[] = {
		[OCTO_RANK_REGISTRY] = "registry",
		[OCTO_RANK_CONTROL] = "control mutex",
		[OCTO_RANK_COUNTS] = "counts mutex",
	};

	return names[rank];
}

static struct held *
find(enum octo_lock_rank rank, uint16_t port_id)
{
	for (unsigned int i = 0; i < nb_held; i++)
		if (held[i].rank == rank && held[i].port_id == port_id)
			return &held[i];
	return NULL;
}

static void
end(void)
{
	rte_dump_stack();
	abort();
}

void
octo_lock_order_wait(enum octo_lock_rank rank, uint16_t port_id)
{
	if (rank >= OCTO_RANK_CONTROL && find(rank, port_id) != NULL)
		return;
	for (unsigned int i = 0; i < nb_held; i++) {
		if (held[i].rank < rank)
			continue;
		OCTO_LOG(EMERG,
			 "lock order: the %s of port %u is taken while the %s of port %u is held",
			 name_of(rank), port_id, name_of(held[i].rank), held[i].port_id);
		end();
	}
}

void
octo_lock_order_took(enum octo_lock_rank rank, uint16_t port_id)
{
	struct held *h = find(rank, port_id);

	if (h == NULL) {
		RTE_VERIFY(nb_held < RTE_DIM(held));
		h = &held[nb_held++];
		*h = (struct held){.rank = (uint8_t)rank, .port_id = port_id};
	}
	h->depth++;
}

void
octo_lock_order_left(enum octo_lock_rank rank, uint16_t port_id)
{
	struct held *h = find(rank, port_id);

	if (h == NULL) {
		OCTO_LOG(EMERG, "the %s of port %u is released, and is not held", name_of(rank),
			 port_id);
		end();
	}
	if (--h->depth == 0)
		*h = held[--nb_held];
}

void
octo_lock_order_need(uint16_t port_id, const char *function)
{
	if (find(OCTO_RANK_CONTROL, port_id) != NULL)
		return;
	OCTO_LOG(EMERG, "%s() is called without the %s of port %u", function,
		 name_of(OCTO_RANK_CONTROL), port_id);
	end();
}

#endif /* OCTO_DEBUG_LOCKS */
