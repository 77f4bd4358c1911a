/* SPDX-License-Identifier: BSD-3-Clause */

#include <rte_common.h>

#include "octo_test.h"

#include "octo_plan.h"

/* A ring of nodes: 0-1-2-3-0. */
static int
ring_distance(int node_a, int node_b)
{
	static const int hops[] = {10, 16, 22, 16};

	return hops[(node_a - node_b) & 3];
}

/* What numa_distance(3) says of nodes that this machine does not have. */
static int
unknown_distance(int node_a, int node_b)
{
	RTE_SET_USED(node_a);
	RTE_SET_USED(node_b);
	return 0;
}

struct home_case {
	struct octo_plan_pfs pfs;
	int node;
	uint16_t queue;
	octo_plan_distance_t distance;
	int home;
};

static void
check(const struct home_case *cases, size_t nb)
{
	for (size_t i = 0; i < nb; i++)
		assert_int_equal(octo_plan_home(&cases[i].pfs, cases[i].node, cases[i].queue,
						cases[i].distance),
				 cases[i].home);
}

#define TWO                                                                                        \
	{                                                                                          \
		.nb = 2, .usable = 0x3, .node = { 0, 1 }                                           \
	}
#define FOUR                                                                                       \
	{                                                                                          \
		.nb = 4, .usable = 0xf, .node = { 0, 1, 0, 1 }                                     \
	}

static void
test_home_is_the_same_node(void **state)
{
	static const struct home_case cases[] = {
		{TWO, 0, 0, octo_plan_flat_distance, 0},
		{TWO, 0, 1, octo_plan_flat_distance, 0},
		{TWO, 1, 0, octo_plan_flat_distance, 1},
		{TWO, 1, 7, octo_plan_flat_distance, 1},
	};

	(void)state;
	check(cases, RTE_DIM(cases));
}

static void
test_home_spreads_over_equals(void **state)
{
	static const struct home_case cases[] = {
		{FOUR, 0, 0, octo_plan_flat_distance, 0},
		{FOUR, 0, 1, octo_plan_flat_distance, 2},
		{FOUR, 1, 0, octo_plan_flat_distance, 1},
		{FOUR, 1, 1, octo_plan_flat_distance, 3},
		{FOUR, 7, 6, octo_plan_flat_distance, 2},
		{FOUR, -1, 0, octo_plan_flat_distance, 0},
		{FOUR, -1, 3, octo_plan_flat_distance, 3},
		{FOUR, -1, 4, octo_plan_flat_distance, 0},
	};

	(void)state;
	check(cases, RTE_DIM(cases));
}

static void
test_home_is_the_nearest(void **state)
{
	static const struct home_case cases[] = {
		{{3, 0x7, {2, 1, 3}}, 0, 0, ring_distance, 1},
		{{3, 0x7, {2, 1, 3}}, 0, 1, ring_distance, 2},
		{{3, 0x7, {2, 1, 3}}, 2, 1, ring_distance, 0},
		{{1, 0x1, {3}}, 1, 5, ring_distance, 0},
	};

	(void)state;
	check(cases, RTE_DIM(cases));
}

static void
test_home_is_usable(void **state)
{
	static const struct home_case cases[] = {
		{{2, 0x2, {0, 1}}, 0, 0, octo_plan_flat_distance, 1},
		{{2, 0x1, {0, 1}}, 1, 1, octo_plan_flat_distance, 0},
		{{2, 0x1, {0, 1}}, -1, 1, octo_plan_flat_distance, 0},
		{{2, 0x0, {0, 1}}, 0, 0, octo_plan_flat_distance, -1},
		{{0, 0xff, {0}}, 0, 0, octo_plan_flat_distance, -1},
		/* bits beyond nb say nothing */
		{{1, 0xfe, {0}}, 0, 0, octo_plan_flat_distance, -1},
		{{8, 0x80, {0, 0, 0, 0, 0, 0, 0, 1}}, 0, 3, octo_plan_flat_distance, 7},
	};

	(void)state;
	check(cases, RTE_DIM(cases));
}

static void
test_pf_of_unknown_node_is_the_last_choice(void **state)
{
	static const struct home_case cases[] = {
		{{2, 0x3, {-1, 1}}, 0, 0, octo_plan_flat_distance, 1},
		{{2, 0x3, {-1, -1}}, 0, 1, octo_plan_flat_distance, 1},
		{{2, 0x1, {-1, 1}}, 1, 0, octo_plan_flat_distance, 0},
		{{2, 0x3, {-1, 1}}, -1, 0, octo_plan_flat_distance, 0},
	};

	(void)state;
	check(cases, RTE_DIM(cases));
}

static void
test_unknown_distance_still_tells_own_node(void **state)
{
	static const struct home_case cases[] = {
		{TWO, 0, 1, unknown_distance, 0},
		{TWO, 1, 0, unknown_distance, 1},
		{FOUR, 1, 0, unknown_distance, 1},
	};

	(void)state;
	check(cases, RTE_DIM(cases));
}

static void
test_the_nearest_of_a_kind(void **state)
{
	static const struct {
		uint16_t nb;
		int16_t nodes[OCTO_PLAN_MAX_PFS];
		int node;
		int nearest;
	} cases[] = {
		{2, {0, 1}, 1, 1},
		{2, {1, 0}, 1, 0},
		{2, {2, 1}, 0, 1},
		{2, {2, 3}, 1, 0},
		{2, {3, 1}, 0, 0}, /* the first of equals */
		{1, {3}, 1, 0},
		{2, {0, 1}, -1, 0},
		{2, {-1, 2}, 0, 1}, /* unknown is farthest */
		{2, {OCTO_PLAN_MIXED, 2}, 0, 1},
		{8, {2, 2, 2, 2, 2, 2, 2, 0}, 0, 7},
	};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(cases); i++)
		assert_int_equal(octo_plan_nearest(cases[i].nodes, cases[i].nb, cases[i].node,
						   ring_distance),
				 cases[i].nearest);
}

static void
test_twins(void **state)
{
	static const int16_t nodes[] = {0, 1, 3, 1};
	uint16_t first, second;

	(void)state;
	assert_false(octo_plan_twins(nodes, 3, &first, &second));
	assert_true(octo_plan_twins(nodes, 4, &first, &second));
	assert_int_equal(first, 1);
	assert_int_equal(second, 3);
}

static void
test_flat_distance(void **state)
{
	(void)state;
	assert_int_equal(octo_plan_flat_distance(3, 3), 10);
	assert_int_equal(octo_plan_flat_distance(0, 1), 20);
}

static void
test_crossings_are_what_is_on_other_nodes(void **state)
{
	static const struct {
		struct octo_locality locality;
		uint32_t crossings;
		const char *names;
	} cases[] = {
		{{.pf = 1, .ring = 1, .pool = 1, .cpu = 1}, 0, "none"},
		{{.pf = 1, .ring = 1, .pool = 0, .cpu = 1}, OCTO_CROSS_POOL, "pool"},
		{{.pf = 0, .ring = 1, .pool = 0, .cpu = 1},
		 OCTO_CROSS_RING | OCTO_CROSS_CPU,
		 "ring cpu"},
		{{.pf = 0, .ring = 0, .pool = OCTO_PLAN_MIXED, .cpu = 0}, OCTO_CROSS_POOL, "pool"},
		{{.pf = 2, .ring = 0, .pool = 1, .cpu = 3},
		 OCTO_CROSS_RING | OCTO_CROSS_POOL | OCTO_CROSS_CPU,
		 "ring pool cpu"},
		/* what is unknown is not said to cross */
		{{.pf = 1, .ring = -1, .pool = -1, .cpu = -1}, 0, "none"},
		{{.pf = -1, .ring = 0, .pool = 1, .cpu = 0}, 0, "none"},
	};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		const uint32_t got = octo_plan_crossings(&cases[i].locality);

		assert_int_equal(got, cases[i].crossings);
		assert_string_equal(octo_plan_crossing_names(got), cases[i].names);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_home_is_the_same_node),
		cmocka_unit_test(test_home_spreads_over_equals),
		cmocka_unit_test(test_home_is_the_nearest),
		cmocka_unit_test(test_home_is_usable),
		cmocka_unit_test(test_pf_of_unknown_node_is_the_last_choice),
		cmocka_unit_test(test_unknown_distance_still_tells_own_node),
		cmocka_unit_test(test_the_nearest_of_a_kind),
		cmocka_unit_test(test_twins),
		cmocka_unit_test(test_flat_distance),
		cmocka_unit_test(test_crossings_are_what_is_on_other_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
