/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTOSIM_CAPS_H
#define OCTOSIM_CAPS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_flow.h>

/**
 * @file
 * What a PF can be told to lack (devarg caps=), so that it is like one of the
 * NICs that cannot do all that this one can.
 */

struct octosim_orders;
struct octosim_pf;
struct octosim_reading;

enum octosim_cap {
	OCTOSIM_CAP_MPFS,
	OCTOSIM_CAP_MASKED,
	OCTOSIM_CAP_ARFS,
	OCTOSIM_CAP_GENERIC,
	OCTOSIM_CAP_COUNT,
	OCTOSIM_CAP_AGE,
	OCTOSIM_CAP_RSS,
	OCTOSIM_CAP_MARK,
	OCTOSIM_CAP_RETA,
	OCTOSIM_CAP_INDIRECT,
	OCTOSIM_CAP_UPDATE,
	OCTOSIM_CAP_ASYNC,
	OCTOSIM_CAP_TXSTATUS,
	OCTOSIM_CAP_TXDONE,
	OCTOSIM_NB_CAPS
};

/**
 * Read what is lacking: "-mpfs/-rss".
 *
 * @param lacks
 *   Gets the bits of it; unchanged on failure.
 * @return
 *   0 or -EINVAL; an error was logged.
 */
int octosim_caps_parse(const char *who, const char *text, uint32_t *lacks);

bool octosim_caps_has(const struct octosim_pf *pf, enum octosim_cap cap);

/** 0 if the PF has it; or else -ENOTSUP, and a sentence that says so. */
int
octosim_caps_need(const struct octosim_pf *pf, enum octosim_cap cap, struct rte_flow_error *error);

/** The same for all that these actions need. */
int octosim_caps_check_actions(const struct octosim_pf *pf, const struct octosim_orders *orders,
			       struct rte_flow_error *error);

/** And for all that a rule needs. */
int octosim_caps_check_rule(const struct octosim_pf *pf, const struct octosim_reading *reading,
			    struct rte_flow_error *error);

#endif /* OCTOSIM_CAPS_H */
