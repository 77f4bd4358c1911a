/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_PORT_AGENT_H
#define OCTO_PORT_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "octo_agent_msg.h"
#include "octo_agent_stream.h"
#include "octo_port.h"

/**
 * @file
 * An agent that the test itself plays, at a unix socket, and a port that uses it.
 */

struct octo_port_agent {
	char dir[32];
	char path[64];
	char arg[80];
	uint8_t flags; /**< of its welcome */
	int ear;
	struct octo_agent_stream stream;
	struct octo_agent_msg last; /**< that was heard */
	bool synced;                /**< all rules were told */
	uint16_t port;
};

extern struct octo_port_agent octo_port_agent;

/** Make the socket, at which nobody listens so far, and the devarg. */
void octo_port_agent_prepare(uint8_t flags);

/**
 * Make and start the port, and begin the session.
 *
 * @param conf
 *   Of the port; devargs of the octo port are the agent's.
 * @param flags
 *   OCTO_AGENT_PLACES_QUEUES and others.
 */
void octo_port_agent_begin(const struct octo_port_conf *conf, uint8_t flags);

void octo_port_agent_say(enum octo_agent_type type, uint32_t session);

/** Answer the last message: 0, or an errno and what it says. */
void octo_port_agent_answer(int error, const char *text);

/** Take the next message, and a new connection. */
bool octo_port_agent_hears(void);

/** Answer all that is said. @return whether the session has begun, and all rules were told. */
bool octo_port_agent_serve(void);

/** The same until octo_port_thread_stop(), by octo_port_thread_start(). */
void *octo_port_agent_serve_beside(void *arg);

/** The UDP source port of the flow in the last message. */
uint16_t octo_port_agent_last_src_port(void);

/** The port, for looks inside. */
struct octo_dev *octo_port_agent_dev(void);

/** The port's learned flows. */
uint64_t octo_port_agent_learned(void);

/** Wait for such a message of another thread, and answer none. */
void octo_port_agent_await(enum octo_agent_type type);

/** Break the connection; the port may connect again. */
void octo_port_agent_hang_up(void);

void octo_port_agent_end(void);

#endif /* OCTO_PORT_AGENT_H */
