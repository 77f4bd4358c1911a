/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef BENCH_HANDOVER_H
#define BENCH_HANDOVER_H

#include "bench_stream.h"

/**
 * @file
 * A lane that the two workers hand to each other, under load: when do packets
 * come (or go) by a PF of the new owner's socket, and what does it cost?
 */

enum bench_handover_state {
	BENCH_SETTLED,  /**< everything goes by the right PF */
	BENCH_ASKED,    /**< its owner is to give the lane away */
	BENCH_CHANGED,  /**< nothing went by the right PF yet */
	BENCH_SETTLING, /**< some does */
	BENCH_DONE,
};

struct bench_handover {
	struct bench_stream *stream;
	struct bench_lane *lane;
	struct bench_lane *back; /**< given in exchange for it, or NULL */
	bool sends;              /**< the lane is the sender's */
	uint64_t quiet;          /**< packets without a stray, after which all is settled */
	/* by who looks at bursts, under the lock of the order */
	enum bench_handover_state state;
	uint64_t wanted; /**< changes */
	uint64_t random;
	uint64_t change;   /**< that was seen last */
	bool clean;        /**< everything was settled before it */
	uint64_t clear;    /**< packets since the last stray */
	uint64_t interval; /**< packets until the next change */
	uint64_t last_stray;
	struct bench_snapshot snapshot;
	struct bench_span changing, settled;
	uint64_t strays, late;
	uint64_t nb_samples;
	uint64_t nb_settled; /**< changes of which the span counts */
	double *us;          /**< from the change to the first packet by the right PF */
	double max_s;        /**< until the last stray */
	/* between the threads */
	RTE_ATOMIC(uint64_t) changed; /**< TSC, but the last bit is the new owner */
	RTE_ATOMIC(uint64_t) done;    /**< changes */
	RTE_ATOMIC(bool) asked;
	RTE_ATOMIC(bool) over;
};

/**
 * Of the lane that is received from, or of the sender if that is worker 0.
 *
 * @return 0 or a negative errno, after a message.
 */
int bench_handover_open(struct bench_handover *h, struct bench_stream *stream, uint64_t count);
void bench_handover_close(struct bench_handover *h);

/** A bench_seen_t */
void bench_handover_seen(void *arg, const struct bench_burst *burst);

/** A bench_turn_t */
void bench_handover_turn(void *arg, uint8_t worker);

/** From the main thread, until all changes are made. @return 0 or a negative errno. */
int bench_handover_await(struct bench_handover *h);

void bench_handover_result(struct bench_handover *h, struct bench_changes *changes);

#endif /* BENCH_HANDOVER_H */
