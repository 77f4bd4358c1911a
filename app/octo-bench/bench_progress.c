/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "bench.h"

static bool on_line;
static uint64_t began; /* TSC */

void
bench_progress_end(void)
{
	if (on_line)
		fprintf(stderr, "\r%40s\r", "");
	on_line = false;
}

void
bench_progress_run(const char *name, unsigned int run, uint64_t runs)
{
	bench_progress_end();
	fprintf(stderr, "==> %s: run %u of %" PRIu64 "\n", name, run + 1, runs);
}

void
bench_progress_stage(const char *name, const char *what)
{
	bench_progress_end();
	fprintf(stderr, "==> %s: %s\n", name, what);
	began = rte_rdtsc();
}

void
bench_progress_shape(const char *name, unsigned int pfs, uint64_t count)
{
	bench_progress_end();
	fprintf(stderr, "==> %s: %" PRIu64 " changes, %u PFs\n", name, count, pfs);
	began = rte_rdtsc();
}

void
bench_progress_part(uint64_t done, uint64_t all)
{
	const double seconds = (double)(rte_rdtsc() - began) / (double)rte_get_tsc_hz();

	if (done == 0 || all == 0 || !isatty(STDERR_FILENO))
		return;
	done = RTE_MIN(done, all);
	fprintf(stderr, "\r    %3" PRIu64 " %%, %.0f s to go   ", done * 100 / all,
		seconds * (double)(all - done) / (double)done);
	on_line = true;
}
