/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef AGENT_SERVER_H
#define AGENT_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "octo_agent_secret.h"

/**
 * @file
 * The agent's ear: one thread that listens, and serves one port at a time. All
 * rules are changed by that thread.
 *
 * A connection is a guest until it has said a hello that the agent accepts; only then
 * it is the port that is served. Guests cannot keep a port out, however much they say.
 */

struct agent_rules;

struct agent_server_config {
	const char *listen;              /**< unix:PATH, tcp:ADDRESS:PORT or dev:PATH */
	bool remote;                     /**< other machines may connect */
	bool anyone;                     /**< TCP is served without a secret */
	struct octo_agent_secret secret; /**< that hello must bring; length 0: none */
	uint8_t nb_pfs;
	struct agent_rules *rules;
};

struct agent_server;

/**
 * Begin to serve.
 *
 * @param why
 *   Filled with what is wrong, for people, on failure.
 * @return
 *   0, or a negative errno.
 */
int agent_server_start(const struct agent_server_config *config, struct agent_server **server,
		       char *why, size_t why_len);

/** Stop serving; the rules stay. */
void agent_server_stop(struct agent_server *server);

/**
 * The same without a thread: whoever opens it calls agent_server_step() again and again.
 * The inverse is agent_server_close().
 */
int agent_server_open(const struct agent_server_config *config, struct agent_server **server,
		      char *why, size_t why_len);
void agent_server_close(struct agent_server *server);

/**
 * One look at all connections: a bounded number of messages of each.
 *
 * @param timeout_ms
 *   How long to wait for something to look at.
 * @return
 *   False when agent_server_stop() was called.
 */
bool agent_server_step(struct agent_server *server, int timeout_ms);

#endif /* AGENT_SERVER_H */
