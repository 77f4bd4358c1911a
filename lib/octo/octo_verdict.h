/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_VERDICT_H
#define OCTO_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "octo_sample.h"

/**
 * @file
 * A rule is believed when it works. A NIC may accept rules and ignore them, so
 * what is known of a rule comes from packets: from those that its PFs counted
 * and from strays, which should not be there. Pure; time is in milliseconds.
 *
 * A rule promises a queue and, where there is a switch between the PFs, a PF.
 */

enum octo_verdict {
	OCTO_VERDICT_UNPROVEN,      /**< nothing is known */
	OCTO_VERDICT_WORKS,         /**< its PF counts packets, and none is known to stray */
	OCTO_VERDICT_PARTLY,        /**< its PF counts packets, others stray */
	OCTO_VERDICT_PF_IGNORED,    /**< its packets come by another PF */
	OCTO_VERDICT_QUEUE_IGNORED, /**< its packets come to another queue */
};

/** No PF is promised. */
#define OCTO_VERDICT_ANY_PF UINT8_MAX

struct octo_promise {
	uint16_t queue;
	uint8_t pf; /**< OCTO_VERDICT_ANY_PF where the network picks it */
};

/** What packets of the rule told since it has led where it leads. */
struct octo_evidence {
	uint64_t placed;     /**< when it was made to lead there */
	uint64_t last_bad;   /**< when a packet last came that should not */
	uint64_t hits_read;  /**< when they were noted */
	uint64_t hits_pf;    /**< hits by the promised PF at that time */
	uint64_t hits_all;   /**< hits by all PFs at that time */
	uint32_t turn;       /**< of the last such packet's ring */
	uint16_t queue;      /**< that packet came to */
	uint8_t pf;          /**< that packet came by */
	bool has_bad;        /**< there was one since the rule leads there */
	bool hits_unknown;   /**< hits are from before */
	bool kept_pf;        /**< the promised PF has counted packets */
	bool kept_queue;     /**< a PF has counted packets, or one came to the queue */
	uint8_t wrong_pf;    /**< proofs in a row */
	uint8_t wrong_queue; /**< proofs in a row */
};

/** The rule is new. */
__rte_internal
void octo_evidence_start(struct octo_evidence *e, uint64_t now);

/** The rule leads elsewhere from now on: what was known is history. */
__rte_internal
void octo_evidence_move(struct octo_evidence *e, uint64_t now);

/**
 * A packet of the rule strayed.
 *
 * Packets may be under way, or wait in rings, while rules change. So it takes some
 * that certainly entered a ring after the rule was placed; see OCTO_VERDICT_PROOFS.
 * Samples wait, too: what counts is when they were taken, not when they are read.
 */
__rte_internal
void octo_evidence_stray(struct octo_evidence *e, const struct octo_promise *promised,
			 const struct octo_sample *s);

/** So many packets hit the rule, by the promised PF and by all of them. */
__rte_internal
void octo_evidence_hits(struct octo_evidence *e, uint64_t by_pf, uint64_t by_all, uint64_t now);

/**
 * The switch matched so many packets of a rule whose hits no PF counts. That does
 * not show where they came in; but of more than `many` since the last stray, others
 * would have been sampled if they had strayed.
 */
__rte_internal
void octo_evidence_matched(struct octo_evidence *e, uint64_t matched, uint64_t many, uint64_t now);

/** Nobody counts: what strayed long ago, and has not since, is history. */
__rte_internal
void octo_evidence_uncounted(struct octo_evidence *e, uint64_t now);

__rte_internal
enum octo_verdict octo_evidence_verdict(const struct octo_evidence *e);

static inline bool
octo_verdict_is_ineffective(enum octo_verdict v)
{
	return v >= OCTO_VERDICT_PF_IGNORED;
}

/** "unproven", "works", "works in part", "PF ignored", "queue ignored" */
__rte_internal
const char *octo_verdict_name(enum octo_verdict v);

/** Packets in a row that broke a promise and cannot have been under way. */
#define OCTO_VERDICT_PROOFS 4
/** What the NIC has on its way from the switch to a ring arrives within this time. */
#define OCTO_VERDICT_GRACE_MS 100
/** A rule that gets hits and of which no stray came for so long works (again). */
#define OCTO_VERDICT_QUIET_MS 1000
/** Of a rule that nobody counts and of which no stray came for so long nothing is known. */
#define OCTO_VERDICT_FORGET_MS 4000
/** So many rules that break a promise speak for all. */
#define OCTO_VERDICT_MANY 8

/** One of the two promises, over all rules. Zeroed memory is a valid start. */
struct octo_tally {
	uint32_t kept;
	uint32_t broken;
	uint32_t unknown;
	uint16_t way; /**< PF or queue by which the first came */
	bool several; /**< they came by more than one */
};

/** Add the rule, by the PF that its packets come by. */
__rte_internal
void octo_tally_pf(struct octo_tally *t, const struct octo_evidence *e, uint8_t promised);

/** Add the rule, by the queue that its packets come to. */
__rte_internal
void octo_tally_queue(struct octo_tally *t, const struct octo_evidence *e, uint16_t promised);

/**
 * Does the NIC ignore the rules?
 *
 * Some rules of a NIC that ignores them come true by chance: those that lead where
 * all packets go.
 *
 * @param waited
 *   It has been like that for a while.
 */
__rte_internal
bool octo_tally_is_ignored(const struct octo_tally *t, bool waited);

#endif /* OCTO_VERDICT_H */
