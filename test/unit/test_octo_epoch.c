/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <pthread.h>

#include "octo_test.h"
#include "octo_test_eal.h"

#include "octo_clock.h"
#include "octo_epoch.h"

#define LONG_US (10 * US_PER_S)

/* Time passes by being looked at, so that a thread that is given no CPU is not late. */
static RTE_ATOMIC(uint64_t) us;
static uint64_t us_per_look = 1;

static uint64_t
look(void)
{
	return rte_atomic_fetch_add_explicit(&us, us_per_look, rte_memory_order_relaxed) *
	       (rte_get_timer_hz() / US_PER_S);
}

static const struct octo_clock by_looks = {.now = look};

/* The one that waits has looked so often since. */
static void
await_looks(uint64_t n)
{
	const uint64_t end = rte_atomic_load_explicit(&us, rte_memory_order_relaxed) + n;

	while (rte_atomic_load_explicit(&us, rte_memory_order_relaxed) < end)
		octo_wait_us(100);
}

static void
test_enter_and_leave_say_inside(void **state)
{
	struct octo_epoch e = {0};

	(void)state;
	assert_false(octo_epoch_is_inside(&e));
	octo_epoch_enter(&e);
	assert_true(octo_epoch_is_inside(&e));
	octo_epoch_leave(&e);
	assert_false(octo_epoch_is_inside(&e));
}

static void
test_inside_survives_the_wrap(void **state)
{
	struct octo_epoch e = {UINT32_MAX - 1};

	(void)state;
	octo_epoch_enter(&e);
	assert_true(octo_epoch_is_inside(&e));
	octo_epoch_leave(&e);
	assert_false(octo_epoch_is_inside(&e));
}

/* A poller that died inside of a burst leaves the value odd to the next one. */
static void
test_inside_after_one_that_never_left(void **state)
{
	struct octo_epoch e = {0};
	struct octo_epoch *all[] = {&e};

	(void)state;
	octo_epoch_enter(&e);
	octo_epoch_enter(&e);
	assert_true(octo_epoch_is_inside(&e));
	assert_int_equal(octo_epoch_await(all, 1, 1000), -ETIMEDOUT);
	octo_epoch_leave(&e);
	assert_false(octo_epoch_is_inside(&e));
	octo_epoch_enter(&e);
	assert_true(octo_epoch_is_inside(&e));
}

static void
test_a_burst_to_come_is_reached(void **state)
{
	static const uint32_t starts[] = {1, UINT32_MAX - 20, UINT32_MAX};

	(void)state;
	/* zeroed, it is to come at once */
	assert_true(octo_epoch_reached(1, 0, 64));
	for (size_t i = 0; i < RTE_DIM(starts); i++) {
		const uint32_t then = starts[i] + 64 * OCTO_EPOCH_BURST;

		for (uint32_t now = starts[i]; now != then; now += OCTO_EPOCH_BURST)
			assert_false(octo_epoch_reached(now, then, 64));
		/* however long nobody looks: calls that are no bursts move it, too */
		for (uint32_t late = 1; late != 0; late <<= 1)
			assert_true(octo_epoch_reached(then + late, then, 64));
		assert_true(octo_epoch_reached(then, then, 64));
	}
}

static void
test_await_nobody(void **state)
{
	struct octo_epoch e = {0};
	struct octo_epoch *all[] = {NULL, &e, NULL};

	(void)state;
	assert_int_equal(octo_epoch_await(NULL, 0, 0), 0);
	assert_int_equal(octo_epoch_await(all, RTE_DIM(all), 0), 0);
}

static void
test_await_times_out_on_one_that_stays(void **state)
{
	struct octo_epoch e = {0};
	struct octo_epoch *all[] = {&e};
	uint64_t start = us;

	(void)state;
	us_per_look = 100;
	octo_epoch_enter(&e);
	assert_int_equal(octo_epoch_await(all, 1, 20000), -ETIMEDOUT);
	assert_in_range(us - start, 20000, 20300);
	us_per_look = 1;
	octo_epoch_leave(&e);
	assert_int_equal(octo_epoch_await(all, 1, 20000), 0);
}

static void *
ask_a_while(void *arg)
{
	struct octo_askers *a = arg;

	await_looks(200);
	octo_askers_leave(a);
	return NULL;
}

static void
test_await_waits_for_who_asks(void **state)
{
	struct octo_askers a = {0};
	pthread_t thread;

	(void)state;
	assert_int_equal(octo_askers_await(&a, 0), 0);
	octo_askers_enter(&a);
	octo_askers_enter(&a);
	octo_askers_leave(&a);
	assert_int_equal(octo_askers_await(&a, 1000), -ETIMEDOUT);
	assert_int_equal(octo_askers_await(&a, 1000), -ETIMEDOUT);
	assert_int_equal(pthread_create(&thread, NULL, ask_a_while, &a), 0);
	assert_int_equal(octo_askers_await(&a, LONG_US), 0);
	assert_int_equal(rte_atomic_load_explicit(&a.nb, rte_memory_order_relaxed), 0);
	pthread_join(thread, NULL);
}

/* One of three is killed: it is waited for once, and others as ever. */
static void
test_await_waits_once_for_who_is_killed(void **state)
{
	struct octo_askers a = {0};
	pthread_t thread;

	(void)state;
	octo_askers_enter(&a);
	assert_int_equal(octo_askers_await_mortal(&a, 1000), -ETIMEDOUT);
	assert_int_equal(octo_askers_await_mortal(&a, LONG_US), 0);
	octo_askers_enter(&a);
	octo_askers_enter(&a);
	octo_askers_leave(&a);
	assert_int_equal(pthread_create(&thread, NULL, ask_a_while, &a), 0);
	assert_int_equal(octo_askers_await_mortal(&a, LONG_US), 0);
	assert_int_equal(rte_atomic_load_explicit(&a.nb, rte_memory_order_relaxed), 1);
	pthread_join(thread, NULL);
}

/* It was given up, and comes back: from then on everybody is waited for. */
static void
test_await_after_one_that_was_not_killed(void **state)
{
	struct octo_askers a = {0};

	(void)state;
	octo_askers_enter(&a);
	assert_int_equal(octo_askers_await_mortal(&a, 1000), -ETIMEDOUT);
	octo_askers_leave(&a);
	assert_int_equal(octo_askers_await_mortal(&a, LONG_US), 0);
	octo_askers_enter(&a);
	assert_int_equal(octo_askers_await_mortal(&a, 1000), -ETIMEDOUT);
}

struct poller {
	pthread_t thread;
	struct octo_epoch *epoch;
	RTE_ATOMIC(uint32_t) entered;
	RTE_ATOMIC(uint32_t) may_leave;
	RTE_ATOMIC(uint32_t) stop;
	RTE_ATOMIC(uint32_t) last_words; /* plain data that draining publishes */
};

/* Enters, stays for a while after being told, leaves. */
static void *
stay_a_while(void *arg)
{
	struct poller *p = arg;

	octo_epoch_enter(p->epoch);
	rte_atomic_store_explicit(&p->entered, 1, rte_memory_order_release);
	while (!rte_atomic_load_explicit(&p->may_leave, rte_memory_order_acquire))
		octo_wait_us(100);
	await_looks(200);
	rte_atomic_store_explicit(&p->last_words, 1, rte_memory_order_relaxed);
	octo_epoch_leave(p->epoch);
	return NULL;
}

static void
await_entered(struct poller *p)
{
	while (!rte_atomic_load_explicit(&p->entered, rte_memory_order_acquire))
		octo_wait_us(100);
}

static void
check_await(uint64_t timeout_us)
{
	struct octo_epoch idle = {0}, busy = {0};
	struct octo_epoch *all[] = {&idle, NULL, &busy};
	struct poller p = {.epoch = &busy};

	assert_int_equal(pthread_create(&p.thread, NULL, stay_a_while, &p), 0);
	await_entered(&p);
	rte_atomic_store_explicit(&p.may_leave, 1, rte_memory_order_release);
	assert_int_equal(octo_epoch_await(all, RTE_DIM(all), timeout_us), 0);
	assert_int_equal(rte_atomic_load_explicit(&p.last_words, rte_memory_order_relaxed), 1);
	pthread_join(p.thread, NULL);
}

static void
test_await_waits_for_a_poller_inside(void **state)
{
	(void)state;
	check_await(LONG_US);
}

static void
test_await_takes_any_timeout(void **state)
{
	(void)state;
	check_await(UINT64_MAX);
	/* in timer cycles it is just beyond 64 bits */
	check_await(UINT64_MAX / rte_get_timer_hz() + 1);
}

/* One round: in a burst all the time but for an instant between two. */
static void *
poll_without_rest(void *arg)
{
	struct poller *p = arg;

	while (!rte_atomic_load_explicit(&p->stop, rte_memory_order_relaxed)) {
		octo_epoch_enter(p->epoch);
		rte_atomic_store_explicit(&p->entered, 1, rte_memory_order_relaxed);
		octo_epoch_leave(p->epoch);
	}
	return NULL;
}

static void
test_await_does_not_need_a_pause(void **state)
{
	struct octo_epoch e = {0};
	struct octo_epoch *all[] = {&e};
	struct poller p = {.epoch = &e};

	(void)state;
	assert_int_equal(pthread_create(&p.thread, NULL, poll_without_rest, &p), 0);
	await_entered(&p);
	for (int i = 0; i < 100; i++)
		assert_int_equal(octo_epoch_await(all, 1, LONG_US), 0);
	rte_atomic_store_explicit(&p.stop, 1, rte_memory_order_relaxed);
	pthread_join(p.thread, NULL);
}

/* What the epoch is for: a PF that is taken away while it is polled. */
struct pf {
	struct poller poller;
	RTE_ATOMIC(uint32_t) up;
	RTE_ATOMIC(uint32_t) stopped;
	RTE_ATOMIC(uint32_t) polls_after_stop;
};

/* A poll takes its time, in which the PF must not be stopped. */
static bool
is_stopped_meanwhile(struct pf *pf)
{
	for (int i = 0; i < 100; i++)
		if (rte_atomic_load_explicit(&pf->stopped, rte_memory_order_relaxed))
			return true;
	return false;
}

static void *
poll_pf(void *arg)
{
	struct pf *pf = arg;
	struct poller *p = &pf->poller;

	rte_atomic_store_explicit(&p->entered, 1, rte_memory_order_relaxed);
	while (!rte_atomic_load_explicit(&p->stop, rte_memory_order_relaxed)) {
		octo_epoch_enter(p->epoch);
		if (rte_atomic_load_explicit(&pf->up, rte_memory_order_relaxed) &&
		    is_stopped_meanwhile(pf))
			rte_atomic_fetch_add_explicit(&pf->polls_after_stop, 1,
						      rte_memory_order_relaxed);
		octo_epoch_leave(p->epoch);
	}
	return NULL;
}

static void
test_no_poll_after_await(void **state)
{
	struct octo_epoch e = {0};
	struct octo_epoch *all[] = {&e};
	struct pf pf = {.poller = {.epoch = &e}, .up = 1};

	(void)state;
	assert_int_equal(pthread_create(&pf.poller.thread, NULL, poll_pf, &pf), 0);
	await_entered(&pf.poller);
	for (int i = 0; i < 20000; i++) {
		rte_atomic_store_explicit(&pf.up, 0, rte_memory_order_relaxed);
		assert_int_equal(octo_epoch_await(all, 1, LONG_US), 0);
		rte_atomic_store_explicit(&pf.stopped, 1, rte_memory_order_relaxed);
		for (int j = 0; j < 100; j++)
			rte_pause();
		rte_atomic_store_explicit(&pf.stopped, 0, rte_memory_order_release);
		rte_atomic_store_explicit(&pf.up, 1, rte_memory_order_release);
	}
	rte_atomic_store_explicit(&pf.poller.stop, 1, rte_memory_order_relaxed);
	pthread_join(pf.poller.thread, NULL);
	assert_int_equal(pf.polls_after_stop, 0);
}

static int
setup(void **state)
{
	octo_clock = &by_looks;
	octo_epoch_init();
	octo_epoch_init();
	return octo_test_eal_init(state);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_enter_and_leave_say_inside),
		cmocka_unit_test(test_inside_survives_the_wrap),
		cmocka_unit_test(test_inside_after_one_that_never_left),
		cmocka_unit_test(test_a_burst_to_come_is_reached),
		cmocka_unit_test(test_await_nobody),
		cmocka_unit_test(test_await_times_out_on_one_that_stays),
		cmocka_unit_test(test_await_waits_for_a_poller_inside),
		cmocka_unit_test(test_await_waits_for_who_asks),
		cmocka_unit_test(test_await_waits_once_for_who_is_killed),
		cmocka_unit_test(test_await_after_one_that_was_not_killed),
		cmocka_unit_test(test_await_takes_any_timeout),
		cmocka_unit_test(test_await_does_not_need_a_pause),
		cmocka_unit_test(test_no_poll_after_await),
	};

	return cmocka_run_group_tests(tests, setup, octo_test_eal_cleanup);
}
