/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_AGENT_H
#define OCTO_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "octo_agent_addr.h"
#include "octo_agent_msg.h"
#include "octo_agent_stream.h"

/**
 * @file
 * The port's side of the conversation with its agent. It knows no rules: those
 * are octo_mpfs_agent.c's. Primary process, all under the control mutex.
 */

/** Messages on the way at once: what the stream can always keep. */
#define OCTO_AGENT_WINDOW 64

enum octo_agent_state {
	OCTO_AGENT_AWAY,     /* not connected: tried again every second */
	OCTO_AGENT_GREETING, /* hello was said, no welcome yet */
	OCTO_AGENT_READY,
};

struct octo_agent {
	struct octo_agent_addr addr;
	struct octo_agent_stream stream;
	enum octo_agent_state state;
	uint8_t nb_pfs;
	uint8_t flags;          /* of the last welcome */
	uint8_t default_pf;     /* that it was told in this session, or OCTO_NO_PF */
	uint64_t default_retry; /* TSC; when it may be told again */
	uint64_t patient_until; /* TSC; for how long a replay waits, 0: it does not */
	uint32_t session;
	uint32_t seq;
	uint64_t next_try;             /* TSC */
	uint64_t deadline;             /* TSC by which it must have been heard */
	uint64_t next_ping;            /* TSC */
	bool pinging;                  /* nothing was heard since the last ping */
	uint64_t sessions;             /* begun */
	bool complained;               /* that it is away */
	char why[OCTO_AGENT_TEXT_MAX]; /* the last thing that went wrong */
};

/** An agent that is away. */
void octo_agent_init(struct octo_agent *agent, const char *addr, uint8_t nb_pfs);

void octo_agent_fini(struct octo_agent *agent);

/**
 * Go on: connect when it is time, hear the welcome, ping, notice the end. Never
 * waits.
 *
 * @return
 *   True if it has become ready just now: it knows no rule of ours for certain.
 */
bool octo_agent_poll(struct octo_agent *agent);

/** octo_agent_poll(), waiting up to timeout_ms for it to be ready. */
bool octo_agent_await(struct octo_agent *agent, int timeout_ms);

/**
 * Say something and go on; msg->seq is set. At most OCTO_AGENT_WINDOW may be unanswered.
 *
 * @return
 *   0, or -ENOTCONN: it is away (now).
 */
int octo_agent_say(struct octo_agent *agent, struct octo_agent_msg *msg);

/**
 * Wait for the answer to the message with this number, as it was said.
 *
 * @return
 *   0 with *answer filled, a negative errno of the agent's with agent->why filled, or
 *   -ENOTCONN: it is away (now), and whether it did what was asked is unknown.
 */
int octo_agent_hear(struct octo_agent *agent, uint32_t seq, struct octo_agent_msg *answer);

/** octo_agent_say() and octo_agent_hear(). */
int
octo_agent_ask(struct octo_agent *agent, struct octo_agent_msg *msg, struct octo_agent_msg *answer);

#endif /* OCTO_AGENT_H */
