/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_FILTER_H
#define MPSIM_FILTER_H

#include "mpsim.h"

/**
 * @file
 * Filters of a NIC: addresses, groups, VLANs.
 */

int mpsim_promiscuous_enable(struct rte_eth_dev *dev);
int mpsim_promiscuous_disable(struct rte_eth_dev *dev);
int mpsim_allmulticast_enable(struct rte_eth_dev *dev);
int mpsim_allmulticast_disable(struct rte_eth_dev *dev);
int mpsim_mac_addr_set(struct rte_eth_dev *dev, struct rte_ether_addr *addr);
int mpsim_mac_addr_add(struct rte_eth_dev *dev, struct rte_ether_addr *addr, uint32_t index,
		       uint32_t pool);
void mpsim_mac_addr_remove(struct rte_eth_dev *dev, uint32_t index);
int mpsim_mc_addr_list_set(struct rte_eth_dev *dev, struct rte_ether_addr *addrs, uint32_t n);
int mpsim_vlan_filter_set(struct rte_eth_dev *dev, uint16_t vlan, int on);
int mpsim_vlan_offload_set(struct rte_eth_dev *dev, int mask);
void mpsim_vlan_strip_queue_set(struct rte_eth_dev *dev, uint16_t queue, int on);

/** Remove the filters of a PF that is closing. Under the NIC's lock. */
void mpsim_filter_forget(struct mpsim_pf *pf);

/** Does the NIC accept frames to this destination? Under the NIC's lock. */
bool mpsim_filter_accepts(const struct mpsim_nic *nic, const uint8_t *dst);

/** The same, where the switch sorts by addresses: does the PF get them, or a copy? */
bool mpsim_filter_pf_accepts(const struct mpsim_pf *pf, const uint8_t *dst);

#endif /* MPSIM_FILTER_H */
