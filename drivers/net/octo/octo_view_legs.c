/* SPDX-License-Identifier: BSD-3-Clause */

/* View of each leg: the sockets of its ring, its buffers and its poller. */

#include <errno.h>

#include "octo_private.h"
#include "octo_view.h"

static void
fill(struct octo_view_leg *view, const struct octo_locality *locality)
{
	view->pf_socket = locality->pf;
	view->ring_socket = locality->ring;
	view->pool_socket = RTE_MAX(locality->pool, -1);
	view->crosses = octo_plan_crossing_names(octo_plan_crossings(locality));
}

static void
view_rx_leg(const struct octo_dev *octo, const struct octo_rxq *q, struct octo_view_leg *view)
{
	const struct octo_locality locality = octo_locality_rx(octo, q, view->pf);

	view->home = view->pf == rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed);
	view->cpu = rte_atomic_load_explicit(&q->cpu, rte_memory_order_relaxed);
	view->cpu_socket = q->tracking.node;
	fill(view, &locality);
}

static void
view_tx_leg(const struct octo_dev *octo, const struct octo_txq *q, struct octo_view_leg *view)
{
	const struct octo_locality locality = octo_locality_tx(octo, q, view->pf);

	view->home = view->pf == rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed);
	view->cpu = rte_atomic_load_explicit(&q->cpu, rte_memory_order_relaxed);
	view->cpu_socket = q->tracking.node;
	fill(view, &locality);
}

/* Fill a leg by its index: Rx queues first, the legs of a queue together. */
static void
view_leg(const struct octo_dev *octo, uint32_t index, struct octo_view_leg *view)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	const uint32_t queue = index / octo->nb_pfs;
	const void *q;

	*view = (struct octo_view_leg){
		.tx = queue >= data->nb_rx_queues,
		.pf = (uint16_t)(index % octo->nb_pfs),
		.cpu = -1,
		.cpu_socket = -1,
	};
	view->queue = (uint16_t)(view->tx ? queue - data->nb_rx_queues : queue);
	fill(view, &(struct octo_locality){octo->pf[view->pf].node, -1, -1, -1});
	q = view->tx ? data->tx_queues[view->queue] : data->rx_queues[view->queue];
	if (q == NULL)
		return;
	if (view->tx)
		view_tx_leg(octo, q, view);
	else
		view_rx_leg(octo, q, view);
}

static int
view_legs_locked(const struct octo_dev *octo, uint32_t start, struct octo_view_leg *legs,
		 uint32_t nb, uint32_t *total)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	uint32_t n = 0;

	*total = (uint32_t)(data->nb_rx_queues + data->nb_tx_queues) * octo->nb_pfs;
	for (; n < nb && start + n < *total; n++)
		view_leg(octo, start + n, &legs[n]);
	return (int)n;
}

int
octo_view_legs(uint16_t port_id, uint32_t start, struct octo_view_leg *legs, uint32_t nb,
	       uint32_t *total)
{
	struct octo_dev *octo = octo_registry_get_any(port_id);
	int ret;

	if (octo == NULL)
		return -ENODEV;
	ret = OCTO_LOCKED(octo, view_legs_locked(octo, start, legs, nb, total));
	octo_registry_put();
	return ret;
}
