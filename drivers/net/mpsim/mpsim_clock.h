/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_CLOCK_H
#define MPSIM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include <ethdev_driver.h>
#include <rte_stdatomic.h>

/**
 * @file
 * The clock of a PF, for timesync and rte_eth_read_clock(). Each PF has one of its own, and those
 * of two PFs are far apart: a counter of nanoseconds, and a time that follows it with an offset and
 * a frequency. While timesync is enabled, PTP frames that the PF receives are flagged and event
 * messages of them stamped, and so are frames that it sends with RTE_MBUF_F_TX_IEEE1588_TMST.
 */

struct mpsim_pf;

/** Registers of Rx timestamps, used in turn: a mbuf names one in its field `timesync`. */
#define MPSIM_CLOCK_STAMPS 4

/** A register; reading it empties it. */
struct mpsim_stamp {
	int64_t ns;
	bool is_set;
};

/** Under the NIC's lock. */
struct mpsim_clock {
	RTE_ATOMIC(bool) on; /**< timesync is enabled; read without the lock */
	uint64_t born;       /**< octo_now() when the counter began */
	uint64_t began_at;   /**< the counter at that time, in ns */
	uint64_t set_at;     /**< the counter when the time was set last, or its frequency */
	int64_t time;        /**< the time then, in ns */
	int64_t ppm;         /**< by which the time is faster than the counter; scaled by 2^16 */
	struct mpsim_stamp rx[MPSIM_CLOCK_STAMPS];
	uint16_t next_rx;
	struct mpsim_stamp tx;
};

/** No pair: frames that pass while timesync is being enabled may be stamped or not. */
static inline bool
mpsim_clock_is_on(const struct mpsim_clock *clock)
{
	return rte_atomic_load_explicit(&clock->on, rte_memory_order_relaxed);
}

/** Begin to count; the PF has its index. */
void mpsim_clock_init(struct mpsim_pf *pf);

/** Flag and stamp a received frame, if it is PTP; under the NIC's lock. */
void mpsim_clock_receive(struct mpsim_pf *pf, const uint8_t *frame, struct rte_mbuf *m);

/** How many of the frames are to be sent so that one that is to be stamped was; 0: there is none */
uint16_t mpsim_clock_find(struct rte_mbuf *const *pkts, uint16_t n);

/** A frame that is to be stamped is sent now. Takes the NIC's lock. */
void mpsim_clock_send(struct mpsim_pf *pf);

int mpsim_timesync_enable(struct rte_eth_dev *dev);
int mpsim_timesync_disable(struct rte_eth_dev *dev);
int mpsim_timesync_read_rx(struct rte_eth_dev *dev, struct timespec *time, uint32_t number);
int mpsim_timesync_read_tx(struct rte_eth_dev *dev, struct timespec *time);
int mpsim_timesync_adjust_time(struct rte_eth_dev *dev, int64_t ns);
int mpsim_timesync_adjust_freq(struct rte_eth_dev *dev, int64_t ppm);
int mpsim_timesync_read_time(struct rte_eth_dev *dev, struct timespec *time);
int mpsim_timesync_write_time(struct rte_eth_dev *dev, const struct timespec *time);
int mpsim_read_clock(struct rte_eth_dev *dev, uint64_t *clock);

/* compat/ has none where DPDK is older than 24.11 */
#ifndef MPSIM_FREQ_OPS
#define MPSIM_FREQ_OPS .timesync_adjust_freq = mpsim_timesync_adjust_freq
#endif

#endif /* MPSIM_CLOCK_H */
