/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_LOWER_H
#define OCTO_LOWER_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_bitops.h>
#include <rte_dev.h>
#include <rte_ether.h>
#include <rte_mempool.h>

/**
 * @file
 * The only accesses to another port's structures, for which ethdev has no function. All other
 * operations on a PF go through the public functions of ethdev.
 */

/**
 * The port's name, or NULL; also in handlers of RTE_ETH_EVENT_NEW, when
 * rte_eth_dev_get_name_by_port() refuses the port as not valid.
 */
const char *octo_lower_name(uint16_t port_id);

/**
 * The port's device, or NULL. rte_eth_dev_info_get() returns it, too, but calls the driver,
 * which may be inside its probe, or be another owner's.
 */
const struct rte_device *octo_lower_device(uint16_t port_id);

/** Has another port than this one the device of this name? */
bool octo_lower_is_shared(uint16_t port_id, const char *bus, const char *device);

/** Is the port in use, and has it not been configured since it was created? */
bool octo_lower_is_new(uint16_t port_id);

bool octo_lower_is_started(uint16_t port_id);

/** Does the port stand for another function of its device? */
bool octo_lower_is_representor(uint16_t port_id);

/** Can its driver reset the port, by rte_eth_dev_reset()? */
bool octo_lower_can_reset(uint16_t port_id);

/** Does the port accept this VLAN, by rte_eth_dev_vlan_filter()? */
bool octo_lower_has_vlan(uint16_t port_id, uint16_t vlan);

/** Has the port this address among its own, of which its driver allows `max`? */
bool octo_lower_has_mac(uint16_t port_id, const struct rte_ether_addr *mac, uint32_t max);

/** Has one of its Rx queues this pool, or may it have it, as the driver does not tell? */
bool octo_lower_may_have_pool(uint16_t port_id, const struct rte_mempool *pool);

/**
 * In a secondary process, make bursts use the queues that the port has now. ethdev fills the
 * arrays of queues there when the process attaches the port, and never again.
 */
void octo_lower_refresh_queues(uint16_t port_id);

#endif /* OCTO_LOWER_H */
