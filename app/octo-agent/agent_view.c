/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <rte_vhost.h>

#include "agent_log.h"
#include "agent_view.h"

/* One node has one file (QEMU: memory-backend-file), whichever way it was opened. */
static int
node_of_file(int fd, const struct agent_options *options)
{
	struct stat theirs, named;

	if (fstat(fd, &theirs) != 0)
		return AGENT_NODE_UNKNOWN;
	for (uint16_t i = 0; i < options->nb_files; i++)
		/* each time anew: the client makes the file when it starts */
		if (stat(options->file[i].path, &named) == 0 && named.st_dev == theirs.st_dev &&
		    named.st_ino == theirs.st_ino)
			return options->file[i].node;
	return AGENT_NODE_UNKNOWN;
}

static int
map_region(const struct rte_vhost_mem_region *theirs, struct agent_view *view,
	   const struct agent_options *options)
{
	const uint64_t offset = theirs->host_user_addr - (uintptr_t)theirs->mmap_addr;
	void *addr;

	if (view->mem.nb == AGENT_MAX_REGIONS)
		return -ENOSPC;
	addr = mmap(NULL, theirs->mmap_size, PROT_READ, MAP_SHARED, theirs->fd, 0);
	if (addr == MAP_FAILED)
		return -errno;
	view->mapping[view->mem.nb] = (struct agent_mapping){addr, theirs->mmap_size};
	view->mem.region[view->mem.nb++] = (struct agent_region){
		.gpa = theirs->guest_phys_addr,
		.size = theirs->size,
		.va = (const uint8_t *)addr + offset,
		.node = node_of_file(theirs->fd, options),
	};
	return 0;
}

/* What vhost sees at an address, in our own mapping. */
static const void *
translate(const struct agent_view *view, const struct rte_vhost_memory *theirs, const void *addr,
	  int *node)
{
	for (uint32_t i = 0; i < theirs->nregions; i++) {
		const struct rte_vhost_mem_region *region = &theirs->regions[i];
		const uint64_t offset = (uintptr_t)addr - region->host_user_addr;

		if (offset < region->size) {
			*node = view->mem.region[i].node;
			return view->mem.region[i].va + offset;
		}
	}
	return NULL;
}

static void
find_ring(struct agent_view *view, const struct rte_vhost_memory *theirs,
	  const struct rte_vhost_vring *vring, struct agent_ring *ring)
{
	const void *used = translate(view, theirs, vring->used, &ring->node[AGENT_USED]);

	ring->desc = translate(view, theirs, vring->desc, &ring->node[AGENT_DESC]);
	ring->avail = translate(view, theirs, vring->avail, &ring->node[AGENT_AVAIL]);
	if (ring->desc != NULL && ring->avail != NULL && used != NULL)
		ring->size = vring->size;
}

static int
fill(struct agent_view *view, int vid, const struct rte_vhost_memory *theirs,
     const struct agent_options *options)
{
	struct rte_vhost_vring vring;
	uint64_t features;
	int ret = 0;

	if (rte_vhost_get_negotiated_features(vid, &features) != 0)
		return -ENODEV;
	view->mergeable = (features & RTE_BIT64(VIRTIO_NET_F_MRG_RXBUF)) != 0;
	view->hdr_len = features & (RTE_BIT64(VIRTIO_NET_F_MRG_RXBUF) |
				    RTE_BIT64(VIRTIO_F_VERSION_1)) ?
				sizeof(struct virtio_net_hdr_mrg_rxbuf) :
				sizeof(struct virtio_net_hdr);
	for (uint32_t i = 0; i < theirs->nregions && ret == 0; i++)
		ret = map_region(&theirs->regions[i], view, options);
	for (uint16_t i = 0; i < AGENT_MAX_RINGS && ret == 0; i++)
		if (rte_vhost_get_vhost_vring(vid, i, &vring) == 0)
			find_ring(view, theirs, &vring, &view->ring[i]);
	return ret;
}

struct agent_view *
agent_view_create(int vid, const struct agent_options *options)
{
	struct agent_view *view = calloc(1, sizeof(*view));
	struct rte_vhost_memory *theirs = NULL;
	int ret = -ENOMEM;

	if (view != NULL && rte_vhost_get_mem_table(vid, &theirs) == 0)
		ret = fill(view, vid, theirs, options);
	free(theirs);
	if (ret == 0)
		return view;
	agent_view_free(view);
	AGENT_LOG(ERR, "auditor", "a client's memory cannot be seen: %s", strerror(-ret));
	return NULL;
}

void
agent_view_free(struct agent_view *view)
{
	if (view == NULL)
		return;
	for (uint16_t i = 0; i < view->mem.nb; i++)
		munmap(view->mapping[i].addr, view->mapping[i].size);
	free(view);
}
