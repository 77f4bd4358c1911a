/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_DETOUR_H
#define OCTO_DETOUR_H

#include <stdbool.h>
#include <stdint.h>

struct octo_dev;
struct rte_flow;

/* A rule of the switch that leads what has no rule past PFs of no use; under the control mutex. */
struct octo_detour {
	bool on;                /* there is such a PF */
	bool stale;             /* the rule leads to a port that its PF had, and lost, since */
	bool told;              /* that it is refused */
	uint8_t pf;             /* that the rule leads to */
	uint8_t manager;        /* PF that has it */
	uint8_t turn;           /* its priority: one of two, in turn */
	struct rte_flow *flow;  /* NULL: none */
	uint64_t retry_at;      /* TSC; one that was refused is tried again then */
	uint64_t patient_until; /* TSC; until then it waits for fences, 0: it does not */
	uint64_t detours;       /* so far */
	uint64_t refused;       /* so far */
};

/* octo_detour.c */
void octo_detour_follow_locked(struct octo_dev *octo, bool flows_go);
uint8_t octo_detour_pf(const struct octo_dev *octo);
bool octo_detour_is_due_locked(const struct octo_dev *octo);
void octo_detour_forget_pf(struct octo_dev *octo, uint8_t pf);
void octo_detour_stop_locked(struct octo_dev *octo);

#endif /* OCTO_DETOUR_H */
