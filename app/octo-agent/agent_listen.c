/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent_listen.h"

/* The lock is held for moments; another program may have its own idea of that. */
#define LOCK_TRIES 200
#define LOCK_PAUSE_MS 10
#define BACKLOG 16

/*
 * The directory is what all who would make this socket have in common, and it leaves no
 * file behind.
 */
int
agent_listen_lock(const char *path)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_MS * 1000000};
	const char *slash = strrchr(path, '/');
	char directory[sizeof(((struct sockaddr_un *)NULL)->sun_path) + 1];
	int fd, ret;

	/* with the slash: that of the root is all that is left of it */
	snprintf(directory, sizeof(directory), "%.*s", slash == NULL ? 1 : (int)(slash - path + 1),
		 slash == NULL ? "." : path);
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	for (int i = 0; i < LOCK_TRIES; i++) {
		ret = flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : -errno;
		if (ret != -EWOULDBLOCK && ret != -EINTR)
			break;
		nanosleep(&pause, NULL);
	}
	if (ret == 0)
		return fd;
	close(fd);
	return ret == -EWOULDBLOCK ? -EBUSY : ret;
}

void
agent_listen_unlock(int lock)
{
	close(lock);
}

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

/* Nobody can connect before it listens. */
static int
admit(const struct octo_agent_addr *addr, gid_t group)
{
	const char *path = addr->sock.un.sun_path;

	return lchown(path, (uid_t)-1, group) == 0 && chmod(path, 0660) == 0 ? 0 : -errno;
}

static int
bind_unix(int fd, const struct octo_agent_addr *addr, const gid_t *group)
{
	/* whoever may write to the socket may steer: there is no moment when others can */
	const mode_t before = umask(0177);
	int ret = 0;

	if (is_stale(addr))
		unlink(addr->sock.un.sun_path);
	if (bind(fd, &addr->sock.any, addr->len) != 0)
		ret = -errno;
	umask(before);
	if (ret == 0 && group != NULL) {
		ret = admit(addr, *group);
		if (ret != 0)
			unlink(addr->sock.un.sun_path);
	}
	return ret;
}

/* One that is bound and does not listen yet would look like one that was left behind. */
static int
listen_on_unix(struct agent_ear *ear, const struct octo_agent_addr *addr, const gid_t *group)
{
	const int lock = agent_listen_lock(addr->sock.un.sun_path);
	struct stat st;
	int ret;

	if (lock < 0)
		return lock;
	ret = bind_unix(ear->fd, addr, group);
	if (ret == 0 && (listen(ear->fd, BACKLOG) != 0 || lstat(addr->sock.un.sun_path, &st) != 0))
		ret = -errno;
	if (ret == 0) {
		ear->dev = st.st_dev;
		ear->ino = st.st_ino;
	}
	agent_listen_unlock(lock);
	return ret;
}

static int
listen_on_tcp(const struct agent_ear *ear, const struct octo_agent_addr *addr)
{
	const int on = 1;

	setsockopt(ear->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	return bind(ear->fd, &addr->sock.any, addr->len) == 0 && listen(ear->fd, BACKLOG) == 0 ?
		       0 :
		       -errno;
}

/* NULL: it may be listened on. */
static const char *
objection(const struct octo_agent_addr *addr, const struct agent_listen_policy *policy)
{
	if (is_unix(addr))
		return NULL;
	if (!policy->remote && !octo_agent_addr_is_local(addr))
		return "other machines can reach it: listen on a loopback address, or say "
		       "--allow-remote";
	if (!policy->anyone)
		return "every user who reaches it could steer: give --secret FILE, or say "
		       "--no-secret";
	return NULL;
}

int
agent_listen_open(struct agent_ear *ear, const struct octo_agent_addr *addr,
		  const struct agent_listen_policy *policy, char *why, size_t why_len)
{
	const char *text = objection(addr, policy);
	int ret = 0;

	*ear = (struct agent_ear){.fd = -1};
	if (text != NULL) {
		snprintf(why, why_len, "%s", text);
		return -EPERM;
	}
	ear->fd = socket(
		addr->sock.any.sa_family,
		(policy->packets ? SOCK_SEQPACKET : SOCK_STREAM) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (ear->fd < 0)
		ret = -errno;
	else
		ret = is_unix(addr) ? listen_on_unix(ear, addr, policy->group) :
				      listen_on_tcp(ear, addr);
	if (ret == 0)
		return 0;
	snprintf(why, why_len, "%s", strerror(-ret));
	if (ear->fd >= 0)
		close(ear->fd);
	ear->fd = -1;
	return ret;
}

/* While it listens nobody replaces it, so it goes before that ends. */
static void
remove_unix(const struct agent_ear *ear, const char *path)
{
	const int lock = agent_listen_lock(path);
	struct stat st;

	if (lstat(path, &st) == 0 && st.st_dev == ear->dev && st.st_ino == ear->ino)
		unlink(path);
	if (lock >= 0)
		agent_listen_unlock(lock);
}

void
agent_listen_close(struct agent_ear *ear, const struct octo_agent_addr *addr)
{
	if (ear->fd < 0)
		return;
	if (is_unix(addr))
		remove_unix(ear, addr->sock.un.sun_path);
	close(ear->fd);
	ear->fd = -1;
}
