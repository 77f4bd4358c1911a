/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The control side: the mutex that every control operation takes, and the
 * port's one thread, which follows links and homes. It never waits for an lcore.
 * All that it does is octo_ctrl_step(), again and again.
 */

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "octo_clock.h"
#include "octo_private.h"

/* How soon a new home of a queue is followed by its rules. */
#define TICK_MS 5
/* While there are strays to learn from; the mutex is free meanwhile. */
#define BUSY_TICK_MS 1
/* How often the link of a PF is looked at that does not report changes. */
#define LINK_POLL_MS 100

/* How long those who wait for the mutex are let in before the next flows are rehomed. */
#define GIVE_WAY_US 2000

/* Between two looks at whether flows without rules have come to their new queues. */
#define STEP_LOOK_US 50

/* Of rules that are flipped by who is told of a loss. */
#define HURRY_US 1000

/* Of octo_rxq.rules_home: the rules are on their way, some lead here and some there. */
#define REHOMING (OCTO_NO_PF - 1)

/* How soon flows that could not follow their queue are tried again. */
#define REHOME_RETRY_MS 100u
/* A full table may stay full, and every try asks for every flow. */
#define REHOME_RETRY_MAX_MS 3200u

static int
mutex_init(struct octo_dev *octo)
{
	pthread_mutexattr_t attr;
	int ret = pthread_mutexattr_init(&attr);

	if (ret != 0)
		return -ret;
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	/* a PF raises events inside of operations, and a listener may ask the port something */
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	ret = pthread_mutex_init(&octo->mutex, &attr);
	pthread_mutexattr_destroy(&attr);
	return -ret;
}

int
octo_ctrl_init(struct octo_dev *octo)
{
	int ret;

	octo->ctrl.wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (octo->ctrl.wake_fd < 0)
		return -errno;
	ret = mutex_init(octo);
	if (ret != 0)
		close(octo->ctrl.wake_fd);
	return ret;
}

void
octo_ctrl_fini(struct octo_dev *octo)
{
	pthread_mutex_destroy(&octo->mutex);
	close(octo->ctrl.wake_fd);
}

/* Who waits says so, for the sake of octo_ctrl_give_way(). */
static int
lock(struct octo_dev *octo)
{
	int ret = pthread_mutex_trylock(&octo->mutex);

	if (ret != EBUSY)
		return ret;
	octo_askers_enter(&octo->waiting);
	ret = pthread_mutex_lock(&octo->mutex);
	octo_askers_leave(&octo->waiting);
	return ret;
}

/* What happened to PFs meanwhile is taken note of by the next who has the mutex. */
static void
settle(struct octo_dev *octo)
{
	if (octo->failover.depth == 1 && rte_eal_process_type() == RTE_PROC_PRIMARY &&
	    rte_atomic_load_explicit(&octo->posted, rte_memory_order_acquire))
		octo_event_settle_locked(octo);
}

static void
has_mutex(struct octo_dev *octo, int ret)
{
	if (ret == EOWNERDEAD) {
		OCTO_LOG(WARNING, "port %u: a process died in a control operation", octo->port_id);
		pthread_mutex_consistent(&octo->mutex);
		octo->failover.depth = 0;
	}
	octo->failover.depth++;
	settle(octo);
}

void
octo_lock(struct octo_dev *octo)
{
	has_mutex(octo, lock(octo));
}

/* Returns whether the mutex was free. */
bool
octo_lock_try(struct octo_dev *octo)
{
	const int ret = pthread_mutex_trylock(&octo->mutex);

	if (ret == EBUSY)
		return false;
	has_mutex(octo, ret);
	return true;
}

/*
 * By the handler of a PF's event. The holder of the mutex may be inside of an operation of
 * that PF which waits for the handler to return: then the value is false.
 */
bool
octo_lock_in_time(struct octo_dev *octo)
{
	struct timespec end;
	int ret;

	if (octo_lock_try(octo))
		return true;
	end = octo_wait_end(OCTO_EPOCH_TIMEOUT_US);
	octo_askers_enter(&octo->waiting);
	ret = pthread_mutex_timedlock(&octo->mutex, &end);
	octo_askers_leave(&octo->waiting);
	if (ret == ETIMEDOUT)
		return false;
	has_mutex(octo, ret);
	return true;
}

void
octo_unlock(struct octo_dev *octo)
{
	settle(octo);
	octo->failover.depth--;
	pthread_mutex_unlock(&octo->mutex);
}

static void
wake(struct octo_dev *octo)
{
	const uint64_t one = 1;

	if (write(octo->ctrl.wake_fd, &one, sizeof(one)) < 0)
		OCTO_LOG(DEBUG, "port %u: the control thread is awake already", octo->port_id);
}

/* From any thread: a PF's link may have changed. */
void
octo_ctrl_post_link(struct octo_dev *octo)
{
	rte_atomic_store_explicit(&octo->ctrl.link_changed, true, rte_memory_order_release);
	wake(octo);
}

/*
 * By the poller of a queue that has another home: its flows follow at once, not in
 * the next tick. A secondary cannot wake the thread, which notices all the same.
 */
void
octo_ctrl_post_home(struct octo_dev *octo)
{
	const uint64_t one = 1;

	/* a write that fails finds the thread awake; this is no place for a log */
	if (rte_eal_process_type() == RTE_PROC_PRIMARY &&
	    write(octo->ctrl.wake_fd, &one, sizeof(one)) < 0)
		return;
}

/* TSC, at which who works under the mutex leaves the rest to the next tick. */
uint64_t
octo_ctrl_deadline(unsigned int us)
{
	return octo_now() + rte_get_timer_hz() * us / 1000000;
}

static bool
must_poll_links(struct octo_dev *octo, uint64_t now)
{
	int i;

	if (now < octo->ctrl.next_link_poll)
		return false;
	octo->ctrl.next_link_poll = now + rte_get_timer_hz() * LINK_POLL_MS / 1000;
	OCTO_FOREACH_PF(octo, i, OCTO_PF_STARTED)
		if (!octo->pf[i].has_lsc)
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

/* A flow that cannot follow strays, but arrives: said once, and tried again later. */
static void
end_rehome(struct octo_dev *octo, struct octo_rxq *q, uint8_t home)
{
	const unsigned int failed = octo->rehoming[q->queue_id].failed;

	if (failed == 0) {
		q->rules_home = home;
		q->rehome_retry = 0;
		q->rehome_pause = 0;
		octo->fences.rehomes++;
		return;
	}
	q->rules_home = OCTO_NO_PF;
	if (q->rehome_retry == 0)
		OCTO_LOG(WARNING, "port %u: %u flows of queue %u do not follow it to PF %s yet",
			 octo->port_id, failed, q->queue_id, octo->pf[home].name);
	q->rehome_pause = RTE_MIN(RTE_MAX(2 * q->rehome_pause, REHOME_RETRY_MS),
				  REHOME_RETRY_MAX_MS);
	q->rehome_retry = octo_now() + rte_get_timer_hz() * q->rehome_pause / MS_PER_S;
}

/* Some of the flows of a queue follow it to its home. Returns whether more could at once. */
static bool
follow_home(struct octo_dev *octo, struct octo_rxq *q)
{
	const uint8_t home = octo_rule_home(octo, q->queue_id);
	int ret;

	if (home == q->rules_home || octo_now() < q->rehome_retry)
		return false;
	/* whoever sets it to something else meanwhile wants all of them looked at again */
	if (q->rules_home != REHOMING)
		octo->rehoming[q->queue_id].under_way = false;
	q->rules_home = REHOMING;
	ret = octo_rule_list_rehome_locked(octo, q->queue_id, home);
	if (ret == 0)
		end_rehome(octo, q, home);
	return ret == -EAGAIN;
}

/* See octo_topo_rx_home(). A slice of each queue's flows: each is held up for one only. */
static bool
follow_homes(struct octo_dev *octo)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	bool more = false;

	for (uint16_t i = 0; i < data->nb_rx_queues; i++) {
		struct octo_rxq *q = data->rx_queues[i];

		if (q != NULL)
			more |= follow_home(octo, q);
	}
	return more;
}

/* What a failover takes is known when it is done. */
static bool
send_home(struct octo_dev *octo)
{
	const bool failover = octo_failover_follow_locked(octo);
	const bool more = follow_homes(octo);

	if (failover)
		octo_failover_done_locked(octo);
	octo_detour_follow_locked(octo, more);
	return more;
}

/*
 * By whoever is told that a PF is lost: what came by it goes by the others before the
 * control thread is awake, as far as that is soon done. Who is told inside of a control
 * operation, which may be at these very rules, leaves it all to the thread.
 */
void
octo_ctrl_hurry_locked(struct octo_dev *octo)
{
	const uint64_t end = octo_ctrl_deadline(HURRY_US);
	bool more = octo->started && octo->failover.depth == 1;

	while (more && octo->failover.pending && octo_now() < end)
		more = send_home(octo);
}

/*
 * A mutex is nobody's in turn: who gave it back has it again before others are awake. A
 * process that is killed while it waits is waited for once.
 */
void
octo_ctrl_give_way(struct octo_dev *octo)
{
	octo_askers_await_mortal(&octo->waiting, GIVE_WAY_US);
}

/* Returns whether there is more: what else the thread does must not wait for all of it. */
static bool
rehome_for_a_while(struct octo_dev *octo)
{
	const uint64_t end = octo_ctrl_deadline(TICK_MS * 1000);
	bool more = true;

	while (more && octo_now() < end &&
	       !rte_atomic_load_explicit(&octo->ctrl.stop, rte_memory_order_acquire)) {
		octo_ctrl_give_way(octo);
		more = OCTO_LOCKED(octo, octo->started && send_home(octo));
	}
	return more;
}

/* Flows without rules go in steps, each of which takes about the grace time. */
static bool
spread_for_a_while(struct octo_dev *octo)
{
	const uint64_t end = octo_ctrl_deadline(TICK_MS * 1000);
	bool more = true;

	while (more && octo_now() < end &&
	       !rte_atomic_load_explicit(&octo->ctrl.stop, rte_memory_order_acquire)) {
		more = OCTO_LOCKED(octo, octo->started && octo_spread_follow_locked(octo));
		if (more)
			octo_sleep_us(STEP_LOOK_US);
	}
	return more;
}

/* Returns whether it is worth while to come back soon. */
static bool
tick(struct octo_dev *octo, uint64_t now)
{
	bool link_changed;
	bool busy = false;

	octo_lock(octo);
	octo_replug_tell_locked(octo, now);
	link_changed = octo->started && follow_links(octo, now);
	if (octo->started) {
		/* an agent that is gone is not to be blamed for what came since */
		if (octo->mpfs_ops->tick != NULL)
			octo->mpfs_ops->tick(octo);
		if (octo->failover.pending)
			send_home(octo);
		/* samples before homes: they are of rules as they were */
		busy = octo_truth_follow_locked(octo);
		/* what was learned is in place */
		octo_fence_flipped_all_locked(octo);
		octo_learn_tick_locked(octo);
		busy |= octo_rule_end_tick_locked(octo);
		octo_fence_sweep_locked(octo);
		octo_tx_tick_locked(octo);
		octo_place_follow_locked(octo);
		octo_xstats_count_rules_locked(octo);
	}
	octo_unlock(octo);
	if (link_changed)
		octo_event_raise(octo, RTE_ETH_EVENT_INTR_LSC);
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

/* From any thread: there is something to do. */
void
octo_ctrl_wake(struct octo_dev *octo)
{
	wake(octo);
}

/*
 * One round of the control thread's work. By one thread at a time, without the mutex, while
 * the port is started. Returns after how many ms the next is due, if nothing wakes the
 * thread before.
 */
unsigned int
octo_ctrl_step(struct octo_dev *octo, uint64_t now)
{
	bool busy = tick(octo, now);
	bool more = rehome_for_a_while(octo);

	busy |= spread_for_a_while(octo);
	more |= octo_replug_tick(octo, now);
	busy |= octo_leave_tick(octo);
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
	wake(octo);
	rte_thread_join(ctrl->thread, NULL);
	ctrl->running = false;
}
