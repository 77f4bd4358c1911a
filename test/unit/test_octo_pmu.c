/* SPDX-License-Identifier: BSD-3-Clause */

#include "octo_test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>

#include "octo_pmu.h"

/* The fields of QPI's PMU, whose event has a bit elsewhere. */
static int
qpi_format(void *from, const char *field, char *text, size_t len)
{
	(void)from;
	if (strcmp(field, "event") == 0)
		snprintf(text, len, "config:0-7,21\n");
	else if (strcmp(field, "umask") == 0)
		snprintf(text, len, "config:8-15\n");
	else if (strcmp(field, "edge") == 0)
		snprintf(text, len, "config:18\n");
	else if (strcmp(field, "match") == 0)
		snprintf(text, len, "config1:0-63\n");
	else
		return -ENOENT;
	return 0;
}

static uint64_t
encoded(const char *event)
{
	uint64_t config[OCTO_PMU_CONFIGS];

	assert_int_equal(octo_pmu_encode(event, qpi_format, NULL, config), 0);
	return config[0];
}

static int
refused(const char *event)
{
	uint64_t config[OCTO_PMU_CONFIGS];

	return octo_pmu_encode(event, qpi_format, NULL, config);
}

static void
test_words_go_to_their_fields(void **state)
{
	uint64_t config[OCTO_PMU_CONFIGS];

	(void)state;
	assert_int_equal(encoded("event=0x04,umask=0x0c\n"), 0xc04);
	assert_int_equal(encoded("event=4,edge"), 0x40004);
	assert_int_equal(
		octo_pmu_encode("event=1,match=0xffffffffffffffff", qpi_format, NULL, config), 0);
	assert_true(config[0] == 1 && config[1] == UINT64_MAX && config[2] == 0);
}

static void
test_a_field_may_be_in_pieces(void **state)
{
	(void)state;
	assert_int_equal(encoded("event=0x102,umask=0x08"), 0x200802);
}

static void
test_what_cannot_be_encoded_is_refused(void **state)
{
	(void)state;
	assert_int_equal(refused("event=0x204"), -ERANGE);
	assert_int_equal(refused("event=0x04,ch_mask=1"), -ENOENT);
	assert_int_equal(refused("event=x"), -EINVAL);
	assert_int_equal(refused("event=?"), -EINVAL);
	assert_int_equal(refused(""), -EINVAL);
}

static void
test_bad_formats_are_refused(void **state)
{
	static const char *const bad[] = {"",           "config",      "config:",     "config:x",
					  "config:7-0", "config:0-64", "config3:0-7", "config:0-7,",
					  "config:1;2"};
	uint64_t config[OCTO_PMU_CONFIGS] = {0};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(bad); i++)
		assert_int_equal(octo_pmu_place(bad[i], 1, config), -EINVAL);
	assert_int_equal(config[0], 0);
}

static void
test_cpus(void **state)
{
	uint16_t cpus[4];

	(void)state;
	assert_int_equal(octo_pmu_cpus("0,18\n", cpus, 4), 2);
	assert_true(cpus[0] == 0 && cpus[1] == 18);
	assert_int_equal(octo_pmu_cpus("0-1,7", cpus, 4), 3);
	assert_true(cpus[1] == 1 && cpus[2] == 7);
	assert_int_equal(octo_pmu_cpus("0-99", cpus, 4), 4);
	assert_int_equal(octo_pmu_cpus("", cpus, 4), -EINVAL);
	assert_int_equal(octo_pmu_cpus("a", cpus, 4), -EINVAL);
	assert_int_equal(octo_pmu_cpus("0,,1", cpus, 4), -EINVAL);
}

/* Of a CAS, a cache line. */
static void
test_scale_and_unit_are_bytes(void **state)
{
	(void)state;
	assert_true(octo_pmu_bytes("6.103515625e-5\n", "MiB\n") == 64.);
	assert_true(octo_pmu_bytes("32", "B") == 32.);
	assert_true(octo_pmu_bytes("1", "Joules") == 0.);
	assert_true(octo_pmu_bytes("1", "M") == 0.);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_go_to_their_fields),
		cmocka_unit_test(test_a_field_may_be_in_pieces),
		cmocka_unit_test(test_what_cannot_be_encoded_is_refused),
		cmocka_unit_test(test_bad_formats_are_refused),
		cmocka_unit_test(test_cpus),
		cmocka_unit_test(test_scale_and_unit_are_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
