/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_AF_XDP_H
#define OCTO_AF_XDP_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>

/**
 * With busy polling an empty poll of a queue makes NAPI deliver what the NIC has. The guide of
 * net_af_xdp defers the NIC's interrupts, which do the same, to two times 200 us. Until a poll so
 * much later is empty as well, the NIC may have packets of the time of the first one.
 */
#define OCTO_AF_XDP_SETTLE_US 1000

/** Largest ring of a NIC (ethtool -G): packets wait there and in the ring of the socket. */
#define OCTO_AF_XDP_NIC_RING 8192

bool octo_af_xdp_is(const struct rte_eth_dev_info *info);

/**
 * Do its bursts wait? Then those of the other PFs wait with them. Without busy polling net_af_xdp
 * calls poll() for up to a second where a queue is empty (rte_eth_af_xdp.c, af_xdp_rx_zc()).
 */
bool octo_af_xdp_waits(const struct rte_eth_dev_info *info);

/** The index of the netdev that the port is of; 0: the driver is another one. */
uint32_t octo_af_xdp_netdev(const struct rte_eth_dev_info *info);

/** The channel of the netdev that queue 0 of the port is. */
uint32_t octo_af_xdp_first_channel(const struct rte_eth_dev_info *info);

#endif /* OCTO_AF_XDP_H */
