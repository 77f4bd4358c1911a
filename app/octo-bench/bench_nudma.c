/* SPDX-License-Identifier: BSD-3-Clause */

/* ./octo bench nudma: the command, and the machines that it is done on. */

#include <errno.h>
#include <string.h>

#include <rte_log.h>

#include "bench_nudma.h"

#define PATH_LEN 512
#define WHY_LEN 768

/* Those that figures were published of. */
static const char *const published_on[] = {"e5-2660v4", "r740-snapio"};

static struct nudma_results results[RTE_DIM(published_on)];
static unsigned int nb_results;

const struct nudma_results *
nudma_results_first(void)
{
	return &results[0];
}

const struct nudma_results *
nudma_results_for(const struct bench *bench, const struct nudma_row *row)
{
	for (unsigned int i = 0; i < nb_results; i++)
		if (bench->options.machine != NULL ||
		    strcmp(results[i].machine.name, row->machine) == 0)
			return &results[i];
	return NULL;
}

/*
 * Pairs of STREAM, one that reads and one that writes, on each socket in turn, until all cores
 * but the application's are in use. All of them work on the other socket's memory.
 */
static void
set_load(struct nudma_results *r, unsigned int step)
{
	const unsigned int most = (unsigned int)r->machine.cpu.cores - 1;
	const unsigned int pairs = step * most / (NUDMA_NB_LOADS - 1);
	const unsigned int first = (pairs + 1) / 2, second = pairs / 2;
	struct nudma_demand demand = {0};

	nudma_demand_stream(&demand, &r->machine, NUDMA_APP, first, 0);
	nudma_demand_stream(&demand, &r->machine, NUDMA_APP, first, 1);
	nudma_demand_stream(&demand, &r->machine, NUDMA_FAR, second, 0);
	nudma_demand_stream(&demand, &r->machine, NUDMA_FAR, second, 1);
	nudma_load_solve(&r->machine, &demand, &r->load[step]);
	r->pairs[step] = pairs;
}

/* Five instances: two pairs and one that reads. */
static void
set_five(struct nudma_results *r)
{
	struct nudma_demand demand = {0};

	nudma_demand_stream(&demand, &r->machine, NUDMA_APP, 2, 0);
	nudma_demand_stream(&demand, &r->machine, NUDMA_APP, 1, 1);
	nudma_demand_stream(&demand, &r->machine, NUDMA_FAR, 1, 0);
	nudma_demand_stream(&demand, &r->machine, NUDMA_FAR, 1, 1);
	nudma_load_solve(&r->machine, &demand, &r->load[NUDMA_FIVE]);
}

static int
read_profile(struct nudma_machine *machine, const char *text, char path[PATH_LEN])
{
	char why[WHY_LEN];
	int ret = nudma_machine_path(text, path, PATH_LEN);

	if (ret == 0)
		ret = nudma_machine_read(machine, path, why, sizeof(why));
	if (ret != 0)
		fprintf(stderr, "%s: machine %s: %s\n", app_name, text,
			ret == -ENAMETOOLONG ? "a shorter path is needed" : why);
	return ret;
}

int
bench_nudma_check(const char *machine)
{
	struct nudma_machine read;
	char path[PATH_LEN];

	return read_profile(&read, machine, path);
}

static int
read_machine(struct nudma_results *r, const char *text, char path[PATH_LEN])
{
	const int ret = read_profile(&r->machine, text, path);

	if (ret != 0)
		return ret;
	for (unsigned int step = 0; step < NUDMA_NB_LOADS; step++)
		set_load(r, step);
	set_five(r);
	return 0;
}

static int
run_config(struct bench *bench, struct nudma_results *r, enum nudma_config config,
	   const char *profile)
{
	struct nudma_port port;
	int ret = nudma_port_open(&port, bench, config, profile);

	if (ret == 0)
		ret = nudma_settle(&port, bench);
	for (unsigned int x = 0; x < NUDMA_NB_EXPERIMENTS && ret == 0 && !bench_is_stopped(); x++)
		ret = nudma_experiment(&port, bench, x, r);
	if (ret == 0 && config == NUDMA_OCTO && !bench_is_stopped())
		ret = nudma_migrate(&port, bench, &r->migration);
	nudma_port_close(&port);
	return ret;
}

static int
run_machine(struct bench *bench, const char *text)
{
	struct nudma_results *r = &results[nb_results];
	char path[PATH_LEN];
	int ret = read_machine(r, text, path);

	for (unsigned int c = 0; c < NUDMA_NB_CONFIGS && ret == 0 && !bench_is_stopped(); c++) {
		bench_progress_stage(r->machine.name, nudma_configs[c]);
		ret = run_config(bench, r, c, path);
	}
	nb_results += ret == 0;
	return ret;
}

static int
run(struct bench *bench)
{
	int ret = 0;

	/* net_bonding tells whatever its members lack */
	if (!bench->options.verbose)
		rte_log_set_global_level(RTE_LOG_ERR);
	if (bench->options.machine != NULL)
		ret = run_machine(bench, bench->options.machine);
	for (unsigned int i = 0;
	     i < RTE_DIM(published_on) && bench->options.machine == NULL && ret == 0; i++)
		ret = run_machine(bench, published_on[i]);
	if (ret != 0 || bench_is_stopped())
		return ret;
	for (unsigned int i = 0; i < nudma_nb_rows(); i++)
		nudma_rows[i].model(nudma_results_for(bench, &nudma_rows[i]), &nudma_rows[i]);
	return 0;
}

static const char usage[] =
	"usage: octo bench nudma [--json FILE] [--plot FILE.png] [--machine NAME] [-v]\n"
	"\n"
	"What nonuniform DMA costs: published figures, and what they come to when the PMDs run\n"
	"over mpsim and each DMA is charged, in virtual time, to a model of the machine that\n"
	"they were measured on. By the local PF, the remote one, net_bonding and net_octo over\n"
	"both. Nothing here is measured: all of it is modelled, and the same in each run.\n"
	"\n"
	"  --json FILE     write the figures to FILE as well\n"
	"  --plot FILE     draw them as they were drawn when they were published; FILE ends in\n"
	"                  .png, and a .csv file has the figures\n"
	"  --machine NAME  what it comes to on another machine: a profile of config/machines, or\n"
	"                  the path of one's own; figures of other machines are not compared\n"
	"  -v              show what EAL and the drivers log\n"
	"  -h, --help      this text\n"
	"\n"
	"Exit code: 0 if all was done, whatever came out; 1 if not; 2 for wrong options.\n";

const struct bench_subject bench_nudma = {
	.name = "nudma",
	.title = "nudma",
	.usage = usage,
	.case_names = "",
	.letters = "Pjmqvh",
	.runs = 1,
	.quick_runs = 1,
	.memory = 512,
	.run = run,
	.intro = nudma_report_intro,
	.report = nudma_report,
	.write = nudma_write,
	.plot = nudma_plot,
};
