/* SPDX-License-Identifier: BSD-3-Clause */

/* Over PFs that claim every capability: each flag of ethdev is either served or hidden. */

#include <string.h>

#include <ethdev_driver.h>

#include "octo_port.h"
#include "octo_port_fault.h"

#define FLOW 7

/* A flag of ethdev by its name there. */
struct flag {
	const char *name;
	bool served;
};

/* The names are those of the newest ethdev: a flag that it adds is in no row. */
static const struct flag rx_flags[] = {
	{"VLAN_STRIP", true},       {"IPV4_CKSUM", true},      {"UDP_CKSUM", true},
	{"TCP_CKSUM", true},        {"TCP_LRO", true},         {"QINQ_STRIP", true},
	{"OUTER_IPV4_CKSUM", true}, {"MACSEC_STRIP", false},   {"HEADER_SPLIT", false},
	{"VLAN_FILTER", true},      {"VLAN_EXTEND", true},     {"SCATTER", true},
	{"TIMESTAMP", false},       {"SECURITY", false},       {"KEEP_CRC", true},
	{"SCTP_CKSUM", true},       {"OUTER_UDP_CKSUM", true}, {"RSS_HASH", true},
	{"BUFFER_SPLIT", true},
};

static const struct flag tx_flags[] = {
	{"VLAN_INSERT", true},     {"IPV4_CKSUM", true},
	{"UDP_CKSUM", true},       {"TCP_CKSUM", true},
	{"SCTP_CKSUM", true},      {"TCP_TSO", true},
	{"UDP_TSO", true},         {"OUTER_IPV4_CKSUM", true},
	{"QINQ_INSERT", true},     {"VXLAN_TNL_TSO", true},
	{"GRE_TNL_TSO", true},     {"IPIP_TNL_TSO", true},
	{"GENEVE_TNL_TSO", true},  {"MACSEC_INSERT", false},
	{"MT_LOCKFREE", false},    {"MULTI_SEGS", true},
	{"MBUF_FAST_FREE", true},  {"SECURITY", false},
	{"UDP_TNL_TSO", true},     {"IP_TNL_TSO", true},
	{"OUTER_UDP_CKSUM", true}, {"SEND_ON_TIMESTAMP", false},
};

static const struct flag capabilities[] = {
	{"RUNTIME_RX_QUEUE_SETUP", true}, {"RUNTIME_TX_QUEUE_SETUP", true},  {"RXQ_SHARE", false},
	{"FLOW_RULE_KEEP", true},         {"FLOW_SHARED_OBJECT_KEEP", true},
};

static uint16_t
create(void)
{
	const struct octo_port_conf conf = {0};

	octo_port_add_pfs(&conf);
	octo_port_faults_on(0)->claims_all = true;
	octo_port_faults_on(1)->claims_all = true;
	return octo_port_add(&conf);
}

static const struct flag *
find(const struct flag *flags, size_t nb, const char *name)
{
	for (size_t i = 0; i < nb; i++)
		if (strcmp(flags[i].name, name) == 0)
			return &flags[i];
	fail_msg("this ethdev has the flag %s, of which no row says whether it is served", name);
	return NULL;
}

static bool
is_named(const char *name)
{
	return strcmp(name, "UNKNOWN") != 0;
}

/* A bit without a name is hidden, too. */
static void
check_flags(const struct flag *flags, size_t nb, const char *(*name_of)(uint64_t), uint64_t has)
{
	for (unsigned int bit = 0; bit < 64; bit++) {
		const char *name = name_of(RTE_BIT64(bit));
		const bool served = is_named(name) && find(flags, nb, name)->served;

		if (served != ((has & RTE_BIT64(bit)) != 0))
			fail_msg("bit %u, %s, is %s", bit, name, served ? "hidden" : "offered");
	}
}

static void
test_every_flag_is_served_or_hidden(void **state)
{
	const uint16_t port = create();
	struct rte_eth_dev_info info;

	(void)state;
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	check_flags(rx_flags, RTE_DIM(rx_flags), rte_eth_dev_rx_offload_name, info.rx_offload_capa);
	check_flags(rx_flags, RTE_DIM(rx_flags), rte_eth_dev_rx_offload_name,
		    info.rx_queue_offload_capa);
	check_flags(tx_flags, RTE_DIM(tx_flags), rte_eth_dev_tx_offload_name, info.tx_offload_capa);
	check_flags(tx_flags, RTE_DIM(tx_flags), rte_eth_dev_tx_offload_name,
		    info.tx_queue_offload_capa);
	check_flags(capabilities, RTE_DIM(capabilities), rte_eth_dev_capability_name,
		    info.dev_capa);
	assert_int_equal(info.default_rxconf.offloads & ~info.rx_offload_capa, 0);
	assert_int_equal(info.default_txconf.offloads & ~info.tx_offload_capa, 0);
}

static void
test_limits_without_a_service_are_hidden(void **state)
{
	/* and nothing that a newer ethdev adds */
	const struct rte_eth_rxseg_capa segments = {
		.multi_pools = 1, .offset_allowed = 1, .offset_align_log2 = 15, .max_nseg = 8};
	const uint16_t port = create();
	struct rte_eth_dev_info info;

	(void)state;
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_int_equal(info.max_hash_mac_addrs, 0);
	assert_int_equal(info.max_vfs, 0);
	assert_int_equal(info.max_vmdq_pools, 0);
	assert_int_equal(info.vmdq_queue_num, 0);
	assert_memory_equal(&info.rx_seg_capa, &segments, sizeof(segments));
	assert_int_equal(info.err_handle_mode, RTE_ETH_ERROR_HANDLE_MODE_NONE);
	assert_int_equal(info.rss_algo_capa & ~(RTE_ETH_HASH_ALGO_CAPA_MASK(DEFAULT) |
						RTE_ETH_HASH_ALGO_CAPA_MASK(TOEPLITZ)),
			 0);
}

/* Of the port or of its one queue, as asked for. */
static void
start_with(uint16_t port, const struct rte_eth_conf *conf, uint64_t rx, uint64_t tx)
{
	const struct rte_eth_rxconf rxconf = {.offloads = conf->rxmode.offloads | rx};
	const struct rte_eth_txconf txconf = {.offloads = conf->txmode.offloads | tx};

	assert_int_equal(rte_eth_dev_configure(port, 1, 1, conf), 0);
	assert_int_equal(
		rte_eth_rx_queue_setup(port, 0, OCTO_PORT_NB_DESC, 0, &rxconf, octo_port_pool), 0);
	assert_int_equal(rte_eth_tx_queue_setup(port, 0, OCTO_PORT_NB_DESC, 0, &txconf), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
}

/* Each PF has the offloads, and packets go and come. */
static void
check_served(uint16_t port, uint64_t rx, uint64_t tx)
{
	struct rte_eth_rxq_info rxq;
	struct rte_eth_txq_info txq;

	for (unsigned int pf = 0; pf < 2; pf++) {
		assert_int_equal(rte_eth_rx_queue_info_get(octo_port_pf(pf), 0, &rxq), 0);
		assert_int_equal(rxq.conf.offloads & rx, rx);
		assert_int_equal(rte_eth_tx_queue_info_get(octo_port_pf(pf), 0, &txq), 0);
		assert_int_equal(txq.conf.offloads & tx, tx);
	}
	octo_port_assert_arrives(port, FLOW, 0, 3);
	assert_int_equal(rte_eth_dev_stop(port), 0);
}

static void
check_offload(uint16_t port, const struct rte_eth_dev_info *info, uint64_t rx, uint64_t tx)
{
	const struct rte_eth_conf none = {
		.rxmode = {.mq_mode = RTE_ETH_MQ_RX_RSS,
			   .max_lro_pkt_size = info->max_lro_pkt_size},
		.rx_adv_conf = {.rss_conf = {.rss_hf = RTE_ETH_RSS_IPV4}},
	};
	struct rte_eth_conf conf = none;

	conf.rxmode.offloads = rx;
	conf.txmode.offloads = tx;
	start_with(port, &conf, 0, 0);
	check_served(port, rx, tx);
	if (rx == (rx & info->rx_queue_offload_capa) && tx == (tx & info->tx_queue_offload_capa)) {
		start_with(port, &none, rx, tx);
		check_served(port, rx, tx);
	}
}

static void
test_each_offload_reaches_every_pf(void **state)
{
	const uint16_t port = create();
	struct rte_eth_dev_info info;

	(void)state;
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	for (unsigned int bit = 0; bit < 64; bit++) {
		if (info.rx_offload_capa & RTE_BIT64(bit))
			check_offload(port, &info, RTE_BIT64(bit), 0);
		if (info.tx_offload_capa & RTE_BIT64(bit))
			check_offload(port, &info, 0, RTE_BIT64(bit));
	}
}

static void
test_hidden_offloads_are_refused(void **state)
{
	const uint16_t port = create();
	struct rte_eth_dev_info info;

	(void)state;
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	for (unsigned int bit = 0; bit < 64; bit++) {
		const struct rte_eth_conf rx = {.rxmode = {.offloads = RTE_BIT64(bit)}};
		const struct rte_eth_conf tx = {.txmode = {.offloads = RTE_BIT64(bit)}};

		if ((info.rx_offload_capa & RTE_BIT64(bit)) == 0)
			assert_int_equal(rte_eth_dev_configure(port, 1, 1, &rx), -EINVAL);
		if ((info.tx_offload_capa & RTE_BIT64(bit)) == 0)
			assert_int_equal(rte_eth_dev_configure(port, 1, 1, &tx), -EINVAL);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_every_flag_is_served_or_hidden),
		octo_port_test(test_limits_without_a_service_are_hidden),
		octo_port_test(test_each_offload_reaches_every_pf),
		octo_port_test(test_hidden_offloads_are_refused),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
