/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Choice of the PF by which a Tx queue sends, and the switch to another PF without loss or
 * reordering: see octo_tx_switch.h. During a switch every burst takes the long way, through
 * here, under the queue's lock. If the sender falls silent, the control thread completes
 * the switch.
 */

#include <rte_cycles.h>

#include "octo_clock.h"
#include "octo_private.h"
#include "octo_thread.h"

/* A ring may make no progress for this long: pause frames, or its CPU is busy elsewhere. */
#define STUCK_S 1

/* The PF for a sender, or a buffer, on this node. It need not be in `sending`. */
uint8_t
octo_tx_plan_home(const struct octo_txq *q, int node, uint32_t sending)
{
	const uint8_t pin = q->octo->tx_pin[q->queue_id];

	/* a PF that drains still sends, but cannot be a home */
	if (pin != 0 && (sending & q->octo->plan.usable & RTE_BIT32(pin - 1)))
		return pin - 1;
	return octo_home_pf(q->octo, node, q->queue_id);
}

static uint8_t
home_of(const struct octo_txq *q)
{
	return rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed);
}

static void
set_via(struct octo_txq *q, uint8_t via)
{
	/* pairs with the acquire in octo_tx_long_way(): the rings and the stash are up to date */
	rte_atomic_store_explicit(&q->via, via, rte_memory_order_release);
}

static void
leave_for(struct octo_txq *q, uint8_t home, uint64_t now)
{
	octo_hysteresis_restart(&q->tracking.hysteresis, now);
	q->to = home;
	octo_tx_switch_begin(&q->sw, now);
	set_via(q, OCTO_TX_NO_PF);
}

/* Check which CPU the sender runs on, and set a new home or begin to switch to it. */
static void
follow_sender(struct octo_txq *q, uint32_t sending)
{
	const uint64_t now = octo_now();
	const uint8_t old = home_of(q);
	int16_t cpu;
	const int node = octo_home_here(q->octo, &cpu);
	const enum octo_tracking_step step = octo_home_check(q->octo, &q->tracking, node, now);
	uint8_t home;

	rte_atomic_store_explicit(&q->cpu, cpu, rte_memory_order_relaxed);
	rte_atomic_store_explicit(&q->sender,
				  step == OCTO_TRACKING_CHECK_AGAIN ? 0 : octo_thread_here(),
				  rte_memory_order_relaxed);
	q->look = octo_epoch_in(&q->epoch, OCTO_HOME_SAMPLE);
	/* an earlier plan may have used an older mask, and its PF cannot send now */
	if (step != OCTO_TRACKING_PLAN && (sending & RTE_BIT32(old)))
		return;
	home = octo_tx_plan_home(q, q->tracking.node, sending);
	if (home == old)
		return;
	if (sending & RTE_BIT32(home)) {
		leave_for(q, home, now);
	} else {
		octo_tracking_plan_again(&q->tracking);
		rte_atomic_store_explicit(&q->sender, 0, rte_memory_order_relaxed);
	}
}

/* Probe the PF's ring. Returns false if the PF has no descriptor status. */
static bool
ask_status(const struct octo_txq *q, uint8_t pf, enum octo_tx_report *report)
{
	uint32_t full = 0;

	/* nothing was ever sent by this PF */
	if (q->sent[pf] == 0) {
		*report = OCTO_TX_EMPTY;
		return true;
	}
	for (unsigned int i = 0; i < OCTO_TX_PROBES; i++) {
		const uint16_t offset = octo_tx_switch_probe(i, q->nb_desc);
		const int status = rte_eth_tx_descriptor_status(q->leg[pf].port, q->leg[pf].queue,
								offset);

		if (status < 0)
			return false;
		if (status == RTE_ETH_TX_DESC_FULL)
			full |= RTE_BIT32(i);
	}
	*report = octo_tx_switch_report(full, q->coarse & RTE_BIT32(pf));
	return true;
}

static enum octo_tx_report
ask_pf(const struct octo_txq *q, uint8_t pf)
{
	enum octo_tx_report report;

	if (ask_status(q, pf, &report))
		return report;
	/* no progress since the last call: the ring has drained, or is slow */
	return rte_eth_tx_done_cleanup(q->leg[pf].port, q->leg[pf].queue, 0) > 0 ? OCTO_TX_BUSY :
										   OCTO_TX_QUIET;
}

static enum octo_tx_step
next_step(struct octo_txq *q, uint32_t sending)
{
	const struct octo_tx_limits limits = {
		.grace = q->octo->grace_cycles,
		.stuck = STUCK_S * rte_get_timer_hz(),
	};
	const uint8_t old = home_of(q);

	/* packets on its ring may never be sent: do not wait */
	if (!(sending & RTE_BIT32(old)))
		return OCTO_TX_GO;
	return octo_tx_switch_step(&q->sw, ask_pf(q, old), octo_now(), &limits);
}

/* Has the PF sent all its packets? If it cannot tell, it has, unless blind is set. */
bool
octo_tx_is_sent(const struct octo_txq *q, uint8_t pf, bool blind)
{
	enum octo_tx_report report;

	if (!ask_status(q, pf, &report) || report == OCTO_TX_QUIET)
		return !blind;
	return report == OCTO_TX_EMPTY;
}

/* The PF that the queue switches to cannot send any more: choose another. */
static void
choose_again(struct octo_txq *q, uint32_t sending)
{
	const uint8_t home = home_of(q);
	const uint8_t to = octo_tx_plan_home(q, q->tracking.node, sending);

	if (sending & RTE_BIT32(to))
		q->to = to;
	else if (sending & RTE_BIT32(home))
		q->to = home;
	octo_tracking_plan_again(&q->tracking);
}

static void
empty(struct octo_tx_stash *s)
{
	s->first = 0;
	s->nb = 0;
}

static void
flush(struct octo_txq *q, uint8_t pf, uint32_t sending)
{
	struct octo_tx_stash *s = &q->stash;
	uint16_t sent;

	if (s->nb == s->first || !(sending & RTE_BIT32(pf)))
		return;
	sent = octo_tx_by(q, pf, s->pkts + s->first, s->nb - s->first);
	/* pairs with the acquire in octo_tx_queue_count() */
	rte_atomic_thread_fence(rte_memory_order_release);
	s->first += sent;
	if (s->first == s->nb)
		empty(s);
}

/* Most PMDs free what is sent when they send again, which the PF that the queue leaves may not. */
static void
free_sent(const struct octo_txq *q, uint8_t pf, uint32_t sending)
{
	if (sending & RTE_BIT32(pf))
		rte_eth_tx_done_cleanup(q->leg[pf].port, q->leg[pf].queue, 0);
}

/* Advance the switch. Returns the PF that may be fed now, or OCTO_TX_NO_PF. */
static uint8_t
advance(struct octo_txq *q, uint32_t sending)
{
	uint8_t home = home_of(q);

	if (!(sending & RTE_BIT32(q->to)))
		choose_again(q, sending);
	if (q->to != home) {
		const enum octo_tx_step step = next_step(q, sending);

		if (step == OCTO_TX_FEED)
			return home;
		if (step == OCTO_TX_HOLD)
			return OCTO_TX_NO_PF;
		/* the first home is a guess: draining it is not counted as a switch */
		q->counts.switches += q->sent[home] != 0;
		q->counts.timeouts += step == OCTO_TX_FORCE;
		free_sent(q, home, sending);
		home = q->to;
		rte_atomic_store_explicit(&q->home, home, rte_memory_order_relaxed);
	}
	flush(q, home, sending);
	if (q->stash.nb > 0)
		return OCTO_TX_NO_PF;
	set_via(q, home);
	return home;
}

static uint16_t
put_aside(struct octo_txq *q, struct rte_mbuf **pkts, uint16_t nb)
{
	struct octo_tx_stash *s = &q->stash;
	const uint16_t n = RTE_MIN(nb, OCTO_TX_STASH - s->nb);

	memcpy(s->pkts + s->nb, pkts, n * sizeof(*pkts));
	s->nb += n;
	q->counts.stashed += n;
	q->counts.refused += nb - n;
	return n;
}

static uint16_t
send_locked(struct octo_txq *q, uint32_t sending, struct rte_mbuf **pkts, uint16_t nb)
{
	const uint8_t pf = advance(q, sending);
	uint16_t sent;

	if (pf == OCTO_TX_NO_PF)
		return put_aside(q, pkts, nb);
	if (!(sending & RTE_BIT32(pf)))
		return 0;
	sent = octo_tx_by(q, pf, pkts, nb);
	octo_tx_switch_fed(&q->sw, octo_now());
	return sent;
}

/*
 * Let the next bursts use this PF directly, until the sender's CPU is checked again or the
 * PFs change.
 */
static void
settle(struct octo_txq *q, uint32_t sending, uint8_t via)
{
	if (octo_legs_borrowed ||
	    rte_atomic_load_explicit(&q->sender, rte_memory_order_relaxed) == 0)
		return;
	q->call.pf = via;
	octo_call_keep(&q->call, q->leg[via], sending, q->look - OCTO_EPOCH_BURST);
}

/* Must the CPU be checked in this burst, or is `via` not usable? */
static bool
wants_a_look(const struct octo_txq *q, uint32_t sending, uint8_t via)
{
	return rte_atomic_load_explicit(&q->sender, rte_memory_order_relaxed) !=
		       octo_thread_here() ||
	       !(sending & RTE_BIT32(via)) ||
	       octo_epoch_reached(octo_epoch_now(&q->epoch), q->look, OCTO_HOME_SAMPLE);
}

static uint16_t
send_untimed(struct octo_txq *q, uint32_t sending, struct rte_mbuf **pkts, uint16_t nb)
{
	uint8_t via = rte_atomic_load_explicit(&q->via, rte_memory_order_acquire);
	uint16_t sent;

	octo_call_forget(&q->call);
	if (via != OCTO_TX_NO_PF && wants_a_look(q, sending, via)) {
		follow_sender(q, sending);
		via = rte_atomic_load_explicit(&q->via, rte_memory_order_acquire);
	}
	if (via != OCTO_TX_NO_PF && !(sending & RTE_BIT32(via)))
		return 0;
	if (via != OCTO_TX_NO_PF) {
		settle(q, sending, via);
		return octo_tx_by(q, via, pkts, nb);
	}
	/* the control thread has the lock and may lose its CPU: do not wait */
	if (!octo_legs_try_lock(&q->holder)) {
		q->counts.refused += nb;
		return 0;
	}
	sent = send_locked(q, sending, pkts, nb);
	octo_legs_unlock(&q->holder);
	return sent;
}

uint16_t
octo_tx_long_way(struct octo_txq *q, uint32_t sending, struct rte_mbuf **pkts, uint16_t nb)
{
	octo_legs_sign(&q->process);
	/* octo_txq.call is never valid then: it is kept for legs without a clock PF */
	if (unlikely(octo_tx_clock(sending) != 0))
		return octo_tx_timed(q, sending, pkts, nb, send_untimed);
	return send_untimed(q, sending, pkts, nb);
}

/* Advance a switch; by the control thread, or by the sender outside a send. */
void
octo_tx_go_on(struct octo_txq *q)
{
	uint32_t sending;

	if (rte_atomic_load_explicit(&q->via, rte_memory_order_acquire) != OCTO_TX_NO_PF ||
	    !octo_legs_try_lock(&q->holder))
		return;
	if (rte_atomic_load_explicit(&q->via, rte_memory_order_acquire) == OCTO_TX_NO_PF) {
		sending = rte_atomic_load_explicit(&q->sending, rte_memory_order_acquire);
		advance(q, octo_legs_follow(q->octo, sending));
	}
	octo_legs_unlock(&q->holder);
}

void
octo_tx_init(struct octo_txq *q, uint8_t home)
{
	q->home = home;
	q->to = home;
	q->via = home;
}

/* Packets in all stashes now; approximate, as senders may be active. */
uint64_t
octo_tx_waiting(const struct octo_dev *octo)
{
	const struct octo_txq *q;
	uint64_t nb = 0;

	OCTO_FOREACH_TXQ(octo, q)
		if (q->stash.nb > q->stash.first)
			nb += q->stash.nb - q->stash.first;
	return nb;
}

/* The old ring is gone, and the stash free or lost: complete the switch. */
static void
end_switch(struct octo_txq *q)
{
	q->counts.drops += q->stash.nb - q->stash.first;
	empty(&q->stash);
	rte_atomic_store_explicit(&q->home, q->to, rte_memory_order_relaxed);
	set_via(q, q->to);
}

/*
 * A sender that was killed inside its burst holds the lock, with the stash half sent: the rest is
 * lost, as nobody knows which of it was on a ring and is free now. Another one may send then.
 */
static void
inherit(struct octo_txq *q)
{
	int32_t holder = rte_atomic_load_explicit(&q->holder, rte_memory_order_relaxed);

	if (likely(holder == 0) || !octo_legs_is_dead(q->octo, holder) ||
	    !rte_atomic_compare_exchange_strong_explicit(&q->holder, &holder, octo_legs_process,
							 rte_memory_order_acquire,
							 rte_memory_order_relaxed))
		return;
	if (rte_atomic_load_explicit(&q->via, rte_memory_order_acquire) == OCTO_TX_NO_PF)
		end_switch(q);
	octo_legs_unlock(&q->holder);
}

/* Advance the switches of queues whose sender has fallen silent, or was killed. */
void
octo_tx_tick_locked(struct octo_dev *octo)
{
	struct octo_txq *q;

	OCTO_FOREACH_TXQ(octo, q) {
		inherit(q);
		octo_tx_go_on(q);
	}
}

/* Free the stash when the queue stops. No thread may be sending. */
void
octo_tx_drop_stash(struct octo_txq *q)
{
	struct octo_tx_stash *s = &q->stash;

	/* a sender that died inside its burst may hold the lock, with the stash half sent */
	if (!octo_legs_try_lock(&q->holder))
		return;
	rte_pktmbuf_free_bulk(s->pkts + s->first, s->nb - s->first);
	end_switch(q);
	octo_legs_unlock(&q->holder);
}

static bool
is_coarse(const struct octo_txq *q, uint8_t pf)
{
	struct rte_eth_txq_info info;

	return rte_eth_tx_queue_info_get(q->leg[pf].port, q->leg[pf].queue, &info) == 0 &&
	       info.conf.tx_rs_thresh > 1;
}

static bool
follows_hints(const struct octo_txq *q, uint8_t pf)
{
	struct rte_eth_burst_mode mode;

	return rte_eth_tx_burst_mode_get(q->leg[pf].port, q->leg[pf].queue, &mode) == 0 &&
	       strstr(mode.info, OCTO_TX_HINT_MODE) != NULL;
}

static void
set_bit(uint32_t *mask, uint8_t bit, bool on)
{
	*mask = on ? *mask | RTE_BIT32(bit) : *mask & ~RTE_BIT32(bit);
}

/* Read the properties of legs that are about to go live. */
void
octo_tx_learn_legs_locked(struct octo_txq *q, uint32_t live)
{
	const uint32_t legs = live & ~rte_atomic_load_explicit(&q->live, rte_memory_order_relaxed);

	for (uint8_t pf = 0; pf < OCTO_MAX_PFS; pf++) {
		if (!(legs & RTE_BIT32(pf)))
			continue;
		set_bit(&q->coarse, pf, is_coarse(q, pf));
		set_bit(&q->hints, pf, q->octo->tx_by_buffer && follows_hints(q, pf));
	}
	/* hints need their mbuf field */
	if (q->hints != 0 && octo_tx_hint_register(&q->octo->tx_hint) != 0)
		q->hints = 0;
}

void
octo_tx_start_queue_locked(struct octo_txq *q)
{
	/* see inherit(), also of a process of another pid namespace */
	if (rte_atomic_load_explicit(&q->holder, rte_memory_order_relaxed) != 0)
		end_switch(q);
	octo_legs_unlock(&q->holder);
	memset(&q->near, 0, sizeof(q->near));
	q->tracking.hysteresis.base = rte_get_timer_hz() * q->octo->fences.settings.dwell_ms /
				      MS_PER_S;
}

void
octo_tx_start_locked(struct octo_dev *octo)
{
	struct octo_txq *q;

	if (octo->tx_by_buffer)
		OCTO_LOG(NOTICE,
			 "port %u: tx_pf=mbuf: packets of a Tx queue may overtake each other",
			 octo->port_id);
	OCTO_FOREACH_TXQ(octo, q)
		octo_tx_start_queue_locked(q);
}

void
octo_tx_stop_locked(struct octo_dev *octo)
{
	struct octo_txq *q;

	OCTO_FOREACH_TXQ(octo, q)
		octo_tx_drop_stash(q);
}
