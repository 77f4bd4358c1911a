/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>

#include "octo_test.h"
#include "octo_test_eal.h"
#include "mpsim_frames.h"

#include "mpsim_csum.h"

#define IP_GOOD RTE_MBUF_F_RX_IP_CKSUM_GOOD
#define IP_BAD RTE_MBUF_F_RX_IP_CKSUM_BAD
#define L4_GOOD RTE_MBUF_F_RX_L4_CKSUM_GOOD
#define L4_BAD RTE_MBUF_F_RX_L4_CKSUM_BAD

static struct rte_mempool *pool;
static struct frame f;

static int
setup(void **state)
{
	int ret = octo_test_eal_init(state);

	if (ret != 0)
		return ret;
	pool = rte_pktmbuf_pool_create("test", 255, 0, 0, RTE_PKTMBUF_HEADROOM + 512,
				       SOCKET_ID_ANY);
	return pool == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
	rte_mempool_free(pool);
	return octo_test_eal_cleanup(state);
}

static void
set16(uint32_t at, uint16_t v)
{
	f.data[at] = v >> 8;
	f.data[at + 1] = v & 0xff;
}

/* Right checksums, computed the way of RFC 1071; zero and "none" are never the result here. */
static void
set_checksums(bool ipv4, uint8_t proto, uint32_t l4_off, uint32_t l4_len)
{
	const uint32_t field = l4_off + (proto == IPPROTO_TCP ? 16 : 6);
	uint32_t sum = proto + l4_len;

	if (ipv4) {
		set16(24, 0);
		set16(24, ~rfc1071(0, f.data + 14, (f.data[14] & 0xf) * 4));
		sum = rfc1071(sum, f.data + 26, 8);
	} else {
		sum = rfc1071(sum, f.data + 22, 32);
	}
	set16(field, 0);
	set16(field, ~rfc1071(sum, f.data + l4_off, l4_len));
}

/* A frame with right checksums and a payload of odd length. Returns where the L4 starts. */
static uint32_t
make(bool ipv4, uint8_t proto, uint16_t payload)
{
	const uint32_t l4_len = (proto == IPPROTO_TCP ? 20 : 8) + payload;
	const uint32_t l4_off = ipv4 ? 34 : 54;

	put_eth(&f, ipv4 ? RTE_ETHER_TYPE_IPV4 : RTE_ETHER_TYPE_IPV6);
	if (ipv4)
		put_ipv4(&f, proto, l4_len, 0, 0);
	else
		put_ipv6(&f, proto, l4_len);
	if (proto == IPPROTO_TCP)
		put_tcp(&f);
	else
		put_udp(&f, payload);
	for (uint16_t i = 0; i < payload; i++)
		put8(&f, rand());
	set_checksums(ipv4, proto, l4_off, l4_len);
	return l4_off;
}

/* The frame as a chain whose first segment holds `first` bytes. */
static struct rte_mbuf *
to_mbuf(uint32_t first)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	first = RTE_MIN(first, f.len);
	memcpy(rte_pktmbuf_append(m, first), f.data, first);
	for (uint32_t done = first; done < f.len; done += first) {
		struct rte_mbuf *seg = rte_pktmbuf_alloc(pool);

		first = RTE_MIN(37u, f.len - done);
		memcpy(rte_pktmbuf_append(seg, first), f.data + done, first);
		assert_int_equal(rte_pktmbuf_chain(m, seg), 0);
	}
	return m;
}

static uint64_t
check_with(uint32_t first, bool ip, bool udp, bool tcp)
{
	struct rte_mbuf *m = to_mbuf(first);
	struct mpsim_parsed p;
	uint64_t flags;

	mpsim_parse(f.data, RTE_MIN(f.len, (uint32_t)MPSIM_HDR_MAX), f.len, &p);
	flags = mpsim_csum_check(m, rte_pktmbuf_mtod(m, const uint8_t *), &p, ip, udp, tcp);
	rte_pktmbuf_free(m);
	return flags;
}

static uint64_t
check(void)
{
	return check_with(UINT32_MAX, true, true, true);
}

static void
good_is_good_and_any_flipped_bit_is_bad(void **state)
{
	const uint8_t protos[] = {IPPROTO_TCP, IPPROTO_UDP};

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < 4; i++) {
		const bool ipv4 = i < 2;
		uint32_t l4_off = make(ipv4, protos[i % 2], 33);

		assert_int_equal(check(), (ipv4 ? IP_GOOD : 0) | L4_GOOD);
		for (uint32_t at = l4_off; at < f.len; at++) {
			/* a UDP length that points beyond the packet is still summed up */
			f.data[at] ^= 0x10;
			assert_int_equal(check(), (ipv4 ? IP_GOOD : 0) | L4_BAD);
			f.data[at] ^= 0x10;
		}
	}
}

static void
bad_ipv4_header_is_flagged(void **state)
{
	RTE_SET_USED(state);
	make(true, IPPROTO_UDP, 10);
	f.data[22] ^= 1; /* TTL: not in the pseudo header */
	assert_int_equal(check(), IP_BAD | L4_GOOD);
}

static void
chains_are_summed_whole(void **state)
{
	RTE_SET_USED(state);
	for (uint32_t first = 54; first < 62; first++) {
		make(true, IPPROTO_TCP, 101);
		assert_int_equal(check_with(first, true, true, true), IP_GOOD | L4_GOOD);
		f.data[f.len - 1] ^= 1;
		assert_int_equal(check_with(first, true, true, true), IP_GOOD | L4_BAD);
	}
}

static void
padding_is_not_summed(void **state)
{
	RTE_SET_USED(state);
	make(true, IPPROTO_UDP, 3);
	put_bytes(&f, "garbage", 7);
	assert_int_equal(check(), IP_GOOD | L4_GOOD);
}

static void
udp_without_checksum_is_unknown_over_ipv4_only(void **state)
{
	uint32_t l4_off;

	RTE_SET_USED(state);
	l4_off = make(true, IPPROTO_UDP, 8);
	set16(l4_off + 6, 0);
	assert_int_equal(check(), IP_GOOD);
	l4_off = make(false, IPPROTO_UDP, 8);
	set16(l4_off + 6, 0);
	assert_int_equal(check(), L4_BAD);
}

static void
only_what_is_wanted_is_checked(void **state)
{
	RTE_SET_USED(state);
	make(true, IPPROTO_UDP, 8);
	assert_int_equal(check_with(UINT32_MAX, true, false, true), IP_GOOD);
	assert_int_equal(check_with(UINT32_MAX, false, true, false), L4_GOOD);
	make(true, IPPROTO_TCP, 8);
	assert_int_equal(check_with(UINT32_MAX, false, true, false), 0);
	assert_int_equal(check_with(UINT32_MAX, false, false, true), L4_GOOD);
}

static void
fragments_are_unknown(void **state)
{
	RTE_SET_USED(state);
	make(true, IPPROTO_UDP, 8);
	f.data[20] = 0x20; /* more fragments; the header checksum is wrong now */
	assert_int_equal(check(), IP_BAD);
}

/* Fill in a frame whose checksum fields are garbage; it must become what make() made. */
static void
fill_and_compare(bool ipv4, uint8_t proto, uint16_t payload, uint32_t first, uint32_t pad)
{
	const uint32_t l4_off = make(ipv4, proto, payload);
	const uint32_t field = l4_off + (proto == IPPROTO_TCP ? 16 : 6);
	struct rte_mbuf *m;
	uint8_t back[512];
	struct frame good;

	put_zeros(&f, pad);
	good = f;
	if (ipv4)
		set16(24, 0xdead);
	set16(field, 0xbeef);
	m = to_mbuf(first);
	m->l2_len = 14;
	m->l3_len = l4_off - 14;
	m->ol_flags = (ipv4 ? RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_IP_CKSUM : RTE_MBUF_F_TX_IPV6) |
		      (proto == IPPROTO_TCP ? RTE_MBUF_F_TX_TCP_CKSUM : RTE_MBUF_F_TX_UDP_CKSUM);
	assert_int_equal(mpsim_csum_fill(m), 0);
	assert_memory_equal(rte_pktmbuf_read(m, 0, m->pkt_len, back), good.data, good.len);
	assert_int_equal(m->ol_flags & (RTE_MBUF_F_TX_IP_CKSUM | RTE_MBUF_F_TX_L4_MASK), 0);
	rte_pktmbuf_free(m);
}

static void
fill_makes_it_right(void **state)
{
	RTE_SET_USED(state);
	for (uint16_t payload = 0; payload < 40; payload++) {
		fill_and_compare(true, IPPROTO_TCP, payload, UINT32_MAX, 0);
		fill_and_compare(true, IPPROTO_UDP, payload, UINT32_MAX, 0);
		fill_and_compare(false, IPPROTO_TCP, payload, UINT32_MAX, 0);
		fill_and_compare(false, IPPROTO_UDP, payload, UINT32_MAX, 0);
	}
}

static void
fill_works_over_chains_and_padding(void **state)
{
	RTE_SET_USED(state);
	for (uint32_t first = 74; first < 80; first++) {
		fill_and_compare(true, IPPROTO_TCP, 99, first, 0);
		fill_and_compare(false, IPPROTO_UDP, 100, first, 0);
	}
	fill_and_compare(true, IPPROTO_UDP, 2, UINT32_MAX, 16);
}

/* RFC 768: a sum of zero is sent as all ones, since zero means "none". */
static void
udp_checksum_is_never_zero(void **state)
{
	struct rte_mbuf *m;
	uint16_t was, sum;

	RTE_SET_USED(state);
	make(true, IPPROTO_UDP, 2);
	memcpy(&was, f.data + 40, 2);
	/* with the old checksum as payload the new one comes out as zero */
	memset(f.data + 42, 0, 2);
	set_checksums(true, IPPROTO_UDP, 34, 10);
	memcpy(f.data + 42, f.data + 40, 2);
	m = to_mbuf(UINT32_MAX);
	m->l2_len = 14;
	m->l3_len = 20;
	m->ol_flags = RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_UDP_CKSUM;
	assert_int_equal(mpsim_csum_fill(m), 0);
	memcpy(&sum, rte_pktmbuf_mtod_offset(m, uint8_t *, 40), 2);
	assert_int_equal(sum, 0xffff);
	rte_pktmbuf_free(m);
}

static void
lengths_beyond_the_frame_are_refused(void **state)
{
	struct rte_mbuf *m;

	RTE_SET_USED(state);
	make(true, IPPROTO_TCP, 0);
	m = to_mbuf(UINT32_MAX);
	m->ol_flags = RTE_MBUF_F_TX_IPV4 | RTE_MBUF_F_TX_TCP_CKSUM;
	m->l2_len = 14;
	m->l3_len = 21;
	assert_int_equal(mpsim_csum_fill(m), -EINVAL);
	m->l3_len = 0;
	assert_int_equal(mpsim_csum_fill(m), -EINVAL);
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), f.data, f.len);
	rte_pktmbuf_free(m);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_is_good_and_any_flipped_bit_is_bad),
		cmocka_unit_test(bad_ipv4_header_is_flagged),
		cmocka_unit_test(chains_are_summed_whole),
		cmocka_unit_test(padding_is_not_summed),
		cmocka_unit_test(udp_without_checksum_is_unknown_over_ipv4_only),
		cmocka_unit_test(only_what_is_wanted_is_checked),
		cmocka_unit_test(fragments_are_unknown),
		cmocka_unit_test(fill_makes_it_right),
		cmocka_unit_test(fill_works_over_chains_and_padding),
		cmocka_unit_test(udp_checksum_is_never_zero),
		cmocka_unit_test(lengths_beyond_the_frame_are_refused),
	};

	srand(3);
	return cmocka_run_group_tests(tests, setup, teardown);
}
