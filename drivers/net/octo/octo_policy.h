/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_POLICY_H
#define OCTO_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "octo_audit.h"
#include "octo_learn.h"
#include "octo_learning.h"
#include "octo_sample.h"

struct octo_dev;
struct rte_flow;

/* Learning; under the control mutex. */
struct octo_learning {
	struct rte_pmd_octo_learning_settings settings;
	bool stale;   /* the tier has changed, and learning has not been adapted */
	bool counted; /* the switch counts the hits of learned rules */
	bool logged_full;
	bool logged_refused;
	uint64_t samples;       /* of flows without a rule */
	struct octo_tuple mate; /* to be learned with the flow; family 0: none */
	/* values at the last reset */
	uint64_t samples_base;
	struct octo_learn_stats base;
	struct octo_learn *policy; /* primary only */
};

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

/* octo_learn.c: learning; all under the control mutex */
int octo_learn_init(struct octo_dev *octo, const struct rte_pmd_octo_learning_settings *settings);
void octo_learn_fini(struct octo_dev *octo);
void octo_learn_adapt_locked(struct octo_dev *octo);
void octo_learn_follow_tier_locked(struct octo_dev *octo);
void octo_learn_publish_counts_locked(struct octo_dev *octo);
void octo_learn_stray_locked(struct octo_dev *octo, const struct octo_sample *s);
void octo_learn_follow_queue_locked(struct octo_dev *octo, struct rte_flow *rule, uint16_t queue);
bool octo_learn_make_room_locked(struct octo_dev *octo);
void octo_learn_unlearn_locked(struct octo_dev *octo, struct rte_flow *rule);
void octo_learn_forget_locked(struct octo_dev *octo, struct rte_flow *rule);
void octo_learn_tick_locked(struct octo_dev *octo);
void octo_learn_counts(const struct octo_dev *octo, struct octo_learn_stats *stats);
void octo_learn_reset_counts(struct octo_dev *octo);

/* octo_audit.c: audit of steered flows; all under the control mutex */
void octo_audit_start_locked(struct octo_dev *octo);
bool octo_audit_follow_locked(struct octo_dev *octo);
enum octo_rule_status
octo_audit_status_locked(struct octo_dev *octo, struct rte_flow *rule, int64_t *hits);

#endif /* OCTO_POLICY_H */
