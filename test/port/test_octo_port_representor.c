/* SPDX-License-Identifier: BSD-3-Clause */

/* A PF that is named by its PCI address, at which there is a representor, too. */

#include <ethdev_driver.h>

#include "octo_port.h"

#define ADDRESS "0000:0a:00.0"

/* The ports at that address, in place of ethdev's: both PFs. */
static unsigned int nb_found;

int
rte_eth_iterator_init(struct rte_dev_iterator *iter, const char *devargs)
{
	RTE_SET_USED(iter);
	assert_string_equal(devargs, ADDRESS);
	nb_found = 0;
	return 0;
}

uint16_t
rte_eth_iterator_next(struct rte_dev_iterator *iter)
{
	RTE_SET_USED(iter);
	return nb_found < 2 ? octo_port_pf(nb_found++) : RTE_MAX_ETHPORTS;
}

void
rte_eth_iterator_cleanup(struct rte_dev_iterator *iter)
{
	RTE_SET_USED(iter);
}

static void
test_a_representor_is_no_pf(void **state)
{
	static const struct octo_port_conf two_pfs;
	struct octo_view_topology view;
	uint16_t port;

	(void)state;
	octo_port_add_pfs(&two_pfs);
	rte_eth_devices[octo_port_pf(0)].data->dev_flags |= RTE_ETH_DEV_REPRESENTOR;
	assert_int_equal(rte_eal_hotplug_add("vdev", OCTO_PORT_NAME, "pf=" ADDRESS), 0);
	assert_int_equal(rte_eth_dev_get_port_by_name(OCTO_PORT_NAME, &port), 0);
	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	assert_string_equal(view.pf[0].name, octo_port_pf_name(1));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_representor_is_no_pf),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
