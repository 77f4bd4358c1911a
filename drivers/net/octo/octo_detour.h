/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_DETOUR_H
#define OCTO_DETOUR_H

#include <stdbool.h>
#include <stdint.h>

struct octo_dev;
struct rte_flow;

/* The switch rule that leads unmatched packets past unusable PFs; under the control mutex. */
struct octo_detour {
	bool on;                /* there is such a PF */
	bool stale;             /* the rule leads to a port that its PF has lost since */
	bool told;              /* its refusal was logged */
	uint8_t pf;             /* PF that the rule leads to */
	uint8_t manager;        /* transfer proxy PF that has the rule */
	uint8_t turn;           /* selects one of two priorities, alternately */
	struct rte_flow *flow;  /* NULL: none */
	uint64_t retry_at;      /* TSC at which a refused rule is tried again */
	uint64_t patient_until; /* TSC until which it waits for fences, 0: it does not wait */
	uint64_t detours;       /* rules installed so far */
	uint64_t refused;       /* rules refused so far */
};

/* octo_detour.c */
void octo_detour_follow_locked(struct octo_dev *octo, bool flows_go);
uint8_t octo_detour_pf(const struct octo_dev *octo);
bool octo_detour_is_due_locked(const struct octo_dev *octo);
void octo_detour_forget_pf(struct octo_dev *octo, uint8_t pf);
void octo_detour_stop_locked(struct octo_dev *octo);

#endif /* OCTO_DETOUR_H */
