/* SPDX-License-Identifier: BSD-3-Clause */

/* PFs that are dead, and refuse, before their loss is heard. */

#include <stdio.h>

#include <ethdev_driver.h>

#include "octo_port.h"
#include "octo_port_fault.h"
#include "mpsim_control.h"

#define NB_QUEUES 6
/* From its death to its removal. */
#define DEAD_US 300000

static const struct octo_port_conf partition = {
	.nb_pfs = 3,
	.replug = true,
	.octo = "tier=partition",
};
static const struct octo_port_conf mac = {
	.nb_pfs = 3,
	.replug = true,
	.nic = "switch=mac",
	.octo = "tier=mac",
};

static const char *
tier(uint16_t port)
{
	static struct octo_view_topology view;

	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	return view.tier;
}

static void
poll_all(uint16_t port)
{
	struct octo_port_tally tally = {0};

	for (uint16_t q = 0; q < NB_QUEUES; q++)
		octo_port_poll(port, q, 32, &tally);
}

static uint16_t
up(const struct octo_port_conf *conf)
{
	const struct rte_eth_conf hashed = {
		.rxmode = {.mq_mode = RTE_ETH_MQ_RX_RSS},
		.rx_adv_conf.rss_conf = {.rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP},
	};
	const uint16_t port = octo_port_create(conf);

	octo_port_up_as(port, NB_QUEUES, &hashed);
	poll_all(port);
	return port;
}

/* As a device that is pulled out: its link is lost first, and its driver hears of it later. */
static struct octo_port_faults *
kill_pf(unsigned int pf)
{
	struct octo_port_faults *faults = octo_port_faults_on(pf);
	struct rte_eth_dev *dev = &rte_eth_devices[octo_port_pf(pf)];
	char fault[64];

	faults->reta_update = EIO;
	faults->create_ingress = EIO;
	faults->create_transfer = EIO;
	snprintf(fault, sizeof(fault), "%s,surprise,%u", octo_port_pf_name(pf), DEAD_US);
	assert_int_equal(rte_pmd_mpsim_fault(fault), 0);
	dev->dev_ops->link_update(dev, 0);
	rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_INTR_LSC, NULL);
	return faults;
}

static bool
covers_all(unsigned int a, unsigned int b)
{
	return (octo_port_reta_of(a) | octo_port_reta_of(b)) == 0x3f &&
	       (octo_port_reta_of(a) & octo_port_reta_of(b)) == 0;
}

static void
check_dead(const struct octo_port_conf *conf, const char *name, unsigned int dead)
{
	const unsigned int a = dead == 0 ? 1 : 0;
	const unsigned int b = dead == 2 ? 1 : 2;
	const uint16_t port = up(conf);
	char plug[64];

	assert_string_equal(tier(port), name);
	kill_pf(dead);
	for (unsigned int ms = 0; ms < DEAD_US / 1000 / 2; ms++) {
		poll_all(port);
		octo_port_pass_us(1000);
	}
	assert_true(octo_port_pf_is_there(dead));
	assert_string_equal(tier(port), name);
	octo_port_await((poll_all(port), covers_all(a, b)));
	snprintf(plug, sizeof(plug), "%s,plug", octo_port_pf_name(dead));
	octo_port_await(!octo_port_pf_is_there(dead));
	assert_int_equal(rte_pmd_mpsim_fault(plug), 0);
	octo_port_await((poll_all(port), octo_port_xstat(port, "replugs") == 1));
	octo_port_await((poll_all(port), octo_port_reta_of(dead) != 0x3f));
	assert_string_equal(tier(port), name);
	octo_port_faults_off();
	octo_port_destroy();
}

static void
test_a_dead_pf_refuses_its_reta(void **state)
{
	(void)state;
	check_dead(&partition, "partition", 1);
}

static void
test_a_dead_pf_refuses_its_reta_by_mac(void **state)
{
	(void)state;
	check_dead(&mac, "mac", 1);
}

static void
test_a_dead_proxy_refuses_masked_rules(void **state)
{
	(void)state;
	check_dead(&partition, "partition", 0);
}

/* Its refusal is no reason to wait for the next proxy. */
static void
test_a_dead_proxy_refuses_the_default_pf_rule(void **state)
{
	static const struct octo_port_conf conf = {.nb_pfs = 3, .nic = "default_pf=1"};
	const uint16_t port = octo_port_create(&conf);
	char fault[64];

	(void)state;
	octo_port_up(port, 2);
	kill_pf(0);
	snprintf(fault, sizeof(fault), "%s,link,down", octo_port_pf_name(1));
	assert_int_equal(rte_pmd_mpsim_fault(fault), 0);
	octo_port_await(octo_port_xstat(port, "default_pf_rules_refused") == 1);
	octo_port_await(!octo_port_pf_is_there(0));
	octo_port_pass_us(100000);
	assert_int_equal(octo_port_xstat(port, "default_pf_rules"), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_dead_pf_refuses_its_reta),
		octo_port_test(test_a_dead_pf_refuses_its_reta_by_mac),
		octo_port_test(test_a_dead_proxy_refuses_masked_rules),
		octo_port_test(test_a_dead_proxy_refuses_the_default_pf_rule),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
