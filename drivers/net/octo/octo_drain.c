/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Draining. When a PF's removal is announced the PF still works: a machine that ejects a device
 * waits until its driver has let go of it. So the PF stops being a home, its flows are rehomed
 * through the fence as after any change of home, its senders switch, and it is taken away when
 * its rings are empty: nothing is lost or reordered. If it dies meanwhile, or nothing polls it,
 * it is lost as any other PF.
 *
 * A PF that came back and cannot have the rules of the others is drained, too.
 */

#include <rte_cycles.h>

#include "octo_clock.h"
#include "octo_private.h"

/*
 * Time limit of draining before a removal: testpmd, told of the same removal, closes the device
 * after 100 ms in any case.
 */
#define LIMIT_MS 75
/* Time limit of draining a PF that failed to resync: nothing waits for its device. */
#define GIVE_BACK_MS 1000
/* How long a PF is drained whose PMD cannot tell how full its rings are. */
#define BLIND_MS 10

static void
begin(struct octo_dev *octo, uint8_t port, bool stays)
{
	octo->port[port].draining = (struct octo_draining){
		.on = true,
		.stays = stays,
		.until = octo_deadline((stays ? GIVE_BACK_MS : LIMIT_MS) * 1000),
	};
	octo_topo_update(octo);
	octo_wake(octo);
}

/* Returns false if the PF must be taken away at once. */
bool
octo_drain_begin_locked(struct octo_dev *octo, uint8_t port)
{
	struct octo_draining *l = &octo->port[port].draining;

	if (!octo->started || !octo_port_works_locked(&octo->port[port]))
		return false;
	if (l->on && !l->stays)
		return true;
	if ((octo->plan.usable & ~octo_port_pfs(octo, port)) == 0)
		return false;
	octo_replay_forget_locked(octo, port);
	begin(octo, port, false);
	OCTO_LOG(NOTICE, "port %u: PF %s is to go: its traffic leaves it", octo->port_id,
		 octo->port[port].name);
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
	begin(octo, port, true);
	return octo_link_refresh(octo);
}

/* Does anything lead to the PF? Unsteered packets may come by it until it is stopped. */
static bool
is_led_to(const struct octo_dev *octo, uint8_t pf)
{
	/* lingering rules are not rehomed, and end soon */
	return octo->failover.pending || octo_detour_is_due_locked(octo) ||
	       octo_spread_leads_to_locked(octo, pf) || octo_rule_part_leads_to_locked(octo, pf);
}

static bool
has_received(const struct octo_dev *octo, uint8_t pf, bool blind)
{
	for (uint16_t i = 0; i < octo_data(octo)->nb_rx_queues; i++) {
		const struct octo_leg leg = octo_pf_leg(&octo->pf[pf], i);
		const int n = rte_eth_rx_queue_count(leg.port, leg.queue);

		if (n > 0 || (n < 0 && blind))
			return true;
	}
	return false;
}

static bool
has_to_send(const struct octo_dev *octo, uint8_t pf, bool blind)
{
	const struct rte_eth_dev_data *data = octo_data(octo);

	for (uint16_t i = 0; i < data->nb_tx_queues; i++)
		if (!octo_tx_is_sent(data->tx_queues[i], pf, blind))
			return true;
	return false;
}

enum work {
	WORK_LED,      /* something leads to it */
	WORK_RECEIVED, /* packets wait in its Rx rings */
	WORK_TO_SEND,  /* packets wait in its Tx rings */
};

/* Has any PF of the port work of this kind? */
static bool
has_work(const struct octo_dev *octo, uint8_t port, enum work work, bool blind)
{
	const uint32_t pfs = octo_port_pfs(octo, port);
	bool any = false;

	for (uint8_t pf = 0; pf < octo->nb_pfs && !any; pf++) {
		if ((pfs & RTE_BIT32(pf)) == 0)
			continue;
		any = work == WORK_LED      ? is_led_to(octo, pf) :
		      work == WORK_RECEIVED ? has_received(octo, pf, blind) :
					      has_to_send(octo, pf, blind);
	}
	return any;
}

/* Have queues sent by the port since the last look? A queue that is silent need not switch. */
static bool
is_sending(const struct octo_dev *octo, uint8_t port, uint64_t *packets)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	const uint32_t pfs = octo_port_pfs(octo, port);
	const uint64_t before = *packets;

	*packets = 0;
	for (uint16_t i = 0; i < data->nb_tx_queues; i++)
		for (uint8_t pf = 0; pf < octo->nb_pfs; pf++)
			if (pfs & RTE_BIT32(pf))
				*packets += ((const struct octo_txq *)data->tx_queues[i])->sent[pf];
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

	octo->port[port].draining.on = false;
	octo_port_did(p, OCTO_PORT_EV_STOPPED);
	p->link_up = false;
	octo_poll_unpublish(octo, octo_pf_mask(octo, OCTO_PORT_RUNNING));
	octo_fence_forget_pfs_locked(octo, octo_port_pfs(octo, port));
	octo_pf_counts_refresh_locked(octo, port);
	rte_flow_flush(p->port_id, NULL);
	octo_indirect_leave_locked(octo, port);
	octo_users_bar(p);
	octo_users_await(p);
	rte_eth_dev_stop(p->port_id);
	/* its driver has found out that the device is gone: take_away() did the rest */
	if (!octo_port_is_owned(p))
		return;
	octo_rule_list_name_lost_locked(octo, port);
	octo_mpfs_spread_lose_pf(octo, port);
	octo_pf_counts_keep(octo, port);
	octo_users_shut(p);
	octo_port_refuse(p);
	octo_failover_lost_locked(octo, port);
}

enum step {
	STEP_WAIT,
	STEP_LOSE,    /* no burst may use the PF from now on */
	STEP_RELEASE, /* its device may be removed */
	STEP_TELL,    /* it was given back, and the port has lost its link: raise LSC */
};

/* Decides the next step. Once nothing leads to the PF, its rings and its pipeline are emptied. */
static enum step
next_step(struct octo_dev *octo, uint8_t port)
{
	struct octo_draining *l = &octo->port[port].draining;
	const uint64_t now = octo_now();
	const uint64_t blind_until = l->drained + rte_get_timer_hz() * BLIND_MS / MS_PER_S;
	const bool blind = octo_gate_before(now, blind_until);

	if (!octo->port[port].has_port)
		return STEP_RELEASE;
	if (l->is_out)
		return has_work(octo, port, WORK_TO_SEND, blind) &&
				       octo_gate_before(now, l->until) ?
			       STEP_WAIT :
			       STEP_RELEASE;
	/* the others are gone, or have no link: a PF without some rules is better than none */
	if (l->stays && (octo->plan.usable & octo_port_pfs(octo, port))) {
		l->until = octo_deadline(GIVE_BACK_MS * 1000);
		l->drained = 0;
		return STEP_WAIT;
	}
	if (!octo_gate_before(now, l->until) || !octo_port_works_locked(&octo->port[port]))
		return STEP_LOSE;
	if (has_work(octo, port, WORK_LED, blind))
		return STEP_WAIT;
	if (l->drained == 0) {
		l->drained = now + octo->grace_cycles;
		is_sending(octo, port, &l->packets);
		return STEP_WAIT;
	}
	if (octo_gate_before(now, l->drained) || has_work(octo, port, WORK_RECEIVED, blind) ||
	    is_sending(octo, port, &l->packets))
		return STEP_WAIT;
	/* it is stopped next, and may have been the last */
	if (l->stays && has_work(octo, port, WORK_TO_SEND, blind))
		return STEP_WAIT;
	return STEP_LOSE;
}

/* Another thread may have taken the PF away. Steps without events are executed here. */
static enum step
take_step_locked(struct octo_dev *octo, uint8_t port)
{
	struct octo_draining *l = &octo->port[port].draining;
	const enum step step = l->on ? next_step(octo, port) : STEP_WAIT;

	if (step == STEP_RELEASE)
		l->on = false;
	if (step != STEP_LOSE || !l->stays)
		return step;
	give_back(octo, port);
	return octo_link_refresh(octo) ? STEP_TELL : STEP_WAIT;
}

/*
 * All in one hold of the mutex: otherwise a thread that removes the device now would not be
 * waited for, and could free the queues while octo_tx_is_sent() reads them.
 */
static void
lose(struct octo_dev *octo, uint8_t port)
{
	struct octo_port *p = &octo->port[port];
	const uint64_t until = octo->port[port].draining.until;

	octo_lock(octo);
	if (octo->port[port].draining.on) {
		octo_loss_by_event(octo, p->port_id, RTE_ETH_EVENT_INTR_RMV);
		octo_failover_hurry_locked(octo);
		octo->port[port].draining = (struct octo_draining){
			.on = p->has_port,
			.is_out = true,
			.until = until,
			.drained = octo_now(),
		};
	}
	octo_unlock(octo);
}

static uint32_t
release_locked(struct octo_dev *octo, uint8_t port)
{
	struct octo_port *p = &octo->port[port];
	const struct octo_port_answer answer = {OCTO_PORT_EV_RELEASE, p->fsm.life};
	uint32_t request;

	octo_loss_hear_locked(octo, port, &answer);
	request = p->todo & OCTO_PORT_DO_REMOVE;
	p->todo &= ~request;
	return request;
}

static void
release(struct octo_dev *octo, uint8_t port)
{
	uint32_t request;

	octo_lock(octo);
	request = octo->port[port].has_port ? release_locked(octo, port) : 0;
	octo_unlock(octo);
	if (request != 0)
		octo_hotplug_send(octo, port, request, false);
}

/* By the control thread, without the mutex. Returns whether the next call should be soon. */
bool
octo_drain_tick(struct octo_dev *octo)
{
	bool busy = false;

	for (uint8_t port = 0; port < octo->nb_ports; port++) {
		const struct octo_draining *l = &octo->port[port].draining;
		enum step step;

		if (!l->on)
			continue;
		step = OCTO_LOCKED(octo, take_step_locked(octo, port));
		if (step == STEP_LOSE)
			lose(octo, port);
		else if (step == STEP_RELEASE)
			release(octo, port);
		else if (step == STEP_TELL)
			octo_raise(octo, RTE_ETH_EVENT_INTR_LSC);
		busy |= l->on;
	}
	return busy;
}

/* The port is stopped and has no ticks any more: finish all drains, as an eject waits for them. */
void
octo_drain_stop(struct octo_dev *octo)
{
	for (uint8_t port = 0; port < octo->nb_ports; port++) {
		struct octo_draining *l = &octo->port[port].draining;
		const bool goes = l->on && !l->stays;

		if (goes && !l->is_out)
			octo_loss_by_event(octo, octo->port[port].port_id, RTE_ETH_EVENT_INTR_RMV);
		l->on = false;
		if (goes)
			release(octo, port);
	}
}
