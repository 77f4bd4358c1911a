/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef AGENT_SERVER_H
#define AGENT_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * @file
 * The agent's ear: one thread that listens, and serves one port at a time. All
 * rules are changed by that thread.
 */

struct agent_rules;

struct agent_server_config {
	const char *listen; /**< unix:PATH, tcp:ADDRESS:PORT or dev:PATH */
	bool remote;        /**< other machines may connect */
	uint8_t nb_pfs;
	struct agent_rules *rules;
};

struct agent_server_stats {
	bool connected;    /**< a port is */
	uint64_t sessions; /**< begun so far */
	uint64_t messages; /**< answered so far */
	uint32_t rules;
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

/** From any thread. */
void agent_server_get_stats(struct agent_server *server, struct agent_server_stats *stats);

#endif /* AGENT_SERVER_H */
