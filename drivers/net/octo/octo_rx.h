/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_RX_H
#define OCTO_RX_H

#include <stdbool.h>
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
#include "octo_tracking.h"

/* Bursts between two checks of the CPU that the polling, or sending, thread runs on. */
#define OCTO_HOME_SAMPLE 64

struct octo_dev;

/* Packets and bytes received by one kind of leg; written by the poller only. */
struct octo_rx_count {
	uint64_t packets;
	uint64_t bytes;
};

/* Packets that were dropped as copies (tier mac); written by the poller only. */
struct octo_rx_copies {
	uint64_t foreign; /* to the address of another PF: a promiscuous PF receives these */
	uint64_t groups;
};

/* Counters of an Rx queue. */
struct octo_rxq_counts {
	struct octo_rx_count home;
	struct octo_rx_count stray;
	struct octo_rx_copies copies;
	uint64_t sampled;
	struct octo_gate_counts gates;
};

/*
 * An Rx queue: a leg on every PF. In shared memory; written by the thread that polls it, unless
 * a field says otherwise. The control side may invalidate the call.
 */
struct __rte_cache_aligned octo_rxq {
	/* hot: two cache lines, up to and with the first word of the gate */
	struct octo_epoch epoch;
	RTE_ATOMIC(uint32_t) live; /* legs that may be polled; written by the control side */
	RTE_ATOMIC(uint8_t) home;  /* PF index */
	uint16_t port_id;
	uint16_t queue_id;
	struct octo_call call; /* of the home leg */
	struct octo_rx_count home_count;
	struct octo_gate gate;
	/* warm */
	/* octo_thread_here() at the last check; 0: check in the next burst */
	RTE_ATOMIC(uintptr_t) poller;
	uint32_t look;               /* epoch; the burst that checks the CPU in any case */
	uint32_t counted;            /* epoch up to which the bursts are counted in stray */
	RTE_ATOMIC(int32_t) process; /* the process that polls, octo_legs_sign() */
	struct octo_stray stray;
	struct octo_leg leg[OCTO_PLAN_MAX_PFS];
	struct octo_dev *octo;
	struct octo_tracking tracking;
	struct octo_rx_count stray_count;
	bool rehomed;    /* this burst has changed the home, and is to wake the control thread */
	bool sifts;      /* the port may have tier mac: drop copies */
	uint16_t sifted; /* copies among the packets that a leg returned last */
	struct octo_rx_copies copies;
	struct octo_sampler sampler; /* of strays */
	uint64_t sampled;            /* strays that became samples */
	/* cold */
	struct octo_askers askers[2]; /* octo_legs_askers() */
	RTE_ATOMIC(int16_t) cpu;      /* of the last poll; -1 before the first */
	struct octo_fence fence;      /* of which this queue is the destination */
	uint16_t nb_desc;             /* of the ring on each PF */
	uint16_t wanted_desc;         /* that the application asked for */
	uint32_t configuration;       /* octo_dev.configuration at setup */
	struct octo_pools pools;
	struct rte_eth_rxconf conf;
	bool partial;   /* octo_segments_are_partial() */
	bool strip_set; /* VLAN stripping as in conf.offloads was set for this queue alone */
	union rte_eth_rxseg seg[OCTO_MAX_SEGS]; /* conf.rx_nseg: as the application gave them */
	struct octo_sample_ring samples;        /* to the control thread */
};

/* octo_rxtx.c: the data path, Rx; octo_tx.h for Tx */
uint16_t octo_rx_burst(void *rxq, struct rte_mbuf **pkts, uint16_t nb);
uint16_t octo_rx_burst_mac(void *rxq, struct rte_mbuf **pkts, uint16_t nb);
uint16_t octo_rx_burst_borrowed(void *rxq, struct rte_mbuf **pkts, uint16_t nb);
int octo_rx_queue_count(void *rxq);
int octo_rx_descriptor_status(void *rxq, uint16_t offset);

/* octo_mac_rx.c */
uint16_t octo_mac_sift(struct octo_rxq *q, uint8_t leg, struct rte_mbuf **pkts, uint16_t nb);

#endif /* OCTO_RX_H */
