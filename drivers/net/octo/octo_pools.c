/* SPDX-License-Identifier: BSD-3-Clause */

/* The mempool of each leg. */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <rte_mbuf.h>

#include "octo_private.h"

/*
 * Mapped or simulated nodes have no memory. For them the first pool is used for the node of the
 * first PF, the next pool for the next PF on another node, and so on.
 */
static uint16_t
nodes_of_pfs(const struct octo_dev *octo, int16_t *nodes)
{
	uint16_t nb = 0, first, second;

	for (uint16_t i = 0; i < octo->nb_pfs; i++) {
		nodes[nb++] = octo->pf[i].node;
		if (octo_plan_twins(nodes, nb, &first, &second))
			nb--;
	}
	return nb;
}

/* Without hugepages the node of a pool is unknown: then the requested one counts. */
static int16_t
node_of_pool(struct rte_mempool *pool)
{
	const int node = octo_home_of_pool(pool);

	return (int16_t)(node == -1 ? pool->socket_id : node);
}

static int
find_nodes(const struct octo_dev *octo, struct octo_pools *pools)
{
	uint16_t first, second, nb = OCTO_MAX_PFS;

	if (octo->mapped)
		nb = nodes_of_pfs(octo, pools->node);
	else
		for (uint16_t i = 0; i < pools->nb; i++)
			pools->node[i] = node_of_pool(pools->app[i]);
	if (pools->nb > nb) {
		OCTO_LOG(ERR, "port %u: %u Rx pools for PFs on %u sockets: one for each is right",
			 octo->port_id, pools->nb, nb);
		return -EINVAL;
	}
	if (octo_plan_twins(pools->node, pools->nb, &first, &second)) {
		OCTO_LOG(ERR,
			 "port %u: Rx pools %s and %s are both on socket %d: one for each is right",
			 octo->port_id, pools->app[first]->name, pools->app[second]->name,
			 pools->node[first]);
		return -EINVAL;
	}
	return 0;
}

static int
check_rooms(const struct octo_dev *octo, const struct octo_pools *pools)
{
	const uint16_t room = rte_pktmbuf_data_room_size(pools->app[0]);

	for (uint16_t i = 1; i < pools->nb; i++) {
		const uint16_t other = rte_pktmbuf_data_room_size(pools->app[i]);

		if (other == room)
			continue;
		OCTO_LOG(ERR,
			 "port %u: Rx pool %s has a data room of %u and %s of %u: equal is right",
			 octo->port_id, pools->app[0]->name, room, pools->app[i]->name, other);
		return -EINVAL;
	}
	return 0;
}

int
octo_pools_read_locked(const struct octo_dev *octo, const struct rte_eth_rxconf *conf,
		       struct rte_mempool *pool, struct octo_pools *pools)
{
	int ret;

	if (pool == NULL && conf->rx_nseg != 0)
		pool = conf->rx_seg[octo_segments_first(conf)].split.mp;
	*pools = (struct octo_pools){.nb = pool != NULL ? 1 : conf->rx_nmempool};
	/* ethdev has checked that there are no more than PFs */
	for (uint16_t i = 0; i < pools->nb; i++)
		pools->app[i] = pool != NULL ? pool : conf->rx_mempools[i];
	ret = find_nodes(octo, pools);
	return ret != 0 ? ret : check_rooms(octo, pools);
}

/* Could one of these pools be a clone of the other? */
static bool
are_alike(struct rte_mempool *a, struct rte_mempool *b)
{
	return a->size == b->size && a->elt_size == b->elt_size && a->cache_size == b->cache_size &&
	       a->ops_index == b->ops_index &&
	       rte_pktmbuf_priv_size(a) == rte_pktmbuf_priv_size(b) &&
	       rte_pktmbuf_data_room_size(a) == rte_pktmbuf_data_room_size(b);
}

/* Finds a clone on this node: one in use for the same pool, or an unused one that is alike. */
static struct octo_clone *
find_clone(const struct octo_dev *octo, struct rte_mempool *of, int16_t node)
{
	struct octo_clone *clone;

	LIST_FOREACH(clone, &octo->clones, next)
		if (clone->node == node && clone->legs != 0 && clone->of == of)
			return clone;
	LIST_FOREACH(clone, &octo->clones, next)
		if (clone->node == node && clone->legs == 0 && are_alike(clone->pool, of))
			return clone;
	return NULL;
}

/* A clone would lack external buffers, and private data of the application. */
static int
check_clonable(const struct octo_dev *octo, struct rte_mempool *pool)
{
	const char *why = NULL;

	if (rte_pktmbuf_priv_flags(pool) & RTE_PKTMBUF_POOL_F_PINNED_EXT_BUF)
		why = "its buffers are external";
	else if (pool->private_data_size >
		 RTE_ALIGN_CEIL(sizeof(struct rte_pktmbuf_pool_private), RTE_MEMPOOL_ALIGN))
		why = "the application keeps data in it";
	if (why == NULL)
		return 0;
	OCTO_LOG(ERR,
		 "port %u: pools=local cannot clone pool %s, as %s: give a pool for each socket",
		 octo->port_id, pool->name, why);
	return -EINVAL;
}

static struct rte_mempool *
make_pool(struct octo_dev *octo, struct rte_mempool *of, const struct octo_pf *pf)
{
	char name[RTE_MEMPOOL_NAMESIZE];
	struct rte_mempool *pool;

	snprintf(name, sizeof(name), "octo_p%u_n%d_%u", octo->port_id, pf->node,
		 octo->clones_made++);
	pool = rte_pktmbuf_pool_create_by_ops(name, of->size, of->cache_size,
					      rte_pktmbuf_priv_size(of),
					      rte_pktmbuf_data_room_size(of), pf->alloc_socket,
					      rte_mempool_get_ops(of->ops_index)->name);
	if (pool == NULL)
		OCTO_LOG(ERR,
			 "port %u: pools=local: no clone of pool %s (%u packets) on socket %d: %s",
			 octo->port_id, of->name, of->size, pf->alloc_socket,
			 rte_strerror(rte_errno));
	else
		OCTO_LOG(INFO, "port %u: pool %s is the clone of %s for socket %d", octo->port_id,
			 name, of->name, pf->node);
	return pool;
}

static struct octo_clone *
make_clone(struct octo_dev *octo, struct rte_mempool *of, const struct octo_pf *pf)
{
	struct octo_clone *clone;

	if (check_clonable(octo, of) != 0) {
		rte_errno = EINVAL;
		return NULL;
	}
	clone = calloc(1, sizeof(*clone));
	if (clone == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	clone->pool = make_pool(octo, of, pf);
	if (clone->pool == NULL) {
		free(clone);
		return NULL;
	}
	clone->node = pf->node;
	LIST_INSERT_HEAD(&octo->clones, clone, next);
	return clone;
}

static int
get_clone(struct octo_dev *octo, struct rte_mempool **pool, const struct octo_pf *pf)
{
	struct octo_clone *clone = find_clone(octo, *pool, pf->node);

	if (clone == NULL)
		clone = make_clone(octo, *pool, pf);
	if (clone == NULL)
		return -rte_errno;
	clone->of = *pool;
	clone->legs++;
	*pool = clone->pool;
	return 0;
}

int
octo_pools_get_locked(struct octo_dev *octo, struct octo_pools *pools, uint8_t pf)
{
	const struct octo_pf *p = &octo->pf[pf];
	const int nearest = octo_plan_nearest(pools->node, pools->nb, p->node,
					      octo_home_distance(octo));
	struct rte_mempool *pool = pools->app[nearest];
	int ret;

	octo_pools_put_locked(octo, pools, pf);
	if (octo->clone_pools && p->node >= 0 && pools->node[nearest] != p->node) {
		ret = get_clone(octo, &pool, p);
		if (ret != 0)
			return ret;
	}
	pools->leg[pf] = pool;
	pools->leg_node[pf] = (int16_t)octo_home_of_pool(pool);
	return 0;
}

void
octo_pools_put_locked(struct octo_dev *octo, struct octo_pools *pools, uint8_t pf)
{
	struct octo_clone *clone;

	LIST_FOREACH(clone, &octo->clones, next)
		if (clone->pool == pools->leg[pf])
			clone->legs--;
	pools->leg[pf] = NULL;
}

uint16_t
octo_pools_nb_rings(const struct octo_rxq *q)
{
	return q->octo->nb_pfs * RTE_MAX(q->conf.rx_nseg, 1);
}

struct rte_mempool *
octo_pools_of_ring(const struct octo_rxq *q, uint16_t ring)
{
	const uint16_t pf = ring % q->octo->nb_pfs, segment = ring / q->octo->nb_pfs;

	if (q->conf.rx_nseg == 0 || segment == octo_segments_first(&q->conf))
		return q->pools.leg[pf];
	return q->seg[segment].split.mp;
}

static bool
is_discarded(const struct octo_rxq *q, uint16_t ring)
{
	return q->conf.rx_nseg != 0 && q->seg[ring / q->octo->nb_pfs].split.mp == NULL;
}

uint32_t
octo_pools_rings_like(const struct octo_rxq *q, uint16_t ring)
{
	if (q->queue_id != 0 || ring % q->octo->nb_pfs != 0 || octo_pools_of_ring(q, ring) == NULL)
		return 1;
	return 1 + octo_slices_nb_idle(q->octo);
}

uint32_t
octo_pools_count_rings(const struct octo_rxq *q, const struct rte_mempool *pool)
{
	uint32_t rings = 0;

	for (uint16_t i = 0; i < octo_pools_nb_rings(q); i++)
		if (octo_pools_of_ring(q, i) == pool && !is_discarded(q, i))
			rings += octo_pools_rings_like(q, i);
	return rings;
}

static void
warn_if_small(const struct octo_dev *octo, const struct octo_rxq *q, const struct rte_mempool *pool)
{
	const struct octo_rxq *other;
	uint64_t need = 0, before;

	/* mbufs that the legs take from the pool to fill their rings */
	OCTO_FOREACH_RXQ(octo, other)
		need += (uint64_t)other->nb_desc * octo_pools_count_rings(other, pool);
	before = need - (uint64_t)q->nb_desc * octo_pools_count_rings(q, pool);
	/* warn only once, not for each queue that follows */
	if (before > pool->size || need <= pool->size)
		return;
	OCTO_LOG(WARNING,
		 "port %u: mempool %s has %u mbufs, and the Rx rings up to queue %u take %" PRIu64
		 ": each queue fills a ring on each of %u PFs; enlarge the pool or lessen nb_desc",
		 octo->port_id, pool->name, pool->size, q->queue_id, need, octo->nb_pfs);
}

void
octo_pools_warn_small_locked(const struct octo_dev *octo, const struct octo_rxq *q)
{
	for (uint16_t ring = 0; ring < octo_pools_nb_rings(q); ring++) {
		const struct rte_mempool *pool = octo_pools_of_ring(q, ring);
		bool seen = pool == NULL;

		for (uint16_t before = 0; before < ring; before++)
			seen |= octo_pools_of_ring(q, before) == pool;
		if (!seen)
			warn_if_small(octo, q, pool);
	}
}

static void
free_clone(struct octo_clone *clone)
{
	LIST_REMOVE(clone, next);
	rte_mempool_free(clone->pool);
	free(clone);
}

/* A queue that could not be set up on all PFs has no legs, but ethdev takes it from no PF. */
static bool
is_on_a_pf(const struct octo_dev *octo, const struct rte_mempool *pool)
{
	int i;

	/* also of one whose configuration was forgotten because another PF refused its own */
	OCTO_FOREACH_PORT(octo, i, OCTO_PORT_IDLE)
		if (octo_lower_may_have_pool(octo->port[i].port_id, pool))
			return true;
	return false;
}

void
octo_pools_sweep_locked(struct octo_dev *octo)
{
	struct octo_clone *clone, *next;

	for (clone = LIST_FIRST(&octo->clones); clone != NULL; clone = next) {
		next = LIST_NEXT(clone, next);
		if (clone->legs == 0 && rte_mempool_full(clone->pool) &&
		    !is_on_a_pf(octo, clone->pool))
			free_clone(clone);
	}
}

/* Configured with fewer queues, ethdev releases a PF's queues, and their pools with them. */
void
octo_pools_take_from_pfs_locked(struct octo_dev *octo)
{
	const struct rte_eth_conf conf = {0};
	int i;

	OCTO_FOREACH_PORT(octo, i, OCTO_PORT_IDLE)
		if (octo_pf_config_alone_locked(&octo->port[i], 0, 1, &conf) == 0)
			octo_port_did(&octo->port[i], OCTO_PORT_EV_UNCONFIGURED);
}

void
octo_pools_fini_locked(struct octo_dev *octo)
{
	struct octo_clone *clone;

	if (LIST_EMPTY(&octo->clones))
		return;
	octo_pools_take_from_pfs_locked(octo);
	octo_pools_sweep_locked(octo);
	while (!LIST_EMPTY(&octo->clones)) {
		clone = LIST_FIRST(&octo->clones);
		OCTO_LOG(WARNING,
			 "port %u: pool %s stays: %u packets of it were not freed before the close",
			 octo->port_id, clone->pool->name, rte_mempool_in_use_count(clone->pool));
		LIST_REMOVE(clone, next);
		free(clone);
	}
}

static bool
is_fast_free(uint64_t offloads)
{
	return offloads & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
}

static bool
has_several_pools(const struct octo_rxq *q)
{
	bool several = q->pools.nb > 1;

	for (uint16_t i = 0; i < q->conf.rx_nseg; i++)
		several |= q->seg[i].split.mp != NULL && q->seg[i].split.mp != q->pools.app[0];
	return several;
}

/*
 * The first Rx queue that has several pools, or NULL. Queues of an earlier configuration may be set
 * up again, so they only count with `all`.
 */
static const struct octo_rxq *
find_several_pools(const struct octo_dev *octo, bool all)
{
	const struct octo_rxq *q;

	OCTO_FOREACH_RXQ(octo, q)
		if (has_several_pools(q) && (all || q->configuration == octo->configuration))
			return q;
	return NULL;
}

static const struct octo_txq *
find_fast_free(const struct octo_dev *octo, bool all)
{
	const struct octo_txq *q;

	OCTO_FOREACH_TXQ(octo, q)
		if (is_fast_free(q->conf.offloads) &&
		    (all || q->configuration == octo->configuration))
			return q;
	return NULL;
}

/* rx has several pools, tx has the offload; NULL: no queue has. */
static int
check_fast_free(const struct octo_dev *octo, const struct octo_rxq *rx, const struct octo_txq *tx)
{
	char what[32] = "the port";

	if (rx == NULL || (tx == NULL && !is_fast_free(octo_data(octo)->dev_conf.txmode.offloads)))
		return 0;
	if (tx != NULL)
		snprintf(what, sizeof(what), "Tx queue %u", tx->queue_id);
	OCTO_LOG(ERR,
		 "port %u: Rx queue %u has several pools and %s has MBUF_FAST_FREE, "
		 "which is for packets of one pool: one of the two is right",
		 octo->port_id, rx->queue_id, what);
	return -EINVAL;
}

int
octo_pools_check_rx_locked(const struct octo_dev *octo, const struct octo_rxq *q)
{
	return check_fast_free(octo, has_several_pools(q) ? q : NULL, find_fast_free(octo, false));
}

int
octo_pools_check_tx_locked(const struct octo_dev *octo, const struct octo_txq *q)
{
	if (!is_fast_free(q->conf.offloads))
		return 0;
	return check_fast_free(octo, find_several_pools(octo, false), q);
}

int
octo_pools_check_all_locked(const struct octo_dev *octo)
{
	return check_fast_free(octo, find_several_pools(octo, true), find_fast_free(octo, true));
}
