/* SPDX-License-Identifier: BSD-3-Clause */

/* The port comes, changes and goes; so do its PFs. */

#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_malloc.h>

#include "octo_port.h"
#include "octo_port_fault.h"

static const struct octo_port_conf two_pfs;

/* R3 */
static void
test_ports_that_name_each_other_are_refused(void **state)
{
	(void)state;
	/* the second is known to EAL, but not probed yet, as on a command line */
	assert_int_equal(rte_devargs_add(RTE_DEVTYPE_VIRTUAL, "net_octo8,pf=net_octo7"), 0);
	assert_true(rte_eal_hotplug_add("vdev", "net_octo7", "pf=net_octo8") < 0);
	assert_true(rte_eal_hotplug_add("vdev", "net_octo8", "pf=net_octo8") < 0);
	assert_int_equal(rte_eth_dev_count_total(), 0);
}

static void
test_an_octo_port_is_no_pf(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	assert_true(rte_eal_hotplug_add("vdev", "net_octo7", "pf=" OCTO_PORT_NAME) < 0);
	octo_port_up(port, 2);
}

/* R16 */
static void
test_a_pf_that_does_not_stop_leaves_no_port(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	uint16_t none;

	(void)state;
	octo_port_up(port, 2);
	octo_port_faults_on(1)->stop = EIO;
	assert_int_not_equal(rte_eal_hotplug_remove("vdev", OCTO_PORT_NAME), 0);
	assert_int_equal(rte_eth_dev_get_port_by_name(OCTO_PORT_NAME, &none), -ENODEV);
	assert_int_equal(rte_eal_hotplug_remove("vdev", OCTO_PORT_NAME), 0);
	octo_port_faults_off();
	assert_int_equal(rte_eth_dev_stop(octo_port_pf(1)), 0);
	octo_port_up(octo_port_add(&two_pfs), 2);
}

static void
test_start_wants_all_queues(void **state)
{
	const struct rte_eth_conf conf = {.intr_conf = {.lsc = 1}};
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	assert_int_equal(octo_port_configure(port, 2), 0);
	assert_int_equal(rte_eth_dev_configure(port, 3, 3, &conf), 0);
	assert_int_equal(rte_eth_dev_start(port), -EINVAL);
	assert_int_equal(rte_eth_rx_queue_setup(port, 2, OCTO_PORT_NB_DESC, SOCKET_ID_ANY, NULL,
						octo_port_pool),
			 0);
	assert_int_equal(rte_eth_dev_start(port), -EINVAL);
	assert_int_equal(rte_eth_tx_queue_setup(port, 2, OCTO_PORT_NB_DESC, SOCKET_ID_ANY, NULL),
			 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
}

/* Sends to every queue and finds everything again. */
static void
check_traffic(uint16_t port, uint16_t nb_queues)
{
	for (uint16_t q = 0; q < nb_queues; q++)
		assert_non_null(octo_port_steer(port, 1000 + q, q, NULL));
	for (uint16_t q = 0; q < nb_queues; q++)
		octo_port_send(port, q, 1000 + q, 40);
	for (uint16_t q = 0; q < nb_queues; q++) {
		struct octo_port_tally tally = {0};

		octo_port_receive(port, q, 40, &tally);
		assert_int_equal(tally.packets, 40);
		assert_int_equal(tally.wrong_port, 0);
	}
	assert_int_equal(rte_flow_flush(port, NULL), 0);
}

static void
test_reconfigured_to_fewer_and_more_queues(void **state)
{
	static const uint16_t numbers[] = {4, 2, 4, 1, 16};
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(numbers); i++) {
		octo_port_up(port, numbers[i]);
		check_traffic(port, numbers[i]);
		assert_int_equal(rte_eth_dev_stop(port), 0);
	}
}

/* As with other PMDs without them: an application that asks for interrupts polls then. */
static void
test_rx_interrupts_are_refused_when_they_are_enabled(void **state)
{
	const struct octo_port_conf without = {.all = "caps=-rxintr"};
	const struct rte_eth_conf conf = {.intr_conf = {.lsc = 1, .rxq = 1}};
	uint16_t port = octo_port_create(&without);
	struct rte_eth_conf pf_conf;

	(void)state;
	octo_port_up_as(port, 2, &conf);
	assert_int_equal(rte_eth_dev_rx_intr_enable(port, 0), -ENOTSUP);
	assert_int_equal(rte_eth_dev_rx_intr_disable(port, 0), -ENOTSUP);
	assert_int_equal(
		rte_eth_dev_rx_intr_ctl_q(port, 0, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_ADD, NULL),
		-ENOTSUP);
	assert_int_equal(rte_eth_dev_conf_get(octo_port_pf(0), &pf_conf), 0);
	assert_int_equal(pf_conf.intr_conf.rxq, 1);
	check_traffic(port, 2);
}

static void
test_64_queues(void **state)
{
	const struct octo_port_conf conf = {.all = "queues=64"};
	struct rte_eth_dev_info info;
	uint16_t port = octo_port_create(&conf);

	(void)state;
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_int_equal(info.max_rx_queues, 64);
	octo_port_up(port, 64);
	check_traffic(port, 64);
}

static void
test_8_pfs(void **state)
{
	const struct octo_port_conf conf = {.nb_pfs = 8};
	uint16_t port = octo_port_create(&conf);

	(void)state;
	octo_port_up(port, 16);
	check_traffic(port, 16);
	for (unsigned int pf = 0; pf < 8; pf++)
		assert_int_equal(octo_port_xstat(port, "tx_pf%u_packets", pf), 80);
	/* all but the last go, in no order */
	octo_port_remove_pf(3);
	octo_port_remove_pf(0);
	for (unsigned int pf = 7; pf > 3; pf--)
		octo_port_remove_pf(pf);
	octo_port_remove_pf(1);
	for (uint16_t q = 0; q < 16; q++)
		assert_non_null(octo_port_steer(port, 2000 + q, q, NULL));
	octo_port_send(port, 7, 2009, 10);
	octo_port_receive(port, 9, 10, &(struct octo_port_tally){0});
	assert_int_equal(octo_port_xstat(port, "rx_q9_home_packets"), 40 + 10);
}

static size_t
heap_in_use(void)
{
	size_t all = 0;

	for (int socket = 0; socket < RTE_MAX_NUMA_NODES; socket++) {
		struct rte_malloc_socket_stats s;

		if (rte_malloc_get_socket_stats(socket, &s) == 0)
			all += s.alloc_count;
	}
	return all;
}

static void
test_created_again_and_again(void **state)
{
	size_t before = 0;

	(void)state;
	octo_port_add_pfs(&two_pfs);
	for (int i = 0; i < 20; i++) {
		uint16_t port = octo_port_add(&two_pfs);

		octo_port_up(port, 2);
		check_traffic(port, 2);
		octo_port_close_and_remove(port);
		/* what is made once is there after the first rounds */
		if (i == 2)
			before = heap_in_use();
	}
	assert_int_equal(heap_in_use(), before);
}

struct poller {
	RTE_ATOMIC(uint64_t) received;
	uint16_t port;
	uint16_t queue;
};

/* Keeps 32 packets in flight, and asks about the queue as threads that do not poll may. */
static void *
poll_and_send(void *arg)
{
	struct poller *p = arg;

	while (!octo_port_thread_must_stop()) {
		struct rte_mbuf *pkts[32];
		uint16_t got = rte_eth_rx_burst(p->port, p->queue, pkts, 32);
		uint16_t sent = 0;

		for (int tries = 0; sent < got && tries < 100; tries++)
			sent += rte_eth_tx_burst(p->port, p->queue, pkts + sent, got - sent);
		rte_pktmbuf_free_bulk(pkts + sent, got - sent);
		rte_eth_rx_queue_count(p->port, p->queue);
		rte_eth_rx_descriptor_status(p->port, p->queue, 0);
		rte_eth_tx_descriptor_status(p->port, p->queue, 0);
		rte_atomic_fetch_add_explicit(&p->received, got, rte_memory_order_relaxed);
	}
	return NULL;
}

static void
await_packets(struct poller *p)
{
	const uint64_t now = rte_atomic_load_explicit(&p->received, rte_memory_order_relaxed);

	octo_port_await(rte_atomic_load_explicit(&p->received, rte_memory_order_relaxed) >
			now + 100);
}

static void
test_pfs_go_while_they_are_polled(void **state)
{
	const struct octo_port_conf conf = {.nb_pfs = 4};
	uint16_t port = octo_port_create(&conf);
	static struct poller p;

	(void)state;
	octo_port_time_is_real();
	p = (struct poller){.port = port, .queue = 3};
	octo_port_up(port, 4);
	assert_non_null(octo_port_steer(port, 7, 3, NULL));
	octo_port_send(port, 3, 7, 32);
	octo_port_thread_start(poll_and_send, &p);
	for (int pf = 3; pf > 0; pf--) {
		await_packets(&p);
		octo_port_remove_pf(pf);
		/* those that were on their way to the PF went with it */
		octo_port_await(octo_port_rule_pf(port, 7) != pf);
		octo_port_send(port, 1, 7, 32);
		await_packets(&p);
	}
	octo_port_thread_stop();
	assert_int_equal(octo_port_rule_pf(port, 7), 0);
}

/* Somebody ignores that the PF has an owner: all that comes is the event of its end. */
static void
test_a_pf_is_closed_by_somebody_else(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_view_topology view;

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	assert_int_equal(rte_eth_dev_stop(octo_port_pf(1)), 0);
	assert_int_equal(rte_eth_dev_close(octo_port_pf(1)), 0);
	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	assert_string_equal(view.pf[1].state, "gone");
	octo_port_await(octo_port_rule_pf(port, 7) == 0);
	assert_int_equal(rte_flow_flush(port, NULL), 0);
	check_traffic(port, 2);
}

struct viewer {
	RTE_ATOMIC(uint64_t) seen;
	uint16_t port;
};

/* As telemetry does, at any time. */
static void *
view_all(void *arg)
{
	struct viewer *v = arg;

	while (!octo_port_thread_must_stop()) {
		struct octo_view_topology topology;
		struct octo_view_rule rules[8];
		struct octo_view_queue queue;
		uint32_t total;

		if (rte_pmd_octo_view_topology(v->port, &topology) == 0)
			rte_atomic_fetch_add_explicit(&v->seen, 1, rte_memory_order_relaxed);
		octo_view_queue(v->port, 0, &queue);
		octo_view_queue(v->port, 1, &queue);
		rte_pmd_octo_view_rules(v->port, 0, rules, RTE_DIM(rules), &total);
	}
	return NULL;
}

/* R15 */
static void
test_viewed_while_it_comes_and_goes(void **state)
{
	static struct viewer v;

	(void)state;
	octo_port_time_is_real();
	octo_port_add_pfs(&two_pfs);
	v.port = octo_port_add(&two_pfs);
	octo_port_thread_start(view_all, &v);
	for (int i = 0; i < 40; i++) {
		octo_port_up(v.port, 2);
		assert_non_null(octo_port_steer(v.port, 7, 1, NULL));
		assert_int_equal(octo_port_configure(v.port, 2), -EBUSY);
		assert_int_equal(rte_flow_flush(v.port, NULL), 0);
		assert_int_equal(rte_eth_dev_stop(v.port), 0);
		octo_port_up(v.port, 1);
		octo_port_close_and_remove(v.port);
		assert_int_equal(octo_port_add(&two_pfs), v.port);
	}
	octo_port_await(rte_atomic_load_explicit(&v.seen, rte_memory_order_relaxed) > 0);
	octo_port_thread_stop();
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_ports_that_name_each_other_are_refused),
		octo_port_test(test_an_octo_port_is_no_pf),
		octo_port_test(test_a_pf_that_does_not_stop_leaves_no_port),
		octo_port_test(test_start_wants_all_queues),
		octo_port_test(test_reconfigured_to_fewer_and_more_queues),
		octo_port_test(test_rx_interrupts_are_refused_when_they_are_enabled),
		octo_port_test(test_64_queues),
		octo_port_test(test_8_pfs),
		octo_port_test(test_created_again_and_again),
		octo_port_test(test_pfs_go_while_they_are_polled),
		octo_port_test(test_a_pf_is_closed_by_somebody_else),
		octo_port_test(test_viewed_while_it_comes_and_goes),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
