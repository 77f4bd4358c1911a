/* SPDX-License-Identifier: BSD-3-Clause */

/* Agents that flood, that hang, and that cannot be reached. */

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <sys/socket.h>

#include "bench_calls.h"
#include "octo_agent_stream.h"

#define LOOK_MS 20
/* Of another session, before each answer: with more in a row a port gives an agent up. */
#define STRANGE 1000

static bool
must_stop(const struct calls_agent *agent)
{
	return rte_atomic_load_explicit(&agent->stop, rte_memory_order_acquire);
}

/* The port may be slow to read. Returns whether it was said. */
static bool
say(struct calls_agent *agent, struct octo_agent_stream *stream, const struct octo_agent_msg *msg)
{
	uint8_t bytes[OCTO_AGENT_MSG_MAX];
	int ret;

	while ((ret = octo_agent_stream_send(stream, msg)) == -EAGAIN && !must_stop(agent))
		octo_agent_stream_wait(stream, 1);
	if (ret != 0)
		return false;
	rte_atomic_fetch_add_explicit(&agent->said, octo_agent_msg_write(bytes, msg),
				      rte_memory_order_relaxed);
	return true;
}

static bool
flood(struct calls_agent *agent, struct octo_agent_stream *stream, uint32_t session)
{
	const struct octo_agent_msg strange = {.type = OCTO_AGENT_RESULT, .session = session + 1};

	for (unsigned int i = 0; i < STRANGE; i++)
		if (!say(agent, stream, &strange))
			return false;
	return true;
}

static bool
answer(struct calls_agent *agent, struct octo_agent_stream *stream,
       const struct octo_agent_msg *asked)
{
	const bool is_hello = asked->type == OCTO_AGENT_HELLO;
	struct octo_agent_msg msg = {
		.type = is_hello ? OCTO_AGENT_WELCOME : OCTO_AGENT_RESULT,
		.session = asked->session,
		.seq = asked->seq,
	};

	if (is_hello) {
		msg.welcome.version = OCTO_AGENT_VERSION;
		msg.welcome.nb_pfs = asked->hello.nb_pfs;
	} else if (agent->how == CALLS_HANG) {
		return true;
	} else if (!flood(agent, stream, asked->session)) {
		return false;
	}
	return say(agent, stream, &msg);
}

/* Until the port hangs up. */
static void
serve(struct calls_agent *agent, int fd)
{
	struct octo_agent_stream stream;
	struct octo_agent_msg asked;
	bool goes_on = true;

	octo_agent_stream_attach(&stream, fd);
	while (goes_on && !must_stop(agent)) {
		int ret;

		octo_agent_stream_look(&stream);
		ret = octo_agent_stream_receive(&stream, &asked);
		if (ret == -EAGAIN)
			ret = octo_agent_stream_wait(&stream, LOOK_MS);
		else if (ret == 0)
			goes_on = answer(agent, &stream, &asked);
		if (ret == 0)
			ret = octo_agent_stream_flush(&stream);
		goes_on = goes_on && (ret == 0 || ret == -EAGAIN || ret == -ETIMEDOUT);
	}
	octo_agent_stream_close(&stream);
}

static void *
listen_on(void *arg)
{
	struct calls_agent *agent = arg;
	struct pollfd ear = {.fd = agent->ear, .events = POLLIN};
	int fd;

	while (!must_stop(agent)) {
		if (poll(&ear, 1, LOOK_MS) <= 0)
			continue;
		fd = accept4(agent->ear, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			serve(agent, fd);
	}
	return NULL;
}

/* Nobody accepts: the kernel drops who tries to connect once there is no room to wait. */
static void
take_all_room(struct calls_agent *agent, const struct sockaddr_in *addr)
{
	for (unsigned int i = 0; i < RTE_DIM(agent->fill); i++) {
		const struct sockaddr *to = (const struct sockaddr *)addr;
		struct pollfd fd = {.events = POLLOUT};

		fd.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		agent->fill[i] = fd.fd;
		if (fd.fd >= 0 && connect(fd.fd, to, sizeof(*addr)) != 0)
			poll(&fd, 1, LOOK_MS);
	}
}

static int
open_ear(struct calls_agent *agent, struct sockaddr_in *addr)
{
	socklen_t len = sizeof(*addr);

	*addr = (struct sockaddr_in){
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	agent->ear = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (agent->ear < 0 || bind(agent->ear, (struct sockaddr *)addr, len) != 0 ||
	    listen(agent->ear, 0) != 0 ||
	    getsockname(agent->ear, (struct sockaddr *)addr, &len) != 0)
		return -errno;
	return 0;
}

int
calls_agent_start(struct calls_agent *agent, enum calls_case how)
{
	struct sockaddr_in addr;
	int ret;

	*agent = (struct calls_agent){.how = how, .ear = -1};
	memset(agent->fill, -1, sizeof(agent->fill));
	ret = open_ear(agent, &addr);
	snprintf(agent->arg, sizeof(agent->arg), ",agent=tcp:127.0.0.1:%u", ntohs(addr.sin_port));
	if (ret == 0 && how == CALLS_AWAY)
		take_all_room(agent, &addr);
	else if (ret == 0)
		ret = -pthread_create(&agent->thread, NULL, listen_on, agent);
	agent->runs = ret == 0 && how != CALLS_AWAY;
	if (ret != 0)
		fprintf(stderr, "%s: there can be no agent on 127.0.0.1: %s\n", app_name,
			strerror(-ret));
	return ret;
}

void
calls_agent_stop(struct calls_agent *agent)
{
	rte_atomic_store_explicit(&agent->stop, true, rte_memory_order_release);
	if (agent->runs)
		pthread_join(agent->thread, NULL);
	agent->runs = false;
	for (unsigned int i = 0; i < RTE_DIM(agent->fill); i++)
		if (agent->fill[i] >= 0)
			close(agent->fill[i]);
	if (agent->ear >= 0)
		close(agent->ear);
}
