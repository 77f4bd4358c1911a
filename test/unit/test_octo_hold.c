/* SPDX-License-Identifier: BSD-3-Clause */

#include "octo_test.h"

#include "octo_hold.h"

#define HZ UINT64_C(2500000000)
#define US (HZ / 1000000)
#define T0 UINT64_C(0xffffffffffff0000) /* the clock wraps */

static void
test_a_bucket_begins_at_each_power_of_two(void **state)
{
	(void)state;
	assert_int_equal(octo_hold_bucket(0), 0);
	for (unsigned int i = 1; i < OCTO_HOLD_BUCKETS; i++) {
		const uint64_t floor = octo_hold_floor_us(i);

		assert_int_equal(floor, UINT64_C(1) << (i - 1));
		assert_int_equal(octo_hold_bucket(floor - 1), i - 1);
		assert_int_equal(octo_hold_bucket(floor), i);
	}
	assert_int_equal(octo_hold_floor_us(0), 0);
}

static void
test_the_last_bucket_has_no_end(void **state)
{
	(void)state;
	assert_in_range(octo_hold_floor_us(OCTO_HOLD_BUCKETS - 1), 1000000, 1100000);
	assert_int_equal(octo_hold_bucket(UINT64_C(1) << 40), OCTO_HOLD_BUCKETS - 1);
	assert_int_equal(octo_hold_bucket(UINT64_MAX), OCTO_HOLD_BUCKETS - 1);
}

static void
hold(struct octo_hold *h, uint64_t cycles)
{
	octo_hold_begin(h, T0);
	octo_hold_end(h, T0 + cycles, HZ);
}

static void
test_each_hold_is_counted_once(void **state)
{
	struct octo_hold h = {0};
	struct octo_hold_view v;

	(void)state;
	hold(&h, US - 1);
	hold(&h, US);
	hold(&h, 3 * US);
	hold(&h, 3 * US);
	/* cycles times NS_PER_S would not fit */
	hold(&h, 100 * HZ);
	octo_hold_read(&h, T0, HZ, &v);
	for (unsigned int i = 0; i < OCTO_HOLD_BUCKETS; i++)
		assert_int_equal(v.holds[i], i == 2 ? 2 : i < 2 || i == OCTO_HOLD_BUCKETS - 1);
	assert_int_equal(v.longest_ns, UINT64_C(100000000000));
}

static void
test_the_present_hold_is_seen(void **state)
{
	struct octo_hold h = {0};
	struct octo_hold_view v;

	(void)state;
	octo_hold_read(&h, T0, HZ, &v);
	assert_int_equal(v.held_ns, 0);
	octo_hold_begin(&h, T0);
	octo_hold_read(&h, T0 + 7 * US, HZ, &v);
	assert_int_equal(v.held_ns, 7000);
	assert_int_equal(v.longest_ns, 0);
	octo_hold_end(&h, T0 + 8 * US, HZ);
	octo_hold_read(&h, T0 + 9 * US, HZ, &v);
	assert_int_equal(v.held_ns, 0);
	assert_int_equal(v.longest_ns, 8000);
}

/* The clocks of two CPUs need not agree to the cycle. */
static void
test_a_clock_that_goes_back_makes_a_short_hold(void **state)
{
	struct octo_hold h = {0};
	struct octo_hold_view v;

	(void)state;
	octo_hold_begin(&h, T0);
	octo_hold_read(&h, T0 - 1, HZ, &v);
	assert_int_equal(v.held_ns, 0);
	octo_hold_end(&h, T0 - 1, HZ);
	octo_hold_read(&h, T0, HZ, &v);
	assert_int_equal(v.holds[0], 1);
	assert_int_equal(v.longest_ns, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_bucket_begins_at_each_power_of_two),
		cmocka_unit_test(test_the_last_bucket_has_no_end),
		cmocka_unit_test(test_each_hold_is_counted_once),
		cmocka_unit_test(test_the_present_hold_is_seen),
		cmocka_unit_test(test_a_clock_that_goes_back_makes_a_short_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
