/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTOSIM_FILTER_H
#define OCTOSIM_FILTER_H

#include "octosim.h"

/**
 * @file
 * Which frames a NIC lets in: addresses, groups, VLANs.
 */

int octosim_promiscuous_enable(struct rte_eth_dev *dev);
int octosim_promiscuous_disable(struct rte_eth_dev *dev);
int octosim_allmulticast_enable(struct rte_eth_dev *dev);
int octosim_allmulticast_disable(struct rte_eth_dev *dev);
int octosim_mac_addr_set(struct rte_eth_dev *dev, struct rte_ether_addr *addr);
int octosim_mac_addr_add(struct rte_eth_dev *dev, struct rte_ether_addr *addr, uint32_t index,
			 uint32_t pool);
void octosim_mac_addr_remove(struct rte_eth_dev *dev, uint32_t index);
int octosim_mc_addr_list_set(struct rte_eth_dev *dev, struct rte_ether_addr *addrs, uint32_t n);
int octosim_vlan_filter_set(struct rte_eth_dev *dev, uint16_t vlan, int on);
int octosim_vlan_offload_set(struct rte_eth_dev *dev, int mask);
void octosim_vlan_strip_queue_set(struct rte_eth_dev *dev, uint16_t queue, int on);

/** Forget what the PF asked for; it is closing. Under the NIC's lock. */
void octosim_filter_forget(struct octosim_pf *pf);

/** Does the NIC take frames to this destination? Under the NIC's lock. */
bool octosim_filter_accepts(const struct octosim_nic *nic, const uint8_t *dst);

#endif /* OCTOSIM_FILTER_H */
