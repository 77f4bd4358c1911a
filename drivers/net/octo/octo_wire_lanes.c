/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Speed lanes of the wire (DPDK 24.11). A separate file, because older ethdevs do not have these
 * ops.
 */

#include "octo_private.h"
#include "octo_wire.h"

int
octo_speed_lanes_get(struct rte_eth_dev *dev, uint32_t *lanes)
{
	return OCTO_WIRE_ASK(octo_wire_turn(dev), rte_eth_speed_lanes_get(pf_port_id, lanes));
}

static int
set_lanes(uint16_t port_id, const struct octo_wire_setting *setting)
{
	return rte_eth_speed_lanes_set(port_id, setting->lanes);
}

int
octo_speed_lanes_set(struct rte_eth_dev *dev, uint32_t lanes)
{
	struct octo_dev *octo = octo_of(dev);
	const struct octo_wire_setting setting = {.set = set_lanes, .lanes = lanes};
	struct octo_wire_setting before = {.set = set_lanes};

	before.on = OCTO_WIRE_ASK(octo_wire_turn(dev),
				  rte_eth_speed_lanes_get(pf_port_id, &before.lanes)) == 0;
	return octo_wire_set(octo, "set speed lanes", &octo->settings.wire.lanes, &setting,
			     &before);
}

int
octo_speed_lanes_get_capability(struct rte_eth_dev *dev, struct rte_eth_speed_lanes_capa *capa,
				unsigned int nb)
{
	return OCTO_WIRE_ASK(octo_wire_turn(dev),
			     rte_eth_speed_lanes_get_capability(pf_port_id, capa, nb));
}
