/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A thread that creates, moves or removes a rule waits for an agent's answer, but holds the
 * control mutex for a few milliseconds of that at most, by the injected clock.
 */

#include <errno.h>
#include <string.h>

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

static struct octo_dev *
dev(void)
{
	return octo_of(&rte_eth_devices[octo_port_agent.port]);
}

static bool
mutex_is_free(void)
{
	const bool is = octo_lock_try(dev());

	if (is)
		octo_unlock(dev());
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

/* It hears of what has happened. */
static void
finish(void)
{
	while (octo_port_thread_runs())
		octo_sleep_us(LOOK_US);
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

static uint64_t
learned(void)
{
	return octo_port_xstat(octo_port_agent.port, "learned_flows");
}

static void *
serve(void *arg)
{
	while (!octo_port_thread_is_to_stop())
		octo_port_agent_serve();
	return arg;
}

/* A stray, as the agent is only played. */
static bool
learn_a_flow(void)
{
	struct octo_port_tally tally = {0};

	octo_port_send(octo_port_agent.port, 0, SRC_PORT + 1, 8);
	octo_port_poll(octo_port_agent.port, 0, 32, &tally);
	octo_port_pass_us(1000);
	return learned() > 0;
}

/* Of the flow in the last message. */
static uint16_t
last_src_port(void)
{
	return rte_be_to_cpu_16(octo_port_agent.last.rule.tuple.src_port);
}

/* An evicted learned rule makes room, and the message is sent again. */
static void
test_a_rule_that_is_refused_late_evicts_a_learned_one(void **state)
{
	static const struct octo_port_conf conf = {.learn = true, .nic = "default_pf=1"};

	(void)state;
	octo_port_agent_begin(&conf, 0);
	octo_port_thread_start(serve, NULL);
	octo_port_await(learn_a_flow());
	octo_port_thread_stop();
	octo_port_thread_start(create, NULL);
	octo_port_agent_await(OCTO_AGENT_PUT);
	octo_sleep_us(HELD_US);
	octo_port_await_thread(octo_port_time_beside_sleeps());
	octo_port_agent_answer(ENOSPC, "no room for that");
	octo_sleep_us(LOOK_US);
	octo_port_agent_await(OCTO_AGENT_REMOVE);
	assert_int_equal(last_src_port(), SRC_PORT + 1);
	octo_port_agent_answer(0, "");
	octo_port_agent_await(OCTO_AGENT_PUT);
	assert_int_equal(last_src_port(), SRC_PORT);
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
	octo_lock(dev());
	for (learned.src_port = 1; learned.src_port <= 2 * WINDOW; learned.src_port++)
		assert_non_null(octo_rule_learn_locked(dev(), &learned, 1, NULL));
	octo_unlock(dev());
	/* reading the clock takes time, too */
	assert_true(octo_now() - since < rte_get_timer_hz() * HELD_US / US_PER_S);
	octo_port_agent_answer(0, "");
	octo_port_await(octo_port_agent_serve() &&
			octo_port_xstat(octo_port_agent.port, "steered_flows") == 1 + 2 * WINDOW);
	finish();
	assert_int_equal(made.errnum, 0);
	octo_port_await(octo_port_agent_serve() &&
			octo_rule_pf(dev(), octo_table_find(dev()->table, &learned)) >= 0);
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

static bool
queue_is_home_on(uint8_t pf)
{
	struct octo_port_tally tally = {0};

	octo_port_poll(octo_port_agent.port, 1, 32, &tally);
	return octo_topo_home_of(dev(), 1) == pf;
}

/* A rule to queue 1, which the agent has. */
static void
begin_with_a_rule(const struct octo_port_conf *conf)
{
	octo_port_agent_begin(conf, 0);
	octo_port_thread_start(serve, NULL);
	assert_non_null(octo_port_steer(octo_port_agent.port, SRC_PORT, 1, NULL));
	octo_port_thread_stop();
	assert_int_equal(octo_port_rule_pf(octo_port_agent.port, SRC_PORT), 1);
}

static bool
heard_put(void)
{
	return octo_port_agent.last.type == OCTO_AGENT_PUT ||
	       (octo_port_agent_hears() && octo_port_agent.last.type == OCTO_AGENT_PUT);
}

/* The queue is back before the agent has answered that the flow has left. */
static void
test_a_flow_goes_back_meanwhile(void **state)
{
	uint32_t session;

	(void)state;
	begin_with_a_rule(&two_pfs);
	session = dev()->agent->session;
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(1)), 0);
	octo_port_agent.last.type = OCTO_AGENT_PING;
	octo_port_await(heard_put());
	assert_int_equal(octo_port_agent.last.rule.pf, 0);
	assert_int_equal(rte_eth_dev_set_link_up(octo_port_pf(1)), 0);
	octo_port_await(queue_is_home_on(1));
	octo_port_pass_us(LOOK_US);
	octo_port_agent_answer(0, "");
	octo_port_pass_us(LOOK_US);
	/* a fence closes when the queue is polled */
	for (unsigned int i = 0; i < 50; i++) {
		octo_port_pass_us(LOOK_US / 2);
		assert_true(queue_is_home_on(1));
		octo_port_agent_serve();
	}
	assert_int_equal(octo_port_rule_pf(octo_port_agent.port, SRC_PORT), 1);
	/* in the same session */
	assert_int_equal(dev()->agent->session, session);
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
	octo_port_agent_answer(ENOSPC, "no room for that");
	octo_lock(dev());
	octo_agent_look(dev()->agent);
	octo_mpfs_agent_hear_all(dev());
	octo_unlock(dev());
	assert_int_equal(rte_pmd_octo_steer_remove(octo_port_agent.port, &t, NULL), 0);
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

#define MANY (16 * WINDOW)

static unsigned int
nb_led_to(uint8_t pf)
{
	const struct rte_flow *rule;
	unsigned int n = 0;

	TAILQ_FOREACH(rule, &dev()->rules, next)
		n += octo_rule_pf(dev(), rule) == pf;
	return n;
}

/* Rules to queue 1, which the agent has, and whose home is another PF now. */
static void
begin_with_many_rules(void)
{
	struct octo_tuple learned = {.family = OCTO_IPV4, .proto = IPPROTO_UDP};

	octo_port_agent_begin(&two_pfs, 0);
	octo_port_thread_start(serve, NULL);
	octo_lock(dev());
	for (learned.src_port = 1; learned.src_port <= MANY; learned.src_port++)
		assert_non_null(octo_rule_learn_locked(dev(), &learned, 1, NULL));
	octo_unlock(dev());
	octo_port_thread_stop();
	octo_port_await(octo_port_agent_serve() && nb_led_to(1) == MANY);
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(1)), 0);
	octo_port_await(octo_topo_home_of(dev(), 1) == 0);
}

/* Each window of messages is answered after a while. */
static void
test_many_flows_leave_with_a_slow_agent(void **state)
{
	uint64_t since;

	(void)state;
	begin_with_many_rules();
	since = octo_now();
	while (nb_led_to(0) < MANY && octo_now() - since < 3 * rte_get_timer_hz()) {
		octo_port_pass_us(LOOK_US);
		octo_port_agent_serve();
	}
	assert_true(octo_now() - since < rte_get_timer_hz());
	octo_port_agent_end();
}

static bool
is_put_of(rte_be16_t src_port)
{
	return octo_port_agent.last.type == OCTO_AGENT_PUT &&
	       octo_port_agent.last.rule.tuple.src_port == src_port;
}

/* All other flows leave at once. */
static void
test_a_slow_agent_refuses_to_move_one_of_many_flows(void **state)
{
	uint64_t since;

	(void)state;
	begin_with_many_rules();
	since = octo_now();
	while (nb_led_to(0) < MANY - 1 && octo_now() - since < 3 * rte_get_timer_hz()) {
		octo_port_pass_us(LOOK_US);
		while (octo_port_agent_hears())
			octo_port_agent_answer(is_put_of(1) ? EPERM : 0, "not that flow");
	}
	assert_true(octo_now() - since < rte_get_timer_hz());
	octo_port_agent_end();
}

/* Each is sent before and after its rule is removed, and nobody waits for that meanwhile. */
static void
test_a_slow_agent_refuses_to_move_many_flows(void **state)
{
	unsigned int puts = 0;
	uint64_t since;

	(void)state;
	begin_with_many_rules();
	since = octo_now();
	while (nb_led_to(1) > 0 && octo_now() - since < 60 * rte_get_timer_hz()) {
		octo_port_pass_us(LOOK_US);
		while (octo_port_agent_hears()) {
			const bool put = octo_port_agent.last.type == OCTO_AGENT_PUT;

			puts += put;
			octo_port_agent_answer(put ? EPERM : 0, "not that flow");
		}
	}
	assert_in_range(puts, MANY, 2 * MANY);
	octo_port_agent_end();
}

/* A flow that the agent refuses to move is tried again, but not all the time. */
static void
test_a_slow_agent_refuses_to_move_a_flow(void **state)
{
	unsigned int puts = 0;

	(void)state;
	begin_with_a_rule(&two_pfs);
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(1)), 0);
	octo_port_await(octo_topo_home_of(dev(), 1) == 0);
	for (unsigned int i = 0; i < 100; i++) {
		octo_port_pass_us(LOOK_US);
		while (octo_port_agent_hears()) {
			puts += octo_port_agent.last.type == OCTO_AGENT_PUT;
			octo_port_agent_answer(octo_port_agent.last.type == OCTO_AGENT_PUT ? EPERM :
											     0,
					       "not that flow");
		}
	}
	assert_in_range(puts, 3, 8);
	octo_port_agent_end();
}

/* A PF that is drained may be stopped once the failover is done. */
static void
test_a_failover_ends_when_a_slow_agent_has_answered(void **state)
{
	(void)state;
	begin_with_a_rule(&two_pfs);
	octo_port_agent.last.type = OCTO_AGENT_PING;
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(1)), 0);
	octo_port_await(heard_put());
	octo_port_pass_us(LOOK_US);
	assert_true(dev()->failover.pending);
	octo_port_agent_answer(0, "");
	octo_port_await(!dev()->failover.pending);
	assert_int_equal(octo_port_rule_pf(octo_port_agent.port, SRC_PORT), 0);
	octo_port_agent_end();
}

/* Its table has room for one rule: it refuses to make before it breaks, and says so late. */
static void
test_a_slow_agent_that_is_full_moves_a_flow(void **state)
{
	const struct octo_agent_msg *last = &octo_port_agent.last;
	bool has = true;

	(void)state;
	begin_with_a_rule(&two_pfs);
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(1)), 0);
	octo_port_await(octo_topo_home_of(dev(), 1) == 0);
	for (unsigned int i = 0; i < 50; i++) {
		octo_port_pass_us(LOOK_US);
		while (octo_port_agent_hears()) {
			const bool full = last->type == OCTO_AGENT_PUT && has;

			octo_port_agent_answer(full ? ENOSPC : 0, full ? "it is full" : "");
			has = last->type == OCTO_AGENT_PUT ||
			      (has && last->type != OCTO_AGENT_REMOVE);
		}
	}
	assert_int_equal(octo_port_rule_pf(octo_port_agent.port, SRC_PORT), 0);
	octo_port_agent_end();
}

static bool
polls_find_fences(void)
{
	struct octo_port_tally tally = {0};
	bool any = false;

	for (uint16_t i = 0; i < 2; i++) {
		const struct octo_rxq *q = octo_data(dev())->rx_queues[i];

		octo_port_poll(octo_port_agent.port, i, 32, &tally);
		any |= q->fence.under_way;
	}
	return any;
}

/* The agent leads the flow to its PF until it has answered. */
static void
test_packets_are_held_until_a_rule_is_removed(void **state)
{
	struct rte_flow *rule;

	(void)state;
	begin_with_a_rule(&two_pfs);
	rule = TAILQ_FIRST(&dev()->rules);
	assert_false(polls_find_fences());
	assert_int_equal(rte_flow_destroy(octo_port_agent.port, rule, NULL), 0);
	octo_port_agent.last.type = OCTO_AGENT_PING;
	while (octo_port_agent.last.type != OCTO_AGENT_REMOVE) {
		octo_port_pass_us(LOOK_US / 20);
		polls_find_fences();
		octo_port_agent_hears();
	}
	octo_port_pass_us(LOOK_US);
	assert_true(polls_find_fences());
	octo_port_agent_answer(0, "");
	octo_port_pass_us(LOOK_US);
	assert_false(polls_find_fences());
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
		octo_port_test(test_a_flow_goes_back_meanwhile),
		octo_port_test(test_a_refused_rule_is_removed_meanwhile),
		octo_port_test(test_a_rule_is_refused_with_a_strange_error),
		octo_port_test(test_many_flows_leave_with_a_slow_agent),
		octo_port_test(test_a_slow_agent_refuses_to_move_one_of_many_flows),
		octo_port_test(test_a_slow_agent_refuses_to_move_many_flows),
		octo_port_test(test_a_slow_agent_refuses_to_move_a_flow),
		octo_port_test(test_a_failover_ends_when_a_slow_agent_has_answered),
		octo_port_test(test_a_slow_agent_that_is_full_moves_a_flow),
		octo_port_test(test_packets_are_held_until_a_rule_is_removed),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
