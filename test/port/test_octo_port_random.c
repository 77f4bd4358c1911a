/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Random operations on a running port, each at a random time of the injected clock: rules, indirect
 * actions, queues, homes, RETA, stop and start, PFs that go and come in every way, PFs that refuse
 * rules or are slow. Counters never fall meanwhile. When the faults are over, all PFs are back,
 * every rule leads home and counts each packet, nothing waits any more, and in the end no rule is
 * left on the NIC.
 *
 * OCTO_PORT_SEED is the first seed, OCTO_PORT_RUNS how many are tried with each kind of port.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <ethdev_driver.h>

#include "mpsim_control.h"
#include "octo_port.h"
#include "octo_port_async.h"
#include "octo_private.h"

#define NB_QUEUES 4
#define NB_FLOWS 24
#define FIRST_PORT 100
#define NB_HANDLES 3
#define RETA_SIZE 128
#define OPS 300
/* After the last fault: a PF that could not join is tried again a minute later. */
#define ROUND_US 5000
#define MAX_ROUNDS 20000
#define PENDING_ROUNDS 100
#define REST_ROUNDS 1200

struct flow {
	struct rte_flow *rule;
	uint16_t queue;
	int handle; /* index, or -1: by an action of its own */
	bool counts;
	uint64_t hits;
};

struct handle {
	struct rte_flow_action_handle *action;
	uint16_t queue;
};

static struct {
	const struct octo_port_conf *conf;
	uint16_t port;
	unsigned int nb_ports; /* of PFs */
	uint64_t rng;
	bool stopped;
	bool may_forget; /* PFs may go in ways by which their last counts cannot be read */
	bool is_stopped[NB_QUEUES];
	uint64_t sent;
	uint64_t received;
	struct flow flow[NB_FLOWS];
	struct handle handle[NB_HANDLES];
	struct rte_eth_stats stats;
} r;

static const struct rte_flow_action count[] = {
	{.type = RTE_FLOW_ACTION_TYPE_COUNT},
	{.type = RTE_FLOW_ACTION_TYPE_END},
};

static uint32_t
below(uint32_t n)
{
	r.rng = r.rng * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(r.rng >> 33) % n;
}

static bool
one_in(uint32_t n)
{
	return below(n) == 0;
}

__rte_format_printf(1, 2) static void fault(const char *format, ...)
{
	char text[96];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* a PF that is not there has none */
	rte_pmd_mpsim_fault(text);
}

static void
poll_all(void)
{
	struct octo_port_tally tally = {0};

	for (uint16_t q = 0; q < NB_QUEUES; q++)
		if (!r.is_stopped[q])
			octo_port_poll(r.port, q, 32, &tally);
	assert_int_equal(tally.wrong_port, 0);
	r.received += tally.packets;
}

static void
send_some(void)
{
	for (unsigned int i = 0; i < 3 && !r.stopped; i++) {
		r.sent += octo_port_send_numbered(r.port, 0, FIRST_PORT + below(NB_FLOWS + 8), 1,
						  1 + below(8));
		poll_all();
		octo_port_pass_us(20 + below(100));
	}
	if (!r.stopped)
		poll_all();
}

static void
check_counters(void)
{
	struct rte_eth_stats now;

	if (rte_eth_stats_get(r.port, &now) != 0)
		return;
	/* rte_eth_stats begins with eight totals: ipackets, ..., rx_nombuf */
	for (unsigned int i = 0; i < 8; i++)
		assert_true(((uint64_t *)&now)[i] >= ((uint64_t *)&r.stats)[i]);
	r.stats = now;
}

static void
query(struct flow *f)
{
	struct rte_flow_query_count counted = {0};

	if (f->rule == NULL || !f->counts ||
	    rte_flow_query(r.port, f->rule, count, &counted, NULL) != 0)
		return;
	assert_true(counted.hits >= f->hits);
	f->hits = counted.hits;
}

static void
query_all(void)
{
	for (unsigned int i = 0; i < NB_FLOWS; i++)
		query(&r.flow[i]);
}

static void
create(struct flow *f)
{
	const uint16_t src_port = FIRST_PORT + (f - r.flow);
	const struct handle *h = &r.handle[below(NB_HANDLES)];
	const bool by_handle = one_in(4) && h->action != NULL;
	struct rte_flow_error error;
	struct octo_flow_rule rule;

	*f = (struct flow){.queue = below(NB_QUEUES), .handle = -1, .counts = one_in(2)};
	octo_port_build(&rule, src_port, f->queue);
	if (f->counts) {
		rule.actions[1] = count[0];
		rule.actions[2] = count[1];
	}
	if (by_handle) {
		f->counts = false;
		f->handle = h - r.handle;
		f->rule = octo_port_steer_by(r.port, src_port, h->action, &error);
	} else {
		f->rule = rte_flow_create(r.port, &rule.attr, rule.pattern, rule.actions, &error);
	}
}

static void
move(struct flow *f)
{
	struct octo_dev *octo = octo_of(&rte_eth_devices[r.port]);
	const uint16_t queue = below(NB_QUEUES);
	struct rte_flow_error error;

	if (r.stopped || f->handle >= 0)
		return;
	if (OCTO_LOCKED(octo, octo_move_exact_locked(octo, f->rule, queue, &error)) == 0)
		f->queue = queue;
}

static void
create_or_move(void)
{
	struct flow *f = &r.flow[below(NB_FLOWS)];

	if (f->rule == NULL)
		create(f);
	else
		move(f);
}

static void
destroy(void)
{
	struct flow *f = &r.flow[below(NB_FLOWS)];

	if (f->rule == NULL || rte_flow_destroy(r.port, f->rule, NULL) != 0)
		return;
	f->rule = NULL;
	if (one_in(2))
		create(f);
}

static void
flush(void)
{
	if (r.stopped || !one_in(10))
		return;
	/* the handles are void even if a rule is left */
	rte_flow_flush(r.port, NULL);
	memset(r.flow, 0, sizeof(r.flow));
}

static void
change_handle(void)
{
	struct handle *h = &r.handle[below(NB_HANDLES)];
	const struct rte_flow_indir_action_conf conf = {.ingress = 1};
	const struct rte_flow_action_queue index = {.index = below(NB_QUEUES)};
	const struct rte_flow_action action = {.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &index};

	if (h->action == NULL) {
		h->action = rte_flow_action_handle_create(r.port, &conf, &action, NULL);
		h->queue = index.index;
	} else if (one_in(4)) {
		if (rte_flow_action_handle_destroy(r.port, h->action, NULL) == 0)
			h->action = NULL;
	} else if (rte_flow_action_handle_update(r.port, h->action, &action, NULL) == 0) {
		h->queue = index.index;
	}
}

static void
start(void)
{
	if (rte_eth_dev_start(r.port) != 0)
		return;
	r.stopped = false;
	memset(r.is_stopped, 0, sizeof(r.is_stopped));
}

static void
stop(void)
{
	rte_eth_dev_stop(r.port);
	r.stopped = rte_eth_devices[r.port].data->dev_started == 0;
}

static void
stop_or_start(void)
{
	if (!r.stopped && one_in(12))
		stop();
	if (!r.stopped)
		return;
	octo_port_pass_us(below(20000));
	if (one_in(2))
		start();
}

static int
set_up_queue(uint16_t queue)
{
	return rte_eth_rx_queue_setup(r.port, queue, OCTO_PORT_NB_DESC, SOCKET_ID_ANY, NULL,
				      octo_port_pool);
}

static void
stop_or_start_queue(void)
{
	const uint16_t queue = 1 + below(NB_QUEUES - 1);

	if (r.stopped || !one_in(3))
		return;
	if (r.is_stopped[queue]) {
		r.is_stopped[queue] = rte_eth_dev_rx_queue_start(r.port, queue) != 0;
		/* a set-up that a PF refused has released the queue */
		if (r.is_stopped[queue])
			set_up_queue(queue);
		return;
	}
	r.is_stopped[queue] = rte_eth_dev_rx_queue_stop(r.port, queue) == 0;
	if (r.is_stopped[queue] && one_in(2))
		set_up_queue(queue);
}

static void
set_reta(void)
{
	struct rte_eth_rss_reta_entry64 reta[RETA_SIZE / RTE_ETH_RETA_GROUP_SIZE];

	if (r.stopped || !one_in(6))
		return;
	for (unsigned int i = 0; i < RETA_SIZE; i++) {
		reta[i / RTE_ETH_RETA_GROUP_SIZE].mask = UINT64_MAX;
		reta[i / RTE_ETH_RETA_GROUP_SIZE].reta[i % RTE_ETH_RETA_GROUP_SIZE] = below(
			NB_QUEUES);
	}
	/* refused in tier partition, which has one of its own */
	rte_eth_dev_rss_reta_update(r.port, reta, RETA_SIZE);
}

static void
change_pf(void)
{
	static const char *const recovery[] = {"start", "success", "failed"};
	const unsigned int pf = below(r.nb_ports);
	const char *name = octo_port_pf_name(pf);
	const uint32_t soon_us = one_in(3) ? 0 : below(20000);

	switch (below(10)) {
	case 0:
	case 1:
		fault("%s,link,%s", name, one_in(2) ? "down" : "up");
		break;
	case 2:
		fault("%s,remove,%u", name, soon_us);
		break;
	case 3:
		if (r.may_forget)
			fault("%s,surprise,%u", name, soon_us);
		break;
	case 4:
		fault("%s,eject,%u", name, 100000 + below(200000));
		break;
	case 5:
	case 6:
		if (r.may_forget)
			fault("%s,recovery,%s", name, recovery[below(RTE_DIM(recovery))]);
		break;
	case 7:
		if (r.may_forget)
			fault("%s,reset", name);
		break;
	default:
		if (!octo_port_pf_is_there(pf))
			fault("%s,plug", name);
	}
}

static void
refuse_rules(void)
{
	const char *name = octo_port_pf_name(below(r.nb_ports));

	switch (below(8)) {
	case 0:
		fault("T,room,mpfs,%u", below(30));
		break;
	case 1:
		fault("%s,room,arfs,%u", name, below(30));
		break;
	case 2:
		fault("%s,rule_fail,%u,%d,%u", name, 1 + below(10), one_in(2) ? EIO : ENOSPC,
		      1 + below(4));
		break;
	case 3:
		fault("%s,rule_slow,%u", name, below(500));
		break;
	default:
		fault("%s,clear", name);
	}
}

static void
pass_time(void)
{
	octo_port_run_on(below(2));
	octo_port_pass_us(below(one_in(2) ? 300 : 30000));
}

/* How often, relative to the others. */
static const struct {
	unsigned int weight;
	void (*fn)(void);
} ops[] = {
	{4, create_or_move}, {1, destroy},   {1, flush},        {1, change_handle},
	{2, query_all},      {4, change_pf}, {1, refuse_rules}, {1, set_reta},
	{1, stop_or_start},  {3, pass_time}, {6, send_some},    {1, stop_or_start_queue},
};

static void
do_one(void)
{
	unsigned int all = 0, at, i;

	for (i = 0; i < RTE_DIM(ops); i++)
		all += ops[i].weight;
	at = below(all);
	for (i = 0; at >= ops[i].weight; i++)
		at -= ops[i].weight;
	ops[i].fn();
	check_counters();
}

static void
heal(unsigned int pf)
{
	const char *name = octo_port_pf_name(pf);

	if (!octo_port_pf_is_there(pf)) {
		fault("%s,plug", name);
		return;
	}
	fault("%s,clear", name);
	fault("%s,link,up", name);
	fault("%s,recovery,success", name);
}

static bool
is_whole(void)
{
	for (unsigned int pf = 0; pf < r.nb_ports; pf++)
		if (!octo_port_pf_is_there(pf) || !octo_port_pf_is_started(r.port, pf))
			return false;
	return !r.stopped && octo_port_xstat(r.port, "usable_pfs") == r.conf->nb_pfs;
}

static void
rest(unsigned int rounds)
{
	for (unsigned int i = 0; i < rounds; i++) {
		if (!r.stopped)
			poll_all();
		octo_port_pass_us(ROUND_US);
	}
	check_counters();
}

/* No more faults: wait until all PFs are back. */
static void
settle(void)
{
	octo_port_run_on(0);
	fault("T,clear");
	/* a PF may be about to go */
	rest(PENDING_ROUNDS);
	for (unsigned int round = 0; round < MAX_ROUNDS && !is_whole(); round++) {
		if (r.stopped)
			start();
		for (unsigned int pf = 0; pf < r.nb_ports && round % 100 == 0; pf++)
			heal(pf);
		rest(1);
	}
	assert_true(is_whole());
	for (uint16_t q = 0; q < NB_QUEUES; q++) {
		if (r.is_stopped[q] && rte_eth_dev_rx_queue_start(r.port, q) != 0) {
			assert_int_equal(set_up_queue(q), 0);
			assert_int_equal(rte_eth_dev_rx_queue_start(r.port, q), 0);
		}
		r.is_stopped[q] = false;
	}
	rest(REST_ROUNDS);
}

static void
check_flow(struct flow *f)
{
	const struct octo_dev *octo = octo_of(&rte_eth_devices[r.port]);
	const uint16_t src_port = FIRST_PORT + (f - r.flow);
	uint64_t before;

	if (f->rule == NULL)
		return;
	if (f->handle >= 0)
		f->queue = r.handle[f->handle].queue;
	/* of slices, the action that rules share names the leg */
	if (f->handle < 0 || !r.conf->sliced)
		assert_int_equal(octo_port_rule_pf(r.port, src_port),
				 octo_topo_home_of(octo, f->queue));
	query(f);
	before = f->hits;
	octo_port_assert_arrives(r.port, src_port, f->queue, 10);
	r.sent += 10;
	r.received += 10;
	query(f);
	if (f->counts)
		assert_int_equal(f->hits, before + 10);
}

static void
check_rest(void)
{
	const struct octo_dev *octo = octo_of(&rte_eth_devices[r.port]);

	assert_int_equal(octo->fences.nb_open, 0);
	assert_int_equal(octo->lingering.nb, 0);
	assert_false(octo->failover.pending);
	assert_false(octo->failover.seeking);
	assert_false(octo->sync.transfer);
	for (unsigned int i = 0; i < NB_FLOWS; i++)
		check_flow(&r.flow[i]);
	check_counters();
	/* until now the handler of a removal may not have read the PF's last counters */
	assert_true(r.stats.ipackets >= r.received || r.may_forget);
	assert_true(r.stats.ipackets <= r.sent);
}

static void
check_end(void)
{
	struct mpsim_account account;

	for (unsigned int i = 0; i < NB_FLOWS; i++)
		if (r.flow[i].rule != NULL)
			assert_int_equal(rte_flow_destroy(r.port, r.flow[i].rule, NULL), 0);
	for (unsigned int i = 0; i < NB_HANDLES; i++)
		if (r.handle[i].action != NULL)
			assert_int_equal(
				rte_flow_action_handle_destroy(r.port, r.handle[i].action, NULL),
				0);
	rest(200);
	assert_int_equal(rte_eth_dev_stop(r.port), 0);
	assert_int_equal(rte_pmd_mpsim_account_get("T", &account), 0);
	assert_int_equal(account.rules, 0);
	assert_int_equal(account.unaccounted, 0);
}

static void
run(const struct octo_port_conf *conf, unsigned long seed)
{
	const struct rte_eth_conf hashed = {
		.intr_conf = {.lsc = 1},
		.rxmode = {.mq_mode = RTE_ETH_MQ_RX_RSS},
		.rx_adv_conf.rss_conf = {.rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP},
	};

	memset(&r, 0, sizeof(r));
	r.conf = conf;
	r.nb_ports = conf->sliced ? 1 : conf->nb_pfs;
	r.rng = seed;
	r.may_forget = seed % 2 == 0;
	r.port = octo_port_create(conf);
	octo_port_run_on(0);
	octo_port_up_as(r.port, NB_QUEUES, &hashed);
	for (unsigned int i = 0; i < OPS; i++)
		do_one();
	settle();
	check_rest();
	check_end();
	octo_port_destroy();
}

static void
run_all(const struct octo_port_conf *conf)
{
	const char *seed_env = getenv("OCTO_PORT_SEED"), *runs_env = getenv("OCTO_PORT_RUNS");
	const unsigned long first = seed_env == NULL ? 1 : strtoul(seed_env, NULL, 10);
	const unsigned long nb = runs_env == NULL ? 3 : strtoul(runs_env, NULL, 10);

	octo_port_need_ports();
	for (unsigned long seed = first; seed < first + nb; seed++) {
		print_message("OCTO_PORT_SEED=%lu OCTO_PORT_RUNS=1\n", seed);
		run(conf, seed);
	}
}

#define TEST(name, ...)                                                                            \
	static void test_##name(void **state)                                                      \
	{                                                                                          \
		const struct octo_port_conf conf = {                                               \
			.two_nodes = true, .replug = true, __VA_ARGS__};                           \
                                                                                                   \
		(void)state;                                                                       \
		run_all(&conf);                                                                    \
	}

TEST(rules_that_are_replaced, .nb_pfs = 2, .all = "caps=-update")
TEST(three_pfs, .nb_pfs = 3)
TEST(learning, .nb_pfs = 3, .learn = true)
TEST(partition, .nb_pfs = 3, .octo = "tier=partition")
TEST(tx_by_hint, .nb_pfs = 4, .nic = "lost_pf=default", .octo = "tx_pf=mbuf")
TEST(slices, .nb_pfs = 2, .sliced = true, .learn = true)

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
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
