/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include "octo_clock.h"
#include "octo_private.h"

/*
 * Longest wait for the users of a PF; a driver that waits longer for its device does not
 * come back.
 */
#define PATIENCE_US 5000000
#define LOOK_US 10

static RTE_ATOMIC(uint32_t) users[RTE_MAX_ETHPORTS];

/* The uses of this thread, latest first. */
static __thread struct octo_use *innermost;

bool
octo_users_enter(const struct octo_port *port, struct octo_use *use)
{
	use->port_id = port->port_id;
	if (use->port_id >= RTE_MAX_ETHPORTS)
		return false;
	rte_atomic_fetch_add_explicit(&users[use->port_id], 1, rte_memory_order_relaxed);
	/* pairs with those in octo_users_shut(), _bar() and octo_legs_set_lost() */
	rte_atomic_thread_fence(rte_memory_order_seq_cst);
	use->outer = innermost;
	innermost = use;
	if (octo_port_is(port, OCTO_PORT_IDLE) && port->port_id == use->port_id &&
	    !rte_atomic_load_explicit(&port->barred, rte_memory_order_acquire) &&
	    (!octo_legs_borrowed || octo_legs_has_port(use->port_id)))
		return true;
	octo_users_leave(use);
	return false;
}

bool
octo_users_enter_first(const struct octo_dev *octo, enum octo_port_state at_least,
		       struct octo_use *use)
{
	int i;

	OCTO_FOREACH_PF(octo, i, at_least) {
		use->pf = (uint8_t)i;
		if (octo_users_enter(octo->pf[i].port, use))
			return true;
	}
	return false;
}

void
octo_users_leave(struct octo_use *use)
{
	innermost = use->outer;
	/* pairs with the acquire in octo_users_await() */
	rte_atomic_fetch_sub_explicit(&users[use->port_id], 1, rte_memory_order_release);
}

void
octo_users_shut(struct octo_port *port)
{
	rte_atomic_store_explicit(&port->shut, true, rte_memory_order_release);
	rte_atomic_thread_fence(rte_memory_order_seq_cst);
}

void
octo_users_bar(struct octo_port *port)
{
	rte_atomic_store_explicit(&port->barred, true, rte_memory_order_release);
	rte_atomic_thread_fence(rte_memory_order_seq_cst);
}

void
octo_users_admit(struct octo_port *port)
{
	/* pairs with the acquire in octo_users_enter(): a user sees the port as it was set up */
	rte_atomic_store_explicit(&port->barred, false, rte_memory_order_release);
}

bool
octo_users_is_closing(const struct octo_port *port)
{
	return rte_atomic_load_explicit(&port->closers, rte_memory_order_acquire) > 0;
}

void
octo_users_open(struct octo_port *port)
{
	/* pairs with the acquire in octo_port_is() */
	rte_atomic_store_explicit(&port->shut, false, rte_memory_order_release);
	/* pairs with the fence in octo_users_close() */
	rte_atomic_thread_fence(rte_memory_order_seq_cst);
	if (octo_users_is_closing(port) || octo_port_state_is_lost_by(&port->fsm, &port->mail))
		octo_users_shut(port);
}

void
octo_users_close(struct octo_port *port)
{
	rte_atomic_fetch_add_explicit(&port->closers, 1, rte_memory_order_relaxed);
	/* pairs with the fence in octo_users_open(): one sees the other */
	rte_atomic_thread_fence(rte_memory_order_seq_cst);
	octo_users_shut(port);
}

void
octo_users_end_close(struct octo_port *port)
{
	/* pairs with the acquire in octo_users_is_closing(): the event is posted */
	rte_atomic_fetch_sub_explicit(&port->closers, 1, rte_memory_order_release);
}

static uint32_t
count_own(uint16_t port_id)
{
	uint32_t n = 0;

	for (const struct octo_use *u = innermost; u != NULL; u = u->outer)
		n += u->port_id == port_id;
	return n;
}

static int
await(uint16_t port, const char *name)
{
	const uint64_t end = octo_deadline(PATIENCE_US);
	const uint32_t own = count_own(port);

	while (rte_atomic_load_explicit(&users[port], rte_memory_order_acquire) > own) {
		if (octo_now() > end) {
			OCTO_LOG(ERR, "PF %s is still in use: a call of its driver does not return",
				 name);
			return -ETIMEDOUT;
		}
		octo_wait_us(LOOK_US);
	}
	return 0;
}

int
octo_users_await(const struct octo_port *port)
{
	return port->port_id < RTE_MAX_ETHPORTS ? await(port->port_id, port->name) : 0;
}

void
octo_users_lose(uint16_t port_id)
{
	char name[RTE_ETH_NAME_MAX_LEN] = "";

	octo_legs_set_lost(port_id, true);
	rte_eth_dev_get_name_by_port(port_id, name);
	await(port_id, name);
}
