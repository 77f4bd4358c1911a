/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include <rte_bitops.h>
#include <rte_ethdev.h>

#include "mpsim_rss.h"

/* The key of Microsoft's RSS specification, which its test vectors use. */
const uint8_t mpsim_rss_default_key[MPSIM_RSS_KEY_LEN] = {
	0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
	0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
	0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
};

#define IPV6 (RTE_ETH_RSS_IPV6 | RTE_ETH_RSS_IPV6_EX)
#define IPV6_TCP (RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_IPV6_TCP_EX)
#define IPV6_UDP (RTE_ETH_RSS_NONFRAG_IPV6_UDP | RTE_ETH_RSS_IPV6_UDP_EX)

/*
 * Hash types of each class: by addresses and ports, and by addresses only. The types of IPv6
 * with extensions (RTE_ETH_RSS_IPV6_EX, part of RTE_ETH_RSS_IP) also use the addresses of the
 * IPv6 header, as on NICs without support for extensions.
 */
static const struct {
	uint64_t with_ports;
	uint64_t addresses;
	uint8_t addr_len;
} classes[MPSIM_NB_CLASSES] = {
	[MPSIM_CLASS_IPV4] = {0, RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_NONFRAG_IPV4_OTHER, 8},
	[MPSIM_CLASS_IPV4_FRAG] = {0, RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4, 8},
	[MPSIM_CLASS_IPV4_TCP] = {RTE_ETH_RSS_NONFRAG_IPV4_TCP, RTE_ETH_RSS_IPV4, 8},
	[MPSIM_CLASS_IPV4_UDP] = {RTE_ETH_RSS_NONFRAG_IPV4_UDP, RTE_ETH_RSS_IPV4, 8},
	[MPSIM_CLASS_IPV4_SCTP] = {RTE_ETH_RSS_NONFRAG_IPV4_SCTP, RTE_ETH_RSS_IPV4, 8},
	[MPSIM_CLASS_IPV6] = {0, IPV6 | RTE_ETH_RSS_NONFRAG_IPV6_OTHER, 32},
	[MPSIM_CLASS_IPV6_FRAG] = {0, IPV6 | RTE_ETH_RSS_FRAG_IPV6, 32},
	[MPSIM_CLASS_IPV6_TCP] = {IPV6_TCP, IPV6, 32},
	[MPSIM_CLASS_IPV6_UDP] = {IPV6_UDP, IPV6, 32},
	[MPSIM_CLASS_IPV6_SCTP] = {RTE_ETH_RSS_NONFRAG_IPV6_SCTP, IPV6, 32},
};

/*
 * The 32 bits of the key from bit `bit` on, which a set bit of the input contributes to the
 * hash.
 */
static uint32_t
key_window(const uint8_t *key, unsigned int bit)
{
	const uint8_t *p = key + bit / 8;
	uint64_t w = 0;

	for (int i = 0; i < 5; i++)
		w = w << 8 | p[i];
	return w >> (8 - bit % 8);
}

void
mpsim_rss_fill_table(mpsim_rss_table table, const uint8_t *key)
{
	for (unsigned int i = 0; i < MPSIM_RSS_INPUT_MAX; i++) {
		table[i][0] = 0;
		for (unsigned int v = 1; v < 256; v++) {
			unsigned int bit = i * 8 + 7 - rte_bsf32(v);

			table[i][v] = table[i][v & (v - 1)] ^ key_window(key, bit);
		}
	}
}

void
mpsim_rss_set_types(uint8_t input_len[MPSIM_NB_CLASSES], uint64_t types)
{
	for (unsigned int c = 0; c < MPSIM_NB_CLASSES; c++) {
		if (types & classes[c].with_ports)
			input_len[c] = classes[c].addr_len + 4;
		else if (types & classes[c].addresses)
			input_len[c] = classes[c].addr_len;
		else
			input_len[c] = 0;
	}
}

void
mpsim_rss_set_key(struct mpsim_rss *rss, const uint8_t *key)
{
	memmove(rss->key, key, MPSIM_RSS_KEY_LEN);
	mpsim_rss_fill_table(rss->table, rss->key);
}

void
mpsim_rss_set_hf(struct mpsim_rss *rss, uint64_t hf)
{
	rss->hf = hf & MPSIM_RSS_HF;
	mpsim_rss_set_types(rss->input_len, rss->hf);
}

void
mpsim_rss_set_default_reta(struct mpsim_rss *rss, uint16_t nb_queues)
{
	for (unsigned int i = 0; i < MPSIM_RSS_RETA_SIZE; i++)
		rss->reta[i] = nb_queues > 0 ? i % nb_queues : 0;
}
