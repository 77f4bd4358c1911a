/* SPDX-License-Identifier: BSD-3-Clause */

#include <ethdev_driver.h>
#include <rte_ether.h>
#include <rte_udp.h>

#include "mpsim_control.h"
#include "octo_port_random.h"
#include "octo_private.h"

#define BURST 32
#define IP_AT 14
#define UDP_AT 34

static struct random_port *const r = &random_port;

/* In tier mac the port announces addresses, and the wire brings that back. */
static bool
is_ours(const struct rte_mbuf *m)
{
	const struct rte_ether_hdr *eth = rte_pktmbuf_mtod(m, const struct rte_ether_hdr *);

	return eth->ether_type == RTE_BE16(RTE_ETHER_TYPE_IPV4) &&
	       m->pkt_len == OCTO_PORT_FRAME_LEN;
}

static void
take(const struct rte_mbuf *m, uint16_t queue)
{
	const struct rte_udp_hdr *udp = rte_pktmbuf_mtod_offset(m, const struct rte_udp_hdr *,
								UDP_AT);
	const unsigned int f = rte_be_to_cpu_16(udp->src_port) - RANDOM_FIRST_PORT;
	const uint32_t number = octo_port_number(m);
	struct random_traffic *t = &r->traffic[f];

	assert_true(f < RANDOM_ALL);
	assert_int_equal(m->port, r->port);
	assert_true(number < t->sent);
	if ((t->came[number / 64] >> number % 64 & 1) != 0 && number >= t->doubted)
		fail_msg("packet %u of flow %u came again, by queue %u", number, f, queue);
	t->came[number / 64] |= UINT64_C(1) << number % 64;
	if (number >= t->next)
		t->next = number + 1;
	else if (r->mode == RANDOM_GENTLE && (f >= RANDOM_FLOWS || octo_now() >= r->flow[f].rest))
		fail_msg("flow %u: %u came after %u, by queue %u", f, number, t->next - 1, queue);
}

void
random_poll_all(void)
{
	struct rte_mbuf *pkts[BURST];

	random_agent_serve();
	random_mac_note();
	for (uint16_t q = 0; q < RANDOM_QUEUES; q++) {
		uint16_t nb;

		if (!random_rx_runs(q))
			continue;
		nb = rte_eth_rx_burst(r->port, q, pkts, BURST);
		for (uint16_t i = 0; i < nb; i++)
			if (is_ours(pkts[i]))
				take(pkts[i], q);
		r->received += nb;
		rte_pktmbuf_free_bulk(pkts, nb);
	}
}

uint16_t
random_send(unsigned int flow, uint16_t queue, uint16_t n)
{
	struct random_traffic *t = &r->traffic[flow];
	struct rte_ether_addr dst;
	struct rte_mbuf *pkts[BURST];
	uint16_t sent;

	random_mac_note();
	dst = random_mac_dst(flow);
	octo_port_make_numbered(r->port, RANDOM_FIRST_PORT + flow, t->sent, pkts, n);
	for (uint16_t i = 0; i < n; i++)
		memcpy(rte_pktmbuf_mtod(pkts[i], void *), &dst, sizeof(dst));
	/* a packet comes in while it is sent, if a driver sleeps */
	t->sent += n;
	sent = rte_eth_tx_burst(r->port, queue, pkts, n);
	rte_pktmbuf_free_bulk(pkts + sent, n - sent);
	t->sent -= n - sent;
	r->sent += sent;
	return sent;
}

static void
send_flow(unsigned int f, uint16_t n)
{
	const uint16_t queue = f % RANDOM_QUEUES;

	if (random_tx_runs(queue) && r->traffic[f].sent + n <= RANDOM_NUMBERS)
		random_send(f, queue, n);
}

void
random_send_some(void)
{
	for (unsigned int i = 0; i < 3 && !r->stopped; i++) {
		send_flow(random_below(RANDOM_ALL), 1 + random_below(8));
		random_poll_all();
		octo_port_pass_us(20 + random_below(100));
	}
	random_poll_all();
}

void
random_send_gently(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		for (unsigned int k = 0; k < 4; k++)
			send_flow(random_below(RANDOM_ALL), 1 + random_below(3));
		octo_port_pass_us(10 + random_below(30));
		random_poll_all();
	}
}

/* What the PFs have delivered, the application has got. */
static void
check_delivered(void)
{
	struct mpsim_account a;
	/* the port drops copies that a switch has made */
	uint64_t delivered, received = r->received + random_mac_copies();

	if (rte_pmd_mpsim_account_get("T", &a) != 0)
		return;
	assert_int_equal(a.unaccounted, 0);
	if (r->other_nic) {
		r->delivered_before = a.delivered;
		r->delivered_by_before = received;
		r->other_nic = false;
	}
	delivered = a.delivered - r->delivered_before;
	received -= r->delivered_by_before;
	if (delivered != received)
		fail_msg("%" PRIu64 " packets were delivered, %" PRIu64 " received", delivered,
			 received);
}

void
random_check_counters(void)
{
	struct rte_eth_stats now;

	check_delivered();
	if (rte_eth_stats_get(r->port, &now) != 0)
		return;
	/* rte_eth_stats begins with eight totals: ipackets, ..., rx_nombuf */
	for (unsigned int i = 0; i < 8; i++)
		if (((uint64_t *)&now)[i] < ((uint64_t *)&r->stats)[i])
			fail_msg("counter %u fell from %" PRIu64 " to %" PRIu64, i,
				 ((uint64_t *)&r->stats)[i], ((uint64_t *)&now)[i]);
	r->stats = now;
}

void
random_reset_counters(void)
{
	struct mpsim_account a;

	/* what is in a ring was counted before */
	rte_pmd_mpsim_account_get("T", &a);
	memset(&r->stats, 0, sizeof(r->stats));
	r->sent_before = r->sent;
	r->received_before = r->received + a.in_rings;
}
