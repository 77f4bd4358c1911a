/* SPDX-License-Identifier: BSD-3-Clause */

#include <pthread.h>
#include <stdlib.h>

#include <rte_common.h>

#include "octo_test.h"

#include "octo_clock.h"
#include "octo_sample.h"

#define RING 512

/* The sampler */

static void
test_first_stray_is_a_sample(void **state)
{
	struct octo_sampler s = {0};

	RTE_SET_USED(state);
	assert_int_equal(octo_sampler_polled(&s, 0, 1, 0, RING, OCTO_SAMPLE_EVERY), 0);
}

static void
test_empty_polls_are_no_samples(void **state)
{
	struct octo_sampler s = {0};

	RTE_SET_USED(state);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(octo_sampler_polled(&s, 0, 0, 0, RING, OCTO_SAMPLE_EVERY), -1);
	assert_int_equal(octo_sampler_polled(&s, 0, 1, 0, RING, OCTO_SAMPLE_EVERY), 0);
}

/* Whatever the size of the bursts, unless there are fewer of them. */
static void
test_one_stray_in_so_many_on_average(void **state)
{
	RTE_SET_USED(state);
	for (uint32_t every = 1; every <= 4096; every *= 8) {
		for (uint16_t got = 1; got <= 8; got++) {
			struct octo_sampler s = {0};
			const unsigned int polls = 100 * every + 10000;
			const unsigned int want = RTE_MIN(polls, polls * got / RTE_MAX(every, got));
			unsigned int n = 0;

			for (unsigned int i = 0; i < polls; i++)
				n += octo_sampler_polled(&s, i % 3, got, 0, RING, every) >= 0;
			assert_in_range(n, want / 2, want * 3 / 2);
		}
	}
}

static void
test_gaps_are_bounded(void **state)
{
	struct octo_sampler s = {0};
	unsigned int gap = 0;

	RTE_SET_USED(state);
	for (int i = 0; i < 80000; i++) {
		gap++;
		if (octo_sampler_polled(&s, i % 3, 1, 0, RING, 32) < 0)
			continue;
		assert_in_range(gap, i == 0 ? 1 : 17, 48);
		gap = 0;
	}
}

/* A sample that could not be handed over leaves its strays to the next one. */
static void
test_every_stray_is_stood_for(void **state)
{
	struct octo_sampler s = {0};
	uint64_t strays = 0, told = 0;

	RTE_SET_USED(state);
	for (uint16_t i = 0; i < 10000; i++) {
		const uint16_t got = i % 33;

		strays += got;
		if (octo_sampler_polled(&s, 0, got, 0, RING, 50) < 0 || i % 5 == 0)
			continue;
		told += s.since;
		s.since = 0;
	}
	assert_int_equal(told + s.since, strays);
}

static void
test_each_packet_of_a_burst_has_its_turn(void **state)
{
	unsigned int seen[32] = {0};
	struct octo_sampler s = {0};

	RTE_SET_USED(state);
	for (int i = 0; i < 100000; i++) {
		const int at = octo_sampler_polled(&s, 0, RTE_DIM(seen), 0, RING, 256);

		assert_in_range(at + 1, 0, RTE_DIM(seen));
		if (at >= 0)
			seen[at]++;
	}
	for (unsigned int i = 0; i < RTE_DIM(seen); i++)
		assert_in_range(seen[i], 100, 1000);
}

/* Bursts of flows that come in turns: none keeps out of the sampler's way. */
static void
test_flows_in_turns_are_all_sampled(void **state)
{
	RTE_SET_USED(state);
	for (unsigned int flows = 2; flows <= 24; flows++) {
		unsigned int seen[24] = {0};
		struct octo_sampler s = {0};

		for (unsigned int i = 0; i < flows * 4000; i++)
			seen[i % flows] += octo_sampler_polled(&s, 0, 1, 0, RING,
							       OCTO_SAMPLE_EVERY) == 0;
		for (unsigned int i = 0; i < flows; i++)
			assert_in_range(seen[i], 4000 / OCTO_SAMPLE_EVERY / 2, 4000);
	}
}

static void
test_an_empty_ring_has_turned(void **state)
{
	struct octo_sampler s = {0};

	RTE_SET_USED(state);
	octo_sampler_polled(&s, 1, 32, 0, RING, OCTO_SAMPLE_EVERY);
	assert_int_equal(s.leg[1].turn, 0);
	octo_sampler_polled(&s, 1, 0, 0, RING, OCTO_SAMPLE_EVERY);
	assert_int_equal(s.leg[1].turn, 1);
	assert_int_equal(s.leg[0].turn, 0);
}

/* Copies were in the ring, too, though nobody gets them. */
static void
test_a_ring_of_copies_has_not_turned(void **state)
{
	struct octo_sampler s = {0};

	RTE_SET_USED(state);
	assert_int_equal(octo_sampler_polled(&s, 0, 0, 8, RING, OCTO_SAMPLE_EVERY), -1);
	assert_int_equal(s.leg[0].turn, 0);
	assert_int_equal(s.since, 0);
	octo_sampler_polled(&s, 0, 8, RING - 16, RING, OCTO_SAMPLE_EVERY);
	assert_int_equal(s.leg[0].turn, 1);
	assert_int_equal(s.since, 8);
}

/*
 * A leg that is never empty: whatever is in the ring when the turn is looked at has
 * left it before the turn is two higher.
 */
static void
test_two_turns_empty_a_busy_ring(void **state)
{
	struct octo_sampler s = {0};

	RTE_SET_USED(state);
	srandom(1);
	for (int round = 0; round < 1000; round++) {
		const uint32_t turn = s.leg[0].turn;
		uint32_t waiting = RING;

		while (s.leg[0].turn - turn < 2) {
			const uint16_t got = 1 + random() % 32;

			waiting -= RTE_MIN(waiting, (uint32_t)got);
			octo_sampler_polled(&s, 0, got, 0, RING, OCTO_SAMPLE_EVERY);
		}
		assert_int_equal(waiting, 0);
		octo_sampler_polled(&s, 0, 1 + random() % 32, 0, RING, OCTO_SAMPLE_EVERY);
	}
}

/* The ring */

static struct octo_sample
numbered(uint32_t n)
{
	struct octo_sample s = {.turn = n, .packets = n + 1, .queue = n % 1024, .pf = n % 8};

	memset(s.tuple.src, n & 0xff, sizeof(s.tuple.src));
	s.tuple.dst_port = n & 0xffff;
	return s;
}

static void
assert_numbered(const struct octo_sample *s, uint32_t n)
{
	const struct octo_sample want = numbered(n);

	assert_memory_equal(&s->tuple, &want.tuple, sizeof(want.tuple));
	assert_int_equal(s->turn, n);
	assert_int_equal(s->packets, want.packets);
	assert_int_equal(s->queue, want.queue);
	assert_int_equal(s->pf, want.pf);
}

static bool
add(struct octo_sample_ring *r, const struct octo_sample *s)
{
	struct octo_sample *next = octo_sample_next(r);

	if (next == NULL)
		return false;
	*next = *s;
	octo_sample_push(r);
	return true;
}

static void
test_first_in_first_out(void **state)
{
	static struct octo_sample_ring r;
	struct octo_sample s;

	RTE_SET_USED(state);
	assert_false(octo_sample_pop(&r, &s));
	for (uint32_t i = 0; i < 10 * OCTO_SAMPLE_ROOM; i += 2) {
		s = numbered(i);
		assert_true(add(&r, &s));
		s = numbered(i + 1);
		assert_true(add(&r, &s));
		assert_true(octo_sample_pop(&r, &s));
		assert_numbered(&s, i);
		assert_true(octo_sample_pop(&r, &s));
		assert_numbered(&s, i + 1);
		assert_false(octo_sample_pop(&r, &s));
	}
}

/* A control thread that does not keep up loses the newest; the counters may wrap. */
static void
test_full_drops(void **state)
{
	static struct octo_sample_ring r = {.head = UINT32_MAX - 10, .tail = UINT32_MAX - 10};
	struct octo_sample s;

	RTE_SET_USED(state);
	for (uint32_t i = 0; i < 2 * OCTO_SAMPLE_ROOM; i++) {
		s = numbered(i);
		assert_int_equal(add(&r, &s), i < OCTO_SAMPLE_ROOM);
	}
	for (uint32_t i = 0; i < OCTO_SAMPLE_ROOM; i++) {
		assert_true(octo_sample_pop(&r, &s));
		assert_numbered(&s, i);
	}
	assert_false(octo_sample_pop(&r, &s));
}

#define MANY 300000

static void *
produce(void *arg)
{
	for (uint32_t i = 0; i < MANY; i++) {
		const struct octo_sample s = numbered(i);

		while (!add(arg, &s))
			octo_wait_us(1);
	}
	return NULL;
}

static void
test_two_threads(void **state)
{
	static struct octo_sample_ring r;
	struct octo_sample s;
	pthread_t producer;

	RTE_SET_USED(state);
	assert_int_equal(pthread_create(&producer, NULL, produce, &r), 0);
	for (uint32_t i = 0; i < MANY; i++) {
		while (!octo_sample_pop(&r, &s))
			octo_wait_us(1);
		assert_numbered(&s, i);
	}
	assert_int_equal(pthread_join(producer, NULL), 0);
	assert_false(octo_sample_pop(&r, &s));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_stray_is_a_sample),
		cmocka_unit_test(test_empty_polls_are_no_samples),
		cmocka_unit_test(test_one_stray_in_so_many_on_average),
		cmocka_unit_test(test_gaps_are_bounded),
		cmocka_unit_test(test_every_stray_is_stood_for),
		cmocka_unit_test(test_each_packet_of_a_burst_has_its_turn),
		cmocka_unit_test(test_flows_in_turns_are_all_sampled),
		cmocka_unit_test(test_an_empty_ring_has_turned),
		cmocka_unit_test(test_a_ring_of_copies_has_not_turned),
		cmocka_unit_test(test_two_turns_empty_a_busy_ring),
		cmocka_unit_test(test_first_in_first_out),
		cmocka_unit_test(test_full_drops),
		cmocka_unit_test(test_two_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
