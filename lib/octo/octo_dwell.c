/* SPDX-License-Identifier: BSD-3-Clause */

#include <eal_export.h>
#include <rte_common.h>

#include "octo_dwell.h"

RTE_EXPORT_INTERNAL_SYMBOL(octo_dwell_go)
void
octo_dwell_go(struct octo_dwell *d, uint64_t now)
{
	const uint64_t stayed = octo_elapsed(d->went, now);

	if (d->length == 0 || stayed >= 8 * d->length)
		d->length = d->base;
	else if (stayed < 2 * d->length)
		d->length = RTE_MIN(2 * d->length, OCTO_DWELL_MAX * d->base);
	d->went = now;
}
