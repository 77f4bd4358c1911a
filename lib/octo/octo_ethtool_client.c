/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <eal_export.h>

#include "octo_clock.h"
#include "octo_ethtool_client.h"
#include "octo_ethtool_io.h"

#define RETRY_US 1000000
#define WELCOME_US 1000000

RTE_EXPORT_INTERNAL_SYMBOL(octo_ethtool_client_is_addr)
bool
octo_ethtool_client_is_addr(const char *text, char *why, size_t why_len)
{
	struct octo_agent_addr addr;

	if (octo_agent_addr_read(&addr, text, why, why_len) == 0 && addr.device == NULL &&
	    addr.sock.any.sa_family == AF_UNIX)
		return true;
	snprintf(why, why_len, "unix:PATH with a path of 1 to 107 bytes is expected");
	return false;
}

void
octo_ethtool_client_init(struct octo_ethtool_client *c, const char *addr, uint32_t ifindex)
{
	char why[128];

	memset(c, 0, sizeof(*c));
	octo_agent_addr_read(&c->addr, addr, why, sizeof(why));
	c->ifindex = ifindex;
	c->fd = -1;
	octo_credit_init(&c->credit);
}

void
octo_ethtool_client_fini(struct octo_ethtool_client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	c->is_welcome = false;
	c->has_answered = false;
}

static int
lose(struct octo_ethtool_client *c, const char *why)
{
	c->was_lost |= c->is_welcome;
	snprintf(c->why, sizeof(c->why), "%s", why);
	c->deadline = octo_deadline(RETRY_US);
	octo_ethtool_client_fini(c);
	return -ENOTCONN;
}

/* The request, or hello, with the length from octo_ethtool_msg_len(). */
static int
say(struct octo_ethtool_client *c, const void *request, size_t len)
{
	c->msg.ret = 0;
	c->msg.reserved = 0;
	memcpy(c->msg.bytes, request, len);
	if (send(c->fd, &c->msg, OCTO_ETHTOOL_MSG_HEADER + len, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return 0;
	return lose(c, errno == EPIPE || errno == ECONNRESET ? "it closed the connection" :
							       strerror(errno));
}

/* -EAGAIN: there is no answer yet. What the agent says is in msg after 0. */
static int
hear(struct octo_ethtool_client *c, const void *request)
{
	const ssize_t n = recv(c->fd, &c->msg, sizeof(c->msg), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return -EAGAIN;
	if (n <= 0)
		return lose(c, "it closed the connection");
	if (!octo_ethtool_msg_is_answer(request, &c->msg, (size_t)n))
		return lose(c, "it answers what was not asked");
	return 0;
}

static struct octo_ethtool_hello
hello_of(const struct octo_ethtool_client *c)
{
	return (struct octo_ethtool_hello){
		.cmd = OCTO_ETHTOOL_HELLO,
		.version = OCTO_ETHTOOL_MSG_VERSION,
		.netns = octo_ethtool_io_netns(),
		.ifindex = c->ifindex,
	};
}

static void
begin(struct octo_ethtool_client *c)
{
	const struct octo_ethtool_hello hello = hello_of(c);

	c->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (c->fd < 0 || connect(c->fd, &c->addr.sock.any, c->addr.len) != 0) {
		lose(c, strerror(errno));
		return;
	}
	c->deadline = octo_deadline(WELCOME_US);
	say(c, &hello, sizeof(hello));
}

static const char *
refusal(int code)
{
	switch (code) {
	case EALREADY:
		return "another process steers the flows of the netdev";
	case EXDEV:
		return "it is for another netdev, or in another network namespace";
	case EPROTONOSUPPORT:
		return "it speaks another version of the protocol";
	default:
		return strerror(code);
	}
}

/* Returns whether the agent has accepted hello. */
static bool
hear_welcome(struct octo_ethtool_client *c)
{
	const struct octo_ethtool_hello hello = hello_of(c);
	const int ret = hear(c, &hello);

	if (ret == 0 && c->msg.ret == 0)
		c->is_welcome = true;
	else if (ret == 0)
		lose(c, refusal(-c->msg.ret));
	else if (ret == -EAGAIN && octo_now() >= c->deadline)
		lose(c, "it does not answer");
	return c->is_welcome;
}

void
octo_ethtool_client_connect(struct octo_ethtool_client *c)
{
	begin(c);
	while (c->fd >= 0 && !hear_welcome(c))
		if (c->fd >= 0)
			octo_ethtool_io_wait(c->fd, c->deadline);
}

/* It says nothing unless it is asked. */
static void
check_alive(struct octo_ethtool_client *c)
{
	char byte;
	const ssize_t n = recv(c->fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		lose(c, "it closed the connection");
	else if (n > 0)
		lose(c, "it answers what was not asked");
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_ethtool_client_poll)
enum octo_ethtool_client_event
octo_ethtool_client_poll(struct octo_ethtool_client *c)
{
	if (c->is_welcome)
		check_alive(c);
	if (c->was_lost) {
		c->was_lost = false;
		return OCTO_ETHTOOL_CLIENT_LOST;
	}
	if (c->is_welcome)
		return OCTO_ETHTOOL_CLIENT_NOTHING;
	if (c->fd < 0 && octo_now() >= c->deadline)
		begin(c);
	return c->fd >= 0 && hear_welcome(c) ? OCTO_ETHTOOL_CLIENT_BEGUN :
					       OCTO_ETHTOOL_CLIENT_NOTHING;
}

static int
await_answer(struct octo_ethtool_client *c, const void *request)
{
	const uint64_t since = octo_now();
	const uint64_t end = since + octo_credit_may_wait(&c->credit);
	int ret;

	while ((ret = hear(c, request)) == -EAGAIN && octo_now() < end)
		octo_ethtool_io_wait(c->fd, end);
	octo_credit_waited(&c->credit, since);
	return ret == -EAGAIN ? lose(c, "it does not answer") : ret;
}

/* The agent chooses locations: a rule whose location is unknown is not there. */
static int
list_rules(struct ethtool_rxnfc *nfc)
{
	nfc->rule_cnt = 0;
	return 0;
}

int
octo_ethtool_client_io(struct octo_ethtool_client *c, void *request)
{
	const size_t len = octo_ethtool_msg_len(request, SIZE_MAX);
	int ret;

	if (*(uint32_t *)request == ETHTOOL_GRXCLSRLALL)
		return list_rules(request);
	if (len == 0)
		return -EOPNOTSUPP;
	if (!c->is_welcome)
		return -ENOTCONN;
	ret = say(c, request, len);
	if (ret == 0)
		ret = await_answer(c, request);
	if (ret != 0)
		return ret;
	c->has_answered = true;
	if (c->msg.ret == 0)
		memcpy(request, c->msg.bytes, len);
	return c->msg.ret;
}
