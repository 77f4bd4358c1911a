/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_DIALECT_H
#define OCTO_DIALECT_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_compat.h>
#include <rte_flow.h>

/**
 * @file
 * Dialects: how a `transfer` rule that leads a 5-tuple from the wire to a PF is written. PMDs read
 * port items and port actions differently, and may take a rule that then matches nothing. A dialect
 * is data: the items and actions that differ. Pure; any thread, any process.
 *
 * In the dialect "indirect" it is an `ingress` rule of the transfer proxy PF, and the action is an
 * indirect QUEUE action of the PF that it leads to: it chooses PF and queue at once.
 */

/* In the order in which they are tried. */
enum octo_dialect_id {
	OCTO_DIALECT_WIRE_ITEM,   /**< by the definitions of rte_flow; sfc, octo-agent */
	OCTO_DIALECT_NO_ITEM,     /**< bnxt: a port item selects a PCIe function, not the wire */
	OCTO_DIALECT_REPRESENTED, /**< representors of an E-Switch */
	OCTO_DIALECT_INDIRECT,    /**< indirect actions of one PF in rules of another */
	OCTO_NB_DIALECTS,
};

struct octo_dialect {
	const char *name; /**< of devarg dialect=, telemetry and log */
	/**
	 * Item that names the port by which packets enter, or END: there is none. Without it rules
	 * match packets of all ports, so a rule without a 5-tuple is not possible.
	 */
	enum rte_flow_item_type from;
	enum rte_flow_action_type to; /**< action that names the PF */
	/**
	 * Tried only if it was asked for. REPRESENTED_PORT of a PF's own ethdev is the wire by the
	 * definition of rte_flow, so that such rules may send packets back instead of receiving
	 * them. INDIRECT changes the priorities of all rules, and no released PMD takes actions of
	 * another port that lead to queues.
	 */
	bool on_request;
};

/** A dialect of enum octo_dialect_id. */
__rte_internal
const struct octo_dialect *octo_dialect_get(unsigned int id);

/** @return the dialect of that name, or -EINVAL. */
__rte_internal
int octo_dialect_find(const char *name);

/** @return all names, as "a, b or c". */
__rte_internal
const char *octo_dialect_names(void);

/** @return the mask of dialects that are tried without being asked for. */
__rte_internal
uint32_t octo_dialect_usual(void);

#endif /* OCTO_DIALECT_H */
