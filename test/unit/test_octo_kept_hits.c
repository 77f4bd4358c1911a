/* SPDX-License-Identifier: BSD-3-Clause */

#include "octo_test.h"

#include "octo_kept_hits.h"

#define LIFE 1

static char counter[3]; /* addresses */

static void
read_in_life(struct octo_kept_hits *k, uint8_t pf, char *of, uint32_t life, uint64_t hits)
{
	const struct octo_handle handle = octo_handle_make(of, life);

	octo_kept_hits_read(k, pf, &handle, (struct octo_hits){hits, 60 * hits});
}

static void
read_pf(struct octo_kept_hits *k, uint8_t pf, char *of, uint64_t hits)
{
	read_in_life(k, pf, of, LIFE, hits);
}

static void
assert_sum(const struct octo_kept_hits *k, uint64_t hits)
{
	const struct octo_hits sum = octo_kept_hits_sum(k);

	assert_int_equal(sum.hits, hits);
	assert_int_equal(sum.bytes, 60 * hits);
}

static void
test_the_sum_is_that_of_all_pfs(void **state)
{
	struct octo_kept_hits k = {0};

	(void)state;
	assert_sum(&k, 0);
	read_pf(&k, 0, &counter[0], 3);
	read_pf(&k, OCTO_PLAN_MAX_PFS - 1, &counter[1], 4);
	assert_sum(&k, 7);
	read_pf(&k, 0, &counter[0], 5);
	assert_sum(&k, 9);
}

static void
test_a_counter_that_is_gone_stays_in_the_sum(void **state)
{
	struct octo_kept_hits k = {0};

	(void)state;
	read_pf(&k, 0, &counter[0], 20);
	octo_kept_hits_end(&k, 0);
	assert_sum(&k, 20);
	octo_kept_hits_end(&k, 0);
	assert_sum(&k, 20);
	/* a later one with the same address */
	read_pf(&k, 0, &counter[0], 25);
	assert_sum(&k, 45);
}

static void
test_a_counter_that_began_anew_goes_on(void **state)
{
	struct octo_kept_hits k = {0};

	(void)state;
	read_pf(&k, 0, &counter[0], 20);
	read_pf(&k, 0, &counter[1], 30); /* another one */
	assert_sum(&k, 50);
	read_pf(&k, 0, &counter[1], 5); /* the same, from 0 */
	assert_sum(&k, 55);
}

static void
test_a_counter_of_a_later_life_is_another(void **state)
{
	struct octo_kept_hits k = {0};

	(void)state;
	read_pf(&k, 0, &counter[0], 20);
	read_in_life(&k, 0, &counter[0], LIFE + 1, 25);
	assert_sum(&k, 45);
	read_in_life(&k, 0, &counter[0], LIFE + 1, 30);
	assert_sum(&k, 50);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_sum_is_that_of_all_pfs),
		cmocka_unit_test(test_a_counter_that_is_gone_stays_in_the_sum),
		cmocka_unit_test(test_a_counter_that_began_anew_goes_on),
		cmocka_unit_test(test_a_counter_of_a_later_life_is_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
