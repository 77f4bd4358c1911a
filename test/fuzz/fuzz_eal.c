/* SPDX-License-Identifier: BSD-3-Clause */

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <sanitizer/lsan_interface.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_log.h>
#include <rte_malloc.h>

#include "fuzz.h"

static int
first_cpu(void)
{
	cpu_set_t allowed;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return 0;
	while (!CPU_ISSET(cpu, &allowed))
		cpu++;
	return cpu;
}

void
fuzz_eal_init(void)
{
	static char lcores[32];
	char *argv[] = {
		(char *)(uintptr_t) "fuzz",
		(char *)(uintptr_t) "--no-huge",
		(char *)(uintptr_t) "--no-pci",
		(char *)(uintptr_t) "--no-shconf",
		(char *)(uintptr_t) "--no-telemetry",
		(char *)(uintptr_t) "--log-level=pmd.net.octo.*:debug",
		(char *)(uintptr_t) "-m",
		(char *)(uintptr_t) "512",
		lcores,
	};

	snprintf(lcores, sizeof(lcores), "--lcores=0@%d", first_cpu());
	__lsan_disable();
	if (rte_eal_init(RTE_DIM(argv), argv) < 0) {
		fprintf(stderr, "EAL does not start\n");
		exit(1);
	}
	__lsan_enable();
	fuzz_log_open();
}

size_t
fuzz_heap_bytes(void)
{
	struct rte_malloc_socket_stats stats;
	size_t bytes = 0;

	for (int node = 0; node < RTE_MAX_NUMA_NODES; node++)
		if (rte_malloc_get_socket_stats(node, &stats) == 0)
			bytes += stats.heap_allocsz_bytes;
	return bytes;
}

void
fuzz_fail(const char *file, int line, const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "%s:%d: ", file, line);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, "\nthe log:\n%s", fuzz_log_text());
	abort();
}

/* What a port holds is found by what is in EAL's memory, where LSan does not look. */
uint16_t
fuzz_add_port(const char *name, const char *args)
{
	uint16_t port = 0;

	__lsan_disable();
	FUZZ_CHECK(rte_eal_hotplug_add("vdev", name, args) == 0, "no %s,%s", name, args);
	__lsan_enable();
	FUZZ_CHECK(rte_eth_dev_get_port_by_name(name, &port) == 0, "no %s", name);
	return port;
}
