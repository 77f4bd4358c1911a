/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_SELECTIVE_RX_H
#define OCTO_SELECTIVE_RX_H

#include <stdbool.h>

#include <rte_ethdev.h>

/**
 * @file
 * Selective Rx: can a port discard segments of packets? compat/ has another answer where DPDK is
 * older than 26.07: none can.
 */

#ifndef octo_selective_rx_get
static inline bool
octo_selective_rx_get(const struct rte_eth_rxseg_capa *capa)
{
	return capa->selective_rx;
}

static inline void
octo_selective_rx_set(struct rte_eth_rxseg_capa *capa, bool can)
{
	capa->selective_rx = can;
}
#endif

#endif /* OCTO_SELECTIVE_RX_H */
