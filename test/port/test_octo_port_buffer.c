/* SPDX-License-Identifier: BSD-3-Clause */

/* tx_pf=mbuf: packets, and with hints segments, leave by the PF near their buffers. */

#include "octo_port.h"

#define FLOW 7
#define BIG 1000
#define SMALL 100

/* Pools that were made for node 0 and for node 1. */
static struct rte_mempool *pools[2];

static int
group_setup(void **state)
{
	static const char *const names[2] = {"near0", "near1"};

	if (octo_port_group_setup(state) != 0)
		return -1;
	for (int node = 0; node < 2; node++) {
		pools[node] = rte_pktmbuf_pool_create(names[node], 511, 0, 0,
						      RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
		if (pools[node] == NULL)
			return -1;
		/* where there is one node only, none can be made for another */
		pools[node]->socket_id = node;
	}
	return 0;
}

static int
group_teardown(void **state)
{
	for (int node = 0; node < 2; node++) {
		if (rte_mempool_in_use_count(pools[node]) != 0)
			return -1;
		rte_mempool_free(pools[node]);
	}
	return octo_port_group_teardown(state);
}

/* Of octo_port_make(), but for where its buffer is. */
static struct rte_mbuf *
make(uint16_t port, int node)
{
	struct rte_mbuf *m, *copy;

	octo_port_make(port, FLOW, &m, 1);
	copy = rte_pktmbuf_copy(m, pools[node], 0, UINT32_MAX);
	assert_non_null(copy);
	rte_pktmbuf_free(m);
	return copy;
}

static struct rte_mbuf *
add_segment(struct rte_mbuf *m, int node, uint16_t len)
{
	struct rte_mbuf *seg = rte_pktmbuf_alloc(pools[node]);

	assert_non_null(seg);
	assert_non_null(rte_pktmbuf_append(seg, len));
	assert_int_equal(rte_pktmbuf_chain(m, seg), 0);
	return seg;
}

static uint16_t
start(const struct octo_port_conf *conf)
{
	uint16_t port = octo_port_create(conf);

	octo_port_up(port, 2);
	return port;
}

static void
send_all(uint16_t port, struct rte_mbuf **pkts, uint16_t n)
{
	uint64_t seen = 0;

	assert_int_equal(rte_eth_tx_burst(port, 0, pkts, n), n);
	for (int tries = 0; tries < 100 && seen < n; tries++) {
		for (uint16_t q = 0; q < 2; q++) {
			uint16_t got = rte_eth_rx_burst(port, q, pkts, 32);

			rte_pktmbuf_free_bulk(pkts, got);
			seen += got;
		}
	}
	assert_int_equal(seen, n);
}

static uint64_t
crossing(void)
{
	return octo_port_xstat(octo_port_pf(0), "tx_cross_node_bytes") +
	       octo_port_xstat(octo_port_pf(1), "tx_cross_node_bytes");
}

#define CONF(...)                                                                                  \
	{                                                                                          \
		.two_nodes = true, .octo = "tx_pf=mbuf", __VA_ARGS__                               \
	}

static void
test_packets_leave_by_the_pf_near_their_buffer(void **state)
{
	static const int nodes[] = {0, 0, 1, 1, 1, 0, 1};
	const struct octo_port_conf conf = CONF(.all = "tx_nodes=count");
	uint16_t port = start(&conf);
	struct rte_mbuf *pkts[32];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(nodes); i++)
		pkts[i] = make(port, nodes[i]);
	send_all(port, pkts, RTE_DIM(nodes));
	assert_int_equal(octo_port_xstat(port, "tx_q0_pf0_packets"), 3);
	assert_int_equal(octo_port_xstat(port, "tx_q0_pf1_packets"), 4);
	assert_int_equal(octo_port_xstat(octo_port_pf(0), "tx_fetched_bytes"),
			 3 * OCTO_PORT_FRAME_LEN);
	assert_int_equal(crossing(), 0);
}

/* What the test above counts is not always 0. */
static void
test_by_lcore_they_leave_by_one(void **state)
{
	const struct octo_port_conf conf = {
		.two_nodes = true,
		.octo = "tx_pf=lcore",
		.all = "tx_nodes=count",
	};
	uint16_t port;
	struct rte_mbuf *pkts[32];

	(void)state;
	octo_port_run_on(0);
	port = start(&conf);
	pkts[0] = make(port, 0);
	pkts[1] = make(port, 1);
	send_all(port, pkts, 2);
	assert_int_equal(octo_port_xstat(port, "tx_q0_pf0_packets"), 2);
	assert_int_equal(crossing(), OCTO_PORT_FRAME_LEN);
}

static void
test_buffers_of_no_node_leave_by_the_senders_pf(void **state)
{
	const struct octo_port_conf conf = CONF();
	struct octo_port_tally tally = {0};
	uint16_t port;

	(void)state;
	octo_port_run_on(0);
	port = start(&conf);
	octo_port_send(port, 0, FLOW, 10);
	assert_int_equal(octo_port_xstat(port, "tx_q0_pf0_packets"), 10);
	octo_port_await((octo_port_poll(port, 0, 32, &tally), octo_port_poll(port, 1, 32, &tally),
			 tally.packets == 10));
}

static void
test_what_is_near_a_dead_pf_leaves_by_another(void **state)
{
	const struct octo_port_conf conf = CONF(.all = "tx_nodes=count");
	uint16_t port = start(&conf);
	struct rte_mbuf *pkts[32];

	(void)state;
	pkts[0] = make(port, 1);
	send_all(port, pkts, 1);
	octo_port_remove_pf(1);
	pkts[0] = make(port, 1);
	pkts[1] = make(port, 0);
	send_all(port, pkts, 2);
	assert_int_equal(octo_port_xstat(port, "tx_q0_pf0_packets"), 2);
	assert_int_equal(octo_port_xstat(octo_port_pf(0), "tx_cross_node_bytes"),
			 OCTO_PORT_FRAME_LEN);
}

/* No PF follows hints: the packet goes where most of it is. */
static void
test_a_chain_leaves_by_the_pf_that_crosses_least(void **state)
{
	const struct octo_port_conf conf = CONF(.all = "tx_nodes=count");
	uint16_t port = start(&conf);
	struct rte_mbuf *pkts[32];

	(void)state;
	pkts[0] = make(port, 0);
	add_segment(pkts[0], 1, BIG);
	pkts[1] = make(port, 1);
	add_segment(pkts[1], 0, BIG);
	add_segment(pkts[1], 1, SMALL);
	send_all(port, pkts, 2);
	assert_int_equal(octo_port_xstat(port, "tx_q0_pf0_packets"), 1);
	assert_int_equal(octo_port_xstat(port, "tx_q0_pf1_packets"), 1);
	assert_int_equal(octo_port_xstat(port, "tx_sg_crossing_bytes"),
			 2 * OCTO_PORT_FRAME_LEN + SMALL);
	assert_int_equal(octo_port_xstat(port, "tx_sg_hinted_packets"), 0);
	assert_int_equal(crossing(), 2 * OCTO_PORT_FRAME_LEN + SMALL);
}

/* All do: it goes by the sender's, and each segment crosses by its own. */
static void
test_each_segment_is_fetched_by_the_pf_near_it(void **state)
{
	const struct octo_port_conf conf = CONF(.all = "tx_nodes=hint");
	struct rte_mbuf *pkts[32];
	uint16_t port;

	(void)state;
	octo_port_run_on(0);
	port = start(&conf);
	pkts[0] = make(port, 0);
	add_segment(pkts[0], 1, BIG);
	add_segment(pkts[0], 0, SMALL);
	send_all(port, pkts, 1);
	assert_int_equal(octo_port_xstat(port, "tx_q0_pf0_packets"), 1);
	assert_int_equal(octo_port_xstat(port, "tx_sg_hinted_packets"), 1);
	assert_int_equal(octo_port_xstat(port, "tx_sg_crossing_bytes"), 0);
	assert_int_equal(octo_port_xstat(octo_port_pf(0), "tx_fetched_bytes"),
			 OCTO_PORT_FRAME_LEN + SMALL);
	assert_int_equal(octo_port_xstat(octo_port_pf(1), "tx_fetched_bytes"), BIG);
	assert_int_equal(crossing(), 0);
}

/* A chain of one node needs no hint, whatever PF it is near. */
static void
test_a_chain_of_one_node_leaves_by_its_pf(void **state)
{
	const struct octo_port_conf conf = CONF(.all = "tx_nodes=hint");
	struct rte_mbuf *pkts[32];
	uint16_t port;

	(void)state;
	octo_port_run_on(0);
	port = start(&conf);
	pkts[0] = make(port, 1);
	add_segment(pkts[0], 1, BIG);
	send_all(port, pkts, 1);
	assert_int_equal(octo_port_xstat(port, "tx_q0_pf1_packets"), 1);
	assert_int_equal(octo_port_xstat(port, "tx_sg_hinted_packets"), 0);
	assert_int_equal(crossing(), 0);
}

/* The sender's PF does not, the one that has most of the packet does. */
static void
test_one_pf_may_follow_hints_alone(void **state)
{
	const struct octo_port_conf conf = CONF(.pf = {"tx_nodes=count", "tx_nodes=hint"});
	struct rte_mbuf *pkts[32];
	uint16_t port;

	(void)state;
	octo_port_run_on(0);
	port = start(&conf);
	pkts[0] = make(port, 0);
	add_segment(pkts[0], 1, BIG);
	pkts[1] = make(port, 0);
	add_segment(pkts[1], 1, SMALL / 10);
	send_all(port, pkts, 2);
	assert_int_equal(octo_port_xstat(port, "tx_q0_pf0_packets"), 1);
	assert_int_equal(octo_port_xstat(port, "tx_q0_pf1_packets"), 1);
	assert_int_equal(octo_port_xstat(port, "tx_sg_hinted_packets"), 1);
	assert_int_equal(crossing(), SMALL / 10);
}

/* Another packet has the segment as well: nothing is written into it. */
static void
test_a_shared_segment_gets_no_hint(void **state)
{
	const struct octo_port_conf conf = CONF(.all = "tx_nodes=hint");
	struct rte_mbuf *pkts[32], *seg;
	uint16_t port;

	(void)state;
	octo_port_run_on(0);
	port = start(&conf);
	pkts[0] = make(port, 0);
	seg = add_segment(pkts[0], 1, BIG);
	rte_mbuf_refcnt_update(seg, 1);
	send_all(port, pkts, 1);
	assert_int_equal(octo_port_xstat(port, "tx_q0_pf1_packets"), 1);
	assert_int_equal(octo_port_xstat(port, "tx_sg_hinted_packets"), 0);
	assert_int_equal(crossing(), OCTO_PORT_FRAME_LEN);
	rte_pktmbuf_free(seg);
}

/* Buffers whose node nobody knows leave by the sender's PF, also after the queue was stopped. */
static void
test_a_stopped_queue_leaves_no_pf_that_is_gone(void **state)
{
	const struct octo_port_conf conf = CONF(.all = "");
	uint16_t port = start(&conf);
	struct rte_mbuf *m;

	(void)state;
	octo_port_remove_pf(0);
	for (int i = 0; i < 3; i++) {
		m = make(port, 0);
		assert_int_equal(rte_eth_tx_burst(port, 0, &m, 1), 1);
		assert_int_equal(rte_eth_dev_tx_queue_stop(port, 0), 0);
		assert_int_equal(rte_eth_dev_tx_queue_start(port, 0), 0);
	}
	pools[1]->socket_id = SOCKET_ID_ANY;
	for (int i = 0; i < 2; i++) {
		m = make(port, 1);
		assert_int_equal(rte_eth_tx_burst(port, 0, &m, 1), 1);
	}
	pools[1]->socket_id = 1;
}

static unsigned int taken;

static uint16_t
take_all(void *queue, struct rte_mbuf **pkts, uint16_t nb)
{
	RTE_SET_USED(queue);
	RTE_SET_USED(pkts);
	taken += nb;
	/* there would be no end of them */
	assert_true(taken <= UINT16_MAX);
	return nb;
}

/* Each packet is sent once. */
static void
test_the_largest_burst(void **state)
{
	static struct rte_mbuf *pkts[UINT16_MAX];
	const struct octo_port_conf conf = CONF();
	uint16_t port = start(&conf);
	struct rte_mbuf *m = make(port, 0);

	(void)state;
	rte_eth_fp_ops[octo_port_pf(0)].tx_pkt_burst = take_all;
	for (unsigned int i = 0; i < RTE_DIM(pkts); i++)
		pkts[i] = m;
	taken = 0;
	assert_int_equal(rte_eth_tx_burst(port, 0, pkts, UINT16_MAX), UINT16_MAX);
	assert_int_equal(taken, UINT16_MAX);
	rte_pktmbuf_free(m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_packets_leave_by_the_pf_near_their_buffer),
		octo_port_test(test_by_lcore_they_leave_by_one),
		octo_port_test(test_buffers_of_no_node_leave_by_the_senders_pf),
		octo_port_test(test_what_is_near_a_dead_pf_leaves_by_another),
		octo_port_test(test_a_chain_leaves_by_the_pf_that_crosses_least),
		octo_port_test(test_each_segment_is_fetched_by_the_pf_near_it),
		octo_port_test(test_a_chain_of_one_node_leaves_by_its_pf),
		octo_port_test(test_one_pf_may_follow_hints_alone),
		octo_port_test(test_a_shared_segment_gets_no_hint),
		octo_port_test(test_a_stopped_queue_leaves_no_pf_that_is_gone),
		octo_port_test(test_the_largest_burst),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
