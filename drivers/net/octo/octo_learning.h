/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_LEARNING_H
#define OCTO_LEARNING_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <rte_compat.h>

/**
 * @file
 * Strays teach steering: what the user may set, and what can be seen of it.
 * Primary process; any control thread.
 */

#define OCTO_LEARNING_MAX_RULES (1u << 24)
#define OCTO_LEARNING_MAX_IDLE_MS (24u * 3600 * 1000)

struct octo_learning_settings {
	bool on;
	uint32_t sample;    /**< of about so many strays one is looked at, 1 to 65536 */
	uint32_t max_rules; /**< learned rules at most, 1 to OCTO_LEARNING_MAX_RULES */
	uint32_t idle_ms;   /**< a rule that nothing hits for so long goes, 0: never */
};

static const struct octo_learning_settings octo_learning_default = {
	.on = true,
	.sample = 2,
	.max_rules = 1 << 20,
	.idle_ms = 60000,
};

struct octo_learning_view {
	struct octo_learning_settings settings;
	const char *state;   /**< "on", "off", or why it sleeps */
	uint64_t samples;    /**< strays of flows without a rule that were looked at */
	uint64_t installed;  /**< rules made */
	uint64_t evicted;    /**< rules that went for others */
	uint64_t aged;       /**< rules that went because nothing hit them */
	uint64_t refused;    /**< rules for which the NIC had no room */
	uint64_t failed;     /**< rules that the NIC refused for another reason */
	uint32_t rules;      /**< learned rules now */
	uint32_t candidates; /**< flows without a rule that are remembered now */
	bool counted;        /**< the switch counts the hits of learned rules */
};

/**
 * Read a decimal number; whether it is a good one is for octo_learning_check() to say.
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
	errno = 0;
	n = strtoul(text, &end, 10);
	if (errno != 0 || *end != '\0' || n > UINT32_MAX)
		return -EINVAL;
	*number = (uint32_t)n;
	return 0;
}

/** @return NULL, or what is wrong with the settings. */
const char *octo_learning_check(const struct octo_learning_settings *settings);

/**
 * Learn in another way from now on.
 *
 * @param why
 *   Set to a sentence on failure.
 * @return
 *   0, -ENODEV if it is not an octo port, or -EINVAL: nothing has changed.
 */
__rte_experimental
int octo_learning_set(uint16_t port_id, const struct octo_learning_settings *settings,
		      const char **why);

/** @return 0, or -ENODEV if it is not an octo port. */
__rte_experimental
int octo_learning_view(uint16_t port_id, struct octo_learning_view *view);

#endif /* OCTO_LEARNING_H */
