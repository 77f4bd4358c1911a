/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_POOLS_H
#define OCTO_POOLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <rte_ethdev.h>
#include <rte_mempool.h>

#include "octo_call.h"
#include "octo_plan.h"
#include "octo_ring_plan.h"

/**
 * @file
 * The mempool of each leg of an Rx queue: the application's own, or the one of several that is
 * nearest to the PF, or with pools=local a clone of it. All under the control mutex, in the
 * primary process.
 */

struct octo_dev;
struct octo_rxq;
struct octo_txq;

/* The pools of an Rx queue. */
struct octo_pools {
	uint16_t nb; /* pools given by the application */
	struct rte_mempool *app[OCTO_PLAN_MAX_PFS];
	int16_t node[OCTO_PLAN_MAX_PFS];            /* node of the PFs that each pool is for */
	struct rte_mempool *leg[OCTO_PLAN_MAX_PFS]; /* NULL: not set up */
	int16_t leg_node[OCTO_PLAN_MAX_PFS];        /* see octo_home_of_pool() */
};

/* Segments of an Rx queue's packets, with RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT. */
#define OCTO_MAX_SEGS 8

/* A pool that octo created. */
struct octo_clone {
	LIST_ENTRY(octo_clone) next;
	struct rte_mempool *pool;
	const struct rte_mempool *of; /* the cloned pool; dangling if legs is 0 */
	int16_t node;                 /* node of the PFs that it is for */
	unsigned int legs;            /* legs that take buffers from it */
};

LIST_HEAD(octo_clones, octo_clone);

/*
 * Read what the application gives for a queue: one pool, or several in conf, for the PFs or for the
 * segments of packets. Of the latter the first one, as a rule of the headers, is the pool that legs
 * choose.
 *
 * @return
 *   0, or -EINVAL after a log message.
 */
int octo_pools_read_locked(const struct octo_dev *octo, const struct rte_eth_rxconf *conf,
			   struct rte_mempool *pool, struct octo_pools *pools);
/* Choose or create the pool of a leg, which keeps it until it is put back. */
int octo_pools_get_locked(struct octo_dev *octo, struct octo_pools *pools, uint8_t pf);
void octo_pools_put_locked(struct octo_dev *octo, struct octo_pools *pools, uint8_t pf);

/* octo_segments.c: the first segment with a pool; others are discarded (selective Rx). */
uint16_t octo_segments_first(const struct rte_eth_rxconf *conf);
/* Is a segment discarded? */
bool octo_segments_are_partial(const struct octo_rxq *q);
/* Does the port find what it needs in the packets? Returns 0, or -EINVAL after a log message. */
int octo_segments_check(const struct octo_dev *octo, const struct octo_rxq *q);
/* Set up an Rx queue of a PF, in the way and with the pools of this leg. */
int octo_segments_setup_locked(const struct octo_rxq *q, uint8_t pf, struct octo_leg queue,
			       unsigned int socket, bool deferred);
/* Rings that the legs of a queue fill: one for each segment, which may be discarded. */
uint16_t octo_pools_nb_rings(const struct octo_rxq *q);
/* The pool of such a ring; NULL: it is discarded, or the leg, and so its pool, is not set up. */
struct rte_mempool *octo_pools_of_ring(const struct octo_rxq *q, uint16_t ring);
/* 1, and the rings of idle queues that are like this one of queue 0. */
uint32_t octo_pools_rings_like(const struct octo_rxq *q, uint16_t ring);
/* How many rings have this pool, or NULL: will get one; those of idle queues among them. */
uint32_t octo_pools_count_rings(const struct octo_rxq *q, const struct rte_mempool *pool);

/* Free clones without legs; those with packets in use have to wait. */
void octo_pools_sweep_locked(struct octo_dev *octo);
/* The port is closed: free all clones, and log which cannot be freed. */
void octo_pools_fini_locked(struct octo_dev *octo);

/** Have the PFs release their queues, and all packets that these have. */
void octo_pools_take_from_pfs_locked(struct octo_dev *octo);

/*
 * Every leg fills its ring from the pool, so a queue takes as many mbufs as descriptors on each
 * PF. Warn if this queue, which has just been set up, is the first for which its pool is too
 * small.
 */
void octo_pools_warn_small_locked(const struct octo_dev *octo, const struct octo_rxq *q);

/*
 * octo_rings.c: choose the size of the rings of a queue that is being set up, and its pools.
 *
 * @return
 *   0, or as octo_pools_get_locked().
 */
int octo_rings_plan_locked(struct octo_dev *octo, struct octo_rxq *q);
/* Tell the other octo ports of this process what the rings of this one hold now, if it has any. */
void octo_rings_publish_locked(const struct octo_dev *octo);
/* Before the start, when all queues are known: set up rings anew whose size is another now. */
int octo_rings_start_locked(struct octo_dev *octo);

/*
 * Packets of several pools must not be sent with MBUF_FAST_FREE. Check this queue, which is
 * being set up, or all queues.
 *
 * @return
 *   0, or -EINVAL after a log message.
 */
int octo_pools_check_rx_locked(const struct octo_dev *octo, const struct octo_rxq *q);
int octo_pools_check_tx_locked(const struct octo_dev *octo, const struct octo_txq *q);
int octo_pools_check_all_locked(const struct octo_dev *octo);

#endif /* OCTO_POOLS_H */
