/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>

#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_ethdev.h>

#include "fuzz_nic.h"
#include "fuzz_taker.h"

#define BURST 32
/* bursts: a stray leg may be polled every 64th time, a control thread hold the NIC for long */
#define PATIENCE 1000000

static struct rte_mempool *pool;

static void
start(uint16_t port)
{
	struct rte_eth_conf conf = {
		.rxmode = {.mq_mode = RTE_ETH_MQ_RX_RSS},
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP,
	};
	int ret = rte_eth_dev_configure(port, FUZZ_QUEUES, FUZZ_QUEUES, &conf);

	for (uint16_t q = 0; ret == 0 && q < FUZZ_QUEUES; q++) {
		ret = rte_eth_rx_queue_setup(port, q, 64, SOCKET_ID_ANY, NULL, pool);
		if (ret == 0)
			ret = rte_eth_tx_queue_setup(port, q, 64, SOCKET_ID_ANY, NULL);
	}
	if (ret == 0)
		ret = rte_eth_dev_start(port);
	if (ret == 0)
		ret = rte_eth_promiscuous_enable(port);
	FUZZ_CHECK(ret == 0, "port %u does not start: %d", port, ret);
}

/* PFs number first and first + 1 of the NIC with this name. */
static void
add_pfs(const char *nic, unsigned int first, const char *entries, const char *fewer, uint16_t *pf)
{
	char name[32], args[128];

	for (unsigned int i = 0; i < FUZZ_PFS; i++) {
		snprintf(name, sizeof(name), "net_mpsim%u", first + i);
		snprintf(args, sizeof(args), "nic=%s,queues=%u%s,%s", nic, FUZZ_QUEUES,
			 i == 0 ? ",wire=loop,wire_ring=64" : "", i == 0 ? entries : fewer);
		pf[i] = fuzz_add_port(name, args);
	}
}

const struct fuzz_nic *
fuzz_nic_roomy(void)
{
	static struct fuzz_nic nic = {.has_twin = true};

	if (pool != NULL)
		return &nic;
	pool = rte_pktmbuf_pool_create("fuzz", 2047, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
				       SOCKET_ID_ANY);
	FUZZ_CHECK(pool != NULL, "no mbufs");
	add_pfs("A", 0, "mpfs_entries=256,arfs_entries=256", "arfs_entries=256", nic.pf);
	nic.octo = fuzz_add_port("net_octo0", "learn=off,linger_ms=0,pf=net_mpsim0,pf=net_mpsim1");
	add_pfs("B", 2, "mpfs_entries=256,arfs_entries=256", "arfs_entries=256", nic.twin);
	start(nic.octo);
	start(nic.twin[0]);
	start(nic.twin[1]);
	return &nic;
}

const struct fuzz_nic *
fuzz_nic_narrow(void)
{
	static struct fuzz_nic nic;
	static bool made;

	if (made)
		return &nic;
	made = true;
	add_pfs("C", 4, "mpfs_entries=2,arfs_entries=5", "arfs_entries=3", nic.pf);
	nic.octo = fuzz_add_port("net_octo1", "learn=off,linger_ms=0,pf=net_mpsim4,pf=net_mpsim5");
	start(nic.octo);
	return &nic;
}

const struct fuzz_nic *
fuzz_nic_reading(void)
{
	static struct fuzz_nic nic;
	static bool made;

	if (made)
		return &nic;
	made = true;
	add_pfs("D", 6, "mpfs_entries=256", "arfs_entries=256", nic.pf);
	for (unsigned int i = 0; i < FUZZ_PFS; i++)
		fuzz_taker_on(nic.pf[i]);
	nic.octo = fuzz_add_port("net_octo2", "learn=off,linger_ms=0,pf=net_mpsim6,pf=net_mpsim7");
	start(nic.octo);
	return &nic;
}

/* One header; returns where the next one goes. */
static uint8_t *
put(uint8_t *at, enum rte_flow_item_type type, uint8_t choice, uint16_t next)
{
	const size_t len = type == RTE_FLOW_ITEM_TYPE_ETH  ? 14 :
			   type == RTE_FLOW_ITEM_TYPE_VLAN ? 4 :
			   type == RTE_FLOW_ITEM_TYPE_IPV4 ? 20 :
			   type == RTE_FLOW_ITEM_TYPE_IPV6 ? 40 :
			   type == RTE_FLOW_ITEM_TYPE_TCP  ? 20 :
			   type == RTE_FLOW_ITEM_TYPE_SCTP ? 12 :
							     8;
	uint8_t header[256];

	fuzz_header(type, choice, header);
	memcpy(at, header, len);
	if (type == RTE_FLOW_ITEM_TYPE_ETH || type == RTE_FLOW_ITEM_TYPE_VLAN) {
		at[len - 2] = next >> 8;
		at[len - 1] = (uint8_t)next;
	}
	return at + len;
}

static void
finish_ip(uint8_t *ip, const uint8_t *end, uint8_t proto)
{
	const uint16_t len = end - ip;

	if (ip[0] == 6) {
		ip[0] = 0x60;
		ip[4] = (len - 40) >> 8;
		ip[5] = (uint8_t)(len - 40);
		ip[6] = proto;
		return;
	}
	ip[0] = 0x45;
	ip[2] = len >> 8;
	ip[3] = (uint8_t)len;
	ip[9] = proto;
}

/* Three bytes: which headers, and which of the few addresses and ports. */
static uint16_t
make_frame(struct fuzz_input *in, uint8_t *frame)
{
	static const struct {
		enum rte_flow_item_type type;
		uint8_t proto;
	} l4[] = {{RTE_FLOW_ITEM_TYPE_UDP, 17},
		  {RTE_FLOW_ITEM_TYPE_TCP, 6},
		  {RTE_FLOW_ITEM_TYPE_SCTP, 132},
		  {RTE_FLOW_ITEM_TYPE_ICMP, 1}};
	const uint8_t how = fuzz_u8(in), addresses = fuzz_u8(in) & 63, ports = fuzz_u8(in) & 63;
	const bool ipv6 = (how & 4) != 0;
	const uint16_t type = ipv6 ? 0x86dd : 0x0800;
	uint8_t *at = frame;
	uint8_t *ip;

	at = put(at, RTE_FLOW_ITEM_TYPE_ETH, how >> 4, (how & 8) != 0 ? 0x8100 : type);
	if ((how & 8) != 0)
		at = put(at, RTE_FLOW_ITEM_TYPE_VLAN, how >> 4, type);
	ip = at;
	at = put(at, ipv6 ? RTE_FLOW_ITEM_TYPE_IPV6 : RTE_FLOW_ITEM_TYPE_IPV4, addresses, 0);
	ip[0] = ipv6 ? 6 : 4;
	at = put(at, l4[how & 3].type, ports, 0);
	memset(at, 0x5a, 16);
	at += 16;
	finish_ip(ip, at, l4[how & 3].proto);
	return at - frame;
}

/* Nothing that was sent before is still on its way. */
static unsigned int
poll(uint16_t port, struct fuzz_fate *fate)
{
	unsigned int packets = 0;

	for (uint16_t q = 0; q < FUZZ_QUEUES; q++) {
		struct rte_mbuf *pkts[BURST];
		const uint16_t nb = rte_eth_rx_burst(port, q, pkts, BURST);

		for (uint16_t i = 0; i < nb; i++) {
			fate->queue = q;
			fate->marks = pkts[i]->ol_flags &
				      (RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID);
			fate->mark = fate->marks & RTE_MBUF_F_RX_FDIR_ID ? pkts[i]->hash.fdir.hi :
									   0;
		}
		rte_pktmbuf_free_bulk(pkts, nb);
		packets += nb;
	}
	return packets;
}

struct fuzz_fate
fuzz_nic_send(const struct fuzz_nic *nic, bool to_twin, struct fuzz_input *in)
{
	const uint16_t port = to_twin ? nic->twin[0] : nic->octo;
	struct fuzz_fate fate = {.queue = -1};
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	unsigned int packets = 0;
	uint16_t len;

	FUZZ_CHECK(m != NULL, "mbufs are lost");
	len = make_frame(in, rte_pktmbuf_mtod(m, uint8_t *));
	m->data_len = len;
	m->pkt_len = len;
	FUZZ_CHECK(rte_eth_tx_burst(port, 0, &m, 1) == 1, "port %u does not send", port);
	/* it is dropped, or it comes */
	for (int i = 0; i < PATIENCE && rte_mempool_in_use_count(pool) > 0; i++) {
		packets += poll(port, &fate);
		if (to_twin)
			packets += poll(nic->twin[1], &fate);
		if (i > 0)
			rte_delay_us_sleep(1);
	}
	FUZZ_CHECK(packets <= 1, "one packet sent, %u received", packets);
	FUZZ_CHECK(rte_mempool_in_use_count(pool) == 0, "a packet is kept");
	return fate;
}
