/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include "mpsim.h"
#include "mpsim_filter.h"

#define BROADCAST UINT64_C(0xffffffffffff)

static bool
has_group(const struct mpsim_pf *pf, uint64_t key)
{
	for (uint32_t i = 0; i < pf->nb_mc; i++)
		if (pf->mc[i] == key)
			return true;
	return false;
}

static bool
accepts_multicast(const struct mpsim_nic *nic, uint64_t key)
{
	if (nic->allmulti != 0)
		return true;
	for (uint16_t i = 0; i < MPSIM_MAX_PFS; i++)
		if (nic->pf[i] != NULL && has_group(nic->pf[i], key))
			return true;
	return false;
}

bool
mpsim_filter_accepts(const struct mpsim_nic *nic, const uint8_t *dst)
{
	const uint64_t key = mpsim_mac_key(dst);

	if (key == nic->mac || key == BROADCAST || nic->promisc != 0)
		return true;
	if ((dst[0] & 1) != 0)
		return accepts_multicast(nic, key);
	for (uint16_t i = 0; i < nic->nb_macs; i++)
		if (nic->macs[i].key == key)
			return true;
	return false;
}

bool
mpsim_filter_pf_accepts(const struct mpsim_pf *pf, const uint8_t *dst)
{
	const uint64_t key = mpsim_mac_key(dst);
	const struct mpsim_nic *nic = pf->nic;
	const uint32_t bit = 1u << pf->index;

	if (key == pf->mac || key == BROADCAST || (nic->promisc & bit))
		return true;
	if ((dst[0] & 1) != 0)
		return (nic->allmulti & bit) || has_group(pf, key);
	for (uint16_t i = 0; i < nic->nb_macs; i++)
		if (nic->macs[i].key == key)
			return (nic->macs[i].pf_mask & bit) != 0;
	return false;
}

static void
set_mode(struct mpsim_pf *pf, uint32_t *mask, bool on)
{
	/* a representor receives all frames sent to it, and filters nothing for its PF */
	if (mpsim_is_representor(pf))
		return;
	mpsim_nic_lock(pf->nic);
	if (on)
		*mask |= 1u << pf->index;
	else
		*mask &= ~(1u << pf->index);
	mpsim_nic_unlock(pf->nic);
}

int
mpsim_promiscuous_enable(struct rte_eth_dev *dev)
{
	struct mpsim_pf *pf = dev->data->dev_private;

	set_mode(pf, &pf->nic->promisc, true);
	return 0;
}

int
mpsim_promiscuous_disable(struct rte_eth_dev *dev)
{
	struct mpsim_pf *pf = dev->data->dev_private;

	set_mode(pf, &pf->nic->promisc, false);
	return 0;
}

int
mpsim_allmulticast_enable(struct rte_eth_dev *dev)
{
	struct mpsim_pf *pf = dev->data->dev_private;

	set_mode(pf, &pf->nic->allmulti, true);
	return 0;
}

int
mpsim_allmulticast_disable(struct rte_eth_dev *dev)
{
	struct mpsim_pf *pf = dev->data->dev_private;

	set_mode(pf, &pf->nic->allmulti, false);
	return 0;
}

int
mpsim_mac_addr_set(struct rte_eth_dev *dev, struct rte_ether_addr *addr)
{
	struct mpsim_pf *pf = dev->data->dev_private;

	if (mpsim_is_representor(pf))
		return 0;
	mpsim_nic_lock(pf->nic);
	if (pf->nic->sorts_by_mac)
		pf->mac = mpsim_mac_key(addr->addr_bytes);
	else
		mpsim_nic_set_mac(pf->nic, addr);
	mpsim_nic_unlock(pf->nic);
	return 0;
}

static int
add_mac_locked(struct mpsim_nic *nic, uint64_t key, uint32_t pf_bit)
{
	uint16_t i = 0;

	while (i < nic->nb_macs && nic->macs[i].key != key)
		i++;
	if (i == MPSIM_MAX_MACS)
		return -ENOSPC;
	if (i == nic->nb_macs)
		nic->macs[nic->nb_macs++] = (struct mpsim_mac){.key = key};
	nic->macs[i].pf_mask |= pf_bit;
	return 0;
}

static void
remove_mac_locked(struct mpsim_nic *nic, uint16_t i, uint32_t pf_bit)
{
	nic->macs[i].pf_mask &= ~pf_bit;
	if (nic->macs[i].pf_mask == 0)
		nic->macs[i] = nic->macs[--nic->nb_macs];
}

int
mpsim_mac_addr_add(struct rte_eth_dev *dev, struct rte_ether_addr *addr, uint32_t index,
		   uint32_t pool)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	int ret;

	RTE_SET_USED(index);
	RTE_SET_USED(pool);
	if (mpsim_is_representor(pf))
		return 0;
	mpsim_nic_lock(pf->nic);
	ret = add_mac_locked(pf->nic, mpsim_mac_key(addr->addr_bytes), 1u << pf->index);
	mpsim_nic_unlock(pf->nic);
	if (ret != 0)
		MPSIM_LOG(ERR, dev->data->name, "the MAC table of NIC %s is full (%u addresses)",
			  pf->nic->name, MPSIM_MAX_MACS);
	return ret;
}

void
mpsim_mac_addr_remove(struct rte_eth_dev *dev, uint32_t index)
{
	const uint64_t key = mpsim_mac_key(dev->data->mac_addrs[index].addr_bytes);
	struct mpsim_pf *pf = dev->data->dev_private;
	struct mpsim_nic *nic = pf->nic;

	mpsim_nic_lock(nic);
	for (uint16_t i = 0; i < nic->nb_macs; i++) {
		if (nic->macs[i].key == key) {
			remove_mac_locked(nic, i, 1u << pf->index);
			break;
		}
	}
	mpsim_nic_unlock(nic);
}

int
mpsim_mc_addr_list_set(struct rte_eth_dev *dev, struct rte_ether_addr *addrs, uint32_t n)
{
	struct mpsim_pf *pf = dev->data->dev_private;

	if (n > MPSIM_MAX_MC_ADDRS) {
		MPSIM_LOG(ERR, dev->data->name, "%u multicast addresses do not fit: at most %u", n,
			  MPSIM_MAX_MC_ADDRS);
		return -ENOSPC;
	}
	mpsim_nic_lock(pf->nic);
	for (uint32_t i = 0; i < n; i++)
		pf->mc[i] = mpsim_mac_key(addrs[i].addr_bytes);
	pf->nb_mc = n;
	mpsim_nic_unlock(pf->nic);
	return 0;
}

void
mpsim_filter_forget(struct mpsim_pf *pf)
{
	const uint32_t bit = 1u << pf->index;
	struct mpsim_nic *nic = pf->nic;

	nic->promisc &= ~bit;
	nic->allmulti &= ~bit;
	pf->nb_mc = 0;
	for (uint16_t i = nic->nb_macs; i > 0; i--)
		if (nic->macs[i - 1].pf_mask & bit)
			remove_mac_locked(nic, i - 1, bit);
}

int
mpsim_vlan_filter_set(struct rte_eth_dev *dev, uint16_t vlan, int on)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	const uint64_t bit = UINT64_C(1) << (vlan % 64);

	mpsim_nic_lock(pf->nic);
	if (on)
		pf->vlans[vlan / 64] |= bit;
	else
		pf->vlans[vlan / 64] &= ~bit;
	mpsim_nic_unlock(pf->nic);
	return 0;
}

static void
set_strip_locked(struct mpsim_rxq *q, bool on)
{
	if (q == NULL)
		return;
	if (on)
		q->offloads |= RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
	else
		q->offloads &= ~RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
}

int
mpsim_vlan_offload_set(struct rte_eth_dev *dev, int mask)
{
	const uint64_t offloads = dev->data->dev_conf.rxmode.offloads;
	struct mpsim_pf *pf = dev->data->dev_private;

	mpsim_nic_lock(pf->nic);
	if (mask & RTE_ETH_VLAN_FILTER_MASK)
		pf->vlan_filter = (offloads & RTE_ETH_RX_OFFLOAD_VLAN_FILTER) != 0;
	for (uint16_t i = 0; (mask & RTE_ETH_VLAN_STRIP_MASK) && i < pf->nb_rxq; i++)
		set_strip_locked(pf->rxq[i], offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP);
	mpsim_nic_unlock(pf->nic);
	return 0;
}

void
mpsim_vlan_strip_queue_set(struct rte_eth_dev *dev, uint16_t queue, int on)
{
	struct mpsim_pf *pf = dev->data->dev_private;

	mpsim_nic_lock(pf->nic);
	set_strip_locked(pf->rxq[queue], on != 0);
	mpsim_nic_unlock(pf->nic);
}
