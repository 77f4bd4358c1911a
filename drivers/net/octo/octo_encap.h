/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_ENCAP_H
#define OCTO_ENCAP_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>

/**
 * @file
 * UDP tunnel ports, and the VLAN that is inserted into what is sent: the same on every PF, and
 * again on one that returns.
 */

struct octo_dev;
struct octo_port;

#define OCTO_MAX_TUNNELS 32 /**< UDP tunnel ports that an octo port can have */

struct octo_tunnel {
	struct rte_eth_udp_tunnel at; /**< zeroed: unused */
	bool on;                      /**< false: deleted; a PF that is away may have it yet */
};

/** Of the application, under the control mutex. */
struct octo_encap {
	struct octo_tunnel tunnel[OCTO_MAX_TUNNELS];
	bool pvid_set; /**< rte_eth_dev_set_vlan_pvid() was called */
	bool pvid_on;
	uint16_t pvid;
};

int octo_tunnel_add(struct rte_eth_dev *dev, struct rte_eth_udp_tunnel *tunnel);
int octo_tunnel_del(struct rte_eth_dev *dev, struct rte_eth_udp_tunnel *tunnel);
int octo_vlan_pvid(struct rte_eth_dev *dev, uint16_t vlan_id, int on);

/** Make a PF have none of it, as far as possible. */
void octo_encap_clear(const struct octo_dev *octo, const struct octo_port *port);

/** Make all settings on a PF that returns, and has none; under the control mutex. */
int octo_encap_resync_locked(const struct octo_dev *octo, const struct octo_port *port);

#endif /* OCTO_ENCAP_H */
