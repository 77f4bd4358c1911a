/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Flows are led to other PFs, removed and learned with an agent that is slow: nobody waits for it,
 * and it may refuse late.
 */

#include <errno.h>

#include "octo_agent.h"
#include "octo_port.h"
#include "octo_port_agent.h"
#include "octo_private.h"

#define SRC_PORT 1000
/* In which the control thread looks for answers several times. */
#define LOOK_US 20000
/* Messages that may be unanswered. */
#define WINDOW 64

static const struct octo_port_conf two_pfs;

static bool
queue_is_home_on(uint8_t pf)
{
	struct octo_port_tally tally = {0};

	octo_port_poll(octo_port_agent.port, 1, 32, &tally);
	return octo_topo_home_of(octo_port_agent_dev(), 1) == pf;
}

/* A rule to queue 1, which the agent has. */
static void
begin_with_a_rule(const struct octo_port_conf *conf)
{
	octo_port_agent_begin(conf, 0);
	octo_port_thread_start(octo_port_agent_serve_beside, NULL);
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
	session = octo_port_agent_dev()->agent->session;
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
	assert_int_equal(octo_port_agent_dev()->agent->session, session);
	octo_port_agent_end();
}

#define MANY (16 * WINDOW)
/* Of an agent's small table. */
#define ROOM 8

static unsigned int
nb_led_to(uint8_t pf)
{
	const struct rte_flow *rule;
	unsigned int n = 0;

	TAILQ_FOREACH(rule, &octo_port_agent_dev()->rules, next)
		n += octo_rule_pf(octo_port_agent_dev(), rule) == pf;
	return n;
}

/* Rules to queue 1, which the agent has, and whose home is another PF now. */
static void
begin_with_many_rules(void)
{
	struct octo_tuple learned = {.family = OCTO_IPV4, .proto = IPPROTO_UDP};

	octo_port_agent_begin(&two_pfs, 0);
	octo_port_thread_start(octo_port_agent_serve_beside, NULL);
	octo_lock(octo_port_agent_dev());
	for (learned.src_port = 1; learned.src_port <= MANY; learned.src_port++)
		assert_non_null(octo_rule_learn_locked(octo_port_agent_dev(), &learned, 1, NULL));
	octo_unlock(octo_port_agent_dev());
	octo_port_thread_stop();
	octo_port_await(octo_port_agent_serve() && nb_led_to(1) == MANY);
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(1)), 0);
	octo_port_await(octo_topo_home_of(octo_port_agent_dev(), 1) == 0);
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
	octo_port_await(octo_topo_home_of(octo_port_agent_dev(), 1) == 0);
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
	assert_true(octo_port_agent_dev()->failover.pending);
	octo_port_agent_answer(0, "");
	octo_port_await(!octo_port_agent_dev()->failover.pending);
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
	octo_port_await(octo_topo_home_of(octo_port_agent_dev(), 1) == 0);
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
		const struct octo_rxq *q = octo_data(octo_port_agent_dev())->rx_queues[i];

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
	rule = TAILQ_FIRST(&octo_port_agent_dev()->rules);
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

/* One flow of a queue has followed it, another not so far, when the former is moved. */
static void
test_a_move_releases_no_packets_of_other_flows(void **state)
{
	struct rte_flow *rule;

	(void)state;
	begin_with_a_rule(&two_pfs);
	octo_port_thread_start(octo_port_agent_serve_beside, NULL);
	assert_non_null(octo_port_steer(octo_port_agent.port, SRC_PORT + 1, 1, NULL));
	octo_port_thread_stop();
	assert_false(polls_find_fences());
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(1)), 0);
	octo_port_agent.last.type = OCTO_AGENT_PING;
	octo_port_await(heard_put());
	assert_int_equal(octo_port_agent_last_src_port(), SRC_PORT);
	octo_port_agent_answer(0, "");
	octo_port_pass_us(LOOK_US);
	assert_true(polls_find_fences());
	octo_lock(octo_port_agent_dev());
	rule = TAILQ_FIRST(&octo_port_agent_dev()->rules);
	assert_int_equal(octo_rule_pf(octo_port_agent_dev(), rule), 0);
	assert_int_equal(octo_move_exact_locked(octo_port_agent_dev(), rule, 1, NULL), 0);
	octo_unlock(octo_port_agent_dev());
	assert_true(polls_find_fences());
	assert_true(octo_port_agent_hears());
	octo_port_agent_answer(0, "");
	octo_port_pass_us(LOOK_US);
	assert_false(polls_find_fences());
	octo_port_agent_end();
}

/* One message of another thread or another is always unanswered. */
static void
test_new_rules_do_not_keep_a_session_from_beginning(void **state)
{
	struct octo_tuple learned = {.family = OCTO_IPV4, .proto = IPPROTO_UDP};
	struct octo_agent_msg before;

	(void)state;
	begin_with_a_rule(&two_pfs);
	octo_port_agent_hang_up();
	octo_port_await(octo_port_agent_hears() || octo_port_agent.last.type == OCTO_AGENT_HELLO);
	octo_port_agent_say(OCTO_AGENT_WELCOME, octo_port_agent.last.session);
	octo_port_await(heard_put());
	for (unsigned int i = 0; i < 50 && octo_port_agent_dev()->agent_resyncing; i++) {
		before = octo_port_agent.last;
		octo_lock(octo_port_agent_dev());
		learned.src_port++;
		assert_non_null(octo_rule_learn_locked(octo_port_agent_dev(), &learned, 1, NULL));
		octo_unlock(octo_port_agent_dev());
		octo_port_pass_us(LOOK_US);
		octo_port_agent.last = before;
		do
			octo_port_agent_answer(0, "");
		while (octo_port_agent_hears() && !is_put_of(learned.src_port));
		octo_port_pass_us(LOOK_US);
	}
	assert_false(octo_port_agent_dev()->agent_resyncing);
	octo_port_agent_end();
}

/* Learning finds out that the table is full, as if the agent had said so at once. */
static void
test_a_slow_agent_that_is_full_has_no_room_for_learned_rules(void **state)
{
	static const struct octo_port_conf conf = {.learn = true, .nic = "default_pf=1"};
	struct octo_port_tally tally = {0};
	unsigned int has = 0;

	(void)state;
	octo_port_agent_begin(&conf, 0);
	for (unsigned int i = 0; i < 500; i++) {
		octo_port_send(octo_port_agent.port, 0, (uint16_t)(SRC_PORT + 1 + i % MANY), 8);
		octo_port_poll(octo_port_agent.port, 0, 32, &tally);
		octo_port_pass_us(LOOK_US);
		while (octo_port_agent_hears()) {
			const enum octo_agent_type type = octo_port_agent.last.type;
			const bool full = type == OCTO_AGENT_PUT && has == ROOM;

			octo_port_agent_answer(full ? ENOSPC : 0, full ? "it is full" : "");
			has += type == OCTO_AGENT_PUT && !full;
			has -= type == OCTO_AGENT_REMOVE;
		}
	}
	assert_in_range(octo_port_agent_learned(), 1, 2 * ROOM);
	octo_port_agent_end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_flow_goes_back_meanwhile),
		octo_port_test(test_many_flows_leave_with_a_slow_agent),
		octo_port_test(test_a_slow_agent_refuses_to_move_one_of_many_flows),
		octo_port_test(test_a_slow_agent_refuses_to_move_many_flows),
		octo_port_test(test_a_slow_agent_refuses_to_move_a_flow),
		octo_port_test(test_a_failover_ends_when_a_slow_agent_has_answered),
		octo_port_test(test_a_slow_agent_that_is_full_moves_a_flow),
		octo_port_test(test_packets_are_held_until_a_rule_is_removed),
		octo_port_test(test_a_move_releases_no_packets_of_other_flows),
		octo_port_test(test_new_rules_do_not_keep_a_session_from_beginning),
		octo_port_test(test_a_slow_agent_that_is_full_has_no_room_for_learned_rules),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
