/* SPDX-License-Identifier: BSD-3-Clause */

/* Queues: setup and release on every leg, or on none, and queue information. */

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "octo_private.h"
#include "octo_queue.h"
#include "octo_rx_intr.h"

/*
 * Allocate the rings of a leg on the node of its PF; the application's socket argument is
 * ignored. No burst may use the leg meanwhile.
 */
int
octo_queue_setup_rx_leg_locked(struct octo_dev *octo, struct octo_rxq *q, uint8_t pf)
{
	const struct octo_pf *p = &octo->pf[pf];
	int ret = octo_pools_get_locked(octo, &q->pools, pf);
	const struct octo_leg leg = octo_pf_leg(p, q->queue_id);
	const bool strips = (q->conf.offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP) != 0;

	if (ret != 0)
		return ret;
	q->leg[pf] = leg;
	ret = octo_segments_setup_locked(q, pf, leg, p->alloc_socket,
					 q->conf.rx_deferred_start != 0);
	/* a PF may take it for a queue after its setup only */
	if (ret == 0 && q->strip_set)
		ret = rte_eth_dev_set_vlan_strip_on_queue(leg.port, leg.queue, strips);
	return ret;
}

int
octo_queue_setup_tx_leg_locked(struct octo_dev *octo, struct octo_txq *q, uint8_t pf)
{
	const struct octo_pf *p = &octo->pf[pf];
	const struct octo_leg leg = octo_pf_leg(p, q->queue_id);

	q->leg[pf] = leg;
	return rte_eth_tx_queue_setup(leg.port, leg.queue, q->nb_desc, p->alloc_socket, &q->conf);
}

int
octo_queue_stand_in_tx_leg_locked(const struct octo_dev *octo, uint16_t queue_id, uint8_t pf)
{
	const struct rte_eth_txconf stopped = {.tx_deferred_start = 1};
	const struct octo_leg leg = octo_pf_leg(&octo->pf[pf], queue_id);

	return rte_eth_tx_queue_setup(leg.port, leg.queue, 0, octo->pf[pf].alloc_socket, &stopped);
}

static int
rx_leg_setup(struct octo_pf *pf, const void *arg)
{
	struct octo_rxq *q = *(struct octo_rxq *const *)arg;

	return octo_queue_setup_rx_leg_locked(q->octo, q, (uint8_t)(pf - q->octo->pf));
}

static int
tx_leg_setup(struct octo_pf *pf, const void *arg)
{
	struct octo_txq *q = *(struct octo_txq *const *)arg;

	return octo_queue_setup_tx_leg_locked(q->octo, q, (uint8_t)(pf - q->octo->pf));
}

/* The queue's flows stay where they are led, if it is set up again on the running port. */
static uint8_t
first_home(struct octo_dev *octo, uint16_t queue_id)
{
	const uint8_t led = octo->sync.queue[queue_id].home;
	const uint8_t home = octo_home_pf(octo, -1, queue_id);

	if (octo->started)
		return led != OCTO_NO_PF && (octo->plan.usable & RTE_BIT32(led)) ? led : home;
	octo->sync.queue[queue_id] = (struct octo_sync_queue){.home = home};
	return home;
}

static struct octo_rxq *
new_rxq(struct octo_dev *octo, uint16_t queue_id, uint16_t nb_desc,
	const struct rte_eth_rxconf *conf)
{
	struct octo_rxq *q = rte_zmalloc_socket("octo_rxq", sizeof(*q), RTE_CACHE_LINE_SIZE,
						octo_data(octo)->numa_node);

	if (q == NULL)
		return NULL;
	q->port_id = octo->port_id;
	q->queue_id = queue_id;
	q->octo = octo;
	q->tracking.node = -1;
	q->cpu = -1;
	q->home = first_home(octo, queue_id);
	q->nb_desc = nb_desc;
	q->wanted_desc = nb_desc;
	q->sifts = octo->macs.reserved;
	q->configuration = octo->configuration;
	q->conf = *conf;
	/* the application may free its lists after this call */
	if (q->conf.rx_nmempool != 0)
		q->conf.rx_mempools = q->pools.app;
	if (q->conf.rx_nseg == 0)
		return q;
	memcpy(q->seg, conf->rx_seg, conf->rx_nseg * sizeof(*q->seg));
	q->conf.rx_seg = q->seg;
	q->partial = octo_segments_are_partial(q);
	return q;
}

static struct octo_txq *
new_txq(struct octo_dev *octo, uint16_t queue_id, uint16_t nb_desc,
	const struct rte_eth_txconf *conf)
{
	struct octo_txq *q = rte_zmalloc_socket("octo_txq", sizeof(*q), RTE_CACHE_LINE_SIZE,
						octo_data(octo)->numa_node);

	if (q == NULL)
		return NULL;
	q->queue_id = queue_id;
	q->octo = octo;
	q->tracking.node = -1;
	q->cpu = -1;
	octo_tx_init(q, octo->tx_pin[queue_id] != 0 ? octo->tx_pin[queue_id] - 1 :
						      octo_home_pf(octo, -1, queue_id));
	q->rewrites = octo->macs.reserved && octo->macs.source == OCTO_MAC_SOURCE_REWRITE;
	q->nb_desc = nb_desc;
	q->configuration = octo->configuration;
	q->conf = *conf;
	return q;
}

static void
free_rxq(struct octo_dev *octo, struct octo_rxq *q)
{
	if (q == NULL)
		return;
	for (uint8_t pf = 0; pf < OCTO_MAX_PFS; pf++)
		octo_pools_put_locked(octo, &q->pools, pf);
	rte_free(q);
}

static void
free_txq(struct octo_txq *q)
{
	if (q == NULL)
		return;
	octo_tx_drop_stash(q);
	rte_free(q);
}

/*
 * Once unpublished under the counts mutex, no reader of the counters has the queue, and walkers of
 * a running port have it until they leave: free it then.
 */
void
octo_queue_retire_rx_locked(struct octo_dev *octo, uint16_t queue_id)
{
	struct octo_rxq *q = octo_data(octo)->rx_queues[queue_id];

	octo_lock_counts(octo);
	if (q != NULL)
		octo_queue_counts_end_rx_locked(octo, q);
	octo_data(octo)->rx_queues[queue_id] = NULL;
	octo_unlock_counts(octo);
	/* twice the stall timeout: a walker itself waits that long for a stalled poller */
	octo_askers_await(&octo->walkers, 2 * OCTO_STALL_TIMEOUT_US);
	free_rxq(octo, q);
}

void
octo_queue_retire_tx_locked(struct octo_dev *octo, uint16_t queue_id)
{
	struct octo_txq *q = octo_data(octo)->tx_queues[queue_id];

	octo_lock_counts(octo);
	if (q != NULL)
		octo_queue_counts_end_tx_locked(octo, q);
	octo_data(octo)->tx_queues[queue_id] = NULL;
	octo_unlock_counts(octo);
	/* as octo_queue_retire_rx_locked() */
	octo_askers_await(&octo->walkers, 2 * OCTO_STALL_TIMEOUT_US);
	free_txq(q);
}

/* With slices the port's other queues are like queue 0. */
static int
set_up_idle(struct octo_dev *octo, uint16_t queue_id)
{
	if (queue_id != 0 || !octo_port_is(&octo->port[0], OCTO_PORT_READY))
		return 0;
	return octo_slices_set_up_idle_locked(octo, &octo->port[0]);
}

/* What a queue needs that is published, before a leg of it goes live. On failure it is gone. */
static int
complete_rx(struct octo_dev *octo, uint16_t queue_id)
{
	int ret = set_up_idle(octo, queue_id);

	if (ret == 0 && octo->started)
		ret = octo_rx_intr_renew_locked(octo, queue_id);
	if (ret != 0)
		octo_queue_retire_rx_locked(octo, queue_id);
	return ret;
}

/*
 * On failure the legs that were set up stay: ethdev cannot release one queue of a PF, and
 * the next configure does.
 */
int
octo_queue_setup_rx_locked(struct octo_dev *octo, uint16_t queue_id, uint16_t nb_desc,
			   const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	struct octo_rxq *q = new_rxq(octo, queue_id, nb_desc, conf);
	int ret;

	if (q == NULL)
		return -ENOMEM;
	ret = octo_segments_check(octo, q);
	if (ret == 0)
		ret = octo_pools_read_locked(octo, conf, pool, &q->pools);
	if (ret == 0)
		ret = octo_pools_check_rx_locked(octo, q);
	if (ret == 0)
		ret = octo_rings_plan_locked(octo, q);
	if (ret == 0)
		ret = octo_pf_apply(octo, OCTO_PORT_READY, "set up the Rx queue", rx_leg_setup,
				    NULL, &q, NULL);
	if (ret == 0) {
		octo_lock_counts(octo);
		octo_data(octo)->rx_queues[queue_id] = q;
		octo_unlock_counts(octo);
		ret = complete_rx(octo, queue_id);
	} else {
		free_rxq(octo, q);
	}
	if (ret == 0) {
		octo_rings_publish_locked(octo);
		if (octo->ring_mode == OCTO_RINGS_FULL)
			octo_pools_warn_small_locked(octo, q);
	}
	/* free clones that only the queue's previous setup used */
	octo_pools_sweep_locked(octo);
	return ret;
}

int
octo_queue_setup_tx_locked(struct octo_dev *octo, uint16_t queue_id, uint16_t nb_desc,
			   const struct rte_eth_txconf *conf)
{
	struct octo_txq *q = new_txq(octo, queue_id, nb_desc, conf);
	int ret;

	if (q == NULL)
		return -ENOMEM;
	ret = octo_pools_check_tx_locked(octo, q);
	if (ret == 0)
		ret = octo_pf_apply(octo, OCTO_PORT_READY, "set up the Tx queue", tx_leg_setup,
				    NULL, &q, NULL);
	if (ret != 0) {
		free_txq(q);
		return ret;
	}
	octo_lock_counts(octo);
	octo_data(octo)->tx_queues[queue_id] = q;
	octo_unlock_counts(octo);
	/* idle Tx queues have no pool that could go: those of a running port stay */
	return octo->started ? 0 : set_up_idle(octo, queue_id);
}

void
octo_rxq_info(struct rte_eth_dev *dev, uint16_t queue_id, struct rte_eth_rxq_info *info)
{
	const struct octo_rxq *q;
	struct rte_eth_rxq_info leg;
	struct octo_use use;

	/* another thread may set the queue up again, which frees it */
	octo_lock_counts(octo_of(dev));
	q = dev->data->rx_queues[queue_id];
	if (q != NULL) {
		info->mp = q->pools.app[0];
		info->conf = q->conf;
		info->nb_desc = q->nb_desc;
	}
	octo_unlock_counts(octo_of(dev));
	info->scattered_rx = dev->data->scattered_rx;
	if (q == NULL || !octo_users_enter_first(octo_of(dev), OCTO_PORT_READY, &use))
		return;
	if (rte_eth_rx_queue_info_get(use.port_id,
				      octo_pf_leg(&octo_of(dev)->pf[use.pf], queue_id).queue,
				      &leg) == 0) {
		info->rx_buf_size = leg.rx_buf_size;
		info->scattered_rx = leg.scattered_rx;
		info->nb_desc = leg.nb_desc;
		info->conf.rx_drop_en = leg.conf.rx_drop_en;
	}
	octo_users_leave(&use);
}

void
octo_txq_info(struct rte_eth_dev *dev, uint16_t queue_id, struct rte_eth_txq_info *info)
{
	const struct octo_txq *q;

	/* as octo_rxq_info() */
	octo_lock_counts(octo_of(dev));
	q = dev->data->tx_queues[queue_id];
	if (q != NULL) {
		info->conf = q->conf;
		info->nb_desc = q->nb_desc;
	}
	octo_unlock_counts(octo_of(dev));
}

/* The info is "Octo over <mode of the first PF>"; the flags are that PF's. */
static int
name_burst_mode(struct rte_eth_burst_mode *mode,
		int (*get)(uint16_t, uint16_t, struct rte_eth_burst_mode *),
		const struct octo_dev *octo, uint16_t queue_id)
{
	struct rte_eth_burst_mode leg = {0};
	struct octo_use use;
	int ret = -ENODEV;

	if (octo_users_enter_first(octo, OCTO_PORT_READY, &use)) {
		ret = get(use.port_id, octo_pf_leg(&octo->pf[use.pf], queue_id).queue, &leg);
		octo_users_leave(&use);
	}
	if (ret != 0)
		snprintf(leg.info, sizeof(leg.info), "unnamed mode");
	mode->flags = leg.flags;
	snprintf(mode->info, sizeof(mode->info), "Octo over %.*s", (int)sizeof(mode->info) - 16,
		 leg.info);
	return 0;
}

int
octo_rx_burst_mode(struct rte_eth_dev *dev, uint16_t queue_id, struct rte_eth_burst_mode *mode)
{
	return name_burst_mode(mode, rte_eth_rx_burst_mode_get, octo_of(dev), queue_id);
}

int
octo_tx_burst_mode(struct rte_eth_dev *dev, uint16_t queue_id, struct rte_eth_burst_mode *mode)
{
	return name_burst_mode(mode, rte_eth_tx_burst_mode_get, octo_of(dev), queue_id);
}
