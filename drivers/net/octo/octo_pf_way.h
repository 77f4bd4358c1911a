/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_PF_WAY_H
#define OCTO_PF_WAY_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_flow.h>

#include "octo_life.h"

/**
 * @file
 * A rule of the NIC's own switch that leads packets of many flows to one PF. All under the control
 * mutex.
 */

struct octo_dev;

/* Zeroed: there is none. */
struct octo_pf_way {
	uint8_t pf;              /* PF that the rule leads to */
	uint8_t proxy;           /* port that has the rule */
	uint8_t dialect;         /* in which it is written: enum octo_dialect_id */
	uint8_t turn;            /* selects one of two priorities, alternately */
	struct octo_handle flow; /* on that port */
	uint32_t pf_life;        /* of the port to which the rule leads */
};

/* May such rules be written? Not to an agent, nor without an item for the wire's port. */
bool octo_pf_way_is_possible(const struct octo_dev *octo);

bool octo_pf_way_exists(const struct octo_dev *octo, const struct octo_pf_way *rule);

/* Does it lead to this PF, as it is now, in the dialect of now? */
bool octo_pf_way_leads_to(const struct octo_dev *octo, const struct octo_pf_way *rule, uint8_t pf);

/*
 * Lead packets from the wire to this PF, before the old rule goes if there is room for both. A
 * learned rule may be evicted for it.
 *
 * @param ether_type
 *   Of the packets; 0: all.
 * @param priority
 *   The next one is used, too.
 * @return
 *   0, or a negative errno with *error filled; a full table may have lost the old rule then.
 */
int octo_pf_way_lead_locked(struct octo_dev *octo, struct octo_pf_way *rule, uint16_t ether_type,
			    uint32_t priority, uint8_t pf, struct rte_flow_error *error);

void octo_pf_way_destroy_locked(struct octo_dev *octo, struct octo_pf_way *rule);

/* The switch rule that leads unmatched packets past unusable PFs; under the control mutex. */
struct octo_default_pf {
	bool on;     /* there is such a PF */
	bool logged; /* its refusal was logged */
	struct octo_pf_way rule;
	uint64_t retry_at;      /* TSC at which a refused rule is tried again */
	uint64_t patient_until; /* TSC until which it waits for fences, 0: it does not wait */
	uint64_t installed;     /* rules installed so far */
	uint64_t refused;       /* rules refused so far */
};

/* octo_default_pf.c */
void octo_default_pf_follow_locked(struct octo_dev *octo, bool flows_go);
uint8_t octo_default_pf_target(const struct octo_dev *octo);
bool octo_default_pf_is_due_locked(const struct octo_dev *octo);
void octo_default_pf_stop_locked(struct octo_dev *octo);

#endif /* OCTO_PF_WAY_H */
