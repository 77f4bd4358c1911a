/* SPDX-License-Identifier: BSD-3-Clause */

/* Results of flow queues that a PF has later than octo waits for them. */

#include <errno.h>

#include "octo_async_queue.h"
#include "octo_clock.h"
#include "octo_port_async.h"
#include "octo_port_fault.h"
#include "octo_private.h"

static const struct octo_port_conf two_pfs;

static const struct octo_async_queue *queue;
static struct rte_flow *flows[2];
static unsigned int nb_pulls; /* of the second PF, while the second rule is destroyed */

/* First none until that, then one, and the other after some pulls. */
static uint16_t
give_late(uint16_t pf)
{
	if (pf != octo_port_pf(1))
		return UINT16_MAX;
	if (queue->own.rule != flows[1])
		return 0;
	nb_pulls++;
	return nb_pulls == 1 || nb_pulls > 20 ? 1 : 0;
}

/* The table is destroyed on the PF, as none of its rules is left there. */
static void
test_a_late_result_is_of_its_own_operation(void **state)
{
	struct octo_port_table t;
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	assert_int_equal(octo_port_configure(port, 4), 0);
	assert_int_equal(octo_port_flow_queues(port, 1, 16, NULL), 0);
	octo_port_table_create(&t, port, 4);
	assert_int_equal(rte_eth_dev_start(port), 0);
	for (uint16_t i = 0; i < 2; i++) {
		flows[i] = octo_port_enqueue(&t, 100 + i, i, false, NULL);
		octo_port_pull(port, 100 + i, RTE_FLOW_OP_SUCCESS);
	}
	queue = octo_of(&rte_eth_devices[port])->async->queues[0];
	octo_port_results_given = give_late;
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(rte_flow_destroy(port, flows[i], NULL), 0);
	octo_port_results_given = NULL;
	assert_true(nb_pulls > 20);
	octo_port_table_destroy(&t);
}

static uint16_t
give_none(uint16_t pf)
{
	return pf == octo_port_pf(0) ? 0 : UINT16_MAX;
}

/* Create a rule, and destroy it by octo's own operation. */
static void
make_and_destroy(struct octo_port_table *t, uint16_t port, uint16_t (*given)(uint16_t pf))
{
	struct rte_flow *flow;

	octo_port_table_create(t, port, 4);
	flow = octo_port_enqueue(t, 100, 0, false, NULL);
	octo_port_pull(port, 100, RTE_FLOW_OP_SUCCESS);
	octo_port_results_given = given;
	assert_int_equal(rte_flow_destroy(port, flow, NULL), 0);
	octo_port_table_destroy(t);
}

/* A PF that was given its flow queues again has no result of before. */
static void
test_flow_queues_that_are_given_back_owe_no_result(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct octo_port_table t;

	(void)state;
	assert_int_equal(octo_port_configure(port, 4), 0);
	assert_int_equal(octo_port_flow_queues(port, 1, 16, NULL), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	make_and_destroy(&t, port, give_none);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	octo_port_faults_on(1)->flow_configure = ENOMEM;
	assert_int_equal(octo_port_flow_queues(port, 1, 32, NULL), -ENOMEM);
	octo_port_faults_off();
	octo_port_results_given = NULL;
	assert_int_equal(rte_eth_dev_start(port), 0);
	make_and_destroy(&t, port, NULL);
	assert_int_equal(octo_of(&rte_eth_devices[port])->async->queues[0]->own.awaited, 0);
}

/* The control mutex is held meanwhile. */
static void
test_a_silent_pf_is_waited_for_once(void **state)
{
	struct octo_port_table t;
	uint16_t port = octo_port_start_with_table(&two_pfs, &t);
	struct rte_flow *flow = octo_port_enqueue(&t, 100, 0, false, NULL);
	uint64_t begun;

	(void)state;
	octo_port_pull(port, 100, RTE_FLOW_OP_SUCCESS);
	octo_port_results_given = give_none;
	begun = octo_now_ms();
	assert_int_equal(rte_flow_destroy(port, flow, NULL), 0);
	octo_port_results_given = NULL;
	assert_in_range(octo_now_ms() - begun, 1000, 1999);
	octo_port_table_destroy(&t);
}

/* None while octo waits for that of the first rule, or before the second one is destroyed. */
static uint16_t
give_later(uint16_t pf)
{
	return pf == octo_port_pf(1) && queue->own.rule != flows[1] ? 0 : UINT16_MAX;
}

/* The second PF has no room for the second rule, and so no part in its destruction. */
static void
test_a_late_error_is_of_its_own_operation(void **state)
{
	const struct octo_port_conf conf = {.pf = {[1] = "arfs_entries=1"}};
	struct octo_port_table t;
	uint16_t port = octo_port_start_with_table(&conf, &t);

	(void)state;
	flows[0] = octo_port_enqueue(&t, 100, 0, false, NULL);
	octo_port_pull(port, 100, RTE_FLOW_OP_SUCCESS);
	flows[1] = octo_port_enqueue(&t, 101, 1, false, NULL);
	octo_port_pull(port, 101, RTE_FLOW_OP_ERROR);
	queue = octo_of(&rte_eth_devices[port])->async->queues[0];
	octo_port_fail_destroy = octo_port_pf(1);
	octo_port_results_given = give_later;
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(rte_flow_destroy(port, flows[i], NULL), 0);
	octo_port_results_given = NULL;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_late_result_is_of_its_own_operation),
		octo_port_test(test_flow_queues_that_are_given_back_owe_no_result),
		octo_port_test(test_a_silent_pf_is_waited_for_once),
		octo_port_test(test_a_late_error_is_of_its_own_operation),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
