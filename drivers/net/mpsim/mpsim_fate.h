/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_FATE_H
#define MPSIM_FATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "mpsim_age.h"
#include "mpsim_rss.h"

/**
 * @file
 * The actions of a rule. In shared memory; the pump reads them and control threads change them,
 * both under the NIC's lock, so a change is an assignment.
 */

enum mpsim_dest_kind {
	MPSIM_TO_NOTHING, /**< no action with a destination */
	MPSIM_TO_QUEUE,
	MPSIM_TO_RSS,
	MPSIM_TO_DROP,
	MPSIM_TO_NEXT,  /**< PASSTHRU: to the following rules */
	MPSIM_TO_GROUP, /**< JUMP */
	MPSIM_TO_PORT,  /**< transfer rules */
};

/** A hash key with its table; shared by the RSS actions of a NIC with the same key. */
struct mpsim_hash_key {
	LIST_ENTRY(mpsim_hash_key) list;
	uint32_t refs;
	uint8_t key[MPSIM_RSS_KEY_LEN];
	mpsim_rss_table table;
};

LIST_HEAD(mpsim_hash_keys, mpsim_hash_key);

/** An RSS action: its own hash, and its own queues. */
struct mpsim_spread {
	struct mpsim_hash_key *key;
	uint64_t types; /**< RTE_ETH_RSS_* */
	uint32_t func;  /**< enum rte_eth_hash_function, as given */
	uint32_t level; /**< as given; from 2 on, the inner headers of a tunnel are hashed */
	uint8_t input_len[MPSIM_NB_CLASSES];
	uint16_t nb_queues;
	uint16_t queues[];
};

/** Destination of a packet; owned by a rule, or shared by all rules with one indirect action. */
struct mpsim_dest {
	uint32_t group;              /**< MPSIM_TO_GROUP */
	uint16_t target;             /**< queue, or index of the port */
	uint8_t kind;                /**< enum mpsim_dest_kind */
	uint8_t port;                /**< index of the PF of the queues */
	struct mpsim_spread *spread; /**< MPSIM_TO_RSS only; owned */
};

/** Packets and bytes of all rules that use this counter. */
struct mpsim_counter {
	LIST_ENTRY(mpsim_counter) list;
	uint32_t id;   /**< of the COUNT actions; unused if indirect */
	uint32_t refs; /**< rules, and an indirect action's handle */
	uint64_t hits;
	uint64_t bytes;
};

LIST_HEAD(mpsim_counters, mpsim_counter);

/** Bits of mpsim_fate.flags. */
#define MPSIM_FATE_COUNT (1 << 0) /**< counts in the rule, or in `counter` if set */
#define MPSIM_FATE_MARK (1 << 1)
#define MPSIM_FATE_FLAG (1 << 2)
#define MPSIM_FATE_AGE (1 << 3) /**< `age` is set */

struct mpsim_fate {
	struct mpsim_dest own;
	struct mpsim_dest *shared;     /**< used instead of `own` if indirect, else NULL */
	struct mpsim_counter *counter; /**< shared, or NULL */
	struct mpsim_age *age;         /**< NULL: does not age */
	uint32_t mark;
	uint32_t flags; /**< MPSIM_FATE_* */
};

static inline const struct mpsim_dest *
mpsim_fate_dest(const struct mpsim_fate *fate)
{
	return fate->shared != NULL ? fate->shared : &fate->own;
}

#endif /* MPSIM_FATE_H */
