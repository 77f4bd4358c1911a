/* SPDX-License-Identifier: BSD-3-Clause */

/* The segments of an Rx queue's packets, as a PF is to split them. */

#include <errno.h>
#include <string.h>

#include "octo_private.h"

uint16_t
octo_segments_first(const struct rte_eth_rxconf *conf)
{
	uint16_t i = 0;

	/* ethdev has checked that one has a pool */
	while (conf->rx_seg[i].split.mp == NULL)
		i++;
	return i;
}

bool
octo_segments_are_partial(const struct octo_rxq *q)
{
	for (uint16_t i = 0; i < q->conf.rx_nseg; i++)
		if (q->seg[i].split.mp == NULL)
			return true;
	return false;
}

/* octo_mac_sift() reads it in the first buffer. Without a length that ends after headers. */
static bool
has_address(const struct rte_eth_rxseg_split *first)
{
	return first->mp != NULL && (first->length == 0 || first->length >= RTE_ETHER_ADDR_LEN);
}

int
octo_segments_check(const struct octo_dev *octo, const struct octo_rxq *q)
{
	if (!octo->macs.reserved || q->conf.rx_nseg == 0 || has_address(&q->seg[0].split))
		return 0;
	OCTO_LOG(ERR,
		 "port %u: the first segment of Rx queue %u %s, and tier=mac needs the "
		 "destination address in it: give it a pool, and a length of 6 at least",
		 octo->port_id, q->queue_id,
		 q->seg[0].split.mp == NULL ? "is discarded" : "is too short");
	return -EINVAL;
}

int
octo_segments_setup_locked(const struct octo_rxq *q, uint8_t pf, struct octo_leg queue,
			   unsigned int socket, bool deferred)
{
	struct rte_mempool *pool = q->pools.leg[pf];
	union rte_eth_rxseg seg[OCTO_MAX_SEGS];
	struct rte_eth_rxconf conf = q->conf;

	conf.rx_mempools = NULL;
	conf.rx_nmempool = 0;
	conf.rx_deferred_start = deferred;
	/* PMDs refuse a threshold that a smaller ring does not reach */
	if (q->nb_desc < q->wanted_desc && conf.rx_free_thresh >= q->nb_desc)
		conf.rx_free_thresh = (uint32_t)conf.rx_free_thresh * q->nb_desc / q->wanted_desc;
	/* set after the setup, see octo_queue_setup_rx_leg_locked() */
	if (q->strip_set)
		conf.offloads &= ~RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
	if (conf.rx_nseg != 0) {
		memcpy(seg, q->seg, sizeof(seg));
		seg[octo_segments_first(&q->conf)].split.mp = pool;
		conf.rx_seg = seg;
		pool = NULL;
	}
	return rte_eth_rx_queue_setup(queue.port, queue.queue, q->nb_desc, socket, &conf, pool);
}
