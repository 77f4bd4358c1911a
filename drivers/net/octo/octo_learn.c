/* SPDX-License-Identifier: BSD-3-Clause */

/* Strays teach steering. */

#include "octo_private.h"

/* A table is full and an explicit rule wants in. Returns false if nothing learned can go. */
bool
octo_learn_make_room_locked(struct octo_dev *octo)
{
	RTE_SET_USED(octo);
	return false;
}
