/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The data path, Rx: no lock, no allocation, no log, no rte_flow call. What octo_rx_burst() runs is
 * __rte_hot, and so lies together: it shares the instruction cache with the PF's driver and the
 * application.
 */

#include "octo_clock.h"
#include "octo_mbufs.h"
#include "octo_packet.h"
#include "octo_private.h"
#include "octo_thread.h"

/* Set the packets' port id to the octo port's, and count them. */
static inline void
adopt(const struct octo_rxq *q, struct rte_mbuf **pkts, uint16_t nb, struct octo_rx_count *count)
{
	/* first: else the compiler joins both sums in a vector, by more instructions */
	count->packets += nb;
	count->bytes += octo_mbufs_adopt(pkts, nb, q->port_id);
}

/* Returns the packets less copies: with q->sifted these are all that the leg returned. */
static inline uint16_t
poll_leg(struct octo_rxq *q, uint8_t leg, struct rte_mbuf **pkts, uint16_t nb,
	 struct octo_rx_count *count)
{
	uint16_t got = rte_eth_rx_burst(q->leg[leg].port, q->leg[leg].queue, pkts, nb);

	if (unlikely(q->sifts))
		got = octo_mac_sift(q, leg, pkts, got);
	adopt(q, pkts, got, count);
	return got;
}

/* Behind a discarded segment, other bytes would be taken for headers. */
static bool
read_tuple(const struct octo_rxq *q, const struct rte_mbuf *m, struct octo_tuple *t)
{
	if (likely(!q->partial))
		return octo_packet_tuple(m, t);
	return q->seg[0].split.mp != NULL && octo_packet_tuple_of_first(m, t);
}

/* Pass a sample of the strays to the control thread; home legs have no such cost. */
static void
sample_stray(struct octo_rxq *q, uint8_t leg, struct rte_mbuf *const *pkts, uint16_t nb)
{
	/* no pair: the number may change at any time, and no other data depends on it */
	const uint32_t every = rte_atomic_load_explicit(&q->octo->sample_every,
							rte_memory_order_relaxed);
	const int i = octo_sampler_polled(&q->sampler, leg, nb, q->sifted, q->nb_desc, every);
	struct octo_sample *s;

	if (i < 0)
		return;
	s = octo_sample_next(&q->samples);
	if (s == NULL)
		return;
	if (read_tuple(q, pkts[i], &s->tuple)) {
		s->cycles = octo_now();
		s->turn = q->sampler.leg[leg].turn;
		s->packets = q->sampler.since;
		s->queue = q->queue_id;
		s->pf = leg;
		octo_sample_push(&q->samples);
		q->sampled++;
	}
	/* strays that a packet without a 5-tuple stands for are none of the next flow */
	q->sampler.since = 0;
}

static __rte_hot uint16_t
poll_stray(struct octo_rxq *q, uint8_t leg, struct rte_mbuf **pkts, uint16_t nb)
{
	const uint16_t got = poll_leg(q, leg, pkts, nb, &q->stray_count);

	/* a vector PMD asked for fewer than four packets returns none: that does not mean empty */
	if (got + q->sifted > 0 || nb >= 4)
		sample_stray(q, leg, pkts, got);
	return got;
}

/* Poll the stray legs that are due; together they get a quarter of the burst. */
static __rte_hot __rte_noinline uint16_t
poll_strays(struct octo_rxq *q, uint32_t strays, struct rte_mbuf **pkts, uint16_t nb)
{
	const uint16_t quota = octo_stray_quota(nb);
	uint16_t got = 0;

	/* a vector PMD asked for fewer than four packets returns none */
	for (uint8_t i = 0; i < OCTO_MAX_PFS && quota - got >= RTE_MIN(quota, 4); i++) {
		const uint8_t leg = (q->stray.first + i) % OCTO_MAX_PFS;
		uint16_t n;

		if (!(strays & RTE_BIT32(leg)) || !octo_stray_leg_due(&q->stray, leg))
			continue;
		n = poll_stray(q, leg, pkts + got, quota - got);
		octo_stray_polled(&q->stray, leg, nb, n + q->sifted);
		got += n;
	}
	octo_stray_plan(&q->stray, strays);
	return got;
}

/* Fill the rest of a burst from strays: the quota only protects a busy home leg. */
static __rte_hot __rte_noinline uint16_t
poll_strays_again(struct octo_rxq *q, uint32_t strays, struct rte_mbuf **pkts, uint16_t nb)
{
	uint16_t got = 0;

	for (uint8_t leg = 0; leg < OCTO_MAX_PFS && got < nb; leg++)
		if (strays & RTE_BIT32(leg))
			got += poll_stray(q, leg, pkts + got, nb - got);
	return got;
}

/*
 * The burst is empty: poll one idle leg more. A poller that sleeps when it gets nothing
 * would otherwise find a packet in an idle leg only after many sleeps.
 */
static __rte_hot __rte_noinline uint16_t
poll_idle_stray(struct octo_rxq *q, struct rte_mbuf **pkts, uint16_t nb)
{
	/* pairs with the release in octo_topo_publish_live() */
	const uint32_t live = rte_atomic_load_explicit(&q->live, rte_memory_order_acquire);
	const uint8_t home = rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed);
	const uint32_t strays = octo_legs_follow(q->octo, live) & ~RTE_BIT32(home);
	uint16_t got;
	uint8_t leg;

	if (strays == 0 || nb == 0)
		return 0;
	leg = octo_stray_next_idle(&q->stray, strays);
	got = poll_stray(q, leg, pkts, nb);
	if (got + q->sifted > 0) {
		octo_stray_polled(&q->stray, leg, nb, got + q->sifted);
		octo_stray_plan(&q->stray, strays);
	}
	return got;
}

/*
 * Poll these legs, starting after the leg that was first in the last burst, so that a leg
 * which fills every burst does not starve the others.
 */
static uint16_t
drain_legs(struct octo_rxq *q, uint32_t legs, uint64_t now, struct rte_mbuf **pkts, uint16_t nb,
	   uint16_t burst)
{
	const uint8_t home = rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed);
	const uint8_t first = q->gate.first;
	uint16_t got = 0;

	for (uint8_t i = 0; i < OCTO_MAX_PFS && got < nb; i++) {
		const uint8_t leg = (first + i) % OCTO_MAX_PFS;
		const uint16_t asked = nb - got;
		uint16_t n;

		if (!(legs & RTE_BIT32(leg)))
			continue;
		if (got == 0)
			q->gate.first = leg + 1;
		n = leg == home ? poll_leg(q, leg, pkts + got, asked, &q->home_count) :
				  poll_stray(q, leg, pkts + got, asked);
		octo_gate_polled(&q->gate, leg, now, asked >= RTE_MIN(burst, OCTO_GATE_SURE),
				 n + q->sifted);
		got += n;
	}
	return got;
}

/*
 * From held legs take the packets known to be older than anything the sources may still
 * have.
 */
static uint16_t
merge(struct octo_rxq *q, uint32_t held, uint64_t now, struct rte_mbuf **pkts, uint16_t nb)
{
	const uint8_t home = rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed);
	uint16_t got = 0;

	for (uint8_t leg = 0; leg < OCTO_MAX_PFS && got < nb; leg++) {
		const uint16_t asked = RTE_MIN(q->gate.leg[leg].allowed, (uint32_t)nb - got);
		uint16_t n;

		if (!(held & RTE_BIT32(leg)) || asked == 0)
			continue;
		n = leg == home ? poll_leg(q, leg, pkts + got, asked, &q->home_count) :
				  poll_stray(q, leg, pkts + got, asked);
		octo_gate_merged(&q->gate, leg, now, asked, n + q->sifted);
		got += n;
	}
	return got;
}

/*
 * A secondary that lacks the port of a live leg gets nothing by it: queues that this one is a
 * source of do not wait for that.
 */
static void
pass_lacking_legs(struct octo_rxq *q, uint64_t now)
{
	const uint32_t live = rte_atomic_load_explicit(&q->live, rte_memory_order_acquire);
	const uint32_t lacking = octo_legs_lacking(q->octo, live);

	for (uint8_t leg = 0; lacking != 0 && leg < OCTO_MAX_PFS; leg++)
		if (lacking & RTE_BIT32(leg))
			octo_gate_polled(&q->gate, leg, now, true, 0);
}

/*
 * A fence is open: some legs are held until others, or those of other queues, are drained.
 * Packets of held legs that are old enough are taken first, so that a busy leg which is
 * being drained does not delay them.
 */
static __rte_noinline uint16_t
poll_fenced(struct octo_rxq *q, uint32_t word, uint32_t live, struct rte_mbuf **pkts, uint16_t nb)
{
	const uint64_t now = octo_now();
	const uint32_t held = live & word & OCTO_GATE_HELD;
	uint16_t got = 0;

	octo_gate_enter(&q->gate, word, now);
	pass_lacking_legs(q, now);
	if (held != 0 && octo_gate_may_merge(&q->gate, octo_fence_drained(q, live & ~held, now)))
		got = merge(q, held, now, pkts, (nb + 1) / 2);
	got += drain_legs(q, live & ~held, now, pkts + got, nb - got, nb);
	if ((word & OCTO_GATE_HELD) && octo_fence_release(q, word, live, now))
		got += drain_legs(q, held, now, pkts + got, nb - got, nb);
	return got;
}

static_assert(offsetof(struct octo_rxq, gate.word) + sizeof(uint32_t) <= 128,
	      "what each burst looks at is in two cache lines");
static_assert(OCTO_HOME_SAMPLE <= OCTO_CALL_BURSTS, "no longer than the next look");

/*
 * Advance the stray schedule by the bursts since the last call, which the epoch counts.
 * Returns whether a stray leg is due in this burst.
 */
static inline bool
count_bursts(struct octo_rxq *q, uint32_t epoch)
{
	const uint32_t bursts = (epoch - q->counted) / OCTO_EPOCH_BURST;

	q->counted = epoch;
	return octo_stray_tick(&q->stray, bursts);
}

/* Let the next bursts poll only the home leg, until strays or the check of the CPU are due. */
static void
settle(struct octo_rxq *q, uint32_t live)
{
	const uint8_t home = rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed);
	const uint32_t now = octo_epoch_now(&q->epoch);
	const uint32_t rest = octo_stray_rest(&q->stray) * OCTO_EPOCH_BURST;
	const uint32_t look = q->look - now - OCTO_EPOCH_BURST;

	if (octo_legs_borrowed ||
	    rte_atomic_load_explicit(&q->poller, rte_memory_order_relaxed) == 0 ||
	    !(live & RTE_BIT32(home)) || (q->stray.active & live & ~RTE_BIT32(home)))
		return;
	octo_call_keep(&q->call, q->leg[home], live, now + RTE_MIN(rest, look));
}

/* Poll the live legs: strays first if they are due, and again if there is room. */
static uint16_t
poll_legs(struct octo_rxq *q, uint32_t live, bool due, struct rte_mbuf **pkts, uint16_t nb)
{
	const uint8_t home = rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed);
	uint32_t strays = live & ~RTE_BIT32(home);
	uint16_t got = 0;

	if (due)
		got = poll_strays(q, strays, pkts, nb);
	if ((live & RTE_BIT32(home)) && got < nb)
		got += poll_leg(q, home, pkts + got, nb - got, &q->home_count);
	strays &= q->stray.active;
	if (strays != 0 && got < nb)
		got += poll_strays_again(q, strays, pkts + got, nb - got);
	return got == 0 ? poll_idle_stray(q, pkts, nb) : got;
}

/*
 * A burst in which the poller or the legs may have changed, strays are due, or a fence is
 * open.
 */
static uint16_t
poll_unsettled(struct octo_rxq *q, uint32_t epoch, struct rte_mbuf **pkts, uint16_t nb)
{
	const bool due = count_bursts(q, epoch);
	uint32_t live, fence;
	uint16_t got;
	uint8_t home;

	octo_call_forget(&q->call);
	octo_legs_sign(&q->process);
	/* pairs with the release in octo_topo_publish_live() */
	live = octo_legs_follow(q->octo,
				rte_atomic_load_explicit(&q->live, rte_memory_order_acquire));
	home = rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed);
	if (rte_atomic_load_explicit(&q->poller, rte_memory_order_relaxed) != octo_thread_here() ||
	    octo_epoch_reached(epoch, q->look, OCTO_HOME_SAMPLE) || !(live & RTE_BIT32(home)))
		live = octo_legs_follow(q->octo, octo_home_rx(q, live));
	/* pairs with the release in octo_gate_arm() */
	fence = rte_atomic_load_explicit(&q->gate.word, rte_memory_order_acquire);
	if (fence & OCTO_GATE_OPEN)
		return poll_fenced(q, fence, live, pkts, nb);
	got = poll_legs(q, live, due, pkts, nb);
	settle(q, live);
	return got;
}

/* poll_unsettled(), and leave the epoch. */
static __rte_hot __rte_noinline uint16_t
poll_the_long_way(struct octo_rxq *q, uint32_t epoch, struct rte_mbuf **pkts, uint16_t nb)
{
	const uint16_t got = poll_unsettled(q, epoch, pkts, nb);
	struct octo_dev *to_wake = q->rehomed ? q->octo : NULL;

	q->rehomed = false;
	octo_epoch_leave(&q->epoch);
	/*
	 * outside the epoch: the control thread may get this very CPU at once and then wait until
	 * no thread is inside a burst. The queue may be freed meanwhile.
	 */
	if (unlikely(to_wake != NULL))
		octo_wake_home(to_wake);
	return got;
}

/* The home leg returned nothing: poll an idle stray leg. */
static __rte_hot __rte_noinline uint16_t
poll_another(struct octo_rxq *q, struct rte_mbuf **pkts, uint16_t nb)
{
	uint16_t got;

	count_bursts(q, octo_epoch_now(&q->epoch));
	got = poll_idle_stray(q, pkts, nb);
	if (got > 0)
		octo_call_forget(&q->call);
	return got;
}

/* May this burst poll just the home leg, as the last one did? */
static inline bool
is_settled(const struct octo_rxq *q, uint32_t epoch)
{
	/* pairs with the release in octo_topo_publish_live() */
	const uint32_t live = rte_atomic_load_explicit(&q->live, rte_memory_order_acquire);
	/* pairs with the release in octo_gate_arm() */
	const uint32_t fence = rte_atomic_load_explicit(&q->gate.word, rte_memory_order_acquire);

	return octo_call_holds(&q->call, live, epoch) && !(fence & OCTO_GATE_OPEN);
}

__rte_hot uint16_t
octo_rx_burst(void *rxq, struct rte_mbuf **pkts, uint16_t nb)
{
	struct octo_rxq *q = rxq;
	const uint32_t epoch = octo_epoch_enter(&q->epoch);
	uint16_t got;

	if (unlikely(!is_settled(q, epoch) || nb == 0))
		return poll_the_long_way(q, epoch, pkts, nb);
	got = rte_eth_rx_burst(q->call.leg.port, q->call.leg.queue, pkts, nb);
	adopt(q, pkts, got, &q->home_count);
	if (unlikely(got == 0))
		got = poll_another(q, pkts, nb);
	octo_epoch_leave(&q->epoch);
	return got;
}

/* Burst of a port that may have tier mac: what a settled burst receives may be copies, too. */
uint16_t
octo_rx_burst_mac(void *rxq, struct rte_mbuf **pkts, uint16_t nb)
{
	struct octo_rxq *q = rxq;
	const uint32_t epoch = octo_epoch_enter(&q->epoch);
	uint16_t got;
	uint8_t home;

	if (unlikely(!is_settled(q, epoch) || nb == 0))
		return poll_the_long_way(q, epoch, pkts, nb);
	home = rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed);
	got = poll_leg(q, home, pkts, nb, &q->home_count);
	if (unlikely(got == 0))
		got = poll_another(q, pkts, nb);
	octo_epoch_leave(&q->epoch);
	return got;
}

/*
 * Burst of a secondary process: its threads may have the same addresses as the primary's,
 * so it always takes the long way.
 */
uint16_t
octo_rx_burst_borrowed(void *rxq, struct rte_mbuf **pkts, uint16_t nb)
{
	struct octo_rxq *q = rxq;

	octo_legs_sign(&q->process);
	return poll_the_long_way(q, octo_epoch_enter(&q->epoch), pkts, nb);
}

/*
 * Queue count and descriptor status may be called by another thread than the poller, so
 * they cannot enter the queue's epoch as a burst does. They are counted in askers instead.
 */

int
octo_rx_queue_count(void *rxq)
{
	struct octo_rxq *q = rxq;
	uint32_t live;
	int used = 0;
	int n = 0;

	octo_askers_enter(octo_legs_askers(q->askers));
	live = rte_atomic_load_explicit(&q->live, rte_memory_order_acquire);
	live = octo_legs_follow(q->octo, live);
	for (uint8_t leg = 0; leg < OCTO_MAX_PFS && n >= 0; leg++) {
		if (!(live & RTE_BIT32(leg)))
			continue;
		n = rte_eth_rx_queue_count(q->leg[leg].port, q->leg[leg].queue);
		used += n;
	}
	octo_askers_leave(octo_legs_askers(q->askers));
	return n < 0 ? n : used;
}

int
octo_rx_descriptor_status(void *rxq, uint16_t offset)
{
	struct octo_rxq *q = rxq;
	int ret = -ENODEV;
	uint32_t live;
	uint8_t leg;

	octo_askers_enter(octo_legs_askers(q->askers));
	live = octo_legs_follow(q->octo,
				rte_atomic_load_explicit(&q->live, rte_memory_order_acquire));
	if (live != 0) {
		leg = octo_legs_told(live,
				     rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed));
		ret = rte_eth_rx_descriptor_status(q->leg[leg].port, q->leg[leg].queue, offset);
	}
	octo_askers_leave(octo_legs_askers(q->askers));
	return ret;
}
