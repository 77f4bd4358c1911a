/* SPDX-License-Identifier: BSD-3-Clause */

#include "octo_private.h"

/* Timeouts include fences that the control side gave up, as others waited for them. */
struct octo_fence_counts
octo_fence_counts(const struct octo_dev *octo)
{
	const struct octo_fences *f = &octo->fences;
	struct octo_fence_counts sum = {
		.rehomes = f->rehomes - f->rehomes_base,
		.opened = f->opened - f->opened_base,
		.gates = octo_queue_counts_rx(octo).gates,
	};

	sum.gates.timeouts += f->given_up - f->given_up_base;
	return sum;
}

void
octo_fence_reset_counts(struct octo_dev *octo)
{
	octo->fences.rehomes_base = octo->fences.rehomes;
	octo->fences.opened_base = octo->fences.opened;
	octo->fences.given_up_base = octo->fences.given_up;
}
