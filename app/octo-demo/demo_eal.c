/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_common.h>
#include <rte_eal.h>
#include <rte_errno.h>

#include "demo.h"

#define MEMORY_MIB 256
#define MAX_CPUS 4096
#define MAX_ARGS 24
#define ARG_LEN 160

static const char free_hugepages_file[] =
	"/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages";

struct arguments {
	int nb;
	char text[MAX_ARGS][ARG_LEN];
};

__rte_format_printf(2, 3) static void add(struct arguments *args, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(args->text[args->nb++], ARG_LEN, format, ap);
	va_end(ap);
}

/* The first CPUs that this process may run on: cpu sets and containers leave some. */
static int
choose_cpus(struct demo_machine *machine)
{
	const size_t size = CPU_ALLOC_SIZE(MAX_CPUS);
	cpu_set_t *allowed = CPU_ALLOC(MAX_CPUS);
	unsigned int nb = 0;

	if (allowed == NULL)
		return -ENOMEM;
	CPU_ZERO_S(size, allowed);
	if (sched_getaffinity(0, size, allowed) != 0) {
		CPU_FREE(allowed);
		return -errno;
	}
	/* EAL and the socket map know this many */
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE && nb < DEMO_NB_LCORES; cpu++)
		if (CPU_ISSET_S(cpu, size, allowed))
			machine->cpu[nb++] = cpu;
	CPU_FREE(allowed);
	return nb == DEMO_NB_LCORES ? 0 : -ENODEV;
}

/* Twice as many as needed, so that nobody who is just starting comes to grief. */
static bool
hugepages_are_free(void)
{
	FILE *f = fopen(free_hugepages_file, "re");
	unsigned long nb = 0;

	if (f == NULL)
		return false;
	if (fscanf(f, "%lu", &nb) != 1)
		nb = 0;
	fclose(f);
	return nb >= 2 * MEMORY_MIB / 2;
}

static void
add_memory(struct arguments *args, bool hugepages)
{
	/* --in-memory needs hugepages; neither leaves anything behind */
	add(args, hugepages ? "--in-memory" : "--no-huge");
	if (!hugepages)
		add(args, "--no-shconf");
	add(args, "-m");
	add(args, "%d", MEMORY_MIB);
}

/* One NIC with two PFs, its peer at the other end of the cable, one to be measured. */
static void
add_nics(struct arguments *args, const struct demo_machine *machine)
{
	add(args, "--vdev=%s,nic=B,wire=nic:A", DEMO_PEER);
	for (int i = 0; i < DEMO_NB_PFS; i++)
		add(args, "--vdev=%s,nic=A,socket=%d", machine->pf_name[i], machine->pf_socket[i]);
	add(args, "--vdev=%s,nic=C,wire=loop", DEMO_SPEED_PORT);
	add(args, "--vdev=%s,pf=%s,pf=%s,socket_map=%u:%d/%u:%d", DEMO_PORT, machine->pf_name[0],
	    machine->pf_name[1], machine->cpu[0], machine->pf_socket[0], machine->cpu[1],
	    machine->pf_socket[1]);
}

static int
start(struct arguments *args)
{
	char *argv[MAX_ARGS + 1] = {NULL};

	for (int i = 0; i < args->nb; i++)
		argv[i] = args->text[i];
	return rte_eal_init(args->nb, argv);
}

unsigned int
demo_lcore(unsigned int index)
{
	return index + 1;
}

int
demo_eal_start(struct demo_machine *machine, const struct demo_options *options)
{
	static struct arguments args;
	int ret = choose_cpus(machine);

	if (ret == -ENODEV) {
		fprintf(stderr,
			"octo demo: two CPUs are needed, one for each socket, but this "
			"process may run on one only (see taskset -p %d)\n",
			(int)getpid());
		return ret;
	}
	if (ret != 0) {
		fprintf(stderr, "octo demo: cannot see which CPUs there are: %s\n", strerror(-ret));
		return ret;
	}
	machine->hugepages = hugepages_are_free();
	add(&args, "octo-demo");
	add_memory(&args, machine->hugepages);
	add(&args, "--no-pci");
	add(&args, "--no-telemetry");
	/* nothing is shared below it, so that any number of demos may run at once */
	add(&args, "--file-prefix=octo-demo");
	add(&args, "--log-level=%s", options->verbose ? "info" : "warning");
	/* the main lcore only looks on: it shares a CPU */
	add(&args, "--main-lcore=0");
	add(&args, "--lcores=0@%u,%u@%u,%u@%u", machine->cpu[0], demo_lcore(0), machine->cpu[0],
	    demo_lcore(1), machine->cpu[1]);
	add_nics(&args, machine);
	if (start(&args) >= 0)
		return 0;
	fprintf(stderr, "octo demo: DPDK could not start: %s%s\n", rte_strerror(rte_errno),
		options->verbose ? "" : " (-v shows what it says)");
	return -rte_errno;
}
