/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A host whose PFs share an FDB: the octo port is over a VF of each, which has its ARFS rules
 * itself, and octo-agent's rules lead from the uplink to the VFs. Agent and port are in one
 * process; the agent does its steps where the test lets time pass.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_ethdev.h>
#include <rte_string_fns.h>

#include "agent_rules.h"
#include "agent_server.h"
#include "octo_port.h"
#include "rte_pmd_octo.h"

#define NB_VFS 2
#define UPLINK 2
#define REP(vf) (UPLINK + 1 + (vf))
#define NB_PORTS 5
#define NB_QUEUES 2
#define FLOWS 8
#define FIRST_FLOW 1000
#define EACH 10
#define ALL (FLOWS * EACH)
#define ROUNDS 100
#define ROUND_US 100

static const struct octo_port_conf machine = {
	.two_nodes = true,
	.pf = {[UPLINK] = "representor=uplink",
	       [REP(0)] = "representor=pf0",
	       [REP(1)] = "representor=pf1"},
};

static struct {
	char dir[32];
	char listen[64];
	struct agent_rules *rules;
	struct agent_server *server; /* NULL: the agent does not run */
	uint16_t port;
	int node_of_poller[NB_QUEUES];
} host;

static void
start_agent(void)
{
	struct agent_rules_config config = {.nb_pfs = NB_VFS, .uplink = octo_port_pf(UPLINK)};
	struct agent_server_config server = {.listen = host.listen, .nb_pfs = NB_VFS};
	char why[AGENT_WHY_MAX] = "";

	for (unsigned int vf = 0; vf < NB_VFS; vf++) {
		config.pf_port[vf] = RTE_MAX_ETHPORTS;
		config.rep_port[vf] = octo_port_pf(REP(vf));
	}
	assert_int_equal(agent_rules_create(&config, &host.rules, why), 0);
	server.rules = host.rules;
	assert_int_equal(agent_server_open(&server, &host.server, why, sizeof(why)), 0);
}

/* As it ends by a signal: no rule stays. */
static void
end_agent(void)
{
	agent_server_close(host.server);
	assert_int_equal(agent_rules_destroy(host.rules), 0);
	host.server = NULL;
}

/* The agent's rules are there from the start, but no octo port is served. */
static void
begin(void)
{
	struct octo_port_conf conf = machine;
	char arg[80];

	memset(&host, 0, sizeof(host));
	host.node_of_poller[1] = 1;
	rte_strscpy(host.dir, "/tmp/octo-fdb-XXXXXX", sizeof(host.dir));
	assert_non_null(mkdtemp(host.dir));
	snprintf(host.listen, sizeof(host.listen), "unix:%s/agent", host.dir);
	snprintf(arg, sizeof(arg), "agent=%s", host.listen);
	conf.octo = arg;
	octo_port_run_on(0);
	for (unsigned int i = 0; i < NB_PORTS; i++) {
		octo_port_add_pf(&conf, i);
		if (i >= UPLINK)
			octo_port_up(octo_port_pf(i), 1);
	}
	host.port = octo_port_add(&conf);
	octo_port_up(host.port, NB_QUEUES);
}

static void
end(void)
{
	if (host.server != NULL)
		end_agent();
	octo_port_run_on(0);
	rmdir(host.dir);
}

static void
poll_once(struct octo_port_tally *tally)
{
	if (host.server != NULL)
		assert_true(agent_server_step(host.server, 0));
	for (uint16_t q = 0; q < NB_QUEUES; q++) {
		octo_port_run_on(host.node_of_poller[q]);
		octo_port_poll(host.port, q, 32, tally);
	}
	octo_port_pass_us(ROUND_US);
}

static bool
is_exact(void)
{
	struct octo_view_topology view;

	poll_once(&(struct octo_port_tally){0});
	assert_int_equal(rte_pmd_octo_view_topology(host.port, &view), 0);
	return strcmp(view.tier, "exact") == 0;
}

/* Each rule is where its queue is at home, by the agent's answer. */
static bool
is_led_home(void)
{
	poll_once(&(struct octo_port_tally){0});
	for (uint16_t f = 0; f < FLOWS; f++)
		if (octo_port_rule_pf(host.port, FIRST_FLOW + f) !=
		    host.node_of_poller[f % NB_QUEUES])
			return false;
	return true;
}

static void
steer_all(void)
{
	for (uint16_t f = 0; f < FLOWS; f++)
		assert_non_null(octo_port_steer(host.port, FIRST_FLOW + f, f % NB_QUEUES, NULL));
}

struct outcome {
	uint64_t received; /* by the octo port */
	uint64_t strays;   /* of them */
	uint64_t left;     /* on the uplink, which belongs to the host */
};

static struct outcome
play(void)
{
	const uint64_t before = octo_port_strays(host.port);
	struct octo_port_tally tally = {0}, left = {0};

	for (uint16_t f = 0; f < FLOWS; f++)
		octo_port_send(octo_port_pf(UPLINK), 0, FIRST_FLOW + f, EACH);
	for (int i = 0; i < ROUNDS && tally.packets + left.packets < ALL; i++) {
		octo_port_poll(octo_port_pf(UPLINK), 0, 32, &left);
		poll_once(&tally);
	}
	assert_int_equal(tally.wrong_flow + tally.wrong_port + left.wrong_flow, 0);
	return (struct outcome){
		.received = tally.packets,
		.strays = octo_port_strays(host.port) - before,
		.left = left.packets,
	};
}

static void
assert_plays(uint64_t received, uint64_t strays)
{
	const struct outcome outcome = play();

	assert_int_equal(outcome.received, received);
	assert_int_equal(outcome.strays, strays);
	assert_int_equal(outcome.left, ALL - received);
}

static bool
needs_two_nodes(void)
{
	if (!octo_port_has_two_nodes())
		skip();
	return true;
}

/* The way in leads to the first VF, and that is the wrong one for half of the flows. */
static void
test_flows_come_home_when_the_agent_serves(void **state)
{
	struct agent_server *server;

	(void)state;
	needs_two_nodes();
	begin();
	start_agent();
	server = host.server;
	host.server = NULL; /* it does not answer yet */
	steer_all();
	assert_plays(ALL, ALL / 2);
	host.server = server;
	octo_port_await(is_exact() && is_led_home());
	assert_plays(ALL, 0);
	assert_int_equal(agent_rules_count(host.rules), FLOWS);
	end();
}

static void
test_flows_follow_their_queue_to_the_other_vf(void **state)
{
	(void)state;
	needs_two_nodes();
	begin();
	start_agent();
	steer_all();
	octo_port_await(is_exact() && is_led_home());
	assert_plays(ALL, 0);
	host.node_of_poller[1] = 0;
	octo_port_await(is_led_home());
	assert_plays(ALL, 0);
	host.node_of_poller[0] = 1;
	host.node_of_poller[1] = 1;
	octo_port_await(is_led_home());
	assert_plays(ALL, 0);
	end();
}

/* Its rules end with it, as those of mlx5 do; another one is told all of them. */
static void
test_an_agent_is_lost_and_comes_back(void **state)
{
	(void)state;
	needs_two_nodes();
	begin();
	start_agent();
	steer_all();
	octo_port_await(is_exact() && is_led_home());
	end_agent();
	assert_plays(0, 0);
	start_agent();
	octo_port_await(is_exact() && agent_rules_count(host.rules) == FLOWS);
	assert_plays(ALL, 0);
	end();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_flows_come_home_when_the_agent_serves),
		octo_port_test(test_flows_follow_their_queue_to_the_other_vf),
		octo_port_test(test_an_agent_is_lost_and_comes_back),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
