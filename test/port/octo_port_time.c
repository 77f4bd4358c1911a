/* SPDX-License-Identifier: BSD-3-Clause */

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

#include <sys/queue.h>

#include <rte_alarm.h>
#include <rte_interrupts.h>

#include "octo_agent.h"
#include "octo_port.h"
#include "octo_private.h"

/* For what may come any moment. */
#define LOOK_US 1000
/* Of the drivers' clock, for whatever a test waits for. */
#define PATIENCE_S 60
/* So far the time may get ahead of a thread of the test. */
#define AHEAD_US 100
/* What it takes to look at the clock, so that loops until some time end. */
#define READ_NS 500
/* Of those who wait for another thread. */
#define WAIT_US 20

static RTE_ATOMIC(uint64_t) now;
static bool is_real;

/* Called while a driver sleeps, every so often. */
#define MEANWHILE_US 20
static void (*meanwhile)(void);

static __thread bool is_beside;
static RTE_ATOMIC(bool) beside_sleeps;

/* An alarm that goes off in EAL's interrupt thread when its time has come. */
struct timer {
	TAILQ_ENTRY(timer) list;
	uint64_t due;
	void (*fn)(void *arg);
	void *arg;
};

static pthread_mutex_t timers_lock = PTHREAD_MUTEX_INITIALIZER;
static TAILQ_HEAD(, timer) timers = TAILQ_HEAD_INITIALIZER(timers);

/* Octo ports that are started; whose round it is holds the lock. */
static pthread_mutex_t stepped_lock = PTHREAD_MUTEX_INITIALIZER;
static struct stepped {
	struct octo_dev *octo;
	uint64_t due;
} stepped[RTE_MAX_ETHPORTS];

static uint64_t
cycles(uint64_t us)
{
	return us * rte_get_timer_hz() / US_PER_S;
}

static uint64_t
time_now(void)
{
	return rte_atomic_load_explicit(&now, rte_memory_order_acquire);
}

static uint64_t
read_clock(void)
{
	const uint64_t read = READ_NS * rte_get_timer_hz() / NS_PER_S;

	return is_beside ? time_now() :
			   rte_atomic_fetch_add_explicit(&now, read, rte_memory_order_acq_rel);
}

/* The first whose time has come, or NULL. */
static struct timer *
take_due(uint64_t when)
{
	struct timer *t;

	pthread_mutex_lock(&timers_lock);
	TAILQ_FOREACH(t, &timers, list)
		if (t->due <= when)
			break;
	if (t != NULL)
		TAILQ_REMOVE(&timers, t, list);
	pthread_mutex_unlock(&timers_lock);
	return t;
}

static void
move_on(uint64_t us)
{
	struct timer *t;

	rte_atomic_fetch_add_explicit(&now, cycles(us), rte_memory_order_acq_rel);
	while ((t = take_due(time_now())) != NULL) {
		rte_eal_alarm_set(1, t->fn, t->arg);
		free(t);
	}
}

static void
sleep_beside(uint64_t us)
{
	const uint64_t end = time_now() + cycles(us);

	rte_atomic_store_explicit(&beside_sleeps, true, rte_memory_order_release);
	while (time_now() < end && !octo_port_thread_is_to_stop())
		octo_wait_us(WAIT_US);
	rte_atomic_store_explicit(&beside_sleeps, false, rte_memory_order_release);
}

/* The test's own traffic, in as much of the time as it takes to wait for it. */
static void
go_on_meanwhile(uint64_t *us)
{
	void (*fn)(void) = meanwhile;
	static uint64_t short_us;

	if (fn == NULL || rte_thread_is_intr())
		return;
	/* it is not called again while it runs */
	meanwhile = NULL;
	for (; *us > MEANWHILE_US; *us -= MEANWHILE_US) {
		fn();
		move_on(MEANWHILE_US);
	}
	/* of many short sleeps */
	short_us += *us;
	if (short_us >= MEANWHILE_US) {
		short_us = 0;
		fn();
	}
	meanwhile = fn;
}

void
octo_port_meanwhile(void (*fn)(void))
{
	meanwhile = fn;
}

/* Who sleeps may hold a lock, so that nobody is waited for. */
static void
sleep_us(uint64_t us)
{
	if (is_beside) {
		sleep_beside(us);
		return;
	}
	go_on_meanwhile(&us);
	move_on(us);
	if (octo_port_thread_runs())
		octo_wait_us(RTE_MIN(us, (uint64_t)WAIT_US));
}

static int
set_alarm(uint64_t us, void (*fn)(void *arg), void *arg)
{
	struct timer *t = malloc(sizeof(*t));

	if (t == NULL)
		return -ENOMEM;
	*t = (struct timer){.due = time_now() + cycles(us), .fn = fn, .arg = arg};
	pthread_mutex_lock(&timers_lock);
	TAILQ_INSERT_TAIL(&timers, t, list);
	pthread_mutex_unlock(&timers_lock);
	return 0;
}

static const struct octo_clock clock_of_test = {
	.now = read_clock,
	.sleep_us = sleep_us,
	.alarm = set_alarm,
};

/* In place of the control thread's: see --wrap in meson.build. */
int __real_octo_ctrl_start(struct octo_dev *octo);
int __wrap_octo_ctrl_start(struct octo_dev *octo);
void __real_octo_ctrl_stop(struct octo_dev *octo);
void __wrap_octo_ctrl_stop(struct octo_dev *octo);

int
__wrap_octo_ctrl_start(struct octo_dev *octo)
{
	if (is_real)
		return __real_octo_ctrl_start(octo);
	pthread_mutex_lock(&stepped_lock);
	stepped[octo->port_id] = (struct stepped){.octo = octo, .due = time_now()};
	pthread_mutex_unlock(&stepped_lock);
	return 0;
}

void
__wrap_octo_ctrl_stop(struct octo_dev *octo)
{
	__real_octo_ctrl_stop(octo);
	pthread_mutex_lock(&stepped_lock);
	stepped[octo->port_id].octo = NULL;
	pthread_mutex_unlock(&stepped_lock);
}

/*
 * An agent that the test plays answers when the test goes on: whoever waits for that in the test's
 * own thread waits in vain, and the time for it passes here.
 */
#define BRIEFLY_US 11000
#define CREDIT_US 1100000

int __real_octo_agent_wait(struct octo_agent *agent, uint64_t since);
int __wrap_octo_agent_wait(struct octo_agent *agent, uint64_t since);
int __real_octo_agent_wait_briefly(struct octo_agent *agent, uint64_t since);
int __wrap_octo_agent_wait_briefly(struct octo_agent *agent, uint64_t since);

bool (*octo_port_agent_answers)(void);

/* Whoever is the agent takes a moment. */
#define ANSWER_US 20

static void
wait_in_vain(struct octo_agent *agent, uint64_t us)
{
	if (octo_port_agent_answers != NULL) {
		octo_agent_stream_flush(&agent->stream);
		if (octo_port_agent_answers())
			us = ANSWER_US;
	}
	if (!is_beside && !is_real && !octo_port_thread_runs())
		octo_sleep_us(us);
}

int
__wrap_octo_agent_wait(struct octo_agent *agent, uint64_t since)
{
	wait_in_vain(agent, CREDIT_US);
	return __real_octo_agent_wait(agent, since);
}

int
__wrap_octo_agent_wait_briefly(struct octo_agent *agent, uint64_t since)
{
	wait_in_vain(agent, BRIEFLY_US);
	return __real_octo_agent_wait_briefly(agent, since);
}

static bool
is_woken(const struct octo_dev *octo)
{
	struct pollfd fd = {.fd = octo->ctrl.wake_fd, .events = POLLIN};
	uint64_t count;

	return poll(&fd, 1, 0) > 0 && read(fd.fd, &count, sizeof(count)) > 0;
}

/* Returns whether anything was due. */
static bool
step_all(void)
{
	bool any = false;

	pthread_mutex_lock(&stepped_lock);
	for (unsigned int i = 0; i < RTE_DIM(stepped); i++) {
		struct stepped *s = &stepped[i];

		if (s->octo == NULL || (!is_woken(s->octo) && time_now() < s->due))
			continue;
		s->due = time_now() + cycles(MS_PER_S * octo_ctrl_step(s->octo, time_now()));
		any = true;
	}
	pthread_mutex_unlock(&stepped_lock);
	return any;
}

/* The test waits for the interrupt thread, in which a callback of the test waits for time. */
static struct {
	sem_t wake;
	sem_t served;
	RTE_ATOMIC(bool) waits;
	RTE_ATOMIC(uint64_t) us; /* that are to pass */
} interrupts;

static void pass_us(uint64_t us, void (*await)(void));

static void
do_nothing(void)
{
}

static void
end_wait(void *arg)
{
	RTE_SET_USED(arg);
	rte_atomic_store_explicit(&interrupts.waits, false, rte_memory_order_release);
	sem_post(&interrupts.wake);
}

void
octo_port_await_interrupts(void)
{
	uint64_t us;

	if (rte_thread_is_intr())
		return;
	rte_atomic_store_explicit(&interrupts.waits, true, rte_memory_order_release);
	assert_int_equal(rte_eal_alarm_set(1, end_wait, NULL), 0);
	for (;;) {
		while (sem_wait(&interrupts.wake) != 0)
			continue;
		us = rte_atomic_exchange_explicit(&interrupts.us, 0, rte_memory_order_acquire);
		if (us == 0)
			return;
		pass_us(us, do_nothing);
		sem_post(&interrupts.served);
	}
}

/* By the interrupt thread. */
static void
have_pass_us(uint64_t us)
{
	if (!rte_atomic_load_explicit(&interrupts.waits, rte_memory_order_acquire)) {
		octo_sleep_us(us);
		octo_wait_us(WAIT_US);
		return;
	}
	rte_atomic_store_explicit(&interrupts.us, RTE_MAX(us, UINT64_C(1)),
				  rte_memory_order_release);
	sem_post(&interrupts.wake);
	while (sem_wait(&interrupts.served) != 0)
		continue;
}

/* When something is due next, at the latest then. */
static uint64_t
next_due(uint64_t latest)
{
	const struct timer *t;

	pthread_mutex_lock(&stepped_lock);
	for (unsigned int i = 0; i < RTE_DIM(stepped); i++)
		if (stepped[i].octo != NULL)
			latest = RTE_MIN(latest, stepped[i].due);
	pthread_mutex_unlock(&stepped_lock);
	pthread_mutex_lock(&timers_lock);
	TAILQ_FOREACH(t, &timers, list)
		latest = RTE_MIN(latest, t->due);
	pthread_mutex_unlock(&timers_lock);
	return latest;
}

static void
go_on(uint64_t end, void (*await)(void))
{
	const uint64_t next = next_due(end);
	const uint64_t us = next <= time_now() ?
				    0 :
				    (next - time_now()) * US_PER_S / rte_get_timer_hz();

	move_on(us + 1);
	await();
	while (step_all() && time_now() < end)
		await();
	await();
}

static void
pass_us(uint64_t us, void (*await)(void))
{
	static uint64_t ahead;
	const uint64_t end = time_now() + cycles(us);

	/* what nobody can notice is done in one go */
	if (next_due(end) == end && us < AHEAD_US) {
		move_on(us);
		if (step_all())
			await();
	} else {
		while (time_now() < end)
			go_on(end, await);
	}
	if (time_now() < ahead + cycles(AHEAD_US))
		return;
	octo_port_thread_go_around();
	ahead = time_now();
}

void
octo_port_pass_us(uint64_t us)
{
	if (octo_clock == NULL || is_beside)
		octo_sleep_us(us);
	else if (rte_thread_is_intr())
		have_pass_us(us);
	else
		pass_us(us, octo_port_await_interrupts);
}

void
octo_port_pass_us_alone(uint64_t us)
{
	pass_us(us, do_nothing);
}

bool
octo_port_await_more(uint64_t since)
{
	if (octo_clock != NULL && octo_now() - since >= PATIENCE_S * rte_get_timer_hz())
		return false;
	octo_port_pass_us(LOOK_US);
	return true;
}

void
octo_port_time_start(void)
{
	/* any time, but none that a zero could be taken for */
	rte_atomic_store_explicit(&now, 1000 * rte_get_timer_hz(), rte_memory_order_release);
	octo_clock = &clock_of_test;
	sem_init(&interrupts.wake, 0, 0);
	sem_init(&interrupts.served, 0, 0);
}

void
octo_port_time_end_test(void)
{
	meanwhile = NULL;
	is_real = false;
	octo_clock = &clock_of_test;
}

void
octo_port_time_is_real(void)
{
	is_real = true;
	octo_clock = NULL;
}

void
octo_port_time_is_beside(void)
{
	is_beside = true;
}

bool
octo_port_time_beside_sleeps(void)
{
	return rte_atomic_load_explicit(&beside_sleeps, rte_memory_order_acquire);
}
