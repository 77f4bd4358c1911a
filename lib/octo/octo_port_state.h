/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_PORT_STATE_H
#define OCTO_PORT_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_bitops.h>
#include <rte_compat.h>
#include <rte_stdatomic.h>

#include "octo_life.h"

/**
 * @file
 * The states of a lower port: a state machine without a device and without a clock. Time is the
 * caller's TSC.
 *
 * Callbacks post events to the port's mail, from any thread of any process, without a lock and
 * without allocating memory. The control side steps the machine with the mail, with at most one
 * answer to an action, and with the time. It executes the actions that the step returns, and
 * answers them.
 */

enum octo_port_state {
	OCTO_PORT_ABSENT,         /**< there is no such port; tried again later */
	OCTO_PORT_PROBING_US,     /**< by our request, or its claim is under way */
	OCTO_PORT_PROBING_OTHERS, /**< announced; possibly half-made */
	OCTO_PORT_FOREIGN,        /**< complete, but not usable by us; see octo_port_fsm.reason */
	OCTO_PORT_RECOVERING,     /**< by itself: only its driver may touch it */
	OCTO_PORT_DEAD,           /**< lost; blocks the next port of its name */
	OCTO_PORT_REMOVING,       /**< our removal request is under way */
	/* ordered: each of these includes the ones before */
	OCTO_PORT_IDLE,    /**< owned */
	OCTO_PORT_READY,   /**< configured */
	OCTO_PORT_RUNNING, /**< started */
	OCTO_PORT_NB_STATES,
	OCTO_PORT_SAME = OCTO_PORT_NB_STATES, /**< in a move: the state stays */
};

enum octo_port_event {
	/* posted by callbacks and operations; handled in this order */
	OCTO_PORT_EV_RECOVERING, /**< RTE_ETH_EVENT_ERR_RECOVERING */
	OCTO_PORT_EV_RECOVERED,  /**< RTE_ETH_EVENT_RECOVERY_SUCCESS */
	OCTO_PORT_EV_GAVE_UP,    /**< RTE_ETH_EVENT_RECOVERY_FAILED */
	OCTO_PORT_EV_RESET,      /**< RTE_ETH_EVENT_INTR_RESET */
	OCTO_PORT_EV_RMV,        /**< its device is removed, and its PFs do not drain */
	OCTO_PORT_EV_ARRIVED,    /**< its device may be present again */
	OCTO_PORT_EV_LOOK,       /**< the octo port starts: check at once */
	/* also posted, and counted */
	OCTO_PORT_EV_BORN, /**< RTE_ETH_EVENT_NEW */
	OCTO_PORT_EV_DIED, /**< RTE_ETH_EVENT_DESTROY */
	/* answers to OCTO_PORT_DO_PROBE: the request has returned ... */
	OCTO_PORT_EV_PROBE_DONE,   /**< ... and has created the port */
	OCTO_PORT_EV_PROBE_FOUND,  /**< ... and another thread had created it */
	OCTO_PORT_EV_PROBE_NONE,   /**< ... as there is no device; one may appear at any time */
	OCTO_PORT_EV_PROBE_FAILED, /**< ... with an error */
	/* answers to OCTO_PORT_DO_REMOVE: the request has returned ... */
	OCTO_PORT_EV_REMOVE_DONE,   /**< ... and the port does not exist any more */
	OCTO_PORT_EV_REMOVE_FAILED, /**< ... and the port exists still */
	OCTO_PORT_EV_NOT_OURS,      /**< ... without an attempt, as the port is not owned by us */
	/* answers to actions for one life of the port */
	OCTO_PORT_EV_PROBED,       /**< to CHECK: rte_dev_is_probed() holds */
	OCTO_PORT_EV_NONE,         /**< to CHECK and CLAIM: there is no such port */
	OCTO_PORT_EV_NOT_YET,      /**< to CLAIM: other work goes first */
	OCTO_PORT_EV_CLAIMED,      /**< to CLAIM: owned, and in its initial state */
	OCTO_PORT_EV_OTHERS,       /**< to CLAIM: it has another owner */
	OCTO_PORT_EV_LACKS,        /**< to CLAIM: it lacks a feature of the octo port */
	OCTO_PORT_EV_REFUSED,      /**< to CLAIM and SET_UP, or by its PF: settings or rules */
	OCTO_PORT_EV_RESET_FAILED, /**< to CLAIM with RESET */
	/* completed operations in its present life */
	OCTO_PORT_EV_CONFIGURED,
	OCTO_PORT_EV_UNCONFIGURED, /**< rte_eth_dev_configure() failed, or was undone */
	OCTO_PORT_EV_STARTED,
	OCTO_PORT_EV_STOPPED,
	/* by its PFs, see octo_pf_state.h */
	OCTO_PORT_EV_JOINED,  /**< it has all rules: its join is complete */
	OCTO_PORT_EV_DRAINED, /**< its Rx is drained, and it sends its last packets */
	OCTO_PORT_EV_RELEASE, /**< its Tx is flushed: its device may be removed */
	/* internal to the machine */
	OCTO_PORT_EV_DEADLINE,
	OCTO_PORT_NB_EVENTS,
};

/**
 * @name Actions, in order of execution. Those in OCTO_PORT_TOUCHES are for the port of
 * octo_port_todo.life only.
 * @{
 */
/** The port is lost: unpublish, await its users, forget its objects. Idempotent. */
#define OCTO_PORT_DO_LOSE RTE_BIT32(0)
/** Check whether rte_dev_is_probed() holds; does not touch the port. */
#define OCTO_PORT_DO_CHECK RTE_BIT32(1)
/** Own the port, after RESET and RENEW if these are set. */
#define OCTO_PORT_DO_CLAIM RTE_BIT32(2)
/** rte_eth_dev_reset() */
#define OCTO_PORT_DO_RESET RTE_BIT32(3)
/** The port was owned before: stop it, flush its rules, clear its filters. */
#define OCTO_PORT_DO_RENEW RTE_BIT32(4)
/** Configure and start the port, as far as the octo port is configured and started. */
#define OCTO_PORT_DO_SET_UP RTE_BIT32(5)
/** Send a hotplug request to probe its device. */
#define OCTO_PORT_DO_PROBE RTE_BIT32(6)
/** Send a hotplug request to remove its device, if we own the port. */
#define OCTO_PORT_DO_REMOVE RTE_BIT32(7)
/** Log why the port stays out; once until it is lost. */
#define OCTO_PORT_DO_LOG RTE_BIT32(8)

#define OCTO_PORT_TOUCHES                                                                          \
	(OCTO_PORT_DO_CLAIM | OCTO_PORT_DO_RESET | OCTO_PORT_DO_RENEW | OCTO_PORT_DO_SET_UP)
/** @} */

/** @name Notes of the machine in a move, besides actions @{ */
#define OCTO_PORT_NOTE_ODD RTE_BIT32(16)     /**< unexpected: counted */
#define OCTO_PORT_NOTE_OURS RTE_BIT32(17)    /**< probed by us */
#define OCTO_PORT_NOTE_RESET RTE_BIT32(18)   /**< to be reset when it is claimed */
#define OCTO_PORT_NOTE_RELEASE RTE_BIT32(19) /**< device ejected: do not probe at once */
#define OCTO_PORT_NOTE_FORGET RTE_BIT32(20)  /**< end the back-off */
/** @} */

/** Deadline of a state, if no event comes before. */
enum octo_port_when {
	OCTO_PORT_WHEN_KEEP = 1, /**< unchanged; 0 occurs in no entry of the table */
	OCTO_PORT_WHEN_NEVER,
	OCTO_PORT_WHEN_NOW,
	OCTO_PORT_WHEN_TICK,     /**< in 5 ms */
	OCTO_PORT_WHEN_CHECK,    /**< in 5 ms; in 1 s once the state has lasted 1 s */
	OCTO_PORT_WHEN_LOOK,     /**< in 1 s */
	OCTO_PORT_WHEN_SOON,     /**< in 1 s at most */
	OCTO_PORT_WHEN_BACK_OFF, /**< in 1 s, then 2, 4, ... 60 s until it has joined */
	OCTO_PORT_WHEN_AGAIN,    /**< now if in a back-off, else unchanged */
	OCTO_PORT_WHEN_BURY,     /**< in 300 ms if probed by us, else in 5 s */
	OCTO_PORT_WHEN_FREE,     /**< now, or in 1 s if its device was ejected */
};

/** An entry of the table. */
struct octo_port_move {
	uint8_t next;     /**< enum octo_port_state, or OCTO_PORT_SAME */
	uint8_t when;     /**< enum octo_port_when */
	uint32_t actions; /**< OCTO_PORT_DO_... and OCTO_PORT_NOTE_... */
};

#define OCTO_PORT_NEVER UINT64_MAX

/**
 * Events of a port that are not handled so far. Zeroed memory is a valid start. They concern
 * the newest port of the name: the end of a port clears its events. In shared memory.
 */
struct octo_port_mail {
	RTE_ATOMIC(uint64_t) word;
};

/** In shared memory; for the holder of the control mutex in the primary process. */
struct octo_port_fsm {
	uint8_t state;       /**< enum octo_port_state */
	uint8_t reason;      /**< enum octo_port_event of the last move to FOREIGN */
	bool replug;         /**< lost ports are probed again; else no deadline fires */
	bool by_us;          /**< probed by us, since it was last ABSENT */
	bool used;           /**< claimed before, and not ended since */
	bool reset;          /**< to be reset when it is claimed */
	bool release;        /**< removed because its device is ejected */
	bool put_off;        /**< the deadline is that of a back-off */
	bool logged;         /**< the reason why it stays out was logged */
	uint32_t request;    /**< OCTO_PORT_DO_PROBE or _REMOVE under way, 0: none */
	uint32_t life;       /**< grows each time the port is lost; never OCTO_LIFE_NONE */
	uint32_t pause;      /**< ms; last back-off, 0: none */
	uint32_t unexpected; /**< events in states that do not expect them */
	uint32_t stale;      /**< answers of another life */
	uint64_t seen;       /**< counters in the mail that was handled last */
	uint64_t ms;         /**< TSC cycles per millisecond */
	uint64_t since;      /**< TSC at which the state was entered */
	uint64_t deadline;   /**< TSC; OCTO_PORT_NEVER: none */
};

/** The result of an action, or of an operation. */
struct octo_port_answer {
	enum octo_port_event event; /**< from OCTO_PORT_EV_PROBE_DONE to OCTO_PORT_EV_RELEASE */
	uint32_t life;              /**< octo_port_todo.life to which it belongs */
};

/** To be done after a step. */
struct octo_port_todo {
	uint32_t actions;  /**< OCTO_PORT_DO_... */
	uint32_t life;     /**< of the port that they are for */
	uint64_t deadline; /**< TSC of the next step, if no event comes before */
};

/**
 * Post an event of the port. From any thread of any process, without a lock.
 *
 * @param event
 *   Up to OCTO_PORT_EV_DIED.
 */
__rte_internal
void octo_port_state_post(struct octo_port_mail *mail, enum octo_port_event event);

/**
 * Take the mail for the next step. Called by the control side.
 *
 * @return
 *   A word for octo_port_state_step().
 */
__rte_internal
uint64_t octo_port_state_take(struct octo_port_mail *mail);

/**
 * Initialise for a port that is owned, OCTO_PORT_IDLE, or missing, OCTO_PORT_ABSENT. Its mail
 * must be zeroed.
 *
 * @param by_us
 *   The port was probed by us.
 * @param hz
 *   TSC cycles per second, at least 1000.
 */
__rte_internal
void octo_port_state_init(struct octo_port_fsm *p, enum octo_port_state state, bool replug,
			  bool by_us, uint64_t hz, uint64_t now);

/**
 * Handle events only: deaths first, then the answer, births, and the other mail. Depends on its
 * arguments only. Under the control mutex; the primary alone executes other actions than LOSE.
 *
 * An answer of another life is counted as stale and has no effect, and an answer to a request
 * that was not sent is counted as unexpected.
 *
 * @param mail
 *   From octo_port_state_take(), always of the same port's mail, or octo_port_fsm.seen: none.
 * @param answer
 *   NULL: none.
 */
__rte_internal
struct octo_port_todo octo_port_state_hear(struct octo_port_fsm *p, uint64_t mail,
					   const struct octo_port_answer *answer, uint64_t now);

/** octo_port_state_hear(), then handle the deadline unless a state was entered. */
__rte_internal
struct octo_port_todo octo_port_state_step(struct octo_port_fsm *p, uint64_t mail,
					   const struct octo_port_answer *answer, uint64_t now);

/** Does mail that was not taken so far mean that the port is lost? From any thread. */
__rte_internal
bool octo_port_state_is_lost_by(const struct octo_port_fsm *p, const struct octo_port_mail *mail);

/** The table's entry, for tests and documents. */
const struct octo_port_move *
octo_port_state_move(enum octo_port_state state, enum octo_port_event event);

static inline bool
octo_port_state_is_owned(enum octo_port_state state)
{
	return state >= OCTO_PORT_IDLE;
}

#endif /* OCTO_PORT_STATE_H */
