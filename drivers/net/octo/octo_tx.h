/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_TX_H
#define OCTO_TX_H

#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_stdatomic.h>

#include "octo_call.h"
#include "octo_epoch.h"
#include "octo_plan.h"
#include "octo_socket_map.h"
#include "octo_tx_switch.h"
#include "octo_tracking.h"

/* Packets that a queue can stash while its old PF drains. */
#define OCTO_TX_STASH 256

/* Value of octo_txq.via during a switch; no bit of `sending`, so octo_txq.call is not set. */
#define OCTO_TX_NO_PF 31

/* octo_txq.sending: the legs, and above them which of these is the clock PF's with timesync. */
#define OCTO_TX_LEGS (RTE_BIT32(OCTO_PLAN_MAX_PFS) - 1)
#define OCTO_TX_CLOCK_SHIFT OCTO_PLAN_MAX_PFS

struct octo_dev;

/* Packets in order, from index first up to nb. */
struct octo_tx_stash {
	uint16_t first;
	uint16_t nb;
	struct rte_mbuf *pkts[OCTO_TX_STASH];
};

/* Counters of switches from one PF to another, and of chained packets. */
struct octo_tx_counts {
	uint64_t switches;
	uint64_t timeouts; /* switches forced because the old PF did not drain */
	uint64_t stashed;  /* packets that were stashed */
	uint64_t refused;  /* packets that were left to the application */
	uint64_t drops;    /* stashed packets freed because the queue stopped */
	/* with tx_pf=mbuf */
	uint64_t hinted;   /* packets with a hint in each segment */
	uint64_t crossing; /* bytes of chained packets that lie on another node than their PF */
	/* with tier=mac,mac_source=rewrite */
	uint64_t rewritten; /* packets that got the address of the PF */
	uint64_t shared;    /* packets that kept another PF's, as their buffers are shared */
};

/* Counters of a Tx queue. */
struct octo_txq_counts {
	uint64_t sent[OCTO_PLAN_MAX_PFS];
	struct octo_tx_counts tx;
};

/* Pools whose node is cached. */
#define OCTO_TX_POOLS 8

/* With tx_pf=mbuf: the PF that is near each node. */
struct octo_tx_near {
	uint32_t sending; /* `sending` when this was filled in */
	uint8_t next_pool;
	uint8_t pf_of_node[OCTO_SOCKET_MAP_MAX_NODE + 1];
	struct {
		struct rte_mempool *pool;
		int16_t node; /* -1 unknown */
	} pools[OCTO_TX_POOLS];
};

/*
 * A Tx queue: a leg on every PF; written by the thread that sends, unless a field says otherwise.
 */
struct __rte_cache_aligned octo_txq {
	struct octo_epoch epoch;
	RTE_ATOMIC(uint32_t) live;    /* legs that may be used; written by the control side */
	RTE_ATOMIC(uint32_t) sending; /* live legs that are usable, or that drain; the clock PF */
	uint16_t queue_id;
	uint16_t nb_desc;
	struct octo_call call; /* of `via`; the control side may invalidate it */
	struct octo_leg leg[OCTO_PLAN_MAX_PFS];
	RTE_ATOMIC(uint8_t) via;          /* PF that bursts use, OCTO_TX_NO_PF during a switch */
	RTE_ATOMIC(uint8_t) home;         /* PF that it sends by, or last sent by */
	uint32_t look;                    /* as octo_rxq.look */
	RTE_ATOMIC(uintptr_t) sender;     /* as octo_rxq.poller */
	uint64_t sent[OCTO_PLAN_MAX_PFS]; /* packets sent by each PF; bytes are the PF's figure */
	struct octo_dev *octo;
	struct octo_tracking tracking;
	RTE_ATOMIC(int32_t) process; /* the process that sends, octo_legs_sign() */
	uint8_t to;                  /* PF that it switches to; home if it does not switch */
	/* of a switch; under this lock while via is OCTO_TX_NO_PF: octo_legs_try_lock() */
	RTE_ATOMIC(int32_t) holder;
	uint32_t coarse; /* PFs that report only some descriptors */
	struct octo_tx_switch sw;
	struct octo_tx_stash stash;
	struct octo_tx_counts counts;
	uint32_t hints; /* PFs that let another PF fetch a segment */
	struct octo_tx_near near;
	struct octo_askers askers[2]; /* octo_legs_askers() */
	bool rewrites;                /* tier=mac,mac_source=rewrite */
	/* cold */
	RTE_ATOMIC(int16_t) cpu;
	uint32_t configuration; /* octo_dev.configuration at setup */
	struct rte_eth_txconf conf;
};

static inline uint16_t
octo_tx_count(struct octo_txq *q, uint8_t pf, uint16_t sent)
{
	q->sent[pf] += sent;
	return sent;
}

/* The clock PF's leg in `sending`, 0 without timesync. */
static inline uint32_t
octo_tx_clock(uint32_t sending)
{
	return sending >> OCTO_TX_CLOCK_SHIFT;
}

/* Mark the clock PF in `sending`, if it sends. */
static inline uint32_t
octo_tx_with_clock(uint32_t sending, uint32_t clock)
{
	return sending | (sending & clock) << OCTO_TX_CLOCK_SHIFT;
}

/* octo_mac_tx.c */
uint16_t octo_mac_tx_by(struct octo_txq *q, uint8_t pf, struct rte_mbuf **pkts, uint16_t nb);
uint16_t octo_tx_burst_mac(void *txq, struct rte_mbuf **pkts, uint16_t nb);
uint16_t octo_tx_burst_by_source(void *txq, struct rte_mbuf **pkts, uint16_t nb);

/* Send by this PF, and count. */
static inline uint16_t
octo_tx_by(struct octo_txq *q, uint8_t pf, struct rte_mbuf **pkts, uint16_t nb)
{
	const struct octo_leg leg = q->leg[pf];

	if (unlikely(q->rewrites))
		return octo_tx_count(q, pf, octo_mac_tx_by(q, pf, pkts, nb));
	return octo_tx_count(q, pf, rte_eth_tx_burst(leg.port, leg.queue, pkts, nb));
}

/* By which PF a packet is sent, and how packets are. */
typedef uint8_t (*octo_tx_pf_fn)(struct octo_txq *q, uint32_t sending, struct rte_mbuf *m);
typedef uint16_t (*octo_tx_run_fn)(struct octo_txq *q, uint8_t pf, struct rte_mbuf **pkts,
				   uint16_t nb);

/* Send consecutive packets of the same PF together, at least one; both functions are inlined. */
static __rte_always_inline uint16_t
octo_tx_runs(struct octo_txq *q, uint32_t sending, struct rte_mbuf **pkts, uint16_t nb,
	     octo_tx_pf_fn pf_of, octo_tx_run_fn send)
{
	uint8_t pf = pf_of(q, sending, pkts[0]);
	uint16_t first = 0;

	/* wider than nb, which may be the greatest of its type */
	for (uint32_t i = 1; i <= nb; i++) {
		const uint8_t next = i < nb ? pf_of(q, sending, pkts[i]) : OCTO_TX_NO_PF;

		if (next == pf)
			continue;
		first += send(q, pf, pkts + first, i - first);
		if (first < i)
			break;
		pf = next;
	}
	return first;
}

/* octo_tx.c */
uint16_t octo_tx_burst(void *txq, struct rte_mbuf **pkts, uint16_t nb);
uint16_t octo_tx_burst_borrowed(void *txq, struct rte_mbuf **pkts, uint16_t nb);
uint16_t octo_tx_burst_by_buffer(void *txq, struct rte_mbuf **pkts, uint16_t nb);
uint16_t octo_tx_prepare(void *txq, struct rte_mbuf **pkts, uint16_t nb);
int octo_tx_descriptor_status(void *txq, uint16_t offset);
int octo_tx_queue_count(void *txq);
int octo_tx_done_cleanup(void *txq, uint32_t free_cnt);

/* octo_tx_timed.c: bursts with octo_tx_clock() */
typedef uint16_t (*octo_tx_send_fn)(struct octo_txq *q, uint32_t sending, struct rte_mbuf **pkts,
				    uint16_t nb);
uint16_t octo_tx_timed(struct octo_txq *q, uint32_t sending, struct rte_mbuf **pkts, uint16_t nb,
		       octo_tx_send_fn send);

/* compat/ has another where DPDK is older than 24.03 */
#ifndef OCTO_SET_TX_QUEUE_COUNT
#define OCTO_SET_TX_QUEUE_COUNT(dev, fn) ((dev)->tx_queue_count = (fn))
#endif

/* octo_tx_home.c */
uint8_t octo_tx_plan_home(const struct octo_txq *q, int node, uint32_t sending);
void octo_tx_init(struct octo_txq *q, uint8_t home);
void octo_tx_drop_stash(struct octo_txq *q);
void octo_tx_learn_legs_locked(struct octo_txq *q, uint32_t live);
void octo_tx_start_queue_locked(struct octo_txq *q);
void octo_tx_start_locked(struct octo_dev *octo);
void octo_tx_stop_locked(struct octo_dev *octo);
void octo_tx_tick_locked(struct octo_dev *octo);
void octo_tx_go_on(struct octo_txq *q);
uint64_t octo_tx_waiting(const struct octo_dev *octo);
bool octo_tx_is_sent(const struct octo_txq *q, uint8_t pf, bool blind);
uint16_t
octo_tx_long_way(struct octo_txq *q, uint32_t sending, struct rte_mbuf **pkts, uint16_t nb);

#endif /* OCTO_TX_H */
