/* SPDX-License-Identifier: BSD-3-Clause */

/* Rules of mpsim that fail, that take long, and that are not what was said of them. */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>

#include "octo_port_async.h"

#include "mpsim_control.h"

static const struct octo_port_conf one_pf = {.nb_pfs = 1};
static const struct octo_port_conf two_pfs = {0};

static struct {
	uint16_t port;
	RTE_ATOMIC(bool) made;
} slow;

static void
fault(const char *text)
{
	assert_int_equal(rte_pmd_mpsim_fault(text), 0);
}

/* A PF whose frames go to queue 0 if no rule says otherwise. */
static uint16_t
start_pf(void)
{
	octo_port_add_pfs(&one_pf);
	octo_port_up(octo_port_pf(0), 4);
	return octo_port_pf(0);
}

static uint64_t
receive(uint16_t port, uint16_t src_port, uint16_t queue, unsigned int n)
{
	struct octo_port_tally tally = {0};

	octo_port_send(port, 0, src_port, n);
	octo_port_receive(port, queue, n, &tally);
	return tally.packets;
}

static void
assert_refused(uint16_t port, uint16_t src_port, int code)
{
	struct rte_flow_error error;

	assert_null(octo_port_steer(port, src_port, 1, &error));
	assert_int_equal(rte_errno, code);
	assert_non_null(error.message);
}

static void
test_the_third_and_the_fourth_fail(void **state)
{
	const uint16_t port = start_pf();

	(void)state;
	fault("net_mpsim0,rule_fail,3,110,2");
	assert_non_null(octo_port_steer(port, 1, 1, NULL));
	assert_non_null(octo_port_steer(port, 2, 1, NULL));
	assert_refused(port, 3, ETIMEDOUT);
	assert_refused(port, 3, ETIMEDOUT);
	assert_int_equal(receive(port, 3, 0, 8), 8);
	assert_non_null(octo_port_steer(port, 3, 1, NULL));
	assert_int_equal(receive(port, 3, 1, 8), 8);
}

static void
test_a_rule_that_is_lost(void **state)
{
	const uint16_t port = start_pf();
	struct rte_flow *flow;

	(void)state;
	fault("net_mpsim0,rule_lost,1");
	flow = octo_port_steer(port, 1, 1, NULL);
	assert_non_null(flow);
	assert_int_equal(receive(port, 1, 0, 8), 8);
	assert_refused(port, 1, EEXIST);
	assert_int_equal(rte_flow_destroy(port, flow, NULL), 0);
	assert_non_null(octo_port_steer(port, 1, 1, NULL));
	assert_int_equal(receive(port, 1, 1, 8), 8);
}

/* An indirect action that is updated counts as a rule. */
static void
test_updates_of_an_indirect_action(void **state)
{
	const uint16_t port = start_pf();
	struct rte_flow_action_handle *h = octo_port_indirect_queue(port, 1);
	struct rte_flow_action_queue queue;
	struct rte_flow_action update;

	(void)state;
	assert_non_null(octo_port_steer_by(port, 7, h, NULL));
	octo_port_queue_action(&update, &queue, 2);
	fault("net_mpsim0,rule_fail,1");
	assert_int_equal(rte_flow_action_handle_update(port, h, &update, NULL), -EIO);
	assert_int_equal(receive(port, 7, 1, 8), 8);
	fault("net_mpsim0,rule_lost,1");
	assert_int_equal(rte_flow_action_handle_update(port, h, &update, NULL), 0);
	assert_int_equal(receive(port, 7, 1, 8), 8);
	fault("net_mpsim0,rule_false_error,1");
	assert_int_equal(rte_flow_action_handle_update(port, h, &update, NULL), -EIO);
	assert_int_equal(receive(port, 7, 2, 8), 8);
}

/* Of a flow queue: said to have failed, and in effect until it is destroyed. */
static void
test_a_completion_that_lies(void **state)
{
	struct octo_port_table table;
	struct rte_flow *flow;
	uint16_t port;

	(void)state;
	octo_port_add_pfs(&one_pf);
	port = octo_port_pf(0);
	assert_int_equal(octo_port_configure(port, 4), 0);
	assert_int_equal(octo_port_flow_queues(port, 1, 8, NULL), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_table_create(&table, port, 8);
	fault("net_mpsim0,rule_false_error,1");
	flow = octo_port_enqueue(&table, 7, 1, false, NULL);
	assert_non_null(flow);
	octo_port_pull(port, 7, RTE_FLOW_OP_ERROR);
	assert_int_equal(receive(port, 7, 1, 8), 8);
	assert_int_equal(octo_port_enqueue_destroy(port, flow, 7, false), 0);
	octo_port_pull(port, 7, RTE_FLOW_OP_SUCCESS);
	fault("net_mpsim0,rule_lost,1");
	flow = octo_port_enqueue(&table, 7, 1, false, NULL);
	octo_port_pull(port, 7, RTE_FLOW_OP_SUCCESS);
	assert_int_equal(receive(port, 7, 0, 8), 8);
	assert_int_equal(octo_port_enqueue_destroy(port, flow, 7, false), 0);
	octo_port_pull(port, 7, RTE_FLOW_OP_SUCCESS);
	octo_port_table_destroy(&table);
}

static void *
make_rule(void *arg)
{
	RTE_SET_USED(arg);
	octo_port_steer(slow.port, 7, 1, NULL);
	rte_atomic_store_explicit(&slow.made, true, rte_memory_order_release);
	return NULL;
}

static bool
is_made(void)
{
	return rte_atomic_load_explicit(&slow.made, rte_memory_order_acquire);
}

/* Packets go on meanwhile, first to where they went before, then by the rule. */
static void
test_a_slow_rule_stops_no_packets(void **state)
{
	const uint16_t port = start_pf();
	const uint64_t begin = octo_now();
	struct octo_port_tally tally = {0};
	unsigned int rounds = 0;

	(void)state;
	slow.port = port;
	rte_atomic_store_explicit(&slow.made, false, rte_memory_order_relaxed);
	fault("net_mpsim0,rule_slow,1000000");
	octo_port_thread_start(make_rule, NULL);
	for (uint64_t sent = 8; !is_made(); sent += 8) {
		octo_port_send(port, 0, 7, 8);
		while (tally.packets < sent) {
			octo_port_poll(port, 0, 8, &tally);
			octo_port_poll(port, 1, 8, &tally);
		}
		octo_port_pass_us(1000);
		rounds += !is_made();
	}
	/* EAL rounds the rate of the TSC */
	assert_true(octo_now() - begin >= rte_get_timer_hz() / 10 * 9);
	assert_true(rounds > 2);
	octo_port_thread_stop();
	fault("net_mpsim0,clear");
	assert_int_equal(receive(port, 7, 1, 8), 8);
}

/* Rules that are there stay; none comes until there is room again. */
static void
test_a_table_that_shrinks(void **state)
{
	const uint16_t port = start_pf();
	struct rte_flow *flows[4];

	(void)state;
	for (uint16_t i = 0; i < RTE_DIM(flows); i++)
		flows[i] = octo_port_steer(port, i, 1, NULL);
	fault("net_mpsim0,room,arfs,3");
	assert_int_equal(receive(port, 3, 1, 8), 8);
	assert_refused(port, 7, ENOSPC);
	assert_int_equal(rte_flow_destroy(port, flows[0], NULL), 0);
	assert_refused(port, 7, ENOSPC);
	assert_int_equal(rte_flow_destroy(port, flows[1], NULL), 0);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	assert_refused(port, 8, ENOSPC);
}

static struct rte_flow *
send_to_pf(uint16_t src_port, unsigned int pf)
{
	struct octo_flow_rule r;

	octo_port_build_mpfs(&r, src_port, pf);
	return rte_flow_create(octo_port_pf(0), &r.attr, r.pattern, r.actions, NULL);
}

static void
test_a_switch_that_shrinks(void **state)
{
	struct rte_flow *flow;

	(void)state;
	octo_port_add_pfs(&two_pfs);
	octo_port_up(octo_port_pf(0), 1);
	flow = send_to_pf(1, 1);
	assert_non_null(flow);
	fault("T,room,mpfs,1");
	assert_null(send_to_pf(2, 1));
	assert_int_equal(rte_errno, ENOSPC);
	assert_int_equal(rte_flow_destroy(octo_port_pf(0), flow, NULL), 0);
	assert_non_null(send_to_pf(2, 1));
	fault("T,clear");
	assert_non_null(send_to_pf(3, 1));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_the_third_and_the_fourth_fail),
		octo_port_test(test_a_rule_that_is_lost),
		octo_port_test(test_updates_of_an_indirect_action),
		octo_port_test(test_a_completion_that_lies),
		octo_port_test(test_a_slow_rule_stops_no_packets),
		octo_port_test(test_a_table_that_shrinks),
		octo_port_test(test_a_switch_that_shrinks),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
