/* SPDX-License-Identifier: BSD-3-Clause */

/* What is particular to PFs of net_af_xdp, whose packets the kernel delivers. */

#include <stdlib.h>

#include <rte_devargs.h>
#include <rte_kvargs.h>

#include "octo_nic.h"

bool
octo_af_xdp_is(const struct rte_eth_dev_info *info)
{
	return info->driver_name != NULL && strcmp(info->driver_name, "net_af_xdp") == 0;
}

/* The number that the driver was given by this argument; -1 if by none. */
static long
number_of(const struct rte_eth_dev_info *info, const char *key)
{
	const struct rte_devargs *devargs = rte_dev_devargs(info->device);
	struct rte_kvargs *args;
	const char *value;
	long number;

	if (!octo_af_xdp_is(info) || devargs == NULL || devargs->args == NULL)
		return -1;
	args = rte_kvargs_parse(devargs->args, NULL);
	if (args == NULL)
		return -1;
	value = rte_kvargs_get(args, key);
	number = value == NULL ? -1 : strtol(value, NULL, 0);
	rte_kvargs_free(args);
	return number;
}

bool
octo_af_xdp_waits(const struct rte_eth_dev_info *info)
{
	return number_of(info, "busy_budget") == 0;
}

uint32_t
octo_af_xdp_netdev(const struct rte_eth_dev_info *info)
{
	return octo_af_xdp_is(info) ? info->if_index : 0;
}

uint32_t
octo_af_xdp_first_channel(const struct rte_eth_dev_info *info)
{
	const long first = number_of(info, "start_queue");

	return first > 0 ? (uint32_t)first : 0;
}
