/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>
#include <unistd.h>

#include "bench.h"

static bool on_line;

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
bench_progress_shape(const char *name, unsigned int pfs, uint64_t count)
{
	bench_progress_end();
	fprintf(stderr, "==> %s: %" PRIu64 " changes, %u PFs\n", name, count, pfs);
}

void
bench_progress_part(uint64_t done, uint64_t all)
{
	if (all == 0 || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r    %3" PRIu64 " %% ", RTE_MIN(done, all) * 100 / all);
	on_line = true;
}
