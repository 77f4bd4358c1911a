/* SPDX-License-Identifier: BSD-3-Clause */

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_thash.h>

#include "octo_test.h"

#include "mpsim_rss.h"

#define ROUNDS 2000
#define L4_OFF_V4 (14 + 20)
#define L4_OFF_V6 (14 + 40)

static struct mpsim_rss rss;
static uint8_t frame[128];

static void
randomize(void *mem, size_t len)
{
	uint8_t *p = mem;

	for (size_t i = 0; i < len; i++)
		p[i] = rand();
}

static void
use_random_key(void)
{
	uint8_t key[MPSIM_RSS_KEY_LEN];

	randomize(key, sizeof(key));
	mpsim_rss_set_key(&rss, key);
}

static struct mpsim_parsed
parsed_as(uint8_t cls)
{
	return (struct mpsim_parsed){
		.cls = cls,
		.l3_off = 14,
		.l4_off = mpsim_class_is_ipv4(cls) ? L4_OFF_V4 : L4_OFF_V6,
	};
}

/* What DPDK computes over `words` 32-bit words of addresses and ports. */
static uint32_t
reference(uint8_t cls, unsigned int words)
{
	const bool ipv4 = mpsim_class_is_ipv4(cls);
	uint32_t tuple[9], converted[MPSIM_RSS_KEY_LEN / 4];
	uint32_t key[MPSIM_RSS_KEY_LEN / 4];
	const size_t addrs = ipv4 ? 8 : 32;

	memcpy(tuple, frame + 14 + (ipv4 ? 12 : 8), addrs);
	memcpy((uint8_t *)tuple + addrs, frame + (ipv4 ? L4_OFF_V4 : L4_OFF_V6), 4);
	for (unsigned int i = 0; i < words; i++)
		tuple[i] = ntohl(tuple[i]);
	memcpy(key, rss.key, sizeof(key));
	rte_convert_rss_key(key, converted, MPSIM_RSS_KEY_LEN);
	return rte_softrss_be(tuple, words, (const uint8_t *)converted);
}

static void
check_against_reference(uint8_t cls, uint64_t hf, unsigned int words)
{
	const struct mpsim_parsed p = parsed_as(cls);
	uint32_t hash;

	mpsim_rss_set_hf(&rss, hf);
	for (int i = 0; i < ROUNDS; i++) {
		if (i % 100 == 0)
			use_random_key();
		randomize(frame, sizeof(frame));
		assert_true(mpsim_rss_hash(&rss, frame, &p, &hash));
		assert_int_equal(hash, reference(cls, words));
	}
}

static void
ports_are_hashed_as_dpdk_does(void **state)
{
	RTE_SET_USED(state);
	check_against_reference(MPSIM_CLASS_IPV4_TCP, RTE_ETH_RSS_NONFRAG_IPV4_TCP, 3);
	check_against_reference(MPSIM_CLASS_IPV4_UDP, RTE_ETH_RSS_UDP, 3);
	check_against_reference(MPSIM_CLASS_IPV4_SCTP, RTE_ETH_RSS_SCTP | RTE_ETH_RSS_IP, 3);
	check_against_reference(MPSIM_CLASS_IPV6_TCP, RTE_ETH_RSS_TCP, 9);
	check_against_reference(MPSIM_CLASS_IPV6_UDP, RTE_ETH_RSS_NONFRAG_IPV6_UDP, 9);
	check_against_reference(MPSIM_CLASS_IPV6_SCTP, RTE_ETH_RSS_SCTP, 9);
}

static void
addresses_are_hashed_as_dpdk_does(void **state)
{
	RTE_SET_USED(state);
	check_against_reference(MPSIM_CLASS_IPV4, RTE_ETH_RSS_IPV4, 2);
	check_against_reference(MPSIM_CLASS_IPV4_FRAG, RTE_ETH_RSS_FRAG_IPV4, 2);
	check_against_reference(MPSIM_CLASS_IPV4_TCP, RTE_ETH_RSS_IPV4, 2);
	check_against_reference(MPSIM_CLASS_IPV6, RTE_ETH_RSS_NONFRAG_IPV6_OTHER, 8);
	check_against_reference(MPSIM_CLASS_IPV6_FRAG, RTE_ETH_RSS_IPV6, 8);
	check_against_reference(MPSIM_CLASS_IPV6_UDP, RTE_ETH_RSS_IPV6, 8);
}

/* Of the verification suite in Microsoft's RSS specification. */
static void
published_vector_matches(void **state)
{
	const struct mpsim_parsed p = parsed_as(MPSIM_CLASS_IPV4_TCP);
	const uint8_t addrs[] = {66, 9, 149, 187, 161, 142, 100, 80};
	const rte_be16_t ports[] = {htons(2794), htons(1766)};
	uint32_t hash;

	RTE_SET_USED(state);
	mpsim_rss_set_key(&rss, mpsim_rss_default_key);
	memcpy(frame + 14 + 12, addrs, sizeof(addrs));
	memcpy(frame + L4_OFF_V4, ports, sizeof(ports));
	mpsim_rss_set_hf(&rss, RTE_ETH_RSS_TCP);
	assert_true(mpsim_rss_hash(&rss, frame, &p, &hash));
	assert_int_equal(hash, 0x51ccc178);
	mpsim_rss_set_hf(&rss, RTE_ETH_RSS_IPV4);
	assert_true(mpsim_rss_hash(&rss, frame, &p, &hash));
	assert_int_equal(hash, 0x323e8fc2);
}

static void
types_not_asked_for_are_not_hashed(void **state)
{
	const uint64_t hf = RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_FRAG_IPV6;
	uint32_t hash;

	RTE_SET_USED(state);
	mpsim_rss_set_hf(&rss, hf);
	for (uint8_t cls = 0; cls < MPSIM_NB_CLASSES; cls++) {
		const struct mpsim_parsed p = parsed_as(cls);

		assert_int_equal(mpsim_rss_hash(&rss, frame, &p, &hash),
				 cls == MPSIM_CLASS_IPV4_TCP || cls == MPSIM_CLASS_IPV6_FRAG);
	}
}

/* RTE_ETH_RSS_IP has the extension type in it, and applications ask for all of that. */
static void
extension_types_hash_what_the_header_says(void **state)
{
	RTE_SET_USED(state);
	check_against_reference(MPSIM_CLASS_IPV6, RTE_ETH_RSS_IPV6_EX, 8);
	check_against_reference(MPSIM_CLASS_IPV6_TCP, RTE_ETH_RSS_IPV6_TCP_EX, 9);
	check_against_reference(MPSIM_CLASS_IPV6_UDP, RTE_ETH_RSS_IPV6_UDP_EX, 9);
	assert_int_equal(RTE_ETH_RSS_IP & ~MPSIM_RSS_HF, 0);
}

static void
unknown_types_are_left_out(void **state)
{
	RTE_SET_USED(state);
	mpsim_rss_set_hf(&rss, UINT64_MAX);
	assert_int_equal(rss.hf, MPSIM_RSS_HF);
}

static void
default_table_spreads_evenly(void **state)
{
	unsigned int buckets[3] = {0};

	RTE_SET_USED(state);
	mpsim_rss_set_default_reta(&rss, 3);
	for (uint32_t h = 0; h < MPSIM_RSS_RETA_SIZE; h++)
		buckets[mpsim_rss_queue(&rss, h)]++;
	assert_int_equal(buckets[0], 43);
	assert_int_equal(buckets[1], 43);
	assert_int_equal(buckets[2], 42);
	assert_int_equal(mpsim_rss_queue(&rss, 0xffffff81), mpsim_rss_queue(&rss, 1));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports_are_hashed_as_dpdk_does),
		cmocka_unit_test(addresses_are_hashed_as_dpdk_does),
		cmocka_unit_test(published_vector_matches),
		cmocka_unit_test(types_not_asked_for_are_not_hashed),
		cmocka_unit_test(extension_types_hash_what_the_header_says),
		cmocka_unit_test(unknown_types_are_left_out),
		cmocka_unit_test(default_table_spreads_evenly),
	};

	srand(2);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
