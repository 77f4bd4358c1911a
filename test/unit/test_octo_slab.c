/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include <rte_malloc.h>

#include "octo_test.h"
#include "octo_test_eal.h"

#include "octo_slab.h"

#define MANY 10000
#define SIZE 100

static struct octo_slab slab;
static uint8_t *objects[MANY];

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

static int
make_slab(void **state)
{
	(void)state;
	octo_slab_init(&slab, "test", SIZE);
	return 0;
}

static int
free_slab(void **state)
{
	(void)state;
	octo_slab_fini(&slab);
	return 0;
}

static bool
is_filled(const uint8_t *object, uint8_t with)
{
	for (size_t i = 0; i < SIZE; i++)
		if (object[i] != with)
			return false;
	return true;
}

static void
get_all(void)
{
	for (size_t i = 0; i < MANY; i++) {
		objects[i] = octo_slab_get(&slab);
		assert_non_null(objects[i]);
		assert_true(is_filled(objects[i], 0));
		memset(objects[i], (int)i, SIZE);
	}
}

static void
put_every(size_t step)
{
	for (size_t i = 0; i < MANY; i += step) {
		octo_slab_put(&slab, objects[i]);
		objects[i] = NULL;
	}
}

static void
test_objects_are_zeroed_and_apart(void **state)
{
	(void)state;
	get_all();
	for (size_t i = 0; i < MANY; i++)
		assert_true(is_filled(objects[i], (uint8_t)i));
}

static void
test_objects_are_aligned(void **state)
{
	(void)state;
	for (size_t i = 0; i < MANY; i++)
		assert_int_equal((uintptr_t)octo_slab_get(&slab) % 8, 0);
}

static void
test_what_is_given_back_is_used_again(void **state)
{
	size_t bytes;

	(void)state;
	get_all();
	bytes = octo_slab_bytes(&slab);
	for (int round = 0; round < 5; round++) {
		put_every(2);
		for (size_t i = 0; i < MANY; i += 2) {
			objects[i] = octo_slab_get(&slab);
			assert_true(is_filled(objects[i], 0));
			memset(objects[i], (int)i, SIZE);
		}
		for (size_t i = 0; i < MANY; i++)
			assert_true(is_filled(objects[i], (uint8_t)i));
	}
	assert_int_equal(octo_slab_bytes(&slab), bytes);
}

static void
test_the_last_one_takes_all_memory_along(void **state)
{
	const size_t before = heap_bytes();

	(void)state;
	get_all();
	assert_in_range(heap_bytes(), before + (size_t)MANY * SIZE, SIZE_MAX);
	put_every(1);
	assert_int_equal(octo_slab_bytes(&slab), 0);
	assert_int_equal(heap_bytes(), before);
	assert_non_null(octo_slab_get(&slab));
}

static void
test_fini_frees_what_was_not_given_back(void **state)
{
	const size_t before = heap_bytes();

	(void)state;
	get_all();
	octo_slab_fini(&slab);
	assert_int_equal(heap_bytes(), before);
}

static void
test_bytes_are_those_of_the_heap(void **state)
{
	const size_t before = heap_bytes();
	size_t taken;

	(void)state;
	assert_int_equal(octo_slab_bytes(&slab), 0);
	get_all();
	taken = heap_bytes() - before;
	assert_in_range(octo_slab_bytes(&slab), taken - taken / 100, taken + taken / 100);
}

/* Nothing on top of the objects themselves that is worth mentioning. */
static void
test_an_object_takes_its_size(void **state)
{
	(void)state;
	get_all();
	assert_in_range(octo_slab_bytes(&slab) / MANY, SIZE, SIZE + SIZE / 8);
}

static void
test_an_object_larger_than_a_chunk(void **state)
{
	uint8_t *object;

	(void)state;
	octo_slab_init(&slab, "large", 1u << 20);
	object = octo_slab_get(&slab);
	assert_non_null(object);
	memset(object, 1, 1u << 20);
	octo_slab_put(&slab, object);
	assert_int_equal(octo_slab_bytes(&slab), 0);
}

static void
test_no_memory_is_said(void **state)
{
	(void)state;
	octo_slab_init(&slab, "huge", 1ul << 31);
	assert_null(octo_slab_get(&slab));
	assert_int_equal(octo_slab_bytes(&slab), 0);
}

#define slab_test(f) cmocka_unit_test_setup_teardown(f, make_slab, free_slab)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		slab_test(test_objects_are_zeroed_and_apart),
		slab_test(test_objects_are_aligned),
		slab_test(test_what_is_given_back_is_used_again),
		slab_test(test_the_last_one_takes_all_memory_along),
		slab_test(test_fini_frees_what_was_not_given_back),
		slab_test(test_bytes_are_those_of_the_heap),
		slab_test(test_an_object_takes_its_size),
		slab_test(test_an_object_larger_than_a_chunk),
		slab_test(test_no_memory_is_said),
	};

	return cmocka_run_group_tests(tests, octo_test_eal_init, octo_test_eal_cleanup);
}
