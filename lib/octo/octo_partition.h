/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_PARTITION_H
#define OCTO_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_compat.h>

#include "octo_plan.h"

/**
 * @file
 * Partition of IP traffic over the PFs so that none of it strays: masked rules of the MPFS, and
 * for each PF a RETA with the queues that have their home there. Pure functions.
 *
 * Only addresses decide: a fragment has no ports, and must go where its datagram goes. Each of
 * the first deciding bits is a source bit XOR the next higher destination bit: such a bit
 * varies when only clients vary, on whichever side they are, and when both addresses count up
 * together.
 */

/** Maximum of deciding bits: a share is rounded to 1/16384 of the traffic. */
#define OCTO_PARTITION_DEPTH 14

/** Maximum of XORs among them: each doubles the rules that include it. */
#define OCTO_PARTITION_XORS 4

/** For one PF at most one block of each size, in 2, 4, 8, 16, 16, ... rules. */
#define OCTO_PARTITION_MAX_RULES                                                                   \
	(OCTO_PLAN_MAX_PFS *                                                                       \
	 ((2 << OCTO_PARTITION_XORS) - 2 +                                                         \
	  (OCTO_PARTITION_DEPTH - OCTO_PARTITION_XORS) * (1 << OCTO_PARTITION_XORS)))

/**
 * Matches the last 32 bits of the addresses, of IPv4 and IPv6 alike; in host order. No two
 * rules of a partition match the same packet, and one always does.
 */
struct octo_partition_rule {
	uint32_t src;
	uint32_t src_mask;
	uint32_t dst;
	uint32_t dst_mask;
	uint16_t pf; /**< destination of these packets */
};

/** Number of buckets into which the deciding bits divide all traffic. */
#define OCTO_PARTITION_BUCKETS (1 << OCTO_PARTITION_DEPTH)

/**
 * Share out the traffic in proportion to the queues.
 *
 * @param queues
 *   Number of queues at home on each PF; may be 0, but not for all PFs.
 * @param buckets
 *   PF of each bucket.
 * @param keep
 *   The buckets are shared out already: change the PFs of as few as possible. Then no PF both
 *   gives and gets buckets.
 */
__rte_internal
void octo_partition_share(const uint16_t queues[], uint16_t nb_pfs,
			  uint8_t buckets[OCTO_PARTITION_BUCKETS], bool keep);

/**
 * The rules of a partition.
 *
 * @param rest
 *   PF of packets that no rule matches.
 * @param nb_queues
 *   Of all PFs; must stay the same as long as buckets are kept.
 * @param rules
 *   Room for OCTO_PARTITION_MAX_RULES.
 * @return
 *   The number of rules: 0 if that PF gets all buckets; OCTO_PARTITION_MAX_RULES + 1 if there
 *   is no room for all.
 */
__rte_internal
unsigned int octo_partition_rules(const uint8_t buckets[OCTO_PARTITION_BUCKETS], uint8_t rest,
				  uint16_t nb_queues, struct octo_partition_rule rules[]);

/**
 * Fill the RETA of a PF with its own queues in turn, or with all queues if it has none, so that
 * packets that arrive there do not all go to a single queue. Queue 0, if it is the PF's own,
 * gets the first entry: some NICs send packets there that are not hashed.
 *
 * @param home
 *   The home PF of each queue.
 * @param nb_queues
 *   At least 1.
 * @param keep
 *   The RETA is filled already: change as few entries as possible. Then no queue both gives and
 *   gets entries.
 */
__rte_internal
void octo_partition_reta(const uint8_t home[], uint16_t nb_queues, uint8_t pf, uint16_t reta[],
			 uint16_t size, bool keep);

#endif /* OCTO_PARTITION_H */
