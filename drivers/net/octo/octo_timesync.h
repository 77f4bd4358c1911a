/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_TIMESYNC_H
#define OCTO_TIMESYNC_H

#include <stdint.h>
#include <time.h>

#include <ethdev_driver.h>
#include <rte_stdatomic.h>

#include "octo_pf_way.h"
#include "octo_wire.h"

/**
 * @file
 * Timesync: each PF may have a clock of its own, so one of them, the clock PF, is the port's. A
 * rule of the switch leads PTP frames to it, and packets whose time of sending is asked for are
 * sent by it.
 */

struct octo_dev;

/* Values of octo_timesync.clock other than the index of the clock PF's port + 1. */
#define OCTO_TIMESYNC_OFF 0
#define OCTO_TIMESYNC_LOST UINT8_MAX /* there is no clock PF now */

/* Written under the control mutex. */
struct octo_timesync {
	RTE_ATOMIC(uint8_t) clock; /* read without the mutex */
	uint32_t life;             /* of the clock PF's port */
	uint32_t sends;            /* it as a mask; 0: none, or all leave by one port anyway */
	struct octo_pf_way rule;
	uint64_t retry_at; /* TSC at which a clock PF is sought again, 0: at once */
};

/* Called by the control thread: another PF becomes the clock PF if this one is not usable. */
void octo_timesync_follow_locked(struct octo_dev *octo);

/* As the port stops: timesync is disabled. */
void octo_timesync_stop_locked(struct octo_dev *octo);

/* Whom OCTO_WIRE_ASK() asks: the clock PF, none while it is lost; without timesync all PFs. */
struct octo_wire_turn octo_timesync_turn(struct rte_eth_dev *dev);

int octo_timesync_enable(struct rte_eth_dev *dev);
int octo_timesync_disable(struct rte_eth_dev *dev);
int octo_timesync_read_rx(struct rte_eth_dev *dev, struct timespec *time, uint32_t flags);
int octo_timesync_read_tx(struct rte_eth_dev *dev, struct timespec *time);
int octo_timesync_adjust_time(struct rte_eth_dev *dev, int64_t ns);
int octo_timesync_read_time(struct rte_eth_dev *dev, struct timespec *time);
int octo_timesync_write_time(struct rte_eth_dev *dev, const struct timespec *time);
int octo_read_clock(struct rte_eth_dev *dev, uint64_t *clock);

/* octo_timesync_freq.c; compat/ has no op of it where DPDK is older than 24.11 */
#ifndef OCTO_FREQ_OPS
int octo_timesync_adjust_freq(struct rte_eth_dev *dev, int64_t ppm);
#define OCTO_FREQ_OPS .timesync_adjust_freq = octo_timesync_adjust_freq
#endif

#endif /* OCTO_TIMESYNC_H */
