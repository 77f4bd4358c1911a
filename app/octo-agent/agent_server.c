/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "agent_listen.h"
#include "agent_rules.h"
#include "agent_server.h"
#include "agent_session.h"
#include "octo_agent_stream.h"

/* A port pings every second: one that was not heard for so long may be replaced. */
#define SILENT_S 5
/* How soon a device is opened again whose other side has gone. */
#define REOPEN_MS 1000
/* How long one that is turned away may take to say hello: the other one waits. */
#define HELLO_MS 10
/* Messages in one go: whoever floods the agent cannot keep it from stopping. */
#define SERVE_MAX 1024

struct agent_server {
	struct octo_agent_addr addr;
	struct octo_agent_stream stream;
	struct agent_session session;
	int listen_fd; /* -1: a device */
	int stop_fd;
	time_t heard; /* of the port that is connected */
	bool more;    /* messages may have been left in the stream */
	pthread_t thread;
	pthread_mutex_t mutex; /* of stats */
	struct agent_server_stats stats;
};

static time_t
now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static void
update_stats(struct agent_server *server, unsigned int messages)
{
	pthread_mutex_lock(&server->mutex);
	server->stats.connected = server->session.greeted;
	server->stats.sessions = server->session.begun;
	server->stats.messages += messages;
	server->stats.rules = agent_rules_count(server->session.rules);
	pthread_mutex_unlock(&server->mutex);
}

static void
disconnect(struct agent_server *server)
{
	octo_agent_stream_close(&server->stream);
	agent_session_end(&server->session);
	server->heard = now_s();
	update_stats(server, 0);
}

/* Answers all that came in, as long as the answers can be kept. */
static void
serve(struct agent_server *server)
{
	struct octo_agent_msg msg, answer;
	unsigned int messages = 0;
	int ret = octo_agent_stream_flush(&server->stream);

	octo_agent_stream_look(&server->stream);
	while (ret == 0 && messages < SERVE_MAX) {
		ret = octo_agent_stream_receive(&server->stream, &msg);
		if (ret != 0)
			break;
		agent_session_handle(&server->session, &msg, &answer);
		ret = octo_agent_stream_send(&server->stream, &answer);
		if (ret == 0)
			ret = octo_agent_stream_flush(&server->stream);
		server->heard = now_s();
		messages++;
	}
	server->more = ret == 0 || octo_agent_stream_is_cut(&server->stream);
	if (ret != 0 && ret != -EAGAIN)
		disconnect(server);
	else if (messages > 0)
		update_stats(server, messages);
}

/* One port at a time: two would undo each other's rules. */
static void
turn_away(int fd)
{
	static const struct octo_agent_msg unheard;
	struct octo_agent_msg hello;
	struct octo_agent_msg answer;
	struct octo_agent_stream *stream = malloc(sizeof(*stream));

	if (stream == NULL) {
		close(fd);
		return;
	}
	octo_agent_stream_attach(stream, fd);
	octo_agent_stream_look(stream);
	/* its hello tells the number that its answer must have */
	if (octo_agent_stream_wait(stream, HELLO_MS) != 0 ||
	    octo_agent_stream_receive(stream, &hello) != 0)
		hello = unheard;
	agent_session_refuse(&hello, EBUSY, "another port is connected", &answer);
	octo_agent_stream_send(stream, &answer);
	octo_agent_stream_close(stream);
	free(stream);
}

static void
welcome(struct agent_server *server)
{
	int fd = accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (server->stream.fd >= 0 && now_s() - server->heard < SILENT_S) {
		turn_away(fd);
		return;
	}
	disconnect(server);
	octo_agent_stream_attach(&server->stream, fd);
	server->heard = now_s();
}

static void
reopen(struct agent_server *server)
{
	/* a device whose other side is closed is at its end at once, over and over */
	if (server->listen_fd < 0 && server->stream.fd < 0 && now_s() != server->heard)
		octo_agent_stream_connect(&server->stream, &server->addr);
}

static void *
run(void *arg)
{
	struct agent_server *server = arg;

	for (;;) {
		struct pollfd fds[] = {
			{.fd = server->stop_fd, .events = POLLIN},
			{.fd = server->listen_fd, .events = POLLIN},
			{.fd = server->stream.fd, .events = POLLIN},
		};

		if (server->stream.out > 0)
			fds[2].events = POLLOUT;
		if (poll(fds, 3, server->more ? 0 : REOPEN_MS) < 0 && errno != EINTR)
			break;
		if (fds[0].revents != 0)
			break;
		if (fds[2].revents != 0 || server->more)
			serve(server);
		if (fds[1].revents != 0)
			welcome(server);
		reopen(server);
	}
	disconnect(server);
	return NULL;
}

static int
open_ear(struct agent_server *server, bool remote, char *why, size_t why_len)
{
	int ret;

	if (server->addr.device != NULL) {
		ret = octo_agent_stream_connect(&server->stream, &server->addr);
		if (ret != 0)
			snprintf(why, why_len, "%s: %s", server->addr.text, strerror(-ret));
		return ret;
	}
	ret = agent_listen_open(&server->addr, remote, why, why_len);
	if (ret < 0)
		return ret;
	server->listen_fd = ret;
	return 0;
}

static void
close_ear(struct agent_server *server)
{
	octo_agent_stream_close(&server->stream);
	if (server->listen_fd >= 0)
		agent_listen_close(server->listen_fd, &server->addr);
}

int
agent_server_start(const struct agent_server_config *config, struct agent_server **result,
		   char *why, size_t why_len)
{
	struct agent_server *server = calloc(1, sizeof(*server));
	int ret;

	if (server == NULL) {
		snprintf(why, why_len, "no memory");
		return -ENOMEM;
	}
	server->listen_fd = -1;
	octo_agent_stream_init(&server->stream);
	agent_session_init(&server->session, config->rules, config->nb_pfs);
	pthread_mutex_init(&server->mutex, NULL);
	ret = octo_agent_addr_read(&server->addr, config->listen, why, why_len);
	if (ret == 0)
		ret = open_ear(server, config->remote, why, why_len);
	if (ret != 0)
		goto err_free;
	server->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (server->stop_fd < 0) {
		ret = -errno;
		goto err_ear;
	}
	ret = -pthread_create(&server->thread, NULL, run, server);
	if (ret != 0)
		goto err_stop_fd;
	*result = server;
	return 0;

err_stop_fd:
	close(server->stop_fd);
err_ear:
	snprintf(why, why_len, "%s", strerror(-ret));
	close_ear(server);
err_free:
	pthread_mutex_destroy(&server->mutex);
	free(server);
	return ret;
}

void
agent_server_stop(struct agent_server *server)
{
	const uint64_t one = 1;

	while (write(server->stop_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(server->thread, NULL);
	close(server->stop_fd);
	close_ear(server);
	pthread_mutex_destroy(&server->mutex);
	free(server);
}

void
agent_server_get_stats(struct agent_server *server, struct agent_server_stats *stats)
{
	pthread_mutex_lock(&server->mutex);
	*stats = server->stats;
	pthread_mutex_unlock(&server->mutex);
}
