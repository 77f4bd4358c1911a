/* SPDX-License-Identifier: BSD-3-Clause */

/* Before 24.03 the ops of flow queues were among those of rte_flow. */

#include <errno.h>

#include "../drivers/net/octosim/octosim_async.h"

RTE_INIT(octosim_async_ops_init)
{
	octosim_async_fill(&octosim_flow_ops);
#if !OCTO_DPDK_BEFORE(23, 7)
	octosim_update_fill(&octosim_flow_ops);
#endif
}

void
octosim_async_install(struct rte_eth_dev *dev)
{
	RTE_SET_USED(dev);
}

int
octosim_async_check_table(const struct rte_flow_template_table_attr *attr,
			  struct rte_flow_error *error)
{
#if !OCTO_DPDK_BEFORE(23, 3)
	if (attr->insertion_type != RTE_FLOW_TABLE_INSERTION_TYPE_PATTERN)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					  "rules are found by pattern, not by index");
#endif
	RTE_SET_USED(attr);
	RTE_SET_USED(error);
	return 0;
}
