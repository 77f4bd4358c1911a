/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_RSS_H
#define MPSIM_RSS_H

#include <stdbool.h>
#include <stdint.h>

#include "mpsim_parse.h"

/**
 * @file
 * Toeplitz hash and redirection table of one PF. Same results as rte_softrss_be() over
 * addresses and ports, by a table look-up per byte. Pure: no device; the caller does the
 * locking.
 */

#define MPSIM_RSS_KEY_LEN 40
#define MPSIM_RSS_RETA_SIZE 128
#define MPSIM_RSS_INPUT_MAX 36 /**< two IPv6 addresses and two ports */

struct mpsim_rss {
	uint32_t table[MPSIM_RSS_INPUT_MAX][256]; /**< contribution of each value of each byte */
	uint16_t reta[MPSIM_RSS_RETA_SIZE];       /**< hash to queue */
	uint8_t input_len[MPSIM_NB_CLASSES];      /**< bytes hashed; 0: the class is not hashed */
	uint8_t key[MPSIM_RSS_KEY_LEN];
	uint64_t hf; /**< RTE_ETH_RSS_*, 0 when off */
};

/** Supported hash types. */
#define MPSIM_RSS_HF                                                                               \
	(RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_TCP |                 \
	 RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_NONFRAG_IPV4_SCTP |                            \
	 RTE_ETH_RSS_NONFRAG_IPV4_OTHER | RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_FRAG_IPV6 |               \
	 RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_NONFRAG_IPV6_UDP |                             \
	 RTE_ETH_RSS_NONFRAG_IPV6_SCTP | RTE_ETH_RSS_NONFRAG_IPV6_OTHER | RTE_ETH_RSS_IPV6_EX |    \
	 RTE_ETH_RSS_IPV6_TCP_EX | RTE_ETH_RSS_IPV6_UDP_EX)

/** The default key of a NIC. */
extern const uint8_t mpsim_rss_default_key[MPSIM_RSS_KEY_LEN];

/** Contribution of each value of each byte of the input. */
typedef uint32_t mpsim_rss_table[MPSIM_RSS_INPUT_MAX][256];

void mpsim_rss_fill_table(mpsim_rss_table table, const uint8_t *key);

/** Set the bytes hashed for each class with these RTE_ETH_RSS_* types; 0: not hashed. */
void mpsim_rss_set_types(uint8_t input_len[MPSIM_NB_CLASSES], uint64_t types);

void mpsim_rss_set_key(struct mpsim_rss *rss, const uint8_t *key);

/** Set the hash types. Types that are not in MPSIM_RSS_HF are ignored. */
void mpsim_rss_set_hf(struct mpsim_rss *rss, uint64_t hf);

/** Spread the buckets evenly over the queues. */
void mpsim_rss_set_default_reta(struct mpsim_rss *rss, uint16_t nb_queues);

static inline uint16_t
mpsim_rss_queue(const struct mpsim_rss *rss, uint32_t hash)
{
	return rss->reta[hash % MPSIM_RSS_RETA_SIZE];
}

/**
 * Hash a packet.
 *
 * @param input_len
 *   From mpsim_rss_set_types().
 * @param data
 *   The frame from which *p was parsed.
 * @return
 *   Whether packets of this class are hashed. If so, *hash is set.
 */
static inline bool
mpsim_rss_hash_by(const uint32_t (*table)[256], const uint8_t input_len[], const uint8_t *data,
		  const struct mpsim_parsed *p, uint32_t *hash)
{
	const unsigned int len = input_len[p->cls];
	const bool ipv4 = mpsim_class_is_ipv4(p->cls);
	const unsigned int addrs = ipv4 ? 8 : 32;
	const uint8_t *in = data + p->l3_off + (ipv4 ? 12 : 8);
	uint32_t h = 0;

	if (len == 0)
		return false;
	for (unsigned int i = 0; i < addrs; i += 4)
		h ^= table[i][in[i]] ^ table[i + 1][in[i + 1]] ^ table[i + 2][in[i + 2]] ^
		     table[i + 3][in[i + 3]];
	in = data + p->l4_off;
	table += addrs;
	if (len > addrs)
		h ^= table[0][in[0]] ^ table[1][in[1]] ^ table[2][in[2]] ^ table[3][in[3]];
	*hash = h;
	return true;
}

static inline bool
mpsim_rss_hash(const struct mpsim_rss *rss, const uint8_t *data, const struct mpsim_parsed *p,
	       uint32_t *hash)
{
	return mpsim_rss_hash_by(rss->table, rss->input_len, data, p, hash);
}

#endif /* MPSIM_RSS_H */
