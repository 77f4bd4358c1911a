/* SPDX-License-Identifier: BSD-3-Clause */

/* From 24.03 on ethdev calls all ops of flow queues without a look: what is not there refuses. */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>

#include <ethdev_driver.h>
#include <rte_flow_driver.h>

#include "octo_port_async.h"

/* A started port with a table of rules, that of octo or the only PF of a NIC. */
static uint16_t
start(bool octo, struct octo_port_table *t)
{
	const struct octo_port_conf conf = {.nb_pfs = octo ? 2 : 1};
	uint16_t port;

	if (!octo)
		octo_port_add_pfs(&conf);
	port = octo ? octo_port_create(&conf) : octo_port_pf(0);
	assert_int_equal(octo_port_configure(port, 4), 0);
	assert_int_equal(octo_port_flow_queues(port, 1, 8, NULL), 0);
	octo_port_table_create(t, port, 4);
	assert_int_equal(rte_eth_dev_start(port), 0);
	return port;
}

static void
assert_all_there(uint16_t port)
{
	typedef void (*op)(void);
	op ops[sizeof(struct rte_flow_fp_ops) / sizeof(op)];

	memcpy(ops, rte_eth_devices[port].flow_fp_ops, sizeof(ops));
	/* the structure is filled up to a cache line by nothing */
	for (unsigned int i = 0;
	     i <=
	     offsetof(struct rte_flow_fp_ops, async_action_list_handle_query_update) / sizeof(op);
	     i++)
		if (ops[i] == NULL)
			fail_msg("op %u is missing", i);
}

static void
assert_refused(bool refused, const struct rte_flow_error *error, const char *name)
{
	assert_true(refused);
	assert_int_equal(rte_errno, ENOSYS);
	if (strstr(error->message, name) != error->message)
		fail_msg("\"%s\" does not begin with \"%s\"", error->message, name);
	rte_errno = 0;
}

static void
check_refusals_of_rules(bool octo)
{
	struct rte_flow_error error;
	struct octo_port_table t;
	struct octo_flow_rule r;
	uint16_t port = start(octo, &t);

	assert_all_there(port);
	octo_port_build(&r, 7, 1);
	assert_refused(rte_flow_async_create_by_index_with_pattern(port, 0, NULL, t.table, 0,
								   r.pattern, 0, r.actions, 0, NULL,
								   &error) == NULL,
		       &error, "rte_flow_async_create_by_index_with_pattern(): ");
	if (octo)
		assert_refused(rte_flow_async_actions_update(
				       port, 0, NULL, octo_port_enqueue(&t, 7, 1, false, NULL),
				       r.actions, 0, NULL, &error) == -ENOSYS,
			       &error, "rte_flow_async_actions_update(): ");
}

static void
check_refusals_of_handles(bool octo)
{
	struct rte_flow_indir_action_conf conf = {.ingress = 1};
	struct rte_flow_action_list_handle *list = (void *)&conf; /* never looked at */
	struct rte_flow_action_handle *handle = (void *)&conf;
	const void *update = &conf;
	struct rte_flow_error error;
	struct octo_port_table t;
	struct octo_flow_rule r;
	uint16_t port = start(octo, &t);

	octo_port_build(&r, 7, 1);
	assert_refused(rte_flow_async_action_handle_query_update(port, 0, NULL, handle, update,
								 NULL, RTE_FLOW_QU_QUERY_FIRST,
								 NULL, &error) == -ENOSYS,
		       &error, "rte_flow_async_action_handle_query_update(): ");
	assert_refused(rte_flow_async_action_list_handle_create(port, 0, NULL, &conf, r.actions,
								NULL, &error) == NULL,
		       &error, "rte_flow_async_action_list_handle_create(): ");
	assert_refused(rte_flow_async_action_list_handle_destroy(port, 0, NULL, list, NULL,
								 &error) == -ENOSYS,
		       &error, "rte_flow_async_action_list_handle_destroy(): ");
	assert_refused(rte_flow_async_action_list_handle_query_update(port, 0, NULL, list, &update,
								      NULL, RTE_FLOW_QU_QUERY_FIRST,
								      NULL, &error) == -ENOSYS,
		       &error, "rte_flow_async_action_list_handle_query_update(): ");
}

static void
test_an_octo_port(void **state)
{
	(void)state;
	check_refusals_of_rules(true);
}

static void
test_handles_of_an_octo_port(void **state)
{
	(void)state;
	check_refusals_of_handles(true);
}

static void
test_a_pf_of_mpsim(void **state)
{
	(void)state;
	check_refusals_of_rules(false);
}

static void
test_handles_of_a_pf_of_mpsim(void **state)
{
	(void)state;
	check_refusals_of_handles(false);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_an_octo_port),
		octo_port_test(test_handles_of_an_octo_port),
		octo_port_test(test_a_pf_of_mpsim),
		octo_port_test(test_handles_of_a_pf_of_mpsim),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
