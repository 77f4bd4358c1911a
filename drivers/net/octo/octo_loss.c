/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Events of a lower port go to the mail of its state machine, which hears them under the control
 * mutex. A port that is lost is taken away before the event's handler returns, as it may be freed
 * then.
 */

#include "octo_clock.h"
#include "octo_private.h"

/*
 * Delay of the log message: a process that exits loses all PFs before the octo port, which is
 * not worth a message.
 */
#define LOG_MS 100

/* The port was owned: unpublish its legs, and keep its last counts. Its handles are invalid. */
static void
take_away(struct octo_dev *octo, uint8_t port)
{
	struct octo_port *p = &octo->port[port];

	p->link_up = false;
	p->no_flow_queues = false;
	p->past.log_at = octo_deadline(LOG_MS * 1000);
	octo_pf_counts_keep(octo, port);
	octo_poll_unpublish(octo, octo_pf_mask(octo, OCTO_PORT_RUNNING));
	octo_fence_forget_pfs_locked(octo, octo_port_pfs(octo, port));
	octo_rule_list_name_lost_locked(octo, port);
	octo_mpfs_masked_lose_pf(octo, port);
	octo_failover_lost_locked(octo, port);
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
 * A PF that is present and has not joined may be about to be removed, or to recover: then its
 * port is taken over at once, and removed as that of any lost PF.
 */
static void
take_in(struct octo_dev *octo, uint16_t pf_port_id)
{
	const int i = find(octo, pf_port_id);

	if (i < 0)
		return;
	octo->port[i].port_id = pf_port_id;
	octo->port[i].has_port = true;
}

/* The PF is unpublished before its last counters are read, so that they are final. */
static void
count_last(struct octo_dev *octo, uint8_t port)
{
	octo_poll_unpublish(octo,
			    octo_pf_mask(octo, OCTO_PORT_RUNNING) & ~octo_port_pfs(octo, port));
	octo_pf_counts_read_last_locked(octo, port);
}

/* With replug=off a PF stays away, also one that could be used again. */
static bool
will_return(const struct octo_dev *octo, const struct octo_port *port)
{
	return octo->replug.on && (port->fsm.state == OCTO_PORT_RECOVERING || port->fsm.reset);
}

bool
octo_loss_is_removed(const struct octo_dev *octo)
{
	for (uint16_t i = 0; i < octo->nb_ports; i++)
		if (octo_port_is_owned(&octo->port[i]) || will_return(octo, &octo->port[i]))
			return false;
	return true;
}

/* The port is lost: no use of it begins from now on, and what is under way is awaited. */
static void
lose_locked(struct octo_dev *octo, uint8_t i, bool was_owned)
{
	struct octo_port *port = &octo->port[i];
	const uint64_t cpu_ns = octo_failover_cpu_ns();

	if (!octo_pf_state_fits(octo->role[i].state, port->fsm.state))
		octo_port_role_hear_locked(octo, i, OCTO_PF_EV_LOST);
	/* work that was due ends with the life, but an ejector waits for the device */
	port->draining.todo &= OCTO_PF_DO_RELEASE;
	octo_users_shut(port);
	octo_users_await(port);
	if (was_owned)
		take_away(octo, i);
	/* the link is updated before the removal is announced */
	if (was_owned && octo->started && octo_link_refresh(octo))
		octo_raise(octo, RTE_ETH_EVENT_INTR_LSC);
	if (!octo->removal_raised && octo_loss_is_removed(octo)) {
		octo->removal_raised = true;
		octo_raise(octo, RTE_ETH_EVENT_INTR_RMV);
	}
	octo->failover.cpu_ns += octo_failover_cpu_ns() - cpu_ns;
	octo_failover_hurry_locked(octo);
}

/*
 * Let the port's state machine hear its mail and, if not NULL, an answer. A port that is lost by
 * that is unpublished when this returns; all else is left to the control thread.
 */
void
octo_loss_hear_locked(struct octo_dev *octo, uint8_t i, const struct octo_port_answer *answer)
{
	struct octo_port *port = &octo->port[i];
	const bool was_owned = octo_port_is_owned(port);
	uint64_t mail;
	uint32_t todo;

	octo_assert_locked(octo);
	/* a dead port may be being flushed: nobody asks its rings when its device is removed */
	if (octo_port_state_is_lost_by(&port->fsm, &port->mail) &&
	    octo->role[i].state == OCTO_PF_FLUSHING)
		octo_port_role_hear_locked(octo, i, OCTO_PF_EV_LOST);
	mail = octo_port_state_take(&port->mail);
	todo = octo_port_state_hear(&port->fsm, mail, answer, octo_now()).actions;
	if (todo & OCTO_PORT_DO_LOSE)
		port->todo &= ~(OCTO_PORT_TOUCHES | OCTO_PORT_DO_CHECK | OCTO_PORT_DO_LOG);
	port->todo |= todo & ~OCTO_PORT_DO_LOSE;
	/* take_in() may have set it for an event that was posted before the port ended */
	if (port->fsm.state == OCTO_PORT_ABSENT) {
		port->has_port = false;
		port->past.recovers = false;
	}
	if (todo & OCTO_PORT_DO_LOSE)
		lose_locked(octo, i, was_owned);
}

void
octo_loss_answer_locked(struct octo_dev *octo, uint8_t i, enum octo_port_event event, uint32_t life)
{
	const struct octo_port_answer answer = {.event = event, .life = life};

	octo_loss_hear_locked(octo, i, &answer);
}

/* Take note of the event, for octo_loss_hear_locked(). */
static void
post(struct octo_port *port, enum rte_eth_event_type event)
{
	static const enum octo_port_event events[RTE_ETH_EVENT_MAX] = {
		[RTE_ETH_EVENT_INTR_RMV] = OCTO_PORT_EV_RMV,
		[RTE_ETH_EVENT_INTR_RESET] = OCTO_PORT_EV_RESET,
		[RTE_ETH_EVENT_DESTROY] = OCTO_PORT_EV_DIED,
		[RTE_ETH_EVENT_ERR_RECOVERING] = OCTO_PORT_EV_RECOVERING,
		[RTE_ETH_EVENT_RECOVERY_SUCCESS] = OCTO_PORT_EV_RECOVERED,
		[RTE_ETH_EVENT_RECOVERY_FAILED] = OCTO_PORT_EV_GAVE_UP,
	};

	octo_port_state_post(&port->mail, events[event]);
	/* at once: a new port may be announced before the event is handled */
	if (event == RTE_ETH_EVENT_DESTROY)
		port->has_port = false;
}

/* The mail is handled by the thread that has the mutex, or by the next one that gets it. */
static void
settle_later(struct octo_dev *octo)
{
	/* pairs with the acquire in octo_loss_settle_locked() */
	rte_atomic_store_explicit(&octo->posted, true, rte_memory_order_release);
	octo_wake(octo);
	if (octo_lock_try(octo))
		octo_unlock(octo);
}

void
octo_loss_settle_locked(struct octo_dev *octo)
{
	if (!rte_atomic_exchange_explicit(&octo->posted, false, rte_memory_order_acquire))
		return;
	for (uint16_t i = 0; i < octo->nb_ports; i++) {
		RTE_ATOMIC(uint16_t) *posted = &octo->port[i].posted_port;
		const uint16_t id = rte_atomic_exchange_explicit(posted, RTE_MAX_ETHPORTS,
								 rte_memory_order_acquire);

		/* the PF may not have joined */
		if (id < RTE_MAX_ETHPORTS)
			take_in(octo, id);
		octo_loss_hear_locked(octo, (uint8_t)i, NULL);
	}
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
		if (octo_loss_index(octo, pf_port_id) != i) {
			/* it has ended while this thread waited; the PF may have another by now */
			if (octo_port_is_owned(port))
				octo_users_open(port);
			octo_unlock(octo);
			return;
		}
		if (octo_port_is_owned(port) && event == RTE_ETH_EVENT_INTR_RMV)
			count_last(octo, (uint8_t)i);
		post(port, event);
		octo_loss_hear_locked(octo, (uint8_t)i, NULL);
		octo_unlock(octo);
	} else {
		/* the holder of the mutex may have taken the port in meanwhile */
		octo_users_close(port);
		if (octo->started)
			octo_poll_unpublish_unlocked(octo, octo_port_pfs(octo, (uint8_t)i));
		octo_users_await(port);
		if (event != RTE_ETH_EVENT_DESTROY)
			rte_atomic_store_explicit(&port->posted_port, pf_port_id,
						  rte_memory_order_release);
		post(port, event);
		settle_later(octo);
		octo_users_end_close(port);
	}
	octo_wake_link(octo);
}

/*
 * An event while the octo port is built. Its builder uses the PF until it is done, and hears of the
 * event then: until then calls of a PF that is gone fail.
 */
void
octo_loss_note(struct octo_dev *octo, uint16_t pf_port_id, enum rte_eth_event_type event)
{
	const int i = octo_loss_index(octo, pf_port_id);

	if (i >= 0)
		post(&octo->port[i], event);
}

/* The port is drained: no burst may use it from now on, but its Tx rings are left to be sent. */
void
octo_loss_drained_locked(struct octo_dev *octo, uint8_t i)
{
	struct octo_port *port = &octo->port[i];
	/* the PF may be lost in a call of its driver: then the answer is of an earlier life */
	const uint32_t life = port->fsm.life;

	octo_users_shut(port);
	if (octo_port_is_owned(port))
		count_last(octo, i);
	octo_loss_answer_locked(octo, i, OCTO_PORT_EV_DRAINED, life);
	octo_wake_link(octo);
}

/* The PF has recovered by itself. */
void
octo_loss_end_recovery(struct octo_dev *octo, uint16_t pf_port_id)
{
	const int i = find(octo, pf_port_id);

	if (i < 0)
		return;
	post(&octo->port[i], RTE_ETH_EVENT_RECOVERY_SUCCESS);
	settle_later(octo);
}
