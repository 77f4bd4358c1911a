/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_CAPS_H
#define MPSIM_CAPS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_flow.h>

/**
 * @file
 * What a PF can be told to lack (devarg caps=), so that it is like one of the
 * NICs that cannot do all that this one can.
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
	MPSIM_CAP_UPDATE,
	MPSIM_CAP_ASYNC,
	MPSIM_CAP_TXSTATUS,
	MPSIM_CAP_TXDONE,
	MPSIM_NB_CAPS
};

/**
 * Read what is lacking: "-mpfs/-rss".
 *
 * @param lacks
 *   Gets the bits of it; unchanged on failure.
 * @return
 *   0 or -EINVAL; an error was logged.
 */
int mpsim_caps_parse(const char *who, const char *text, uint32_t *lacks);

bool mpsim_caps_has(const struct mpsim_pf *pf, enum mpsim_cap cap);

/** 0 if the PF has it; or else -ENOTSUP, and a sentence that says so. */
int mpsim_caps_need(const struct mpsim_pf *pf, enum mpsim_cap cap, struct rte_flow_error *error);

/** The same for all that these actions need. */
int mpsim_caps_check_actions(const struct mpsim_pf *pf, const struct mpsim_orders *orders,
			     struct rte_flow_error *error);

/** And for all that a rule needs. */
int mpsim_caps_check_rule(const struct mpsim_pf *pf, const struct mpsim_reading *reading,
			  struct rte_flow_error *error);

#endif /* MPSIM_CAPS_H */
