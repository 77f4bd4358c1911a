/* SPDX-License-Identifier: BSD-3-Clause */

#include <eal_export.h>

#include "octo_worth.h"

/* 2^-(1/64) in units of 2^-32: the decay per tick. */
#define PER_BEAT UINT64_C(4248701965)

RTE_EXPORT_INTERNAL_SYMBOL(octo_worth_init)
void
octo_worth_init(struct octo_worth *w)
{
	uint64_t left = UINT64_C(1) << 32;

	for (unsigned int i = 0; i < OCTO_WORTH_HALF_LIFE; i++) {
		w->kept[i] = (uint32_t)(left >> 16);
		left = left * PER_BEAT >> 32;
	}
}
