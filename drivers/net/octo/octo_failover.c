/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Traffic leaves a PF that is gone or has no link. Nothing that the PF had received is waited
 * for, so there is no fence. If it was the transfer proxy PF, the switch rules are lost with
 * it, and another PF may be the proxy now.
 */

#include <time.h>

#include <rte_cycles.h>

#include "octo_clock.h"
#include "octo_elapsed.h"
#include "octo_private.h"

/* Time limit for the NIC to name another transfer proxy PF before the tier is dropped. */
#define SEEK_MS 1000

/* Time limit for flipping rules in the thread that handles the loss of a PF. */
#define HURRY_US 1000

uint64_t
octo_failover_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/*
 * Called when the port has started (on: changes of usable PFs count from now on), and when it
 * is about to be stopped.
 */
void
octo_failover_watch_locked(struct octo_dev *octo, bool on)
{
	octo->failover.pending = false;
	octo->failover.seeking = false;
	octo->failover.seek_again = 0;
	octo->failover.watching = on;
}

/* Called when the PF is no longer one of the port's. */
void
octo_failover_lost_locked(struct octo_dev *octo, uint8_t port)
{
	octo_assert_locked(octo);
	/* its rules may still be on an earlier proxy */
	if (octo->proxy == port || (octo->failover.proxies & RTE_BIT32(port)))
		octo_sync_mark_flows_locked(octo);
	else
		octo_sync_mark_lost_locked(octo, port);
	octo->failover.proxies &= ~RTE_BIT32(port);
	/* it may have had rules of the application, whatever the tier */
	octo_rule_store_mark_others_locked(octo);
	if (octo->proxy != port || octo->sliced)
		return;
	octo->proxy = OCTO_NO_PF;
	octo->partition.stale = true;
	/* what it has refused as it was going, the next one may take */
	octo->default_pf.retry_at = 0;
	octo->default_pf.logged = false;
	if (!octo->started || !octo_tier_has_mpfs(octo->tier))
		return;
	octo->failover.seeking = true;
	octo->failover.seek_until = octo_deadline(SEEK_MS * 1000);
	octo_topo_begin_failover_locked(octo);
}

static void
drop_tier(struct octo_dev *octo)
{
	octo->failover.seeking = false;
	octo->failover.seek_pause = 0;
	octo->failover.seek_again = octo_next_try(&octo->failover.seek_pause);
	octo->tier = OCTO_TIER_QUEUE;
	octo_learn_adapt_locked(octo);
	OCTO_LOG(WARNING,
		 "port %u: the transfer proxy PF is gone, and there is no other: "
		 "steering tier is queue now",
		 octo->port_id);
}

/* If a proxy is found, all switch rules are installed again. */
static void
seek_proxy(struct octo_dev *octo)
{
	struct rte_flow_error error;

	if (octo->mpfs_ops->probe(octo, &error) != 0) {
		octo->proxy = OCTO_NO_PF;
		if (octo_now() > octo->failover.seek_until)
			drop_tier(octo);
		return;
	}
	octo->failover.seeking = false;
	octo_sync_mark_flows_locked(octo);
	octo_rule_store_mark_others_locked(octo);
	OCTO_LOG(NOTICE, "port %u: PF %s is the transfer proxy now", octo->port_id,
		 octo_proxy(octo)->name);
}

/* There may be a proxy again: if there is none, a search goes on. */
static void
raise_tier(struct octo_dev *octo)
{
	octo_tier_probe_locked(octo);
	if (octo->proxy != OCTO_NO_PF)
		octo->failover.seek_again = 0;
	octo_sync_mark_flows_locked(octo);
	octo_rule_store_mark_others_locked(octo);
}

/* A PF is back, or came late: it may be the proxy, or give the port a higher tier again. */
void
octo_failover_joined_locked(struct octo_dev *octo)
{
	struct rte_flow_error error;
	const uint8_t before = octo->proxy;
	const uint8_t dialect = octo->dialects.now;

	octo_assert_locked(octo);
	octo->partition.stale = true;
	octo_rule_store_mark_others_locked(octo);
	/* rules that were made meanwhile, or that the port refused when it joined */
	if (octo->sliced)
		octo_sync_mark_flows_locked(octo);
	if (octo->agent != NULL || octo->ignored != OCTO_IGNORED_NONE || octo->failover.seeking)
		return;
	if (before == OCTO_NO_PF)
		raise_tier(octo);
	else if (octo->mpfs_ops->probe(octo, &error) != 0)
		octo->proxy = before;
	else if (octo->dialects.now != dialect)
		octo_sync_mark_flows_locked(octo);
}

/*
 * The NIC named no transfer proxy in time, which may be long on a busy machine: the tier is raised
 * again as soon as it does.
 */
void
octo_failover_seek_again_locked(struct octo_dev *octo, uint64_t now)
{
	struct octo_failover *f = &octo->failover;
	struct rte_flow_error error;

	if (f->seek_again == 0 || octo_gate_before(now, f->seek_again) ||
	    octo->ignored != OCTO_IGNORED_NONE)
		return;
	f->seek_again = octo_next_try(&f->seek_pause);
	if (octo->mpfs_ops->probe(octo, &error) != 0) {
		octo->proxy = OCTO_NO_PF;
		return;
	}
	raise_tier(octo);
}

/* The failover is done when every flow that can be rehomed has been. */
static void
finish(struct octo_dev *octo)
{
	struct octo_failover *f = &octo->failover;

	if (f->seeking || !octo_sync_is_done_locked(octo) || octo_mpfs_agent_flips(octo))
		return;
	f->pending = false;
	f->last_cpu_ns = f->cpu_ns;
	f->last_ns = octo_elapsed(f->began, octo_now()) * 1000 / (rte_get_timer_hz() / 1000000);
}

/*
 * Rehome another slice of rules, and whatever else is to be synced. The time of a failover is
 * measured until its last rule. Returns whether rules are left.
 */
bool
octo_failover_sync_locked(struct octo_dev *octo)
{
	struct octo_failover *f = &octo->failover;
	const bool failover = f->pending;
	bool more;

	octo_assert_locked(octo);
	if (failover) {
		f->cpu_ns -= octo_failover_cpu_ns();
		if (f->seeking)
			seek_proxy(octo);
		octo_mac_follow_locked(octo);
		/* a few rules, which lead all flows without rules of their own */
		octo_tier_partition_follow_locked(octo);
	}
	more = octo_sync_step_locked(octo);
	if (failover) {
		f->cpu_ns += octo_failover_cpu_ns();
		finish(octo);
	}
	octo_default_pf_follow_locked(octo, more);
	return more;
}

/*
 * Called by the handler of a PF's loss: its flows are rehomed before the control thread is
 * awake, for HURRY_US at most. A handler that runs inside a control operation, which may be
 * changing these rules, leaves all to the control thread.
 */
void
octo_failover_hurry_locked(struct octo_dev *octo)
{
	const uint64_t end = octo_deadline(HURRY_US);
	bool more = octo->started && octo->lock_depth == 1;

	while (more && octo->failover.pending && octo_now() < end)
		more = octo_failover_sync_locked(octo);
}
