/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Offloads are what their flags and fields of mbufs ask for and tell: these come to the PF, and
 * from it, as they were, by every way that a packet can take. What the PFs get and give is looked
 * at byte by byte; the simulated NIC behind them sees packets without flags.
 */

#include <string.h>

#include <ethdev_driver.h>
#include <rte_mbuf_dyn.h>

#include "octo_port.h"
#include "octo_port_fault.h"

#define FLOW 7
#define BURST 32
#define NB_PFS 2
/* packets under way, the most recent ones */
#define NB_KNOWN 1024
#define MAX_SEGS 2

struct mark {
	const char *offload; /* NULL: it comes with none */
	uint64_t flags;
	bool chained;
	bool crc;
};

static int own_field, timestamp;
static uint64_t timestamp_flag;

/* All fields have a value of the packet's own, whichever of them the flags are about. */
static void
fill(struct rte_mbuf *m, uint32_t number)
{
	m->packet_type = number;
	m->hash.fdir.lo = number + 1;
	m->hash.fdir.hi = number + 2;
	m->vlan_tci = (uint16_t)(number + 3);
	m->vlan_tci_outer = (uint16_t)(number + 4);
	m->l2_len = 18 + number % 4;
	m->l3_len = 40 + number % 4;
	m->l4_len = 32 + number % 4;
	m->outer_l2_len = 14 + number % 4;
	m->outer_l3_len = 20 + number % 4;
	m->tso_segsz = (uint16_t)(number + 5);
	*RTE_MBUF_DYNFIELD(m, own_field, uint64_t *) = ~(uint64_t)number;
	*RTE_MBUF_DYNFIELD(m, timestamp, rte_mbuf_timestamp_t *) = 0x123456789abcull + number;
	rte_flow_dynf_metadata_set(m, number + 6);
	m->ol_flags |= timestamp_flag | RTE_MBUF_DYNFLAG_RX_METADATA;
}

static void
chain(struct rte_mbuf *m)
{
	struct rte_mbuf *next = rte_pktmbuf_alloc(octo_port_pool);

	assert_non_null(next);
	assert_non_null(rte_pktmbuf_append(next, 10));
	assert_int_equal(rte_pktmbuf_chain(m, next), 0);
}

#define TCP_SEG (RTE_MBUF_F_TX_TCP_SEG | RTE_MBUF_F_TX_TCP_CKSUM | INNER)
#define UDP_SEG (RTE_MBUF_F_TX_UDP_SEG | RTE_MBUF_F_TX_UDP_CKSUM | INNER)
#define INNER (RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM)
#define OUTER (RTE_MBUF_F_TX_OUTER_IPV4 | RTE_MBUF_F_TX_OUTER_IP_CKSUM)

static const struct mark tx_marks[] = {
	{"VLAN_INSERT", RTE_MBUF_F_TX_VLAN},
	{"IPV4_CKSUM", INNER},
	{"UDP_CKSUM", RTE_MBUF_F_TX_IPV6 | RTE_MBUF_F_TX_UDP_CKSUM},
	{"TCP_CKSUM", RTE_MBUF_F_TX_IPV6 | RTE_MBUF_F_TX_TCP_CKSUM},
	{"SCTP_CKSUM", RTE_MBUF_F_TX_IPV6 | RTE_MBUF_F_TX_SCTP_CKSUM},
	{"TCP_TSO", TCP_SEG},
	{"UDP_TSO", UDP_SEG},
	{"OUTER_IPV4_CKSUM", OUTER | INNER},
	{"QINQ_INSERT", RTE_MBUF_F_TX_VLAN | RTE_MBUF_F_TX_QINQ},
	{"VXLAN_TNL_TSO", RTE_MBUF_F_TX_TUNNEL_VXLAN | OUTER | TCP_SEG},
	{"GRE_TNL_TSO", RTE_MBUF_F_TX_TUNNEL_GRE | OUTER | TCP_SEG},
	{"IPIP_TNL_TSO", RTE_MBUF_F_TX_TUNNEL_IPIP | OUTER | TCP_SEG},
	{"GENEVE_TNL_TSO", RTE_MBUF_F_TX_TUNNEL_GENEVE | OUTER | TCP_SEG},
	{"MULTI_SEGS", 0, .chained = true},
	{"UDP_TNL_TSO", RTE_MBUF_F_TX_TUNNEL_UDP | OUTER | UDP_SEG},
	{"IP_TNL_TSO", RTE_MBUF_F_TX_TUNNEL_IP | OUTER | UDP_SEG},
	{"OUTER_UDP_CKSUM", RTE_MBUF_F_TX_OUTER_UDP_CKSUM | OUTER | UDP_SEG},
	/* it promises that no packet needs a look: see test_octo_port_flags.c */
	{"MBUF_FAST_FREE", 0},
	/* with timesync, which is no offload */
	{NULL, RTE_MBUF_F_TX_IEEE1588_TMST},
};

static const struct mark rx_marks[] = {
	{"VLAN_STRIP", RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED},
	{"IPV4_CKSUM", RTE_MBUF_F_RX_IP_CKSUM_BAD},
	{"UDP_CKSUM", RTE_MBUF_F_RX_L4_CKSUM_GOOD},
	{"TCP_CKSUM", RTE_MBUF_F_RX_L4_CKSUM_BAD},
	{"SCTP_CKSUM", RTE_MBUF_F_RX_L4_CKSUM_NONE},
	{"TCP_LRO", RTE_MBUF_F_RX_LRO},
	{"QINQ_STRIP", RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_RX_QINQ |
			       RTE_MBUF_F_RX_QINQ_STRIPPED},
	{"OUTER_IPV4_CKSUM", RTE_MBUF_F_RX_OUTER_IP_CKSUM_BAD},
	{"OUTER_UDP_CKSUM", RTE_MBUF_F_RX_OUTER_L4_CKSUM_BAD},
	/* what is filtered has no flag, nor where the inner tag is */
	{"VLAN_FILTER", 0},
	{"VLAN_EXTEND", 0},
	{"SCATTER", 0, .chained = true},
	{"KEEP_CRC", 0, .crc = true},
	{"RSS_HASH", RTE_MBUF_F_RX_RSS_HASH},
	{"BUFFER_SPLIT", 0, .chained = true},
	/* by rules of the application */
	{NULL, RTE_MBUF_F_RX_FDIR},
	{NULL, RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID},
};

/* What is known of a packet: its mbufs, by its number. */
static struct known {
	struct rte_mbuf seg[MAX_SEGS];
} known[NB_KNOWN];

static struct {
	eth_rx_burst_t rx;
	eth_tx_burst_t tx;
	eth_tx_descriptor_status_t status;
	bool marks;               /* received packets */
	bool held;                /* what the PFs sent is on their rings for ever */
	unsigned int got[NB_PFS]; /* packets that the PF was given, as they were sent */
	unsigned int prepared;
	unsigned int changed; /* packets that it was given, but not as they were sent */
} stub;

static struct known *
known_of(const struct rte_mbuf *m)
{
	return &known[octo_port_number(m) % NB_KNOWN];
}

static void
mark(struct rte_mbuf *m, const struct mark *marks, unsigned int nb)
{
	const uint32_t number = octo_port_number(m);
	const struct mark *row = &marks[number % nb];

	m->ol_flags = row->flags;
	fill(m, number);
	if (row->chained)
		chain(m);
	if (row->crc)
		assert_non_null(rte_pktmbuf_append(m, RTE_ETHER_CRC_LEN));
}

static void
remember(const struct rte_mbuf *m)
{
	struct known *k = known_of(m);

	for (unsigned int i = 0; m != NULL; i++, m = m->next)
		memcpy(&k->seg[i], m, sizeof(*m));
}

/* Byte by byte. */
static bool
is_known(const struct rte_mbuf *m)
{
	const struct known *k = known_of(m);

	for (unsigned int i = 0; m != NULL; i++, m = m->next)
		if (memcmp(m, &k->seg[i], sizeof(*m)) != 0)
			return false;
	return true;
}

static uint16_t
receive(void *queue, struct rte_mbuf **pkts, uint16_t nb)
{
	const uint16_t got = stub.rx(queue, pkts, nb);

	for (uint16_t i = 0; stub.marks && i < got; i++) {
		mark(pkts[i], rx_marks, RTE_DIM(rx_marks));
		remember(pkts[i]);
	}
	return got;
}

static uint16_t
send_by(unsigned int pf, void *queue, struct rte_mbuf **pkts, uint16_t nb)
{
	uint16_t sent;

	for (uint16_t i = 0; i < nb; i++) {
		stub.changed += !is_known(pkts[i]);
		pkts[i]->ol_flags = 0;
	}
	sent = stub.tx(queue, pkts, nb);
	stub.got[pf] += sent;
	/* octo offers it again */
	for (uint16_t i = sent; i < nb; i++)
		pkts[i]->ol_flags = known_of(pkts[i])->seg[0].ol_flags;
	return sent;
}

static uint16_t
send_by_first(void *queue, struct rte_mbuf **pkts, uint16_t nb)
{
	return send_by(0, queue, pkts, nb);
}

static uint16_t
send_by_second(void *queue, struct rte_mbuf **pkts, uint16_t nb)
{
	return send_by(1, queue, pkts, nb);
}

static uint16_t
prepare(void *queue, struct rte_mbuf **pkts, uint16_t nb)
{
	RTE_SET_USED(queue);
	for (uint16_t i = 0; i < nb; i++)
		stub.changed += !is_known(pkts[i]);
	stub.prepared += nb;
	return nb;
}

static int
status(void *queue, uint16_t offset)
{
	return stub.held ? RTE_ETH_TX_DESC_FULL : stub.status(queue, offset);
}

static void
put_stubs(void)
{
	static const eth_tx_burst_t sends[NB_PFS] = {send_by_first, send_by_second};

	memset(&stub, 0, sizeof(stub));
	stub.rx = rte_eth_fp_ops[octo_port_pf(0)].rx_pkt_burst;
	stub.tx = rte_eth_fp_ops[octo_port_pf(0)].tx_pkt_burst;
	stub.status = rte_eth_fp_ops[octo_port_pf(0)].tx_descriptor_status;
	for (unsigned int pf = 0; pf < NB_PFS; pf++) {
		struct rte_eth_fp_ops *ops = &rte_eth_fp_ops[octo_port_pf(pf)];

		ops->rx_pkt_burst = receive;
		ops->tx_pkt_burst = sends[pf];
		ops->tx_pkt_prepare = prepare;
		ops->tx_descriptor_status = status;
	}
}

static void
learn_fields(void)
{
	static const struct rte_mbuf_dynfield own = {
		.name = "octo_test_own",
		.size = sizeof(uint64_t),
		.align = alignof(uint64_t),
	};

	own_field = rte_mbuf_dynfield_register(&own);
	assert_true(own_field >= 0);
	assert_int_equal(rte_mbuf_dyn_rx_timestamp_register(&timestamp, &timestamp_flag), 0);
	assert_int_equal(rte_flow_dynf_metadata_register(), 0);
}

/* A port with one queue, from node 0, with all offloads that can be together. */
static uint16_t
start(const struct octo_port_conf *conf)
{
	struct rte_eth_dev_info info;
	uint16_t port;

	if (!octo_port_has_two_nodes())
		skip();
	learn_fields();
	octo_port_run_on(0);
	octo_port_add_pfs(conf);
	for (unsigned int pf = 0; pf < NB_PFS; pf++)
		octo_port_faults_on(pf)->claims_all = true;
	port = octo_port_add(conf);
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	octo_port_up_as(port, 1,
			&(struct rte_eth_conf){
				.rxmode = {.mq_mode = RTE_ETH_MQ_RX_RSS,
					   .max_lro_pkt_size = info.max_lro_pkt_size,
					   .offloads = info.rx_offload_capa &
						       ~RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT},
				.txmode = {.offloads = info.tx_offload_capa &
						       ~RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE},
				.rx_adv_conf = {.rss_conf = {.rss_hf = RTE_ETH_RSS_IPV4}},
			});
	put_stubs();
	return port;
}

static bool
has_row(const struct mark *marks, unsigned int nb, const char *offload)
{
	for (unsigned int i = 0; i < nb; i++)
		if (marks[i].offload != NULL && strcmp(marks[i].offload, offload) == 0)
			return true;
	return false;
}

static void
check_rows(const struct mark *marks, unsigned int nb, uint64_t offered,
	   const char *(*name_of)(uint64_t))
{
	for (unsigned int bit = 0; bit < 64; bit++) {
		const char *name = name_of(RTE_BIT64(bit));

		if ((offered & RTE_BIT64(bit)) && !has_row(marks, nb, name))
			fail_msg("%s is offered, and no row says by which marks", name);
	}
}

static const struct octo_port_conf two_nodes = {.two_nodes = true};
static const struct octo_port_conf by_mac = {.two_nodes = true,
					     .nic = "switch=mac",
					     .octo = "tier=mac"};

static void
test_every_offload_has_a_row(void **state)
{
	const uint16_t port = start(&two_nodes);
	struct rte_eth_dev_info info;

	(void)state;
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	check_rows(rx_marks, RTE_DIM(rx_marks), info.rx_offload_capa, rte_eth_dev_rx_offload_name);
	check_rows(tx_marks, RTE_DIM(tx_marks), info.tx_offload_capa, rte_eth_dev_tx_offload_name);
}

/* A packet of each row, or as many as are wanted. */
static void
send_marked(uint16_t port, uint16_t nb)
{
	static uint32_t next;
	struct rte_mbuf *pkts[BURST];

	octo_port_make_numbered(port, FLOW, next, pkts, nb);
	next += nb;
	for (uint16_t i = 0; i < nb; i++) {
		struct rte_ether_hdr *eth = rte_pktmbuf_mtod(pkts[i], struct rte_ether_hdr *);

		/* that of the first PF */
		eth->src_addr = eth->dst_addr;
		mark(pkts[i], tx_marks, RTE_DIM(tx_marks));
		remember(pkts[i]);
	}
	assert_int_equal(rte_eth_tx_prepare(port, 0, pkts, nb), nb);
	assert_int_equal(rte_eth_tx_burst(port, 0, pkts, nb), nb);
	assert_int_equal(stub.changed, 0);
}

static void
drop_received(uint16_t port)
{
	struct rte_mbuf *pkts[BURST];

	rte_pktmbuf_free_bulk(pkts, rte_eth_rx_burst(port, 0, pkts, BURST));
}

static void
assert_got(unsigned int first, unsigned int second)
{
	assert_int_equal(stub.got[0], first);
	assert_int_equal(stub.got[1], second);
}

#define NB_TX RTE_DIM(tx_marks)

/* By the home leg, put aside while the queue changes its PF, and by the other leg. */
static void
test_what_is_sent_comes_to_the_pf_as_it_is(void **state)
{
	const uint16_t port = start(&two_nodes);
	unsigned int others;

	(void)state;
	send_marked(port, NB_TX);
	assert_got(NB_TX, 0);
	stub.held = true;
	octo_port_run_on(1);
	while (octo_port_xstat(port, "tx_switch_stashed") == 0)
		send_marked(port, 1);
	others = stub.got[0];
	send_marked(port, NB_TX);
	assert_got(others, 0);
	assert_true(octo_port_xstat(port, "tx_switch_waiting") > NB_TX);
	stub.held = false;
	octo_port_await((drop_received(port), octo_port_xstat(port, "tx_switch_waiting") == 0));
	others = stub.got[1];
	assert_true(others > NB_TX);
	send_marked(port, NB_TX);
	assert_int_equal(stub.got[1], others + NB_TX);
	assert_int_equal(stub.prepared, stub.got[0] + stub.got[1]);
	assert_int_equal(octo_port_xstat(port, "tx_switches"), 1);
}

/* The stash is emptied by a burst of the sender, too. */
static void
test_what_was_put_aside_is_sent_by_the_next_burst(void **state)
{
	const uint16_t port = start(&two_nodes);

	(void)state;
	send_marked(port, NB_TX);
	stub.held = true;
	octo_port_run_on(1);
	while (octo_port_xstat(port, "tx_switch_stashed") < NB_TX)
		send_marked(port, 1);
	stub.held = false;
	send_marked(port, 1);
	assert_int_equal(stub.got[1], octo_port_xstat(port, "tx_switch_stashed") + 1);
}

/* The first bursts look up what the others have then. */
static void
check_sent(uint16_t port)
{
	for (unsigned int i = 1; i <= 10; i++) {
		send_marked(port, NB_TX);
		assert_int_equal(stub.got[0] + stub.got[1], i * NB_TX);
	}
}

static void
test_what_is_sent_near_its_buffer_comes_as_it_is(void **state)
{
	const struct octo_port_conf conf = {.two_nodes = true, .octo = "tx_pf=mbuf"};

	(void)state;
	check_sent(start(&conf));
}

/* Of a burst, packets with a flag go by the clock PF, others between them by the home leg. */
static void
test_what_is_sent_with_timesync_comes_as_it_is(void **state)
{
	const uint16_t port = start(&two_nodes);

	(void)state;
	assert_int_equal(rte_eth_timesync_enable(port), 0);
	octo_port_run_on(1);
	check_sent(port);
	assert_true(stub.got[0] > 0 && stub.got[1] > 0);
	assert_int_equal(rte_eth_timesync_disable(port), 0);
}

static void
test_what_is_sent_with_another_source_comes_as_it_is(void **state)
{
	const uint16_t port = start(&by_mac);

	(void)state;
	octo_port_run_on(1);
	check_sent(port);
	assert_true(octo_port_xstat(port, "tx_mac_rewritten") > NB_TX);
}

#define NB_RX RTE_DIM(rx_marks)

static void
send_plain(uint16_t port)
{
	static uint32_t next;
	struct rte_mbuf *pkts[BURST];

	octo_port_make_numbered(port, FLOW, next, pkts, NB_RX);
	next += NB_RX;
	for (uint16_t i = 0; i < NB_RX; i++)
		remember(pkts[i]);
	assert_int_equal(rte_eth_tx_burst(port, 0, pkts, NB_RX), NB_RX);
}

/* What the PF gave, but for the port. Returns how many. */
static uint16_t
receive_marked(uint16_t port)
{
	struct rte_mbuf *pkts[BURST];
	const uint16_t got = rte_eth_rx_burst(port, 0, pkts, BURST);

	for (uint16_t i = 0; i < got; i++) {
		assert_int_equal(pkts[i]->port, port);
		pkts[i]->port = known_of(pkts[i])->seg[0].port;
		stub.changed += !is_known(pkts[i]);
	}
	rte_pktmbuf_free_bulk(pkts, got);
	return got;
}

static void
check_received(uint16_t port, unsigned int nb)
{
	unsigned int got = 0;

	octo_port_await((got += receive_marked(port)) >= nb);
	assert_int_equal(got, nb);
	assert_int_equal(stub.changed, 0);
}

static void
check_leg(const struct octo_port_conf *conf, const char *counter)
{
	const uint16_t port = start(conf);

	stub.marks = true;
	/* the first bursts are taken the long way */
	for (unsigned int i = 1; i <= 10; i++) {
		send_plain(port);
		check_received(port, NB_RX);
		assert_int_equal(octo_port_xstat(port, "%s", counter), i * NB_RX);
	}
}

static void
test_what_the_home_leg_received_comes_as_it_is(void **state)
{
	(void)state;
	check_leg(&two_nodes, "rx_q0_home_packets");
}

static void
test_what_strayed_comes_as_it_is(void **state)
{
	const struct octo_port_conf conf = {.two_nodes = true, .nic = "default_pf=1"};

	(void)state;
	check_leg(&conf, "rx_stray_packets");
}

/* It waits in the leg of the new home, until the fence lets it go. */
static void
test_what_a_fence_held_comes_as_it_is(void **state)
{
	const struct octo_port_conf conf = {.two_nodes = true, .octo = "grace_us=1000000"};
	const uint16_t port = start(&conf);
	unsigned int polls = 0;

	(void)state;
	stub.marks = true;
	assert_non_null(octo_port_steer(port, FLOW, 0, NULL));
	send_plain(port);
	check_received(port, NB_RX);
	octo_port_run_on(1);
	while (octo_port_rule_pf(port, FLOW) != 1) {
		assert_true(polls++ < 10000);
		receive_marked(port);
		octo_port_pass_us(100);
	}
	assert_int_equal(octo_port_xstat(port, "fences_open"), 1);
	send_plain(port);
	for (unsigned int i = 0; i < 100; i++) {
		assert_int_equal(receive_marked(port), 0);
		octo_port_pass_us(100);
	}
	check_received(port, NB_RX);
	assert_true(octo_port_xstat(port, "fence_held_ns") > 0);
	assert_int_equal(octo_port_xstat(port, "fence_timeouts"), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_every_offload_has_a_row),
		octo_port_test(test_what_is_sent_comes_to_the_pf_as_it_is),
		octo_port_test(test_what_was_put_aside_is_sent_by_the_next_burst),
		octo_port_test(test_what_is_sent_near_its_buffer_comes_as_it_is),
		octo_port_test(test_what_is_sent_with_timesync_comes_as_it_is),
		octo_port_test(test_what_is_sent_with_another_source_comes_as_it_is),
		octo_port_test(test_what_the_home_leg_received_comes_as_it_is),
		octo_port_test(test_what_strayed_comes_as_it_is),
		octo_port_test(test_what_a_fence_held_comes_as_it_is),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
