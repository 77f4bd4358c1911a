/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef AGENT_VHOST_H
#define AGENT_VHOST_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>
#include <rte_stdatomic.h>
#include <rte_ticketlock.h>

#include "agent_audit.h"
#include "agent_options.h"
#include "agent_view.h"

/**
 * @file
 * PFs and their clients: a virtual machine or another process on a vhost-user
 * socket. Queue q of the PF's hardware is the client's queue pair q.
 *
 * vhost has a thread of its own. It takes a client away under the PF's lock, which
 * who polls holds during a round. What vhost tells under locks of its own, where
 * waiting would be a deadlock, is left in atomic variables until the next round.
 */

/** One writer: who polls. */
struct agent_queue {
	uint64_t rx_packets;   /**< written to the client */
	uint64_t rx_no_client; /**< dropped: the client did not enable the queue */
	uint64_t rx_no_buffer; /**< dropped: the client posted no buffer, or too small ones */
	uint64_t tx_packets;   /**< fetched from the client */
	uint64_t tx_malformed; /**< fetched, but no packets */
	uint64_t tx_dropped;   /**< fetched, but the wire did not take them */
	struct agent_count rx;
	struct agent_count tx;
};

struct agent_pf {
	const struct agent_pf_options *own;
	const struct agent_options *options;
	struct rte_mempool *pool;
	uint16_t index;
	uint16_t port;
	RTE_ATOMIC(int) connection; /**< vhost's number of it, or -1 */

	/* left by vhost's thread */
	RTE_ATOMIC(bool) changed;
	RTE_ATOMIC(bool) enabled[AGENT_MAX_RINGS];
	RTE_ATOMIC(struct agent_view *) next;

	/* under the lock */
	rte_ticketlock_t lock;
	int vid; /**< of the client's running device, or -1; only vhost's thread changes it */
	struct agent_view *view;
	bool on[AGENT_MAX_RINGS]; /**< the client wants the ring used */
	uint64_t inexact;         /**< bursts that vhost took otherwise than planned */
	struct agent_queue queue[AGENT_MAX_QUEUES];
};

struct agent {
	struct agent_options options;
	struct rte_mempool *pool;
	uint16_t nb_started; /**< ports */
	struct agent_pf pf[AGENT_MAX_PFS];
};

/* agent_vhost.c */

/** Open the sockets of all PFs. @return 0, or a negative errno after a message. */
int agent_vhost_start(struct agent *agent);

/** Drop all clients and remove the sockets. Nobody may be polling. */
void agent_vhost_stop(struct agent *agent);

/* agent_forward.c */

/** Move packets of all PFs, in both directions, once. @return their number. */
unsigned int agent_forward_poll(struct agent *agent);

/** What is to be known of one ring of a PF. */
struct agent_audit_row {
	const struct agent_pf *pf;
	uint16_t queue;
	bool tx;
	bool enabled;
	int ring_node[AGENT_NB_PARTS];
	struct agent_count count;
	uint64_t waiting[AGENT_NB_LOCALITIES]; /**< buffers that were not used yet */
};

/* agent_report.c */

/** Any thread. */
void agent_report_row(struct agent_pf *pf, uint16_t queue, bool tx, struct agent_audit_row *row);

/** Forget all packets, but not what is connected. Any thread. */
void agent_report_reset(struct agent *agent);

/** The table for people. */
void agent_report_print(struct agent *agent);

/* agent_telemetry.c */
void agent_telemetry_start(struct agent *agent);

#endif /* AGENT_VHOST_H */
