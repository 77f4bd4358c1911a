/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include <rte_malloc.h>

#include "mpsim.h"
#include "mpsim_post.h"
#include "mpsim_tx_ring.h"

static void
drain(struct mpsim_rxq *q)
{
	struct rte_mbuf *bufs[MPSIM_BURST];
	uint32_t lost = 0;
	unsigned int n;

	do {
		n = rte_ring_dequeue_burst(q->ring, (void **)bufs, MPSIM_BURST, NULL);
		rte_pktmbuf_free_bulk(bufs, n);
		lost += n;
	} while (n > 0);
	mpsim_nic_lock(q->nic);
	q->nic->stats.lost += lost;
	mpsim_nic_unlock(q->nic);
	mpsim_post_drop(q);
}

struct rte_ring *
mpsim_ring_create(uint16_t nb_desc, unsigned int socket)
{
	const uint32_t slots = rte_align32pow2(nb_desc + 1);
	struct rte_ring *r;

	/* not rte_ring_create(): it takes a memzone per queue, and those are limited */
	r = rte_zmalloc_socket("mpsim_ring", rte_ring_get_memsize(slots), RTE_CACHE_LINE_SIZE,
			       socket);
	if (r == NULL)
		return NULL;
	/* one producer: the NIC's lock; one consumer: the queue's poller */
	if (rte_ring_init(r, "mpsim_rxq", nb_desc,
			  RING_F_EXACT_SZ | RING_F_SP_ENQ | RING_F_SC_DEQ) != 0) {
		rte_free(r);
		return NULL;
	}
	return r;
}

static void
rxq_free(struct mpsim_rxq *q)
{
	if (q == NULL)
		return;
	if (q->ring != NULL)
		drain(q);
	rte_free(q->ring);
	rte_free(q->post.ring);
	rte_free(q);
}

/* A tag is taken out of the first buffer. */
static bool
can_split(const struct mpsim_pf *pf, uint16_t queue, const struct rte_eth_rxseg_split *first)
{
	if (first->length == 0 || first->length >= MPSIM_SPLIT_MIN)
		return true;
	MPSIM_LOG(ERR, pf->data->name,
		  "Rx queue %u: a first segment of %u bytes has no room for an Ethernet header "
		  "with a VLAN tag: at least %u are right",
		  queue, first->length, MPSIM_SPLIT_MIN);
	return false;
}

int
mpsim_rx_queue_setup(struct rte_eth_dev *dev, uint16_t queue, uint16_t nb_desc, unsigned int socket,
		     const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	struct mpsim_rxq *q;

	if (pool == NULL && !can_split(pf, queue, &conf->rx_seg[0].split))
		return -EINVAL;
	q = rte_zmalloc_socket("mpsim_rxq", sizeof(*q), RTE_CACHE_LINE_SIZE, socket);
	if (q == NULL)
		return -ENOMEM;
	q->nic = pf->nic;
	q->pf = pf;
	q->nb_desc = nb_desc;
	q->ring = mpsim_ring_create(nb_desc, socket);
	if (q->ring == NULL || mpsim_post_setup(q, socket) != 0) {
		rxq_free(q);
		return -ENOMEM;
	}
	q->pipe = &pf->pipe;
	mpsim_split_read(&q->split, conf, pool);
	q->pool = mpsim_split_pool(&q->split);
	q->stats = &pf->rxq_stats[queue];
	q->charge = pf->charges == NULL ? NULL : &pf->charges[queue];
	q->offloads = conf->offloads | dev->data->dev_conf.rxmode.offloads;
	q->chains = pool == NULL || (q->offloads & RTE_ETH_RX_OFFLOAD_SCATTER) != 0;
	if (pool != NULL)
		q->room = rte_pktmbuf_data_room_size(pool) - RTE_PKTMBUF_HEADROOM;
	q->port_id = pf->port_id;
	q->deferred_start = conf->rx_deferred_start;
	mpsim_nic_lock(pf->nic);
	q->full = (pf->faults.full_rings >> queue & 1) != 0;
	pf->rxq[queue] = q;
	mpsim_nic_unlock(pf->nic);
	dev->data->rx_queues[queue] = q;
	return 0;
}

void
mpsim_rx_queue_release(struct rte_eth_dev *dev, uint16_t queue)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	struct mpsim_rxq *q;

	mpsim_nic_lock(pf->nic);
	q = pf->rxq[queue];
	pf->rxq[queue] = NULL;
	if (q != NULL)
		pf->nic->stats.lost += mpsim_pipe_drop(&pf->pipe, q);
	if (q != NULL)
		pf->delivered += q->delivered;
	mpsim_nic_unlock(pf->nic);
	rxq_free(q);
}

static void
rxq_set_started(struct rte_eth_dev *dev, uint16_t queue, bool on)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	struct mpsim_rxq *q = pf->rxq[queue];

	mpsim_nic_lock(pf->nic);
	q->started = on;
	mpsim_nic_unlock(pf->nic);
	dev->data->rx_queue_state[queue] = on ? RTE_ETH_QUEUE_STATE_STARTED :
						RTE_ETH_QUEUE_STATE_STOPPED;
}

int
mpsim_rx_queue_start(struct rte_eth_dev *dev, uint16_t queue)
{
	const int ret = mpsim_post_fill(dev->data->rx_queues[queue]);

	if (ret == 0)
		rxq_set_started(dev, queue, true);
	return ret;
}

int
mpsim_rx_queue_stop(struct rte_eth_dev *dev, uint16_t queue)
{
	/* frames stay on the ring: a thread may be polling it right now */
	rxq_set_started(dev, queue, false);
	return 0;
}

void
mpsim_rx_queue_drain(struct rte_eth_dev *dev, uint16_t queue)
{
	drain(dev->data->rx_queues[queue]);
}

/* Mbufs of the NIC's own, if an offload may need a copy of a frame. */
static int
need_copies(const struct mpsim_txq *q)
{
	int ret;

	if ((q->offloads & ~(RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE | RTE_ETH_TX_OFFLOAD_MULTI_SEGS)) ==
	    0)
		return 0;
	mpsim_control_lock();
	ret = mpsim_nic_need_pool(q->nic);
	mpsim_control_unlock();
	return ret;
}

int
mpsim_tx_queue_setup(struct rte_eth_dev *dev, uint16_t queue, uint16_t nb_desc, unsigned int socket,
		     const struct rte_eth_txconf *conf)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	struct mpsim_txq *q;
	int ret;

	q = rte_zmalloc_socket("mpsim_txq", sizeof(*q), RTE_CACHE_LINE_SIZE, socket);
	if (q == NULL)
		return -ENOMEM;
	q->pf = pf;
	q->nic = pf->nic;
	q->stats = &pf->txq_stats[queue];
	q->charge = pf->charges == NULL ? NULL : &pf->charges[MPSIM_MAX_QUEUES + queue];
	q->offloads = conf->offloads | dev->data->dev_conf.txmode.offloads;
	q->nb_desc = nb_desc;
	q->deferred_start = conf->tx_deferred_start;
	ret = need_copies(q);
	if (ret == 0)
		ret = mpsim_fetch_setup(q);
	/* within the lock: the PF does not become stuck in between */
	mpsim_nic_lock(pf->nic);
	if (ret == 0)
		ret = mpsim_tx_ring_setup(q, queue, socket, false);
	if (ret == 0)
		dev->data->tx_queues[queue] = q;
	mpsim_nic_unlock(pf->nic);
	if (ret != 0)
		rte_free(q);
	return ret;
}

void
mpsim_tx_queue_release(struct rte_eth_dev *dev, uint16_t queue)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	struct mpsim_txq *q;

	/* pollers of the NIC move the frames of running PFs, under its lock */
	mpsim_nic_lock(pf->nic);
	q = dev->data->tx_queues[queue];
	dev->data->tx_queues[queue] = NULL;
	mpsim_nic_unlock(pf->nic);
	if (q == NULL)
		return;
	mpsim_tx_ring_free(q);
	rte_free(q);
}

static void
txq_set_started(struct rte_eth_dev *dev, uint16_t queue, bool on)
{
	struct mpsim_txq *q = dev->data->tx_queues[queue];

	rte_atomic_store_explicit(&q->started, on, rte_memory_order_release);
	dev->data->tx_queue_state[queue] = on ? RTE_ETH_QUEUE_STATE_STARTED :
						RTE_ETH_QUEUE_STATE_STOPPED;
}

int
mpsim_tx_queue_start(struct rte_eth_dev *dev, uint16_t queue)
{
	txq_set_started(dev, queue, true);
	return 0;
}

int
mpsim_tx_queue_stop(struct rte_eth_dev *dev, uint16_t queue)
{
	txq_set_started(dev, queue, false);
	mpsim_tx_ring_stop(dev->data->tx_queues[queue]);
	return 0;
}

void
mpsim_rxq_info_get(struct rte_eth_dev *dev, uint16_t queue, struct rte_eth_rxq_info *info)
{
	const struct mpsim_rxq *q = dev->data->rx_queues[queue];

	info->mp = q->pool;
	info->nb_desc = q->nb_desc;
	info->rx_buf_size = q->room;
	info->scattered_rx = (q->offloads & RTE_ETH_RX_OFFLOAD_SCATTER) != 0;
	info->conf.offloads = q->offloads;
	info->conf.rx_deferred_start = q->deferred_start;
	info->conf.rx_drop_en = 1;
}

void
mpsim_txq_info_get(struct rte_eth_dev *dev, uint16_t queue, struct rte_eth_txq_info *info)
{
	const struct mpsim_txq *q = dev->data->tx_queues[queue];

	info->nb_desc = q->nb_desc;
	info->conf.offloads = q->offloads;
	info->conf.tx_deferred_start = q->deferred_start;
}

int
mpsim_rx_queue_count(void *rxq)
{
	const struct mpsim_rxq *q = rxq;

	mpsim_rx_settle(q);
	return rte_ring_count(q->ring);
}

int
mpsim_rx_descriptor_status(void *rxq, uint16_t offset)
{
	const struct mpsim_rxq *q = rxq;

	if (offset >= q->nb_desc)
		return -EINVAL;
	mpsim_rx_settle(q);
	return offset < rte_ring_count(q->ring) ? RTE_ETH_RX_DESC_DONE : RTE_ETH_RX_DESC_AVAIL;
}

/* A poller that finds a frame on the ring does not wait. */
static int
is_filled(const uint64_t tail, const uint64_t opaque[RTE_POWER_MONITOR_OPAQUE_SZ])
{
	return tail == opaque[0] ? 0 : -1;
}

/* The tail of the ring, which the NIC writes when it puts frames there. */
int
mpsim_get_monitor_addr(void *rxq, struct rte_power_monitor_cond *cond)
{
	const struct mpsim_rxq *q = rxq;

	*cond = (struct rte_power_monitor_cond){
		.addr = &q->ring->prod.tail,
		.fn = is_filled,
		.opaque = {q->ring->cons.tail},
		.size = sizeof(q->ring->prod.tail),
	};
	return 0;
}
