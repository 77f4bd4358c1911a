/* SPDX-License-Identifier: BSD-3-Clause */

/* rte_eth_tx_queue_count(), from 24.03 on: a queue whose count is 0 has sent everything. */

#include <errno.h>

#include "mpsim_control.h"
#include "octo_port.h"

#define FLOW 7
/* longer than any test */
#define FOR_EVER "tx_delay_us=60000000"

static uint16_t
create(const struct octo_port_conf *conf)
{
	uint16_t port;

	octo_port_run_on(0);
	port = octo_port_create(conf);
	octo_port_up(port, 2);
	return port;
}

static void
set_stuck(unsigned int pf, const char *how)
{
	char fault[64];

	snprintf(fault, sizeof(fault), "%s,tx_stuck,%s", octo_port_pf_name(pf), how);
	assert_int_equal(rte_pmd_mpsim_fault(fault), 0);
}

static void
test_what_is_sent_is_not_counted(void **state)
{
	const struct octo_port_conf conf = {.two_nodes = true};
	uint16_t port = create(&conf);

	(void)state;
	octo_port_send(port, 0, FLOW, 3);
	assert_int_equal(rte_eth_tx_queue_count(port, 0), 0);
	set_stuck(0, "on");
	octo_port_send(port, 0, FLOW, 5);
	assert_int_equal(rte_eth_tx_queue_count(port, 0), 5);
	assert_int_equal(rte_eth_tx_queue_count(port, 1), 0);
	set_stuck(0, "off");
	assert_int_equal(rte_eth_tx_queue_count(port, 0), 0);
}

/* The ring of the PF that the queue leaves, and what is put aside until that has drained. */
static void
test_what_a_switch_holds_is_counted(void **state)
{
	const struct octo_port_conf conf = {.two_nodes = true, .pf = {FOR_EVER, NULL}};
	uint16_t port = create(&conf);
	unsigned int sent = 0;

	(void)state;
	octo_port_send(port, 0, FLOW, 3);
	sent += 3;
	octo_port_run_on(1);
	while (octo_port_xstat(port, "tx_switch_stashed") == 0) {
		octo_port_send(port, 0, FLOW, 1);
		sent++;
	}
	assert_int_equal(octo_port_xstat(port, "tx_q0_pf1_packets"), 0);
	assert_int_equal(rte_eth_tx_queue_count(port, 0), sent);
	/* what the dead PF had is lost, and the rest goes by the other */
	octo_port_remove_pf(0);
	octo_port_send(port, 0, FLOW, 1);
	assert_int_equal(rte_eth_tx_queue_count(port, 0), 0);
}

static void
test_a_pf_that_cannot_count(void **state)
{
	const struct octo_port_conf conf = {.pf = {NULL, "caps=-txstatus"}};
	uint16_t port = create(&conf);

	(void)state;
	assert_int_equal(rte_eth_tx_queue_count(port, 0), -ENOTSUP);
	octo_port_remove_pf(1);
	assert_int_equal(rte_eth_tx_queue_count(port, 0), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_what_is_sent_is_not_counted),
		octo_port_test(test_what_a_switch_holds_is_counted),
		octo_port_test(test_a_pf_that_cannot_count),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
