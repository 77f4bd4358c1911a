/* SPDX-License-Identifier: BSD-3-Clause */

/* How PFs of chaos go and come back, and what else is wrong with them at times. */

#include <errno.h>
#include <stdarg.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include "bench_chaos.h"

/* Between two events at most; from the announcement of a removal to the removal. */
#define EVENT_PAUSE_US 20000
#define REMOVAL_US 3000
/* Between two tries to put a device in whose slot is not free yet: each is logged. */
#define PLUG_LOOK_US 5000

/* Of so many cycles one has something else go wrong, or what is wrong end. */
#define FAULTY 2

/* Octo may have removed the device a moment ago: then it probes it again. */
static bool
may_come(unsigned int pf, uint64_t end)
{
	rte_delay_us_sleep(CHAOS_LOOK_US);
	return bench_nic_await(pf, true) == 0 && rte_rdtsc() < end;
}

__rte_format_printf(2, 3) static int set_fault(unsigned int pf, const char *format, ...)
{
	const uint64_t end = chaos_deadline(CHAOS_PATIENCE_S);
	char text[64];
	va_list ap;
	int n = snprintf(text, sizeof(text), "%s,", bench_nic_name(pf));
	int ret;

	va_start(ap, format);
	vsnprintf(text + n, sizeof(text) - n, format, ap);
	va_end(ap);
	do
		ret = rte_pmd_mpsim_fault(text);
	while (ret == -ENODEV && may_come(pf, end));
	return ret;
}

static int
unplug(struct chaos *c, unsigned int pf)
{
	const uint64_t end = chaos_deadline(CHAOS_PATIENCE_S);
	int ret;

	do
		ret = bench_nic_unplug(&c->nic, pf);
	while (ret != 0 && may_come(pf, end));
	return ret;
}

static unsigned int
count_up(const struct chaos *c)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < c->nb_pfs; i++)
		n += c->state[i] == CHAOS_UP;
	return n;
}

/* One of those that are up, or of those that are not; there is one. */
static unsigned int
pick_pf(struct chaos *c, bool up)
{
	unsigned int i;

	do
		i = chaos_pick(&c->random, c->nb_pfs);
	while ((c->state[i] == CHAOS_UP) != up);
	return i;
}

static int
kill_pf(struct chaos *c, unsigned int pf)
{
	const unsigned int us = chaos_pick(&c->random, REMOVAL_US);

	c->state[pf] = CHAOS_WITHOUT_LINK +
		       chaos_pick(&c->random, CHAOS_FAILED - CHAOS_WITHOUT_LINK);
	/* the port hears nothing of a PF that has not joined yet */
	if (c->state[pf] == CHAOS_RECOVERING &&
	    bench_nic_xstat(&c->nic, "usable_pfs") < count_up(c) + 1)
		c->state[pf] = CHAOS_WITHOUT_LINK;
	switch (c->state[pf]) {
	case CHAOS_UNPLUGGED:
		return unplug(c, pf);
	case CHAOS_REMOVED:
		return set_fault(pf, "remove,%u", us);
	case CHAOS_EJECTED:
		return set_fault(pf, "eject,%u", 1000 * us);
	case CHAOS_SURPRISED:
		return set_fault(pf, "surprise,%u", us);
	case CHAOS_RECOVERING:
		return set_fault(pf, "recovery,start");
	default:
		return set_fault(pf, "link,down");
	}
}

bool
chaos_await_usable(const struct chaos *c, unsigned int nb)
{
	const uint64_t end = chaos_deadline(CHAOS_JOIN_S);

	while (bench_nic_xstat(&c->nic, "usable_pfs") < nb) {
		if (rte_rdtsc() > end)
			return false;
		rte_delay_us_sleep(CHAOS_LOOK_US);
	}
	return true;
}

/*
 * Once its slot is free it is in it again; at times octo is to probe it. If octo had
 * removed the device before the bus did, its slot is as it was, and octo probes it.
 */
static int
put_in(struct chaos *c, unsigned int pf)
{
	const char *wait = chaos_pick(&c->random, 2) ? ",wait" : "";
	const uint64_t end = chaos_deadline(CHAOS_PATIENCE_S);
	char text[64];
	int ret;

	snprintf(text, sizeof(text), "%s,plug%s", bench_nic_name(pf), wait);
	do {
		ret = rte_pmd_mpsim_fault(text);
		rte_delay_us_sleep(PLUG_LOOK_US);
	} while (ret == -EBUSY && rte_rdtsc() < end);
	return ret == 0 || ret == -ENODEV ? bench_nic_await(pf, true) : ret;
}

/* Octo looks for it each second, and may have found it already, or be about to remove it. */
static int
plug(struct chaos *c, unsigned int pf)
{
	const int ret = bench_nic_plug(&c->nic, pf);

	return ret == 0 || ret == -EEXIST || ret == -ENODEV ? bench_nic_await(pf, true) : ret;
}

static uint32_t
times_gone(const struct chaos *c, unsigned int pf)
{
	return rte_atomic_load_explicit(&c->gone[pf], rte_memory_order_acquire);
}

static int
count_end(uint16_t port, enum rte_eth_event_type event, void *arg, void *ret)
{
	char name[RTE_ETH_NAME_MAX_LEN];
	struct chaos *c = arg;

	RTE_SET_USED(event);
	RTE_SET_USED(ret);
	if (rte_eth_dev_get_name_by_port(port, name) != 0)
		return 0;
	for (unsigned int i = 0; i < c->nb_pfs; i++)
		if (strcmp(name, bench_nic_name(i)) == 0)
			rte_atomic_fetch_add_explicit(&c->gone[i], 1, rte_memory_order_release);
	return 0;
}

int
chaos_watch_pfs(struct chaos *c)
{
	return rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_DESTROY, count_end, c);
}

void
chaos_unwatch_pfs(struct chaos *c)
{
	rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_DESTROY, count_end, c);
}

/* Octo has removed the device, and probed it again. */
static int
await_another(struct chaos *c, unsigned int pf)
{
	const uint64_t end = chaos_deadline(CHAOS_JOIN_S);

	while (times_gone(c, pf) == c->failed[pf]) {
		if (rte_rdtsc() > end)
			return -ETIMEDOUT;
		rte_delay_us_sleep(CHAOS_LOOK_US);
	}
	return bench_nic_await(pf, true);
}

/* It helps itself, or fails to. */
static int
recover(struct chaos *c, unsigned int pf)
{
	if (chaos_pick(&c->random, 2) == 0)
		return set_fault(pf, "recovery,success");
	c->state[pf] = CHAOS_FAILED;
	c->failed[pf] = times_gone(c, pf);
	return set_fault(pf, "recovery,failed");
}

static int
revive_pf(struct chaos *c, unsigned int pf)
{
	const enum chaos_state was = c->state[pf];

	c->state[pf] = CHAOS_UP;
	switch (was) {
	case CHAOS_UNPLUGGED:
		return plug(c, pf);
	case CHAOS_REMOVED:
	case CHAOS_EJECTED:
	case CHAOS_SURPRISED:
		return put_in(c, pf);
	case CHAOS_RECOVERING:
		return recover(c, pf);
	case CHAOS_FAILED:
		return await_another(c, pf);
	default:
		return set_fault(pf, "link,up");
	}
}

/* A PF that is up, whatever becomes of it: it may be about to go. */
static void
set_some_fault(struct chaos *c, unsigned int pf)
{
	const unsigned int r = chaos_pick(&c->random, 1000);
	const char *table = r % 2 ? "mpfs" : "arfs";

	switch (chaos_pick(&c->random, 9)) {
	case 0:
		set_fault(pf, "tx_stuck,on");
		break;
	case 1:
		set_fault(pf, "ring_full,%u,on", r % CHAOS_QUEUES);
		break;
	case 2:
		set_fault(pf, "rule_fail,%u,%d,%u", 1 + r % 50, r & 64 ? ENOSPC : EIO, 1 + r % 7);
		break;
	case 3:
		set_fault(pf, "rule_slow,%u", r);
		break;
	case 4:
		c->lied = true;
		set_fault(pf, "rule_lost,%u,%u", 1 + r % 20, 1 + r % 5);
		break;
	case 5:
		c->lied = true;
		set_fault(pf, "rule_false_error,%u,%u", 1 + r % 20, 1 + r % 5);
		break;
	case 6:
		set_fault(pf, "room,%s,%u", table, r % CHAOS_FLOWS);
		break;
	case 7:
		set_fault(pf, "latency,%u", r / 10);
		break;
	default:
		set_fault(pf, "clear");
	}
}

int
chaos_cycle(struct chaos *c)
{
	int ret = 0;

	if (chaos_pick(&c->random, FAULTY) == 0)
		set_some_fault(c, pick_pf(c, true));
	if (count_up(c) > 1)
		ret = kill_pf(c, pick_pf(c, true));
	rte_delay_us_sleep(chaos_pick(&c->random, EVENT_PAUSE_US));
	if (ret != 0 || (count_up(c) > 1 && chaos_pick(&c->random, 4) == 0))
		return ret;
	if (count_up(c) < c->nb_pfs)
		ret = revive_pf(c, pick_pf(c, false));
	rte_delay_us_sleep(chaos_pick(&c->random, EVENT_PAUSE_US));
	return ret;
}

int
chaos_revive_all(struct chaos *c)
{
	int ret = 0;

	for (unsigned int i = 0; i < c->nb_pfs; i++)
		while (ret == 0 && c->state[i] != CHAOS_UP)
			ret = revive_pf(c, i);
	for (unsigned int i = 0; i < c->nb_pfs && ret == 0; i++)
		ret = set_fault(i, "clear");
	return ret;
}
