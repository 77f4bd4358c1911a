/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "octo_test.h"
#include "mpsim_frames.h"

#include "mpsim_match.h"
#include "mpsim_range.h"

#define END                                                                                        \
	{                                                                                          \
		.type = RTE_FLOW_ITEM_TYPE_END                                                     \
	}
#define ITEM(upper, ...)                                                                           \
	{                                                                                          \
		.type = RTE_FLOW_ITEM_TYPE_##upper, __VA_ARGS__                                    \
	}

static struct mpsim_match match;
static struct rte_flow_error error;
static struct frame f;

static int
read_pattern(const struct rte_flow_item pattern[])
{
	memset(&error, 0, sizeof(error));
	return mpsim_match_read(pattern, &match, &error);
}

static void
assert_refused(const struct rte_flow_item pattern[], int code, unsigned int culprit)
{
	assert_int_equal(read_pattern(pattern), -code);
	assert_non_null(error.message);
	assert_ptr_equal(error.cause, &pattern[culprit]);
}

/* Does the frame match, by any of the entries? */
static bool
frame_matches(void)
{
	struct mpsim_key key, value, mask;
	struct mpsim_parsed p;
	bool found = false;

	mpsim_parse(f.data, f.len, f.len, &p);
	mpsim_key_extract(f.data, f.len, &p, true, &key);
	for (uint32_t i = 0; i < mpsim_match_count(&match); i++) {
		const uint8_t *k = (const uint8_t *)&key;
		const uint8_t *v = (const uint8_t *)&value;
		const uint8_t *m = (const uint8_t *)&mask;
		bool same = true;

		mpsim_match_entry(&match, i, &value, &mask);
		for (size_t b = 0; b < sizeof(key); b++)
			same = same && (k[b] & m[b]) == v[b];
		/* ranges are parted, not covered twice */
		assert_false(same && found);
		found = found || same;
	}
	return found;
}

static void
put_udp_frame(uint16_t dst_port)
{
	put_eth(&f, RTE_ETHER_TYPE_IPV4);
	put_ipv4(&f, IPPROTO_UDP, 8, 0, 0);
	put16(&f, 1000);
	put16(&f, dst_port);
	put16(&f, 8);
	put16(&f, 0);
}

static void
ranges_are_made_of_aligned_blocks(void **state)
{
	RTE_SET_USED(state);
	for (unsigned int lo = 0; lo < 70; lo++)
		for (unsigned int hi = lo; hi < 70; hi++) {
			const uint32_t n = mpsim_range_count(lo, hi);
			unsigned int hits[128] = {0};

			for (uint32_t i = 0; i < n; i++) {
				struct mpsim_block b = mpsim_range_block(lo, hi, i);

				for (unsigned int x = 0; x < RTE_DIM(hits); x++)
					hits[x] += (x & b.mask) == b.value;
			}
			for (unsigned int x = 0; x < RTE_DIM(hits); x++)
				assert_int_equal(hits[x], x >= lo && x <= hi);
			assert_true(n <= 12);
		}
	assert_int_equal(mpsim_range_count(0, UINT64_MAX), 2);
	assert_int_equal(mpsim_range_count(1, UINT64_MAX - 1), 126);
}

static void
every_exact_tuple_is_known_as_one(void **state)
{
	static const struct {
		enum rte_flow_item_type type;
		uint8_t proto;
	} l4[] = {{RTE_FLOW_ITEM_TYPE_TCP, IPPROTO_TCP},
		  {RTE_FLOW_ITEM_TYPE_UDP, IPPROTO_UDP},
		  {RTE_FLOW_ITEM_TYPE_SCTP, IPPROTO_SCTP}};
	const struct rte_flow_item_ipv4 ip = {
		.hdr = {.src_addr = RTE_BE32(0x0a000001), .dst_addr = RTE_BE32(0x0a000002)}};
	const struct rte_flow_item_ipv6 ip6 = {.hdr = {.hop_limits = 5}};
	const uint8_t ports[64] = {1, 2, 3, 4, 5, 6, 7, 8};

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(l4); i++)
		for (unsigned int v6 = 0; v6 < 2; v6++) {
			const struct rte_flow_item pattern[] = {
				ITEM(ETH),
				{.type = v6 ? RTE_FLOW_ITEM_TYPE_IPV6 : RTE_FLOW_ITEM_TYPE_IPV4,
				 .spec = v6 ? (const void *)&ip6 : &ip},
				{.type = l4[i].type, .spec = ports},
				END,
			};

			assert_int_equal(read_pattern(pattern), 0);
			assert_true(match.exact);
			assert_int_equal(match.tuple.family, v6 ? OCTO_IPV6 : OCTO_IPV4);
			assert_int_equal(match.tuple.proto, l4[i].proto);
			assert_memory_equal(&match.tuple.src_port, ports, 4);
			if (!v6)
				assert_memory_equal(match.tuple.dst, &ip.hdr.dst_addr, 4);
		}
}

static void
more_or_less_than_a_tuple_is_not_exact(void **state)
{
	struct rte_flow_item_ipv4 ip = {.hdr.time_to_live = 0}, ip_mask = rte_flow_item_ipv4_mask;
	const struct rte_flow_item_udp udp = {.hdr.src_port = 1};
	struct rte_flow_item_eth eth = {.has_vlan = 0}, eth_mask = {.has_vlan = 0};
	const struct rte_flow_item pattern[] = {
		ITEM(ETH, .spec = &eth, .mask = &eth_mask),
		ITEM(IPV4, .spec = &ip, .mask = &ip_mask),
		ITEM(UDP, .spec = &udp),
		END,
	};

	RTE_SET_USED(state);
	assert_int_equal(read_pattern(pattern), 0);
	assert_true(match.exact);
	ip_mask.hdr.time_to_live = 1;
	assert_int_equal(read_pattern(pattern), 0);
	assert_false(match.exact);
	ip_mask.hdr.time_to_live = 0;
	ip_mask.hdr.src_addr = RTE_BE32(0xfffffffe);
	assert_int_equal(read_pattern(pattern), 0);
	assert_false(match.exact);
	ip_mask = rte_flow_item_ipv4_mask;
	eth_mask.has_vlan = 1;
	assert_int_equal(read_pattern(pattern), 0);
	assert_false(match.exact);
}

static void
a_range_of_ports_matches_its_ports(void **state)
{
	const struct rte_flow_item_udp lo = {.hdr.dst_port = RTE_BE16(1000)};
	const struct rte_flow_item_udp hi = {.hdr.dst_port = RTE_BE16(1100)};
	const struct rte_flow_item_udp mask = {.hdr.dst_port = RTE_BE16(0xffff)};
	const struct rte_flow_item pattern[] = {ITEM(UDP, .spec = &lo, .last = &hi, .mask = &mask),
						END};

	RTE_SET_USED(state);
	assert_int_equal(read_pattern(pattern), 0);
	for (unsigned int port = 900; port < 1200; port++) {
		put_udp_frame(port);
		assert_int_equal(frame_matches(), port >= 1000 && port <= 1100);
	}
}

static void
a_range_under_a_mask_ignores_the_rest(void **state)
{
	const struct rte_flow_item_vlan lo = {.hdr.vlan_tci = RTE_BE16(0xe005)};
	const struct rte_flow_item_vlan hi = {.hdr.vlan_tci = RTE_BE16(0x0009)};
	const struct rte_flow_item pattern[] = {ITEM(VLAN, .spec = &lo, .last = &hi), END};

	RTE_SET_USED(state);
	assert_int_equal(read_pattern(pattern), 0);
	for (unsigned int vid = 0; vid < 20; vid++) {
		put_eth(&f, RTE_ETHER_TYPE_VLAN);
		put_vlan(&f, 0x2000 | vid, RTE_ETHER_TYPE_ARP);
		put_zeros(&f, 28);
		assert_int_equal(frame_matches(), vid >= 5 && vid <= 9);
	}
}

static void
last_like_spec_is_no_range(void **state)
{
	const struct rte_flow_item_udp spec = {.hdr = {.src_port = 7, .dst_port = 9}};
	const struct rte_flow_item_udp last = {.hdr = {.src_port = 7}};
	const struct rte_flow_item pattern[] = {ITEM(UDP, .spec = &spec, .last = &last), END};

	RTE_SET_USED(state);
	assert_int_equal(read_pattern(pattern), 0);
	assert_int_equal(match.nb_ranges, 0);
	assert_int_equal(mpsim_match_count(&match), 1);
}

static void
what_cannot_be_matched_is_refused(void **state)
{
	const struct rte_flow_item_udp one = {.hdr.dst_port = RTE_BE16(1)};
	const struct rte_flow_item_udp five = {.hdr.dst_port = RTE_BE16(5)};
	const struct rte_flow_item_udp gaps = {.hdr.dst_port = RTE_BE16(0x0505)};
	const struct rte_flow_item_ipv6 low = {.hdr.hop_limits = 0};
	struct rte_flow_item_ipv6 high = {.hdr.hop_limits = 0};
	const struct rte_flow_item unknown[] = {ITEM(ETH), ITEM(MPLS), END};
	const struct rte_flow_item order[] = {ITEM(UDP), ITEM(IPV4), END};
	const struct rte_flow_item back[] = {ITEM(UDP, .spec = &five, .last = &one), END};
	const struct rte_flow_item holes[] = {ITEM(UDP, .spec = &one, .last = &five, .mask = &gaps),
					      END};
	const struct rte_flow_item no_spec[] = {ITEM(UDP, .last = &five), END};
	const struct rte_flow_item ip6[] = {ITEM(IPV6, .spec = &low, .last = &high), END};
	const struct rte_flow_item twice[] = {ITEM(IPV4), ITEM(UDP), ITEM(VXLAN), ITEM(ETH),
					      ITEM(IPV4), ITEM(UDP), ITEM(VXLAN), END};

	RTE_SET_USED(state);
	((uint8_t *)&high.hdr)[8] = 1; /* the first byte of the source address */
	assert_refused(unknown, ENOTSUP, 1);
	assert_refused(order, EINVAL, 1);
	assert_refused(back, EINVAL, 0);
	assert_refused(holes, ENOTSUP, 0);
	assert_refused(no_spec, EINVAL, 0);
	assert_refused(ip6, ENOTSUP, 0);
	assert_refused(twice, ENOTSUP, 6);
}

/* Whatever a frame is cut to, nothing beyond it is looked at (ASan), and it is no match. */
static void
a_cut_tunnel_does_not_match(void **state)
{
	const struct rte_flow_item pattern[] = {ITEM(IPV4), ITEM(UDP), ITEM(VXLAN), ITEM(ETH),
						ITEM(IPV4), ITEM(UDP), END};
	struct frame whole;

	RTE_SET_USED(state);
	assert_int_equal(read_pattern(pattern), 0);
	put_eth(&f, RTE_ETHER_TYPE_IPV4);
	put_ipv4(&f, IPPROTO_UDP, 8 + 8 + 14 + 20 + 8, 0, 0);
	put16(&f, 1);
	put16(&f, 4789);
	put16(&f, 58);
	put16(&f, 0);
	put_bytes(&f, "\x08\0\0\0\0\0\x07\0", 8);
	put_bytes(&f, "\x02\0\0\0\0\x01\x02\0\0\0\0\x02\x08\x00", 14);
	put_ipv4(&f, IPPROTO_UDP, 8, 0, 0);
	put_udp(&f, 0);
	assert_true(frame_matches());
	whole = f;
	for (uint32_t len = RTE_ETHER_HDR_LEN; len < whole.len; len++) {
		struct mpsim_parsed p;
		struct mpsim_key key;
		uint8_t *copy = malloc(len);

		assert_non_null(copy);
		memcpy(copy, whole.data, len);
		mpsim_parse(copy, len, len, &p);
		mpsim_key_extract(copy, len, &p, true, &key);
		assert_int_equal(key.layer[1].l4_proto, 0);
		/* the same bytes of a frame that is longer than what is there of it */
		mpsim_parse(copy, len, whole.len, &p);
		mpsim_key_extract(copy, len, &p, true, &key);
		assert_int_equal(key.layer[1].l4_proto, 0);
		free(copy);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranges_are_made_of_aligned_blocks),
		cmocka_unit_test(every_exact_tuple_is_known_as_one),
		cmocka_unit_test(more_or_less_than_a_tuple_is_not_exact),
		cmocka_unit_test(a_range_of_ports_matches_its_ports),
		cmocka_unit_test(a_range_under_a_mask_ignores_the_rest),
		cmocka_unit_test(last_like_spec_is_no_range),
		cmocka_unit_test(what_cannot_be_matched_is_refused),
		cmocka_unit_test(a_cut_tunnel_does_not_match),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
