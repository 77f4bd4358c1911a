/* SPDX-License-Identifier: BSD-3-Clause */

/* For how long the control mutex is held, and what a wrong order of locks leads to. */

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sys/resource.h>
#include <sys/wait.h>

#include <rte_log.h>

#include "octo_port.h"
#include "octo_port_fault.h"
#include "octo_private.h"

#define SRC_PORT 1000
#define SLOW_US 5000
/* Lower end of the bucket that SLOW_US and a little more belongs to. */
#define SLOW_FLOOR_US 4096
#define TEXT_MAX 4096

static const struct octo_port_conf two_pfs = {.nb_pfs = 2};

static uint16_t id;
static struct octo_hold_view during;

static struct octo_dev *
create(void)
{
	id = octo_port_create(&two_pfs);
	octo_port_up(id, 2);
	return octo_of(&rte_eth_devices[id]);
}

static struct octo_hold_view
view(void)
{
	struct octo_hold_view v;

	assert_int_equal(octo_view_hold(id, &v), 0);
	return v;
}

static uint64_t
holds_from(const struct octo_hold_view *v, uint64_t floor_us)
{
	for (unsigned int i = 0; i < OCTO_HOLD_BUCKETS; i++)
		if (octo_hold_floor_us(i) == floor_us)
			return v->holds[i];
	fail();
	return 0;
}

static void *
look(void *arg)
{
	octo_port_time_is_beside();
	during = view();
	return arg;
}

/* Of a PF that makes a rule: another thread asks meanwhile, and does not wait. */
static void
take_long(void)
{
	pthread_t thread;

	octo_sleep_us(SLOW_US);
	assert_int_equal(pthread_create(&thread, NULL, look, NULL), 0);
	pthread_join(thread, NULL);
}

static void
test_a_slow_pf_shows_in_its_bucket(void **state)
{
	struct octo_dev *octo = create();
	struct octo_hold_view before, after;
	struct rte_flow_error error;

	(void)state;
	before = view();
	octo_port_faults_on(1)->on_create = take_long;
	assert_non_null(octo_port_steer(id, SRC_PORT, 0, &error));
	after = view();
	assert_int_equal(holds_from(&after, SLOW_FLOOR_US), holds_from(&before, SLOW_FLOOR_US) + 1);
	assert_in_range(after.longest_ns, SLOW_US * 1000, SLOW_US * 1000 + 100000);
	assert_in_range(during.held_ns, SLOW_US * 1000, after.longest_ns);
	assert_int_equal(during.longest_ns, before.longest_ns);
	assert_int_equal(before.held_ns, 0);
	assert_int_equal(after.held_ns, 0);
	assert_int_equal(octo->lock_depth, 0);
}

static uint64_t
all_holds(void)
{
	const struct octo_hold_view v = view();
	uint64_t sum = 0;

	for (unsigned int i = 0; i < OCTO_HOLD_BUCKETS; i++)
		sum += v.holds[i];
	return sum;
}

static void
test_a_recursive_hold_counts_once(void **state)
{
	struct octo_dev *octo = create();
	const uint64_t before = all_holds();

	(void)state;
	octo_lock(octo);
	octo_lock(octo);
	octo_unlock(octo);
	assert_int_equal(all_holds(), before);
	octo_unlock(octo);
	assert_int_equal(all_holds(), before + 1);
}

static void *
die_with_lock(void *octo)
{
	octo_lock(octo);
	octo_lock(octo);
	return NULL;
}

/* The mutex is robust: the next thread's hold begins when it gets it. */
static void
test_a_dead_owner_leaves_no_hold(void **state)
{
	struct octo_dev *octo = create();
	pthread_t thread;
	uint64_t before;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, die_with_lock, octo), 0);
	pthread_join(thread, NULL);
	octo_port_pass_us_alone(SLOW_US);
	before = all_holds();
	octo_lock(octo);
	octo_assert_locked(octo);
	assert_in_range(view().held_ns, 1, 100000);
	octo_unlock(octo);
	assert_int_equal(all_holds(), before + 1);
}

static void *
die_with_counts(void *octo)
{
	octo_lock_counts(octo);
	return NULL;
}

/* As a reset of the statistics has no other mutex: only who takes this one heals it. */
static void
test_a_view_of_a_queue_takes_the_counts_mutex(void **state)
{
	struct octo_dev *octo = create();
	struct octo_view_queue queue;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, die_with_counts, octo), 0);
	pthread_join(thread, NULL);
	assert_int_equal(octo_view_queue(id, 0, &queue), 0);
	assert_int_equal(pthread_mutex_trylock(&octo->counts_mutex), 0);
	pthread_mutex_unlock(&octo->counts_mutex);
}

/* In a child process; what it logs goes to the test. @return its status of waitpid(). */
static int
run_child(void (*fn)(struct octo_dev *octo), struct octo_dev *octo, char text[TEXT_MAX])
{
	const struct rlimit no_core = {0};
	int out[2], status;
	size_t len = 0;
	ssize_t n;
	pid_t child;

	assert_int_equal(pipe(out), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		setrlimit(RLIMIT_CORE, &no_core);
		rte_openlog_stream(fdopen(out[1], "w"));
		fn(octo);
		_exit(0);
	}
	close(out[1]);
	while ((n = read(out[0], text + len, TEXT_MAX - 1 - len)) > 0)
		len += (size_t)n;
	text[len] = '\0';
	close(out[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void
assert_aborts(void (*fn)(struct octo_dev *octo), struct octo_dev *octo, const char *saying,
	      const char *and)
{
	char text[TEXT_MAX];
	const int status = run_child(fn, octo, text);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
	assert_non_null(strstr(text, saying));
	assert_non_null(strstr(text, and));
}

static void
assert_goes_on(void (*fn)(struct octo_dev *octo), struct octo_dev *octo)
{
	char text[TEXT_MAX];
	const int status = run_child(fn, octo, text);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void
lock_below_counts(struct octo_dev *octo)
{
	octo_lock_counts(octo);
	octo_lock(octo);
}

static void
register_below_lock(struct octo_dev *octo)
{
	octo_lock(octo);
	octo_registry_add(octo);
}

static void
register_below_reader(struct octo_dev *octo)
{
	octo_registry_get(octo->port_id);
	octo_registry_remove(octo->port_id, octo->owner_id);
}

static void
return_below_lock(struct octo_dev *octo)
{
	octo_lock(octo);
	octo_legs_return(octo->port_id, octo->owner_id);
}

static void
lock_two(struct octo_dev *octo)
{
	static struct octo_dev other = {.port_id = RTE_MAX_ETHPORTS - 1};

	octo_lock_init(&other);
	octo_lock(octo);
	octo_lock(&other);
}

static void
test_a_wrong_order_aborts(void **state)
{
	struct octo_dev *octo = create();

	(void)state;
	assert_aborts(lock_below_counts, octo, "the control mutex of port", "the counts mutex of");
	assert_aborts(register_below_lock, octo, "the registry of port", "the control mutex of");
	assert_aborts(register_below_reader, octo, "the registry of port", "while the registry of");
	assert_aborts(return_below_lock, octo, "the registry of port", "the control mutex of");
	assert_aborts(lock_two, octo, "the control mutex of port", "while the control mutex of");
}

static void
lock_in_order(struct octo_dev *octo)
{
	octo_registry_get(octo->port_id);
	octo_lock(octo);
	octo_lock(octo);
	octo_registry_get(octo->port_id);
	octo_registry_put();
	octo_lock_counts(octo);
	octo_lock_counts(octo);
	octo_lock(octo);
	octo_unlock(octo);
	octo_unlock_counts(octo);
	octo_unlock_counts(octo);
	octo_unlock(octo);
	octo_assert_locked(octo);
	octo_unlock(octo);
	octo_registry_put();
	/* nothing is left of it */
	octo_registry_add(octo);
}

/* Who does not wait, or not for long, cannot deadlock. */
static void
try_below_counts(struct octo_dev *octo)
{
	octo_lock_counts(octo);
	if (!octo_lock_try(octo) || !octo_lock_in_time(octo))
		_exit(1);
	octo_unlock(octo);
	octo_unlock(octo);
}

static void
test_who_cannot_deadlock_goes_on(void **state)
{
	struct octo_dev *octo = create();

	(void)state;
	assert_goes_on(lock_in_order, octo);
	assert_goes_on(try_below_counts, octo);
}

static void
need_lock(struct octo_dev *octo)
{
	octo_assert_locked(octo);
}

static void
need_lock_below_counts(struct octo_dev *octo)
{
	octo_lock_counts(octo);
	octo_assert_locked(octo);
}

static void
follow(struct octo_dev *octo)
{
	octo_sync_step_locked(octo);
}

static void
follow_in_time(struct octo_dev *octo)
{
	OCTO_LOCKED(octo, octo_sync_step_locked(octo));
	if (!octo_lock_in_time(octo))
		_exit(1);
	octo_sync_step_locked(octo);
	octo_unlock(octo);
}

static void
test_a_function_that_needs_the_mutex_aborts_without(void **state)
{
	struct octo_dev *octo = create();

	(void)state;
	assert_aborts(need_lock, octo, "need_lock() is called without", "the control mutex of");
	assert_aborts(need_lock_below_counts, octo, "() is called without", "the control mutex");
	assert_aborts(follow, octo, "octo_sync_step_locked() is called without",
		      "the control mutex");
	assert_goes_on(follow_in_time, octo);
}

/* Also while another thread has it. */
static void
test_the_mutex_is_its_thread_s(void **state)
{
	struct octo_dev *octo = create();

	(void)state;
	octo_lock(octo);
	octo_unlock(octo);
	assert_aborts(octo_unlock, octo, "is released, and is not held", "the control mutex");
	assert_aborts(octo_unlock_counts, octo, "is released, and is not held", "the counts mutex");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_slow_pf_shows_in_its_bucket),
		octo_port_test(test_a_recursive_hold_counts_once),
		octo_port_test(test_a_dead_owner_leaves_no_hold),
		octo_port_test(test_a_view_of_a_queue_takes_the_counts_mutex),
		octo_port_test(test_a_wrong_order_aborts),
		octo_port_test(test_who_cannot_deadlock_goes_on),
		octo_port_test(test_a_function_that_needs_the_mutex_aborts_without),
		octo_port_test(test_the_mutex_is_its_thread_s),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
