/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * rte_eal_cleanup() walks the devices of the vdev bus and saves the next one
 * before it removes one: an octo port must not remove any other meanwhile (R2).
 */

#include <rte_dev.h>
#include <rte_eal.h>

#include "octo_port.h"

static void
test_eal_cleanup_with_pfs_that_octo_probed(void **state)
{
	uint16_t port;

	(void)state;
	if (rte_eal_hotplug_add("vdev", OCTO_PORT_NAME, "pf=net_null0,pf=net_null1") != 0)
		skip(); /* this DPDK has no net_null */
	assert_int_equal(rte_eth_dev_get_port_by_name(OCTO_PORT_NAME, &port), 0);
	octo_port_up(port, 2);
	assert_int_equal(rte_eal_cleanup(), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_eal_cleanup_with_pfs_that_octo_probed),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, NULL);
}
