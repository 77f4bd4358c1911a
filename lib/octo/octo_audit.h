/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_AUDIT_H
#define OCTO_AUDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "octo_sample.h"

/**
 * @file
 * Audit: does a rule work? A NIC may accept rules and ignore them, so the status of a rule is
 * derived from packets: from those that its PFs counted, and from strays, which should not
 * occur. Pure; time is in milliseconds.
 *
 * A rule is expected to lead to a queue and, if there is a switch between the PFs, to a PF.
 */

enum octo_rule_status {
	OCTO_STATUS_UNPROVEN,      /**< not enough is known */
	OCTO_STATUS_WORKS,         /**< its PF counts packets, and no strays are known */
	OCTO_STATUS_PARTLY,        /**< its PF counts packets, others stray */
	OCTO_STATUS_PF_IGNORED,    /**< its packets come by another PF */
	OCTO_STATUS_QUEUE_IGNORED, /**< its packets come to another queue */
};

/** No PF is expected. */
#define OCTO_AUDIT_ANY_PF UINT8_MAX

struct octo_expected {
	uint16_t queue;
	uint8_t pf; /**< OCTO_AUDIT_ANY_PF if the network chooses it */
};

/** Observations of a rule's packets since it leads where it leads now. */
struct octo_observed {
	uint64_t installed;  /**< when the rule was installed there */
	uint64_t last_bad;   /**< when the last packet in a wrong place came */
	uint64_t hits_read;  /**< when the hits were read */
	uint64_t hits_pf;    /**< hits by the expected PF at that time */
	uint64_t hits_all;   /**< hits by all PFs at that time */
	uint32_t turn;       /**< turn of the ring at the last such packet */
	uint16_t queue;      /**< of the last such packet */
	uint8_t pf;          /**< of the last such packet */
	bool has_bad;        /**< there was such a packet since */
	bool hits_unknown;   /**< hits were not read since */
	bool kept_pf;        /**< the expected PF has counted packets */
	bool kept_queue;     /**< a PF has counted packets, or one came to the queue */
	uint8_t wrong_pf;    /**< proofs in a row */
	uint8_t wrong_queue; /**< proofs in a row */
};

/** The rule is new, or (moved) leads elsewhere from now on: discard earlier observations. */
__rte_internal
void octo_observed_start(struct octo_observed *e, uint64_t now, bool moved);

/**
 * A packet of the rule strayed.
 *
 * Packets may be in the NIC, or wait in rings, while rules change. So several packets are
 * required that certainly entered a ring after the rule was installed; see OCTO_AUDIT_PROOFS.
 * Samples wait, too: the time at which they were taken counts, not when they are read.
 */
__rte_internal
void octo_observed_stray(struct octo_observed *e, const struct octo_expected *expected,
			 const struct octo_sample *s);

/** Account for the rule's hits, by the expected PF and by all PFs. */
__rte_internal
void octo_observed_hits(struct octo_observed *e, uint64_t by_pf, uint64_t by_all, uint64_t now);

/**
 * Account for packets that the switch matched for a rule without hit counters on PFs. They do
 * not show by which PF they came; but if there are more than `many` since the last stray, some
 * would have been sampled if they had strayed.
 */
__rte_internal
void octo_observed_matched(struct octo_observed *e, uint64_t matched, uint64_t many, uint64_t now);

/** Called for a rule without any hit counter: strays of long ago are forgotten. */
__rte_internal
void octo_observed_uncounted(struct octo_observed *e, uint64_t now);

__rte_internal
enum octo_rule_status octo_observed_status(const struct octo_observed *e);

static inline bool
octo_rule_status_is_ineffective(enum octo_rule_status v)
{
	return v >= OCTO_STATUS_PF_IGNORED;
}

/** "unproven", "works", "works in part", "PF ignored", "queue ignored" */
__rte_internal
const char *octo_rule_status_name(enum octo_rule_status v);

/** Packets in a row in a wrong place that cannot have been in the NIC before, as proof. */
#define OCTO_AUDIT_PROOFS 4
/** A packet that has passed the switch is in a ring within this time. */
#define OCTO_AUDIT_GRACE_MS 100
/** A rule that gets hits and had no strays for this long works (again). */
#define OCTO_AUDIT_QUIET_MS 1000
/** A rule without hit counters and without strays for this long is unproven. */
#define OCTO_AUDIT_FORGET_MS 4000
/** This many ineffective rules are taken as representative. */
#define OCTO_AUDIT_MANY 8

/**
 * Count of rules by what was observed, for one of the two expectations: queue or PF. Zeroed
 * memory is a valid start.
 */
struct octo_tally {
	uint32_t kept;
	uint32_t broken;
	uint32_t unknown;
	uint16_t way; /**< PF or queue by which the packets of the first rule came */
	bool several; /**< they came by more than one */
};

/** Add a rule, by the PF by which its packets come. */
__rte_internal
void octo_tally_pf(struct octo_tally *t, const struct octo_observed *e, uint8_t expected);

/** Add a rule, by the queue to which its packets come. */
__rte_internal
void octo_tally_queue(struct octo_tally *t, const struct octo_observed *e, uint16_t expected);

/**
 * Does the NIC ignore the rules?
 *
 * If it does, some rules seem to work by chance: those that lead where all packets go.
 *
 * @param waited
 *   The state has lasted for a while.
 */
__rte_internal
bool octo_tally_is_ignored(const struct octo_tally *t, bool waited);

/**
 * Do all flows that were seen come by one way, some of them against their rules? So it is if the
 * NIC ignores the rules, but also if the flows of the other rules are silent.
 */
__rte_internal
bool octo_tally_is_doubtful(const struct octo_tally *t);

#endif /* OCTO_AUDIT_H */
