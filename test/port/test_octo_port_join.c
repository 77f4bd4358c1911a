/* SPDX-License-Identifier: BSD-3-Clause */

/* PFs that go in order, when that is announced, and that come back with many rules to get. */

#include <errno.h>

#include "octo_port_async.h"
#include "octo_port_fault.h"
#include "mpsim_control.h"

#include "octo_private.h"

#define QUEUE 1
#define OTHER_QUEUE 0
#define FLOW 7

static const struct octo_port_conf two_pfs = {.replug = true};
static const struct octo_port_conf four_pfs = {.nb_pfs = 4, .replug = true};

/* A flow that comes by PF 1, which has packets of it in its ring. */
static uint16_t
fill_ring(const struct octo_port_conf *conf, unsigned int packets)
{
	const uint16_t port = octo_port_create(conf);
	struct octo_port_tally tally = {0};

	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, FLOW, QUEUE, NULL));
	octo_port_await(octo_port_leads_to(port, FLOW, QUEUE, 1));
	octo_port_send(port, OTHER_QUEUE, FLOW, packets);
	octo_port_await((octo_port_poll(port, OTHER_QUEUE, 32, &tally),
			 rte_eth_rx_queue_count(octo_port_pf(1), QUEUE) == (int)packets));
	return port;
}

/* It is polled until it has nothing any more, and only then removed. */
static void
test_a_pf_that_is_ejected_loses_nothing(void **state)
{
	const uint16_t port = fill_ring(&two_pfs, 100);
	struct octo_port_tally tally = {0};

	(void)state;
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,eject,60000000"), 0);
	octo_port_await(octo_port_rule_pf(port, FLOW) == 0);
	assert_true(octo_port_pf_is_there(1));
	assert_true(octo_port_pf_is(port, 1, "draining"));
	octo_port_await((octo_port_poll(port, QUEUE, 32, &tally), !octo_port_pf_is_there(1)));
	assert_int_equal(tally.packets, 100);
	assert_int_equal(octo_port_lost(), 0);
	octo_port_assert_arrives(port, FLOW, QUEUE, 10);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,plug"), 0);
	octo_port_await(octo_port_pf_is_started(port, 1));
	octo_port_await(octo_port_leads_to(port, FLOW, QUEUE, 1));
	octo_port_assert_arrives(port, FLOW, QUEUE, 10);
}

/* The proxy, too: the rules of the switch go with it. */
static void
test_every_pf_is_ejected(void **state)
{
	const uint16_t port = fill_ring(&four_pfs, 10);
	struct octo_port_tally tally = {0};
	char text[64];

	(void)state;
	for (unsigned int pf = 0; pf < 3; pf++) {
		snprintf(text, sizeof(text), "%s,eject,60000000", octo_port_pf_name(pf));
		assert_int_equal(rte_pmd_mpsim_fault(text), 0);
		octo_port_await(
			(octo_port_poll(port, QUEUE, 32, &tally), !octo_port_pf_is_there(pf)));
		octo_port_await(octo_port_leads_to(port, FLOW, QUEUE, 3) || pf < 2);
		octo_port_assert_arrives(port, FLOW, QUEUE, 10);
	}
	assert_int_equal(tally.packets, 10);
	assert_int_equal(octo_port_lost(), 0);
}

/* Nobody is waited for who does not poll. */
static void
test_an_ejected_pf_that_nobody_polls(void **state)
{
	const uint16_t port = fill_ring(&two_pfs, 100);

	(void)state;
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,eject,60000000"), 0);
	octo_port_await(!octo_port_pf_is_there(1));
	assert_int_equal(octo_port_lost(), 100);
	octo_port_assert_arrives(port, FLOW, QUEUE, 10);
}

/* It dies before it was let go of. */
static void
test_an_ejected_pf_dies(void **state)
{
	const uint16_t port = fill_ring(&two_pfs, 100);

	(void)state;
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,eject,60000000"), 0);
	octo_port_await(octo_port_pf_is(port, 1, "draining"));
	octo_port_remove_pf(1);
	assert_true(octo_port_pf_is(port, 1, "gone"));
	assert_int_equal(octo_port_lost(), 100);
	octo_port_await(octo_port_rule_pf(port, FLOW) == 0);
	octo_port_assert_arrives(port, FLOW, QUEUE, 10);
}

/* Who ejects it waits all the same. */
static void
test_the_port_is_stopped_while_a_pf_is_ejected(void **state)
{
	const uint16_t port = fill_ring(&two_pfs, 100);

	(void)state;
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,eject,60000000"), 0);
	octo_port_await(octo_port_pf_is(port, 1, "draining"));
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_true(octo_port_pf_is(port, 1, "gone"));
	octo_port_await(!octo_port_pf_is_there(1));
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_await(octo_port_rule_pf(port, FLOW) == 0);
	octo_port_assert_arrives(port, FLOW, QUEUE, 10);
}

/* There is nowhere to go, so it goes at once. */
static void
test_the_last_pf_is_ejected(void **state)
{
	const uint16_t port = fill_ring(&two_pfs, 100);

	(void)state;
	octo_port_remove_pf(0);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,eject,1000"), 0);
	octo_port_await(!octo_port_pf_is_there(1));
	octo_port_await(octo_port_pf_is(port, 1, "gone"));
}

#define RULES 40
#define RULE_US "50000"
#define MAX_TRIES 20

static struct rte_flow *rule[RULES];

/* PF 1 comes back and takes its time to get the rules, unless it has had them all at once. */
static bool
begins_to_join(uint16_t port)
{
	octo_port_add_pf(&two_pfs, 1);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,rule_slow," RULE_US), 0);
	octo_port_await(octo_port_pf_is(port, 1, "joining") || octo_port_pf_is_started(port, 1));
	return octo_port_pf_is(port, 1, "joining");
}

static void
begin_to_join(uint16_t port)
{
	int tries = 0;

	do {
		octo_port_remove_pf(1);
		assert_true(tries++ < MAX_TRIES);
	} while (!begins_to_join(port));
}

static uint16_t
join_slowly(void)
{
	const uint16_t port = octo_port_create(&two_pfs);

	octo_port_up(port, 2);
	for (uint16_t i = 0; i < RULES; i++) {
		rule[i] = octo_port_steer(port, 1000 + i, QUEUE, NULL);
		assert_non_null(rule[i]);
	}
	begin_to_join(port);
	return port;
}

/* No flow comes by it before it has all rules, and then it has all that there are. */
static void
test_rules_come_and_go_while_a_pf_joins(void **state)
{
	const uint16_t port = join_slowly();

	(void)state;
	assert_int_not_equal(octo_port_rule_pf(port, 1000), 1);
	for (uint16_t i = 0; i < RULES; i += 10) {
		assert_int_equal(rte_flow_destroy(port, rule[i], NULL), 0);
		assert_non_null(octo_port_steer(port, 2000 + i, QUEUE, NULL));
		octo_port_poll(port, QUEUE, 32, &(struct octo_port_tally){0});
	}
	assert_true(octo_port_pf_is(port, 1, "joining"));
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,clear"), 0);
	octo_port_await(octo_port_pf_is_started(port, 1));
	for (uint16_t i = 0; i < RULES; i++) {
		const uint16_t src_port = i % 10 == 0 ? 2000 + i : 1000 + i;

		octo_port_await(octo_port_leads_to(port, src_port, QUEUE, 1));
		octo_port_assert_arrives(port, src_port, QUEUE, 1);
	}
	assert_int_equal(octo_port_xstat(port, "rx_stray_packets"), 0);
	assert_int_equal(rte_flow_flush(port, NULL), 0);
}

/* It leads to the PF, which would put the packets into queues chosen by RSS. */
static void
test_a_transfer_rule_waits_for_a_joining_pf(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);
	const struct octo_dev *octo = octo_of(&rte_eth_devices[port]);
	struct octo_flow_rule r;
	struct rte_flow *lead;

	(void)state;
	octo_port_up(port, 2);
	octo_flow_build_transfer(&r, OCTO_DIALECT_WIRE_ITEM, &octo_tuple_example, 0,
				 octo_port_pf(0), octo_port_pf(1), false);
	lead = rte_flow_create(port, &r.attr, r.pattern, r.actions, NULL);
	assert_non_null(lead);
	for (uint16_t i = 0; i < RULES; i++)
		assert_non_null(octo_port_steer(port, 1000 + i, QUEUE, NULL));
	/* the rule goes to PF 1, and is lost with it */
	octo_port_remove_pf(0);
	octo_port_await(octo_rule_on(octo, lead, 1) != NULL);
	octo_port_add_pf(&two_pfs, 0);
	octo_port_await(octo_port_pf_is_started(port, 0));
	begin_to_join(port);
	while (octo_port_pf_is(port, 1, "joining")) {
		assert_null(octo_rule_on(octo, lead, 0));
		octo_port_pass_us(10000);
	}
	octo_port_await(octo_rule_on(octo, lead, 0) != NULL);
}

/* It is no reason to refuse a rule that all others take; the PF is tried again. */
static void
test_a_rule_that_only_a_joining_pf_refuses(void **state)
{
	const uint16_t port = join_slowly();
	const uint64_t replugs = octo_port_xstat(port, "replugs");

	(void)state;
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,rule_fail,1,5,1"), 0);
	assert_non_null(octo_port_steer(port, 3000, QUEUE, NULL));
	octo_port_await(octo_port_pf_is(port, 1, "gone"));
	octo_port_assert_arrives(port, 3000, QUEUE, 10);
	octo_port_await(octo_port_pf_is_started(port, 1));
	octo_port_await(octo_port_leads_to(port, 3000, QUEUE, 1));
	octo_port_assert_arrives(port, 3000, QUEUE, 10);
	assert_int_equal(octo_port_xstat(port, "replugs"), replugs + 1);
}

static const struct rte_flow_attr ingress = {.ingress = 1};
static const struct rte_flow_item ipv4[] = {
	{.type = RTE_FLOW_ITEM_TYPE_ETH},
	{.type = RTE_FLOW_ITEM_TYPE_IPV4},
	{.type = RTE_FLOW_ITEM_TYPE_END},
};
static const struct rte_flow_action drop[] = {
	{.type = RTE_FLOW_ACTION_TYPE_DROP},
	{.type = RTE_FLOW_ACTION_TYPE_END},
};

/* No queue is named, so the PFs are asked before. */
static void
test_a_rule_that_a_joining_pf_finds_invalid(void **state)
{
	const uint16_t port = join_slowly();
	struct octo_port_faults *faults = octo_port_faults_on(1);

	(void)state;
	faults->validate_ingress = EPERM;
	assert_int_equal(rte_flow_validate(port, &ingress, ipv4, drop, NULL), 0);
	assert_non_null(rte_flow_create(port, &ingress, ipv4, drop, NULL));
	octo_port_faults_on(0)->validate_ingress = EPERM;
	assert_int_equal(rte_flow_validate(port, &ingress, ipv4, drop, NULL), -EPERM);
	octo_port_faults_off();
}

/* It gets neither the action, nor then the rules that have it, and is tried again. */
static void
test_an_indirect_action_that_a_joining_pf_refuses(void **state)
{
	const uint16_t port = join_slowly();
	struct octo_port_faults *faults = octo_port_faults_on(1);
	struct rte_flow_action_handle *handle;
	int ingresses;

	(void)state;
	faults->handle_create = ENOSPC;
	handle = octo_port_indirect_queue(port, QUEUE);
	ingresses = faults->ingresses;
	assert_non_null(octo_port_steer_by(port, 3000, handle, NULL));
	assert_int_equal(faults->ingresses, ingresses);
	octo_port_await(octo_port_pf_is(port, 1, "draining"));
	handle = octo_port_indirect_queue(port, QUEUE);
	assert_non_null(octo_port_steer_by(port, 3001, handle, NULL));
	assert_int_equal(faults->ingresses, ingresses);
	octo_port_faults_off();
	octo_port_await(octo_port_pf_is_started(port, 1));
	octo_port_await(octo_port_leads_to(port, 3001, QUEUE, 1));
	octo_port_assert_arrives(port, 3001, QUEUE, 10);
	assert_int_equal(octo_port_xstat(port, "rx_stray_packets"), 0);
}

/* It is lost again, or the port is stopped, before it has all rules. */
static void
test_a_pf_that_does_not_get_to_join(void **state)
{
	const uint16_t port = join_slowly();

	(void)state;
	octo_port_remove_pf(1);
	assert_true(octo_port_pf_is(port, 1, "gone"));
	octo_port_add_pf(&two_pfs, 1);
	octo_port_await(octo_port_pf_is_started(port, 1));
	begin_to_join(port);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,clear"), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_true(octo_port_pf_is_started(port, 1));
	octo_port_await(octo_port_leads_to(port, 1000, QUEUE, 1));
	octo_port_assert_arrives(port, 1000, QUEUE, 10);
}

/* Nothing leads to it, and what the NIC sent there by itself is read first. */
static void
test_a_pf_that_joins_is_ejected(void **state)
{
	const uint16_t port = join_slowly();

	(void)state;
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,eject,60000000"), 0);
	octo_port_await(!octo_port_pf_is(port, 1, "joining"));
	assert_true(octo_port_pf_is(port, 1, "draining"));
	octo_port_await(!octo_port_pf_is_there(1));
	octo_port_assert_arrives(port, 1000, QUEUE, 10);
}

/* The RETA of the earlier configuration names queues that the PF does not have now. */
static void
test_a_pf_joins_at_the_start_with_fewer_queues(void **state)
{
	const struct rte_eth_conf conf = {
		.rxmode = {.mq_mode = RTE_ETH_MQ_RX_RSS},
		.rx_adv_conf = {.rss_conf = {.rss_hf = RTE_ETH_RSS_IPV4}},
	};
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up_as(port, 4, &conf);
	octo_port_remove_pf(1);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	octo_port_add_pf(&two_pfs, 1);
	octo_port_up_as(port, 2, &conf);
	assert_true(octo_port_pf_is_started(port, 1));
	assert_int_equal(octo_port_reta_of(1), 0x3);
}

static bool
has_key(unsigned int pf, const uint8_t *key)
{
	uint8_t its[40];
	struct rte_eth_rss_conf rss = {.rss_key = its, .rss_key_len = sizeof(its)};

	assert_int_equal(rte_eth_dev_rss_hash_conf_get(octo_port_pf(pf), &rss), 0);
	return memcmp(its, key, sizeof(its)) == 0;
}

/* Before DPDK 24.07 a length of 0 means that of the PFs' keys; then ethdev refuses it. */
static void
test_a_pf_gets_a_key_without_a_length(void **state)
{
	uint8_t key[40];
	const struct rte_eth_conf conf = {
		.rxmode = {.mq_mode = RTE_ETH_MQ_RX_RSS},
		.rx_adv_conf = {.rss_conf = {.rss_key = key, .rss_hf = RTE_ETH_RSS_IPV4}},
	};
	struct rte_eth_rss_conf rss = conf.rx_adv_conf.rss_conf;
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	memset(key, 0x5a, sizeof(key));
	if (rte_eth_dev_configure(port, 2, 2, &conf) == -EINVAL)
		skip();
	assert_int_equal(octo_port_setup_queues(port, 2), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	for (unsigned int pf = 0; pf < 2; pf++) {
		assert_true(has_key(0, key));
		assert_true(has_key(1, key));
		assert_int_equal(rte_eth_dev_rss_hash_update(port, &rss), 0);
		octo_port_remove_pf(pf);
		octo_port_add_pf(&two_pfs, pf);
		octo_port_await(octo_port_pf_is_started(port, pf));
		assert_true(has_key(pf, key));
	}
}

/* What was ejected can be probed by the next test. */
static int
teardown(void **state)
{
	const int ret = octo_port_teardown(state);
	char text[64];

	for (unsigned int pf = 0; pf < 4; pf++) {
		snprintf(text, sizeof(text), "%s,plug,wait", octo_port_pf_name(pf));
		rte_pmd_mpsim_fault(text);
	}
	return ret;
}

#define join_test(f) cmocka_unit_test_setup_teardown(f, octo_port_setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		join_test(test_a_pf_that_is_ejected_loses_nothing),
		join_test(test_every_pf_is_ejected),
		join_test(test_an_ejected_pf_that_nobody_polls),
		join_test(test_an_ejected_pf_dies),
		join_test(test_the_port_is_stopped_while_a_pf_is_ejected),
		join_test(test_the_last_pf_is_ejected),
		join_test(test_rules_come_and_go_while_a_pf_joins),
		join_test(test_a_transfer_rule_waits_for_a_joining_pf),
		join_test(test_a_rule_that_only_a_joining_pf_refuses),
		join_test(test_a_rule_that_a_joining_pf_finds_invalid),
		join_test(test_an_indirect_action_that_a_joining_pf_refuses),
		join_test(test_a_pf_that_does_not_get_to_join),
		join_test(test_a_pf_that_joins_is_ejected),
		join_test(test_a_pf_joins_at_the_start_with_fewer_queues),
		join_test(test_a_pf_gets_a_key_without_a_length),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
