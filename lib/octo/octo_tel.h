/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_TEL_H
#define OCTO_TEL_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_telemetry.h>

/**
 * @file
 * Helpers for telemetry commands of the port and of the agent. Called in telemetry's thread.
 */

/**
 * Read "NUMBER[,NUMBER...]".
 *
 * @param text
 *   The parameters of the command, or NULL.
 * @param max
 *   Largest valid number.
 * @param room
 *   Size of `numbers`.
 * @return
 *   Number of numbers, 0 without text, or -EINVAL.
 */
static inline int
octo_tel_read_params(const char *text, unsigned long max, uint32_t *numbers, int room)
{
	char *end;
	int n = 0;

	if (text == NULL || text[0] == '\0')
		return 0;
	while (n < room) {
		unsigned long value;

		/* strtoul() takes a sign, and -1 is the greatest number */
		if (text[0] < '0' || text[0] > '9')
			return -EINVAL;
		value = strtoul(text, &end, 10);
		if (value > max)
			return -EINVAL;
		numbers[n++] = (uint32_t)value;
		if (*end == '\0')
			return n;
		if (*end != ',')
			return -EINVAL;
		text = end + 1;
	}
	return -EINVAL;
}

/** Create an empty dictionary; NULL without memory. */
static inline struct rte_tel_data *
octo_tel_new_dict(void)
{
	struct rte_tel_data *dict = rte_tel_data_alloc();

	if (dict != NULL)
		rte_tel_data_start_dict(dict);
	return dict;
}

/** Add a dictionary, which is freed if that fails; NULL adds nothing. */
static inline void
octo_tel_add_dict(struct rte_tel_data *to, const char *key, struct rte_tel_data *dict)
{
	if (dict != NULL && rte_tel_data_add_dict_container(to, key, dict, 0) != 0)
		rte_tel_data_free(dict);
}

/**
 * octo_tel_add_dict() with an index as key: lists are dictionaries, as DPDK 22.11 cannot write
 * an array of dictionaries inside a dictionary.
 */
static inline void
octo_tel_add_numbered(struct rte_tel_data *list, uint32_t index, struct rte_tel_data *dict)
{
	char key[16];

	snprintf(key, sizeof(key), "%u", index);
	octo_tel_add_dict(list, key, dict);
}

#endif /* OCTO_TEL_H */
