/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_RX_INTR_PEER_H
#define OCTO_RX_INTR_PEER_H

#include <stdint.h>

#include <ethdev_driver.h>
#include <rte_eal.h>

/**
 * @file
 * Rx interrupts in secondary processes. A secondary gets the queues' descriptors of the primary
 * when it attaches the port, and those that it has not when the primary starts the port; they are
 * the same epoll instances, so that a PF that joins or is lost in the primary needs nothing here.
 * It is the primary that arms and disarms the legs, when it is asked by a message: the PFs' drivers
 * can do that only there.
 */

/* The callbacks of ethdev, in any process; the caller does not poll the queue meanwhile. */
int octo_rx_queue_intr_enable(struct rte_eth_dev *dev, uint16_t queue_id);
int octo_rx_queue_intr_disable(struct rte_eth_dev *dev, uint16_t queue_id);

/**
 * Before a port is there, in the primary: answer secondaries. In a secondary: take descriptors.
 *
 * @return
 *   0 or a negative errno, logged.
 */
int octo_rx_intr_serve(void);

/**
 * In a secondary that attaches the port: get the descriptors, if the port has interrupts now. If
 * that fails, the reason is logged, and the port works without. Waits for the primary.
 */
void octo_rx_intr_borrow(struct rte_eth_dev *dev);

/**
 * In the primary, after the start: give the descriptors, if the port has interrupts, to all
 * secondaries. Waits for them, for some seconds at most, so the caller must hold no lock; they are
 * given without an answer, too.
 */
void octo_rx_intr_give(struct octo_dev *octo);

/** In a secondary that releases the port: give them back; it may have no descriptors. */
void octo_rx_intr_return(struct rte_eth_dev *dev);

#endif /* OCTO_RX_INTR_PEER_H */
