/* SPDX-License-Identifier: BSD-3-Clause */

/* Who is near whom: nodes of CPUs and PFs, the home PF of a queue, its live legs. */

#include <numa.h>
#include <sched.h>

#include <rte_cycles.h>

#include "octo_clock.h"
#include "octo_private.h"
#include "octo_thread.h"

#define NODES (OCTO_SOCKET_MAP_MAX_NODE + 1)

/* Read before there is a data path: libnuma reads files and allocates. */
static uint8_t distances[NODES][NODES];

/* Once per process, at probe. */
void
octo_topo_read_distances(void)
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

static int8_t
machine_node(unsigned int cpu)
{
	return (int8_t)(numa_available() < 0 ? 0 : numa_node_of_cpu((int)cpu));
}

static void
read_cpu_nodes(struct octo_dev *octo, const struct octo_socket_map *map)
{
	for (unsigned int cpu = 0; cpu < OCTO_SOCKET_MAP_CPUS; cpu++) {
		int node = octo_socket_map_node(map, cpu);

		octo->cpu_node[cpu] = node >= 0 ? (int8_t)node : machine_node(cpu);
	}
}

void
octo_topo_init(struct octo_dev *octo, const struct octo_args *args)
{
	octo->mapped = args->has_map;
	octo->grace_cycles = args->fence.grace_us * (rte_get_timer_hz() / US_PER_S);
	octo->plan.nb = octo->nb_pfs;
	for (uint16_t i = 0; i < octo->nb_pfs; i++) {
		octo->plan.node[i] = octo->pf[i].node;
		octo->mapped |= octo->pf[i].simulated;
	}
	read_cpu_nodes(octo, &args->map);
	octo_topo_update(octo);
}

/* PFs that queues leave when these have drained: they keep no order if they send by the buffer. */
static uint32_t
leaving_in_order(const struct octo_dev *octo)
{
	uint32_t leaving = 0;
	int i;

	OCTO_FOREACH_PF(octo, i, OCTO_PF_STARTED)
		if (octo->pf[i].leaving.on && !octo->pf[i].leaving.stays && !octo->tx_by_buffer)
			leaving |= RTE_BIT32(i);
	return leaving;
}

/* Queues leave a PF without link at once: what is on its ring may never be sent. */
static void
publish_sending(const struct octo_dev *octo)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	const uint32_t leaving = leaving_in_order(octo);

	for (uint16_t i = 0; i < data->nb_tx_queues; i++) {
		struct octo_txq *q = data->tx_queues[i];
		uint32_t live;

		if (q == NULL)
			continue;
		live = rte_atomic_load_explicit(&q->live, rte_memory_order_relaxed);
		octo_call_forget(&q->call);
		/* pairs with the acquire at the start of each burst */
		rte_atomic_store_explicit(&q->sending, live & (octo->plan.usable | leaving),
					  rte_memory_order_release);
	}
}

static uint32_t
usable_pfs(const struct octo_dev *octo)
{
	uint32_t usable = 0;
	int i;

	OCTO_FOREACH_PF(octo, i, OCTO_PF_STARTED)
		if (octo->pf[i].link_up && !octo->pf[i].leaving.on &&
		    !octo_replay_is_joining(octo, (uint8_t)i))
			usable |= RTE_BIT32(i);
	if (usable == 0)
		usable = octo_pf_mask(octo, OCTO_PF_STARTED);
	return usable != 0 ? usable : octo_pf_mask(octo, OCTO_PF_OWNED);
}

/* Recompute which PFs can be a home: started ones with link, else started ones. */
void
octo_topo_update(struct octo_dev *octo)
{
	const uint32_t usable = usable_pfs(octo);

	if (usable != octo->plan.usable) {
		octo->plan.usable = usable;
		octo_failover_planned_locked(octo, usable);
		/* pairs with the acquire in octo_topo_look() */
		rte_atomic_fetch_add_explicit(&octo->plan_generation, 1, rte_memory_order_release);
	}
	publish_sending(octo);
}

/* Tell every queue which of its legs may be used: a bit mask of PFs. */
void
octo_topo_publish_live(struct octo_dev *octo, uint32_t live)
{
	struct rte_eth_dev_data *data = octo_data(octo);

	octo_legs_change(octo, live);
	/* pairs with the acquire at the start of each burst */
	for (uint16_t i = 0; i < data->nb_rx_queues; i++) {
		struct octo_rxq *q = data->rx_queues[i];

		if (q == NULL)
			continue;
		octo_call_forget(&q->call);
		rte_atomic_store_explicit(&q->live, live, rte_memory_order_release);
	}
	for (uint16_t i = 0; i < data->nb_tx_queues; i++) {
		struct octo_txq *q = data->tx_queues[i];

		if (q == NULL)
			continue;
		octo_tx_learn_legs_locked(q, live);
		rte_atomic_store_explicit(&q->live, live, rte_memory_order_release);
	}
	/* last, so that no queue plans for a leg that it may not use yet */
	octo_topo_update(octo);
}

octo_plan_distance_t
octo_topo_distance(const struct octo_dev *octo)
{
	return octo->mapped ? octo_plan_flat_distance : machine_distance;
}

uint8_t
octo_topo_home(const struct octo_dev *octo, int node, uint16_t queue)
{
	int pf = octo_plan_home(&octo->plan, node, queue, octo_topo_distance(octo));

	return pf < 0 ? 0 : (uint8_t)pf;
}

/* Node and number of the CPU that this runs on: EAL thread or not, pinned or not. */
int
octo_topo_here(const struct octo_dev *octo, int16_t *cpu)
{
	const int here = sched_getcpu();

	*cpu = (int16_t)here;
	return here < 0 || here >= OCTO_SOCKET_MAP_CPUS ? -1 : octo->cpu_node[here];
}

/* Where a queue is polled from, or sent from, was looked at. */
enum octo_watch_step
octo_topo_look(const struct octo_dev *octo, struct octo_watch *watch, int node, uint64_t now)
{
	/* pairs with the release in octo_topo_update() */
	const uint32_t generation = rte_atomic_load_explicit(&octo->plan_generation,
							     rte_memory_order_acquire);

	return octo_watch_look(watch, node, generation, now);
}

static void
go_home(struct octo_rxq *q, uint32_t live, uint64_t now)
{
	const uint8_t home = octo_topo_home(q->octo, q->watch.node, q->queue_id);

	if (!(live & RTE_BIT32(home))) {
		/* the plan is newer than the legs seen by this burst */
		octo_watch_ask_again(&q->watch);
		q->poller = 0;
		return;
	}
	if (home == rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed))
		return;
	octo_dwell_go(&q->watch.dwell, now);
	/* read by the control thread, which sends the queue's flows after it */
	rte_atomic_store_explicit(&q->home, home, rte_memory_order_release);
	/* it may get this very CPU at once, and then wait until nobody is inside a burst */
	octo_epoch_leave(&q->epoch);
	octo_ctrl_post_home(q->octo);
	octo_epoch_enter(&q->epoch);
}

/*
 * At the start of a burst, when another thread polls and now and then: look who it is.
 * Returns the legs that are live now.
 */
uint32_t
octo_topo_rx_home(struct octo_rxq *q, uint32_t live)
{
	const uint64_t now = octo_now();
	int16_t cpu;
	const int node = octo_topo_here(q->octo, &cpu);
	const enum octo_watch_step step = octo_topo_look(q->octo, &q->watch, node, now);

	rte_atomic_store_explicit(&q->cpu, cpu, rte_memory_order_relaxed);
	q->poller = step == OCTO_WATCH_LOOK_AGAIN ? 0 : octo_thread_here();
	q->look = octo_epoch_in(&q->epoch, OCTO_HOME_SAMPLE);
	if (step == OCTO_WATCH_PLAN)
		go_home(q, live, now);
	/* pairs with the release in octo_topo_publish_live() */
	return rte_atomic_load_explicit(&q->live, rte_memory_order_acquire);
}
