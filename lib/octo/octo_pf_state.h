/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_PF_STATE_H
#define OCTO_PF_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_bitops.h>
#include <rte_compat.h>

#include "octo_port_state.h"

/**
 * @file
 * The part that a PF has in the traffic of an octo port: a state machine without a device and
 * without a clock. Time is the caller's TSC. It begins where its port is running, and tells
 * the port (octo_port_state.h) when that is to be given back, or its device may go.
 *
 * All of it is in shared memory, and for the primary's holder of the control mutex.
 */

enum octo_pf_fsm_state {
	OCTO_PF_OFF,
	OCTO_PF_RESYNC,      /**< polled, and gets the rules of the others; no queue's home */
	OCTO_PF_ACTIVE,      /**< may be a home; also without a link */
	OCTO_PF_DRAIN_EJECT, /**< its device is to go: traffic leaves it in order */
	OCTO_PF_DRAIN_BACK,  /**< it cannot have all rules: the same, and its device stays */
	OCTO_PF_FLUSHING,    /**< unpublished; its Tx rings empty */
	OCTO_PF_NB_STATES,
	OCTO_PF_SAME = OCTO_PF_NB_STATES, /**< of a move: the state stays */
};

enum octo_pf_event {
	OCTO_PF_EV_TIME,    /**< nothing but that: for octo_pf_state_step() */
	OCTO_PF_EV_STARTED, /**< with the others, which get their rules together */
	OCTO_PF_EV_JOINS,   /**< started where the others run */
	OCTO_PF_EV_SYNCED,  /**< it has all rules */
	OCTO_PF_EV_REFUSED, /**< it has refused one that others have */
	OCTO_PF_EV_EJECT,   /**< the removal of its device is announced */
	OCTO_PF_EV_EMPTY,   /**< nothing leads to it, and its rings are empty for the grace time */
	OCTO_PF_EV_SENT,    /**< its Tx rings are empty */
	OCTO_PF_EV_UP,      /**< it has its link */
	OCTO_PF_EV_DOWN,    /**< it has none, or its device is not there */
	OCTO_PF_EV_LOST,    /**< octo_pf_state_fits() does not hold: its port is lost */
	OCTO_PF_EV_STOPPED, /**< with the octo port */
	/* of the machine itself */
	OCTO_PF_EV_EJECT_NOW,  /**< EJECT, and there is no other to go to, or it has no link */
	OCTO_PF_EV_EMPTY_LAST, /**< EMPTY of the last usable PF */
	OCTO_PF_EV_DOWN_LAST,  /**< DOWN of the last usable PF */
	OCTO_PF_EV_LAST,       /**< no other is usable */
	OCTO_PF_EV_LATE,       /**< its time is over */
	OCTO_PF_NB_EVENTS,
};

/** @name Actions: its port gets the event of that name, of its life @{ */
#define OCTO_PF_DO_JOINED RTE_BIT32(0)
#define OCTO_PF_DO_RMV RTE_BIT32(1)
#define OCTO_PF_DO_DRAINED RTE_BIT32(2)
#define OCTO_PF_DO_REFUSED RTE_BIT32(3)
#define OCTO_PF_DO_RELEASE RTE_BIT32(4) /**< after DRAINED; of the life after that */
/** @} */

/** @name Of a move, besides actions: notes of the machine @{ */
#define OCTO_PF_NOTE_ODD RTE_BIT32(16) /**< unexpected: counted */
#define OCTO_PF_NOTE_UP RTE_BIT32(17)
#define OCTO_PF_NOTE_DOWN RTE_BIT32(18)
/** @} */

/** Until when it may drain and flush. */
enum octo_pf_until {
	OCTO_PF_UNTIL_KEEP = 1, /**< as before; 0 is of no entry of the table */
	OCTO_PF_UNTIL_NEVER,
	OCTO_PF_UNTIL_EJECT, /**< 75 ms: testpmd closes an ejected device after 100 ms */
	OCTO_PF_UNTIL_BACK,  /**< 1 s: its device stays */
};

/** An entry of the table. */
struct octo_pf_move {
	uint8_t next;     /**< enum octo_pf_fsm_state, or OCTO_PF_SAME */
	uint8_t until;    /**< enum octo_pf_until */
	uint32_t actions; /**< OCTO_PF_DO_... and OCTO_PF_NOTE_... */
};

struct octo_pf_fsm {
	uint8_t state;       /**< enum octo_pf_fsm_state */
	bool link;           /**< known to be up */
	uint32_t unexpected; /**< events that came in a state that does not expect them */
	uint64_t ms;         /**< TSC cycles in one */
	uint64_t since;      /**< TSC; when it came into its state */
	uint64_t until;      /**< TSC; OCTO_PORT_NEVER: no deadline */
};

/** To be done after a step. */
struct octo_pf_todo {
	uint32_t actions;  /**< OCTO_PF_DO_... */
	uint64_t deadline; /**< TSC; step again then, if not before; OCTO_PORT_NEVER: none */
};

/** Start in OCTO_PF_OFF; hz are the TSC cycles in a second, at least 1000. */
__rte_internal
void octo_pf_state_init(struct octo_pf_fsm *p, uint64_t hz, uint64_t now);

/**
 * One step: the event, then the deadline, unless the state is new. A function of its
 * arguments alone.
 *
 * @param event
 *   Up to OCTO_PF_EV_STOPPED, or OCTO_PF_EV_EJECT_NOW where its device is known to be dead.
 * @param last
 *   octo_pf_state_is_last()
 */
__rte_internal
struct octo_pf_todo
octo_pf_state_step(struct octo_pf_fsm *p, enum octo_pf_event event, bool last, uint64_t now);

/**
 * The PFs that can be homes: those that are active and have a link, else all that are polled.
 *
 * @return
 *   A bit for each, 0 while the octo port is stopped or has none.
 */
__rte_internal
uint32_t octo_pf_state_usable(const struct octo_pf_fsm *pfs, unsigned int nb);

/**
 * Is no PF but this one active with a link? Of several that drain back, only one is the last:
 * the others can be tried again.
 */
__rte_internal
bool octo_pf_state_is_last(const struct octo_pf_fsm *pfs, unsigned int nb, unsigned int pf);

/**
 * May a PF be in this state while its port is in that one? Where not, the PF gets
 * OCTO_PF_EV_LOST, or OCTO_PF_EV_STOPPED if the octo port is stopped.
 */
__rte_internal
bool octo_pf_state_fits(enum octo_pf_fsm_state pf, enum octo_port_fsm_state port);

/** The table's entry, for tests and documents. */
__rte_internal
const struct octo_pf_move *
octo_pf_state_move(enum octo_pf_fsm_state state, enum octo_pf_event event);

/** "off", "resync", "active", ...; printed by display, telemetry and logs. */
__rte_internal
const char *octo_pf_state_name(enum octo_pf_fsm_state state);

#endif /* OCTO_PF_STATE_H */
