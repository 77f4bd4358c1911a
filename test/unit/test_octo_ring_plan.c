/* SPDX-License-Identifier: BSD-3-Clause */

#include "octo_test.h"

#include "octo_ring_plan.h"

static void
test_room_counts_all_uses(void **state)
{
	struct octo_ring_demand demand = {
		.size = 100, .rx = 60, .tx = 15, .caches = 5, .others = 20};

	(void)state;
	assert_true(octo_ring_has_room(&demand));
	demand.caches++;
	assert_false(octo_ring_has_room(&demand));
	demand = (struct octo_ring_demand){.size = 100, .rx = UINT32_MAX};
	assert_false(octo_ring_has_room(&demand));
}

static void
test_descriptors_are_shared_out(void **state)
{
	const struct octo_ring_limits any = {.min = 32}, by_8 = {.min = 32, .align = 8};

	(void)state;
	assert_int_equal(octo_ring_share(1000, 1, NULL, &any), 1000);
	assert_int_equal(octo_ring_share(1000, 2, NULL, &any), 500);
	assert_int_equal(octo_ring_share(1000, 3, NULL, &any), 333);
	assert_int_equal(octo_ring_share(1000, 3, NULL, &by_8), 328);
}

/* mlx5 rounds a ring up to a power of two, and would take more than its share. */
static void
test_powers_of_two_stay_powers_of_two(void **state)
{
	const struct octo_ring_limits any = {.min = 32};

	(void)state;
	assert_int_equal(octo_ring_share(1024, 2, NULL, &any), 512);
	assert_int_equal(octo_ring_share(1024, 3, NULL, &any), 256);
	assert_int_equal(octo_ring_share(1024, 8, NULL, &any), 128);
}

static void
test_a_share_is_never_less_than_pfs_accept(void **state)
{
	const struct octo_ring_limits by_8 = {.min = 64, .align = 8}, odd = {.min = 60, .align = 8};

	(void)state;
	assert_int_equal(octo_ring_share(128, 8, NULL, &by_8), 64);
	assert_int_equal(octo_ring_share(128, 8, NULL, &odd), 64);
	assert_int_equal(octo_ring_share(64, 2, NULL, &by_8), 64);
	/* the application asked for what is no multiple, and the PFs took that */
	assert_int_equal(octo_ring_share(60, 2, NULL, &odd), 60);
}

/* Nor none at all: PFs may name no minimum. */
static void
test_a_share_is_never_empty(void **state)
{
	const struct octo_ring_limits none = {.min = 0}, by_8 = {.align = 8};

	(void)state;
	assert_int_equal(octo_ring_share(2, 4, NULL, &none), 1);
	assert_int_equal(octo_ring_share(3, 4, NULL, &none), 1);
	assert_int_equal(octo_ring_share(24, 4, NULL, &by_8), 8);
	assert_int_equal(octo_ring_share(16, 4, NULL, &by_8), 8);
}

/* Of l3fwd's 8192 mbufs two queues leave more than a half, or a quarter, for each ring. */
static void
test_a_share_is_as_large_as_the_pool_allows(void **state)
{
	const struct octo_ring_limits any = {.min = 32};
	struct octo_ring_demand demand = {
		.size = 8192, .rx = 8192, .tx = 2048, .caches = 768, .rings = 8};

	(void)state;
	assert_false(octo_ring_has_room(&demand));
	assert_int_equal(octo_ring_share(1024, 4, &demand, &any), 512);
	assert_int_equal(octo_ring_share(1000, 4, &demand, &any), 672);
	demand.rings = 64;
	assert_int_equal(octo_ring_share(1024, 4, &demand, &any), 256);
	demand.rings = 8;
	demand.others = 3000;
	assert_int_equal(octo_ring_share(1000, 4, &demand, &any), 297);
	demand.tx = 100000;
	assert_int_equal(octo_ring_share(1024, 4, &demand, &any), 256);
	demand = (struct octo_ring_demand){.size = 1 << 20, .rings = 2};
	assert_int_equal(octo_ring_share(1024, 2, &demand, &any), 1024);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_room_counts_all_uses),
		cmocka_unit_test(test_descriptors_are_shared_out),
		cmocka_unit_test(test_powers_of_two_stay_powers_of_two),
		cmocka_unit_test(test_a_share_is_as_large_as_the_pool_allows),
		cmocka_unit_test(test_a_share_is_never_less_than_pfs_accept),
		cmocka_unit_test(test_a_share_is_never_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
