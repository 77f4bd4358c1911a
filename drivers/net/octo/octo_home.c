/* SPDX-License-Identifier: BSD-3-Clause */

/* Consumer side: which node a consumer is on, and which PF is a queue's home there. */

#include <numa.h>
#include <sched.h>

#include <rte_cycles.h>
#include <rte_memory.h>
#include <rte_mempool.h>

#include "octo_clock.h"
#include "octo_private.h"
#include "octo_thread.h"

/* No chunk seen so far. */
#define NOTHING (-3)

/* Memory that is not from EAL's heaps of the machine's nodes has node -1. */
static void
see_chunk(struct rte_mempool *pool, void *arg, struct rte_mempool_memhdr *chunk, unsigned int index)
{
	const struct rte_memseg_list *list = rte_mem_virt2memseg_list(chunk->addr);
	const int node = list == NULL || list->external ? -1 : list->socket_id;
	int *seen = arg;

	RTE_SET_USED(pool);
	RTE_SET_USED(index);
	if (*seen == NOTHING)
		*seen = node;
	else if (*seen != node)
		*seen = OCTO_PLAN_MIXED;
}

/*
 * The node on which the pool's packets are, whichever node was requested; OCTO_PLAN_MIXED if they
 * are on several. -1 if unknown: without hugepages memory is on the node that touched it first.
 */
int
octo_home_of_pool(struct rte_mempool *pool)
{
	int node = NOTHING;

	if (pool == NULL || !rte_eal_has_hugepages())
		return -1;
	rte_mempool_mem_iter(pool, see_chunk, &node);
	return node == NOTHING ? -1 : node;
}

#define NODES (OCTO_SOCKET_MAP_MAX_NODE + 1)

/* Read before there is a data path: libnuma reads files and allocates. */
static uint8_t distances[NODES][NODES];

/* Called once per process, at probe. */
void
octo_home_read_distances(void)
{
	const bool known = numa_available() >= 0;

	for (int a = 0; a < NODES; a++) {
		for (int b = 0; b < NODES; b++) {
			int d = known ? numa_distance(a, b) : 0;

			distances[a][b] = (uint8_t)(d > 0 ? d : octo_plan_flat_distance(a, b));
		}
	}
}

static int
machine_distance(int node_a, int node_b)
{
	return node_a < NODES && node_b < NODES ? distances[node_a][node_b] :
						  octo_plan_flat_distance(node_a, node_b);
}

octo_plan_distance_t
octo_home_distance(const struct octo_dev *octo)
{
	return octo->mapped ? octo_plan_flat_distance : machine_distance;
}

uint8_t
octo_home_pf(const struct octo_dev *octo, int node, uint16_t queue)
{
	struct octo_plan_pfs plan = octo->plan;
	int pf;

	/* a secondary chooses among the PFs that it has */
	plan.usable = octo_legs_follow(octo, plan.usable);
	pf = octo_plan_home(&plan, node, queue, octo_home_distance(octo));
	return pf < 0 ? 0 : (uint8_t)pf;
}

/* Node and number of the CPU of this thread: EAL thread or not, pinned or not. */
int
octo_home_here(const struct octo_dev *octo, int16_t *cpu)
{
	const int here = sched_getcpu();

	*cpu = (int16_t)here;
	return here < 0 || here >= OCTO_SOCKET_MAP_CPUS ? -1 : octo->cpu_node[here];
}

/* Tell the poller tracking from which node a queue is polled or sent. */
enum octo_tracking_step
octo_home_check(const struct octo_dev *octo, struct octo_tracking *tracking, int node, uint64_t now)
{
	/* pairs with the release in octo_topo_update() */
	const uint32_t generation = rte_atomic_load_explicit(&octo->plan_generation,
							     rte_memory_order_acquire);
	const enum octo_tracking_step step = octo_tracking_check(tracking, node, generation, now);

	/* the plan stays the same when this process gets the PF */
	if (octo_legs_follow(octo, octo->plan.usable) != octo->plan.usable)
		octo_tracking_plan_again(tracking);
	return step;
}

static void
go_home(struct octo_rxq *q, uint32_t live, uint64_t now)
{
	const uint8_t home = octo_home_pf(q->octo, q->tracking.node, q->queue_id);

	if (!(live & RTE_BIT32(home))) {
		/* the plan is newer than the legs seen by this burst */
		octo_tracking_plan_again(&q->tracking);
		rte_atomic_store_explicit(&q->poller, 0, rte_memory_order_relaxed);
		return;
	}
	if (home == rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed))
		return;
	octo_hysteresis_restart(&q->tracking.hysteresis, now);
	/* read by the control thread, which rehomes the queue's flows */
	rte_atomic_store_explicit(&q->home, home, rte_memory_order_release);
	q->rehomed = true;
}

/*
 * Called at the start of a burst, at intervals and when another thread polls: find the
 * consumer's CPU, and change the queue's home if its node has changed. Returns the legs that
 * are live now.
 */
uint32_t
octo_home_rx(struct octo_rxq *q, uint32_t live)
{
	const uint64_t now = octo_now();
	int16_t cpu;
	const int node = octo_home_here(q->octo, &cpu);
	const enum octo_tracking_step step = octo_home_check(q->octo, &q->tracking, node, now);

	rte_atomic_store_explicit(&q->cpu, cpu, rte_memory_order_relaxed);
	rte_atomic_store_explicit(&q->poller,
				  step == OCTO_TRACKING_CHECK_AGAIN ? 0 : octo_thread_here(),
				  rte_memory_order_relaxed);
	q->look = octo_epoch_in(&q->epoch, OCTO_HOME_SAMPLE);
	if (step == OCTO_TRACKING_PLAN)
		go_home(q, live, now);
	/* pairs with the release in octo_topo_publish_live() */
	return rte_atomic_load_explicit(&q->live, rte_memory_order_acquire);
}
