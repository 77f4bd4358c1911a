/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_AUDIT_STATE_H
#define OCTO_AUDIT_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "octo_audit.h"

/* Audit of all rules; under the control mutex. */
struct octo_audit {
	uint64_t steered_strays; /* samples of flows that have a rule */
	uint64_t steered_base;   /* value at the last reset */
	bool logged;             /* the first ineffective rule was logged */
	bool suspect;            /* some rule is ineffective, at least at times */
	uint64_t since;          /* ms; start of that state */
	uint64_t next_look;      /* ms; of the next audit of all rules */
	uint32_t pause;          /* ms; until the audit after that */
	uint16_t first_queue;    /* whose samples are taken first */
	uint32_t doubts;         /* ineffective rules for which a dialect was left on trial */
	/* audit of all rules, a few in each tick */
	struct {
		bool under_way;
		uint64_t lasted; /* ms; for which some rule has been ineffective */
		bool suspect;
		struct octo_tally pf;
		struct octo_tally queue;
	} look;
};

#endif /* OCTO_AUDIT_STATE_H */
