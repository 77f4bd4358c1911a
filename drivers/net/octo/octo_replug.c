/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * PFs that are gone, or were missing at the start, come back: the control thread steps the state
 * machine of each port (octo_port_state.h), and does what it says. Devices are probed and removed
 * without the mutex, as event callbacks may call the port: octo_hotplug.c.
 */

#include <errno.h>

#include <rte_cycles.h>

#include "octo_clock.h"
#include "octo_private.h"

/* A start sends so many requests for a port at most: one removes a dead port, others probe. */
#define MAX_REQUESTS 4

static void
log_gone(const struct octo_dev *octo, struct octo_port *port)
{
	if (port->past.log_at != 0)
		OCTO_LOG(WARNING, "port %u: PF %s is gone", octo->port_id, port->name);
	port->past.log_at = 0;
}

void
octo_replug_log_gone_locked(struct octo_dev *octo, uint64_t now)
{
	for (uint8_t pf = 0; pf < octo->nb_ports; pf++)
		if (now >= octo->port[pf].past.log_at)
			log_gone(octo, &octo->port[pf]);
}

static void
count_replug(struct octo_dev *octo, struct octo_port *port)
{
	octo->replug.replugs++;
	log_gone(octo, port);
	OCTO_LOG(NOTICE, "port %u: PF %s is back", octo->port_id, port->name);
}

/* A queue that was refused, or is being set up, at run time: PMDs need all when they start. */
static bool
lacks_rx_queue(const struct octo_dev *octo)
{
	const struct rte_eth_dev_data *data = octo_data(octo);

	for (uint16_t i = 0; i < data->nb_rx_queues; i++)
		if (data->rx_queues[i] == NULL)
			return true;
	return false;
}

/* Claim the port. Returns OCTO_PORT_EV_CLAIMED, or why it cannot be had. */
static enum octo_port_event
claim_locked(struct octo_dev *octo, uint8_t i, uint32_t life)
{
	struct octo_port *port = &octo->port[i];

	if (octo_port_is_any_joining(octo) || octo_resync_must_wait_locked(octo, i) ||
	    octo_users_is_closing(port) || (octo->started && lacks_rx_queue(octo)))
		return OCTO_PORT_EV_NOT_YET;
	if (octo_renew_locked(octo, i, life) != 0)
		return OCTO_PORT_EV_RESET_FAILED;
	if (port->fsm.life != life)
		return OCTO_PORT_EV_NOT_YET;
	port->refusal = -octo_attach_again_locked(octo, i, life);
	switch (port->refusal) {
	case 0:
		port->past.life = life;
		return OCTO_PORT_EV_CLAIMED;
	case EAGAIN:
		return OCTO_PORT_EV_NOT_YET;
	case ENODEV:
		return OCTO_PORT_EV_NONE;
	case EBUSY:
		return OCTO_PORT_EV_OTHERS;
	case ENOTSUP:
		return OCTO_PORT_EV_LACKS;
	}
	return OCTO_PORT_EV_REFUSED;
}

/* Configure and start a port that was claimed. On failure it is lost. */
static void
set_up_locked(struct octo_dev *octo, uint8_t i)
{
	struct octo_port *port = &octo->port[i];
	int ret = octo_resync_settings_locked(octo, i);

	if (ret == 0 && octo->started)
		ret = octo_resync_start_locked(octo, i);
	/* an event took the PF away meanwhile */
	if (!octo_port_is_owned(port))
		return;
	if (ret != 0) {
		port->refusal = -ret;
		octo_pf_counts_keep(octo, i);
		octo_users_shut(port);
		octo_users_await(port);
		octo_port_refuse(port);
		return;
	}
	/* a started port counts the replug after the last rule, in resynced() */
	if (!octo->started) {
		octo_users_admit(port);
		count_replug(octo, port);
	}
}

/* No answer means that the port is half-made so far. */
static void
check_locked(struct octo_dev *octo, uint8_t i, uint32_t life)
{
	uint16_t port_id;

	if (!octo_attach_find(&octo->port[i], &port_id))
		octo_loss_answer_locked(octo, i, OCTO_PORT_EV_NONE, life);
	else if (octo_attach_is_probed(port_id))
		octo_loss_answer_locked(octo, i, OCTO_PORT_EV_PROBED, life);
}

/* Do what the port's state machine asks for next. Returns whether there was anything. */
static bool
act_locked(struct octo_dev *octo, uint8_t i)
{
	struct octo_port *port = &octo->port[i];
	const uint32_t todo = port->todo;
	const uint32_t life = port->fsm.life;

	if (todo & OCTO_PORT_DO_LOG) {
		port->todo &= ~OCTO_PORT_DO_LOG;
		/* the claim has logged which feature it lacks */
		if (port->fsm.reason != OCTO_PORT_EV_LACKS)
			OCTO_LOG(ERR,
				 "port %u: PF %s is there, but cannot join, and is tried again: %s",
				 octo->port_id, port->name, rte_strerror(port->refusal));
	} else if (todo & OCTO_PORT_DO_CHECK) {
		port->todo &= ~OCTO_PORT_DO_CHECK;
		check_locked(octo, i, life);
	} else if (todo & OCTO_PORT_DO_CLAIM) {
		const enum octo_port_event event = claim_locked(octo, i, life);

		port->todo &= ~(OCTO_PORT_TOUCHES & ~OCTO_PORT_DO_SET_UP);
		if (event != OCTO_PORT_EV_CLAIMED)
			octo_loss_answer_locked(octo, i, event, life);
	} else if (todo & OCTO_PORT_DO_SET_UP) {
		port->todo &= ~OCTO_PORT_TOUCHES;
		set_up_locked(octo, i);
	} else {
		return false;
	}
	return true;
}

/* Returns the requests to be sent when the mutex is released, 0: none. */
static uint32_t
step_locked(struct octo_dev *octo, uint8_t i)
{
	struct octo_port *port = &octo->port[i];
	uint32_t requests;

	do {
		octo_loss_hear_locked(octo, i, NULL);
		/* its device is removed when it is flushed, see octo_drain.c */
		if (octo->role[i].state == OCTO_PF_FLUSHING)
			return 0;
		port->todo |= octo_port_state_step(&port->fsm, port->fsm.seen, NULL, octo_now())
				      .actions;
	} while (act_locked(octo, i));
	requests = port->todo & (OCTO_PORT_DO_PROBE | OCTO_PORT_DO_REMOVE);
	port->todo &= ~requests;
	return requests;
}

/* The PF has all rules and can be a home. Returns whether the port's link changed. */
static bool
resynced(struct octo_dev *octo, uint8_t i)
{
	struct octo_port *port = &octo->port[i];
	bool link_changed;

	octo_port_role_hear_locked(octo, i, OCTO_PF_EV_SYNCED);
	octo_port_did(port, OCTO_PORT_EV_JOINED);
	link_changed = octo_link_refresh(octo);
	count_replug(octo, port);
	octo_failover_joined_locked(octo);
	return link_changed;
}

/* Is it joining, or getting the rules that it goes on without? */
static bool
gets_rules(const struct octo_dev *octo, uint8_t i)
{
	return octo_port_is_joining(octo, i) || octo_sync_port_is_tried_again(octo, i);
}

/* It cannot have the rules of the others. Returns whether the port's link changed. */
static bool
refused(struct octo_dev *octo, uint8_t i, int ret)
{
	struct octo_draining *d = &octo->port[i].draining;

	octo->port[i].refusal = -ret;
	if (octo_port_is_joining(octo, i))
		return octo_drain_give_back_locked(octo, i);
	d->retry = octo_next_try(&d->pause_ms);
	return false;
}

/*
 * Insert another slice of rules on the joining PF, or on the last one. Called by the control
 * thread, without the mutex. Returns whether some are left.
 */
bool
octo_replug_resync_slice(struct octo_dev *octo)
{
	const uint8_t i = octo->sync.joining.port;
	bool link_changed = false;
	int ret = -ENODEV;

	if (!octo_port_is_any_joining(octo) && !octo->sync.joining.again)
		return false;
	octo_lock_give_way(octo);
	octo_lock(octo);
	if (gets_rules(octo, i)) {
		ret = octo_sync_port_locked(octo);
		if (!gets_rules(octo, i))
			ret = -ENODEV;
		else if (ret == 0)
			link_changed = resynced(octo, i);
		else if (ret < 0)
			link_changed = refused(octo, i, ret);
	}
	if (ret <= 0)
		octo->sync.joining.again = false;
	octo_unlock(octo);
	if (link_changed)
		octo_raise(octo, RTE_ETH_EVENT_INTR_LSC);
	return ret > 0;
}

/* Called by the thread that starts the port: PFs that exist join together with the others. */
void
octo_replug_look_at_once(struct octo_dev *octo)
{
	if (!octo->replug.on)
		return;
	for (uint8_t i = 0; i < octo->nb_ports; i++) {
		for (int n = 0; n <= MAX_REQUESTS; n++) {
			uint32_t request;

			octo_port_state_post(&octo->port[i].mail, OCTO_PORT_EV_LOOK);
			request = OCTO_LOCKED(octo, step_locked(octo, i));
			if (request == 0)
				break;
			octo_hotplug_send(octo, i, request, true);
		}
	}
}

static void
look_around(struct octo_dev *octo)
{
	uint32_t request[OCTO_MAX_PFS] = {0};

	if (!octo->replug.on)
		return;
	octo_lock(octo);
	for (uint8_t i = 0; i < octo->nb_ports; i++)
		request[i] = step_locked(octo, i);
	octo_unlock(octo);
	for (uint8_t i = 0; i < octo->nb_ports; i++)
		if (request[i] != 0)
			octo_hotplug_send(octo, i, request[i], false);
}

static void
refresh_stats(struct octo_dev *octo)
{
	int i;

	octo_lock(octo);
	OCTO_FOREACH_PORT(octo, i, OCTO_PORT_IDLE) {
		octo_pf_counts_refresh_locked(octo, (uint8_t)i);
		octo_foreign_look_locked(octo, (uint8_t)i);
	}
	octo_unlock(octo);
}

/* Called by the control thread, without the mutex. */
void
octo_replug_tick(struct octo_dev *octo, uint64_t now)
{
	if (now >= octo->replug.next_stats) {
		octo->replug.next_stats = now + rte_get_timer_hz();
		refresh_stats(octo);
	}
	look_around(octo);
}
