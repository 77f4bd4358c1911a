/* SPDX-License-Identifier: BSD-3-Clause */

/* The RETA of a netdev as octo changes it, and as it is given back. */

#include "octo_ethtool_table.h"
#include "octo_port.h"
#include "octo_port_kernel.h"

static struct octo_port_kernel *const kernel = &octo_port_kernel;

static struct octo_ethtool *
begin(void)
{
	struct octo_ethtool *et = octo_port_kernel_open();

	assert_int_equal(et->rules_refused, 0);
	assert_int_equal(et->reta_refused, 0);
	return et;
}

/* Somebody has set one that is not the driver's own. */
static void
set_theirs(void)
{
	for (uint32_t i = 0; i < kernel->reta_size; i++)
		kernel->reta[i] = kernel->channels - 1 - i % kernel->channels;
	kernel->is_default = false;
}

static void
assert_theirs(void)
{
	for (uint32_t i = 0; i < kernel->reta_size; i++)
		assert_int_equal(kernel->reta[i], kernel->channels - 1 - i % kernel->channels);
	assert_false(kernel->is_default);
}

static void
test_the_netdev_has_its_reta_back(void **state)
{
	const uint32_t first[4] = {0, 1, 0, 3}, second[4] = {2, 2, 2, 1};
	struct octo_ethtool *et;

	(void)state;
	set_theirs();
	et = begin();
	assert_int_equal(octo_ethtool_set_reta(et, first, 4), 0);
	assert_int_equal(octo_ethtool_set_reta(et, second, 4), 0);
	for (uint32_t i = 0; i < kernel->reta_size; i++)
		assert_int_equal(kernel->reta[i], second[i % 4]);
	octo_ethtool_close(et);
	assert_theirs();
}

/* Somebody changes the channels: mlx5 has a RETA of another size then. */
static void
test_a_reta_follows_another_size(void **state)
{
	uint32_t reta[128];
	struct octo_ethtool *et = begin();

	(void)state;
	for (uint32_t i = 0; i < 128; i++)
		reta[i] = i % 3;
	assert_int_equal(octo_ethtool_set_reta(et, reta, 128), 0);
	octo_port_kernel_resize(256);
	assert_int_equal(octo_ethtool_set_reta(et, reta, 128), 0);
	for (uint32_t i = 0; i < 256; i++)
		assert_int_equal(kernel->reta[i], reta[i % 128]);
	octo_port_kernel_resize(64);
	assert_int_equal(octo_ethtool_set_reta(et, reta, 128), -ERANGE);
	assert_true(kernel->is_default);
	octo_port_kernel_resize(256);
	assert_int_equal(octo_ethtool_set_reta(et, reta, 128), 0);
	/* the one from before does not fit: the driver's own */
	octo_ethtool_close(et);
	assert_true(kernel->is_default);
}

/* `ethtool -L` keeps a RETA that somebody has set, but gives the driver's own all channels. */
static void
test_the_drivers_own_reta_stays_its_own(void **state)
{
	const uint32_t reta[2] = {0, 1};
	struct octo_ethtool *et = begin();

	(void)state;
	assert_true(kernel->is_default);
	octo_ethtool_close(et);
	assert_true(kernel->is_default);
	et = begin();
	assert_int_equal(octo_ethtool_set_reta(et, reta, 2), 0);
	assert_false(kernel->is_default);
	octo_ethtool_close(et);
	assert_true(kernel->is_default);
	et = begin();
	assert_int_equal(octo_ethtool_set_reta(et, reta, 2), 0);
	octo_port_kernel_die(et);
	et = begin();
	assert_true(kernel->is_default);
	octo_ethtool_close(et);
}

/* Also where there were other channels when it was noted. */
static void
test_new_channels_are_in_the_drivers_own_reta(void **state)
{
	const uint32_t reta[2] = {0, 1};
	struct octo_ethtool *et;

	(void)state;
	kernel->channels = 4;
	octo_port_kernel_resize(128);
	et = begin();
	assert_int_equal(octo_ethtool_set_reta(et, reta, 2), 0);
	kernel->channels = 8;
	assert_int_equal(octo_ethtool_close(et), 0);
	assert_true(kernel->is_default);
	assert_int_equal(octo_port_kernel_channels(), 0xff);
}

static void
test_a_reta_of_somebody_stays_theirs(void **state)
{
	struct octo_ethtool *et;

	(void)state;
	set_theirs();
	et = begin();
	assert_theirs();
	octo_ethtool_close(et);
	assert_theirs();
}

/* The one from before names channels that are gone: the driver's own. */
static void
give_back_with_fewer_channels(bool crash)
{
	const uint32_t reta[2] = {0, 1};
	struct octo_ethtool *et = begin();

	assert_int_equal(octo_ethtool_set_reta(et, reta, 2), 0);
	kernel->channels = 4;
	if (crash) {
		octo_port_kernel_die(et);
		et = begin();
		assert_true(kernel->is_default);
	}
	assert_int_equal(octo_ethtool_close(et), 0);
	assert_true(kernel->is_default);
	assert_int_equal(octo_port_kernel_channels(), 0xf);
	kernel->channels = 16;
	octo_port_kernel_resize(128);
}

static void
test_channels_may_have_gone(void **state)
{
	(void)state;
	give_back_with_fewer_channels(false);
	give_back_with_fewer_channels(true);
	set_theirs();
	give_back_with_fewer_channels(false);
	set_theirs();
	give_back_with_fewer_channels(true);
}

#define reta_test(f)                                                                               \
	cmocka_unit_test_setup_teardown(f, octo_port_kernel_dir_setup,                             \
					octo_port_kernel_dir_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		reta_test(test_the_netdev_has_its_reta_back),
		reta_test(test_a_reta_follows_another_size),
		reta_test(test_the_drivers_own_reta_stays_its_own),
		reta_test(test_new_channels_are_in_the_drivers_own_reta),
		reta_test(test_a_reta_of_somebody_stays_theirs),
		reta_test(test_channels_may_have_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
