/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bitops.h>
#include <rte_eal.h>
#include <rte_malloc.h>

#include "bench.h"

#define POOL_SIZE 32767
#define QUICK_MEMORY_MIB 512

/* Bytes of each MiB: most of it, as some is in use. */
#define TOUCHED (3 << 18)

const char app_name[] = "octo bench";

static unsigned int
memory(const struct bench *bench)
{
	return bench_count(bench, bench->options.subject->memory, QUICK_MEMORY_MIB);
}

static int
run_each(struct bench *bench)
{
	const struct bench_subject *subject = bench->options.subject;
	int ret = 0;

	for (unsigned int i = 0; i < subject->nb_cases && ret == 0; i++) {
		if (!(bench->options.cases & RTE_BIT32(i)) || bench_is_stopped())
			continue;
		ret = subject->cases[i].run(bench);
		if (ret == 0)
			bench->measured |= RTE_BIT32(i);
		else
			fprintf(stderr, "%s: case %s failed: %s\n", app_name,
				subject->cases[i].name, strerror(-ret));
	}
	return ret;
}

static int
run_cases(struct bench *bench)
{
	const struct bench_subject *subject = bench->options.subject;
	int ret = subject->run != NULL ? subject->run(bench) : run_each(bench);

	if (ret == 0 && bench->options.plot != NULL && !bench_is_stopped())
		ret = subject->plot(bench);
	bench_progress_end();
	return ret;
}

/* So that no run pays for being the first that touches a page. */
static void
touch_memory(size_t bytes)
{
	void *most = rte_malloc("bench", bytes, 0);

	if (most != NULL)
		memset(most, 0, bytes);
	rte_free(most);
}

static int
run(struct bench *bench, FILE *json)
{
	int ret;

	touch_memory((size_t)memory(bench) * TOUCHED);

	bench->pool = app_pool_create("bench", POOL_SIZE);
	bench->peer_pool = app_pool_create("bench_peer", POOL_SIZE);
	if (bench->pool == NULL || bench->peer_pool == NULL)
		return -ENOMEM;
	bench_report_intro(bench);
	bench_stop_on_interrupt();
	ret = run_cases(bench);
	bench_report_table(bench);
	if (json != NULL && ret == 0)
		bench_json_write(json, bench);
	return ret;
}

static int
start_and_run(struct bench *bench, FILE *json)
{
	static struct app_args args;
	const bool verbose = bench->options.verbose;
	const bool has_processes = bench->options.subject->has_processes;
	int ret = has_processes ?
			  app_args_begin_shared(&args, &bench->machine, memory(bench), verbose) :
			  app_args_begin(&args, &bench->machine, memory(bench), verbose);

	if (ret == 0 && bench->options.subject->begin != NULL)
		bench->options.subject->begin(bench);
	if (ret != 0)
		return ret;
	ret = app_eal_start(&args, verbose);
	if (ret == 0) {
		ret = run(bench, json);
		rte_eal_cleanup();
	}
	if (has_processes)
		app_shared_remove();
	return ret;
}

int
main(int argc, char *argv[])
{
	static struct bench bench;
	int ret = bench_options_read(&bench.options, argc, argv);
	FILE *json;

	if (ret != 0)
		return ret > 0 ? EXIT_SUCCESS : APP_WRONG_USE;
	if (bench_plot_check(bench.options.plot) != 0 ||
	    app_file_open(bench.options.json, &json) != 0)
		return APP_WRONG_USE;
	ret = start_and_run(&bench, json);
	if (app_file_close(bench.options.json, json) != 0)
		ret = -EIO;
	return ret == 0 && !bench_is_stopped() ? EXIT_SUCCESS : EXIT_FAILURE;
}
