/* SPDX-License-Identifier: BSD-3-Clause */

/* Where ethdev looks for the ops of flow queues since DPDK 24.03. */

#include "octo_private.h"

static struct rte_flow_fp_ops fp_ops;

RTE_INIT(octo_async_ops_init)
{
	/* called without a look at them: what is not here must refuse */
	fp_ops = rte_flow_fp_default_ops;
	octo_async_fill(&fp_ops);
}

void
octo_async_install(struct rte_eth_dev *dev)
{
	dev->flow_fp_ops = &fp_ops;
}
