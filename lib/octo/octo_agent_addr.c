/* SPDX-License-Identifier: BSD-3-Clause */

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <eal_export.h>

#include "octo_agent_addr.h"

static bool
starts_with(const char *text, const char *prefix, const char **rest)
{
	const size_t len = strlen(prefix);

	*rest = text + len;
	return strncmp(text, prefix, len) == 0;
}

static int
refuse(char *why, size_t why_len, const char *text)
{
	snprintf(why, why_len, "%s", text);
	return -EINVAL;
}

static int
read_unix(struct octo_agent_addr *addr, const char *path, char *why, size_t why_len)
{
	struct sockaddr_un *un = &addr->sock.un;

	if (path[0] == '\0' || strlen(path) >= sizeof(un->sun_path))
		return refuse(why, why_len, "unix:PATH with a path of 1 to 107 bytes is expected");
	un->sun_family = AF_UNIX;
	snprintf(un->sun_path, sizeof(un->sun_path), "%s", path);
	addr->len = sizeof(*un);
	return 0;
}

static int
read_device(struct octo_agent_addr *addr, const char *path, char *why, size_t why_len)
{
	if (path[0] != '/')
		return refuse(why, why_len,
			      "dev:PATH with the full path of a character device is expected");
	addr->device = path;
	return 0;
}

/* Reads the port after the last colon, and copies the host before it. */
static int
split_host(const char *text, char *host, size_t host_len, in_port_t *port)
{
	const char *colon = strrchr(text, ':');
	char *end;
	long number;

	if (colon == NULL || (size_t)(colon - text) >= host_len)
		return -EINVAL;
	number = strtol(colon + 1, &end, 10);
	if (colon[1] < '0' || colon[1] > '9' || *end != '\0' || number < 1 || number > UINT16_MAX)
		return -EINVAL;
	memcpy(host, text, (size_t)(colon - text));
	host[colon - text] = '\0';
	*port = htons((uint16_t)number);
	return 0;
}

/* Turns "[::1]" into "::1", in place. Returns false if there are no brackets. */
static bool
strip_brackets(char *host)
{
	const size_t len = strlen(host);

	if (len < 3 || host[0] != '[' || host[len - 1] != ']')
		return false;
	memmove(host, host + 1, len - 2);
	host[len - 2] = '\0';
	return true;
}

static int
read_tcp(struct octo_agent_addr *addr, const char *text, char *why, size_t why_len)
{
	struct sockaddr_in *in = &addr->sock.in;
	struct sockaddr_in6 *in6 = &addr->sock.in6;
	char host[INET6_ADDRSTRLEN + 2];
	in_port_t port;
	int ok = 0;

	if (split_host(text, host, sizeof(host), &port) == 0 && strip_brackets(host)) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = port;
		addr->len = sizeof(*in6);
		ok = inet_pton(AF_INET6, host, &in6->sin6_addr);
	} else if (split_host(text, host, sizeof(host), &port) == 0) {
		in->sin_family = AF_INET;
		in->sin_port = port;
		addr->len = sizeof(*in);
		ok = inet_pton(AF_INET, host, &in->sin_addr);
	}
	return ok == 1 ? 0 :
			 refuse(why, why_len,
				"tcp:ADDRESS:PORT with a numeric address (IPv6 in brackets) "
				"and a port of 1 to 65535 is expected");
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_agent_addr_read)
int
octo_agent_addr_read(struct octo_agent_addr *addr, const char *text, char *why, size_t why_len)
{
	const char *rest;

	memset(addr, 0, sizeof(*addr));
	if (strlen(text) >= sizeof(addr->text))
		return refuse(why, why_len, "it is longer than 159 bytes");
	snprintf(addr->text, sizeof(addr->text), "%s", text);
	if (starts_with(addr->text, "unix:", &rest))
		return read_unix(addr, rest, why, why_len);
	if (starts_with(addr->text, "tcp:", &rest))
		return read_tcp(addr, rest, why, why_len);
	if (starts_with(addr->text, "dev:", &rest))
		return read_device(addr, rest, why, why_len);
	return refuse(why, why_len, "unix:PATH, tcp:ADDRESS:PORT or dev:PATH is expected");
}

bool
octo_agent_addr_is_local(const struct octo_agent_addr *addr)
{
	if (addr->device != NULL || addr->sock.any.sa_family == AF_UNIX)
		return true;
	if (addr->sock.any.sa_family == AF_INET)
		return ntohl(addr->sock.in.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return IN6_IS_ADDR_LOOPBACK(&addr->sock.in6.sin6_addr);
}
