/* SPDX-License-Identifier: BSD-3-Clause */

/* Before 24.03 the ops of flow queues were among those of rte_flow. */

#include <errno.h>

#include "../drivers/net/octo/octo_private.h"

/* From 23.07 on ethdev calls this without a look whether it is there. */
#if !OCTO_DPDK_BEFORE(23, 7)
static int
refuse_update(struct rte_eth_dev *dev, uint32_t queue_id, const struct rte_flow_op_attr *attr,
	      struct rte_flow *flow, const struct rte_flow_action actions[], uint8_t template_index,
	      void *user_data, struct rte_flow_error *error)
{
	RTE_SET_USED(dev);
	RTE_SET_USED(queue_id);
	RTE_SET_USED(attr);
	RTE_SET_USED(flow);
	RTE_SET_USED(actions);
	RTE_SET_USED(template_index);
	RTE_SET_USED(user_data);
	return rte_flow_error_set(error, ENOSYS, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
				  "rules of template tables cannot be updated: "
				  "make another one and destroy this");
}
#endif

RTE_INIT(octo_async_ops_init)
{
	octo_async_fill(&octo_flow_ops);
#if !OCTO_DPDK_BEFORE(23, 7)
	octo_flow_ops.async_actions_update = refuse_update;
#endif
}

void
octo_async_install(struct rte_eth_dev *dev)
{
	RTE_SET_USED(dev);
}
