/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_ACCOUNT_H
#define MPSIM_ACCOUNT_H

#include <stdint.h>

/** Counts of PFs that are gone. Under the NIC's lock. */
struct mpsim_past {
	uint64_t delivered;
	uint64_t dropped;
	uint64_t sent;
	uint64_t lost_in_tx;
	uint64_t tx_dropped;
};

struct mpsim_pf;

/** Add the counts of a PF that is about to go. Under the NIC's lock. */
void mpsim_account_keep(struct mpsim_pf *pf);

#endif /* MPSIM_ACCOUNT_H */
