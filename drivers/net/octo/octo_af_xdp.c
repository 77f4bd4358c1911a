/* SPDX-License-Identifier: BSD-3-Clause */

/* What is particular to PFs of net_af_xdp, whose packets the kernel delivers. */

#include <stdlib.h>

#include <rte_devargs.h>
#include <rte_kvargs.h>

#include "octo_af_xdp.h"

bool
octo_af_xdp_is(const struct rte_eth_dev_info *info)
{
	return info->driver_name != NULL && strcmp(info->driver_name, "net_af_xdp") == 0;
}

bool
octo_af_xdp_waits(const struct rte_eth_dev_info *info)
{
	const struct rte_devargs *devargs = rte_dev_devargs(info->device);
	struct rte_kvargs *args;
	const char *budget;
	bool waits;

	if (!octo_af_xdp_is(info) || devargs == NULL || devargs->args == NULL)
		return false;
	args = rte_kvargs_parse(devargs->args, NULL);
	if (args == NULL)
		return false;
	budget = rte_kvargs_get(args, "busy_budget");
	waits = budget != NULL && strtoul(budget, NULL, 0) == 0;
	rte_kvargs_free(args);
	return waits;
}
