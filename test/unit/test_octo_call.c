/* SPDX-License-Identifier: BSD-3-Clause */

#include <pthread.h>

#include "octo_test.h"

#include "octo_call.h"

#define LEG ((struct octo_leg){.port = 3, .queue = 7})
#define LEGS 5u

static struct octo_call
kept_until(uint32_t until)
{
	struct octo_call c = {0};

	octo_call_keep(&c, LEG, LEGS, until);
	return c;
}

static void
test_nothing_holds_at_first(void **state)
{
	const struct octo_call c = {0};

	(void)state;
	assert_false(octo_call_holds(&c, 0, 0));
}

static void
test_it_holds_for_its_bursts(void **state)
{
	/* also where the epoch wraps */
	static const uint32_t starts[] = {1, UINT32_MAX - 20, UINT32_MAX};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(starts); i++) {
		const uint32_t last = starts[i] + 63 * OCTO_EPOCH_BURST;
		const struct octo_call c = kept_until(last);

		for (uint32_t e = starts[i]; e != last + OCTO_EPOCH_BURST; e += OCTO_EPOCH_BURST)
			assert_true(octo_call_holds(&c, LEGS, e));
		/* and not again, unless nobody comes for the whole round of the counter */
		for (uint32_t late = 1; late != 0; late <<= 1)
			assert_false(octo_call_holds(&c, LEGS, last + late));
		assert_false(octo_call_holds(&c, LEGS, starts[i] - OCTO_EPOCH_BURST));
	}
}

static void
test_it_is_for_these_legs(void **state)
{
	const struct octo_call c = kept_until(9);

	(void)state;
	assert_int_equal(c.leg.port, LEG.port);
	assert_int_equal(c.leg.queue, LEG.queue);
	assert_true(octo_call_holds(&c, LEGS, 9));
	assert_false(octo_call_holds(&c, LEGS | 2, 9));
	assert_false(octo_call_holds(&c, 0, 9));
}

static void
test_it_can_be_forgotten(void **state)
{
	struct octo_call c = kept_until(9);

	(void)state;
	octo_call_forget(&c);
	assert_false(octo_call_holds(&c, LEGS, 9));
}

static void *
holds(void *call)
{
	return octo_call_holds(call, LEGS, 9) ? call : NULL;
}

static void
test_it_is_for_who_kept_it(void **state)
{
	static struct octo_call c;
	pthread_t thread;
	void *seen;

	(void)state;
	c = kept_until(9);
	assert_non_null(holds(&c));
	assert_int_equal(pthread_create(&thread, NULL, holds, &c), 0);
	assert_int_equal(pthread_join(thread, &seen), 0);
	assert_null(seen);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_holds_at_first),
		cmocka_unit_test(test_it_holds_for_its_bursts),
		cmocka_unit_test(test_it_is_for_these_legs),
		cmocka_unit_test(test_it_can_be_forgotten),
		cmocka_unit_test(test_it_is_for_who_kept_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
