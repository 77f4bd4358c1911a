/* SPDX-License-Identifier: BSD-3-Clause */

#include <eal_export.h>

#include "octo_sample.h"

/*
 * The gap between samples is random: with every eighth stray, flows that arrive in a fixed
 * rhythm might never be sampled. A linear congruential generator, whose high bits are good
 * enough; they decide, and nothing is divided.
 */
static uint32_t
next_random(struct octo_sampler *s, uint32_t below)
{
	s->random = s->random * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)s->random * below >> 32);
}

static void
count_turn(struct octo_sampler_leg *leg, uint16_t got, uint16_t ring)
{
	leg->taken += got;
	if (got != 0 && leg->taken < ring)
		return;
	leg->turn++;
	leg->taken = 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_sampler_polled)
int
octo_sampler_polled(struct octo_sampler *s, uint8_t leg, uint16_t got, uint16_t copies,
		    uint16_t ring, uint32_t every)
{
	count_turn(&s->leg[leg], got + copies, ring);
	if (got == 0)
		return -1;
	s->since += got;
	if (s->wait >= got) {
		s->wait -= got;
		return -1;
	}
	s->wait = every / 2 + next_random(s, every);
	return (int)next_random(s, got);
}
