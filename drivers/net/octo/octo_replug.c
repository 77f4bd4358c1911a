/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Look for PFs that are gone or were missing at the start: every second, and when a device
 * arrives. Devices are probed and removed without the mutex, as event callbacks may call
 * the port: octo_errand.c.
 */

#include <errno.h>

#include <rte_cycles.h>

#include "octo_clock.h"
#include "octo_private.h"

#define LOOK_S 1
/* The control thread resyncs a PF for this long, then does its other work. */
#define GO_ON_MS 5

static void
tell_gone(const struct octo_dev *octo, struct octo_port *port)
{
	if (port->past.tell_at != 0)
		OCTO_LOG(WARNING, "port %u: PF %s is gone", octo->port_id, port->name);
	port->past.tell_at = 0;
}

void
octo_replug_tell_locked(struct octo_dev *octo, uint64_t now)
{
	for (uint8_t pf = 0; pf < octo->nb_ports; pf++)
		if (now >= octo->port[pf].past.tell_at)
			tell_gone(octo, &octo->port[pf]);
}

enum way {
	WAY_FREE,
	WAY_DEAD, /* a dead port still exists and blocks its successor */
	WAY_WAIT,
};

static enum way
what_is_in_the_way(const struct octo_dev *octo, struct octo_port *port)
{
	if (!port->has_port || port->past.bury_at == 0)
		return WAY_FREE;
	if (octo_now() < port->past.bury_at)
		return WAY_WAIT;
	if (octo_attach_is_ours(octo->owner_id, port))
		return WAY_DEAD;
	/* the port is being created or released */
	if (!rte_eth_dev_is_valid_port(port->port_id) &&
	    octo_registry_is_named(port, port->port_id))
		return WAY_WAIT;
	/* the port id is another owner's by now, or free */
	port->has_port = false;
	return WAY_FREE;
}

static void
count_replug(struct octo_dev *octo, struct octo_port *port)
{
	octo->replug.replugs++;
	tell_gone(octo, port);
	OCTO_LOG(NOTICE, "port %u: PF %s is back", octo->port_id, port->name);
}

/*
 * Prepare a PF that recovered: stop it and clear its rules and filters, or reset it first
 * if it needs that. If the reset fails, its port is removed and probed again.
 */
static int
renew_locked(struct octo_port *port)
{
	int ret = port->needs_reset ? rte_eth_dev_reset(port->port_id) : 0;

	if (ret != 0) {
		OCTO_LOG(ERR, "PF %s cannot be reset, and is probed again: %s", port->name,
			 rte_strerror(-ret));
		port->past.bury_at = octo_now();
		return -EAGAIN;
	}
	port->needs_reset = false;
	rte_eth_dev_stop(port->port_id);
	rte_flow_flush(port->port_id, NULL);
	octo_filter_clear_locked(port);
	return 0;
}

/* Make the PF join the port: claim, configure, start. On failure the PF is GONE as before. */
static int
join_locked(struct octo_dev *octo, uint8_t i)
{
	struct octo_port *port = &octo->port[i];
	int ret;

	if (port->state != OCTO_PORT_GONE || port->recovering)
		return 0;
	if (octo->replug.joining.on || octo_replay_must_wait_locked(octo, i))
		return -EAGAIN;
	/* the PF may have been lost since it was looked at, and its queues may be being freed */
	if (what_is_in_the_way(octo, port) != WAY_FREE ||
	    rte_atomic_load_explicit(&port->past.ended, rte_memory_order_relaxed) ||
	    octo_users_is_closing(port))
		return -EAGAIN;
	if (port->has_port && !octo_attach_is_probed(port->port_id))
		return -EAGAIN;
	ret = port->has_port ? renew_locked(port) : 0;
	if (ret == 0)
		ret = octo_attach_again_locked(octo, i);
	if (ret != 0)
		return ret;
	ret = octo_replay_settings_locked(octo, i);
	if (ret == 0 && octo->started)
		ret = octo_replay_start_locked(octo, i);
	/* an event took the PF away meanwhile and has updated its state */
	if (port->state == OCTO_PORT_GONE)
		return -EAGAIN;
	if (ret != 0) {
		octo_pf_counts_keep(octo, i);
		octo_users_shut(port);
		octo_users_await(port);
		octo_port_lose(port);
		port->past.bury_at = 0;
		return ret;
	}
	/* a started port counts the replug after the last rule, in welcome() */
	if (!octo->started) {
		octo_users_admit(port);
		count_replug(octo, port);
	}
	return 0;
}

/* Delay the next attempt, longer each time. The reason is logged once. */
static void
put_off(struct octo_dev *octo, struct octo_port *port, int ret)
{
	if (ret == -EAGAIN)
		return;
	octo_errand_put_off(&port->past);
	if (port->past.told)
		return;
	port->past.told = true;
	OCTO_LOG(ERR, "port %u: PF %s is there, but cannot join, and is tried again: %s",
		 octo->port_id, port->name, rte_strerror(-ret));
}

static void
try_to_join(struct octo_dev *octo, uint8_t i)
{
	int ret;

	octo_lock(octo);
	ret = join_locked(octo, i);
	if (ret != 0)
		put_off(octo, &octo->port[i], ret);
	octo_unlock(octo);
}

/* The PF has all rules and can be a home. Returns whether the port's link changed. */
static bool
welcome(struct octo_dev *octo, struct octo_port *port)
{
	const bool link_changed = octo_link_refresh(octo);

	port->past.pause = 0;
	/* other PFs may wait for their turn to join */
	octo->replug.attentive = octo_deadline(LOOK_S * 1000000);
	count_replug(octo, port);
	octo_failover_joined_locked(octo);
	return link_changed;
}

/* Insert another slice of rules on the joining PF. Returns whether some are left. */
static bool
go_on(struct octo_dev *octo)
{
	const uint8_t i = octo->replug.joining.port;
	bool link_changed = false;
	int ret = -ENODEV;

	octo_lock(octo);
	if (octo->replug.joining.on) {
		ret = octo_replay_go_on_locked(octo);
		if (ret == 0)
			link_changed = welcome(octo, &octo->port[i]);
		else if (ret != -EAGAIN)
			link_changed = octo_leave_give_back_locked(octo, i);
		put_off(octo, &octo->port[i], ret == 0 ? -EAGAIN : ret);
	}
	octo_unlock(octo);
	if (link_changed)
		octo_raise(octo, RTE_ETH_EVENT_INTR_LSC);
	return ret == -EAGAIN;
}

/*
 * Insert slices for at most GO_ON_MS, so other control work is not delayed. Returns whether
 * some rules are left.
 */
static bool
go_on_for_a_while(struct octo_dev *octo)
{
	const uint64_t end = octo_deadline(GO_ON_MS * 1000);
	bool more = octo->replug.joining.on;

	while (more && octo_now() < end) {
		octo_lock_give_way(octo);
		more = go_on(octo);
	}
	return more;
}

enum look {
	LOOK_AT_PORTS,
	LOOK_FOR_DEVICES, /* request a probe; the port appears later */
	LOOK_AT_ONCE,     /* request a probe and wait for the port */
};

static void
bring_back(struct octo_dev *octo, uint8_t i, enum look look)
{
	struct octo_port *port = &octo->port[i];
	enum way way;

	if (rte_atomic_load_explicit(&port->past.under_way, rte_memory_order_acquire) ||
	    octo_now() < port->past.retry_at)
		return;
	way = what_is_in_the_way(octo, port);
	if (look != LOOK_AT_PORTS &&
	    (way == WAY_DEAD || (way == WAY_FREE && !octo_attach_is_there(port)))) {
		octo_errand_send(octo, i, way == WAY_DEAD ? OCTO_ERRAND_BURY : OCTO_ERRAND_FETCH,
				 look == LOOK_AT_ONCE);
		way = look == LOOK_AT_ONCE ? what_is_in_the_way(octo, port) : WAY_WAIT;
	}
	if (way == WAY_FREE && octo_attach_is_there(port))
		try_to_join(octo, i);
}

/* For each missing PF: use its port if it exists, else have it probed. */
static void
look_around(struct octo_dev *octo, enum look look)
{
	if (!octo->replug.on)
		return;
	for (uint16_t i = 0; i < octo->nb_ports; i++)
		if (octo->port[i].state == OCTO_PORT_GONE && !octo->port[i].recovering &&
		    !octo->port[i].leaving.on)
			bring_back(octo, (uint8_t)i, look);
}

static void
forget_failures(struct octo_dev *octo)
{
	octo_lock(octo);
	for (uint16_t i = 0; i < octo->nb_ports; i++) {
		octo->port[i].past.retry_at = 0;
		octo->port[i].past.pause = 0;
	}
	octo_unlock(octo);
}

/* Called by the thread that starts the port: PFs that exist join together with the others. */
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
	OCTO_FOREACH_PORT(octo, i, OCTO_PORT_OWNED) {
		octo_pf_counts_refresh_locked(octo, (uint8_t)i);
		octo_foreign_look_locked(octo, (uint8_t)i);
	}
	octo_unlock(octo);
}

/*
 * Called by the control thread, without the mutex. Returns whether there is more to do at
 * once.
 */
bool
octo_replug_tick(struct octo_dev *octo, uint64_t now)
{
	const bool arrived = rte_atomic_exchange_explicit(&octo->replug.arrived, false,
							  rte_memory_order_acquire);

	/* the announced port is not ready yet: look more often for a while */
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
	return go_on_for_a_while(octo);
}
