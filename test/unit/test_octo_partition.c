/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_thash.h>

#include "octo_test.h"

#include "octo_partition.h"

#define MAX_QUEUES 64
#define MAX_RETA 512

/* Queues at home on each PF. */
struct layout {
	uint16_t nb_pfs;
	uint16_t queues[OCTO_PLAN_MAX_PFS];
};

static const struct layout layouts[] = {
	{2, {1, 1}},
	{2, {2, 2}},
	{2, {4, 4}},
	{2, {1, 2}},
	{2, {3, 1}},
	{2, {5, 3}},
	{2, {1, 7}},
	{2, {0, 4}},
	{1, {3}},
	{3, {1, 1, 1}},
	{3, {2, 0, 3}},
	{3, {1, 2, 4}},
	{4, {1, 1, 1, 1}},
	{4, {2, 2, 2, 2}},
	{4, {1, 2, 3, 4}},
	{4, {4, 0, 0, 1}},
	{5, {1, 2, 1, 2, 1}},
	{6, {2, 1, 2, 1, 2, 1}},
	{7, {1, 1, 1, 1, 1, 1, 1}},
	{8, {1, 1, 1, 1, 1, 1, 1, 1}},
	{8, {3, 1, 0, 2, 1, 0, 4, 1}},
	{8, {0, 0, 0, 0, 0, 0, 0, 2}},
};

/* What a NIC does with the addresses and ports of a packet. */
struct packet {
	uint32_t words[9]; /* source, destination, ports, as RSS reads them; host order */
	uint8_t addr_words;
	bool fragment;
};

struct nic {
	unsigned int nb_rules;
	struct octo_partition_rule rules[OCTO_PARTITION_MAX_RULES];
	uint16_t nb_queues;
	uint8_t home[MAX_QUEUES];
	uint16_t reta_size;
	uint16_t reta[OCTO_PLAN_MAX_PFS][MAX_RETA];
	uint8_t default_pf;
	uint32_t load[MAX_QUEUES];
	uint32_t packets;
};

static struct nic nic;

/* The key of Microsoft's specification, with which NICs come up. */
static const uint8_t rss_key[] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

/* One that hashes both directions alike. */
static const uint8_t symmetric_key[] = {
	0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a,
	0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a,
	0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a, 0x6d, 0x5a,
};

static uint64_t random_state;

static uint32_t
random_word(void)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return random_state >> 32;
}

/* Shared out anew. */
static unsigned int
rules_of(const uint16_t queues[], uint16_t nb_pfs, struct octo_partition_rule rules[])
{
	static uint8_t buckets[OCTO_PARTITION_BUCKETS];
	uint16_t all = 0;
	uint8_t rest = 0;

	for (uint16_t pf = nb_pfs; pf > 0; pf--) {
		all += queues[pf - 1];
		rest = queues[pf - 1] > 0 ? pf - 1 : rest;
	}
	octo_partition_share(queues, nb_pfs, buckets, false);
	return octo_partition_rules(buckets, rest, all, rules);
}

static void
set_up(const struct layout *layout, uint16_t reta_size)
{
	memset(&nic, 0, sizeof(nic));
	random_state = 4;
	for (uint8_t pf = 0; pf < layout->nb_pfs; pf++)
		for (uint16_t i = 0; i < layout->queues[pf]; i++)
			nic.home[nic.nb_queues++] = pf;
	nic.default_pf = nic.home[0];
	nic.nb_rules = rules_of(layout->queues, layout->nb_pfs, nic.rules);
	nic.reta_size = reta_size;
	for (uint8_t pf = 0; pf < layout->nb_pfs; pf++)
		octo_partition_reta(nic.home, nic.nb_queues, pf, nic.reta[pf], reta_size, false);
}

static bool
matches(const struct octo_partition_rule *rule, uint32_t src, uint32_t dst)
{
	return (src & rule->src_mask) == rule->src && (dst & rule->dst_mask) == rule->dst;
}

/* The last words of the addresses choose the PF, and one rule only may match. */
static uint16_t
choose_pf(const struct packet *p)
{
	const uint32_t src = p->words[p->addr_words / 2 - 1];
	const uint32_t dst = p->words[p->addr_words - 1];
	uint16_t pf = nic.default_pf;
	unsigned int matched = 0;

	for (unsigned int i = 0; i < nic.nb_rules; i++) {
		if (!matches(&nic.rules[i], src, dst))
			continue;
		pf = nic.rules[i].pf;
		matched++;
	}
	assert_int_equal(matched, nic.nb_rules > 0);
	return pf;
}

static void
receive(const struct packet *p, const uint8_t *key)
{
	const uint16_t pf = choose_pf(p);
	uint32_t words[9];
	uint16_t queue;
	uint32_t hash;

	memcpy(words, p->words, sizeof(words));
	hash = rte_softrss(words, p->addr_words + (p->fragment ? 0 : 1), key);
	queue = nic.reta[pf][hash % nic.reta_size];
	/* no stray */
	assert_int_equal(nic.home[queue], pf);
	nic.load[queue]++;
	nic.packets++;
}

/* By how much the fullest queue has more than its share, in percent. */
static double
imbalance(void)
{
	uint32_t most = 0;

	for (uint16_t q = 0; q < nic.nb_queues; q++)
		most = RTE_MAX(most, nic.load[q]);
	return 100.0 * most * nic.nb_queues / nic.packets - 100;
}

static void
random_packet(struct packet *p)
{
	p->addr_words = random_word() % 2 == 0 ? 2 : 8;
	p->fragment = random_word() % 5 == 0;
	for (unsigned int i = 0; i <= p->addr_words; i++)
		p->words[i] = random_word();
}

/* What cannot be shared out better: so many entries for so many queues. */
static double
reta_rounding(const struct layout *layout)
{
	double worst = 0;

	for (uint16_t pf = 0; pf < layout->nb_pfs; pf++) {
		const uint16_t n = layout->queues[pf];
		const uint16_t more = n == 0 ? 0 : (nic.reta_size + n - 1) / n * n;

		worst = RTE_MAX(worst, 100.0 * more / nic.reta_size - 100);
	}
	return worst;
}

static void
check_random(const struct layout *layout, uint16_t reta_size, const uint8_t *key)
{
	struct packet p;

	set_up(layout, reta_size);
	for (unsigned int i = 0; i < 100000; i++) {
		random_packet(&p);
		receive(&p, key);
	}
	for (uint16_t q = 0; q < nic.nb_queues; q++) {
		const double load = 100.0 * nic.load[q] * nic.nb_queues / nic.packets - 100;

		assert_true(load < 5 + reta_rounding(layout));
		assert_true(load > -5 - reta_rounding(layout));
	}
}

static void
test_random_packets_load_all_queues_alike(void **state)
{
	(void)state;
	for (size_t i = 0; i < RTE_DIM(layouts); i++)
		check_random(&layouts[i], 512, rss_key);
}

/* The RETA index and the choice of the PF are made of the same bits: even then. */
static void
test_load_is_even_under_another_key(void **state)
{
	(void)state;
	for (size_t i = 0; i < RTE_DIM(layouts); i++)
		check_random(&layouts[i], 512, symmetric_key);
}

static void
test_load_is_even_with_a_small_reta(void **state)
{
	(void)state;
	for (size_t i = 0; i < RTE_DIM(layouts); i++)
		check_random(&layouts[i], 128, rss_key);
}

static void
test_rules_are_few(void **state)
{
	(void)state;
	for (size_t i = 0; i < RTE_DIM(layouts); i++) {
		set_up(&layouts[i], 128);
		assert_in_range(nic.nb_rules, 0, 16u * layouts[i].nb_pfs * nic.nb_queues);
	}
	set_up(&(struct layout){2, {2, 2}}, 128);
	assert_int_equal(nic.nb_rules, 4);
	set_up(&(struct layout){4, {1, 1, 1, 1}}, 128);
	assert_int_equal(nic.nb_rules, 16);
	set_up(&(struct layout){2, {3, 1}}, 128);
	assert_int_equal(nic.nb_rules, 10);
}

/* Any numbers of queues: the room that callers have is enough, the shares are due. */
static void
test_any_layout_fits(void **state)
{
	static struct octo_partition_rule rules[OCTO_PARTITION_MAX_RULES];

	(void)state;
	random_state = 1;
	for (unsigned int round = 0; round < 2000; round++) {
		uint16_t queues[OCTO_PLAN_MAX_PFS];
		double share[OCTO_PLAN_MAX_PFS] = {0};
		const uint16_t nb_pfs = 2 + random_word() % 7;
		uint32_t all = 0;
		unsigned int n;

		for (uint16_t pf = 0; pf < nb_pfs; pf++)
			all += queues[pf] = 1 + random_word() % 128;
		n = rules_of(queues, nb_pfs, rules);
		assert_in_range(n, 2, OCTO_PARTITION_MAX_RULES);
		for (unsigned int i = 0; i < n; i++) {
			const uint64_t mask = (uint64_t)rules[i].src_mask << 32 | rules[i].dst_mask;

			assert_int_equal(rules[i].src & ~rules[i].src_mask, 0);
			assert_int_equal(rules[i].dst & ~rules[i].dst_mask, 0);
			share[rules[i].pf] += 1.0 / (1u << __builtin_popcountll(mask));
		}
		for (uint16_t pf = 0; pf < nb_pfs; pf++) {
			const double due = (double)queues[pf] / all;

			assert_true(share[pf] > due * 0.93 && share[pf] < due * 1.07);
		}
	}
}

static void
test_nothing_is_shared_out_without_need(void **state)
{
	static const struct layout cases[] = {
		{1, {4}},
		{2, {0, 3}},
		{3, {2, 0, 0}},
		{4, {0, 0, 1, 0}},
	};
	static struct octo_partition_rule rules[OCTO_PARTITION_MAX_RULES];

	(void)state;
	for (size_t i = 0; i < RTE_DIM(cases); i++)
		assert_int_equal(rules_of(cases[i].queues, cases[i].nb_pfs, rules), 0);
}

/* All that is hashed goes to one PF, and all else to another. */
static void
test_the_rest_goes_elsewhere(void **state)
{
	static uint8_t buckets[OCTO_PARTITION_BUCKETS];
	static struct octo_partition_rule rules[OCTO_PARTITION_MAX_RULES];
	unsigned int n;

	(void)state;
	memset(buckets, 1, sizeof(buckets));
	assert_int_equal(octo_partition_rules(buckets, 1, 4, rules), 0);
	n = octo_partition_rules(buckets, 0, 4, rules);
	assert_int_equal(n, 4);
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(rules[i].pf, 1);
}

static void
test_reta_covers_own_queues_evenly(void **state)
{
	static const uint8_t home[] = {1, 0, 1, 2, 0, 1, 0};
	static const uint16_t sizes[] = {1, 2, 3, 40, 64, 100, 128, 512};
	uint16_t reta[MAX_RETA];

	(void)state;
	for (size_t s = 0; s < RTE_DIM(sizes); s++) {
		for (uint8_t pf = 0; pf < 3; pf++) {
			const unsigned int own = pf == 2 ? 1 : 3;
			unsigned int used[RTE_DIM(home)] = {0};

			octo_partition_reta(home, RTE_DIM(home), pf, reta, sizes[s], false);
			for (uint16_t i = 0; i < sizes[s]; i++)
				used[reta[i]]++;
			for (size_t q = 0; q < RTE_DIM(home); q++)
				assert_in_range(used[q], home[q] == pf ? sizes[s] / own : 0,
						home[q] == pf ? (sizes[s] + own - 1) / own : 0);
		}
	}
}

static void
test_reta_without_own_queues_covers_all(void **state)
{
	static const uint8_t home[] = {1, 0, 1};
	static const uint16_t want[] = {0, 1, 2, 0, 1, 2, 0, 1};
	uint16_t reta[RTE_DIM(want)];

	(void)state;
	octo_partition_reta(home, RTE_DIM(home), 5, reta, RTE_DIM(reta), false);
	assert_memory_equal(reta, want, sizeof(want));
}

/* What comes of the same number of queues on a PF stays there: nothing goes back and forth. */
static void
test_what_is_shared_out_stays(void **state)
{
	static uint8_t buckets[OCTO_PARTITION_BUCKETS], before[OCTO_PARTITION_BUCKETS];
	static struct octo_partition_rule rules[OCTO_PARTITION_MAX_RULES];
	uint16_t queues[8] = {2, 2, 2, 2, 2, 2, 2, 2};
	unsigned int most = 0;

	(void)state;
	random_state = 7;
	octo_partition_share(queues, 8, buckets, false);
	for (unsigned int round = 0; round < 3000; round++) {
		const uint16_t from = random_word() % 8, to = random_word() % 8;

		if (queues[from] == 0)
			continue;
		queues[from]--;
		queues[to]++;
		memcpy(before, buckets, sizeof(buckets));
		octo_partition_share(queues, 8, buckets, true);
		for (uint32_t i = 0; i < OCTO_PARTITION_BUCKETS; i++)
			if (buckets[i] != before[i])
				assert_true(before[i] == from && buckets[i] == to);
		most = RTE_MAX(most, octo_partition_rules(buckets, 0, 16, rules));
	}
	/* 16 queues: a share of a sixteenth is a block of 16 rules at worst */
	assert_in_range(most, 16, 256);
}

/* Odd numbers of them, whose shares are rounded: the room may not be enough, and that is told. */
static void
test_buckets_in_pieces(void **state)
{
	static uint8_t buckets[OCTO_PARTITION_BUCKETS];
	static struct octo_partition_rule rules[OCTO_PARTITION_MAX_RULES];
	uint16_t queues[8] = {3, 1, 2, 5, 3, 3, 1, 1};

	(void)state;
	random_state = 9;
	octo_partition_share(queues, 8, buckets, false);
	for (unsigned int round = 0; round < 1000; round++) {
		const uint16_t from = random_word() % 8, to = random_word() % 8;
		uint32_t has[8] = {0};

		if (queues[from] == 0)
			continue;
		queues[from]--;
		queues[to]++;
		octo_partition_share(queues, 8, buckets, true);
		for (uint32_t i = 0; i < OCTO_PARTITION_BUCKETS; i++)
			has[buckets[i]]++;
		for (unsigned int pf = 0; pf < 8; pf++) {
			const double due = (double)OCTO_PARTITION_BUCKETS * queues[pf] / 19;

			assert_true(has[pf] >= due * 0.93 - 1 && has[pf] <= due * 1.07 + 1);
		}
		assert_in_range(octo_partition_rules(buckets, 0, 19, rules), 2,
				OCTO_PARTITION_MAX_RULES + 1);
	}
	for (uint32_t i = 0; i < OCTO_PARTITION_BUCKETS; i++)
		buckets[i] = i % 8;
	assert_int_equal(octo_partition_rules(buckets, 0, 19, rules), OCTO_PARTITION_MAX_RULES + 1);
}

/* Whoever gives entries gets none, and queue 0 has the first wherever it is. */
static void
test_as_few_entries_as_possible_change(void **state)
{
	uint8_t home[13] = {0};
	uint16_t reta[2][128], before[128];

	(void)state;
	random_state = 5;
	for (uint8_t pf = 0; pf < 2; pf++)
		octo_partition_reta(home, RTE_DIM(home), pf, reta[pf], 128, false);
	for (unsigned int round = 0; round < 3000; round++) {
		home[random_word() % RTE_DIM(home)] ^= 1;
		for (uint8_t pf = 0; pf < 2; pf++) {
			uint32_t gives = 0, gets = 0;
			uint16_t has[RTE_DIM(home)] = {0}, own = 0;

			memcpy(before, reta[pf], sizeof(before));
			octo_partition_reta(home, RTE_DIM(home), pf, reta[pf], 128, true);
			for (unsigned int i = 0; i < 128; i++) {
				has[reta[pf][i]]++;
				if (before[i] == reta[pf][i])
					continue;
				gives |= RTE_BIT32(before[i]);
				gets |= RTE_BIT32(reta[pf][i]);
			}
			assert_int_equal(gives & gets, 0);
			for (size_t q = 0; q < RTE_DIM(home); q++)
				own += home[q] == pf;
			for (size_t q = 0; q < RTE_DIM(home) && own > 0; q++)
				assert_in_range(has[q], home[q] == pf ? 128 / own : 0,
						home[q] == pf ? 128 / own + 1 : 0);
			if (home[0] == pf)
				assert_int_equal(reta[pf][0], 0);
		}
	}
}

/* Address plans of real networks: what the guide says of them. */
enum plan {
	CLIENTS,   /* of one /24 to one server, random ports */
	SERVERS,   /* one client to the servers of one /24 */
	COUNTING,  /* both addresses count up together */
	POOL,      /* sixteen clients to four servers */
	FEW_FLOWS, /* of one /24, all with the same ports */
	NB_PLANS,
};

static void
plan_packet(struct packet *p, enum plan plan, unsigned int i)
{
	const uint32_t host = random_word() % 254 + 1;

	*p = (struct packet){.addr_words = 2, .words = {0x0a000001, 0x0a010001, random_word()}};
	if (plan == CLIENTS || plan == FEW_FLOWS)
		p->words[0] = 0x0a000000 + host;
	if (plan == SERVERS)
		p->words[1] = 0x0a010000 + host;
	if (plan == COUNTING) {
		p->words[0] += i;
		p->words[1] += i;
	}
	if (plan == POOL) {
		p->words[0] += host % 16;
		p->words[1] += random_word() % 4;
	}
	if (plan == FEW_FLOWS)
		p->words[2] = 0x30390050;
}

static double
plan_imbalance(const struct layout *layout, enum plan plan)
{
	struct packet p;

	set_up(layout, 128);
	for (unsigned int i = 0; i < 100000; i++) {
		plan_packet(&p, plan, i);
		receive(&p, rss_key);
	}
	return imbalance();
}

static void
test_address_plans_of_networks(void **state)
{
	static const struct {
		struct layout layout;
		double at_most[NB_PLANS];
	} cases[] = {
		{{2, {2, 2}}, {2, 2, 2, 2, 2}},          {{2, {3, 1}}, {3, 2, 2, 2, 5}},
		{{2, {1, 2}}, {4, 12, 2, 3, 4}},         {{4, {1, 1, 1, 1}}, {2, 2, 1, 2, 2}},
		{{4, {1, 2, 3, 4}}, {5, 26, 2, 26, 14}},
	};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(cases); i++)
		for (enum plan plan = 0; plan < NB_PLANS; plan++)
			assert_true(plan_imbalance(&cases[i].layout, plan) <=
				    cases[i].at_most[plan]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_packets_load_all_queues_alike),
		cmocka_unit_test(test_load_is_even_under_another_key),
		cmocka_unit_test(test_load_is_even_with_a_small_reta),
		cmocka_unit_test(test_rules_are_few),
		cmocka_unit_test(test_any_layout_fits),
		cmocka_unit_test(test_nothing_is_shared_out_without_need),
		cmocka_unit_test(test_the_rest_goes_elsewhere),
		cmocka_unit_test(test_reta_covers_own_queues_evenly),
		cmocka_unit_test(test_reta_without_own_queues_covers_all),
		cmocka_unit_test(test_what_is_shared_out_stays),
		cmocka_unit_test(test_buckets_in_pieces),
		cmocka_unit_test(test_as_few_entries_as_possible_change),
		cmocka_unit_test(test_address_plans_of_networks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
