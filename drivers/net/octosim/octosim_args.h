/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTOSIM_ARGS_H
#define OCTOSIM_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_ether.h>

#include "octo_socket_map.h"
#include "octosim_tx_fetch.h"

/**
 * @file
 * Devargs of a PF, and of the NIC that it belongs to.
 */

#define OCTOSIM_NAME_MAX 32
#define OCTOSIM_PATH_MAX 512

enum octosim_wire_kind {
	OCTOSIM_WIRE_NONE,
	OCTOSIM_WIRE_LOOP,
	OCTOSIM_WIRE_NIC,
	OCTOSIM_WIRE_ETHDEV,
};

/** The devargs of one PF; "given" bits tell which of those of the NIC were there. */
struct octosim_args {
	char nic[OCTOSIM_NAME_MAX];
	char wire[RTE_ETH_NAME_MAX_LEN]; /**< as given, "" if not */
	enum octosim_wire_kind wire_kind;
	struct rte_ether_addr mac;
	uint32_t given;       /**< bits of enum octosim_nic_arg */
	uint32_t representor; /**< slot: OCTOSIM_REP(pf) or OCTOSIM_UPLINK; 0 for a PF */
	uint32_t default_pf;
	uint32_t mpfs_entries;
	uint32_t wire_ring; /**< frames the wire holds */
	uint32_t arfs_entries;
	uint32_t generic_entries;
	uint32_t queues;
	uint32_t max_mtu;
	uint32_t socket;
	uint32_t ignore; /**< bits of enum octosim_ignore */
	uint32_t lacks;  /**< bit per enum octosim_cap that is not there */
	enum octosim_tx_nodes tx_nodes;
	char model[OCTOSIM_PATH_MAX];      /**< as given, "" if not */
	struct octo_socket_map socket_map; /**< for the model */
	uint32_t tx_delay_us;              /**< how long a frame stays in a Tx ring */
	uint32_t wire_wait_us;             /**< how long one waits at a full wire */
	uint32_t latency_us;               /**< how long one is between the switch and a Rx ring */
	bool routes_around;                /**< lost_pf=default */
	bool rings_on_pf;                  /**< rings=pf, for the model */
};

/** Tables whose rules, made on the PF, are accepted and do nothing. */
enum octosim_ignore {
	OCTOSIM_IGNORE_MPFS = 1 << 0,
	OCTOSIM_IGNORE_ARFS = 1 << 1,
};

/** Devargs that belong to the NIC and may be given by any of its PFs. */
enum octosim_nic_arg {
	OCTOSIM_ARG_WIRE = 1 << 0,
	OCTOSIM_ARG_MAC = 1 << 1,
	OCTOSIM_ARG_DEFAULT_PF = 1 << 2,
	OCTOSIM_ARG_MPFS_ENTRIES = 1 << 3,
	OCTOSIM_ARG_WIRE_RING = 1 << 4,
	OCTOSIM_ARG_LOST_PF = 1 << 5,
	OCTOSIM_ARG_MODEL = 1 << 6,
	OCTOSIM_ARG_SOCKET_MAP = 1 << 7,
	OCTOSIM_ARG_RINGS = 1 << 8,
};

/** Read them. 0, or a negative errno; an error was logged. */
int octosim_args_parse(const char *who, const char *text, struct octosim_args *args);

#endif /* OCTOSIM_ARGS_H */
