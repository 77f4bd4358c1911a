/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_PACKET_H
#define OCTO_PACKET_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "octo_tuple.h"

/**
 * @file
 * The 5-tuple of a packet, as a rule of its flow would contain it. Nothing beyond the packet's
 * end is read or trusted.
 */

/** Headers must lie within this many bytes; the bytes beyond are not read. */
#define OCTO_PACKET_HDR_MAX 192

/**
 * Length in bytes of an IPv6 extension header, of which at least the first two bytes must be
 * readable; 0 if proto is no extension header that is skipped on the way to the ports.
 */
static inline uint32_t
octo_packet_extension_len(uint8_t proto, const uint8_t *ext)
{
	switch (proto) {
	case IPPROTO_HOPOPTS:
	case IPPROTO_ROUTING:
	case IPPROTO_DSTOPTS:
		return (ext[1] + 1) * 8;
	case IPPROTO_AH:
		return (ext[1] + 2) * 4;
	default:
		return 0;
	}
}

/**
 * Read the 5-tuple of a packet.
 *
 * @param data
 *   Start of the Ethernet frame.
 * @param avail
 *   Readable bytes, at most frame_len; OCTO_PACKET_HDR_MAX are enough.
 * @param frame_len
 *   Length of the whole frame.
 * @param t
 *   Written on success only.
 * @return
 *   True for a whole TCP, UDP or SCTP packet over IPv4 or IPv6, behind at most two VLAN tags.
 *   False for fragments, which have no ports, and for broken headers.
 */
bool
octo_packet_parse(const uint8_t *data, uint32_t avail, uint32_t frame_len, struct octo_tuple *t);

/** octo_packet_parse() for a packet as a PMD received it, in one segment or several. */
__rte_internal
bool octo_packet_tuple(const struct rte_mbuf *m, struct octo_tuple *t);

/** The same for a packet of which a part was discarded behind its first segment. */
__rte_internal
bool octo_packet_tuple_of_first(const struct rte_mbuf *m, struct octo_tuple *t);

#endif /* OCTO_PACKET_H */
