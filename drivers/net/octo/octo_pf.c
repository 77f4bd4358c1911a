/* SPDX-License-Identifier: BSD-3-Clause */

/* What is done to all PFs at once, and how one of them is taken away. */

#include <assert.h>

#include "octo_private.h"

/* The PFs are configured by the primary process: what it did is known there only. */
bool
octo_is_primary(const struct octo_dev *octo, const char *what)
{
	if (rte_eal_process_type() == RTE_PROC_PRIMARY)
		return true;
	OCTO_LOG(ERR, "port %u: only the primary process can %s", octo->port_id, what);
	return false;
}

/*
 * Do something to every PF, or to none: what was done is undone in reverse when
 * one refuses. undo may be NULL where there is nothing to undo.
 */
int
octo_pf_apply(struct octo_dev *octo, enum octo_pf_state at_least, const char *what,
	      octo_pf_fn apply, octo_pf_fn undo, const void *arg, const void *undo_arg)
{
	int ret = 0;
	int i;

	if (!octo_is_primary(octo, what))
		return -ENOTSUP;
	OCTO_FOREACH_PF(octo, i, at_least) {
		ret = apply(&octo->pf[i], arg);
		if (ret != 0)
			break;
	}
	if (ret == 0)
		return 0;
	/* what a PF does not have is no failure of the port: ethdev tells the caller */
	if (ret == -ENOTSUP)
		OCTO_LOG(INFO, "port %u: PF %s does not %s", octo->port_id, octo->pf[i].name, what);
	else
		OCTO_LOG(ERR, "port %u: PF %s cannot %s: %s", octo->port_id, octo->pf[i].name, what,
			 rte_strerror(-ret));
	while (undo != NULL && --i >= 0)
		if (octo_pf_is(&octo->pf[i], at_least))
			undo(&octo->pf[i], undo_arg);
	return ret;
}

static int
call_port(struct octo_pf *pf, const void *arg)
{
	return (*(const octo_port_fn *)arg)(pf->port_id);
}

/* The same by functions of ethdev that take nothing but the port. */
int
octo_pf_call(struct octo_dev *octo, enum octo_pf_state at_least, const char *what,
	     octo_port_fn apply, octo_port_fn undo)
{
	return octo_pf_apply(octo, at_least, what, call_port, call_port, &apply, &undo);
}

uint32_t
octo_pf_mask(const struct octo_dev *octo, enum octo_pf_state at_least)
{
	uint32_t mask = 0;
	int i;

	OCTO_FOREACH_PF(octo, i, at_least)
		mask |= RTE_BIT32(i);
	return mask;
}

/* Index of the first PF that has at least this state, or -1. */
int
octo_pf_first(const struct octo_dev *octo, enum octo_pf_state at_least)
{
	int i;

	OCTO_FOREACH_PF(octo, i, at_least)
		return i;
	return -1;
}

/* await_bursts() takes a queue for its epoch */
static_assert(offsetof(struct octo_rxq, epoch) == 0, "the epoch comes first");
static_assert(offsetof(struct octo_txq, epoch) == 0, "the epoch comes first");

/* The epochs to wait for, Rx queues first. NULL: the queue is not set up, or was given up. */
struct pollers {
	/* not allocated: to go on without waiting would be worse than to fail */
	struct octo_epoch *epoch[2 * RTE_MAX_QUEUES_PER_PORT];
	unsigned int nb;
};

/* Drop the epochs of processes that may have died inside a burst. Returns whether there are any. */
static bool
give_up_the_dead(const struct octo_dev *octo, struct pollers *p)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	bool any = false;

	for (unsigned int i = 0; i < p->nb; i++) {
		const bool rx = i < data->nb_rx_queues;
		const struct octo_rxq *rxq = rx ? data->rx_queues[i] : NULL;
		const struct octo_txq *txq = rx ? NULL : data->tx_queues[i - data->nb_rx_queues];

		if (p->epoch[i] == NULL || !octo_epoch_is_inside(p->epoch[i]) ||
		    !octo_legs_may_be_dead(rx ? &rxq->process : &txq->process))
			continue;
		p->epoch[i] = NULL;
		any = true;
	}
	return any;
}

/*
 * Wait until no poller is inside a burst that may use what was just unpublished. A poller that
 * takes longer than any burst does is a thread without a CPU, whose queues must not be freed,
 * or its process was killed.
 */
static int
await_bursts(struct octo_dev *octo)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	struct pollers p = {.nb = data->nb_rx_queues + data->nb_tx_queues};
	bool dead;

	for (uint16_t i = 0; i < data->nb_rx_queues; i++)
		p.epoch[i] = data->rx_queues[i];
	for (uint16_t i = 0; i < data->nb_tx_queues; i++)
		p.epoch[data->nb_rx_queues + i] = data->tx_queues[i];
	if (octo_epoch_await(p.epoch, p.nb, OCTO_EPOCH_TIMEOUT_US) == 0)
		return 0;
	OCTO_LOG(WARNING,
		 "port %u: a poller does not leave its burst: it is waited for while its process "
		 "lives",
		 octo->port_id);
	dead = give_up_the_dead(octo, &p);
	return octo_epoch_await(p.epoch, p.nb, OCTO_STALL_TIMEOUT_US) != 0 || dead ? -ETIMEDOUT : 0;
}

/* askers[0] are threads of the primary, askers[1] of secondaries: other processes may be killed. */
static int
await_askers_of(struct octo_askers askers[2])
{
	const uint64_t own_us = octo_legs_borrowed ? OCTO_EPOCH_TIMEOUT_US : OCTO_STALL_TIMEOUT_US;
	int ret = octo_askers_await(&askers[0], own_us);
	int borrowed = octo_askers_await_mortal(&askers[1], OCTO_EPOCH_TIMEOUT_US);

	return ret != 0 ? ret : borrowed;
}

/* And for those who ask how full its queues are, from wherever. */
static int
await_askers(struct octo_dev *octo)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	int ret = 0;

	for (uint16_t i = 0; i < data->nb_rx_queues; i++) {
		struct octo_rxq *q = data->rx_queues[i];

		if (q != NULL && await_askers_of(q->askers) != 0)
			ret = -ETIMEDOUT;
	}
	for (uint16_t i = 0; i < data->nb_tx_queues; i++) {
		struct octo_txq *q = data->tx_queues[i];

		if (q != NULL && await_askers_of(q->askers) != 0)
			ret = -ETIMEDOUT;
	}
	return ret;
}

static int
await_pollers(struct octo_dev *octo)
{
	int ret = await_bursts(octo);

	if (await_askers(octo) != 0)
		ret = -ETIMEDOUT;
	if (ret != 0)
		OCTO_LOG(ERR, "port %u: a poller does not leave its burst: %s", octo->port_id,
			 rte_strerror(-ret));
	return ret;
}

/*
 * Design, "Taking a PF away": the legs that are not in `live` are published as
 * down and every burst that may still use them is awaited. Then they may go.
 */
int
octo_pf_unpublish(struct octo_dev *octo, uint32_t live)
{
	octo_topo_publish_live(octo, live);
	return await_pollers(octo);
}

/*
 * The same without the control mutex, whose holder is inside of an operation that may wait
 * for the PF's event handler: the bits of one PF. Queues are not freed meanwhile.
 */
void
octo_pf_unpublish_unlocked(struct octo_dev *octo, uint8_t pf)
{
	const struct rte_eth_dev_data *data = octo_data(octo);

	octo_askers_enter(&octo->walkers);
	for (uint16_t i = 0; i < data->nb_rx_queues; i++) {
		struct octo_rxq *q = data->rx_queues[i];

		if (q == NULL)
			continue;
		octo_call_forget(&q->call);
		rte_atomic_fetch_and_explicit(&q->live, ~RTE_BIT32(pf), rte_memory_order_release);
	}
	for (uint16_t i = 0; i < data->nb_tx_queues; i++) {
		struct octo_txq *q = data->tx_queues[i];

		if (q == NULL)
			continue;
		octo_call_forget(&q->call);
		rte_atomic_fetch_and_explicit(&q->live, ~RTE_BIT32(pf), rte_memory_order_release);
		rte_atomic_fetch_and_explicit(&q->sending, ~RTE_BIT32(pf),
					      rte_memory_order_release);
	}
	await_pollers(octo);
	octo_askers_leave(&octo->walkers);
}

int
octo_pf_take_away(struct octo_dev *octo, uint8_t pf)
{
	int ret;

	octo->pf[pf].leaving.on = false;
	octo_users_shut(&octo->pf[pf]);
	octo_users_await(&octo->pf[pf]);
	if (octo->pf[pf].state == OCTO_PF_GONE)
		return 0;
	octo->pf[pf].state = OCTO_PF_GONE;
	octo->pf[pf].link_up = false;
	octo->pf[pf].no_flow_queues = false;
	octo_replay_forget_locked(octo, pf);
	octo_stats_keep(octo, pf);
	octo_replug_lost_locked(octo, pf);
	ret = octo_pf_unpublish(octo, octo_pf_mask(octo, OCTO_PF_STARTED));
	octo_fence_forget_pf_locked(octo, pf);
	octo_rule_list_forget_pf(octo, pf);
	octo_rule_list_name_lost_locked(octo, pf);
	octo_indirect_forget_pf(octo, pf);
	octo_async_forget_pf(octo, pf);
	octo_template_forget_pf(octo, pf);
	octo_mpfs_spread_forget_pf(octo, pf);
	octo_detour_forget_pf(octo, pf);
	octo_failover_lost_locked(octo, pf);
	return ret;
}

/*
 * Also before anybody has told that it does not, which takes a bus its time. What is not
 * there any more is not asked for its link.
 */
bool
octo_pf_works_locked(const struct octo_dev *octo, uint8_t pf)
{
	const uint16_t port = octo->pf[pf].port_id;
	struct rte_eth_link link = {0};

	return octo_pf_is(&octo->pf[pf], OCTO_PF_STARTED) && rte_eth_dev_is_removed(port) == 0 &&
	       octo_attach_is_on_bus(&octo->pf[pf]) && rte_eth_link_get_nowait(port, &link) == 0 &&
	       link.link_status == RTE_ETH_LINK_UP;
}
