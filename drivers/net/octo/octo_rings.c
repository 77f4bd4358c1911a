/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sizes of Rx rings: many PMDs keep theirs filled with mbufs, and a queue has one on each PF. See
 * octo_ring_plan.h.
 */

#include <inttypes.h>

#include <rte_spinlock.h>

#include "octo_private.h"
#include "octo_ring_plan.h"

/*
 * Mbufs in the rings of each octo port of this process, by pool, as ports may share one. A port
 * for which the table has no free entry is not counted by the others.
 */
static struct use {
	const struct rte_mempool *pool; /* NULL: free */
	uint16_t port_id;
	uint64_t mbufs;
} uses[4 * RTE_MAX_ETHPORTS];
/* A leaf lock: nothing else is taken under it. */
static rte_spinlock_t uses_lock = RTE_SPINLOCK_INITIALIZER;

static struct use *
use_of(const struct octo_dev *octo, const struct rte_mempool *pool)
{
	struct use *spare = NULL;

	for (unsigned int i = 0; i < RTE_DIM(uses); i++) {
		if (uses[i].pool == pool && uses[i].port_id == octo->port_id)
			return &uses[i];
		if (uses[i].pool == NULL && spare == NULL)
			spare = &uses[i];
	}
	return spare;
}

static uint64_t
used_by_others(const struct octo_dev *octo, const struct rte_mempool *pool)
{
	uint64_t mbufs = 0;

	rte_spinlock_lock(&uses_lock);
	for (unsigned int i = 0; i < RTE_DIM(uses); i++)
		if (uses[i].pool == pool && uses[i].port_id != octo->port_id)
			mbufs += uses[i].mbufs;
	rte_spinlock_unlock(&uses_lock);
	return mbufs;
}

static uint64_t
tx_rings(const struct octo_dev *octo)
{
	const struct octo_txq *q;
	uint64_t mbufs = 0;

	OCTO_FOREACH_TXQ(octo, q)
		mbufs += q->nb_desc;
	return mbufs;
}

static void
add_rings(const struct octo_rxq *q, const struct rte_mempool *pool, struct octo_ring_demand *demand)
{
	/* a PF that is not there yet will have rings, too */
	const uint32_t rings = octo_pools_count_rings(q, pool) + octo_pools_count_rings(q, NULL);

	demand->rings += rings;
	demand->rx += (uint64_t)rings * q->wanted_desc;
}

/* What the pool would have to hold, the queue among those that use it. */
static struct octo_ring_demand
demand_of(const struct octo_dev *octo, const struct octo_rxq *q, const struct rte_mempool *pool)
{
	struct octo_ring_demand demand = {
		.size = pool->size,
		.tx = tx_rings(octo),
		.others = used_by_others(octo, pool),
		.caches = (uint64_t)pool->cache_size * 3 / 2 * rte_lcore_count(),
	};
	const struct octo_rxq *other;

	add_rings(q, pool, &demand);
	OCTO_FOREACH_RXQ(octo, other)
		if (other->queue_id != q->queue_id)
			add_rings(other, pool, &demand);
	return demand;
}

static uint16_t
share_of(const struct octo_dev *octo, uint16_t wanted, const struct octo_ring_demand *demand)
{
	struct octo_ring_limits limits;
	struct rte_eth_dev_info info;

	if (octo_info_get(&rte_eth_devices[octo->port_id], &info) != 0)
		return wanted;
	limits.min = info.rx_desc_lim.nb_min;
	limits.align = info.rx_desc_lim.nb_align;
	return octo_ring_share(wanted, octo->nb_pfs, demand, &limits);
}

/*
 * The size that all pools of the queue allow. If that is not the full one, *small is the pool with
 * the least room, and *demand its demand.
 */
static uint16_t
find_size(const struct octo_dev *octo, const struct octo_rxq *q, const struct rte_mempool **small,
	  struct octo_ring_demand *demand)
{
	uint16_t size = q->wanted_desc;

	*small = NULL;
	for (uint16_t ring = 0; ring < octo_pools_nb_rings(q); ring++) {
		const struct rte_mempool *pool = octo_pools_of_ring(q, ring);
		struct octo_ring_demand other;
		uint16_t share;

		if (pool == NULL)
			continue;
		other = demand_of(octo, q, pool);
		if (octo_ring_has_room(&other))
			continue;
		share = share_of(octo, q->wanted_desc, &other);
		if (*small != NULL && share >= size)
			continue;
		size = share;
		*small = pool;
		*demand = other;
	}
	return size;
}

/* The size of the queue's rings. */
static uint16_t
plan(const struct octo_dev *octo, const struct octo_rxq *q)
{
	const struct rte_mempool *small;
	struct octo_ring_demand demand;

	if (octo->nb_pfs == 1 || octo->ring_mode == OCTO_RINGS_FULL)
		return q->wanted_desc;
	if (octo->ring_mode == OCTO_RINGS_SHARED)
		return share_of(octo, q->wanted_desc, NULL);
	return find_size(octo, q, &small, &demand);
}

static void
add_use(const struct octo_dev *octo, const struct octo_rxq *q, uint16_t ring)
{
	const struct rte_mempool *pool = octo_pools_of_ring(q, ring);
	struct use *use = use_of(octo, pool);

	if (use == NULL)
		return;
	if (use->pool == NULL)
		*use = (struct use){pool, octo->port_id, tx_rings(octo)};
	use->mbufs += (uint64_t)q->nb_desc * octo_pools_rings_like(q, ring);
}

void
octo_rings_publish_locked(const struct octo_dev *octo)
{
	const struct octo_rxq *q;

	rte_spinlock_lock(&uses_lock);
	for (unsigned int i = 0; i < RTE_DIM(uses); i++)
		if (uses[i].port_id == octo->port_id)
			uses[i] = (struct use){.pool = NULL};
	OCTO_FOREACH_RXQ(octo, q)
		for (uint16_t ring = 0; ring < octo_pools_nb_rings(q); ring++)
			if (octo_pools_of_ring(q, ring) != NULL)
				add_use(octo, q, ring);
	rte_spinlock_unlock(&uses_lock);
}

int
octo_rings_plan_locked(struct octo_dev *octo, struct octo_rxq *q)
{
	int i, ret;

	OCTO_FOREACH_PF(octo, i, OCTO_PORT_READY) {
		ret = octo_pools_get_locked(octo, &q->pools, (uint8_t)i);
		if (ret != 0)
			return ret;
	}
	q->nb_desc = plan(octo, q);
	return 0;
}

static void
log_shared(const struct octo_dev *octo, const struct octo_rxq *q)
{
	const struct rte_mempool *pool = NULL;
	struct octo_ring_demand demand;

	if (octo->ring_mode == OCTO_RINGS_AUTO)
		find_size(octo, q, &pool, &demand);
	if (pool == NULL)
		OCTO_LOG(INFO, "port %u: Rx rings have %u of %u descriptors on each of %u PFs",
			 octo->port_id, q->nb_desc, q->wanted_desc, octo->nb_pfs);
	else
		OCTO_LOG(NOTICE,
			 "port %u: Rx rings have %u of %u descriptors on each of %u PFs: pool %s "
			 "has %" PRIu64 " mbufs, and full Rx rings would take %" PRIu64
			 ", Tx rings %" PRIu64 ", caches %" PRIu64 ", other ports %" PRIu64
			 "; rx_rings=full has full ones nevertheless",
			 octo->port_id, q->nb_desc, q->wanted_desc, octo->nb_pfs, pool->name,
			 demand.size, demand.rx, demand.tx, demand.caches, demand.others);
	if (pool != NULL && (uint64_t)demand.rings * q->nb_desc > demand.size)
		OCTO_LOG(WARNING,
			 "port %u: mempool %s is too small even for these rings: enlarge it or "
			 "lessen nb_desc",
			 octo->port_id, pool->name);
}

static int
set_up_again(struct octo_dev *octo, struct octo_rxq *q)
{
	int ret = 0;
	int i;

	OCTO_FOREACH_PF(octo, i, OCTO_PORT_READY) {
		ret = octo_queue_setup_rx_leg_locked(octo, q, (uint8_t)i);
		if (ret == 0)
			continue;
		OCTO_LOG(ERR,
			 "port %u: PF %s cannot set up Rx queue %u again, of %u descriptors: %s",
			 octo->port_id, octo->pf[i].port->name, q->queue_id, q->nb_desc,
			 rte_strerror(-ret));
		return ret;
	}
	if (q->queue_id == 0 && octo_port_is(&octo->port[0], OCTO_PORT_READY))
		ret = octo_slices_set_up_idle_locked(octo, &octo->port[0]);
	return ret;
}

int
octo_rings_start_locked(struct octo_dev *octo)
{
	bool said = false;
	struct octo_rxq *q;
	int ret;

	OCTO_FOREACH_RXQ(octo, q) {
		const uint16_t before = q->nb_desc;

		q->nb_desc = plan(octo, q);
		ret = q->nb_desc == before ? 0 : set_up_again(octo, q);
		if (ret != 0) {
			/* the next start sets it up again */
			q->nb_desc = before;
			return ret;
		}
		if (q->nb_desc == q->wanted_desc || said)
			continue;
		log_shared(octo, q);
		said = true;
	}
	octo_rings_publish_locked(octo);
	return 0;
}
