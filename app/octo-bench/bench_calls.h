/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef BENCH_CALLS_H
#define BENCH_CALLS_H

#include <pthread.h>

#include <rte_stdatomic.h>

#include "bench_nic.h"

/**
 * @file
 * For how long calls that only ask take while the control mutex is busy, next to the same calls
 * of the PFs.
 */

/** Which calls: stats_get, xstats_get, link_get_nowait, dev_info_get. */
#define CALLS_NB 4

enum calls_case {
	CALLS_IDLE,       /**< nothing else happens */
	CALLS_FLOOD,      /**< the agent says a thousand messages before each answer */
	CALLS_HANG,       /**< the agent says welcome, and no more */
	CALLS_AWAY,       /**< the agent cannot be connected to */
	CALLS_SLOW_RULES, /**< the PFs take 100 ms for each rule */
	CALLS_SECONDARY,  /**< EAL waits for a secondary process */
	CALLS_NB_CASES,
};

/** Times of one call, in microseconds. */
struct calls_times {
	double p50_us;
	double p99_us;
	double max_us;
};

struct calls_result {
	uint64_t rounds;
	uint64_t failed; /**< of the octo port's calls */
	double seconds;  /**< that the rounds took */
	struct {
		struct calls_times octo;
		struct calls_times pfs; /**< the same call of each PF, one after the other */
	} of[CALLS_NB];
	/* of the thread that makes rules; not of CALLS_IDLE */
	uint64_t rules;
	double rule_max_ms; /**< the longest time to make or to destroy one */
	uint64_t said;      /**< by the agent, bytes */
};

/* bench_calls_agent.c */

/** An agent of this process, at a TCP port of its own. */
struct calls_agent {
	enum calls_case how;
	int ear;
	int fill[8]; /**< connections that take all there is room for */
	char arg[64];
	pthread_t thread;
	bool runs;
	RTE_ATOMIC(bool) stop;
	RTE_ATOMIC(uint64_t) said; /**< bytes */
};

/** Set arg to the octo port's devarg. @return 0, or a negative errno after a message. */
int calls_agent_start(struct calls_agent *agent, enum calls_case how);
void calls_agent_stop(struct calls_agent *agent);

/* bench_calls_secondary.c */

/** What EAL takes for a secondary process: a socket that it sends requests to. */
struct calls_secondary {
	int fd;
	char path[108];
	pthread_t thread;
	bool runs;
	RTE_ATOMIC(bool) asked; /**< EAL waits for an answer */
	RTE_ATOMIC(bool) may_answer;
	RTE_ATOMIC(bool) stop;
};

/** @return 0, or a negative errno after a message. */
int calls_secondary_start(struct calls_secondary *secondary);

/** Wait until EAL has asked. @return 0, or -ETIMEDOUT after a message. */
int calls_secondary_await(const struct calls_secondary *secondary);

/** Answer now, and at once from now on. */
void calls_secondary_answer(struct calls_secondary *secondary);
void calls_secondary_stop(struct calls_secondary *secondary);

/* bench_calls_run.c */

/** @return 0, or a negative errno after a message. */
int calls_run(const struct bench *bench, enum calls_case which, struct calls_result *result);

#endif /* BENCH_CALLS_H */
