/* SPDX-License-Identifier: BSD-3-Clause */

/* Start and stop of single queues, on every leg or on none; their setup and release. */

#include "octo_private.h"
#include "octo_queue.h"

typedef int (*leg_fn)(uint16_t port_id, uint16_t queue_id);

/* A function of ethdev that is called for each leg of a queue. */
struct leg_call {
	leg_fn fn;
	uint16_t queue_id;
};

static int
call_leg(struct octo_pf *pf, const void *arg)
{
	const struct leg_call *call = arg;
	const struct octo_leg leg = octo_pf_leg(pf, call->queue_id);

	return call->fn(leg.port, leg.queue);
}

/* Start or stop it on each leg. A PF that joins reads its new state, under the same mutex. */
static int
switch_legs_locked(struct octo_dev *octo, const char *what, uint16_t queue_id, leg_fn fn,
		   leg_fn inverse, uint8_t *states, uint8_t state)
{
	const struct leg_call call = {fn, queue_id}, undo = {inverse, queue_id};
	int ret = octo_pf_apply(octo, OCTO_PORT_RUNNING, what, call_leg, call_leg, &call, &undo);

	if (ret == 0)
		states[queue_id] = state;
	return ret;
}

int
octo_rx_queue_start(struct rte_eth_dev *dev, uint16_t queue_id)
{
	return OCTO_CALL_LOCKED(dev, switch_legs_locked, "start the Rx queue", queue_id,
				rte_eth_dev_rx_queue_start, rte_eth_dev_rx_queue_stop,
				dev->data->rx_queue_state, RTE_ETH_QUEUE_STATE_STARTED);
}

static int
rx_queue_stop_locked(struct octo_dev *octo, uint16_t queue_id)
{
	int ret;

	if (!octo_is_primary(octo, "stop the Rx queue"))
		return -ENOTSUP;
	/* end lingering rules: the stopped queue receives nothing more by them */
	octo_rule_linger_end_locked(octo);
	ret = switch_legs_locked(octo, "stop the Rx queue", queue_id, rte_eth_dev_rx_queue_stop,
				 rte_eth_dev_rx_queue_start, octo_data(octo)->rx_queue_state,
				 RTE_ETH_QUEUE_STATE_STOPPED);
	if (ret == 0)
		octo_fence_forget_queue_locked(octo, queue_id);
	return ret;
}

int
octo_rx_queue_stop(struct rte_eth_dev *dev, uint16_t queue_id)
{
	return OCTO_CALL_LOCKED(dev, rx_queue_stop_locked, queue_id);
}

int
octo_tx_queue_start(struct rte_eth_dev *dev, uint16_t queue_id)
{
	return OCTO_CALL_LOCKED(dev, switch_legs_locked, "start the Tx queue", queue_id,
				rte_eth_dev_tx_queue_start, rte_eth_dev_tx_queue_stop,
				dev->data->tx_queue_state, RTE_ETH_QUEUE_STATE_STARTED);
}

static int
tx_queue_stop_locked(struct octo_dev *octo, uint16_t queue_id)
{
	int ret = switch_legs_locked(octo, "stop the Tx queue", queue_id, rte_eth_dev_tx_queue_stop,
				     rte_eth_dev_tx_queue_start, octo_data(octo)->tx_queue_state,
				     RTE_ETH_QUEUE_STATE_STOPPED);

	/* under the same lock: the control thread would otherwise send the stash */
	if (ret == 0)
		octo_tx_drop_stash(octo_data(octo)->tx_queues[queue_id]);
	return ret;
}

int
octo_tx_queue_stop(struct rte_eth_dev *dev, uint16_t queue_id)
{
	return OCTO_CALL_LOCKED(dev, tx_queue_stop_locked, queue_id);
}

/*
 * A queue of the running port: what the start does for each. It is not used before it is
 * started.
 */
static void
publish_legs(struct octo_dev *octo)
{
	octo_topo_publish_live(octo, octo_pf_mask(octo, OCTO_PORT_RUNNING));
}

static int
rx_queue_setup_locked(struct octo_dev *octo, uint16_t queue_id, uint16_t nb_desc,
		      const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	int ret = octo_queue_setup_rx_locked(octo, queue_id, nb_desc, conf, pool);

	if (ret != 0 || !octo->started)
		return ret;
	octo_fence_start_queue_locked(octo, octo_data(octo)->rx_queues[queue_id]);
	octo_rule_store_mark_queue_locked(octo, queue_id);
	publish_legs(octo);
	return 0;
}

int
octo_rx_queue_setup(struct rte_eth_dev *dev, uint16_t queue_id, uint16_t nb_desc,
		    unsigned int socket, const struct rte_eth_rxconf *conf,
		    struct rte_mempool *pool)
{
	RTE_SET_USED(socket);
	return OCTO_CALL_LOCKED(dev, rx_queue_setup_locked, queue_id, nb_desc, conf, pool);
}

static int
tx_queue_setup_locked(struct octo_dev *octo, uint16_t queue_id, uint16_t nb_desc,
		      const struct rte_eth_txconf *conf)
{
	int ret = octo_queue_setup_tx_locked(octo, queue_id, nb_desc, conf);

	if (ret != 0 || !octo->started)
		return ret;
	octo_tx_start_queue_locked(octo_data(octo)->tx_queues[queue_id]);
	publish_legs(octo);
	return 0;
}

int
octo_tx_queue_setup(struct rte_eth_dev *dev, uint16_t queue_id, uint16_t nb_desc,
		    unsigned int socket, const struct rte_eth_txconf *conf)
{
	RTE_SET_USED(socket);
	return OCTO_CALL_LOCKED(dev, tx_queue_setup_locked, queue_id, nb_desc, conf);
}

/*
 * Of a running port: ethdev has seen that the queue is stopped, but its last burst may be late, or
 * its last question about descriptors.
 */
static void
log_last_use(struct octo_dev *octo, int ret, const char *kind, uint16_t queue_id)
{
	if (ret != 0)
		OCTO_LOG(ERR, "port %u: %s queue %u is set up again, and a thread uses it yet",
			 octo->port_id, kind, queue_id);
}

/* A burst reads the queues that its fence waits for, which may be given up or over by now. */
static void
await_readers(struct octo_dev *octo, uint16_t queue_id)
{
	struct octo_rxq *q;

	OCTO_FOREACH_RXQ(octo, q) {
		if (q->queue_id == queue_id || !q->fence.reads)
			continue;
		log_last_use(octo, octo_poll_await_rxq(octo, q), "Rx", queue_id);
		q->fence.reads = q->fence.kind >= OCTO_FENCE_MOVE;
	}
}

void
octo_rx_queue_release(struct rte_eth_dev *dev, uint16_t queue_id)
{
	struct octo_dev *octo = octo_of(dev);
	struct octo_rxq *q;

	octo_lock(octo);
	q = dev->data->rx_queues[queue_id];
	if (octo->started && q != NULL) {
		octo_fence_forget_queue_locked(octo, queue_id);
		log_last_use(octo, octo_poll_await_rxq(octo, q), "Rx", queue_id);
		log_last_use(octo, octo_poll_await_askers(q->askers), "Rx", queue_id);
		await_readers(octo, queue_id);
	}
	octo_queue_retire_rx_locked(octo, queue_id);
	octo_unlock(octo);
}

void
octo_tx_queue_release(struct rte_eth_dev *dev, uint16_t queue_id)
{
	struct octo_dev *octo = octo_of(dev);
	struct octo_txq *q;

	octo_lock(octo);
	q = dev->data->tx_queues[queue_id];
	if (octo->started && q != NULL) {
		log_last_use(octo, octo_poll_await_txq(octo, q), "Tx", queue_id);
		log_last_use(octo, octo_poll_await_askers(q->askers), "Tx", queue_id);
		/* it may have put packets aside after the stop: count them */
		octo_tx_drop_stash(q);
	}
	octo_queue_retire_tx_locked(octo, queue_id);
	octo_unlock(octo);
}
