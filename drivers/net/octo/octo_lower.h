/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_LOWER_H
#define OCTO_LOWER_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_bitops.h>
#include <rte_dev.h>

/**
 * @file
 * What ethdev has no function for: the only reads of another port's structures. All else
 * that concerns a PF goes through the public functions of ethdev.
 */

/**
 * The port's name, or NULL; also in handlers of RTE_ETH_EVENT_NEW, when
 * rte_eth_dev_get_name_by_port() refuses the port as not valid yet.
 */
const char *octo_lower_name(uint16_t port_id);

/**
 * The port's device, or NULL. rte_eth_dev_info_get() tells it, too, but calls the driver, which
 * may be inside its probe, or be another owner's.
 */
const struct rte_device *octo_lower_device(uint16_t port_id);

/** Is the port in use, and was not configured since it was made? */
bool octo_lower_is_new(uint16_t port_id);

/** Does the port let this VLAN in, by rte_eth_dev_vlan_filter()? */
bool octo_lower_has_vlan(uint16_t port_id, uint16_t vlan);

/**
 * In a secondary process, have bursts find the queues that the port has now. ethdev fills the
 * arrays of queues there when the process attaches the port, and never again.
 */
void octo_lower_refresh_queues(uint16_t port_id);

#endif /* OCTO_LOWER_H */
