/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_RX_H
#define OCTO_RX_H

#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_stdatomic.h>

#include "octo_call.h"
#include "octo_epoch.h"
#include "octo_fence.h"
#include "octo_gate.h"
#include "octo_plan.h"
#include "octo_pools.h"
#include "octo_sample.h"
#include "octo_stray.h"
#include "octo_watch.h"

/* Bursts between two looks at the CPU that the same thread polls, or sends, from. */
#define OCTO_HOME_SAMPLE 64

struct octo_dev;

/* Counters of what came in by one kind of leg; one writer, the poller. */
struct octo_rx_count {
	uint64_t packets;
	uint64_t bytes;
};

/* What an Rx queue has counted since the last reset. */
struct octo_rxq_counts {
	struct octo_rx_count home;
	struct octo_rx_count stray;
	uint64_t sampled;
	struct octo_gate_counts gates;
};

/*
 * An Rx queue: hardware queue `queue_id` of every PF. In shared memory; written
 * by the thread that polls it, except live; and the control side forgets the call.
 */
struct __rte_cache_aligned octo_rxq {
	/* hot: two cache lines, up to and with the first word of the gate */
	struct octo_epoch epoch;
	RTE_ATOMIC(uint32_t) live; /* legs that may be polled; written by the control side */
	RTE_ATOMIC(uint8_t) home;  /* PF index */
	uint16_t port_id;
	uint16_t queue_id;
	struct octo_call call; /* the home leg's */
	struct octo_rx_count home_count;
	struct octo_gate gate;
	/* warm */
	uintptr_t poller; /* octo_thread_here() at the last look; 0: look in the next burst */
	uint32_t look;    /* epoch of the burst in which it is looked all the same */
	uint32_t counted; /* epoch up to which stray knows the bursts */
	RTE_ATOMIC(int32_t) process; /* that polls it, octo_legs_sign() */
	struct octo_stray stray;
	uint16_t leg_port[OCTO_PLAN_MAX_PFS];
	struct octo_dev *octo;
	struct octo_watch watch;
	struct octo_rx_count stray_count;
	struct octo_sampler sampler; /* of strays */
	uint64_t sampled;            /* strays put into samples */
	/* cold */
	struct octo_askers askers[2]; /* octo_legs_askers() */
	RTE_ATOMIC(int16_t) cpu;      /* last polled from; -1 before the first burst */
	uint8_t rules_home;           /* PF that the MPFS rules of this queue lead to */
	uint64_t rehome_retry;        /* TSC before which flows that could not follow stay */
	uint32_t rehome_pause;        /* ms; until the try after that */
	struct octo_fence fence;      /* that this queue is the destination of */
	/*
	 * What the counters were at the last reset: only the poller writes counters. Of a
	 * queue that was set up again, less by what it had counted before.
	 */
	struct octo_rx_count home_base;
	struct octo_rx_count stray_base;
	struct octo_gate_counts gate_base;
	uint64_t sampled_base;
	uint16_t nb_desc;
	uint32_t configuration; /* octo_dev.configuration that it was set up in */
	struct octo_pools pools;
	struct rte_eth_rxconf conf;
	struct octo_sample_ring samples; /* to the control thread */
};

/* octo_rxtx.c: the data path, Rx; octo_tx.h for Tx */
uint16_t octo_rx_burst(void *rxq, struct rte_mbuf **pkts, uint16_t nb);
uint16_t octo_rx_burst_borrowed(void *rxq, struct rte_mbuf **pkts, uint16_t nb);
int octo_rx_queue_count(void *rxq);
int octo_rx_descriptor_status(void *rxq, uint16_t offset);

#endif /* OCTO_RX_H */
