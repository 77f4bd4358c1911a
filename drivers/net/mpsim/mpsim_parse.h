/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_PARSE_H
#define MPSIM_PARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "octo_tuple.h"

/**
 * @file
 * One look at a frame's headers, for everything that the NIC does with it.
 * Pure: bytes in, struct out.
 */

/** Headers must lie within so many contiguous bytes; what is beyond is not seen. */
#define MPSIM_HDR_MAX 192

/** What a packet is for RSS, for steering and for checksums. */
enum mpsim_class {
	MPSIM_CLASS_NONE, /**< not IP, or a broken IP header */
	MPSIM_CLASS_IPV4, /**< neither a fragment nor TCP, UDP or SCTP */
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
	uint16_t l3_off;   /**< of the IP header; set for IP only */
	uint16_t l4_off;   /**< behind the IP header and its extensions */
	uint16_t l4_len;   /**< bytes from l4_off on, by the IP header */
	uint16_t vlan_tci; /**< host order; of the outermost tag, if vlan */
	uint8_t cls;       /**< enum mpsim_class */
	uint8_t proto;     /**< of what is at l4_off; set for IP only */
	uint8_t tags;      /**< VLAN tags that were skipped, at most 2 */
	bool vlan;         /**< the outermost tag is IEEE 802.1Q */
};

/**
 * @param data
 *   Start of the frame.
 * @param avail
 *   Contiguous bytes there; at least min(frame_len, MPSIM_HDR_MAX).
 * @param frame_len
 *   Length of the whole frame, at least 14.
 */
void mpsim_parse(const uint8_t *data, uint32_t avail, uint32_t frame_len, struct mpsim_parsed *p);

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
