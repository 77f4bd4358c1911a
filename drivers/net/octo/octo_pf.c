/* SPDX-License-Identifier: BSD-3-Clause */

/* Operations on all PFs. */

#include "octo_private.h"

/* Returns false, after a log message, in a secondary: only the primary knows the PFs' settings. */
bool
octo_is_primary(const struct octo_dev *octo, const char *what)
{
	if (rte_eal_process_type() == RTE_PROC_PRIMARY)
		return true;
	OCTO_LOG(ERR, "port %u: only the primary process can %s", octo->port_id, what);
	return false;
}

static void
log_failure(const struct octo_dev *octo, const struct octo_port *port, const char *what, int ret)
{
	/* -ENOTSUP is not the port's failure: ethdev returns it to the caller */
	if (ret == -ENOTSUP)
		OCTO_LOG(INFO, "port %u: PF %s does not %s", octo->port_id, port->name, what);
	else
		OCTO_LOG(ERR, "port %u: PF %s cannot %s: %s", octo->port_id, port->name, what,
			 rte_strerror(-ret));
}

/*
 * Apply an operation to every PF, or to none: if one refuses, the others are undone in reverse
 * order. undo may be NULL if there is nothing to undo.
 */
int
octo_pf_apply(struct octo_dev *octo, enum octo_port_state at_least, const char *what,
	      octo_pf_fn apply, octo_pf_fn undo, const void *arg, const void *undo_arg)
{
	int ret = 0;
	int i;

	if (!octo_is_primary(octo, what))
		return -ENOTSUP;
	OCTO_FOREACH_PF(octo, i, at_least) {
		ret = apply(&octo->pf[i], arg);
		if (ret != 0)
			break;
	}
	if (ret == 0)
		return 0;
	log_failure(octo, octo->pf[i].port, what, ret);
	while (undo != NULL && --i >= 0)
		if (octo_port_is(octo->pf[i].port, at_least))
			undo(&octo->pf[i], undo_arg);
	return ret;
}

/* octo_pf_apply() for these ports, each once. */
int
octo_port_apply_to(struct octo_dev *octo, uint32_t ports, enum octo_port_state at_least,
		   const char *what, octo_port_fn apply, octo_port_fn undo, const void *arg,
		   const void *undo_arg)
{
	int ret = 0;
	int i;

	if (!octo_is_primary(octo, what))
		return -ENOTSUP;
	OCTO_FOREACH_PORT(octo, i, at_least) {
		if (!(ports & RTE_BIT32(i)))
			continue;
		ret = apply(&octo->port[i], arg);
		if (ret != 0)
			break;
	}
	if (ret == 0)
		return 0;
	log_failure(octo, &octo->port[i], what, ret);
	while (undo != NULL && --i >= 0)
		if ((ports & RTE_BIT32(i)) && octo_port_is(&octo->port[i], at_least))
			undo(&octo->port[i], undo_arg);
	return ret;
}

int
octo_port_apply(struct octo_dev *octo, enum octo_port_state at_least, const char *what,
		octo_port_fn apply, octo_port_fn undo, const void *arg, const void *undo_arg)
{
	return octo_port_apply_to(octo, UINT32_MAX, at_least, what, apply, undo, arg, undo_arg);
}

static int
call_id_of(struct octo_port *port, const void *arg)
{
	return (*(const octo_port_id_fn *)arg)(port->port_id);
}

/* octo_port_apply_to() for ethdev functions whose only argument is the port. */
int
octo_port_call(struct octo_dev *octo, uint32_t ports, enum octo_port_state at_least,
	       const char *what, octo_port_id_fn apply, octo_port_id_fn undo)
{
	return octo_port_apply_to(octo, ports, at_least, what, call_id_of, call_id_of, &apply,
				  &undo);
}

uint32_t
octo_pf_mask(const struct octo_dev *octo, enum octo_port_state at_least)
{
	uint32_t mask = 0;
	int i;

	OCTO_FOREACH_PF(octo, i, at_least)
		mask |= RTE_BIT32(i);
	return mask;
}

/* The PFs of a port, as a mask. */
uint32_t
octo_port_pfs(const struct octo_dev *octo, uint8_t port)
{
	uint32_t mask = 0;

	for (uint16_t i = 0; i < octo->nb_pfs; i++)
		if (octo_port_index(octo, i) == port)
			mask |= RTE_BIT32(i);
	return mask;
}

/* Index of the first port that has at least this state, or -1. */
int
octo_port_first(const struct octo_dev *octo, enum octo_port_state at_least)
{
	int i;

	OCTO_FOREACH_PORT(octo, i, at_least)
		return i;
	return -1;
}

/*
 * Does the PF work? Detects a removed device before its event, which may take a bus some time,
 * and does not query its link then.
 */
bool
octo_port_works_locked(const struct octo_port *port)
{
	struct rte_eth_link link = {0};

	return octo_port_is(port, OCTO_PORT_RUNNING) &&
	       rte_eth_dev_is_removed(port->port_id) == 0 && octo_attach_is_on_bus(port) &&
	       rte_eth_link_get_nowait(port->port_id, &link) == 0 &&
	       link.link_status == RTE_ETH_LINK_UP;
}

bool
octo_port_is_joining(const struct octo_dev *octo, uint8_t port)
{
	return octo->role[port].state == OCTO_PF_RESYNC;
}

bool
octo_port_is_any_joining(const struct octo_dev *octo)
{
	return octo_port_is_joining(octo, octo->sync.joining.port);
}

/* Is it being drained as its device is ejected? Then its senders leave it in order. */
bool
octo_port_is_ejected(const struct octo_dev *octo, uint8_t port)
{
	return octo->role[port].state == OCTO_PF_DRAIN_EJECT;
}

/* The actions that octo_drain_tick() does, if the state machine of a role asks for them. */
#define DUE (OCTO_PF_DO_DRAINED | OCTO_PF_DO_REFUSED | OCTO_PF_DO_RELEASE)

/*
 * Tell the state machine of the port's role in the traffic. Returns what it asks for: octo_drain.c
 * does its own part of that, the rest and an update of the topology are the caller's.
 */
uint32_t
octo_port_role_hear_locked(struct octo_dev *octo, uint8_t port, enum octo_pf_event event)
{
	const bool last = octo_pf_state_is_last(octo->role, octo->nb_ports, port);
	const uint32_t todo = octo_pf_state_step(&octo->role[port], event, last, octo_now())
				      .actions;

	octo->port[port].draining.todo |= todo & DUE;
	return todo;
}

/* Did it fail to join, and goes on as the last one? */
bool
octo_port_is_kept(const struct octo_dev *octo, uint8_t port)
{
	return octo->role[port].state == OCTO_PF_DRAIN_BACK &&
	       octo_pf_state_is_last(octo->role, octo->nb_ports, port);
}

/*
 * May the port lack rules that the others have? It is joining, or failed to and is given back,
 * unless it goes on as the last one.
 */
bool
octo_port_may_lack_rules(const struct octo_dev *octo, uint8_t port)
{
	return octo_port_is_joining(octo, port) ||
	       (octo->role[port].state == OCTO_PF_DRAIN_BACK && !octo_port_is_kept(octo, port));
}

/*
 * Returns whether a rule that the port refused, and that the other PFs accept, is created without
 * it. If it is joining, its error is stored, and its join fails.
 */
bool
octo_port_excuse_locked(struct octo_dev *octo, uint8_t port, int ret)
{
	const bool may_lack = octo_port_may_lack_rules(octo, port);

	/* also while it is not the last for a moment, and its rules are tried again */
	if (may_lack && octo->sync.joining.port == port && octo->sync.joining.ret == 0)
		octo->sync.joining.ret = ret;
	return may_lack;
}
