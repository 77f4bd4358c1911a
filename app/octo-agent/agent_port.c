/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>

#include "agent_log.h"
#include "agent_port.h"

#define NB_DESC 512
#define RSS_TYPES (RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_SCTP)

/* Checksums are asked for by the client's header; frames of any length by chained buffers. */
#define RX_OFFLOADS RTE_ETH_RX_OFFLOAD_SCATTER
#define TX_OFFLOADS                                                                                \
	(RTE_ETH_TX_OFFLOAD_IPV4_CKSUM | RTE_ETH_TX_OFFLOAD_UDP_CKSUM |                            \
	 RTE_ETH_TX_OFFLOAD_TCP_CKSUM | RTE_ETH_TX_OFFLOAD_MULTI_SEGS)

uint32_t
agent_port_buffers(const struct agent_pf_options *options)
{
	return 2 * NB_DESC * options->queues;
}

static int
configure(uint16_t port, uint16_t queues)
{
	struct rte_eth_conf conf = {0};
	struct rte_eth_dev_info info;
	int ret = rte_eth_dev_info_get(port, &info);

	if (ret != 0)
		return ret;
	conf.rxmode.mtu = info.max_mtu;
	conf.rxmode.offloads = RX_OFFLOADS & info.rx_offload_capa;
	conf.txmode.offloads = TX_OFFLOADS & info.tx_offload_capa;
	conf.rx_adv_conf.rss_conf.rss_hf = RSS_TYPES & info.flow_type_rss_offloads;
	if (queues > 1 && conf.rx_adv_conf.rss_conf.rss_hf != 0)
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
	return rte_eth_dev_configure(port, queues, queues, &conf);
}

static int
set_up_queues(uint16_t port, uint16_t queues, struct rte_mempool *pool)
{
	uint16_t nb_rxd = NB_DESC, nb_txd = NB_DESC;
	int ret = rte_eth_dev_adjust_nb_rx_tx_desc(port, &nb_rxd, &nb_txd);

	for (uint16_t q = 0; q < queues && ret == 0; q++) {
		ret = rte_eth_rx_queue_setup(port, q, nb_rxd, SOCKET_ID_ANY, NULL, pool);
		if (ret == 0)
			ret = rte_eth_tx_queue_setup(port, q, nb_txd, SOCKET_ID_ANY, NULL);
	}
	return ret;
}

int
agent_port_start(const struct agent_pf_options *options, struct rte_mempool *pool, uint16_t *port)
{
	int ret = rte_eth_dev_get_port_by_name(options->name, port);

	if (ret != 0) {
		fprintf(stderr,
			"octo-agent: %s %s: there is no such ethdev; EAL makes one by --vdev or "
			"-a\n",
			options->option, options->name);
		return ret;
	}
	ret = configure(*port, options->queues);
	if (ret == 0)
		ret = set_up_queues(*port, options->queues, pool);
	/* the client's addresses are not known here */
	if (ret == 0)
		ret = rte_eth_promiscuous_enable(*port);
	if (ret == 0)
		ret = rte_eth_dev_start(*port);
	if (ret != 0)
		fprintf(stderr, "octo-agent: %s %s: it does not start with %u queues: %s\n",
			options->option, options->name, options->queues, strerror(-ret));
	return ret;
}

void
agent_port_stop(uint16_t port)
{
	rte_eth_dev_stop(port);
	rte_eth_dev_close(port);
}

void
agent_port_spread(const char *name, uint16_t port, const uint16_t *queues, uint16_t nb)
{
	struct rte_eth_rss_reta_entry64 reta[RTE_ETH_RSS_RETA_SIZE_512 / RTE_ETH_RETA_GROUP_SIZE];
	struct rte_eth_dev_info info;
	int ret = rte_eth_dev_info_get(port, &info);

	if (ret != 0 || nb == 0 || info.nb_rx_queues == 1 || info.reta_size == 0 ||
	    info.reta_size > RTE_ETH_RSS_RETA_SIZE_512)
		return;
	for (uint16_t i = 0; i < info.reta_size; i++) {
		reta[i / RTE_ETH_RETA_GROUP_SIZE].mask = UINT64_MAX;
		reta[i / RTE_ETH_RETA_GROUP_SIZE]
			.reta[i % RTE_ETH_RETA_GROUP_SIZE] = queues[i % nb];
	}
	ret = rte_eth_dev_rss_reta_update(port, reta, info.reta_size);
	if (ret != 0)
		AGENT_LOG(WARNING, name, "RSS keeps to queues that its client does not use: %s",
			  strerror(-ret));
}
