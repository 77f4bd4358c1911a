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
 * The role of a PF in the traffic of an octo port: a state machine without a device and without
 * a clock. Time is the caller's TSC. It is OFF until its port is running, and tells the port
 * (octo_port_state.h) when to give the port back, and when the device may be removed.
 *
 * In shared memory; for the holder of the control mutex in the primary process.
 */

/** A PF whose device is being ejected is drained for so long; then it is lost as any other. */
#define OCTO_PF_EJECT_MS 75

enum octo_pf_state {
	OCTO_PF_OFF,
	OCTO_PF_RESYNC,      /**< polled, being resynced; not a home */
	OCTO_PF_ACTIVE,      /**< may be a home; also without a link */
	OCTO_PF_DRAIN_EJECT, /**< its device is being ejected: traffic leaves it in order */
	OCTO_PF_DRAIN_BACK,  /**< it refused a rule: likewise, unless it is the last */
	OCTO_PF_FLUSHING,    /**< unpublished; its Tx rings empty */
	OCTO_PF_NB_STATES,
	OCTO_PF_SAME = OCTO_PF_NB_STATES, /**< in a move: the state stays */
};

enum octo_pf_event {
	OCTO_PF_EV_TIME,    /**< only time has passed */
	OCTO_PF_EV_STARTED, /**< together with the others */
	OCTO_PF_EV_JOINS,   /**< started while the others run */
	OCTO_PF_EV_SYNCED,  /**< it has all rules; of the last one also after REFUSED */
	OCTO_PF_EV_REFUSED, /**< it has refused a rule that others have */
	OCTO_PF_EV_EJECT,   /**< the removal of its device is announced */
	OCTO_PF_EV_EMPTY,   /**< nothing leads to it, and its rings were empty for the grace time */
	OCTO_PF_EV_SENT,    /**< its Tx rings are empty */
	OCTO_PF_EV_UP,      /**< its link is up */
	OCTO_PF_EV_DOWN,    /**< its link is down, or its device is absent */
	OCTO_PF_EV_LOST,    /**< octo_pf_state_fits() is false, as its port is lost */
	OCTO_PF_EV_STOPPED, /**< together with the octo port */
	/* internal to the machine */
	OCTO_PF_EV_EJECT_NOW,  /**< EJECT without another PF to go to, or without a link */
	OCTO_PF_EV_EMPTY_LAST, /**< EMPTY of the last usable PF */
	OCTO_PF_EV_DOWN_LAST,  /**< DOWN of the last usable PF */
	OCTO_PF_EV_LAST,       /**< no other PF is usable */
	OCTO_PF_EV_LATE,       /**< the deadline has passed */
	OCTO_PF_NB_EVENTS,
};

/** @name Actions: its port gets the event of the same name, in the port's present life @{ */
#define OCTO_PF_DO_JOINED RTE_BIT32(0)
#define OCTO_PF_DO_RMV RTE_BIT32(1)
#define OCTO_PF_DO_DRAINED RTE_BIT32(2)
#define OCTO_PF_DO_REFUSED RTE_BIT32(3)
#define OCTO_PF_DO_RELEASE RTE_BIT32(4) /**< after DRAINED; of the life after that */
/** @} */

/** @name Notes of the machine in a move, besides actions @{ */
#define OCTO_PF_NOTE_ODD RTE_BIT32(16) /**< unexpected: counted */
#define OCTO_PF_NOTE_UP RTE_BIT32(17)
#define OCTO_PF_NOTE_DOWN RTE_BIT32(18)
/** @} */

/** Limit for draining and flushing. */
enum octo_pf_until {
	OCTO_PF_UNTIL_KEEP = 1, /**< unchanged; 0 occurs in no entry of the table */
	OCTO_PF_UNTIL_NEVER,
	OCTO_PF_UNTIL_EJECT, /**< 75 ms: testpmd closes an ejected device after 100 ms */
	OCTO_PF_UNTIL_BACK,  /**< 1 s: its device stays */
};

/** An entry of the table. */
struct octo_pf_move {
	uint8_t next;     /**< enum octo_pf_state, or OCTO_PF_SAME */
	uint8_t until;    /**< enum octo_pf_until */
	uint32_t actions; /**< OCTO_PF_DO_... and OCTO_PF_NOTE_... */
};

struct octo_pf_fsm {
	uint8_t state;       /**< enum octo_pf_state */
	bool link;           /**< known to be up */
	uint32_t unexpected; /**< events in states that do not expect them */
	uint64_t ms;         /**< TSC cycles per millisecond */
	uint64_t since;      /**< TSC at which the state was entered */
	uint64_t until;      /**< TSC; OCTO_PORT_NEVER: no deadline */
};

/** To be done after a step. */
struct octo_pf_todo {
	uint32_t actions;  /**< OCTO_PF_DO_... */
	uint64_t deadline; /**< TSC of the next step, or OCTO_PORT_NEVER */
};

/** Initialise in OCTO_PF_OFF; hz: TSC cycles per second, at least 1000. */
__rte_internal
void octo_pf_state_init(struct octo_pf_fsm *p, uint64_t hz, uint64_t now);

/**
 * One step: handle the event, then the deadline unless a new state was entered. Depends on its
 * arguments only.
 *
 * @param event
 *   Up to OCTO_PF_EV_STOPPED, or OCTO_PF_EV_EJECT_NOW if its device is known to be dead.
 * @param last
 *   octo_pf_state_is_last()
 */
__rte_internal
struct octo_pf_todo
octo_pf_state_step(struct octo_pf_fsm *p, enum octo_pf_event event, bool last, uint64_t now);

/**
 * The PFs that can be homes: the active ones with a link, or else all that are polled, without
 * those that may lack rules which the one has that goes on instead of being given back.
 *
 * @return
 *   A bit mask of PFs; 0 while the octo port is stopped or has none.
 */
__rte_internal
uint32_t octo_pf_state_usable(const struct octo_pf_fsm *pfs, unsigned int nb);

/**
 * Is no PF but this one active with a link? Of several PFs in DRAIN_BACK only one is the last,
 * so that the others can be tried again.
 */
__rte_internal
bool octo_pf_state_is_last(const struct octo_pf_fsm *pfs, unsigned int nb, unsigned int pf);

/** Is the PF on its way out: does its traffic leave it, or did, and is sent? */
__rte_internal
bool octo_pf_state_drains(enum octo_pf_state state);

/**
 * May a PF be in this state while its port is in that state? If not, the PF gets
 * OCTO_PF_EV_LOST, or OCTO_PF_EV_STOPPED if the octo port is stopped.
 */
__rte_internal
bool octo_pf_state_fits(enum octo_pf_state pf, enum octo_port_state port);

/** The table's entry, for tests and documents. */
const struct octo_pf_move *octo_pf_state_move(enum octo_pf_state state, enum octo_pf_event event);

#endif /* OCTO_PF_STATE_H */
