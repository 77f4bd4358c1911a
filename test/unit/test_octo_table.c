/* SPDX-License-Identifier: BSD-3-Clause */

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "octo_test.h"
#include "octo_test_eal.h"

#include "octo_table.h"

#define MANY 200000

static uint8_t values[MANY];
static struct octo_tuple keys[MANY]; /* a table does not copy them */

/* The i-th of many different tuples, of both families. */
static struct octo_tuple
nth_key(uint32_t i)
{
	const uint32_t n = htonl(i);
	struct octo_tuple t;

	octo_tuple_clear(&t);
	t.family = i & 1 ? OCTO_IPV4 : OCTO_IPV6;
	t.proto = IPPROTO_TCP;
	t.dst_port = htons(80);
	memcpy(i & 1 ? t.src : t.src + 12, &n, sizeof(n));
	return t;
}

static int
add_nth(struct octo_table *t, uint32_t i)
{
	keys[i] = nth_key(i);
	return octo_table_add(t, &keys[i], &values[i]);
}

static void *
find_nth(struct octo_table *t, uint32_t i)
{
	const struct octo_tuple key = nth_key(i);

	return octo_table_find(t, &key);
}

static void *
remove_nth(struct octo_table *t, uint32_t i)
{
	const struct octo_tuple key = nth_key(i);

	return octo_table_remove(t, &key);
}

static int
make_table(void **state)
{
	*state = octo_table_create("test");
	return *state == NULL;
}

static int
free_table(void **state)
{
	octo_table_free(*state);
	return 0;
}

static void
fill(struct octo_table *t, uint32_t nb)
{
	for (uint32_t i = 0; i < nb; i++)
		assert_int_equal(add_nth(t, i), 0);
	assert_int_equal(octo_table_count(t), nb);
}

/* Walk, marking in values[] how often each was met. */
static uint32_t
walk(struct octo_table *t, bool remove)
{
	uint32_t next = 0, nb = 0;
	uint8_t *value;

	memset(values, 0, sizeof(values));
	for (value = octo_table_next(t, &next); value != NULL; value = octo_table_next(t, &next)) {
		nb++;
		(*value)++;
		if (remove)
			assert_ptr_equal(remove_nth(t, value - values), value);
	}
	return nb;
}

static void
test_new_table_is_empty(void **state)
{
	uint32_t next = 0;

	assert_int_equal(octo_table_count(*state), 0);
	assert_null(find_nth(*state, 1));
	assert_null(remove_nth(*state, 1));
	assert_null(octo_table_next(*state, &next));
}

static void
test_add_then_find(void **state)
{
	assert_int_equal(add_nth(*state, 1), 0);
	assert_ptr_equal(find_nth(*state, 1), &values[1]);
	assert_null(find_nth(*state, 2));
	assert_int_equal(octo_table_count(*state), 1);
}

static void
test_add_twice_is_refused(void **state)
{
	const struct octo_tuple key = nth_key(1);

	assert_int_equal(add_nth(*state, 1), 0);
	assert_int_equal(octo_table_add(*state, &key, &values[2]), -EEXIST);
	assert_ptr_equal(find_nth(*state, 1), &values[1]);
	assert_int_equal(octo_table_count(*state), 1);
}

static void
test_add_twice_is_refused_when_full(void **state)
{
	fill(*state, 1024);
	assert_int_equal(add_nth(*state, 5), -EEXIST);
	assert_int_equal(octo_table_count(*state), 1024);
}

static void
test_remove_gives_the_value_once(void **state)
{
	assert_int_equal(add_nth(*state, 1), 0);
	assert_ptr_equal(remove_nth(*state, 1), &values[1]);
	assert_null(remove_nth(*state, 1));
	assert_null(find_nth(*state, 1));
	assert_int_equal(octo_table_count(*state), 0);
}

static void
test_removed_key_can_be_added_again(void **state)
{
	for (int i = 0; i < 5000; i++) {
		assert_int_equal(add_nth(*state, 1), 0);
		assert_ptr_equal(remove_nth(*state, 1), &values[1]);
	}
}

static void
test_grows_and_keeps_everything(void **state)
{
	static const uint32_t sizes[] = {1024, 1025, 4096, 4097, 16385};

	for (size_t s = 0, i = 0; s < RTE_DIM(sizes); s++) {
		for (; i < sizes[s]; i++)
			assert_int_equal(add_nth(*state, i), 0);
		assert_int_equal(octo_table_count(*state), sizes[s]);
		for (uint32_t j = 0; j < sizes[s]; j++)
			assert_ptr_equal(find_nth(*state, j), &values[j]);
	}
}

static void
test_walk_meets_each_once(void **state)
{
	static const uint32_t sizes[] = {1, 2, 1024, 4096, MANY};

	for (size_t s = 0; s < RTE_DIM(sizes); s++) {
		for (uint32_t i = octo_table_count(*state); i < sizes[s]; i++)
			assert_int_equal(add_nth(*state, i), 0);
		assert_int_equal(walk(*state, false), sizes[s]);
		for (uint32_t i = 0; i < sizes[s]; i++)
			assert_int_equal(values[i], 1);
	}
}

static void
test_walk_that_removes_meets_each_once(void **state)
{
	/* full tables: where entries share buckets most */
	static const uint32_t sizes[] = {10, 1024, 4096, 16384, 65536};

	for (size_t s = 0; s < RTE_DIM(sizes); s++) {
		fill(*state, sizes[s]);
		assert_int_equal(walk(*state, true), sizes[s]);
		assert_int_equal(octo_table_count(*state), 0);
	}
}

static void
test_walk_that_removes_some_meets_the_rest(void **state)
{
	uint32_t next = 0, nb = 0;
	uint8_t *value;

	fill(*state, 4096);
	for (value = octo_table_next(*state, &next); value != NULL;
	     value = octo_table_next(*state, &next)) {
		if (nb++ % 3 == 0)
			assert_non_null(remove_nth(*state, value - values));
	}
	assert_int_equal(nb, 4096);
	assert_int_equal(walk(*state, false), 4096 - (4096 + 2) / 3);
}

static void
test_many(void **state)
{
	fill(*state, MANY);
	for (uint32_t i = 0; i < MANY; i += 2)
		assert_ptr_equal(remove_nth(*state, i), &values[i]);
	assert_int_equal(octo_table_count(*state), MANY / 2);
	for (uint32_t i = 0; i < MANY; i++)
		assert_ptr_equal(find_nth(*state, i), i & 1 ? &values[i] : NULL);
	for (uint32_t i = 0; i < MANY; i += 2)
		assert_int_equal(add_nth(*state, i), 0);
	assert_int_equal(walk(*state, false), MANY);
}

static void
test_two_tables_are_apart(void **state)
{
	struct octo_table *other = octo_table_create("other");

	assert_non_null(other);
	fill(other, 5000);
	assert_int_equal(add_nth(*state, 1), 0);
	assert_int_equal(octo_table_count(*state), 1);
	octo_table_free(other);
	assert_ptr_equal(find_nth(*state, 1), &values[1]);
}

static void
test_longest_name_can_grow(void **state)
{
	struct octo_table *t = octo_table_create("0123456789abcdef");

	(void)state;
	assert_non_null(t);
	fill(t, 20000);
	octo_table_free(t);
}

static void
test_free_returns_all_memory(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		struct octo_table *t = octo_table_create("again");

		assert_non_null(t);
		fill(t, 5000);
		octo_table_free(t);
	}
	octo_table_free(NULL);
}

static size_t
heap_bytes(void)
{
	struct rte_malloc_socket_stats stats;
	size_t sum = 0;

	for (unsigned int i = 0; i < rte_socket_count(); i++)
		if (rte_malloc_get_socket_stats(rte_socket_id_by_idx(i), &stats) == 0)
			sum += stats.heap_allocsz_bytes;
	return sum;
}

static void
test_bytes_are_those_of_the_heap(void **state)
{
	static const uint32_t sizes[] = {0, 1024, 1025, 65536, 65537};

	(void)state;
	for (size_t s = 0; s < RTE_DIM(sizes); s++) {
		const size_t before = heap_bytes();
		struct octo_table *t = octo_table_create("bytes");
		size_t taken, told;

		assert_non_null(t);
		fill(t, sizes[s]);
		taken = heap_bytes() - before;
		told = octo_table_bytes(t);
		assert_in_range(told, taken - taken / 100 - 4096, taken);
		octo_table_free(t);
		assert_int_equal(heap_bytes(), before);
	}
}

static void
test_takes_at_most_64_bytes_for_a_key_when_full(void **state)
{
	fill(*state, 65536);
	assert_in_range(octo_table_bytes(*state), 1, 65536 * 64);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_new_table_is_empty, make_table, free_table),
		cmocka_unit_test_setup_teardown(test_add_then_find, make_table, free_table),
		cmocka_unit_test_setup_teardown(test_add_twice_is_refused, make_table, free_table),
		cmocka_unit_test_setup_teardown(test_add_twice_is_refused_when_full, make_table,
						free_table),
		cmocka_unit_test_setup_teardown(test_remove_gives_the_value_once, make_table,
						free_table),
		cmocka_unit_test_setup_teardown(test_removed_key_can_be_added_again, make_table,
						free_table),
		cmocka_unit_test_setup_teardown(test_grows_and_keeps_everything, make_table,
						free_table),
		cmocka_unit_test_setup_teardown(test_walk_meets_each_once, make_table, free_table),
		cmocka_unit_test_setup_teardown(test_walk_that_removes_meets_each_once, make_table,
						free_table),
		cmocka_unit_test_setup_teardown(test_walk_that_removes_some_meets_the_rest,
						make_table, free_table),
		cmocka_unit_test_setup_teardown(test_many, make_table, free_table),
		cmocka_unit_test_setup_teardown(test_two_tables_are_apart, make_table, free_table),
		cmocka_unit_test(test_longest_name_can_grow),
		cmocka_unit_test(test_free_returns_all_memory),
		cmocka_unit_test(test_bytes_are_those_of_the_heap),
		cmocka_unit_test_setup_teardown(test_takes_at_most_64_bytes_for_a_key_when_full,
						make_table, free_table),
	};

	return cmocka_run_group_tests(tests, octo_test_eal_init, octo_test_eal_cleanup);
}
