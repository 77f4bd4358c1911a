/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_vhost.h>

#include "agent_vhost.h"

/* What the client posted changes at any time: it is counted only when asked for. */
static void
fill_ring(const struct agent_pf *pf, uint16_t index, struct agent_audit_row *row)
{
	const struct agent_ring *ring = &pf->view->ring[index];
	const struct agent_dma dma = {.mem = &pf->view->mem, .ring = ring, .node = pf->own->node};
	uint16_t avail, used;

	memcpy(row->ring_node, ring->node, sizeof(row->ring_node));
	if (rte_vhost_get_vring_base(pf->vid, index, &avail, &used) == 0)
		agent_audit_waiting(&dma, avail, agent_audit_posted(ring, avail), row->waiting);
}

void
agent_report_row(struct agent_pf *pf, uint16_t queue, bool tx, struct agent_audit_row *row)
{
	const uint16_t ring = tx ? AGENT_TXQ(queue) : AGENT_RXQ(queue);

	*row = (struct agent_audit_row){
		.pf = pf,
		.queue = queue,
		.tx = tx,
		.ring_node = {AGENT_NODE_UNKNOWN, AGENT_NODE_UNKNOWN, AGENT_NODE_UNKNOWN},
	};
	/* keeps the poller away, and with it the client where it is */
	rte_ticketlock_lock(&pf->lock);
	row->enabled = pf->on[ring];
	row->count = tx ? pf->queue[queue].tx : pf->queue[queue].rx;
	if (row->enabled)
		fill_ring(pf, ring, row);
	rte_ticketlock_unlock(&pf->lock);
}

void
agent_report_reset(struct agent *agent)
{
	for (uint16_t i = 0; i < agent->options.nb_pfs; i++) {
		struct agent_pf *pf = &agent->pf[i];

		rte_ticketlock_lock(&pf->lock);
		memset(pf->queue, 0, sizeof(pf->queue));
		pf->inexact = 0;
		rte_ticketlock_unlock(&pf->lock);
	}
}

static const char *
node_text(int node, char text[16])
{
	snprintf(text, 16, node == AGENT_NODE_UNKNOWN ? "?" : "%d", node);
	return text;
}

/* Of the packets whose locality is known, those on the PF's own node. */
static const char *
share_text(const struct agent_count *count, char text[16])
{
	const uint64_t known = count->packets[AGENT_LOCAL] + count->packets[AGENT_REMOTE];

	if (known == 0)
		return "-";
	snprintf(text, 16, "%.2f%%", 100. * (double)count->packets[AGENT_LOCAL] / (double)known);
	return text;
}

static void
print_row(const struct agent_audit_row *row)
{
	const struct agent_count *count = &row->count;
	char node[AGENT_NB_PARTS + 1][16], share[16], rings[64];

	for (int i = 0; i < AGENT_NB_PARTS; i++)
		node_text(row->ring_node[i], node[i]);
	snprintf(rings, sizeof(rings), "%s/%s/%s", node[AGENT_DESC], node[AGENT_AVAIL],
		 node[AGENT_USED]);
	printf("%-16s %4s %5u %-3s %8s %12" PRIu64 " %12" PRIu64 " %12" PRIu64 " %8s %7" PRIu64
	       " %7" PRIu64 " %7" PRIu64 "\n",
	       row->pf->own->name, node_text(row->pf->own->node, node[AGENT_NB_PARTS]), row->queue,
	       row->tx ? "Tx" : "Rx", rings, count->packets[AGENT_LOCAL],
	       count->packets[AGENT_REMOTE], count->packets[AGENT_UNKNOWN],
	       share_text(count, share), row->waiting[AGENT_LOCAL], row->waiting[AGENT_REMOTE],
	       row->waiting[AGENT_UNKNOWN]);
}

void
agent_report_print(struct agent *agent)
{
	struct agent_audit_row row;

	printf("%-39s  %-45s   %s\n", "", "packets", "buffers not used yet");
	printf("%-16s %4s %5s %-3s %8s %12s %12s %12s %8s %7s %7s %7s\n", "PF", "node", "queue",
	       "dir", "rings", "local", "remote", "unknown", "share", "local", "remote", "unknown");
	for (uint16_t i = 0; i < agent->options.nb_pfs; i++)
		for (uint16_t q = 0; q < agent->options.pf[i].queues; q++)
			for (int tx = 0; tx < 2; tx++) {
				agent_report_row(&agent->pf[i], q, tx, &row);
				print_row(&row);
			}
	fflush(stdout);
}
