/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_INTR_H
#define MPSIM_INTR_H

#include <stdint.h>

#include <ethdev_driver.h>

/**
 * @file
 * Rx interrupts: an eventfd per queue of a PF that is configured with intr_conf.rxq. While such a
 * PF is started, EAL's interrupt thread moves frames every MPSIM_INTR_US, so that they arrive
 * without a burst, and then signals armed queues that have got some since they were armed.
 */

#define MPSIM_INTR_US 1000

/** The PF starts: create what applications wait for. Returns 0, or a negative errno. */
int mpsim_intr_start(struct rte_eth_dev *dev);

/** The inverse; the PF may have none. */
void mpsim_intr_stop(struct rte_eth_dev *dev);

/* in any process; a queue is disarmed when it is signalled */
int mpsim_rx_queue_intr_enable(struct rte_eth_dev *dev, uint16_t queue);
int mpsim_rx_queue_intr_disable(struct rte_eth_dev *dev, uint16_t queue);

#endif /* MPSIM_INTR_H */
