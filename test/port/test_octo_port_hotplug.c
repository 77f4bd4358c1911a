/* SPDX-License-Identifier: BSD-3-Clause */

/* PFs that cannot come back at once, and ports that do not wait for them. */

#include <pthread.h>
#include <stdio.h>

#include <ethdev_driver.h>
#include <rte_alarm.h>

#include "mpsim_control.h"
#include "octo_port_async.h"
#include "octo_port_fault.h"

static const struct octo_port_conf two_pfs = {.replug = true};

#define REMOVALS 20
/* Rules of a table are made one by one on a PF that came when the port was stopped. */
static void
test_a_pf_joins_without_flow_queues(void **state)
{
	struct octo_port_table t;
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow *flow;

	(void)state;
	assert_int_equal(octo_port_configure(port, 2), 0);
	assert_int_equal(octo_port_flow_queues(port, 1, 16, NULL), 0);
	octo_port_table_create(&t, port, 64);
	octo_port_remove_pf(1);
	octo_port_add_pf(&two_pfs, 1);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_true(octo_port_pf_is_started(port, 1));
	flow = octo_port_enqueue(&t, 7, 1, false, NULL);
	assert_non_null(flow);
	octo_port_pull(port, 7, RTE_FLOW_OP_SUCCESS);
	octo_port_assert_arrives(port, 7, 1, 10);
	assert_int_equal(octo_port_enqueue_destroy(port, flow, 7, false), 0);
	octo_port_pull(port, 7, RTE_FLOW_OP_SUCCESS);
	octo_port_table_destroy(&t);
}

static RTE_ATOMIC(bool) came_by_the_way;

static int
see_who_probes(uint16_t port, enum rte_eth_event_type event, void *arg, void *ret)
{
	const pthread_t *starter = arg;

	RTE_SET_USED(port);
	RTE_SET_USED(event);
	RTE_SET_USED(ret);
	rte_atomic_store_explicit(&came_by_the_way, !pthread_equal(pthread_self(), *starter),
				  rte_memory_order_relaxed);
	return 0;
}

/* EAL's list of devices is for one thread at a time: whoever starts the port waits for that. */
static void
test_a_pf_is_probed_in_one_thread_only(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	pthread_t self = pthread_self();

	(void)state;
	octo_port_up(port, 2);
	octo_port_remove_pf(1);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, see_who_probes, &self);
	assert_int_equal(rte_eth_dev_start(port), 0);
	rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, see_who_probes, &self);
	assert_true(octo_port_pf_is_started(port, 1));
	assert_true(rte_atomic_load_explicit(&came_by_the_way, rte_memory_order_relaxed));
}

/* It has room for one rule of two: it is tried again, but ever less often. */
static void
test_a_pf_without_room_is_put_off(void **state)
{
	const struct octo_port_conf full = {.replug = true, .pf = {[1] = "arfs_entries=1"}};
	struct rte_eth_stats before, after;
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_faults *faults;

	(void)state;
	octo_port_up(port, 2);
	for (uint16_t i = 0; i < 2; i++)
		assert_non_null(octo_port_steer(port, 100 + i, i, NULL));
	octo_port_assert_arrives(port, 101, 1, 10);
	assert_int_equal(rte_eth_stats_get(port, &before), 0);
	octo_port_remove_pf(1);
	octo_port_add_pf(&full, 1);
	faults = octo_port_faults_on(1);
	for (int i = 0; i < 200; i++) {
		assert_false(octo_port_pf_is_started(port, 1));
		assert_int_equal(rte_eth_stats_get(port, &after), 0);
		assert_true(after.ipackets >= before.ipackets);
		before = after;
		octo_port_pass_us(1000);
	}
	octo_port_assert_arrives(port, 101, 1, 10);
	/* a try starts it and stops it */
	assert_in_range(faults->stops, 0, 3);
	octo_port_faults_off();
	octo_port_remove_pf(1);
	octo_port_add_pf(&two_pfs, 1);
	octo_port_await(octo_port_pf_is_started(port, 1));
}

/* A key, and no use for it. */
static void
test_a_pf_comes_back_to_a_port_without_rss(void **state)
{
	uint8_t key[40] = {1};
	const struct rte_eth_conf conf = {
		.rx_adv_conf = {.rss_conf = {.rss_key = key, .rss_key_len = sizeof(key)}},
	};
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up_as(port, 1, &conf);
	octo_port_remove_pf(1);
	octo_port_add_pf(&two_pfs, 1);
	octo_port_await(octo_port_pf_is_started(port, 1));
}

/* A device that somebody removes for long, with the lock of its bus. */
#define OTHER "net_mpsim7"

static struct {
	uint16_t port;
	uint16_t other;
	bool done;
} stopping;

static int
stop_port(uint16_t port, enum rte_eth_event_type event, void *arg, void *ret)
{
	RTE_SET_USED(event);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	if (port != stopping.other || stopping.done)
		return 0;
	/* until a PF that is missing is probed, which waits for the lock */
	octo_port_pass_us_alone(1300000);
	stopping.done = rte_eth_dev_stop(stopping.port) == 0;
	return 0;
}

/* As if the bus removed the port, while a PF is looked for on it. */
static void
test_a_port_stops_while_a_pf_is_probed(void **state)
{
	(void)state;
	stopping.port = octo_port_create(&two_pfs);
	assert_int_equal(rte_eal_hotplug_add("vdev", OTHER, "nic=U"), 0);
	stopping.other = octo_port_pf(7);
	stopping.done = false;
	assert_int_equal(
		rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_DESTROY, stop_port, NULL),
		0);
	octo_port_up(stopping.port, 2);
	octo_port_remove_pf(1);
	assert_int_equal(rte_eal_hotplug_remove("vdev", OTHER), 0);
	rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_DESTROY, stop_port, NULL);
	assert_true(stopping.done);
	/* it was probed, and joins */
	octo_port_await(octo_port_pf_is_there(1));
	octo_port_await_interrupts();
	assert_int_equal(rte_eth_dev_start(stopping.port), 0);
	assert_true(octo_port_pf_is_started(stopping.port, 1));
}

/* What is probed for a port that has gone meanwhile is removed again: the teardown looks. */
static void
test_a_port_goes_while_a_pf_is_probed(void **state)
{
	(void)state;
	for (int i = 0; i < REMOVALS; i++) {
		uint16_t port = octo_port_create(&two_pfs);

		octo_port_up(port, 2);
		octo_port_remove_pf(1);
		/* about when it is looked for first */
		octo_port_pass_us(i < 2 ? 995000 + 5000 * (unsigned int)i : 1000);
		octo_port_destroy();
	}
}

static RTE_ATOMIC(bool) is_let_go;

static void
let_go(void *arg)
{
	RTE_SET_USED(arg);
	assert_int_equal(rte_eal_hotplug_remove("vdev", "net_mpsim1"), 0);
	rte_atomic_store_explicit(&is_let_go, true, rte_memory_order_release);
}

static int
let_go_first(uint16_t port, enum rte_eth_event_type event, void *arg, void *ret)
{
	RTE_SET_USED(port);
	RTE_SET_USED(event);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	return rte_eal_alarm_set(1, let_go, NULL);
}

/* The owner may be faster than the machine: the device is out of its slot nevertheless. */
static void
test_a_pf_that_is_let_go_is_out(void **state)
{
	uint16_t pf;

	(void)state;
	octo_port_add_pfs(&two_pfs);
	pf = octo_port_pf(1);
	rte_eth_dev_callback_register(pf, RTE_ETH_EVENT_INTR_RMV, let_go_first, NULL);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,remove"), 0);
	octo_port_await(rte_atomic_load_explicit(&is_let_go, rte_memory_order_acquire));
	assert_true(rte_eal_hotplug_add("vdev", "net_mpsim1", "nic=T") < 0);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,plug"), 0);
	octo_port_await(octo_port_pf_is_there(1));
	/* ports of later tests have its id */
	assert_int_equal(octo_port_pf(1), pf);
	rte_eth_dev_callback_unregister(pf, RTE_ETH_EVENT_INTR_RMV, let_go_first, NULL);
}

/* A device that octo has probed has a second port, which is somebody else's. */
static void
test_a_device_whose_other_port_exists_is_kept(void **state)
{
	uint16_t port, first, second;
	struct rte_eth_dev *dev;

	(void)state;
	if (rte_eal_hotplug_add("vdev", OCTO_PORT_NAME, "pf=net_null0,pf=net_null1") != 0)
		skip(); /* this DPDK has no net_null */
	assert_int_equal(rte_eth_dev_get_port_by_name(OCTO_PORT_NAME, &port), 0);
	assert_int_equal(rte_eth_dev_get_port_by_name("net_null0", &first), 0);
	dev = rte_eth_dev_allocate("second");
	assert_non_null(dev);
	dev->device = rte_eth_devices[first].device;
	rte_eth_dev_probing_finish(dev);
	octo_port_close_and_remove(port);
	assert_int_equal(rte_eth_dev_get_port_by_name("second", &second), 0);
	assert_int_equal(rte_eth_dev_get_port_by_name("net_null0", &first), 0);
	assert_true(rte_eth_dev_get_port_by_name("net_null1", &port) != 0);
	assert_int_equal(rte_eth_dev_release_port(dev), 0);
	assert_int_equal(rte_eal_hotplug_remove("vdev", "net_null0"), 0);
}

static unsigned int
lines_with(FILE *log, const char *text)
{
	char line[256];
	unsigned int n = 0;

	rewind(log);
	while (fgets(line, sizeof(line), log) != NULL)
		n += strstr(line, text) != NULL;
	return n;
}

/* Two ports wait for PF 1: port 0 over PFs 0 and 1, the other one over PFs 2 and 1. */
static uint16_t
create_rivals(uint16_t *other)
{
	static const struct octo_port_conf three_pfs = {.nb_pfs = 3, .replug = true};
	uint16_t port;

	octo_port_add_pfs(&three_pfs);
	octo_port_forget_pf(1);
	port = octo_port_add(&two_pfs);
	assert_int_equal(rte_eal_hotplug_add("vdev", "net_octo1", "pf=net_mpsim2,pf=net_mpsim1"),
			 0);
	assert_int_equal(rte_eth_dev_get_port_by_name("net_octo1", other), 0);
	octo_port_up(port, 2);
	octo_port_up(*other, 2);
	octo_port_add_pf(&three_pfs, 1);
	octo_port_await(octo_port_pf_is_started(port, 1));
	return port;
}

/* The second tries again at intervals, and has the PF, configured by then, when the first goes. */
static void
test_a_pf_that_another_port_had_joins(void **state)
{
	FILE *log = tmpfile();
	uint16_t port, other;

	(void)state;
	assert_non_null(log);
	rte_openlog_stream(log);
	port = create_rivals(&other);
	octo_port_pass_us(20000000);
	rte_openlog_stream(NULL);
	assert_int_equal(lines_with(log, "PF net_mpsim1 is there, but cannot join"), 1);
	fclose(log);
	octo_port_close_and_remove(port);
	/* the application uses it for a while */
	octo_port_up(octo_port_pf(1), 1);
	octo_port_pass_us(60000000);
	assert_false(octo_port_pf_is_started(other, 1));
	assert_true(rte_eth_devices[octo_port_pf(1)].data->dev_started);
	assert_int_equal(rte_eth_dev_stop(octo_port_pf(1)), 0);
	octo_port_await(octo_port_pf_is_started(other, 1));
	assert_int_equal(rte_eal_hotplug_remove("vdev", "net_octo1"), 0);
}

/* The second hears of its end, and takes the next one at once. */
static void
test_a_pf_that_another_port_had_ends(void **state)
{
	uint16_t port, other;

	(void)state;
	port = create_rivals(&other);
	octo_port_pass_us(20000000);
	octo_port_remove_pf(1);
	octo_port_close_and_remove(port);
	octo_port_add_pf(&two_pfs, 1);
	octo_port_pass_us(100000);
	assert_true(octo_port_pf_is_started(other, 1));
	assert_int_equal(rte_eal_hotplug_remove("vdev", "net_octo1"), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_pf_joins_without_flow_queues),
		octo_port_test(test_a_pf_is_probed_in_one_thread_only),
		octo_port_test(test_a_pf_without_room_is_put_off),
		octo_port_test(test_a_pf_comes_back_to_a_port_without_rss),
		octo_port_test(test_a_port_stops_while_a_pf_is_probed),
		octo_port_test(test_a_port_goes_while_a_pf_is_probed),
		octo_port_test(test_a_pf_that_is_let_go_is_out),
		octo_port_test(test_a_device_whose_other_port_exists_is_kept),
		octo_port_test(test_a_pf_that_another_port_had_joins),
		octo_port_test(test_a_pf_that_another_port_had_ends),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
