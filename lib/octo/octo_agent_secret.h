/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_AGENT_SECRET_H
#define OCTO_AGENT_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_compat.h>

/**
 * @file
 * A secret that a port and its agent share. The port sends it as it is, in hello: it
 * keeps those out that can open the stream, not those that can read it.
 */

#define OCTO_AGENT_SECRET_MIN 16
#define OCTO_AGENT_SECRET_MAX 64

struct octo_agent_secret {
	uint8_t len;                          /**< 0: there is none */
	uint8_t bytes[OCTO_AGENT_SECRET_MAX]; /**< zero behind len */
};

/**
 * Read a secret from a file of 16 to 64 bytes, without the newline at its end. The file
 * must be a regular one, owned by this user or root, and closed to all others.
 *
 * @param why
 *   Filled with what is wrong, for people, on failure.
 * @return
 *   0, or a negative errno with no secret.
 */
__rte_internal
int octo_agent_secret_read(struct octo_agent_secret *secret, const char *path, char *why,
			   size_t why_len);

/** Are they the same? In a time that does not depend on where they differ. */
__rte_internal
bool octo_agent_secret_equal(const struct octo_agent_secret *a, const struct octo_agent_secret *b);

#endif /* OCTO_AGENT_SECRET_H */
