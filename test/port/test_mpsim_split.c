/* SPDX-License-Identifier: BSD-3-Clause */

/* Buffer split of a PF of mpsim: by length and by headers. */

#include <errno.h>

#include <rte_mbuf.h>

#include "octo_port.h"

#define FLOW 7
#define NUMBER 0x01020304
#define BY_LAYERS(layers)                                                                          \
	{                                                                                          \
		.split = {.proto_hdr = (layers) }                                                  \
	}
#define BY_LENGTH(len, off)                                                                        \
	{                                                                                          \
		.split = {.length = (len), .offset = (off) }                                       \
	}

static const struct octo_port_conf plain = {.nb_pfs = 1};
static struct rte_mempool *pools[3];

static int
setup(void **state)
{
	char name[] = "segment_0";

	for (unsigned int i = 0; i < RTE_DIM(pools); i++) {
		name[8] = '0' + i;
		pools[i] = rte_pktmbuf_pool_create(name, 255, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
						   SOCKET_ID_ANY);
		assert_non_null(pools[i]);
	}
	return octo_port_setup(state);
}

static int
teardown(void **state)
{
	int ret = octo_port_teardown(state);

	for (unsigned int i = 0; i < RTE_DIM(pools); i++) {
		ret = rte_mempool_full(pools[i]) ? ret : -1;
		rte_mempool_free(pools[i]);
	}
	return ret;
}

/* A PF with one queue, that splits so, each segment in a pool of its own. */
static int
setup_queue(uint16_t port, union rte_eth_rxseg *seg, uint16_t nb)
{
	const struct rte_eth_rxconf rxconf = {
		.offloads = RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT | RTE_ETH_RX_OFFLOAD_IPV4_CKSUM |
			    RTE_ETH_RX_OFFLOAD_VLAN_STRIP,
		.rx_seg = seg,
		.rx_nseg = nb,
	};
	const struct rte_eth_conf conf = {0};

	for (uint16_t i = 0; i < nb; i++)
		seg[i].split.mp = pools[i];
	assert_int_equal(rte_eth_dev_configure(port, 1, 1, &conf), 0);
	return rte_eth_rx_queue_setup(port, 0, OCTO_PORT_NB_DESC, 0, &rxconf, NULL);
}

static uint16_t
start_pf(const struct octo_port_conf *conf, union rte_eth_rxseg *seg, uint16_t nb)
{
	uint16_t port;

	octo_port_add_pfs(conf);
	port = octo_port_pf(0);
	assert_int_equal(setup_queue(port, seg, nb), 0);
	assert_int_equal(rte_eth_tx_queue_setup(port, 0, OCTO_PORT_NB_DESC, 0, NULL), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	return port;
}

static void
assert_segment(const struct rte_mbuf *m, unsigned int pool, uint16_t len, uint16_t data_off)
{
	assert_non_null(m);
	assert_ptr_equal(m->pool, pools[pool]);
	assert_int_equal(m->data_len, len);
	assert_int_equal(m->data_off, data_off);
}

static void
test_by_length(void **state)
{
	union rte_eth_rxseg seg[] = {BY_LENGTH(20, 8), BY_LENGTH(10, 0), BY_LENGTH(16, 64)};
	uint16_t port = start_pf(&plain, seg, 3);
	struct rte_mbuf *m;

	(void)state;
	assert_int_equal(octo_port_send_numbered(port, 0, FLOW, NUMBER, 1), 1);
	m = octo_port_receive_one(port, 0);
	octo_port_assert_intact(m, port, FLOW, NUMBER);
	assert_int_equal(m->nb_segs, 4);
	assert_segment(m, 0, 20, RTE_PKTMBUF_HEADROOM + 8);
	assert_segment(m->next, 1, 10, 0);
	assert_segment(m->next->next, 2, 16, 64);
	/* more than the segments hold goes on in the last pool */
	assert_segment(m->next->next->next, 2, 14, 0);
	assert_true(m->ol_flags & RTE_MBUF_F_RX_IP_CKSUM_GOOD);
	rte_pktmbuf_free(m);
}

static void
test_a_short_frame_takes_no_more_buffers_than_it_needs(void **state)
{
	union rte_eth_rxseg seg[] = {BY_LENGTH(OCTO_PORT_FRAME_LEN, 0), BY_LENGTH(0, 0)};
	uint16_t port = start_pf(&plain, seg, 2);
	struct rte_mbuf *m;

	(void)state;
	assert_int_equal(octo_port_send_numbered(port, 0, FLOW, NUMBER, 1), 1);
	m = octo_port_receive_one(port, 0);
	octo_port_assert_intact(m, port, FLOW, NUMBER);
	assert_int_equal(m->nb_segs, 1);
	rte_pktmbuf_free(m);
}

static void
test_by_headers(void **state)
{
	union rte_eth_rxseg seg[] = {BY_LAYERS(RTE_PTYPE_L2_ETHER),
				     BY_LAYERS(RTE_PTYPE_L3_IPV4_EXT_UNKNOWN | RTE_PTYPE_L4_UDP),
				     BY_LENGTH(0, 0)};
	uint16_t port = start_pf(&plain, seg, 3);
	struct rte_mbuf *m;

	(void)state;
	assert_int_equal(octo_port_send_numbered(port, 0, FLOW, NUMBER, 1), 1);
	m = octo_port_receive_one(port, 0);
	octo_port_assert_intact(m, port, FLOW, NUMBER);
	assert_segment(m, 0, 14, RTE_PKTMBUF_HEADROOM);
	assert_segment(m->next, 1, 28, 0);
	assert_segment(m->next->next, 2, OCTO_PORT_FRAME_LEN - 42, 0);
	assert_null(m->next->next->next);
	rte_pktmbuf_free(m);
}

/* Up to the first header that is another one. */
static void
test_other_headers_are_in_the_last_pool(void **state)
{
	union rte_eth_rxseg tcp[] = {BY_LAYERS(RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4_EXT_UNKNOWN),
				     BY_LAYERS(RTE_PTYPE_L4_TCP), BY_LENGTH(0, 0)};
	union rte_eth_rxseg ipv6[] = {BY_LAYERS(RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6_EXT_UNKNOWN),
				      BY_LENGTH(0, 0)};
	uint16_t port = start_pf(&plain, tcp, 3);
	struct rte_mbuf *m;

	(void)state;
	assert_int_equal(octo_port_send_numbered(port, 0, FLOW, NUMBER, 1), 1);
	m = octo_port_receive_one(port, 0);
	octo_port_assert_intact(m, port, FLOW, NUMBER);
	assert_segment(m, 0, 34, RTE_PKTMBUF_HEADROOM);
	assert_segment(m->next, 2, OCTO_PORT_FRAME_LEN - 34, 0);
	rte_pktmbuf_free(m);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(setup_queue(port, ipv6, 2), 0);
	assert_int_equal(rte_eth_tx_queue_setup(port, 0, OCTO_PORT_NB_DESC, 0, NULL), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_int_equal(octo_port_send_numbered(port, 0, FLOW, NUMBER, 1), 1);
	m = octo_port_receive_one(port, 0);
	octo_port_assert_intact(m, port, FLOW, NUMBER);
	assert_segment(m, 1, OCTO_PORT_FRAME_LEN, 0);
	rte_pktmbuf_free(m);
}

/* A pool without buffers costs the frame, and nothing of the other pools. */
static void
test_a_pool_that_is_empty(void **state)
{
	union rte_eth_rxseg seg[] = {BY_LENGTH(20, 0), BY_LENGTH(0, 0)};
	uint16_t port = start_pf(&plain, seg, 2);
	struct rte_mbuf *all[255], *m;
	struct rte_eth_stats stats;

	(void)state;
	assert_int_equal(rte_pktmbuf_alloc_bulk(pools[1], all, RTE_DIM(all)), 0);
	octo_port_send(port, 0, FLOW, 1);
	octo_port_await((rte_eth_rx_burst(port, 0, &m, 1) == 0 &&
			 rte_eth_stats_get(port, &stats) == 0 && stats.rx_nombuf == 1));
	rte_pktmbuf_free_bulk(all, RTE_DIM(all));
	octo_port_send(port, 0, FLOW, 1);
	rte_pktmbuf_free(octo_port_receive_one(port, 0));
}

static void
test_a_first_segment_must_hold_a_tag(void **state)
{
	union rte_eth_rxseg seg[] = {BY_LENGTH(17, 0), BY_LENGTH(0, 0)};

	(void)state;
	octo_port_add_pfs(&plain);
	assert_int_equal(setup_queue(octo_port_pf(0), seg, 2), -EINVAL);
	seg[0].split.length = 18;
	assert_int_equal(setup_queue(octo_port_pf(0), seg, 2), 0);
}

static void
assert_not_offered(const char *args)
{
	const struct octo_port_conf conf = {.nb_pfs = 1, .all = args};
	union rte_eth_rxseg seg[] = {BY_LENGTH(20, 0), BY_LENGTH(0, 0)};
	struct rte_eth_dev_info info;

	octo_port_add_pfs(&conf);
	assert_int_equal(rte_eth_dev_info_get(octo_port_pf(0), &info), 0);
	assert_false(info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT);
	assert_int_equal(info.rx_seg_capa.max_nseg, 0);
	assert_int_equal(setup_queue(octo_port_pf(0), seg, 2), -EINVAL);
}

static void
test_a_pf_without_it(void **state)
{
	(void)state;
	assert_not_offered("caps=-split");
}

static void
test_posted_buffers_are_of_one_pool(void **state)
{
	(void)state;
	assert_not_offered("fill_rings=1");
}

#define split_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		split_test(test_by_length),
		split_test(test_a_short_frame_takes_no_more_buffers_than_it_needs),
		split_test(test_by_headers),
		split_test(test_other_headers_are_in_the_last_pool),
		split_test(test_a_pool_that_is_empty),
		split_test(test_a_first_segment_must_hold_a_tag),
		split_test(test_a_pf_without_it),
		split_test(test_posted_buffers_are_of_one_pool),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
