/* SPDX-License-Identifier: BSD-3-Clause */

#include "octo_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "octo_counts.h"

#define SECOND UINT64_C(1000000000)
#define NB_QUEUES 2

static struct octo_counts *
new_counts(void)
{
	struct octo_counts *c = calloc(1, sizeof(struct octo_counts));

	assert_non_null(c);
	c->nb_pfs = 2;
	c->nb_rx_queues = NB_QUEUES;
	c->nb_tx_queues = 1;
	c->nb_queues = NB_QUEUES;
	c->work.cycles = OCTO_RATE_UNKNOWN;
	return c;
}

/* Looks for a field among those that are told. */
struct wanted {
	const char *name;
	double value;
	int found;
	int told;
};

static void
look(void *to, const char *name, double value)
{
	struct wanted *w = to;

	w->told++;
	if (strcmp(w->name, name) != 0)
		return;
	w->value = value;
	w->found++;
}

static double
field(const struct octo_counts *span, const char *name)
{
	struct wanted w = {.name = name};

	octo_counts_tell_port(span, look, &w);
	octo_counts_tell_totals(span, look, &w);
	for (uint16_t i = 0; i < span->nb_queues; i++) {
		octo_counts_tell_queue(span, i, i == 0 ? "q0_" : "q1_", look, &w);
		octo_counts_tell_queue_totals(span, i, i == 0 ? "q0_" : "q1_", look, &w);
	}
	assert_int_equal(w.found, 1);
	return w.value;
}

static void
test_deltas(void **state)
{
	bool restarted = false;

	(void)state;
	assert_int_equal(octo_rate_delta(5, 7, &restarted), 2);
	assert_int_equal(octo_rate_delta(7, 7, &restarted), 0);
	assert_false(restarted);
}

static void
test_a_counter_that_was_cleared_begins_anew(void **state)
{
	bool restarted = false;

	(void)state;
	assert_int_equal(octo_rate_delta(1000000, 300, &restarted), 300);
	assert_true(restarted);
}

/* Of 32 bits: never more than what it shows. */
static void
test_a_counter_that_wraps_is_no_giant(void **state)
{
	bool restarted = false;

	(void)state;
	assert_int_equal(octo_rate_delta(UINT32_MAX - 5, 10, &restarted), 10);
	assert_true(restarted);
}

static void
test_a_counter_that_was_misread_is_no_giant(void **state)
{
	bool restarted = false;

	(void)state;
	assert_int_equal(octo_rate_delta(UINT64_C(1) << 50, (UINT64_C(1) << 50) - 3, &restarted),
			 0);
}

static void
test_unknown_stays_unknown(void **state)
{
	bool restarted = false;

	(void)state;
	assert_true(octo_rate_delta(OCTO_RATE_UNKNOWN, 7, &restarted) == OCTO_RATE_UNKNOWN);
	assert_true(octo_rate_delta(7, OCTO_RATE_UNKNOWN, &restarted) == OCTO_RATE_UNKNOWN);
	assert_true(octo_rate_gain(OCTO_RATE_UNKNOWN, 7) == OCTO_RATE_UNKNOWN);
	assert_true(isnan(octo_rate_per_second(OCTO_RATE_UNKNOWN, SECOND)));
	assert_true(isnan(octo_rate_per_second(7, 0)));
	assert_true(isnan(octo_rate_each(7, 0)));
	assert_false(restarted);
}

/* Rules that go take their hits along. */
static void
test_hits_that_go_are_no_gain(void **state)
{
	(void)state;
	assert_int_equal(octo_rate_gain(4000000, 1000000), 0);
	assert_int_equal(octo_rate_gain(10, 15), 5);
}

static void
test_rates_are_per_second(void **state)
{
	struct octo_counts *before = new_counts(), *now = new_counts(), *span = new_counts();

	(void)state;
	before->ns = 7 * SECOND;
	now->ns = 7 * SECOND + SECOND / 2;
	before->port.rx_packets = 100;
	now->port.rx_packets = 600;
	now->port.rx_bytes = 60000;
	now->pf[1].tx_packets = 50;
	now->pf[1].rx_missed = 3;
	octo_counts_span(before, now, span);
	assert_true(field(span, "interval_ms") == 500);
	assert_true(field(span, "rx_packets_per_second") == 1000);
	assert_true(field(span, "rx_bits_per_second") == 960000);
	assert_true(field(span, "pf1_tx_packets_per_second") == 100);
	assert_true(field(span, "pf1_rx_missed_per_second") == 6);
	assert_true(field(span, "counters_restarted") == 0);
	free(before);
	free(now);
	free(span);
}

static void
test_strays_are_a_share_of_what_came(void **state)
{
	struct octo_counts *before = new_counts(), *now = new_counts(), *span = new_counts();

	(void)state;
	now->ns = SECOND;
	assert_true(field(now, "stray_ppm") == 0);
	now->queue[0].home_packets = 300;
	now->queue[1].stray_packets = 100;
	octo_counts_span(before, now, span);
	assert_true(field(span, "stray_ppm") == 250000);
	assert_true(field(span, "q0_stray_ppm") == 0);
	assert_true(field(span, "q1_stray_ppm") == 1000000);
	assert_true(field(span, "q1_rx_packets_per_second") == 100);
	assert_true(field(span, "q1_stray_packets") == 100);
	free(before);
	free(now);
	free(span);
}

/* Cleared statistics in the middle: the sum is what was counted, but for what was lost. */
static void
test_a_sum_outlives_cleared_statistics(void **state)
{
	struct octo_counts *before = new_counts(), *now = new_counts();
	struct octo_counts *span = new_counts(), *sum = calloc(1, sizeof(struct octo_counts));

	(void)state;
	now->ns = SECOND;
	now->port.rx_packets = 1000;
	octo_counts_span(before, now, span);
	octo_counts_add(sum, span);
	before->ns = SECOND;
	before->port.rx_packets = 1000;
	now->ns = 2 * SECOND;
	now->port.rx_packets = 10;
	octo_counts_span(before, now, span);
	octo_counts_add(sum, span);
	assert_true(field(span, "counters_restarted") == 1);
	assert_true(field(sum, "counters_restarted") == 1);
	assert_true(field(sum, "rx_packets") == 1010);
	assert_true(field(sum, "interval_ms") == 2000);
	free(before);
	free(now);
	free(span);
	free(sum);
}

/* The application does not always tell; what it tells is right for that time. */
static void
test_work_is_summed_up_when_it_is_known(void **state)
{
	struct octo_counts *span = new_counts();
	struct octo_counts *sum = calloc(1, sizeof(struct octo_counts));

	(void)state;
	assert_true(isnan(field(span, "busy_cycles_per_packet")));
	octo_counts_add(sum, span);
	assert_true(isnan(field(sum, "busy_cycles_per_packet")));
	span->work = (struct octo_work){.cycles = 1000, .packets = 10};
	octo_counts_add(sum, span);
	span->work.cycles = OCTO_RATE_UNKNOWN;
	octo_counts_add(sum, span);
	assert_true(field(sum, "busy_cycles_per_packet") == 100);
	free(span);
	free(sum);
}

/* In all columns of a file the same queue is meant. */
static void
test_fields_are_the_same_in_each_span(void **state)
{
	struct octo_counts *one = new_counts(), *two = new_counts();
	struct wanted first = {.name = "none"}, second = {.name = "none"};

	(void)state;
	two->queue[1].stray_packets = 5;
	two->ns = SECOND;
	octo_counts_tell_port(one, look, &first);
	octo_counts_tell_port(two, look, &second);
	assert_int_equal(first.told, second.told);
	first.told = second.told = 0;
	octo_counts_tell_queue(one, 1, "", look, &first);
	octo_counts_tell_queue(two, 1, "", look, &second);
	assert_int_equal(first.told, 5);
	assert_int_equal(second.told, 5);
	free(one);
	free(two);
}

#define UNKNOWN OCTO_RATE_UNKNOWN

struct xstat {
	const char *name;
	uint64_t value;
};

/* Counts that are made of these, up to the first without a name. */
static struct octo_counts *
counts_of(const struct octo_counts *before, const struct xstat *xstats)
{
	struct octo_counts *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	octo_counts_begin(c, before);
	for (; xstats->name != NULL; xstats++)
		octo_counts_take(c, xstats->name, xstats->value);
	octo_counts_end(c);
	return c;
}

/* A number for each field. */
static void
test_xstats_are_taken_by_name(void **state)
{
	static const struct xstat xstats[] = {
		{"rx_good_packets", 1},
		{"tx_good_packets", 2},
		{"rx_good_bytes", 3},
		{"tx_good_bytes", 4},
		{"rx_missed_errors", 5},
		{"rx_errors", 6},
		{"tx_errors", 7},
		{"rx_mbuf_allocation_errors", 8},
		{"rx_q0_packets", 99},
		{"rx_q1_home_packets", 9},
		{"rx_q1_home_bytes", 10},
		{"rx_q1_stray_packets", 11},
		{"rx_q1_stray_bytes", 12},
		{"tx_q0_pf0_packets", 13},
		{"tx_q0_pf1_packets", 14},
		{"tx_q0_packets", 99},
		{"tx_pf0_packets", 99},
		{"tx_pf1_packets", 99},
		{"steered_flows", 15},
		{"steered_flows_ineffective", 16},
		{"learned_flows", 17},
		{"steered_flows_bytes", 99},
		{"pf1_rx_good_packets", 18},
		{"pf1_tx_errors", 19},
		{"pf1_rx_q0_packets", 99},
		{"pf1_pf0_rx_good_packets", 99},
		{NULL, 0},
	};
	struct octo_counts *c = counts_of(NULL, xstats);

	(void)state;
	assert_true(c->port.rx_packets == 1 && c->port.tx_packets == 2 && c->port.rx_bytes == 3 &&
		    c->port.tx_bytes == 4 && c->port.rx_missed == 5 && c->port.rx_errors == 6 &&
		    c->port.tx_errors == 7 && c->port.rx_nombuf == 8);
	assert_true(c->queue[1].home_packets == 9 && c->queue[1].home_bytes == 10 &&
		    c->queue[1].stray_packets == 11 && c->queue[1].stray_bytes == 12);
	assert_int_equal(c->queue[0].tx_packets, 27);
	assert_true(c->rules.rules == 15 && c->rules.ineffective == 16 && c->rules.learned == 17);
	assert_true(c->pf[1].rx_packets == 18 && c->pf[1].tx_errors == 19);
	assert_true(c->nb_pfs == 2 && c->nb_rx_queues == 2 && c->nb_tx_queues == 1 &&
		    c->nb_queues == 2);
	assert_true(c->hits == UNKNOWN && c->work.cycles == UNKNOWN &&
		    c->latency.avg_ns == UNKNOWN);
	free(c);
}

/* Whoever tells them may be another process. */
static void
test_odd_xstats_are_passed_over(void **state)
{
	static const struct xstat xstats[] = {
		{"", 1},
		{"pf", 1},
		{"pf8_rx_good_packets", 1},
		{"pf-1_rx_good_packets", 1},
		{"pf18446744073709551616_rx_good_packets", 1},
		{"rx_q1024_home_packets", 1},
		{"rx_q_home_packets", 1},
		{"rx_q1home_packets", 1},
		{"rx_q1", 1},
		{"tx_q99999999999999999999_pf0_packets", 1},
		{"tx_q0_pf8_packets", 1},
		{"tx_q0_pf0_packets_", 1},
		{"tx_pf8_packets", 1},
		{NULL, 0},
	};
	static const struct xstat none[] = {{NULL, 0}};
	struct octo_counts *c = counts_of(NULL, xstats), *empty = counts_of(NULL, none);

	(void)state;
	assert_memory_equal(c, empty, sizeof(*c));
	free(c);
	free(empty);
}

static void
test_a_pf_that_is_gone_keeps_its_counters(void **state)
{
	static const struct xstat both[] = {
		{"tx_pf1_packets", 5},      {"pf0_rx_good_packets", 1},
		{"pf1_rx_good_packets", 2}, {"tx_q0_pf1_packets", 5},
		{"tx_q0_bytes", 60},        {"pf1_tx_good_bytes", 60},
		{"pf1_tx_q0_bytes", 60},    {NULL, 0},
	};
	static const struct xstat one[] = {
		{"tx_pf1_packets", 5},
		{"pf0_rx_good_packets", 9},
		{"tx_q0_pf1_packets", 5},
		{"tx_q0_bytes", 60},
		{NULL, 0},
	};
	struct octo_counts *before = counts_of(NULL, both), *now = counts_of(before, one);

	(void)state;
	assert_int_equal(now->pf[0].rx_packets, 9);
	assert_int_equal(now->pf[1].rx_packets, 2);
	assert_int_equal(now->queue[0].tx_bytes, 60);
	free(before);
	free(now);
}

/* Of queue 0 or 1 of a port over one PF that has sent so many bytes, of each queue so many. */
static uint64_t
bytes_of(uint64_t bytes, uint64_t first, uint64_t second, unsigned int queue, bool has_sent)
{
	const struct xstat xstats[] = {
		{"tx_q0_pf0_packets", queue == 0 && has_sent},
		{"tx_q1_pf0_packets", queue == 1 && has_sent},
		{"tx_q0_bytes", first},
		{"tx_q1_bytes", second},
		{"pf0_tx_q0_bytes", first},
		{"pf0_tx_q1_bytes", second},
		{"pf0_tx_good_bytes", bytes},
		{NULL, 0},
	};
	struct octo_counts *c = counts_of(NULL, xstats);
	const uint64_t found = c->queue[queue].tx_bytes;

	free(c);
	return found;
}

static void
test_bytes_of_queues_are_known_if_the_device_counts_them(void **state)
{
	(void)state;
	assert_int_equal(bytes_of(60, 0, 60, 1, true), 60);
	assert_int_equal(bytes_of(60, 0, 60, 0, false), 0);
	assert_true(bytes_of(60, 0, 0, 1, true) == UNKNOWN);
	/* nothing has been sent, or not by then */
	assert_int_equal(bytes_of(0, 0, 0, 0, true), 0);
	assert_int_equal(bytes_of(0, 0, 0, 0, false), 0);
}

/* A device tells of none but the first two; those that are counted have sent by another. */
static void
test_bytes_of_queues_beyond_the_counters_are_not_known(void **state)
{
	static const struct xstat xstats[] = {
		{"tx_q0_pf0_packets", 0},  {"tx_q1_pf0_packets", 0},
		{"tx_q2_pf0_packets", 1},  {"tx_q3_pf0_packets", 0},
		{"tx_q0_bytes", 0},        {"tx_q1_bytes", 0},
		{"pf0_tx_good_bytes", 60}, {"pf0_tx_q0_bytes", 0},
		{"pf0_tx_q1_bytes", 0},    {NULL, 0},
	};
	struct octo_counts *c = counts_of(NULL, xstats);

	(void)state;
	assert_true(c->queue[2].tx_bytes == UNKNOWN);
	assert_int_equal(c->queue[0].tx_bytes, 0);
	assert_int_equal(c->queue[3].tx_bytes, 0);
	free(c);
}

/* One of two PFs counts by queue, and the other has sent as well. */
static void
test_bytes_that_one_pf_does_not_count_are_not_known(void **state)
{
	static const struct xstat xstats[] = {
		{"tx_q0_pf0_packets", 1},
		{"tx_q0_pf1_packets", 1},
		{"tx_q1_pf0_packets", 1},
		{"tx_q1_pf1_packets", 0},
		{"tx_q0_bytes", 60},
		{"tx_q1_bytes", 60},
		{"pf0_tx_good_bytes", 120},
		{"pf0_tx_q0_bytes", 60},
		{"pf0_tx_q1_bytes", 60},
		{"pf1_tx_good_bytes", 60},
		{NULL, 0},
	};
	struct octo_counts *c = counts_of(NULL, xstats);

	(void)state;
	assert_true(c->queue[0].tx_bytes == UNKNOWN);
	assert_int_equal(c->queue[1].tx_bytes, 60);
	free(c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deltas),
		cmocka_unit_test(test_a_counter_that_was_cleared_begins_anew),
		cmocka_unit_test(test_a_counter_that_wraps_is_no_giant),
		cmocka_unit_test(test_a_counter_that_was_misread_is_no_giant),
		cmocka_unit_test(test_unknown_stays_unknown),
		cmocka_unit_test(test_hits_that_go_are_no_gain),
		cmocka_unit_test(test_rates_are_per_second),
		cmocka_unit_test(test_strays_are_a_share_of_what_came),
		cmocka_unit_test(test_a_sum_outlives_cleared_statistics),
		cmocka_unit_test(test_work_is_summed_up_when_it_is_known),
		cmocka_unit_test(test_fields_are_the_same_in_each_span),
		cmocka_unit_test(test_xstats_are_taken_by_name),
		cmocka_unit_test(test_odd_xstats_are_passed_over),
		cmocka_unit_test(test_a_pf_that_is_gone_keeps_its_counters),
		cmocka_unit_test(test_bytes_that_one_pf_does_not_count_are_not_known),
		cmocka_unit_test(test_bytes_of_queues_are_known_if_the_device_counts_them),
		cmocka_unit_test(test_bytes_of_queues_beyond_the_counters_are_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
