/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef BENCH_FLOW_H
#define BENCH_FLOW_H

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "app.h"
#include "octo_tuple.h"

/**
 * @file
 * The flows of a case and a frame of each, which tells at its end whose it is.
 */

#define BENCH_FRAME_LEN 96
#define BENCH_MAGIC 0x0c70be7cu

/** The end of a frame. */
struct bench_mark {
	uint32_t magic;
	uint32_t flow;
};

struct bench_frame {
	uint8_t data[BENCH_FRAME_LEN];
};

struct bench_flows {
	uint32_t nb;
	struct bench_frame *frame;
};

/** Writes the headers of one flow. */
typedef void (*bench_flow_write_t)(uint32_t flow, const struct rte_ether_addr *src,
				   const struct rte_ether_addr *dst, struct bench_frame *frame);

/** TCP and UDP over IPv4 in turn, all distinct. */
void bench_flow_tuple(uint32_t flow, struct octo_tuple *tuple);
void bench_flow_write_plain(uint32_t flow, const struct rte_ether_addr *src,
			    const struct rte_ether_addr *dst, struct bench_frame *frame);

/** Random addresses and ports: IPv4 and IPv6, TCP and UDP, whole and in fragments. */
void bench_flow_write_mixed(uint32_t flow, const struct rte_ether_addr *src,
			    const struct rte_ether_addr *dst, struct bench_frame *frame);

/** Make the frames that go from one port to another. @return 0 or a negative errno. */
int bench_flows_make(struct bench_flows *flows, uint32_t nb, uint16_t from_port, uint16_t to_port,
		     bench_flow_write_t write);
void bench_flows_free(struct bench_flows *flows);

/** A number that looks random, the same one for the same index. */
static inline uint64_t
bench_random_of(uint64_t index)
{
	uint64_t x = (index + 1) * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static inline void
bench_frame_fill(struct rte_mbuf *m, const struct bench_frame *frame)
{
	*rte_pktmbuf_mtod(m, struct bench_frame *) = *frame;
	m->data_len = BENCH_FRAME_LEN;
	m->pkt_len = BENCH_FRAME_LEN;
}

/** Whose frame it is, or -1 if it is none of ours or damaged. */
static inline int64_t
bench_frame_flow(const struct rte_mbuf *m, uint32_t nb_flows)
{
	const struct bench_mark *mark = rte_pktmbuf_mtod_offset(m, const struct bench_mark *,
								BENCH_FRAME_LEN - sizeof(*mark));

	if (m->data_len != BENCH_FRAME_LEN || mark->magic != BENCH_MAGIC || mark->flow >= nb_flows)
		return -1;
	return mark->flow;
}

#endif /* BENCH_FLOW_H */
