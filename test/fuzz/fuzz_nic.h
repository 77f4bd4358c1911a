/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef FUZZ_NIC_H
#define FUZZ_NIC_H

#include "fuzz_rule.h"

/**
 * @file
 * An octo port over the PFs of one simulated NIC, and beside it the same NIC
 * once more, whose PFs are used directly: its twin. What happens to a packet
 * must not depend on which of them it is sent to.
 */

#define FUZZ_PFS 2

struct fuzz_nic {
	uint16_t octo;
	uint16_t pf[FUZZ_PFS];   /**< of the octo port */
	uint16_t twin[FUZZ_PFS]; /**< of the other NIC, if has_twin */
	bool has_twin;
};

/** What became of a packet; queue -1: dropped. */
struct fuzz_fate {
	int queue;
	uint64_t marks; /**< the flags that rules set */
	uint32_t mark;
};

/** Room for more rules than an input can make, and a twin. */
const struct fuzz_nic *fuzz_nic_roomy(void);
/** Tables that are full at once, and one PF's before the other's. */
const struct fuzz_nic *fuzz_nic_narrow(void);
/** PFs that take every rule and read all of it, and no twin. */
const struct fuzz_nic *fuzz_nic_reading(void);

/** Send a packet, the same for the same bytes, and wait for it. */
struct fuzz_fate fuzz_nic_send(const struct fuzz_nic *nic, bool to_twin, struct fuzz_input *in);

#endif /* FUZZ_NIC_H */
