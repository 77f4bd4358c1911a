/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_PARSE_H
#define MPSIM_PARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "octo_tuple.h"

/**
 * @file
 * Parser of a frame's headers, used for all decisions of the NIC. Pure: bytes in, struct out.
 */

/** Contiguous bytes with the headers; bytes beyond are not parsed. */
#define MPSIM_HDR_MAX 192

/** Kind of a packet for RSS, steering and checksums. */
enum mpsim_class {
	MPSIM_CLASS_NONE, /**< not IP, or a broken IP header */
	MPSIM_CLASS_IPV4, /**< not a fragment, not TCP, UDP or SCTP */
	MPSIM_CLASS_IPV4_FRAG,
	MPSIM_CLASS_IPV4_TCP,
	MPSIM_CLASS_IPV4_UDP,
	MPSIM_CLASS_IPV4_SCTP,
	MPSIM_CLASS_IPV6,
	MPSIM_CLASS_IPV6_FRAG,
	MPSIM_CLASS_IPV6_TCP,
	MPSIM_CLASS_IPV6_UDP,
	MPSIM_CLASS_IPV6_SCTP,
	MPSIM_NB_CLASSES
};

struct mpsim_parsed {
	uint32_t ptype;    /**< RTE_PTYPE_* */
	uint16_t l3_off;   /**< of the IP header; only set for IP */
	uint16_t l4_off;   /**< after the IP header and its extensions */
	uint16_t l4_len;   /**< bytes from l4_off on, from the IP header */
	uint16_t vlan_tci; /**< host order; of the outermost tag, if vlan */
	uint8_t cls;       /**< enum mpsim_class */
	uint8_t proto;     /**< protocol at l4_off; only set for IP */
	uint8_t tags;      /**< VLAN tags skipped, at most 2 */
	bool vlan;         /**< the outermost tag is IEEE 802.1Q */
};

/**
 * Parse a frame.
 *
 * @param data
 *   Start of the frame.
 * @param avail
 *   Contiguous bytes there; at least min(frame_len, MPSIM_HDR_MAX).
 * @param frame_len
 *   Length of the whole frame, at least 14.
 */
void mpsim_parse(const uint8_t *data, uint32_t avail, uint32_t frame_len, struct mpsim_parsed *p);

/**
 * Parse the payload of a tunnel.
 *
 * @param end
 *   Its end, as an offset from data.
 * @param off
 *   Its start, as an offset from data, like all offsets in *p.
 * @param type
 *   Its EtherType; RTE_ETHER_TYPE_TEB for a frame.
 * @return
 *   Offset of its Ethernet header; 0: none.
 */
uint32_t mpsim_parse_inner(const uint8_t *data, uint32_t avail, uint32_t end, uint32_t off,
			   uint16_t type, struct mpsim_parsed *p);

static inline bool
mpsim_class_is_ipv4(uint8_t cls)
{
	return cls >= MPSIM_CLASS_IPV4 && cls <= MPSIM_CLASS_IPV4_SCTP;
}

/** Does the packet have ports, so that a 5-tuple rule can match it? */
static inline bool
mpsim_class_has_ports(uint8_t cls)
{
	return (cls >= MPSIM_CLASS_IPV4_TCP && cls <= MPSIM_CLASS_IPV4_SCTP) ||
	       cls >= MPSIM_CLASS_IPV6_TCP;
}

/** Write the 5-tuple of a packet whose class has ports. */
void mpsim_parse_tuple(const uint8_t *data, const struct mpsim_parsed *p, struct octo_tuple *t);

#endif /* MPSIM_PARSE_H */
