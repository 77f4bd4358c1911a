/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_KEY_H
#define MPSIM_KEY_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include "mpsim_parse.h"

/**
 * @file
 * All that a rule can ask of a frame, each header at a fixed place and as it is
 * on the wire, so that a rule is a value and a mask of the same layout. Pure.
 */

/** Bits of mpsim_layer.l2. */
#define MPSIM_L2_ETH (1 << 0)
#define MPSIM_L2_VLAN (1 << 1)      /**< at least one tag */
#define MPSIM_L2_MORE_VLAN (1 << 2) /**< at least two */

/** Bits of mpsim_layer.ext, in the order of struct rte_flow_item_ipv6. */
#define MPSIM_EXT_FRAG (1 << 2)

/** The headers outside of a tunnel, or inside. What is not there is zero. */
struct mpsim_layer {
	alignas(8) uint8_t ip[40];
	uint8_t l4[20];
	uint8_t vlan[2][4]; /**< TCI and the EtherType behind it */
	uint8_t frag[8];    /**< the fragment header of IPv6 */
	uint8_t eth[14];
	uint16_t ext;     /**< IPv6 extension headers that are there */
	uint8_t l2;       /**< what is there: MPSIM_L2_* */
	uint8_t l3;       /**< 4, 6, or 0: neither */
	uint8_t l4_proto; /**< IPPROTO_*: what is in l4; 0: nothing */
	uint8_t reserved;
};

enum mpsim_tunnel {
	MPSIM_TUNNEL_NONE,
	MPSIM_TUNNEL_VXLAN,
	MPSIM_TUNNEL_GENEVE,
	MPSIM_TUNNEL_GRE,
};

struct mpsim_key {
	struct mpsim_layer layer[2]; /**< outside and inside of the tunnel */
	uint8_t tunnel_hdr[8];
	uint8_t gre_key[4];
	uint8_t tunnel;      /**< enum mpsim_tunnel */
	uint8_t has_gre_key; /**< 0 or 1 */
	uint16_t reserved;
	uint32_t group; /**< of rules, not of the frame */
	uint32_t reserved2;
};

#define MPSIM_KEY_WORDS (sizeof(struct mpsim_key) / sizeof(uint64_t))

/**
 * @param data, avail
 *   The frame from which *p was parsed, and the contiguous bytes of it.
 * @param inner
 *   Look into tunnels, too.
 * @param key
 *   Its group becomes 0.
 */
void mpsim_key_extract(const uint8_t *data, uint32_t avail, const struct mpsim_parsed *p,
		       bool inner, struct mpsim_key *key);

/** What was found in a tunnel. */
struct mpsim_inside {
	struct mpsim_parsed parsed; /**< offsets are those of the whole frame */
	uint32_t tunnel_off;        /**< of the tunnel's header */
	uint32_t frame_off;         /**< of the Ethernet header in it; 0: there is none */
};

/**
 * Find out what a tunnel carries.
 *
 * @param outer
 *   What was parsed of the frame.
 * @return
 *   What kind of tunnel it is, or MPSIM_TUNNEL_NONE: then *inside is not set.
 */
enum mpsim_tunnel mpsim_key_tunnel(const uint8_t *data, uint32_t avail,
				   const struct mpsim_parsed *outer, struct mpsim_inside *inside);

#endif /* MPSIM_KEY_H */
