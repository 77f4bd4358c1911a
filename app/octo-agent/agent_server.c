/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <rte_common.h>

#include "agent_listen.h"
#include "agent_rules.h"
#include "agent_server.h"
#include "agent_session.h"
#include "octo_agent_stream.h"

/* A port pings every second: one that was not heard for so long may be replaced. */
#define SILENT_S 5
/* Who has begun to talk must have said hello by then. */
#define HELLO_S 5
/* How soon a device is opened again whose other side has gone. */
#define REOPEN_MS 1000
/* Messages of one connection in one go: whoever floods the agent keeps nobody else waiting. */
#define SERVE_MAX 128
/* Connections that have not said hello; the oldest makes room for the next. */
#define MAX_GUESTS 8

enum { FD_STOP, FD_LISTEN, FD_PORT, FD_GUESTS, NB_FDS = FD_GUESTS + MAX_GUESTS };

struct guest {
	struct octo_agent_stream stream; /* closed: there is none */
	uint64_t number;                 /* that of its connection */
	time_t deadline;                 /* for its hello; 0: it has said nothing */
};

struct agent_server {
	struct octo_agent_addr addr;
	struct octo_agent_secret secret;
	struct octo_agent_stream stream; /* of the port that is served, or of the device */
	struct agent_session session;
	struct agent_ear ear; /* closed: a device */
	int stop_fd;
	time_t heard; /* of that port */
	bool more;    /* messages may have been left in a stream */
	uint64_t nb_connections;
	struct guest guests[MAX_GUESTS];
	pthread_t thread;
};

static time_t
now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static void
disconnect(struct agent_server *server)
{
	octo_agent_stream_close(&server->stream);
	agent_session_end(&server->session);
	server->heard = now_s();
}

/* Answers the next message, unless the answers before cannot be sent. */
static int
answer_next(struct agent_server *server)
{
	struct octo_agent_msg msg, answer;
	int ret = octo_agent_stream_flush(&server->stream);

	if (ret == 0)
		ret = octo_agent_stream_receive(&server->stream, &msg);
	if (ret != 0)
		return ret;
	if (agent_session_handle(&server->session, &msg, &answer))
		server->heard = now_s();
	return octo_agent_stream_send(&server->stream, &answer);
}

/* Of a look that was cut short, and of more messages than one go takes, there is a rest. */
static int
end_go(struct agent_server *server, const struct octo_agent_stream *stream, int ret)
{
	if (ret == 0 || (ret == -EAGAIN && octo_agent_stream_is_cut(stream) && stream->out == 0)) {
		server->more = true;
		return 0;
	}
	return ret == -EAGAIN ? 0 : ret;
}

static void
serve_port(struct agent_server *server)
{
	int ret = 0;

	octo_agent_stream_look(&server->stream);
	for (int i = 0; i < SERVE_MAX && ret == 0; i++)
		ret = answer_next(server);
	if (end_go(server, &server->stream, ret) != 0)
		disconnect(server);
}

/* One port at a time: two would undo each other's rules. */
static bool
is_taken(const struct agent_server *server)
{
	return server->stream.fd >= 0 && server->session.greeted &&
	       now_s() - server->heard < SILENT_S;
}

/* The guest is the port from now on, with all that it has said. */
static void
take_seat(struct agent_server *server, struct guest *guest)
{
	disconnect(server);
	server->stream = guest->stream;
	octo_agent_stream_init(&guest->stream);
	server->more = true;
}

/* Returns whether it has become the port. */
static bool
judge(struct agent_server *server, struct guest *guest, const struct octo_agent_msg *msg,
      struct octo_agent_msg *answer)
{
	if (!agent_session_may_begin(&server->session, msg, answer))
		return false;
	if (is_taken(server)) {
		agent_session_refuse(msg, EBUSY, "another port is connected", answer);
		return false;
	}
	take_seat(server, guest);
	agent_session_handle(&server->session, msg, answer);
	return true;
}

/* 0, 1: it is no guest any more, or a negative errno. */
static int
answer_guest(struct agent_server *server, struct guest *guest)
{
	struct octo_agent_msg msg, answer;
	int ret = octo_agent_stream_flush(&guest->stream);

	if (ret == 0)
		ret = octo_agent_stream_receive(&guest->stream, &msg);
	if (ret != 0)
		return ret;
	if (!judge(server, guest, &msg, &answer))
		return octo_agent_stream_send(&guest->stream, &answer);
	if (octo_agent_stream_send(&server->stream, &answer) != 0)
		disconnect(server);
	return 1;
}

static void
serve_guest(struct agent_server *server, struct guest *guest)
{
	int ret = 0;

	octo_agent_stream_look(&guest->stream);
	for (int i = 0; i < SERVE_MAX && ret == 0; i++)
		ret = answer_guest(server, guest);
	if (ret == 1)
		return;
	if (guest->deadline == 0 && guest->stream.left < OCTO_AGENT_LOOK_BYTES)
		guest->deadline = now_s() + HELLO_S;
	if (end_go(server, &guest->stream, ret) != 0 ||
	    (guest->deadline != 0 && now_s() >= guest->deadline))
		octo_agent_stream_close(&guest->stream);
}

/* A free place, or that of the one that has had the longest time to say hello. */
static struct guest *
place_for_guest(struct agent_server *server)
{
	struct guest *oldest = &server->guests[0];

	for (int i = 0; i < MAX_GUESTS; i++) {
		struct guest *guest = &server->guests[i];

		if (guest->stream.fd < 0)
			return guest;
		if (guest->number < oldest->number)
			oldest = guest;
	}
	octo_agent_stream_close(&oldest->stream);
	return oldest;
}

/* Returns whether there was one. */
static bool
let_in(struct agent_server *server)
{
	int fd = accept4(server->ear.fd, NULL, NULL, SOCK_CLOEXEC);
	struct guest *guest;

	if (fd < 0)
		return false;
	guest = place_for_guest(server);
	octo_agent_stream_attach(&guest->stream, fd);
	guest->number = server->nb_connections++;
	guest->deadline = 0;
	/* it may have spoken already: nobody who comes after it is to take its place before */
	serve_guest(server, guest);
	return true;
}

static void
reopen(struct agent_server *server)
{
	/* a device whose other side is closed is at its end at once, over and over */
	if (server->ear.fd < 0 && server->stream.fd < 0 && now_s() != server->heard)
		octo_agent_stream_connect(&server->stream, &server->addr);
}

static struct pollfd
awaited(const struct octo_agent_stream *stream)
{
	/* answers that cannot be sent come before more that is to be answered */
	return (struct pollfd){.fd = stream->fd, .events = stream->out > 0 ? POLLOUT : POLLIN};
}

bool
agent_server_step(struct agent_server *server, int timeout_ms)
{
	struct pollfd fds[NB_FDS] = {
		[FD_STOP] = {.fd = server->stop_fd, .events = POLLIN},
		[FD_LISTEN] = {.fd = server->ear.fd, .events = POLLIN},
		[FD_PORT] = awaited(&server->stream),
	};
	const bool more = server->more;

	for (int i = 0; i < MAX_GUESTS; i++)
		fds[FD_GUESTS + i] = awaited(&server->guests[i].stream);
	if (poll(fds, NB_FDS, more ? 0 : timeout_ms) < 0 && errno != EINTR)
		return false;
	if (fds[FD_STOP].revents != 0)
		return false;
	server->more = false;
	if (fds[FD_PORT].revents != 0 || (more && server->stream.fd >= 0))
		serve_port(server);
	for (int i = 0; i < MAX_GUESTS; i++)
		if (server->guests[i].stream.fd >= 0)
			serve_guest(server, &server->guests[i]);
	for (int i = 0; i < MAX_GUESTS && fds[FD_LISTEN].revents != 0; i++)
		if (!let_in(server))
			break;
	reopen(server);
	return true;
}

static void *
run(void *arg)
{
	struct agent_server *server = arg;

	while (agent_server_step(server, REOPEN_MS))
		;
	return NULL;
}

static int
open_ear(struct agent_server *server, const struct agent_server_config *config, char *why,
	 size_t why_len)
{
	const struct agent_listen_policy policy = {
		.remote = config->remote,
		.anyone = config->anyone || config->secret.len > 0,
	};
	int ret;

	if (server->addr.device == NULL)
		return agent_listen_open(&server->ear, &server->addr, &policy, why, why_len);
	ret = octo_agent_stream_connect(&server->stream, &server->addr);
	if (ret != 0)
		snprintf(why, why_len, "%s",
			 ret == -ENOTTY ? "it is not a character device" : strerror(-ret));
	return ret;
}

static void
close_all(struct agent_server *server)
{
	for (int i = 0; i < MAX_GUESTS; i++)
		octo_agent_stream_close(&server->guests[i].stream);
	disconnect(server);
	agent_listen_close(&server->ear, &server->addr);
}

int
agent_server_open(const struct agent_server_config *config, struct agent_server **result, char *why,
		  size_t why_len)
{
	struct agent_server *server = calloc(1, sizeof(*server));
	int ret;

	if (server == NULL) {
		snprintf(why, why_len, "no memory");
		return -ENOMEM;
	}
	server->ear.fd = -1;
	server->secret = config->secret;
	octo_agent_stream_init(&server->stream);
	for (int i = 0; i < MAX_GUESTS; i++)
		octo_agent_stream_init(&server->guests[i].stream);
	agent_session_init(&server->session, config->rules, config->nb_pfs,
			   config->secret.len > 0 ? &server->secret : NULL);
	ret = octo_agent_addr_read(&server->addr, config->listen, why, why_len);
	if (ret == 0)
		ret = open_ear(server, config, why, why_len);
	if (ret != 0)
		goto err_free;
	server->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (server->stop_fd >= 0) {
		*result = server;
		return 0;
	}
	ret = -errno;
	snprintf(why, why_len, "%s", strerror(-ret));
	close_all(server);
err_free:
	free(server);
	return ret;
}

void
agent_server_close(struct agent_server *server)
{
	close(server->stop_fd);
	close_all(server);
	free(server);
}

int
agent_server_start(const struct agent_server_config *config, struct agent_server **result,
		   char *why, size_t why_len)
{
	struct agent_server *server;
	int ret = agent_server_open(config, &server, why, why_len);

	if (ret != 0)
		return ret;
	ret = -pthread_create(&server->thread, NULL, run, server);
	if (ret != 0) {
		snprintf(why, why_len, "%s", strerror(-ret));
		agent_server_close(server);
		return ret;
	}
	*result = server;
	return 0;
}

void
agent_server_stop(struct agent_server *server)
{
	const uint64_t one = 1;

	while (write(server->stop_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(server->thread, NULL);
	agent_server_close(server);
}
