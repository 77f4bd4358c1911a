/* SPDX-License-Identifier: BSD-3-Clause */

#include <rte_bitops.h>

#include "octo_test.h"

#include "octo_tx_choice.h"

/* PFs 0 and 2 are on node 0, 1 and 3 on node 1. */
static const struct octo_plan_pfs four = {.nb = 4, .node = {0, 1, 0, 1}};

static void
test_the_pf_with_most_of_it_is_taken(void **state)
{
	struct octo_tx_cost cost = {0};

	(void)state;
	octo_tx_cost_add(&cost, &four, 0, 100);
	octo_tx_cost_add(&cost, &four, 1, 300);
	assert_int_equal(cost.crossing[0], 300);
	assert_int_equal(cost.crossing[1], 100);
	assert_int_equal(octo_tx_cost_least(&cost, &four, 0xf, 0), 1);
	assert_int_equal(octo_tx_cost_least(&cost, &four, 0xf, 3), 3);
	octo_tx_cost_add(&cost, &four, 0, 300);
	assert_int_equal(octo_tx_cost_least(&cost, &four, 0xf, 1), 0);
}

static void
test_home_is_taken_of_equals(void **state)
{
	struct octo_tx_cost cost = {0};

	(void)state;
	for (uint8_t home = 0; home < 4; home++)
		assert_int_equal(octo_tx_cost_least(&cost, &four, 0xf, home), home);
	octo_tx_cost_add(&cost, &four, 0, 64);
	octo_tx_cost_add(&cost, &four, 1, 64);
	for (uint8_t home = 0; home < 4; home++)
		assert_int_equal(octo_tx_cost_least(&cost, &four, 0xf, home), home);
}

static void
test_what_is_not_usable_is_not_taken(void **state)
{
	struct octo_tx_cost cost = {0};

	(void)state;
	octo_tx_cost_add(&cost, &four, 1, 300);
	assert_int_equal(octo_tx_cost_least(&cost, &four, 0x5, 0), 0);
	assert_int_equal(octo_tx_cost_least(&cost, &four, 0x8, 0), 3);
	assert_int_equal(octo_tx_cost_least(&cost, &four, 0x4, 1), 2);
}

static void
test_unknown_nodes_cross_nothing(void **state)
{
	const struct octo_plan_pfs pfs = {.nb = 2, .node = {0, -1}};
	struct octo_tx_cost cost = {0};

	(void)state;
	octo_tx_cost_add(&cost, &pfs, -1, 1000);
	octo_tx_cost_add(&cost, &pfs, 0, 1000);
	assert_int_equal(cost.crossing[0], 0);
	assert_int_equal(cost.crossing[1], 0);
	octo_tx_cost_add(&cost, &pfs, 5, 10);
	assert_int_equal(cost.crossing[0], 10);
	assert_int_equal(cost.crossing[1], 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_pf_with_most_of_it_is_taken),
		cmocka_unit_test(test_home_is_taken_of_equals),
		cmocka_unit_test(test_what_is_not_usable_is_not_taken),
		cmocka_unit_test(test_unknown_nodes_cross_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
