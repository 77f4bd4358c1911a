/* SPDX-License-Identifier: BSD-3-Clause */

/* Objects of a PF end with it, also those that were not complete, and later ones are others. */

#include <ethdev_driver.h>

#include "octo_port.h"
#include "octo_port_fault.h"
#include "mpsim.h"

#include "octo_private.h"

static const struct octo_port_conf two_pfs = {.replug = true};
static const struct octo_port_conf three_pfs = {.nb_pfs = 3, .replug = true};

static unsigned int recovering;

static void
recovery(enum rte_eth_event_type event)
{
	rte_eth_dev_callback_process(&rte_eth_devices[octo_port_pf(recovering)], event, NULL);
}

static struct octo_port_faults *faults;
static unsigned int rules_before;

/* As a PMD does that finds, in this very call, that its device has failed. */
static void
begin_recovery(void)
{
	if (rules_before-- > 0)
		faults->on_create = begin_recovery;
	else
		recovery(RTE_ETH_EVENT_ERR_RECOVERING);
}

/* A rule is created on a PF that is lost before the PMD returns the rule. */
static void
lose_while_steering(unsigned int pf, unsigned int before)
{
	uint16_t port = octo_port_create(&two_pfs);

	octo_port_up(port, 2);
	recovering = pf;
	rules_before = before;
	faults = octo_port_faults_on(pf);
	faults->on_create = begin_recovery;
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	assert_false(octo_port_pf_is_started(port, pf));
	recovery(RTE_ETH_EVENT_RECOVERY_SUCCESS);
	octo_port_await(octo_port_pf_is_started(port, pf));
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	octo_port_assert_arrives(port, 7, 1, 10);
	octo_port_destroy();
}

static void
test_a_pf_is_lost_while_a_rule_is_created(void **state)
{
	(void)state;
	for (unsigned int pf = 0; pf < 2; pf++)
		lose_while_steering(pf, 0);
	/* the switch's */
	lose_while_steering(0, 1);
}

/* The device fails, and the rule with it: the error is that of the PF, which is lost by then. */
static void
test_a_pf_is_lost_and_refuses_the_rule(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	struct rte_flow_error error;

	(void)state;
	octo_port_up(port, 2);
	recovering = 0;
	rules_before = 1;
	faults = octo_port_faults_on(0);
	faults->on_create = begin_recovery;
	faults->create_transfer = EINVAL;
	assert_null(octo_port_steer(port, 7, 1, &error));
	assert_non_null(strstr(error.message, octo_port_pf_name(0)));
}

/* The switch rule that leads past a PF without link goes with the PF that was to have it. */
static void
test_a_proxy_is_lost_while_it_gets_the_default_pf_rule(void **state)
{
	uint16_t port = octo_port_create(&three_pfs);
	const struct octo_dev *octo = octo_of(&rte_eth_devices[port]);

	(void)state;
	octo_port_up(port, 3);
	recovering = 0;
	rules_before = 0;
	faults = octo_port_faults_on(0);
	faults->on_create = begin_recovery;
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(2)), 0);
	octo_port_await(!octo_port_pf_is_started(port, 0));
	assert_in_range(octo->detour.proxy, 0, 2);
	recovery(RTE_ETH_EVENT_RECOVERY_SUCCESS);
	octo_port_await(octo_port_pf_is_started(port, 0));
	octo_port_await(octo_detour_pf(octo) != OCTO_NO_PF);
}

/* The NIC has another transfer proxy PF, and keeps the rules of the one before. */
static void
make_proxy(unsigned int index)
{
	struct mpsim_pf *pf = rte_eth_devices[octo_port_pf(index)].data->dev_private;

	mpsim_nic_lock(pf->nic);
	pf->nic->manager = pf;
	mpsim_nic_unlock(pf->nic);
}

static bool
is_proxy(uint16_t port, unsigned int pf)
{
	struct octo_view_topology view;

	assert_int_equal(octo_view_topology(port, &view), 0);
	return view.pf[pf].transfer_proxy;
}

/*
 * Rules that the switch got from a PF go with it, also if another one manages it by now. Queue 5
 * is at home on PF 2 whichever other PF is gone, so that only the loss itself concerns its rules.
 */
static void
test_an_earlier_proxy_is_lost(void **state)
{
	uint16_t port = octo_port_create(&three_pfs);
	uint64_t strays;

	(void)state;
	octo_port_up(port, 6);
	assert_non_null(octo_port_steer(port, 7, 5, NULL));
	octo_port_await(octo_port_leads_to(port, 7, 5, 2));
	octo_port_remove_pf(1);
	octo_port_add_pf(&three_pfs, 1);
	make_proxy(1);
	octo_port_await(is_proxy(port, 1));
	octo_port_remove_pf(0);
	octo_port_await(octo_port_leads_to(port, 7, 5, 2));
	strays = octo_port_xstat(port, "rx_stray_packets");
	octo_port_assert_arrives(port, 7, 5, 10);
	assert_int_equal(octo_port_xstat(port, "rx_stray_packets"), strays);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_pf_is_lost_while_a_rule_is_created),
		octo_port_test(test_a_pf_is_lost_and_refuses_the_rule),
		octo_port_test(test_a_proxy_is_lost_while_it_gets_the_default_pf_rule),
		octo_port_test(test_an_earlier_proxy_is_lost),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
