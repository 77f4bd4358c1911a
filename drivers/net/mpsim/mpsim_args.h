/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef MPSIM_ARGS_H
#define MPSIM_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_ether.h>

#include "octo_socket_map.h"
#include "mpsim_tx_fetch.h"

/**
 * @file
 * Devargs of a PF, and of the NIC that it belongs to.
 */

#define MPSIM_NAME_MAX 32
#define MPSIM_PATH_MAX 512

enum mpsim_wire_kind {
	MPSIM_WIRE_NONE,
	MPSIM_WIRE_LOOP,
	MPSIM_WIRE_NIC,
	MPSIM_WIRE_ETHDEV,
};

/** Devargs of one PF; the bits of `given` say which devargs of the NIC are among them. */
struct mpsim_args {
	char nic[MPSIM_NAME_MAX];
	char wire[RTE_ETH_NAME_MAX_LEN]; /**< as given, "" if not */
	enum mpsim_wire_kind wire_kind;
	struct rte_ether_addr mac;
	uint32_t given;       /**< bits of enum mpsim_nic_arg */
	uint32_t representor; /**< slot: MPSIM_REP(pf) or MPSIM_UPLINK; 0 for a PF */
	uint32_t default_pf;
	uint32_t mpfs_entries;
	uint32_t wire_ring; /**< frames on the wire, at most */
	uint32_t arfs_entries;
	uint32_t generic_entries;
	uint32_t queues;
	uint32_t max_mtu;
	uint32_t socket;
	uint32_t ignore;  /**< bits of enum mpsim_ignore */
	uint32_t dialect; /**< of transfer rules that have an effect: enum octo_dialect_id */
	uint32_t lacks;   /**< mask of enum mpsim_cap: missing capabilities */
	enum mpsim_tx_nodes tx_nodes;
	char model[MPSIM_PATH_MAX];        /**< as given, "" if not */
	struct octo_socket_map socket_map; /**< for the model */
	uint32_t tx_delay_us;              /**< time that a frame stays in a Tx ring */
	uint32_t wire_wait_us;             /**< time that a sender waits at a full wire */
	uint32_t latency_us;               /**< time from the switch to an Rx ring */
	uint32_t fill_rings;               /**< Rx rings hold mbufs */
	uint32_t ifindex;                  /**< reported as that of a kernel's netdev; 0: none */
	bool routes_around;                /**< lost_pf=default */
	bool sorts_by_mac;                 /**< switch=mac */
	bool takes_any_dialect;            /**< rules of other dialects are not refused */
	bool rings_on_pf;                  /**< rings=pf, for the model */
};

/** Tables whose rules, if created on this PF, are accepted and have no effect. */
enum mpsim_ignore {
	MPSIM_IGNORE_MPFS = 1 << 0,
	MPSIM_IGNORE_ARFS = 1 << 1,
};

/** Devargs of the NIC; any of its PFs may have them. */
enum mpsim_nic_arg {
	MPSIM_ARG_WIRE = 1 << 0,
	MPSIM_ARG_MAC = 1 << 1,
	MPSIM_ARG_DEFAULT_PF = 1 << 2,
	MPSIM_ARG_MPFS_ENTRIES = 1 << 3,
	MPSIM_ARG_WIRE_RING = 1 << 4,
	MPSIM_ARG_LOST_PF = 1 << 5,
	MPSIM_ARG_MODEL = 1 << 6,
	MPSIM_ARG_SOCKET_MAP = 1 << 7,
	MPSIM_ARG_RINGS = 1 << 8,
	MPSIM_ARG_DIALECT = 1 << 9,
	MPSIM_ARG_SWITCH = 1 << 10,
};

/** Parse devargs. Returns 0, or a negative errno after logging an error. */
int mpsim_args_parse(const char *who, const char *text, struct mpsim_args *args);

#endif /* MPSIM_ARGS_H */
