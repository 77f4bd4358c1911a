/* SPDX-License-Identifier: BSD-3-Clause */

/* PFs that have to be reset, and what a start of the port resets. */

#include <rte_cycles.h>

#include <ethdev_driver.h>

#include "octo_port.h"
#include "octo_port_async.h"
#include "mpsim_control.h"

#include "octo_private.h"

static const struct octo_port_conf two_pfs = {.replug = true};

/* The PF that is reset, as that of a VF whose PF was. */
static struct {
	struct eth_dev_ops ops;
	const struct eth_dev_ops *real;
	RTE_ATOMIC(uint32_t) resets;
	int code;        /* errno of a refusal */
	void *stats_get; /* from its reset on; NULL: its own */
	/* raised by the first reset, from within */
	enum rte_eth_event_type event;
	bool raises;
} victim;

static int
tell_nothing(void)
{
	return -EIO;
}

/* Its driver finds out that it must be reset again. */
static int
ask_again(struct rte_eth_dev *dev)
{
	victim.ops.stats_get = victim.real->stats_get;
	rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_INTR_RESET, NULL);
	return -EIO;
}

static int
reset(struct rte_eth_dev *dev)
{
	const bool raises = victim.raises;

	victim.raises = false;
	/* its arguments are others in other versions of DPDK */
	if (victim.stats_get != NULL)
		victim.ops.stats_get = (__typeof__(victim.ops.stats_get))victim.stats_get;
	victim.stats_get = NULL;
	rte_atomic_fetch_add_explicit(&victim.resets, 1, rte_memory_order_relaxed);
	if (raises)
		rte_eth_dev_callback_process(dev, victim.event, NULL);
	return -victim.code;
}

static uint32_t
resets(void)
{
	return rte_atomic_load_explicit(&victim.resets, rte_memory_order_relaxed);
}

static uint16_t
create_victim(int code)
{
	const uint16_t port = octo_port_create(&two_pfs);
	struct rte_eth_dev *dev = &rte_eth_devices[octo_port_pf(1)];

	victim.real = dev->dev_ops;
	victim.ops = *dev->dev_ops;
	victim.ops.dev_reset = reset;
	victim.resets = 0;
	victim.code = code;
	victim.stats_get = NULL;
	dev->dev_ops = &victim.ops;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	assert_int_equal(octo_port_rule_pf(port, 7), 1);
	return port;
}

static uint16_t
create_with_reset(int code)
{
	const uint16_t port = create_victim(code);

	rte_eth_dev_callback_process(&rte_eth_devices[octo_port_pf(1)], RTE_ETH_EVENT_INTR_RESET,
				     NULL);
	assert_int_equal(resets(), 0);
	return port;
}

static void
test_a_pf_is_reset_when_it_asks_for_it(void **state)
{
	const uint16_t port = create_with_reset(0);

	(void)state;
	octo_port_await(resets() == 1 && octo_port_leads_to(port, 7, 1, 1));
	octo_port_assert_arrives(port, 7, 1, 10);
	assert_int_equal(octo_port_xstat(port, "replugs"), 1);
	assert_int_equal(resets(), 1);
}

static uint64_t
received(uint16_t port)
{
	struct rte_eth_stats stats;

	assert_int_equal(rte_eth_stats_get(port, &stats), 0);
	return stats.ipackets;
}

/* It counts on after its reset, and its counters cannot be read, or not when it joins. */
static void
check_counts(void *stats_get, uint32_t nb_resets)
{
	const uint16_t port = create_victim(0);

	octo_port_assert_arrives(port, 7, 1, 10);
	assert_int_equal(received(port), 10);
	victim.stats_get = stats_get;
	rte_eth_dev_callback_process(&rte_eth_devices[octo_port_pf(1)], RTE_ETH_EVENT_INTR_RESET,
				     NULL);
	octo_port_await(resets() == nb_resets && octo_port_leads_to(port, 7, 1, 1));
	victim.ops.stats_get = victim.real->stats_get;
	assert_int_equal(received(port), 10);
	octo_port_assert_arrives(port, 7, 1, 10);
	assert_int_equal(received(port), 20);
	octo_port_destroy();
}

static void
test_nothing_is_counted_twice(void **state)
{
	(void)state;
	check_counts((void *)(uintptr_t)tell_nothing, 1);
}

static void
test_a_pf_is_lost_when_its_counters_are_read(void **state)
{
	(void)state;
	check_counts((void *)(uintptr_t)ask_again, 2);
}

/* Packets leave, or come, before its start ends. */
static int
start_and_send(struct rte_eth_dev *dev)
{
	const int ret = victim.real->dev_start(dev);
	struct rte_mbuf *m;

	octo_port_make(dev->data->port_id, 9, &m, 1);
	assert_int_equal(dev->tx_pkt_burst(dev->data->tx_queues[0], &m, 1), 1);
	return ret;
}

static void
test_what_a_pf_counts_while_it_starts(void **state)
{
	const uint16_t port = create_victim(0);
	struct rte_eth_stats stats;

	(void)state;
	victim.ops.dev_start = start_and_send;
	rte_eth_dev_callback_process(&rte_eth_devices[octo_port_pf(1)], RTE_ETH_EVENT_INTR_RESET,
				     NULL);
	octo_port_await(resets() == 1 && octo_port_leads_to(port, 7, 1, 1));
	assert_int_equal(rte_eth_stats_get(port, &stats), 0);
	assert_int_equal(stats.opackets, 1);
}

#define FLOW 7
#define ROUND 32

/* Nothing of it is lost, whatever the other PF does. */
static bool
go_around(uint16_t port, struct octo_port_tally *tally)
{
	const uint64_t before = tally->packets;

	octo_port_send(port, 0, FLOW, ROUND);
	octo_port_receive(port, 1, ROUND, tally);
	assert_int_equal(tally->packets, before + ROUND);
	return true;
}

/* What the PF has when it stops working is lost, and nothing else is. */
static void
test_a_pf_is_reset_under_traffic(void **state)
{
	static const char *const faults[] = {"net_mpsim1,reset", "net_mpsim1,reset,fail"};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(faults); i++) {
		const uint16_t port = octo_port_create(&two_pfs);
		struct octo_port_tally tally = {0};
		struct mpsim_account a;

		octo_port_up(port, 2);
		assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
		octo_port_send(port, 1, FLOW, 2 * ROUND);
		octo_port_receive(port, 1, ROUND, &tally);
		assert_int_equal(rte_pmd_mpsim_fault(faults[i]), 0);
		octo_port_await(octo_port_rule_pf(port, FLOW) == 0);
		octo_port_await(go_around(port, &tally) && octo_port_rule_pf(port, FLOW) == 1);
		/* what was on the wire has come by the other PF */
		octo_port_receive(port, 1, 2 * ROUND, &tally);
		assert_int_equal(octo_port_xstat(port, "replugs"), 1);
		assert_int_equal(rte_pmd_mpsim_account_get("T", &a), 0);
		assert_int_equal(a.unaccounted, 0);
		assert_int_equal(a.on_wire + a.in_rings + a.in_pipelines + a.in_tx_rings, 0);
		assert_int_equal(a.delivered, tally.packets);
		assert_int_equal(a.sent, a.delivered + a.dropped + a.lost);
		assert_true(a.dropped + a.lost <= ROUND);
		octo_port_destroy();
	}
}

/* One that cannot be reset is removed, and probed again. */
static void
test_a_pf_that_is_not_reset_is_replaced(void **state)
{
	const uint16_t port = create_with_reset(EIO);

	(void)state;
	octo_port_await(resets() >= 1 && octo_port_leads_to(port, 7, 1, 1));
	octo_port_assert_arrives(port, 7, 1, 10);
	assert_int_equal(resets(), 1);
}

/* What its driver finds out while it resets the PF concerns the claim that asked for the reset. */
static void
test_a_pf_has_an_event_while_it_is_reset(void **state)
{
	static const enum rte_eth_event_type events[] = {
		RTE_ETH_EVENT_INTR_RESET, RTE_ETH_EVENT_ERR_RECOVERING, RTE_ETH_EVENT_INTR_RMV};
	/* the PF that is removed is probed again, and not reset then */
	static const uint32_t expected[] = {2, 1, 1};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(events); i++) {
		const uint16_t port = create_with_reset(0);

		victim.event = events[i];
		victim.raises = true;
		octo_port_await(!victim.raises);
		if (events[i] == RTE_ETH_EVENT_ERR_RECOVERING) {
			octo_port_pass_us(3000000);
			assert_false(octo_port_pf_is_started(port, 1));
			rte_eth_dev_callback_process(&rte_eth_devices[octo_port_pf(1)],
						     RTE_ETH_EVENT_RECOVERY_SUCCESS, NULL);
		}
		octo_port_await(octo_port_leads_to(port, 7, 1, 1));
		assert_int_equal(resets(), expected[i]);
		octo_port_destroy();
	}
}

#define MAX_EVENTS 3

static void *
raise_all(void *events)
{
	struct rte_eth_dev *dev = &rte_eth_devices[octo_port_pf(1)];

	for (const enum rte_eth_event_type *e = events; *e != RTE_ETH_EVENT_MAX; e++)
		rte_eth_dev_callback_process(dev, *e, NULL);
	return NULL;
}

/* None of the handlers gets the mutex: all that they say is settled at once, afterwards. */
static uint16_t
post(const enum rte_eth_event_type events[MAX_EVENTS + 1])
{
	static enum rte_eth_event_type raised[MAX_EVENTS + 1];
	const uint16_t port = create_victim(0);
	struct octo_dev *octo = octo_of(&rte_eth_devices[port]);
	pthread_t thread;

	memcpy(raised, events, sizeof(raised));
	octo_lock(octo);
	assert_int_equal(pthread_create(&thread, NULL, raise_all, raised), 0);
	pthread_join(thread, NULL);
	octo_unlock(octo);
	assert_false(octo_port_pf_is_started(port, 1));
	return port;
}

/* Its driver is at it, and nobody else may touch the PF. */
static void
test_a_pf_that_recovers_is_not_reset(void **state)
{
	static const enum rte_eth_event_type events[] = {RTE_ETH_EVENT_INTR_RESET,
							 RTE_ETH_EVENT_ERR_RECOVERING,
							 RTE_ETH_EVENT_MAX, RTE_ETH_EVENT_MAX};
	const uint16_t port = post(events);

	(void)state;
	octo_port_pass_us(3000000);
	assert_int_equal(resets(), 0);
	assert_false(octo_port_pf_is_started(port, 1));
	rte_eth_dev_callback_process(&rte_eth_devices[octo_port_pf(1)],
				     RTE_ETH_EVENT_RECOVERY_SUCCESS, NULL);
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	octo_port_assert_arrives(port, 7, 1, 10);
	assert_int_equal(resets(), 0);
}

/* What its driver asks for last is done. */
static void
test_a_pf_is_reset_after_its_recovery(void **state)
{
	static const enum rte_eth_event_type events[][MAX_EVENTS + 1] = {
		{RTE_ETH_EVENT_ERR_RECOVERING, RTE_ETH_EVENT_INTR_RESET, RTE_ETH_EVENT_MAX},
		{RTE_ETH_EVENT_ERR_RECOVERING, RTE_ETH_EVENT_RECOVERY_SUCCESS,
		 RTE_ETH_EVENT_INTR_RESET, RTE_ETH_EVENT_MAX},
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(events); i++) {
		const uint16_t port = post(events[i]);

		octo_port_await(resets() == 1 && octo_port_leads_to(port, 7, 1, 1));
		octo_port_assert_arrives(port, 7, 1, 10);
		assert_int_equal(resets(), 1);
		octo_port_destroy();
	}
}

/* It is dead, whatever else was asked for. */
static void
test_a_pf_that_gave_up_is_replaced(void **state)
{
	static const enum rte_eth_event_type events[][MAX_EVENTS + 1] = {
		{RTE_ETH_EVENT_RECOVERY_FAILED, RTE_ETH_EVENT_INTR_RESET, RTE_ETH_EVENT_MAX},
		{RTE_ETH_EVENT_INTR_RESET, RTE_ETH_EVENT_RECOVERY_FAILED, RTE_ETH_EVENT_MAX},
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(events); i++) {
		const uint16_t port = post(events[i]);

		octo_port_await(octo_port_leads_to(port, 7, 1, 1));
		octo_port_assert_arrives(port, 7, 1, 10);
		assert_ptr_not_equal(rte_eth_devices[octo_port_pf(1)].dev_ops, &victim.ops);
		assert_int_equal(resets(), 0);
		octo_port_destroy();
	}
}

static uint64_t
rules_of_the_nic(void)
{
	struct mpsim_account a;

	assert_int_equal(rte_pmd_mpsim_account_get("T", &a), 0);
	assert_int_equal(a.unaccounted, 0);
	return a.rules;
}

/* It is as after its probe, less what ethdev keeps, and its counters go on. */
static void
reset_port(const struct octo_port_conf *conf)
{
	const uint16_t port = octo_port_create(conf);
	struct rte_eth_dev_info info;

	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	octo_port_assert_arrives(port, FLOW, 1, 10);
	assert_int_equal(rte_eth_promiscuous_enable(port), 0);
	assert_int_equal(rte_eth_dev_reset(port), 0);
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_int_equal(info.nb_rx_queues, 0);
	assert_int_equal(rte_eth_dev_start(port), -EINVAL);
	assert_int_equal(rules_of_the_nic(), 0);
	octo_port_up(port, 2);
	for (unsigned int pf = 0; pf < 2; pf++)
		assert_true(octo_port_pf_is_started(port, pf));
	assert_int_equal(rte_eth_promiscuous_get(octo_port_pf(0)), 1);
	assert_int_equal(octo_port_rule_pf(port, FLOW), -2);
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	octo_port_assert_arrives(port, FLOW, 1, 10);
	assert_int_equal(octo_port_xstat(port, "tx_good_packets"), 20);
	octo_port_destroy();
}

static void
test_the_port_is_reset(void **state)
{
	static const struct octo_port_conf slices = {.replug = true, .sliced = true};

	(void)state;
	reset_port(&two_pfs);
	reset_port(&slices);
}

static void
assert_reset_is_refused(uint16_t port)
{
	assert_int_equal(rte_eth_dev_reset(port), -ENOTSUP);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_int_equal(octo_port_rule_pf(port, FLOW), 1);
	octo_port_assert_arrives(port, FLOW, 1, 10);
}

/* ethdev has stopped it: nothing else is changed. */
static void
test_a_port_that_cannot_be_reset_is_as_before(void **state)
{
	static const struct octo_port_conf stay_away;
	uint16_t port = create_victim(0);

	(void)state;
	victim.ops.dev_reset = NULL;
	assert_reset_is_refused(port);
	octo_port_destroy();
	port = octo_port_create(&stay_away);
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	assert_reset_is_refused(port);
}

/* It is removed and probed again meanwhile, as one is that has asked for its reset. */
static void
test_a_pf_fails_when_the_port_is_reset(void **state)
{
	const uint16_t port = create_victim(EIO);

	(void)state;
	assert_int_equal(rte_eth_dev_reset(port), 0);
	assert_int_equal(resets(), 1);
	octo_port_up(port, 2);
	assert_ptr_not_equal(rte_eth_devices[octo_port_pf(1)].dev_ops, &victim.ops);
	octo_port_await(octo_port_pf_is_started(port, 1));
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	octo_port_assert_arrives(port, FLOW, 1, 10);
}

static void
take_out(unsigned int pf)
{
	char fault[64];

	snprintf(fault, sizeof(fault), "%s,surprise", octo_port_pf_name(pf));
	assert_int_equal(rte_pmd_mpsim_fault(fault), 0);
	octo_port_await(!octo_port_pf_is_there(pf));
}

static void
put_in(unsigned int pf)
{
	char fault[64];

	snprintf(fault, sizeof(fault), "%s,plug", octo_port_pf_name(pf));
	while (rte_pmd_mpsim_fault(fault) == -EBUSY)
		octo_port_pass_us(1000);
	octo_port_await(octo_port_pf_is_there(pf));
}

/* One comes back by the reset, or else by the start. */
static void
test_a_port_without_pfs_is_reset(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	take_out(0);
	take_out(1);
	assert_int_equal(rte_eth_dev_reset(port), -EIO);
	put_in(0);
	put_in(1);
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	octo_port_assert_arrives(port, FLOW, 1, 10);
	octo_port_remove_pf(0);
	octo_port_remove_pf(1);
	assert_int_equal(rte_eth_dev_reset(port), 0);
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	octo_port_assert_arrives(port, FLOW, 1, 10);
}

/* They have gone with the configuration. */
static void
test_a_port_that_was_reset_has_no_flow_queues(void **state)
{
	const struct rte_flow_pattern_template_attr attr = {.ingress = 1};
	const struct rte_flow_item pattern[] = {{.type = RTE_FLOW_ITEM_TYPE_END}};
	const uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow_error error = {0};

	(void)state;
	assert_int_equal(octo_port_configure(port, 2), 0);
	assert_int_equal(octo_port_flow_queues(port, 1, 16, &error), 0);
	assert_int_equal(rte_eth_dev_reset(port), 0);
	assert_null(rte_flow_pattern_template_create(port, &attr, pattern, &error));
	assert_int_equal(octo_port_configure(port, 2), 0);
	assert_null(rte_flow_pattern_template_create(port, &attr, pattern, &error));
}

static int
link_of(uint16_t port)
{
	struct rte_eth_link link;

	assert_int_equal(rte_eth_link_get_nowait(port, &link), 0);
	return link.link_status;
}

/* As with other drivers; and a PF that comes back later is like the others. */
static void
test_a_start_sets_the_link_up(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	assert_int_equal(rte_eth_dev_set_link_down(port), 0);
	octo_port_await(link_of(port) == RTE_ETH_LINK_DOWN);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_await(link_of(port) == RTE_ETH_LINK_UP);
	octo_port_remove_pf(1);
	octo_port_add_pf(&two_pfs, 1);
	octo_port_await(octo_port_pf_is_started(port, 1));
	octo_port_await(link_of(octo_port_pf(1)) == RTE_ETH_LINK_UP);
	assert_int_equal(link_of(octo_port_pf(0)), RTE_ETH_LINK_UP);
}

/*
 * The link is set down, and up by the start, of which a PF that recovers meanwhile hears
 * nothing: drivers remember what they were told last.
 */
static void
test_a_start_sets_the_link_up_of_a_pf_that_recovers(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	assert_int_equal(rte_eth_dev_set_link_down(port), 0);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,recovery,start"), 0);
	octo_port_await(!octo_port_pf_is_started(port, 1));
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_await(link_of(port) == RTE_ETH_LINK_UP);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,recovery,success"), 0);
	octo_port_await(octo_port_pf_is_started(port, 1));
	octo_port_await(link_of(octo_port_pf(1)) == RTE_ETH_LINK_UP);
}

/* The PFs' drivers remember what they were told last, also when they are reset. */
static void
test_a_start_sets_the_link_up_after_a_reset(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	assert_int_equal(rte_eth_dev_set_link_down(port), 0);
	assert_int_equal(rte_eth_dev_reset(port), 0);
	octo_port_up(port, 2);
	octo_port_await(link_of(port) == RTE_ETH_LINK_UP);
	for (unsigned int pf = 0; pf < 2; pf++)
		assert_int_equal(link_of(octo_port_pf(pf)), RTE_ETH_LINK_UP);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_pf_is_reset_when_it_asks_for_it),
		octo_port_test(test_nothing_is_counted_twice),
		octo_port_test(test_a_pf_is_lost_when_its_counters_are_read),
		octo_port_test(test_what_a_pf_counts_while_it_starts),
		octo_port_test(test_a_pf_is_reset_under_traffic),
		octo_port_test(test_a_pf_that_is_not_reset_is_replaced),
		octo_port_test(test_a_pf_has_an_event_while_it_is_reset),
		octo_port_test(test_a_pf_that_recovers_is_not_reset),
		octo_port_test(test_a_pf_is_reset_after_its_recovery),
		octo_port_test(test_a_pf_that_gave_up_is_replaced),
		octo_port_test(test_the_port_is_reset),
		octo_port_test(test_a_port_that_cannot_be_reset_is_as_before),
		octo_port_test(test_a_pf_fails_when_the_port_is_reset),
		octo_port_test(test_a_port_without_pfs_is_reset),
		octo_port_test(test_a_port_that_was_reset_has_no_flow_queues),
		octo_port_test(test_a_start_sets_the_link_up),
		octo_port_test(test_a_start_sets_the_link_up_of_a_pf_that_recovers),
		octo_port_test(test_a_start_sets_the_link_up_after_a_reset),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
