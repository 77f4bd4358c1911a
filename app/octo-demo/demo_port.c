/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include "demo.h"

#define POOL_SIZE 8191
#define POOL_CACHE 256
#define LINK_WAIT_MS 2000

struct rte_mempool *
demo_pool_create(const char *name)
{
	struct rte_mempool *pool;

	pool = rte_pktmbuf_pool_create(name, POOL_SIZE, POOL_CACHE, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
				       SOCKET_ID_ANY);
	if (pool == NULL)
		fprintf(stderr, "octo demo: no memory for buffers: %s\n", rte_strerror(rte_errno));
	return pool;
}

static int
configure(uint16_t port)
{
	struct rte_eth_conf conf = {.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS};
	struct rte_eth_dev_info info;
	int ret = rte_eth_dev_info_get(port, &info);

	if (ret != 0)
		return ret;
	conf.rx_adv_conf.rss_conf.rss_hf = (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP) &
					   info.flow_type_rss_offloads;
	return rte_eth_dev_configure(port, DEMO_NB_LCORES, DEMO_NB_LCORES, &conf);
}

static int
set_up_queues(uint16_t port, struct rte_mempool *pool)
{
	int ret = 0;

	for (uint16_t q = 0; q < DEMO_NB_LCORES && ret == 0; q++) {
		ret = rte_eth_rx_queue_setup(port, q, DEMO_RING, SOCKET_ID_ANY, NULL, pool);
		if (ret == 0)
			ret = rte_eth_tx_queue_setup(port, q, DEMO_RING, SOCKET_ID_ANY, NULL);
	}
	return ret;
}

int
demo_port_start(const char *name, struct rte_mempool *pool, uint16_t *port)
{
	int ret = rte_eth_dev_get_port_by_name(name, port);

	if (ret == 0)
		ret = configure(*port);
	if (ret == 0)
		ret = set_up_queues(*port, pool);
	if (ret == 0)
		ret = rte_eth_dev_start(*port);
	if (ret != 0)
		fprintf(stderr, "octo demo: port %s does not start: %s\n", name,
			rte_strerror(-ret));
	return ret;
}

void
demo_port_stop(uint16_t port)
{
	rte_eth_dev_stop(port);
	rte_eth_dev_close(port);
}

static int
await_link(uint16_t port, const char *name)
{
	struct rte_eth_link link = {0};

	for (int i = 0; i < LINK_WAIT_MS / 10; i++) {
		if (rte_eth_link_get_nowait(port, &link) == 0 && link.link_status)
			return 0;
		rte_delay_us_sleep(10 * 1000);
	}
	fprintf(stderr, "octo demo: the link of %s does not come up\n", name);
	return -ENETDOWN;
}

int
demo_ports_start(struct demo_ports *ports)
{
	int ret;

	ports->octo_pool = demo_pool_create("demo_octo");
	ports->peer_pool = demo_pool_create("demo_peer");
	if (ports->octo_pool == NULL || ports->peer_pool == NULL)
		return -ENOMEM;
	ret = demo_port_start(DEMO_PORT, ports->octo_pool, &ports->octo);
	if (ret == 0)
		ret = demo_port_start(DEMO_PEER, ports->peer_pool, &ports->peer);
	if (ret == 0)
		ret = await_link(ports->octo, DEMO_PORT);
	if (ret == 0)
		ret = await_link(ports->peer, DEMO_PEER);
	return ret;
}

void
demo_ports_stop(const struct demo_ports *ports)
{
	demo_port_stop(ports->peer);
	demo_port_stop(ports->octo);
}

int
demo_xstat(uint16_t port, const char *name, uint64_t *value)
{
	uint64_t id;
	int ret = rte_eth_xstats_get_id_by_name(port, name, &id);

	if (ret == 0 && rte_eth_xstats_get_by_id(port, &id, value, 1) != 1)
		ret = -EIO;
	if (ret != 0)
		fprintf(stderr, "octo demo: port %u has no statistic %s\n", port, name);
	return ret;
}
