/* SPDX-License-Identifier: BSD-3-Clause */

/* What PFs and port raise, and what a listener may do. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "octo_port.h"
#include "octo_port_fault.h"

#include "octo_private.h"

static const struct octo_port_conf two_pfs;

static struct {
	uint16_t port; /* the octo port */
	RTE_ATOMIC(unsigned int) of_pfs;
	RTE_ATOMIC(unsigned int) of_port;
	RTE_ATOMIC(int) result;
} heard;

static unsigned int
load(RTE_ATOMIC(unsigned int) * counter)
{
	return rte_atomic_load_explicit(counter, rte_memory_order_acquire);
}

static void
hear(RTE_ATOMIC(unsigned int) * counter, int result)
{
	rte_atomic_store_explicit(&heard.result, result, rte_memory_order_relaxed);
	rte_atomic_fetch_add_explicit(counter, 1, rte_memory_order_release);
}

static void
expect_nothing(uint16_t port)
{
	heard.port = port;
	rte_atomic_store_explicit(&heard.of_pfs, 0, rte_memory_order_relaxed);
	rte_atomic_store_explicit(&heard.of_port, 0, rte_memory_order_relaxed);
	rte_atomic_store_explicit(&heard.result, -1, rte_memory_order_relaxed);
}

static int
count_event(uint16_t port, enum rte_eth_event_type event, void *arg, void *ret)
{
	RTE_SET_USED(event);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	hear(port == heard.port ? &heard.of_port : &heard.of_pfs, 0);
	return 0;
}

static int
link_status(uint16_t port)
{
	struct rte_eth_link link;

	assert_int_equal(rte_eth_link_get_nowait(port, &link), 0);
	return link.link_status;
}

static void
test_link_is_up_while_any_pf_has_it(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	expect_nothing(port);
	octo_port_up(port, 2);
	rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_LSC, count_event, NULL);
	assert_int_equal(link_status(port), RTE_ETH_LINK_UP);
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(0)), 0);
	octo_port_pass_us(30000);
	assert_int_equal(link_status(port), RTE_ETH_LINK_UP);
	assert_int_equal(load(&heard.of_port), 0);
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(1)), 0);
	octo_port_await(load(&heard.of_port) == 1);
	assert_int_equal(link_status(port), RTE_ETH_LINK_DOWN);
	assert_int_equal(rte_eth_dev_set_link_up(octo_port_pf(0)), 0);
	octo_port_await(load(&heard.of_port) == 2);
	assert_int_equal(link_status(port), RTE_ETH_LINK_UP);
	rte_eth_dev_callback_unregister(port, RTE_ETH_EVENT_INTR_LSC, count_event, NULL);
}

static bool
pf_has_link(uint16_t port, unsigned int pf)
{
	struct octo_view_topology view;

	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	return view.pf[pf].link_up;
}

/* It comes back when the port starts, and its link with it. */
static void
test_a_link_is_set_up_while_a_pf_recovers(void **state)
{
	static const struct octo_port_conf comes_back = {.replug = true};
	uint16_t port = octo_port_create(&comes_back);
	struct rte_eth_dev *pf = &rte_eth_devices[octo_port_pf(1)];

	(void)state;
	octo_port_up(port, 2);
	assert_int_equal(rte_eth_dev_set_link_down(port), 0);
	rte_eth_dev_callback_process(pf, RTE_ETH_EVENT_ERR_RECOVERING, NULL);
	assert_int_equal(rte_eth_dev_set_link_up(port), 0);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	rte_eth_dev_callback_process(pf, RTE_ETH_EVENT_RECOVERY_SUCCESS, NULL);
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_await(octo_port_pf_is_started(port, 1));
	octo_port_await(octo_port_xstat(port, "usable_pfs") == 2);
}

/* Once the port knows, no packet is given to a PF that cannot send it, and back. */
static void
test_nothing_is_sent_without_a_link(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	octo_port_send(port, 0, 1000, 1);
	assert_int_equal(octo_port_xstat(port, "tx_q0_pf0_packets"), 1);
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(0)), 0);
	octo_port_await(!pf_has_link(port, 0));
	octo_port_send(port, 0, 1000, 8);
	assert_int_equal(octo_port_xstat(port, "tx_q0_pf0_packets"), 1);
	assert_int_equal(octo_port_xstat(port, "tx_q0_pf1_packets"), 8);
	assert_int_equal(rte_eth_dev_set_link_up(octo_port_pf(0)), 0);
	octo_port_await(pf_has_link(port, 0));
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(1)), 0);
	octo_port_await(!pf_has_link(port, 1));
	octo_port_send(port, 0, 1000, 8);
	assert_int_equal(octo_port_xstat(port, "tx_q0_pf0_packets"), 9);
}

/*
 * R1. ethdev keeps callbacks by port id, so one that a closed octo port left on
 * the id of a PF would be called with freed, zeroed memory: it writes to file
 * descriptor 0, which is therefore watched.
 */
static void
test_a_closed_port_hears_nothing(void **state)
{
	const int stdin_before = dup(STDIN_FILENO);
	const int fd = eventfd(0, EFD_NONBLOCK);
	uint16_t port = octo_port_create(&two_pfs);
	uint16_t pf = octo_port_pf(1);
	uint64_t written;

	(void)state;
	assert_true(fd >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO);
	octo_port_up(port, 2);
	octo_port_remove_pf(1);
	octo_port_close_and_remove(port);
	octo_port_add_pf(&two_pfs, 1);
	assert_int_equal(octo_port_pf(1), pf);
	assert_int_equal(octo_port_configure(pf, 1), 0);
	assert_int_equal(rte_eth_dev_start(pf), 0);
	assert_int_equal(rte_eth_dev_set_link_down(pf), 0);
	octo_port_remove_pf(1);
	assert_int_equal(read(fd, &written, sizeof(written)), -1);
	if (stdin_before >= 0)
		dup2(stdin_before, STDIN_FILENO);
	close(stdin_before);
	close(fd);
}

/* R1: the PF that was gone is somebody's again. */
static void
test_a_pf_that_came_back_is_taken_again(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_eth_dev_owner owner;

	(void)state;
	octo_port_up(port, 2);
	octo_port_remove_pf(1);
	octo_port_add_pf(&two_pfs, 1);
	assert_int_equal(rte_eth_dev_owner_get(octo_port_pf(1), &owner), 0);
	assert_int_equal(owner.id, RTE_ETH_DEV_NO_OWNER);
	octo_port_close_and_remove(port);
	port = octo_port_add(&two_pfs);
	octo_port_up(port, 2);
	expect_nothing(port);
	rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_LSC, count_event, NULL);
	assert_int_equal(rte_eth_dev_set_link_down(port), 0);
	octo_port_await(load(&heard.of_port) == 1);
	rte_eth_dev_callback_unregister(port, RTE_ETH_EVENT_INTR_LSC, count_event, NULL);
}

/* Two octo ports: an event goes to the one that owns the PF. */
static void
test_events_go_to_the_owner(void **state)
{
	const struct octo_port_conf four = {.nb_pfs = 4};
	struct octo_view_topology view;
	uint16_t port, other;

	(void)state;
	octo_port_add_pfs(&four);
	port = octo_port_add(&two_pfs);
	assert_int_equal(rte_eal_hotplug_add("vdev", "net_octo1", "pf=net_mpsim2,pf=net_mpsim3"),
			 0);
	assert_int_equal(rte_eth_dev_get_port_by_name("net_octo1", &other), 0);
	octo_port_up(port, 1);
	octo_port_up(other, 1);
	octo_port_remove_pf(3);
	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	assert_string_equal(view.pf[0].state, "started");
	assert_string_equal(view.pf[1].state, "started");
	assert_int_equal(rte_pmd_octo_view_topology(other, &view), 0);
	assert_string_equal(view.pf[0].state, "started");
	assert_string_equal(view.pf[1].state, "gone");
	assert_int_equal(rte_eal_hotplug_remove("vdev", "net_octo1"), 0);
}

/* The PF was another port's before, which does not look for it. */
static void
check_later_owner(bool given_up)
{
	const struct octo_port_conf three = {.nb_pfs = 3};
	struct octo_view_topology view;
	struct octo_port *earlier;
	uint16_t port, other;

	octo_port_add_pfs(&three);
	port = octo_port_add(&two_pfs);
	octo_port_up(port, 1);
	octo_port_remove_pf(1);
	octo_port_add_pf(&three, 1);
	assert_int_equal(
		rte_eal_hotplug_add("vdev", "net_octo1", "pf=net_mpsim2,pf=net_mpsim1,replug=off"),
		0);
	assert_int_equal(rte_eth_dev_get_port_by_name("net_octo1", &other), 0);
	octo_port_up(other, 1);
	earlier = &octo_of(&rte_eth_devices[port])->port[1];
	if (given_up) {
		/* as one that found the PF to lack a feature */
		earlier->has_port = true;
		earlier->port_id = octo_port_pf(1);
	}
	octo_port_remove_pf(1);
	earlier->has_port = false;
	assert_int_equal(rte_pmd_octo_view_topology(other, &view), 0);
	assert_string_equal(view.pf[0].state, "started");
	assert_string_equal(view.pf[1].state, "gone");
	assert_true(octo_port_pf_is_started(port, 0));
	assert_int_equal(rte_eal_hotplug_remove("vdev", "net_octo1"), 0);
	octo_port_destroy();
}

static void
test_events_go_to_the_later_owner(void **state)
{
	(void)state;
	check_later_owner(false);
	check_later_owner(true);
}

/* Asks the port all kinds of things in a PF's event. */
static int
ask_port(uint16_t port, enum rte_eth_event_type event, void *arg, void *ret)
{
	struct octo_view_topology view;
	struct rte_eth_stats stats;
	int nb = 0;

	RTE_SET_USED(event);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	if (port == heard.port)
		return 0;
	nb = rte_eth_xstats_get_names(heard.port, NULL, 0);
	if (rte_eth_stats_get(heard.port, &stats) != 0 ||
	    rte_pmd_octo_view_topology(heard.port, &view) != 0 ||
	    octo_port_validate(heard.port, 7, 0) != 0 || rte_flow_flush(heard.port, NULL) != 0)
		nb = -1;
	hear(&heard.of_pfs, nb > 0 ? 0 : nb);
	return 0;
}

/* R4 */
static void
test_a_listener_may_ask_the_port(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	expect_nothing(port);
	rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_INTR_LSC, ask_port, NULL);
	assert_int_equal(rte_eth_dev_set_link_down(port), 0);
	assert_int_equal(load(&heard.of_pfs), 2);
	assert_int_equal(rte_atomic_load_explicit(&heard.result, rte_memory_order_relaxed), 0);
	assert_int_equal(rte_eth_dev_set_link_up(port), 0);
	assert_int_equal(load(&heard.of_pfs), 4);
	rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_INTR_LSC, ask_port, NULL);
}

static int
stop_port(uint16_t port, enum rte_eth_event_type event, void *arg, void *ret)
{
	const bool *and_close = arg;
	int result = rte_eth_dev_stop(port);

	RTE_SET_USED(event);
	RTE_SET_USED(ret);
	if (result == 0 && *and_close)
		result = rte_eth_dev_close(port);
	hear(&heard.of_port, result);
	return 0;
}

static void
stop_in_listener(uint16_t port, bool *and_close)
{
	octo_port_up(port, 2);
	expect_nothing(port);
	rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_LSC, stop_port, and_close);
	rte_eth_dev_set_link_down(octo_port_pf(0));
	rte_eth_dev_set_link_down(octo_port_pf(1));
	octo_port_await(load(&heard.of_port) == 1);
	assert_int_equal(rte_atomic_load_explicit(&heard.result, rte_memory_order_relaxed), 0);
}

/* R4 */
static void
test_a_listener_may_stop_the_port(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	bool and_close = false;

	(void)state;
	stop_in_listener(port, &and_close);
	rte_eth_dev_callback_unregister(port, RTE_ETH_EVENT_INTR_LSC, stop_port, &and_close);
	rte_eth_dev_set_link_up(octo_port_pf(0));
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_int_equal(link_status(port), RTE_ETH_LINK_UP);
}

/* R4 */
static void
test_a_listener_may_close_the_port(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	bool and_close = true;

	(void)state;
	stop_in_listener(port, &and_close);
	assert_false(rte_eth_dev_is_valid_port(port));
	assert_int_equal(rte_eal_hotplug_remove("vdev", OCTO_PORT_NAME), 0);
	/* the next port has the id that the callback is still on */
	assert_int_equal(octo_port_add(&two_pfs), port);
	rte_eth_dev_callback_unregister(port, RTE_ETH_EVENT_INTR_LSC, stop_port, &and_close);
	octo_port_up(port, 2);
}

static void
test_the_port_is_removed_with_its_last_pf(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_eth_dev_info info;
	struct rte_eth_stats stats;

	(void)state;
	octo_port_up(port, 2);
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_true(*info.dev_flags & RTE_ETH_DEV_INTR_RMV);
	expect_nothing(port);
	rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_RMV, count_event, NULL);
	octo_port_remove_pf(0);
	octo_port_pass_us(20000);
	assert_int_equal(load(&heard.of_port), 0);
	octo_port_remove_pf(1);
	octo_port_await(load(&heard.of_port) == 1);
	/* an octo port without PFs does nothing, but it does it well */
	assert_int_equal(octo_port_poll(port, 0, 32, &(struct octo_port_tally){0}), 0);
	assert_int_equal(rte_eth_stats_get(port, &stats), 0);
	assert_int_equal(link_status(port), RTE_ETH_LINK_DOWN);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	rte_eth_dev_callback_unregister(port, RTE_ETH_EVENT_INTR_RMV, count_event, NULL);
}

static void
process(unsigned int pf, enum rte_eth_event_type event)
{
	rte_eth_dev_callback_process(&rte_eth_devices[octo_port_pf(pf)], event, NULL);
}

/* As when the NIC's firmware fails. Who is told of a removal closes the port. */
static void
test_the_port_stays_while_its_pfs_recover(void **state)
{
	static const struct octo_port_conf comes_back = {.replug = true};
	uint16_t port = octo_port_create(&comes_back);

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	octo_port_assert_arrives(port, 7, 1, 10);
	expect_nothing(port);
	rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_RMV, count_event, NULL);
	process(0, RTE_ETH_EVENT_ERR_RECOVERING);
	process(1, RTE_ETH_EVENT_ERR_RECOVERING);
	octo_port_pass_us(200000);
	assert_int_equal(link_status(port), RTE_ETH_LINK_DOWN);
	process(1, RTE_ETH_EVENT_RECOVERY_SUCCESS);
	process(0, RTE_ETH_EVENT_RECOVERY_SUCCESS);
	octo_port_await(octo_port_pf_is_started(port, 0) && octo_port_pf_is_started(port, 1));
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	octo_port_await(link_status(port) == RTE_ETH_LINK_UP);
	octo_port_assert_arrives(port, 7, 1, 10);
	/* one is reset, and soon back */
	process(0, RTE_ETH_EVENT_ERR_RECOVERING);
	process(1, RTE_ETH_EVENT_INTR_RESET);
	octo_port_await(octo_port_pf_is_started(port, 1));
	octo_port_pass_us(200000);
	assert_int_equal(load(&heard.of_port), 0);
	/* one is removed, and the other fails to recover: it is told once */
	octo_port_remove_pf(1);
	octo_port_pass_us(20000);
	assert_int_equal(load(&heard.of_port), 0);
	process(0, RTE_ETH_EVENT_RECOVERY_FAILED);
	octo_port_await(load(&heard.of_port) == 1);
	rte_eth_dev_callback_unregister(port, RTE_ETH_EVENT_INTR_RMV, count_event, NULL);
}

/* ethdev makes every error of a removed port -EIO, and keeps that it was removed. */
static void
test_a_port_whose_pfs_recover_is_not_removed(void **state)
{
	static const struct octo_port_conf comes_back = {.replug = true};
	uint16_t port = octo_port_create(&comes_back);

	(void)state;
	octo_port_up(port, 2);
	process(0, RTE_ETH_EVENT_ERR_RECOVERING);
	process(1, RTE_ETH_EVENT_ERR_RECOVERING);
	assert_int_equal(rte_eth_dev_is_removed(port), 0);
	process(0, RTE_ETH_EVENT_RECOVERY_SUCCESS);
	process(1, RTE_ETH_EVENT_RECOVERY_SUCCESS);
	octo_port_await(octo_port_pf_is_started(port, 0) && octo_port_pf_is_started(port, 1));
	assert_int_equal(rte_eth_dev_is_removed(port), 0);
}

static void
test_a_removed_port_is_there_again_with_a_pf(void **state)
{
	static const struct octo_port_conf comes_back = {.replug = true};
	uint16_t port = octo_port_create(&comes_back);

	(void)state;
	octo_port_up(port, 2);
	octo_port_remove_pf(0);
	octo_port_remove_pf(1);
	assert_int_equal(rte_eth_dev_is_removed(port), 1);
	octo_port_add_pf(&comes_back, 1);
	octo_port_await(octo_port_pf_is_started(port, 1));
	assert_int_equal(rte_eth_dev_is_removed(port), 0);
}

static void
test_without_replug_no_pf_recovers(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	expect_nothing(port);
	rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_RMV, count_event, NULL);
	process(0, RTE_ETH_EVENT_ERR_RECOVERING);
	octo_port_pass_us(20000);
	assert_int_equal(load(&heard.of_port), 0);
	process(1, RTE_ETH_EVENT_INTR_RESET);
	octo_port_await(load(&heard.of_port) == 1);
	rte_eth_dev_callback_unregister(port, RTE_ETH_EVENT_INTR_RMV, count_event, NULL);
}

/* R10: a PMD reports its removal only when it was asked to, and refuses where it cannot. */
static void
test_pfs_are_asked_for_removal_events(void **state)
{
	struct rte_eth_conf conf;
	uint16_t port;

	(void)state;
	octo_port_add_pfs(&two_pfs);
	octo_port_flag_removal(1);
	port = octo_port_add(&two_pfs);
	assert_int_equal(octo_port_configure(port, 1), 0);
	assert_int_equal(rte_eth_dev_conf_get(octo_port_pf(0), &conf), 0);
	assert_int_equal(conf.intr_conf.rmv, 0);
	assert_int_equal(rte_eth_dev_conf_get(octo_port_pf(1), &conf), 0);
	assert_int_equal(conf.intr_conf.rmv, 1);
	assert_int_equal(conf.intr_conf.lsc, 1);
}

/* What the log says of PFs that are gone while fn() runs; to be freed. */
static char *
log_of(void (*fn)(uint16_t port), uint16_t port)
{
	static char *text;
	static size_t len;
	FILE *log = open_memstream(&text, &len);

	assert_non_null(log);
	rte_openlog_stream(log);
	fn(port);
	rte_openlog_stream(NULL);
	fclose(log);
	return text;
}

static void
lose_a_pf(uint16_t port)
{
	(void)port;
	octo_port_remove_pf(1);
	octo_port_pass_us(1000000);
}

/* As the bus does it at the end of the process. */
static void
lose_all(uint16_t port)
{
	(void)port;
	octo_port_remove_pf(0);
	octo_port_remove_pf(1);
	assert_int_equal(rte_eal_hotplug_remove("vdev", OCTO_PORT_NAME), 0);
}

static void
test_a_pf_that_is_gone_is_told_unless_all_end(void **state)
{
	static const struct octo_port_conf without = {.nb_pfs = 2};
	uint16_t port = octo_port_create(&without);
	char *said;

	(void)state;
	octo_port_up(port, 2);
	said = log_of(lose_a_pf, port);
	assert_non_null(strstr(said, "PF net_mpsim1 is gone"));
	assert_null(strstr(strstr(said, "is gone") + 1, "is gone"));
	free(said);
	octo_port_destroy();
	port = octo_port_create(&without);
	octo_port_up(port, 2);
	said = log_of(lose_all, port);
	assert_null(strstr(said, "is gone"));
	free(said);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_link_is_up_while_any_pf_has_it),
		octo_port_test(test_a_link_is_set_up_while_a_pf_recovers),
		octo_port_test(test_nothing_is_sent_without_a_link),
		octo_port_test(test_a_closed_port_hears_nothing),
		octo_port_test(test_a_pf_that_came_back_is_taken_again),
		octo_port_test(test_events_go_to_the_owner),
		octo_port_test(test_events_go_to_the_later_owner),
		octo_port_test(test_a_listener_may_ask_the_port),
		octo_port_test(test_a_listener_may_stop_the_port),
		octo_port_test(test_a_listener_may_close_the_port),
		octo_port_test(test_the_port_is_removed_with_its_last_pf),
		octo_port_test(test_the_port_stays_while_its_pfs_recover),
		octo_port_test(test_a_port_whose_pfs_recover_is_not_removed),
		octo_port_test(test_a_removed_port_is_there_again_with_a_pf),
		octo_port_test(test_without_replug_no_pf_recovers),
		octo_port_test(test_pfs_are_asked_for_removal_events),
		octo_port_test(test_a_pf_that_is_gone_is_told_unless_all_end),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
