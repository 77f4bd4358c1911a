/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A signal handler that has interrupted a burst of the port stops it, and does not wait for that
 * burst: it goes on only when the handler has returned. It is interrupted inside of a PF.
 */

#include <rte_ethdev.h>

#include "octo_port.h"

#define SRC_PORT 1000
#define NB_PACKETS 8

static const struct octo_port_conf two_pfs = {.nb_pfs = 2};

static struct {
	uint16_t port;
	int ret; /* of the stop */
} handler;

static uint16_t
in_rx(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t nb, uint16_t max, void *arg)
{
	RTE_SET_USED(port);
	RTE_SET_USED(queue);
	RTE_SET_USED(pkts);
	RTE_SET_USED(max);
	RTE_SET_USED(arg);
	if (handler.ret == -EINPROGRESS)
		handler.ret = rte_eth_dev_stop(handler.port);
	return nb;
}

static uint16_t
in_tx(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t nb, void *arg)
{
	return in_rx(port, queue, pkts, nb, nb, arg);
}

static uint16_t
begin(void)
{
	const uint16_t port = octo_port_create(&two_pfs);

	octo_port_up(port, 2);
	octo_port_assert_arrives(port, SRC_PORT, 0, NB_PACKETS);
	handler.port = port;
	handler.ret = -EINPROGRESS;
	return port;
}

/* It was stopped, and can be started again. */
static void
end(uint16_t port)
{
	assert_int_equal(handler.ret, 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	octo_port_assert_arrives(port, SRC_PORT, 0, NB_PACKETS);
}

static void
test_a_stop_inside_an_rx_burst(void **state)
{
	const struct rte_eth_rxtx_callback *callback[2];
	struct octo_port_tally tally = {0};
	const uint16_t port = begin();

	(void)state;
	for (unsigned int i = 0; i < 2; i++)
		callback[i] = rte_eth_add_rx_callback(octo_port_pf(i), 0, in_rx, NULL);
	octo_port_send(port, 0, SRC_PORT, NB_PACKETS);
	while (handler.ret == -EINPROGRESS)
		octo_port_poll(port, 0, NB_PACKETS, &tally);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(rte_eth_remove_rx_callback(octo_port_pf(i), 0, callback[i]), 0);
	end(port);
}

static void
test_a_stop_inside_a_tx_burst(void **state)
{
	const struct rte_eth_rxtx_callback *callback[2];
	const uint16_t port = begin();
	struct rte_mbuf *pkts[NB_PACKETS];
	uint16_t sent;

	(void)state;
	for (unsigned int i = 0; i < 2; i++)
		callback[i] = rte_eth_add_tx_callback(octo_port_pf(i), 0, in_tx, NULL);
	octo_port_make(port, SRC_PORT, pkts, NB_PACKETS);
	sent = rte_eth_tx_burst(port, 0, pkts, NB_PACKETS);
	rte_pktmbuf_free_bulk(&pkts[sent], NB_PACKETS - sent);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(rte_eth_remove_tx_callback(octo_port_pf(i), 0, callback[i]), 0);
	end(port);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_a_stop_inside_an_rx_burst),
		octo_port_test(test_a_stop_inside_a_tx_burst),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
