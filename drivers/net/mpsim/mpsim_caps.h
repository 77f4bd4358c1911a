/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_CAPS_H
#define MPSIM_CAPS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_flow.h>

/**
 * @file
 * Capabilities that a PF lacks (devarg caps=), to simulate NICs with fewer features.
 */

struct mpsim_orders;
struct mpsim_pf;
struct mpsim_reading;

enum mpsim_cap {
	MPSIM_CAP_MPFS,
	MPSIM_CAP_MASKED,
	MPSIM_CAP_ARFS,
	MPSIM_CAP_GENERIC,
	MPSIM_CAP_COUNT,
	MPSIM_CAP_AGE,
	MPSIM_CAP_RSS,
	MPSIM_CAP_MARK,
	MPSIM_CAP_RETA,
	MPSIM_CAP_INDIRECT,
	MPSIM_CAP_INDIRECT_QUEUE,
	MPSIM_CAP_UPDATE,
	MPSIM_CAP_ASYNC,
	MPSIM_CAP_TXSTATUS,
	MPSIM_CAP_TXDONE,
	MPSIM_CAP_RXINTR,
	MPSIM_CAP_TIMESYNC,
	MPSIM_CAP_RUNTIME,
	MPSIM_CAP_SPLIT,
	MPSIM_CAP_SELECTIVE,
	MPSIM_NB_CAPS
};

/**
 * Parse missing capabilities: "-mpfs/-rss".
 *
 * @param lacks
 *   Their bits are set; unchanged on failure.
 * @return
 *   0, or -EINVAL after logging an error.
 */
int mpsim_caps_parse(const char *who, const char *text, uint32_t *lacks);

bool mpsim_caps_has(const struct mpsim_pf *pf, enum mpsim_cap cap);

/** Check a capability. Returns 0, or -ENOTSUP with *error set. */
int mpsim_caps_need(const struct mpsim_pf *pf, enum mpsim_cap cap, struct rte_flow_error *error);

/** Check all capabilities that these actions need. */
int mpsim_caps_check_actions(const struct mpsim_pf *pf, const struct mpsim_orders *orders,
			     struct rte_flow_error *error);

/** Check all capabilities that a rule needs. */
int mpsim_caps_check_rule(const struct mpsim_pf *pf, const struct mpsim_reading *reading,
			  struct rte_flow_error *error);

#endif /* MPSIM_CAPS_H */
