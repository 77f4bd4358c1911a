/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_KEY_H
#define MPSIM_KEY_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpsim_parse.h"

/**
 * @file
 * The fields of a frame that rules can match, each header at a fixed offset and in network
 * format, so that a rule is a value and a mask of the same layout. Pure.
 */

/** Bits of mpsim_layer.l2. */
#define MPSIM_L2_ETH (1 << 0)
#define MPSIM_L2_VLAN (1 << 1)      /**< at least one tag */
#define MPSIM_L2_MORE_VLAN (1 << 2) /**< at least two */

/** Bits of mpsim_layer.ext, in the order of struct rte_flow_item_ipv6. */
#define MPSIM_EXT_FRAG (1 << 2)

/** The headers outside a tunnel, or inside. Missing headers are zero. */
struct mpsim_layer {
	alignas(8) uint8_t ip[40];
	uint8_t l4[20];
	uint8_t vlan[2][4]; /**< TCI and the EtherType after it */
	uint8_t frag[8];    /**< IPv6 fragment header */
	uint8_t eth[14];
	uint16_t ext;     /**< IPv6 extension headers present */
	uint8_t l2;       /**< MPSIM_L2_*: present */
	uint8_t l3;       /**< 4, 6, or 0: neither */
	uint8_t l4_proto; /**< IPPROTO_*: protocol of l4; 0: none */
	uint8_t reserved;
};

enum mpsim_tunnel {
	MPSIM_TUNNEL_NONE,
	MPSIM_TUNNEL_VXLAN,
	MPSIM_TUNNEL_GENEVE,
	MPSIM_TUNNEL_GRE,
};

struct mpsim_key {
	struct mpsim_layer layer[2]; /**< outside and inside the tunnel */
	uint8_t tunnel_hdr[8];
	uint8_t gre_key[4];
	uint8_t tunnel;      /**< enum mpsim_tunnel */
	uint8_t has_gre_key; /**< 0 or 1 */
	uint16_t reserved;
	uint32_t group; /**< of the rules, not a field of the frame */
	uint32_t reserved2;
};

#define MPSIM_KEY_WORDS (sizeof(struct mpsim_key) / sizeof(uint64_t))

/**
 * Extract the key of a frame.
 *
 * @param data, avail
 *   The frame from which *p was parsed, and its number of contiguous bytes.
 * @param inner
 *   Include tunnelled headers.
 * @param key
 *   Its group is set to 0.
 */
void mpsim_key_extract(const uint8_t *data, uint32_t avail, const struct mpsim_parsed *p,
		       bool inner, struct mpsim_key *key);

/** The payload of a tunnel. */
struct mpsim_inside {
	struct mpsim_parsed parsed; /**< offsets are from the start of the frame */
	uint32_t tunnel_off;        /**< offset of the tunnel's header */
	uint32_t frame_off;         /**< offset of the inner Ethernet header; 0: none */
};

/**
 * Parse the payload of a tunnel.
 *
 * @param outer
 *   The parsed frame.
 * @return
 *   The kind of tunnel, or MPSIM_TUNNEL_NONE: then *inside is not set.
 */
enum mpsim_tunnel mpsim_key_tunnel(const uint8_t *data, uint32_t avail,
				   const struct mpsim_parsed *outer, struct mpsim_inside *inside);

#endif /* MPSIM_KEY_H */
