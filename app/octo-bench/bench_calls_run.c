/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * One lcore asks the octo port and its PFs by turns, while another thread makes rules. What keeps
 * the control mutex busy is set up around both.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_launch.h>

#include "bench_calls.h"
#include "bench_flow.h"
#include "bench_rule.h"
#include "mpsim_control.h"

#define ROUNDS 1000
#define QUICK_ROUNDS 60
#define NB_QUEUES 2

/* After each round; and the longest time of all: EAL waits for five seconds. */
#define PAUSE_US 2000
#define MAX_MS 4000

/* Calls that are not made while others take long; more of them make no difference. */
#define MAX_MISSING 10000

/* Rules that there are at a time, and the pause between making one and destroying another. */
#define MAX_RULES 64
#define RULE_PAUSE_US 500

#define MAX_XSTATS 1024
#define PATIENCE_MS 20000
#define LOOK_MS 5

struct calls {
	const struct bench *bench;
	enum calls_case which;
	struct bench_nic nic;
	struct calls_agent agent;
	struct calls_secondary secondary;
	struct calls_result *result;
	/* of the lcore that asks */
	unsigned int nb_asked; /**< PFs: one that EAL probes is not asked */
	double *us[CALLS_NB][2];
	uint64_t room; /**< of each */
	struct rte_eth_xstat xstats[MAX_XSTATS];
	/* of the thread that makes rules */
	pthread_t maker;
	bool makes;
	struct rte_flow *rule[MAX_RULES];
	RTE_ATOMIC(bool) stop;
};

static int
ask_stats(struct calls *c, uint16_t port)
{
	struct rte_eth_stats stats;

	RTE_SET_USED(c);
	return rte_eth_stats_get(port, &stats);
}

static int
ask_xstats(struct calls *c, uint16_t port)
{
	const int nb = rte_eth_xstats_get(port, c->xstats, MAX_XSTATS);

	return nb > MAX_XSTATS ? -ENOSPC : RTE_MIN(nb, 0);
}

static int
ask_link(struct calls *c, uint16_t port)
{
	struct rte_eth_link link;

	RTE_SET_USED(c);
	return rte_eth_link_get_nowait(port, &link);
}

static int
ask_info(struct calls *c, uint16_t port)
{
	struct rte_eth_dev_info info;

	RTE_SET_USED(c);
	return rte_eth_dev_info_get(port, &info);
}

static int (*const asks[CALLS_NB])(struct calls *c, uint16_t port) = {
	ask_stats,
	ask_xstats,
	ask_link,
	ask_info,
};

static double
us_since(uint64_t tsc)
{
	return (double)(rte_rdtsc_precise() - tsc) * 1e6 / (double)rte_get_tsc_hz();
}

static void
ask_octo(struct calls *c, unsigned int call, uint64_t round)
{
	const uint64_t begun = rte_rdtsc_precise();
	const int ret = asks[call](c, c->nic.octo);

	c->us[call][0][round] = us_since(begun);
	c->result->failed += ret != 0;
}

static int
ask_pfs(struct calls *c, unsigned int call, uint64_t round)
{
	const uint64_t begun = rte_rdtsc_precise();
	int ret = 0;

	for (unsigned int i = 0; i < c->nb_asked && ret == 0; i++)
		ret = asks[call](c, c->nic.pf[i]);
	c->us[call][1][round] = us_since(begun);
	return ret;
}

static int
ask_both(struct calls *c, unsigned int call, uint64_t round)
{
	int ret;

	if ((round & 1) == 0)
		ask_octo(c, call, round);
	ret = ask_pfs(c, call, round);
	if ((round & 1) != 0)
		ask_octo(c, call, round);
	return ret;
}

/*
 * Who waits does not ask: a call that takes a second would be one of a thousand. So it counts as
 * often as it would have been made meanwhile, each time with what was left of it.
 */
static uint64_t
add_missing(double us[], uint64_t nb, uint64_t room)
{
	uint64_t all = nb;

	for (uint64_t i = 0; i < nb; i++)
		for (double left = us[i] - PAUSE_US; left > 0 && all < room; left -= PAUSE_US)
			us[all++] = left;
	return all;
}

/* No more than there is time for. */
static uint64_t
rounds_of(const struct bench *bench)
{
	const uint64_t most = MAX_MS * 1000 / PAUSE_US + 1;

	return RTE_MIN(bench_changes_wanted(bench, ROUNDS, QUICK_ROUNDS), most);
}

static struct calls_times
times_of(double us[], uint64_t nb, uint64_t room)
{
	const uint64_t all = add_missing(us, nb, room);

	return (struct calls_times){
		.p50_us = bench_percentile(us, all, 50),
		.p99_us = bench_percentile(us, all, 99),
		.max_us = bench_percentile(us, all, 100),
	};
}

static int
ask_in_turn(void *arg)
{
	struct calls *c = arg;
	const uint64_t wanted = rounds_of(c->bench);
	const uint64_t begun = rte_rdtsc();
	uint64_t round = 0;
	int ret = 0;

	while (round < wanted && ret == 0 && !bench_is_stopped() &&
	       us_since(begun) < MAX_MS * 1e3) {
		for (unsigned int call = 0; call < CALLS_NB && ret == 0; call++)
			ret = ask_both(c, call, round);
		round++;
		bench_progress_part(round, wanted);
		rte_delay_us_sleep(PAUSE_US);
	}
	c->result->seconds = us_since(begun) / 1e6;
	c->result->rounds = round;
	for (unsigned int call = 0; call < CALLS_NB; call++) {
		c->result->of[call].octo = times_of(c->us[call][0], round, c->room);
		c->result->of[call].pfs = times_of(c->us[call][1], round, c->room);
	}
	return ret;
}

/* Make a rule, or destroy it if it is there. An agent that is away makes no difference. */
static void
toggle_rule(struct calls *c, uint32_t flow)
{
	struct rte_flow **handle = &c->rule[flow];
	struct rte_flow_error error;
	struct octo_flow_rule rule;
	struct octo_tuple tuple;

	if (*handle != NULL) {
		rte_flow_destroy(c->nic.octo, *handle, &error);
		*handle = NULL;
		return;
	}
	bench_flow_tuple(flow, &tuple);
	octo_flow_build_queue(&rule, &tuple, 0, (uint16_t)(flow % NB_QUEUES), false);
	*handle = rte_flow_create(c->nic.octo, &rule.attr, rule.pattern, rule.actions, &error);
	c->result->rules += *handle != NULL;
}

/* One at least. */
static void *
make_rules(void *arg)
{
	struct calls *c = arg;
	uint32_t i = 0;

	do {
		const uint64_t begun = rte_rdtsc_precise();

		toggle_rule(c, i++ % MAX_RULES);
		c->result->rule_max_ms = RTE_MAX(c->result->rule_max_ms, us_since(begun) / 1e3);
		rte_delay_us_sleep(RULE_PAUSE_US);
	} while (!rte_atomic_load_explicit(&c->stop, rte_memory_order_acquire));
	return NULL;
}

static int
make_slow(bool slow)
{
	int ret = 0;

	for (unsigned int i = 0; i < 2 && ret == 0; i++) {
		char text[64];

		snprintf(text, sizeof(text), "%s,rule_slow,%u", bench_nic_name(i),
			 slow ? 100000 : 0);
		ret = rte_pmd_mpsim_fault(text);
	}
	return ret;
}

/* A PF that was lost is probed again, and the secondary process is asked for it, too. */
static int
make_eal_wait(struct calls *c)
{
	char text[64];
	int ret = bench_nic_remove(&c->nic, 1, false);

	if (ret == 0)
		ret = calls_secondary_start(&c->secondary);
	snprintf(text, sizeof(text), "%s,plug,wait", bench_nic_name(1));
	if (ret == 0)
		ret = rte_pmd_mpsim_fault(text);
	if (ret == 0)
		ret = calls_secondary_await(&c->secondary);
	c->nb_asked = 1;
	return ret;
}

/* Once the secondary process has answered, the PF must be one again: EAL gives it up else. */
static int
end_eal_wait(struct calls *c)
{
	unsigned int ms = 0;

	calls_secondary_answer(&c->secondary);
	while (bench_nic_xstat(&c->nic, "usable_pfs") < 2 && ms < PATIENCE_MS) {
		rte_delay_us_sleep(LOOK_MS * 1000);
		ms += LOOK_MS;
	}
	calls_secondary_stop(&c->secondary);
	if (ms < PATIENCE_MS)
		return 0;
	fprintf(stderr, "%s: %s does not come back\n", app_name, bench_nic_name(1));
	return -ETIMEDOUT;
}

static int
begin(struct calls *c)
{
	int ret = c->which == CALLS_SLOW_RULES ? make_slow(true) :
		  c->which == CALLS_SECONDARY  ? make_eal_wait(c) :
						 0;

	if (ret != 0 || c->which == CALLS_IDLE)
		return ret;
	ret = -pthread_create(&c->maker, NULL, make_rules, c);
	c->makes = ret == 0;
	return ret;
}

static int
end(struct calls *c)
{
	rte_atomic_store_explicit(&c->stop, true, rte_memory_order_release);
	if (c->makes)
		pthread_join(c->maker, NULL);
	c->makes = false;
	return c->which == CALLS_SLOW_RULES ? make_slow(false) :
	       c->which == CALLS_SECONDARY  ? end_eal_wait(c) :
					      0;
}

static bool
has_agent(const struct calls *c)
{
	return c->which == CALLS_FLOOD || c->which == CALLS_HANG || c->which == CALLS_AWAY;
}

static int
open_nic(struct calls *c)
{
	struct bench_nic_conf conf = {
		.nb_pfs = 2,
		.nb_queues = NB_QUEUES,
		.mpfs_entries = 1024,
		.arfs_entries = 1024,
		.octo_args = c->agent.arg,
	};
	int ret = has_agent(c) ? calls_agent_start(&c->agent, c->which) : 0;

	return ret == 0 ? bench_nic_open(&c->nic, c->bench, &conf) : ret;
}

static void
close_nic(struct calls *c)
{
	bench_nic_close(&c->nic);
	if (!has_agent(c))
		return;
	calls_agent_stop(&c->agent);
	c->result->said = rte_atomic_load_explicit(&c->agent.said, rte_memory_order_relaxed);
}

static int
measure(struct calls *c)
{
	int ret = open_nic(c);
	int ended;

	if (ret == 0) {
		ret = begin(c);
		if (ret == 0)
			ret = rte_eal_remote_launch(ask_in_turn, c, app_lcore(1));
		if (ret == 0)
			ret = rte_eal_wait_lcore(app_lcore(1));
		bench_progress_end();
		ended = end(c);
		ret = ret == 0 ? ended : ret;
	}
	close_nic(c);
	return ret;
}

int
calls_run(const struct bench *bench, enum calls_case which, struct calls_result *result)
{
	const uint64_t room = rounds_of(bench) + MAX_MISSING;
	double *us = malloc(room * CALLS_NB * 2 * sizeof(*us));
	struct calls *c = calloc(1, sizeof(*c));
	int ret = -ENOMEM;

	*result = (struct calls_result){0};
	if (us != NULL && c != NULL) {
		*c = (struct calls){.bench = bench, .which = which, .result = result};
		c->nb_asked = 2;
		c->room = room;
		c->agent.ear = -1;
		c->secondary.fd = -1;
		for (unsigned int i = 0; i < CALLS_NB * 2; i++)
			c->us[i / 2][i % 2] = us + i * room;
		ret = measure(c);
	}
	free(c);
	free(us);
	return ret;
}
