/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_NUMBER_H
#define OCTO_NUMBER_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

/**
 * @file
 * Numbers in devargs and commands.
 */

/**
 * Read a decimal number. The caller knows the range; what is too large for a number is
 * UINT32_MAX, which is in none.
 *
 * @param text
 *   May be NULL.
 * @return
 *   0, or -EINVAL with *number unchanged.
 */
static inline int
octo_number_read(const char *text, uint32_t *number)
{
	unsigned long n;
	char *end;

	if (text == NULL || text[0] < '0' || text[0] > '9')
		return -EINVAL;
	n = strtoul(text, &end, 10);
	if (*end != '\0')
		return -EINVAL;
	*number = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
	return 0;
}

#endif /* OCTO_NUMBER_H */
