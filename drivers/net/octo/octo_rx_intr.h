/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_RX_INTR_H
#define OCTO_RX_INTR_H

#include <stdint.h>

#include <ethdev_driver.h>
#include <rte_power_intrinsics.h>

/**
 * @file
 * Rx interrupts. The descriptor of a queue is an epoll instance with the descriptors of its legs,
 * so that a packet by any leg makes it readable, and no thread is needed. It also has an eventfd,
 * by which the control side makes a poller poll.
 *
 * Arming a queue arms every live leg and then looks whether one has packets. A leg that joins
 * while its queue sleeps is armed by the poller, which is woken for that.
 */

struct octo_dev;
struct octo_rxq;

/**
 * In the primary, under octo->walkers: arm all legs of a queue, or disarm them. Nobody polls the
 * queue meanwhile. Any queue id: the caller may be another process.
 *
 * @param lacking
 *   Legs whose packets the process that polls the queue cannot get: they are not armed.
 * @return
 *   0; -ENOTSUP: the port or the queue has no interrupts; -EAGAIN: the queue is being set up again;
 *   another negative errno of a PF.
 */
int octo_rx_intr_switch(struct octo_dev *octo, uint16_t queue_id, bool on, uint32_t lacking);

/** In the primary: the descriptor of a queue, or -1; any queue id. Under octo->walkers. */
int octo_rx_intr_get_fd(const struct octo_dev *octo, uint16_t queue_id);

/** What ethdev and EAL look at, in this process. Returns 0, or a negative errno. */
int octo_rx_intr_make_handle(struct rte_eth_dev *dev);

/** Add the descriptor of the next queue. Returns 0, or a negative errno. */
int octo_rx_intr_add_fd(struct rte_intr_handle *handle, uint16_t queue_id, int fd);

/** Has the queue of a PF packets? -ENOTSUP: its driver cannot say. */
int octo_rx_intr_count(uint16_t port_id, uint16_t queue);

/** Is a fence open, so that the queue is to be polled? */
bool octo_rx_intr_is_fenced(const struct octo_rxq *q);

/**
 * octo_monitor.c: the address of the home leg, for a poller that waits for a write to it.
 *
 * @return
 *   0; -EBUSY: another leg has packets, or a fence is open, so that the poller has to poll;
 *   -ENOTSUP: the home PF has no address, or another PF cannot say whether it has packets; or
 *   the port is stopped, where it else is -EBUSY, and a PF has no address.
 */
int octo_get_monitor_addr(void *rxq, struct rte_power_monitor_cond *cond);

/**
 * The PFs are started. If the application has asked for interrupts, and all PFs have them, make
 * the queues' descriptors; else the reason is logged, and the port works without interrupts.
 */
void octo_rx_intr_start_locked(struct octo_dev *octo);

/** The inverse, when no leg is live; there may be no descriptors. They are kept for a restart. */
void octo_rx_intr_stop_locked(struct octo_dev *octo);

/** Free what is left of a stopped port. */
void octo_rx_intr_fini(struct rte_eth_dev *dev);

/**
 * A lower port joins the running octo port: add its legs to the queues' descriptors.
 *
 * @return
 *   0, or a negative errno if it has no interrupts, and the others have; logged at the first try.
 */
int octo_rx_intr_add_port_locked(struct octo_dev *octo, uint8_t port);

/**
 * The queue was set up again on the running PFs, which may have another descriptor for it now.
 *
 * @return
 *   0, also without interrupts, or a negative errno.
 */
int octo_rx_intr_renew_locked(struct octo_dev *octo, uint16_t queue);

/** These PFs are unpublished: remove their legs. Under the control mutex or octo->walkers. */
void octo_rx_intr_drop(const struct octo_dev *octo, uint32_t pfs);

/** Wake the queue's poller if it sleeps. Under the control mutex. */
void octo_rx_intr_wake(const struct octo_dev *octo, uint16_t queue_id);

/** Wake all pollers that sleep: the live legs are others. Under the control mutex. */
void octo_rx_intr_wake_all(const struct octo_dev *octo);

/*
 * octo_rx_intr_peer.c: secondary processes. A secondary gets the queues' descriptors of the primary
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
void octo_rx_intr_borrow(struct rte_eth_dev *dev, const struct octo_dev *octo);

/**
 * In the primary, after the start: give the descriptors, if the port has interrupts, to all
 * secondaries. Waits for them, for some seconds at most, so the caller must hold no lock; they are
 * given without an answer, too.
 */
void octo_rx_intr_give(struct octo_dev *octo);

/**
 * In a secondary that is getting the port of a PF: wake all pollers, as those of this process have
 * not armed its legs. From any thread: the primary is asked later, by EAL's interrupt thread.
 */
void octo_rx_intr_gain(void);

/** In a secondary that releases the port: give them back; it may have no descriptors. */
void octo_rx_intr_return(struct rte_eth_dev *dev);

#endif /* OCTO_RX_INTR_H */
