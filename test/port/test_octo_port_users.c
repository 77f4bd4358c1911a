/* SPDX-License-Identifier: BSD-3-Clause */

/* PFs that go while a call is inside of their driver, or while their driver waits for octo. */

#include <pthread.h>
#include <stdio.h>

#include <ethdev_driver.h>

#include "octo_port.h"

#include "octo_private.h"

#define STAY_MS 50
#define NB_QUEUES 2

static const struct octo_port_conf two_pfs = {.replug = true};

/* A PF whose operations stay inside until its port is let go, or for a while. */
static struct {
	struct eth_dev_ops ops;
	const struct eth_dev_ops *real;
	struct rte_eth_dev *dev;
	uint16_t octo;
	int (*call)(void);
	RTE_ATOMIC(bool) inside;
	RTE_ATOMIC(bool) is_out; /* its port was let go */
	RTE_ATOMIC(bool) late;   /* while the operation was inside */
} slow;

/* Of this thread: the control thread asks the same. */
static __thread bool armed;

static bool
is_set(const RTE_ATOMIC(bool) * flag)
{
	return rte_atomic_load_explicit(flag, rte_memory_order_acquire);
}

static void
set(RTE_ATOMIC(bool) * flag, bool value)
{
	rte_atomic_store_explicit(flag, value, rte_memory_order_release);
}

static int
see_end(uint16_t port, enum rte_eth_event_type event, void *arg, void *ret)
{
	RTE_SET_USED(event);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	if (&rte_eth_devices[port] == slow.dev)
		set(&slow.is_out, true);
	return 0;
}

static void
stay(void)
{
	if (!armed)
		return;
	armed = false;
	set(&slow.inside, true);
	for (int i = 0; i < STAY_MS && !is_set(&slow.is_out); i++)
		octo_wait_us(1000);
	set(&slow.late, is_set(&slow.is_out));
}

static int
slow_link(struct rte_eth_dev *dev, int wait)
{
	stay();
	return slow.real->link_update(dev, wait);
}

static int
slow_info(struct rte_eth_dev *dev, struct rte_eth_dev_info *info)
{
	stay();
	return slow.real->dev_infos_get(dev, info);
}

static int
slow_version(struct rte_eth_dev *dev, char *version, size_t size)
{
	RTE_SET_USED(dev);
	stay();
	return snprintf(version, size, "1") < (int)size ? 0 : 2;
}

static void
slow_rxq_info(struct rte_eth_dev *dev, uint16_t queue, struct rte_eth_rxq_info *info)
{
	RTE_SET_USED(dev);
	RTE_SET_USED(queue);
	stay();
	info->nb_desc = OCTO_PORT_NB_DESC;
}

static int
slow_mode(struct rte_eth_dev *dev, uint16_t queue, struct rte_eth_burst_mode *mode)
{
	RTE_SET_USED(dev);
	RTE_SET_USED(queue);
	stay();
	mode->flags = 0;
	return 0;
}

static int
slow_reset(struct rte_eth_dev *dev)
{
	stay();
	return slow.real->stats_reset(dev);
}

static void
slow_on(void)
{
	slow.dev = &rte_eth_devices[octo_port_pf(0)];
	slow.real = slow.dev->dev_ops;
	slow.ops = *slow.real;
	slow.ops.link_update = slow_link;
	slow.ops.dev_infos_get = slow_info;
	slow.ops.fw_version_get = slow_version;
	slow.ops.rxq_info_get = slow_rxq_info;
	slow.ops.rx_burst_mode_get = slow_mode;
	slow.ops.tx_burst_mode_get = slow_mode;
	slow.ops.stats_reset = slow_reset;
	slow.dev->dev_ops = &slow.ops;
	set(&slow.inside, false);
	set(&slow.is_out, false);
	set(&slow.late, false);
}

/* ethdev asks a PF for its link that does not report changes. */
static uint16_t
create_without_lsc(void)
{
	const struct rte_eth_conf conf = {0};
	uint16_t port;

	octo_port_add_pfs(&two_pfs);
	rte_eth_devices[octo_port_pf(0)].data->dev_flags &= ~RTE_ETH_DEV_INTR_LSC;
	port = octo_port_add(&two_pfs);
	octo_port_up_as(port, NB_QUEUES, &conf);
	slow_on();
	slow.octo = port;
	return port;
}

static void *
call_when_told(void *arg)
{
	RTE_SET_USED(arg);
	armed = true;
	slow.call();
	return NULL;
}

/* The PF is removed while the call is inside of it, and let go when the call has left. */
static void
remove_during(int (*call)(void))
{
	uint16_t port = create_without_lsc();

	slow.call = call;
	rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_DESTROY, see_end, NULL);
	octo_port_thread_start(call_when_told, NULL);
	octo_port_await_thread(is_set(&slow.inside));
	octo_port_remove_pf(0);
	octo_port_thread_stop();
	rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_DESTROY, see_end, NULL);
	assert_false(is_set(&slow.late));
	assert_true(is_set(&slow.is_out));
	octo_port_add_pf(&two_pfs, 0);
	octo_port_await(octo_port_pf_is_started(port, 0));
}

static int
ask_link(void)
{
	struct rte_eth_link link;

	return rte_eth_link_get_nowait(slow.octo, &link);
}

static int
ask_info(void)
{
	struct rte_eth_dev_info info;

	return rte_eth_dev_info_get(slow.octo, &info);
}

static int
ask_version(void)
{
	char version[32];

	return rte_eth_dev_fw_version_get(slow.octo, version, sizeof(version));
}

static int
ask_rx_queue(void)
{
	struct rte_eth_rxq_info info;

	return rte_eth_rx_queue_info_get(slow.octo, 0, &info);
}

static int
ask_rx_mode(void)
{
	struct rte_eth_burst_mode mode;

	return rte_eth_rx_burst_mode_get(slow.octo, 0, &mode);
}

static int
ask_tx_mode(void)
{
	struct rte_eth_burst_mode mode;

	return rte_eth_tx_burst_mode_get(slow.octo, 0, &mode);
}

static int
reset_counters(void)
{
	return rte_eth_stats_reset(slow.octo);
}

static void
test_a_pf_is_removed_while_its_counters_are_reset(void **state)
{
	(void)state;
	remove_during(reset_counters);
}

static void
test_a_pf_is_removed_while_its_link_is_asked_for(void **state)
{
	(void)state;
	remove_during(ask_link);
}

static void
test_a_pf_is_removed_while_its_info_is_asked_for(void **state)
{
	(void)state;
	remove_during(ask_info);
}

static void
test_a_pf_is_removed_while_its_version_is_asked_for(void **state)
{
	(void)state;
	remove_during(ask_version);
}

static void
test_a_pf_is_removed_while_its_queue_is_asked_for(void **state)
{
	(void)state;
	remove_during(ask_rx_queue);
}

static void
test_a_pf_is_removed_while_its_burst_mode_is_asked_for(void **state)
{
	(void)state;
	remove_during(ask_rx_mode);
	octo_port_destroy();
	remove_during(ask_tx_mode);
}

/* A PF that finds out inside of a call that it is not there any more. */
static int
find_out(struct rte_eth_dev *dev, int wait)
{
	if (armed) {
		armed = false;
		rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_INTR_RMV, NULL);
		rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_DESTROY, NULL);
	}
	return slow.real->link_update(dev, wait);
}

/* The removal does not wait for the call that it is part of. */
static void
test_a_pf_is_lost_by_the_thread_that_asks(void **state)
{
	uint16_t port = create_without_lsc();
	FILE *log = tmpfile();
	char line[256];

	(void)state;
	slow.ops.link_update = find_out;
	assert_non_null(log);
	rte_openlog_stream(log);
	armed = true;
	assert_int_equal(ask_link(), 0);
	assert_false(armed);
	octo_port_await(!octo_port_pf_is_started(port, 0));
	rte_openlog_stream(NULL);
	rewind(log);
	while (fgets(line, sizeof(line), log) != NULL)
		assert_null(strstr(line, "is still in use"));
	fclose(log);
	octo_port_remove_pf(0);
	octo_port_add_pf(&two_pfs, 0);
	octo_port_await(octo_port_pf_is_started(port, 0));
}

#ifndef OCTO_SANITIZERS
/* Where a list of the queues was allocated before their bursts were awaited. */
static RTE_ATOMIC(bool) has_no_memory;

void *__libc_calloc(size_t nb, size_t size);

void *
calloc(size_t nb, size_t size)
{
	const bool is_list = size == sizeof(void *) && nb == 2 * NB_QUEUES + 1;

	return is_list && is_set(&has_no_memory) ? NULL : __libc_calloc(nb, size);
}

static uint16_t
slow_burst(void *queue, struct rte_mbuf **pkts, uint16_t nb)
{
	RTE_SET_USED(queue);
	RTE_SET_USED(pkts);
	RTE_SET_USED(nb);
	stay();
	return 0;
}

static int
poll_queue(void)
{
	struct rte_mbuf *pkts[4];

	rte_eth_fp_ops[slow.dev->data->port_id].rx_pkt_burst = slow_burst;
	return rte_eth_rx_burst(slow.octo, 0, pkts, RTE_DIM(pkts));
}

/* Bursts are awaited all the same. */
static void
test_a_pf_is_removed_during_a_burst_without_memory(void **state)
{
	(void)state;
	set(&has_no_memory, true);
	remove_during(poll_queue);
	set(&has_no_memory, false);
}
#endif

/* A PF whose driver, to stop, waits for its event handler. */
static struct {
	struct eth_dev_ops ops;
	const struct eth_dev_ops *real;
	enum rte_eth_event_type event;
	unsigned int stops;
} waiting;

static void *
handle_event(void *dev)
{
	rte_eth_dev_callback_process(dev, waiting.event, NULL);
	return NULL;
}

static int
stop_after_handler(struct rte_eth_dev *dev)
{
	pthread_t handler;

	if (waiting.stops++ == 0) {
		assert_int_equal(pthread_create(&handler, NULL, handle_event, dev), 0);
		pthread_join(handler, NULL);
	}
	return waiting.real->dev_stop(dev);
}

static void
stop_while(enum rte_eth_event_type event)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_eth_dev *dev = &rte_eth_devices[octo_port_pf(0)];

	octo_port_up(port, 2);
	waiting.event = event;
	waiting.stops = 0;
	waiting.real = dev->dev_ops;
	waiting.ops = *dev->dev_ops;
	waiting.ops.dev_stop = stop_after_handler;
	dev->dev_ops = &waiting.ops;
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(waiting.stops, 1);
	dev->dev_ops = waiting.real;
	if (event != RTE_ETH_EVENT_RECOVERY_SUCCESS)
		assert_false(octo_port_pf_is_started(port, 0));
	octo_port_remove_pf(0);
	octo_port_add_pf(&two_pfs, 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_await(octo_port_pf_is_started(port, 0));
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	octo_port_assert_arrives(port, 7, 1, 10);
}

static void
test_a_pf_waits_for_its_removal_when_it_stops(void **state)
{
	(void)state;
	stop_while(RTE_ETH_EVENT_INTR_RMV);
}

static void
test_a_pf_waits_for_its_end_when_it_stops(void **state)
{
	(void)state;
	stop_while(RTE_ETH_EVENT_DESTROY);
}

static void
test_a_pf_waits_for_its_recovery_when_it_stops(void **state)
{
	(void)state;
	stop_while(RTE_ETH_EVENT_ERR_RECOVERING);
	octo_port_destroy();
	stop_while(RTE_ETH_EVENT_RECOVERY_FAILED);
	octo_port_destroy();
	stop_while(RTE_ETH_EVENT_RECOVERY_SUCCESS);
}

static void *
handle_recovery(void *dev)
{
	rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_ERR_RECOVERING, NULL);
	set(&slow.is_out, true);
	return NULL;
}

/* The time passes until the handler gives up waiting; it takes no mutex meanwhile. */
static int
names_after_handler(struct rte_eth_dev *dev, struct rte_eth_xstat_name *names, unsigned int size)
{
	pthread_t handler;

	if (armed) {
		armed = false;
		assert_int_equal(pthread_create(&handler, NULL, handle_recovery, dev), 0);
		while (!is_set(&slow.is_out)) {
			octo_sleep_us(100000);
			octo_wait_us(1000);
		}
		pthread_join(handler, NULL);
	}
	return slow.real->xstats_get_names(dev, names, size);
}

static uint64_t
ipackets(uint16_t port)
{
	struct rte_eth_stats stats;

	assert_int_equal(rte_eth_stats_get(port, &stats), 0);
	return stats.ipackets;
}

/* What it has counted so far stays counted. */
static void
test_a_pf_waits_for_its_recovery_when_its_counters_are_read(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, NB_QUEUES);
	assert_non_null(octo_port_steer(port, 7, 0, NULL));
	octo_port_assert_arrives(port, 7, 0, 10);
	slow_on();
	slow.ops.xstats_get_names = names_after_handler;
	armed = true;
	assert_int_equal(ipackets(port), 10);
	assert_false(armed);
	assert_false(octo_port_pf_is_started(port, 0));
	assert_int_equal(ipackets(port), 10);
	rte_eth_dev_callback_process(slow.dev, RTE_ETH_EVENT_RECOVERY_SUCCESS, NULL);
	octo_port_await(octo_port_pf_is_started(port, 0));
	assert_int_equal(ipackets(port), 10);
	octo_port_await(octo_port_leads_to(port, 7, 0, 0));
	octo_port_assert_arrives(port, 7, 0, 10);
	assert_int_equal(ipackets(port), 20);
}

static void *
remove_pf(void *arg)
{
	struct rte_eth_dev *dev = &rte_eth_devices[octo_port_pf(0)];

	rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_INTR_RMV, NULL);
	set(&slow.is_out, true);
	return arg;
}

static bool
is_shut(const struct octo_port *port)
{
	return is_set(&port->shut);
}

static bool
can_be_used(const struct octo_port *port)
{
	struct octo_use use;
	const bool entered = octo_users_enter(port, &use);

	if (entered)
		octo_users_leave(&use);
	return entered;
}

/* The event waits for the mutex, whose holder takes the PF in, and does not get it. */
static void
test_a_pf_is_lost_while_it_is_taken_in(void **state)
{
	const uint16_t id = octo_port_create(&two_pfs);
	struct octo_dev *octo = octo_of(&rte_eth_devices[id]);
	struct octo_port *port = &octo->port[0];

	(void)state;
	octo_port_up(id, NB_QUEUES);
	set(&slow.is_out, false);
	octo_lock(octo);
	octo_port_thread_start(remove_pf, NULL);
	octo_port_await_thread(is_shut(port));
	octo_users_open(port);
	while (!is_set(&slow.is_out))
		octo_port_pass_us_alone(100000);
	assert_false(can_be_used(port));
	octo_users_open(port);
	assert_false(can_be_used(port));
	octo_unlock(octo);
	octo_port_thread_stop();
	assert_false(octo_port_pf_is_started(id, 0));
}

/* Its event is handled by another thread before the handler is done: it comes back afterwards. */
static void
test_a_pf_comes_back_when_its_handler_is_done(void **state)
{
	const uint16_t id = octo_port_create(&two_pfs);
	struct octo_port *port = &octo_of(&rte_eth_devices[id])->port[0];

	(void)state;
	octo_port_up(id, NB_QUEUES);
	octo_port_remove_pf(0);
	octo_users_close(port);
	octo_port_add_pf(&two_pfs, 0);
	for (int i = 0; i < 100; i++)
		octo_port_pass_us(100000);
	assert_false(octo_port_pf_is_started(id, 0));
	octo_users_end_close(port);
	octo_port_await(octo_port_pf_is_started(id, 0));
	octo_port_await(octo_port_xstat(id, "usable_pfs") == 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_pf_is_removed_while_its_counters_are_reset),
		octo_port_test(test_a_pf_is_removed_while_its_link_is_asked_for),
		octo_port_test(test_a_pf_is_removed_while_its_info_is_asked_for),
		octo_port_test(test_a_pf_is_removed_while_its_version_is_asked_for),
		octo_port_test(test_a_pf_is_removed_while_its_queue_is_asked_for),
		octo_port_test(test_a_pf_is_removed_while_its_burst_mode_is_asked_for),
#ifndef OCTO_SANITIZERS
		octo_port_test(test_a_pf_is_removed_during_a_burst_without_memory),
#endif
		octo_port_test(test_a_pf_is_lost_by_the_thread_that_asks),
		octo_port_test(test_a_pf_is_lost_while_it_is_taken_in),
		octo_port_test(test_a_pf_comes_back_when_its_handler_is_done),
		octo_port_test(test_a_pf_waits_for_its_removal_when_it_stops),
		octo_port_test(test_a_pf_waits_for_its_end_when_it_stops),
		octo_port_test(test_a_pf_waits_for_its_recovery_when_it_stops),
		octo_port_test(test_a_pf_waits_for_its_recovery_when_its_counters_are_read),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
