/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_LEARNING_H
#define OCTO_LEARNING_H

#include <stdbool.h>
#include <stdint.h>

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

/** @return NULL, or what is wrong with the settings. */
const char *octo_learning_check(const struct rte_pmd_octo_learning_settings *settings);

#endif /* OCTO_LEARNING_H */
