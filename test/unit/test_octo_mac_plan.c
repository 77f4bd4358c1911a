/* SPDX-License-Identifier: BSD-3-Clause */

/* Which PF has which address, and which one receives what is for several. */

#include <rte_common.h>

#include "octo_test.h"

#include "octo_mac_plan.h"

struct plan_case {
	uint16_t nb_pfs;
	uint32_t usable;
	struct octo_mac_plan plan;
};

static void
test_each_usable_pf_holds_its_own(void **state)
{
	static const struct plan_case cases[] = {
		{2, 0x3, {.designated = 0, .holder = {0, 1}}},
		{2, 0x2, {.designated = 1, .holder = {1, 1}}},
		{2, 0x1, {.designated = 0, .holder = {0, 0}}},
		{2, 0x0, {.designated = 0, .holder = {0, 1}}},
		{4, 0xa, {.designated = 1, .holder = {1, 1, 1, 3}}},
		{4, 0xc, {.designated = 2, .holder = {2, 2, 2, 3}}},
		{8, 0xff, {.designated = 0, .holder = {0, 1, 2, 3, 4, 5, 6, 7}}},
		{8, 0x80, {.designated = 7, .holder = {7, 7, 7, 7, 7, 7, 7, 7}}},
	};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		struct octo_mac_plan plan;

		octo_mac_plan_make(cases[i].nb_pfs, cases[i].usable, &plan);
		assert_int_equal(plan.designated, cases[i].plan.designated);
		assert_memory_equal(plan.holder, cases[i].plan.holder, cases[i].nb_pfs);
	}
}

static void
test_addresses_that_move(void **state)
{
	struct octo_mac_plan both, second, fourth;

	(void)state;
	octo_mac_plan_make(4, 0xf, &both);
	octo_mac_plan_make(4, 0xe, &second);
	octo_mac_plan_make(4, 0x8, &fourth);
	assert_int_equal(octo_mac_plan_moved(4, &both, &both), 0);
	assert_int_equal(octo_mac_plan_moved(4, &both, &second), 0x1);
	assert_int_equal(octo_mac_plan_moved(4, &second, &fourth), 0x7);
	assert_int_equal(octo_mac_plan_moved(4, &fourth, &both), 0x7);
}

/* Each frame to an address of the port is no copy by exactly one PF, however many receive it. */
static void
test_one_pf_delivers_each_address(void **state)
{
	(void)state;
	for (uint32_t usable = 0; usable < 16; usable++) {
		struct octo_mac_plan plan;
		unsigned int received[4] = {0};

		octo_mac_plan_make(4, usable, &plan);
		for (uint8_t pf = 0; pf < 4; pf++) {
			const uint32_t foreign = octo_mac_plan_foreign(4, &plan, pf, true);

			for (uint8_t i = 0; i < 4; i++) {
				const bool gets = i == pf || plan.holder[i] == pf ||
						  plan.designated == pf;

				received[i] += gets && !(foreign & RTE_BIT32(i));
			}
		}
		for (uint8_t i = 0; i < 4; i++)
			assert_int_equal(received[i], 1);
	}
}

/* A PF that receives no copies need not look at addresses. */
static void
test_usual_pfs_receive_no_copies(void **state)
{
	struct octo_mac_plan plan;

	(void)state;
	octo_mac_plan_make(2, 0x3, &plan);
	assert_int_equal(octo_mac_plan_foreign(2, &plan, 0, false), 0);
	assert_int_equal(octo_mac_plan_foreign(2, &plan, 1, false), 0);
	assert_int_equal(octo_mac_plan_foreign(2, &plan, 0, true), 0x2);
	assert_int_equal(octo_mac_plan_foreign(2, &plan, 1, true), 0);
}

static void
test_addresses_that_cannot_be(void **state)
{
	static const struct rte_ether_addr good[] = {{{2, 0, 0, 0, 0, 1}}, {{2, 0, 0, 0, 0, 2}}};
	static const struct rte_ether_addr same[] = {{{2, 0, 0, 0, 0, 1}}, {{2, 0, 0, 0, 0, 1}}};
	static const struct rte_ether_addr none[] = {{{2, 0, 0, 0, 0, 1}}, {{0}}};
	static const struct rte_ether_addr group[] = {{{3, 0, 0, 0, 0, 1}}, {{2, 0, 0, 0, 0, 2}}};

	(void)state;
	assert_null(octo_mac_plan_refuse(good, 2));
	assert_non_null(strstr(octo_mac_plan_refuse(good, 1), "only one PF"));
	assert_non_null(strstr(octo_mac_plan_refuse(same, 2), "same MAC address"));
	assert_non_null(strstr(octo_mac_plan_refuse(none, 2), "not known"));
	assert_non_null(strstr(octo_mac_plan_refuse(group, 2), "not known"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_usable_pf_holds_its_own),
		cmocka_unit_test(test_addresses_that_move),
		cmocka_unit_test(test_one_pf_delivers_each_address),
		cmocka_unit_test(test_usual_pfs_receive_no_copies),
		cmocka_unit_test(test_addresses_that_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
