/* SPDX-License-Identifier: BSD-3-Clause */

#include <math.h>
#include <string.h>

#include "octo_test.h"

#include "nudma_model.h"
#include "nudma_testbed.h"

#define NS 1000u

static struct nudma_model model;
static struct nudma_account account;

static int
setup(void **state)
{
	const struct nudma_load idle = {0};

	(void)state;
	nudma_model_set(&model, &testbed, &idle, false);
	account = (struct nudma_account){0};
	return 0;
}

static void
wait_on_link(double ns)
{
	const struct nudma_load load = {.link_wait_ns = {ns, ns}};

	nudma_model_set(&model, &testbed, &load, false);
}

static void
test_local_pf_writes_to_the_cache(void **state)
{
	(void)state;
	assert_int_equal(nudma_dma_write(&model, &account, 1, 1, 1514), NUDMA_IN_LLC);
	nudma_cpu_read(&model, &account, 1, 1, NUDMA_IN_LLC, NUDMA_AT_ONCE, 64);
	nudma_cpu_read(&model, &account, 1, 1, NUDMA_IN_LLC, NUDMA_STREAM, 1514);
	assert_int_equal(account.cpu_ps, 0);
	assert_int_equal(account.misses, 0);
	assert_int_equal(account.remote, 0);
	assert_int_equal(account.dram_read[1] + account.dram_write[1], 0);
	assert_int_equal(account.millflits[0] + account.millflits[1], 0);
	assert_int_equal(account.pcie_up[1], 1514 + 6 * 24);
	assert_int_equal(account.pcie_up[0], 0);
}

static void
test_remote_pf_costs_a_miss_for_each_completion(void **state)
{
	(void)state;
	assert_int_equal(nudma_dma_write(&model, &account, 0, 1, 64), NUDMA_IN_FOREIGN);
	nudma_cpu_read(&model, &account, 1, 1, NUDMA_IN_FOREIGN, NUDMA_AT_ONCE, 64);
	assert_int_equal(account.cpu_ps, 80 * NS);
	assert_int_equal(account.misses, 1);
	assert_int_equal(account.remote, 1);
}

static void
test_remote_rx_moves_three_times_its_bytes(void **state)
{
	(void)state;
	nudma_dma_write(&model, &account, 0, 1, 1536);
	nudma_cpu_read(&model, &account, 1, 1, NUDMA_IN_FOREIGN, NUDMA_LATE, 1536);
	assert_int_equal(account.dram_read[1], 2 * 1536);
	assert_int_equal(account.dram_write[1], 1536);
	assert_int_equal(account.dram_read[0] + account.dram_write[0], 0);
	assert_int_equal(account.spill_ps, 0);
	/* a request and the line go there, the ownership and a receipt come back */
	assert_int_equal(account.millflits[0], 24 * 10 * 1000);
	assert_int_equal(account.millflits[1], 24 * 2 * 1000);
}

static void
test_remote_tx_moves_its_bytes_once(void **state)
{
	(void)state;
	nudma_dma_read(&model, &account, 0, 1, 1536);
	assert_int_equal(account.dram_read[1], 1536);
	assert_int_equal(account.dram_write[1], 0);
	assert_int_equal(account.path_ps, 100 * NS);
	assert_int_equal(account.millflits[1], 24 * 9 * 1000);
	assert_int_equal(account.millflits[0], 24 * 1000);
	account = (struct nudma_account){0};
	nudma_dma_read(&model, &account, 1, 1, 1536);
	assert_int_equal(account.dram_read[1] + account.path_ps + account.remote, 0);
}

static void
test_streams_overlap_their_misses(void **state)
{
	(void)state;
	/* 100 ns for 16 lines are 6.25 ns for each; from the LLC 64 B at 32 GB/s take 2 */
	nudma_cpu_read(&model, &account, 1, 1, NUDMA_IN_DRAM, NUDMA_STREAM, 640);
	assert_int_equal(account.cpu_ps, 10 * 4250);
	assert_int_equal(account.misses, 0);
}

static void
test_a_loaded_link_delays_only_what_is_snooped(void **state)
{
	(void)state;
	wait_on_link(200);
	nudma_cpu_read(&model, &account, 1, 1, NUDMA_IN_DRAM, NUDMA_AT_ONCE, 64);
	assert_int_equal(account.cpu_ps, 80 * NS);
	account = (struct nudma_account){0};
	nudma_cpu_read(&model, &account, 1, 1, NUDMA_IN_FOREIGN, NUDMA_AT_ONCE, 64);
	assert_int_equal(account.cpu_ps, 450 * NS);
}

static void
test_without_directory_all_of_dram_is_snooped(void **state)
{
	struct nudma_machine machine = testbed;
	const struct nudma_load load = {.link_wait_ns = {200, 200}};

	(void)state;
	machine.link.directory = 0;
	nudma_model_set(&model, &machine, &load, false);
	nudma_cpu_read(&model, &account, 1, 1, NUDMA_IN_DRAM, NUDMA_AT_ONCE, 64);
	assert_int_equal(account.cpu_ps, 450 * NS);
}

static void
test_a_line_in_the_other_cache_costs_as_much_as_dram(void **state)
{
	(void)state;
	/* both look-ups and the way there and back: 90 ns, of which 20 are the hit at home */
	nudma_cpu_read(&model, &account, 1, 0, NUDMA_IN_LLC, NUDMA_AT_ONCE, 64);
	assert_int_equal(account.cpu_ps, 70 * NS);
	account = (struct nudma_account){0};
	nudma_cpu_read(&model, &account, 1, 0, NUDMA_IN_DRAM, NUDMA_AT_ONCE, 64);
	assert_int_equal(account.cpu_ps, 130 * NS);
}

static void
test_ways_cross_the_link_as_often_as_they_must(void **state)
{
	(void)state;
	wait_on_link(10);
	assert_int_equal(nudma_write_path_ps(&model, 1, 1), 0);
	assert_int_equal(nudma_write_path_ps(&model, 0, 1), (3 * 25 + 3 * 10) * NS);
	nudma_doorbell(&model, &account, 1, 0);
	assert_int_equal(account.path_ps, (25 + 10) * NS);
	nudma_doorbell(&model, &account, 1, 1);
	assert_int_equal(account.path_ps, (25 + 10) * NS);
	nudma_dma_read(&model, &account, 0, 1, 64);
	assert_int_equal(account.path_ps, (25 + 10 + 100 + 2 * 10) * NS);
}

static void
test_without_ddio_all_is_in_dram(void **state)
{
	const struct nudma_load idle = {0};

	(void)state;
	nudma_model_set(&model, &testbed, &idle, true);
	assert_int_equal(nudma_dma_write(&model, &account, 1, 1, 64), NUDMA_IN_DRAM);
	assert_int_equal(account.dram_write[1], 64);
	assert_int_equal(account.dram_read[1], 0);
	assert_int_equal(nudma_dma_write(&model, &account, 0, 1, 64), NUDMA_IN_FOREIGN);
}

static void
test_data_read_late_may_be_out(void **state)
{
	(void)state;
	nudma_cpu_read(&model, &account, 1, 1, NUDMA_IN_LLC, NUDMA_LATE, 640);
	assert_int_equal(account.cpu_ps, 0);
	assert_int_equal(account.spill_ps, 10 * 4250);
	assert_int_equal(account.spill_bytes[1], 640);
}

static void
test_evicted_is_what_does_not_fit(void **state)
{
	const double mib = 1048576;

	(void)state;
	assert_true(nudma_evicted(&testbed, 4 * mib, 1, 0) == 0);
	assert_true(fabs(nudma_evicted(&testbed, 8 * mib, 1, 0) - 0.5) < 1e-9);
	/* 32 MiB are overwritten in the time that the backlog takes to be read */
	assert_true(fabs(nudma_evicted(&testbed, 4 * mib, 1, 8) - (1 - exp(-1))) < 1e-9);
	assert_true(nudma_evicted(&testbed, 0, 1, 8) == 0);
	assert_true(nudma_evicted(&testbed, 4 * mib, 0, 8) == 1);
}

static void
test_order_of_charges_does_not_matter(void **state)
{
	struct nudma_account first, second = {0};

	(void)state;
	nudma_dma_write(&model, &account, 0, 1, 1514);
	nudma_dma_read(&model, &account, 1, 0, 64);
	first = account;
	account = (struct nudma_account){0};
	nudma_dma_read(&model, &account, 1, 0, 64);
	nudma_account_add(&second, &account);
	account = (struct nudma_account){0};
	nudma_dma_write(&model, &account, 0, 1, 1514);
	nudma_account_add(&second, &account);
	assert_memory_equal(&first, &second, sizeof(first));
	nudma_account_subtract(&second, &account);
	nudma_account_add(&second, &account);
	assert_memory_equal(&first, &second, sizeof(first));
}

static void
test_lanes_carry_what_they_are_clocked_for(void **state)
{
	(void)state;
	assert_true(fabs(nudma_pcie_gb(&testbed) - 8) < 1e-9);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_local_pf_writes_to_the_cache, setup),
		cmocka_unit_test_setup(test_remote_pf_costs_a_miss_for_each_completion, setup),
		cmocka_unit_test_setup(test_remote_rx_moves_three_times_its_bytes, setup),
		cmocka_unit_test_setup(test_remote_tx_moves_its_bytes_once, setup),
		cmocka_unit_test_setup(test_streams_overlap_their_misses, setup),
		cmocka_unit_test_setup(test_a_loaded_link_delays_only_what_is_snooped, setup),
		cmocka_unit_test_setup(test_without_directory_all_of_dram_is_snooped, setup),
		cmocka_unit_test_setup(test_a_line_in_the_other_cache_costs_as_much_as_dram, setup),
		cmocka_unit_test_setup(test_ways_cross_the_link_as_often_as_they_must, setup),
		cmocka_unit_test_setup(test_without_ddio_all_is_in_dram, setup),
		cmocka_unit_test_setup(test_data_read_late_may_be_out, setup),
		cmocka_unit_test_setup(test_evicted_is_what_does_not_fit, setup),
		cmocka_unit_test_setup(test_order_of_charges_does_not_matter, setup),
		cmocka_unit_test_setup(test_lanes_carry_what_they_are_clocked_for, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
