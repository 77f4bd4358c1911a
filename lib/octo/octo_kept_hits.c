/* SPDX-License-Identifier: BSD-3-Clause */

#include <eal_export.h>
#include <rte_common.h>

#include "octo_kept_hits.h"

RTE_EXPORT_INTERNAL_SYMBOL(octo_kept_hits_end)
void
octo_kept_hits_end(struct octo_kept_hits *k, uint8_t pf)
{
	k->gone.hits += k->last[pf].hits.hits;
	k->gone.bytes += k->last[pf].hits.bytes;
	k->last[pf].counter = (struct octo_handle){0};
	k->last[pf].hits = (struct octo_hits){0};
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_kept_hits_read)
void
octo_kept_hits_read(struct octo_kept_hits *k, uint8_t pf, const struct octo_handle *counter,
		    struct octo_hits now)
{
	if (!octo_handle_equal(&k->last[pf].counter, counter) || now.hits < k->last[pf].hits.hits)
		octo_kept_hits_end(k, pf);
	k->last[pf].counter = *counter;
	k->last[pf].hits = now;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_kept_hits_sum)
struct octo_hits
octo_kept_hits_sum(const struct octo_kept_hits *k)
{
	struct octo_hits sum = k->gone;

	for (unsigned int pf = 0; pf < RTE_DIM(k->last); pf++) {
		sum.hits += k->last[pf].hits.hits;
		sum.bytes += k->last[pf].hits.bytes;
	}
	return sum;
}
