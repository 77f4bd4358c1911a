/* SPDX-License-Identifier: BSD-3-Clause */

/* The published plan: usable PFs, live legs, and PFs to which Tx queues may send. */

#include <numa.h>

#include <rte_cycles.h>

#include "octo_clock.h"
#include "octo_private.h"

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

/*
 * PFs that Tx queues leave after their rings have drained. With tx_pf=mbuf no order is
 * kept, so there are none.
 */
static uint32_t
leaving_in_order(const struct octo_dev *octo)
{
	uint32_t draining = 0;
	int i;

	OCTO_FOREACH_PF(octo, i, OCTO_PORT_RUNNING)
		if (octo_port_is_ejected(octo, octo_port_index(octo, (uint8_t)i)) &&
		    !octo->tx_by_buffer)
			draining |= RTE_BIT32(i);
	return draining;
}

/*
 * Publish to which PFs the Tx queues may send. A PF without link is dropped at once:
 * packets on its ring may never be sent.
 */
static void
publish_sending(const struct octo_dev *octo)
{
	const uint32_t draining = leaving_in_order(octo);
	struct octo_txq *q;

	OCTO_FOREACH_TXQ(octo, q) {
		const uint32_t live = rte_atomic_load_explicit(&q->live, rte_memory_order_relaxed);

		octo_call_forget(&q->call);
		/* pairs with the acquire at the start of each burst */
		rte_atomic_store_explicit(&q->sending,
					  octo_tx_with_clock(live & (octo->plan.usable | draining),
							     octo->timesync.sends),
					  rte_memory_order_release);
	}
}

static uint32_t
usable_pfs(const struct octo_dev *octo)
{
	const uint32_t ports = octo_pf_state_usable(octo->role, octo->nb_ports);
	uint32_t usable = 0;
	int i;

	/* a shut port has its role until its loss is heard */
	OCTO_FOREACH_PORT(octo, i, OCTO_PORT_RUNNING)
		if (ports & RTE_BIT32(i))
			usable |= octo_port_pfs(octo, (uint8_t)i);
	if (usable == 0)
		usable = octo_pf_mask(octo, OCTO_PORT_RUNNING);
	return usable != 0 ? usable : octo_pf_mask(octo, OCTO_PORT_IDLE);
}

/* Start the time measurement of a failover. */
void
octo_topo_begin_failover_locked(struct octo_dev *octo)
{
	struct octo_failover *f = &octo->failover;

	if (f->pending)
		return;
	f->pending = true;
	f->began = octo_now();
	f->cpu_ns = 0;
}

/* Count failovers and failbacks: PFs that cannot be a home any more, or can be one again. */
static void
count_failover(struct octo_dev *octo, uint32_t usable)
{
	const uint32_t before = octo->plan.usable;
	struct octo_failover *f = &octo->failover;

	if (before & ~usable) {
		f->lost_at = octo_now();
		/* the PFs that have reported a flow as aged do not announce it again */
		if (f->age_timeout != 0)
			f->age_due = f->lost_at + f->age_timeout * rte_get_timer_hz();
	}
	if (f->watching) {
		f->failovers += (unsigned int)__builtin_popcount(before & ~usable);
		f->failbacks += (unsigned int)__builtin_popcount(usable & ~before);
		if (before & ~usable)
			octo_topo_begin_failover_locked(octo);
	}
}

/*
 * Recompute which PFs can be a home: those started, with link, that neither drain nor resync. If
 * there are none, all that are started, or else all that are owned.
 */
void
octo_topo_update(struct octo_dev *octo)
{
	const uint32_t usable = usable_pfs(octo);

	if (usable != octo->plan.usable) {
		count_failover(octo, usable);
		octo->plan.usable = usable;
		/* pairs with the acquire in octo_home_check() */
		rte_atomic_fetch_add_explicit(&octo->plan_generation, 1, rte_memory_order_release);
	}
	publish_sending(octo);
}

/* Publish the live legs to all queues, as a mask of PFs. */
void
octo_topo_publish_live(struct octo_dev *octo, uint32_t live)
{
	struct octo_rxq *rxq;
	struct octo_txq *txq;

	octo_legs_change(octo, live);
	/* pairs with the acquire at the start of each burst */
	OCTO_FOREACH_RXQ(octo, rxq) {
		octo_call_forget(&rxq->call);
		rte_atomic_store_explicit(&rxq->live, live, rte_memory_order_release);
	}
	OCTO_FOREACH_TXQ(octo, txq) {
		octo_tx_learn_legs_locked(txq, live);
		rte_atomic_store_explicit(&txq->live, live, rte_memory_order_release);
	}
	/* last, so that no queue plans for a leg that it may not use yet */
	octo_topo_update(octo);
}

/*
 * The PF to which a queue's flows belong. The queue's home may be unusable until its poller
 * notices.
 */
uint8_t
octo_topo_home_of(const struct octo_dev *octo, uint16_t queue)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	const struct octo_rxq *q = queue < data->nb_rx_queues ? data->rx_queues[queue] : NULL;
	uint8_t home;

	/* it is being set up again on the running port, or there is none */
	if (q == NULL)
		return octo_home_pf(octo, -1, queue);
	home = rte_atomic_load_explicit(&q->home, rte_memory_order_acquire);
	return octo->plan.usable & RTE_BIT32(home) ? home :
						     octo_home_pf(octo, q->tracking.node, queue);
}
