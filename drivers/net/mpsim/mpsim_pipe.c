/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include <rte_malloc.h>

#include "octo_clock.h"
#include "mpsim.h"
#include "mpsim_post.h"

static struct mpsim_pipe_slot *
slot_at(const struct mpsim_pipe *pipe, uint32_t i)
{
	return &pipe->slots[i & (MPSIM_PIPE_SLOTS - 1)];
}

/* Skip dropped frames at the tail, and publish when the next frame is due. */
static void
set_due(struct mpsim_pipe *pipe)
{
	uint64_t due = MPSIM_PIPE_NEVER;

	while (pipe->tail != pipe->head && slot_at(pipe, pipe->tail)->frame == NULL)
		pipe->tail++;
	if (pipe->tail != pipe->head)
		due = slot_at(pipe, pipe->tail)->ready;
	rte_atomic_store_explicit(&pipe->due, due, rte_memory_order_relaxed);
}

void
mpsim_pipe_init(struct mpsim_pipe *pipe)
{
	rte_atomic_store_explicit(&pipe->due, MPSIM_PIPE_NEVER, rte_memory_order_relaxed);
}

int
mpsim_pipe_set_latency(struct mpsim_pipe *pipe, uint32_t us)
{
	if (us > 0 && pipe->slots == NULL)
		pipe->slots = rte_zmalloc("mpsim_pipe", MPSIM_PIPE_SLOTS * sizeof(*pipe->slots), 0);
	if (us > 0 && pipe->slots == NULL)
		return -ENOMEM;
	pipe->latency = rte_get_timer_hz() / US_PER_S * us;
	return 0;
}

void
mpsim_pipe_free(struct mpsim_pipe *pipe)
{
	rte_free(pipe->slots);
	pipe->slots = NULL;
}

void
mpsim_pipe_enter(struct mpsim_pipe *pipe, struct mpsim_rxq *queue, struct rte_mbuf **frames,
		 uint16_t n)
{
	/* after the latency was reduced, frames must not overtake earlier ones */
	pipe->last = RTE_MAX(pipe->last, octo_now() + pipe->latency);
	for (uint16_t i = 0; i < n; i++)
		*slot_at(pipe, pipe->head++) = (struct mpsim_pipe_slot){
			.frame = frames[i],
			.queue = queue,
			.ready = pipe->last,
		};
	pipe->frames += n;
	set_due(pipe);
}

static void
leave_one(struct mpsim_pf *pf, struct mpsim_rxq *q, struct rte_mbuf *frame)
{
	/* the frame must not be accessed once it is on the ring; a stripped tag counts */
	const uint32_t len = frame->pkt_len +
			     (frame->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED ? RTE_VLAN_HLEN : 0);

	if (unlikely(!q->started)) {
		pf->stats.stopped++;
		mpsim_post_free(q, frame);
	} else if (unlikely(q->full || rte_ring_sp_enqueue(q->ring, frame) != 0)) {
		q->stats->missed++;
		mpsim_post_free(q, frame);
	} else {
		q->stats->packets++;
		q->stats->bytes += len;
	}
}

void
mpsim_pipe_leave(struct mpsim_pf *pf)
{
	struct mpsim_pipe *pipe = &pf->pipe;
	const uint64_t now = octo_now();

	while (pipe->tail != pipe->head) {
		const struct mpsim_pipe_slot *s = slot_at(pipe, pipe->tail);

		if (s->frame != NULL && s->ready > now)
			break;
		if (s->frame != NULL) {
			leave_one(pf, s->queue, s->frame);
			pipe->frames--;
		}
		pipe->tail++;
	}
	set_due(pipe);
}

uint32_t
mpsim_pipe_drop(struct mpsim_pipe *pipe, const struct mpsim_rxq *queue)
{
	uint32_t n = 0;

	for (uint32_t i = pipe->tail; i != pipe->head; i++) {
		struct mpsim_pipe_slot *s = slot_at(pipe, i);

		if (s->frame == NULL || (queue != NULL && s->queue != queue))
			continue;
		mpsim_post_free(s->queue, s->frame);
		s->frame = NULL;
		n++;
	}
	pipe->frames -= n;
	set_due(pipe);
	return n;
}
