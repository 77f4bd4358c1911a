/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_SYNC_H
#define OCTO_SYNC_H

#include <stdbool.h>
#include <stdint.h>

#include "octo_plan.h"

struct octo_dev;
struct rte_flow;
struct rte_flow_action_handle;
struct rte_flow_error;

/**
 * @file
 * The difference between the NIC's rules and those that are wanted, and how far octo_sync.c is.
 * Under the control mutex.
 */

/* Cursors over octo_dev.rules and .others. A rule that leaves its list moves them past it. */
enum octo_cursor {
	OCTO_CURSOR_PORT,   /* rules that the joining port may lack */
	OCTO_CURSOR_AGENT,  /* rules that a new session of the agent lacks */
	OCTO_CURSOR_AUDIT,  /* octo_audit.c */
	OCTO_CURSOR_NAMING, /* of slices: rules of several flows that name the queue sync.naming */
	OCTO_CURSOR_DRAIN, /* rules whose count a port that drains is to leave; one for each port */
	OCTO_NB_CURSORS = OCTO_CURSOR_DRAIN + OCTO_PLAN_MAX_PFS,
};

/* The flows of a queue, which are led to its home. */
struct octo_sync_queue {
	struct rte_flow *next; /* to be looked at next, if walking */
	uint64_t led;          /* octo_sync.legs when leg_pf changed */
	uint64_t retry;        /* TSC; flows that failed to follow are not tried before, 0: none */
	uint32_t pause_ms;     /* from the next failure to the try after it */
	uint32_t failed;       /* in this walk: flows, and what names the queue but the RETA */
	uint32_t astray;       /* if naming: what names it and was refused */
	uint8_t home;   /* PF that all of them lead to; OCTO_NO_PF: they may lead elsewhere */
	uint8_t target; /* PF, if walking */
	bool walking;
	bool again;   /* if walking: another walk follows this one at once */
	bool refused; /* a flow, by an agent, since the last walk: the next one is delayed */
	bool naming;  /* if walking: after the flows, what names the queue */
	bool no_reta; /* in this walk: the RETA was refused */
	bool divided; /* of slices: what names it may lead to other legs than that of leg_pf */
	bool lacking; /* PFs may lack a rule of it, see octo_fanout_lacking() */
};

/*
 * The port that joins: its rules are inserted, one after the other. Its role is OCTO_PF_RESYNC, or
 * OCTO_PF_DRAIN_BACK of one that goes on as the last.
 */
struct octo_sync_port {
	uint8_t port; /* index */
	bool others;  /* rules without a 5-tuple are next */
	bool again;   /* the port goes on as the last: rules that it refused are tried again */
	int ret;      /* error of the port, 0: none so far */
};

struct octo_sync {
	struct octo_sync_queue queue[RTE_MAX_QUEUES_PER_PORT];
	struct octo_sync_port joining;
	struct rte_flow *cursor[OCTO_NB_CURSORS];
	struct rte_flow_action_handle *handle; /* as OCTO_CURSOR_NAMING, and before it */
	uint64_t
		legs; /* of slices: so many times has a leg_pf changed while the port was started */
	uint16_t naming; /* queue that has these two, if its walk is that far: one at a time */
	bool others;     /* rules without a 5-tuple may be missing */
	bool others_logged;
	uint32_t others_pause_ms; /* as those of a queue */
	uint64_t others_retry;
};

/*
 * All flows are looked at again, or only those of queues that are at home on the PF `lost`. Delays
 * after failures end.
 */
void octo_sync_mark_flows_locked(struct octo_dev *octo);
void octo_sync_mark_lost_locked(struct octo_dev *octo, uint8_t lost);

/*
 * One slice of each queue, so that no queue waits for all flows of another. Returns whether
 * another call can go on at once.
 */
bool octo_sync_step_locked(struct octo_dev *octo);

/* Do all flows lead home, but those that failed and wait for another try? */
bool octo_sync_is_done_locked(const struct octo_dev *octo);

/* At port stop. */
void octo_sync_stop_locked(struct octo_dev *octo);

/* The rules of a port that has started, and joins. */
void octo_sync_port_begin_locked(struct octo_dev *octo, uint8_t port);

/* The port goes on as the last: begin with its rules again, if it is time. */
void octo_sync_port_again_locked(struct octo_dev *octo, uint8_t port);
bool octo_sync_port_is_tried_again(const struct octo_dev *octo, uint8_t port);

/* A slice of them: 0 after the last one, 1 if some are left, else the error of the port. */
int octo_sync_port_locked(struct octo_dev *octo);

#endif /* OCTO_SYNC_H */
