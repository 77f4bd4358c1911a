/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_VIEW_H
#define OCTO_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_compat.h>
#include <rte_ethdev.h>
#include <rte_ether.h>

#include "octo_hold.h"
#include "octo_tuple.h"

/**
 * @file
 * Views: the data behind the telemetry commands, the dump and the testpmd commands, as
 * copies. In any process, by any thread that is not inside a burst. A secondary process has
 * the number of rules, but not the rules.
 */

#define OCTO_VIEW_MAX_PFS 8

struct octo_view_pf {
	char name[RTE_ETH_NAME_MAX_LEN];
	const char *state; /**< "gone", "owned", "configured", "joining", "started" or "draining" */
	uint16_t port_id;
	int socket; /**< simulated or real node, -1 unknown */
	bool link_up;
	bool transfer_proxy;
	struct rte_ether_addr mac; /**< its address in tier mac, else that of the port */
	uint8_t mac_holder;        /**< index of the PF that has this address now */
	bool designated;           /**< tier mac: has groups, promiscuity and added addresses */
};

struct octo_view_topology {
	char name[RTE_ETH_NAME_MAX_LEN];
	const char *tier;    /**< "none", "queue", "mac", "exact" or "partition" */
	const char *mpfs;    /**< name of the MPFS back end, "none" without */
	const char *dialect; /**< of the rules of back end "switch", "none" without */
	/** rules that the NIC accepts and ignores: "none", "masked", "MPFS" or "queue" */
	const char *ignored;
	uint32_t nb_rules;
	uint32_t nb_ineffective;
	uint32_t nb_others;    /**< rules without a 5-tuple */
	uint32_t nb_lingering; /**< destroyed or replaced, still on the PFs */
	uint64_t rule_bytes;   /**< bytes of memory that the port uses for its rules */
	int socket;            /**< node on which the application should allocate */
	bool link_up;
	uint16_t nb_pfs;
	uint16_t nb_rx_queues;
	uint16_t rx_ring;        /**< descriptors of Rx queue 0 on each PF, 0 without a queue */
	uint16_t rx_ring_wanted; /**< that the application asked for */
	struct octo_view_pf pf[OCTO_VIEW_MAX_PFS];
};

struct octo_view_leg {
	uint16_t queue;
	bool tx;
	uint16_t pf; /**< PF index */
	bool home;
	int cpu;         /**< of the last use, -1 if never used */
	int cpu_socket;  /**< of that CPU, -1 if never used */
	int pf_socket;   /**< simulated or real node, -1 unknown */
	int ring_socket; /**< of its descriptors, -1 unknown or simulated */
	int pool_socket; /**< of Rx mbufs, -1 unknown, simulated or several */
	/** on another socket than the PF, or "none"; the CPU only where this is the home leg */
	const char *crosses;
};

/** An Rx queue; its counters are since the last reset. */
struct octo_view_queue {
	struct octo_view_leg home; /**< the leg by its home PF */
	uint64_t home_packets;
	uint64_t stray_packets;
};

struct octo_view_rule {
	struct octo_tuple tuple;
	int64_t hits;    /**< -1 where the PFs cannot count */
	uint64_t strays; /**< sampled strays of this flow */
	uint16_t queue;
	int pf;             /**< PF index that the MPFS rule leads to, -1 without one */
	const char *status; /**< octo_rule_status_name() */
	bool ineffective;   /**< the audit's status is a failure */
	bool learned;       /**< created by learning */
};

/** Is this an octo port? */
bool octo_view_is_octo(uint16_t port_id);

/** @return 0, or -ENODEV if it is not an octo port. */
__rte_experimental
int rte_pmd_octo_view_topology(uint16_t port_id, struct octo_view_topology *view);

/**
 * For how long the control mutex has been held, without taking it.
 *
 * @return
 *   0, or -ENODEV if it is not an octo port.
 */
int octo_view_hold(uint16_t port_id, struct octo_hold_view *view);

/** @return 0, -ENODEV if it is not an octo port, -EINVAL if there is no such Rx queue. */
int octo_view_queue(uint16_t port_id, uint16_t queue_id, struct octo_view_queue *view);

/**
 * Copy legs: of Rx queue 0 by PF 0, by PF 1, ..., of Rx queue 1, ..., of Tx queue 0, ...
 *
 * @param start
 *   Index of the first one.
 * @param total
 *   Set to the number of all legs.
 * @return
 *   Number of legs copied, or -ENODEV if it is not an octo port.
 */
int octo_view_legs(uint16_t port_id, uint32_t start, struct octo_view_leg *legs, uint32_t nb,
		   uint32_t *total);

/**
 * Copy rules in order of creation; none in a secondary process.
 *
 * @param start
 *   Index of the first one. Where the last page ended, the next one begins, also if rules before
 *   it have gone meanwhile.
 * @param total
 *   Set to the number of all rules.
 * @return
 *   Number of rules copied, or -ENODEV if it is not an octo port.
 */
__rte_experimental
int rte_pmd_octo_view_rules(uint16_t port_id, uint32_t start, struct octo_view_rule *rules,
			    uint32_t nb, uint32_t *total);

/**
 * Set a function to be called before an octo port closes: once while the port can still be
 * queried, and once when it cannot be queried any more. A user with a thread of its own
 * must have ended its use when fn returns.
 *
 * @param fn
 *   Replaces the previous one; NULL: none.
 */
__rte_experimental
void rte_pmd_octo_view_watch(void (*fn)(uint16_t port_id));
/** Call the function set by rte_pmd_octo_view_watch(). */
void octo_view_notify_closing(uint16_t port_id);

#endif /* OCTO_VIEW_H */
