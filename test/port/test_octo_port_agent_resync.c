/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A session with an agent ends, and the next one begins: the agent has marked its rules, all that
 * the port has are told again, and what is marked yet is swept.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_log.h>

#include "octo_agent.h"
#include "octo_clock.h"
#include "octo_port.h"
#include "octo_port_agent.h"
#include "octo_private.h"

#define SRC_PORT 1000
#define NB_RULES 96
/* More than may be unanswered: the port waits in the middle. */
#define MANY 80
#define RETRY_US 1000000

static const struct octo_port_conf two_pfs;

/* What the agent has, by source port. */
static struct {
	bool used;
	bool marked;
	uint8_t pf;
	unsigned int puts; /* of this session */
} rules[NB_RULES];

static unsigned int nb_hellos, nb_synced;
/* The rule that is refused; NB_RULES: none. */
static unsigned int refused;

static void
hear(void)
{
	const struct octo_agent_msg *last = &octo_port_agent.last;
	const unsigned int i = octo_port_agent_last_src_port() - SRC_PORT;

	switch (last->type) {
	case OCTO_AGENT_HELLO:
		nb_hellos++;
		for (unsigned int k = 0; k < NB_RULES; k++) {
			rules[k].marked = true;
			rules[k].puts = 0;
		}
		octo_port_agent_say(OCTO_AGENT_WELCOME, last->session);
		return;
	case OCTO_AGENT_PUT:
		assert_true(i < NB_RULES);
		rules[i].puts++;
		if (i == refused) {
			octo_port_agent_answer(EIO, "not this one");
			return;
		}
		rules[i].used = true;
		rules[i].marked = false;
		rules[i].pf = last->rule.pf;
		break;
	case OCTO_AGENT_REMOVE:
		assert_true(i < NB_RULES);
		rules[i].used = false;
		break;
	case OCTO_AGENT_SYNCED:
		nb_synced++;
		for (unsigned int k = 0; k < NB_RULES; k++)
			rules[k].used &= !rules[k].marked;
		break;
	default:
		break;
	}
	octo_port_agent_answer(0, "");
}

static bool
serve(void)
{
	while (octo_port_agent_hears())
		hear();
	return nb_synced > 0 && !octo_port_agent_dev()->agent_resyncing;
}

/* The last message, which has no answer so far, is of this type. */
static bool
hears(enum octo_agent_type type)
{
	return octo_port_agent.last.type == type ||
	       (octo_port_agent_hears() && octo_port_agent.last.type == type);
}

static void *
serve_beside(void *arg)
{
	while (!octo_port_thread_is_to_stop())
		serve();
	return arg;
}

static struct rte_flow *flows[NB_RULES];

static void
make(unsigned int i)
{
	flows[i] = octo_port_steer(octo_port_agent.port, (uint16_t)(SRC_PORT + i), i % 2, NULL);
	assert_non_null(flows[i]);
}

/* A session in which the agent has these rules. */
static void
begin(unsigned int nb)
{
	memset(rules, 0, sizeof(rules));
	memset(flows, 0, sizeof(flows));
	nb_hellos = nb_synced = 0;
	refused = NB_RULES;
	octo_port_agent_begin(&two_pfs, 0);
	octo_port_thread_start(serve_beside, NULL);
	for (unsigned int i = 0; i < nb; i++)
		make(i);
	octo_port_thread_stop();
}

/* The session ends, and the port has noticed. */
static void
lose(void)
{
	octo_port_agent_hang_up();
	octo_port_agent.last.type = OCTO_AGENT_PING;
	octo_port_await(octo_port_agent_dev()->agent->state == OCTO_AGENT_AWAY);
}

/* Has the agent the rules that the port has, and no other, on the PFs that the port says? */
static void
assert_equal(void)
{
	for (unsigned int i = 0; i < NB_RULES; i++) {
		const bool is_wanted = flows[i] != NULL && i != refused;

		assert_int_equal(rules[i].used, is_wanted);
		assert_int_equal(rules[i].puts, flows[i] != NULL);
		if (is_wanted)
			assert_int_equal(octo_rule_pf(octo_port_agent_dev(), flows[i]),
					 rules[i].pf);
	}
}

static void
test_the_agent_gets_what_the_port_has(void **state)
{
	(void)state;
	begin(4);
	lose();
	/* it is away: one rule goes, and one comes */
	assert_int_equal(rte_flow_destroy(octo_port_agent.port, flows[0], NULL), 0);
	flows[0] = NULL;
	make(5);
	octo_port_pass_us(RETRY_US / 2);
	assert_false(octo_port_agent_hears());
	octo_port_await(serve());
	assert_int_equal(nb_hellos, 1);
	assert_int_equal(nb_synced, 1);
	assert_equal();
	octo_port_agent_end();
}

/* The rules that were told in the session that is over are told again. */
static void
test_a_resync_is_broken_off(void **state)
{
	uint32_t session;

	(void)state;
	begin(MANY);
	lose();
	octo_port_await(hears(OCTO_AGENT_HELLO));
	session = octo_port_agent.last.session;
	hear();
	octo_port_await(hears(OCTO_AGENT_PUT));
	hear();
	lose();
	assert_true(octo_port_agent_dev()->agent_resyncing);
	octo_port_await(serve());
	assert_int_equal(octo_port_agent_dev()->agent->session, session + 1);
	assert_int_equal(nb_hellos, 2);
	assert_int_equal(nb_synced, 1);
	assert_equal();
	octo_port_agent_end();
}

/* As a character device keeps it: it is no answer to hello, and none to a rule. */
static void
test_answers_of_the_last_session_are_ignored(void **state)
{
	uint32_t session;

	(void)state;
	begin(4);
	session = octo_port_agent_dev()->agent->session;
	lose();
	octo_port_await(hears(OCTO_AGENT_HELLO));
	assert_int_equal(octo_port_agent.last.session, session + 1);
	octo_port_agent_say(OCTO_AGENT_WELCOME, session);
	octo_port_agent_say(OCTO_AGENT_RESULT, session);
	octo_port_pass_us(RETRY_US / 10);
	assert_int_equal(octo_port_agent_dev()->agent->state, OCTO_AGENT_GREETING);
	hear();
	octo_port_agent_say(OCTO_AGENT_RESULT, session);
	octo_port_await(serve());
	assert_int_equal(nb_hellos, 1);
	assert_equal();
	octo_port_agent_end();
}

/* It was led before, and the agent sweeps it. The others are led. */
static void
test_a_rule_is_refused_by_the_next_session(void **state)
{
	char *text = NULL;
	size_t len = 0;
	FILE *log = open_memstream(&text, &len);

	(void)state;
	assert_non_null(log);
	begin(4);
	lose();
	refused = 2;
	rte_openlog_stream(log);
	octo_port_await(serve());
	rte_openlog_stream(NULL);
	fclose(log);
	assert_non_null(strstr(text, "1 flows are not steered"));
	assert_non_null(strstr(text, "not this one"));
	free(text);
	assert_int_equal(octo_port_rule_pf(octo_port_agent.port, SRC_PORT + 2), -1);
	assert_equal();
	octo_port_agent_end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_the_agent_gets_what_the_port_has),
		octo_port_test(test_a_resync_is_broken_off),
		octo_port_test(test_answers_of_the_last_session_are_ignored),
		octo_port_test(test_a_rule_is_refused_by_the_next_session),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
