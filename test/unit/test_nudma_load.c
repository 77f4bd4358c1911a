/* SPDX-License-Identifier: BSD-3-Clause */

#include <math.h>
#include <string.h>

#include "octo_test.h"

#include "nudma_load.h"
#include "nudma_testbed.h"

/* Of a line of the other node that is read while nothing else goes on, without service times. */
#define REMOTE_NS 150.0

static struct nudma_load load;

static void
solve(unsigned int node, unsigned int readers, unsigned int writers)
{
	struct nudma_demand demand = {0};

	nudma_demand_stream(&demand, &testbed, node, readers, 0);
	nudma_demand_stream(&demand, &testbed, node, writers, 1);
	nudma_load_solve(&testbed, &demand, &load);
}

static double
gb(unsigned int class)
{
	return load.rate[class] * NUDMA_LINE;
}

static void
assert_near(double value, double wanted, double part)
{
	if (!(fabs(value - wanted) <= part * wanted))
		fail_msg("%f is not %f, give or take %f %%", value, wanted, part * 100);
}

static void
test_nobody_waits_on_an_idle_machine(void **state)
{
	(void)state;
	solve(0, 0, 0);
	for (unsigned int node = 0; node < NUDMA_NODES; node++) {
		assert_true(load.link_wait_ns[node] == 0);
		assert_true(load.dram_wait_ns[node] == 0);
		assert_true(load.link_use[node] == 0);
		assert_true(load.fill_gb[node] == 0);
	}
}

static void
test_one_line_takes_all_parts_of_its_way(void **state)
{
	struct nudma_demand demand = {.nb = 1, .of = {{.lines = 1, .remote = 1}}};
	const double flit = nudma_flit_ns(&testbed), line = nudma_dram_line_ns(&testbed);

	(void)state;
	nudma_load_solve(&testbed, &demand, &load);
	assert_near(1 / load.rate[0], REMOTE_NS + 10 * flit + line, 1e-6);
}

static void
test_a_core_gets_what_its_lines_allow(void **state)
{
	(void)state;
	solve(0, 1, 0);
	assert_near(gb(0), 16 * NUDMA_LINE / REMOTE_NS, 0.1);
	assert_true(gb(0) < 16 * NUDMA_LINE / REMOTE_NS);
}

static void
test_many_cores_get_what_the_link_has(void **state)
{
	(void)state;
	solve(0, 8, 0);
	assert_true(gb(0) <= testbed.link.gb);
	assert_near(gb(0), testbed.link.gb, 0.02);
	assert_true(load.link_use[1] <= 1 && load.link_use[1] > 0.98);
	/* requests are small */
	assert_near(load.link_use[0], load.link_use[1] / 9, 0.001);
	assert_near(load.fill_gb[0], gb(0), 1e-9);
	assert_true(load.fill_gb[1] == 0);
}

static void
test_lines_that_wait_are_those_outstanding(void **state)
{
	(void)state;
	solve(0, 8, 0);
	/* 128 lines go round, and all but those elsewhere are in front of the link: Little's law */
	assert_near(load.link_wait_ns[1], 128 / load.rate[0] - REMOTE_NS, 0.05);
}

static void
test_writing_loads_both_directions(void **state)
{
	(void)state;
	solve(1, 0, 8);
	assert_true(load.link_use[1] > 0.98);
	assert_near(load.link_use[0] / load.link_use[1], 0.9, 1e-6);
	assert_near(load.dram_use[0], 2 * gb(0) / testbed.dram_gb, 1e-6);
	assert_true(load.dram_use[1] == 0);
}

static void
test_more_load_never_shortens_a_wait(void **state)
{
	double before = 0;

	(void)state;
	for (unsigned int cores = 1; cores <= 8; cores++) {
		solve(0, cores, cores);
		assert_true(load.link_wait_ns[1] > before);
		before = load.link_wait_ns[1];
	}
}

static void
test_sockets_are_alike(void **state)
{
	struct nudma_load first;

	(void)state;
	solve(0, 3, 5);
	first = load;
	solve(1, 3, 5);
	for (unsigned int node = 0; node < NUDMA_NODES; node++) {
		assert_true(fabs(first.link_wait_ns[node] - load.link_wait_ns[1 - node]) < 1e-6);
		assert_true(fabs(first.dram_wait_ns[node] - load.dram_wait_ns[1 - node]) < 1e-6);
	}
}

static void
test_what_nics_move_comes_first(void **state)
{
	struct nudma_demand demand = {.nb = 1, .of = {{.lines = 128, .remote = 1}}};

	(void)state;
	nudma_load_solve(&testbed, &demand, &load);
	assert_near(gb(0), testbed.link.gb, 0.02);
	demand.open.flits[1] = 0.5 / nudma_flit_ns(&testbed);
	nudma_load_solve(&testbed, &demand, &load);
	assert_near(gb(0), testbed.link.gb / 2, 0.02);
	demand.open.bytes[1] = 0.9 * testbed.dram_gb;
	nudma_load_solve(&testbed, &demand, &load);
	assert_near(gb(0), testbed.dram_gb / 10, 0.02);
}

static void
test_too_much_of_it_leaves_a_little(void **state)
{
	struct nudma_demand demand = {.nb = 1, .of = {{.lines = 16, .remote = 1}}};

	(void)state;
	demand.open.flits[1] = 100;
	nudma_load_solve(&testbed, &demand, &load);
	assert_true(gb(0) > 0 && gb(0) <= testbed.link.gb / 100);
	assert_true(isfinite(load.link_wait_ns[1]));
}

static void
test_it_comes_out_the_same_twice(void **state)
{
	struct nudma_load first;

	(void)state;
	solve(0, 4, 3);
	first = load;
	memset(&load, 0x5a, sizeof(load));
	solve(0, 4, 3);
	assert_memory_equal(&first, &load, sizeof(load));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody_waits_on_an_idle_machine),
		cmocka_unit_test(test_one_line_takes_all_parts_of_its_way),
		cmocka_unit_test(test_a_core_gets_what_its_lines_allow),
		cmocka_unit_test(test_many_cores_get_what_the_link_has),
		cmocka_unit_test(test_lines_that_wait_are_those_outstanding),
		cmocka_unit_test(test_writing_loads_both_directions),
		cmocka_unit_test(test_more_load_never_shortens_a_wait),
		cmocka_unit_test(test_sockets_are_alike),
		cmocka_unit_test(test_what_nics_move_comes_first),
		cmocka_unit_test(test_too_much_of_it_leaves_a_little),
		cmocka_unit_test(test_it_comes_out_the_same_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
