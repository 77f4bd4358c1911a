/* SPDX-License-Identifier: BSD-3-Clause */

/* What is run one after the other, until it is enough. */

#include <signal.h>
#include <unistd.h>

#include "bench_nic.h"

static volatile sig_atomic_t stopped;

static void
stop(int signal)
{
	static const char text[] = "\nstops, and tells what was measured; ^C again: at once\n";

	RTE_SET_USED(signal);
	stopped = 1;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		return;
}

void
bench_stop_on_interrupt(void)
{
	const struct sigaction act = {
		.sa_handler = stop,
		.sa_flags = (int)SA_RESETHAND | SA_RESTART,
	};

	sigaction(SIGINT, &act, NULL);
}

bool
bench_is_stopped(void)
{
	return stopped != 0;
}

int
bench_run_often(const struct bench *bench, const char *name, int (*run)(void *arg), void *arg)
{
	int ret = 0;

	for (unsigned int i = 0; i < bench->options.runs && ret == 0 && !bench_is_stopped(); i++) {
		bench_progress_run(name, i, bench->options.runs);
		ret = run(arg);
	}
	return ret;
}

int
bench_run_shapes(struct bench *bench,
		 int (*run)(struct bench *bench, void *arg, unsigned int nb_pfs), void *arg)
{
	int ret = 0;

	for (unsigned int nb_pfs = 2; nb_pfs <= BENCH_MAX_PFS && ret == 0; nb_pfs += 2)
		if ((bench->options.pfs == 0 || bench->options.pfs == nb_pfs) &&
		    !bench_is_stopped())
			ret = run(bench, arg, nb_pfs);
	return ret;
}
