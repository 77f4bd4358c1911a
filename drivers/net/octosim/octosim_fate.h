/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTOSIM_FATE_H
#define OCTOSIM_FATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "octosim_age.h"
#include "octosim_rss.h"

/**
 * @file
 * What is done with a packet that a rule matches. In shared memory; read by the
 * pump and changed by control threads, both under the NIC's lock, so that a
 * change is an assignment.
 */

enum octosim_dest_kind {
	OCTOSIM_TO_NOTHING, /**< no such action */
	OCTOSIM_TO_QUEUE,
	OCTOSIM_TO_RSS,
	OCTOSIM_TO_DROP,
	OCTOSIM_TO_NEXT,  /**< PASSTHRU: to the rules that come after */
	OCTOSIM_TO_GROUP, /**< JUMP */
	OCTOSIM_TO_PORT,  /**< transfer rules */
};

/** A hash key, prepared; shared by the RSS actions of a NIC that have it. */
struct octosim_hash_key {
	LIST_ENTRY(octosim_hash_key) list;
	uint32_t refs;
	uint8_t key[OCTOSIM_RSS_KEY_LEN];
	octosim_rss_table table;
};

LIST_HEAD(octosim_hash_keys, octosim_hash_key);

/** A RSS action: its own hash, and its own queues. */
struct octosim_spread {
	struct octosim_hash_key *key;
	uint64_t types; /**< RTE_ETH_RSS_* */
	uint32_t func;  /**< enum rte_eth_hash_function, as asked for */
	uint32_t level; /**< as asked for; from 2 on, what a tunnel carries is hashed */
	uint8_t input_len[OCTOSIM_NB_CLASSES];
	uint16_t nb_queues;
	uint16_t queues[];
};

/** Where a packet goes: the fate of a rule, or of all that use one indirect action. */
struct octosim_dest {
	uint32_t group;                /**< OCTOSIM_TO_GROUP */
	uint16_t target;               /**< queue, or index of the port */
	uint8_t kind;                  /**< enum octosim_dest_kind */
	struct octosim_spread *spread; /**< OCTOSIM_TO_RSS; owned */
};

/** Packets and bytes of all rules that name this counter. */
struct octosim_counter {
	LIST_ENTRY(octosim_counter) list;
	uint32_t id;   /**< of the COUNT actions; no other use if it is indirect */
	uint32_t refs; /**< rules, and a handle */
	uint64_t hits;
	uint64_t bytes;
};

LIST_HEAD(octosim_counters, octosim_counter);

/** Bits of octosim_fate.flags. */
#define OCTOSIM_FATE_COUNT (1 << 0) /**< counts, by itself unless there is a counter */
#define OCTOSIM_FATE_MARK (1 << 1)
#define OCTOSIM_FATE_FLAG (1 << 2)
#define OCTOSIM_FATE_AGE (1 << 3) /**< has an age */

struct octosim_fate {
	struct octosim_dest own;
	struct octosim_dest *shared;     /**< that of an indirect action instead, or NULL */
	struct octosim_counter *counter; /**< shared, or NULL */
	struct octosim_age *age;         /**< NULL: does not age */
	uint32_t mark;
	uint32_t flags; /**< OCTOSIM_FATE_* */
};

static inline const struct octosim_dest *
octosim_fate_dest(const struct octosim_fate *fate)
{
	return fate->shared != NULL ? fate->shared : &fate->own;
}

#endif /* OCTOSIM_FATE_H */
