/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdalign.h>

#include <eal_export.h>
#include <rte_bitops.h>
#include <rte_errno.h>

#include "octo_tx_choice.h"

RTE_EXPORT_INTERNAL_SYMBOL(octo_tx_cost_add)
void
octo_tx_cost_add(struct octo_tx_cost *cost, const struct octo_plan_pfs *pfs, int node, uint32_t len)
{
	for (uint16_t pf = 0; pf < pfs->nb; pf++)
		if (node >= 0 && pfs->node[pf] >= 0 && node != pfs->node[pf])
			cost->crossing[pf] += len;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_tx_cost_least)
uint8_t
octo_tx_cost_least(const struct octo_tx_cost *cost, const struct octo_plan_pfs *pfs,
		   uint32_t usable, uint8_t home)
{
	uint8_t best = usable & RTE_BIT32(home) ? home : (uint8_t)rte_bsf32(usable);

	for (uint8_t pf = 0; pf < pfs->nb; pf++)
		if ((usable & RTE_BIT32(pf)) && cost->crossing[pf] < cost->crossing[best])
			best = pf;
	return best;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_tx_hint_register)
int
octo_tx_hint_register(struct octo_tx_hint *hint)
{
	static const struct rte_mbuf_dynfield field = {
		.name = OCTO_TX_HINT_NAME,
		.size = sizeof(uint16_t),
		.align = alignof(uint16_t),
	};
	static const struct rte_mbuf_dynflag flag = {.name = OCTO_TX_HINT_NAME};
	const int offset = rte_mbuf_dynfield_register(&field);
	const int bit = rte_mbuf_dynflag_register(&flag);

	if (offset < 0 || bit < 0)
		return -rte_errno;
	*hint = (struct octo_tx_hint){.offset = offset, .flag = RTE_BIT64(bit)};
	return 0;
}
