/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_FLOW_PARSE_H
#define OCTO_FLOW_PARSE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_compat.h>
#include <rte_flow.h>

#include "octo_tuple.h"

/**
 * @file
 * Parses an rte_flow rule into a steerable one: an exact 5-tuple and its fate. Pure: accesses
 * no device; any thread, any process.
 */

enum octo_fate {
	OCTO_FATE_QUEUE, /**< to Rx queue `queue` of the port */
	OCTO_FATE_DROP,
	OCTO_FATE_PORT_REPRESENTOR, /**< transfer: to ethdev `to_port` */
	OCTO_FATE_REPRESENTED_PORT, /**< transfer: to the entity behind ethdev `to_port` */
};

#define OCTO_NO_PORT UINT16_MAX

/** A parsed rule. */
struct octo_flow_spec {
	struct octo_tuple tuple;
	enum octo_fate fate;
	uint32_t priority;  /**< 0 is the highest (rte_flow) */
	bool transfer;      /**< belongs to the NIC's switch, not to the port */
	bool match_all;     /**< everything that enters by `from_port`: there is no tuple */
	bool count;         /**< has a COUNT action */
	uint32_t count_id;  /**< of the COUNT action */
	uint16_t queue;     /**< with OCTO_FATE_QUEUE */
	uint16_t from_port; /**< ethdev of item REPRESENTED_PORT, or OCTO_NO_PORT */
	uint16_t to_port;   /**< ethdev of the two port actions, or OCTO_NO_PORT */
};

/**
 * Parse a rule: [REPRESENTED_PORT /] ETH / IPV4|IPV6 / TCP|UDP|SCTP that matches full addresses
 * and ports and nothing else, one fate (QUEUE, DROP, PORT_REPRESENTOR or REPRESENTED_PORT) and
 * at most one COUNT. For fate REPRESENTED_PORT the pattern may also be REPRESENTED_PORT [/ ETH]
 * alone. VOID is skipped everywhere. ETH may be left out; a field that is not part of the
 * 5-tuple must be masked out.
 *
 * @param spec
 *   Filled on success, unchanged on failure.
 * @param error
 *   May be NULL. Filled on failure with the cause and a message that a user can act on.
 * @return
 *   0, or a negative errno with rte_errno set: -ENOTSUP for a rule that is not an exact 5-tuple
 *   rule, -EINVAL for a rule that contradicts itself.
 */
__rte_internal
int octo_flow_parse(const struct rte_flow_attr *attr, const struct rte_flow_item pattern[],
		    const struct rte_flow_action actions[], struct octo_flow_spec *spec,
		    struct rte_flow_error *error);

/**
 * Does a pattern match exactly one 5-tuple?
 *
 * @param tuple
 *   Set if it does, else unchanged.
 * @return
 *   0 if it does, else a negative errno.
 */
__rte_internal
int octo_flow_parse_tuple(const struct rte_flow_item pattern[], struct octo_tuple *tuple);

#endif /* OCTO_FLOW_PARSE_H */
