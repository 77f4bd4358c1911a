/* SPDX-License-Identifier: BSD-3-Clause */

/* Faults of mpsim that are set while it runs: links, removals, errors, rings. */

#include <rte_dev.h>

#include "octo_port.h"

#include "mpsim_control.h"

#define IDLE_QUEUE 1

static const struct octo_port_conf two_pfs = {0};

/* what was heard of, in the order in which it came; links also come up when PFs start */
static struct {
	RTE_ATOMIC(unsigned int) links;
	RTE_ATOMIC(unsigned int) nb;
	int event[16];
} heard;

static unsigned int
nb_heard(void)
{
	return rte_atomic_load_explicit(&heard.nb, rte_memory_order_acquire);
}

static void
hear(int event)
{
	heard.event[nb_heard() % RTE_DIM(heard.event)] = event;
	rte_atomic_fetch_add_explicit(&heard.nb, 1, rte_memory_order_release);
}

static int
hear_port(uint16_t port, enum rte_eth_event_type event, void *arg, void *ret)
{
	RTE_SET_USED(port);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	if (event == RTE_ETH_EVENT_INTR_LSC)
		rte_atomic_fetch_add_explicit(&heard.links, 1, rte_memory_order_release);
	else
		hear((int)event);
	return 0;
}

#define DEVICE_EVENT(type) (1000 + (type))

static void
hear_device(const char *name, enum rte_dev_event_type event, void *arg)
{
	RTE_SET_USED(name);
	RTE_SET_USED(arg);
	hear(DEVICE_EVENT((int)event));
}

static const enum rte_eth_event_type watched[] = {
	RTE_ETH_EVENT_INTR_LSC,        RTE_ETH_EVENT_INTR_RMV,       RTE_ETH_EVENT_NEW,
	RTE_ETH_EVENT_DESTROY,         RTE_ETH_EVENT_ERR_RECOVERING, RTE_ETH_EVENT_RECOVERY_SUCCESS,
	RTE_ETH_EVENT_RECOVERY_FAILED,
};

static int
setup(void **state)
{
	for (unsigned int i = 0; i < RTE_DIM(watched); i++)
		rte_eth_dev_callback_register(RTE_ETH_ALL, watched[i], hear_port, NULL);
	rte_dev_event_callback_register(octo_port_pf_name(0), hear_device, NULL);
	return octo_port_setup(state);
}

static int
teardown(void **state)
{
	for (unsigned int i = 0; i < RTE_DIM(watched); i++)
		rte_eth_dev_callback_unregister(RTE_ETH_ALL, watched[i], hear_port, NULL);
	rte_dev_event_callback_unregister(octo_port_pf_name(0), hear_device, NULL);
	return octo_port_teardown(state);
}

static void
fault(const char *text)
{
	assert_int_equal(rte_pmd_mpsim_fault(text), 0);
}

/* The removal may not be over yet; when this returns, the device event has been. */
static void
plug(const char *text)
{
	const unsigned int before = nb_heard();
	int ret;

	while ((ret = rte_pmd_mpsim_fault(text)) == -EBUSY)
		octo_port_pass_us(1000);
	assert_int_equal(ret, 0);
	octo_port_await(nb_heard() > before);
}

static void
expect_nothing(void)
{
	rte_atomic_store_explicit(&heard.nb, 0, rte_memory_order_relaxed);
}

static void
start_pfs(void)
{
	octo_port_add_pfs(&two_pfs);
	octo_port_up(octo_port_pf(0), 2);
	octo_port_up(octo_port_pf(1), 2);
	expect_nothing();
}

/* Send n frames, which are for PF 0; @return how many of them it has. */
static uint64_t
send_and_receive(unsigned int n)
{
	struct octo_port_tally tally = {0};

	octo_port_send(octo_port_pf(1), 0, 7, n);
	octo_port_receive(octo_port_pf(0), 0, n, &tally);
	return tally.packets;
}

static void
assert_all_accounted_for(uint64_t lost)
{
	struct mpsim_account a;

	assert_int_equal(rte_pmd_mpsim_account_get("T", &a), 0);
	assert_int_equal(a.unaccounted, 0);
	assert_int_equal(a.lost, lost);
}

static void
test_what_is_wrong_changes_nothing(void **state)
{
	static const struct {
		const char *text;
		int code;
	} wrong[] = {
		{"", -EINVAL},
		{"net_mpsim0", -EINVAL},
		{"net_mpsim0,burn", -EINVAL},
		{"net_mpsim7,link,down", -ENODEV},
		{"net_mpsim0,link", -EINVAL},
		{"net_mpsim0,link,sideways", -EINVAL},
		{"net_mpsim0,link,down,now", -EINVAL},
		{"net_mpsim0,latency,1000001", -EINVAL},
		{"net_mpsim0,latency,-1", -EINVAL},
		{"net_mpsim0,ring_full,64,on", -EINVAL},
		{"net_mpsim0,ring_full,0,yes", -EINVAL},
		{"net_mpsim0,rule_fail,0", -EINVAL},
		{"net_mpsim0,rule_fail,1,900", -EINVAL},
		{"net_mpsim0,room,acl,1", -EINVAL},
		{"net_mpsim0,recovery,maybe", -EINVAL},
		{"net_mpsim0,reset,maybe", -EINVAL},
		{"net_mpsim0,plug", -ENODEV},
		{"net_mpsim0,plug,soon", -EINVAL},
		{"net_mpsim0,remove,1,2,3,4,5,6,7", -EINVAL},
	};

	(void)state;
	start_pfs();
	for (unsigned int i = 0; i < RTE_DIM(wrong); i++)
		assert_int_equal(rte_pmd_mpsim_fault(wrong[i].text), wrong[i].code);
	assert_int_equal(send_and_receive(8), 8);
	assert_int_equal(nb_heard(), 0);
}

static bool
has_link(uint16_t port)
{
	struct rte_eth_link link;

	assert_int_equal(rte_eth_link_get_nowait(port, &link), 0);
	return link.link_status == RTE_ETH_LINK_UP;
}

static unsigned int
nb_links_heard(void)
{
	return rte_atomic_load_explicit(&heard.links, rte_memory_order_acquire);
}

/* As when the cable is out: what the application sets is of no help. */
static void
test_a_link_that_is_down(void **state)
{
	unsigned int before;

	(void)state;
	start_pfs();
	octo_port_await(has_link(octo_port_pf(0)));
	before = nb_links_heard();
	fault("net_mpsim0,link,down");
	octo_port_await(nb_links_heard() > before && !has_link(octo_port_pf(0)));
	assert_int_equal(rte_eth_dev_set_link_up(octo_port_pf(0)), 0);
	assert_false(has_link(octo_port_pf(0)));
	assert_int_equal(send_and_receive(8), 0);
	assert_int_equal(octo_port_xstat(octo_port_pf(0), "rx_link_down_drops"), 8);
	before = nb_links_heard();
	fault("T,link,up");
	octo_port_await(nb_links_heard() > before && has_link(octo_port_pf(0)));
	assert_int_equal(send_and_receive(8), 8);
}

static struct {
	uint16_t port;
	RTE_ATOMIC(bool) told;
	RTE_ATOMIC(bool) removing;
	RTE_ATOMIC(bool) still_there;
} slow;

static bool
is_set(RTE_ATOMIC(bool) * flag)
{
	return rte_atomic_load_explicit(flag, rte_memory_order_acquire);
}

static int
listen_slowly(uint16_t port, enum rte_eth_event_type event, void *arg, void *ret)
{
	RTE_SET_USED(event);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	if (port != slow.port)
		return 0;
	rte_atomic_store_explicit(&slow.told, true, rte_memory_order_release);
	while (!is_set(&slow.removing))
		octo_wait_us(1000);
	/* a removal that does not wait has the time to end */
	octo_wait_us(100000);
	rte_atomic_store_explicit(&slow.still_there, rte_eth_dev_is_valid_port(port),
				  rte_memory_order_release);
	return 0;
}

/* A driver lets its interrupt handler end before it frees what that looks at. */
static void
test_a_removal_waits_for_who_is_told_of_the_link(void **state)
{
	(void)state;
	start_pfs();
	octo_port_await(has_link(octo_port_pf(0)));
	slow.port = octo_port_pf(0);
	rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_INTR_LSC, listen_slowly, NULL);
	fault("net_mpsim0,link,down");
	while (!is_set(&slow.told))
		octo_wait_us(1000);
	rte_atomic_store_explicit(&slow.removing, true, rte_memory_order_release);
	assert_int_equal(rte_eal_hotplug_remove("vdev", "net_mpsim0"), 0);
	octo_port_await(rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_INTR_LSC,
							listen_slowly, NULL) != -EAGAIN);
	assert_true(is_set(&slow.still_there));
}

/* Told first, then removed, and not to be had until it is plugged in again. */
static void
test_an_announced_removal(void **state)
{
	(void)state;
	start_pfs();
	octo_port_send(octo_port_pf(1), 0, 7, 8);
	octo_port_pump(IDLE_QUEUE);
	fault("net_mpsim0,remove");
	octo_port_await(!octo_port_pf_is_there(0) && nb_heard() == 2);
	octo_port_await_interrupts();
	assert_int_equal(heard.event[0], RTE_ETH_EVENT_INTR_RMV);
	assert_int_equal(heard.event[1], RTE_ETH_EVENT_DESTROY);
	assert_all_accounted_for(8);
	assert_true(rte_eal_hotplug_add("vdev", "net_mpsim0", "nic=T") < 0);
	plug("net_mpsim0,plug");
	octo_port_await(octo_port_pf_is_there(0) && nb_heard() == 4);
	assert_int_equal(heard.event[2], DEVICE_EVENT(RTE_DEV_EVENT_ADD));
	assert_int_equal(heard.event[3], RTE_ETH_EVENT_NEW);
	octo_port_up(octo_port_pf(0), 2);
	assert_int_equal(send_and_receive(8), 8);
	assert_all_accounted_for(8);
}

/* Between the news and the removal the PF works as ever. */
static void
test_a_removal_that_takes_its_time(void **state)
{
	(void)state;
	start_pfs();
	fault("net_mpsim0,remove,60000000");
	octo_port_await(nb_heard() == 1);
	assert_int_equal(send_and_receive(8), 8);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,remove"), -EBUSY);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,plug"), -EBUSY);
	octo_port_remove_pf(0);
	octo_port_add_pf(&two_pfs, 0);
	fault("net_mpsim0,remove,60000000");
	fault("net_mpsim0,clear");
	fault("net_mpsim0,remove");
	octo_port_await(!octo_port_pf_is_there(0));
	plug("net_mpsim0,plug,wait");
}

/* It works until whoever was told lets go of it, and only then is it out of its slot. */
static void
test_an_ejection(void **state)
{
	(void)state;
	start_pfs();
	fault("net_mpsim0,eject");
	octo_port_await(nb_heard() == 1);
	assert_int_equal(heard.event[0], RTE_ETH_EVENT_INTR_RMV);
	assert_int_equal(send_and_receive(8), 8);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,plug"), -EBUSY);
	octo_port_remove_pf(0);
	assert_true(rte_eal_hotplug_add("vdev", "net_mpsim0", "nic=T") < 0);
	plug("net_mpsim0,plug,wait");
	octo_port_add_pf(&two_pfs, 0);
	octo_port_up(octo_port_pf(0), 2);
	/* nobody lets go of it */
	fault("net_mpsim0,eject,1000");
	octo_port_await(!octo_port_pf_is_there(0));
	plug("net_mpsim0,plug,wait");
}

/* Dead before anybody knows; the device event is all that tells. */
static void
test_a_surprise(void **state)
{
	(void)state;
	start_pfs();
	fault("net_mpsim0,surprise,200000");
	assert_int_equal(send_and_receive(8), 0);
	octo_port_await(!octo_port_pf_is_there(0) && nb_heard() == 2);
	assert_int_equal(heard.event[0], DEVICE_EVENT(RTE_DEV_EVENT_REMOVE));
	assert_int_equal(heard.event[1], RTE_ETH_EVENT_DESTROY);
	assert_all_accounted_for(0);
	plug("net_mpsim0,plug,wait");
}

static void
remove_device(const char *name, enum rte_dev_event_type event, void *arg)
{
	RTE_SET_USED(arg);
	if (event == RTE_DEV_EVENT_REMOVE)
		assert_int_equal(rte_eal_hotplug_remove("vdev", name), 0);
}

/* What EAL says of a device that is removed already depends on the DPDK. */
static void
test_a_listener_removes_the_device(void **state)
{
	char *text = NULL;
	size_t size = 0;
	FILE *log = open_memstream(&text, &size);

	(void)state;
	start_pfs();
	rte_dev_event_callback_register(octo_port_pf_name(0), remove_device, NULL);
	assert_int_equal(rte_openlog_stream(log), 0);
	fault("net_mpsim0,surprise");
	plug("net_mpsim0,plug,wait");
	/* removed, gone, and by the same thread put in again */
	octo_port_await(nb_heard() == 3);
	rte_openlog_stream(NULL);
	rte_dev_event_callback_unregister(octo_port_pf_name(0), remove_device, NULL);
	fclose(log);
	assert_null(strstr(text, "cannot be removed"));
	free(text);
	octo_port_add_pf(&two_pfs, 0);
}

/* For a driver that looks for the device by itself. */
static void
test_plugged_in_for_somebody_else(void **state)
{
	(void)state;
	start_pfs();
	fault("net_mpsim0,remove");
	octo_port_await(!octo_port_pf_is_there(0));
	plug("net_mpsim0,plug,wait");
	octo_port_await(nb_heard() == 3);
	assert_int_equal(heard.event[2], DEVICE_EVENT(RTE_DEV_EVENT_ADD));
	assert_false(octo_port_pf_is_there(0));
	octo_port_add_pf(&two_pfs, 0);
}

/* At the news of a PF that is made it is probed, and of one that goes it is removed. */
static int
do_so_as_well(uint16_t port, enum rte_eth_event_type event, void *arg, void *unused)
{
	int *ret = arg;

	RTE_SET_USED(port);
	RTE_SET_USED(unused);
	*ret = event == RTE_ETH_EVENT_NEW ?
		       rte_eal_hotplug_add("vdev", octo_port_pf_name(0), "nic=T") :
		       rte_eal_hotplug_remove("vdev", octo_port_pf_name(0));
	return 0;
}

/* @return what the second is told, who does it amid the first. */
static int
do_it_twice(enum rte_eth_event_type event)
{
	int ret = 1;

	assert_int_equal(rte_eth_dev_callback_register(RTE_ETH_ALL, event, do_so_as_well, &ret), 0);
	if (event == RTE_ETH_EVENT_NEW)
		octo_port_add_pf(&two_pfs, 0);
	else
		octo_port_remove_pf(0);
	assert_int_equal(rte_eth_dev_callback_unregister(RTE_ETH_ALL, event, do_so_as_well, &ret),
			 0);
	return ret;
}

/* EAL lets two threads probe one device at the same time: the second finds it there. */
static void
test_who_probes_it_second_is_told_so(void **state)
{
	const int ret = do_it_twice(RTE_ETH_EVENT_NEW);

	(void)state;
	/* what EAL makes of that depends on the DPDK */
	assert_true(ret == -EEXIST || ret == 0);
	octo_port_add_pf(&two_pfs, 1);
	octo_port_up(octo_port_pf(0), 2);
	octo_port_up(octo_port_pf(1), 2);
}

/* Nor does it keep them from removing one. */
static void
test_who_removes_it_second_is_told_so(void **state)
{
	struct rte_eth_dev_owner owner = {.name = "test"};

	(void)state;
	start_pfs();
	assert_int_equal(rte_eth_dev_owner_new(&owner.id), 0);
	assert_int_equal(rte_eth_dev_owner_set(octo_port_pf(0), &owner), 0);
	assert_int_equal(do_it_twice(RTE_ETH_EVENT_INTR_RMV), -EBUSY);
	assert_false(octo_port_pf_is_there(0));
	octo_port_add_pf(&two_pfs, 0);
}

/* An error that the PF gets over, and one that it does not. */
static void
test_recovery(void **state)
{
	(void)state;
	start_pfs();
	fault("net_mpsim0,recovery,start");
	octo_port_await(nb_heard() == 1);
	assert_int_equal(heard.event[0], RTE_ETH_EVENT_ERR_RECOVERING);
	assert_int_equal(send_and_receive(8), 0);
	assert_int_equal(octo_port_xstat(octo_port_pf(0), "rx_dead_drops"), 8);
	fault("net_mpsim0,recovery,success");
	octo_port_await(nb_heard() == 2);
	assert_int_equal(heard.event[1], RTE_ETH_EVENT_RECOVERY_SUCCESS);
	assert_int_equal(send_and_receive(8), 8);
	fault("net_mpsim0,recovery,start");
	fault("net_mpsim0,recovery,failed");
	octo_port_await(nb_heard() == 4);
	assert_int_equal(heard.event[3], RTE_ETH_EVENT_RECOVERY_FAILED);
	assert_int_equal(send_and_receive(8), 0);
}

/* Until it is cleared, and across a restart of the queue. */
static void
test_a_full_ring(void **state)
{
	(void)state;
	start_pfs();
	fault("net_mpsim0,ring_full,0,on");
	assert_int_equal(send_and_receive(8), 0);
	assert_int_equal(rte_eth_dev_stop(octo_port_pf(0)), 0);
	octo_port_up(octo_port_pf(0), 2);
	assert_int_equal(send_and_receive(8), 0);
	assert_int_equal(octo_port_xstat(octo_port_pf(0), "rx_ring_full_drops"), 16);
	fault("net_mpsim0,latency,1");
	octo_port_send(octo_port_pf(1), 0, 7, 8);
	octo_port_pump(IDLE_QUEUE);
	octo_port_await(rte_eth_rx_queue_count(octo_port_pf(0), 0) == 0 &&
			octo_port_xstat(octo_port_pf(0), "rx_ring_full_drops") == 24);
	fault("net_mpsim0,clear");
	assert_int_equal(send_and_receive(8), 8);
}

static void
test_a_latency_that_comes_and_goes(void **state)
{
	const uint64_t begin = octo_now();
	struct octo_port_tally tally = {0};

	(void)state;
	start_pfs();
	fault("net_mpsim0,latency,100000");
	octo_port_send(octo_port_pf(1), 0, 7, 8);
	octo_port_pump(IDLE_QUEUE);
	fault("net_mpsim0,latency,0");
	octo_port_send(octo_port_pf(1), 0, 7, 1);
	octo_port_pump(IDLE_QUEUE);
	/* nothing overtakes */
	octo_port_await(rte_eth_rx_queue_count(octo_port_pf(0), 0) == 9);
	assert_true(octo_now() - begin >= rte_get_timer_hz() / 10);
	octo_port_receive(octo_port_pf(0), 0, 9, &tally);
	assert_int_equal(tally.packets, 9);
}

static void
test_stuck_tx(void **state)
{
	(void)state;
	start_pfs();
	fault("net_mpsim1,tx_stuck,on");
	assert_int_equal(send_and_receive(8), 0);
	fault("net_mpsim1,tx_stuck,off");
	assert_int_equal(send_and_receive(8), 16);
}

static void *
poll_port(void *arg)
{
	struct octo_port_tally tally = {0};
	const uint16_t port = (uint16_t)(uintptr_t)arg;

	while (!octo_port_thread_must_stop()) {
		struct rte_mbuf *pkts[4];

		uint16_t sent;

		octo_port_make(port, 7, pkts, 4);
		sent = rte_eth_tx_burst(port, 0, pkts, 4);
		rte_pktmbuf_free_bulk(pkts + sent, 4 - sent);
		octo_port_poll(port, 0, 32, &tally);
	}
	return NULL;
}

static bool
pf_is(uint16_t port, const char *state)
{
	struct octo_view_topology view;

	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	return strcmp(view.pf[0].state, state) == 0;
}

/* Both kinds, with a poller in its bursts. */
static void
test_removals_under_an_octo_port(void **state)
{
	static const char *const kinds[] = {"net_mpsim0,remove", "net_mpsim0,surprise"};

	(void)state;
	octo_port_time_is_real();
	for (unsigned int i = 0; i < RTE_DIM(kinds); i++) {
		const uint16_t port = octo_port_create(&two_pfs);
		struct mpsim_account a;

		octo_port_up(port, 2);
		octo_port_thread_start(poll_port, (void *)(uintptr_t)port);
		fault(kinds[i]);
		octo_port_await(!octo_port_pf_is_there(0));
		octo_port_await(!pf_is(port, "started"));
		octo_port_thread_stop();
		assert_int_equal(rte_pmd_mpsim_account_get("T", &a), 0);
		assert_int_equal(a.unaccounted, 0);
		plug("net_mpsim0,plug,wait");
		octo_port_destroy();
	}
}

#define fault_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		fault_test(test_what_is_wrong_changes_nothing),
		fault_test(test_a_link_that_is_down),
		fault_test(test_a_removal_waits_for_who_is_told_of_the_link),
		fault_test(test_an_announced_removal),
		fault_test(test_a_removal_that_takes_its_time),
		fault_test(test_an_ejection),
		fault_test(test_a_surprise),
		fault_test(test_a_listener_removes_the_device),
		fault_test(test_plugged_in_for_somebody_else),
		fault_test(test_who_probes_it_second_is_told_so),
		fault_test(test_who_removes_it_second_is_told_so),
		fault_test(test_recovery),
		fault_test(test_a_full_ring),
		fault_test(test_a_latency_that_comes_and_goes),
		fault_test(test_stuck_tx),
		fault_test(test_removals_under_an_octo_port),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
