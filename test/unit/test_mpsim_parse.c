/* SPDX-License-Identifier: BSD-3-Clause */

#include <rte_common.h>
#include <rte_ether.h>
#include <rte_mbuf_ptype.h>

#include "octo_test.h"
#include "mpsim_frames.h"

#include "mpsim_parse.h"

static struct frame f;
static struct mpsim_parsed p;

static void
parse(void)
{
	mpsim_parse(f.data, RTE_MIN(f.len, (uint32_t)MPSIM_HDR_MAX), f.len, &p);
}

static void
put_l4(uint8_t proto)
{
	if (proto == IPPROTO_TCP)
		put_tcp(&f);
	else if (proto == IPPROTO_UDP)
		put_udp(&f, 0);
	else if (proto == IPPROTO_SCTP)
		put_sctp(&f);
}

static uint16_t
l4_len(uint8_t proto)
{
	return proto == IPPROTO_TCP  ? 20 :
	       proto == IPPROTO_UDP  ? 8 :
	       proto == IPPROTO_SCTP ? 12 :
				       0;
}

static const struct {
	uint8_t proto;
	uint8_t cls4;
	uint8_t cls6;
	uint32_t ptype;
} kinds[] = {
	{IPPROTO_TCP, MPSIM_CLASS_IPV4_TCP, MPSIM_CLASS_IPV6_TCP, RTE_PTYPE_L4_TCP},
	{IPPROTO_UDP, MPSIM_CLASS_IPV4_UDP, MPSIM_CLASS_IPV6_UDP, RTE_PTYPE_L4_UDP},
	{IPPROTO_SCTP, MPSIM_CLASS_IPV4_SCTP, MPSIM_CLASS_IPV6_SCTP, RTE_PTYPE_L4_SCTP},
	{IPPROTO_GRE, MPSIM_CLASS_IPV4, MPSIM_CLASS_IPV6, RTE_PTYPE_L4_NONFRAG},
};

static void
ipv4_is_told_by_protocol(void **state)
{
	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(kinds); i++) {
		put_eth(&f, RTE_ETHER_TYPE_IPV4);
		put_ipv4(&f, kinds[i].proto, l4_len(kinds[i].proto), 0, 0);
		put_l4(kinds[i].proto);
		parse();
		assert_int_equal(p.cls, kinds[i].cls4);
		assert_int_equal(p.ptype, RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV4 | kinds[i].ptype);
		assert_int_equal(p.l3_off, 14);
		assert_int_equal(p.l4_off, 34);
		assert_int_equal(p.l4_len, l4_len(kinds[i].proto));
	}
}

static void
ipv6_is_told_by_protocol(void **state)
{
	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(kinds); i++) {
		put_eth(&f, RTE_ETHER_TYPE_IPV6);
		put_ipv6(&f, kinds[i].proto, l4_len(kinds[i].proto));
		put_l4(kinds[i].proto);
		parse();
		assert_int_equal(p.cls, kinds[i].cls6);
		assert_int_equal(p.ptype, RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6 | kinds[i].ptype);
		assert_int_equal(p.l4_off, 54);
	}
}

static void
ipv4_options_are_skipped(void **state)
{
	RTE_SET_USED(state);
	put_eth(&f, RTE_ETHER_TYPE_IPV4);
	put_ipv4(&f, IPPROTO_UDP, 8, 0, 40);
	put_udp(&f, 0);
	parse();
	assert_int_equal(p.cls, MPSIM_CLASS_IPV4_UDP);
	assert_int_equal(p.l4_off, 14 + 60);
	assert_int_equal(p.ptype & RTE_PTYPE_L3_MASK, RTE_PTYPE_L3_IPV4_EXT);
}

static void
ipv6_extensions_are_skipped(void **state)
{
	RTE_SET_USED(state);
	put_eth(&f, RTE_ETHER_TYPE_IPV6);
	put_ipv6(&f, IPPROTO_HOPOPTS, 8 + 16 + 20);
	put_bytes(&f, "\x3c\0\0\0\0\0\0\0", 8); /* next: destination options */
	put_bytes(&f, "\x06\x01", 2);           /* next: TCP, 16 bytes */
	put_zeros(&f, 14);
	put_tcp(&f);
	parse();
	assert_int_equal(p.cls, MPSIM_CLASS_IPV6_TCP);
	assert_int_equal(p.l4_off, 54 + 24);
	assert_int_equal(p.l4_len, 20);
	assert_int_equal(p.ptype & RTE_PTYPE_L3_MASK, RTE_PTYPE_L3_IPV6_EXT);
}

/* First, middle and last fragment: the ports of the first must not steer it away from the rest. */
static void
ipv4_fragments_have_no_ports(void **state)
{
	const uint16_t fragments[] = {0x2000, 0x2010, 0x0020};

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(fragments); i++) {
		put_eth(&f, RTE_ETHER_TYPE_IPV4);
		put_ipv4(&f, IPPROTO_UDP, 8, fragments[i], 0);
		put_udp(&f, 0);
		parse();
		assert_int_equal(p.cls, MPSIM_CLASS_IPV4_FRAG);
		assert_int_equal(p.ptype & RTE_PTYPE_L4_MASK, RTE_PTYPE_L4_FRAG);
		assert_false(mpsim_class_has_ports(p.cls));
	}
}

static void
dont_fragment_is_no_fragment(void **state)
{
	RTE_SET_USED(state);
	put_eth(&f, RTE_ETHER_TYPE_IPV4);
	put_ipv4(&f, IPPROTO_UDP, 8, 0x4000, 0);
	put_udp(&f, 0);
	parse();
	assert_int_equal(p.cls, MPSIM_CLASS_IPV4_UDP);
}

static void
put_ipv6_fragment(uint16_t offset_and_more)
{
	put_eth(&f, RTE_ETHER_TYPE_IPV6);
	put_ipv6(&f, IPPROTO_FRAGMENT, 8 + 8);
	put8(&f, IPPROTO_UDP);
	put8(&f, 0);
	put16(&f, offset_and_more);
	put_zeros(&f, 4);
	put_udp(&f, 0);
	parse();
}

static void
ipv6_fragments_have_no_ports(void **state)
{
	RTE_SET_USED(state);
	put_ipv6_fragment(0x0001);
	assert_int_equal(p.cls, MPSIM_CLASS_IPV6_FRAG);
	put_ipv6_fragment(0x0100);
	assert_int_equal(p.cls, MPSIM_CLASS_IPV6_FRAG);
	assert_int_equal(p.ptype & RTE_PTYPE_L3_MASK, RTE_PTYPE_L3_IPV6_EXT);
}

static void
atomic_ipv6_fragment_is_whole(void **state)
{
	RTE_SET_USED(state);
	put_ipv6_fragment(0);
	assert_int_equal(p.cls, MPSIM_CLASS_IPV6_UDP);
	assert_int_equal(p.l4_off, 54 + 8);
}

static void
vlan_tag_is_seen_and_skipped(void **state)
{
	RTE_SET_USED(state);
	put_eth(&f, RTE_ETHER_TYPE_VLAN);
	put_vlan(&f, 0x6123, RTE_ETHER_TYPE_IPV4);
	put_ipv4(&f, IPPROTO_TCP, 20, 0, 0);
	put_tcp(&f);
	parse();
	assert_true(p.vlan);
	assert_int_equal(p.vlan_tci, 0x6123);
	assert_int_equal(p.cls, MPSIM_CLASS_IPV4_TCP);
	assert_int_equal(p.l3_off, 18);
	assert_int_equal(p.ptype & RTE_PTYPE_L2_MASK, RTE_PTYPE_L2_ETHER_VLAN);
}

static void
service_tag_is_not_taken_for_a_vlan(void **state)
{
	RTE_SET_USED(state);
	put_eth(&f, RTE_ETHER_TYPE_QINQ);
	put_vlan(&f, 5, RTE_ETHER_TYPE_VLAN);
	put_vlan(&f, 6, RTE_ETHER_TYPE_IPV6);
	put_ipv6(&f, IPPROTO_UDP, 8);
	put_udp(&f, 0);
	parse();
	assert_false(p.vlan);
	assert_int_equal(p.cls, MPSIM_CLASS_IPV6_UDP);
	assert_int_equal(p.ptype & RTE_PTYPE_L2_MASK, RTE_PTYPE_L2_ETHER_QINQ);
}

static void
padding_is_not_payload(void **state)
{
	RTE_SET_USED(state);
	put_eth(&f, RTE_ETHER_TYPE_IPV4);
	put_ipv4(&f, IPPROTO_UDP, 8, 0, 0);
	put_udp(&f, 0);
	put_zeros(&f, 18);
	parse();
	assert_int_equal(p.cls, MPSIM_CLASS_IPV4_UDP);
	assert_int_equal(p.l4_len, 8);
}

/* Cut everywhere: never looks behind the end (ASan), never finds ports that are not there. */
static void
truncated_frames_are_survived(void **state)
{
	RTE_SET_USED(state);
	for (uint32_t len = 14; len < 14 + 20 + 20; len++) {
		uint8_t *exact;

		put_eth(&f, RTE_ETHER_TYPE_IPV4);
		put_ipv4(&f, IPPROTO_TCP, 20, 0, 0);
		put_tcp(&f);
		exact = test_malloc(len);
		memcpy(exact, f.data, len);
		mpsim_parse(exact, len, len, &p);
		assert_false(mpsim_class_has_ports(p.cls));
		test_free(exact);
	}
}

static void
truncated_extensions_are_survived(void **state)
{
	RTE_SET_USED(state);
	for (uint32_t len = 14; len < 14 + 40 + 24; len++) {
		uint8_t *exact;

		put_eth(&f, RTE_ETHER_TYPE_IPV6);
		put_ipv6(&f, IPPROTO_DSTOPTS, len < 54 ? 24 : len - 54);
		put_bytes(&f, "\x06\x02", 2);
		put_zeros(&f, 30);
		exact = test_malloc(len);
		memcpy(exact, f.data, len);
		mpsim_parse(exact, len, len, &p);
		assert_false(mpsim_class_has_ports(p.cls));
		test_free(exact);
	}
}

static void
endless_extensions_end(void **state)
{
	RTE_SET_USED(state);
	put_eth(&f, RTE_ETHER_TYPE_IPV6);
	put_ipv6(&f, IPPROTO_DSTOPTS, 200);
	for (int i = 0; i < 25; i++) {
		put8(&f, IPPROTO_DSTOPTS);
		put_zeros(&f, 7);
	}
	parse();
	assert_int_equal(p.cls, MPSIM_CLASS_IPV6);
}

static void
broken_ipv4_header_is_no_ip(void **state)
{
	RTE_SET_USED(state);
	for (int broken = 0; broken < 3; broken++) {
		put_eth(&f, RTE_ETHER_TYPE_IPV4);
		put_ipv4(&f, IPPROTO_UDP, 8, 0, 0);
		put_udp(&f, 0);
		if (broken == 0)
			f.data[14] = 0x65; /* version 6 */
		else if (broken == 1)
			f.data[14] = 0x44; /* 16 byte header */
		else
			f.data[17] = 19; /* total length below the header's */
		parse();
		assert_int_equal(p.cls, MPSIM_CLASS_NONE);
		assert_int_equal(p.ptype, RTE_PTYPE_L2_ETHER);
	}
}

static void
arp_is_arp(void **state)
{
	RTE_SET_USED(state);
	put_eth(&f, RTE_ETHER_TYPE_ARP);
	put_zeros(&f, 28);
	parse();
	assert_int_equal(p.cls, MPSIM_CLASS_NONE);
	assert_int_equal(p.ptype, RTE_PTYPE_L2_ETHER_ARP);
}

static void
check_tuple(uint8_t proto, const char *src, const char *dst)
{
	struct octo_tuple expected, t;
	const char *name = octo_tuple_proto_name(proto);

	assert_int_equal(octo_tuple_read(&expected, name, src, 1000, dst, 2000, NULL), 0);
	/* every byte counts in the key: start from anything but zeros */
	memset(&t, 0xa5, sizeof(t));
	mpsim_parse_tuple(f.data, &p, &t);
	assert_true(octo_tuple_equal(&t, &expected));
}

static void
tuple_is_that_of_the_rule(void **state)
{
	RTE_SET_USED(state);
	for (unsigned int i = 0; i < 3; i++) {
		put_eth(&f, RTE_ETHER_TYPE_IPV4);
		put_ipv4(&f, kinds[i].proto, l4_len(kinds[i].proto), 0, 4);
		put_l4(kinds[i].proto);
		parse();
		check_tuple(kinds[i].proto, "10.0.0.1", "10.0.0.2");
		put_eth(&f, RTE_ETHER_TYPE_IPV6);
		put_ipv6(&f, kinds[i].proto, l4_len(kinds[i].proto));
		put_l4(kinds[i].proto);
		parse();
		check_tuple(kinds[i].proto, "fd00::1", "fd00::2");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ipv4_is_told_by_protocol),
		cmocka_unit_test(ipv6_is_told_by_protocol),
		cmocka_unit_test(ipv4_options_are_skipped),
		cmocka_unit_test(ipv6_extensions_are_skipped),
		cmocka_unit_test(ipv4_fragments_have_no_ports),
		cmocka_unit_test(dont_fragment_is_no_fragment),
		cmocka_unit_test(ipv6_fragments_have_no_ports),
		cmocka_unit_test(atomic_ipv6_fragment_is_whole),
		cmocka_unit_test(vlan_tag_is_seen_and_skipped),
		cmocka_unit_test(service_tag_is_not_taken_for_a_vlan),
		cmocka_unit_test(padding_is_not_payload),
		cmocka_unit_test(truncated_frames_are_survived),
		cmocka_unit_test(truncated_extensions_are_survived),
		cmocka_unit_test(endless_extensions_end),
		cmocka_unit_test(broken_ipv4_header_is_no_ip),
		cmocka_unit_test(arp_is_arp),
		cmocka_unit_test(tuple_is_that_of_the_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
