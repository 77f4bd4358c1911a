/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sizes of Rx rings: many PMDs keep theirs filled with mbufs, and a queue has one on each PF. See
 * octo_ring_plan.h.
 */

#include <errno.h>
#include <inttypes.h>

#include "octo_private.h"
#include "octo_ring_plan.h"

/* Rings of a queue that are filled from the pool. */
static uint32_t
rings_of(const struct octo_dev *octo, const struct octo_rxq *q, const struct rte_mempool *pool)
{
	uint32_t rings = 0;

	/* a PF that is not there yet will have a ring, too */
	for (uint16_t pf = 0; pf < octo->nb_pfs; pf++)
		rings += q->pools.leg[pf] == pool || q->pools.leg[pf] == NULL;
	/* the rings of idle queues are like queue 0's */
	if (q->queue_id == 0 && q->pools.leg[0] == pool)
		rings += octo_slices_nb_idle(octo);
	return rings;
}

static uint64_t
tx_rings(const struct octo_dev *octo)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	uint64_t mbufs = 0;

	for (uint16_t i = 0; i < data->nb_tx_queues; i++) {
		const struct octo_txq *q = data->tx_queues[i];

		mbufs += q != NULL ? q->nb_desc : 0;
	}
	return mbufs;
}

static void
add_rings(const struct octo_dev *octo, const struct octo_rxq *q, const struct rte_mempool *pool,
	  struct octo_ring_demand *demand)
{
	const uint32_t rings = rings_of(octo, q, pool);

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
		.caches = (uint64_t)pool->cache_size * 3 / 2 * rte_lcore_count(),
	};
	const struct octo_rxq *other;

	add_rings(octo, q, pool, &demand);
	OCTO_FOREACH_RXQ(octo, other)
		if (other->queue_id != q->queue_id)
			add_rings(octo, other, pool, &demand);
	return demand;
}

/*
 * Does a pool of the queue lack room for full rings? Then *demand is that of the one with the
 * least room for a ring, *small.
 */
static bool
find_small(const struct octo_dev *octo, const struct octo_rxq *q, const struct rte_mempool **small,
	   struct octo_ring_demand *demand)
{
	*small = NULL;
	for (uint16_t pf = 0; pf < octo->nb_pfs; pf++) {
		const struct rte_mempool *pool = q->pools.leg[pf];
		struct octo_ring_demand other;

		if (pool == NULL)
			continue;
		other = demand_of(octo, q, pool);
		if (octo_ring_has_room(&other) || (*small != NULL && other.rings <= demand->rings))
			continue;
		*small = pool;
		*demand = other;
	}
	return *small != NULL;
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
	if (!find_small(octo, q, &small, &demand))
		return q->wanted_desc;
	return share_of(octo, q->wanted_desc, &demand);
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
	const struct rte_mempool *pool;
	struct octo_ring_demand demand;

	if (octo->ring_mode == OCTO_RINGS_SHARED || !find_small(octo, q, &pool, &demand))
		OCTO_LOG(INFO, "port %u: Rx rings have %u of %u descriptors on each of %u PFs",
			 octo->port_id, q->nb_desc, q->wanted_desc, octo->nb_pfs);
	else
		OCTO_LOG(NOTICE,
			 "port %u: Rx rings have %u of %u descriptors on each of %u PFs: pool %s "
			 "has %" PRIu64 " mbufs, and full Rx rings would take %" PRIu64
			 ", Tx rings %" PRIu64 ", caches %" PRIu64
			 "; rx_rings=full has full ones nevertheless",
			 octo->port_id, q->nb_desc, q->wanted_desc, octo->nb_pfs, pool->name,
			 demand.size, demand.rx, demand.tx, demand.caches);
}

static int
set_up_again(struct octo_dev *octo, struct octo_rxq *q)
{
	int ret = 0;
	int i;

	OCTO_FOREACH_PF(octo, i, OCTO_PORT_READY) {
		ret = octo_queue_setup_rx_leg_locked(octo, q, (uint8_t)i);
		if (ret != 0)
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
		if (ret != 0)
			return ret;
		if (q->nb_desc == q->wanted_desc || said)
			continue;
		log_shared(octo, q);
		said = true;
	}
	return 0;
}
