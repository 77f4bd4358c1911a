/* SPDX-License-Identifier: BSD-3-Clause */

#include <eal_export.h>
#include <rte_bitops.h>

#include "octo_mac_plan.h"

RTE_EXPORT_INTERNAL_SYMBOL(octo_mac_plan_make)
void
octo_mac_plan_make(uint16_t nb_pfs, uint32_t usable, struct octo_mac_plan *plan)
{
	*plan = (struct octo_mac_plan){0};
	plan->designated = usable == 0 ? 0 : (uint8_t)rte_bsf32(usable);
	for (uint8_t i = 0; i < nb_pfs; i++)
		plan->holder[i] = usable == 0 || (usable & RTE_BIT32(i)) ? i : plan->designated;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_mac_plan_moved)
uint32_t
octo_mac_plan_moved(uint16_t nb_pfs, const struct octo_mac_plan *before,
		    const struct octo_mac_plan *after)
{
	uint32_t moved = 0;

	for (uint8_t i = 0; i < nb_pfs; i++)
		if (before->holder[i] != after->holder[i])
			moved |= RTE_BIT32(i);
	return moved;
}

/* A PF that is to hold its address no more receives such frames as long as its port exists. */
RTE_EXPORT_INTERNAL_SYMBOL(octo_mac_plan_foreign)
uint32_t
octo_mac_plan_foreign(uint16_t nb_pfs, const struct octo_mac_plan *plan, uint8_t pf,
		      bool promiscuous)
{
	uint32_t foreign = 0;

	for (uint8_t i = 0; i < nb_pfs; i++)
		if (plan->holder[i] != pf && (i == pf || (promiscuous && plan->designated == pf)))
			foreign |= RTE_BIT32(i);
	return foreign;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_mac_plan_refuse)
const char *
octo_mac_plan_refuse(const struct rte_ether_addr *macs, uint16_t nb_pfs)
{
	if (nb_pfs < 2)
		return "there is only one PF, and one address";
	for (uint16_t i = 0; i < nb_pfs; i++) {
		if (!rte_is_valid_assigned_ether_addr(&macs[i]))
			return "the MAC address of a PF was not known when the port was made";
		for (uint16_t k = 0; k < i; k++)
			if (rte_is_same_ether_addr(&macs[i], &macs[k]))
				return "two PFs have the same MAC address: give each its own";
	}
	return NULL;
}
