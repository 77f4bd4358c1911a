/* SPDX-License-Identifier: BSD-3-Clause */

#include <eal_export.h>

#include "octo_rate.h"

RTE_EXPORT_INTERNAL_SYMBOL(octo_rate_delta)
uint64_t
octo_rate_delta(uint64_t before, uint64_t now, bool *restarted)
{
	if (before == OCTO_RATE_UNKNOWN || now == OCTO_RATE_UNKNOWN)
		return OCTO_RATE_UNKNOWN;
	if (now >= before)
		return now - before;
	*restarted = true;
	return now < before / 2 ? now : 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_rate_deltas)
void
octo_rate_deltas(const uint64_t *before, const uint64_t *now, uint64_t *delta, unsigned int nb,
		 bool *restarted)
{
	for (unsigned int i = 0; i < nb; i++)
		delta[i] = octo_rate_delta(before[i], now[i], restarted);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_rate_gain)
uint64_t
octo_rate_gain(uint64_t before, uint64_t now)
{
	if (before == OCTO_RATE_UNKNOWN || now == OCTO_RATE_UNKNOWN)
		return OCTO_RATE_UNKNOWN;
	return now > before ? now - before : 0;
}
