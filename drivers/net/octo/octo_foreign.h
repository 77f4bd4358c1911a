/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_FOREIGN_H
#define OCTO_FOREIGN_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_stdatomic.h>

struct octo_dev;

/** The packets that a PF has sent and octo did not; under the control mutex. */
struct octo_foreign {
	RTE_ATOMIC(bool) anew; /* the PF's counters or the port's were reset, or may have been */
	int64_t most;          /**< maximum so far; below 0 if the PF's counter was reset */
	uint8_t looks;         /**< in a row at which there were more */
	bool logged;
};

/* octo_foreign.c */
void octo_foreign_start_locked(struct octo_dev *octo);
void octo_foreign_look_locked(struct octo_dev *octo, uint8_t port);

#endif /* OCTO_FOREIGN_H */
