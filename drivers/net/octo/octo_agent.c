/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sessions: hello with a number that nobody used before, welcome with the same.
 * Whatever has another number is of a session that is over: a character device
 * keeps what a peer before us said.
 */

#include <errno.h>

#include <rte_cycles.h>
#include <rte_random.h>
#include <rte_string_fns.h>

#include "octo_agent.h"
#include "octo_clock.h"
#include "octo_private.h"

#define RETRY_MS 1000
#define PING_MS 1000
/* An agent that says nothing for so long is dead or stuck. */
#define ANSWER_MS 1000
/* A connection is not waited for: on the next try it may be there. */
#define CONNECT_MS 100

static uint64_t
in_ms(unsigned int ms)
{
	return octo_now() + rte_get_timer_hz() * ms / 1000;
}

static bool
is_over(uint64_t when)
{
	return octo_now() >= when;
}

void
octo_agent_init(struct octo_agent *agent, const char *addr, uint8_t nb_pfs)
{
	memset(agent, 0, sizeof(*agent));
	octo_agent_stream_init(&agent->stream);
	/* octo_args.c has read it before */
	octo_agent_addr_read(&agent->addr, addr, agent->why, sizeof(agent->why));
	agent->nb_pfs = nb_pfs;
	agent->session = (uint32_t)rte_rand();
}

void
octo_agent_fini(struct octo_agent *agent)
{
	octo_agent_stream_close(&agent->stream);
	agent->state = OCTO_AGENT_AWAY;
}

/* Said once for each time that it goes away. */
static void
lose(struct octo_agent *agent, const char *why)
{
	if (!agent->complained)
		OCTO_LOG(WARNING, "agent %s is away: %s; trying again every second",
			 agent->addr.text, why);
	agent->complained = true;
	rte_strscpy(agent->why, why, sizeof(agent->why));
	octo_agent_stream_close(&agent->stream);
	agent->state = OCTO_AGENT_AWAY;
	agent->next_try = in_ms(RETRY_MS);
}

static int
send_msg(struct octo_agent *agent, struct octo_agent_msg *msg)
{
	int ret;

	msg->session = agent->session;
	msg->seq = ++agent->seq;
	ret = octo_agent_stream_send(&agent->stream, msg);
	if (ret == 0)
		return 0;
	lose(agent, rte_strerror(-ret));
	return -ENOTCONN;
}

static void
greet(struct octo_agent *agent)
{
	struct octo_agent_msg hello = {
		.type = OCTO_AGENT_HELLO,
		.hello = {.min_version = OCTO_AGENT_VERSION,
			  .max_version = OCTO_AGENT_VERSION,
			  .nb_pfs = agent->nb_pfs},
	};
	int ret = octo_agent_stream_connect(&agent->stream, &agent->addr, CONNECT_MS);

	if (ret != 0) {
		lose(agent, rte_strerror(-ret));
		return;
	}
	agent->session++;
	agent->deadline = in_ms(ANSWER_MS);
	if (send_msg(agent, &hello) == 0)
		agent->state = OCTO_AGENT_GREETING;
}

/* Receives the next message of this session. -EAGAIN: none yet. */
static int
receive(struct octo_agent *agent, struct octo_agent_msg *msg)
{
	int ret;

	do {
		ret = octo_agent_stream_receive(&agent->stream, msg);
	} while (ret == 0 && msg->session != agent->session);
	if (ret == 0)
		agent->pinging = false;
	else if (ret != -EAGAIN)
		lose(agent, ret == -EPIPE ? "it closed the connection" : rte_strerror(-ret));
	return ret;
}

static bool
hear_welcome(struct octo_agent *agent)
{
	struct octo_agent_msg msg;
	int ret = receive(agent, &msg);

	if (ret == -EAGAIN && is_over(agent->deadline))
		lose(agent, "it does not answer");
	if (ret != 0)
		return false;
	if (msg.type == OCTO_AGENT_RESULT && msg.result.error != 0) {
		lose(agent, msg.result.text);
		return false;
	}
	if (msg.type != OCTO_AGENT_WELCOME)
		return false;
	agent->state = OCTO_AGENT_READY;
	agent->flags = msg.welcome.flags;
	agent->next_ping = in_ms(PING_MS);
	agent->pinging = false;
	agent->complained = false;
	agent->sessions++;
	OCTO_LOG(NOTICE, "agent %s is there%s", agent->addr.text,
		 (agent->flags & OCTO_AGENT_PLACES_QUEUES) != 0 ? ", and chooses queues, too" : "");
	return true;
}

static int
read_answer(struct octo_agent *agent, const struct octo_agent_msg *answer)
{
	if (answer->type != OCTO_AGENT_RESULT || answer->result.error == 0)
		return 0;
	if (answer->result.error == ESTALE) {
		/* it began anew in between: a new session tells it all again */
		lose(agent, answer->result.text);
		return -ENOTCONN;
	}
	rte_strscpy(agent->why, answer->result.text, sizeof(agent->why));
	/* -ENOTCONN is what this side says of the agent itself */
	return answer->result.error > 0 && answer->result.error != ENOTCONN ?
		       -answer->result.error :
		       -EIO;
}

/* Answers nobody waits for are those to pings. */
static void
keep_alive(struct octo_agent *agent)
{
	struct octo_agent_msg msg = {.type = OCTO_AGENT_PING};
	struct octo_agent_msg answer;
	int ret;

	while ((ret = receive(agent, &answer)) == 0)
		if (read_answer(agent, &answer) == -ENOTCONN)
			return;
	if (ret != -EAGAIN || !is_over(agent->next_ping))
		return;
	if (agent->pinging) {
		lose(agent, "it does not answer");
		return;
	}
	agent->next_ping = in_ms(PING_MS);
	agent->pinging = send_msg(agent, &msg) == 0;
}

bool
octo_agent_poll(struct octo_agent *agent)
{
	switch (agent->state) {
	case OCTO_AGENT_AWAY:
		if (is_over(agent->next_try))
			greet(agent);
		return false;
	case OCTO_AGENT_GREETING:
		return hear_welcome(agent);
	case OCTO_AGENT_READY:
		keep_alive(agent);
		return false;
	}
	return false;
}

bool
octo_agent_await(struct octo_agent *agent, int timeout_ms)
{
	const uint64_t end = in_ms((unsigned int)timeout_ms);

	/* one that was ready may have gone unnoticed, and be back by now */
	if (agent->state == OCTO_AGENT_READY)
		octo_agent_poll(agent);
	if (agent->state == OCTO_AGENT_AWAY)
		agent->next_try = 0;
	do {
		octo_agent_poll(agent);
		if (agent->state != OCTO_AGENT_GREETING)
			break;
		octo_agent_stream_wait(&agent->stream, 10);
	} while (!is_over(end));
	return agent->state == OCTO_AGENT_READY;
}

int
octo_agent_say(struct octo_agent *agent, struct octo_agent_msg *msg)
{
	return agent->state == OCTO_AGENT_READY ? send_msg(agent, msg) : -ENOTCONN;
}

/* Waits for whatever comes next, until the deadline. */
static int
receive_soon(struct octo_agent *agent, struct octo_agent_msg *msg)
{
	int ret;

	while ((ret = receive(agent, msg)) == -EAGAIN) {
		ret = octo_agent_stream_flush(&agent->stream);
		if (ret == 0 || ret == -EAGAIN)
			octo_agent_stream_wait(&agent->stream, 10);
		if (is_over(agent->deadline)) {
			lose(agent, "it does not answer");
			return -ENOTCONN;
		}
	}
	return ret == 0 ? 0 : -ENOTCONN;
}

int
octo_agent_hear(struct octo_agent *agent, uint32_t seq, struct octo_agent_msg *answer)
{
	if (agent->state != OCTO_AGENT_READY)
		return -ENOTCONN;
	agent->deadline = in_ms(ANSWER_MS);
	do {
		int ret = receive_soon(agent, answer);

		if (ret != 0)
			return ret;
	} while (answer->seq != seq);
	return read_answer(agent, answer);
}

int
octo_agent_ask(struct octo_agent *agent, struct octo_agent_msg *msg, struct octo_agent_msg *answer)
{
	int ret = octo_agent_say(agent, msg);

	return ret == 0 ? octo_agent_hear(agent, msg->seq, answer) : ret;
}
