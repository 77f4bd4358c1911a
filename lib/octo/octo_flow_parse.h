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
 * Reads an rte_flow rule into what can be steered: an exact 5-tuple and what
 * is to happen with it. Pure: looks at no device, any thread, any process.
 */

enum octo_fate {
	OCTO_FATE_QUEUE, /**< to Rx queue `queue` of the port */
	OCTO_FATE_DROP,
	OCTO_FATE_PORT_REPRESENTOR, /**< transfer: to ethdev `to_port` */
	OCTO_FATE_REPRESENTED_PORT, /**< transfer: to what is behind ethdev `to_port` */
};

#define OCTO_NO_PORT UINT16_MAX

/** A rule that was understood. */
struct octo_flow_spec {
	struct octo_tuple tuple;
	enum octo_fate fate;
	uint32_t priority;  /**< 0 is the highest (rte_flow) */
	bool transfer;      /**< belongs to the NIC's switch, not to the port */
	bool match_all;     /**< all that enters by `from_port`: there is no tuple */
	bool count;         /**< has a COUNT action */
	uint32_t count_id;  /**< of the COUNT action */
	uint16_t queue;     /**< with OCTO_FATE_QUEUE */
	uint16_t from_port; /**< ethdev of item REPRESENTED_PORT, or OCTO_NO_PORT */
	uint16_t to_port;   /**< ethdev of the two port actions, or OCTO_NO_PORT */
};

/**
 * Read a rule: [REPRESENTED_PORT /] ETH / IPV4|IPV6 / TCP|UDP|SCTP with full
 * addresses and ports and nothing else matched, one fate (QUEUE, DROP,
 * PORT_REPRESENTOR or REPRESENTED_PORT) and at most one COUNT. The last of the
 * fates may also have REPRESENTED_PORT [/ ETH] alone as its pattern. VOID is skipped everywhere.
 * ETH may be left out; a field that is not part of the 5-tuple must be masked out.
 *
 * @param spec
 *   Filled on success, unchanged on failure.
 * @param error
 *   May be NULL. Filled on failure with the culprit and a sentence that a user can act on.
 * @return
 *   0, or a negative errno with rte_errno set: -ENOTSUP for what is not an exact
 *   5-tuple rule, -EINVAL for what contradicts itself.
 */
__rte_internal
int octo_flow_parse(const struct rte_flow_attr *attr, const struct rte_flow_item pattern[],
		    const struct rte_flow_action actions[], struct octo_flow_spec *spec,
		    struct rte_flow_error *error);

/**
 * Is an ingress pattern exactly one 5-tuple?
 *
 * @param tuple
 *   Set if it is, else unchanged.
 * @return
 *   0 if it is, else a negative errno.
 */
__rte_internal
int octo_flow_parse_tuple(const struct rte_flow_item pattern[], struct octo_tuple *tuple);

#endif /* OCTO_FLOW_PARSE_H */
