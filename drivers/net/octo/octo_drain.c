/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Draining. When a PF's removal is announced the PF still works: a machine that ejects a device
 * waits until its driver has let go of it. So the PF stops being a home, its flows are rehomed
 * through the fence as after any change of home, its senders switch, and it is taken away when
 * its rings are empty: nothing is lost or reordered. If it dies meanwhile, or nothing polls it,
 * it is lost as any other PF.
 *
 * A PF that came back and cannot have the rules of the others is drained, too. The last one goes
 * on, until it has them or is not the last any more.
 */

#include <rte_cycles.h>

#include "octo_clock.h"
#include "octo_private.h"

/* How long a PF is drained whose PMD cannot tell how full its rings are. */
#define BLIND_MS 10

/* For how long, at most, it stays for what its rules have counted. */
#define COUNT_MS 20
#define SLICE_RULES 64
#define SLICE_US 50

/* Returns false if the PF must be taken away at once, as it does not work, or is the last. */
bool
octo_drain_begin_locked(struct octo_dev *octo, uint8_t port)
{
	struct octo_port *p = &octo->port[port];
	const bool was_ejected = octo_port_is_ejected(octo, port);

	if (!octo->started || !octo_port_works_locked(p))
		return false;
	/* it has a link, which may not have been read since it came up */
	octo_port_role_hear_locked(octo, port, OCTO_PF_EV_UP);
	if (octo_port_role_hear_locked(octo, port, OCTO_PF_EV_EJECT) & OCTO_PF_DO_RMV)
		return false;
	if (!was_ejected && octo_port_is_ejected(octo, port)) {
		p->draining = (struct octo_draining){.until = octo->role[port].until};
		octo_topo_update(octo);
		octo_wake(octo);
		OCTO_LOG(NOTICE, "port %u: PF %s is to go: its traffic leaves it", octo->port_id,
			 p->name);
	}
	return true;
}

/*
 * The PF is started, and has been no queue's home. Which PF goes on if there is no other depends
 * on their links, and the link of this one was not read before. Returns whether that of the
 * port changed.
 */
bool
octo_drain_give_back_locked(struct octo_dev *octo, uint8_t port)
{
	octo->port[port].draining = (struct octo_draining){0};
	octo_port_role_hear_locked(octo, port, OCTO_PF_EV_REFUSED);
	octo_topo_update(octo);
	octo_wake(octo);
	return octo_link_refresh(octo);
}

/* Does anything lead to the PF? Unsteered packets may come by it until it is stopped. */
static bool
is_led_to(const struct octo_dev *octo, uint8_t pf, bool blind)
{
	RTE_SET_USED(blind);
	/* lingering rules are not rehomed, and end soon */
	return octo->failover.pending || octo_default_pf_is_due_locked(octo) ||
	       octo_tier_partition_leads_to_locked(octo, pf) ||
	       octo_rule_linger_leads_to_locked(octo, pf);
}

static bool
has_received(const struct octo_dev *octo, uint8_t pf, bool blind)
{
	const struct octo_rxq *q;

	/* a queue that a PF refused at run time has no leg */
	OCTO_FOREACH_RXQ(octo, q) {
		const struct octo_leg leg = octo_pf_leg(&octo->pf[pf], q->queue_id);
		const int n = rte_eth_rx_queue_count(leg.port, leg.queue);

		if (n > 0 || (n < 0 && blind))
			return true;
	}
	return false;
}

static bool
has_to_send(const struct octo_dev *octo, uint8_t pf, bool blind)
{
	const struct octo_txq *q;

	OCTO_FOREACH_TXQ(octo, q)
		if (!octo_tx_is_sent(q, pf, blind))
			return true;
	return false;
}

/* Does this hold for any PF of the port? */
static bool
any_holds(const struct octo_dev *octo, uint8_t port, bool blind,
	  bool (*holds)(const struct octo_dev *octo, uint8_t pf, bool blind))
{
	for (uint8_t pf = 0; pf < octo->nb_pfs; pf++)
		if (octo_port_index(octo, pf) == port && holds(octo, pf, blind))
			return true;
	return false;
}

/* Have queues sent by the port since the last look? A queue that is silent need not switch. */
static bool
is_sending(const struct octo_dev *octo, uint8_t port, uint64_t *packets)
{
	const uint64_t before = *packets;
	const struct octo_txq *q;

	*packets = 0;
	OCTO_FOREACH_TXQ(octo, q)
		for (uint8_t pf = 0; pf < octo->nb_pfs; pf++)
			if (octo_port_index(octo, pf) == port)
				*packets += q->sent[pf];
	return *packets != before;
}

/*
 * Stop a PF that failed to resync, and leave its port as it was found. It may be the transfer
 * proxy PF by now.
 */
static void
give_back(struct octo_dev *octo, uint8_t port)
{
	struct octo_port *p = &octo->port[port];

	octo_port_did(p, OCTO_PORT_EV_STOPPED);
	p->link_up = false;
	octo_poll_unpublish(octo, octo_pf_mask(octo, OCTO_PORT_RUNNING));
	octo_fence_forget_pfs_locked(octo, octo_port_pfs(octo, port));
	octo_pf_counts_refresh_locked(octo, port);
	octo_port_nic(p)->flush(p);
	octo_indirect_leave_locked(octo, port);
	octo_users_bar(p);
	octo_users_await(p);
	rte_eth_dev_stop(p->port_id);
	/* its driver has found out that the device is gone: take_away() did the rest */
	if (!octo_port_is_owned(p))
		return;
	octo_rule_list_name_lost_locked(octo, port);
	octo_mpfs_masked_lose_pf(octo, port);
	octo_pf_counts_keep(octo, port);
	octo_users_shut(p);
	octo_port_refuse(p);
	octo_failover_lost_locked(octo, port);
}

/* Was it drained so recently that rings may be full which its PMD cannot look into? */
static bool
is_blind(const struct octo_draining *d)
{
	return octo_gate_before(octo_now(), d->drained + rte_get_timer_hz() * BLIND_MS / MS_PER_S);
}

/* Once nothing leads to the port, its rings and its pipeline are emptied, for the grace time. */
static bool
is_empty(struct octo_dev *octo, uint8_t port, bool stays)
{
	struct octo_draining *d = &octo->port[port].draining;
	const uint64_t now = octo_now();
	const bool blind = is_blind(d);

	if (any_holds(octo, port, blind, is_led_to))
		return false;
	if (d->drained == 0) {
		d->drained = now + octo->grace_cycles;
		is_sending(octo, port, &d->packets);
		return false;
	}
	if (octo_gate_before(now, d->drained) || any_holds(octo, port, blind, has_received) ||
	    is_sending(octo, port, &d->packets))
		return false;
	/* it is stopped next, and may have been the last */
	return !stays || !any_holds(octo, port, blind, has_to_send);
}

/* The port goes next. Returns whether what its rules have counted is read, or takes too long. */
static bool
is_counted(struct octo_dev *octo, uint8_t port)
{
	struct octo_draining *d = &octo->port[port].draining;

	if (d->count_until == 0) {
		d->count_until = octo_deadline(COUNT_MS * 1000);
		d->counting = true;
		d->others = false;
		octo->sync.cursor[OCTO_CURSOR_DRAIN + port] = TAILQ_FIRST(&octo->rules);
		octo_indirect_keep_pf_locked(octo, port, d->count_until);
	}
	return !d->counting || octo_now() >= d->count_until;
}

static bool
count_slice_locked(struct octo_dev *octo, uint8_t port)
{
	struct octo_draining *d = &octo->port[port].draining;
	const uint64_t end = octo_deadline(SLICE_US);
	unsigned int n = 0;

	d->counting &= octo_port_is(&octo->port[port], OCTO_PORT_RUNNING);
	while (d->counting && n < SLICE_RULES && octo_now() < end) {
		struct rte_flow *rule = octo_rule_store_next_locked(octo, OCTO_CURSOR_DRAIN + port,
								    &d->others);

		d->counting = rule != NULL;
		if (rule == NULL || !rule->count)
			continue;
		octo_rule_hits_keep_all_locked(octo, rule, port);
		n++;
	}
	return d->counting;
}

/* Called by the control thread, without the mutex. Returns whether rules are left. */
bool
octo_drain_count_slice(struct octo_dev *octo)
{
	bool more = false;

	octo_lock_give_way(octo);
	octo_lock(octo);
	for (uint8_t port = 0; port < octo->nb_ports; port++)
		more |= count_slice_locked(octo, port);
	octo_unlock(octo);
	return more;
}

/* The next event of the port's role: a ring is empty or not, a device is gone, or time passes. */
static enum octo_pf_event
look(struct octo_dev *octo, uint8_t port)
{
	struct octo_draining *d = &octo->port[port].draining;
	const enum octo_pf_state state = octo->role[port].state;
	const bool stays = state == OCTO_PF_DRAIN_BACK;

	/* its device may be gone, or its legs are to be unpublished first */
	if (!octo->port[port].has_port || d->todo != 0)
		return OCTO_PF_EV_TIME;
	if (state == OCTO_PF_FLUSHING)
		return any_holds(octo, port, is_blind(d), has_to_send) ? OCTO_PF_EV_TIME :
									 OCTO_PF_EV_SENT;
	if (state != OCTO_PF_DRAIN_EJECT && !stays)
		return OCTO_PF_EV_TIME;
	/* the others are gone, or have no link: a PF without some rules is better than none */
	if (octo_port_is_kept(octo, port)) {
		d->drained = 0;
		d->count_until = 0;
		octo_sync_port_again_locked(octo, port);
		return OCTO_PF_EV_TIME;
	}
	if (!octo_port_works_locked(&octo->port[port]))
		return OCTO_PF_EV_DOWN;
	return is_empty(octo, port, stays) && is_counted(octo, port) ? OCTO_PF_EV_EMPTY :
								       OCTO_PF_EV_TIME;
}

/*
 * Do what the state machine asked for. Returns a request to be sent without the mutex, 0: none.
 * All is in one hold of the mutex: otherwise a thread that removes the device now would not be
 * waited for, and could free the queues while octo_tx_is_sent() reads them.
 */
static uint32_t
act_locked(struct octo_dev *octo, uint8_t port, bool *link_changed)
{
	struct octo_port *p = &octo->port[port];
	const uint32_t todo = p->draining.todo;
	uint32_t request = 0;

	p->draining.todo = 0;
	/* the port may have been lost meanwhile */
	if ((todo & OCTO_PF_DO_REFUSED) && octo_port_is(p, OCTO_PORT_RUNNING)) {
		give_back(octo, port);
		*link_changed |= octo_link_refresh(octo);
	}
	if ((todo & OCTO_PF_DO_DRAINED) && octo_port_is(p, OCTO_PORT_READY)) {
		octo_loss_drained_locked(octo, port);
		p->draining.drained = octo_now();
	}
	if ((todo & OCTO_PF_DO_RELEASE) &&
	    (p->fsm.state == OCTO_PORT_DEAD || p->fsm.state == OCTO_PORT_REMOVING)) {
		octo_loss_answer_locked(octo, port, OCTO_PORT_EV_RELEASE, p->fsm.life);
		request = p->todo & OCTO_PORT_DO_REMOVE;
		p->todo &= ~request;
	}
	return request;
}

static uint32_t
busy_ports(const struct octo_dev *octo)
{
	uint32_t busy = 0;

	for (uint8_t port = 0; port < octo->nb_ports; port++)
		if (octo->port[port].draining.todo != 0 ||
		    octo_pf_state_drains(octo->role[port].state))
			busy |= RTE_BIT32(port);
	return busy;
}

static void
step(struct octo_dev *octo, uint8_t port, bool stops)
{
	enum octo_pf_state before;
	bool link_changed = false;
	enum octo_pf_event event;
	uint32_t request;

	octo_lock(octo);
	before = octo->role[port].state;
	event = stops ? OCTO_PF_EV_STOPPED : look(octo, port);
	/* the port may be lost in a call of its driver */
	if (octo->role[port].state != before)
		event = OCTO_PF_EV_TIME;
	octo_port_role_hear_locked(octo, port, event);
	request = act_locked(octo, port, &link_changed);
	octo_unlock(octo);
	if (request != 0)
		octo_hotplug_send(octo, port, request, false);
	if (link_changed)
		octo_raise(octo, RTE_ETH_EVENT_INTR_LSC);
}

/* By the control thread, without the mutex. Returns whether the next call should be soon. */
bool
octo_drain_tick(struct octo_dev *octo)
{
	const uint32_t busy = OCTO_LOCKED(octo, busy_ports(octo));

	for (uint8_t port = 0; port < octo->nb_ports; port++)
		if (busy & RTE_BIT32(port))
			step(octo, port, false);
	return busy != 0;
}

/* The port is stopped and has no ticks any more: finish all drains, as an eject waits for them. */
void
octo_drain_stop(struct octo_dev *octo)
{
	for (uint8_t port = 0; port < octo->nb_ports; port++)
		step(octo, port, true);
}
