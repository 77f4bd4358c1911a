/* SPDX-License-Identifier: BSD-3-Clause */

/* Account of frames: each frame that was taken from the wire must be in one of the counts. */

#include <errno.h>

#include <eal_export.h>

#include "mpsim.h"
#include "mpsim_control.h"
#include "mpsim_tx_ring.h"

static uint64_t
dropped_by_pf(const struct mpsim_pf *pf)
{
	const struct mpsim_pf_stats *s = &pf->stats;
	uint64_t n = s->stopped + s->link_down + s->oversize + s->vlan_filtered + s->isolated +
		     s->rule_drops + s->pipe_full + s->dead;

	for (uint16_t i = 0; i < MPSIM_MAX_QUEUES; i++)
		n += pf->rxq_stats[i].missed + pf->rxq_stats[i].nombuf + pf->rxq_stats[i].errors;
	return n;
}

static uint64_t
delivered_by_pf(const struct mpsim_pf *pf)
{
	uint64_t n = pf->delivered;

	for (uint16_t i = 0; i < MPSIM_MAX_QUEUES; i++)
		if (pf->rxq[i] != NULL)
			n += pf->rxq[i]->delivered;
	return n;
}

static uint64_t
tx_dropped(const struct mpsim_txq_stats *s)
{
	return s->errors + s->no_wire + s->wire_full + s->link_down;
}

static void
add_past(const struct mpsim_pf *pf, struct mpsim_past *past)
{
	past->delivered += delivered_by_pf(pf);
	past->dropped += dropped_by_pf(pf);
	for (uint16_t i = 0; i < MPSIM_MAX_QUEUES; i++) {
		past->sent += pf->txq_stats[i].packets + pf->tx_ring_stats[i].packets;
		past->lost_in_tx += pf->txq_stats[i].lost + pf->tx_ring_stats[i].lost;
		past->tx_dropped += tx_dropped(&pf->txq_stats[i]) +
				    tx_dropped(&pf->tx_ring_stats[i]);
	}
}

void
mpsim_account_keep(struct mpsim_pf *pf)
{
	add_past(pf, &pf->nic->past);
}

static void
add_present(const struct mpsim_pf *pf, struct mpsim_account *a)
{
	a->in_pipelines += pf->pipe.frames;
	a->rules += pf->arfs.count + pf->generic.count;
	for (uint16_t i = 0; i < MPSIM_MAX_QUEUES; i++)
		if (pf->rxq[i] != NULL)
			a->in_rings += rte_ring_count(pf->rxq[i]->ring);
}

static void
get_locked(const struct mpsim_nic *nic, struct mpsim_account *a)
{
	const struct mpsim_nic_stats *s = &nic->stats;
	struct mpsim_past past = nic->past;

	/* read first, so that a frame that leaves a ring meanwhile is counted below */
	a->in_tx_rings = rte_atomic_load_explicit(&nic->tx_waiting, rte_memory_order_acquire);
	a->rules = nic->mpfs.count + nic->masked.count;
	for (uint16_t i = 0; i < MPSIM_MAX_PORTS; i++) {
		if (nic->pf[i] == NULL)
			continue;
		add_past(nic->pf[i], &past);
		add_present(nic->pf[i], a);
	}
	a->taken = s->wire_packets + s->switched;
	a->copied = s->copied;
	a->delivered = past.delivered;
	a->dropped = past.dropped + s->mac_filtered + s->runts + s->no_pf;
	a->lost = s->lost;
	a->unaccounted = (int64_t)(a->taken + a->copied - a->delivered - a->in_rings -
				   a->in_pipelines - a->dropped - a->lost);
	a->sent = past.sent;
	a->lost_in_tx = past.lost_in_tx;
	a->tx_dropped = past.tx_dropped;
	a->on_wire = nic->wire_frames == NULL ? 0 : rte_ring_count(nic->wire_frames);
	a->lost_on_wire = s->wire_lost;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(rte_pmd_mpsim_account_get, 26.11)
int
rte_pmd_mpsim_account_get(const char *name, struct mpsim_account *account)
{
	struct mpsim_nic *nic;

	*account = (struct mpsim_account){0};
	mpsim_control_lock();
	nic = mpsim_nic_find(name);
	if (nic != NULL) {
		mpsim_nic_lock(nic);
		get_locked(nic, account);
		mpsim_nic_unlock(nic);
	}
	mpsim_control_unlock();
	return nic == NULL ? -ENODEV : 0;
}
