/* SPDX-License-Identifier: BSD-3-Clause */

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <eal_export.h>

#include "octo_socket_map.h"

RTE_EXPORT_INTERNAL_SYMBOL(octo_socket_map_clear)
void
octo_socket_map_clear(struct octo_socket_map *map)
{
	memset(map->node, -1, sizeof(map->node));
}

/* Reads a number up to max and advances *text; on failure *text is unchanged. */
static bool
read_number(const char **text, unsigned long max, unsigned long *number)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	*number = strtoul(*text, &end, 10);
	if (*number > max)
		return false;
	*text = end;
	return true;
}

static bool
step_over(const char **text, char c)
{
	if (**text != c)
		return false;
	(*text)++;
	return true;
}

/* Reads one CPUS:NODE. Returns NULL, or what is wrong at *text. */
static const char *
read_entry(struct octo_socket_map *map, const char **text)
{
	const char *const entry = *text;
	unsigned long first, last, node;

	if (!read_number(text, OCTO_SOCKET_MAP_CPUS - 1, &first))
		return "a CPU number up to 1023 is expected";
	last = first;
	if (step_over(text, '-') && !read_number(text, OCTO_SOCKET_MAP_CPUS - 1, &last))
		return "a CPU number up to 1023 is expected after '-'";
	if (last < first)
		return "the range of CPUs ends before it begins";
	if (!step_over(text, ':'))
		return "':' and a node are expected after the CPUs";
	if (!read_number(text, OCTO_SOCKET_MAP_MAX_NODE, &node))
		return "a node number up to 63 is expected after ':'";
	for (unsigned long cpu = first; cpu <= last; cpu++) {
		if (map->node[cpu] != -1) {
			*text = entry;
			return "a CPU is given twice";
		}
		map->node[cpu] = (int8_t)node;
	}
	return NULL;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_socket_map_read)
int
octo_socket_map_read(struct octo_socket_map *map, const char *text, char *why, size_t why_len)
{
	struct octo_socket_map r;
	const char *at = text;
	const char *wrong;

	octo_socket_map_clear(&r);
	do {
		wrong = read_entry(&r, &at);
	} while (wrong == NULL && step_over(&at, '/'));
	if (wrong == NULL && *at != '\0')
		wrong = "'/' or the end is expected after a node";
	if (wrong != NULL) {
		snprintf(why, why_len, "%s at \"%s\"; like socket_map=0-3:0/4-7:1", wrong, at);
		return -EINVAL;
	}
	*map = r;
	return 0;
}
