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
 * The life of a lower port: a state machine without a device and without a clock. Time is the
 * caller's TSC.
 *
 * Callbacks post events to the port's mail, from any thread of any process, without a lock and
 * without memory. The control side steps the machine with the mail, with at most one answer to
 * an action, and with the time. It takes the actions that the step returns, and answers.
 */

enum octo_port_fsm_state {
	OCTO_PORT_ABSENT,         /**< there is no such port; tried again later */
	OCTO_PORT_PROBING_US,     /**< by our request, or that has returned and it is claimed */
	OCTO_PORT_PROBING_OTHERS, /**< it was announced, and may be half-made */
	OCTO_PORT_FOREIGN,        /**< whole, and cannot be ours; see octo_port_fsm.reason */
	OCTO_PORT_IDLE,           /**< owned */
	OCTO_PORT_READY,          /**< configured */
	OCTO_PORT_RUNNING,        /**< started */
	OCTO_PORT_RECOVERING,     /**< by itself: its driver alone may touch it */
	OCTO_PORT_DEAD,           /**< lost, and in the way of the next port of its name */
	OCTO_PORT_REMOVING,       /**< our request to remove it is under way */
	OCTO_PORT_NB_STATES,
	OCTO_PORT_SAME = OCTO_PORT_NB_STATES, /**< of a move: the state stays */
};

enum octo_port_event {
	/* posted by callbacks and operations; handled in this order */
	OCTO_PORT_EV_RECOVERING, /**< RTE_ETH_EVENT_ERR_RECOVERING */
	OCTO_PORT_EV_RECOVERED,  /**< RTE_ETH_EVENT_RECOVERY_SUCCESS */
	OCTO_PORT_EV_GAVE_UP,    /**< RTE_ETH_EVENT_RECOVERY_FAILED */
	OCTO_PORT_EV_RESET,      /**< RTE_ETH_EVENT_INTR_RESET */
	OCTO_PORT_EV_RMV,        /**< its device goes, and its PFs do not drain */
	OCTO_PORT_EV_ARRIVED,    /**< its device may be there again */
	OCTO_PORT_EV_LOOK,       /**< the octo port starts: look at once */
	/* posted as well, and counted */
	OCTO_PORT_EV_BORN, /**< RTE_ETH_EVENT_NEW */
	OCTO_PORT_EV_DIED, /**< RTE_ETH_EVENT_DESTROY */
	/* answers to OCTO_PORT_DO_PROBE: its request has returned ... */
	OCTO_PORT_EV_PROBE_DONE,   /**< ... and has made the port */
	OCTO_PORT_EV_PROBE_FOUND,  /**< ... and another thread had made it */
	OCTO_PORT_EV_PROBE_NONE,   /**< ... as there is no device; one may come any second */
	OCTO_PORT_EV_PROBE_FAILED, /**< ... with an error */
	/* answers to OCTO_PORT_DO_REMOVE: its request has returned ... */
	OCTO_PORT_EV_REMOVE_DONE,   /**< ... and there is no such port any more */
	OCTO_PORT_EV_REMOVE_FAILED, /**< ... and there is */
	OCTO_PORT_EV_NOT_OURS,      /**< ... untried, as the port is not owned by us */
	/* answers to the actions that are of one life of the port */
	OCTO_PORT_EV_PROBED,       /**< to CHECK: rte_dev_is_probed() holds */
	OCTO_PORT_EV_NONE,         /**< to CHECK and CLAIM: there is no such port */
	OCTO_PORT_EV_NOT_YET,      /**< to CLAIM: other work goes first */
	OCTO_PORT_EV_CLAIMED,      /**< to CLAIM: owned, and as new */
	OCTO_PORT_EV_OTHERS,       /**< to CLAIM: another owns it */
	OCTO_PORT_EV_LACKS,        /**< to CLAIM: it lacks what the octo port offers */
	OCTO_PORT_EV_REFUSED,      /**< to CLAIM and SET_UP, or by its PF: settings or rules */
	OCTO_PORT_EV_RESET_FAILED, /**< to CLAIM with RESET */
	/* operations of its life that are done */
	OCTO_PORT_EV_CONFIGURED,
	OCTO_PORT_EV_UNCONFIGURED, /**< rte_eth_dev_configure() failed, or is undone */
	OCTO_PORT_EV_STARTED,
	OCTO_PORT_EV_STOPPED,
	/* by its PFs, see octo_pf_state.h */
	OCTO_PORT_EV_JOINED,  /**< it has all rules: it is as good as the others */
	OCTO_PORT_EV_DRAINED, /**< it received all that it is to receive, and sends its last */
	OCTO_PORT_EV_RELEASE, /**< it has sent that: its device may go */
	/* of the machine itself */
	OCTO_PORT_EV_DEADLINE,
	OCTO_PORT_NB_EVENTS,
};

/**
 * @name Actions, in the order in which they are done
 * Those in OCTO_PORT_TOUCHES are for the port of octo_port_todo.life only.
 * @{
 */
/** The port is lost: unpublish, await its users, forget its objects. Idempotent. */
#define OCTO_PORT_DO_LOSE RTE_BIT32(0)
/** It is left as it was found: stopped, without rules. */
#define OCTO_PORT_DO_GIVE_BACK RTE_BIT32(1)
/** Look if rte_dev_is_probed() holds; the port is not touched. */
#define OCTO_PORT_DO_CHECK RTE_BIT32(2)
/** Own it, after RESET and RENEW if these are set. */
#define OCTO_PORT_DO_CLAIM RTE_BIT32(3)
/** rte_eth_dev_reset() */
#define OCTO_PORT_DO_RESET RTE_BIT32(4)
/** It has been ours: stop it, flush its rules, clear its filters. */
#define OCTO_PORT_DO_RENEW RTE_BIT32(5)
/** Configure and start it, as far as the octo port is configured and started. */
#define OCTO_PORT_DO_SET_UP RTE_BIT32(6)
/** Send a request to probe its device. */
#define OCTO_PORT_DO_PROBE RTE_BIT32(7)
/** Send a request to remove its device, if we own the port. */
#define OCTO_PORT_DO_REMOVE RTE_BIT32(8)
/** Log why it stays out; once until it is lost. */
#define OCTO_PORT_DO_TELL RTE_BIT32(9)

#define OCTO_PORT_TOUCHES                                                                          \
	(OCTO_PORT_DO_GIVE_BACK | OCTO_PORT_DO_CLAIM | OCTO_PORT_DO_RESET | OCTO_PORT_DO_RENEW |   \
	 OCTO_PORT_DO_SET_UP)
/** @} */

/** @name Of a move, besides actions: notes of the machine @{ */
#define OCTO_PORT_NOTE_ODD RTE_BIT32(16)     /**< unexpected: counted */
#define OCTO_PORT_NOTE_OURS RTE_BIT32(17)    /**< we have probed it */
#define OCTO_PORT_NOTE_RESET RTE_BIT32(18)   /**< it is to be reset when it is claimed */
#define OCTO_PORT_NOTE_RELEASE RTE_BIT32(19) /**< its device is ejected: do not probe at once */
#define OCTO_PORT_NOTE_FORGET RTE_BIT32(20)  /**< that it failed before: no back-off */
/** @} */

/** When a state is to be left if no event comes before. */
enum octo_port_when {
	OCTO_PORT_WHEN_KEEP = 1, /**< as before; 0 is of no entry of the table */
	OCTO_PORT_WHEN_NEVER,
	OCTO_PORT_WHEN_NOW,
	OCTO_PORT_WHEN_TICK,     /**< in 5 ms */
	OCTO_PORT_WHEN_CHECK,    /**< in 5 ms, and in 1 s if the state has lasted for as long */
	OCTO_PORT_WHEN_LOOK,     /**< in 1 s */
	OCTO_PORT_WHEN_SOON,     /**< in 1 s at most */
	OCTO_PORT_WHEN_BACK_OFF, /**< in 1 s, then 2, 4, ... 60 s until it has joined */
	OCTO_PORT_WHEN_AGAIN,    /**< now if it was put off by that, else as before */
	OCTO_PORT_WHEN_BURY,     /**< 300 ms if we have probed it, else 5 s for its remover */
	OCTO_PORT_WHEN_FREE,     /**< now, or in 1 s if its device was ejected */
};

/** An entry of the table. */
struct octo_port_move {
	uint8_t next;     /**< enum octo_port_fsm_state, or OCTO_PORT_SAME */
	uint8_t when;     /**< enum octo_port_when */
	uint32_t actions; /**< OCTO_PORT_DO_... and OCTO_PORT_NOTE_... */
};

#define OCTO_PORT_NEVER UINT64_MAX

/**
 * Events of a port that are not handled. Zeroed memory is a valid start. They are of the
 * newest port of the name: the end of a port clears its events. In shared memory.
 */
struct octo_port_mail {
	RTE_ATOMIC(uint64_t) word;
};

/** In shared memory; belongs to the primary's holder of the control mutex. */
struct octo_port_fsm {
	uint8_t state;       /**< enum octo_port_fsm_state */
	uint8_t reason;      /**< enum octo_port_event that made it FOREIGN the last time */
	bool replug;         /**< lost ports are looked for; else no deadline fires */
	bool by_us;          /**< the port was probed by us, in this life */
	bool used;           /**< the port was claimed before, and has not ended since */
	bool reset;          /**< and is to be reset */
	bool release;        /**< it is removed because its device is ejected */
	bool put_off;        /**< the deadline is of a back-off */
	bool told;           /**< why it stays out */
	uint32_t request;    /**< OCTO_PORT_DO_PROBE or _REMOVE that is under way, 0: none */
	uint32_t life;       /**< grows each time the port is lost; never OCTO_LIFE_NONE */
	uint32_t pause;      /**< ms; of the last back-off, 0: none */
	uint32_t unexpected; /**< events that came in a state that does not expect them */
	uint32_t stale;      /**< answers of another life */
	uint64_t seen;       /**< the counters of the mail that was handled last */
	uint64_t ms;         /**< TSC cycles in one */
	uint64_t since;      /**< TSC; when it came into its state */
	uint64_t deadline;   /**< TSC; OCTO_PORT_NEVER: none */
};

/** The result of an action, or of an operation. */
struct octo_port_answer {
	enum octo_port_event event; /**< from OCTO_PORT_EV_PROBE_DONE to OCTO_PORT_EV_RELEASE */
	uint32_t life;              /**< octo_port_todo.life that it is of */
};

/** To be done after a step. */
struct octo_port_todo {
	uint32_t actions;  /**< OCTO_PORT_DO_... */
	uint32_t life;     /**< of the port that they are for */
	uint64_t deadline; /**< TSC; step again then, if not before */
};

/**
 * A callback has heard of the port. From any thread of any process, without a lock.
 *
 * @param event
 *   Up to OCTO_PORT_EV_DIED.
 */
__rte_internal
void octo_port_state_post(struct octo_port_mail *mail, enum octo_port_event event);

/**
 * Take the mail, for the next step. By the control side.
 *
 * @return
 *   A word that only octo_port_state_step() understands.
 */
__rte_internal
uint64_t octo_port_state_take(struct octo_port_mail *mail);

/**
 * Start with a port that is owned, OCTO_PORT_IDLE, or is missing, OCTO_PORT_ABSENT. Its mail
 * is zeroed then.
 *
 * @param by_us
 *   It was probed by us.
 * @param hz
 *   TSC cycles in a second, at least 1000.
 */
__rte_internal
void octo_port_state_init(struct octo_port_fsm *p, enum octo_port_fsm_state state, bool replug,
			  bool by_us, uint64_t hz, uint64_t now);

/**
 * One step, in which deaths come first, then the answer, births, the other mail, and the
 * deadline, unless the state is new. A function of its arguments alone. Under the control
 * mutex, in the primary.
 *
 * An answer of another life is counted as stale and has no effect, and an answer to a request
 * that was not sent is counted as unexpected.
 *
 * @param mail
 *   From octo_port_state_take(), of the mail that is always of this port.
 * @param answer
 *   NULL: none.
 */
__rte_internal
struct octo_port_todo octo_port_state_step(struct octo_port_fsm *p, uint64_t mail,
					   const struct octo_port_answer *answer, uint64_t now);

/** The table's entry, for tests and documents. */
__rte_internal
const struct octo_port_move *
octo_port_state_move(enum octo_port_fsm_state state, enum octo_port_event event);

/** "absent", "probing", "foreign", ...; printed by display, telemetry and logs. */
__rte_internal
const char *octo_port_state_name(enum octo_port_fsm_state state);

static inline bool
octo_port_state_is_owned(enum octo_port_fsm_state state)
{
	return state >= OCTO_PORT_IDLE && state <= OCTO_PORT_RUNNING;
}

#endif /* OCTO_PORT_STATE_H */
