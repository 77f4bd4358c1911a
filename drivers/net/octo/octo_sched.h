/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_SCHED_H
#define OCTO_SCHED_H

/**
 * Let the calling thread be let in soon where pollers have all CPUs, as it needs them
 * for short. A wish: Linux before 6.12 does not know it.
 */
void octo_sched_be_brief(void);

#endif /* OCTO_SCHED_H */
