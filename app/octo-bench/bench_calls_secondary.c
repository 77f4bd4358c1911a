/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A secondary process that does not answer: EAL sends its requests to every socket of this name in
 * its directory, and waits up to five seconds for each. An answer is the request itself, of another
 * type: it says that all went well.
 */

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <sys/socket.h>
#include <sys/un.h>

#include <rte_cycles.h>
#include <rte_eal.h>

#include "bench_calls.h"

#define LOOK_MS 5
#define PATIENCE_MS 90000

/* EAL's message between processes; its type is an enum: a message, a request, a reply. */
#define EAL_REPLY 2
struct eal_message {
	int type;
	struct rte_mp_msg msg;
};

static bool
is(const RTE_ATOMIC(bool) * flag)
{
	return rte_atomic_load_explicit(flag, rte_memory_order_acquire);
}

static void
set(RTE_ATOMIC(bool) * flag, bool value)
{
	rte_atomic_store_explicit(flag, value, rte_memory_order_release);
}

static bool
reads(const struct calls_secondary *s, struct eal_message *m, ssize_t *len)
{
	struct pollfd fd = {.fd = s->fd, .events = POLLIN};

	if (poll(&fd, 1, LOOK_MS) <= 0)
		return false;
	*len = recv(s->fd, m, sizeof(*m), 0);
	return *len > 0;
}

static void
reply(const struct calls_secondary *s, struct eal_message *m, ssize_t len)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};

	snprintf(to.sun_path, sizeof(to.sun_path), "%.90s/mp_socket", rte_eal_get_runtime_dir());
	m->type = EAL_REPLY;
	if (sendto(s->fd, m, len, 0, (const struct sockaddr *)&to, sizeof(to)) < 0)
		fprintf(stderr, "%s: EAL cannot be answered: %s\n", app_name, strerror(errno));
}

static void *
hear(void *arg)
{
	struct calls_secondary *s = arg;
	struct eal_message m;
	ssize_t len;

	while (!is(&s->stop)) {
		if (!reads(s, &m, &len))
			continue;
		set(&s->asked, true);
		while (!is(&s->may_answer) && !is(&s->stop))
			rte_delay_us_sleep(LOOK_MS * 1000);
		reply(s, &m, len);
		set(&s->asked, false);
	}
	return NULL;
}

static int
open_socket(struct calls_secondary *s)
{
	struct sockaddr_un own = {.sun_family = AF_UNIX};

	snprintf(s->path, sizeof(s->path), "%.90s/mp_socket_0", rte_eal_get_runtime_dir());
	memcpy(own.sun_path, s->path, sizeof(own.sun_path));
	s->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s->fd < 0 || bind(s->fd, (const struct sockaddr *)&own, sizeof(own)) != 0)
		return -errno;
	return 0;
}

int
calls_secondary_start(struct calls_secondary *s)
{
	int ret;

	*s = (struct calls_secondary){.fd = -1};
	ret = open_socket(s);
	if (ret == 0)
		ret = -pthread_create(&s->thread, NULL, hear, s);
	s->runs = ret == 0;
	if (ret != 0)
		fprintf(stderr, "%s: %s cannot play a secondary process: %s\n", app_name, s->path,
			strerror(-ret));
	return ret;
}

int
calls_secondary_await(const struct calls_secondary *s)
{
	for (unsigned int ms = 0; ms < PATIENCE_MS; ms += LOOK_MS) {
		if (is(&s->asked))
			return 0;
		rte_delay_us_sleep(LOOK_MS * 1000);
	}
	fprintf(stderr, "%s: EAL does not ask the secondary process\n", app_name);
	return -ETIMEDOUT;
}

void
calls_secondary_answer(struct calls_secondary *s)
{
	set(&s->may_answer, true);
}

void
calls_secondary_stop(struct calls_secondary *s)
{
	set(&s->stop, true);
	if (s->runs)
		pthread_join(s->thread, NULL);
	s->runs = false;
	if (s->fd < 0)
		return;
	close(s->fd);
	unlink(s->path);
}
