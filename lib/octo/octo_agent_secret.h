/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_AGENT_SECRET_H
#define OCTO_AGENT_SECRET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_compat.h>

/**
 * @file
 * A secret that a port and its agent share. The port sends it in clear text, in hello: it keeps
 * out clients that can open the stream, not those that can read it.
 */

#define OCTO_AGENT_SECRET_MIN 16
#define OCTO_AGENT_SECRET_MAX 64

struct octo_agent_secret {
	uint8_t len;                          /**< 0: none */
	uint8_t bytes[OCTO_AGENT_SECRET_MAX]; /**< zero beyond len */
};

/**
 * Read a secret from a file of 16 to 64 bytes, without the newline at its end. The file must be
 * a regular one, owned by this user or root, and inaccessible to all others.
 *
 * @param why
 *   On failure filled with an error message.
 * @return
 *   0, or a negative errno with an empty secret.
 */
__rte_internal
int octo_agent_secret_read(struct octo_agent_secret *secret, const char *path, char *why,
			   size_t why_len);

/** Are the secrets equal? The time taken does not depend on where they differ. */
bool octo_agent_secret_equal(const struct octo_agent_secret *a, const struct octo_agent_secret *b);

#endif /* OCTO_AGENT_SECRET_H */
