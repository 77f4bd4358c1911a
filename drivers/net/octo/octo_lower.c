/* SPDX-License-Identifier: BSD-3-Clause */

#include <bus_driver.h>
#include <dev_driver.h>
#include <ethdev_driver.h>

#include "octo_lower.h"

/* NULL for a port that is released, or that this process could not attach. */
static const struct rte_eth_dev_data *
data_of(uint16_t port_id)
{
	return rte_eth_devices[port_id].data;
}

const char *
octo_lower_name(uint16_t port_id)
{
	const struct rte_eth_dev_data *data = data_of(port_id);

	return data != NULL ? data->name : NULL;
}

const struct rte_device *
octo_lower_device(uint16_t port_id)
{
	const struct rte_device *device = rte_eth_devices[port_id].device;

	return rte_eth_dev_is_valid_port(port_id) ? device : NULL;
}

bool
octo_lower_is_shared(uint16_t port_id, const char *bus, const char *device)
{
	for (uint16_t id = 0; id < RTE_MAX_ETHPORTS; id++) {
		const struct rte_device *d = id == port_id ? NULL : octo_lower_device(id);

		if (d != NULL && strcmp(rte_dev_name(d), device) == 0 &&
		    strcmp(rte_bus_name(rte_dev_bus(d)), bus) == 0)
			return true;
	}
	return false;
}

/* A released port has no data any more, but keeps its name for a moment. */
bool
octo_lower_is_new(uint16_t port_id)
{
	const struct rte_eth_dev_data *data = data_of(port_id);

	return data != NULL && !data->dev_configured;
}

bool
octo_lower_is_started(uint16_t port_id)
{
	const struct rte_eth_dev_data *data = data_of(port_id);

	return data != NULL && data->dev_started;
}

bool
octo_lower_is_representor(uint16_t port_id)
{
	const struct rte_eth_dev_data *data = data_of(port_id);

	return data != NULL && (data->dev_flags & RTE_ETH_DEV_REPRESENTOR);
}

bool
octo_lower_has_vlan(uint16_t port_id, uint16_t vlan)
{
	const struct rte_eth_dev_data *data = data_of(port_id);

	return data != NULL && (data->vlan_filter_conf.ids[vlan / 64] >> (vlan % 64) & 1);
}

bool
octo_lower_has_mac(uint16_t port_id, const struct rte_ether_addr *mac, uint32_t max)
{
	const struct rte_eth_dev_data *data = data_of(port_id);

	for (uint32_t i = 0; data != NULL && data->mac_addrs != NULL && i < max; i++)
		if (rte_is_same_ether_addr(&data->mac_addrs[i], mac))
			return true;
	return false;
}

bool
octo_lower_may_have_pool(uint16_t port_id, const struct rte_mempool *pool)
{
	const struct rte_eth_dev_data *data = data_of(port_id);
	struct rte_eth_rxq_info info;

	for (uint16_t q = 0; data != NULL && q < data->nb_rx_queues; q++)
		if (data->rx_queues[q] != NULL &&
		    (rte_eth_rx_queue_info_get(port_id, q, &info) != 0 || info.mp == NULL ||
		     info.mp == pool))
			return true;
	return false;
}

bool
octo_lower_can_reset(uint16_t port_id)
{
	return data_of(port_id) != NULL && rte_eth_devices[port_id].dev_ops->dev_reset != NULL;
}

void
octo_lower_refresh_queues(uint16_t port_id)
{
	const struct rte_eth_dev_data *data = data_of(port_id);

	/* without data bursts do nothing */
	if (data == NULL)
		return;
	rte_eth_fp_ops[port_id].rxq.data = data->rx_queues;
	rte_eth_fp_ops[port_id].txq.data = data->tx_queues;
}
