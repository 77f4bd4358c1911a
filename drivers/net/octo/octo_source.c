/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include <rte_string_fns.h>

#include "octo_source.h"
#include "octo_view.h"

/* Rules per call of the view: for each one a PF's firmware may be queried. */
#define RULES_PER_LOOK 16

int
octo_source_names(const struct octo_measured *port, struct octo_measure_names *names, char *why)
{
	struct octo_view_topology view;

	if (rte_pmd_octo_view_topology(port->port_id, &view) != 0) {
		snprintf(why, OCTO_MEASURE_WHY_MAX, "this is not an octo port");
		return -ENODEV;
	}
	rte_strscpy(names->port, view.name, sizeof(names->port));
	for (uint16_t i = 0; i < view.nb_pfs; i++)
		rte_strscpy(names->pf[i], view.pf[i].name, sizeof(names->pf[i]));
	return 0;
}

/* The sum is unknown if one rule is not counted. */
uint64_t
octo_source_hits(const struct octo_measured *port, uint64_t nb_rules)
{
	struct octo_view_rule rules[RULES_PER_LOOK];
	uint32_t total = 0;
	uint32_t start = 0;
	uint64_t sum = 0;
	int nb;

	/*
	 * Read few pages only: the view continues at a cursor that all readers share, so a reader
	 * of many rules would have to start from the first rule each time.
	 */
	if (nb_rules > OCTO_MEASURE_MAX_RULES)
		return OCTO_RATE_UNKNOWN;
	do {
		nb = rte_pmd_octo_view_rules(port->port_id, start, rules, RULES_PER_LOOK, &total);
		if (nb < 0 || total > OCTO_MEASURE_MAX_RULES)
			return OCTO_RATE_UNKNOWN;
		for (int i = 0; i < nb; i++) {
			if (rules[i].hits < 0)
				return OCTO_RATE_UNKNOWN;
			sum += (uint64_t)rules[i].hits;
		}
		start += (uint32_t)nb;
	} while (nb == RULES_PER_LOOK);
	return sum;
}

/* Source for telemetry: without the figures that only an application has. */
static const struct octo_measure_source source = {
	.names = octo_source_names,
	.xstats = octo_measure_ethdev_xstats,
	.hits = octo_source_hits,
};

RTE_INIT(octo_source_init)
{
	rte_pmd_octo_view_watch(octo_measure_forget);
	octo_measure_register_telemetry(&source);
}
