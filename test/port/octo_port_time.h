/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_PORT_TIME_H
#define OCTO_PORT_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "octo_clock.h"

/**
 * @file
 * The time of the port tests. It passes only where the test lets it pass, or a driver
 * sleeps, so it makes no difference how much CPU a test is given. No octo port has a control
 * thread: its rounds are done where the test lets time pass, when they are due.
 *
 * A thread of a test sees the same time, and the test waits for it: see
 * octo_port_thread_start().
 */

/** Of the group: it is the drivers' clock from now on. */
void octo_port_time_start(void);

/** The end of a test: the next one's time passes by itself no more. */
void octo_port_time_end_test(void);

/**
 * Until the end of this test time is TSC, and octo ports have control threads. For tests of
 * what several threads do at the same time; no port may be started.
 */
void octo_port_time_is_real(void);

/**
 * Let time pass: control threads do what is due, alarms go off, and EAL's interrupt thread
 * is done with all that. A thread of the test has gone around its loop then.
 */
void octo_port_pass_us(uint64_t us);

/** The same by who holds what EAL's interrupt thread may wait for. */
void octo_port_pass_us_alone(uint64_t us);

/**
 * Until the end of this test call fn() again and again while a driver sleeps in a call of the
 * test or in a control thread's round: it polls and sends, and does nothing else.
 */
void octo_port_meanwhile(void (*fn)(void));

/**
 * Called where the test's own thread waits for an agent. Returns whether it has answered, else the
 * thread waits in vain, as it always does if this is NULL.
 */
extern bool (*octo_port_agent_answers)(void);

/** What EAL's interrupt thread has begun is done when this returns. Not by itself. */
void octo_port_await_interrupts(void);

/** Is there still time for a condition that was waited for since then? If so, some passes. */
bool octo_port_await_more(uint64_t since);

/** Who is the thread of the test, beside it? Its sleeps wait until the test lets time pass. */
void octo_port_time_is_beside(void);

/** Does it sleep? Then nobody waits for it. */
bool octo_port_time_beside_sleeps(void);

/**
 * Wait for a condition: threads get real time for it, and no more than a minute passes by
 * the drivers' clock.
 */
#define octo_port_await(condition)                                                                 \
	do {                                                                                       \
		const uint64_t since_ = octo_now();                                                \
                                                                                                   \
		while (!(condition) && octo_port_await_more(since_))                               \
			continue;                                                                  \
		assert_true(condition);                                                            \
	} while (0)

/**
 * Wait for what another thread does, which may then hold a lock of the driver: no time passes,
 * as the rounds of control threads would wait for that lock in this thread.
 */
#define octo_port_await_thread(condition)                                                          \
	do {                                                                                       \
		while (!(condition))                                                               \
			octo_wait_us(100);                                                         \
	} while (0)

#endif /* OCTO_PORT_TIME_H */
