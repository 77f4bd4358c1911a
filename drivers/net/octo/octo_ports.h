/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_PORTS_H
#define OCTO_PORTS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_ether.h>
#include <rte_stdatomic.h>

#include "octo_call.h"
#include "octo_clock.h"
#include "octo_drain.h"
#include "octo_life.h"
#include "octo_nic.h"
#include "octo_pf_state.h"
#include "octo_port_state.h"
#include "octo_replug.h"
#include "octo_slice.h"

/**
 * @file
 * The lower ports and the PFs: usually one to one, else the PFs are slices of one port.
 */

struct octo_dev;

/** The packets that a PF has sent and octo did not; under the control mutex. */
struct octo_foreign {
	RTE_ATOMIC(bool) anew; /* the PF's counters or the port's were reset, or may have been */
	int64_t most;          /**< maximum so far; below 0 if the PF's counter was reset */
	uint8_t looks;         /**< in a row at which there were more */
	bool logged;
};

/* octo_foreign.c */
void octo_foreign_start_locked(struct octo_dev *octo);
void octo_foreign_look_locked(struct octo_dev *octo, uint8_t port);

/* One lower ethdev: its life, and what is known about it. Owned by the octo port. */
struct octo_port {
	char name[RTE_ETH_NAME_MAX_LEN];
	uint16_t port_id;
	struct octo_port_fsm fsm;   /* its state and life; under the control mutex */
	struct octo_port_mail mail; /* events for its state machine; from any thread */
	uint32_t todo;              /* OCTO_PORT_DO_... yet to be done by the control thread */
	int refusal;                /* errno for which it stays out, while it is FOREIGN */
	bool link_up;               /* under the control mutex */
	bool has_lsc;               /* reports link changes by itself */
	bool has_rmv;               /* reports its removal */
	bool probed_here;           /* by octo, not by EAL or the application */
	struct rte_ether_addr mac;  /* before octo set its own */
	bool has_port;              /* port_id belongs to the octo port, even if unusable */
	bool no_flow_queues; /* returned without flow queues: its rules are created one by one */
	/* absent, or about to be removed; from any thread, see octo_users.h */
	RTE_ATOMIC(bool) shut;
	RTE_ATOMIC(uint32_t) closers;     /* between octo_users_close() and its end */
	RTE_ATOMIC(bool) barred;          /* by octo_users_bar() */
	RTE_ATOMIC(uint16_t) posted_port; /* port id of an event that did not get the mutex */
	struct octo_draining draining;
	struct octo_foreign foreign;
	struct octo_pf_past past; /* kept while it is gone */
	struct octo_nic_kernel kernel;
};

/* A PF: the queues of a port that are near one node. */
struct octo_pf {
	struct octo_port *port;  /* in the same octo_dev */
	struct octo_slice slice; /* its queues of the port */
	int16_t node;            /* NUMA node, simulated or real; -1 unknown */
	int16_t given_node;      /* by the devarg, -1: none */
	int alloc_socket;        /* where its rings are allocated: never a simulated node */
	bool simulated;          /* node is from a devarg, not from the machine */
};

/*
 * Has the port at least this state, and is it not about to go? Holders of the control mutex check
 * this before each use of a port: handlers of events take ports away without the mutex.
 */
static inline bool
octo_port_is(const struct octo_port *port, enum octo_port_state at_least)
{
	return port->fsm.state >= at_least &&
	       !rte_atomic_load_explicit(&port->shut, rte_memory_order_acquire);
}

static inline bool
octo_port_is_owned(const struct octo_port *port)
{
	return octo_port_state_is_owned(port->fsm.state);
}

/* Tell the port's state machine the answer to an action. Returns OCTO_PORT_DO_... to be done. */
static inline uint32_t
octo_port_answer(struct octo_port *port, enum octo_port_event event, uint32_t life)
{
	const struct octo_port_answer answer = {.event = event, .life = life};

	return octo_port_state_hear(&port->fsm, port->fsm.seen, &answer, octo_now()).actions;
}

/* Tell the machine of an owned port what was done; no effect if it was lost meanwhile. */
static inline void
octo_port_did(struct octo_port *port, enum octo_port_event event)
{
	if (octo_port_is_owned(port))
		octo_port_answer(port, event, port->fsm.life);
}

/* A port that nothing uses any more has refused settings or rules of the octo port. */
static inline void
octo_port_refuse(struct octo_port *port)
{
	const uint32_t todo = octo_port_answer(port, OCTO_PORT_EV_REFUSED, port->fsm.life);

	port->no_flow_queues = false;
	port->todo |= todo & OCTO_PORT_DO_LOG;
}

/* The object on the port; NULL if there is none, or if the port was lost since it was created. */
static inline void *
octo_port_object(const struct octo_port *port, const struct octo_handle *handle)
{
	return octo_handle_get(handle, port->fsm.life);
}

/* The object's owner is freed: a port that cannot be called now has it for as long as it exists. */
static inline void
octo_port_orphan(struct octo_port *port, const struct octo_handle *handle)
{
	if (!octo_port_is(port, OCTO_PORT_IDLE) && octo_handle_get(handle, port->past.life) != NULL)
		port->past.orphans = true;
}

/* Port id for operations on a PF's objects; an invalid one if the PF is about to be removed. */
static inline uint16_t
octo_port_usable_id(const struct octo_port *port)
{
	return octo_port_is(port, OCTO_PORT_IDLE) ? port->port_id : RTE_MAX_ETHPORTS;
}

/* How the port is steered: a table of this process, as others have it elsewhere. */
static inline const struct octo_nic_ops *
octo_port_nic(const struct octo_port *port)
{
	return port->kernel.on ? &octo_ethtool_ops : &octo_nic_ethdev_ops;
}

/* The leg of the octo port's queue on this PF. */
static inline struct octo_leg
octo_pf_leg(const struct octo_pf *pf, uint16_t queue)
{
	return (struct octo_leg){pf->port->port_id, octo_slice_queue(&pf->slice, queue)};
}

#endif /* OCTO_PORTS_H */
