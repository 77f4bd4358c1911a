/* SPDX-License-Identifier: BSD-3-Clause */

/* Before 24.03 the ops of flow queues were among those of rte_flow. */

#include <errno.h>

#include "../drivers/net/mpsim/mpsim_async.h"

RTE_INIT(mpsim_async_ops_init)
{
	mpsim_async_fill(&mpsim_flow_ops);
#if !OCTO_DPDK_BEFORE(23, 7)
	mpsim_update_fill(&mpsim_flow_ops);
#endif
}

void
mpsim_async_install(struct rte_eth_dev *dev)
{
	RTE_SET_USED(dev);
}

int
mpsim_async_check_table(const struct rte_flow_template_table_attr *attr,
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
