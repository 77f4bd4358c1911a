/* SPDX-License-Identifier: BSD-3-Clause */

#include <rte_errno.h>

#include "bench_flow.h"
#include "bench_rule.h"

int
bench_rule_create(uint16_t port, const struct octo_flow_rule *rule)
{
	struct rte_flow_error error = {0};

	if (rte_flow_create(port, &rule->attr, rule->pattern, rule->actions, &error) != NULL)
		return 0;
	return bench_rule_refused(port, &error);
}

int
bench_rule_steer(uint16_t port, uint32_t flow, uint16_t queue)
{
	struct octo_flow_rule rule;
	struct octo_tuple tuple;

	bench_flow_tuple(flow, &tuple);
	octo_flow_build_queue(&rule, &tuple, 0, queue, false);
	return bench_rule_create(port, &rule);
}

int
bench_rule_refused(uint16_t port, const struct rte_flow_error *error)
{
	fprintf(stderr, "%s: port %u refuses a rule: %s\n", app_name, port,
		error->message != NULL ? error->message : rte_strerror(rte_errno));
	return -rte_errno;
}
