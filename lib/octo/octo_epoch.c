/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <eal_export.h>
#include <rte_cycles.h>
#include <rte_pause.h>

#include "octo_clock.h"
#include "octo_elapsed.h"
#include "octo_epoch.h"

/* Time for a store to leave any CPU's store buffer where membarrier is missing. */
#define NO_MEMBARRIER_WAIT_US 1000

/* Longer than most bursts take, and shorter than the shortest sleep. */
#define SPIN_US 20

static int
membarrier(int cmd)
{
	return (int)syscall(__NR_membarrier, cmd, 0, 0);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_epoch_init)
void
octo_epoch_init(void)
{
	membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED);
}

static void
flush_store_buffers(void)
{
	rte_atomic_thread_fence(rte_memory_order_seq_cst);
	if (membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0)
		octo_wait_us(NO_MEMBARRIER_WAIT_US);
}

/* Saturates: callers may pass any large number for an infinite time. */
static uint64_t
us_to_cycles(uint64_t us)
{
	uint64_t cycles;

	if (__builtin_mul_overflow(us, rte_get_timer_hz(), &cycles))
		return UINT64_MAX;
	return cycles / US_PER_S;
}

/* octo_elapsed(), as the waiting thread may have changed its CPU meanwhile. */
static uint64_t
elapsed(uint64_t start)
{
	return octo_elapsed(start, octo_now());
}

/* Returns whether the poller has left its present burst, if any, in time. */
static bool
leaves(struct octo_epoch *e, uint64_t start, uint64_t patience)
{
	const uint32_t seen = rte_atomic_load_explicit(&e->value, rte_memory_order_acquire);
	const uint64_t spin = elapsed(start) + us_to_cycles(SPIN_US);

	if ((seen & 1) == 0)
		return true;
	while (rte_atomic_load_explicit(&e->value, rte_memory_order_acquire) == seen) {
		const uint64_t waited = elapsed(start);

		if (waited > patience)
			return false;
		/* the poller may need this very CPU to leave its burst */
		if (waited < spin)
			rte_pause();
		else
			octo_wait_us(1);
	}
	return true;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_epoch_await)
int
octo_epoch_await(struct octo_epoch *const epochs[], unsigned int nb, uint64_t timeout_us)
{
	const uint64_t start = octo_now();
	const uint64_t patience = us_to_cycles(timeout_us);
	int ret = 0;

	flush_store_buffers();
	for (unsigned int i = 0; i < nb; i++)
		if (epochs[i] != NULL && !leaves(epochs[i], start, patience))
			ret = -ETIMEDOUT;
	return ret;
}

/* Waits until at most `few` threads are counted. Returns the smallest number that was seen. */
static uint32_t
await_few(struct octo_askers *a, uint32_t few, uint64_t timeout_us)
{
	const uint64_t start = octo_now();
	const uint64_t patience = us_to_cycles(timeout_us);
	uint32_t least;

	rte_atomic_thread_fence(rte_memory_order_seq_cst);
	least = rte_atomic_load_explicit(&a->nb, rte_memory_order_acquire);
	while (least > few && elapsed(start) <= patience) {
		uint32_t nb;

		octo_wait_us(1);
		nb = rte_atomic_load_explicit(&a->nb, rte_memory_order_acquire);
		least = RTE_MIN(least, nb);
	}
	return least;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_askers_await)
int
octo_askers_await(struct octo_askers *a, uint64_t timeout_us)
{
	return await_few(a, 0, timeout_us) == 0 ? 0 : -ETIMEDOUT;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_askers_await_mortal)
int
octo_askers_await_mortal(struct octo_askers *a, uint64_t timeout_us)
{
	/* no pair: no other data comes with the number */
	const uint32_t lost = rte_atomic_load_explicit(&a->nb_lost, rte_memory_order_relaxed);
	const uint32_t least = await_few(a, lost, timeout_us);

	/* fewer than lost: a thread that was given up was alive, after all */
	if (least != lost)
		rte_atomic_store_explicit(&a->nb_lost, least, rte_memory_order_relaxed);
	return least <= lost ? 0 : -ETIMEDOUT;
}
