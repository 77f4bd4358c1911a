/* SPDX-License-Identifier: BSD-3-Clause */

/* Ports of the programs that their drivers do not start. */

#include <errno.h>
#include <stdbool.h>

#include <rte_alarm.h>
#include <rte_ethdev.h>
#include <rte_stdatomic.h>

#include "octo_test.h"
#include "octo_test_eal.h"

#include "app.h"

/* net_bonding's */
#define ALARM_US (10 * 1000)

const char app_name[] = "test";

static RTE_ATOMIC(bool) rang;

static void
ring(void *arg)
{
	RTE_SET_USED(arg);
	rte_atomic_store_explicit(&rang, true, rte_memory_order_release);
}

int __wrap_rte_eth_dev_get_port_by_name(const char *name, uint16_t *port);
int __wrap_rte_eth_dev_configure(uint16_t port, uint16_t nb_rx, uint16_t nb_tx,
				 const struct rte_eth_conf *conf);
int
__wrap_rte_eth_rx_queue_setup(uint16_t port, uint16_t queue, uint16_t nb_desc, unsigned int node,
			      const struct rte_eth_rxconf *conf, struct rte_mempool *pool);
int __wrap_rte_eth_tx_queue_setup(uint16_t port, uint16_t queue, uint16_t nb_desc,
				  unsigned int node, const struct rte_eth_txconf *conf);
int __wrap_rte_eth_dev_start(uint16_t port);

int
__wrap_rte_eth_dev_get_port_by_name(const char *name, uint16_t *port)
{
	RTE_SET_USED(name);
	*port = 0;
	return 0;
}

int
__wrap_rte_eth_dev_configure(uint16_t port, uint16_t nb_rx, uint16_t nb_tx,
			     const struct rte_eth_conf *conf)
{
	RTE_SET_USED(port);
	RTE_SET_USED(nb_rx);
	RTE_SET_USED(nb_tx);
	RTE_SET_USED(conf);
	return 0;
}

int
__wrap_rte_eth_rx_queue_setup(uint16_t port, uint16_t queue, uint16_t nb_desc, unsigned int node,
			      const struct rte_eth_rxconf *conf, struct rte_mempool *pool)
{
	RTE_SET_USED(port);
	RTE_SET_USED(queue);
	RTE_SET_USED(nb_desc);
	RTE_SET_USED(node);
	RTE_SET_USED(conf);
	RTE_SET_USED(pool);
	return 0;
}

int
__wrap_rte_eth_tx_queue_setup(uint16_t port, uint16_t queue, uint16_t nb_desc, unsigned int node,
			      const struct rte_eth_txconf *conf)
{
	RTE_SET_USED(port);
	RTE_SET_USED(queue);
	RTE_SET_USED(nb_desc);
	RTE_SET_USED(node);
	RTE_SET_USED(conf);
	return 0;
}

/* As net_bonding's does where a member's address cannot be set. */
int
__wrap_rte_eth_dev_start(uint16_t port)
{
	RTE_SET_USED(port);
	assert_int_equal(rte_eal_alarm_set(ALARM_US, ring, NULL), 0);
	return -EPERM;
}

/* Whoever is told that the port does not start may close it at once. */
static void
test_alarm_of_a_failed_start_is_over(void **state)
{
	const struct rte_eth_conf conf = {0};
	uint16_t port;

	RTE_SET_USED(state);
	assert_int_equal(app_port_start_as("net_bonding0", &conf, 1, 64, NULL, &port), -EPERM);
	assert_true(rte_atomic_load_explicit(&rang, rte_memory_order_acquire));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alarm_of_a_failed_start_is_over),
	};

	return cmocka_run_group_tests(tests, octo_test_eal_init, octo_test_eal_cleanup);
}
