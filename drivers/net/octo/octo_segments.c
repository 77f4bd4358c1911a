/* SPDX-License-Identifier: BSD-3-Clause */

/* The segments of an Rx queue's packets, as a PF is to split them. */

#include <string.h>

#include "octo_private.h"

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
		seg[0].split.mp = pool;
		conf.rx_seg = seg;
		pool = NULL;
	}
	return rte_eth_rx_queue_setup(queue.port, queue.queue, q->nb_desc, socket, &conf, pool);
}
