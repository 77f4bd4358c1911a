/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_QUEUE_H
#define OCTO_QUEUE_H

#include <stdint.h>

#include <rte_ethdev.h>

struct octo_dev;

/* Rx queues of the port, for the operations of ethdev; under the control mutex. */

/* Set the queue up on every PF; on failure there is none. */
int octo_queue_setup_rx_locked(struct octo_dev *octo, uint16_t queue_id, uint16_t nb_desc,
			       const struct rte_eth_rxconf *conf, struct rte_mempool *pool);
/* Keep its counters and free it; nothing may use it. */
void octo_queue_retire_rx_locked(struct octo_dev *octo, uint16_t queue_id);

#endif /* OCTO_QUEUE_H */
