/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTOSIM_PARSE_H
#define OCTOSIM_PARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "octo_tuple.h"

/**
 * @file
 * One look at a frame's headers, for everything that the NIC does with it.
 * Pure: bytes in, struct out.
 */

/** Headers must lie within so many contiguous bytes; what is beyond is not seen. */
#define OCTOSIM_HDR_MAX 192

/** What a packet is for RSS, for steering and for checksums. */
enum octosim_class {
	OCTOSIM_CLASS_NONE, /**< not IP, or a broken IP header */
	OCTOSIM_CLASS_IPV4, /**< neither a fragment nor TCP, UDP or SCTP */
	OCTOSIM_CLASS_IPV4_FRAG,
	OCTOSIM_CLASS_IPV4_TCP,
	OCTOSIM_CLASS_IPV4_UDP,
	OCTOSIM_CLASS_IPV4_SCTP,
	OCTOSIM_CLASS_IPV6,
	OCTOSIM_CLASS_IPV6_FRAG,
	OCTOSIM_CLASS_IPV6_TCP,
	OCTOSIM_CLASS_IPV6_UDP,
	OCTOSIM_CLASS_IPV6_SCTP,
	OCTOSIM_NB_CLASSES
};

struct octosim_parsed {
	uint32_t ptype;    /**< RTE_PTYPE_* */
	uint16_t l3_off;   /**< of the IP header; set for IP only */
	uint16_t l4_off;   /**< behind the IP header and its extensions */
	uint16_t l4_len;   /**< bytes from l4_off on, by the IP header */
	uint16_t vlan_tci; /**< host order; of the outermost tag, if vlan */
	uint8_t cls;       /**< enum octosim_class */
	uint8_t proto;     /**< of what is at l4_off; set for IP only */
	uint8_t tags;      /**< VLAN tags that were skipped, at most 2 */
	bool vlan;         /**< the outermost tag is IEEE 802.1Q */
};

/**
 * @param data
 *   Start of the frame.
 * @param avail
 *   Contiguous bytes there; at least min(frame_len, OCTOSIM_HDR_MAX).
 * @param frame_len
 *   Length of the whole frame, at least 14.
 */
void
octosim_parse(const uint8_t *data, uint32_t avail, uint32_t frame_len, struct octosim_parsed *p);

/**
 * The same for what a tunnel carries.
 *
 * @param end
 *   Where it ends, from data on.
 * @param off
 *   Where it starts; offsets in *p are from data on all the same.
 * @param type
 *   Its EtherType; RTE_ETHER_TYPE_TEB for a frame.
 * @return
 *   Where its Ethernet header is; 0: it has none.
 */
uint32_t octosim_parse_inner(const uint8_t *data, uint32_t avail, uint32_t end, uint32_t off,
			     uint16_t type, struct octosim_parsed *p);

static inline bool
octosim_class_is_ipv4(uint8_t cls)
{
	return cls >= OCTOSIM_CLASS_IPV4 && cls <= OCTOSIM_CLASS_IPV4_SCTP;
}

/** Does the packet have ports, so that a 5-tuple rule can match it? */
static inline bool
octosim_class_has_ports(uint8_t cls)
{
	return (cls >= OCTOSIM_CLASS_IPV4_TCP && cls <= OCTOSIM_CLASS_IPV4_SCTP) ||
	       cls >= OCTOSIM_CLASS_IPV6_TCP;
}

/** Write the 5-tuple of a packet whose class has ports. */
void octosim_parse_tuple(const uint8_t *data, const struct octosim_parsed *p, struct octo_tuple *t);

#endif /* OCTOSIM_PARSE_H */
