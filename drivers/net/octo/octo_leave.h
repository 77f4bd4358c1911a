/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_LEAVE_H
#define OCTO_LEAVE_H

#include <stdbool.h>
#include <stdint.h>

struct octo_dev;

/*
 * A PF that is to go, and works until then: its flows and senders leave it in order.
 * Under the control mutex.
 */
struct octo_leaving {
	bool on;
	bool stays;       /* its device does: it could not join, and is stopped */
	bool is_out;      /* it has let go of all that it received, and sends its last packets */
	uint64_t until;   /* TSC; after that it is lost as any other */
	uint64_t drained; /* TSC; what was sent to it before is in its rings then, 0: not yet */
	uint64_t packets; /* that it was given to send, when it was last looked */
};

/* octo_leave.c */
bool octo_leave_begin_locked(struct octo_dev *octo, uint8_t pf);
void octo_leave_give_back_locked(struct octo_dev *octo, uint8_t pf);
bool octo_leave_tick(struct octo_dev *octo);
/* without it */
void octo_leave_stop(struct octo_dev *octo);

#endif /* OCTO_LEAVE_H */
