/* SPDX-License-Identifier: BSD-3-Clause */

/* Rules are brought to what is wanted, also if that changes on the way. */

#include <errno.h>

#include "octo_port.h"
#include "octo_port_fault.h"

#include "octo_private.h"

#define RULES 200
#define QUEUE 1

static const struct octo_port_conf two_pfs = {.replug = true};

static struct octo_dev *
dev_of(uint16_t port)
{
	return octo_of(&rte_eth_devices[port]);
}

static unsigned int
led_to(const struct octo_dev *octo, uint8_t pf)
{
	const struct rte_flow *rule;
	unsigned int n = 0;

	TAILQ_FOREACH(rule, &octo->rules, next)
		n += octo_rule_leads_to(octo, rule, pf);
	return n;
}

/* The first slice of the queue's flows is led to PF 0; the caller has the mutex then. */
static struct octo_dev *
begin_walk(void)
{
	const uint16_t port = octo_port_create(&two_pfs);
	struct octo_dev *octo = dev_of(port);

	octo_port_up(port, 2);
	for (uint16_t i = 0; i < RULES; i++)
		assert_non_null(octo_port_steer(port, 100 + i, QUEUE, NULL));
	octo_port_pass_us(100000);
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(1)), 0);
	octo_lock(octo);
	octo_link_refresh(octo);
	assert_true(octo_sync_step_locked(octo));
	assert_true(octo->sync.queue[QUEUE].walking);
	return octo;
}

static void
test_the_tier_is_dropped_on_the_way(void **state)
{
	struct octo_dev *octo = begin_walk();
	const unsigned int led = led_to(octo, 0);

	(void)state;
	assert_in_range(led, 1, RULES - 1);
	octo->tier = OCTO_TIER_QUEUE;
	while (octo_sync_step_locked(octo))
		continue;
	assert_int_equal(led_to(octo, 0), led);
	octo->tier = OCTO_TIER_EXACT;
	octo_unlock(octo);
}

static void
test_a_mark_on_the_way(void **state)
{
	struct octo_dev *octo = begin_walk();

	(void)state;
	octo_sync_mark_lost_locked(octo, 0);
	assert_false(octo->sync.queue[QUEUE].walking);
	while (octo_sync_step_locked(octo))
		continue;
	assert_int_equal(led_to(octo, 0), RULES);
	octo_unlock(octo);
}

/* Flows that cannot follow to one PF wait for the next try, and go to another PF at once. */
static void
test_a_delay_is_of_one_pf(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_tally tally = {0};
	struct octo_port_faults *proxy;
	uint64_t since;

	(void)state;
	octo_port_up(port, 2);
	proxy = octo_port_faults_on(0);
	assert_non_null(octo_port_steer(port, 7, QUEUE, NULL));
	octo_port_pass_us(10000);
	proxy->create_transfer = ENOSPC;
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(1)), 0);
	octo_port_pass_us(4000000);
	assert_int_not_equal(octo_port_rule_pf(port, 7), 0);
	proxy->create_transfer = 0;
	assert_non_null(octo_port_steer(port, 8, QUEUE, NULL));
	octo_port_pass_us(10000);
	assert_int_equal(octo_port_rule_pf(port, 8), 0);
	assert_int_equal(rte_eth_dev_set_link_up(octo_port_pf(1)), 0);
	octo_port_pass_us(10000);
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(0)), 0);
	since = octo_now();
	octo_port_await((octo_port_poll(port, QUEUE, 32, &tally), octo_port_rule_pf(port, 8) == 1));
	assert_true(octo_now() - since < rte_get_timer_hz() / 10);
}

/* Rules that are created before the first look at the links are looked at as well. */
static void
test_a_link_comes_up_before_the_first_look(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_tally tally = {0};

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, QUEUE, NULL));
	octo_port_pass_us(100000);
	assert_int_equal(octo_port_rule_pf(port, 7), 1);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(1)), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_non_null(octo_port_steer(port, 8, QUEUE, NULL));
	assert_int_equal(rte_eth_dev_set_link_up(octo_port_pf(1)), 0);
	for (uint16_t src_port = 7; src_port < 9; src_port++)
		octo_port_await((octo_port_poll(port, QUEUE, 32, &tally),
				 octo_port_rule_pf(port, src_port) == 1));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_the_tier_is_dropped_on_the_way),
		octo_port_test(test_a_mark_on_the_way),
		octo_port_test(test_a_delay_is_of_one_pf),
		octo_port_test(test_a_link_comes_up_before_the_first_look),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
