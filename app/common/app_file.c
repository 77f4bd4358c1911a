/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include "app.h"

/* Before anything else: a run that fails must not leave the figures of an earlier one. */
int
app_file_open(const char *name, FILE **f)
{
	*f = NULL;
	if (name == NULL)
		return 0;
	*f = fopen(name, "we");
	if (*f == NULL) {
		fprintf(stderr, "%s: cannot write %s: %s\n", app_name, name, strerror(errno));
		return -errno;
	}
	return 0;
}

int
app_file_close(const char *name, FILE *f)
{
	bool bad;

	if (f == NULL)
		return 0;
	bad = ferror(f) != 0;
	if (fclose(f) != 0)
		bad = true;
	if (bad)
		fprintf(stderr, "%s: %s could not be written in full\n", app_name, name);
	return bad ? -EIO : 0;
}
