/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_AGENT_H
#define OCTO_AGENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "octo_agent_addr.h"
#include "octo_agent_msg.h"
#include "octo_agent_stream.h"
#include "octo_credit.h"

struct rte_flow;

/**
 * @file
 * The port's side of the connection to its agent. Rules are the concern of octo_mpfs_agent.c.
 * Primary process only, all under the control mutex.
 */

/** Limit on unanswered messages: the stream can always buffer this many. */
#define OCTO_AGENT_WINDOW 64

enum octo_agent_state {
	OCTO_AGENT_AWAY,       /* not connected: retried every second */
	OCTO_AGENT_CONNECTING, /* the connection is being established */
	OCTO_AGENT_GREETING,   /* hello was sent, no welcome so far */
	OCTO_AGENT_READY,
};

/** A message that was sent and is not answered so far. */
struct octo_agent_asked {
	uint32_t seq;
	enum octo_agent_type type;
	uint8_t pf;   /* named in the message */
	bool awaited; /* somebody waits for the answer, and handles a refusal */
	bool resync;  /* it is one of those that the resync waits for */
	void *cookie; /* of the sender */
};

/** Waits for the answer to one message. On the stack of the thread that waits. */
struct octo_agent_waiter {
	LIST_ENTRY(octo_agent_waiter) next;
	uint32_t seq;
	bool done;
	int ret; /* once done: 0, the agent's negative errno, or -ENOTCONN: it was lost first */
	struct octo_agent_msg answer; /* once done, unless the agent was lost */
	struct rte_flow *rule;        /* that is created; NULL once it is freed */
};

struct octo_agent {
	struct octo_agent_addr addr;
	struct octo_agent_secret secret; /* sent in hello */
	struct octo_agent_stream stream;
	enum octo_agent_state state;
	uint8_t nb_pfs;
	uint8_t flags; /* of the last welcome */
	uint32_t session;
	uint32_t seq;
	uint64_t next_try;             /* TSC */
	uint64_t deadline;             /* TSC by which the agent must have answered */
	uint64_t next_ping;            /* TSC */
	struct octo_credit credit;     /* for waits by octo_agent_wait() under the mutex */
	bool complained;               /* its absence was logged */
	char why[OCTO_AGENT_TEXT_MAX]; /* the last error */
	unsigned int nb_strange;       /* messages of other sessions since the last of this one */
	unsigned int first;            /* index into asked[]: the next to be answered */
	unsigned int nb_asked;
	struct octo_agent_asked asked[OCTO_AGENT_WINDOW];
	LIST_HEAD(, octo_agent_waiter) waiters;
	bool slow; /* waiting for an answer timed out, and none has come since */
	/* used by octo_mpfs_agent.c, valid for this session */
	uint8_t default_pf;      /* the default PF it accepted, or OCTO_NO_PF */
	bool default_asked;      /* a default PF was sent and is not answered so far */
	bool default_refused;    /* by the last answer: default_pf is to be told again */
	uint64_t default_retry;  /* TSC; when a default PF may be sent again */
	uint64_t patient_until;  /* TSC; how long a resync waits for fences, 0: it does not */
	unsigned int nb_flips;   /* unanswered messages that move packets to another PF */
	uint64_t flips_end;      /* TSC until which packets are held for them */
	unsigned int nb_refused; /* rules of the resync */
	unsigned int nb_resync;  /* unanswered messages of the resync, as many as are marked so */
	bool sync_asked;         /* SYNCED was sent after all rules and is not answered so far */
};

/** Initialise an agent, not connected. */
void octo_agent_init(struct octo_agent *agent, const char *addr,
		     const struct octo_agent_secret *secret, uint8_t nb_pfs);

/** Close the connection: messages that are not answered will not be. */
void octo_agent_close(struct octo_agent *agent);

/**
 * Advance the connection: connect when it is time, receive the welcome, ping. Never waits.
 *
 * @return
 *   True if the agent has become ready in this call: it may know none of the port's rules.
 */
bool octo_agent_poll(struct octo_agent *agent);

/** Try to connect now instead of at the next retry, if the agent is away. */
void octo_agent_try_now(struct octo_agent *agent);

/** May another message be sent? */
static inline bool
octo_agent_has_room(const struct octo_agent *agent)
{
	return agent->nb_asked < OCTO_AGENT_WINDOW;
}

/**
 * Send a message without waiting for the answer; sets msg->seq. There must be room for it
 * (octo_agent_has_room()).
 *
 * @param cookie
 *   Returned with the answer.
 * @return
 *   0, or -ENOTCONN: the agent is away, or has just been lost.
 */
int octo_agent_say(struct octo_agent *agent, struct octo_agent_msg *msg, void *cookie);

/**
 * Take the next answer; answers come in the order of the messages. Never waits, and reads a
 * bounded number of bytes, however much the agent sends. An agent that answers too late, or
 * answers something that was not asked, is lost.
 *
 * @param asked
 *   Filled with the message that is answered. Its waiter, if any, is done.
 * @param ret
 *   Filled with 0, or the agent's negative errno; then agent->why has its text.
 * @return
 *   0; -EAGAIN: no answer so far; -ENOTCONN: the agent is away or has just been lost, and
 *   whether it executed the message is unknown.
 */
int octo_agent_hear(struct octo_agent *agent, struct octo_agent_asked *asked,
		    struct octo_agent_msg *answer, int *ret);

/** The message that was said last is one that the resync waits for. */
void octo_agent_mark_resync(struct octo_agent *agent);

/**
 * Clear this cookie in all unanswered messages, so that their answers arrive with NULL.
 *
 * @return
 *   True if there was such a message.
 */
bool octo_agent_disown(struct octo_agent *agent, const void *cookie);

/** The last unanswered message with this cookie, or NULL. */
const struct octo_agent_asked *octo_agent_find(const struct octo_agent *agent, const void *cookie);

/** Begin to wait for the answer to an unanswered message, until LIST_REMOVE() of the waiter. */
void octo_agent_await(struct octo_agent *agent, struct octo_agent_waiter *waiter, uint32_t seq);

/** The rule is about to be freed: no unanswered message and no waiter names it afterwards. */
void octo_agent_forget(struct octo_agent *agent, const struct rte_flow *rule);

/**
 * Wait until there may be an answer, while holding the control mutex. A few milliseconds per
 * answer are free; beyond them the agent has a credit of one second, which is refilled with a
 * twentieth of the time that passes. An agent whose credit is used up is lost.
 *
 * @param since
 *   TSC at which waiting for this answer began.
 * @return
 *   0, or -ENOTCONN: the agent has been lost.
 */
int octo_agent_wait(struct octo_agent *agent, uint64_t since);

/**
 * The same for the few milliseconds that are free; not at all for an agent that is slow.
 *
 * @return
 *   0, or -ETIMEDOUT: the time is over, and the agent is slow until it answers.
 */
int octo_agent_wait_briefly(struct octo_agent *agent, uint64_t since);

/** Send what is buffered and receive what has arrived. Never waits. */
void octo_agent_look(struct octo_agent *agent);

/* octo_mpfs_agent.c */
void octo_mpfs_agent_count_flip(struct octo_agent *agent);
struct octo_agent_msg
octo_mpfs_agent_msg(enum octo_agent_type type, const struct rte_flow *rule, uint8_t pf);

#endif /* OCTO_AGENT_H */
