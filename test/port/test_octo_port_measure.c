/* SPDX-License-Identifier: BSD-3-Clause */

/* A measurement by an application that knows less than testpmd. */

#include <stdlib.h>

#include "octo_measure.h"
#include "octo_port.h"
#include "octo_source.h"

/* Beyond them, hits are not asked for. */
#define MANY_RULES 1024

static const struct octo_port_conf conf;
static const struct octo_measure_source source = {
	.names = octo_source_names,
	.xstats = octo_measure_ethdev_xstats,
	.hits = octo_source_hits,
};
static const struct octo_measure_args fast = {
	.interval_ms = OCTO_MEASURE_MIN_MS,
	.source = &source,
};

static uint16_t
start_measured(const struct octo_measure_args *args)
{
	const uint16_t port = octo_port_create(&conf);
	char why[OCTO_MEASURE_WHY_MAX] = "";

	octo_port_up(port, 2);
	assert_int_equal(octo_measure_start(port, args, why), 0);
	assert_string_equal(why, "");
	return port;
}

/* After so many samples more. */
static struct octo_measure_view *
view_after(uint16_t port, uint64_t samples)
{
	char why[OCTO_MEASURE_WHY_MAX];
	struct octo_measure_view *view = octo_measure_view(port, why);

	assert_non_null(view);
	samples += view->samples;
	/* by a thread of its own, in wall time */
	while (view->samples < samples) {
		free(view);
		octo_wait_us(1000);
		view = octo_measure_view(port, why);
		assert_non_null(view);
	}
	return view;
}

static void
test_what_the_application_does_not_tell_is_unknown(void **state)
{
	struct octo_measure_view *view = view_after(start_measured(&fast), 2);

	(void)state;
	assert_string_equal(view->lacks.work, "the application does not tell");
	assert_string_equal(view->lacks.latency, "the application does not tell");
	assert_true(view->last.work.cycles == OCTO_RATE_UNKNOWN);
	assert_true(view->last.latency.avg_ns == OCTO_RATE_UNKNOWN);
	assert_int_equal(view->last.hits, 0);
	free(view);
}

static void
test_packets_are_those_of_their_queue(void **state)
{
	const struct octo_measure_args slow = {
		.interval_ms = OCTO_MEASURE_MAX_MS,
		.source = &source,
	};
	const uint16_t port = start_measured(&slow);
	struct octo_port_tally tally = {0};
	char why[OCTO_MEASURE_WHY_MAX];
	struct octo_measure_view *view;

	(void)state;
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	octo_port_send(port, 0, 7, 50);
	octo_port_receive(port, 1, 50, &tally);
	view = octo_measure_stop(port, why);
	assert_non_null(view);
	assert_int_equal(view->sum.port.rx_packets, 50);
	assert_int_equal(view->sum.queue[0].tx_packets, 50);
	assert_int_equal(view->sum.queue[0].tx_bytes, 50 * OCTO_PORT_FRAME_LEN);
	assert_int_equal(view->sum.queue[0].home_packets + view->sum.queue[0].stray_packets, 0);
	assert_int_equal(view->sum.queue[1].home_packets + view->sum.queue[1].stray_packets, 50);
	assert_int_equal(view->sum.queue[1].home_bytes + view->sum.queue[1].stray_bytes,
			 50 * OCTO_PORT_FRAME_LEN);
	assert_int_equal(view->sum.hits, 50);
	assert_int_equal(view->sum.rules.rules, 1);
	free(view);
}

static void
test_hits_of_too_many_rules_are_not_asked_for(void **state)
{
	const uint16_t port = start_measured(&fast);
	struct octo_measure_view *view;

	(void)state;
	for (uint16_t i = 1; i <= MANY_RULES; i++)
		assert_non_null(octo_port_steer(port, i, 0, NULL));
	view = view_after(port, 2);
	assert_int_equal(view->last.rules.rules, MANY_RULES);
	assert_true(view->last.hits != OCTO_RATE_UNKNOWN);
	free(view);
	assert_non_null(octo_port_steer(port, MANY_RULES + 1, 0, NULL));
	view = view_after(port, 2);
	assert_true(view->last.hits == OCTO_RATE_UNKNOWN);
	assert_true(view->sum.hits == OCTO_RATE_UNKNOWN);
	free(view);
}

/* How often the counters cannot be read yet, as while a PF comes or goes. */
static unsigned int deaf;

static int
read_later(const struct octo_measured *port, struct octo_counts *now, char *why)
{
	if (deaf == 0)
		return octo_measure_ethdev_xstats(port, now, why);
	deaf--;
	return -EAGAIN;
}

/* No sample comes after the last, so that one is not left out. */
static void
test_the_last_sample_waits_for_a_pf(void **state)
{
	const struct octo_measure_source later = {
		.names = octo_source_names,
		.xstats = read_later,
		.hits = octo_source_hits,
	};
	const struct octo_measure_args slow = {
		.interval_ms = OCTO_MEASURE_MAX_MS,
		.source = &later,
	};
	char why[OCTO_MEASURE_WHY_MAX];
	struct octo_measure_view *view;
	uint16_t port;

	(void)state;
	deaf = 2;
	port = start_measured(&slow);
	assert_int_equal(deaf, 0);
	/* so long is a sample */
	octo_wait_us(OCTO_MEASURE_MIN_MS * 1000);
	deaf = 2;
	view = octo_measure_stop(port, why);
	assert_non_null(view);
	assert_int_equal(deaf, 0);
	assert_int_equal(view->samples, 1);
	free(view);
}

/* Whoever goes need not stop it. */
static void
test_a_port_goes_while_it_is_measured(void **state)
{
	const uint16_t port = start_measured(&fast);
	char why[OCTO_MEASURE_WHY_MAX];

	(void)state;
	octo_port_close_and_remove(port);
	assert_null(octo_measure_view(port, why));
	assert_string_equal(why, "this is not an octo port");
	assert_null(octo_measure_stop(port, why));
}

static void
test_bad_intervals_are_refused(void **state)
{
	const struct octo_measure_args bad[] = {
		{.interval_ms = 0, .source = &source},
		{.interval_ms = OCTO_MEASURE_MIN_MS - 1, .source = &source},
		{.interval_ms = OCTO_MEASURE_MAX_MS + 1, .source = &source},
	};
	const uint16_t port = octo_port_create(&conf);
	char why[OCTO_MEASURE_WHY_MAX];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(bad); i++)
		assert_int_equal(octo_measure_start(port, &bad[i], why), -EINVAL);
	assert_int_equal(octo_measure_start(octo_port_pf(0), &fast, why), -ENODEV);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_what_the_application_does_not_tell_is_unknown),
		octo_port_test(test_packets_are_those_of_their_queue),
		octo_port_test(test_hits_of_too_many_rules_are_not_asked_for),
		octo_port_test(test_the_last_sample_waits_for_a_pf),
		octo_port_test(test_a_port_goes_while_it_is_measured),
		octo_port_test(test_bad_intervals_are_refused),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
