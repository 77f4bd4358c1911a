/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_DRAIN_H
#define OCTO_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

struct octo_dev;

/*
 * State of a PF that is being drained: it works until its flows and senders have left it in
 * order. Under the control mutex.
 */
struct octo_draining {
	bool on;
	bool stays;       /* its device stays: it failed to resync, and is stopped */
	bool is_out;      /* it is unpublished, and only sends its last packets */
	uint64_t until;   /* TSC after which it is lost as any other PF */
	uint64_t drained; /* TSC; what was sent to it before is in its rings then, 0: not set */
	uint64_t packets; /* it was given to send, as of the last look */
};

/* octo_drain.c */
bool octo_drain_begin_locked(struct octo_dev *octo, uint8_t pf);
bool octo_drain_give_back_locked(struct octo_dev *octo, uint8_t pf);
bool octo_drain_tick(struct octo_dev *octo);
/* without the control mutex */
void octo_drain_stop(struct octo_dev *octo);

#endif /* OCTO_DRAIN_H */
