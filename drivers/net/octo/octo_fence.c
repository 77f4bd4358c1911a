/* SPDX-License-Identifier: BSD-3-Clause */

/* The control side of the fence: armed and flipped here, closed by the consumers. */

#include "octo_fence.h"
#include "octo_private.h"

int
octo_fence_arm_home_locked(struct octo_dev *octo, uint16_t queue, uint8_t leg)
{
	RTE_SET_USED(octo);
	RTE_SET_USED(queue);
	RTE_SET_USED(leg);
	return 0;
}

int
octo_fence_arm_move_locked(struct octo_dev *octo, uint16_t from_queue, uint16_t to_queue)
{
	RTE_SET_USED(octo);
	RTE_SET_USED(from_queue);
	RTE_SET_USED(to_queue);
	return 0;
}

void
octo_fence_flipped_locked(struct octo_dev *octo, uint16_t queue)
{
	RTE_SET_USED(octo);
	RTE_SET_USED(queue);
}

void
octo_fence_sweep_locked(struct octo_dev *octo)
{
	RTE_SET_USED(octo);
}

void
octo_fence_forget_pf_locked(struct octo_dev *octo, uint8_t pf)
{
	RTE_SET_USED(octo);
	RTE_SET_USED(pf);
}
