/* SPDX-License-Identifier: BSD-3-Clause */

/* The same packets to both: the same come back, and each other one is in a count. */

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <ethdev_driver.h>

#include "fuzz_pair.h"
#include "mpsim_control.h"
#include "octo_port_time.h"

#define MAX_PACKETS 16
/* polls, the last of which find nothing: a leg that is no home is polled every 64th time */
#define POLLS 70
#define NIC_US 20
/* polls while EAL's interrupt thread has the NIC's lock, and gets no CPU */
#define PATIENCE 10000
#define CONTROL_US 20000

/* What one port got by one queue; the order is that of legs, and not compared. */
struct heard {
	uint64_t packets;
	uint64_t sum;
};

/* Of all packets of one call. */
struct order {
	uint8_t nb, to, tag, kind, length;
	uint16_t queue;
};

static void
put_destination(uint8_t *at, const struct order *o, uint16_t port)
{
	static const uint8_t fixed[][RTE_ETHER_ADDR_LEN] = {
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
		{0x02, 0, 0, 0, 0, 0x7f},
	};
	const uint8_t choice = o->to >> 3;

	memset(at, 0, RTE_ETHER_ADDR_LEN);
	switch (o->to & 7) {
	case 0:
	case 1:
	case 2:
		rte_eth_macaddr_get(port, (struct rte_ether_addr *)at);
		break;
	case 3:
		memcpy(at, fixed[0], RTE_ETHER_ADDR_LEN);
		break;
	case 4:
		memcpy(at, fixed[1], RTE_ETHER_ADDR_LEN);
		break;
	default:
		/* an address that fuzz_ethdev.c adds, of one or of a group */
		at[0] = (o->to & 7) == 5 ? 1 : 2;
		at[4] = 1;
		at[5] = choice & 7;
	}
}

static struct rte_mbuf *
make(const struct order *o, uint16_t port, struct rte_mempool *pool, uint8_t number)
{
	static const uint16_t lengths[] = {64, 60, 1514, 1518, 1522, 2000, 20, 128};
	const uint16_t len = lengths[o->length & 7];
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *at;

	FUZZ_CHECK(m != NULL, "mbufs are lost");
	at = rte_pktmbuf_mtod(m, uint8_t *);
	memset(at, 0, len);
	put_destination(at, o, port);
	at[6] = 2;
	at += 2 * RTE_ETHER_ADDR_LEN;
	if (o->tag & 8) {
		at[0] = 0x81;
		at[3] = o->tag & 7;
		at += 4;
	}
	at[0] = 8;
	if (len >= 60) {
		const uint8_t ip[] = {0x45, 0, 0,       40, 0, 0, 0, 0, 64, 17, 0, 0, 10,
				      0,    0, o->kind, 10, 0, 0, 2, 0, 1,  0,  9, 0, 20};

		memcpy(at + 2, ip, sizeof(ip));
		at[2 + 21] = number;
	}
	m->data_len = len;
	m->pkt_len = len;
	return m;
}

static uint64_t
sum_of(const struct rte_mbuf *m)
{
	const uint8_t *at = rte_pktmbuf_mtod(m, const uint8_t *);
	uint64_t sum = m->pkt_len + m->packet_type * 31 + m->ol_flags * 37 + m->nb_segs;

	for (unsigned int i = 0; i < RTE_MIN(m->data_len, 60u); i++)
		sum = sum * 131 + at[i];
	if (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED)
		sum = sum * 131 + m->vlan_tci;
	if (m->ol_flags & RTE_MBUF_F_RX_RSS_HASH)
		sum = sum * 131 + m->hash.rss;
	return sum;
}

static void
poll_all(enum fuzz_who who, struct heard *heard)
{
	const uint16_t port = fuzz_pair.port[who];
	const struct rte_eth_dev_data *data = rte_eth_devices[port].data;

	for (uint16_t q = 0; q < data->nb_rx_queues; q++) {
		struct rte_mbuf *pkts[MAX_PACKETS];
		uint16_t nb;

		if (data->rx_queue_state[q] != RTE_ETH_QUEUE_STATE_STARTED)
			continue;
		nb = rte_eth_rx_burst(port, q, pkts, MAX_PACKETS);
		for (uint16_t i = 0; i < nb; i++) {
			FUZZ_CHECK(pkts[i]->port == port, "port %u in a packet of port %u",
				   pkts[i]->port, port);
			heard[q].packets++;
			heard[q].sum += sum_of(pkts[i]);
		}
		rte_pktmbuf_free_bulk(pkts, nb);
	}
}

/* Returns how many were sent. */
static uint16_t
send_all(enum fuzz_who who, const struct order *o)
{
	const uint16_t port = fuzz_pair.port[who];
	struct rte_mbuf *pkts[MAX_PACKETS];
	uint16_t sent;

	for (uint8_t i = 0; i < o->nb; i++)
		pkts[i] = make(o, port, fuzz_pair.pool[who], i);
	sent = rte_eth_tx_prepare(port, o->queue, pkts, o->nb);
	FUZZ_CHECK(sent == o->nb, "port %u: %u of %u packets are prepared", port, sent, o->nb);
	sent = rte_eth_tx_burst(port, o->queue, pkts, o->nb);
	rte_pktmbuf_free_bulk(pkts + sent, o->nb - sent);
	return sent;
}

static const char *const nics[] = {[FUZZ_OCTO] = "A", [FUZZ_BARE] = "B"};

static bool
is_under_way(const char *nic)
{
	struct mpsim_account account;

	FUZZ_CHECK(rte_pmd_mpsim_account_get(nic, &account) == 0, "no NIC %s", nic);
	return account.on_wire + account.in_tx_rings + account.in_pipelines != 0;
}

static void
receive(enum fuzz_who who, struct heard *heard)
{
	for (unsigned int i = 0; i < PATIENCE && is_under_way(nics[who]); i++) {
		poll_all(who, heard);
		octo_wait_us(1);
	}
	for (unsigned int i = 0; i < POLLS; i++) {
		poll_all(who, heard);
		octo_sleep_us(NIC_US);
	}
}

void
fuzz_pair_drain(void)
{
	struct heard heard[FUZZ_BOTH][FUZZ_PAIR_QUEUES] = {0};

	fuzz_pair.counted = true;
	for (unsigned int who = 0; who < FUZZ_BOTH; who++)
		receive(who, heard[who]);
}

/* Each packet that a NIC took is delivered, in a ring, or in a count. */
static void
check_account(const char *nic)
{
	struct mpsim_account account;

	FUZZ_CHECK(rte_pmd_mpsim_account_get(nic, &account) == 0, "no NIC %s", nic);
	FUZZ_CHECK(account.unaccounted == 0, "NIC %s: %" PRId64 " packets are in no count", nic,
		   account.unaccounted);
}

void
fuzz_pair_traffic(struct fuzz_input *in)
{
	const struct rte_eth_dev_data *data = rte_eth_devices[fuzz_pair.port[FUZZ_BARE]].data;
	struct heard heard[FUZZ_BOTH][FUZZ_PAIR_QUEUES] = {0};
	uint8_t how = fuzz_u8(in);
	struct order o = {.nb = 1 + (how >> 4), .queue = how & 3};
	uint16_t sent[FUZZ_BOTH];

	o.to = fuzz_u8(in);
	how = fuzz_u8(in);
	o.tag = how & 15;
	o.length = how >> 4;
	o.kind = o.to >> 6;
	if (!data->dev_started || o.queue >= data->nb_tx_queues)
		return;
	fuzz_pair.counted = true;
	/* the control thread leads packets past a PF that cannot take them */
	if (fuzz_pair.was_faulty)
		octo_port_pass_us(CONTROL_US);
	for (unsigned int who = 0; who < FUZZ_BOTH; who++) {
		sent[who] = send_all(who, &o);
		receive(who, heard[who]);
		check_account(nics[who]);
	}
	FUZZ_CHECK(sent[FUZZ_OCTO] == sent[FUZZ_BARE], "the octo port sends %u of %u, a PF %u",
		   sent[FUZZ_OCTO], o.nb, sent[FUZZ_BARE]);
	for (uint16_t q = 0; q < FUZZ_PAIR_QUEUES; q++) {
		const struct heard *a = &heard[FUZZ_OCTO][q], *b = &heard[FUZZ_BARE][q];

		FUZZ_CHECK(fuzz_pair.lost_packets || a->packets == b->packets,
			   "of %u packets, queue %u of octo gets %" PRIu64 ", of a PF %" PRIu64,
			   o.nb, q, a->packets, b->packets);
		FUZZ_CHECK(fuzz_pair.lost_packets || a->sum == b->sum,
			   "queue %u: octo's packets are others than those of a PF", q);
	}
}
