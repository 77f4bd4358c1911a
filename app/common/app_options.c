/* SPDX-License-Identifier: BSD-3-Clause */

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "app.h"

int
app_read_number(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end != '\0' || errno != 0 || n < min || n > max) {
		fprintf(stderr, "%s: %s %s: a number from %" PRIu64 " to %" PRIu64 " is needed\n",
			app_name, option, text, min, max);
		return -EINVAL;
	}
	*value = n;
	return 0;
}
