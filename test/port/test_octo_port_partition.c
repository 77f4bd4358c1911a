/* SPDX-License-Identifier: BSD-3-Clause */

/* Tier partition: nothing strays, all arrives, and an application that looks gets exact. */

#include <netinet/in.h>

#include <rte_ether.h>

#include "octo_port.h"
#include "octo_port_fault.h"
#include "octo_private.h"

#define BURST 32
#define FRAME_LEN 90
#define MAX_QUEUES 16
#define RSS_TYPES (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP)

static const struct octo_port_conf two_pfs = {.octo = "tier=partition"};
/* What no rule matches comes by PF 1. */
static const struct octo_port_conf by_pf_1 = {.octo = "tier=partition", .nic = "default_pf=1"};

/* What came to each queue. */
static struct {
	uint64_t of[MAX_QUEUES];
	uint64_t all;
} seen;

static uint64_t random_state;

static uint32_t
random_word(void)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return random_state >> 32;
}

/* A port that hashes these types, with the key or with the PMD's own. */
static void
up(uint16_t port, uint16_t nb_queues, uint64_t types, uint8_t *key)
{
	const struct rte_eth_conf conf = {
		.rxmode = {.mq_mode = types == 0 ? RTE_ETH_MQ_RX_NONE : RTE_ETH_MQ_RX_RSS},
		.rx_adv_conf.rss_conf = {.rss_hf = types,
					 .rss_key = key,
					 .rss_key_len = key == NULL ? 0 : 40},
	};

	octo_port_up_as(port, nb_queues, &conf);
	memset(&seen, 0, sizeof(seen));
	random_state = 4;
}

static const char *
tier(uint16_t port)
{
	static struct octo_view_topology view;

	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	return view.tier;
}

static void
put16(uint8_t *p, uint16_t value)
{
	p[0] = value >> 8;
	p[1] = value;
}

/* Random addresses and ports; first or last: of a datagram in two fragments. */
static void
fill_ipv4(uint8_t *p, bool fragment, bool last)
{
	put16(p + 12, RTE_ETHER_TYPE_IPV4);
	p += RTE_ETHER_HDR_LEN;
	p[0] = 0x45;
	put16(p + 2, FRAME_LEN - RTE_ETHER_HDR_LEN);
	put16(p + 6, fragment ? (last ? 9 : 0x2000) : 0);
	p[8] = 64;
	p[9] = random_word() % 2 == 0 ? IPPROTO_UDP : IPPROTO_TCP;
	for (int i = 12; i < 24; i++)
		p[i] = random_word();
}

static void
fill_ipv6(uint8_t *p)
{
	put16(p + 12, RTE_ETHER_TYPE_IPV6);
	p += RTE_ETHER_HDR_LEN;
	p[0] = 0x60;
	put16(p + 4, FRAME_LEN - RTE_ETHER_HDR_LEN - 40);
	p[6] = random_word() % 2 == 0 ? IPPROTO_UDP : IPPROTO_TCP;
	p[7] = 64;
	for (int i = 8; i < 44; i++)
		p[i] = random_word();
}

enum kind {
	ANY_IP,
	IPV6,
	FRAGMENTS, /* both of a datagram, one after the other */
	ARP,
};

static void
fill(uint8_t *p, enum kind kind, unsigned int i)
{
	memset(p, 0, FRAME_LEN);
	p[6] = 0x02;
	if (kind == ARP)
		put16(p + 12, RTE_ETHER_TYPE_ARP);
	else if (kind == FRAGMENTS)
		fill_ipv4(p, true, i % 2 != 0);
	else if (kind == IPV6 || i % 2 == 0)
		fill_ipv6(p);
	else
		fill_ipv4(p, i % 5 == 0, false);
}

static void
transmit(uint16_t port, enum kind kind, unsigned int n)
{
	struct rte_mbuf *pkts[BURST];
	struct rte_ether_addr mac;
	uint8_t *data[BURST];

	assert_true(n <= BURST);
	assert_int_equal(rte_eth_macaddr_get(port, &mac), 0);
	assert_int_equal(rte_pktmbuf_alloc_bulk(octo_port_pool, pkts, n), 0);
	for (unsigned int i = 0; i < n; i++) {
		data[i] = (uint8_t *)rte_pktmbuf_append(pkts[i], FRAME_LEN);
		fill(data[i], kind, i);
		memcpy(data[i], &mac, sizeof(mac));
		/* the same addresses, other "ports": those are payload here */
		if (kind == FRAGMENTS && i % 2 != 0)
			memcpy(data[i] + 26, data[i - 1] + 26, 8);
	}
	assert_int_equal(rte_eth_tx_burst(port, 0, pkts, n), n);
}

static void
poll_all(uint16_t port, uint16_t nb_queues)
{
	struct rte_mbuf *pkts[BURST];

	for (uint16_t q = 0; q < nb_queues; q++) {
		const uint16_t got = rte_eth_rx_burst(port, q, pkts, BURST);

		seen.of[q] += got;
		seen.all += got;
		rte_pktmbuf_free_bulk(pkts, got);
	}
}

/*
 * Polls all queues until all sent is there: nothing may be lost. What is still on
 * the wire comes when nobody changes the rules of the NIC any more.
 */
static void
receive(uint16_t port, uint16_t nb_queues, uint64_t n)
{
	const uint64_t end = seen.all + n;

	for (unsigned int round = 0; round < 20000 && seen.all < end; round++) {
		poll_all(port, nb_queues);
		if (round > 200)
			octo_port_pass_us(100);
	}
	assert_int_equal(seen.all, end);
}

static void
talk(uint16_t port, uint16_t nb_queues, enum kind kind, unsigned int packets)
{
	for (; packets > 0; packets -= RTE_MIN(packets, (unsigned int)BURST)) {
		const unsigned int n = RTE_MIN(packets, (unsigned int)BURST);

		transmit(port, kind, n);
		receive(port, nb_queues, n);
	}
}

static void
test_nothing_strays_and_the_load_is_even(void **state)
{
	static const struct {
		unsigned int pfs;
		uint16_t queues;
	} cases[] = {{2, 2}, {2, 3}, {2, 8}, {4, 4}, {4, 6}, {8, 8}};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		const struct octo_port_conf conf = {.nb_pfs = cases[i].pfs,
						    .octo = "tier=partition"};
		const uint16_t nb = cases[i].queues;
		const uint16_t port = octo_port_create(&conf);

		up(port, nb, RSS_TYPES, NULL);
		assert_string_equal(tier(port), "partition");
		talk(port, nb, ANY_IP, 80000);
		assert_int_equal(octo_port_strays(port), 0);
		for (uint16_t q = 0; q < nb; q++)
			assert_in_range(seen.of[q] * nb * 100 / seen.all, 95, 105);
		octo_port_destroy();
	}
}

static void
test_each_reta_covers_the_queues_of_its_pf(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	up(port, 5, RSS_TYPES, NULL);
	assert_int_equal(octo_port_reta_of(0), 0x15);
	assert_int_equal(octo_port_reta_of(1), 0x0a);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	assert_string_equal(tier(port), "partition");
	assert_int_equal(octo_port_reta_of(1), 0x0a);
}

static void
test_fragments_stay_with_their_datagram(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	up(port, 4, RSS_TYPES, NULL);
	for (int i = 0; i < 500; i++) {
		talk(port, 4, FRAGMENTS, 2);
		for (int q = 0; q < 4; q++)
			assert_int_equal(seen.of[q] % 2, 0);
	}
	for (int q = 0; q < 4; q++)
		assert_true(seen.of[q] > 150);
	assert_int_equal(octo_port_strays(port), 0);
}

static void
test_what_is_not_ip_goes_home_to_queue_0(void **state)
{
	const uint16_t port = octo_port_create(&by_pf_1);

	(void)state;
	up(port, 4, RSS_TYPES, NULL);
	talk(port, 4, ARP, 100);
	assert_int_equal(seen.of[0], 100);
	assert_int_equal(octo_port_strays(port), 0);
}

static void
test_a_family_that_is_not_hashed_goes_with_it(void **state)
{
	const uint16_t port = octo_port_create(&by_pf_1);

	(void)state;
	up(port, 4, RTE_ETH_RSS_IPV4, NULL);
	talk(port, 4, IPV6, 100);
	assert_int_equal(seen.of[0], 100);
	talk(port, 4, ANY_IP, 6400);
	assert_true(seen.of[3] > 600);
	assert_int_equal(octo_port_strays(port), 0);
}

static void
test_without_rss_all_goes_to_queue_0(void **state)
{
	const uint16_t port = octo_port_create(&by_pf_1);

	(void)state;
	up(port, 4, 0, NULL);
	assert_string_equal(tier(port), "partition");
	talk(port, 4, ANY_IP, 100);
	assert_int_equal(seen.of[0], 100);
	assert_int_equal(octo_port_strays(port), 0);
}

static int
query_reta(uint16_t port)
{
	struct rte_eth_rss_reta_entry64 reta[2] = {{.mask = UINT64_MAX}, {.mask = UINT64_MAX}};

	return rte_eth_dev_rss_reta_query(port, reta, 128);
}

static int
set_reta(uint16_t port)
{
	struct rte_eth_rss_reta_entry64 reta[2] = {{.mask = 1, .reta = {3}}};

	return rte_eth_dev_rss_reta_update(port, reta, 128);
}

static int
query_key(uint16_t port)
{
	uint8_t key[64];
	struct rte_eth_rss_conf conf = {.rss_key = key, .rss_key_len = sizeof(key)};

	return rte_eth_dev_rss_hash_conf_get(port, &conf);
}

static int
set_types(uint16_t port)
{
	struct rte_eth_rss_conf conf = {.rss_hf = RTE_ETH_RSS_IP};

	return rte_eth_dev_rss_hash_update(port, &conf);
}

static void
test_who_looks_at_rss_gets_tier_exact(void **state)
{
	static int (*const looks[])(uint16_t port) = {query_reta, set_reta, query_key, set_types};
	const uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	for (size_t i = 0; i < RTE_DIM(looks); i++) {
		up(port, 4, RSS_TYPES, NULL);
		assert_string_equal(tier(port), "partition");
		assert_int_equal(looks[i](port), 0);
		assert_string_equal(tier(port), "exact");
		assert_int_equal(octo_port_reta_of(0), 0xf);
		assert_int_equal(octo_port_reta_of(1), 0xf);
		talk(port, 4, ANY_IP, 640);
		assert_true(octo_port_strays(port) > 0);
		/* until it is configured anew */
		assert_int_equal(rte_eth_dev_stop(port), 0);
		assert_int_equal(rte_eth_dev_start(port), 0);
		assert_string_equal(tier(port), "exact");
		assert_int_equal(rte_eth_dev_stop(port), 0);
	}
}

static void
test_hash_types_can_be_asked_for(void **state)
{
	struct rte_eth_rss_conf conf = {.rss_key = NULL};
	const uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	up(port, 2, RSS_TYPES, NULL);
	assert_int_equal(rte_eth_dev_rss_hash_conf_get(port, &conf), 0);
	assert_true(conf.rss_hf & RTE_ETH_RSS_IPV4);
	assert_string_equal(tier(port), "partition");
}

static void
test_who_gives_a_key_gets_tier_exact(void **state)
{
	uint8_t key[40] = {0x6d, 0x5a, 0x6d, 0x5a};
	const uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	up(port, 4, RSS_TYPES, key);
	assert_string_equal(tier(port), "exact");
	assert_int_equal(octo_port_reta_of(0), 0xf);
}

static void
test_a_refused_reta_changes_nothing(void **state)
{
	struct rte_eth_rss_reta_entry64 reta[1] = {{.mask = 1}};
	const uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	up(port, 4, RSS_TYPES, NULL);
	assert_true(rte_eth_dev_rss_reta_update(port, reta, 64) < 0);
	assert_string_equal(tier(port), "partition");
	assert_int_equal(octo_port_reta_of(1), 0xa);
}

static void
test_explicit_rules_come_first(void **state)
{
	const uint16_t port = octo_port_create(&by_pf_1);

	(void)state;
	up(port, 4, RSS_TYPES, NULL);
	for (uint16_t q = 0; q < 4; q++)
		assert_non_null(octo_port_steer(port, 100 + q, q, NULL));
	for (uint16_t q = 0; q < 4; q++) {
		octo_port_send(port, 0, 100 + q, BURST);
		receive(port, 4, BURST);
		assert_int_equal(seen.of[q], BURST);
	}
	assert_int_equal(octo_port_strays(port), 0);
	/* and so do those that are left when the partition goes */
	assert_int_equal(query_reta(port), 0);
	octo_port_send(port, 0, 103, BURST);
	receive(port, 4, BURST);
	assert_int_equal(seen.of[3], 2 * BURST);
	assert_int_equal(octo_port_strays(port), 0);
}

/* Either is lost, the one with the rules of the switch, too. */
static void
test_the_pfs_that_are_left_cover_all_queues(void **state)
{
	(void)state;
	for (unsigned int lost = 0; lost < 3; lost++) {
		const struct octo_port_conf conf = {.nb_pfs = 3, .octo = "tier=partition"};
		const uint16_t port = octo_port_create(&conf);
		const unsigned int first = lost == 0 ? 1 : 0;
		const unsigned int left = lost == 2 ? 1 : 2;

		up(port, 6, RSS_TYPES, NULL);
		talk(port, 6, ANY_IP, 640);
		octo_port_remove_pf(lost);
		/* a queue finds its new home when it is polled */
		octo_port_await(
			(talk(port, 6, ARP, 1),
			 (octo_port_reta_of(first) | octo_port_reta_of(left)) == 0x3f &&
				 (octo_port_reta_of(first) & octo_port_reta_of(left)) == 0));
		memset(&seen, 0, sizeof(seen));
		talk(port, 6, ANY_IP, 6400);
		for (int q = 0; q < 6; q++)
			assert_true(seen.of[q] > 100);
		assert_string_equal(tier(port), "partition");
		octo_port_destroy();
	}
}

static bool
all_at_home(uint16_t port, uint16_t nb_queues, int pf)
{
	struct octo_view_queue q;
	bool all = true;

	for (uint16_t i = 0; i < nb_queues; i++) {
		assert_int_equal(octo_view_queue(port, i, &q), 0);
		all &= q.home.pf == pf;
	}
	return all;
}

static void
test_a_pf_without_link_is_left(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	up(port, 4, RSS_TYPES, NULL);
	talk(port, 4, ANY_IP, 640);
	assert_int_equal(rte_eth_dev_set_link_down(octo_port_pf(1)), 0);
	octo_port_await(
		(talk(port, 4, ARP, 1), octo_port_reta_of(0) == 0xf && all_at_home(port, 4, 0)));
	memset(&seen, 0, sizeof(seen));
	octo_port_await((talk(port, 4, ARP, 1), octo_port_strays(port) == 0));
	talk(port, 4, ANY_IP, 640);
	for (int q = 0; q < 4; q++)
		assert_true(seen.of[q] > 50);
	assert_int_equal(rte_eth_dev_set_link_up(octo_port_pf(1)), 0);
	octo_port_await((talk(port, 4, ARP, 1),
			 octo_port_reta_of(0) == 0x5 && octo_port_reta_of(1) == 0xa));
	talk(port, 4, ANY_IP, 640);
	assert_int_equal(octo_port_strays(port), 0);
}

static void
test_queues_that_move_take_their_share_along(void **state)
{
	const struct octo_port_conf conf = {.two_nodes = true, .octo = "tier=partition"};
	const uint16_t port = octo_port_create(&conf);

	(void)state;
	if (!octo_port_has_two_nodes())
		skip();
	octo_port_run_on(0);
	up(port, 2, RSS_TYPES, NULL);
	octo_port_await((talk(port, 2, ARP, 1), octo_port_reta_of(0) == 0x3));
	octo_port_run_on(1);
	octo_port_await((talk(port, 2, ARP, 1), octo_port_reta_of(1) == 0x3));
	talk(port, 2, ANY_IP, 640);
	assert_true(seen.of[0] > 200 && seen.of[1] > 200);
}

/* As after many changes, between which steps of the next were left out. */
static void
test_a_partition_in_too_many_pieces_starts_over(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);
	struct octo_dev *octo = octo_of(&rte_eth_devices[port]);
	struct octo_tier_partition *p = &octo->partition;
	unsigned int most = 0;

	(void)state;
	up(port, 4, RSS_TYPES, NULL);
	octo_lock(octo);
	for (uint32_t i = 0; i < OCTO_PARTITION_BUCKETS; i++)
		p->plan->map.bucket[i] = i % 2;
	p->settled = false;
	octo_unlock(octo);
	octo_port_await((talk(port, 4, ARP, 1), most = RTE_MAX(most, p->set.nb_flows),
			 p->settled && !p->stepping));
	assert_in_range(most, 1, 2 * OCTO_PARTITION_MAX_RULES + 1);
	assert_string_equal(tier(port), "partition");
	talk(port, 4, ANY_IP, 640);
	assert_int_equal(octo_port_strays(port), 0);
}

static void
test_a_table_without_room_gives_tier_exact(void **state)
{
	const struct octo_port_conf conf = {.nic = "mpfs_entries=20", .octo = "tier=partition"};
	const uint16_t port = octo_port_create(&conf);

	(void)state;
	up(port, 3, RSS_TYPES, NULL);
	assert_string_equal(tier(port), "exact");
	assert_int_equal(octo_port_reta_of(0), 0x7);
	talk(port, 3, ANY_IP, 640);
	/* what was put into the table is out of it again */
	for (uint16_t i = 0; i < 20; i++)
		assert_non_null(octo_port_steer(port, 100 + i, 1, NULL));
}

/* The queues of the PF by which all comes have all the load; they do not stray for that. */
static void
test_masked_rules_that_are_ignored(void **state)
{
	const struct octo_port_conf conf = {.nic = "ignore=mpfs", .octo = "tier=partition"};
	const uint16_t port = octo_port_create(&conf);
	struct octo_view_topology view;

	(void)state;
	up(port, 4, RSS_TYPES, NULL);
	assert_string_equal(tier(port), "partition");
	for (int i = 0; i < 500 && strcmp(tier(port), "exact") != 0; i++) {
		talk(port, 4, ANY_IP, 640);
		octo_port_pass_us(10000);
	}
	assert_int_equal(rte_pmd_octo_view_topology(port, &view), 0);
	assert_string_equal(view.tier, "exact");
	assert_string_equal(view.ignored, "masked");
	assert_int_equal(octo_port_reta_of(0), 0xf);
}

/* A while in which most packets come by a rule of their flow proves nothing. */
static void
test_masked_rules_that_nothing_needs(void **state)
{
	const uint16_t port = octo_port_create(&two_pfs);

	(void)state;
	up(port, 2, RSS_TYPES, NULL);
	assert_non_null(octo_port_steer(port, 100, 1, NULL));
	for (int i = 0; i < 300; i++) {
		octo_port_send(port, 0, 100, BURST);
		receive(port, 2, BURST);
		octo_port_pass_us(10000);
	}
	assert_string_equal(tier(port), "partition");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		octo_port_test(test_nothing_strays_and_the_load_is_even),
		octo_port_test(test_each_reta_covers_the_queues_of_its_pf),
		octo_port_test(test_fragments_stay_with_their_datagram),
		octo_port_test(test_what_is_not_ip_goes_home_to_queue_0),
		octo_port_test(test_a_family_that_is_not_hashed_goes_with_it),
		octo_port_test(test_without_rss_all_goes_to_queue_0),
		octo_port_test(test_who_looks_at_rss_gets_tier_exact),
		octo_port_test(test_hash_types_can_be_asked_for),
		octo_port_test(test_who_gives_a_key_gets_tier_exact),
		octo_port_test(test_a_refused_reta_changes_nothing),
		octo_port_test(test_explicit_rules_come_first),
		octo_port_test(test_the_pfs_that_are_left_cover_all_queues),
		octo_port_test(test_a_pf_without_link_is_left),
		octo_port_test(test_queues_that_move_take_their_share_along),
		octo_port_test(test_a_partition_in_too_many_pieces_starts_over),
		octo_port_test(test_a_table_without_room_gives_tier_exact),
		octo_port_test(test_masked_rules_that_are_ignored),
		octo_port_test(test_masked_rules_that_nothing_needs),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
