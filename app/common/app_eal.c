/* SPDX-License-Identifier: BSD-3-Clause */

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>

#include "app.h"

#define MAX_CPUS 4096

static const char free_hugepages_file[] =
	"/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages";

void
app_args_add(struct app_args *args, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(args->text[args->nb++], APP_ARG_LEN, format, ap);
	va_end(ap);
}

/* The first CPUs that this process may run on: cpu sets and containers leave some. */
static int
find_cpus(unsigned int *cpus)
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
	for (unsigned int cpu = 0; cpu < CPU_SETSIZE && nb < APP_NB_WORKERS; cpu++)
		if (CPU_ISSET_S(cpu, size, allowed))
			cpus[nb++] = cpu;
	CPU_FREE(allowed);
	return nb == APP_NB_WORKERS ? 0 : -ENODEV;
}

static int
choose_cpus(struct app_machine *machine)
{
	const int ret = find_cpus(machine->cpu);

	if (ret == -ENODEV)
		fprintf(stderr,
			"%s: two CPUs are needed, one for each socket, but this "
			"process may run on one only (see taskset -p %d)\n",
			app_name, (int)getpid());
	else if (ret != 0)
		fprintf(stderr, "%s: cannot see which CPUs there are: %s\n", app_name,
			strerror(-ret));
	return ret;
}

/* Twice as many as needed, so that nobody who is just starting comes to grief. */
static bool
hugepages_are_free(unsigned int memory_mib)
{
	FILE *f = NULL;
	unsigned long nb = 0;

	/* free ones may be those that somebody else has reserved and not taken yet */
	if (getenv("OCTO_NO_HUGE") == NULL)
		f = fopen(free_hugepages_file, "re");
	if (f == NULL)
		return false;
	if (fscanf(f, "%lu", &nb) != 1)
		nb = 0;
	fclose(f);
	return nb >= 2 * memory_mib / 2;
}

static void
add_args(struct app_args *args, const struct app_machine *machine, unsigned int memory_mib,
	 bool verbose)
{
	app_args_add(args, "-m");
	app_args_add(args, "%u", memory_mib);
	app_args_add(args, "--no-pci");
	app_args_add(args, "--no-telemetry");
	app_args_add(args, "--log-level=%s", verbose ? "info" : "warning");
	/* the main lcore only looks on: it shares a CPU */
	app_args_add(args, "--main-lcore=0");
	app_args_add(args, "--lcores=0@%u,%u@%u,%u@%u", machine->cpu[0], app_lcore(0),
		     machine->cpu[0], app_lcore(1), machine->cpu[1]);
}

int
app_args_begin(struct app_args *args, struct app_machine *machine, unsigned int memory_mib,
	       bool verbose)
{
	const int ret = choose_cpus(machine);

	if (ret != 0)
		return ret;
	machine->hugepages = hugepages_are_free(memory_mib);
	app_args_add(args, "%s", app_name);
	/* --in-memory needs hugepages; neither leaves anything behind */
	app_args_add(args, machine->hugepages ? "--in-memory" : "--no-huge");
	if (!machine->hugepages)
		app_args_add(args, "--no-shconf");
	/* nothing is shared below it, so that any number may run at once */
	app_args_add(args, "--file-prefix=octo-app");
	add_args(args, machine, memory_mib, verbose);
	return 0;
}

int
app_args_begin_shared(struct app_args *args, struct app_machine *machine, unsigned int memory_mib,
		      bool verbose)
{
	const int ret = choose_cpus(machine);

	if (ret != 0)
		return ret;
	app_args_add(args, "%s", app_name);
	app_args_add(args, "--no-huge");
	app_args_add(args, "--file-prefix=octo-app-%d", (int)getpid());
	add_args(args, machine, memory_mib, verbose);
	return 0;
}

void
app_shared_remove(void)
{
	const char *path = rte_eal_get_runtime_dir();
	DIR *dir = opendir(path);
	const struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (entry->d_name[0] != '.')
			unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir != NULL)
		closedir(dir);
	rmdir(path);
}

int
app_eal_start(struct app_args *args, bool verbose)
{
	char *argv[APP_MAX_ARGS + 1] = {NULL};

	for (int i = 0; i < args->nb; i++)
		argv[i] = args->text[i];
	if (rte_eal_init(args->nb, argv) >= 0)
		return 0;
	fprintf(stderr, "%s: DPDK could not start: %s%s\n", app_name, rte_strerror(rte_errno),
		verbose ? "" : " (-v shows what it says)");
	return -rte_errno;
}

/*
 * Linux 6.18 keeps a CPU from other sessions (autogroups) for seconds on end while a thread
 * there goes to sleep for a microsecond, over and over; not if that is 20 or more.
 */
#define ASIDE_US 50

void
app_step_aside(void)
{
	/* else it takes 50 us longer */
	prctl(PR_SET_TIMERSLACK, 1UL);
	rte_delay_us_sleep(ASIDE_US);
}
