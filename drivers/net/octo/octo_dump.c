/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <inttypes.h>

#include <eal_export.h>

#include "octo_dump.h"
#include "octo_private.h"
#include "octo_view.h"
#include "rte_pmd_octo.h"

/* Limit on printed rules: `show port info all` must not list a million flows. */
#define FLOWS_AT_MOST 32

const char *
octo_dump_number(int64_t number, char text[OCTO_DUMP_NUMBER_MAX])
{
	if (number < 0)
		return "-";
	snprintf(text, OCTO_DUMP_NUMBER_MAX, "%" PRId64, number);
	return text;
}

const char *
octo_dump_pf_name(const struct octo_view_topology *view, int pf)
{
	return pf < 0 || pf >= view->nb_pfs ? "-" : view->pf[pf].name;
}

const char *
octo_dump_tier(const struct octo_view_topology *view, char text[OCTO_DUMP_TIER_MAX])
{
	if (strcmp(view->ignored, "none") == 0)
		return view->tier;
	snprintf(text, OCTO_DUMP_TIER_MAX, "%s (the NIC accepts %s rules and ignores them)",
		 view->tier, view->ignored);
	return text;
}

int
octo_dump(struct rte_eth_dev *dev, FILE *file)
{
	int ret = octo_dump_topology(dev->data->port_id, file);

	if (ret == 0)
		ret = octo_dump_steering(dev->data->port_id, FLOWS_AT_MOST, file);
	return ret;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_octo_topology_dump, 26.11)
int
rte_pmd_octo_topology_dump(uint16_t port_id, FILE *file)
{
	return octo_dump_topology(port_id, file);
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_octo_steering_dump, 26.11)
int
rte_pmd_octo_steering_dump(uint16_t port_id, FILE *file)
{
	return octo_dump_steering(port_id, UINT32_MAX, file);
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_octo_strays_dump, 26.11)
int
rte_pmd_octo_strays_dump(uint16_t port_id, FILE *file)
{
	return octo_dump_strays(port_id, file);
}
