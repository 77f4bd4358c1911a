/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef DEMO_TRAFFIC_H
#define DEMO_TRAFFIC_H

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_stdatomic.h>
#include <rte_udp.h>

#include "demo.h"

/** Frame as it lies in the buffer. */
#define DEMO_FRAME_LEN 64

struct demo_frame {
	struct rte_ether_hdr eth;
	struct rte_ipv4_hdr ip;
	struct rte_udp_hdr udp;
	uint16_t magic;
	uint32_t flow;
	uint64_t seq;
	uint8_t padding[8];
};

/** Both ends of a flow, as the peer sends it. */
struct demo_flow_id {
	rte_be32_t src;
	rte_be32_t dst;
	rte_be16_t src_port;
	rte_be16_t dst_port;
};

/** How far back a late packet is told from a duplicate. */
#define DEMO_HISTORY 1024

/** What the peer knows of the packets that came back on one flow. */
struct demo_check {
	uint64_t next;                    /**< lowest sequence number above all that were seen */
	uint64_t seen[DEMO_HISTORY / 64]; /**< bit per sequence number, modulo */
};

struct demo_check_count {
	uint64_t received; /**< each counted once */
	uint64_t reordered;
	uint64_t duplicated;
	uint64_t foreign; /**< not ours, or damaged */
};

/** A flow, owned by the lcore whose queue of the peer port its echoes come to. */
struct __rte_cache_aligned demo_flow {
	struct demo_frame frame; /**< what is sent, but for the sequence number */
	uint64_t next_seq;
	struct demo_check check;
};

/** All that one lcore works on. */
struct __rte_cache_aligned demo_worker {
	uint16_t queue; /**< of both ports */
	const struct demo_ports *ports;
	struct demo_traffic *traffic;
	uint64_t to_send; /**< in this phase */
	uint64_t sent;
	unsigned int turn;  /**< flow that sends next */
	uint64_t echoed;    /**< packets received on the octo port */
	uint64_t elsewhere; /**< of these, those of flows that are for the other lcore */
	struct demo_check_count count;
	uint64_t active; /**< TSC when a packet last came back */
	uint16_t nb_unsent;
	struct rte_mbuf *unsent[DEMO_BURST]; /**< echoes for which there was no room */
	RTE_ATOMIC(uint64_t) progress;       /**< packets that came back, for who looks on */
};

struct demo_traffic {
	struct demo_flow flow[DEMO_NB_FLOWS];
	struct demo_worker worker[DEMO_NB_LCORES];
	RTE_ATOMIC(uint32_t) busy; /**< workers that still wait for their packets */
};

/* demo_packet.c */
struct demo_flow_id demo_flow_id(unsigned int flow);
struct demo_flow_id demo_flow_reverse(const struct demo_flow_id *id);
void demo_frame_init(struct demo_frame *frame, unsigned int flow, const struct rte_ether_addr *src,
		     const struct rte_ether_addr *dst);
void demo_frame_turn_round(struct rte_mbuf *m);
bool demo_frame_is_ours(const struct rte_mbuf *m);

/* demo_check.c */

/** Account for a packet that came back. */
void demo_check_packet(struct demo_check *check, uint64_t seq, struct demo_check_count *count);

/* demo_flow.c: plain rte_flow */

/** Queue, hence lcore, that a flow is for: of the peer at all times, of octo once steered. */
static inline uint16_t
demo_flow_queue(unsigned int flow)
{
	return flow / 2 % DEMO_NB_LCORES;
}

/** Steer a flow to a queue of a port. @return 0, or a negative errno after a message. */
int demo_flow_steer(uint16_t port, const struct demo_flow_id *id, uint16_t queue);

/* demo_traffic.c */
int demo_traffic_init(struct demo_traffic *traffic, const struct demo_ports *ports);

/** The work of one lcore in one phase; arg is its struct demo_worker. */
int demo_traffic_work(void *arg);

/* demo_phase.c */

/** Run one phase to the end and fill the result. @return 0 or a negative errno. */
int demo_phase_run(struct demo_traffic *traffic, const struct demo_ports *ports, const char *name,
		   uint64_t packets, struct demo_result *result);

#endif /* DEMO_TRAFFIC_H */
