/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include <rte_mbuf.h>

#include "octo_port_flows.h"

#define BURST 32

const struct octo_port_conf octo_port_flows_two_nodes = {
	.sliced = true,
	.two_nodes = true,
	.all = "latency_us=300",
	.octo = "grace_us=400,fence_timeout_ms=1000",
};

const struct rte_eth_conf octo_port_flows_rss = {
	.rxmode = {.mq_mode = RTE_ETH_MQ_RX_RSS},
	.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_NONFRAG_IPV4_UDP,
};

void
octo_port_flows_begin(struct octo_port_flows *t, const struct octo_port_conf *conf,
		      uint16_t nb_queues, const struct rte_eth_conf *eth)
{
	*t = (struct octo_port_flows){.port = octo_port_create(conf), .nb_queues = nb_queues};
	octo_port_run_on(0);
	if (eth != NULL)
		octo_port_up_as(t->port, nb_queues, eth);
	else
		octo_port_up(t->port, nb_queues);
}

void
octo_port_flows_send(struct octo_port_flows *t)
{
	for (uint16_t flow = 0; flow < OCTO_PORT_FLOWS; flow++)
		t->sent[flow] += octo_port_send_numbered(t->port, 0, flow, t->sent[flow], 2);
}

static uint16_t
flow_of(const struct rte_mbuf *m)
{
	const struct rte_udp_hdr *udp = rte_pktmbuf_mtod_offset(
		m, const struct rte_udp_hdr *,
		sizeof(struct rte_ether_hdr) + sizeof(struct rte_ipv4_hdr));

	return rte_be_to_cpu_16(udp->src_port);
}

void
octo_port_flows_receive(struct octo_port_flows *t, uint16_t queue)
{
	struct rte_mbuf *pkts[BURST];
	const uint16_t nb = rte_eth_rx_burst(t->port, queue, pkts, BURST);

	for (uint16_t i = 0; i < nb; i++)
		t->overtaken += octo_port_number(pkts[i]) != t->received[flow_of(pkts[i])]++;
	t->by_queue[queue] += nb;
	rte_pktmbuf_free_bulk(pkts, nb);
}

void
octo_port_flows_pass(struct octo_port_flows *t, bool send)
{
	for (int i = 0; i < 3; i++) {
		if (send)
			octo_port_flows_send(t);
		octo_port_pass_us(80);
	}
	for (uint16_t q = 0; q < t->nb_queues; q++)
		for (int i = 0; i < 2; i++)
			octo_port_flows_receive(t, q);
}

void
octo_port_flows_pass_often(struct octo_port_flows *t, int times)
{
	for (int i = 0; i < times; i++)
		octo_port_flows_pass(t, true);
}

static bool
have_all_arrived(const struct octo_port_flows *t)
{
	return memcmp(t->received, t->sent, sizeof(t->sent)) == 0;
}

void
octo_port_flows_assert_all_arrive(struct octo_port_flows *t)
{
	for (int i = 0; i < 1000 && !have_all_arrived(t); i++)
		octo_port_flows_pass(t, false);
	assert_true(have_all_arrived(t));
	assert_int_equal(t->overtaken, 0);
	assert_int_equal(octo_port_xstat(t->port, "fence_timeouts"), 0);
}

bool
octo_port_flows_lead_to(unsigned int pf)
{
	return octo_port_reta_of(0) == RTE_BIT32(pf);
}
