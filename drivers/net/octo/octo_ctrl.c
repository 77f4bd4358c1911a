/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The port's one control thread, which updates links and homes. It never waits for an lcore.
 * All its work is done in octo_ctrl_step(), called repeatedly.
 */

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "octo_clock.h"
#include "octo_private.h"

/* Time between two rounds, and the longest time that one kind of steps may take of a round. */
#define TICK_MS 5
/* Time between two rounds while samples, lingering rules, a migration or a drain wait for one. */
#define BUSY_TICK_MS 1
/* Poll interval for the link of PFs without the LSC interrupt. */
#define LINK_POLL_MS 100

/* Interval between steps while flows without rules move to their new queues. */
#define STEP_LOOK_US 50

static bool
must_poll_links(struct octo_dev *octo, uint64_t now)
{
	int i;

	if (now < octo->ctrl.next_link_poll)
		return false;
	octo->ctrl.next_link_poll = now + rte_get_timer_hz() * LINK_POLL_MS / 1000;
	OCTO_FOREACH_PORT(octo, i, OCTO_PORT_RUNNING)
		if (!octo->port[i].has_lsc)
			return true;
	return false;
}

static bool
follow_links(struct octo_dev *octo, uint64_t now)
{
	bool changed = rte_atomic_exchange_explicit(&octo->ctrl.link_changed, false,
						    rte_memory_order_acquire);

	if (!changed && !must_poll_links(octo, now))
		return false;
	return octo_link_refresh(octo);
}

/* Rehome, insert or remove another slice of rules. Returns whether some are left. */
static bool
sync_slice(struct octo_dev *octo)
{
	octo_lock_give_way(octo);
	return OCTO_LOCKED(octo, octo->started && octo_failover_sync_locked(octo));
}

/* Flows without rules move in steps, each of which takes about the grace time. */
static bool
migrate_step(struct octo_dev *octo)
{
	bool more = OCTO_LOCKED(octo, octo->started && octo_tier_partition_follow_locked(octo));

	if (more)
		octo_sleep_us(STEP_LOOK_US);
	return more;
}

/* Repeat a step until nothing is left, for TICK_MS at most: the thread has other work, too. */
static bool
repeat_for_a_while(struct octo_dev *octo, bool (*step)(struct octo_dev *octo))
{
	const uint64_t end = octo_deadline(TICK_MS * 1000);
	bool more = true;

	while (more && octo_now() < end &&
	       !rte_atomic_load_explicit(&octo->ctrl.stop, rte_memory_order_acquire))
		more = step(octo);
	return more;
}

/* Returns whether the next step should come soon. */
static bool
tick(struct octo_dev *octo, uint64_t now)
{
	bool link_changed;
	bool busy = false;

	octo_lock(octo);
	octo_replug_log_gone_locked(octo, now);
	link_changed = octo->started && follow_links(octo, now);
	if (octo->started) {
		/* first: an agent that is gone must not be blamed for packets that came since */
		octo_agent_sync_tick_locked(octo);
		octo_ethtool_sync_tick_locked(octo);
		octo_mac_follow_locked(octo);
		octo_timesync_follow_locked(octo);
		octo_failover_seek_again_locked(octo, now);
		if (octo->failover.pending)
			octo_failover_sync_locked(octo);
		/* samples before homes: they were taken with the rules as they are now */
		busy = octo_audit_follow_locked(octo);
		/* learned rules are installed by now */
		octo_fence_flipped_all_locked(octo);
		octo_learn_tick_locked(octo);
		busy |= octo_rule_end_tick_locked(octo);
		octo_rule_aged_tick_locked(octo, now);
		octo_fence_sweep_locked(octo);
		octo_tx_tick_locked(octo);
		octo_locality_follow_locked(octo);
		octo_learn_publish_counts_locked(octo);
	}
	octo_unlock(octo);
	if (link_changed)
		octo_raise(octo, RTE_ETH_EVENT_INTR_LSC);
	return busy;
}

static void
wait_for_work(struct octo_dev *octo, int ms)
{
	struct pollfd fd = {.fd = octo->ctrl.wake_fd, .events = POLLIN};
	uint64_t count;

	if (poll(&fd, 1, ms) > 0 && read(fd.fd, &count, sizeof(count)) < 0)
		OCTO_LOG(DEBUG, "port %u: nothing to read", octo->port_id);
}

/*
 * One round of the control thread's work. Called by one thread at a time, without the mutex,
 * while the port is started. Returns after how many milliseconds the next round is due, if
 * nothing wakes the thread before.
 */
unsigned int
octo_ctrl_step(struct octo_dev *octo, uint64_t now)
{
	bool busy = tick(octo, now);
	bool more = repeat_for_a_while(octo, sync_slice);

	busy |= repeat_for_a_while(octo, migrate_step);
	octo_replug_tick(octo, now);
	more |= repeat_for_a_while(octo, octo_replug_resync_slice);
	if (octo_drain_tick(octo)) {
		busy = true;
		more |= repeat_for_a_while(octo, octo_drain_count_slice);
	}
	return more ? 0 : busy ? BUSY_TICK_MS : TICK_MS;
}

static uint32_t
run(void *arg)
{
	struct octo_dev *octo = arg;
	unsigned int ms = TICK_MS;

	while (!rte_atomic_load_explicit(&octo->ctrl.stop, rte_memory_order_acquire)) {
		wait_for_work(octo, (int)ms);
		ms = octo_ctrl_step(octo, octo_now());
	}
	return 0;
}

int
octo_ctrl_start(struct octo_dev *octo)
{
	struct octo_ctrl *ctrl = &octo->ctrl;
	char name[16];
	int ret;

	rte_atomic_store_explicit(&ctrl->stop, false, rte_memory_order_release);
	snprintf(name, sizeof(name), "octo-%u", octo->port_id);
	ret = rte_thread_create_internal_control(&ctrl->thread, name, run, octo);
	if (ret != 0) {
		OCTO_LOG(ERR, "port %u: no control thread: %s", octo->port_id, rte_strerror(-ret));
		return ret;
	}
	ctrl->running = true;
	return 0;
}

void
octo_ctrl_stop(struct octo_dev *octo)
{
	struct octo_ctrl *ctrl = &octo->ctrl;

	if (!ctrl->running)
		return;
	rte_atomic_store_explicit(&ctrl->stop, true, rte_memory_order_release);
	octo_wake(octo);
	rte_thread_join(ctrl->thread, NULL);
	ctrl->running = false;
}
