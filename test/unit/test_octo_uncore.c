/* SPDX-License-Identifier: BSD-3-Clause */

/* A machine's counters, described by files below a directory, and read from pipes. */

#include "octo_test.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "octo_uncore.h"

#define DEVICES "sys/bus/event_source/devices"
#define MAX_OPENED 64

static char root[64];

/* What was opened, with the other end of its pipe. */
static struct {
	struct perf_event_attr attr;
	int cpu;
	int write_fd;
} opened[MAX_OPENED];
static int nb_opened;
static int refusal; /* a negative errno */

static int
fake_open(const struct perf_event_attr *attr, int cpu)
{
	int fds[2];

	if (refusal != 0)
		return refusal;
	assert_true(nb_opened < MAX_OPENED);
	assert_int_equal(pipe(fds), 0);
	opened[nb_opened].attr = *attr;
	opened[nb_opened].cpu = cpu;
	opened[nb_opened++].write_fd = fds[1];
	return fds[0];
}

/* As perf_event_open(2) describes it, with both times. */
static void
count(int event, uint64_t value, uint64_t enabled, uint64_t running)
{
	const uint64_t words[] = {value, enabled, running};

	assert_int_equal(write(opened[event].write_fd, words, sizeof(words)), sizeof(words));
}

static void
put(const char *path, const char *text)
{
	char full[256];
	FILE *file;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *slash = strchr(full + strlen(root) + 1, '/'); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0755);
		*slash = '/';
	}
	file = fopen(full, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void
put_pmu(const char *pmu, const char *file, const char *text)
{
	char path[160];

	snprintf(path, sizeof(path), DEVICES "/%s/%s", pmu, file);
	put(path, text);
}

static void
add_pmu(const char *pmu, const char *type, const char *event_format)
{
	put_pmu(pmu, "type", type);
	put_pmu(pmu, "cpumask", "0,18\n");
	put_pmu(pmu, "format/event", event_format);
	put_pmu(pmu, "format/umask", "config:8-15\n");
}

static void
add_imc(const char *pmu, const char *type)
{
	add_pmu(pmu, type, "config:0-7\n");
	put_pmu(pmu, "events/cas_count_read", "event=0x04,umask=0x03\n");
	put_pmu(pmu, "events/cas_count_read.scale", "6.103515625e-5\n");
	put_pmu(pmu, "events/cas_count_read.unit", "MiB\n");
	put_pmu(pmu, "events/cas_count_write", "event=0x04,umask=0x0c\n");
	put_pmu(pmu, "events/cas_count_write.scale", "6.103515625e-5\n");
	put_pmu(pmu, "events/cas_count_write.unit", "MiB\n");
}

static int
setup(void **state)
{
	(void)state;
	nb_opened = 0;
	refusal = 0;
	strcpy(root, "/tmp/octo-uncore-XXXXXX");
	if (mkdtemp(root) == NULL)
		return -1;
	put("sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n");
	put("sys/devices/system/cpu/cpu18/topology/physical_package_id", "1\n");
	put("proc/sys/kernel/perf_event_paranoid", "2\n");
	put(DEVICES "/software/type", "1\n");
	return 0;
}

static int
teardown(void **state)
{
	char command[128];

	(void)state;
	for (int i = 0; i < nb_opened; i++)
		close(opened[i].write_fd);
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

/* The event with this config on this CPU. */
static int
event_of(uint32_t type, uint64_t config, int cpu)
{
	for (int i = 0; i < nb_opened; i++)
		if (opened[i].attr.type == type && opened[i].attr.config == config &&
		    opened[i].cpu == cpu)
			return i;
	fail_msg("no event 0x%llx of PMU %u on CPU %d", (unsigned long long)config, type, cpu);
	return -1;
}

static void
test_upi_is_read_per_socket(void **state)
{
	struct octo_counts now = {0};
	struct octo_uncore u;

	(void)state;
	add_pmu("uncore_upi_0", "40\n", "config:0-7\n");
	add_pmu("uncore_upi_1", "41\n", "config:0-7\n");
	octo_uncore_open(&u, root, fake_open);
	assert_string_equal(u.no_link, "");
	assert_int_equal(nb_opened, 8);
	assert_int_equal(u.nb_sockets, 2);
	count(event_of(40, 0xf02, 0), 9, 1000, 1000);
	count(event_of(41, 0xf02, 0), 90, 1000, 1000);
	count(event_of(40, 0xf03, 18), 900, 1000, 1000);
	for (int i = 0; i < nb_opened; i++)
		count(i, 0, 1000, 0);
	octo_uncore_read(&u, &now);
	assert_int_equal(now.nb_sockets, 2);
	assert_int_equal(now.socket[0].of[OCTO_UNCORE_LINK_OUT], 11 * 64);
	assert_int_equal(now.socket[0].of[OCTO_UNCORE_LINK_IN], 0);
	assert_int_equal(now.socket[1].of[OCTO_UNCORE_LINK_IN], 100 * 64);
	assert_true(now.socket[0].of[OCTO_UNCORE_DRAM_READ] == OCTO_RATE_UNKNOWN);
	octo_uncore_close(&u);
}

/* Its events have a bit that lies elsewhere. */
static void
test_qpi(void **state)
{
	struct octo_uncore u;

	(void)state;
	add_pmu("uncore_qpi_0", "30\n", "config:0-7,21\n");
	octo_uncore_open(&u, root, fake_open);
	assert_int_equal(nb_opened, 6);
	event_of(30, 0x200, 0);
	event_of(30, 0x200802, 0);
	event_of(30, 0x200403, 18);
	octo_uncore_close(&u);
}

/* Counters that several events share count for a part of the time. */
static void
test_dram_is_counted_for_all_of_the_time(void **state)
{
	struct octo_counts now = {0};
	struct octo_uncore u;

	(void)state;
	add_imc("uncore_imc_0", "20\n");
	add_imc("uncore_imc_5", "25\n");
	put_pmu("uncore_imc_free_running_0", "type", "50\n");
	octo_uncore_open(&u, root, fake_open);
	assert_string_equal(u.no_dram, "");
	assert_int_equal(nb_opened, 8);
	for (int i = 0; i < nb_opened; i++)
		if (i != event_of(25, 0xc04, 18))
			count(i, 0, 1000, 1000);
	count(event_of(25, 0xc04, 18), 100, 1000, 250);
	octo_uncore_read(&u, &now);
	assert_int_equal(now.socket[1].of[OCTO_UNCORE_DRAM_WRITE], 400 * 64);
	for (int i = 0; i < nb_opened; i++)
		if (i != event_of(25, 0xc04, 18))
			count(i, 0, 2000, 2000);
	count(event_of(25, 0xc04, 18), 110, 2000, 1250);
	octo_uncore_read(&u, &now);
	assert_int_equal(now.socket[1].of[OCTO_UNCORE_DRAM_WRITE], 410 * 64);
	assert_int_equal(now.socket[1].of[OCTO_UNCORE_DRAM_READ], 0);
	octo_uncore_close(&u);
}

static void
test_amd_up_to_zen_3(void **state)
{
	struct octo_uncore u;

	(void)state;
	add_pmu("amd_df", "8\n", "config:0-7,32-35,59-60\n");
	octo_uncore_open(&u, root, fake_open);
	assert_string_equal(u.no_link, "");
	assert_string_equal(u.no_dram, "");
	assert_int_equal(nb_opened, 2 * (4 + 8));
	event_of(8, 0x7000002c7, 0);
	event_of(8, 0x100003807, 18);
	octo_uncore_close(&u);
}

/* The same numbers mean something else. */
static void
test_events_of_newer_amd_are_not_known(void **state)
{
	struct octo_uncore u;

	(void)state;
	add_pmu("amd_df", "8\n", "config:0-7,32-37\n");
	put_pmu("amd_df", "format/umask", "config:8-15,24-27\n");
	octo_uncore_open(&u, root, fake_open);
	assert_int_equal(nb_opened, 0);
	assert_non_null(strstr(u.no_link, "not known"));
	assert_non_null(strstr(u.no_dram, "not known"));
	octo_uncore_close(&u);
}

static void
test_no_leave_to_read(void **state)
{
	struct octo_counts now = {0};
	struct octo_uncore u;

	(void)state;
	add_pmu("uncore_upi_0", "40\n", "config:0-7\n");
	refusal = -EACCES;
	octo_uncore_open(&u, root, fake_open);
	assert_non_null(strstr(u.no_link, "perf_event_paranoid is 2"));
	octo_uncore_read(&u, &now);
	assert_int_equal(now.nb_sockets, 0);
	octo_uncore_close(&u);
}

/* Less than all would be a sum that is too small. */
static void
test_some_of_them_are_none(void **state)
{
	struct octo_uncore u;

	(void)state;
	add_imc("uncore_imc_0", "20\n");
	add_imc("uncore_imc_1", "21\n");
	put_pmu("uncore_imc_1", "cpumask", "\n");
	octo_uncore_open(&u, root, fake_open);
	assert_int_equal(u.nb_events, 0);
	assert_non_null(strstr(u.no_dram, "cannot be opened"));
	octo_uncore_close(&u);
}

static void
test_a_machine_without(void **state)
{
	struct octo_uncore u;

	(void)state;
	put("proc/cpuinfo", "processor : 0\nflags : fpu sse\n");
	octo_uncore_open(&u, root, fake_open);
	assert_string_equal(u.no_link, "the kernel has no counters of the link between sockets "
				       "here");
	octo_uncore_close(&u);
	put("proc/cpuinfo", "processor : 0\nflags\t\t: fpu sse hypervisor\n");
	octo_uncore_open(&u, root, fake_open);
	assert_string_equal(u.no_dram, "this is a virtual machine without the counters of DRAM");
	octo_uncore_close(&u);
}

#define uncore_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		uncore_test(test_upi_is_read_per_socket),
		uncore_test(test_qpi),
		uncore_test(test_dram_is_counted_for_all_of_the_time),
		uncore_test(test_amd_up_to_zen_3),
		uncore_test(test_events_of_newer_amd_are_not_known),
		uncore_test(test_no_leave_to_read),
		uncore_test(test_some_of_them_are_none),
		uncore_test(test_a_machine_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
