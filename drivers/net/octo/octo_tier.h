/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_TIER_H
#define OCTO_TIER_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_flow.h>

#include "octo_migration.h"
#include "octo_partition.h"

/**
 * @file
 * Steering tiers, and the partition of traffic in tiers partition and mac.
 */

struct octo_args;
struct octo_dev;

/* The kinds of steering, see doc/guides/nics/octo.rst. Ordered: a higher tier can do more. */
enum octo_tier {
	OCTO_TIER_NONE,      /* RSS only */
	OCTO_TIER_QUEUE,     /* ARFS rules choose the queue, the network the PF */
	OCTO_TIER_MAC,       /* besides, the MAC address chooses the PF: nothing else strays */
	OCTO_TIER_EXACT,     /* MPFS rules choose the PF as well */
	OCTO_TIER_PARTITION, /* masked rules do so for all other packets: nothing strays */
};

/* The rules that the NIC accepts and ignores, as far as the audit has found out. */
enum octo_ignored {
	OCTO_IGNORED_NONE,
	OCTO_IGNORED_MASKED,
	OCTO_IGNORED_MPFS,
	OCTO_IGNORED_QUEUE,
};

/* Do rules of the NIC's switch choose the PF? */
static inline bool
octo_tier_has_mpfs(enum octo_tier tier)
{
	return tier >= OCTO_TIER_EXACT;
}

/* octo_tier.c: steering tiers */
const char *octo_tier_name(enum octo_tier tier);
const char *octo_tier_ignored_name(enum octo_ignored ignored);
int octo_tier_read(const char *name, enum octo_tier *tier);
void octo_tier_init(struct octo_dev *octo, const struct octo_args *args);
void octo_tier_start_locked(struct octo_dev *octo);
void octo_tier_probe_locked(struct octo_dev *octo);
bool octo_tier_can_be_mac(const struct octo_dev *octo, const char **why);

/* Masked MPFS rules that distribute unsteered traffic to PFs. */
struct octo_masked_rules {
	const struct octo_partition_rule *rules;
	unsigned int nb_rules;
	bool ipv4; /* the rules apply to IPv4 */
	bool ipv6; /* the rules apply to IPv6 */
	uint8_t default_pf;
};

/* Partition of unsteered traffic, and its migration. */
struct octo_partition_plan {
	struct octo_migration_map map;    /* as set on the PFs */
	struct octo_migration_map next;   /* as about to be set */
	struct octo_migration_map target; /* as it is to be in the end */
	struct octo_migration_step step;  /* the migration step from map to next */
	struct octo_partition_rule rules[OCTO_PARTITION_MAX_RULES]; /* of one of the maps */
};

/* Masked rules as they are on the switch. */
struct octo_masked_set {
	struct rte_flow **flows; /* on port `proxy` */
	unsigned int nb_flows;
	uint32_t life; /* of that port */
	uint8_t proxy;
	uint8_t turn; /* priority of the rules: one of two, alternating */
	bool counted; /* the rules count their hits */
};

/* State of tier partition; under the control mutex. */
struct octo_tier_partition {
	bool on;                          /* the PFs' RETAs differ */
	bool settled;                     /* the map is what `home` requires */
	bool stepping;                    /* a migration step is under way: its fences are open */
	bool lost;                        /* a PF was lost since the last check */
	uint32_t level;                   /* PFs that came back, with the common RETA */
	struct octo_partition_plan *plan; /* while it is on */
	uint8_t home[RTE_MAX_QUEUES_PER_PORT]; /* home of each queue for which target was made */
	struct octo_masked_set set;            /* the masked rules on the switch */
	bool stale; /* they are lost with their port, or lead to a lost one */
	struct {
		bool done;     /* the rules match packets, or it cannot be known */
		bool begun;    /* base is set */
		uint64_t next; /* ms; next check */
		uint64_t base; /* packets received when the check began */
	} trial;
};

/* octo_tier_partition.c */
/** Returns whether there is more to do soon. */
bool octo_tier_partition_follow_locked(struct octo_dev *octo);
/** Does the partition lead traffic to this PF? */
bool octo_tier_partition_leads_to_locked(const struct octo_dev *octo, uint8_t pf);
int octo_tier_partition_leave_locked(struct octo_dev *octo, const char *what);
void octo_tier_partition_stop_locked(struct octo_dev *octo);

#endif /* OCTO_TIER_H */
