/* SPDX-License-Identifier: BSD-3-Clause */

#include <rte_lcore.h>
#include <rte_malloc.h>

#include "bench.h"

uint64_t
bench_heap_bytes(void)
{
	struct rte_malloc_socket_stats stats;
	uint64_t bytes = 0;

	for (unsigned int i = 0; i < rte_socket_count(); i++)
		if (rte_malloc_get_socket_stats(rte_socket_id_by_idx(i), &stats) == 0)
			bytes += stats.heap_allocsz_bytes;
	return bytes;
}
