/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_string_fns.h>

#include "agent_ethtool.h"
#include "agent_listen.h"
#include "agent_log.h"
#include "agent_netdev.h"
#include "octo_clock.h"
#include "octo_ethtool.h"

/* Requests of the port in one go: others have their turn, too. */
#define SERVE_MAX 64
/* Connections without an accepted hello; the oldest makes room for the next. */
#define MAX_GUESTS 8
#define HELLO_US (5 * US_PER_S)

enum { FD_LISTEN, FD_PORT, FD_GUESTS, NB_FDS = FD_GUESTS + MAX_GUESTS };

struct guest {
	int fd;            /* -1: there is none */
	uint64_t deadline; /* for its hello: the first one is that of the oldest guest */
};

struct agent_ethtool {
	struct agent_netdev netdev;
	struct octo_agent_addr addr;
	struct agent_ear ear;
	int port; /* the connection that is served; -1: none */
	struct guest guests[MAX_GUESTS];
	struct octo_ethtool_msg msg;
};

static void
close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* -EAGAIN: there is no message; -EPIPE: the connection is to be closed. */
static int
hear(struct agent_ethtool *agent, int fd, size_t *len)
{
	const ssize_t n = recv(fd, &agent->msg, sizeof(agent->msg), MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return -EAGAIN;
	if (n <= OCTO_ETHTOOL_MSG_HEADER || (size_t)n > sizeof(agent->msg))
		return -EPIPE;
	*len = (size_t)n - OCTO_ETHTOOL_MSG_HEADER;
	return octo_ethtool_msg_len(&agent->msg.cmd, *len) == *len ? 0 : -EPIPE;
}

static int
answer(struct agent_ethtool *agent, int fd, size_t len, int result)
{
	agent->msg.ret = result;
	agent->msg.reserved = 0;
	/* a port reads each answer before it sends the next request */
	return send(fd, &agent->msg, OCTO_ETHTOOL_MSG_HEADER + len, MSG_DONTWAIT | MSG_NOSIGNAL) >=
			       0 ?
		       0 :
		       -EPIPE;
}

static void
end_session(struct agent_ethtool *agent)
{
	int ret;

	if (agent->port < 0)
		return;
	close_fd(&agent->port);
	ret = agent_netdev_give_back(&agent->netdev);
	if (ret == 0)
		AGENT_LOG(NOTICE, agent->netdev.name, "the port has gone, and its rules with it");
	else
		AGENT_LOG(WARNING, agent->netdev.name,
			  "the port has gone, and rules or the RETA stay until the next one comes: "
			  "%s",
			  strerror(-ret));
}

static int
answer_port(struct agent_ethtool *agent)
{
	size_t len;
	const int ret = hear(agent, agent->port, &len);

	if (ret != 0)
		return ret;
	return answer(agent, agent->port, len, agent_netdev_execute(&agent->netdev, &agent->msg));
}

static void
serve_port(struct agent_ethtool *agent)
{
	int ret = 0;

	for (int i = 0; i < SERVE_MAX && ret == 0; i++)
		ret = answer_port(agent);
	if (ret == -EPIPE)
		end_session(agent);
}

static void
log_session(const struct agent_ethtool *agent)
{
	struct ucred peer = {0};
	socklen_t len = sizeof(peer);

	getsockopt(agent->port, SOL_SOCKET, SO_PEERCRED, &peer, &len);
	AGENT_LOG(NOTICE, agent->netdev.name, "process %d of user %u is served", (int)peer.pid,
		  (unsigned int)peer.uid);
}

/* Returns 0, or the reason why the port is not served. */
static int
begin_session(struct agent_ethtool *agent, struct guest *guest)
{
	const struct octo_ethtool_hello hello = agent->msg.hello;
	int ret = agent_netdev_check_hello(&agent->netdev, &hello);

	/* the port may have gone just now, and this may be its next connection */
	if (ret == 0 && agent->port >= 0)
		serve_port(agent);
	agent->msg.hello = hello;
	if (ret == 0 && agent->port >= 0)
		ret = -EALREADY;
	if (ret == 0)
		ret = agent_netdev_take(&agent->netdev);
	if (ret != 0)
		return ret;
	agent->port = guest->fd;
	guest->fd = -1;
	log_session(agent);
	return 0;
}

static void
serve_guest(struct agent_ethtool *agent, struct guest *guest)
{
	size_t len;
	int ret = hear(agent, guest->fd, &len);

	if (ret == -EAGAIN && octo_now() < guest->deadline)
		return;
	if (ret != 0 || agent->msg.cmd != OCTO_ETHTOOL_HELLO) {
		close_fd(&guest->fd);
		return;
	}
	ret = begin_session(agent, guest);
	if (answer(agent, ret == 0 ? agent->port : guest->fd, len, ret) != 0 && ret == 0)
		end_session(agent);
	close_fd(&guest->fd);
}

static struct guest *
place_for_guest(struct agent_ethtool *agent)
{
	struct guest *oldest = &agent->guests[0];

	for (int i = 0; i < MAX_GUESTS; i++) {
		struct guest *guest = &agent->guests[i];

		if (guest->fd < 0)
			return guest;
		if (guest->deadline < oldest->deadline)
			oldest = guest;
	}
	close_fd(&oldest->fd);
	return oldest;
}

/* Returns whether there was one. */
static bool
let_in(struct agent_ethtool *agent)
{
	const int fd = accept4(agent->ear.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct guest *guest;

	if (fd < 0)
		return false;
	guest = place_for_guest(agent);
	*guest = (struct guest){.fd = fd, .deadline = octo_deadline(HELLO_US)};
	/* it may have said hello already: nobody who comes after it is to take its place before */
	serve_guest(agent, guest);
	return true;
}

void
agent_ethtool_step(struct agent_ethtool *agent, int timeout_ms)
{
	struct pollfd fds[NB_FDS] = {
		[FD_LISTEN] = {.fd = agent->ear.fd, .events = POLLIN},
		[FD_PORT] = {.fd = agent->port, .events = POLLIN},
	};

	for (int i = 0; i < MAX_GUESTS; i++)
		fds[FD_GUESTS + i] = (struct pollfd){.fd = agent->guests[i].fd, .events = POLLIN};
	if (poll(fds, NB_FDS, timeout_ms) < 0)
		return;
	if (agent->port >= 0)
		serve_port(agent);
	for (int i = 0; i < MAX_GUESTS; i++)
		if (agent->guests[i].fd >= 0)
			serve_guest(agent, &agent->guests[i]);
	for (int i = 0; i < MAX_GUESTS && fds[FD_LISTEN].revents != 0; i++)
		if (!let_in(agent))
			break;
}

static int
listen_at(struct agent_ethtool *agent, const struct agent_ethtool_config *config, char *why,
	  size_t why_len)
{
	const struct agent_listen_policy policy = {.packets = true, .group = config->group};

	if (octo_agent_addr_read(&agent->addr, config->listen, why, why_len) != 0)
		return -EINVAL;
	return agent_listen_open(&agent->ear, &agent->addr, &policy, why, why_len);
}

/* What a previous run has left is removed before a port comes, if one ever does. */
static int
check_netdev(struct agent_netdev *netdev, char *why, size_t why_len)
{
	const int ret = agent_netdev_take(netdev);

	if (ret != 0)
		snprintf(why, why_len, "%s",
			 ret == -ENODEV ? "there is no such netdev in this network namespace" :
					  octo_ethtool_rule_refusal(-ret));
	agent_netdev_give_back(netdev);
	return ret;
}

int
agent_ethtool_open(const struct agent_ethtool_config *config, struct agent_ethtool **result,
		   char *why, size_t why_len)
{
	struct agent_ethtool *agent = calloc(1, sizeof(*agent));
	int ret;

	if (agent == NULL) {
		snprintf(why, why_len, "no memory");
		return -ENOMEM;
	}
	agent->ear.fd = -1;
	agent->port = -1;
	for (int i = 0; i < MAX_GUESTS; i++)
		agent->guests[i].fd = -1;
	rte_strscpy(agent->netdev.name, config->netdev, sizeof(agent->netdev.name));
	rte_strscpy(agent->netdev.dir, config->dir, sizeof(agent->netdev.dir));
	ret = check_netdev(&agent->netdev, why, why_len);
	if (ret == 0)
		ret = listen_at(agent, config, why, why_len);
	if (ret == 0)
		*result = agent;
	else
		free(agent);
	return ret;
}

void
agent_ethtool_close(struct agent_ethtool *agent)
{
	end_session(agent);
	for (int i = 0; i < MAX_GUESTS; i++)
		close_fd(&agent->guests[i].fd);
	agent_listen_close(&agent->ear, &agent->addr);
	free(agent);
}
