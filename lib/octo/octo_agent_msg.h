/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_AGENT_MSG_H
#define OCTO_AGENT_MSG_H

#include <stddef.h>
#include <stdint.h>

#include "octo_agent_secret.h"
#include "octo_tuple.h"

/**
 * @file
 * The messages between a port and the agent that programs its MPFS; the guide, "The agent's
 * protocol", is the reference.
 *
 * Every message is a header of 16 bytes and a body of the length that the header gives; numbers
 * are in network order. The port (client) begins, and numbers its messages; the agent answers
 * each message once, in order, with its number. Pure functions on plain data: any thread, any
 * process.
 */

#define OCTO_AGENT_VERSION 1
#define OCTO_AGENT_MAGIC 0x4f43544fu /* "OCTO" */
#define OCTO_AGENT_HEADER 16
/** Longest text of a result, with the terminating NUL that is not sent. */
#define OCTO_AGENT_TEXT_MAX 200
/** Longest message. */
#define OCTO_AGENT_MSG_MAX (OCTO_AGENT_HEADER + 4 + OCTO_AGENT_TEXT_MAX)

enum octo_agent_type {
	OCTO_AGENT_HELLO = 1, /**< to the agent: a session begins; answered by welcome */
	OCTO_AGENT_WELCOME,
	OCTO_AGENT_PUT,    /**< a rule, new or replacing the one with its 5-tuple */
	OCTO_AGENT_REMOVE, /**< remove the rule with this 5-tuple */
	OCTO_AGENT_SYNCED, /**< all rules were sent: drop those of earlier sessions */
	OCTO_AGENT_QUERY,  /**< answered by count */
	OCTO_AGENT_PING,
	OCTO_AGENT_RESULT, /**< from the agent: done, or the error */
	OCTO_AGENT_COUNT,
	OCTO_AGENT_DEFAULT, /**< to the agent: unmatched packets go to this PF now */
};

/** The agent chooses the queue as well as the PF: the PFs need no rules. */
#define OCTO_AGENT_PLACES_QUEUES 0x1
/** The agent counts the hits of rules. */
#define OCTO_AGENT_COUNTS 0x2
/** The agent can be told which PF gets packets that match no rule. */
#define OCTO_AGENT_DEFAULTS 0x4

struct octo_agent_hello {
	uint16_t min_version;            /**< oldest version that the port supports */
	uint16_t max_version;            /**< newest version */
	uint8_t nb_pfs;                  /**< the port's PFs, in the agent's order */
	struct octo_agent_secret secret; /**< with a length of 0: not sent */
};

struct octo_agent_welcome {
	uint16_t version; /**< of all messages that follow */
	uint8_t nb_pfs;
	uint8_t flags;  /**< OCTO_AGENT_PLACES_QUEUES, OCTO_AGENT_COUNTS, OCTO_AGENT_DEFAULTS */
	uint32_t rules; /**< kept from earlier sessions until sent again or synced */
};

struct octo_agent_rule {
	struct octo_tuple tuple;
	uint16_t queue; /**< for an agent that chooses queues */
	uint8_t pf;     /**< index of the PF; with remove and query: not sent */
};

struct octo_agent_result {
	int32_t error;                  /**< 0 or a positive errno of Linux */
	char text[OCTO_AGENT_TEXT_MAX]; /**< error message; empty without error; read: printable */
};

struct octo_agent_count {
	uint64_t hits;
	uint64_t bytes;
};

struct octo_agent_msg {
	enum octo_agent_type type;
	uint32_t session; /**< chosen by the port at hello, the same in all messages that follow */
	uint32_t seq;     /**< number of the message, the same in its answer */
	union {
		struct octo_agent_hello hello;
		struct octo_agent_welcome welcome;
		struct octo_agent_rule rule; /**< put, remove, query */
		struct octo_agent_result result;
		struct octo_agent_count count;
		uint8_t default_pf;
	};
};

/**
 * Write a message.
 *
 * @param bytes
 *   Room for OCTO_AGENT_MSG_MAX bytes.
 * @return
 *   Its length in bytes.
 */
size_t octo_agent_msg_write(uint8_t *bytes, const struct octo_agent_msg *msg);

/**
 * Read the message at the beginning of received bytes.
 *
 * @param used
 *   Bytes to drop before the next call, whatever the return value.
 * @return
 *   0: *msg is a message; -EAGAIN: the message is incomplete; -EBADMSG: these bytes are no
 *   message (the peer restarted in the middle of one, or uses another protocol), and the next
 *   one may begin after *used bytes.
 */
int octo_agent_msg_read(const uint8_t *bytes, size_t len, struct octo_agent_msg *msg, size_t *used);

#endif /* OCTO_AGENT_MSG_H */
