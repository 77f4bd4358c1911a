/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_NIC_H
#define OCTO_NIC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <rte_ethdev.h>
#include <rte_flow.h>

#include "octo_ethtool_client.h"

/**
 * @file
 * How rules, RETA and hash of a lower port are set: by ethdev and rte_flow, or, of a port of
 * net_af_xdp whose queues are slices, by the kernel. All under the control mutex, in the primary
 * process. Functions return 0 or a negative errno, and set rte_errno as those of rte_flow do.
 */

struct octo_dev;
struct octo_ethtool;
struct octo_port;

struct octo_nic_ops {
	int (*validate)(const struct octo_port *port, const struct rte_flow_attr *attr,
			const struct rte_flow_item pattern[],
			const struct rte_flow_action actions[], struct rte_flow_error *error);
	struct rte_flow *(*create)(const struct octo_port *port, const struct rte_flow_attr *attr,
				   const struct rte_flow_item pattern[],
				   const struct rte_flow_action actions[],
				   struct rte_flow_error *error);
	/* Change a rule's actions in place. NULL: where ethdev has a function for it. */
	int (*update)(const struct octo_port *port, struct rte_flow *flow,
		      const struct rte_flow_action actions[], struct rte_flow_error *error);
	int (*destroy)(const struct octo_port *port, struct rte_flow *flow,
		       struct rte_flow_error *error);
	int (*flush)(const struct octo_port *port);
	int (*query)(const struct octo_port *port, struct rte_flow *flow,
		     const struct rte_flow_action actions[], void *data,
		     struct rte_flow_error *error);
	int (*dump)(const struct octo_port *port, struct rte_flow *flow, FILE *file,
		    struct rte_flow_error *error);
	int (*reta_update)(struct octo_port *port, struct rte_eth_rss_reta_entry64 *entries,
			   uint16_t size);
	int (*hash_update)(struct octo_port *port, struct rte_eth_rss_conf *conf);
	int (*hash_get)(const struct octo_port *port, struct rte_eth_rss_conf *conf);
};

/* octo_nic.c: by ethdev and rte_flow */
extern const struct octo_nic_ops octo_nic_ethdev_ops;

/** Longest RSS key that octo keeps. */
#define OCTO_NIC_MAX_KEY 64

/** The kernel's part in a lower port. In shared memory, but for what is the primary's. */
struct octo_nic_kernel {
	struct octo_ethtool *et; /**< primary only; NULL: the kernel has no part in it */
	bool on;                 /**< the kernel hashes, whatever ethdev says */
	bool logged;             /**< the refusal of a RETA was logged */
	bool complained;         /**< the agent's absence was logged */
	uint16_t reta_size;      /**< that the octo port offers; 0: none */
	uint8_t key_size;        /**< 0: unknown */
	uint8_t key[OCTO_NIC_MAX_KEY];
	bool symmetric; /**< it changes the fields before it hashes them: octo cannot tell queues */
	uint64_t hash_types;    /**< RTE_ETH_RSS_... by which it hashes; 0: unknown */
	uint32_t first_channel; /**< of the netdev, that queue 0 of the port is */
	uint16_t *reta;         /**< primary only; the port's queues, as they were last set */
};

/* octo_ethtool_ops.c: by the kernel */
extern const struct octo_nic_ops octo_ethtool_ops;

/** The port was found: choose how it is set, and complete what it offers. */
void
octo_nic_take(const struct octo_dev *octo, struct octo_port *port, struct rte_eth_dev_info *info);

/** Notice that the agent that asks the kernel has gone or come, and connect to it. Never waits. */
enum octo_ethtool_client_event octo_nic_follow_agent(struct octo_port *port);

/** Leave the netdev as it was found; no effect if the kernel has no part in the port. */
void octo_nic_give_back(struct octo_port *port);

/** Add what the kernel offers for this port to what its driver says. */
void octo_nic_offer(const struct octo_port *port, struct rte_eth_dev_info *info);

/** Remove from a configuration what the kernel does and the driver would refuse. */
void octo_nic_strip(const struct octo_port *port, struct rte_eth_conf *conf);

/* octo_af_xdp.c: what is particular to PFs of net_af_xdp */

/**
 * With busy polling an empty poll of a queue makes NAPI deliver what the NIC has. The guide of
 * net_af_xdp defers the NIC's interrupts, which do the same, to two times 200 us. Until a poll so
 * much later is empty as well, the NIC may have packets of the time of the first one.
 */
#define OCTO_AF_XDP_SETTLE_US 1000

/** Largest ring of a NIC (ethtool -G): packets wait there and in the ring of the socket. */
#define OCTO_AF_XDP_NIC_RING 8192

bool octo_af_xdp_is(const struct rte_eth_dev_info *info);

/**
 * Do its bursts wait? Then those of the other PFs wait with them. Without busy polling net_af_xdp
 * calls poll() for up to a second where a queue is empty (rte_eth_af_xdp.c, af_xdp_rx_zc()).
 */
bool octo_af_xdp_waits(const struct rte_eth_dev_info *info);

/** The index of the netdev that the port is of; 0: the driver is another one. */
uint32_t octo_af_xdp_netdev(const struct rte_eth_dev_info *info);

/** The channel of the netdev that queue 0 of the port is. */
uint32_t octo_af_xdp_first_channel(const struct rte_eth_dev_info *info);

#endif /* OCTO_NIC_H */
