/* SPDX-License-Identifier: BSD-3-Clause */

/* No counter of the port goes backwards, whatever becomes of its PFs, queues and rules. */

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <rte_flow.h>

#include "octo_port_async.h"
#include "rte_pmd_octo.h"
#include "mpsim_control.h"

#define NB_QUEUES 2
#define NB_FLOWS 6
#define FIRST_PORT 100
#define PACKETS 10
#define MAX_COUNTERS 512

/* How the flow is counted. */
enum kind {
	BY_RULE,     /* COUNT of its own */
	BY_PFS,      /* the same, of a rule with other actions, too */
	BY_ID,       /* COUNT with an id that two rules share */
	BY_INDIRECT, /* an indirect COUNT of two rules */
};

static const enum kind kinds[NB_FLOWS] = {BY_RULE, BY_PFS, BY_ID, BY_ID, BY_INDIRECT, BY_INDIRECT};

struct counter {
	char name[RTE_ETH_XSTATS_NAME_SIZE + 8];
	uint64_t value;
};

struct counters {
	unsigned int nb;
	struct counter list[MAX_COUNTERS];
};

static struct {
	struct octo_port_conf conf;
	uint16_t port;
	struct rte_flow *rule[NB_FLOWS];
	struct rte_flow_action_handle *handle;
	uint16_t queue[NB_FLOWS];
	uint64_t sent[NB_FLOWS]; /* all came in */
	uint64_t received[NB_QUEUES];
	struct counters last;
	const char *event;
} t;

static struct rte_flow *
create_rule(uint16_t flow)
{
	const struct rte_flow_action_count count = {.id = kinds[flow] == BY_ID ? 5 : 0};
	const struct rte_flow_action_queue index = {.index = t.queue[flow]};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &index},
		{.type = RTE_FLOW_ACTION_TYPE_COUNT, .conf = &count},
		{.type = kinds[flow] == BY_PFS ? RTE_FLOW_ACTION_TYPE_FLAG :
						 RTE_FLOW_ACTION_TYPE_END},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	struct octo_flow_rule r;

	if (kinds[flow] == BY_INDIRECT)
		return octo_port_steer_and_count_by(t.port, FIRST_PORT + flow, t.queue[flow],
						    t.handle, NULL);
	octo_port_build(&r, FIRST_PORT + flow, t.queue[flow]);
	return rte_flow_create(t.port, &r.attr, r.pattern, actions, NULL);
}

static void
begin(const struct octo_port_conf *conf)
{
	const struct rte_flow_indir_action_conf ingress = {.ingress = 1};
	const struct rte_flow_action count = {.type = RTE_FLOW_ACTION_TYPE_COUNT};

	memset(&t, 0, sizeof(t));
	t.conf = *conf;
	t.port = octo_port_create(conf);
	octo_port_up(t.port, NB_QUEUES);
	t.handle = rte_flow_action_handle_create(t.port, &ingress, &count, NULL);
	assert_non_null(t.handle);
	for (uint16_t i = 0; i < NB_FLOWS; i++) {
		t.queue[i] = i % NB_QUEUES;
		t.rule[i] = create_rule(i);
		assert_non_null(t.rule[i]);
	}
}

static void
traffic(void)
{
	for (uint16_t i = 0; i < NB_FLOWS; i++) {
		octo_port_assert_arrives(t.port, FIRST_PORT + i, t.queue[i], PACKETS);
		t.sent[i] += PACKETS;
		t.received[t.queue[i]] += PACKETS;
	}
}

static uint64_t
sent_in_all(void)
{
	uint64_t sum = 0;

	for (uint16_t i = 0; i < NB_FLOWS; i++)
		sum += t.sent[i];
	return sum;
}

__rte_format_printf(3, 4) static void add(struct counters *c, uint64_t value, const char *name, ...)
{
	struct counter *one = &c->list[c->nb++];
	va_list ap;

	assert_true(c->nb <= MAX_COUNTERS);
	va_start(ap, name);
	vsnprintf(one->name, sizeof(one->name), name, ap);
	va_end(ap);
	one->value = value;
}

static void
read_stats(struct counters *c)
{
	struct rte_eth_stats s;

	assert_int_equal(rte_eth_stats_get(t.port, &s), 0);
	add(c, s.ipackets, "ipackets");
	add(c, s.opackets, "opackets");
	add(c, s.ibytes, "ibytes");
	add(c, s.obytes, "obytes");
	add(c, s.imissed, "imissed");
	add(c, s.ierrors, "ierrors");
	add(c, s.oerrors, "oerrors");
	add(c, s.rx_nombuf, "rx_nombuf");
}

/* Values that are no counters, and those of single PFs, which begin again with a PF. */
static bool
is_counter(const char *name)
{
	static const char *const others[] = {
		"tx_switch_waiting", "steered_flows",   "steered_flows_ineffective",
		"learned_flows",     "usable_pfs",      "steered_flows_bytes",
		"fences_open",       "failover_cpu_ns", "failover_ns",
	};

	for (unsigned int i = 0; i < RTE_DIM(others); i++)
		if (strcmp(name, others[i]) == 0)
			return false;
	return strncmp(name, "pf", 2) != 0;
}

static void
read_xstats(struct counters *c)
{
	static struct rte_eth_xstat_name names[MAX_COUNTERS];
	static struct rte_eth_xstat values[MAX_COUNTERS];
	int nb = rte_eth_xstats_get_names(t.port, names, MAX_COUNTERS);

	assert_in_range(nb, 1, MAX_COUNTERS);
	assert_int_equal(rte_eth_xstats_get(t.port, values, MAX_COUNTERS), nb);
	for (int i = 0; i < nb; i++)
		if (is_counter(names[i].name))
			add(c, values[i].value, "%s", names[i].name);
}

static uint64_t
hits_of(uint16_t flow)
{
	const struct rte_flow_action count[] = {{.type = RTE_FLOW_ACTION_TYPE_COUNT},
						{.type = RTE_FLOW_ACTION_TYPE_END}};
	struct rte_flow_query_count got = {0};

	if (kinds[flow] == BY_INDIRECT)
		assert_int_equal(rte_flow_action_handle_query(t.port, t.handle, &got, NULL), 0);
	else
		assert_int_equal(rte_flow_query(t.port, t.rule[flow], count, &got, NULL), 0);
	assert_int_equal(got.bytes, got.hits * OCTO_PORT_FRAME_LEN);
	return got.hits;
}

/* As telemetry shows them. */
static void
read_views(struct counters *c)
{
	struct octo_view_rule rules[NB_FLOWS];
	struct octo_view_queue queue;
	uint32_t total;
	int nb = rte_pmd_octo_view_rules(t.port, 0, rules, NB_FLOWS, &total);

	for (int i = 0; i < nb; i++)
		if (rules[i].hits >= 0)
			add(c, (uint64_t)rules[i].hits, "shown rule %u hits",
			    rte_be_to_cpu_16(rules[i].tuple.src_port) - FIRST_PORT);
	for (uint16_t q = 0; q < NB_QUEUES; q++) {
		assert_int_equal(octo_view_queue(t.port, q, &queue), 0);
		add(c, queue.home_packets, "shown queue %u home", q);
		add(c, queue.stray_packets, "shown queue %u stray", q);
	}
}

static void
read_all(struct counters *c)
{
	c->nb = 0;
	read_stats(c);
	read_xstats(c);
	read_views(c);
	for (uint16_t i = 0; i < NB_FLOWS; i++)
		add(c, hits_of(i), "rule %u hits", i);
}

static const struct counter *
find(const struct counters *c, const char *name)
{
	for (unsigned int i = 0; i < c->nb; i++)
		if (strcmp(c->list[i].name, name) == 0)
			return &c->list[i];
	return NULL;
}

__rte_format_printf(2, 3) static void assert_value(uint64_t value, const char *name, ...)
{
	const struct counter *one;
	char full[64];
	va_list ap;

	va_start(ap, name);
	vsnprintf(full, sizeof(full), name, ap);
	va_end(ap);
	one = find(&t.last, full);
	if (one == NULL)
		fail_msg("after %s there is no counter %s", t.event, full);
	if (one->value != value)
		fail_msg("after %s %s is %" PRIu64 " and not %" PRIu64, t.event, full, one->value,
			 value);
}

static void
assert_exact(void)
{
	const uint64_t sum = sent_in_all();

	assert_value(sum, "ipackets");
	assert_value(sum, "opackets");
	assert_value(sum * OCTO_PORT_FRAME_LEN, "ibytes");
	assert_value(sum * OCTO_PORT_FRAME_LEN, "obytes");
	assert_value(sum * OCTO_PORT_FRAME_LEN, "tx_q0_bytes");
	assert_value(sum, "rx_good_packets");
	for (unsigned int q = 0; q < NB_QUEUES; q++) {
		assert_value(t.received[q], "rx_q%u_packets", q);
		assert_value(t.received[q] * OCTO_PORT_FRAME_LEN, "rx_q%u_bytes", q);
	}
	assert_value(sum, "tx_q0_packets");
	for (unsigned int i = 0; i < NB_FLOWS; i++) {
		const bool alone = kinds[i] == BY_RULE || kinds[i] == BY_PFS;

		assert_value(alone ? t.sent[i] : t.sent[i & ~1u] + t.sent[i | 1], "rule %u hits",
			     i);
	}
}

/* Compare with the last time. */
static void
check(const char *event)
{
	static struct counters now;

	t.event = event;
	read_all(&now);
	for (unsigned int i = 0; i < t.last.nb; i++) {
		const struct counter *before = &t.last.list[i];
		const struct counter *after = find(&now, before->name);

		if (after == NULL)
			fail_msg("after %s there is no counter %s", event, before->name);
		if (after->value < before->value)
			fail_msg("after %s %s is %" PRIu64 ", it was %" PRIu64, event, after->name,
				 after->value, before->value);
	}
	t.last = now;
	assert_exact();
}

static void
poll_all(void)
{
	for (uint16_t q = 0; q < NB_QUEUES; q++)
		octo_port_poll(t.port, q, 1, &(struct octo_port_tally){0});
}

static bool
are_usable(unsigned int nb)
{
	poll_all();
	return octo_port_xstat(t.port, "usable_pfs") == nb;
}

static void
let_settle(void)
{
	for (int i = 0; i < 20; i++) {
		octo_port_pass_us(2000);
		poll_all();
	}
}

static void
lose(unsigned int pf)
{
	octo_port_remove_pf(pf);
	check("a PF is lost");
	octo_port_await(are_usable(1));
	let_settle();
	traffic();
	check("traffic without the PF");
	octo_port_add_pf(&t.conf, pf);
	octo_port_await(octo_port_pf_is_started(t.port, pf) && are_usable(2));
}

static void
lose_each(void)
{
	lose(0);
	check("a PF is back");
	lose(1);
}

static void
eject(void)
{
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,eject,60000000"), 0);
	octo_port_await((poll_all(), !octo_port_pf_is_there(1)));
	check("a PF was ejected");
	traffic();
	check("traffic without the ejected PF");
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,plug"), 0);
	octo_port_await(octo_port_pf_is_started(t.port, 1) && are_usable(2));
}

static void
cut_link(void)
{
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(1)), 0);
	octo_port_await(are_usable(1));
	let_settle();
	traffic();
	check("traffic without the PF's link");
	assert_int_equal(rte_eth_dev_set_link_up(octo_port_pf(1)), 0);
	octo_port_await(are_usable(2));
}

/* The port of all slices. */
static void
lose_all(void)
{
	octo_port_remove_pf(0);
	check("the PFs are lost");
	octo_port_add_pf(&t.conf, 0);
	octo_port_await(octo_port_pf_is_started(t.port, 0));
	octo_port_await(are_usable(2));
}

static void
rehome(void)
{
	if (!octo_port_has_two_nodes())
		return;
	for (int node = 1; node >= 0; node--) {
		const uint64_t before = octo_port_xstat(t.port, "rehomes");

		octo_port_run_on(node);
		for (int i = 0; i < 4; i++) {
			traffic();
			let_settle();
		}
		assert_true(octo_port_xstat(t.port, "rehomes") > before);
		check("a rehome");
	}
}

/* Without rte_flow_actions_update() only these move. */
static void
move_flows(void)
{
	const char *culprit;
	struct rte_pmd_octo_tuple tuple;
	struct rte_flow_error error;
	int ret;

	for (uint16_t i = 0; i < NB_FLOWS; i++) {
		if (kinds[i] != BY_RULE)
			continue;
		assert_int_equal(rte_pmd_octo_tuple_read(&tuple, "udp", "10.0.0.1", FIRST_PORT + i,
							 "10.0.0.2", 9, &culprit),
				 0);
		ret = rte_pmd_octo_steer_move(t.port, &tuple, t.queue[i] ^ 1, &error);
		t.queue[i] ^= ret == 0;
		/* a full table refuses */
		assert_true(ret == 0 || ret == -ENOSPC);
		check("a move");
	}
}

static void
set_up_again(void)
{
	assert_int_equal(rte_eth_dev_stop(t.port), 0);
	check("a stop");
	assert_int_equal(octo_port_setup_queues(t.port, NB_QUEUES), 0);
	check("queues are set up again");
	assert_int_equal(rte_eth_dev_start(t.port), 0);
}

static void
configure_again(void)
{
	assert_int_equal(rte_eth_dev_stop(t.port), 0);
	assert_int_equal(octo_port_configure(t.port, NB_QUEUES), 0);
	check("a configuration");
	assert_int_equal(rte_eth_dev_start(t.port), 0);
}

static void
restart(void)
{
	assert_int_equal(rte_eth_dev_stop(t.port), 0);
	check("a stop");
	assert_int_equal(rte_eth_dev_start(t.port), 0);
}

static void
stop_queues(void)
{
	for (uint16_t q = 0; q < NB_QUEUES; q++) {
		assert_int_equal(rte_eth_dev_rx_queue_stop(t.port, q), 0);
		assert_int_equal(rte_eth_dev_tx_queue_stop(t.port, q), 0);
		check("stopped queues");
		assert_int_equal(rte_eth_dev_rx_queue_start(t.port, q), 0);
		assert_int_equal(rte_eth_dev_tx_queue_start(t.port, q), 0);
	}
}

static void
switch_learning(void)
{
	struct rte_pmd_octo_learning learning;
	const char *why;

	assert_int_equal(rte_pmd_octo_learning_get(t.port, &learning), 0);
	for (int i = 0; i < 2; i++) {
		learning.settings.on = !learning.settings.on;
		assert_int_equal(rte_pmd_octo_learning_set(t.port, &learning.settings, &why), 0);
		octo_port_pass_us(10000);
		check("a change of learning");
	}
}

/* Somebody resets the counters of a PF, or its PMD does. */
static void
reset_pf(void)
{
	assert_int_equal(rte_eth_stats_reset(octo_port_pf(0)), 0);
}

enum {
	OF_PORTS = RTE_BIT32(0),  /* only where PFs have ports of their own */
	OF_SLICES = RTE_BIT32(1), /* only with slices */
};

static const struct event {
	const char *name;
	void (*fn)(void);
	uint32_t only;
} events[] = {
	{"a loss of each PF", lose_each, OF_PORTS},
	{"an ejection", eject, OF_PORTS},
	{"a loss of the link", cut_link, OF_PORTS},
	{"a loss of all PFs", lose_all, OF_SLICES},
	{"rehomes", rehome, 0},
	{"moves", move_flows, 0},
	{"a setup of queues", set_up_again, 0},
	{"a configuration", configure_again, 0},
	{"a restart", restart, 0},
	{"a stop of queues", stop_queues, 0},
	{"changes of learning", switch_learning, 0},
	{"a reset of a PF", reset_pf, 0},
};

/* Each event, twice, with traffic around it. */
static void
check_events(const struct octo_port_conf *conf)
{
	octo_port_run_on(0);
	begin(conf);
	for (unsigned int i = 0; i < 2 * RTE_DIM(events); i++) {
		const struct event *e = &events[i / 2];

		if ((e->only & (conf->sliced ? OF_PORTS : OF_SLICES)) != 0)
			continue;
		traffic();
		check("traffic");
		e->fn();
		check(e->name);
		let_settle();
		check(e->name);
	}
	traffic();
	check("traffic");
}

#define TWO_NODES .two_nodes = true, .replug = true

static void
test_pfs(void **state)
{
	(void)state;
	check_events(&(const struct octo_port_conf){TWO_NODES});
}

static void
test_pfs_without_updates(void **state)
{
	(void)state;
	check_events(&(const struct octo_port_conf){TWO_NODES, .all = "caps=-update"});
}

static void
test_slices(void **state)
{
	(void)state;
	check_events(&(const struct octo_port_conf){TWO_NODES, .sliced = true});
}

static void
test_slices_without_updates(void **state)
{
	(void)state;
	check_events(
		&(const struct octo_port_conf){TWO_NODES, .sliced = true, .all = "caps=-update"});
}

/* The table is full of these flows: their rules are destroyed before they are made again. */
static void
test_a_full_table_of_slices(void **state)
{
	(void)state;
	check_events(&(const struct octo_port_conf){TWO_NODES, .sliced = true,
						    .all = "caps=-update,arfs_entries=6"});
}

static void
test_a_switch_that_chooses_queues(void **state)
{
	(void)state;
	check_events(&(const struct octo_port_conf){TWO_NODES, .nic = "dialect=indirect",
						    .octo = "dialect=indirect"});
}

static void
test_a_reset(void **state)
{
	static const struct octo_port_conf conf = {.two_nodes = true};
	struct counters now;

	(void)state;
	begin(&conf);
	traffic();
	check("traffic");
	assert_int_equal(rte_eth_xstats_reset(t.port), 0);
	now.nb = 0;
	read_stats(&now);
	for (unsigned int i = 0; i < now.nb; i++)
		assert_int_equal(now.list[i].value, 0);
	assert_int_equal(octo_port_xstat(t.port, "rx_q0_packets"), 0);
	assert_int_equal(octo_port_xstat(t.port, "tx_q0_bytes"), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_pfs),
		octo_port_test(test_pfs_without_updates),
		octo_port_test(test_slices),
		octo_port_test(test_slices_without_updates),
		octo_port_test(test_a_full_table_of_slices),
		octo_port_test(test_a_switch_that_chooses_queues),
		octo_port_test(test_a_reset),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
