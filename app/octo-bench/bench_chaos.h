/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef BENCH_CHAOS_H
#define BENCH_CHAOS_H

#include "bench_stream.h"
#include "mpsim_control.h"

/**
 * @file
 * PFs that come and go at random under load, while a thread makes control calls.
 * Three kinds of threads: the main one, whose are the PFs; the caller, whose are
 * the port and its rules; two workers that forward what they receive, whose are the
 * lanes. To look at everything, the main thread has the caller pause.
 */

#define CHAOS_QUEUES 2
#define CHAOS_FLOWS 256

/** Between looks at something that is to come to pass; until it must have. */
#define CHAOS_LOOK_US 500
#define CHAOS_PATIENCE_S 20
/** The same of a PF: one that could not join is tried again a minute later in the end. */
#define CHAOS_JOIN_S 80

/** How a PF is gone. */
enum chaos_state {
	CHAOS_UP,
	CHAOS_WITHOUT_LINK,
	CHAOS_UNPLUGGED,  /**< the application has removed the device */
	CHAOS_REMOVED,    /**< the bus has, and said so before */
	CHAOS_EJECTED,    /**< octo has, whom the bus told */
	CHAOS_SURPRISED,  /**< the bus has, and said so when it was dead */
	CHAOS_RECOVERING, /**< it helps itself */
	CHAOS_FAILED,     /**< it could not: octo removes the device and probes it again */
	CHAOS_NB_STATES,
};

/** A rule for a flow, perhaps by an indirect action. The caller's. */
struct chaos_rule {
	uint16_t queue;
	struct rte_flow *flow;
	struct rte_flow_action_handle *handle;
};

/** What each lane's owner has done. */
struct chaos_lane {
	RTE_ATOMIC(uint64_t) handed; /**< to the port, and taken by it */
	RTE_ATOMIC(bool) park;       /**< nobody is to use it */
};

struct chaos_worker {
	uint64_t random;
	uint64_t next; /**< TSC at which it gives a lane away */
	RTE_ATOMIC(bool) held;
};

/** Everything that was ever counted, somewhere; all of it grows. */
struct chaos_tally {
	uint64_t sent;  /**< by the peer */
	uint64_t came;  /**< to the workers */
	uint64_t taken; /**< from the workers, by the port */
	uint64_t back;  /**< at the peer */
	uint64_t nic;   /**< handed to Tx rings of PFs */
	/* of the port, and void after a reset */
	uint64_t port_rx;
	uint64_t port_tx;
	uint64_t port_drops;
};

struct chaos {
	struct bench *bench;
	struct bench_nic nic;
	struct bench_flows flows;
	struct bench_stream stream;
	struct bench_order back; /**< what the peer receives */
	unsigned int nb_pfs;
	/* the main thread's */
	uint64_t random;
	enum chaos_state state[BENCH_MAX_PFS];
	uint32_t failed[BENCH_MAX_PFS]; /**< how often it had gone when it failed */
	bool lied;                      /**< a PF has said of a rule what is not so */
	uint64_t expected_rules; /**< in all tables when all flows have one, without learned ones */
	bool counts_rules;
	struct chaos_tally before;
	/* the caller's */
	uint64_t call_random;
	uint64_t calls;
	struct chaos_rule rule[CHAOS_FLOWS];
	/* the workers' */
	struct chaos_worker worker[APP_NB_WORKERS];
	struct chaos_lane lane[CHAOS_QUEUES];
	/* between the threads */
	RTE_ATOMIC(uint32_t) gone[BENCH_MAX_PFS]; /**< times that the PF's port has ended */
	RTE_ATOMIC(bool) was_reset;               /**< the port's statistics */
	RTE_ATOMIC(bool) pause;                   /**< the caller is to */
	RTE_ATOMIC(bool) paused;
	RTE_ATOMIC(bool) hold; /**< the workers are to touch nothing */
	RTE_ATOMIC(bool) stay; /**< lanes are not handed over */
	RTE_ATOMIC(bool) stop;
};

static inline bool
chaos_is(const RTE_ATOMIC(bool) * flag)
{
	/* pairs with the release in chaos_set(): who sees it sees what was done before */
	return rte_atomic_load_explicit(flag, rte_memory_order_acquire);
}

static inline void
chaos_set(RTE_ATOMIC(bool) * flag, bool on)
{
	rte_atomic_store_explicit(flag, on, rte_memory_order_release);
}

/** The next of the numbers that a seed gives. */
static inline uint64_t
chaos_pick(uint64_t *random, uint64_t nb)
{
	return bench_random_of((*random)++) % nb;
}

/** TSC at which something is late. */
uint64_t chaos_deadline(unsigned int seconds);

/* bench_chaos_pfs.c: the main thread */

/** See how often which PF goes; until they are all closed. */
int chaos_watch_pfs(struct chaos *c);
void chaos_unwatch_pfs(struct chaos *c);

/** One that is up goes, unless it is the last; one that is gone comes back. */
int chaos_cycle(struct chaos *c);

/** All come back, and what was wrong with any is over. */
int chaos_revive_all(struct chaos *c);

/** @return whether the port has so many PFs of use, before it is late */
bool chaos_await_usable(const struct chaos *c, unsigned int nb);

/* bench_chaos_traffic.c */

/** A bench_take_t: forwards. */
void chaos_forward(void *arg, unsigned int lane, struct rte_mbuf **pkts, uint16_t nb);

/** A bench_turn_t */
void chaos_turn(void *arg, uint8_t worker);

/** By the caller: no worker is inside a burst of the port; and they go on. */
void chaos_hold_workers(struct chaos *c);
void chaos_release_workers(struct chaos *c);

/** By the caller: nobody polls a queue; and somebody does again. */
void chaos_park(struct chaos *c, unsigned int lane);
void chaos_unpark(struct chaos *c, unsigned int lane, uint8_t worker);

/* bench_chaos_calls.c: the caller, or the main thread while it pauses */
void *chaos_call_on_and_on(void *arg);
void chaos_pause_calls(struct chaos *c);
void chaos_resume_calls(struct chaos *c);

/* bench_chaos_rules.c: the caller, or the main thread while it pauses */
void chaos_change_rule(struct chaos *c, uint64_t r);
void chaos_flush_rules(struct chaos *c);

/** Each flow has a rule. @return whether it does. */
bool chaos_make_all_rules(struct chaos *c);

/** No flow has, and there is no handle. */
void chaos_forget_rules(struct chaos *c);

/* bench_chaos_alike.c: the main thread, while the caller pauses and all PFs are of use */

/** @return how many PFs are not set to what the port is; how is said. */
unsigned int chaos_count_unlike(const struct chaos *c);

/* bench_chaos_check.c: the main thread */

/** A digit for each PF, in room for BENCH_MAX_PFS and the end. */
const char *chaos_states(const struct chaos *c, char *states);

/** Have all come to rest, and look at it. What is wrong is said, and added to *r. */
int chaos_check(struct chaos *c, struct bench_chaos *r);

#endif /* BENCH_CHAOS_H */
