/* SPDX-License-Identifier: BSD-3-Clause */

/* Rules that a table is to have by index (DPDK 23.03): refused by either driver, and no crash. */

#include <errno.h>
#include <string.h>

#include <rte_errno.h>

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
check_refusal(bool octo)
{
	struct rte_flow_error error = {0};
	struct octo_port_table t;
	struct octo_flow_rule r;
	uint16_t port = start(octo, &t);

	octo_port_build(&r, 7, 1);
	rte_errno = 0;
	assert_null(rte_flow_async_create_by_index(port, 0, NULL, t.table, 0, r.actions, 0, NULL,
						   &error));
	assert_int_equal(rte_errno, ENOSYS);
	assert_non_null(error.message);
	assert_non_null(strstr(error.message, "rte_flow_async_create_by_index(): "));
	assert_non_null(strstr(error.message, "use rte_flow_async_create()"));
	octo_port_pull_nothing(port);
	assert_non_null(octo_port_enqueue(&t, 7, 1, false, NULL));
	octo_port_pull(port, 7, RTE_FLOW_OP_SUCCESS);
}

static void
test_an_octo_port_refuses(void **state)
{
	(void)state;
	check_refusal(true);
}

static void
test_a_pf_of_mpsim_refuses(void **state)
{
	(void)state;
	check_refusal(false);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_an_octo_port_refuses),
		octo_port_test(test_a_pf_of_mpsim_refuses),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
