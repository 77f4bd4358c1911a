/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_QUEUE_H
#define OCTO_QUEUE_H

#include <stdint.h>

#include <rte_ethdev.h>

struct octo_dev;

/* Queues of the port, for the operations of ethdev; under the control mutex. */

/* Set the queue up on every PF; on failure there is none. */
int octo_queue_setup_rx_locked(struct octo_dev *octo, uint16_t queue_id, uint16_t nb_desc,
			       const struct rte_eth_rxconf *conf, struct rte_mempool *pool);
/* Keep its counters and free it; nothing may use it. */
void octo_queue_retire_rx_locked(struct octo_dev *octo, uint16_t queue_id);

/* The same for Tx queues. */
int octo_queue_setup_tx_locked(struct octo_dev *octo, uint16_t queue_id, uint16_t nb_desc,
			       const struct rte_eth_txconf *conf);
void octo_queue_retire_tx_locked(struct octo_dev *octo, uint16_t queue_id);

/*
 * Give a PF that comes a stopped queue in place of one whose setup on the running port has failed:
 * a PF starts with all its queues only.
 */
int octo_queue_stand_in_tx_leg_locked(const struct octo_dev *octo, uint16_t queue_id, uint8_t pf);

#endif /* OCTO_QUEUE_H */
