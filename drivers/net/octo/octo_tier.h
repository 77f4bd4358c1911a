/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_TIER_H
#define OCTO_TIER_H

#include <stdbool.h>

/**
 * @file
 * Steering tiers.
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

#endif /* OCTO_TIER_H */
