/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef PORT_WORLD_H
#define PORT_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "octo_port_state.h"

/**
 * @file
 * A device, its ethdev port, and all who have to do with it, as DPDK has them: what a port's
 * state machine may hear of, and when. Whatever the machine asks for is done to this world,
 * which fails the test where that must not be done.
 */

#define WORLD_HZ UINT64_C(1000000)
#define WORLD_MS (WORLD_HZ / 1000)
#define WORLD_ANSWERS 4

/** Of a seed that is printed: OCTO_TEST_SEED of the environment, or any. */
uint64_t world_seed(void);

/** A random number below n. */
uint64_t world_random(uint64_t *rng, uint64_t n);

struct port_world {
	struct octo_port_fsm port;
	struct octo_port_mail mail;
	uint64_t *rng;
	uint64_t now; /**< TSC */
	/* the device and its port */
	bool plugged;
	bool there;
	bool announced;
	bool whole;      /**< its probe has returned */
	bool owned;      /**< by us */
	bool taken;      /**< by somebody else */
	bool recovering; /**< it said so */
	bool broken;     /**< it will be removed: it said so, or cannot recover or be reset */
	bool hasty;      /**< its driver gave up: nobody else need remove it */
	bool must_reset;
	bool used; /**< it has what was left by an earlier life */
	bool made_by_us;
	uint64_t broken_at; /**< TSC */
	/* the octo port */
	bool configured;
	bool started;
	bool led; /**< by the test, which sets these two */
	/* faults */
	bool calm; /**< none at all */
	bool lacks;
	bool refuses;
	/* what is under way */
	uint32_t request; /**< OCTO_PORT_DO_PROBE or _REMOVE, 0: none */
	uint64_t returns; /**< TSC; when it does */
	struct octo_port_answer answer[WORLD_ANSWERS];
	unsigned int nb_answers;
	uint64_t steps;
	unsigned int losses; /**< in the life of this world */
};

/** The port is owned and idle, or there is neither a port nor a device. */
void world_init(struct port_world *w, uint64_t *rng, bool owned, uint64_t now);

/** Something that DPDK allows, or nothing. */
void world_happen(struct port_world *w);

/** The machine gets this answer next, of the port as it is now. */
void world_answer(struct port_world *w, enum octo_port_event event);

/** The device is announced to go: RMV. */
void world_rmv(struct port_world *w);

/** Its PFs have drained, so that its device may go. */
void world_drained(struct port_world *w);

/** Step the machine until it asks for nothing more. */
void world_run(struct port_world *w);

/** All faults end, for as long as calm is set. */
void world_calm(struct port_world *w);

/** They do, and the port is waited for; fails if it does not run. */
void world_settle(struct port_world *w);

#endif /* PORT_WORLD_H */
