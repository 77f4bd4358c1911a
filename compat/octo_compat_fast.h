/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * From 25.11 on ethdev calls fast-path operations without a check for NULL. Until 26.03 they
 * are NULL for a port that is stopped, or that this process has not attached, such as a PF that
 * a secondary process has not attached yet.
 */

#ifndef OCTO_COMPAT_FAST_H
#define OCTO_COMPAT_FAST_H

#include <errno.h>

#include <rte_ethdev.h>

static inline int
octo_compat_rx_queue_count(uint16_t port, uint16_t queue)
{
	return rte_eth_fp_ops[port].rx_queue_count == NULL ? -ENOTSUP :
							     rte_eth_rx_queue_count(port, queue);
}
#define rte_eth_rx_queue_count octo_compat_rx_queue_count

static inline int
octo_compat_rx_descriptor_status(uint16_t port, uint16_t queue, uint16_t offset)
{
	return rte_eth_fp_ops[port].rx_descriptor_status == NULL ?
		       -ENOTSUP :
		       rte_eth_rx_descriptor_status(port, queue, offset);
}
#define rte_eth_rx_descriptor_status octo_compat_rx_descriptor_status

static inline int
octo_compat_tx_descriptor_status(uint16_t port, uint16_t queue, uint16_t offset)
{
	return rte_eth_fp_ops[port].tx_descriptor_status == NULL ?
		       -ENOTSUP :
		       rte_eth_tx_descriptor_status(port, queue, offset);
}
#define rte_eth_tx_descriptor_status octo_compat_tx_descriptor_status

static inline int
octo_compat_tx_queue_count(uint16_t port, uint16_t queue)
{
	return rte_eth_fp_ops[port].tx_queue_count == NULL ? -ENOTSUP :
							     rte_eth_tx_queue_count(port, queue);
}
#define rte_eth_tx_queue_count octo_compat_tx_queue_count

static inline uint16_t
octo_compat_tx_prepare(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t nb)
{
	return rte_eth_fp_ops[port].tx_pkt_prepare == NULL ?
		       nb :
		       rte_eth_tx_prepare(port, queue, pkts, nb);
}
#define rte_eth_tx_prepare octo_compat_tx_prepare

#endif /* OCTO_COMPAT_FAST_H */
