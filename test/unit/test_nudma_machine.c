/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>

#include "octo_test.h"

#include "nudma_machine.h"

#define TEXT_MAX 8192

/* what is wrong with a profile goes to `why`, and into no log */
static struct nudma_machine machine;
static char why[512];
static char path[512];
static char good[TEXT_MAX];

static const char *const shipped[] = {"e5-2660v4", "r740-snapio", "xeon6-gen5x8"};

static void
read_text(const char *name, char text[TEXT_MAX])
{
	FILE *f = fopen(name, "r");
	size_t len;

	assert_non_null(f);
	len = fread(text, 1, TEXT_MAX - 1, f);
	text[len] = '\0';
	fclose(f);
}

static int
setup(void **state)
{
	char name[512];

	(void)state;
	assert_int_equal(nudma_machine_path("e5-2660v4", name, sizeof(name)), 0);
	read_text(name, good);
	snprintf(path, sizeof(path), "/tmp/octo-test-nudma-%d.ini", (int)getpid());
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	unlink(path);
	return 0;
}

/* The good profile, with one text in it replaced. */
static int
read_changed(const char *from, const char *to)
{
	const char *at = strstr(good, from);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_non_null(at);
	fwrite(good, 1, (size_t)(at - good), f);
	fputs(to, f);
	fputs(at + strlen(from), f);
	fclose(f);
	why[0] = '\0';
	return nudma_machine_read(&machine, path, why, sizeof(why));
}

static void
assert_refused(const char *from, const char *to, const char *culprit)
{
	char before[sizeof(machine)];

	memset(&machine, 0x5a, sizeof(machine));
	memcpy(before, &machine, sizeof(machine));
	assert_int_equal(read_changed(from, to), -EINVAL);
	if (strstr(why, culprit) == NULL || strstr(why, path) != why || strchr(why, '\n') != NULL)
		fail_msg("'%s' should begin with the file and have '%s' in it", why, culprit);
	assert_memory_equal(before, &machine, sizeof(machine));
}

static void
test_profiles_that_come_along_are_read(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(shipped); i++) {
		char name[512];

		assert_int_equal(nudma_machine_path(shipped[i], name, sizeof(name)), 0);
		if (nudma_machine_read(&machine, name, why, sizeof(why)) != 0)
			fail_msg("%s", why);
		assert_string_equal(machine.name, shipped[i]);
	}
}

static void
test_values_go_where_they_belong(void **state)
{
	(void)state;
	assert_int_equal(read_changed("\ncores = 14\n", "\ncores=7 # some say\n"), 0);
	assert_true(machine.cpu.cores == 7);
	assert_true(machine.cpu.llc_miss_ns == 80);
	assert_true(machine.dram_gb == 62.5);
	assert_true(machine.link.hop_ns == 24.8);
	assert_true(machine.link.directory == 1);
	assert_true(machine.work.window_mib == 3);
}

static void
test_each_fault_is_told_with_file_section_and_key(void **state)
{
	static const struct {
		const char *from, *to, *culprit;
	} cases[] = {
		{"hop_ns = 24.8", "", "[link] hop_ns is missing"},
		{"hop_ns = 24.8", "hop_ns = near", "[link] hop_ns=near: a number from 0 to 10000"},
		{"hop_ns = 24.8", "hop_ns = 24.8ns", "[link] hop_ns=24.8ns: a number"},
		{"hop_ns = 24.8", "hop_ns = -1", "[link] hop_ns=-1: a number"},
		{"hop_ns = 24.8", "hop_ns = nan", "[link] hop_ns=nan: a number"},
		{"hop_ns = 24.8", "hop_ns = 1e99", "[link] hop_ns=1e99: a number"},
		{"hop_ns = 24.8", "hop_ns = 24.8\nhops = 1", "[link] hops is not a known key"},
		{"hop_ns = 24.8", "hop_ns = 1\nhop_ns = 2", "[link] hop_ns is there twice"},
		{"[link]", "[upi]", "[upi] is not a known section"},
		{"\nways = 2\n", "\nways = 21\n", "[ddio] ways=21: there are 20"},
		{"lanes = 8", "lanes", "[pcie] lanes"},
		{"[cpu]", "[cpu", "is not made of [section], key=value"},
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++)
		assert_refused(cases[i].from, cases[i].to, cases[i].culprit);
}

static void
test_file_that_is_not_there(void **state)
{
	(void)state;
	assert_int_equal(nudma_machine_read(&machine, "/nowhere/m.ini", why, sizeof(why)), -ENOENT);
	assert_string_equal(why, "/nowhere/m.ini: cannot be read: No such file or directory");
}

static void
test_a_short_text_for_faults_is_not_overrun(void **state)
{
	char little[8] = "1234567";

	(void)state;
	assert_int_equal(nudma_machine_read(&machine, "/nowhere/m.ini", little, 4), -ENOENT);
	assert_string_equal(little, "/no");
	assert_string_equal(little + 4, "567");
}

static void
test_names_are_looked_for_where_the_environment_says(void **state)
{
	char old[512], found[64];

	(void)state;
	snprintf(old, sizeof(old), "%s", getenv("NUDMA_MACHINES"));
	setenv("NUDMA_MACHINES", "/some/where", 1);
	assert_int_equal(nudma_machine_path("mine", found, sizeof(found)), 0);
	assert_string_equal(found, "/some/where/mine.ini");
	assert_int_equal(nudma_machine_path("./mine", found, sizeof(found)), 0);
	assert_string_equal(found, "./mine");
	assert_int_equal(nudma_machine_path("mine", found, 20), -ENAMETOOLONG);
	setenv("NUDMA_MACHINES", old, 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_profiles_that_come_along_are_read),
		cmocka_unit_test(test_values_go_where_they_belong),
		cmocka_unit_test(test_each_fault_is_told_with_file_section_and_key),
		cmocka_unit_test(test_file_that_is_not_there),
		cmocka_unit_test(test_a_short_text_for_faults_is_not_overrun),
		cmocka_unit_test(test_names_are_looked_for_where_the_environment_says),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
