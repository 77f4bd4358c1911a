/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Random operations on a running port, each at a random time of the injected clock: rules of every
 * kind, indirect actions, flow queues, queues, homes, settings, stop and start, reset, PFs that go
 * and come in every way, PFs that refuse rules or are slow. No counter falls meanwhile, no packet
 * comes twice, and those that the PFs deliver reach the application. When the faults are over, all
 * PFs are back with the port's settings and rules, every rule leads home and counts each packet,
 * nothing waits any more, and in the end no rule and no mbuf is left. Gentle runs have planned
 * changes only: no packet is lost, and each flow stays in order.
 *
 * OCTO_PORT_SEED is the first seed, OCTO_PORT_RUNS how many are tried with each kind of port,
 * OCTO_PORT_KIND the only kind, OCTO_PORT_LENGTH the number of operations. OCTO_PORT_STEPS=3,7-9
 * leaves out all other steps, OCTO_PORT_TRACE=1 shows what they do.
 */

#include <stdlib.h>

#include "octo_port_agent.h"
#include "octo_port_random.h"

/* Stands for a devarg that names a socket. */
#define BY_AGENT "agent"

static void
pass_time(void)
{
	octo_port_run_on(random_below(2));
	octo_port_pass_us(random_below(random_one_in(2) ? 300 : 30000));
}

static void
travel(void)
{
	octo_port_run_on(random_below(2));
}

/* How often, relative to the others, in rough and in gentle runs. */
static const struct {
	void (*fn)(void);
	unsigned int rough;
	unsigned int gentle;
} ops[] = {
	{random_op_create_or_move, 8, 4},
	{random_op_destroy, 2, 0},
	{random_op_replace, 1, 3},
	{random_op_flush, 2, 0},
	{random_op_change_handle, 2, 0},
	{random_op_query_all, 4, 1},
	{random_op_update, 2, 0},
	{random_op_aged, 1, 0},
	{random_op_async, 4, 0},
	{random_op_push_or_pull, 3, 0},
	{random_op_other, 2, 1},
	{random_op_agent, 2, 0},
	{random_op_change_pf, 8, 0},
	{random_op_eject, 0, 2},
	{random_op_refuse_rules, 2, 0},
	{random_op_reta, 2, 0},
	{random_op_setting, 3, 0},
	{random_op_rare_setting, 3, 0},
	{random_op_question, 3, 1},
	{random_op_count, 1, 0},
	{random_op_steer, 2, 0},
	{random_op_refuse_to_join, 1, 0},
	{random_op_nb_queues, 1, 0},
	{random_op_reset_stats, 1, 0},
	{random_op_stop_or_start, 2, 0},
	{random_op_rx_queue, 2, 0},
	{random_op_tx_queue, 1, 0},
	{random_op_reset, 1, 0},
	{random_op_close, 1, 0},
	{pass_time, 6, 0},
	{travel, 0, 4},
	{random_send_some, 12, 0},
	{random_send_gently, 0, 40},
};

static unsigned int
weight_of(unsigned int op)
{
	return random_port.mode == RANDOM_GENTLE ? ops[op].gentle : ops[op].rough;
}

static void
do_one(void)
{
	unsigned int all = 0, at, i;

	for (i = 0; i < RTE_DIM(ops); i++)
		all += weight_of(i);
	at = random_below(all);
	for (i = 0; at >= weight_of(i); i++)
		at -= weight_of(i);
	ops[i].fn();
	random_check_counters();
}

static unsigned long
number(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text == NULL ? otherwise : strtoul(text, NULL, 10);
}

static bool
is_left_out(unsigned int step)
{
	const char *at = getenv("OCTO_PORT_STEPS");
	unsigned long first, last;
	char *end;

	if (at == NULL)
		return false;
	while (*at != '\0') {
		first = strtoul(at, &end, 10);
		last = *end == '-' ? strtoul(end + 1, &end, 10) : first;
		if (step >= first && step <= last)
			return false;
		at = *end == ',' ? end + 1 : "";
	}
	return true;
}

static void
run(const struct octo_port_conf *conf, enum random_mode mode, unsigned long seed)
{
	struct random_port *r = &random_port;
	const unsigned int nb_steps = number("OCTO_PORT_LENGTH", 300);
	struct octo_port_conf own = *conf;

	memset(r, 0, sizeof(*r));
	r->conf = conf;
	r->by_agent = conf->octo != NULL && strcmp(conf->octo, BY_AGENT) == 0;
	r->mode = mode == RANDOM_GENTLE ? mode : seed % 2 == 0 ? RANDOM_FORGETS : RANDOM_ROUGH;
	r->by_mac = conf->octo != NULL && strstr(conf->octo, "tier=mac") != NULL;
	r->nb_ports = conf->sliced ? 1 : conf->nb_pfs;
	r->seed = seed;
	r->ejected = -1;
	r->nb_queues = RANDOM_QUEUES;
	r->stopped = true;
	if (r->by_agent) {
		octo_port_agent_prepare(0);
		own.octo = octo_port_agent.arg;
		r->conf = &own;
	}
	random_forget_xstats();
	random_watch_pfs(true);
	r->port = octo_port_create(r->conf);
	octo_port_run_on(0);
	assert_int_equal(random_bring_up(), 0);
	if (r->by_agent)
		random_agent_begin();
	octo_port_pass_us(6000);
	/* a call may wait for a poller */
	if (mode == RANDOM_GENTLE)
		octo_port_meanwhile(random_poll_all);
	for (unsigned int step = 0; step < nb_steps; step++) {
		random_step(step);
		if (!is_left_out(step))
			do_one();
	}
	octo_port_meanwhile(NULL);
	random_settle();
	random_check_rest();
	random_check_end();
}

static void
run_all(const char *kind, const struct octo_port_conf *conf, enum random_mode mode)
{
	const unsigned long first = number("OCTO_PORT_SEED", 1),
			    nb = number("OCTO_PORT_RUNS", mode == RANDOM_GENTLE ? 1 : 2);
	const char *only = getenv("OCTO_PORT_KIND");

	if (only != NULL && strcmp(only, kind) != 0)
		skip();
	for (unsigned long seed = first; seed < first + nb; seed++) {
		print_message("OCTO_PORT_KIND=%s OCTO_PORT_SEED=%lu OCTO_PORT_RUNS=1\n", kind,
			      seed);
		run(conf, mode, seed);
	}
}

#define TEST_IN(mode, name, ...)                                                                   \
	static void test_##name(void **state)                                                      \
	{                                                                                          \
		const struct octo_port_conf conf = {                                               \
			.two_nodes = true, .replug = true, __VA_ARGS__};                           \
                                                                                                   \
		(void)state;                                                                       \
		run_all(#name, &conf, mode);                                                       \
	}

#define TEST(name, ...) TEST_IN(RANDOM_ROUGH, name, __VA_ARGS__)
#define GENTLE(name, ...)                                                                          \
	TEST_IN(RANDOM_GENTLE, name, .pf = {"latency_us=300", "latency_us=20", "latency_us=100"},  \
		__VA_ARGS__)
#define FENCES "grace_us=500,fence_timeout_ms=1000"

TEST(rules_that_are_replaced, .nb_pfs = 2, .all = "caps=-update")
TEST(three_pfs, .nb_pfs = 3)
TEST(learning, .nb_pfs = 3, .learn = true)
TEST(partition, .nb_pfs = 3, .octo = "tier=partition")
TEST(tx_by_hint, .nb_pfs = 4, .all = "lost_pf=default", .octo = "tx_pf=mbuf")
TEST(slices, .nb_pfs = 2, .sliced = true, .learn = true)
TEST(addresses, .nb_pfs = 3, .all = "switch=mac", .octo = "tier=mac")
TEST(no_rules, .nb_pfs = 2, .octo = "tier=none")
TEST(no_switch, .nb_pfs = 2, .octo = "tier=queue")
GENTLE(gentle, .nb_pfs = 3, .octo = FENCES)
GENTLE(gentle_learning, .nb_pfs = 3, .learn = true, .octo = FENCES ",learn_sample=1")
GENTLE(gentle_partition, .nb_pfs = 3, .octo = "tier=partition," FENCES)
GENTLE(gentle_replacing, .nb_pfs = 2, .all = "caps=-update", .octo = FENCES)
TEST(agent, .nb_pfs = 3, .learn = true, .octo = BY_AGENT)
TEST_IN(RANDOM_GENTLE, gentle_slices, .nb_pfs = 2, .sliced = true, .learn = true,
	.octo = "fence_timeout_ms=1000,learn_sample=1")

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_rules_that_are_replaced),
		octo_port_test(test_three_pfs),
		octo_port_test(test_learning),
		octo_port_test(test_partition),
		octo_port_test(test_tx_by_hint),
		octo_port_test(test_slices),
		octo_port_test(test_addresses),
		octo_port_test(test_no_rules),
		octo_port_test(test_no_switch),
		octo_port_test(test_agent),
		octo_port_test(test_gentle),
		octo_port_test(test_gentle_learning),
		octo_port_test(test_gentle_partition),
		octo_port_test(test_gentle_replacing),
		octo_port_test(test_gentle_slices),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
