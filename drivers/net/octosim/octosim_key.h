/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTOSIM_KEY_H
#define OCTOSIM_KEY_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include "octosim_parse.h"

/**
 * @file
 * All that a rule can ask of a frame, each header at a fixed place and as it is
 * on the wire, so that a rule is a value and a mask of the same layout. Pure.
 */

/** Bits of octosim_layer.l2. */
#define OCTOSIM_L2_ETH (1 << 0)
#define OCTOSIM_L2_VLAN (1 << 1)      /**< at least one tag */
#define OCTOSIM_L2_MORE_VLAN (1 << 2) /**< at least two */

/** Bits of octosim_layer.ext, in the order of struct rte_flow_item_ipv6. */
#define OCTOSIM_EXT_FRAG (1 << 2)

/** The headers outside of a tunnel, or inside. What is not there is zero. */
struct octosim_layer {
	alignas(8) uint8_t ip[40];
	uint8_t l4[20];
	uint8_t vlan[2][4]; /**< TCI and the EtherType behind it */
	uint8_t frag[8];    /**< the fragment header of IPv6 */
	uint8_t eth[14];
	uint16_t ext;     /**< IPv6 extension headers that are there */
	uint8_t l2;       /**< what is there: OCTOSIM_L2_* */
	uint8_t l3;       /**< 4, 6, or 0: neither */
	uint8_t l4_proto; /**< IPPROTO_*: what is in l4; 0: nothing */
	uint8_t reserved;
};

enum octosim_tunnel {
	OCTOSIM_TUNNEL_NONE,
	OCTOSIM_TUNNEL_VXLAN,
	OCTOSIM_TUNNEL_GENEVE,
	OCTOSIM_TUNNEL_GRE,
};

struct octosim_key {
	struct octosim_layer layer[2]; /**< outside and inside of the tunnel */
	uint8_t tunnel_hdr[8];
	uint8_t gre_key[4];
	uint8_t tunnel;      /**< enum octosim_tunnel */
	uint8_t has_gre_key; /**< 0 or 1 */
	uint16_t reserved;
	uint32_t group; /**< of rules, not of the frame */
	uint32_t reserved2;
};

#define OCTOSIM_KEY_WORDS (sizeof(struct octosim_key) / sizeof(uint64_t))

/**
 * @param data, avail
 *   The frame from which *p was parsed, and the contiguous bytes of it.
 * @param inner
 *   Look into tunnels, too.
 * @param key
 *   Its group becomes 0.
 */
void octosim_key_extract(const uint8_t *data, uint32_t avail, const struct octosim_parsed *p,
			 bool inner, struct octosim_key *key);

/** What was found in a tunnel. */
struct octosim_inside {
	struct octosim_parsed parsed; /**< offsets are those of the whole frame */
	uint32_t tunnel_off;          /**< of the tunnel's header */
	uint32_t frame_off;           /**< of the Ethernet header in it; 0: there is none */
};

/**
 * Find out what a tunnel carries.
 *
 * @param outer
 *   What was parsed of the frame.
 * @return
 *   What kind of tunnel it is, or OCTOSIM_TUNNEL_NONE: then *inside is not set.
 */
enum octosim_tunnel
octosim_key_tunnel(const uint8_t *data, uint32_t avail, const struct octosim_parsed *outer,
		   struct octosim_inside *inside);

#endif /* OCTOSIM_KEY_H */
