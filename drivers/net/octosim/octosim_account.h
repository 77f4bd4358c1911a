/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTOSIM_ACCOUNT_H
#define OCTOSIM_ACCOUNT_H

#include <stdint.h>

/** What PFs did that are gone. Under the NIC's lock. */
struct octosim_past {
	uint64_t delivered;
	uint64_t dropped;
	uint64_t sent;
	uint64_t lost_in_tx;
	uint64_t tx_dropped;
};

struct octosim_pf;

/** The PF is going: keep what it did. Under the NIC's lock. */
void octosim_account_keep(struct octosim_pf *pf);

#endif /* OCTOSIM_ACCOUNT_H */
