/* SPDX-License-Identifier: BSD-3-Clause */

/* Counters of a port of this process, by the public ethdev API. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <eal_export.h>
#include <rte_ethdev.h>

#include "octo_measurement.h"

bool
octo_measure_is_octo(uint16_t port_id)
{
	struct rte_eth_dev_info info;

	return rte_eth_dev_is_valid_port(port_id) && rte_eth_dev_info_get(port_id, &info) == 0 &&
	       info.driver_name != NULL && strcmp(info.driver_name, "net_octo") == 0;
}

/* Read names and values. Returns -EAGAIN if they change in between, as when a PF comes or goes. */
static int
read_xstats(uint16_t port_id, struct octo_counts *now)
{
	const int nb = rte_eth_xstats_get_names(port_id, NULL, 0);
	struct rte_eth_xstat_name *names;
	struct rte_eth_xstat *values;
	int ret = -EAGAIN;

	if (nb <= 0)
		return -EAGAIN;
	names = calloc((size_t)nb, sizeof(*names) + sizeof(*values));
	if (names == NULL)
		return -EAGAIN;
	values = (struct rte_eth_xstat *)(names + nb);
	if (rte_eth_xstats_get_names(port_id, names, (unsigned int)nb) == nb &&
	    rte_eth_xstats_get(port_id, values, (unsigned int)nb) == nb)
		ret = 0;
	for (int i = 0; ret == 0 && i < nb; i++)
		octo_counts_take(now, names[i].name, values[i].value);
	free(names);
	return ret;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(octo_measure_ethdev_xstats, 26.11)
int
octo_measure_ethdev_xstats(const struct octo_measured *port, struct octo_counts *now, char *why)
{
	int ret = -EAGAIN;

	if (!rte_eth_dev_is_valid_port(port->port_id)) {
		snprintf(why, OCTO_MEASURE_WHY_MAX, "the port is gone");
		return -ENODEV;
	}
	for (int tries = 0; ret == -EAGAIN && tries < 3; tries++)
		ret = read_xstats(port->port_id, now);
	return ret;
}
