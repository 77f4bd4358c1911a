/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_TUPLE_H
#define OCTO_TUPLE_H

#include <netinet/in.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_compat.h>
#include <rte_hash_crc.h>

/**
 * @file
 * The 5-tuple by which a flow is steered (IOctopus, section 4: IOctoRFS).
 *
 * Pure functions on plain data: any thread, any process.
 */

enum octo_tuple_family {
	OCTO_IPV4 = 4,
	OCTO_IPV6 = 6,
};

/**
 * Packed key: no padding, every byte counts in comparisons, so unused address
 * bytes of IPv4 must be zero (start from octo_tuple_clear()). Aligned, since
 * it is hashed in words of eight bytes.
 */
struct octo_tuple {
	alignas(8) uint8_t family; /**< enum octo_tuple_family */
	uint8_t proto;             /**< IPPROTO_TCP, IPPROTO_UDP or IPPROTO_SCTP */
	rte_be16_t src_port;       /**< network order */
	rte_be16_t dst_port;       /**< network order */
	uint16_t reserved;         /**< zero */
	uint8_t src[16];           /**< network order; IPv4 in the first four bytes */
	uint8_t dst[16];           /**< network order; IPv4 in the first four bytes */
};

/** A flow that no network carries (RFC 5737), to probe what could be inserted. */
static const struct octo_tuple octo_tuple_example = {
	.family = OCTO_IPV4,
	.proto = IPPROTO_TCP,
	.src_port = RTE_BE16(9),
	.dst_port = RTE_BE16(9),
	.src = {192, 0, 2, 1},
	.dst = {192, 0, 2, 2},
};

/** Longest text that octo_tuple_format() writes, with the terminating NUL. */
#define OCTO_TUPLE_TEXT_MAX 128

/** Length in bytes of one address of the tuple's family. */
static inline size_t
octo_tuple_addr_len(const struct octo_tuple *t)
{
	return t->family == OCTO_IPV4 ? 4 : 16;
}

static inline uint32_t
octo_tuple_hash(const struct octo_tuple *t, uint32_t seed)
{
	uint64_t words[sizeof(*t) / sizeof(uint64_t)];

	/*
	 * rte_hash_crc() reads words, which may not alias the fields of the tuple: without the
	 * copy gcc reads before it stores the fields.
	 */
	memcpy(words, t, sizeof(words));
	return rte_hash_crc(words, sizeof(words), seed);
}

static inline void
octo_tuple_clear(struct octo_tuple *t)
{
	memset(t, 0, sizeof(*t));
}

static inline bool
octo_tuple_equal(const struct octo_tuple *a, const struct octo_tuple *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/** The other direction of a connection. */
static inline struct octo_tuple
octo_tuple_reverse(const struct octo_tuple *t)
{
	struct octo_tuple r = *t;

	r.src_port = t->dst_port;
	r.dst_port = t->src_port;
	memcpy(r.src, t->dst, sizeof(r.src));
	memcpy(r.dst, t->src, sizeof(r.dst));
	return r;
}

/** "tcp", "udp", "sctp", or "?" for any other number. */
__rte_internal
const char *octo_tuple_proto_name(uint8_t proto);

/** Room for one address as text, with the terminating NUL. */
#define OCTO_ADDR_TEXT_MAX INET6_ADDRSTRLEN

/**
 * Write one address of the tuple.
 *
 * @param addr
 *   t->src or t->dst.
 * @param text
 *   At least OCTO_ADDR_TEXT_MAX bytes.
 * @return
 *   text
 */
__rte_internal
char *octo_tuple_format_addr(const struct octo_tuple *t, const uint8_t *addr, char *text);

/**
 * Write the tuple as readable text: "tcp 10.0.0.1:80 > 10.0.0.2:4000".
 *
 * @param text
 *   At least OCTO_TUPLE_TEXT_MAX bytes.
 * @return
 *   text
 */
__rte_internal
char *octo_tuple_format(const struct octo_tuple *t, char *text);

/**
 * Read a tuple from its five parts.
 *
 * @param proto
 *   "tcp", "udp" or "sctp".
 * @param src
 *   An IPv4 or IPv6 address.
 * @param dst
 *   An address of the same family.
 * @param culprit
 *   If not NULL: set to the name of the invalid part on failure.
 * @return
 *   0, or -EINVAL with *t unchanged.
 */
__rte_internal
int octo_tuple_read(struct octo_tuple *t, const char *proto, const char *src, uint16_t src_port,
		    const char *dst, uint16_t dst_port, const char **culprit);

#endif /* OCTO_TUPLE_H */
