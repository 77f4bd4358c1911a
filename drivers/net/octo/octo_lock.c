/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The control mutex, which every control operation takes, and below it the counts mutex, which
 * statistics take: both process-shared and robust, recursive. A thread that holds the counts
 * mutex must not wait for the control mutex: octo_lock_order.h.
 */

#include <errno.h>
#include <time.h>

#include "octo_clock.h"
#include "octo_private.h"

/* set before there is a port */
const struct octo_hooks *octo_hooks;

/* How long waiters for the mutex are let in before the next flows are rehomed. */
#define GIVE_WAY_US 2000

int
octo_lock_init(struct octo_dev *octo)
{
	pthread_mutexattr_t attr;
	int ret = pthread_mutexattr_init(&attr);

	if (ret != 0)
		return -ret;
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	/* a PF raises events inside of operations, and a listener may call the port */
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	ret = pthread_mutex_init(&octo->mutex, &attr);
	if (ret == 0)
		ret = pthread_mutex_init(&octo->counts_mutex, &attr);
	pthread_mutexattr_destroy(&attr);
	return -ret;
}

void
octo_lock_fini(struct octo_dev *octo)
{
	pthread_mutex_destroy(&octo->counts_mutex);
	pthread_mutex_destroy(&octo->mutex);
}

/* Waiting threads are counted, for octo_lock_give_way(). */
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

/* Events that could not get the mutex are handled by its holder or the next one. */
static void
settle(struct octo_dev *octo)
{
	if (octo->lock_depth == 1 && rte_eal_process_type() == RTE_PROC_PRIMARY &&
	    rte_atomic_load_explicit(&octo->posted, rte_memory_order_acquire))
		octo_hooks->settle_events_locked(octo);
}

static void
has_mutex(struct octo_dev *octo, int ret)
{
	if (ret == EOWNERDEAD) {
		OCTO_LOG(WARNING, "port %u: a process died in a control operation", octo->port_id);
		pthread_mutex_consistent(&octo->mutex);
		octo->lock_depth = 0;
	}
	octo_lock_order_took(OCTO_RANK_CONTROL, octo->port_id);
	if (octo->lock_depth++ == 0)
		octo_hold_begin(&octo->hold, octo_now());
	settle(octo);
}

void
octo_lock(struct octo_dev *octo)
{
	octo_lock_order_wait(OCTO_RANK_CONTROL, octo->port_id);
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
 * Called by the handler of a PF's event. The holder of the mutex may be inside an operation of
 * that PF which waits for the handler to return: then this returns false after a timeout.
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
	if (--octo->lock_depth == 0)
		octo_hold_end(&octo->hold, octo_now(), rte_get_timer_hz());
	octo_lock_order_left(OCTO_RANK_CONTROL, octo->port_id);
	pthread_mutex_unlock(&octo->mutex);
}

/*
 * Let waiting threads take the mutex: pthread mutexes are unfair, and a thread that releases
 * one gets it again before others are awake. A process that was killed while waiting delays
 * this only once.
 */
void
octo_lock_give_way(struct octo_dev *octo)
{
	octo_askers_await_mortal(&octo->waiting, GIVE_WAY_US);
}

static void
has_counts(struct octo_dev *octo, int ret)
{
	/* a few counters may be older than the rest: each is stored at once */
	if (ret == EOWNERDEAD)
		pthread_mutex_consistent(&octo->counts_mutex);
	octo_lock_order_took(OCTO_RANK_COUNTS, octo->port_id);
}

void
octo_lock_counts(struct octo_dev *octo)
{
	octo_lock_order_wait(OCTO_RANK_COUNTS, octo->port_id);
	has_counts(octo, pthread_mutex_lock(&octo->counts_mutex));
}

/*
 * Called by the handler of a PF's event, for which a call of that PF may be waiting, hence the
 * timeout. Returns false if it has passed.
 */
bool
octo_lock_counts_in_time(struct octo_dev *octo)
{
	const struct timespec end = octo_wait_end(OCTO_EPOCH_TIMEOUT_US);
	const int ret = pthread_mutex_timedlock(&octo->counts_mutex, &end);

	if (ret == ETIMEDOUT)
		return false;
	has_counts(octo, ret);
	return true;
}

void
octo_unlock_counts(struct octo_dev *octo)
{
	octo_lock_order_left(OCTO_RANK_COUNTS, octo->port_id);
	pthread_mutex_unlock(&octo->counts_mutex);
}
