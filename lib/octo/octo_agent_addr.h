/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_AGENT_ADDR_H
#define OCTO_AGENT_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <netinet/in.h>

#include <rte_compat.h>

/**
 * @file
 * Address of an agent: "unix:PATH", "tcp:ADDRESS:PORT" (numeric; IPv6 in brackets), or
 * "dev:PATH" for a character device such as a virtio-serial port. Pure functions: any thread,
 * any process.
 */

#define OCTO_AGENT_ADDR_TEXT_MAX 160

struct octo_agent_addr {
	char text[OCTO_AGENT_ADDR_TEXT_MAX]; /**< as given */
	const char *device;                  /**< path of the device, in text; NULL: a socket */
	socklen_t len;
	union {
		struct sockaddr any;
		struct sockaddr_un un;
		struct sockaddr_in in;
		struct sockaddr_in6 in6;
	} sock;
};

/**
 * Read an address. The result contains a pointer into itself, so it must not be copied.
 *
 * @param why
 *   On failure filled with an error message.
 * @return
 *   0, or -EINVAL.
 */
__rte_internal
int octo_agent_addr_read(struct octo_agent_addr *addr, const char *text, char *why, size_t why_len);

/** Can only this machine reach the address? */
bool octo_agent_addr_is_local(const struct octo_agent_addr *addr);

#endif /* OCTO_AGENT_ADDR_H */
