/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_CSUM_H
#define MPSIM_CSUM_H

#include <stdbool.h>

#include <rte_mbuf.h>

#include "mpsim_parse.h"

/**
 * @file
 * IPv4, UDP and TCP checksums: checked on receive, filled in on transmit.
 * Pure: touches only the mbuf given.
 */

/**
 * Verify the checksums of a received frame whose VLAN tags are still in place.
 *
 * @param hdr
 *   Its headers, contiguous; those in the mbuf may be split.
 * @param ip, udp, tcp
 *   The checksums to verify.
 * @return
 *   RTE_MBUF_F_RX_IP_CKSUM_* and RTE_MBUF_F_RX_L4_CKSUM_* flags; "unknown" for a checksum that
 *   is not requested or absent (fragments, UDP over IPv4 without a checksum).
 */
uint64_t mpsim_csum_check(const struct rte_mbuf *m, const uint8_t *hdr,
			  const struct mpsim_parsed *p, bool ip, bool udp, bool tcp);

/**
 * Fill in the checksums requested by ol_flags, l2_len and l3_len, including the pseudo header,
 * and clear these requests from ol_flags.
 *
 * @param m
 *   Must be writable, with all headers in the first segment (mpsim_csum_headers()).
 * @return
 *   0, or -EINVAL if the lengths do not fit the frame, which is unchanged then.
 */
int mpsim_csum_fill(struct rte_mbuf *m);

/** Bytes of headers that mpsim_csum_fill() accesses, from the start of the frame. */
uint32_t mpsim_csum_headers(const struct rte_mbuf *m);

#endif /* MPSIM_CSUM_H */
