/* SPDX-License-Identifier: BSD-3-Clause */

#include <rte_ethdev.h>

#include "mpsim.h"

static inline bool
ethdev_started(const struct mpsim_nic *nic)
{
	/* pairs with the release in start_ethdev(): wire_frames is there */
	return rte_atomic_load_explicit(&nic->wire_on, rte_memory_order_acquire);
}

/* The primary alone has probed and started the wire's ethdev. */
static inline bool
ethdev_usable(const struct mpsim_nic *nic)
{
	return ethdev_started(nic) && rte_eal_process_type() == RTE_PROC_PRIMARY;
}

bool
mpsim_wire_has_listener(const struct mpsim_nic *nic)
{
	switch (mpsim_wire_kind(nic)) {
	case MPSIM_WIRE_LOOP:
	case MPSIM_WIRE_NIC:
		/* pairs with the release in mpsim_start(): wire_frames is there */
		return rte_atomic_load_explicit(&nic->peer->started, rte_memory_order_acquire) != 0;
	case MPSIM_WIRE_ETHDEV:
		return ethdev_started(nic);
	default:
		return false;
	}
}

bool
mpsim_wire_is_idle(const struct mpsim_nic *nic)
{
	switch (mpsim_wire_kind(nic)) {
	case MPSIM_WIRE_LOOP:
	case MPSIM_WIRE_NIC:
		return nic->wire_frames == NULL || rte_ring_empty(nic->wire_frames);
	case MPSIM_WIRE_ETHDEV:
		return !ethdev_usable(nic);
	default:
		return true;
	}
}

bool
mpsim_wire_is_half_empty(const struct mpsim_nic *nic)
{
	const struct rte_ring *frames = nic->peer->wire_frames;

	return rte_ring_count(frames) <= rte_ring_get_capacity(frames) / 2;
}

/* Reinsert a tag that the kernel or NIC has stripped: on our wire it is part of the frame. */
static void
restore_tags(struct rte_mbuf **pkts, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		if (unlikely(pkts[i]->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED))
			rte_vlan_insert(&pkts[i]);
}

static uint16_t
ethdev_tx(struct mpsim_nic *nic, struct rte_mbuf **pkts, uint16_t n)
{
	uint16_t sent = 0;

	rte_spinlock_lock(&nic->tx_lock);
	/* checked again: the wire may have been stopped since mpsim_wire_has_listener() */
	if (ethdev_usable(nic))
		sent = rte_eth_tx_burst(nic->wire_port, 0, pkts, n);
	rte_spinlock_unlock(&nic->tx_lock);
	return sent;
}

/* Send frames that secondary processes have queued; the wire may be full. */
static void
send_for_secondaries(struct mpsim_nic *nic)
{
	struct rte_mbuf *pkts[MPSIM_BURST];
	unsigned int n;

	if (rte_ring_empty(nic->wire_frames))
		return;
	n = rte_ring_dequeue_burst_start(nic->wire_frames, (void **)pkts, MPSIM_BURST, NULL);
	rte_ring_dequeue_finish(nic->wire_frames, ethdev_tx(nic, pkts, n));
}

uint16_t
mpsim_wire_rx(struct mpsim_nic *nic, struct rte_mbuf **pkts, uint16_t n)
{
	switch (mpsim_wire_kind(nic)) {
	case MPSIM_WIRE_LOOP:
	case MPSIM_WIRE_NIC:
		if (nic->wire_frames == NULL)
			return 0;
		return rte_ring_sc_dequeue_burst(nic->wire_frames, (void **)pkts, n, NULL);
	case MPSIM_WIRE_ETHDEV:
		if (!ethdev_usable(nic))
			return 0;
		send_for_secondaries(nic);
		n = rte_eth_rx_burst(nic->wire_port, 0, pkts, n);
		restore_tags(pkts, n);
		return n;
	default:
		return 0;
	}
}

uint16_t
mpsim_wire_tx(struct mpsim_nic *nic, struct rte_mbuf **pkts, uint16_t n)
{
	const bool is_ethdev = mpsim_wire_kind(nic) == MPSIM_WIRE_ETHDEV;
	struct rte_ring *frames;

	if (is_ethdev && rte_eal_process_type() == RTE_PROC_PRIMARY)
		return ethdev_tx(nic, pkts, n);
	/* a secondary queues frames for the primary, which sends them by the ethdev */
	frames = is_ethdev ? nic->wire_frames : nic->peer->wire_frames;
	return rte_ring_enqueue_burst(frames, (void **)pkts, n, NULL);
}
