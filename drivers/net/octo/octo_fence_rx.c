/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The consumer's side of a fence, as far as other queues and the PFs are concerned: up to when the
 * sources are drained, and how many packets wait on held legs. Runs in the data path, inside a
 * burst, while a fence is open.
 */

#include "octo_clock.h"
#include "octo_private.h"

/* Drivers that check every fourth or eighth descriptor may count up to as many too much. */
#define COUNT_STEP 8

static struct octo_rxq *
rxq_of(const struct octo_rxq *q, uint16_t queue)
{
	return octo_data(q->octo)->rx_queues[queue];
}

/* The first source from `queue` on, RTE_MAX_QUEUES_PER_PORT if there is none. */
static uint16_t
next_source(const struct octo_rxq *q, uint16_t queue)
{
	while (queue < RTE_MAX_QUEUES_PER_PORT) {
		/* pairs with the release of the gate's word, which is stored later */
		const uint64_t bits = rte_atomic_load_explicit(&q->fence.sources[queue / 64],
							       rte_memory_order_relaxed) >>
				      queue % 64;

		if (bits != 0)
			return queue + __builtin_ctzll(bits);
		queue = RTE_ALIGN_FLOOR(queue, 64) + 64;
	}
	return queue;
}

#define FOREACH_SOURCE(q, i)                                                                       \
	for ((i) = next_source((q), 0); (i) < RTE_MAX_QUEUES_PER_PORT;                             \
	     (i) = next_source((q), (i) + 1))

static uint64_t
source_drained(const struct octo_rxq *q, uint16_t source, uint32_t legs, uint64_t now)
{
	const struct octo_rxq *s = rxq_of(q, source);

	if (s == NULL)
		return now;
	if (s != q)
		/* no pair: a PF that is gone is not waited for */
		legs = rte_atomic_load_explicit(&s->live, rte_memory_order_relaxed);
	if (q->fence.by_leg)
		/* stored before the release of the gate's word, as the sources */
		legs &= rte_atomic_load_explicit(&s->fence.drains, rte_memory_order_relaxed);
	return s == q ? octo_gate_as_of(&q->gate, legs, now) :
			octo_gate_drained(&s->gate, legs, now);
}

uint64_t
octo_fence_drained(struct octo_rxq *q, uint32_t legs, uint64_t now)
{
	uint64_t until = octo_gate_as_of(&q->gate, 0, now);
	uint16_t i;

	FOREACH_SOURCE(q, i)
	until = octo_gate_earlier(until, source_drained(q, i, legs, now));
	return until;
}

/* Packets that wait on a leg; not more than there are. */
static uint32_t
waiting(const struct octo_rxq *q, uint8_t leg)
{
	int n = rte_eth_rx_queue_count(q->leg[leg].port, q->leg[leg].queue);

	for (int i = 0; i < COUNT_STEP && n > 0; i++, n--) {
		int status = rte_eth_rx_descriptor_status(q->leg[leg].port, q->leg[leg].queue,
							  n - 1);

		if (status == RTE_ETH_RX_DESC_DONE)
			return n;
		if (status < 0)
			return RTE_MAX(n - COUNT_STEP, 0);
	}
	return 0;
}

static void
note_waiting(struct octo_rxq *q, uint32_t held)
{
	uint32_t packets[OCTO_GATE_MAX_LEGS] = {0};

	if (!q->fence.merges || q->gate.noted != 0)
		return;
	for (uint8_t leg = 0; leg < OCTO_MAX_PFS; leg++)
		if (held & RTE_BIT32(leg))
			packets[leg] = waiting(q, leg);
	/* taken after counting: all counted packets had come by then */
	octo_gate_note(&q->gate, octo_now(), packets);
}

static bool
is_crowded(const struct octo_rxq *q, uint32_t held)
{
	for (uint8_t leg = 0; leg < OCTO_MAX_PFS; leg++)
		if ((held & RTE_BIT32(leg)) &&
		    rte_eth_rx_queue_count(q->leg[leg].port, q->leg[leg].queue) >
			    q->nb_desc / 4 * 3)
			return true;
	return false;
}

/* The other queue that is drained the least; q itself if there is none. */
static uint16_t
laggard(const struct octo_rxq *q, uint64_t now)
{
	uint16_t last = q->queue_id;
	uint64_t least = 0;
	uint16_t i;

	FOREACH_SOURCE(q, i)
	{
		const uint64_t until = source_drained(q, i, 0, now);

		if (i == q->queue_id)
			continue;
		if (last == q->queue_id || octo_gate_earlier(until, least) == until) {
			last = i;
			least = until;
		}
	}
	return last;
}

/* Another queue's consumer may have stopped polling: then give up the order of packets. */
static bool
waits_in_vain(struct octo_rxq *q, uint32_t held, uint64_t now)
{
	const uint16_t source = laggard(q, now);
	const struct octo_rxq *s = rxq_of(q, source);
	uint32_t epoch;
	bool crowded;

	if (s == q || s == NULL)
		return false;
	crowded = !q->gate.has_polled && is_crowded(q, held);
	/* no pair: only a change of the value matters */
	epoch = rte_atomic_load_explicit(&s->epoch.value, rte_memory_order_relaxed);
	return octo_gate_is_vain(&q->gate, source, epoch, crowded, now);
}

bool
octo_fence_release(struct octo_rxq *q, uint32_t word, uint32_t live, uint64_t now)
{
	const uint32_t held = word & live & OCTO_GATE_HELD;
	const uint64_t until = octo_fence_drained(q, live & ~held, now);

	if (octo_gate_release(&q->gate, word, until, now))
		return true;
	if (waits_in_vain(q, held, now))
		return octo_gate_time_out(&q->gate, word, now);
	note_waiting(q, held);
	return false;
}
