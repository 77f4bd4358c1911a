/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_PARTITION_H
#define OCTO_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_compat.h>

#include "octo_plan.h"

/**
 * @file
 * How IP traffic is spread over the PFs so that none of it strays: rules that the
 * MPFS matches under a mask, and for each PF a RETA of the queues at home there.
 * Pure functions.
 *
 * Addresses only: a fragment has no ports, and has to go where its datagram goes.
 * The first bits that decide are a source bit XOR the next higher destination bit
 * each: such a bit varies when only the clients do, on whichever side they are, and
 * when both addresses count up together.
 */

/** Bits that decide, at most: a share is rounded to 1/16384 of the traffic. */
#define OCTO_PARTITION_DEPTH 14

/** How many of them are XORs, at most: each doubles the rules of what comes after it. */
#define OCTO_PARTITION_XORS 4

/** For one PF at most one part of each size, in 2, 4, 8, 16, 16, ... rules. */
#define OCTO_PARTITION_MAX_RULES                                                                   \
	(OCTO_PLAN_MAX_PFS *                                                                       \
	 ((2 << OCTO_PARTITION_XORS) - 2 +                                                         \
	  (OCTO_PARTITION_DEPTH - OCTO_PARTITION_XORS) * (1 << OCTO_PARTITION_XORS)))

/**
 * Matches the last 32 bits of the addresses, of IPv4 and of IPv6 alike; in host
 * order. No two rules of a partition match the same packet, and one always does.
 */
struct octo_partition_rule {
	uint32_t src;
	uint32_t src_mask;
	uint32_t dst;
	uint32_t dst_mask;
	uint16_t pf; /**< where such packets go */
};

/** All traffic is so many parts, told apart by the bits that decide. */
#define OCTO_PARTITION_PARTS (1 << OCTO_PARTITION_DEPTH)

/**
 * Share out the traffic in proportion to the queues.
 *
 * @param queues
 *   How many queues are at home on each PF; may be 0, but not for all of them.
 * @param parts
 *   Which PF gets each part.
 * @param keep
 *   The parts are shared out already: as few of them as possible go elsewhere. No PF
 *   gives parts and gets others then.
 */
__rte_internal
void octo_partition_share(const uint16_t queues[], uint16_t nb_pfs,
			  uint8_t parts[OCTO_PARTITION_PARTS], bool keep);

/**
 * The rules that say who gets which part.
 *
 * @param rest
 *   PF of what no rule matches.
 * @param nb_queues
 *   Of all PFs; the same for as long as parts are kept.
 * @param rules
 *   Room for OCTO_PARTITION_MAX_RULES.
 * @return
 *   The number of rules: none if that PF gets all, as there is nothing to share out
 *   then; OCTO_PARTITION_MAX_RULES + 1 if it takes more than there is room for.
 */
__rte_internal
unsigned int octo_partition_rules(const uint8_t parts[OCTO_PARTITION_PARTS], uint8_t rest,
				  uint16_t nb_queues, struct octo_partition_rule rules[]);

/**
 * The RETA of a PF: its own queues in turn. All queues if none is its own, so that
 * what arrives there all the same is not left to a single one. Where queue 0 is its
 * own, it has the first entry: some NICs send there what is not hashed.
 *
 * @param home
 *   The home PF of each queue.
 * @param nb_queues
 *   At least 1.
 * @param keep
 *   The RETA is filled already: as few entries as possible change. No queue gives
 *   entries and gets others then.
 */
__rte_internal
void octo_partition_reta(const uint8_t home[], uint16_t nb_queues, uint8_t pf, uint16_t reta[],
			 uint16_t size, bool keep);

#endif /* OCTO_PARTITION_H */
