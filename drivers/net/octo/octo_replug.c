/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * PFs that are gone are looked for, and those that were not there at the start: every
 * second, and when a device comes. Devices are probed and removed by the control
 * thread without the mutex, because whoever listens to them may ask the port
 * something, and by the thread that starts the port.
 */

#include <errno.h>

#include <rte_cycles.h>
#include <rte_dev.h>

#include "octo_private.h"

#define LOOK_S 1
/* An application may remove the device of a dead port by itself. */
#define BURY_MS 300

/* From any thread: a PF may be there. */
void
octo_replug_wake(struct octo_dev *octo)
{
	rte_atomic_store_explicit(&octo->replug.arrived, true, rte_memory_order_release);
	octo_ctrl_wake(octo);
}

void
octo_replug_lost_locked(struct octo_dev *octo, uint8_t pf)
{
	octo->pf[pf].past.bury_at = octo_ctrl_deadline(BURY_MS * 1000);
	octo->pf[pf].past.told = false;
	octo->replug.next = octo_ctrl_deadline(LOOK_S * 1000000);
}

/* A port that is dead, but still there, is in the way of the next one. */
static int
bury(struct octo_dev *octo, struct octo_pf *pf)
{
	struct rte_eth_dev_info info;
	int ret;

	if (!pf->has_port || pf->past.bury_at == 0)
		return 0;
	if (rte_get_timer_cycles() < pf->past.bury_at)
		return -EAGAIN;
	/* somebody else has it by now, or nobody */
	if (!octo_attach_is_ours(octo, pf)) {
		pf->has_port = false;
		return 0;
	}
	ret = rte_eth_dev_info_get(pf->port_id, &info);
	if (ret == 0)
		ret = rte_dev_remove(info.device);
	return ret;
}

static void
count_replug(struct octo_dev *octo, const struct octo_pf *pf)
{
	octo->replug.replugs++;
	OCTO_LOG(NOTICE, "port %u: PF %s is back", octo->port_id, pf->name);
}

/* All that it takes to be a PF like the others; or it is left as it was found. */
static int
join_locked(struct octo_dev *octo, uint8_t i, bool *link_changed)
{
	struct octo_pf *pf = &octo->pf[i];
	int ret;

	if (pf->state != OCTO_PF_GONE || pf->recovering)
		return 0;
	/* one that has recovered is as it was, or not quite */
	if (pf->has_port) {
		rte_eth_dev_stop(pf->port_id);
		rte_flow_flush(pf->port_id, NULL);
	}
	ret = octo_attach_again_locked(octo, i);
	if (ret != 0)
		return ret;
	ret = octo_replay_settings_locked(octo, i);
	if (ret == 0 && octo->started)
		ret = octo_replay_start_locked(octo, i);
	if (ret != 0) {
		pf->state = OCTO_PF_GONE;
		pf->past.bury_at = 0;
		return ret;
	}
	count_replug(octo, pf);
	if (octo->started) {
		*link_changed = octo_link_refresh(octo);
		octo_failover_joined_locked(octo);
	}
	return 0;
}

static void
bring_back(struct octo_dev *octo, uint8_t i, bool probe)
{
	struct octo_pf *pf = &octo->pf[i];
	bool link_changed = false;
	int ret = bury(octo, pf);

	if (ret == 0)
		ret = octo_attach_find_again(pf, probe);
	if (ret != 0)
		return;
	octo_lock(octo);
	ret = join_locked(octo, i, &link_changed);
	if (ret != 0 && ret != -EAGAIN && !pf->past.told) {
		pf->past.told = true;
		OCTO_LOG(ERR, "port %u: PF %s is there, but cannot join, and is tried again: %s",
			 octo->port_id, pf->name, rte_strerror(-ret));
	}
	octo_unlock(octo);
	if (link_changed)
		octo_event_raise(octo, RTE_ETH_EVENT_INTR_LSC);
}

/* Whatever is missing: is it there, or can it be probed? */
void
octo_replug_look(struct octo_dev *octo, bool probe)
{
	if (!octo->replug.on)
		return;
	for (uint16_t i = 0; i < octo->nb_pfs; i++)
		if (octo->pf[i].state == OCTO_PF_GONE && !octo->pf[i].recovering)
			bring_back(octo, (uint8_t)i, probe);
}

static void
refresh_stats(struct octo_dev *octo)
{
	int i;

	octo_lock(octo);
	OCTO_FOREACH_PF(octo, i, OCTO_PF_OWNED)
		octo_stats_refresh_locked(octo, (uint8_t)i);
	octo_unlock(octo);
}

/* By the control thread, without the mutex. */
void
octo_replug_tick(struct octo_dev *octo)
{
	const uint64_t now = rte_get_timer_cycles();
	const bool arrived = rte_atomic_exchange_explicit(&octo->replug.arrived, false,
							  rte_memory_order_acquire);

	/* a port that was announced is not ready yet */
	if (arrived)
		octo->replug.attentive = now + LOOK_S * rte_get_timer_hz();
	if (now >= octo->replug.next_stats) {
		octo->replug.next_stats = now + rte_get_timer_hz();
		refresh_stats(octo);
	}
	if (now >= octo->replug.next) {
		octo->replug.next = now + LOOK_S * rte_get_timer_hz();
		octo_replug_look(octo, true);
	} else if (now < octo->replug.attentive) {
		octo_replug_look(octo, false);
	}
}
