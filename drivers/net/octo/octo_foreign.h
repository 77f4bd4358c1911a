/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_FOREIGN_H
#define OCTO_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_stdatomic.h>

struct octo_dev;

/** What a PF has sent that octo did not; under the control mutex. */
struct octo_foreign {
	RTE_ATOMIC(bool) anew; /* its counters or the port's begin anew, or may have */
	int64_t most;  /**< that there ever were; below 0 where the PF's counter began anew */
	uint8_t looks; /**< in a row at which there were more */
	bool told;
};

/* octo_foreign.c */
void octo_foreign_start_locked(struct octo_dev *octo);
void octo_foreign_look_locked(struct octo_dev *octo, uint8_t pf);

#endif /* OCTO_FOREIGN_H */
