/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>

#include <rte_errno.h>
#include <rte_flow.h>

#include "demo_traffic.h"

int
demo_flow_steer(uint16_t port, const struct demo_flow_id *id, uint16_t queue)
{
	const struct rte_flow_attr attr = {.ingress = 1};
	const struct rte_flow_item_ipv4 ip = {.hdr = {.src_addr = id->src, .dst_addr = id->dst}};
	const struct rte_flow_item_ipv4 ip_mask = {
		.hdr = {.src_addr = RTE_BE32(UINT32_MAX), .dst_addr = RTE_BE32(UINT32_MAX)}};
	const struct rte_flow_item_udp udp = {
		.hdr = {.src_port = id->src_port, .dst_port = id->dst_port}};
	const struct rte_flow_item_udp udp_mask = {
		.hdr = {.src_port = RTE_BE16(UINT16_MAX), .dst_port = RTE_BE16(UINT16_MAX)}};
	const struct rte_flow_item pattern[] = {
		{.type = RTE_FLOW_ITEM_TYPE_ETH},
		{.type = RTE_FLOW_ITEM_TYPE_IPV4, .spec = &ip, .mask = &ip_mask},
		{.type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &udp, .mask = &udp_mask},
		{.type = RTE_FLOW_ITEM_TYPE_END},
	};
	const struct rte_flow_action_queue to = {.index = queue};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &to},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	struct rte_flow_error error = {0};

	if (rte_flow_create(port, &attr, pattern, actions, &error) != NULL)
		return 0;
	fprintf(stderr, "octo demo: port %u refuses a rule: %s\n", port,
		error.message != NULL ? error.message : rte_strerror(rte_errno));
	return -rte_errno;
}
