/* SPDX-License-Identifier: BSD-3-Clause */


#include "octo_flow_rate.h"

/* 2^-(1/64) in units of 2^-32: the decay per tick. */
#define PER_TICK UINT64_C(4248701965)

void
octo_flow_rate_init(struct octo_flow_rate *w)
{
	uint64_t left = UINT64_C(1) << 32;

	for (unsigned int i = 0; i < OCTO_FLOW_RATE_HALF_LIFE; i++) {
		w->kept[i] = (uint32_t)(left >> 16);
		left = left * PER_TICK >> 32;
	}
}
