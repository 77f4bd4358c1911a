/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef AGENT_SESSION_H
#define AGENT_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "octo_agent_msg.h"

/**
 * @file
 * What the agent answers: hello begins a session, and only its messages change
 * rules. No sockets here. One thread.
 */

struct agent_rules;

struct agent_session {
	struct agent_rules *rules;
	const struct octo_agent_secret *secret; /**< NULL: none is needed */
	uint8_t nb_pfs;
	bool greeted;
	uint32_t id;
};

void agent_session_init(struct agent_session *session, struct agent_rules *rules, uint8_t nb_pfs,
			const struct octo_agent_secret *secret);

/** The connection has ended. Rules stay: their packets are on their way. */
void agent_session_end(struct agent_session *session);

/**
 * May a session begin with this message? Nothing is changed.
 *
 * @return
 *   True, or false with *answer filled.
 */
bool agent_session_may_begin(const struct agent_session *session, const struct octo_agent_msg *msg,
			     struct octo_agent_msg *answer);

/**
 * Do what a message asks, and fill its answer.
 *
 * @return
 *   Whether it is of the session: the port is there.
 */
bool agent_session_handle(struct agent_session *session, const struct octo_agent_msg *msg,
			  struct octo_agent_msg *answer);

/** Fill an answer that refuses. */
void agent_session_refuse(const struct octo_agent_msg *msg, int error, const char *text,
			  struct octo_agent_msg *answer);

#endif /* AGENT_SESSION_H */
