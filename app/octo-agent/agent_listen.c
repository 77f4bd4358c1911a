/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent_listen.h"

static bool
is_unix(const struct octo_agent_addr *addr)
{
	return addr->device == NULL && addr->sock.any.sa_family == AF_UNIX;
}

/* A socket that refuses connections was left behind by an agent that died. */
static bool
is_stale(const struct octo_agent_addr *addr)
{
	struct stat st;
	bool refused;
	int fd;

	if (lstat(addr->sock.un.sun_path, &st) != 0 || !S_ISSOCK(st.st_mode))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return false;
	refused = connect(fd, &addr->sock.any, addr->len) != 0 && errno == ECONNREFUSED;
	close(fd);
	return refused;
}

static int
bind_unix(int fd, const struct octo_agent_addr *addr)
{
	/* whoever may write to the socket may steer: there is no moment when others can */
	const mode_t before = umask(0177);
	int ret = 0;

	if (is_stale(addr))
		unlink(addr->sock.un.sun_path);
	if (bind(fd, &addr->sock.any, addr->len) != 0)
		ret = -errno;
	umask(before);
	return ret;
}

static int
bind_tcp(int fd, const struct octo_agent_addr *addr)
{
	const int on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	return bind(fd, &addr->sock.any, addr->len) == 0 ? 0 : -errno;
}

int
agent_listen_open(const struct octo_agent_addr *addr, bool remote, char *why, size_t why_len)
{
	int fd;
	int ret;

	if (!remote && !octo_agent_addr_is_local(addr)) {
		snprintf(why, why_len,
			 "other machines can reach it, and the agent authenticates nobody: listen "
			 "on a loopback address, or say --allow-remote");
		return -EPERM;
	}
	fd = socket(addr->sock.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		ret = -errno;
	} else {
		ret = is_unix(addr) ? bind_unix(fd, addr) : bind_tcp(fd, addr);
		if (ret == 0 && listen(fd, 4) != 0)
			ret = -errno;
	}
	if (ret == 0)
		return fd;
	snprintf(why, why_len, "%s", strerror(-ret));
	if (fd >= 0)
		close(fd);
	return ret;
}

void
agent_listen_close(int fd, const struct octo_agent_addr *addr)
{
	close(fd);
	if (is_unix(addr))
		unlink(addr->sock.un.sun_path);
}
