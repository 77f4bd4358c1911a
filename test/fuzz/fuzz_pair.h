/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef FUZZ_PAIR_H
#define FUZZ_PAIR_H

#include <rte_mempool.h>

#include "fuzz.h"

/**
 * @file
 * An octo port over the two PFs of a simulated NIC, and the only PF of another one, used
 * directly. Both have the same MAC address and a looped wire, and live for one input. Time
 * passes only where a target lets it pass (test/port/octo_port_time.h).
 */

#define FUZZ_PAIR_PFS 2
#define FUZZ_PAIR_QUEUES 4

enum fuzz_who { FUZZ_OCTO, FUZZ_BARE, FUZZ_BOTH };

struct fuzz_pair {
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

void fuzz_pair_open(void);
/** Nothing is left: no port, no packet. */
void fuzz_pair_close(void);

/** Does the octo port use this PF? Then its port, else -1. */
int fuzz_pair_live_pf(unsigned int pf);

/** Faults of the octo port's PFs; one PF always works. */
void fuzz_pair_fault(uint8_t what);

/** Packets that both ports send and receive. */
void fuzz_pair_traffic(struct fuzz_input *in);

/** Both say the same of themselves, and the live PFs of what the octo port was told. */
void fuzz_pair_compare(const char *after);

#endif /* FUZZ_PAIR_H */
