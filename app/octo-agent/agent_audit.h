/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef AGENT_AUDIT_H
#define AGENT_AUDIT_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/virtio_ring.h>

/**
 * @file
 * The auditor's decisions, without a device: given a client's memory and the node
 * of each piece of it, which bytes of a packet are on the PF's own node?
 *
 * A PF's DMA goes to the addresses in the client's descriptors. They are read
 * before vhost uses them, as the client may reuse them at once afterwards. vhost takes
 * the entries of the available ring in order, so that what a burst will take is
 * known beforehand: it is never offered more packets than were planned for.
 */

#define AGENT_BURST 32
#define AGENT_MAX_REGIONS 64

/** The client did not say where its memory is, or the PF has no node. */
#define AGENT_NODE_UNKNOWN (-1)

enum agent_locality {
	AGENT_LOCAL,  /**< on the PF's node */
	AGENT_REMOTE, /**< on another one: nonuniform DMA */
	AGENT_UNKNOWN,
	AGENT_NB_LOCALITIES,
};

/** A piece of a client's memory that lies in one file, hence on one node. */
struct agent_region {
	uint64_t gpa; /**< where the client's descriptors see it */
	uint64_t size;
	const uint8_t *va; /**< where this process sees it */
	int node;
};

struct agent_memory {
	uint16_t nb;
	struct agent_region region[AGENT_MAX_REGIONS];
};

enum agent_ring_part {
	AGENT_DESC,
	AGENT_AVAIL,
	AGENT_USED,
	AGENT_NB_PARTS,
};

/** A split virtqueue in the client's memory. */
struct agent_ring {
	const struct vring_desc *desc;
	const struct vring_avail *avail;
	uint16_t size; /**< entries, a power of 2; 0: the client set up none */
	int node[AGENT_NB_PARTS];
};

/** Who does DMA where: a PF on a node, in the memory of its client. */
struct agent_dma {
	const struct agent_memory *mem;
	const struct agent_ring *ring;
	int node;
};

/** What one packet takes: entries of the available ring, and bytes of memory. */
struct agent_span {
	uint16_t nb_heads;
	uint64_t bytes[AGENT_NB_LOCALITIES];
};

/** What came of all packets of one queue in one direction. One writer: who polls. */
struct agent_count {
	uint64_t packets[AGENT_NB_LOCALITIES];
	uint64_t bytes[AGENT_NB_LOCALITIES]; /**< virtio-net headers included */
};

enum agent_locality agent_audit_locality(int node, int pf_node);

/** Of a whole packet: one byte on another node makes it remote. */
enum agent_locality agent_audit_span_locality(const struct agent_span *span);

/** Entries that the client made available and that were not used, from idx on. */
uint16_t agent_audit_posted(const struct agent_ring *ring, uint16_t idx);

/**
 * What a packet that is written to the client will take.
 *
 * @param idx
 *   First entry of the available ring to use.
 * @param nb
 *   Entries that there are.
 * @param len
 *   Bytes to write, with the virtio-net header.
 * @param mergeable
 *   May a packet use several entries?
 * @return
 *   0; -ENOBUFS: the entries do not hold it; -EFAULT: a chain is malformed, or they take
 *   more than a thousand descriptors.
 */
int agent_audit_write(const struct agent_dma *dma, uint16_t idx, uint16_t nb, uint32_t len,
		      bool mergeable, struct agent_span *span);

/** What the packet that the client sends by entry idx takes. @return 0 or -EFAULT as above. */
int agent_audit_fetch(const struct agent_dma *dma, uint16_t idx, struct agent_span *span);

/**
 * Judge the nb buffers from entry idx on, which wait to be used, each as a whole. Behind so
 * many descriptors as no ring has they are unknown.
 */
void agent_audit_waiting(const struct agent_dma *dma, uint16_t idx, uint16_t nb,
			 uint64_t buffers[AGENT_NB_LOCALITIES]);

/** Add a packet to the accounts. */
void agent_audit_account(struct agent_count *count, const struct agent_span *span);

/** Add n packets of which nothing is known but their bytes. */
void agent_audit_account_unknown(struct agent_count *count, uint64_t n, uint64_t bytes);

#endif /* AGENT_AUDIT_H */
