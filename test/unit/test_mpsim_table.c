/* SPDX-License-Identifier: BSD-3-Clause */

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_memory.h>

#include "octo_test.h"
#include "octo_test_eal.h"

#include "mpsim_table.h"

#define MAX 20000

static struct mpsim_table table;
static struct mpsim_rule rules[MAX + 1];

static void
set_key(struct mpsim_rule *r, uint32_t i, uint32_t priority)
{
	const uint32_t n = htonl(i);

	memset(r, 0, sizeof(*r));
	r->priority = priority;
	r->tuple.family = OCTO_IPV4;
	r->tuple.proto = IPPROTO_UDP;
	memcpy(r->tuple.src, &n, sizeof(n));
}

static int
add(uint32_t slot, uint32_t key, uint32_t priority)
{
	set_key(&rules[slot], key, priority);
	return mpsim_table_add(&table, &rules[slot]);
}

static struct mpsim_rule *
find(uint32_t key)
{
	struct mpsim_rule r, *found;
	const struct octo_tuple *keys[] = {&r.tuple};
	uint32_t sig;

	set_key(&r, key, 0);
	sig = mpsim_table_sig(&r.tuple);
	mpsim_table_lookup(&table, keys, &sig, 1, &found);
	return found;
}

static int
make_table(void **state)
{
	RTE_SET_USED(state);
	table = (struct mpsim_table){.max = MAX};
	return mpsim_table_prepare(&table, SOCKET_ID_ANY);
}

static int
free_table(void **state)
{
	RTE_SET_USED(state);
	mpsim_table_free(&table);
	return 0;
}

static void
full_table_refuses_and_keeps_all(void **state)
{
	RTE_SET_USED(state);
	for (uint32_t i = 0; i < MAX; i++)
		assert_int_equal(add(i, i, 0), 0);
	assert_int_equal(add(MAX, MAX, 0), -ENOSPC);
	assert_int_equal(table.count, MAX);
	for (uint32_t i = 0; i < MAX; i++)
		assert_ptr_equal(find(i), &rules[i]);
	assert_null(find(MAX));
	mpsim_table_remove(&table, &rules[7]);
	assert_null(find(7));
	assert_int_equal(add(MAX, MAX, 0), 0);
	assert_ptr_equal(find(MAX), &rules[MAX]);
}

static void
small_table_holds_what_it_says(void **state)
{
	RTE_SET_USED(state);
	mpsim_table_free(&table);
	table = (struct mpsim_table){.max = 1};
	assert_int_equal(mpsim_table_prepare(&table, SOCKET_ID_ANY), 0);
	assert_int_equal(add(0, 0, 0), 0);
	assert_int_equal(add(1, 1, 0), -ENOSPC);
	assert_int_equal(add(1, 0, 1), -ENOSPC);
}

static void
lowest_priority_number_wins(void **state)
{
	const uint32_t order[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
				     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(order); i++) {
		for (unsigned int k = 0; k < 3; k++)
			assert_int_equal(add(order[i][k], 5, order[i][k]), 0);
		for (unsigned int k = 0; k < 3; k++) {
			assert_ptr_equal(find(5), &rules[k]);
			mpsim_table_remove(&table, &rules[k]);
		}
		assert_null(find(5));
	}
}

static void
rules_can_leave_in_any_order(void **state)
{
	const uint32_t order[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
				     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(order); i++) {
		for (uint32_t k = 0; k < 3; k++)
			assert_int_equal(add(k, 5, k), 0);
		mpsim_table_remove(&table, &rules[order[i][0]]);
		assert_ptr_equal(find(5), &rules[RTE_MIN(order[i][1], order[i][2])]);
		mpsim_table_remove(&table, &rules[order[i][1]]);
		assert_ptr_equal(find(5), &rules[order[i][2]]);
		mpsim_table_remove(&table, &rules[order[i][2]]);
		assert_null(find(5));
		assert_int_equal(table.count, 0);
	}
}

static void
same_key_and_priority_is_refused(void **state)
{
	RTE_SET_USED(state);
	assert_int_equal(add(0, 5, 3), 0);
	assert_int_equal(add(1, 5, 3), -EEXIST);
	assert_int_equal(add(2, 5, 4), 0);
	assert_int_equal(add(1, 5, 4), -EEXIST);
	assert_int_equal(table.count, 2);
	assert_ptr_equal(find(5), &rules[0]);
}

static void
bulk_finds_each(void **state)
{
	const struct octo_tuple *keys[MPSIM_TABLE_BULK];
	struct mpsim_rule asked[MPSIM_TABLE_BULK], *found[MPSIM_TABLE_BULK];
	uint32_t sigs[MPSIM_TABLE_BULK];

	RTE_SET_USED(state);
	for (uint32_t i = 0; i < MPSIM_TABLE_BULK; i++) {
		if (i % 3 != 0)
			assert_int_equal(add(i, i, 0), 0);
		set_key(&asked[i], i, 0);
		keys[i] = &asked[i].tuple;
		sigs[i] = mpsim_table_sig(keys[i]);
	}
	mpsim_table_lookup(&table, keys, sigs, MPSIM_TABLE_BULK, found);
	for (uint32_t i = 0; i < MPSIM_TABLE_BULK; i++)
		assert_ptr_equal(found[i], i % 3 != 0 ? &rules[i] : NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(full_table_refuses_and_keeps_all, make_table,
						free_table),
		cmocka_unit_test_setup_teardown(small_table_holds_what_it_says, make_table,
						free_table),
		cmocka_unit_test_setup_teardown(lowest_priority_number_wins, make_table,
						free_table),
		cmocka_unit_test_setup_teardown(rules_can_leave_in_any_order, make_table,
						free_table),
		cmocka_unit_test_setup_teardown(same_key_and_priority_is_refused, make_table,
						free_table),
		cmocka_unit_test_setup_teardown(bulk_finds_each, make_table, free_table),
	};

	return cmocka_run_group_tests(tests, octo_test_eal_init, octo_test_eal_cleanup);
}
