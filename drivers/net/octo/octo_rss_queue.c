/* SPDX-License-Identifier: BSD-3-Clause */

/* The queue to which RSS sends a flow, if the PFs hash as configured. */

#include <netinet/in.h>

#include <rte_byteorder.h>
#include <rte_thash.h>

#include "octo_private.h"

/* Longest hash input, in 32-bit words: two IPv6 addresses and the ports. */
#define MAX_WORDS 9
/* Bytes of the key that such an input uses. */
#define KEY_BYTES 40
/*
 * Types that leave the hash of such a flow as computed here. With any other, as those that a newer
 * ethdev adds, it may cover less, or more, or an inner header.
 */
#define KNOWN                                                                                      \
	(RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_SCTP |                   \
	 RTE_ETH_RSS_L2_PAYLOAD)

static const struct {
	uint64_t addresses;
	uint64_t ports;
} hashed[][IPPROTO_SCTP + 1] = {
	[OCTO_IPV4][IPPROTO_TCP] = {RTE_ETH_RSS_IPV4, RTE_ETH_RSS_NONFRAG_IPV4_TCP},
	[OCTO_IPV4][IPPROTO_UDP] = {RTE_ETH_RSS_IPV4, RTE_ETH_RSS_NONFRAG_IPV4_UDP},
	[OCTO_IPV4][IPPROTO_SCTP] = {RTE_ETH_RSS_IPV4, RTE_ETH_RSS_NONFRAG_IPV4_SCTP},
	[OCTO_IPV6][IPPROTO_TCP] = {RTE_ETH_RSS_IPV6, RTE_ETH_RSS_NONFRAG_IPV6_TCP},
	[OCTO_IPV6][IPPROTO_UDP] = {RTE_ETH_RSS_IPV6, RTE_ETH_RSS_NONFRAG_IPV6_UDP},
	[OCTO_IPV6][IPPROTO_SCTP] = {RTE_ETH_RSS_IPV6, RTE_ETH_RSS_NONFRAG_IPV6_SCTP},
};

static unsigned int
put_addr(uint32_t *words, const uint8_t *addr, size_t len)
{
	unsigned int n = 0;

	for (size_t i = 0; i < len; i += sizeof(uint32_t)) {
		memcpy(&words[n], addr + i, sizeof(uint32_t));
		words[n] = rte_be_to_cpu_32(words[n]);
		n++;
	}
	return n;
}

/* Fills the hash input. Returns its length in words, 0 if there is none or it is unknown. */
static unsigned int
input(const struct octo_tuple *t, uint64_t types, uint32_t words[MAX_WORDS])
{
	const uint64_t addresses = hashed[t->family][t->proto].addresses;
	const uint64_t ports = hashed[t->family][t->proto].ports;
	const size_t len = octo_tuple_addr_len(t);
	unsigned int n;

	if ((types & (addresses | ports)) == 0 || (types & ~KNOWN) != 0)
		return 0;
	n = put_addr(words, t->src, len);
	n += put_addr(words + n, t->dst, len);
	if (types & ports)
		words[n++] = (uint32_t)rte_be_to_cpu_16(t->src_port) << 16 |
			     rte_be_to_cpu_16(t->dst_port);
	return n;
}

/* Returns false if it is unknown. */
static bool
hash_of(const struct octo_dev *octo, const struct octo_tuple *tuple, uint32_t *hash)
{
	const struct octo_settings *s = &octo->settings;
	uint32_t words[MAX_WORDS];
	unsigned int n;

	if (octo->partition.on || octo->reta_size == 0 || octo->reta_stale ||
	    s->rss_key_len < KEY_BYTES || octo->port[0].kernel.symmetric)
		return false;
	n = input(tuple, s->rss_hf, words);
	if (n != 0)
		*hash = rte_softrss(words, n, s->rss_key);
	return n != 0;
}

/* The entry of the RETA, or -1 if it is unknown. */
static int
entry_of(const struct octo_dev *octo, const struct octo_tuple *tuple)
{
	uint32_t hash;

	return hash_of(octo, tuple, &hash) ? (int)(hash % octo->reta_size) : -1;
}

bool
octo_rss_joins_locked(const struct octo_dev *octo, const struct octo_tuple *a,
		      const struct octo_tuple *b)
{
	uint32_t hash_a, hash_b;

	return octo_data(octo)->nb_rx_queues > 1 && octo_rss_is_on(octo) &&
	       hash_of(octo, a, &hash_a) && hash_of(octo, b, &hash_b) && hash_a == hash_b;
}

int
octo_rss_queue_locked(const struct octo_dev *octo, const struct octo_tuple *tuple)
{
	int entry;

	if (octo_data(octo)->nb_rx_queues == 1 || !octo_rss_is_on(octo))
		return 0;
	entry = entry_of(octo, tuple);
	return entry < 0 ? -1 : octo->reta[entry];
}

uint8_t
octo_rss_pf_locked(const struct octo_dev *octo, const struct octo_tuple *tuple)
{
	int entry;

	if (!octo_rss_is_on(octo))
		return octo_slices_pf_of(octo, 0);
	entry = entry_of(octo, tuple);
	return entry < 0 ? OCTO_NO_PF : octo->leg_pf[octo->reta[entry]];
}
