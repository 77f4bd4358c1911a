/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ethdev.h>

#include "octo_test.h"

#include "octo_slice.h"

static char why[128];

static struct octo_slice
slice_of(const char *text)
{
	struct octo_slice slice;

	assert_int_equal(octo_slice_read(&slice, text, why, sizeof(why)), 0);
	return slice;
}

static void
test_read_gives_every_nth_queue_or_a_range(void **state)
{
	static const struct {
		const char *text;
		uint16_t i;
		uint16_t queue;
	} cases[] = {
		{"0::2", 0, 0},  {"0::2", 3, 6}, {"1::2", 0, 1},   {"1::2", 3, 7},
		{"8::4", 2, 16}, {"0-3", 3, 3},  {"4-7", 0, 4},    {"4-7", 3, 7},
		{"5-5", 0, 5},   {"0::1", 9, 9}, {"0-1023", 9, 9},
	};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		const struct octo_slice slice = slice_of(cases[i].text);

		assert_int_equal(octo_slice_queue(&slice, cases[i].i), cases[i].queue);
		assert_int_equal(octo_slice_find(&slice, cases[i].queue), cases[i].i);
	}
}

static void
test_read_refuses_what_is_no_slice(void **state)
{
	static const char *const texts[] = {
		"",
		"0",
		"0:2",
		"0:::2",
		"::2",
		"0::",
		"0::0",
		"0::2 ",
		" 0::2",
		"0::-2",
		"0::+2",
		"-3",
		"3-",
		"4-3",
		"0--3",
		"0-3-",
		"a-b",
		"0::a",
		"0-1024",
		"1024-1025",
		"0::1024",
		"0::99999999999999999999",
		"65536-65537",
		"0-0x3",
		"0/",
		"/2",
		"2/2",
		"0/0",
		"0/1024",
		"0/2/",
		"0/2-3",
	};
	const struct octo_slice before = {.first = 7, .stride = 3, .last = 9};
	struct octo_slice slice = before;

	(void)state;
	for (size_t i = 0; i < RTE_DIM(texts); i++) {
		why[0] = '\0';
		assert_int_equal(octo_slice_read(&slice, texts[i], why, sizeof(why)), -EINVAL);
		assert_memory_equal(&slice, &before, sizeof(slice));
		assert_non_null(strstr(why, "0::2"));
	}
}

static void
test_format_is_the_inverse_of_read(void **state)
{
	static const char *const texts[] = {"0::2",       "1::2", "0-3",      "1000-1023",
					    "1023::1023", "0/2",  "1022/1023"};
	char text[OCTO_SLICE_TEXT_MAX];

	(void)state;
	for (size_t i = 0; i < RTE_DIM(texts); i++) {
		const struct octo_slice slice = slice_of(texts[i]);

		octo_slice_format(&slice, text);
		assert_string_equal(text, texts[i]);
	}
}

/* The definition, counted one by one. */
static uint16_t
count(const struct octo_slice *slice, uint16_t nb)
{
	uint16_t n = 0;

	for (uint16_t queue = 0; queue < nb; queue++)
		n += octo_slice_find(slice, queue) >= 0;
	return n;
}

static void
test_room_counts_the_queues_that_the_port_has(void **state)
{
	static const char *const texts[] = {"0::2", "1::2", "2::3", "0-3", "4-7", "0::1", "9::7"};
	const struct octo_slice all = OCTO_SLICE_ALL;

	(void)state;
	for (size_t i = 0; i < RTE_DIM(texts); i++) {
		const struct octo_slice slice = slice_of(texts[i]);

		for (uint16_t nb = 0; nb < 40; nb++)
			assert_int_equal(octo_slice_room(&slice, nb), count(&slice, nb));
	}
	assert_int_equal(octo_slice_room(&all, 0), 0);
	assert_int_equal(octo_slice_room(&all, UINT16_MAX), UINT16_MAX);
}

/* The definition of the drivers, queue by queue. */
static void
test_parts_divide_the_queues_that_the_port_has(void **state)
{
	char text[OCTO_SLICE_TEXT_MAX];

	(void)state;
	for (uint16_t parts = 1; parts <= 8; parts++) {
		for (uint16_t part = 0; part < parts; part++) {
			struct octo_slice slice;

			snprintf(text, sizeof(text), "%u/%u", part, parts);
			slice = slice_of(text);
			for (uint16_t nb = 1; nb < 40; nb++) {
				octo_slice_fit(&slice, nb);
				for (uint16_t queue = 0; queue < nb; queue++)
					assert_int_equal(octo_slice_find(&slice, queue) >= 0,
							 queue * parts / nb == part);
				assert_int_equal(octo_slice_room(&slice, nb), count(&slice, nb));
			}
		}
	}
}

static void
test_fit_changes_no_other_slice(void **state)
{
	static const char *const texts[] = {"0::2", "1::2", "4-7"};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(texts); i++) {
		const struct octo_slice before = slice_of(texts[i]);
		struct octo_slice slice = before;

		octo_slice_fit(&slice, 5);
		assert_memory_equal(&slice, &before, sizeof(slice));
	}
}

static void
test_a_queue_outside_is_not_found(void **state)
{
	const struct octo_slice odd = slice_of("1::2");
	const struct octo_slice range = slice_of("4-7");

	(void)state;
	assert_int_equal(octo_slice_find(&odd, 0), -1);
	assert_int_equal(octo_slice_find(&odd, 2), -1);
	assert_int_equal(octo_slice_find(&range, 3), -1);
	assert_int_equal(octo_slice_find(&range, 8), -1);
}

static void
test_overlap_is_found_in_both_directions(void **state)
{
	static const struct {
		const char *a;
		const char *b;
		bool overlap;
	} cases[] = {
		{"0::2", "1::2", false},        {"0::2", "0::2", true}, {"0::2", "0::4", true},
		{"0::3", "1::2", true},         {"0-3", "4-7", false},  {"0-4", "4-7", true},
		{"0-3", "1::2", true},          {"0-0", "1::2", false}, {"8::2", "0-7", false},
		{"1022-1023", "0::1023", true}, {"0/2", "1/2", false},  {"0/2", "0/2", true},
		{"0/2", "1/4", true},           {"1/2", "1/4", false},  {"0/2", "3-4", true},
	};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		const struct octo_slice a = slice_of(cases[i].a);
		const struct octo_slice b = slice_of(cases[i].b);

		assert_int_equal(octo_slice_overlaps(&a, &b), cases[i].overlap);
		assert_int_equal(octo_slice_overlaps(&b, &a), cases[i].overlap);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_gives_every_nth_queue_or_a_range),
		cmocka_unit_test(test_read_refuses_what_is_no_slice),
		cmocka_unit_test(test_format_is_the_inverse_of_read),
		cmocka_unit_test(test_room_counts_the_queues_that_the_port_has),
		cmocka_unit_test(test_parts_divide_the_queues_that_the_port_has),
		cmocka_unit_test(test_fit_changes_no_other_slice),
		cmocka_unit_test(test_a_queue_outside_is_not_found),
		cmocka_unit_test(test_overlap_is_found_in_both_directions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
