/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_AGENT_H
#define OCTO_AGENT_H

#include <stdbool.h>
#include <stdint.h>

#include "octo_agent_addr.h"
#include "octo_agent_msg.h"
#include "octo_agent_stream.h"

struct rte_flow;

/**
 * @file
 * The port's side of the conversation with its agent. It knows no rules: those
 * are octo_mpfs_agent.c's. Primary process, all under the control mutex.
 */

/** Messages that may be unanswered at once: what the stream can always keep. */
#define OCTO_AGENT_WINDOW 64

enum octo_agent_state {
	OCTO_AGENT_AWAY,       /* not connected: tried again every second */
	OCTO_AGENT_CONNECTING, /* the connection is not there yet */
	OCTO_AGENT_GREETING,   /* hello was said, no welcome yet */
	OCTO_AGENT_READY,
};

/** A message that was said and is not answered yet. */
struct octo_agent_asked {
	uint32_t seq;
	enum octo_agent_type type;
	uint8_t pf;   /* that was named */
	void *cookie; /* of whoever said it */
};

struct octo_agent {
	struct octo_agent_addr addr;
	struct octo_agent_secret secret; /* said in hello */
	struct octo_agent_stream stream;
	enum octo_agent_state state;
	uint8_t nb_pfs;
	uint8_t flags; /* of the last welcome */
	uint32_t session;
	uint32_t seq;
	uint64_t next_try;             /* TSC */
	uint64_t deadline;             /* TSC by which it must have been heard */
	uint64_t next_ping;            /* TSC */
	uint64_t credit;               /* TSC cycles that may be waited for it under the mutex */
	uint64_t credit_at;            /* TSC at which that was right */
	bool complained;               /* that it is away */
	char why[OCTO_AGENT_TEXT_MAX]; /* the last thing that went wrong */
	unsigned int nb_strange;       /* messages of other sessions since one of this */
	unsigned int first;            /* of asked[]: the next to be answered */
	unsigned int nb_asked;
	struct octo_agent_asked asked[OCTO_AGENT_WINDOW];
	/* octo_mpfs_agent.c's, of this session */
	uint8_t default_pf;      /* that it was told, or OCTO_NO_PF */
	bool default_asked;      /* and has not answered yet */
	uint64_t default_retry;  /* TSC; when it may be told again */
	uint64_t patient_until;  /* TSC; for how long a replay waits, 0: it does not */
	unsigned int nb_flips;   /* unanswered messages that lead packets elsewhere */
	uint64_t flips_end;      /* TSC until which packets are held for them */
	unsigned int nb_refused; /* rules of the replay */
	bool sync_asked;         /* all rules were put, and it has not said that it knows */
	bool slow;               /* the replay waited for its last answer in vain */
};

/** An agent that is away. */
void octo_agent_init(struct octo_agent *agent, const char *addr,
		     const struct octo_agent_secret *secret, uint8_t nb_pfs);

void octo_agent_fini(struct octo_agent *agent);

/**
 * Go on: connect when it is time, hear the welcome, ping. Never waits.
 *
 * @return
 *   True if it has become ready just now: it knows no rule of ours for certain.
 */
bool octo_agent_poll(struct octo_agent *agent);

/** Try to connect now, if it is away. */
void octo_agent_try_now(struct octo_agent *agent);

/** Is it away, and not about to be there? */
static inline bool
octo_agent_is_away(const struct octo_agent *agent)
{
	return agent->state == OCTO_AGENT_AWAY;
}

/** May another message be said? */
static inline bool
octo_agent_has_room(const struct octo_agent *agent)
{
	return agent->nb_asked < OCTO_AGENT_WINDOW;
}

/**
 * Say something and go on; msg->seq is set. There must be room.
 *
 * @param cookie
 *   Comes back with the answer.
 * @return
 *   0, or -ENOTCONN: it is away (now).
 */
int octo_agent_say(struct octo_agent *agent, struct octo_agent_msg *msg, void *cookie);

/**
 * The next answer, in the order of what was said. Never waits; takes a bounded number of
 * bytes, however much the agent says. An agent that answers too late, or what was not
 * asked, is away then.
 *
 * @param asked
 *   Filled with what is answered.
 * @param ret
 *   Filled with 0, or the agent's negative errno and agent->why with its words.
 * @return
 *   0, -EAGAIN: there is none yet; -ENOTCONN: it is away (now), and whether it did what
 *   was asked is unknown.
 */
int octo_agent_hear(struct octo_agent *agent, struct octo_agent_asked *asked,
		    struct octo_agent_msg *answer, int *ret);

/** Take the cookie back: of what is not answered yet, the answer comes without. */
bool octo_agent_disown(struct octo_agent *agent, const void *cookie);

/**
 * Wait until there may be an answer, under the mutex, which others wait for meanwhile. A
 * few milliseconds are free for each that asks; beyond them an agent has a second, of
 * which it gets back a twentieth of the time that passes. Then it is away.
 *
 * @param since
 *   TSC since when it is waited for.
 * @return
 *   0, or -ENOTCONN: it is away (now).
 */
int octo_agent_wait(struct octo_agent *agent, uint64_t since);

/** The end of octo_agent_wait() for one answer. */
void octo_agent_waited(struct octo_agent *agent, uint64_t since);

/* octo_mpfs_agent.c */
void octo_mpfs_agent_count_flip(struct octo_agent *agent);
struct octo_agent_msg
octo_mpfs_agent_msg(enum octo_agent_type type, const struct rte_flow *rule, uint8_t pf);

#endif /* OCTO_AGENT_H */
