/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ethdev.h>

#include "octo_test.h"

#include "octo_ethtool.h"

static struct octo_tuple
read_tuple(const char *proto, const char *src, uint16_t src_port, const char *dst,
	   uint16_t dst_port)
{
	struct octo_tuple t;

	assert_int_equal(octo_tuple_read(&t, proto, src, src_port, dst, dst_port, NULL), 0);
	return t;
}

static uint8_t
digit(char c)
{
	return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

/* Bytes of a request from `at` on, as hexadecimal; all others that have a meaning are zero. */
struct bytes {
	size_t at;
	const char *hex;
};

static void
assert_bytes(const struct ethtool_rxnfc *nfc, const struct bytes *want, unsigned int nb)
{
	uint8_t all[sizeof(*nfc)] = {0};

	for (unsigned int i = 0; i < nb; i++)
		for (size_t b = 0; b < strlen(want[i].hex) / 2; b++)
			all[want[i].at + b] = (uint8_t)(digit(want[i].hex[2 * b]) << 4 |
							digit(want[i].hex[2 * b + 1]));
	assert_memory_equal(nfc, all, sizeof(all));
}

/* As seen of ethtool(8) 6.1: flow-type tcp4 .. action 3, in an empty table of 1,024. */
static void
test_a_rule_of_ipv4(void **state)
{
	const struct octo_tuple t = read_tuple("tcp", "10.0.0.1", 80, "10.0.0.2", 4000);
	static const struct bytes want[] = {
		{0, "32000000"},
		{16, "010000000a0000010a00000200500fa0"},
		{92, "ffffffffffffffffffffffff"},
		{168, "0300000000000000ff030000"},
	};
	struct ethtool_rxnfc nfc;

	(void)state;
	memset(&nfc, 0xa5, sizeof(nfc));
	assert_int_equal(octo_ethtool_fill_insert(&nfc, &t, 3, 1023), 0);
	assert_bytes(&nfc, want, RTE_DIM(want));
}

/* The same with flow-type udp6 .. action 3 loc 5. */
static void
test_a_rule_of_ipv6(void **state)
{
	const struct octo_tuple t = read_tuple("udp", "2001:db8::1", 80, "fe80::1", 4000);
	static const struct bytes want[] = {
		{0, "32000000"},
		{16, "0600000020010db8000000000000000000000001fe80000000000000000000000000000100500"
		     "fa0"},
		{92, "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"},
		{168, "030000000000000005000000"},
	};
	struct ethtool_rxnfc nfc;

	(void)state;
	memset(&nfc, 0xa5, sizeof(nfc));
	assert_int_equal(octo_ethtool_fill_insert(&nfc, &t, 3, 5), 0);
	assert_bytes(&nfc, want, RTE_DIM(want));
}

static void
test_each_protocol_has_a_flow_type(void **state)
{
	const struct octo_tuple tuples[] = {
		read_tuple("tcp", "10.0.0.1", 1, "10.0.0.2", 2),
		read_tuple("udp", "10.0.0.1", 1, "10.0.0.2", 2),
		read_tuple("tcp", "::1", 1, "::2", 2),
		read_tuple("udp", "::1", 1, "::2", 2),
	};
	static const uint32_t types[] = {TCP_V4_FLOW, UDP_V4_FLOW, TCP_V6_FLOW, UDP_V6_FLOW};
	struct ethtool_rxnfc nfc;

	(void)state;
	for (size_t i = 0; i < RTE_DIM(tuples); i++) {
		assert_int_equal(octo_ethtool_fill_insert(&nfc, &tuples[i], 0, RX_CLS_LOC_ANY), 0);
		assert_int_equal(nfc.fs.flow_type, types[i]);
		assert_int_equal(nfc.fs.location, RX_CLS_LOC_ANY);
	}
}

static void
test_sctp_is_refused(void **state)
{
	const struct octo_tuple v4 = read_tuple("sctp", "10.0.0.1", 80, "10.0.0.2", 4000);
	const struct octo_tuple v6 = read_tuple("sctp", "::1", 80, "::2", 4000);
	struct ethtool_rxnfc nfc;

	(void)state;
	assert_int_equal(octo_ethtool_fill_insert(&nfc, &v4, 3, 1023), -ENOTSUP);
	assert_int_equal(octo_ethtool_fill_insert(&nfc, &v6, 3, 1023), -ENOTSUP);
}

static void
assert_other(const struct octo_tuple *a, const struct octo_tuple *b, bool same)
{
	struct ethtool_rxnfc x, y;

	assert_int_equal(octo_ethtool_fill_insert(&x, a, 1, 7), 0);
	assert_int_equal(octo_ethtool_fill_insert(&y, b, 2, 8), 0);
	assert_int_equal(octo_ethtool_same_flow(&x.fs, &y.fs), same);
	assert_int_equal(octo_ethtool_same_flow(&y.fs, &x.fs), same);
}

/* Queue and location are none of it. */
static void
test_the_same_flow_is_known(void **state)
{
	const struct octo_tuple v4 = read_tuple("tcp", "10.0.0.1", 80, "10.0.0.2", 4000);
	const struct octo_tuple v6 = read_tuple("tcp", "fe80::1", 80, "fe80::2", 4000);

	(void)state;
	assert_other(&v4, &v4, true);
	assert_other(&v6, &v6, true);
	assert_other(&v4, &v6, false);
	for (size_t i = 1; i < 6; i++) {
		struct octo_tuple other4 = v4, other6 = v6;

		other4.proto = other6.proto = i == 1 ? IPPROTO_UDP : IPPROTO_TCP;
		other4.src[3] ^= i == 2;
		other6.src[15] ^= i == 2;
		other4.dst[3] ^= i == 3;
		other6.dst[15] ^= i == 3;
		other4.src_port ^= i == 4;
		other6.src_port ^= i == 4;
		other4.dst_port ^= i == 5;
		other6.dst_port ^= i == 5;
		assert_other(&v4, &other4, false);
		assert_other(&v6, &other6, false);
	}
}

/* A rule of somebody else that matches less, or more. */
static void
test_other_masks_are_another_flow(void **state)
{
	const struct octo_tuple v4 = read_tuple("tcp", "10.0.0.1", 80, "10.0.0.2", 4000);
	const struct octo_tuple v6 = read_tuple("tcp", "fe80::1", 80, "fe80::2", 4000);
	struct ethtool_rxnfc a, b;

	(void)state;
	assert_int_equal(octo_ethtool_fill_insert(&a, &v4, 1, 7), 0);
	b = a;
	b.fs.m_u.tcp_ip4_spec.psrc = 0;
	assert_false(octo_ethtool_same_flow(&a.fs, &b.fs));
	b = a;
	b.fs.m_u.tcp_ip4_spec.tos = 0xff;
	assert_false(octo_ethtool_same_flow(&a.fs, &b.fs));
	b = a;
	b.fs.flow_type |= FLOW_EXT;
	assert_false(octo_ethtool_same_flow(&a.fs, &b.fs));
	assert_int_equal(octo_ethtool_fill_insert(&a, &v6, 1, 7), 0);
	b = a;
	b.fs.m_u.tcp_ip6_spec.ip6dst[3] = 0;
	assert_false(octo_ethtool_same_flow(&a.fs, &b.fs));
	a.fs.flow_type = b.fs.flow_type = ETHER_FLOW;
	assert_false(octo_ethtool_same_flow(&a.fs, &a.fs));
}

static void
test_locations_are_taken_from_the_top(void **state)
{
	uint64_t taken[2] = {0};

	(void)state;
	for (uint32_t i = 100; i > 0; i--) {
		const uint32_t location = octo_ethtool_free_location(taken, 100);

		assert_int_equal(location, i - 1);
		taken[location / 64] |= RTE_BIT64(location % 64);
	}
	assert_int_equal(octo_ethtool_free_location(taken, 100), RX_CLS_LOC_ANY);
	taken[0] &= ~RTE_BIT64(17);
	assert_int_equal(octo_ethtool_free_location(taken, 100), 17);
	assert_int_equal(octo_ethtool_free_location(taken, 0), RX_CLS_LOC_ANY);
}

union rss_request {
	struct ethtool_rxfh head;
	uint8_t room[sizeof(struct ethtool_rxfh) + 16 * sizeof(uint32_t)];
};

/* As seen of ethtool(8): hash function and key 0 mean no change. */
static void
test_a_reta_is_all_that_is_set(void **state)
{
	static const uint32_t reta[4] = {0, 3, 2, 1};
	const struct ethtool_rxfh head = {.cmd = ETHTOOL_SRSSH, .indir_size = 4};
	union rss_request r;

	(void)state;
	assert_int_equal(octo_ethtool_rss_len(4, 0), sizeof(r.head) + sizeof(reta));
	memset(&r, 0xa5, sizeof(r));
	octo_ethtool_fill_reta(&r.head, 4, reta, 4, 0);
	assert_memory_equal(&r.head, &head, sizeof(head));
	assert_memory_equal(r.head.rss_config, reta, sizeof(reta));
	assert_int_equal(r.head.rss_config[4], 0xa5a5a5a5);
}

static void
test_a_larger_reta_repeats_a_smaller_one(void **state)
{
	static const uint32_t reta[4] = {0, 3, 2, 1};
	union rss_request r;

	(void)state;
	octo_ethtool_fill_reta(&r.head, 16, reta, 4, 0);
	assert_int_equal(r.head.indir_size, 16);
	for (uint32_t hash = 0; hash < 100; hash++)
		assert_int_equal(r.head.rss_config[hash % 16], reta[hash % 4]);
}

static void
test_the_default_reta_has_no_entries(void **state)
{
	const struct ethtool_rxfh head = {.cmd = ETHTOOL_SRSSH};
	union rss_request r;

	(void)state;
	memset(&r, 0xa5, sizeof(r));
	octo_ethtool_fill_default_reta(&r.head, 0);
	assert_memory_equal(&r.head, &head, sizeof(head));
}

/* Newer headers have a name for the byte behind the hash function. */
static void
test_a_symmetric_hash_stays(void **state)
{
	static const uint32_t reta[4] = {0, 3, 2, 1};
	union rss_request r;

	(void)state;
	octo_ethtool_ask_rss(&r.head, 4, 0);
	assert_int_equal(octo_ethtool_xfrm(&r.head), 0);
	octo_ethtool_fill_reta(&r.head, 4, reta, 4, 2);
	assert_int_equal(octo_ethtool_xfrm(&r.head), 2);
	assert_int_equal(r.room[offsetof(struct ethtool_rxfh, hfunc) + 1], 2);
	assert_int_equal(r.head.hfunc, 0);
	octo_ethtool_fill_default_reta(&r.head, 1);
	assert_int_equal(octo_ethtool_xfrm(&r.head), 1);
}

#define IPS (RXH_IP_SRC | RXH_IP_DST)
#define ALL (IPS | RXH_L4_B_0_1 | RXH_L4_B_2_3)

static void
test_hash_fields_become_rss_types(void **state)
{
	const uint64_t full[] = {ALL, ALL, ALL, ALL};
	const uint64_t addresses[] = {IPS, IPS, IPS, IPS};
	const uint64_t mixed[] = {ALL, IPS, IPS, ALL};

	(void)state;
	assert_int_equal(octo_ethtool_hash_types(full),
			 RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_NONFRAG_IPV4_UDP |
				 RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_NONFRAG_IPV6_UDP);
	assert_int_equal(octo_ethtool_hash_types(addresses), RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_IPV6);
	assert_int_equal(octo_ethtool_hash_types(mixed),
			 RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_IPV6 |
				 RTE_ETH_RSS_NONFRAG_IPV6_UDP);
}

/* One address alone, or a protocol that is not hashed: its flows' queues are unknown. */
static void
test_other_hash_fields_are_no_rss_types(void **state)
{
	const uint64_t source[] = {RXH_IP_SRC, RXH_IP_SRC, ALL, ALL};
	const uint64_t half[] = {ALL, ALL, IPS, 0};
	const uint64_t vlan[] = {ALL | RXH_VLAN, ALL, 0, 0};

	(void)state;
	assert_int_equal(octo_ethtool_hash_types(source),
			 RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_NONFRAG_IPV6_UDP);
	assert_int_equal(octo_ethtool_hash_types(half),
			 RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_NONFRAG_IPV4_UDP);
	assert_int_equal(octo_ethtool_hash_types(vlan), 0);
}

static void
test_each_refusal_has_its_sentence(void **state)
{
	static const int codes[] = {EPERM,  ENOSPC, EOPNOTSUPP, EBUSY,    ENODEV,         EEXIST,
				    EINVAL, EIO,    EALREADY,   ENOTCONN, ENOTRECOVERABLE};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(codes); i++)
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(octo_ethtool_rule_refusal(codes[i]),
						octo_ethtool_rule_refusal(codes[j]));
	assert_non_null(strstr(octo_ethtool_rule_refusal(EPERM), "CAP_NET_ADMIN"));
	assert_non_null(strstr(octo_ethtool_rule_refusal(EPERM), "octo-agent --ethtool IFACE"));
	assert_non_null(strstr(octo_ethtool_rule_refusal(EPERM), "ethtool=unix:PATH"));
	assert_non_null(strstr(octo_ethtool_reta_refusal(EPERM), "CAP_NET_ADMIN"));
	assert_non_null(strstr(octo_ethtool_reta_refusal(EPERM), "ethtool=unix:PATH"));
	assert_non_null(strstr(octo_ethtool_reta_refusal(ERANGE), "size"));
	assert_string_not_equal(octo_ethtool_reta_refusal(EINVAL),
				octo_ethtool_reta_refusal(EBUSY));
	assert_string_not_equal(octo_ethtool_reta_refusal(EOPNOTSUPP),
				octo_ethtool_reta_refusal(ENODEV));
}

/* Of a rule of a 5-tuple and nothing else: what matches more, or less, is another one. */
static void
test_the_tuple_of_a_rule(void **state)
{
	static const char *const addresses[2][2] = {{"10.0.0.1", "10.0.0.2"},
						    {"2001:db8::1", "2001:db8::2"}};
	struct ethtool_rxnfc nfc;
	struct octo_tuple t, read;

	(void)state;
	for (int i = 0; i < 4; i++) {
		t = read_tuple(i % 2 == 0 ? "tcp" : "udp", addresses[i / 2][0], 80,
			       addresses[i / 2][1], 4000);
		assert_int_equal(octo_ethtool_fill_insert(&nfc, &t, 3, 7), 0);
		assert_true(octo_ethtool_read_tuple(&nfc.fs, &read));
		assert_memory_equal(&read, &t, sizeof(t));
		nfc.fs.m_u.hdata[3] ^= 1;
		assert_false(octo_ethtool_read_tuple(&nfc.fs, &read));
		nfc.fs.m_u.hdata[3] ^= 1;
		nfc.fs.flow_type |= FLOW_EXT;
		assert_false(octo_ethtool_read_tuple(&nfc.fs, &read));
		nfc.fs.flow_type = IPV4_USER_FLOW;
		assert_false(octo_ethtool_read_tuple(&nfc.fs, &read));
		nfc.fs.flow_type = SCTP_V4_FLOW;
		assert_false(octo_ethtool_read_tuple(&nfc.fs, &read));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_rule_of_ipv4),
		cmocka_unit_test(test_a_rule_of_ipv6),
		cmocka_unit_test(test_each_protocol_has_a_flow_type),
		cmocka_unit_test(test_sctp_is_refused),
		cmocka_unit_test(test_the_same_flow_is_known),
		cmocka_unit_test(test_other_masks_are_another_flow),
		cmocka_unit_test(test_locations_are_taken_from_the_top),
		cmocka_unit_test(test_a_reta_is_all_that_is_set),
		cmocka_unit_test(test_a_larger_reta_repeats_a_smaller_one),
		cmocka_unit_test(test_the_default_reta_has_no_entries),
		cmocka_unit_test(test_a_symmetric_hash_stays),
		cmocka_unit_test(test_hash_fields_become_rss_types),
		cmocka_unit_test(test_other_hash_fields_are_no_rss_types),
		cmocka_unit_test(test_each_refusal_has_its_sentence),
		cmocka_unit_test(test_the_tuple_of_a_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
