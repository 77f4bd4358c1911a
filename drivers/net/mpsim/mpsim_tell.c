/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Most events of ports are raised in EAL's interrupt thread, but any thread may close a port.
 * The close waits for an event in progress, as a driver waits for its interrupt handler.
 */

#include <rte_interrupts.h>

#include "octo_clock.h"
#include "octo_elapsed.h"
#include "mpsim.h"

#define LOOK_US 100
/* The event's callback may wait for the lock of the bus, which the closing thread holds. */
#define PATIENCE_S 5
#define NONE UINT32_MAX

/* Written by the interrupt thread; set, but not cleared, under the control lock. */
static RTE_ATOMIC(uint32_t) told = NONE;

bool
mpsim_tell_begin(uint16_t port)
{
	uint64_t ports[MPSIM_PORT_WORDS] = {0};
	bool there;

	mpsim_control_lock();
	mpsim_nic_get_ports(ports);
	there = (ports[port / 64] >> (port % 64) & 1) != 0;
	if (there)
		rte_atomic_store_explicit(&told, port, rte_memory_order_relaxed);
	mpsim_control_unlock();
	return there;
}

void
mpsim_tell_end(void)
{
	/* pairs with the acquire in is_told_of() */
	rte_atomic_store_explicit(&told, NONE, rte_memory_order_release);
}

/* Does another thread handle an event of the PF? A callback may close the port itself. */
static bool
is_told_of(const struct mpsim_pf *pf)
{
	return !rte_thread_is_intr() &&
	       rte_atomic_load_explicit(&told, rte_memory_order_acquire) == pf->port_id;
}

void
mpsim_tell_no_more(struct mpsim_pf *pf)
{
	const uint64_t begin = octo_now();

	mpsim_control_lock();
	pf->closing = true;
	mpsim_control_unlock();
	while (is_told_of(pf)) {
		if (octo_elapsed(begin, octo_now()) >= PATIENCE_S * rte_get_timer_hz()) {
			MPSIM_LOG(ERR, pf->data->name,
				  "closed while an event callback of it does not return");
			return;
		}
		octo_wait_us(LOOK_US);
	}
}
