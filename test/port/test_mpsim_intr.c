/* SPDX-License-Identifier: BSD-3-Clause */

/* Rx interrupts of a PF of mpsim: when a queue is signalled, and when it is not. */

#include <errno.h>

#include <rte_epoll.h>
#include <rte_interrupts.h>

#include "octo_port.h"

#define FLOW 7
#define TAG ((void *)(uintptr_t)77)
#define LONG_US 10000

static const struct rte_eth_conf with_interrupts = {.intr_conf = {.rxq = 1}};

static uint16_t
start_pf_as(const char *args, const struct rte_eth_conf *conf)
{
	const struct octo_port_conf one = {.nb_pfs = 1, .all = args};

	octo_port_add_pfs(&one);
	octo_port_up_as(octo_port_pf(0), 2, conf);
	return octo_port_pf(0);
}

static void
listen_to(uint16_t port, uint16_t queue)
{
	assert_int_equal(rte_eth_dev_rx_intr_ctl_q(port, queue, RTE_EPOLL_PER_THREAD,
						   RTE_INTR_EVENT_ADD, TAG),
			 0);
}

/* A PF whose queue 0 gets all, and is listened to. */
static uint16_t
start_pf(const char *args)
{
	const uint16_t port = start_pf_as(args, &with_interrupts);

	listen_to(port, 0);
	return port;
}

/* Is a queue signalled within some time? */
static bool
is_signalled(uint64_t us)
{
	struct rte_epoll_event event[2];
	int n;

	octo_port_pass_us(us);
	n = rte_epoll_wait(RTE_EPOLL_PER_THREAD, event, RTE_DIM(event), 0);
	assert_in_range(n, 0, 1);
	assert_true(n == 0 || event[0].epdata.data == TAG);
	return n == 1;
}

static void
test_a_frame_is_signalled_and_waits(void **state)
{
	const uint16_t port = start_pf(NULL);
	struct octo_port_tally tally = {0};

	(void)state;
	assert_int_equal(rte_eth_dev_rx_intr_enable(port, 0), 0);
	assert_false(is_signalled(LONG_US));
	octo_port_send(port, 1, FLOW, 3);
	assert_true(is_signalled(LONG_US));
	assert_int_equal(rte_eth_rx_queue_count(port, 0), 3);
	octo_port_receive(port, 0, 3, &tally);
}

/* As hardware does it: what follows is found by the poller that was woken. */
static void
test_a_queue_is_signalled_once_each_time(void **state)
{
	const uint16_t port = start_pf(NULL);

	(void)state;
	assert_int_equal(rte_eth_dev_rx_intr_enable(port, 0), 0);
	octo_port_send(port, 1, FLOW, 1);
	assert_true(is_signalled(LONG_US));
	octo_port_send(port, 1, FLOW, 1);
	assert_false(is_signalled(LONG_US));
	assert_int_equal(rte_eth_dev_rx_intr_enable(port, 0), 0);
	assert_false(is_signalled(LONG_US));
	octo_port_send(port, 1, FLOW, 1);
	assert_true(is_signalled(LONG_US));
}

static void
test_a_queue_that_is_not_armed_is_silent(void **state)
{
	const uint16_t port = start_pf(NULL);

	(void)state;
	octo_port_send(port, 1, FLOW, 1);
	assert_false(is_signalled(LONG_US));
	assert_int_equal(rte_eth_dev_rx_intr_enable(port, 0), 0);
	assert_int_equal(rte_eth_dev_rx_intr_disable(port, 0), 0);
	octo_port_send(port, 1, FLOW, 1);
	assert_false(is_signalled(LONG_US));
	assert_int_equal(rte_eth_dev_rx_intr_enable(port, 1), 0);
	octo_port_send(port, 1, FLOW, 1);
	assert_false(is_signalled(LONG_US));
}

static void
test_a_frame_is_signalled_when_it_comes_out(void **state)
{
	const uint16_t port = start_pf("latency_us=100000");

	(void)state;
	assert_int_equal(rte_eth_dev_rx_intr_enable(port, 0), 0);
	octo_port_send(port, 1, FLOW, 1);
	assert_false(is_signalled(50000));
	assert_true(is_signalled(60000));
}

static void
test_a_restart_begins_anew(void **state)
{
	const uint16_t port = start_pf(NULL);

	(void)state;
	assert_int_equal(rte_eth_dev_rx_intr_enable(port, 0), 0);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_rx_intr_enable(port, 0), -ENOTSUP);
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_send(port, 1, FLOW, 1);
	assert_false(is_signalled(LONG_US));
	listen_to(port, 0);
	assert_int_equal(rte_eth_dev_rx_intr_enable(port, 0), 0);
	octo_port_send(port, 1, FLOW, 1);
	assert_true(is_signalled(LONG_US));
}

static void
assert_has_none(uint16_t port)
{
	assert_int_equal(rte_eth_dev_rx_intr_enable(port, 0), -ENOTSUP);
	assert_int_equal(rte_eth_dev_rx_intr_disable(port, 0), -ENOTSUP);
	assert_true(rte_eth_dev_rx_intr_ctl_q_get_fd(port, 0) < 0);
	octo_port_assert_arrives(port, FLOW, 0, 10);
}

static void
test_a_pf_without_interrupts(void **state)
{
	(void)state;
	assert_has_none(start_pf_as("caps=-rxintr", &with_interrupts));
}

static void
test_interrupts_that_nobody_asked_for(void **state)
{
	const struct rte_eth_conf none = {0};

	(void)state;
	assert_has_none(start_pf_as(NULL, &none));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_frame_is_signalled_and_waits),
		octo_port_test(test_a_queue_is_signalled_once_each_time),
		octo_port_test(test_a_queue_that_is_not_armed_is_silent),
		octo_port_test(test_a_frame_is_signalled_when_it_comes_out),
		octo_port_test(test_a_restart_begins_anew),
		octo_port_test(test_a_pf_without_interrupts),
		octo_port_test(test_interrupts_that_nobody_asked_for),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
