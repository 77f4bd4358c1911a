/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_PORT_FLOWS_H
#define OCTO_PORT_FLOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "octo_port.h"

/**
 * @file
 * Several flows over PFs that are slices of one port, while their queues get other homes: each
 * packet has a number, and the order of each flow is checked.
 */

#define OCTO_PORT_FLOWS 8
#define OCTO_PORT_FLOWS_QUEUES 4

/** One queue, which is at home on the PF of the node from which it is polled. */
extern const struct octo_port_conf octo_port_flows_two_nodes;

/** Hashes the flows. */
extern const struct rte_eth_conf octo_port_flows_rss;

struct octo_port_flows {
	uint16_t port;
	uint16_t nb_queues;
	uint32_t sent[OCTO_PORT_FLOWS];
	uint32_t received[OCTO_PORT_FLOWS];
	uint32_t by_queue[OCTO_PORT_FLOWS_QUEUES];
	uint32_t overtaken;
};

/**
 * Create the octo port, and start it from node 0. Without an ethdev configuration there is no RSS:
 * all packets come by queue 0.
 */
void octo_port_flows_begin(struct octo_port_flows *t, const struct octo_port_conf *conf,
			   uint16_t nb_queues, const struct rte_eth_conf *eth);

/** Two packets of each flow. */
void octo_port_flows_send(struct octo_port_flows *t);

/** One burst. */
void octo_port_flows_receive(struct octo_port_flows *t, uint16_t queue);

/** Several bursts come between two looks, so both legs may have more than a burst. */
void octo_port_flows_pass(struct octo_port_flows *t, bool send);

/** octo_port_flows_pass() so many times, sending. */
void octo_port_flows_pass_often(struct octo_port_flows *t, int times);

/** What is under way arrives, each flow in order, and no fence is given up. */
void octo_port_flows_assert_all_arrive(struct octo_port_flows *t);

/** Has the RETA only the leg of the first queue on this PF? */
bool octo_port_flows_lead_to(unsigned int pf);

#endif /* OCTO_PORT_FLOWS_H */
