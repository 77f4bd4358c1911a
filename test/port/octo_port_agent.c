/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>
#include <unistd.h>

#include <sys/socket.h>
#include <sys/un.h>

#include <rte_string_fns.h>

#include "octo_port.h"
#include "octo_port_agent.h"
#include "octo_private.h"

struct octo_port_agent octo_port_agent;

static void
send_msg(struct octo_agent_msg *msg)
{
	int ret;

	msg->seq = octo_port_agent.last.seq;
	while ((ret = octo_agent_stream_send(&octo_port_agent.stream, msg)) == -EAGAIN)
		octo_wait_us(100);
	assert_int_equal(ret, 0);
	while (octo_agent_stream_flush(&octo_port_agent.stream) == -EAGAIN)
		octo_wait_us(100);
}

void
octo_port_agent_say(enum octo_agent_type type, uint32_t session)
{
	struct octo_agent_msg msg = {.type = type, .session = session};

	if (type == OCTO_AGENT_WELCOME) {
		msg.welcome.version = OCTO_AGENT_VERSION;
		msg.welcome.nb_pfs = 2;
		msg.welcome.flags = octo_port_agent.flags;
	}
	send_msg(&msg);
}

void
octo_port_agent_answer(int error, const char *text)
{
	struct octo_agent_msg msg = {
		.type = OCTO_AGENT_RESULT,
		.session = octo_port_agent.last.session,
		.result.error = error,
	};

	rte_strscpy(msg.result.text, text, sizeof(msg.result.text));
	send_msg(&msg);
}

bool
octo_port_agent_hears(void)
{
	struct octo_port_agent *a = &octo_port_agent;

	if (a->stream.fd < 0) {
		const int fd = accept4(a->ear, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0)
			return false;
		octo_agent_stream_attach(&a->stream, fd);
	}
	octo_agent_stream_look(&a->stream);
	return octo_agent_stream_receive(&a->stream, &a->last) == 0;
}

bool
octo_port_agent_serve(void)
{
	const struct octo_agent_msg *last = &octo_port_agent.last;

	while (octo_port_agent_hears()) {
		octo_port_agent_say(last->type == OCTO_AGENT_HELLO ? OCTO_AGENT_WELCOME :
								     OCTO_AGENT_RESULT,
				    last->session);
		octo_port_agent.synced |= last->type == OCTO_AGENT_SYNCED;
	}
	return octo_port_agent.synced;
}

void *
octo_port_agent_serve_beside(void *arg)
{
	while (!octo_port_thread_is_to_stop())
		octo_port_agent_serve();
	return arg;
}

uint16_t
octo_port_agent_last_src_port(void)
{
	return rte_be_to_cpu_16(octo_port_agent.last.rule.tuple.src_port);
}

struct octo_dev *
octo_port_agent_dev(void)
{
	return octo_of(&rte_eth_devices[octo_port_agent.port]);
}

uint64_t
octo_port_agent_learned(void)
{
	return octo_port_xstat(octo_port_agent.port, "learned_flows");
}

void
octo_port_agent_prepare(uint8_t flags)
{
	struct octo_port_agent *a = &octo_port_agent;
	struct sockaddr_un own = {.sun_family = AF_UNIX};

	*a = (struct octo_port_agent){.flags = flags};
	rte_strscpy(a->dir, "/tmp/octo-agent-XXXXXX", sizeof(a->dir));
	assert_non_null(mkdtemp(a->dir));
	snprintf(a->path, sizeof(a->path), "%s/agent", octo_port_agent.dir);
	snprintf(a->arg, sizeof(a->arg), "agent=unix:%s", octo_port_agent.path);
	rte_strscpy(own.sun_path, a->path, sizeof(own.sun_path));
	octo_agent_stream_init(&a->stream);
	a->ear = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(a->ear, (const struct sockaddr *)&own, sizeof(own)), 0);
}

/* The port starts before anybody listens: it would wait for this thread. */
void
octo_port_agent_begin(const struct octo_port_conf *conf, uint8_t flags)
{
	const struct rte_eth_conf eth = {0};
	struct octo_port_agent *a = &octo_port_agent;
	struct octo_port_conf own_conf = *conf;

	octo_port_agent_prepare(flags);
	own_conf.octo = a->arg;
	a->port = octo_port_create(&own_conf);
	/* without the LSC interrupt, with which ethdev itself knows the link */
	octo_port_up_as(a->port, 2, &eth);
	assert_int_equal(listen(a->ear, 1), 0);
	octo_port_await(octo_port_agent_serve());
}

void
octo_port_agent_await(enum octo_agent_type type)
{
	do {
		octo_port_await_thread(octo_port_agent_hears());
	} while (octo_port_agent.last.type != type);
}

void
octo_port_agent_hang_up(void)
{
	octo_agent_stream_close(&octo_port_agent.stream);
	octo_port_agent.synced = false;
}

void
octo_port_agent_end(void)
{
	octo_agent_stream_close(&octo_port_agent.stream);
	close(octo_port_agent.ear);
	unlink(octo_port_agent.path);
	rmdir(octo_port_agent.dir);
}
