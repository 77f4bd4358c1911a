/* SPDX-License-Identifier: BSD-3-Clause */

/* Unpublishing a PF: its legs go down, and bursts and other users of them are awaited. */

#include "octo_private.h"
#include "octo_rx_intr.h"

/*
 * The epochs to wait for, and the process that is in each. NULL: it is not waited for any more. A
 * queue that is released meanwhile is freed when those have left who wait here.
 */
struct pollers {
	/* not allocated: a failure would mean to go on without waiting */
	struct octo_epoch *epoch[2 * RTE_MAX_QUEUES_PER_PORT];
	const RTE_ATOMIC(int32_t) * process[2 * RTE_MAX_QUEUES_PER_PORT];
	unsigned int nb;
};

/*
 * Add a queue. Not if this thread, which is in a signal handler then, has interrupted its own
 * burst: that would be waited for in vain. As with any other driver such a burst must not go on if
 * its queue is freed.
 */
static void
add_poller(struct pollers *p, struct octo_epoch *epoch, const RTE_ATOMIC(uintptr_t) * thread,
	   const RTE_ATOMIC(int32_t) * process)
{
	const bool own = octo_epoch_is_inside(epoch) && octo_legs_is_here(process) &&
			 rte_atomic_load_explicit(thread, rte_memory_order_relaxed) ==
				 octo_thread_here();

	if (own)
		return;
	p->epoch[p->nb] = epoch;
	p->process[p->nb++] = process;
}

static void
find_pollers(const struct octo_dev *octo, struct pollers *p)
{
	struct octo_rxq *rxq;
	struct octo_txq *txq;

	p->nb = 0;
	OCTO_FOREACH_RXQ(octo, rxq)
		add_poller(p, &rxq->epoch, &rxq->poller, &rxq->process);
	OCTO_FOREACH_TXQ(octo, txq)
		add_poller(p, &txq->epoch, &txq->sender, &txq->process);
}

/* Drop epochs of processes that may have died inside a burst. Returns whether there are any. */
static bool
give_up_the_dead(struct pollers *p)
{
	bool any = false;

	for (unsigned int i = 0; i < p->nb; i++) {
		if (p->epoch[i] == NULL || !octo_epoch_is_inside(p->epoch[i]) ||
		    !octo_legs_may_be_dead(p->process[i]))
			continue;
		p->epoch[i] = NULL;
		any = true;
	}
	return any;
}

/*
 * Wait until none of them is inside the burst of before. A poller that takes longer than any burst
 * is either a thread without a CPU, whose queues must not be freed, or its process was killed.
 */
static int
await_each(struct octo_dev *octo, struct pollers *p)
{
	bool dead;

	if (octo_epoch_await(p->epoch, p->nb, OCTO_EPOCH_TIMEOUT_US) == 0)
		return 0;
	OCTO_LOG(WARNING,
		 "port %u: a poller does not leave its burst: it is waited for while its process "
		 "lives",
		 octo->port_id);
	dead = give_up_the_dead(p);
	return octo_epoch_await(p->epoch, p->nb, OCTO_STALL_TIMEOUT_US) != 0 || dead ? -ETIMEDOUT :
										       0;
}

int
octo_poll_await_rxq(struct octo_dev *octo, struct octo_rxq *q)
{
	struct pollers p;

	p.nb = 0;
	add_poller(&p, &q->epoch, &q->poller, &q->process);
	return await_each(octo, &p);
}

int
octo_poll_await_txq(struct octo_dev *octo, struct octo_txq *q)
{
	struct pollers p;

	p.nb = 0;
	add_poller(&p, &q->epoch, &q->sender, &q->process);
	return await_each(octo, &p);
}

/* askers[0] counts threads of the primary, askers[1] those of secondaries, which may be killed. */
int
octo_poll_await_askers(struct octo_askers askers[2])
{
	const uint64_t own_us = octo_legs_borrowed ? OCTO_EPOCH_TIMEOUT_US : OCTO_STALL_TIMEOUT_US;
	int ret = octo_askers_await(&askers[0], own_us);
	int borrowed = octo_askers_await_mortal(&askers[1], OCTO_EPOCH_TIMEOUT_US);

	return ret != 0 ? ret : borrowed;
}

/* Wait for threads, in any process, that query the fill level of queues. */
static int
await_askers(struct octo_dev *octo)
{
	struct octo_rxq *rxq;
	struct octo_txq *txq;
	int ret = 0;

	OCTO_FOREACH_RXQ(octo, rxq)
		if (octo_poll_await_askers(rxq->askers) != 0)
			ret = -ETIMEDOUT;
	OCTO_FOREACH_TXQ(octo, txq)
		if (octo_poll_await_askers(txq->askers) != 0)
			ret = -ETIMEDOUT;
	return ret;
}

/* Wait until every burst, and every other use of a queue, has ended that is under way. */
int
octo_poll_await_all(struct octo_dev *octo)
{
	struct pollers p;
	int ret;

	find_pollers(octo, &p);
	ret = await_each(octo, &p);
	if (await_askers(octo) != 0)
		ret = -ETIMEDOUT;
	if (ret != 0)
		OCTO_LOG(ERR, "port %u: a poller does not leave its burst: %s", octo->port_id,
			 rte_strerror(-ret));
	return ret;
}

/*
 * Publish the legs that are not in `live` as down, and wait for every burst that may use them.
 * Then their PFs may be removed. Legs that are down already stay so. Returns 0, or -ETIMEDOUT.
 */
int
octo_poll_unpublish(struct octo_dev *octo, uint32_t live)
{
	const uint32_t now = rte_atomic_load_explicit(&octo->legs.live, rte_memory_order_relaxed);

	octo_topo_publish_live(octo, live & now);
	octo_rx_intr_drop(octo, ~live);
	return octo_poll_await_all(octo);
}

/*
 * Unpublish PFs without the control mutex, whose holder is inside an operation that may wait
 * for their event handler. Queues are not freed meanwhile: that waits for octo->walkers.
 */
void
octo_poll_unpublish_unlocked(struct octo_dev *octo, uint32_t pfs)
{
	struct octo_rxq *rxq;
	struct octo_txq *txq;

	octo_askers_enter(&octo->walkers);
	OCTO_FOREACH_RXQ(octo, rxq) {
		octo_call_forget(&rxq->call);
		rte_atomic_fetch_and_explicit(&rxq->live, ~pfs, rte_memory_order_release);
	}
	OCTO_FOREACH_TXQ(octo, txq) {
		octo_call_forget(&txq->call);
		rte_atomic_fetch_and_explicit(&txq->live, ~pfs, rte_memory_order_release);
		rte_atomic_fetch_and_explicit(&txq->sending, ~octo_tx_with_clock(pfs, pfs),
					      rte_memory_order_release);
	}
	octo_rx_intr_drop(octo, pfs);
	octo_poll_await_all(octo);
	octo_askers_leave(&octo->walkers);
}
