/* SPDX-License-Identifier: BSD-3-Clause */

/* PFs that are lost: what the others do for them, and what waits until they are back. */

#include <stdio.h>
#include <stdlib.h>

#include <ethdev_driver.h>
#include <rte_flow_driver.h>

#include "octo_port.h"
#include "octo_port_fault.h"
#include "mpsim_control.h"

#include "octo_private.h"

static const struct octo_port_conf two_pfs;
static const struct octo_port_conf three_pfs = {.nb_pfs = 3};

/* Flows leave at once, whether or not anybody polls the queue to notice. */
static void
test_flows_leave_a_pf_without_link_unpolled(void **state)
{
	struct octo_port_tally tally = {0};
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	assert_int_equal(octo_port_rule_pf(port, 7), 1);
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(1)), 0);
	octo_port_await(octo_port_rule_pf(port, 7) == 0);
	octo_port_await(octo_port_xstat(port, "failovers") == 1);
	octo_port_assert_arrives(port, 7, 1, 10);
	assert_int_equal(rte_eth_dev_set_link_up(octo_port_pf(1)), 0);
	octo_port_await(octo_port_xstat(port, "failbacks") == 1);
	/* and come back with their poller */
	octo_port_await((octo_port_poll(port, 1, 32, &tally), octo_port_rule_pf(port, 7) == 1));
}

/* One proxy after the other goes, and takes the rules of the switch with it. */
static void
test_every_proxy_goes(void **state)
{
	uint16_t port = octo_port_create(&three_pfs);
	struct octo_view_topology view;

	(void)state;
	octo_port_up(port, 3);
	for (uint16_t q = 0; q < 3; q++)
		assert_non_null(octo_port_steer(port, 100 + q, q, NULL));
	for (int gone = 0; gone < 2; gone++) {
		octo_port_remove_pf((unsigned int)gone);
		for (uint16_t q = 0; q < 3; q++)
			octo_port_await(octo_port_rule_pf(port, 100 + q) > gone);
		for (uint16_t q = 0; q < 3; q++)
			octo_port_assert_arrives(port, 100 + q, q, 10);
		assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
		assert_string_equal(view.tier, "exact");
		assert_true(view.pf[gone + 1].transfer_proxy);
	}
	assert_int_equal(octo_port_xstat(port, "failovers"), 2);
	assert_true(octo_port_xstat(port, "failover_cpu_ns") > 0);
}

/* A NIC that takes its time to name another PF as the one that manages its switch. */
static struct {
	struct eth_dev_ops ops;
	struct rte_flow_ops flow;
	const struct rte_flow_ops *real;
	bool silent;
	unsigned int names; /* so many times, though it is silent */
	unsigned int asked; /* so many times, since it is silent */
} nic;

static int
pick_late(struct rte_eth_dev *dev, uint16_t *proxy, struct rte_flow_error *error)
{
	nic.asked++;
	if (nic.silent && nic.names == 0)
		return rte_flow_error_set(error, EAGAIN, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					  "no PF manages the switch yet");
	nic.names -= nic.names > 0;
	return nic.real->pick_transfer_proxy(dev, proxy, error);
}

static int
get_flow_ops(struct rte_eth_dev *dev, const struct rte_flow_ops **ops)
{
	RTE_SET_USED(dev);
	*ops = &nic.flow;
	return 0;
}

static bool
has_tier(uint16_t port, const char *tier)
{
	struct octo_view_topology view;

	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	return strcmp(view.tier, tier) == 0;
}

/* PF 0 manages the switch and goes; the NIC does not say that PF 1 does it then. */
static uint16_t
lose_the_proxy(void)
{
	const uint16_t port = octo_port_create(&two_pfs);
	struct rte_eth_dev *pf = &rte_eth_devices[octo_port_pf(1)];

	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	assert_int_equal(pf->dev_ops->flow_ops_get(pf, &nic.real), 0);
	nic.flow = *nic.real;
	nic.flow.pick_transfer_proxy = pick_late;
	nic.ops = *pf->dev_ops;
	nic.ops.flow_ops_get = get_flow_ops;
	pf->dev_ops = &nic.ops;
	nic.silent = true;
	octo_port_remove_pf(0);
	octo_port_await(has_tier(port, "queue"));
	assert_int_equal(octo_port_rule_pf(port, 7), -1);
	octo_port_assert_arrives(port, 7, 1, 10);
	return port;
}

/* The tier is dropped meanwhile, and is back when it does. */
static void
test_a_nic_names_a_proxy_late(void **state)
{
	const uint16_t port = lose_the_proxy();

	(void)state;
	nic.silent = false;
	octo_port_await(has_tier(port, "exact"));
	octo_port_await(octo_port_rule_pf(port, 7) == 1);
	octo_port_assert_arrives(port, 7, 1, 10);
}

/* It names one, and none when it is asked again at once; it is not asked ever more often. */
static void
test_a_nic_names_a_proxy_for_a_moment(void **state)
{
	const uint16_t port = lose_the_proxy();
	unsigned int asked;

	(void)state;
	nic.names = 1;
	octo_port_await(nic.names == 0);
	octo_port_pass_us(5000000);
	assert_true(has_tier(port, "queue"));
	asked = nic.asked;
	octo_port_pass_us(10000000);
	assert_in_range(nic.asked - asked, 3, 4);
	nic.silent = false;
	octo_port_await(has_tier(port, "exact"));
	octo_port_await(octo_port_rule_pf(port, 7) == 1);
	octo_port_assert_arrives(port, 7, 1, 10);
}

/* As after a loss of another PF: what the NIC ignores is not tried again before a start. */
static void
test_a_tier_that_is_ignored_is_not_raised(void **state)
{
	const uint16_t port = lose_the_proxy();

	(void)state;
	octo_of(&rte_eth_devices[port])->ignored = OCTO_IGNORED_MPFS;
	nic.silent = false;
	octo_port_pass_us(1000000);
	assert_true(has_tier(port, "queue"));
}

/* Another PF comes back while the NIC names none. */
static void
test_a_pf_is_back_before_a_proxy_is_named(void **state)
{
	static const struct octo_port_conf replugged = {.nb_pfs = 3, .replug = true};
	const uint16_t port = octo_port_create(&replugged);
	struct octo_port_faults *first = octo_port_faults_on(1);

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(octo_port_steer(port, 7, 1, NULL));
	first->pick_proxy = EAGAIN;
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim2,remove"), 0);
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,remove"), 0);
	octo_port_await(has_tier(port, "queue"));
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim2,plug"), 0);
	octo_port_await(octo_port_xstat(port, "replugs") == 1);
	octo_port_pass_us(500000);
	assert_true(has_tier(port, "queue"));
	first->pick_proxy = 0;
	octo_port_await(has_tier(port, "exact"));
	octo_port_await(octo_port_leads_to(port, 7, 1, 1));
	assert_int_equal(rte_pmd_mpsim_fault("net_mpsim0,plug"), 0);
	octo_port_await(octo_port_xstat(port, "replugs") == 2);
}

static struct rte_flow *
transfer(uint16_t port, uint16_t pf_port, struct rte_flow_error *error)
{
	struct octo_flow_rule r;

	octo_flow_build_transfer(&r, OCTO_DIALECT_WIRE_ITEM, &octo_tuple_example, 0, pf_port,
				 pf_port, false);
	return rte_flow_create(port, &r.attr, r.pattern, r.actions, error);
}

/* It names a PF that is gone: no reason for the others not to start. */
static void
test_a_transfer_rule_waits_for_its_pf(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);
	const uint16_t gone = octo_port_pf(1);
	struct rte_flow_error error;

	(void)state;
	octo_port_up(port, 2);
	assert_non_null(transfer(port, gone, &error));
	octo_port_remove_pf(1);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_null(transfer(port, gone, &error));
	assert_int_equal(rte_errno, ENODEV);
	assert_non_null(strstr(error.message, "is gone"));
	assert_int_equal(rte_flow_flush(port, &error), 0);
}

static bool
is_on(uint16_t port, struct rte_flow *rule, unsigned int pf)
{
	struct rte_flow_error error;
	char *text = NULL;
	char wanted[64];
	size_t len;
	FILE *file = open_memstream(&text, &len);
	bool found;

	assert_non_null(file);
	assert_int_equal(rte_flow_dev_dump(port, rule, file, &error), 0);
	fclose(file);
	snprintf(wanted, sizeof(wanted), "rules on PFs: %s", octo_port_pf_name(pf));
	found = strstr(text, wanted) != NULL;
	free(text);
	return found;
}

/* It names one that is there, on a switch that another manages now. */
static void
check_following(const struct octo_port_conf *conf, bool ignored, bool late)
{
	uint16_t port = octo_port_create(conf);
	struct octo_port_faults *named = octo_port_faults_on(2);
	struct rte_flow_error error;
	struct rte_flow *rule;

	octo_port_up(port, 2);
	rule = transfer(port, octo_port_pf(2), &error);
	assert_non_null(rule);
	assert_true(is_on(port, rule, 0));
	if (ignored) {
		/* as the audit does it */
		octo_of(&rte_eth_devices[port])->tier = OCTO_TIER_QUEUE;
		octo_of(&rte_eth_devices[port])->ignored = OCTO_IGNORED_MPFS;
	}
	named->pick_proxy = late ? EAGAIN : 0;
	octo_port_remove_pf(0);
	octo_port_pass_us(1000000);
	assert_int_equal(is_on(port, rule, 1), !late);
	named->pick_proxy = 0;
	octo_port_await(is_on(port, rule, 1));
	assert_int_equal(rte_flow_destroy(port, rule, &error), 0);
	octo_port_destroy();
}

static void
test_a_transfer_rule_follows_the_proxy(void **state)
{
	static const struct octo_port_conf queue = {.nb_pfs = 3, .octo = "tier=queue"};

	(void)state;
	check_following(&three_pfs, false, false);
	check_following(&three_pfs, true, false);
	check_following(&queue, false, false);
}

static void
test_a_transfer_rule_awaits_the_proxy(void **state)
{
	static const struct octo_port_conf queue = {.nb_pfs = 3, .octo = "tier=queue"};

	(void)state;
	check_following(&three_pfs, false, true);
	check_following(&queue, false, true);
}

static void
test_nothing_starts_without_a_pf(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	octo_port_remove_pf(0);
	octo_port_remove_pf(1);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	/* ethdev says so of any port that is removed */
	assert_int_equal(rte_eth_dev_start(port), -EIO);
}

/* The home PF of a queue is lost: another one has its packets, and tells of them. */
static void
test_descriptors_are_those_of_a_pf_that_is_left(void **state)
{
	uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	octo_port_up(port, 2);
	octo_port_remove_pf(1);
	assert_int_equal(rte_eth_rx_descriptor_status(port, 1, 0), RTE_ETH_RX_DESC_AVAIL);
	assert_int_equal(rte_eth_tx_descriptor_status(port, 1, 0), RTE_ETH_TX_DESC_DONE);
	octo_port_remove_pf(0);
	assert_int_equal(rte_eth_rx_descriptor_status(port, 1, 0), -ENODEV);
	assert_int_equal(rte_eth_tx_descriptor_status(port, 1, 0), -ENODEV);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_flows_leave_a_pf_without_link_unpolled),
		octo_port_test(test_every_proxy_goes),
		octo_port_test(test_a_nic_names_a_proxy_late),
		octo_port_test(test_a_nic_names_a_proxy_for_a_moment),
		octo_port_test(test_a_tier_that_is_ignored_is_not_raised),
		octo_port_test(test_a_pf_is_back_before_a_proxy_is_named),
		octo_port_test(test_a_transfer_rule_waits_for_its_pf),
		octo_port_test(test_a_transfer_rule_follows_the_proxy),
		octo_port_test(test_a_transfer_rule_awaits_the_proxy),
		octo_port_test(test_nothing_starts_without_a_pf),
		octo_port_test(test_descriptors_are_those_of_a_pf_that_is_left),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
