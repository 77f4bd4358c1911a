/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "octo_private.h"

/* not in the headers of older systems; the call is refused by a kernel that does not have it */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

bool octo_legs_borrowed;
int32_t octo_legs_process;

/* A process that has ended counts, also one whose parent has not waited for it: kill() finds it. */
static bool
is_gone(int32_t id)
{
	struct pollfd process = {.fd = (int)syscall(SYS_pidfd_open, id, 0), .events = POLLIN};
	bool ended;

	/* refused, as by an old kernel or by a container's filter */
	if (process.fd < 0)
		return kill(id, 0) != 0 && errno == ESRCH;
	ended = poll(&process, 1, 0) > 0;
	close(process.fd);
	return ended;
}

bool
octo_legs_may_be_dead(const RTE_ATOMIC(int32_t) * process)
{
	const int32_t id = rte_atomic_load_explicit(process, rte_memory_order_relaxed);

	return id != 0 && id != octo_legs_process && is_gone(id);
}

/* The id of a process is unique in its pid namespace. Without /proc the namespace is 0. */
static uint64_t
identity(void)
{
	struct stat pid_namespace;
	const int ret = stat("/proc/self/ns/pid", &pid_namespace);

	return (ret == 0 ? (uint64_t)pid_namespace.st_ino << 32 : 0) | (uint32_t)octo_legs_process;
}

/* A process of another namespace, or of an unknown one, counts as alive. */
static bool
is_dead(uint64_t process, uint64_t me)
{
	return process != 0 && process >> 32 == me >> 32 && me >> 32 != 0 &&
	       is_gone((int32_t)process);
}

/* An entry of a dead process is used again; octo_legs_is_lent() only leaves it out. */
static void
note(struct octo_borrowers *b)
{
	const uint64_t me = identity();

	for (unsigned int i = 0; i < RTE_DIM(b->process); i++) {
		uint64_t old = rte_atomic_load_explicit(&b->process[i], rte_memory_order_relaxed);

		if ((old == 0 || is_dead(old, me)) &&
		    rte_atomic_compare_exchange_strong_explicit(&b->process[i], &old, me,
								rte_memory_order_relaxed,
								rte_memory_order_relaxed))
			return;
	}
	rte_atomic_fetch_add_explicit(&b->nb_more, 1, rte_memory_order_relaxed);
}

static void
forget(struct octo_borrowers *b)
{
	const uint64_t me = identity();

	for (unsigned int i = 0; i < RTE_DIM(b->process); i++) {
		uint64_t old = me;

		/* pairs with the acquire in is_any_alive(): of the one that attaches a port */
		if (rte_atomic_compare_exchange_strong_explicit(&b->process[i], &old, 0,
								rte_memory_order_release,
								rte_memory_order_relaxed))
			return;
	}
	rte_atomic_fetch_sub_explicit(&b->nb_more, 1, rte_memory_order_release);
}

static bool
is_any_alive(const struct octo_borrowers *b)
{
	const uint64_t me = identity();

	if (rte_atomic_load_explicit(&b->nb_more, rte_memory_order_acquire) != 0)
		return true;
	for (unsigned int i = 0; i < RTE_DIM(b->process); i++) {
		const uint64_t process = rte_atomic_load_explicit(&b->process[i],
								  rte_memory_order_acquire);

		if (process != 0 && !is_dead(process, me))
			return true;
	}
	return false;
}

/* In this order: octo_legs_borrow() goes from the first to the second. */
bool
octo_legs_is_lent(const struct octo_dev *octo)
{
	return is_any_alive(&octo_lending_of(octo->port_id)->attaching) ||
	       is_any_alive(&octo->legs.borrowers);
}

bool
octo_legs_is_dead(const struct octo_dev *octo, int32_t id)
{
	const struct octo_borrowers *b = &octo->legs.borrowers;
	const uint64_t me = identity();

	if (id == octo_legs_process || !is_dead(me >> 32 << 32 | (uint32_t)id, me) ||
	    rte_atomic_load_explicit(&b->nb_more, rte_memory_order_relaxed) != 0)
		return false;
	for (unsigned int i = 0; i < RTE_DIM(b->process); i++) {
		const uint64_t process = rte_atomic_load_explicit(&b->process[i],
								  rte_memory_order_relaxed);

		if ((int32_t)process == id && process >> 32 != me >> 32)
			return false;
	}
	return true;
}

/* By octo port: the last change of its legs that this process has seen. */
static RTE_ATOMIC(uint32_t) seen[RTE_MAX_ETHPORTS];

void
octo_legs_change(struct octo_dev *octo, uint32_t live)
{
	rte_atomic_store_explicit(&octo->legs.live, live, rte_memory_order_relaxed);
	/* pairs with the acquire in octo_legs_look() */
	rte_atomic_fetch_add_explicit(&octo->legs.changes, 1, rte_memory_order_release);
}

struct octo_dev *
octo_legs_borrow(uint16_t port_id)
{
	struct octo_borrowers *attaching = &octo_lending_of(port_id)->attaching;
	struct octo_dev *octo;

	note(attaching);
	/* pairs with octo_lending_set_open(): the port is seen closed here, or the note there */
	rte_atomic_thread_fence(rte_memory_order_seq_cst);
	octo = octo_lending_port(port_id);
	if (octo != NULL)
		note(&octo->legs.borrowers);
	forget(attaching);
	if (octo == NULL)
		return NULL;
	octo_legs_borrowed = true;
	rte_atomic_store_explicit(&seen[port_id], 0, rte_memory_order_release);
	octo_registry_add(octo);
	return octo;
}

const struct octo_dev *
octo_legs_return(uint16_t port_id, uint64_t owner_id)
{
	struct octo_dev *octo = octo_registry_remove(port_id, owner_id);

	if (octo != NULL)
		forget(&octo->legs.borrowers);
	return octo;
}

/* By port of a PF: this process is about to lose it, or has lost it. */
static RTE_ATOMIC(bool) lost_ports[RTE_MAX_ETHPORTS];

void
octo_legs_set_lost(uint16_t pf_port_id, bool lost)
{
	rte_atomic_store_explicit(&lost_ports[pf_port_id], lost, rte_memory_order_release);
	/* pairs with the fence in octo_users_enter(): one sees the other */
	rte_atomic_thread_fence(rte_memory_order_seq_cst);
}

bool
octo_legs_has_port(uint16_t pf_port_id)
{
	/* pairs with the release above; ethdev keeps the data of a port that was detached here */
	return !rte_atomic_load_explicit(&lost_ports[pf_port_id], rte_memory_order_acquire) &&
	       rte_eth_dev_is_valid_port(pf_port_id);
}

void
octo_legs_end_removal(const struct octo_dev *octo)
{
	if (rte_eth_devices[octo->port_id].state == RTE_ETH_DEV_REMOVED)
		rte_eth_devices[octo->port_id].state = RTE_ETH_DEV_ATTACHED;
}

/* May run in several threads at once: all of them store the same values. */
static void
refresh(const struct octo_dev *octo)
{
	RTE_ATOMIC(uint32_t) *mine = &seen[octo->port_id];
	const uint32_t now = rte_atomic_load_explicit(&octo->legs.changes,
						      rte_memory_order_acquire);
	uint32_t live;

	/* pairs with the release below, in another thread */
	if (likely(now == rte_atomic_load_explicit(mine, rte_memory_order_acquire)))
		return;
	live = rte_atomic_load_explicit(&octo->legs.live, rte_memory_order_relaxed);
	for (uint8_t leg = 0; leg < octo->nb_pfs; leg++)
		if (live & RTE_BIT32(leg))
			octo_lower_refresh_queues(octo->pf[leg].port->port_id);
	if (live != 0)
		octo_legs_end_removal(octo);
	rte_atomic_store_explicit(mine, now, rte_memory_order_release);
}

uint32_t
octo_legs_look(const struct octo_dev *octo, uint32_t legs)
{
	uint32_t lacking = 0;

	refresh(octo);
	for (uint32_t left = legs & (RTE_BIT32(OCTO_TX_CLOCK_SHIFT) - 1); left != 0;
	     left &= left - 1)
		if (!octo_legs_has_port(octo->pf[rte_bsf32(left)].port->port_id))
			lacking |= left & -left;
	return legs & ~octo_tx_with_clock(lacking, lacking);
}
