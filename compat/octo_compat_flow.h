/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Items, actions and fields that an older rte_flow does not have. No rule can contain them; the
 * tables list them with a type that never matches.
 */

#ifndef OCTO_COMPAT_FLOW_H
#define OCTO_COMPAT_FLOW_H

#include <stddef.h>
#include <stdint.h>

#include <rte_flow.h>

#define OCTO_COMPAT_NO_TYPE (-1)
#define OCTO_COMPAT_NO_STRUCT(name)                                                                \
	struct name {                                                                              \
		uint8_t unused;                                                                    \
	}

#if OCTO_DPDK_BEFORE(23, 3)
#define RTE_FLOW_ITEM_TYPE_AGGR_AFFINITY OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_ITEM_TYPE_ICMP6_ECHO_REPLY OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_ITEM_TYPE_ICMP6_ECHO_REQUEST OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_ITEM_TYPE_IPV6_ROUTING_EXT OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_ITEM_TYPE_QUOTA OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_ACTION_TYPE_QUOTA OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_ACTION_TYPE_SKIP_CMAN OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_FIELD_FLEX_ITEM OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_FIELD_HASH_RESULT OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_FIELD_IPV6_PROTO OCTO_COMPAT_NO_TYPE
OCTO_COMPAT_NO_STRUCT(rte_flow_item_aggr_affinity);
OCTO_COMPAT_NO_STRUCT(rte_flow_item_icmp6_echo);
OCTO_COMPAT_NO_STRUCT(rte_flow_item_ipv6_routing_ext);
OCTO_COMPAT_NO_STRUCT(rte_flow_item_quota);
OCTO_COMPAT_NO_STRUCT(rte_flow_action_quota);
enum rte_flow_query_update_mode { OCTO_COMPAT_NO_MODE };
#endif

#if OCTO_DPDK_BEFORE(23, 7)
#define RTE_FLOW_ITEM_TYPE_IB_BTH OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_ITEM_TYPE_TX_QUEUE OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_ACTION_TYPE_INDIRECT_LIST OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_ACTION_TYPE_IPV6_EXT_PUSH OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_ACTION_TYPE_IPV6_EXT_REMOVE OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_FIELD_GENEVE_OPT_CLASS OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_FIELD_GENEVE_OPT_DATA OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_FIELD_GENEVE_OPT_TYPE OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_FIELD_MPLS OCTO_COMPAT_NO_TYPE
OCTO_COMPAT_NO_STRUCT(rte_flow_item_ib_bth);
OCTO_COMPAT_NO_STRUCT(rte_flow_item_tx_queue);
OCTO_COMPAT_NO_STRUCT(rte_flow_action_indirect_list);
struct rte_flow_action_list_handle;
OCTO_COMPAT_NO_STRUCT(rte_flow_action_ipv6_ext_remove);
struct rte_flow_action_ipv6_ext_push {
	uint8_t *data;
	size_t size;
	uint8_t type;
};
#endif

#if OCTO_DPDK_BEFORE(23, 11)
#define RTE_FLOW_ITEM_TYPE_PTYPE OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_ACTION_TYPE_PROG OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_FIELD_IPV4_IHL OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_FIELD_IPV4_TOTAL_LEN OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_FIELD_IPV6_PAYLOAD_LEN OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_FIELD_TCP_DATA_OFFSET OCTO_COMPAT_NO_TYPE
OCTO_COMPAT_NO_STRUCT(rte_flow_item_ptype);
struct rte_flow_action_prog_argument {
	const char *name;
	uint32_t size;
	const uint8_t *value;
};
struct rte_flow_action_prog {
	const char *name;
	uint32_t args_num;
	const struct rte_flow_action_prog_argument *args;
};
#endif

#if OCTO_DPDK_BEFORE(24, 3)
#define RTE_FLOW_ITEM_TYPE_COMPARE OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_ITEM_TYPE_RANDOM OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_ACTION_TYPE_NAT64 OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_FIELD_ESP_PROTO OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_FIELD_ESP_SEQ_NUM OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_FIELD_ESP_SPI OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_FIELD_IPV4_PROTO OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_FIELD_IPV6_FLOW_LABEL OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_FIELD_IPV6_TRAFFIC_CLASS OCTO_COMPAT_NO_TYPE
#define RTE_FLOW_FIELD_RANDOM OCTO_COMPAT_NO_TYPE
/* 24.03: renamed, because the COMPARE item uses it too. */
#define rte_flow_field_data rte_flow_action_modify_data
OCTO_COMPAT_NO_STRUCT(rte_flow_item_random);
OCTO_COMPAT_NO_STRUCT(rte_flow_action_nat64);
struct rte_flow_item_compare {
	struct rte_flow_field_data a;
	struct rte_flow_field_data b;
};
#endif

#if OCTO_DPDK_BEFORE(24, 7)
#define RTE_FLOW_FIELD_VXLAN_LAST_RSVD OCTO_COMPAT_NO_TYPE
#endif

#if OCTO_DPDK_BEFORE(24, 11)
#define RTE_FLOW_ACTION_TYPE_JUMP_TO_TABLE_INDEX OCTO_COMPAT_NO_TYPE
#endif

#endif /* OCTO_COMPAT_FLOW_H */
