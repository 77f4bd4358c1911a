/* SPDX-License-Identifier: BSD-3-Clause */

/* An agent that refuses, is silent and hangs up at random, and knows what rules it was told. */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/socket.h>

#include "octo_port_agent.h"
#include "octo_port_random.h"

/* Longer than the port waits for an agent. */
#define SILENT_US 1500000

static struct random_port *const r = &random_port;

static struct {
	bool silent;
	unsigned int refusals; /* of rules that come next */
	uint32_t session;
	struct {
		uint32_t session; /* 0: there is none */
		uint16_t queue;
		uint8_t pf;
	} rule[2 * RANDOM_ALL]; /* after those of the flows, those of their reverse */
} agent;

static void
forget_earlier(uint32_t session)
{
	for (unsigned int i = 0; i < RTE_DIM(agent.rule); i++)
		if (agent.rule[i].session != session)
			agent.rule[i].session = 0;
}

static int
put(const struct octo_agent_msg *m, unsigned int i)
{
	assert_true(i < RTE_DIM(agent.rule));
	assert_true(m->rule.pf < r->conf->nb_pfs);
	if (agent.refusals > 0) {
		agent.refusals--;
		return ENOSPC;
	}
	agent.rule[i].session = m->session;
	agent.rule[i].queue = m->rule.queue;
	agent.rule[i].pf = m->rule.pf;
	return 0;
}

/* Of the rule that the last message is about. A flow that is learned may come with its reverse. */
static unsigned int
index_of_last(void)
{
	const struct octo_tuple *tuple = &octo_port_agent.last.rule.tuple;
	const unsigned int i = rte_be_to_cpu_16(tuple->src_port) - RANDOM_FIRST_PORT;

	if (i < RANDOM_ALL)
		return i;
	return RANDOM_ALL + rte_be_to_cpu_16(tuple->dst_port) - RANDOM_FIRST_PORT;
}

static int
result_of(const struct octo_agent_msg *m)
{
	const unsigned int i = index_of_last();

	switch (m->type) {
	case OCTO_AGENT_PUT:
		return put(m, i);
	case OCTO_AGENT_REMOVE:
		assert_true(i < RTE_DIM(agent.rule));
		agent.rule[i].session = 0;
		return 0;
	case OCTO_AGENT_SYNCED:
		forget_earlier(m->session);
		return 0;
	default:
		return 0;
	}
}

/* Returns 0, or a negative errno: the port has hung up. */
static int
answer(void)
{
	const struct octo_agent_msg *m = &octo_port_agent.last;
	struct octo_agent_stream *stream = &octo_port_agent.stream;
	struct octo_agent_msg to = {
		.type = OCTO_AGENT_RESULT, .session = m->session, .seq = m->seq};
	int ret;

	if (m->type == OCTO_AGENT_HELLO) {
		to.type = OCTO_AGENT_WELCOME;
		to.welcome.version = OCTO_AGENT_VERSION;
		to.welcome.nb_pfs = m->hello.nb_pfs;
	} else {
		to.result.error = result_of(m);
	}
	ret = octo_agent_stream_send(stream, &to);
	return ret == 0 ? octo_agent_stream_flush(stream) : ret;
}

bool
random_agent_serve(void)
{
	struct octo_port_agent *a = &octo_port_agent;
	unsigned int answered = 0;
	int ret = 0;

	if (!r->by_agent || agent.silent)
		return false;
	if (a->stream.fd < 0) {
		const int fd = accept4(a->ear, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0)
			return false;
		octo_agent_stream_attach(&a->stream, fd);
	}
	while (ret == 0) {
		octo_agent_stream_look(&a->stream);
		ret = octo_agent_stream_receive(&a->stream, &a->last);
		if (ret == 0)
			ret = answer();
		answered += ret == 0;
	}
	if (ret != -EAGAIN)
		octo_port_agent_hang_up();
	return answered > 0;
}

void
random_agent_begin(void)
{
	memset(&agent, 0, sizeof(agent));
	assert_int_equal(listen(octo_port_agent.ear, 1), 0);
	octo_port_agent_answers = random_agent_serve;
}

/* A start waits in real time for an agent that answers a greeting, which this thread cannot. */
void
random_agent_hide(bool hide)
{
	char away[sizeof(octo_port_agent.path) + 5];
	int fd;

	if (!r->by_agent)
		return;
	snprintf(away, sizeof(away), "%s.away", octo_port_agent.path);
	if (hide)
		octo_port_agent_hang_up();
	/* it may have connected to one that was silent */
	while (hide && (fd = accept(octo_port_agent.ear, NULL, NULL)) >= 0)
		close(fd);
	assert_int_equal(
		rename(hide ? octo_port_agent.path : away, hide ? away : octo_port_agent.path), 0);
}

void
random_agent_end(void)
{
	octo_port_agent_answers = NULL;
	octo_port_agent_end();
}

void
random_agent_heal(void)
{
	agent.silent = false;
	agent.refusals = 0;
}

void
random_op_agent(void)
{
	const unsigned int which = random_below(5);

	if (!r->by_agent)
		return;
	random_say("agent %u", which);
	switch (which) {
	case 0:
		octo_port_agent_hang_up();
		break;
	case 1:
		agent.refusals = 1 + random_below(5);
		break;
	case 2:
		agent.silent = true;
		if (random_one_in(3))
			octo_port_pass_us(random_below(SILENT_US));
		break;
	default:
		random_agent_heal();
	}
}

/* It has the port's rules and no other. */
void
random_agent_check(void)
{
	const unsigned int nb = octo_port_xstat(r->port, "steered_flows");
	unsigned int has = 0;

	for (unsigned int i = 0; i < RTE_DIM(agent.rule); i++)
		has += agent.rule[i].session != 0;
	for (unsigned int i = 0; i < RANDOM_FLOWS; i++) {
		if (r->flow[i].rule == NULL)
			continue;
		if (agent.rule[i].session == 0 ||
		    agent.rule[i].pf != octo_port_rule_pf(r->port, RANDOM_FIRST_PORT + i))
			fail_msg("the agent leads flow %u to PF %d, not %d", i,
				 agent.rule[i].session == 0 ? -1 : agent.rule[i].pf,
				 octo_port_rule_pf(r->port, RANDOM_FIRST_PORT + i));
	}
	if (has != nb)
		fail_msg("the agent has %u rules, not %u", has, nb);
}
