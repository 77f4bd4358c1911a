/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_USERS_H
#define OCTO_USERS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_stdatomic.h>

/**
 * @file
 * Users of a PF: calls of its port that are neither bursts nor under the control mutex.
 * They are counted per port in each process, so that a process killed inside a call leaves
 * no count behind, and awaited before the port is released.
 */

struct octo_port;

/** One use of a PF, on the stack of the thread. */
struct octo_use {
	uint16_t port_id;
	uint8_t pf;             /* index of the PF, by octo_users_enter_first() */
	struct octo_use *outer; /* enclosing use of the same thread */
};

/**
 * Begin to use a PF. If true, call octo_users_leave() in the same thread; uses of a thread
 * end in reverse order.
 *
 * @return
 *   false if the port is not there, or is about to go.
 */
bool octo_users_enter(const struct octo_port *port, struct octo_use *use);

void octo_users_leave(struct octo_use *use);

/** No use begins from now on, and octo_port_is() is false. From any thread. */
void octo_users_shut(struct octo_port *port);

/**
 * No use begins until octo_users_admit(); holders of the control mutex may use the port. For the
 * time in which they configure, start or stop it: ethdev and drivers count a port's queues twice
 * in one call, and write beyond the end of the caller's array if their number changes in between.
 */
void octo_users_bar(struct octo_port *port);

/** End octo_users_bar(). Under the control mutex. */
void octo_users_admit(struct octo_port *port);

/**
 * Allow uses, unless an event that means the port's loss is posted, or about to be. Under the
 * control mutex, when all other fields of the PF are set.
 */
void octo_users_open(struct octo_port *port);

/**
 * octo_users_shut() by the handler of an event that did not get the control mutex:
 * octo_users_open() has no effect until octo_users_end_close(), before which the event is posted.
 * A PF that is being closed must not join: it would stay shut if the event is handled before that.
 */
void octo_users_close(struct octo_port *port);

bool octo_users_is_closing(const struct octo_port *port);

void octo_users_end_close(struct octo_port *port);

/**
 * Wait for uses that began before octo_users_shut() or octo_users_bar(), except those of this
 * thread: a PMD may find out inside a call that its device is gone.
 *
 * @return
 *   0, or -ETIMEDOUT after five seconds.
 */
int octo_users_await(const struct octo_port *port);

/**
 * In a secondary that is about to lose a PF's port: octo_legs_set_lost(), then wait for uses that
 * began before, as octo_users_await() does.
 */
void octo_users_lose(uint16_t port_id);

#endif /* OCTO_USERS_H */
