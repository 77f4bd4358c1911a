/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include <rte_common.h>

#include "octo_test.h"

#include "octo_socket_map.h"

static struct octo_socket_map map;
static char why[256];

static int
read_map(const char *text)
{
	octo_socket_map_clear(&map);
	return octo_socket_map_read(&map, text, why, sizeof(why));
}

static void
test_clear_maps_nothing(void **state)
{
	(void)state;
	octo_socket_map_clear(&map);
	for (unsigned int cpu = 0; cpu < OCTO_SOCKET_MAP_CPUS; cpu++)
		assert_int_equal(octo_socket_map_node(&map, cpu), -1);
}

static void
test_read_maps_numbers_and_ranges(void **state)
{
	static const struct {
		const char *text;
		unsigned int cpu;
		int node;
	} cases[] = {
		{"0:0/1:1", 0, 0},     {"0:0/1:1", 1, 1},         {"0:0/1:1", 2, -1},
		{"0-3:0/4-7:1", 3, 0}, {"0-3:0/4-7:1", 4, 1},     {"0-3:0/4-7:1", 8, -1},
		{"1023:63", 1023, 63}, {"1023:63", 1022, -1},     {"0-1023:1", 512, 1},
		{"5-5:2", 5, 2},       {"0:0/2:0/1:1/3:1", 2, 0}, {"007:01", 7, 1},
	};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		assert_int_equal(read_map(cases[i].text), 0);
		assert_int_equal(octo_socket_map_node(&map, cases[i].cpu), cases[i].node);
	}
}

static void
test_cpu_beyond_the_map_has_no_node(void **state)
{
	(void)state;
	assert_int_equal(read_map("0-1023:1"), 0);
	assert_int_equal(octo_socket_map_node(&map, OCTO_SOCKET_MAP_CPUS), -1);
	assert_int_equal(octo_socket_map_node(&map, UINT32_MAX), -1);
}

static void
test_read_refuses_and_shows_where(void **state)
{
	static const struct {
		const char *text;
		const char *says; /* part of the message */
	} bad[] = {
		{"", "CPU number"},
		{"x", "at \"x\""},
		{":0", "at \":0\""},
		{"0", "':' and a node"},
		{"0:", "node number"},
		{"0:x", "at \"x\""},
		{"0:-1", "at \"-1\""},
		{"0:64", "at \"64\""},
		{"1024:0", "at \"1024:0\""},
		{"0-1024:0", "at \"1024:0\""},
		{"18446744073709551616:0", "at \"18446744073709551616:0\""},
		{"3-1:0", "ends before"},
		{"0-:0", "after '-'"},
		{"-1:0", "CPU number"},
		{" 0:0", "CPU number"},
		{"0:0 ", "'/' or the end"},
		{"0:0,1:1", "'/' or the end"},
		{"0:0/", "CPU number"},
		{"0:0//1:1", "CPU number"},
		{"0:0/0:1", "twice"},
		{"0-4:0/4:0", "twice"},
	};
	struct octo_socket_map before;

	(void)state;
	for (size_t i = 0; i < RTE_DIM(bad); i++) {
		octo_socket_map_clear(&map);
		map.node[9] = 3;
		before = map;
		assert_int_equal(octo_socket_map_read(&map, bad[i].text, why, sizeof(why)),
				 -EINVAL);
		if (strstr(why, bad[i].says) == NULL)
			fail_msg("\"%s\": \"%s\" does not say %s", bad[i].text, why, bad[i].says);
		assert_memory_equal(&map, &before, sizeof(map));
	}
}

static void
test_read_keeps_within_the_message_buffer(void **state)
{
	char small[8] = "1234567";

	(void)state;
	assert_int_equal(octo_socket_map_read(&map, "x", small, 4), -EINVAL);
	assert_int_equal(small[3], '\0');
	assert_string_equal(small + 4, "567");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clear_maps_nothing),
		cmocka_unit_test(test_read_maps_numbers_and_ranges),
		cmocka_unit_test(test_cpu_beyond_the_map_has_no_node),
		cmocka_unit_test(test_read_refuses_and_shows_where),
		cmocka_unit_test(test_read_keeps_within_the_message_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
