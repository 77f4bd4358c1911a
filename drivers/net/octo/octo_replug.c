/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * PFs that are gone are looked for, and those that were not there at the start: every
 * second, and when a device comes. Devices are probed and removed without the mutex,
 * because whoever listens to them may ask the port something: octo_errand.c.
 */

#include <errno.h>

#include <rte_cycles.h>

#include "octo_private.h"

#define LOOK_S 1
/* Whoever probed the device of a dead port may remove it by itself. */
#define BURY_MS 300
#define BURY_OTHERS_MS 5000

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
	struct octo_pf *p = &octo->pf[pf];
	const bool ours = p->probed_here || p->past.probed;

	p->past.bury_at = octo_ctrl_deadline((ours ? BURY_MS : BURY_OTHERS_MS) * 1000);
	p->past.probed = false;
	p->past.told = false;
	octo->replug.next = octo_ctrl_deadline(LOOK_S * 1000000);
}

enum way {
	WAY_FREE,
	WAY_DEAD, /* a port that is dead, but still there, is in the way of the next one */
	WAY_WAIT,
};

static enum way
what_is_in_the_way(const struct octo_dev *octo, struct octo_pf *pf)
{
	if (!pf->has_port || pf->past.bury_at == 0)
		return WAY_FREE;
	if (rte_get_timer_cycles() < pf->past.bury_at)
		return WAY_WAIT;
	if (octo_attach_is_ours(octo->owner_id, pf))
		return WAY_DEAD;
	/* somebody else has it by now, or nobody */
	pf->has_port = false;
	return WAY_FREE;
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
	if (octo_replay_must_wait_locked(octo, i))
		return -EAGAIN;
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
		octo_stats_keep(octo, i);
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
try_to_join(struct octo_dev *octo, uint8_t i)
{
	struct octo_pf *pf = &octo->pf[i];
	bool link_changed = false;
	int ret;

	octo_lock(octo);
	ret = join_locked(octo, i, &link_changed);
	if (ret == 0)
		pf->past.pause = 0;
	else if (ret != -EAGAIN)
		octo_errand_put_off(&pf->past);
	if (ret != 0 && ret != -EAGAIN && !pf->past.told) {
		pf->past.told = true;
		OCTO_LOG(ERR, "port %u: PF %s is there, but cannot join, and is tried again: %s",
			 octo->port_id, pf->name, rte_strerror(-ret));
	}
	octo_unlock(octo);
	if (link_changed)
		octo_event_raise(octo, RTE_ETH_EVENT_INTR_LSC);
}

enum look {
	LOOK_AT_PORTS,
	LOOK_FOR_DEVICES, /* what is found is a port some time later */
	LOOK_AT_ONCE,     /* it is one when this returns */
};

static void
bring_back(struct octo_dev *octo, uint8_t i, enum look look)
{
	struct octo_pf *pf = &octo->pf[i];
	enum way way;

	if (rte_atomic_load_explicit(&pf->past.under_way, rte_memory_order_acquire) ||
	    rte_get_timer_cycles() < pf->past.retry_at)
		return;
	way = what_is_in_the_way(octo, pf);
	if (look != LOOK_AT_PORTS &&
	    (way == WAY_DEAD || (way == WAY_FREE && !octo_attach_is_there(pf)))) {
		octo_errand_send(octo, i, way == WAY_DEAD, look == LOOK_AT_ONCE);
		way = look == LOOK_AT_ONCE ? what_is_in_the_way(octo, pf) : WAY_WAIT;
	}
	if (way == WAY_FREE && octo_attach_is_there(pf))
		try_to_join(octo, i);
}

/* Whatever is missing: is it there, or can it be probed? */
static void
look_around(struct octo_dev *octo, enum look look)
{
	if (!octo->replug.on)
		return;
	for (uint16_t i = 0; i < octo->nb_pfs; i++)
		if (octo->pf[i].state == OCTO_PF_GONE && !octo->pf[i].recovering)
			bring_back(octo, (uint8_t)i, look);
}

static void
forget_failures(struct octo_dev *octo)
{
	octo_lock(octo);
	for (uint16_t i = 0; i < octo->nb_pfs; i++) {
		octo->pf[i].past.retry_at = 0;
		octo->pf[i].past.pause = 0;
	}
	octo_unlock(octo);
}

/* By whoever starts the port: what is there joins with the others. */
void
octo_replug_look_at_once(struct octo_dev *octo)
{
	forget_failures(octo);
	look_around(octo, LOOK_AT_ONCE);
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
	if (arrived) {
		octo->replug.attentive = now + LOOK_S * rte_get_timer_hz();
		forget_failures(octo);
	}
	if (now >= octo->replug.next_stats) {
		octo->replug.next_stats = now + rte_get_timer_hz();
		refresh_stats(octo);
	}
	if (now >= octo->replug.next) {
		octo->replug.next = now + LOOK_S * rte_get_timer_hz();
		look_around(octo, LOOK_FOR_DEVICES);
	} else if (now < octo->replug.attentive) {
		look_around(octo, LOOK_AT_PORTS);
	}
}
