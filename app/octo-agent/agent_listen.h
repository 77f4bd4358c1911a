/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef AGENT_LISTEN_H
#define AGENT_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

#include "octo_agent_addr.h"

/**
 * @file
 * Where the agent listens. It authenticates nobody: a unix socket's permissions
 * (0600) do, and TCP is for this machine unless the user says otherwise.
 */

/**
 * Listen on a unix or TCP address. A unix socket that nobody serves any more is
 * replaced.
 *
 * @param remote
 *   Whether an address that other machines can reach is allowed.
 * @param why
 *   Filled with what is wrong, for people, on failure.
 * @return
 *   A file descriptor, or a negative errno.
 */
int agent_listen_open(const struct octo_agent_addr *addr, bool remote, char *why, size_t why_len);

/** Stop listening; a unix socket disappears. */
void agent_listen_close(int fd, const struct octo_agent_addr *addr);

#endif /* AGENT_LISTEN_H */
