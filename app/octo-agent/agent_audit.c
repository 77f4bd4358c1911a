/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include <rte_common.h>
#include <rte_stdatomic.h>

#include "agent_audit.h"

/*
 * Descriptors, and pieces of memory behind them, that are looked at in one call: clients
 * make chains of any length, and of empty buffers. vhost takes 256 pieces for a packet.
 */
#define PACKET_STEPS 2048
#define WAITING_STEPS 131072

/* Descriptors: of the ring itself, or of an indirect table in the client's memory. */
struct table {
	const struct agent_memory *mem;
	const struct vring_desc *desc; /* or NULL: at gpa */
	uint64_t gpa;
	uint32_t size;
	uint16_t first;
};

/* A look at chains. */
struct walk {
	const struct agent_dma *dma;
	struct agent_span *span;
	uint64_t want;  /* bytes to locate */
	uint32_t steps; /* that it may still take */
};

static const struct agent_region *
find_region(const struct agent_memory *mem, uint64_t gpa)
{
	for (uint16_t i = 0; i < mem->nb; i++)
		if (gpa - mem->region[i].gpa < mem->region[i].size)
			return &mem->region[i];
	return NULL;
}

/* Bytes from gpa on that are in the same piece of memory. */
static uint64_t
room_in(const struct agent_region *region, uint64_t gpa)
{
	return region->size - (gpa - region->gpa);
}

static int
read_memory(const struct agent_memory *mem, uint64_t gpa, void *to, uint64_t len)
{
	while (len > 0) {
		const struct agent_region *region = find_region(mem, gpa);
		uint64_t n;

		if (region == NULL)
			return -EFAULT;
		n = RTE_MIN(len, room_in(region, gpa));
		memcpy(to, region->va + (gpa - region->gpa), n);
		to = RTE_PTR_ADD(to, n);
		gpa += n;
		len -= n;
	}
	return 0;
}

static int
read_desc(const struct table *table, uint16_t i, struct vring_desc *desc)
{
	if (i >= table->size)
		return -EFAULT;
	if (table->desc == NULL)
		return read_memory(table->mem, table->gpa + i * sizeof(*desc), desc, sizeof(*desc));
	*desc = table->desc[i];
	return 0;
}

/* Where the chain behind a head begins. */
static int
open_chain(const struct agent_dma *dma, uint16_t head, struct table *table)
{
	struct vring_desc desc;

	*table = (struct table){
		.mem = dma->mem,
		.desc = dma->ring->desc,
		.size = dma->ring->size,
		.first = head,
	};
	if (read_desc(table, head, &desc) != 0)
		return -EFAULT;
	if (desc.flags & VRING_DESC_F_INDIRECT) {
		table->desc = NULL;
		table->gpa = desc.addr;
		table->size = desc.len / sizeof(desc);
		table->first = 0;
	}
	/* vhost takes no longer ones, either */
	return table->size <= dma->ring->size ? 0 : -EFAULT;
}

enum agent_locality
agent_audit_locality(int node, int pf_node)
{
	if (node == AGENT_NODE_UNKNOWN || pf_node == AGENT_NODE_UNKNOWN)
		return AGENT_UNKNOWN;
	return node == pf_node ? AGENT_LOCAL : AGENT_REMOTE;
}

static int
take_step(struct walk *walk)
{
	if (walk->steps == 0)
		return -EFAULT;
	walk->steps--;
	return 0;
}

/* Place the first of len bytes at gpa that are wanted; the others only have to be there. */
static int
locate_bytes(struct walk *walk, uint64_t gpa, uint64_t len)
{
	while (len > 0) {
		const struct agent_region *region = find_region(walk->dma->mem, gpa);
		uint64_t n, used;

		if (region == NULL || take_step(walk) != 0)
			return -EFAULT;
		n = RTE_MIN(len, room_in(region, gpa));
		used = RTE_MIN(n, walk->want);
		walk->span->bytes[agent_audit_locality(region->node, walk->dma->node)] += used;
		walk->want -= used;
		gpa += n;
		len -= n;
	}
	return 0;
}

/* Place what is wanted of the chain of entry idx. */
static int
locate_chain(struct walk *walk, uint16_t idx)
{
	const struct agent_ring *ring = walk->dma->ring;
	const uint16_t head = ring->avail->ring[idx & (ring->size - 1)];
	struct vring_desc desc = {.flags = VRING_DESC_F_NEXT};
	struct table table;
	uint16_t at;

	if (open_chain(walk->dma, head, &table) != 0)
		return -EFAULT;
	at = table.first;
	/* a chain that is longer than its table is a loop */
	for (uint32_t i = 0; desc.flags & VRING_DESC_F_NEXT; i++) {
		if (i == table.size || take_step(walk) != 0 || read_desc(&table, at, &desc) != 0)
			return -EFAULT;
		if (locate_bytes(walk, desc.addr, desc.len) != 0)
			return -EFAULT;
		at = desc.next;
	}
	walk->span->nb_heads++;
	return 0;
}

uint16_t
agent_audit_posted(const struct agent_ring *ring, uint16_t idx)
{
	const RTE_ATOMIC(uint16_t) *end = (const RTE_ATOMIC(uint16_t) *)&ring->avail->idx;
	/* pairs with the client's release: the entries were written before */
	const uint16_t nb = rte_atomic_load_explicit(end, rte_memory_order_acquire) - idx;

	return nb <= ring->size ? nb : 0;
}

int
agent_audit_write(const struct agent_dma *dma, uint16_t idx, uint16_t nb, uint32_t len,
		  bool mergeable, struct agent_span *span)
{
	struct walk walk = {.dma = dma, .span = span, .want = len, .steps = PACKET_STEPS};

	*span = (struct agent_span){0};
	/* vhost uses all entries of a ring but one for a packet */
	nb = RTE_MIN(nb, mergeable ? dma->ring->size - 1 : 1);
	while (walk.want > 0) {
		if (span->nb_heads == nb)
			return -ENOBUFS;
		if (locate_chain(&walk, idx + span->nb_heads) != 0)
			return -EFAULT;
	}
	return 0;
}

int
agent_audit_fetch(const struct agent_dma *dma, uint16_t idx, struct agent_span *span)
{
	struct walk walk = {.dma = dma, .span = span, .want = UINT64_MAX, .steps = PACKET_STEPS};

	*span = (struct agent_span){0};
	return locate_chain(&walk, idx);
}

enum agent_locality
agent_audit_span_locality(const struct agent_span *span)
{
	if (span->bytes[AGENT_REMOTE] > 0)
		return AGENT_REMOTE;
	return span->bytes[AGENT_UNKNOWN] > 0 ? AGENT_UNKNOWN : AGENT_LOCAL;
}

void
agent_audit_waiting(const struct agent_dma *dma, uint16_t idx, uint16_t nb,
		    uint64_t buffers[AGENT_NB_LOCALITIES])
{
	struct walk walk = {.dma = dma, .steps = WAITING_STEPS};

	for (uint16_t i = 0; i < nb; i++) {
		struct agent_span span = {0};

		walk.span = &span;
		walk.want = UINT64_MAX;
		if (locate_chain(&walk, idx + i) != 0)
			buffers[AGENT_UNKNOWN]++;
		else
			buffers[agent_audit_span_locality(&span)]++;
	}
}

void
agent_audit_account(struct agent_count *count, const struct agent_span *span)
{
	count->packets[agent_audit_span_locality(span)]++;
	for (int i = 0; i < AGENT_NB_LOCALITIES; i++)
		count->bytes[i] += span->bytes[i];
}

void
agent_audit_account_unknown(struct agent_count *count, uint64_t n, uint64_t bytes)
{
	count->packets[AGENT_UNKNOWN] += n;
	count->bytes[AGENT_UNKNOWN] += bytes;
}
