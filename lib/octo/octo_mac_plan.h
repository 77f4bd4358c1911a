/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_MAC_PLAN_H
#define OCTO_MAC_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_compat.h>
#include <rte_ether.h>

#include "octo_plan.h"

/**
 * @file
 * Tier mac: each PF has a MAC address of its own, and the NIC's switch sorts by these. If a PF
 * cannot be used, another has its address as well. One PF is designated: it receives what the
 * switch copies to several PFs. Pure functions.
 */

struct octo_mac_plan {
	uint8_t designated;                /**< PF for groups, promiscuity and added addresses */
	uint8_t holder[OCTO_PLAN_MAX_PFS]; /**< PF that has the address of each PF */
};

/**
 * Each usable PF holds its own address; the designated PF, the lowest usable one, holds all others.
 *
 * @param usable
 *   Bit mask; if 0, all PFs count as usable.
 */
__rte_internal
void octo_mac_plan_make(uint16_t nb_pfs, uint32_t usable, struct octo_mac_plan *plan);

/** The addresses whose holders differ, as a mask. */
__rte_internal
uint32_t octo_mac_plan_moved(uint16_t nb_pfs, const struct octo_mac_plan *before,
			     const struct octo_mac_plan *after);

/**
 * The addresses of other PFs, frames to which are copies if this PF receives them.
 *
 * @param promiscuous
 *   The designated PF receives all frames.
 * @return
 *   Bit mask; 0 if the PF receives no copies.
 */
__rte_internal
uint32_t octo_mac_plan_foreign(uint16_t nb_pfs, const struct octo_mac_plan *plan, uint8_t pf,
			       bool promiscuous);

/** Can these be the PFs' addresses? Returns why not, or NULL. */
__rte_internal
const char *octo_mac_plan_refuse(const struct rte_ether_addr *macs, uint16_t nb_pfs);

/** An address as a number, for fast comparison. */
static inline uint64_t
octo_mac_key(const uint8_t *addr)
{
	uint32_t high;
	uint16_t low;

	memcpy(&high, addr, sizeof(high));
	memcpy(&low, addr + sizeof(high), sizeof(low));
	return (uint64_t)low << 32 | high;
}

static inline void
octo_mac_put(uint8_t *addr, uint64_t key)
{
	const uint32_t high = (uint32_t)key;
	const uint16_t low = (uint16_t)(key >> 32);

	memcpy(addr, &high, sizeof(high));
	memcpy(addr + sizeof(high), &low, sizeof(low));
}

#endif /* OCTO_MAC_PLAN_H */
