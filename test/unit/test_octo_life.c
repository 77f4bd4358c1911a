/* SPDX-License-Identifier: BSD-3-Clause */

#include "octo_test.h"

#include "octo_life.h"

static void
test_a_handle_is_of_one_life(void **state)
{
	struct octo_handle nothing = {0};
	struct octo_handle h = octo_handle_make(&nothing, UINT32_MAX);
	uint32_t life = UINT32_MAX;

	(void)state;
	assert_null(octo_handle_get(&nothing, octo_life_next(OCTO_LIFE_NONE)));
	assert_ptr_equal(octo_handle_get(&h, life), &nothing);
	life = octo_life_next(life);
	assert_int_not_equal(life, OCTO_LIFE_NONE);
	assert_null(octo_handle_get(&h, life));
	assert_null(octo_handle_take(&h, life));
	assert_null(octo_handle_get(&h, UINT32_MAX));
	h = octo_handle_make(&nothing, life);
	assert_ptr_equal(octo_handle_take(&h, life), &nothing);
	assert_null(octo_handle_get(&h, life));
}

static void
test_equal_handles_have_one_life(void **state)
{
	char objects[2];
	const struct octo_handle h = octo_handle_make(&objects[0], 1);
	const struct octo_handle same = octo_handle_make(&objects[0], 1);
	const struct octo_handle other = octo_handle_make(&objects[1], 1);
	const struct octo_handle later = octo_handle_make(&objects[0], 2);

	(void)state;
	assert_true(octo_handle_equal(&h, &same));
	assert_false(octo_handle_equal(&h, &other));
	assert_false(octo_handle_equal(&h, &later));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_handle_is_of_one_life),
		cmocka_unit_test(test_equal_handles_have_one_life),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
