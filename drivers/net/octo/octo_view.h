/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_VIEW_H
#define OCTO_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_compat.h>
#include <rte_ethdev.h>

#include "octo_tuple.h"

/**
 * @file
 * What can be seen of an octo port: the data behind the telemetry commands, the dump and
 * the testpmd commands. Snapshots, copied out. Any process, any thread but one that is
 * inside a burst; a secondary process has the numbers of rules, and not the rules.
 */

#define OCTO_VIEW_MAX_PFS 8

struct octo_view_pf {
	char name[RTE_ETH_NAME_MAX_LEN];
	const char *state; /**< "gone", "owned", "configured", "joining", "started" or "leaving" */
	uint16_t port_id;
	int socket; /**< simulated or real node, -1 unknown */
	bool link_up;
	bool manager;
};

struct octo_view_topology {
	char name[RTE_ETH_NAME_MAX_LEN];
	const char *tier;    /**< "none", "queue", "exact" or "partition" */
	const char *mpfs;    /**< name of the MPFS back end, "none" without */
	const char *ignored; /**< rules that the NIC accepts and ignores: "none", "masked",
		   "MPFS" or "queue" */
	uint32_t nb_rules;
	uint32_t nb_ineffective;
	uint32_t nb_others;  /**< rules that steer no single flow: the PFs know what they do */
	uint32_t nb_parting; /**< rules that were destroyed and lead their flows yet */
	uint64_t rule_bytes; /**< memory that the port keeps for its rules */
	int socket;          /**< node on which the application allocates */
	bool link_up;
	bool started;
	uint16_t nb_pfs;
	uint16_t nb_rx_queues;
	struct octo_view_pf pf[OCTO_VIEW_MAX_PFS];
};

struct octo_view_queue {
	int cpu;             /**< last polled from, -1 if never */
	int socket;          /**< of that CPU, -1 if never polled */
	int home_pf;         /**< PF index */
	int ring_socket;     /**< of its descriptors on the home PF, -1 unknown or simulated */
	int pool_socket;     /**< of its packets, -1 unknown, simulated or several */
	const char *crosses; /**< what is on another socket than the home PF, or "none" */
	uint64_t home_packets;
	uint64_t stray_packets;
};

struct octo_view_leg {
	uint16_t queue;
	bool tx;
	uint16_t pf; /**< PF index */
	bool home;
	int cpu;             /**< that the queue was last used from, -1 if never */
	int cpu_socket;      /**< of that CPU, -1 if never used */
	int pf_socket;       /**< simulated or real node, -1 unknown */
	int ring_socket;     /**< of its descriptors, -1 unknown or simulated */
	int pool_socket;     /**< of Rx packets, -1 unknown, simulated or several */
	const char *crosses; /**< what is on another socket than the PF, or "none";
		   the CPU only where this is the home leg */
};

struct octo_view_rule {
	struct octo_tuple tuple;
	int64_t hits;    /**< -1 where the PFs cannot count */
	uint64_t strays; /**< samples of strays that are of this flow */
	uint16_t queue;
	int pf;              /**< PF index that the MPFS rule leads to, -1 without one */
	const char *verdict; /**< octo_verdict_name() */
	bool ineffective;    /**< the verdict is that a promise is broken */
	bool learned;        /**< strays have taught it */
};

struct octo_dev;

/**
 * The octo port with this id, or NULL. Where not NULL, octo_view_leave() must follow, and the
 * port is not freed before.
 */
struct octo_dev *octo_view_enter(uint16_t port_id);
void octo_view_leave(void);

/** Is this an octo port? */
bool octo_view_is_octo(uint16_t port_id);

/** @return 0, or -ENODEV if it is not an octo port. */
int octo_view_topology(uint16_t port_id, struct octo_view_topology *view);

/** The same, for octo_source.c. */
__rte_experimental
int rte_pmd_octo_view_topology(uint16_t port_id, struct octo_view_topology *view);

/** @return 0, -ENODEV if it is not an octo port, -EINVAL if there is no such Rx queue. */
int octo_view_queue(uint16_t port_id, uint16_t queue_id, struct octo_view_queue *view);

/**
 * Copy out legs: of Rx queue 0 by PF 0, by PF 1, ..., of Rx queue 1, ..., of Tx queue 0, ...
 *
 * @param total
 *   Set to the number of all legs.
 * @return
 *   How many were copied, or -ENODEV if it is not an octo port.
 */
int octo_view_legs(uint16_t port_id, uint32_t start, struct octo_view_leg *legs, uint32_t nb,
		   uint32_t *total);

/**
 * Copy out rules in the order of their creation; none in a secondary process.
 *
 * @param total
 *   Set to the number of all rules.
 * @return
 *   How many were copied, or -ENODEV if it is not an octo port.
 */
int octo_view_rules(uint16_t port_id, uint32_t start, struct octo_view_rule *rules, uint32_t nb,
		    uint32_t *total);

/** The same, for octo_source.c. */
__rte_experimental
int rte_pmd_octo_view_rules(uint16_t port_id, uint32_t start, struct octo_view_rule *rules,
			    uint32_t nb, uint32_t *total);

/**
 * Be told of each octo port that is about to be closed, while it can be asked yet, and once
 * more when it cannot: whoever uses the port by a thread of its own is done when fn returns.
 *
 * @param fn
 *   The only one; NULL: none.
 */
__rte_experimental
void rte_pmd_octo_view_watch(void (*fn)(uint16_t port_id));
/** Tell it. */
void octo_view_tell_closing(uint16_t port_id);

#endif /* OCTO_VIEW_H */
