/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_SPREAD_H
#define OCTO_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_flow.h>

#include "octo_partition.h"
#include "octo_shift.h"

/* How the MPFS is to spread what has no rule of its own. */
struct octo_spread {
	const struct octo_partition_rule *rules;
	unsigned int nb_rules;
	bool ipv4; /* they are for IPv4 */
	bool ipv6; /* and for IPv6 */
	uint8_t default_pf;
};

/* How unsteered traffic is spread, and how it is to be. */
struct octo_spread_plan {
	struct octo_shift_map map;  /* what the PFs have been told */
	struct octo_shift_map next; /* what they are about to be told */
	struct octo_shift_map wish; /* where that leads */
	struct octo_shift shift;    /* the step between the first two */
};

/* Tier partition as it is now; under the control mutex. */
struct octo_spreading {
	bool on;                       /* the PFs' RETAs differ */
	bool settled;                  /* as it is to be for `home` */
	bool stepping;                 /* a step is under way: packets are on their way by it */
	bool lost;                     /* a PF is, since the last look */
	uint32_t level;                /* PFs that came back, with the RETA that is for all */
	struct octo_spread_plan *plan; /* while it is on */
	uint8_t home[RTE_MAX_QUEUES_PER_PORT]; /* of each queue, as it was spread for */
	struct rte_flow **flows;               /* on the manager PF */
	unsigned int nb_flows;
	uint8_t manager; /* PF that has them */
	bool stale;      /* they went with it, or lead to a PF that is another now */
	uint8_t turn;    /* their priority: one of two, in turn */
	bool counted;    /* what they match */
	struct {
		bool done;     /* they match packets, or it cannot be told */
		bool begun;    /* base is set */
		uint64_t next; /* ms; when to look at them */
		uint64_t base; /* packets received when they had settled */
	} trial;
};

struct octo_dev;

/* octo_spread.c */
/** @return whether there is more to do soon. */
bool octo_spread_follow_locked(struct octo_dev *octo);
/** Does some of the traffic come by this PF? */
bool octo_spread_leads_to_locked(const struct octo_dev *octo, uint8_t pf);
int octo_spread_leave_locked(struct octo_dev *octo, const char *what);
void octo_spread_stop_locked(struct octo_dev *octo);

#endif /* OCTO_SPREAD_H */
