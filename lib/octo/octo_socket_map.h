/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_SOCKET_MAP_H
#define OCTO_SOCKET_MAP_H

#include <stddef.h>
#include <stdint.h>

#include <rte_compat.h>

/**
 * @file
 * Maps CPU numbers to nodes, to simulate several sockets on a machine that has one; the idea of
 * OVS's --dummy-numa. Pure functions.
 */

#define OCTO_SOCKET_MAP_CPUS 1024
#define OCTO_SOCKET_MAP_MAX_NODE 63

struct octo_socket_map {
	int8_t node[OCTO_SOCKET_MAP_CPUS]; /**< node of each CPU, -1 if not mapped */
};

/** Clear the map: no CPU is mapped. */
__rte_internal
void octo_socket_map_clear(struct octo_socket_map *map);

/**
 * Read "CPUS:NODE[/CPUS:NODE...]", CPUS being a number or a range: "0-3:0/4-7:1".
 *
 * @param why
 *   On failure filled with the error and an example.
 * @return
 *   0, or -EINVAL with *map unchanged.
 */
__rte_internal
int octo_socket_map_read(struct octo_socket_map *map, const char *text, char *why, size_t why_len);

/** Node of a CPU, or -1 if it is not mapped. */
static inline int
octo_socket_map_node(const struct octo_socket_map *map, unsigned int cpu)
{
	return cpu < OCTO_SOCKET_MAP_CPUS ? map->node[cpu] : -1;
}

#endif /* OCTO_SOCKET_MAP_H */
