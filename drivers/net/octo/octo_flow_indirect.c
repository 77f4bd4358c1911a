/* SPDX-License-Identifier: BSD-3-Clause */

/* rte_flow: indirect actions. */

#include "octo_flow_ops.h"
#include "octo_private.h"

struct rte_flow_action_handle *
octo_flow_action_handle_create(struct rte_eth_dev *dev,
			       const struct rte_flow_indir_action_conf *conf,
			       const struct rte_flow_action *action, struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_of(dev);

	return OCTO_LOCKED(octo, octo_indirect_create_locked(octo, conf, action, error));
}

int
octo_flow_action_handle_destroy(struct rte_eth_dev *dev, struct rte_flow_action_handle *handle,
				struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_of(dev);

	return OCTO_LOCKED(octo, octo_indirect_destroy_locked(octo, handle, error));
}

int
octo_flow_action_handle_update(struct rte_eth_dev *dev, struct rte_flow_action_handle *handle,
			       const void *update, struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_of(dev);

	return OCTO_LOCKED(octo, octo_indirect_update_locked(octo, handle, update, error));
}

int
octo_flow_action_handle_query(struct rte_eth_dev *dev, const struct rte_flow_action_handle *handle,
			      void *data, struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_of(dev);

	return OCTO_LOCKED(octo, octo_indirect_query_locked(octo, handle, data, error));
}
