/* SPDX-License-Identifier: BSD-3-Clause */

/* Selective Rx of a PF of mpsim: segments without a pool are discarded (DPDK 26.07). */

#include <errno.h>

#include <rte_ip.h>
#include <rte_mbuf.h>
#include <rte_udp.h>

#include "octo_port.h"

#define FLOW 7
#define NUMBER 0x01020304
#define HEADERS 42
#define OFFLOADS                                                                                   \
	(RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT | RTE_ETH_RX_OFFLOAD_UDP_CKSUM |                          \
	 RTE_ETH_RX_OFFLOAD_VLAN_STRIP)

static struct rte_mempool *pool;

static int
setup(void **state)
{
	pool = rte_pktmbuf_pool_create("segment", 255, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
				       SOCKET_ID_ANY);
	assert_non_null(pool);
	return octo_port_setup(state);
}

static int
teardown(void **state)
{
	int ret = octo_port_teardown(state);

	ret = rte_mempool_full(pool) ? ret : -1;
	rte_mempool_free(pool);
	return ret;
}

static int
setup_queue(uint16_t port, union rte_eth_rxseg *seg, uint16_t nb)
{
	const struct rte_eth_rxconf rxconf = {.offloads = OFFLOADS, .rx_seg = seg, .rx_nseg = nb};
	const struct rte_eth_conf conf = {0};

	assert_int_equal(rte_eth_dev_configure(port, 1, 1, &conf), 0);
	return rte_eth_rx_queue_setup(port, 0, OCTO_PORT_NB_DESC, 0, &rxconf, NULL);
}

static uint16_t
start_pf(union rte_eth_rxseg *seg, uint16_t nb)
{
	const struct octo_port_conf conf = {.nb_pfs = 1};
	uint16_t port;

	octo_port_add_pfs(&conf);
	port = octo_port_pf(0);
	assert_int_equal(setup_queue(port, seg, nb), 0);
	assert_int_equal(rte_eth_tx_queue_setup(port, 0, OCTO_PORT_NB_DESC, 0, NULL), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	return port;
}

/* The checksum is over the payload, too. */
static void
send_with_checksum(uint16_t port)
{
	struct rte_ipv4_hdr *ip;
	struct rte_udp_hdr *udp;
	struct rte_mbuf *m;

	octo_port_make(port, FLOW, &m, 1);
	ip = rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, RTE_ETHER_HDR_LEN);
	udp = (struct rte_udp_hdr *)(ip + 1);
	udp->dgram_cksum = 0;
	udp->dgram_cksum = rte_ipv4_udptcp_cksum(ip, udp);
	assert_int_equal(rte_eth_tx_burst(port, 0, &m, 1), 1);
}

static void
assert_received(uint16_t port, uint64_t packets, uint64_t bytes)
{
	struct rte_eth_stats stats;

	assert_int_equal(rte_eth_stats_get(port, &stats), 0);
	assert_int_equal(stats.ipackets, packets);
	assert_int_equal(stats.ibytes, bytes);
	assert_int_equal(stats.rx_nombuf, 0);
}

static void
test_payload_is_discarded(void **state)
{
	union rte_eth_rxseg seg[] = {{.split = {.mp = pool, .length = HEADERS}}, {.split = {0}}};
	const uint16_t port = start_pf(seg, 2);
	struct rte_mbuf *m;

	(void)state;
	send_with_checksum(port);
	m = octo_port_receive_one(port, 0);
	assert_int_equal(m->nb_segs, 1);
	assert_int_equal(m->pkt_len, HEADERS);
	assert_int_equal(m->data_len, HEADERS);
	assert_true(m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_GOOD);
	rte_pktmbuf_free(m);
	assert_received(port, 1, HEADERS);
}

static void
test_headers_are_discarded(void **state)
{
	union rte_eth_rxseg seg[] = {{.split = {.length = HEADERS}}, {.split = {.mp = pool}}};
	const uint16_t port = start_pf(seg, 2);
	struct rte_mbuf *m;

	(void)state;
	send_with_checksum(port);
	m = octo_port_receive_one(port, 0);
	assert_int_equal(m->nb_segs, 1);
	assert_int_equal(m->pkt_len, OCTO_PORT_FRAME_LEN - HEADERS);
	assert_int_equal(m->data_len, m->pkt_len);
	assert_ptr_equal(m->pool, pool);
	assert_true(m->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_GOOD);
	rte_pktmbuf_free(m);
	assert_received(port, 1, OCTO_PORT_FRAME_LEN - HEADERS);
}

/* Bytes after the last segment are like those of it. */
static void
test_a_middle_is_discarded(void **state)
{
	union rte_eth_rxseg seg[] = {{.split = {.mp = pool, .length = 20}},
				     {.split = {.length = 22}},
				     {.split = {.mp = pool, .length = 8}}};
	const uint16_t port = start_pf(seg, 3);
	struct rte_mbuf *m;

	(void)state;
	octo_port_send(port, 0, FLOW, 1);
	m = octo_port_receive_one(port, 0);
	assert_int_equal(m->nb_segs, 3);
	assert_int_equal(m->pkt_len, OCTO_PORT_FRAME_LEN - 22);
	assert_int_equal(m->data_len, 20);
	assert_int_equal(m->next->data_len, 8);
	assert_int_equal(m->next->next->data_len, OCTO_PORT_FRAME_LEN - 50);
	rte_pktmbuf_free(m);
}

/* As by net_mlx5. */
static void
test_a_frame_of_which_nothing_is_left(void **state)
{
	union rte_eth_rxseg seg[] = {{.split = {.length = OCTO_PORT_FRAME_LEN}},
				     {.split = {.mp = pool}}};
	const uint16_t port = start_pf(seg, 2);
	struct rte_mbuf *m;

	(void)state;
	octo_port_send(port, 0, FLOW, 1);
	for (int i = 0; i < 100; i++)
		assert_int_equal(rte_eth_rx_burst(port, 0, &m, 1), 0);
	assert_received(port, 0, 0);
	assert_true(rte_mempool_full(pool));
}

/* ethdev: the rest is in the last valid pool, and that is not the discarded one. */
static void
test_other_headers_are_kept(void **state)
{
	union rte_eth_rxseg seg[] = {
		{.split = {.mp = pool,
			   .proto_hdr = RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6_EXT_UNKNOWN}},
		{.split = {0}}};
	const uint16_t port = start_pf(seg, 2);
	struct rte_mbuf *m;

	(void)state;
	assert_int_equal(octo_port_send_numbered(port, 0, FLOW, NUMBER, 1), 1);
	m = octo_port_receive_one(port, 0);
	octo_port_assert_intact(m, port, FLOW, NUMBER);
	rte_pktmbuf_free(m);
}

static struct rte_mbuf *
exchange_tagged(uint16_t port)
{
	struct rte_mbuf *m;

	octo_port_make(port, FLOW, &m, 1);
	m->vlan_tci = 5;
	assert_int_equal(rte_vlan_insert(&m), 0);
	assert_int_equal(rte_eth_tx_burst(port, 0, &m, 1), 1);
	return octo_port_receive_one(port, 0);
}

static void
test_a_tag_is_discarded(void **state)
{
	union rte_eth_rxseg seg[] = {{.split = {.length = 18}}, {.split = {.mp = pool}}};
	struct rte_mbuf *m = exchange_tagged(start_pf(seg, 2));

	(void)state;
	assert_int_equal(m->vlan_tci, 5);
	assert_int_equal(m->ol_flags & (RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED),
			 RTE_MBUF_F_RX_VLAN);
	assert_int_equal(m->pkt_len, OCTO_PORT_FRAME_LEN - RTE_ETHER_HDR_LEN);
	rte_pktmbuf_free(m);
}

static void
test_a_pf_without_it(void **state)
{
	const struct octo_port_conf conf = {.nb_pfs = 1, .all = "caps=-selective"};
	union rte_eth_rxseg seg[] = {{.split = {.mp = pool, .length = HEADERS}}, {.split = {0}}};
	struct rte_eth_dev_info info;

	(void)state;
	octo_port_add_pfs(&conf);
	assert_int_equal(rte_eth_dev_info_get(octo_port_pf(0), &info), 0);
	assert_true(info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT);
	assert_int_equal(info.rx_seg_capa.selective_rx, 0);
	assert_int_equal(setup_queue(octo_port_pf(0), seg, 2), -EINVAL);
}

#define selective_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		selective_test(test_payload_is_discarded),
		selective_test(test_headers_are_discarded),
		selective_test(test_a_middle_is_discarded),
		selective_test(test_a_frame_of_which_nothing_is_left),
		selective_test(test_other_headers_are_kept),
		selective_test(test_a_tag_is_discarded),
		selective_test(test_a_pf_without_it),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
