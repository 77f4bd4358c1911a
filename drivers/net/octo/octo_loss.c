/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The loss of a PF, as reported by an event: all references to it are dropped. The handler of a
 * removal event does so before it returns, as the port is freed then.
 */

#include "octo_clock.h"
#include "octo_private.h"

#define LOOK_S 1
/* Delay until a dead port's device is removed: other code that probed it may do so itself. */
#define BURY_MS 300
#define BURY_OTHERS_MS 5000

/*
 * Delay of the log message: a process that exits loses all PFs before the octo port, which is
 * not worth a message.
 */
#define TELL_MS 100

/* The dead port may exist for a while, and prevents its device from being probed again. */
static void
bury_later(struct octo_dev *octo, uint8_t pf)
{
	struct octo_port *p = &octo->port[pf];
	const bool ours = p->probed_here || p->past.probed;

	p->past.bury_at = octo_deadline((ours ? BURY_MS : BURY_OTHERS_MS) * 1000);
	p->past.probed = false;
	p->past.told = false;
	p->past.tell_at = octo_deadline(TELL_MS * 1000);
	octo->replug.next = octo_deadline(LOOK_S * 1000000);
}

/*
 * No burst and no call uses the PF from now on. Handles of what was on it become invalid, whatever
 * their number is.
 */
static int
take_away(struct octo_dev *octo, uint8_t pf)
{
	int ret;

	octo->port[pf].leaving.on = false;
	octo_users_shut(&octo->port[pf]);
	octo_users_await(&octo->port[pf]);
	if (octo->port[pf].state == OCTO_PORT_GONE)
		return 0;
	octo_port_lose(&octo->port[pf]);
	octo_replay_forget_locked(octo, pf);
	octo_pf_counts_keep(octo, pf);
	bury_later(octo, pf);
	ret = octo_poll_unpublish(octo, octo_pf_mask(octo, OCTO_PORT_STARTED));
	octo_fence_forget_pfs_locked(octo, octo_port_pfs(octo, pf));
	octo_rule_list_name_lost_locked(octo, pf);
	octo_mpfs_spread_lose_pf(octo, pf);
	octo_failover_lost_locked(octo, pf);
	return ret;
}

/* Index of the PF with this port, or -1. */
int
octo_loss_index(const struct octo_dev *octo, uint16_t pf_port_id)
{
	for (uint16_t i = 0; i < octo->nb_ports; i++)
		if (octo->port[i].has_port && octo->port[i].port_id == pf_port_id)
			return i;
	return -1;
}

/*
 * A PF that is present and has not joined may be about to be removed, or to recover: then its
 * port is taken over at once, and removed as that of any lost PF.
 */
static int
take_in(struct octo_dev *octo, uint16_t pf_port_id)
{
	for (uint16_t i = 0; i < octo->nb_ports; i++) {
		struct octo_port *port = &octo->port[i];

		if (!octo->replug.on || port->has_port || !octo_registry_is_named(port, pf_port_id))
			continue;
		port->port_id = pf_port_id;
		port->has_port = true;
		bury_later(octo, (uint8_t)i);
		return i;
	}
	return -1;
}

/* Store the meaning of the event in the PF. */
static void
note(struct octo_port *port, enum rte_eth_event_type event)
{
	if (event == RTE_ETH_EVENT_DESTROY) {
		port->has_port = false;
		rte_atomic_store_explicit(&port->past.ended, true, rte_memory_order_relaxed);
	}
	port->needs_reset = event == RTE_ETH_EVENT_INTR_RESET;
	port->recovering = event == RTE_ETH_EVENT_ERR_RECOVERING;
}

/* The PF is unpublished before its last counters are read, so that they are final. */
static void
count_last(struct octo_dev *octo, uint8_t pf)
{
	octo_poll_unpublish(octo, octo_pf_mask(octo, OCTO_PORT_STARTED) & ~octo_port_pfs(octo, pf));
	octo_pf_counts_read_last_locked(octo, pf);
}

/* With replug=off a PF stays away, also one that could be used again. */
static bool
will_return(const struct octo_dev *octo, const struct octo_port *port)
{
	return octo->replug.on && (port->recovering || port->needs_reset);
}

/* Is there no PF, and none that comes back by itself? */
static bool
is_removed(const struct octo_dev *octo)
{
	for (uint16_t i = 0; i < octo->nb_ports; i++)
		if (will_return(octo, &octo->port[i]))
			return false;
	return octo_port_first(octo, OCTO_PORT_OWNED) < 0;
}

/* No new use of the PF begins from now on. */
static void
lose_locked(struct octo_dev *octo, uint8_t i, enum rte_eth_event_type event)
{
	struct octo_port *port = &octo->port[i];
	const uint64_t cpu_ns = octo_failover_cpu_ns();
	/* on DESTROY the PMD has closed the port already */
	const bool was_there = port->state > OCTO_PORT_GONE;

	/* it failed to join, and must not be tried again while it goes */
	if (!was_there && port->past.bury_at == 0)
		bury_later(octo, i);
	take_away(octo, i);
	/* the link is updated before the removal is announced */
	if (was_there && octo->started && octo_link_refresh(octo))
		octo_raise(octo, RTE_ETH_EVENT_INTR_LSC);
	if (!octo->removal_told && is_removed(octo)) {
		octo->removal_told = true;
		octo_raise(octo, RTE_ETH_EVENT_INTR_RMV);
	}
	/* its port is to be removed first */
	if (event == RTE_ETH_EVENT_RECOVERY_FAILED)
		port->past.bury_at = octo_now();
	/* it is reset when it joins again */
	if (event == RTE_ETH_EVENT_INTR_RESET)
		port->past.bury_at = 0;
	octo->failover.cpu_ns += octo_failover_cpu_ns() - cpu_ns;
	octo_failover_hurry_locked(octo);
}

/*
 * Events that could not have the mutex, in this order, and the end of the port last. A PF
 * that has failed to recover is dead, and of no use after a reset.
 */
static const enum rte_eth_event_type posted_events[] = {
	RTE_ETH_EVENT_ERR_RECOVERING,  RTE_ETH_EVENT_RECOVERY_SUCCESS, RTE_ETH_EVENT_INTR_RESET,
	RTE_ETH_EVENT_RECOVERY_FAILED, RTE_ETH_EVENT_INTR_RMV,         RTE_ETH_EVENT_DESTROY,
};

#define RECOVERY_ENDS                                                                              \
	(RTE_BIT32(RTE_ETH_EVENT_RECOVERY_SUCCESS) | RTE_BIT32(RTE_ETH_EVENT_RECOVERY_FAILED))
/* A recovery that begins later voids these: its driver alone may touch the PF until that ends. */
#define BEFORE_RECOVERY (RECOVERY_ENDS | RTE_BIT32(RTE_ETH_EVENT_INTR_RESET))

/* The holder of the mutex takes note of it, or the next one. */
static void
post(struct octo_dev *octo, struct octo_port *port, uint16_t port_id, enum rte_eth_event_type event)
{
	/* noted at once: a new port may be announced before the event is handled */
	if (event == RTE_ETH_EVENT_DESTROY)
		note(port, event);
	rte_atomic_store_explicit(&port->posted_port, port_id, rte_memory_order_relaxed);
	if (event == RTE_ETH_EVENT_ERR_RECOVERING)
		rte_atomic_fetch_and_explicit(&port->posted, ~BEFORE_RECOVERY,
					      rte_memory_order_relaxed);
	rte_atomic_fetch_or_explicit(&port->posted, RTE_BIT32(event), rte_memory_order_relaxed);
	/* pairs with the acquire in octo_loss_settle_locked() */
	rte_atomic_store_explicit(&octo->posted, true, rte_memory_order_release);
	octo_wake_replug(octo);
	if (octo_lock_try(octo))
		octo_unlock(octo);
}

static void
settle_event_locked(struct octo_dev *octo, uint8_t i, enum rte_eth_event_type event)
{
	struct octo_port *port = &octo->port[i];

	if (event == RTE_ETH_EVENT_RECOVERY_SUCCESS) {
		/* the PF is usable as it is */
		port->recovering = false;
		port->past.bury_at = 0;
		return;
	}
	/* DESTROY was noted in post(), and the PF may have another port by now */
	if (event != RTE_ETH_EVENT_DESTROY)
		note(port, event);
	lose_locked(octo, i, event);
}

void
octo_loss_settle_locked(struct octo_dev *octo)
{
	if (!rte_atomic_exchange_explicit(&octo->posted, false, rte_memory_order_acquire))
		return;
	for (uint16_t i = 0; i < octo->nb_ports; i++) {
		struct octo_port *port = &octo->port[i];
		const uint32_t posted = rte_atomic_exchange_explicit(&port->posted, 0,
								     rte_memory_order_acquire);

		/* the PF may not have joined */
		if ((posted & ~RECOVERY_ENDS) != 0 && !(posted & RTE_BIT32(RTE_ETH_EVENT_DESTROY)))
			take_in(octo, rte_atomic_load_explicit(&port->posted_port,
							       rte_memory_order_relaxed));
		for (unsigned int e = 0; e < RTE_DIM(posted_events); e++)
			if (posted & RTE_BIT32(posted_events[e]))
				settle_event_locked(octo, (uint8_t)i, posted_events[e]);
	}
}

/*
 * Index of the PF with this port, or -1. Includes PFs that are present and have not joined;
 * their names do not change.
 */
static int
find(const struct octo_dev *octo, uint16_t pf_port_id)
{
	int i = octo_loss_index(octo, pf_port_id);

	for (uint16_t n = 0; i < 0 && octo->replug.on && n < octo->nb_ports; n++)
		if (!octo->port[n].has_port && octo_registry_is_named(&octo->port[n], pf_port_id))
			i = n;
	return i;
}

/*
 * The port is freed when a removal event returns, so the PF is unpublished here in any case.
 * This does not wait longer than a timeout for the mutex: its holder may be inside an operation
 * of the PF that waits for this handler.
 */
void
octo_loss_by_event(struct octo_dev *octo, uint16_t pf_port_id, enum rte_eth_event_type event)
{
	const int i = find(octo, pf_port_id);
	struct octo_port *port = &octo->port[i < 0 ? 0 : i];

	if (i < 0)
		return;
	octo_users_shut(port);
	if (octo_lock_in_time(octo)) {
		take_in(octo, pf_port_id);
		if (port->state > OCTO_PORT_GONE && event == RTE_ETH_EVENT_INTR_RMV)
			count_last(octo, (uint8_t)i);
		note(port, event);
		lose_locked(octo, (uint8_t)i, event);
		octo_unlock(octo);
	} else {
		/* the holder of the mutex may have taken the port in meanwhile */
		octo_users_close(port);
		if (octo->started)
			octo_poll_unpublish_unlocked(octo, octo_port_pfs(octo, (uint8_t)i));
		octo_users_await(port);
		post(octo, port, pf_port_id, event);
		octo_users_end_close(port);
	}
	octo_wake_link(octo);
	if (event == RTE_ETH_EVENT_RECOVERY_FAILED || event == RTE_ETH_EVENT_INTR_RESET)
		octo_wake_replug(octo);
}

/* The PF has recovered by itself. */
void
octo_loss_end_recovery(struct octo_dev *octo, uint16_t pf_port_id)
{
	const int i = find(octo, pf_port_id);

	if (i >= 0)
		post(octo, &octo->port[i], pf_port_id, RTE_ETH_EVENT_RECOVERY_SUCCESS);
}
