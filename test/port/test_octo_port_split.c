/* SPDX-License-Identifier: BSD-3-Clause */

/* Buffer split: packets are split alike by every leg, and each segment is in the right pool. */

#include <errno.h>
#include <string.h>

#include <ethdev_driver.h>
#include <rte_mbuf.h>

#include "octo_port.h"
#include "octo_port_fault.h"

#include "octo_private.h"

#define FLOW 7
#define NUMBER 0x01020304
#define HEADERS 42

static const struct octo_port_conf plain = {0};
static const struct octo_port_conf replugging = {.replug = true};
static const struct octo_port_conf cloning = {.two_nodes = true, .octo = "pools=local"};
static struct rte_mempool *headers, *payload;

static int
setup(void **state)
{
	headers = rte_pktmbuf_pool_create("headers", 8191, 0, 0, 512, SOCKET_ID_ANY);
	payload = rte_pktmbuf_pool_create("payload", 8191, 0, 0, 2048, SOCKET_ID_ANY);
	assert_non_null(headers);
	assert_non_null(payload);
	return octo_port_setup(state);
}

static int
teardown(void **state)
{
	int ret = octo_port_teardown(state);

	if (!rte_mempool_full(headers) || !rte_mempool_full(payload))
		ret = -1;
	rte_mempool_free(headers);
	rte_mempool_free(payload);
	return ret;
}

/* The list of segments is gone after the call. */
static int
setup_rx(uint16_t port, uint16_t queue)
{
	union rte_eth_rxseg seg[2] = {{.split = {.mp = headers, .length = HEADERS}},
				      {.split = {.mp = payload}}};
	const struct rte_eth_rxconf conf = {.rx_seg = seg, .rx_nseg = 2};
	const int ret = rte_eth_rx_queue_setup(port, queue, OCTO_PORT_NB_DESC, 0, &conf, NULL);

	memset(seg, 0, sizeof(seg));
	return ret;
}

static void
configure(uint16_t port, uint16_t nb, uint64_t tx_offloads)
{
	const struct rte_eth_conf conf = {
		.rxmode = {.offloads = RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT},
		.txmode = {.offloads = tx_offloads},
	};

	assert_int_equal(rte_eth_dev_configure(port, nb, nb, &conf), 0);
}

static uint16_t
up(const struct octo_port_conf *conf, uint16_t nb)
{
	const uint16_t port = octo_port_create(conf);

	configure(port, nb, 0);
	for (uint16_t q = 0; q < nb; q++) {
		assert_int_equal(setup_rx(port, q), 0);
		assert_int_equal(rte_eth_tx_queue_setup(port, q, OCTO_PORT_NB_DESC, 0, NULL), 0);
	}
	assert_int_equal(rte_eth_dev_start(port), 0);
	return port;
}

/* A packet of the flow, by this queue, with its headers in a pool. */
static void
assert_split(uint16_t port, uint16_t flow, uint16_t queue, const struct rte_mempool *pool)
{
	struct rte_mbuf *m;

	assert_int_equal(octo_port_send_numbered(port, 0, flow, NUMBER, 1), 1);
	m = octo_port_receive_one(port, queue);
	octo_port_assert_intact(m, port, flow, NUMBER);
	assert_int_equal(m->nb_segs, 2);
	assert_int_equal(m->data_len, HEADERS);
	assert_ptr_equal(m->pool, pool);
	assert_ptr_equal(m->next->pool, payload);
	rte_pktmbuf_free(m);
}

static void
test_the_port_offers_what_its_pfs_can(void **state)
{
	uint32_t of_pf[16], of_port[16];
	struct rte_eth_dev_info info;
	uint16_t port;
	int n;

	(void)state;
	octo_port_add_pfs(&plain);
	octo_port_faults_on(1)->max_segs = 3;
	port = octo_port_add(&plain);
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_true(info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT);
	assert_int_equal(info.rx_seg_capa.max_nseg, 3);
	assert_int_equal(info.rx_seg_capa.multi_pools, 1);
	assert_int_equal(info.rx_seg_capa.offset_allowed, 1);
	n = rte_eth_buffer_split_get_supported_hdr_ptypes(octo_port_pf(0), of_pf, RTE_DIM(of_pf));
	assert_true(n > 0);
	assert_int_equal(
		rte_eth_buffer_split_get_supported_hdr_ptypes(port, of_port, RTE_DIM(of_port)), n);
	assert_memory_equal(of_pf, of_port, n * sizeof(*of_pf));
}

static void
test_a_pf_without_it(void **state)
{
	static const struct octo_port_conf one_lacks = {.pf = {[1] = "caps=-split"}};
	const struct rte_eth_conf conf = {.rxmode = {.offloads = RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT}};
	uint16_t port = octo_port_create(&one_lacks);
	struct rte_eth_dev_info info;

	(void)state;
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_int_equal(info.rx_seg_capa.max_nseg, 0);
	assert_int_equal(rte_eth_dev_configure(port, 1, 1, &conf), -EINVAL);
	octo_port_up(port, 1);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(setup_rx(port, 0), -EINVAL);
}

/* Wherever the switch sends the flow. */
static void
test_packets_are_split_by_every_leg(void **state)
{
	uint16_t port = up(&plain, 1);

	(void)state;
	for (unsigned int pf = 0; pf < 2; pf++) {
		assert_non_null(octo_port_overrule(FLOW + pf, pf));
		assert_split(port, FLOW + pf, 0, headers);
	}
	assert_int_equal(octo_port_strays(port), 1);
}

static void
test_headers_are_near_to_the_pf(void **state)
{
	uint16_t port = up(&cloning, 1);
	struct rte_eth_rxq_info info;

	(void)state;
	for (unsigned int pf = 0; pf < 2; pf++) {
		assert_int_equal(rte_eth_rx_queue_info_get(octo_port_pf(pf), 0, &info), 0);
		assert_int_equal(info.mp != headers, pf == 1);
		assert_non_null(octo_port_overrule(FLOW + pf, pf));
		assert_split(port, FLOW + pf, 0, info.mp);
	}
}

static void
test_a_pf_that_returns_splits(void **state)
{
	uint16_t port = up(&replugging, 2);

	(void)state;
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	assert_split(port, FLOW, 1, headers);
	octo_port_remove_pf(1);
	octo_port_await(octo_port_leads_to(port, FLOW, 1, 0));
	assert_split(port, FLOW, 1, headers);
	octo_port_add_pf(&replugging, 1);
	octo_port_await(octo_port_leads_to(port, FLOW, 1, 1));
	assert_split(port, FLOW, 1, headers);
}

/* Idle queues between the slices are set up, too. */
static void
test_slices(void **state)
{
	static const struct octo_port_conf contiguous = {.contiguous = true};
	uint16_t port = up(&contiguous, 2);

	(void)state;
	for (uint16_t q = 0; q < 2; q++) {
		assert_non_null(octo_port_steer(port, FLOW + q, q, NULL));
		assert_split(port, FLOW + q, q, headers);
	}
}

static void
test_the_queue_tells_its_segments(void **state)
{
	uint16_t port = up(&plain, 1);
	struct rte_eth_rxq_info info;

	(void)state;
	assert_int_equal(rte_eth_rx_queue_info_get(port, 0, &info), 0);
	assert_ptr_equal(info.mp, headers);
	assert_int_equal(info.conf.rx_nseg, 2);
	assert_int_equal(info.conf.rx_seg[0].split.length, HEADERS);
	assert_ptr_equal(info.conf.rx_seg[1].split.mp, payload);
}

/* Of two legs each fills a ring of 512 from either pool. */
static void
test_rings_are_as_large_as_each_pool_allows(void **state)
{
	struct rte_mempool *large = payload;
	struct rte_eth_rxq_info info;
	uint16_t port;

	(void)state;
	payload = rte_pktmbuf_pool_create("small", 1023, 0, 0, 2048, SOCKET_ID_ANY);
	port = up(&plain, 1);
	assert_int_equal(rte_eth_rx_queue_info_get(port, 0, &info), 0);
	assert_int_equal(info.nb_desc, OCTO_PORT_NB_DESC / 2);
	octo_port_destroy();
	rte_mempool_free(payload);
	payload = large;
	port = up(&plain, 1);
	assert_int_equal(rte_eth_rx_queue_info_get(port, 0, &info), 0);
	assert_int_equal(info.nb_desc, OCTO_PORT_NB_DESC);
}

static void
test_segments_of_several_pools_are_not_freed_fast(void **state)
{
	uint16_t port = octo_port_create(&plain);
	struct rte_mempool *other = payload;

	(void)state;
	configure(port, 1, RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE);
	assert_int_equal(setup_rx(port, 0), -EINVAL);
	payload = headers;
	assert_int_equal(setup_rx(port, 0), 0);
	payload = other;
}

/* The simulated NIC refuses so short a segment itself. */
static void
test_tier_mac_needs_the_address(void **state)
{
	static const struct octo_port_conf by_mac = {.nic = "switch=mac", .octo = "tier=mac"};
	const uint16_t port = octo_port_create(&by_mac);
	struct octo_dev *octo = rte_eth_devices[port].data->dev_private;
	struct octo_rxq q = {
		.conf.rx_nseg = 2,
		.seg = {{.split = {.mp = headers, .length = 5}}, {.split = {.mp = payload}}},
	};

	(void)state;
	assert_int_equal(octo_segments_check(octo, &q), -EINVAL);
	q.seg[0].split.length = 6;
	assert_int_equal(octo_segments_check(octo, &q), 0);
	/* after headers, or all that there is room for */
	q.seg[0].split.length = 0;
	assert_int_equal(octo_segments_check(octo, &q), 0);
	octo->macs.reserved = false;
	q.seg[0].split.length = 5;
	assert_int_equal(octo_segments_check(octo, &q), 0);
}

#define split_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		split_test(test_the_port_offers_what_its_pfs_can),
		split_test(test_a_pf_without_it),
		split_test(test_packets_are_split_by_every_leg),
		split_test(test_headers_are_near_to_the_pf),
		split_test(test_a_pf_that_returns_splits),
		split_test(test_slices),
		split_test(test_the_queue_tells_its_segments),
		split_test(test_rings_are_as_large_as_each_pool_allows),
		split_test(test_segments_of_several_pools_are_not_freed_fast),
		split_test(test_tier_mac_needs_the_address),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
