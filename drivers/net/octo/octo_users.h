/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_USERS_H
#define OCTO_USERS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_stdatomic.h>

/**
 * @file
 * The users of a PF: calls of its port that are neither bursts nor under the control
 * mutex. They are counted by port in each process, so that a process that is killed
 * inside of one leaves nothing behind, and awaited before the port is let go.
 */

struct octo_pf;

/** One call of a PF; lives on the stack of the thread that makes it. */
struct octo_use {
	uint16_t port_id;
	struct octo_use *outer; /* of the same thread */
};

/**
 * Begin to use a PF. Where true, octo_users_leave() must follow in the same thread; uses
 * of a thread end in reverse order.
 *
 * @return
 *   false if its port is not there, or is about to go.
 */
bool octo_users_enter(const struct octo_pf *pf, struct octo_use *use);

void octo_users_leave(struct octo_use *use);

/** From now on no use begins, and the control mutex' holder skips the PF. From any thread. */
void octo_users_shut(struct octo_pf *pf);

/** The PF has its port. Under the control mutex, when all else of it is known. */
void octo_users_open(struct octo_pf *pf);

/**
 * Wait for the uses that began before octo_users_shut(), but not for those of this
 * thread: a PMD may find out inside of a call that its device is gone.
 *
 * @return
 *   0, or -ETIMEDOUT after five seconds.
 */
int octo_users_await(const struct octo_pf *pf);

/**
 * In a secondary, whose port of a PF is about to go: no use of it begins in this process until
 * octo_users_find(), and those that began are awaited, as by octo_users_await().
 */
void octo_users_lose(uint16_t port_id);

/** The process has a port of that number. */
void octo_users_find(uint16_t port_id);

#endif /* OCTO_USERS_H */
