/* SPDX-License-Identifier: BSD-3-Clause */

/* Before 24.03 the ops of flow queues were among those of rte_flow. */

#include "../drivers/net/octo/octo_private.h"

RTE_INIT(octo_async_ops_init)
{
	octo_async_fill(&octo_flow_ops);
}

void
octo_async_install(struct rte_eth_dev *dev)
{
	RTE_SET_USED(dev);
}
