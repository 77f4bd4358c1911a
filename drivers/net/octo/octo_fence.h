/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_FENCE_H
#define OCTO_FENCE_H

#include <stdint.h>

/**
 * @file
 * The fence, for whoever changes the path of flows: arm it, place and flip any
 * number of rules, say that they are flipped. From then on the consumers keep the
 * order of every flow by themselves, and nobody waits for them. Each flip, also
 * one that failed, ends with octo_fence_flipped_locked(): nothing is stuck without,
 * but what comes by the held leg is late for as long.
 *
 * All under the control mutex, in the primary process. Never from inside a burst.
 */

struct octo_dev;

/**
 * Flows of a queue are to come by this leg: it is held back until the other legs
 * of the queue have been drained of what came before.
 *
 * @return
 *   0, also if there is nothing to keep in order, or -EBUSY: the queue has an open
 *   fence of another kind, or to another leg. Nothing has changed: come back.
 */
int octo_fence_arm_home_locked(struct octo_dev *octo, uint16_t queue, uint8_t leg);

/**
 * Flows are to go from one queue to another, which is held back until the first has
 * been drained of what came before, and its consumer is done with it. Waits, no
 * longer than the fence's timeout, for an open fence that this one could be in a
 * circle with.
 *
 * @return
 *   0.
 */
int octo_fence_arm_move_locked(struct octo_dev *octo, uint16_t from_queue, uint16_t to_queue);

/** What was armed for this (destination) queue is done, or has failed. */
void octo_fence_flipped_locked(struct octo_dev *octo, uint16_t queue);

/** See which fences their consumers have closed. By the control thread, often. */
void octo_fence_sweep_locked(struct octo_dev *octo);

/** A PF is taken away: its legs hold nothing any more, and there is nothing to drain. */
void octo_fence_forget_pf_locked(struct octo_dev *octo, uint8_t pf);

#endif /* OCTO_FENCE_H */
