/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef AGENT_VIEW_H
#define AGENT_VIEW_H

#include "agent_audit.h"
#include "agent_options.h"

/**
 * @file
 * A client as the auditor sees it: its memory, node by node, and its rings.
 *
 * The memory is mapped once more, for reading. vhost may give its own mapping up whenever the
 * client changes its memory, under a lock that is not ours; this one stays until
 * who polls has taken the next view.
 */

/** The virtqueue of a queue pair, as virtio numbers them. */
#define AGENT_RXQ(queue) (2 * (queue))     /**< the client receives */
#define AGENT_TXQ(queue) (2 * (queue) + 1) /**< the client sends */
#define AGENT_MAX_RINGS (2 * AGENT_MAX_QUEUES)

struct agent_mapping {
	void *addr;
	uint64_t size;
};

struct agent_view {
	struct agent_memory mem;
	struct agent_mapping mapping[AGENT_MAX_REGIONS];
	struct agent_ring ring[AGENT_MAX_RINGS];
	uint32_t hdr_len; /**< of the virtio-net header */
	bool mergeable;
};

/**
 * In a vhost callback of a running device, or of one that is about to run.
 *
 * @return
 *   The view, or NULL after a message.
 */
struct agent_view *agent_view_create(int vid, const struct agent_options *options);

/** NULL is fine. */
void agent_view_free(struct agent_view *view);

#endif /* AGENT_VIEW_H */
