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
	struct octo_counts *c = calloc(1, octo_counts_size(NB_QUEUES));

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
	struct octo_counts *span = new_counts(), *sum = calloc(1, octo_counts_size(NB_QUEUES));

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
	struct octo_counts *sum = calloc(1, octo_counts_size(NB_QUEUES));

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

static void
test_bytes_of_queues_are_known_if_the_device_counts_them(void **state)
{
	const uint64_t none[2] = {0};
	const uint64_t second[2] = {0, 60};

	(void)state;
	assert_int_equal(octo_counts_bytes_of(60, second, 2, 1, true), 60);
	assert_int_equal(octo_counts_bytes_of(60, second, 2, 0, false), 0);
	assert_true(octo_counts_bytes_of(60, none, 2, 1, true) == UNKNOWN);
	/* nothing has been sent, or not by then */
	assert_int_equal(octo_counts_bytes_of(0, none, 2, 0, true), 0);
	assert_int_equal(octo_counts_bytes_of(0, none, 2, 0, false), 0);
}

/* Those that are counted have sent by another device. */
static void
test_bytes_of_queues_beyond_the_counters_are_not_known(void **state)
{
	const uint64_t none[2] = {0};

	(void)state;
	assert_true(octo_counts_bytes_of(60, none, 2, 2, true) == UNKNOWN);
	assert_int_equal(octo_counts_bytes_of(60, none, 2, 0, false), 0);
	assert_int_equal(octo_counts_bytes_of(60, none, 2, 3, false), 0);
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
		cmocka_unit_test(test_bytes_of_queues_are_known_if_the_device_counts_them),
		cmocka_unit_test(test_bytes_of_queues_beyond_the_counters_are_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
