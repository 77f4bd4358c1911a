/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_FLOW_BUILD_H
#define OCTO_FLOW_BUILD_H

#include <stdbool.h>

#include <rte_compat.h>
#include <rte_flow.h>

#include "octo_dialect.h"
#include "octo_partition.h"
#include "octo_tuple.h"

/**
 * @file
 * Builds the rte_flow rules that octo creates on PFs; for an exact 5-tuple this is the inverse
 * of octo_flow_parse(). Pure: accesses only the structure given; any thread, any process.
 */

/**
 * One rule with everything that its items and actions point to. It contains pointers into
 * itself, so it must not be copied.
 */
struct octo_flow_rule {
	struct rte_flow_attr attr;
	struct rte_flow_item pattern[5];
	struct rte_flow_action actions[3];
	struct rte_flow_item_ethdev from;
	union {
		struct rte_flow_item_eth eth; /* of a pattern without IP */
		struct rte_flow_item_ipv4 v4;
		struct rte_flow_item_ipv6 v6;
	} l3, l3_mask;
	union {
		struct rte_flow_item_tcp tcp;
		struct rte_flow_item_udp udp;
		struct rte_flow_item_sctp sctp;
	} l4, l4_mask;
	struct rte_flow_action_queue queue;
	struct rte_flow_action_ethdev to;
	struct rte_flow_action_count count;
};

/** ARFS rule: ingress, 5-tuple, QUEUE queue [, COUNT]. */
__rte_internal
void octo_flow_build_queue(struct octo_flow_rule *rule, const struct octo_tuple *tuple,
			   uint32_t priority, uint16_t queue, bool count);

/** ARFS rule with an indirect action in place of QUEUE, perhaps of another PF. */
__rte_internal
void octo_flow_build_indirect(struct octo_flow_rule *rule, const struct octo_tuple *tuple,
			      uint32_t priority, const struct rte_flow_action_handle *handle,
			      bool count);

/**
 * A transfer rule in a dialect: packets that enter by the wire behind ethdev `from_port`, 5-tuple,
 * to the PF of ethdev `to_port` [, COUNT]. Without a tuple (NULL): all packets that enter there, or
 * with a dialect that has no port item all packets of all ports.
 */
__rte_internal
void octo_flow_build_transfer(struct octo_flow_rule *rule, enum octo_dialect_id dialect,
			      const struct octo_tuple *tuple, uint32_t priority, uint16_t from_port,
			      uint16_t to_port, bool count);

/**
 * The same for packets of an EtherType in place of a 5-tuple, to lead those of many flows to a PF.
 *
 * @param ether_type
 *   0: all packets.
 */
__rte_internal
void
octo_flow_build_to_pf(struct octo_flow_rule *rule, enum octo_dialect_id dialect,
		      uint16_t ether_type, uint32_t priority, uint16_t from_port, uint16_t to_port);

/** Masked transfer rule: for IP packets of a family that match `masked` [, COUNT]. */
__rte_internal
void octo_flow_build_masked(struct octo_flow_rule *rule, enum octo_dialect_id dialect,
			    enum octo_tuple_family family, const struct octo_partition_rule *masked,
			    uint32_t priority, uint16_t from_port, uint16_t to_port, bool count);

#endif /* OCTO_FLOW_BUILD_H */
