/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Where ethdev looks for the ops of flow queues (DPDK 24.03), and what a
 * template table can ask for since 23.03.
 */

#include <errno.h>

#include "mpsim_async.h"

static struct rte_flow_fp_ops fp_ops;

RTE_INIT(mpsim_async_ops_init)
{
	/* called without a look at them: what is not here must refuse */
	fp_ops = rte_flow_fp_default_ops;
	mpsim_async_fill(&fp_ops);
	mpsim_update_fill(&fp_ops);
}

void
mpsim_async_install(struct rte_eth_dev *dev)
{
	dev->flow_fp_ops = &fp_ops;
}

int
mpsim_async_check_table(const struct rte_flow_template_table_attr *attr,
			struct rte_flow_error *error)
{
	if (attr->insertion_type == RTE_FLOW_TABLE_INSERTION_TYPE_PATTERN)
		return 0;
	return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
				  "rules are found by pattern, not by index");
}
