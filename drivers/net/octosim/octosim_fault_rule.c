/* SPDX-License-Identifier: BSD-3-Clause */

/* Rules that fail, that take long, and that are not what was said of them. */

#include "octo_clock.h"
#include "octosim.h"

/* shorter than this is not slept: the kernel takes longer */
#define SLEEP_US 100

/* Count down to those that it befalls. */
static bool
befalls(struct octosim_mishap *m)
{
	if (m->count == 0)
		return false;
	if (m->skip > 0) {
		m->skip--;
		return false;
	}
	m->count--;
	return true;
}

struct octosim_fate_of_rule
octosim_fault_next_rule(struct octosim_pf *pf)
{
	struct octosim_fate_of_rule fate = {0};
	struct octosim_faults *f = &pf->faults;

	/* no pair: looked at again under the lock */
	if (likely(!rte_atomic_load_explicit(&f->rules, rte_memory_order_relaxed)))
		return fate;
	octosim_nic_lock(pf->nic);
	fate.us = f->rule_us;
	if (befalls(&f->fail))
		fate.code = f->fail.code;
	fate.lost = befalls(&f->lost);
	fate.false_error = befalls(&f->false_error);
	octosim_nic_unlock(pf->nic);
	return fate;
}

void
octosim_fault_wait(uint32_t us)
{
	if (us >= SLEEP_US)
		octo_sleep_us(us);
	else if (us > 0)
		octo_spin_us(us);
}
