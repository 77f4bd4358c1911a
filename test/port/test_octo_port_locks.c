/* SPDX-License-Identifier: BSD-3-Clause */

/* For how long the control mutex is held. */

#include <pthread.h>

#include "octo_port.h"
#include "octo_port_fault.h"
#include "octo_private.h"

#define SRC_PORT 1000
#define SLOW_US 5000
/* Lower end of the bucket that SLOW_US and a little more belongs to. */
#define SLOW_FLOOR_US 4096

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
	assert_in_range(view().held_ns, 1, 100000);
	octo_unlock(octo);
	assert_int_equal(all_holds(), before + 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_slow_pf_shows_in_its_bucket),
		octo_port_test(test_a_recursive_hold_counts_once),
		octo_port_test(test_a_dead_owner_leaves_no_hold),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
