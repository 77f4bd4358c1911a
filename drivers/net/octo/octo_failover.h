/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_FAILOVER_H
#define OCTO_FAILOVER_H

#include <stdbool.h>
#include <stdint.h>

struct octo_dev;

/* PFs that become unusable, or usable again; under the control mutex. */
struct octo_failover {
	uint32_t proxies;     /* mask of ports that have MPFS rules, or had */
	bool watching;        /* the port is started */
	bool pending;         /* rules are being rehomed to other PFs */
	bool seeking;         /* the transfer proxy PF is gone, and another is looked for */
	uint64_t seek_until;  /* TSC */
	uint64_t seek_again;  /* TSC, of the next look after that; 0: none is due */
	uint32_t seek_pause;  /* ms, before that */
	uint64_t lost_at;     /* TSC, when a PF was lost last, or lost its link; 0: never */
	uint64_t age_due;     /* TSC, when aged flows that the loss holds back are announced */
	uint32_t age_timeout; /* s, the shortest of flows that some PFs had reported */
	uint64_t began;       /* TSC, of the pending one */
	uint64_t cpu_ns;      /* CPU time of the pending one so far */
	uint64_t failovers;   /* PFs that were lost, or lost their link */
	uint64_t failbacks;   /* PFs that became usable again */
	uint64_t last_cpu_ns; /* from the loss to the last rule: CPU time of its threads */
	uint64_t last_ns;     /* the same: wall-clock time */
};

/* octo_failover.c; all under the control mutex */
uint64_t octo_failover_cpu_ns(void);
void octo_failover_watch_locked(struct octo_dev *octo, bool on);
void octo_failover_lost_locked(struct octo_dev *octo, uint8_t port);
void octo_failover_joined_locked(struct octo_dev *octo);
void octo_failover_seek_again_locked(struct octo_dev *octo, uint64_t now);
bool octo_failover_sync_locked(struct octo_dev *octo);
void octo_failover_hurry_locked(struct octo_dev *octo);

#endif /* OCTO_FAILOVER_H */
