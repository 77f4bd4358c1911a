/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A thread that creates a rule waits for an agent's answer, but holds the control mutex for a few
 * milliseconds of that at most, by the injected clock.
 */

#include <errno.h>
#include <string.h>

#include "mpsim_control.h"
#include "octo_agent.h"
#include "octo_port.h"
#include "octo_port_agent.h"
#include "octo_private.h"
#include "rte_pmd_octo.h"

#define SRC_PORT 1000
/* Longer than the mutex may be held for an answer. */
#define HELD_US 11000
/* Longer than a thread without the mutex waits between two looks. */
#define LOOK_US 20000
/* Messages that may be unanswered. */
#define WINDOW 64

static const struct octo_port_conf two_pfs;

/* What the other thread does. */
static struct {
	struct rte_flow *flow;
	struct rte_flow_error error;
	int errnum;
	char text[256];
} made;

static void *
create(void *arg)
{
	RTE_SET_USED(arg);
	memset(&made, 0, sizeof(made));
	made.flow = octo_port_steer(octo_port_agent.port, SRC_PORT, 0, &made.error);
	made.errnum = rte_errno;
	/* the driver's text is of the thread */
	if (made.error.message != NULL)
		snprintf(made.text, sizeof(made.text), "%s", made.error.message);
	return NULL;
}

static struct rte_pmd_octo_tuple
tuple(void)
{
	struct rte_pmd_octo_tuple t;

	assert_int_equal(
		rte_pmd_octo_tuple_read(&t, "udp", "10.0.0.1", SRC_PORT, "10.0.0.2", 9, NULL), 0);
	return t;
}

static void *
steer(void *arg)
{
	const struct rte_pmd_octo_tuple t = tuple();

	RTE_SET_USED(arg);
	memset(&made, 0, sizeof(made));
	made.errnum = -rte_pmd_octo_steer_add(octo_port_agent.port, &t, 0, &made.error);
	return NULL;
}

static bool
mutex_is_free(void)
{
	const bool is = octo_lock_try(octo_port_agent_dev());

	if (is)
		octo_unlock(octo_port_agent_dev());
	return is;
}

/* The other thread waits for the agent, without the mutex from now on. */
static void
begin(void *(*fn)(void *), uint8_t flags)
{
	octo_port_agent_begin(&two_pfs, flags);
	octo_port_thread_start(fn, NULL);
	octo_port_agent_await(OCTO_AGENT_PUT);
	octo_sleep_us(HELD_US);
	octo_port_await_thread(octo_port_time_beside_sleeps());
	assert_true(mutex_is_free());
}

/* It hears of what has happened. Time passes while it sleeps only, however late it gets a CPU. */
static void
finish(void)
{
	while (octo_port_thread_runs())
		if (octo_port_time_beside_sleeps())
			octo_sleep_us(LOOK_US);
		else
			octo_wait_us(100);
	octo_port_thread_stop();
}

static void
test_a_rule_is_accepted_late(void **state)
{
	(void)state;
	begin(create, 0);
	assert_int_equal(octo_port_rule_pf(octo_port_agent.port, SRC_PORT), -1);
	octo_port_agent_answer(0, "");
	finish();
	assert_non_null(made.flow);
	assert_true(octo_port_rule_pf(octo_port_agent.port, SRC_PORT) >= 0);
	assert_int_equal(octo_port_xstat(octo_port_agent.port, "steered_flows"), 1);
	octo_port_agent_end();
}

static void
test_a_rule_is_refused_late(void **state)
{
	(void)state;
	begin(create, OCTO_AGENT_PLACES_QUEUES);
	octo_port_agent_answer(ENOSPC, "no room for that");
	finish();
	assert_null(made.flow);
	assert_int_equal(made.errnum, ENOSPC);
	assert_non_null(strstr(made.text, "no room for that"));
	assert_int_equal(octo_port_xstat(octo_port_agent.port, "steered_flows"), 0);
	octo_port_agent_end();
}

/* A stray, as the agent is only played. */
static bool
learn_a_flow(void)
{
	struct octo_port_tally tally = {0};

	octo_port_send(octo_port_agent.port, 0, SRC_PORT + 1, 8);
	octo_port_poll(octo_port_agent.port, 0, 32, &tally);
	octo_port_pass_us(1000);
	return octo_port_agent_learned() > 0;
}

/* An evicted learned rule makes room, and the message is sent again. */
static void
test_a_rule_that_is_refused_late_evicts_a_learned_one(void **state)
{
	static const struct octo_port_conf conf = {.learn = true, .nic = "default_pf=1"};

	(void)state;
	octo_port_agent_begin(&conf, 0);
	octo_port_thread_start(octo_port_agent_serve_beside, NULL);
	octo_port_await(learn_a_flow());
	octo_port_thread_stop();
	octo_port_thread_start(create, NULL);
	octo_port_agent_await(OCTO_AGENT_PUT);
	octo_sleep_us(HELD_US);
	octo_port_await_thread(octo_port_time_beside_sleeps());
	octo_port_agent_answer(ENOSPC, "no room for that");
	octo_sleep_us(LOOK_US);
	octo_port_agent_await(OCTO_AGENT_REMOVE);
	assert_int_equal(octo_port_agent_last_src_port(), SRC_PORT + 1);
	octo_port_agent_answer(0, "");
	octo_port_agent_await(OCTO_AGENT_PUT);
	assert_int_equal(octo_port_agent_last_src_port(), SRC_PORT);
	octo_port_agent_answer(0, "");
	finish();
	assert_non_null(made.flow);
	assert_int_equal(octo_port_xstat(octo_port_agent.port, "steered_flows"), 1);
	octo_port_agent_end();
}

/* The PFs lead the flow to its queue until the agent is back, and has the rule then. */
static void
test_an_agent_is_lost_meanwhile(void **state)
{
	(void)state;
	begin(create, 0);
	octo_port_agent_hang_up();
	finish();
	assert_non_null(made.flow);
	assert_int_equal(octo_port_rule_pf(octo_port_agent.port, SRC_PORT), -1);
	octo_port_await(octo_port_agent_serve());
	octo_port_await(octo_port_rule_pf(octo_port_agent.port, SRC_PORT) >= 0);
	octo_port_agent_end();
}

static void
test_a_rule_is_removed_meanwhile(void **state)
{
	const struct rte_pmd_octo_tuple t = tuple();

	(void)state;
	begin(steer, 0);
	assert_int_equal(rte_pmd_octo_steer_remove(octo_port_agent.port, &t, NULL), 0);
	/* the answer to PUT, then that to REMOVE */
	octo_port_agent_answer(0, "");
	octo_port_agent_await(OCTO_AGENT_REMOVE);
	octo_port_agent_answer(0, "");
	finish();
	assert_int_equal(made.errnum, ECANCELED);
	assert_int_equal(octo_port_xstat(octo_port_agent.port, "steered_flows"), 0);
	octo_port_agent_end();
}

/* Neither those that exist nor new ones cost anybody more than the first did. */
static void
test_other_rules_do_not_wait_for_a_slow_agent(void **state)
{
	struct octo_tuple learned = {.family = OCTO_IPV4, .proto = IPPROTO_UDP};
	uint64_t since;

	(void)state;
	begin(steer, 0);
	since = octo_now();
	octo_lock(octo_port_agent_dev());
	for (learned.src_port = 1; learned.src_port <= 2 * WINDOW; learned.src_port++)
		assert_non_null(octo_rule_learn_locked(octo_port_agent_dev(), &learned, 1, NULL));
	octo_unlock(octo_port_agent_dev());
	/* reading the clock takes time, too */
	assert_true(octo_now() - since < rte_get_timer_hz() * HELD_US / US_PER_S);
	octo_port_agent_answer(0, "");
	octo_port_await(octo_port_agent_serve() &&
			octo_port_xstat(octo_port_agent.port, "steered_flows") == 1 + 2 * WINDOW);
	finish();
	assert_int_equal(made.errnum, 0);
	/* the last of them, which was sent when there was room again */
	learned.src_port--;
	octo_port_await(octo_port_agent_serve() &&
			octo_rule_pf(octo_port_agent_dev(),
				     octo_table_find(octo_port_agent_dev()->table, &learned)) !=
				OCTO_NO_PF);
	octo_port_agent_end();
}

/* What the agent hears of the rule last is that it is there. */
static void
test_the_port_is_restarted_meanwhile(void **state)
{
	(void)state;
	begin(create, 0);
	assert_int_equal(rte_eth_dev_stop(octo_port_agent.port), 0);
	assert_int_equal(rte_eth_dev_start(octo_port_agent.port), 0);
	octo_port_agent_answer(0, "");
	octo_port_agent_await(OCTO_AGENT_REMOVE);
	octo_port_agent_answer(0, "");
	octo_port_agent_await(OCTO_AGENT_PUT);
	octo_port_agent_answer(0, "");
	finish();
	assert_non_null(made.flow);
	octo_port_await(octo_port_agent_serve() &&
			octo_port_rule_pf(octo_port_agent.port, SRC_PORT) >= 0);
	octo_port_agent_end();
}

/* Then it is the port's rule still, and refused. */
static void
test_the_port_is_stopped_meanwhile(void **state)
{
	(void)state;
	begin(create, 0);
	assert_int_equal(rte_eth_dev_stop(octo_port_agent.port), 0);
	octo_port_agent_answer(ENOSPC, "no room for that");
	finish();
	assert_null(made.flow);
	assert_int_equal(made.errnum, ENOSPC);
	assert_int_equal(octo_port_xstat(octo_port_agent.port, "steered_flows"), 0);
	octo_port_agent_end();
}

/* Who creates the rule has not noticed the answer when another thread removes it. */
static void
test_a_refused_rule_is_removed_meanwhile(void **state)
{
	const struct rte_pmd_octo_tuple t = tuple();
	struct octo_port_tally tally = {0};

	(void)state;
	octo_port_agent_begin(&two_pfs, 0);
	octo_port_poll(octo_port_agent.port, 0, 32, &tally);
	octo_port_thread_start(steer, NULL);
	octo_port_agent_await(OCTO_AGENT_PUT);
	for (int i = 0; i < 8; i++) {
		octo_sleep_us(LOOK_US);
		octo_port_await_thread(octo_port_time_beside_sleeps());
	}
	/* the other thread cannot hear it while this one has the mutex */
	octo_lock(octo_port_agent_dev());
	octo_port_agent_answer(ENOSPC, "no room for that");
	octo_agent_look(octo_port_agent_dev()->agent);
	octo_mpfs_agent_hear_all(octo_port_agent_dev());
	assert_int_equal(rte_pmd_octo_steer_remove(octo_port_agent.port, &t, NULL), 0);
	octo_unlock(octo_port_agent_dev());
	finish();
	assert_int_equal(made.errnum, ECANCELED);
	assert_int_equal(octo_port_xstat(octo_port_agent.port, "steered_flows"), 0);
	octo_port_agent_end();
}

/* Errors that mean something else inside of the driver. */
static void
test_a_rule_is_refused_with_a_strange_error(void **state)
{
	static const int strange[] = {EAGAIN, EINPROGRESS, ENOTCONN};

	(void)state;
	octo_port_agent_begin(&two_pfs, 0);
	for (unsigned int i = 0; i < RTE_DIM(strange); i++) {
		octo_port_thread_start(create, NULL);
		octo_port_agent_await(OCTO_AGENT_PUT);
		octo_port_agent_answer(strange[i], "not now");
		finish();
		assert_null(made.flow);
		assert_int_equal(made.errnum, EIO);
	}
	octo_port_agent_end();
}

static void
set_link(const char *pf, const char *how)
{
	char request[64];

	snprintf(request, sizeof(request), "%s,link,%s", pf, how);
	assert_int_equal(rte_pmd_mpsim_fault(request), 0);
}

/* Hears up to the message that chooses the default PF, and answers all others. */
static bool
hears_default(void)
{
	while (octo_port_agent.last.type != OCTO_AGENT_DEFAULT && octo_port_agent_hears())
		if (octo_port_agent.last.type != OCTO_AGENT_DEFAULT)
			octo_port_agent_answer(0, "");
	return octo_port_agent.last.type == OCTO_AGENT_DEFAULT;
}

static void
answer_default(uint8_t pf, int error)
{
	octo_port_agent.last.type = OCTO_AGENT_SYNCED;
	octo_port_await(hears_default());
	assert_int_equal(octo_port_agent.last.default_pf, pf);
	octo_port_agent_answer(error, error == 0 ? "" : "not now");
}

/* It is not certain which one the agent has after a refusal. */
static void
test_a_default_pf_is_told_again_after_a_refusal(void **state)
{
	(void)state;
	octo_port_agent_begin(&two_pfs, OCTO_AGENT_DEFAULTS);
	for (unsigned int i = 0; i < 2; i++) {
		set_link(octo_port_pf_name(0), "down");
		answer_default(1, 0);
		set_link(octo_port_pf_name(0), "up");
		answer_default(0, EIO);
		set_link(octo_port_pf_name(0), "down");
		answer_default(1, 0);
		set_link(octo_port_pf_name(0), "up");
		answer_default(0, EIO);
		answer_default(0, 0);
	}
	octo_port_agent_end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_rule_is_accepted_late),
		octo_port_test(test_a_rule_is_refused_late),
		octo_port_test(test_a_rule_that_is_refused_late_evicts_a_learned_one),
		octo_port_test(test_an_agent_is_lost_meanwhile),
		octo_port_test(test_a_rule_is_removed_meanwhile),
		octo_port_test(test_other_rules_do_not_wait_for_a_slow_agent),
		octo_port_test(test_the_port_is_restarted_meanwhile),
		octo_port_test(test_the_port_is_stopped_meanwhile),
		octo_port_test(test_a_refused_rule_is_removed_meanwhile),
		octo_port_test(test_a_rule_is_refused_with_a_strange_error),
		octo_port_test(test_a_default_pf_is_told_again_after_a_refusal),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
