/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>

#include <rte_common.h>
#include <rte_ether.h>
#include <rte_mbuf.h>

#include "octo_test.h"
#include "mpsim_frames.h"

#include "octo_packet.h"

#define MORE_FRAGMENTS 0x2000
#define DONT_FRAGMENT 0x4000

static const uint8_t protocols[] = {IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP};

static struct frame f;

static uint16_t
l4_len(uint8_t proto)
{
	return proto == IPPROTO_TCP ? 20 : proto == IPPROTO_UDP ? 8 : 12;
}

static void
put_l4(uint8_t proto)
{
	if (proto == IPPROTO_TCP)
		put_tcp(&f);
	else if (proto == IPPROTO_UDP)
		put_udp(&f, 0);
	else
		put_sctp(&f);
}

/* The frame in memory of just its size, so that a sanitizer sees every byte too far. */
static bool
parse_part(uint32_t avail, uint32_t frame_len, struct octo_tuple *t)
{
	uint8_t *copy = malloc(avail == 0 ? 1 : avail);
	bool ok;

	assert_non_null(copy);
	memcpy(copy, f.data, avail);
	ok = octo_packet_parse(copy, avail, frame_len, t);
	free(copy);
	return ok;
}

static bool
parse(struct octo_tuple *t)
{
	return parse_part(RTE_MIN(f.len, (uint32_t)OCTO_PACKET_HDR_MAX), f.len, t);
}

static struct octo_tuple
expected(uint8_t family, uint8_t proto)
{
	const char *src = family == OCTO_IPV4 ? "10.0.0.1" : "fd00::1";
	const char *dst = family == OCTO_IPV4 ? "10.0.0.2" : "fd00::2";
	struct octo_tuple t;

	assert_int_equal(
		octo_tuple_read(&t, octo_tuple_proto_name(proto), src, 1000, dst, 2000, NULL), 0);
	return t;
}

static void
assert_tuple(uint8_t family, uint8_t proto)
{
	const struct octo_tuple want = expected(family, proto);
	struct octo_tuple t;

	memset(&t, 0xff, sizeof(t));
	assert_true(parse(&t));
	assert_true(octo_tuple_equal(&t, &want));
}

/* Nothing is found, and nothing is written. */
static void
assert_none(void)
{
	struct octo_tuple t, before;

	memset(&t, 0xa5, sizeof(t));
	before = t;
	assert_false(parse(&t));
	assert_true(octo_tuple_equal(&t, &before));
}

static void
put_ipv4_packet(uint8_t proto)
{
	put_eth(&f, RTE_ETHER_TYPE_IPV4);
	put_ipv4(&f, proto, l4_len(proto), DONT_FRAGMENT, 0);
	put_l4(proto);
}

static void
put_ipv6_packet(uint8_t proto)
{
	put_eth(&f, RTE_ETHER_TYPE_IPV6);
	put_ipv6(&f, proto, l4_len(proto));
	put_l4(proto);
}

static void
test_each_protocol_over_each_family(void **state)
{
	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(protocols); i++) {
		put_ipv4_packet(protocols[i]);
		assert_tuple(OCTO_IPV4, protocols[i]);
		put_ipv6_packet(protocols[i]);
		assert_tuple(OCTO_IPV6, protocols[i]);
	}
}

static void
test_other_protocols_have_no_tuple(void **state)
{
	static const uint8_t others[] = {IPPROTO_ICMP, IPPROTO_ICMPV6, IPPROTO_GRE,
					 IPPROTO_IPIP, IPPROTO_NONE,   IPPROTO_ESP};

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(others); i++) {
		put_eth(&f, RTE_ETHER_TYPE_IPV4);
		put_ipv4(&f, others[i], 40, 0, 0);
		put_zeros(&f, 40);
		assert_none();
		put_eth(&f, RTE_ETHER_TYPE_IPV6);
		put_ipv6(&f, others[i], 40);
		put_zeros(&f, 40);
		assert_none();
	}
	put_eth(&f, RTE_ETHER_TYPE_ARP);
	put_zeros(&f, 46);
	assert_none();
}

static void
test_behind_vlan_tags(void **state)
{
	static const uint16_t outer[] = {RTE_ETHER_TYPE_VLAN, RTE_ETHER_TYPE_QINQ};

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(outer); i++) {
		put_eth(&f, outer[i]);
		put_vlan(&f, 5, RTE_ETHER_TYPE_IPV4);
		put_ipv4(&f, IPPROTO_UDP, 8, 0, 0);
		put_l4(IPPROTO_UDP);
		assert_tuple(OCTO_IPV4, IPPROTO_UDP);

		put_eth(&f, outer[i]);
		put_vlan(&f, 5, RTE_ETHER_TYPE_VLAN);
		put_vlan(&f, 6, RTE_ETHER_TYPE_IPV6);
		put_ipv6(&f, IPPROTO_TCP, 20);
		put_l4(IPPROTO_TCP);
		assert_tuple(OCTO_IPV6, IPPROTO_TCP);
	}
}

static void
test_three_tags_are_too_many(void **state)
{
	RTE_SET_USED(state);
	put_eth(&f, RTE_ETHER_TYPE_QINQ);
	put_vlan(&f, 5, RTE_ETHER_TYPE_QINQ);
	put_vlan(&f, 6, RTE_ETHER_TYPE_VLAN);
	put_vlan(&f, 7, RTE_ETHER_TYPE_IPV4);
	put_ipv4(&f, IPPROTO_UDP, 8, 0, 0);
	put_l4(IPPROTO_UDP);
	assert_none();
}

static void
test_ipv4_options(void **state)
{
	RTE_SET_USED(state);
	for (uint8_t options = 4; options <= 40; options += 4) {
		put_eth(&f, RTE_ETHER_TYPE_IPV4);
		put_ipv4(&f, IPPROTO_TCP, 20, 0, options);
		put_l4(IPPROTO_TCP);
		assert_tuple(OCTO_IPV4, IPPROTO_TCP);
	}
}

static void
test_ipv4_fragments_have_no_tuple(void **state)
{
	static const uint16_t fragments[] = {MORE_FRAGMENTS, 1, MORE_FRAGMENTS | 1, 0x1fff};

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(fragments); i++) {
		put_eth(&f, RTE_ETHER_TYPE_IPV4);
		put_ipv4(&f, IPPROTO_UDP, 8, fragments[i], 0);
		put_l4(IPPROTO_UDP);
		assert_none();
	}
}

static void
put_extension(uint8_t next, uint8_t units)
{
	put8(&f, next);
	put8(&f, units);
	put_zeros(&f, 6 + 8 * units);
}

static void
test_ipv6_extension_headers(void **state)
{
	RTE_SET_USED(state);
	put_eth(&f, RTE_ETHER_TYPE_IPV6);
	put_ipv6(&f, IPPROTO_HOPOPTS, 8 + 24 + 8 + 24 + 20);
	put_extension(IPPROTO_ROUTING, 0);
	put_extension(IPPROTO_DSTOPTS, 2);
	put_extension(IPPROTO_AH, 0);
	put8(&f, IPPROTO_TCP); /* AH counts in words of four, two less */
	put8(&f, 4);
	put_zeros(&f, 22);
	put_l4(IPPROTO_TCP);
	assert_tuple(OCTO_IPV6, IPPROTO_TCP);
}

static void
put_chain(unsigned int nb)
{
	put_eth(&f, RTE_ETHER_TYPE_IPV6);
	put_ipv6(&f, nb == 0 ? IPPROTO_UDP : IPPROTO_DSTOPTS, 8 * nb + 8);
	for (unsigned int i = 0; i < nb; i++)
		put_extension(i + 1 == nb ? IPPROTO_UDP : IPPROTO_DSTOPTS, 0);
	put_l4(IPPROTO_UDP);
}

static void
test_ipv6_chains_are_bounded(void **state)
{
	RTE_SET_USED(state);
	for (unsigned int nb = 0; nb < 8; nb++) {
		put_chain(nb);
		assert_tuple(OCTO_IPV6, IPPROTO_UDP);
	}
	for (unsigned int nb = 8; nb < 40; nb++) {
		put_chain(nb);
		assert_none();
	}
}

/* An atomic fragment, too: few NICs look behind a Fragment header. */
static void
test_ipv6_fragments_have_no_tuple(void **state)
{
	static const uint16_t fragments[] = {0, 1, 8, 9};

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(fragments); i++) {
		put_eth(&f, RTE_ETHER_TYPE_IPV6);
		put_ipv6(&f, IPPROTO_FRAGMENT, 8 + 8);
		put8(&f, IPPROTO_UDP);
		put8(&f, 0);
		put16(&f, fragments[i]);
		put_zeros(&f, 4);
		put_l4(IPPROTO_UDP);
		assert_none();
	}
}

static void
test_padding_is_not_the_datagram(void **state)
{
	RTE_SET_USED(state);
	put_ipv4_packet(IPPROTO_UDP);
	put_zeros(&f, 18);
	assert_tuple(OCTO_IPV4, IPPROTO_UDP);
	/* the header of TCP would only fit if padding counted */
	put_eth(&f, RTE_ETHER_TYPE_IPV4);
	put_ipv4(&f, IPPROTO_TCP, 19, 0, 0);
	put_zeros(&f, 60);
	assert_none();
	put_eth(&f, RTE_ETHER_TYPE_IPV6);
	put_ipv6(&f, IPPROTO_TCP, 19);
	put_zeros(&f, 60);
	assert_none();
}

static void
test_broken_headers_have_no_tuple(void **state)
{
	static const struct {
		uint32_t at;
		uint8_t value;
	} broken[] = {
		{14, 0x55},              /* version */
		{14, 0x44},              /* header shorter than it can be */
		{14, 0x4f},              /* header longer than the datagram */
		{16, 1},                 /* datagram longer than the frame */
		{17, 19},   {17, 20 + 7} /* datagram too short for its headers */
	};

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(broken); i++) {
		put_ipv4_packet(IPPROTO_UDP);
		f.data[broken[i].at] = broken[i].value;
		assert_none();
	}
	put_ipv6_packet(IPPROTO_UDP);
	f.data[14] = 0x40;
	assert_none();
	put_ipv6_packet(IPPROTO_UDP);
	f.data[18] = 1; /* payload longer than the frame */
	assert_none();
	put_ipv6_packet(IPPROTO_UDP);
	f.data[19] = 0; /* none, or a jumbogram */
	assert_none();
}

/* Cut off anywhere, and seen as a part of a longer frame: never a tuple too early. */
static void
test_truncated_anywhere(void **state)
{
	struct octo_tuple t;

	RTE_SET_USED(state);
	for (unsigned int nb = 0; nb < 8; nb++) {
		put_chain(nb);
		for (uint32_t len = 0; len < f.len; len++) {
			assert_false(parse_part(len, len, &t));
			assert_false(parse_part(len, f.len, &t));
		}
	}
	put_ipv4_packet(IPPROTO_TCP);
	for (uint32_t len = 0; len < f.len; len++) {
		assert_false(parse_part(len, len, &t));
		assert_false(parse_part(len, f.len, &t));
	}
}

/* Whatever the bytes: no read beyond them (the sanitizers say so), no endless loop. */
static void
test_any_bytes(void **state)
{
	struct octo_tuple t;
	uint32_t found = 0;

	RTE_SET_USED(state);
	srandom(1);
	for (unsigned int i = 0; i < 200000; i++) {
		if (i % 2 == 0)
			put_chain(i % 16);
		else
			put_ipv4_packet(protocols[i % 3]);
		for (unsigned int k = 0; k < 3; k++)
			f.data[12 + random() % (f.len - 12)] = (uint8_t)random();
		found += parse_part(random() % (f.len + 1), f.len, &t);
	}
	assert_true(found > 0);
}

/* Only what rte_pktmbuf_read() looks at. */
static void
make_chain(struct rte_mbuf *segs, uint16_t nb, uint8_t *bytes, uint16_t each)
{
	for (uint16_t i = 0; i < nb; i++) {
		const uint16_t at = i * each;

		memset(&segs[i], 0, sizeof(segs[i]));
		segs[i].buf_addr = bytes + at;
		segs[i].data_len = i + 1 == nb ? f.len - at : each;
		segs[i].next = i + 1 == nb ? NULL : &segs[i + 1];
	}
	segs[0].pkt_len = f.len;
	segs[0].nb_segs = nb;
}

static void
test_packet_in_many_segments(void **state)
{
	const struct octo_tuple want = expected(OCTO_IPV4, IPPROTO_TCP);
	struct rte_mbuf segs[64];
	struct octo_tuple t;

	RTE_SET_USED(state);
	put_ipv4_packet(IPPROTO_TCP);
	for (uint16_t each = 1; each < f.len; each++) {
		octo_tuple_clear(&t);
		make_chain(segs, (f.len + each - 1) / each, f.data, each);
		assert_true(octo_packet_tuple(segs, &t));
		assert_true(octo_tuple_equal(&t, &want));
	}
}

static void
test_long_packet_in_one_segment(void **state)
{
	const struct octo_tuple want = expected(OCTO_IPV6, IPPROTO_UDP);
	struct octo_tuple t;
	struct rte_mbuf m;

	RTE_SET_USED(state);
	put_eth(&f, RTE_ETHER_TYPE_IPV6);
	put_ipv6(&f, IPPROTO_UDP, 8 + 400);
	put_udp(&f, 400);
	put_zeros(&f, 400);
	make_chain(&m, 1, f.data, f.len);
	assert_true(octo_packet_tuple(&m, &t));
	assert_true(octo_tuple_equal(&t, &want));
	/* headers that begin behind what is looked at */
	put_eth(&f, RTE_ETHER_TYPE_IPV6);
	put_ipv6(&f, IPPROTO_DSTOPTS, 8 + 8 * 20 + 8);
	put_extension(IPPROTO_UDP, 20);
	put_l4(IPPROTO_UDP);
	make_chain(&m, 1, f.data, f.len);
	assert_false(octo_packet_tuple(&m, &t));
}

static void
test_packet_that_is_no_frame(void **state)
{
	struct octo_tuple t;
	struct rte_mbuf m;

	RTE_SET_USED(state);
	for (f.len = 0; f.len < RTE_ETHER_HDR_LEN; f.len++) {
		make_chain(&m, 1, f.data, f.len);
		assert_false(octo_packet_tuple(&m, &t));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_protocol_over_each_family),
		cmocka_unit_test(test_other_protocols_have_no_tuple),
		cmocka_unit_test(test_behind_vlan_tags),
		cmocka_unit_test(test_three_tags_are_too_many),
		cmocka_unit_test(test_ipv4_options),
		cmocka_unit_test(test_ipv4_fragments_have_no_tuple),
		cmocka_unit_test(test_ipv6_extension_headers),
		cmocka_unit_test(test_ipv6_chains_are_bounded),
		cmocka_unit_test(test_ipv6_fragments_have_no_tuple),
		cmocka_unit_test(test_padding_is_not_the_datagram),
		cmocka_unit_test(test_broken_headers_have_no_tuple),
		cmocka_unit_test(test_truncated_anywhere),
		cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_packet_in_many_segments),
		cmocka_unit_test(test_long_packet_in_one_segment),
		cmocka_unit_test(test_packet_that_is_no_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
