/* SPDX-License-Identifier: BSD-3-Clause */

/* What a secondary process does to the port that it has attached. Here it is the primary, too. */

#include <ethdev_driver.h>

#include "octo_port.h"

#include "octo_peers.h"
#include "octo_private.h"

static const struct octo_port_conf two_pfs = {0};

static void
raise_in_secondary(uint16_t pf_port_id, enum rte_eth_event_type event)
{
	octo_legs_borrowed = true;
	if (event == RTE_ETH_EVENT_DESTROY)
		octo_peers_lose_pf(pf_port_id);
	else
		rte_eth_dev_callback_process(&rte_eth_devices[pf_port_id], event, NULL);
	octo_legs_borrowed = false;
}

/* EAL has it detached, and attached again as the primary or another secondary cannot detach it. */
static void
test_a_pf_that_is_attached_again_is_polled(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	octo_port_assert_arrives(port, 7, 1, 10);
	raise_in_secondary(octo_port_pf(1), RTE_ETH_EVENT_DESTROY);
	raise_in_secondary(octo_port_pf(1), RTE_ETH_EVENT_NEW);
	octo_port_pass_us(10000);
	octo_port_assert_arrives(port, 7, 1, 10);
}

/* The control thread finds all of them by one look. */
static void
test_pfs_that_are_attached_again_at_once(void **state)
{
	static const struct octo_port_conf four_pfs = {.nb_pfs = 4};
	uint16_t port = octo_port_create(&four_pfs);

	(void)state;
	octo_port_up(port, 4);
	for (uint16_t q = 0; q < 4; q++) {
		assert_non_null(octo_port_steer(port, 7 + q, q, NULL));
		octo_port_await(octo_port_leads_to(port, 7 + q, q, q));
	}
	for (unsigned int pf = 1; pf < 4; pf++)
		raise_in_secondary(octo_port_pf(pf), RTE_ETH_EVENT_DESTROY);
	for (unsigned int pf = 1; pf < 4; pf += 2)
		raise_in_secondary(octo_port_pf(pf), RTE_ETH_EVENT_NEW);
	octo_port_pass_us(10000);
	octo_port_assert_arrives(port, 8, 1, 10);
	octo_port_assert_arrives(port, 10, 3, 10);
	/* the other is not polled before it is there, too */
	assert_int_equal(octo_of(&rte_eth_devices[port])->legs.live, 0xb);
	raise_in_secondary(octo_port_pf(2), RTE_ETH_EVENT_NEW);
	octo_port_pass_us(10000);
	octo_port_assert_arrives(port, 9, 2, 10);
}

/* The loss and the return of another PF do not publish it again. */
static void
test_a_pf_that_is_detached_is_not_polled(void **state)
{
	static const struct octo_port_conf four_pfs = {.nb_pfs = 4, .replug = true};
	uint16_t port = octo_port_create(&four_pfs);

	(void)state;
	octo_port_up(port, 4);
	raise_in_secondary(octo_port_pf(2), RTE_ETH_EVENT_DESTROY);
	octo_port_remove_pf(3);
	assert_int_equal(octo_of(&rte_eth_devices[port])->legs.live, 0x3);
	octo_port_add_pf(&four_pfs, 3);
	octo_port_await(octo_port_pf_is_started(port, 3));
	assert_int_equal(octo_of(&rte_eth_devices[port])->legs.live, 0xb);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_pf_that_is_attached_again_is_polled),
		octo_port_test(test_pfs_that_are_attached_again_at_once),
		octo_port_test(test_a_pf_that_is_detached_is_not_polled),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
