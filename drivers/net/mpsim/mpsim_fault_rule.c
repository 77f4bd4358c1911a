/* SPDX-License-Identifier: BSD-3-Clause */

/* Faults of rules: refused, slow, without effect, or reported wrongly. */

#include "octo_clock.h"
#include "mpsim.h"

/* not slept below this: the kernel's sleep takes longer */
#define SLEEP_US 100

/* Count a rule. Returns whether it has the fault. */
static bool
befalls(struct mpsim_mishap *m)
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

struct mpsim_fate_of_rule
mpsim_fault_next_rule(struct mpsim_pf *pf)
{
	struct mpsim_fate_of_rule fate = {0};
	struct mpsim_faults *f = &pf->faults;

	/* no pair: checked again under the lock */
	if (likely(!rte_atomic_load_explicit(&f->rules, rte_memory_order_relaxed)))
		return fate;
	mpsim_nic_lock(pf->nic);
	fate.us = f->rule_us;
	if (befalls(&f->fail))
		fate.code = f->fail.code;
	fate.lost = befalls(&f->lost);
	fate.false_error = befalls(&f->false_error);
	mpsim_nic_unlock(pf->nic);
	return fate;
}

void
mpsim_fault_wait(uint32_t us)
{
	if (us >= SLEEP_US)
		octo_sleep_us(us);
	else if (us > 0)
		octo_spin_us(us);
}
