/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_DRAIN_H
#define OCTO_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

struct octo_dev;

/*
 * The progress of a drain. Whether and why it drains: octo_dev.role. Under the control
 * mutex.
 */
struct octo_draining {
	uint32_t todo;        /* OCTO_PF_DO_... yet to be done */
	uint64_t until;       /* TSC after which it is lost as any other PF */
	uint64_t drained;     /* TSC; what was sent to it before is in its rings then, 0: not set */
	uint64_t packets;     /* it was given to send, as of the last look */
	uint64_t count_until; /* TSC; hits of its rules are read until then, 0: not begun */
	uint64_t retry;       /* TSC, of the rules that the last PF refused; 0: not set */
	uint32_t pause_ms;    /* before that */
	bool counting;        /* some of these are left */
	bool others;          /* if counting: rules without a 5-tuple are next */
};

/* octo_drain.c */
bool octo_drain_begin_locked(struct octo_dev *octo, uint8_t port);
bool octo_drain_give_back_locked(struct octo_dev *octo, uint8_t port);
bool octo_drain_tick(struct octo_dev *octo);
bool octo_drain_count_slice(struct octo_dev *octo);
/* without the control mutex */
void octo_drain_stop(struct octo_dev *octo);

#endif /* OCTO_DRAIN_H */
