/* SPDX-License-Identifier: BSD-3-Clause */

/* Selective Rx (DPDK 26.07): every leg discards the segments that have no pool. */

#include <errno.h>
#include <string.h>

#include <rte_mbuf.h>

#include "octo_port.h"
#include "octo_port_fault.h"

#define FLOW 7
#define HEADERS 42

enum kept {
	KEEP_HEADERS,
	KEEP_PAYLOAD,
};

static const struct octo_port_conf plain = {0};
static const struct octo_port_conf replugging = {.replug = true};
static const struct octo_port_conf cloning = {.two_nodes = true, .octo = "pools=local"};
static struct rte_mempool *pool;

static int
setup(void **state)
{
	pool = rte_pktmbuf_pool_create("segment", 1023, 0, 0, 2048, SOCKET_ID_ANY);
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
setup_rx(uint16_t port, uint16_t queue, uint16_t nb_desc, enum kept kept)
{
	union rte_eth_rxseg seg[2] = {{.split = {.length = HEADERS}}, {.split = {0}}};
	const struct rte_eth_rxconf conf = {.rx_seg = seg, .rx_nseg = 2};

	seg[kept].split.mp = pool;
	return rte_eth_rx_queue_setup(port, queue, nb_desc, 0, &conf, NULL);
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
up(const struct octo_port_conf *conf, uint16_t nb, enum kept kept)
{
	const uint16_t port = octo_port_create(conf);

	configure(port, nb, 0);
	for (uint16_t q = 0; q < nb; q++) {
		assert_int_equal(setup_rx(port, q, OCTO_PORT_NB_DESC / 4, kept), 0);
		assert_int_equal(rte_eth_tx_queue_setup(port, q, OCTO_PORT_NB_DESC, 0, NULL), 0);
	}
	assert_int_equal(rte_eth_dev_start(port), 0);
	return port;
}

static void
assert_kept(uint16_t port, uint16_t flow, uint16_t queue, uint16_t len,
	    const struct rte_mempool *from)
{
	struct rte_mbuf *m;

	octo_port_send(port, 0, flow, 1);
	m = octo_port_receive_one(port, queue);
	assert_int_equal(m->port, port);
	assert_int_equal(m->nb_segs, 1);
	assert_int_equal(m->pkt_len, len);
	assert_ptr_equal(m->pool, from);
	rte_pktmbuf_free(m);
}

static bool
is_offered(uint16_t port)
{
	struct rte_eth_dev_info info;

	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_int_equal(info.rx_seg_capa.max_nseg, 8);
	return info.rx_seg_capa.selective_rx;
}

static void
test_it_is_offered(void **state)
{
	(void)state;
	assert_true(is_offered(octo_port_create(&plain)));
}

static void
test_a_pf_without_it(void **state)
{
	static const struct octo_port_conf one_lacks = {.pf = {[1] = "caps=-selective"}};
	const uint16_t port = octo_port_create(&one_lacks);

	(void)state;
	assert_false(is_offered(port));
	configure(port, 1, 0);
	assert_int_equal(setup_rx(port, 0, OCTO_PORT_NB_DESC, KEEP_HEADERS), -EINVAL);
}

static void
test_payload_is_discarded_by_every_leg(void **state)
{
	const uint16_t port = up(&plain, 1, KEEP_HEADERS);

	(void)state;
	for (unsigned int pf = 0; pf < 2; pf++) {
		assert_non_null(octo_port_overrule(FLOW + pf, pf));
		assert_kept(port, FLOW + pf, 0, HEADERS, pool);
	}
	assert_int_equal(octo_port_strays(port), 1);
}

static void
test_headers_are_discarded_by_every_leg(void **state)
{
	const uint16_t port = up(&plain, 1, KEEP_PAYLOAD);
	struct rte_eth_rxq_info info;

	(void)state;
	for (unsigned int pf = 0; pf < 2; pf++) {
		assert_non_null(octo_port_overrule(FLOW + pf, pf));
		assert_kept(port, FLOW + pf, 0, OCTO_PORT_FRAME_LEN - HEADERS, pool);
	}
	assert_int_equal(rte_eth_rx_queue_info_get(port, 0, &info), 0);
	assert_ptr_equal(info.mp, pool);
	assert_null(info.conf.rx_seg[0].split.mp);
}

/* The first segment that is kept is in memory near to the PF. */
static void
test_what_is_kept_is_near_to_the_pf(void **state)
{
	static const uint16_t len[] = {HEADERS, OCTO_PORT_FRAME_LEN - HEADERS};
	struct rte_eth_rxq_info info;

	(void)state;
	for (unsigned int kept = KEEP_HEADERS; kept <= KEEP_PAYLOAD; kept++) {
		const uint16_t port = up(&cloning, 1, kept);

		for (unsigned int pf = 0; pf < 2; pf++) {
			assert_int_equal(rte_eth_rx_queue_info_get(octo_port_pf(pf), 0, &info), 0);
			assert_int_equal(info.mp != pool, pf == 1);
			assert_non_null(octo_port_overrule(FLOW + pf, pf));
			assert_kept(port, FLOW + pf, 0, len[kept], info.mp);
		}
		octo_port_destroy();
	}
}

static void
test_a_pf_that_returns_discards(void **state)
{
	const uint16_t port = up(&replugging, 2, KEEP_HEADERS);

	(void)state;
	assert_non_null(octo_port_steer(port, FLOW, 1, NULL));
	assert_kept(port, FLOW, 1, HEADERS, pool);
	octo_port_remove_pf(1);
	octo_port_await(octo_port_leads_to(port, FLOW, 1, 0));
	octo_port_add_pf(&replugging, 1);
	octo_port_await(octo_port_leads_to(port, FLOW, 1, 1));
	assert_kept(port, FLOW, 1, HEADERS, pool);
}

/* What was offered is not withdrawn. */
static void
test_a_pf_that_returns_without_it_stays_out(void **state)
{
	static const struct octo_port_conf lacking = {.replug = true,
						      .pf = {[1] = "caps=-selective"}};
	const uint16_t port = up(&replugging, 2, KEEP_HEADERS);

	(void)state;
	octo_port_remove_pf(1);
	octo_port_add_pf(&lacking, 1);
	octo_port_pass_us(1000000);
	assert_true(is_offered(port));
	assert_int_equal(octo_port_xstat(port, "replugs"), 0);
}

static void
test_slices(void **state)
{
	static const struct octo_port_conf contiguous = {.contiguous = true};
	const uint16_t port = up(&contiguous, 2, KEEP_HEADERS);

	(void)state;
	for (uint16_t q = 0; q < 2; q++) {
		assert_non_null(octo_port_steer(port, FLOW + q, q, NULL));
		assert_kept(port, FLOW + q, q, HEADERS, pool);
	}
}

/* The pool has room for the rings of two legs, and not for twice as many. */
static void
test_rings_hold_no_discarded_segments(void **state)
{
	const uint16_t port = octo_port_create(&plain);
	struct rte_eth_rxq_info info;

	(void)state;
	configure(port, 1, 0);
	assert_int_equal(setup_rx(port, 0, 256, KEEP_HEADERS), 0);
	assert_int_equal(rte_eth_tx_queue_setup(port, 0, 256, 0, NULL), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_int_equal(rte_eth_rx_queue_info_get(port, 0, &info), 0);
	assert_int_equal(info.nb_desc, 256);
}

static void
test_one_pool_is_freed_fast(void **state)
{
	const uint16_t port = octo_port_create(&plain);

	(void)state;
	configure(port, 1, RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE);
	assert_int_equal(setup_rx(port, 0, OCTO_PORT_NB_DESC, KEEP_HEADERS), 0);
	assert_int_equal(setup_rx(port, 0, OCTO_PORT_NB_DESC, KEEP_PAYLOAD), 0);
}

/* Copies are told by the destination address. */
static void
test_tier_mac_wants_the_first_segment(void **state)
{
	static const struct octo_port_conf by_mac = {.nic = "switch=mac", .octo = "tier=mac"};
	const uint16_t port = octo_port_create(&by_mac);

	(void)state;
	configure(port, 1, 0);
	assert_int_equal(setup_rx(port, 0, OCTO_PORT_NB_DESC, KEEP_PAYLOAD), -EINVAL);
	assert_int_equal(setup_rx(port, 0, OCTO_PORT_NB_DESC, KEEP_HEADERS), 0);
}

/* Packets of queue 0 come by PF 1. Returns how many samples they were. */
static uint64_t
sampled(enum kept kept)
{
	static const struct octo_port_conf learning = {.learn = true, .nic = "default_pf=1"};
	const uint16_t port = up(&learning, 1, kept);
	struct rte_mbuf *pkts[32];

	for (int i = 0; i < 200; i++) {
		octo_port_send(port, 0, FLOW, 8);
		rte_pktmbuf_free_bulk(pkts, rte_eth_rx_burst(port, 0, pkts, RTE_DIM(pkts)));
		octo_port_pass_us(1000);
	}
	assert_true(octo_port_strays(port) > 0);
	return octo_port_xstat(port, "learned_flows");
}

/* The first segment has all that is needed; the payload would be taken for headers. */
static void
test_headers_teach(void **state)
{
	(void)state;
	assert_int_equal(sampled(KEEP_HEADERS), 1);
}

static void
test_payload_does_not_teach(void **state)
{
	(void)state;
	assert_int_equal(sampled(KEEP_PAYLOAD), 0);
}

#define selective_test(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		selective_test(test_it_is_offered),
		selective_test(test_a_pf_without_it),
		selective_test(test_payload_is_discarded_by_every_leg),
		selective_test(test_headers_are_discarded_by_every_leg),
		selective_test(test_what_is_kept_is_near_to_the_pf),
		selective_test(test_a_pf_that_returns_discards),
		selective_test(test_a_pf_that_returns_without_it_stays_out),
		selective_test(test_slices),
		selective_test(test_rings_hold_no_discarded_segments),
		selective_test(test_one_pool_is_freed_fast),
		selective_test(test_tier_mac_wants_the_first_segment),
		selective_test(test_headers_teach),
		selective_test(test_payload_does_not_teach),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
