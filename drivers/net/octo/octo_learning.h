/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_LEARNING_H
#define OCTO_LEARNING_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "rte_pmd_octo.h"

/**
 * @file
 * Settings of learning that devargs and rte_pmd_octo_learning_set() may set.
 */

#define OCTO_LEARNING_MAX_RULES (1u << 24)
#define OCTO_LEARNING_MAX_IDLE_MS (24u * 3600 * 1000)

static const struct rte_pmd_octo_learning_settings octo_learning_default = {
	.on = true,
	.sample = 2,
	.max_rules = 1 << 20,
	.idle_ms = 60000,
};

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
octo_learning_read_number(const char *text, uint32_t *number)
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

/** @return NULL, or what is wrong with the settings. */
const char *octo_learning_check(const struct rte_pmd_octo_learning_settings *settings);

#endif /* OCTO_LEARNING_H */
