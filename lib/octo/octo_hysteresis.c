/* SPDX-License-Identifier: BSD-3-Clause */

#include <eal_export.h>
#include <rte_common.h>

#include "octo_hysteresis.h"

RTE_EXPORT_INTERNAL_SYMBOL(octo_hysteresis_restart)
void
octo_hysteresis_restart(struct octo_hysteresis *d, uint64_t now)
{
	const uint64_t stayed = octo_elapsed(d->went, now);

	if (d->length == 0 || stayed >= 8 * d->length)
		d->length = d->base;
	else if (stayed < 2 * d->length)
		d->length = RTE_MIN(2 * d->length, OCTO_HYSTERESIS_MAX * d->base);
	d->went = now;
}
