/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The control side of the fence: armed and flipped here, closed by the consumers (octo_rxtx.c,
 * octo_fence_rx.c). Everything that the data path reads is in shared memory, by queue number,
 * so that consumers may be in any process.
 */

#include <errno.h>

#include <rte_cycles.h>

#include "octo_clock.h"
#include "octo_private.h"
#include "octo_rx_intr.h"

#define ALL_LEGS OCTO_GATE_HELD
/* Poll interval while waiting for a fence that must close first. */
#define CIRCLE_LOOK_US 5
/* Added to the grace time: by then open fences are closed, if their consumers poll. */
#define STEP_WAIT_US 50

/* NULL while it is set up again, and for queue 0 of rules of several flows if there is no queue. */
static struct octo_rxq *
rxq_of(const struct octo_dev *octo, uint16_t queue)
{
	const struct rte_eth_dev_data *data = octo_data(octo);

	return queue < data->nb_rx_queues ? data->rx_queues[queue] : NULL;
}

static bool
has_source(const struct octo_fence *f, uint16_t queue)
{
	return (rte_atomic_load_explicit(&f->sources[queue / 64], rte_memory_order_relaxed) &
		RTE_BIT64(queue % 64)) != 0;
}

/* The consumer sees it with the gate's word, which is stored later with release. */
static void
add_source(struct octo_fence *f, uint16_t queue)
{
	rte_atomic_fetch_or_explicit(&f->sources[queue / 64], RTE_BIT64(queue % 64),
				     rte_memory_order_relaxed);
}

static void
remove_source(struct octo_fence *f, uint16_t queue)
{
	rte_atomic_fetch_and_explicit(&f->sources[queue / 64], ~RTE_BIT64(queue % 64),
				      rte_memory_order_relaxed);
}

static void
clear_sources(struct octo_fence *f)
{
	for (unsigned int i = 0; i < OCTO_FENCE_WORDS; i++)
		rte_atomic_store_explicit(&f->sources[i], 0, rte_memory_order_relaxed);
}

/* The fence is closed if its consumer has released it, or if nothing is left to hold. */
static bool
close_if_done(struct octo_dev *octo, struct octo_rxq *q)
{
	if (q->fence.kind == OCTO_FENCE_NONE)
		return true;
	if (octo_gate_is_held(&q->gate))
		return false;
	octo->fences.stale_sources |= q->fence.kind >= OCTO_FENCE_MOVE;
	q->fence.kind = OCTO_FENCE_NONE;
	q->fence.under_way = false;
	q->fence.by_leg = false;
	clear_sources(&q->fence);
	octo->fences.nb_open--;
	return true;
}

/* Returns a queue whose open fence waits for this queue to be drained, or NULL. */
static struct octo_rxq *
waits_for(const struct octo_dev *octo, uint16_t queue)
{
	struct octo_rxq *q;

	OCTO_FOREACH_RXQ(octo, q)
		if (q->fence.kind >= OCTO_FENCE_MOVE && has_source(&q->fence, queue))
			return q;
	return NULL;
}

/* Close the fence without waiting for its consumer. */
static void
give_up(struct octo_dev *octo, struct octo_rxq *q)
{
	octo_gate_forget(&q->gate, ALL_LEGS);
	close_if_done(octo, q);
}

/*
 * When this returns, the consumer is outside a burst, or in a later one. The wait is as long as
 * a burst takes; there is none for a consumer that is known to be dead.
 */
static void
await_consumer(struct octo_dev *octo, struct octo_rxq *q)
{
	struct octo_epoch *epoch = &q->epoch;

	if (q->fence.dead_epoch != 0 && octo_epoch_is_inside(epoch) &&
	    rte_atomic_load_explicit(&epoch->value, rte_memory_order_relaxed) ==
		    q->fence.dead_epoch)
		return;
	q->fence.dead_epoch = 0;
	if (octo_epoch_await(&epoch, 1, OCTO_EPOCH_TIMEOUT_US) == 0)
		return;
	q->fence.dead_epoch = rte_atomic_load_explicit(&epoch->value, rte_memory_order_relaxed);
	OCTO_LOG(WARNING, "port %u: the poller of Rx queue %u does not leave its burst",
		 octo->port_id, q->queue_id);
}

/* Another queue waits for this one to be drained, so its poller must not sleep. */
static void
set_source(struct octo_dev *octo, struct octo_rxq *q)
{
	octo_gate_set_source(&q->gate, true);
	octo_rx_intr_wake(octo, q->queue_id);
}

/* When this returns, the consumer holds these legs. */
static void
arm(struct octo_dev *octo, struct octo_rxq *q, enum octo_fence_kind kind, uint32_t legs)
{
	octo_assert_locked(octo);
	if (q->fence.kind == OCTO_FENCE_NONE) {
		q->fence.kind = kind;
		octo->fences.nb_open++;
		octo->fences.opened++;
	}
	q->fence.under_way = true;
	q->fence.reads |= q->fence.kind >= OCTO_FENCE_MOVE;
	octo_gate_arm(&q->gate, legs);
	octo_rx_intr_wake(octo, q->queue_id);
	await_consumer(octo, q);
}

static uint32_t
other_legs(const struct octo_rxq *q, uint8_t leg)
{
	return rte_atomic_load_explicit(&q->live, rte_memory_order_relaxed) & ~RTE_BIT32(leg);
}

/* Hold these legs until the others are drained. Leg: OCTO_NO_PF if several are held. */
static void
arm_legs(struct octo_dev *octo, struct octo_rxq *q, uint8_t leg, uint32_t legs)
{
	q->fence.leg = leg;
	add_source(&q->fence, q->queue_id);
	arm(octo, q, OCTO_FENCE_HOME, legs);
}

bool
octo_fence_can_arm_home_locked(struct octo_dev *octo, uint16_t queue, uint8_t leg)
{
	struct octo_rxq *q = rxq_of(octo, queue);

	return q == NULL || close_if_done(octo, q) ||
	       (q->fence.kind == OCTO_FENCE_HOME && q->fence.leg == leg);
}

int
octo_fence_arm_home_locked(struct octo_dev *octo, uint16_t queue, uint8_t leg)
{
	struct octo_rxq *q = rxq_of(octo, queue);

	if (!octo->started || q == NULL)
		return 0;
	if (!octo_fence_can_arm_home_locked(octo, queue, leg))
		return -EBUSY;
	if (other_legs(q, leg) != 0 && !q->fence.under_way)
		arm_legs(octo, q, leg, RTE_BIT32(leg));
	return 0;
}

void
octo_fence_hold_leg_locked(struct octo_dev *octo, uint8_t leg)
{
	for (uint16_t i = 0; i < octo_data(octo)->nb_rx_queues; i++)
		octo_fence_arm_home_locked(octo, i, leg);
}

bool
octo_fence_can_hold_leg_locked(struct octo_dev *octo, uint8_t leg)
{
	for (uint16_t i = 0; i < octo_data(octo)->nb_rx_queues; i++)
		if (!octo_fence_can_arm_home_locked(octo, i, leg))
			return false;
	return true;
}

/* A fence that must close first, or NULL: two that wait for each other would never close. */
static struct octo_rxq *
in_the_way(struct octo_dev *octo, struct octo_rxq *from, struct octo_rxq *to)
{
	octo_fence_sweep_locked(octo);
	if (to->fence.kind == OCTO_FENCE_HOME || to->fence.kind == OCTO_FENCE_STEP)
		return to;
	if (from->fence.kind >= OCTO_FENCE_MOVE)
		return from;
	return waits_for(octo, to->queue_id);
}

static void
clear_the_way(struct octo_dev *octo, struct octo_rxq *from, struct octo_rxq *to)
{
	const uint64_t end = octo_deadline(octo->fences.settings.timeout_ms * 1000);
	struct octo_rxq *q = in_the_way(octo, from, to);

	while (q != NULL) {
		if (octo_gate_before(end, octo_now())) {
			octo->fences.given_up++;
			give_up(octo, q);
		} else {
			octo_sleep_us(CIRCLE_LOOK_US);
		}
		q = in_the_way(octo, from, to);
	}
}

bool
octo_fence_can_arm_move_locked(struct octo_dev *octo, uint16_t from_queue, uint16_t to_queue)
{
	struct octo_rxq *from = rxq_of(octo, from_queue);
	struct octo_rxq *to = rxq_of(octo, to_queue);

	return from == NULL || to == NULL || in_the_way(octo, from, to) == NULL;
}

void
octo_fence_arm_move_locked(struct octo_dev *octo, uint16_t from_queue, uint16_t to_queue)
{
	struct octo_rxq *from = rxq_of(octo, from_queue);
	struct octo_rxq *to = rxq_of(octo, to_queue);

	/* nothing has polled the old queue: its packets come late in any case */
	if (!octo->started || from == NULL || to == NULL || from == to || from->tracking.node < 0)
		return;
	if (to->fence.under_way && octo_gate_is_held(&to->gate) &&
	    has_source(&to->fence, from_queue))
		return;
	clear_the_way(octo, from, to);
	set_source(octo, from);
	add_source(&to->fence, from_queue);
	arm(octo, to, OCTO_FENCE_MOVE, ALL_LEGS);
}

/*
 * As in_the_way(), for a step. A HOME fence that holds a leg of a source closes by itself and
 * is not in the way.
 */
static bool
is_in_the_way_of_step(const struct octo_dev *octo, const struct octo_rxq *q,
		      const struct octo_migration_legs *legs)
{
	return (legs->held != 0 &&
		(q->fence.kind != OCTO_FENCE_NONE || waits_for(octo, q->queue_id) != NULL)) ||
	       (legs->drained != 0 && q->fence.kind >= OCTO_FENCE_MOVE);
}

static bool
has_way(struct octo_dev *octo, const struct octo_migration_step *step)
{
	struct octo_rxq *q;

	octo_fence_sweep_locked(octo);
	OCTO_FOREACH_RXQ(octo, q)
		if (is_in_the_way_of_step(octo, q, &step->legs[q->queue_id]))
			return false;
	return true;
}

/*
 * A held leg waits for all sources. A queue that nothing has polled is left out: its packets
 * come late in any case.
 */
static void
set_sources(struct octo_dev *octo, const struct octo_migration_step *step, struct octo_fence *f)
{
	struct octo_rxq *q;

	OCTO_FOREACH_RXQ(octo, q) {
		if (step->legs[q->queue_id].drained == 0 || q->tracking.node < 0)
			continue;
		set_source(octo, q);
		add_source(f, q->queue_id);
	}
}

/*
 * While the mutex is held no other fence can be armed, so open fences close within the wait.
 * Fences whose rules are being changed are not given up.
 */
static bool
make_way(struct octo_dev *octo, const struct octo_migration_step *step)
{
	const uint64_t end = octo_deadline(octo->fences.settings.grace_us + STEP_WAIT_US);
	struct octo_rxq *q;

	while (!has_way(octo, step) && octo_gate_before(octo_now(), end))
		octo_sleep_us(CIRCLE_LOOK_US);
	OCTO_FOREACH_RXQ(octo, q) {
		if (has_way(octo, step))
			return true;
		if (q->fence.kind == OCTO_FENCE_NONE || q->fence.under_way)
			continue;
		octo->fences.given_up++;
		give_up(octo, q);
	}
	return has_way(octo, step);
}

int
octo_fence_arm_step_locked(struct octo_dev *octo, const struct octo_migration_step *step)
{
	/* refused for as long as a silent consumer is waited for, it might be refused forever */
	const uint64_t patience_us = octo->fences.settings.timeout_ms * 1000;
	struct octo_rxq *q;

	if (!has_way(octo, step) &&
	    (octo_must_wait(&octo->fences.step_patience, false, patience_us) ||
	     !make_way(octo, step)))
		return -EBUSY;
	octo->fences.step_patience = 0;
	OCTO_FOREACH_RXQ(octo, q)
		rte_atomic_store_explicit(&q->fence.drains, step->legs[q->queue_id].drained,
					  rte_memory_order_relaxed);
	OCTO_FOREACH_RXQ(octo, q) {
		if (step->legs[q->queue_id].held == 0 || q->tracking.node < 0)
			continue;
		q->fence.by_leg = true;
		set_sources(octo, step, &q->fence);
		arm(octo, q, OCTO_FENCE_STEP, step->legs[q->queue_id].held);
	}
	return 0;
}

/* Are packets held until an agent answers, after which they take another path? */
static bool
flips(const struct octo_dev *octo)
{
	return octo->mpfs_ops != NULL && octo->mpfs_ops->flips != NULL &&
	       octo->mpfs_ops->flips(octo);
}

static void
flipped(struct octo_rxq *q)
{
	if (!q->fence.under_way)
		return;
	q->fence.under_way = false;
	octo_gate_flipped(&q->gate, octo_now());
}

void
octo_fence_flipped_locked(struct octo_dev *octo, uint16_t queue)
{
	struct octo_rxq *q = rxq_of(octo, queue);

	/* flows of a move are settled, others may be on their way to the leg */
	if (q != NULL && (q->fence.kind != OCTO_FENCE_HOME || !flips(octo)))
		flipped(q);
}

void
octo_fence_step_flipped_locked(struct octo_dev *octo)
{
	const struct octo_fence_settings *s = &octo->fences.settings;
	struct octo_rxq *q;

	OCTO_FOREACH_RXQ(octo, q)
		if (q->fence.kind == OCTO_FENCE_STEP)
			flipped(q);
	/* a consumer waits this long for other queues, and octo as long for a consumer */
	octo->fences.step_end = octo_deadline(s->grace_us + 2 * s->timeout_ms * 1000);
}

bool
octo_fence_step_is_over_locked(struct octo_dev *octo)
{
	const bool late = octo_gate_before(octo->fences.step_end, octo_now());
	struct octo_rxq *q;
	bool over = true;

	octo_fence_sweep_locked(octo);
	OCTO_FOREACH_RXQ(octo, q) {
		if (q->fence.kind != OCTO_FENCE_STEP)
			continue;
		over = late;
		if (!late)
			break;
		octo->fences.given_up++;
		give_up(octo, q);
	}
	return over;
}

void
octo_fence_flipped_all_locked(struct octo_dev *octo)
{
	struct octo_rxq *q;

	if (octo->fences.nb_open == 0 || octo->fences.by_others || flips(octo))
		return;
	OCTO_FOREACH_RXQ(octo, q)
		flipped(q);
}

void
octo_fence_arm_away_locked(struct octo_dev *octo, uint16_t queue, uint8_t leg)
{
	struct octo_rxq *q = rxq_of(octo, queue);
	uint32_t others;

	if (!octo->started || q == NULL || !close_if_done(octo, q))
		return;
	others = other_legs(q, leg);
	if (others != 0)
		arm_legs(octo, q, OCTO_NO_PF, others);
}

bool
octo_fence_hold_strays_locked(struct octo_dev *octo)
{
	struct octo_rxq *q;

	OCTO_FOREACH_RXQ(octo, q)
		if (!close_if_done(octo, q))
			return false;
	octo->fences.by_others = true;
	OCTO_FOREACH_RXQ(octo, q)
		octo_fence_arm_away_locked(octo, q->queue_id, octo_topo_home_of(octo, q->queue_id));
	return true;
}

void
octo_fence_let_strays_go_locked(struct octo_dev *octo)
{
	octo->fences.by_others = false;
	octo_fence_flipped_all_locked(octo);
}

void
octo_fence_sweep_locked(struct octo_dev *octo)
{
	struct octo_rxq *q;

	if (octo->fences.nb_open == 0 && !octo->fences.stale_sources)
		return;
	OCTO_FOREACH_RXQ(octo, q)
		close_if_done(octo, q);
	if (!octo->fences.stale_sources)
		return;
	octo->fences.stale_sources = false;
	OCTO_FOREACH_RXQ(octo, q)
		if (waits_for(octo, q->queue_id) == NULL)
			octo_gate_set_source(&q->gate, false);
}

void
octo_fence_forget_pfs_locked(struct octo_dev *octo, uint32_t pfs)
{
	struct octo_rxq *q;

	/* a MOVE fence holds all legs, so the loss of one does not close it */
	OCTO_FOREACH_RXQ(octo, q) {
		if (q->fence.kind == OCTO_FENCE_HOME && q->fence.leg != OCTO_NO_PF &&
		    (pfs & RTE_BIT32(q->fence.leg)))
			give_up(octo, q);
		if (q->fence.kind == OCTO_FENCE_STEP) {
			octo_gate_forget(&q->gate, pfs);
			close_if_done(octo, q);
		}
	}
}

void
octo_fence_forget_queue_locked(struct octo_dev *octo, uint16_t queue)
{
	struct octo_rxq *q;

	OCTO_FOREACH_RXQ(octo, q) {
		if (q->queue_id == queue) {
			octo_gate_set_source(&q->gate, false);
			give_up(octo, q);
		} else {
			remove_source(&q->fence, queue);
		}
	}
}

static bool
leg_info(const struct octo_dev *octo, int pf, uint16_t queue, struct rte_eth_rxq_info *info)
{
	const struct octo_leg leg = octo_pf_leg(&octo->pf[pf], queue);

	return rte_eth_rx_queue_info_get(leg.port, leg.queue, info) == 0;
}

/* With these offloads a packet may take several descriptors: their count is not of packets. */
static bool
counts_packets(const struct octo_dev *octo, const struct octo_rxq *q)
{
	const uint64_t offloads = RTE_ETH_RX_OFFLOAD_SCATTER | RTE_ETH_RX_OFFLOAD_TCP_LRO |
				  RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT;
	struct rte_eth_rxq_info info;
	int pf;

	if ((octo_data(octo)->dev_conf.rxmode.offloads | q->conf.offloads) & offloads)
		return false;
	OCTO_FOREACH_PF(octo, pf, OCTO_PORT_RUNNING)
		if (leg_info(octo, pf, q->queue_id, &info) && info.scattered_rx)
			return false;
	return true;
}

static bool
is_by_af_xdp(const struct octo_dev *octo)
{
	int port;

	OCTO_FOREACH_PORT(octo, port, OCTO_PORT_RUNNING)
		if (octo_af_xdp_is(&octo->port[port].past.info))
			return true;
	return false;
}

/* A PMD may make a ring larger than requested. */
static uint32_t
depth_of(const struct octo_dev *octo, const struct octo_rxq *q)
{
	uint32_t depth = q->nb_desc;
	struct rte_eth_rxq_info info;
	int pf;

	OCTO_FOREACH_PF(octo, pf, OCTO_PORT_RUNNING)
		if (leg_info(octo, pf, q->queue_id, &info))
			depth = RTE_MAX(depth, info.nb_desc);
	if (is_by_af_xdp(octo))
		depth += OCTO_AF_XDP_NIC_RING;
	return rte_align32pow2(depth);
}

void
octo_fence_start_queue_locked(struct octo_dev *octo, struct octo_rxq *q)
{
	const struct octo_fence_settings *s = &octo->fences.settings;
	const uint64_t hz = rte_get_timer_hz();

	q->gate.depth = depth_of(octo, q);
	q->gate.grace = hz * s->grace_us / US_PER_S;
	q->gate.timeout = hz * s->timeout_ms / MS_PER_S;
	q->gate.settle = is_by_af_xdp(octo) ? hz * OCTO_AF_XDP_SETTLE_US / US_PER_S : 0;
	q->tracking.hysteresis.base = hz * s->dwell_ms / MS_PER_S;
	q->fence.merges = counts_packets(octo, q);
}

void
octo_fence_start_locked(struct octo_dev *octo)
{
	struct octo_rxq *q;

	OCTO_FOREACH_RXQ(octo, q)
		octo_fence_start_queue_locked(octo, q);
}

void
octo_fence_stop_locked(struct octo_dev *octo)
{
	struct octo_rxq *q;

	octo->fences.by_others = false;
	OCTO_FOREACH_RXQ(octo, q) {
		octo_gate_set_source(&q->gate, false);
		give_up(octo, q);
	}
}
