/* SPDX-License-Identifier: BSD-3-Clause */

/* Strays teach steering: against a NIC that is an array, by a clock that is a number. */

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "octo_test.h"

#include "octo_learn.h"
#include "octo_zipf.h"

/* A flow, and its rule if it has one. */
struct flow {
	struct octo_tuple tuple;
	bool has_rule;
	bool stays; /* comes by its home PF without a rule */
	uint64_t hits;
	uint16_t queue;
	struct octo_learned *learned;
};

static struct nic {
	struct octo_learn *learn;
	struct flow *flows;
	uint32_t nb_flows;
	uint32_t rules;
	uint32_t room;
	bool counts;
	int broken; /* what every insertion fails with */
	uint64_t tries;
	/* the trace */
	uint64_t now;
	uint64_t packets, strays;
} nic;

static int
install(void *ctx, const struct octo_tuple *tuple, uint16_t queue, struct octo_learned *learned,
	void **rule)
{
	struct flow *f;
	uint32_t i;

	assert_ptr_equal(ctx, &nic);
	nic.tries++;
	if (nic.broken != 0)
		return nic.broken;
	if (nic.rules >= nic.room)
		return -ENOSPC;
	memcpy(&i, tuple->src, sizeof(i));
	f = &nic.flows[i];
	assert_false(f->has_rule);
	f->has_rule = true;
	f->hits = 0;
	f->queue = queue;
	f->learned = learned;
	assert_non_null(f->learned);
	nic.rules++;
	*rule = f;
	return 0;
}

static void
take_out(void *ctx, void *rule, struct octo_tuple *tuple)
{
	struct flow *f = rule;

	assert_ptr_equal(ctx, &nic);
	assert_true(f->has_rule);
	f->has_rule = false;
	nic.rules--;
	*tuple = f->tuple;
}

static bool
read_hits(void *ctx, void *rule, uint64_t *hits)
{
	const struct flow *f = rule;

	assert_ptr_equal(ctx, &nic);
	assert_true(f->has_rule);
	*hits = f->hits;
	return nic.counts;
}

static const struct octo_learn_ops ops = {
	.install = install,
	.remove = take_out,
	.hits = read_hits,
};

static void
begin(uint32_t nb_flows, uint32_t room, const struct octo_learn_conf *conf)
{
	nic = (struct nic){.nb_flows = nb_flows, .room = room, .counts = true, .now = 1000000};
	nic.flows = calloc(nb_flows, sizeof(*nic.flows));
	assert_non_null(nic.flows);
	for (uint32_t i = 0; i < nb_flows; i++) {
		octo_tuple_clear(&nic.flows[i].tuple);
		nic.flows[i].tuple.family = OCTO_IPV4;
		nic.flows[i].tuple.proto = IPPROTO_UDP;
		memcpy(nic.flows[i].tuple.src, &i, sizeof(i));
	}
	nic.learn = octo_learn_create(conf, &ops, &nic);
	assert_non_null(nic.learn);
}

static int
end(void **state)
{
	RTE_SET_USED(state);
	octo_learn_free(nic.learn);
	free(nic.flows);
	nic = (struct nic){0};
	return 0;
}

static struct octo_learn_stats
stats(void)
{
	struct octo_learn_stats s;

	octo_learn_stats(nic.learn, &s);
	assert_int_equal(s.rules, nic.rules);
	return s;
}

static void
stray(uint32_t flow, uint32_t packets)
{
	if (nic.flows[flow].has_rule)
		nic.flows[flow].hits += packets;
	else
		octo_learn_stray(nic.learn, &nic.flows[flow].tuple, 3, packets, nic.now);
}

static void
work(void)
{
	while (octo_learn_work(nic.learn, nic.now))
		;
}

/* Every flow of this many goes on for a while. */
static void
go_on(uint32_t nb_flows, unsigned int ms, uint32_t packets)
{
	for (unsigned int t = 0; t < ms; t += 50) {
		for (uint32_t i = 0; i < nb_flows; i++)
			stray(i, packets);
		nic.now += 50;
		work();
	}
}

static const struct octo_learn_conf unlimited = {.max_rules = 1 << 20};

/* What it does with single flows */

static void
test_the_first_sample_is_enough(void **state)
{
	RTE_SET_USED(state);
	begin(4, 4, &unlimited);
	stray(2, 8);
	assert_true(nic.flows[2].has_rule);
	assert_int_equal(nic.flows[2].queue, 3);
	assert_int_equal(stats().installed, 1);
	assert_int_equal(stats().candidates, 0);
}

static void
test_never_more_than_max(void **state)
{
	RTE_SET_USED(state);
	begin(100, 1000, &(struct octo_learn_conf){.max_rules = 10});
	go_on(100, 5000, 8);
	assert_int_equal(stats().rules, 10);
	assert_int_equal(stats().refused, 0);
}

/* A full table is asked ever more rarely, and there is an end to that. */
static void
test_backs_off_when_there_is_no_room(void **state)
{
	uint64_t tries;

	RTE_SET_USED(state);
	begin(5000, 10, &unlimited);
	go_on(10, 1000, 100);
	for (uint32_t i = 10; i < 5000; i++)
		stray(i, 1);
	assert_int_equal(nic.tries, 11);
	assert_int_equal(stats().refused, 1);
	tries = nic.tries;
	for (int t = 0; t < 30000; t += 10) {
		stray(10 + t / 10, 1);
		go_on(10, 10, 100);
	}
	assert_in_range(nic.tries - tries, 5, 30);
}

static void
test_room_that_appears_is_used(void **state)
{
	RTE_SET_USED(state);
	begin(2000, 10, &unlimited);
	go_on(2000, 1000, 8);
	assert_int_equal(stats().rules, 10);
	nic.room = 2000;
	go_on(2000, 10000, 8);
	assert_int_equal(stats().rules, 2000);
}

static void
test_what_fails_otherwise_is_tried_rarely(void **state)
{
	RTE_SET_USED(state);
	begin(1000, 1000, &unlimited);
	nic.broken = -EIO;
	go_on(1000, 10000, 8);
	assert_in_range(nic.tries, 5, 20);
	assert_int_equal(stats().failed, nic.tries);
	assert_int_equal(stats().refused, 0);
	nic.broken = 0;
	go_on(1000, 10000, 8);
	assert_int_equal(stats().rules, 1000);
}

static void
test_the_heavy_flow_wins(void **state)
{
	RTE_SET_USED(state);
	begin(11, 10, &unlimited);
	go_on(10, 2000, 10);
	nic.flows[3].hits += 1000;
	for (int t = 0; t < 3000; t += 50) {
		stray(10, 100);
		go_on(10, 50, 10);
	}
	assert_true(nic.flows[10].has_rule);
	assert_true(nic.flows[3].has_rule);
	assert_int_equal(stats().evicted, 1);
	assert_int_equal(stats().candidates, 1);
}

/* A flow of about the same rate does not replace another. */
static void
test_equals_do_not_evict_each_other(void **state)
{
	RTE_SET_USED(state);
	begin(100, 50, &unlimited);
	go_on(100, 60000, 10);
	assert_int_equal(stats().rules, 50);
	assert_int_equal(stats().evicted, 0);
}

/* Even if all others seem to be heavier. */
static void
test_swaps_are_bounded(void **state)
{
	RTE_SET_USED(state);
	begin(2000, 1000, &unlimited);
	go_on(1000, 2000, 1);
	for (uint32_t i = 1000; i < 2000; i++)
		stray(i, 1000);
	nic.now += 1500;
	for (uint32_t i = 1000; i < 2000; i++)
		stray(i, 1000);
	assert_in_range(stats().evicted, 16, 125);
}

static void
test_idle_rules_go(void **state)
{
	RTE_SET_USED(state);
	begin(10, 10, &(struct octo_learn_conf){.max_rules = 10, .idle_ms = 5000});
	go_on(10, 1000, 1);
	assert_int_equal(stats().rules, 10);
	go_on(5, 4000, 1);
	assert_int_equal(stats().rules, 10);
	go_on(5, 4000, 1);
	assert_int_equal(stats().rules, 5);
	assert_int_equal(stats().aged, 5);
	assert_true(nic.flows[0].has_rule);
	assert_false(nic.flows[9].has_rule);
}

static void
test_idle_0_keeps_them(void **state)
{
	RTE_SET_USED(state);
	begin(10, 10, &unlimited);
	go_on(10, 1000, 1);
	nic.now += 86400000;
	work();
	assert_int_equal(stats().rules, 10);
}

/* Nobody counts: rules are taken out in turn, and who still lives comes back. */
static void
test_idle_rules_that_nobody_counts_go(void **state)
{
	RTE_SET_USED(state);
	begin(10, 10, &(struct octo_learn_conf){.max_rules = 100, .idle_ms = 5000});
	nic.counts = false;
	go_on(10, 1000, 1);
	go_on(5, 10000, 1);
	assert_int_equal(stats().rules, 5);
	assert_false(nic.flows[9].has_rule);
}

static void
test_room_is_made_by_the_least(void **state)
{
	RTE_SET_USED(state);
	begin(10, 10, &unlimited);
	for (int t = 0; t < 5000; t += 50)
		for (uint32_t i = 0; i < 10; i++) {
			stray(i, i == 6 ? 1 : 10);
			go_on(0, 5, 0);
		}
	assert_true(octo_learn_make_room(nic.learn, nic.now));
	assert_false(nic.flows[6].has_rule);
	assert_int_equal(stats().rules, 9);
	/* and is not taken back at once */
	stray(6, 10);
	assert_int_equal(stats().rules, 9);
	for (int i = 0; i < 9; i++)
		assert_true(octo_learn_make_room(nic.learn, nic.now));
	assert_false(octo_learn_make_room(nic.learn, nic.now));
}

static void
test_rules_that_others_took_out(void **state)
{
	RTE_SET_USED(state);
	begin(10, 10, &unlimited);
	go_on(10, 1000, 1);
	octo_learn_forget(nic.learn, nic.flows[4].learned);
	nic.flows[4].has_rule = false;
	nic.rules--;
	assert_int_equal(stats().rules, 9);
	go_on(10, 1000, 1);
	assert_int_equal(stats().rules, 10);
	octo_learn_forget_all(nic.learn);
	nic.rules = 0;
	for (int i = 0; i < 10; i++)
		nic.flows[i].has_rule = false;
	assert_int_equal(stats().rules, 0);
	go_on(10, 1000, 1);
	assert_int_equal(stats().rules, 10);
}

static void
test_a_smaller_maximum(void **state)
{
	RTE_SET_USED(state);
	begin(100, 100, &unlimited);
	go_on(100, 1000, 1);
	assert_int_equal(stats().rules, 100);
	octo_learn_configure(nic.learn, &(struct octo_learn_conf){.max_rules = 30});
	go_on(100, 1000, 1);
	assert_int_equal(stats().rules, 30);
	octo_learn_configure(nic.learn, &(struct octo_learn_conf){.max_rules = 0});
	go_on(100, 1000, 1);
	assert_int_equal(stats().rules, 0);
}

/* More flows than anybody can remember. */
static void
test_candidates_are_bounded(void **state)
{
	RTE_SET_USED(state);
	begin(200000, 10, &unlimited);
	go_on(200000, 100, 1);
	assert_in_range(stats().candidates, 10000, 16384);
}

/* Traces */

/* As the data path does it: a sample for about so many strays, handed over each millisecond. */
#define SAMPLE 2
#define RING 256
#define WORK_PER_MS 100

struct waiting {
	uint32_t flow;
	uint32_t packets;
};

static struct trace {
	struct waiting ring[RING];
	unsigned int waiting;
	uint32_t since; /* strays since the last sample */
	uint32_t wait;
	uint64_t random;
	uint32_t shift; /* of flows against ranks */
} trace;

static uint32_t
next_random(void)
{
	trace.random = trace.random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(trace.random >> 32);
}

static void
receive(uint32_t flow)
{
	struct flow *f = &nic.flows[flow];

	nic.packets++;
	f->hits += f->has_rule;
	if (f->stays || f->has_rule)
		return;
	nic.strays++;
	if (++trace.since < trace.wait || trace.waiting == RING)
		return;
	trace.ring[trace.waiting++] = (struct waiting){flow, trace.since};
	trace.since = 0;
	trace.wait = SAMPLE / 2 + next_random() % SAMPLE;
}

static void
end_of_ms(void)
{
	for (unsigned int i = 0; i < trace.waiting; i++)
		if (!nic.flows[trace.ring[i].flow].has_rule)
			octo_learn_stray(nic.learn, &nic.flows[trace.ring[i].flow].tuple, 0,
					 trace.ring[i].packets, nic.now);
	trace.waiting = 0;
	for (int i = 0; i < WORK_PER_MS && octo_learn_work(nic.learn, nic.now); i++)
		;
	nic.now++;
}

/* 10,000 equal flows that all stray, a million packets per second. */
static void
test_equal_flows_come_home_within_a_second(void **state)
{
	uint64_t strays;

	RTE_SET_USED(state);
	begin(10000, 1 << 16, &unlimited);
	trace = (struct trace){.random = 1};
	for (int ms = 0; ms < 1000; ms++) {
		for (int i = 0; i < 1000; i++)
			receive(next_random() % 10000);
		end_of_ms();
	}
	strays = nic.strays;
	assert_int_equal(stats().rules, 10000);
	print_message("strays per flow: %.1f\n", (double)strays / 10000);
	for (int ms = 0; ms < 100; ms++) {
		for (int i = 0; i < 1000; i++)
			receive(next_random() % 10000);
		end_of_ms();
	}
	assert_in_range(nic.strays - strays, 0, 99);
}

/* The flow of this rank. */
static uint32_t
flow_of(uint32_t rank)
{
	return (rank + trace.shift) % nic.nb_flows;
}

/* Of the flows that would stray, the room heaviest have rules: the strays that remain. */
static double
best_static(const struct zipf *z, uint32_t room)
{
	double rest = 0;

	for (uint32_t i = 0; i < z->n; i++) {
		if (nic.flows[flow_of(i)].stays)
			continue;
		if (room > 0)
			room--;
		else
			rest += z->p[i];
	}
	return rest;
}

static void
run_zipf(const struct zipf *z, unsigned int ms, unsigned int packets_per_ms)
{
	nic.packets = 0;
	nic.strays = 0;
	for (unsigned int t = 0; t < ms; t++) {
		for (unsigned int i = 0; i < packets_per_ms; i++)
			receive(flow_of(zipf_rank(z, next_random(), next_random())));
		end_of_ms();
	}
}

#define ENTRIES 2048

static void
begin_zipf(struct zipf *z)
{
	begin(100000, ENTRIES, &unlimited);
	trace = (struct trace){.random = 7};
	for (uint32_t i = 0; i < nic.nb_flows; i++)
		nic.flows[i].stays = next_random() >> 31;
	zipf_begin(z, nic.nb_flows, 1.1);
}

/* Learn for a while; then, of two seconds, how many times the strays that had to be. */
static double
zipf_ratio(const struct zipf *z, unsigned int ms)
{
	const double best = best_static(z, ENTRIES);
	double strays;

	run_zipf(z, ms, 1000);
	run_zipf(z, 2000, 1000);
	strays = (double)nic.strays / nic.packets;
	print_message("strays: %.2f %%, at best %.2f %%, %" PRIu64 " evicted\n", 100 * strays,
		      100 * best, stats().evicted);
	return strays / best;
}

/* 100,000 flows, and room for 2,048 of them. */
static void
test_the_heavy_hitters_are_kept(void **state)
{
	struct zipf z;

	RTE_SET_USED(state);
	begin_zipf(&z);
	assert_true(zipf_ratio(&z, 8000) <= 1.05);
	zipf_end(&z);
}

static void
test_the_heavy_hitters_are_kept_uncounted(void **state)
{
	struct zipf z;

	RTE_SET_USED(state);
	begin_zipf(&z);
	nic.counts = false;
	assert_true(zipf_ratio(&z, 18000) <= 1.15);
	zipf_end(&z);
}

/* Which ones they are is not for ever. */
static void
test_the_heavy_hitters_change(void **state)
{
	struct zipf z;

	RTE_SET_USED(state);
	begin_zipf(&z);
	run_zipf(&z, 10000, 1000);
	trace.shift = nic.nb_flows / 2;
	assert_true(zipf_ratio(&z, 18000) <= 1.15);
	zipf_end(&z);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, end)
	const struct CMUnitTest tests[] = {
		TEST(test_the_first_sample_is_enough),
		TEST(test_never_more_than_max),
		TEST(test_backs_off_when_there_is_no_room),
		TEST(test_room_that_appears_is_used),
		TEST(test_what_fails_otherwise_is_tried_rarely),
		TEST(test_the_heavy_flow_wins),
		TEST(test_equals_do_not_evict_each_other),
		TEST(test_swaps_are_bounded),
		TEST(test_idle_rules_go),
		TEST(test_idle_0_keeps_them),
		TEST(test_idle_rules_that_nobody_counts_go),
		TEST(test_room_is_made_by_the_least),
		TEST(test_rules_that_others_took_out),
		TEST(test_a_smaller_maximum),
		TEST(test_candidates_are_bounded),
		TEST(test_equal_flows_come_home_within_a_second),
		TEST(test_the_heavy_hitters_are_kept),
		TEST(test_the_heavy_hitters_are_kept_uncounted),
		TEST(test_the_heavy_hitters_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
