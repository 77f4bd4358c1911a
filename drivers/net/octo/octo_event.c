/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Events: what the PFs raise, and what the port raises itself.
 *
 * ethdev keeps callbacks by port id, also when the port is gone and the id is
 * given to another device. So there is one callback for all ports, for the life
 * of the process, and the registry tells whether a port is a PF of ours.
 */

#include <errno.h>

#include <rte_alarm.h>
#include <rte_dev.h>

#include "octo_clock.h"
#include "octo_private.h"

static int
index_of(const struct octo_dev *octo, uint16_t pf_port_id)
{
	for (uint16_t i = 0; i < octo->nb_pfs; i++)
		if (octo->pf[i].has_port && octo->pf[i].port_id == pf_port_id)
			return i;
	return -1;
}

/*
 * A PF that is there, and has not joined, may be about to go, or to recover: then its
 * port is one of ours at once, in the way of the next one as that of any lost PF.
 */
static int
take_in(struct octo_dev *octo, uint16_t pf_port_id)
{
	for (uint16_t i = 0; i < octo->nb_pfs; i++) {
		struct octo_pf *pf = &octo->pf[i];

		if (!octo->replug.on || pf->has_port || !octo_attach_is_named(pf, pf_port_id))
			continue;
		pf->port_id = pf_port_id;
		pf->has_port = true;
		octo_replug_lost_locked(octo, (uint8_t)i);
		return i;
	}
	return -1;
}

/* What the event says of the PF's port. */
static void
note(struct octo_pf *pf, enum rte_eth_event_type event)
{
	if (event == RTE_ETH_EVENT_DESTROY) {
		pf->has_port = false;
		rte_atomic_store_explicit(&pf->past.ended, true, rte_memory_order_relaxed);
	}
	pf->needs_reset = event == RTE_ETH_EVENT_INTR_RESET;
	pf->recovering = event == RTE_ETH_EVENT_ERR_RECOVERING;
}

/* Nothing is received by the PF any more when it is asked what it has counted. */
static void
count_last(struct octo_dev *octo, uint8_t pf)
{
	octo_pf_unpublish(octo, octo_pf_mask(octo, OCTO_PF_STARTED) & ~RTE_BIT32(pf));
	octo_stats_read_last_locked(octo, pf);
}

/* No use of the PF begins any more. */
static void
lose_locked(struct octo_dev *octo, uint8_t i, enum rte_eth_event_type event)
{
	struct octo_pf *pf = &octo->pf[i];
	const uint64_t cpu_ns = octo_failover_cpu_ns();
	/* DESTROY comes when the PMD has closed the port already */
	const bool was_there = pf->state > OCTO_PF_GONE;

	/* it could not join, and is not to be tried again while it goes */
	if (!was_there && pf->past.bury_at == 0)
		octo_replug_lost_locked(octo, i);
	octo_pf_take_away(octo, i);
	/* the link is as it is before anybody hears of the removal */
	if (was_there && octo->started && octo_link_refresh(octo))
		octo_event_raise(octo, RTE_ETH_EVENT_INTR_LSC);
	if (was_there && octo_pf_first(octo, OCTO_PF_OWNED) < 0)
		octo_event_raise(octo, RTE_ETH_EVENT_INTR_RMV);
	/* its port is to be removed first */
	if (event == RTE_ETH_EVENT_RECOVERY_FAILED)
		pf->past.bury_at = octo_now();
	/* it is reset when it joins again */
	if (event == RTE_ETH_EVENT_INTR_RESET)
		pf->past.bury_at = 0;
	octo->failover.cpu_ns += octo_failover_cpu_ns() - cpu_ns;
	octo_ctrl_hurry_locked(octo);
}

/* Events that could not have the mutex, in this order, and the end of the port last. */
static const enum rte_eth_event_type posted_events[] = {
	RTE_ETH_EVENT_ERR_RECOVERING, RTE_ETH_EVENT_RECOVERY_SUCCESS, RTE_ETH_EVENT_RECOVERY_FAILED,
	RTE_ETH_EVENT_INTR_RESET,     RTE_ETH_EVENT_INTR_RMV,         RTE_ETH_EVENT_DESTROY,
};

#define RECOVERY_ENDS                                                                              \
	(RTE_BIT32(RTE_ETH_EVENT_RECOVERY_SUCCESS) | RTE_BIT32(RTE_ETH_EVENT_RECOVERY_FAILED))

/* The holder of the mutex takes note of it, or the next one. */
static void
post(struct octo_dev *octo, struct octo_pf *pf, uint16_t port, enum rte_eth_event_type event)
{
	/* a new port may be announced before that */
	if (event == RTE_ETH_EVENT_DESTROY)
		note(pf, event);
	rte_atomic_store_explicit(&pf->posted_port, port, rte_memory_order_relaxed);
	if (event == RTE_ETH_EVENT_ERR_RECOVERING)
		rte_atomic_fetch_and_explicit(&pf->posted, ~RECOVERY_ENDS,
					      rte_memory_order_relaxed);
	rte_atomic_fetch_or_explicit(&pf->posted, RTE_BIT32(event), rte_memory_order_relaxed);
	/* pairs with the acquire in octo_event_settle_locked() */
	rte_atomic_store_explicit(&octo->posted, true, rte_memory_order_release);
	octo_replug_wake(octo);
	if (octo_lock_try(octo))
		octo_unlock(octo);
}

static void
settle_event_locked(struct octo_dev *octo, uint8_t i, enum rte_eth_event_type event)
{
	struct octo_pf *pf = &octo->pf[i];

	if (event == RTE_ETH_EVENT_RECOVERY_SUCCESS) {
		/* it is of use as it is */
		pf->recovering = false;
		pf->past.bury_at = 0;
		return;
	}
	/* that the port has ended is noted, and there may be another by now */
	if (event != RTE_ETH_EVENT_DESTROY)
		note(pf, event);
	lose_locked(octo, i, event);
}

void
octo_event_settle_locked(struct octo_dev *octo)
{
	if (!rte_atomic_exchange_explicit(&octo->posted, false, rte_memory_order_acquire))
		return;
	for (uint16_t i = 0; i < octo->nb_pfs; i++) {
		struct octo_pf *pf = &octo->pf[i];
		const uint32_t posted = rte_atomic_exchange_explicit(&pf->posted, 0,
								     rte_memory_order_acquire);

		/* it may not have joined yet */
		if ((posted & ~RECOVERY_ENDS) != 0 && !(posted & RTE_BIT32(RTE_ETH_EVENT_DESTROY)))
			take_in(octo, rte_atomic_load_explicit(&pf->posted_port,
							       rte_memory_order_relaxed));
		for (unsigned int e = 0; e < RTE_DIM(posted_events); e++)
			if (posted & RTE_BIT32(posted_events[e]))
				settle_event_locked(octo, (uint8_t)i, posted_events[e]);
	}
}

/* Also of a PF that is there, and has not joined. Its name does not change. */
static int
find(const struct octo_dev *octo, uint16_t pf_port_id)
{
	int i = index_of(octo, pf_port_id);

	for (uint16_t n = 0; i < 0 && octo->replug.on && n < octo->nb_pfs; n++)
		if (!octo->pf[n].has_port && octo_attach_is_named(&octo->pf[n], pf_port_id))
			i = n;
	return i;
}

/*
 * The port is freed when a removal event returns, so this does not wait for a thread: the
 * holder of the mutex may be inside of an operation of the PF that waits for its handler.
 */
void
octo_event_lose(struct octo_dev *octo, uint16_t pf_port_id, enum rte_eth_event_type event)
{
	const int i = find(octo, pf_port_id);
	struct octo_pf *pf = &octo->pf[i < 0 ? 0 : i];

	if (i < 0)
		return;
	octo_users_shut(pf);
	if (octo_lock_in_time(octo)) {
		take_in(octo, pf_port_id);
		if (pf->state > OCTO_PF_GONE && event == RTE_ETH_EVENT_INTR_RMV)
			count_last(octo, (uint8_t)i);
		note(pf, event);
		lose_locked(octo, (uint8_t)i, event);
		octo_unlock(octo);
	} else {
		if (octo->started)
			octo_pf_unpublish_unlocked(octo, (uint8_t)i);
		octo_users_await(pf);
		post(octo, pf, pf_port_id, event);
	}
	octo_ctrl_post_link(octo);
	if (event == RTE_ETH_EVENT_RECOVERY_FAILED || event == RTE_ETH_EVENT_INTR_RESET)
		octo_replug_wake(octo);
}

/* Its removal is announced: it has time to leave in order, or it is dead already. */
static void
remove_pf(struct octo_dev *octo, uint16_t pf_port_id)
{
	bool leaves = false;
	int i;

	if (octo_lock_in_time(octo)) {
		i = index_of(octo, pf_port_id);
		leaves = i >= 0 && octo_leave_begin_locked(octo, (uint8_t)i);
		octo_unlock(octo);
	}
	if (!leaves)
		octo_event_lose(octo, pf_port_id, RTE_ETH_EVENT_INTR_RMV);
}

static void
claim(struct octo_dev *octo, const void *dev)
{
	const struct rte_eth_dev_data *data = ((const struct rte_eth_dev *)dev)->data;

	if (!octo->replug.on)
		return;
	octo_attach_claim(octo, data->name, data->port_id);
	octo_replug_wake(octo);
}

/* A port was made. Whoever makes it may hold any lock, so nothing here waits for one of ours. */
static int
on_new(uint16_t port_id, enum rte_eth_event_type event, void *arg, void *ret_param)
{
	RTE_SET_USED(event);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret_param);
	octo_users_find(port_id);
	octo_registry_foreach(claim, &rte_eth_devices[port_id]);
	return 0;
}

/* The PF has helped itself. */
static void
end_recovery(struct octo_dev *octo, uint16_t pf_port_id)
{
	const int i = find(octo, pf_port_id);

	if (i >= 0)
		post(octo, &octo->pf[i], pf_port_id, RTE_ETH_EVENT_RECOVERY_SUCCESS);
}

/* In the thread that raises the event. */
static int
on_event(uint16_t port_id, enum rte_eth_event_type event, void *arg, void *ret_param)
{
	struct octo_dev *octo = octo_registry_get_by_pf(port_id);

	RTE_SET_USED(arg);
	RTE_SET_USED(ret_param);
	/* what the primary removes, EAL's thread detaches; who exits takes nothing from others */
	if (event == RTE_ETH_EVENT_DESTROY && rte_thread_is_intr())
		octo_legs_lose(port_id);
	if (octo == NULL)
		return 0;
	if (event == RTE_ETH_EVENT_INTR_LSC)
		octo_ctrl_post_link(octo);
	else if (event == RTE_ETH_EVENT_FLOW_AGED)
		octo_event_raise(octo, event);
	else if (event == RTE_ETH_EVENT_RECOVERY_SUCCESS)
		end_recovery(octo, port_id);
	else if (event == RTE_ETH_EVENT_INTR_RMV)
		remove_pf(octo, port_id);
	else
		octo_event_lose(octo, port_id, event);
	octo_registry_put();
	return 0;
}

struct device_event {
	const char *device;
	enum rte_dev_event_type type;
};

/* A device that the bus takes out of its slot: the PMD need not say so. */
static void
tell_device(struct octo_dev *octo, const void *what)
{
	const struct device_event *e = what;

	for (uint16_t i = 0; i < octo->nb_pfs; i++) {
		const struct octo_pf *pf = &octo->pf[i];

		if (strcmp(pf->past.device, e->device) != 0 && strcmp(pf->name, e->device) != 0)
			continue;
		if (e->type == RTE_DEV_EVENT_ADD && octo->replug.on)
			octo_replug_wake(octo);
		if (e->type == RTE_DEV_EVENT_REMOVE && pf->has_port)
			remove_pf(octo, pf->port_id);
	}
}

static void
on_device(const char *device, enum rte_dev_event_type type, void *arg)
{
	const struct device_event e = {.device = device, .type = type};

	RTE_SET_USED(arg);
	octo_registry_foreach(tell_device, &e);
}

int
octo_event_init(void)
{
	static const enum rte_eth_event_type watched[] = {
		RTE_ETH_EVENT_INTR_LSC,        RTE_ETH_EVENT_INTR_RMV,
		RTE_ETH_EVENT_DESTROY,         RTE_ETH_EVENT_FLOW_AGED,
		RTE_ETH_EVENT_ERR_RECOVERING,  RTE_ETH_EVENT_RECOVERY_SUCCESS,
		RTE_ETH_EVENT_RECOVERY_FAILED, RTE_ETH_EVENT_INTR_RESET,
	};
	static bool done;

	if (!done && (rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, on_new, NULL) ||
		      rte_dev_event_callback_register(NULL, on_device, NULL)))
		return -ENOMEM;
	for (unsigned int i = 0; !done && i < RTE_DIM(watched); i++) {
		int ret = rte_eth_dev_callback_register(RTE_ETH_ALL, watched[i], on_event, NULL);

		if (ret != 0)
			return ret;
	}
	/* without it the port still looks for PFs by itself */
	if (!done && rte_eal_process_type() == RTE_PROC_PRIMARY &&
	    rte_dev_event_monitor_start() != 0)
		OCTO_LOG(NOTICE,
			 "the kernel's device events cannot be heard: PFs that are removed or "
			 "plugged are noticed later");
	done = true;
	return 0;
}

static void
raise_lsc(void *arg)
{
	rte_eth_dev_callback_process(arg, RTE_ETH_EVENT_INTR_LSC, NULL);
}

static void
raise_rmv(void *arg)
{
	rte_eth_dev_callback_process(arg, RTE_ETH_EVENT_INTR_RMV, NULL);
}

static void
raise_aged(void *arg)
{
	rte_eth_dev_callback_process(arg, RTE_ETH_EVENT_FLOW_AGED, NULL);
}

static rte_eal_alarm_callback
raiser_of(enum rte_eth_event_type event)
{
	switch (event) {
	case RTE_ETH_EVENT_INTR_LSC:
		return raise_lsc;
	case RTE_ETH_EVENT_FLOW_AGED:
		return raise_aged;
	default:
		return raise_rmv;
	}
}

/*
 * Raise an event of the port in EAL's interrupt thread, as a PMD with real
 * interrupts does: the application may stop or close the port in its callback,
 * which the control thread could not survive.
 */
void
octo_event_raise(struct octo_dev *octo, enum rte_eth_event_type event)
{
	struct rte_eth_dev *dev = &rte_eth_devices[octo->port_id];
	int ret = octo_alarm_set(1, raiser_of(event), dev);

	if (ret != 0)
		OCTO_LOG(ERR, "port %u: event %d cannot be raised: %s", octo->port_id, event,
			 rte_strerror(-ret));
}

/* No event of the port is raised any more when this returns. */
void
octo_event_cancel(struct octo_dev *octo)
{
	rte_eal_alarm_cancel(raise_lsc, &rte_eth_devices[octo->port_id]);
	rte_eal_alarm_cancel(raise_rmv, &rte_eth_devices[octo->port_id]);
	rte_eal_alarm_cancel(raise_aged, &rte_eth_devices[octo->port_id]);
}
