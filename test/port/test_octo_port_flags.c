/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Over PFs that claim every capability: each flag of ethdev is either served or hidden. How those
 * that are flags of mbufs are served is in test_octo_port_flags_mbufs.c.
 */

#include <string.h>

#include <ethdev_driver.h>

#include "octo_port.h"
#include "octo_port_fault.h"
#include "octo_selective_rx.h"

#include "octo_private.h"

#define FLOW 7
#define NB_PFS 2

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

/* Bits without a function of ethdev that has their name; devtools know whether any is missing. */
struct bit {
	const char *name;
	uint64_t bit;
	bool yes;
};

#define METADATA(name, yes)                                                                        \
	{                                                                                          \
#name, RTE_ETH_RX_METADATA_##name, yes                                             \
	}

/* Is it served? */
static const struct bit metadata[] = {
	METADATA(USER_FLAG, true),
	METADATA(USER_MARK, true),
	METADATA(TUNNEL_ID, false),
};

#define RSS(name, yes)                                                                             \
	{                                                                                          \
#name, RTE_ETH_RSS_##name, yes                                                     \
	}

/* All are passed on. Does octo still know the queue of a UDP flow? */
static const struct bit rss_types[] = {
	RSS(IPV4, true),
	RSS(FRAG_IPV4, true),
	RSS(NONFRAG_IPV4_TCP, true),
	RSS(NONFRAG_IPV4_UDP, true),
	RSS(NONFRAG_IPV4_SCTP, true),
	RSS(NONFRAG_IPV4_OTHER, true),
	RSS(IPV6, true),
	RSS(FRAG_IPV6, true),
	RSS(NONFRAG_IPV6_TCP, true),
	RSS(NONFRAG_IPV6_UDP, true),
	RSS(NONFRAG_IPV6_SCTP, true),
	RSS(NONFRAG_IPV6_OTHER, true),
	RSS(L2_PAYLOAD, true),
	RSS(IPV6_EX, true),
	RSS(IPV6_TCP_EX, true),
	RSS(IPV6_UDP_EX, true),
	RSS(PORT, false),
	RSS(VXLAN, false),
	RSS(GENEVE, false),
	RSS(NVGRE, false),
	RSS(GTPU, false),
	RSS(ETH, false),
	RSS(S_VLAN, false),
	RSS(C_VLAN, false),
	RSS(ESP, false),
	RSS(AH, false),
	RSS(L2TPV3, false),
	RSS(PFCP, false),
	RSS(PPPOE, false),
	RSS(ECPRI, false),
	RSS(MPLS, false),
	RSS(IPV4_CHKSUM, false),
	RSS(L4_CHKSUM, false),
	RSS(L2TPV2, false),
#ifdef RTE_ETH_RSS_IPV6_FLOW_LABEL
	RSS(IPV6_FLOW_LABEL, false),
#endif
#ifdef RTE_ETH_RSS_IB_BTH
	RSS(IB_BTH, false),
#endif
	RSS(L3_SRC_ONLY, false),
	RSS(L3_DST_ONLY, false),
	RSS(L4_SRC_ONLY, false),
	RSS(L4_DST_ONLY, false),
	RSS(L2_SRC_ONLY, false),
	RSS(L2_DST_ONLY, false),
	RSS(L3_PRE32, false),
	RSS(L3_PRE40, false),
	RSS(L3_PRE48, false),
	RSS(L3_PRE56, false),
	RSS(L3_PRE64, false),
	RSS(L3_PRE96, false),
};

static struct octo_port_faults *stub[NB_PFS];

static uint16_t
create_as(const struct octo_port_conf *conf)
{
	octo_port_add_pfs(conf);
	for (unsigned int pf = 0; pf < NB_PFS; pf++) {
		stub[pf] = octo_port_faults_on(pf);
		stub[pf]->claims_all = true;
	}
	return octo_port_add(conf);
}

static uint16_t
create(void)
{
	static const struct octo_port_conf plain;

	return create_as(&plain);
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
	struct rte_eth_rxseg_capa segments = {
		.multi_pools = 1, .offset_allowed = 1, .offset_align_log2 = 15, .max_nseg = 8};
	const uint16_t port = create();
	struct rte_eth_dev_info info;

	(void)state;
	octo_selective_rx_set(&segments, true);
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_int_equal(info.max_hash_mac_addrs, 0);
	assert_int_equal(info.max_vfs, 0);
	assert_int_equal(info.max_vmdq_pools, 0);
	assert_int_equal(info.vmdq_queue_base, 0);
	assert_int_equal(info.vmdq_queue_num, 0);
	assert_int_equal(info.vmdq_pool_base, 0);
	assert_int_equal(info.if_index, 0);
	assert_null(info.switch_info.name);
	assert_int_equal(info.switch_info.domain_id, RTE_ETH_DEV_SWITCH_DOMAIN_ID_INVALID);
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

	for (unsigned int pf = 0; pf < NB_PFS; pf++) {
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

/* Whatever the first PF claims: the second is a simulated one as ever. */
static void
test_what_one_pf_lacks_is_hidden(void **state)
{
	const uint16_t port = create();
	struct rte_eth_dev_info info, pf;

	(void)state;
	stub[1]->claims_all = false;
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_int_equal(rte_eth_dev_info_get(octo_port_pf(1), &pf), 0);
	assert_int_equal(info.rx_offload_capa, pf.rx_offload_capa);
	assert_int_equal(info.tx_offload_capa, pf.tx_offload_capa);
	assert_int_equal(info.flow_type_rss_offloads, pf.flow_type_rss_offloads);
}

static bool
says_yes(const struct bit *rows, size_t nb, uint64_t bit)
{
	for (size_t i = 0; i < nb; i++)
		if (rows[i].bit == bit)
			return rows[i].yes;
	return false;
}

static void
check_metadata(uint16_t port, uint64_t wanted, uint64_t served)
{
	uint64_t features = wanted;

	assert_int_equal(rte_eth_rx_metadata_negotiate(port, &features), 0);
	assert_int_equal(features, served);
	for (unsigned int pf = 0; pf < NB_PFS; pf++)
		assert_int_equal(stub[pf]->metadata, served);
}

/* Also a bit that no ethdev has a name for yet. */
static void
test_metadata_that_is_not_served_is_not_promised(void **state)
{
	const uint16_t port = create();
	uint64_t all = 0;

	(void)state;
	for (unsigned int i = 0; i < 64; i++) {
		const uint64_t bit = RTE_BIT64(i);
		const uint64_t served = says_yes(metadata, RTE_DIM(metadata), bit) ? bit : 0;

		check_metadata(port, bit, served);
		all |= served;
	}
	check_metadata(port, UINT64_MAX, all);
}

static void
assert_hashed(uint16_t port, uint64_t types)
{
	struct rte_eth_rss_conf rss = {0};

	assert_int_equal(rte_eth_dev_rss_hash_conf_get(port, &rss), 0);
	assert_int_equal(rss.rss_hf, types);
	for (unsigned int pf = 0; pf < NB_PFS; pf++) {
		assert_int_equal(rte_eth_dev_rss_hash_conf_get(octo_port_pf(pf), &rss), 0);
		assert_int_equal(rss.rss_hf, types);
	}
}

static bool
knows_queue(uint16_t port)
{
	struct octo_dev *octo = octo_of(&rte_eth_devices[port]);

	return OCTO_LOCKED(octo, octo_rss_queue_locked(octo, &octo_tuple_example)) >= 0;
}

#define UDP_TYPES (RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_UDP)

/*
 * The PFs do the hashing. octo must only know, for the rules of its own, whether the queue of a
 * flow is still what it computes: not if a type that it does not know is hashed, too.
 */
static void
test_all_rss_types_are_passed_on(void **state)
{
	const uint16_t port = create();
	struct rte_eth_dev_info info;

	(void)state;
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_int_equal(info.flow_type_rss_offloads, UINT64_MAX);
	for (unsigned int i = 0; i < 64; i++) {
		const uint64_t types = UDP_TYPES | RTE_BIT64(i);
		struct rte_eth_rss_conf rss = {.rss_hf = RTE_BIT64(i)};
		const struct rte_eth_conf conf = {
			.rxmode = {.mq_mode = RTE_ETH_MQ_RX_RSS},
			.rx_adv_conf = {.rss_conf = {.rss_hf = types}},
		};

		octo_port_up_as(port, 2, &conf);
		assert_hashed(port, types);
		if (knows_queue(port) != says_yes(rss_types, RTE_DIM(rss_types), RTE_BIT64(i)))
			fail_msg("with RSS type %u, octo is wrong about whether it knows the queue",
				 i);
		assert_int_equal(rte_eth_dev_rss_hash_update(port, &rss), 0);
		assert_hashed(port, RTE_BIT64(i));
		assert_int_equal(rte_eth_dev_stop(port), 0);
	}
}

/* The VLAN offloads with these of four bits, as ethdev configures them. */
static uint64_t
vlan_offloads(unsigned int set)
{
	static const uint64_t offloads[] = {
		RTE_ETH_RX_OFFLOAD_VLAN_STRIP,
		RTE_ETH_RX_OFFLOAD_VLAN_FILTER,
		RTE_ETH_RX_OFFLOAD_VLAN_EXTEND,
		RTE_ETH_RX_OFFLOAD_QINQ_STRIP,
	};
	uint64_t some = 0;

	for (unsigned int i = 0; i < RTE_DIM(offloads); i++)
		some |= set & RTE_BIT32(i) ? offloads[i] : 0;
	return some;
}

#define VLAN_SETS 16

/* The same as ethdev sets them: in the same order. */
static void
set_vlan_offloads(uint16_t port, unsigned int set)
{
	static const int bits[] = {
		RTE_ETH_VLAN_STRIP_OFFLOAD,
		RTE_ETH_VLAN_FILTER_OFFLOAD,
		RTE_ETH_VLAN_EXTEND_OFFLOAD,
		RTE_ETH_QINQ_STRIP_OFFLOAD,
	};
	int some = 0;

	for (unsigned int i = 0; i < RTE_DIM(bits); i++)
		some |= set & RTE_BIT32(i) ? bits[i] : 0;
	assert_int_equal(rte_eth_dev_set_vlan_offload(port, some), 0);
	assert_int_equal(rte_eth_dev_get_vlan_offload(port), some);
}

static void
assert_vlan_offloads(unsigned int set)
{
	for (unsigned int pf = 0; pf < NB_PFS; pf++)
		assert_int_equal(stub[pf]->vlan, vlan_offloads(set));
}

static void
up_with_vlan_offloads(uint16_t port, unsigned int set)
{
	octo_port_up_as(port, 1,
			&(struct rte_eth_conf){.rxmode = {.offloads = vlan_offloads(set)}});
}

static void
test_vlan_offloads_are_those_of_every_pf(void **state)
{
	const uint16_t port = create();

	(void)state;
	assert_int_equal(vlan_offloads(VLAN_SETS - 1), RTE_ETH_RX_OFFLOAD_VLAN);
	for (unsigned int configured = 0; configured < VLAN_SETS; configured++) {
		up_with_vlan_offloads(port, configured);
		assert_vlan_offloads(configured);
		for (unsigned int set = 0; set < VLAN_SETS; set++) {
			set_vlan_offloads(port, set);
			assert_vlan_offloads(set);
		}
		/* what is set lasts over a stop */
		assert_int_equal(rte_eth_dev_stop(port), 0);
		assert_int_equal(rte_eth_dev_start(port), 0);
		assert_vlan_offloads(VLAN_SETS - 1);
		assert_int_equal(rte_eth_dev_stop(port), 0);
	}
}

/* A PF that returns claims all before octo sees it. */
static int
claim_again(uint16_t port_id, enum rte_eth_event_type event, void *arg, void *ret)
{
	(void)event;
	(void)arg;
	(void)ret;
	stub[1] = octo_port_faults_on_port(port_id);
	stub[1]->claims_all = true;
	return 0;
}

static const struct octo_port_conf replugs = {.replug = true};

static void
plug_in_again(uint16_t port)
{
	rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, claim_again, NULL);
	octo_port_add_pf(&replugs, 1);
	rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, claim_again, NULL);
	octo_port_await((octo_port_poll(port, 0, 1, &(struct octo_port_tally){0}),
			 octo_port_pf_is_started(port, 1)));
}

/* Those that were set last, before the PF was gone or while it was, whatever was configured. */
static void
test_vlan_offloads_come_back_with_the_pf(void **state)
{
	const uint16_t port = create_as(&replugs);

	(void)state;
	up_with_vlan_offloads(port, 5);
	for (unsigned int set = 0; set < VLAN_SETS; set++) {
		set_vlan_offloads(port, set);
		octo_port_remove_pf(1);
		plug_in_again(port);
		assert_vlan_offloads(set);
		octo_port_remove_pf(1);
		set_vlan_offloads(port, VLAN_SETS - 1 - set);
		plug_in_again(port);
		assert_vlan_offloads(VLAN_SETS - 1 - set);
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
		octo_port_test(test_what_one_pf_lacks_is_hidden),
		octo_port_test(test_metadata_that_is_not_served_is_not_promised),
		octo_port_test(test_all_rss_types_are_passed_on),
		octo_port_test(test_vlan_offloads_are_those_of_every_pf),
		octo_port_test(test_vlan_offloads_come_back_with_the_pf),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
