/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_SPLIT_H
#define MPSIM_SPLIT_H

#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_mempool.h>

#include "mpsim_parse.h"

/**
 * @file
 * Where the bytes of a frame go: to buffers of one pool, or split into segments, each of a pool of
 * its own (RTE_ETH_RX_OFFLOAD_BUFFER_SPLIT).
 */

#define MPSIM_MAX_SEGS 8
/** Bytes of the first segment, at least. */
#define MPSIM_SPLIT_MIN 18

/** A segment of the frames of a queue. */
struct mpsim_segment {
	struct rte_mempool *pool; /**< NULL: it is discarded (selective Rx) */
	uint32_t layers;   /**< RTE_PTYPE_* of the headers up to its end; 0: split by length */
	uint16_t length;   /**< 0: as much as the buffer holds */
	uint16_t data_off; /**< of its buffers */
};

/** The segments of the frames of a queue; set up with the queue, read under the NIC's lock. */
struct mpsim_split {
	uint16_t nb; /**< 1: whole frames, in buffers of segment 0 */
	/** Behind them one for what is beyond the last one, and one for frames of other headers. */
	struct mpsim_segment seg[MPSIM_MAX_SEGS + 2];
};

/** One buffer of a frame. */
struct mpsim_part {
	uint16_t seg; /**< index of its segment */
	uint32_t end; /**< where it ends at the latest, as an offset in the frame */
};

/** Read the segments of a queue; pool is NULL if conf has several. */
void mpsim_split_read(struct mpsim_split *split, const struct rte_eth_rxconf *conf,
		      struct rte_mempool *pool);

/** The pool of the first segment that is not discarded. */
struct rte_mempool *mpsim_split_pool(const struct mpsim_split *split);

/**
 * The next part of a frame. Where its headers are not those of the segment, all that is left goes
 * to the last pool, as of a NIC with the longest match.
 *
 * @param seg
 *   The first segment that may have it; 0 for the first part, later that of the last one + 1.
 * @param done
 *   Bytes of the frame that other parts have.
 */
struct mpsim_part mpsim_split_next(const struct mpsim_split *split, uint16_t seg, uint32_t done,
				   const uint8_t *hdr, const struct mpsim_parsed *p);

#endif /* MPSIM_SPLIT_H */
