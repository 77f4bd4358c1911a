/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_COMPAT_ETHDEV_H
#define OCTO_COMPAT_ETHDEV_H

#include <errno.h>
#include <string.h>

#include <rte_ethdev.h>

/* 25.11: per-queue counters left struct rte_eth_stats. */
struct eth_queue_stats {
	uint64_t q_ipackets[RTE_ETHDEV_QUEUE_STAT_CNTRS];
	uint64_t q_opackets[RTE_ETHDEV_QUEUE_STAT_CNTRS];
	uint64_t q_ibytes[RTE_ETHDEV_QUEUE_STAT_CNTRS];
	uint64_t q_obytes[RTE_ETHDEV_QUEUE_STAT_CNTRS];
	uint64_t q_errors[RTE_ETHDEV_QUEUE_STAT_CNTRS];
};

static inline void
octo_compat_copy_queue_stats(struct rte_eth_stats *stats, const struct eth_queue_stats *q)
{
	memcpy(stats->q_ipackets, q->q_ipackets, sizeof(stats->q_ipackets));
	memcpy(stats->q_opackets, q->q_opackets, sizeof(stats->q_opackets));
	memcpy(stats->q_ibytes, q->q_ibytes, sizeof(stats->q_ibytes));
	memcpy(stats->q_obytes, q->q_obytes, sizeof(stats->q_obytes));
	memcpy(stats->q_errors, q->q_errors, sizeof(stats->q_errors));
}

#define OCTO_COMPAT_STATS_GET(fn)                                                                  \
	int fn##_(struct rte_eth_dev *dev, struct rte_eth_stats *stats,                            \
		  struct eth_queue_stats *qstats);                                                 \
	static inline int fn(struct rte_eth_dev *dev, struct rte_eth_stats *stats)                 \
	{                                                                                          \
		struct eth_queue_stats q = {0};                                                    \
		int ret = fn##_(dev, stats, &q);                                                   \
                                                                                                   \
		if (ret == 0)                                                                      \
			octo_compat_copy_queue_stats(stats, &q);                                   \
		return ret;                                                                        \
	}

OCTO_COMPAT_STATS_GET(octo_stats_get)
OCTO_COMPAT_STATS_GET(mpsim_stats_get)
#define octo_stats_get(dev, stats, qstats) octo_stats_get_(dev, stats, qstats)
#define mpsim_stats_get(dev, stats, qstats) mpsim_stats_get_(dev, stats, qstats)

/* 25.11: the number of used descriptors is an int. */
int octo_rx_queue_count_(void *rxq);
int mpsim_rx_queue_count_(void *rxq);

static inline uint32_t
octo_rx_queue_count(void *rxq)
{
	return octo_rx_queue_count_(rxq);
}

static inline uint32_t
mpsim_rx_queue_count(void *rxq)
{
	return mpsim_rx_queue_count_(rxq);
}
#define octo_rx_queue_count(rxq) octo_rx_queue_count_(rxq)
#define mpsim_rx_queue_count(rxq) mpsim_rx_queue_count_(rxq)

#if OCTO_DPDK_BEFORE(24, 3)
/* 24.03: the number of used descriptors of a Tx queue. Here no port tells it. */
#define OCTO_SET_TX_QUEUE_COUNT(dev, fn) RTE_SET_USED(fn)

static inline int
rte_eth_tx_queue_count(uint16_t port, uint16_t queue)
{
	RTE_SET_USED(port);
	RTE_SET_USED(queue);
	return -ENOTSUP;
}
#endif

#if OCTO_DPDK_BEFORE(23, 11)
/* 23.11: these members. Before, reserved ones, which are zero, stand in. */
#define rss_algo_capa reserved_64s[0]
#define max_rx_bufsize reserved_64s[1]
#define RTE_ETH_HASH_ALGO_CAPA_MASK(function) RTE_BIT32(RTE_ETH_HASH_FUNCTION_##function)
#endif

#if OCTO_DPDK_BEFORE(24, 3)
/* 24.03: the list of packet types has a length; before, it ended with UNKNOWN. */
const uint32_t *octo_ptypes_get_(struct rte_eth_dev *dev, size_t *n);
const uint32_t *octo_split_ptypes_get_(struct rte_eth_dev *dev, size_t *n);
const uint32_t *mpsim_ptypes_get_(struct rte_eth_dev *dev, size_t *n);
const uint32_t *mpsim_split_ptypes_get_(struct rte_eth_dev *dev, size_t *n);

static inline const uint32_t *
octo_ptypes_get(struct rte_eth_dev *dev)
{
	size_t n;

	return octo_ptypes_get_(dev, &n);
}

static inline const uint32_t *
mpsim_ptypes_get(struct rte_eth_dev *dev)
{
	size_t n;

	return mpsim_ptypes_get_(dev, &n);
}

static inline const uint32_t *
octo_split_ptypes_get(struct rte_eth_dev *dev)
{
	size_t n;

	return octo_split_ptypes_get_(dev, &n);
}

static inline const uint32_t *
mpsim_split_ptypes_get(struct rte_eth_dev *dev)
{
	size_t n;

	return mpsim_split_ptypes_get_(dev, &n);
}
#define octo_ptypes_get(dev, n) octo_ptypes_get_(dev, n)
#define mpsim_ptypes_get(dev, n) mpsim_ptypes_get_(dev, n)
#define octo_split_ptypes_get(dev, n) octo_split_ptypes_get_(dev, n)
#define mpsim_split_ptypes_get(dev, n) mpsim_split_ptypes_get_(dev, n)
#endif

#endif /* OCTO_COMPAT_ETHDEV_H */
