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
