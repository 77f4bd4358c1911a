/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The last PF goes on without the rules that it refused when it came back, until it has them. So do
 * PFs of which none can have all rules.
 */

#include <errno.h>

#include "octo_port_async.h"
#include "octo_port_fault.h"
#include "mpsim_control.h"

#include "octo_private.h"

#define QUEUE 1
#define OTHER_QUEUE 0
#define RULES 40
#define RULE_US "50000"

static const struct octo_port_conf two_pfs = {.replug = true};
static struct rte_flow *rule[RULES];

/* PF 0, which comes back when it is plugged in, and not before. */
static void
take_away(void)
{
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,remove"), 0);
	octo_port_await(!octo_port_pf_is_there(0));
}

static void
bring_back(void)
{
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,plug"), 0);
	octo_port_await(octo_port_pf_is_there(0));
}

#define ROOM 8

/* PF 1 came back, and has no room for most of the rules. */
static uint16_t
come_back_without_room(void)
{
	static const struct octo_port_conf small = {
		.replug = true,
		.all = "arfs_entries=" RTE_STR(ROOM),
	};
	const uint16_t port = octo_port_create(&two_pfs);

	octo_port_up(port, 2);
	for (uint16_t i = 0; i < RULES; i++) {
		rule[i] = octo_port_steer(port, 1000 + i, QUEUE, NULL);
		assert_non_null(rule[i]);
	}
	octo_port_remove_pf(1);
	octo_port_add_pf(&small, 1);
	octo_port_await(octo_port_pf_is(port, 1, "draining"));
	return port;
}

/* PF 0 takes it, and PF 1 is given back soon. */
static void
test_a_rule_that_only_a_draining_pf_refuses(void **state)
{
	const uint16_t port = come_back_without_room();

	(void)state;
	assert_non_null(octo_port_steer(port, 3000, QUEUE, NULL));
	assert_true(octo_port_pf_is(port, 1, "draining"));
	octo_port_assert_arrives(port, 3000, QUEUE, 10);
}

/* PF 1 is the last. */
static uint16_t
join_without_room(void)
{
	const uint16_t port = come_back_without_room();

	take_away();
	octo_port_await(octo_port_pf_is(port, 1, "draining") && octo_port_is_proxy(port, 1));
	octo_port_await(octo_port_leads_to(port, 1000, QUEUE, 1));
	/* now its answer counts */
	assert_null(octo_port_steer(port, 3000, QUEUE, NULL));
	return port;
}

static unsigned int
on_pf(uint16_t port, unsigned int pf)
{
	const struct octo_dev *octo = octo_of(&rte_eth_devices[port]);
	unsigned int n = 0;

	for (uint16_t i = 0; i < RULES; i++)
		n += rule[i] != NULL && octo_rule_on(octo, rule[i], pf) != NULL;
	return n;
}

static void
destroy_rules(uint16_t port, uint16_t from, uint16_t to)
{
	for (uint16_t i = from; i < to; i++) {
		assert_int_equal(rte_flow_destroy(port, rule[i], NULL), 0);
		rule[i] = NULL;
	}
}

/* One without some rules is better than none, and manages the switch until there is another. */
static void
test_the_last_pf_cannot_join(void **state)
{
	const uint16_t port = join_without_room();

	(void)state;
	for (unsigned int i = 0; i < 100; i++) {
		octo_port_pass_us(100000);
		octo_port_assert_arrives(port, 1000, QUEUE, 10);
		assert_true(octo_port_pf_is(port, 1, "draining"));
		assert_true(octo_port_is_proxy(port, 1));
	}
	bring_back();
	octo_port_await(octo_port_pf_is_started(port, 0));
	octo_port_await(octo_port_pf_is(port, 1, "gone"));
	assert_false(octo_port_is_proxy(port, 1));
	destroy_rules(port, ROOM, RULES);
	octo_port_await(octo_port_pf_is_started(port, 1));
	octo_port_await(octo_port_leads_to(port, 1000, QUEUE, 1));
	octo_port_assert_arrives(port, 1000, QUEUE, 10);
}

/* Its table has room again: it gets what it lacks, and is never without traffic. */
static void
test_the_last_pf_has_room_later(void **state)
{
	const uint16_t port = join_without_room();
	const uint64_t replugs = octo_port_xstat(port, "replugs");

	(void)state;
	assert_int_equal(on_pf(port, 1), ROOM);
	destroy_rules(port, 0, 3);
	octo_port_await(on_pf(port, 1) == ROOM);
	assert_true(octo_port_pf_is(port, 1, "draining"));
	destroy_rules(port, 3, ROOM - 1);
	destroy_rules(port, ROOM, RULES - ROOM + 1);
	octo_port_await((octo_port_assert_arrives(port, 1000 + ROOM - 1, QUEUE, 1),
			 !octo_port_pf_is(port, 1, "draining")));
	assert_true(octo_port_pf_is_started(port, 1));
	assert_int_equal(on_pf(port, 1), ROOM);
	assert_int_equal(octo_port_xstat(port, "replugs"), replugs + 1);
	octo_port_assert_arrives(port, 1000 + RULES - 1, QUEUE, 10);
	bring_back();
	octo_port_await(octo_port_pf_is_started(port, 0));
	assert_true(octo_port_pf_is_started(port, 1));
}

/* Another PF that joins has the rules of both in the end. */
static void
test_a_pf_joins_while_the_last_is_tried_again(void **state)
{
	const uint16_t port = join_without_room();

	(void)state;
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,rule_slow," RULE_US), 0);
	octo_port_pass_us(1000000);
	bring_back();
	octo_port_await(octo_port_pf_is_started(port, 0));
	assert_int_equal(on_pf(port, 0), RULES);
	octo_port_await(octo_port_pf_is(port, 1, "gone"));
	destroy_rules(port, 0, RULES - ROOM);
	octo_port_await(octo_port_pf_is_started(port, 1));
	octo_port_await(octo_port_leads_to(port, 1000 + RULES - 1, QUEUE, 1));
	octo_port_assert_arrives(port, 1000 + RULES - 1, QUEUE, 10);
}

/* Nor has it the rules that have the action. */
static void
test_an_indirect_action_that_the_last_pf_refuses(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(
		octo_port_steer_by(port, 3000, octo_port_indirect_queue(port, QUEUE), NULL));
	octo_port_remove_pf(1);
	octo_port_add_pf(&two_pfs, 1);
	octo_port_faults_on(1)->handle_create = ENOSPC;
	octo_port_await(octo_port_pf_is(port, 1, "draining"));
	take_away();
	octo_port_pass_us(10000000);
	assert_true(octo_port_pf_is(port, 1, "draining"));
	octo_port_faults_off();
	octo_port_await(octo_port_pf_is_started(port, 1));
	octo_port_await(octo_port_leads_to(port, 3000, QUEUE, 1));
	octo_port_assert_arrives(port, 3000, QUEUE, 10);
}

/* The only port of slices. */
static void
test_a_rule_that_the_port_of_slices_refuses(void **state)
{
	static const struct octo_port_conf slices = {.sliced = true, .replug = true};
	static const struct rte_flow_attr ingress = {.ingress = 1};
	static const struct rte_flow_item ipv6[] = {
		{.type = RTE_FLOW_ITEM_TYPE_ETH},
		{.type = RTE_FLOW_ITEM_TYPE_IPV6},
		{.type = RTE_FLOW_ITEM_TYPE_END},
	};
	static const struct rte_flow_action drop[] = {
		{.type = RTE_FLOW_ACTION_TYPE_DROP},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	const uint16_t port = octo_port_create(&slices);
	const struct octo_dev *octo = octo_of(&rte_eth_devices[port]);
	struct rte_flow *generic;

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 1000, QUEUE, NULL));
	generic = rte_flow_create(port, &ingress, ipv6, drop, NULL);
	assert_non_null(generic);
	octo_port_remove_pf(0);
	octo_port_add_pf(&slices, 0);
	octo_port_faults_on(0)->create_ingress = ENOSPC;
	octo_port_await(octo_port_pf_is(port, 0, "draining"));
	octo_port_pass_us(10000000);
	assert_true(octo_port_pf_is(port, 0, "draining"));
	assert_null(octo_rule_on(octo, generic, 0));
	octo_port_faults_off();
	octo_port_await(octo_port_pf_is_started(port, 0));
	assert_non_null(octo_rule_on(octo, generic, 0));
	octo_port_await(octo_port_rule_pf(port, 1000) >= 0);
	octo_port_assert_arrives(port, 1000, QUEUE, 10);
}

/* The last PF is the first that a rule is inserted on, and refuses them all. */
static void
test_the_other_pf_joins_with_all(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_faults *faults;

	(void)state;
	octo_port_up(port, 2);
	for (uint16_t i = 0; i < RULES; i++)
		rule[i] = octo_port_steer(port, 1000 + i, QUEUE, NULL);
	assert_non_null(
		octo_port_steer_by(port, 3000, octo_port_indirect_queue(port, QUEUE), NULL));
	octo_port_remove_pf(0);
	octo_port_add_pf(&two_pfs, 0);
	faults = octo_port_faults_on(0);
	faults->handle_create = ENOSPC;
	faults->create_ingress = ENOSPC;
	octo_port_await(octo_port_pf_is(port, 0, "draining"));
	octo_port_remove_pf(1);
	octo_port_await(octo_port_is_proxy(port, 0));
	octo_port_add_pf(&two_pfs, 1);
	octo_port_await(octo_port_pf_is_started(port, 1));
	assert_int_equal(on_pf(port, 1), RULES);
	octo_port_await(octo_port_leads_to(port, 3000, QUEUE, 1));
	octo_port_assert_arrives(port, 3000, QUEUE, 10);
	octo_port_await(octo_port_pf_is(port, 0, "gone"));
	octo_port_faults_off();
}

/* Not to be taken for rules that are left for the next round. */
static void
test_a_pf_refuses_with_eagain(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 1000, QUEUE, NULL));
	octo_port_remove_pf(1);
	octo_port_add_pf(&two_pfs, 1);
	octo_port_faults_on(1)->create_ingress = EAGAIN;
	octo_port_pass_us(2000000);
	assert_false(octo_port_pf_is(port, 1, "joining"));
	octo_port_faults_off();
	octo_port_assert_arrives(port, 1000, QUEUE, 10);
}

/* Packets are in the Rx ring of PF 1, and as many cannot leave its Tx ring. */
static void
fill_both_rings(uint16_t port, unsigned int packets)
{
	struct octo_port_tally tally = {0};

	octo_port_send(port, OTHER_QUEUE, 1000, packets);
	octo_port_await((octo_port_poll(port, OTHER_QUEUE, 32, &tally),
			 rte_eth_rx_queue_count(octo_port_pf(1), QUEUE) == (int)packets));
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,tx_stuck,on"), 0);
	octo_port_send(port, OTHER_QUEUE, 1000, packets);
}

/* PF 0 is nobody's home before it has all rules, of which it refuses most. */
static void
refuse_to_join_next(uint16_t port)
{
	bring_back();
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,rule_fail,12,5,1000000"), 0);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,rule_slow," RULE_US), 0);
	octo_port_await(octo_port_pf_is(port, 0, "joining"));
	assert_int_equal(octo_port_xstat(port, "usable_pfs"), 1);
	octo_port_await(octo_port_pf_is(port, 0, "draining"));
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,rule_slow,0"), 0);
}

/* It has nothing to send or to receive any more when it is given back. */
static void
await_given_back(uint16_t port, unsigned int packets)
{
	struct octo_port_tally tally = {0};

	octo_port_await((octo_port_poll(port, QUEUE, 32, &tally), tally.packets == packets));
	octo_port_pass_us(500000);
	assert_true(octo_port_pf_is(port, 1, "draining"));
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim1,tx_stuck,off"), 0);
	octo_port_await(
		(octo_port_poll(port, QUEUE, 32, &tally), octo_port_pf_is(port, 1, "gone")));
	octo_port_receive(port, QUEUE, 2 * packets, &tally);
	assert_int_equal(tally.packets, 2 * packets);
	assert_int_equal(octo_port_lost(), 0);
}

/* One of them goes on, the other is tried again, and nothing is lost by that. */
static void
test_two_pfs_cannot_join(void **state)
{
	const uint16_t port = join_without_room();

	(void)state;
	fill_both_rings(port, 20);
	refuse_to_join_next(port);
	await_given_back(port, 20);
	for (unsigned int i = 0; i < 100; i++) {
		octo_port_pass_us(100000);
		octo_port_assert_arrives(port, 1000, QUEUE, 1);
		assert_true(octo_port_pf_is(port, 0, "draining"));
	}
	for (uint16_t i = ROOM; i < RULES; i++)
		assert_int_equal(rte_flow_destroy(port, rule[i], NULL), 0);
	octo_port_await(octo_port_pf_is_started(port, 1));
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,clear"), 0);
	octo_port_await(octo_port_pf_is_started(port, 0));
	octo_port_await(octo_port_leads_to(port, 1000, QUEUE, 1));
	octo_port_assert_arrives(port, 1000, QUEUE, 10);
	assert_int_equal(octo_port_lost(), 0);
}

static int
teardown(void **state)
{
	const int ret = octo_port_teardown(state);

	rte_pmd_mpsim_fault("net_mpsim0,plug,wait");
	return ret;
}

#define last_test(f) cmocka_unit_test_setup_teardown(f, octo_port_setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		last_test(test_a_rule_that_only_a_draining_pf_refuses),
		last_test(test_the_last_pf_cannot_join),
		last_test(test_the_last_pf_has_room_later),
		last_test(test_a_pf_joins_while_the_last_is_tried_again),
		last_test(test_an_indirect_action_that_the_last_pf_refuses),
		last_test(test_a_rule_that_the_port_of_slices_refuses),
		last_test(test_the_other_pf_joins_with_all),
		last_test(test_a_pf_refuses_with_eagain),
		last_test(test_two_pfs_cannot_join),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
