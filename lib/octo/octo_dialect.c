/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include <eal_export.h>
#include <rte_bitops.h>

#include "octo_dialect.h"

static const struct octo_dialect dialects[OCTO_NB_DIALECTS] = {
	[OCTO_DIALECT_WIRE_ITEM] = {"wire-item", RTE_FLOW_ITEM_TYPE_REPRESENTED_PORT,
				    RTE_FLOW_ACTION_TYPE_PORT_REPRESENTOR, false},
	[OCTO_DIALECT_NO_ITEM] = {"no-item", RTE_FLOW_ITEM_TYPE_END,
				  RTE_FLOW_ACTION_TYPE_PORT_REPRESENTOR, false},
	[OCTO_DIALECT_REPRESENTED] = {"represented", RTE_FLOW_ITEM_TYPE_REPRESENTED_PORT,
				      RTE_FLOW_ACTION_TYPE_REPRESENTED_PORT, true},
	[OCTO_DIALECT_INDIRECT] = {"indirect", RTE_FLOW_ITEM_TYPE_END,
				   RTE_FLOW_ACTION_TYPE_INDIRECT, true},
};

RTE_EXPORT_INTERNAL_SYMBOL(octo_dialect_get)
const struct octo_dialect *
octo_dialect_get(unsigned int id)
{
	return &dialects[id];
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_dialect_find)
int
octo_dialect_find(const char *name)
{
	for (int id = 0; id < OCTO_NB_DIALECTS; id++)
		if (strcmp(name, dialects[id].name) == 0)
			return id;
	return -EINVAL;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_dialect_names)
const char *
octo_dialect_names(void)
{
	return "wire-item, no-item, represented or indirect";
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_dialect_usual)
uint32_t
octo_dialect_usual(void)
{
	uint32_t mask = 0;

	for (unsigned int id = 0; id < OCTO_NB_DIALECTS; id++)
		if (!dialects[id].on_request)
			mask |= RTE_BIT32(id);
	return mask;
}
