/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef FUZZ_PAIR_H
#define FUZZ_PAIR_H

#include <rte_mempool.h>

#include "fuzz.h"

/**
 * @file
 * An octo port over the PFs of a simulated NIC, or over slices of the only one, and the only PF
 * of another NIC, used directly. Both have the same MAC address and a looped wire, and live for
 * one input. Time passes only where a target lets it pass (test/port/octo_port_time.h).
 */

#define FUZZ_PAIR_MAX_PFS 3
#define FUZZ_PAIR_QUEUES 4

/* What the octo port is over. */
enum fuzz_kind {
	FUZZ_PFS,         /**< two PFs */
	FUZZ_INTERLEAVED, /**< slices of one PF: every second queue */
	FUZZ_CONTIGUOUS,  /**< slices of one PF: half of the queues */
	FUZZ_UNEQUAL,     /**< three PFs; the bare one has what all of them have */
};

enum fuzz_who { FUZZ_OCTO, FUZZ_BARE, FUZZ_BOTH };

struct fuzz_pair {
	enum fuzz_kind kind;
	unsigned int nb_pfs;
	bool sliced;
	uint16_t port[FUZZ_BOTH];
	struct rte_mempool *pool[FUZZ_BOTH];
	struct rte_mempool *narrow[FUZZ_BOTH]; /**< its buffers are too small */
	bool counted;                          /**< counters may be others than before */
	bool lost_packets;                     /**< in rings of stopped queues, with a PF */
	bool was_faulty;                       /**< a PF was lost, or had no link: counts differ */
};

extern struct fuzz_pair fuzz_pair;

/** Once: EAL, time, pools. */
void fuzz_pair_init(void);

void fuzz_pair_open(enum fuzz_kind kind);
/** Nothing is left: no port, no packet. */
void fuzz_pair_close(void);

/** The queue of a PF's port that is a leg of this queue of the octo port. */
uint16_t fuzz_pair_leg(unsigned int pf, uint16_t queue);

/** Does the octo port use this PF? Then its port, else -1. */
int fuzz_pair_live_pf(unsigned int pf);

/**
 * Faults of the octo port's PFs; one PF always works. The port of slices is back when this
 * returns; if it has no link, the bare PF has none either.
 */
void fuzz_pair_fault(uint8_t what);

/** Packets that both ports send and receive. */
void fuzz_pair_traffic(struct fuzz_input *in);

/** Poll both until nothing comes any more. */
void fuzz_pair_drain(void);

/** Both say the same of themselves, and the live PFs of what the octo port was told. */
void fuzz_pair_compare(const char *after);

#endif /* FUZZ_PAIR_H */
