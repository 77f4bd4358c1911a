/* SPDX-License-Identifier: BSD-3-Clause */

/* What a picture is drawn from is written next to where it is to be. */

#include <errno.h>
#include <string.h>

#include "bench.h"

int
bench_plot_open(const char *plot, char name[PATH_MAX], FILE **f)
{
	/* no other ending than ".png" comes through the options */
	if (snprintf(name, PATH_MAX, "%.*s.csv", (int)strlen(plot) - 4, plot) >= PATH_MAX)
		return -ENAMETOOLONG;
	return app_file_open(name, f);
}

int
bench_plot_check(const char *plot)
{
	char name[PATH_MAX];
	FILE *f;
	int ret;

	if (plot == NULL)
		return 0;
	ret = bench_plot_open(plot, name, &f);
	return ret != 0 ? ret : app_file_close(name, f);
}
