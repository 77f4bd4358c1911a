/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Speed lanes of the wire (DPDK 24.11). A separate file, because older ethdevs do not have these
 * ops.
 */

#include "octo_private.h"
#include "octo_wire.h"

static int
ask_lanes(uint16_t port_id, void *lanes)
{
	return rte_eth_speed_lanes_get(port_id, lanes);
}

int
octo_speed_lanes_get(struct rte_eth_dev *dev, uint32_t *lanes)
{
	return octo_wire_ask(octo_of(dev), ask_lanes, lanes);
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

	before.on = octo_wire_ask(octo, ask_lanes, &before.lanes) == 0;
	return octo_wire_set(octo, "set speed lanes", &octo->settings.wire.lanes, &setting,
			     &before);
}

struct lanes_question {
	struct rte_eth_speed_lanes_capa *capa;
	unsigned int nb;
};

static int
ask_lanes_capability(uint16_t port_id, void *arg)
{
	const struct lanes_question *question = arg;

	return rte_eth_speed_lanes_get_capability(port_id, question->capa, question->nb);
}

int
octo_speed_lanes_get_capability(struct rte_eth_dev *dev, struct rte_eth_speed_lanes_capa *capa,
				unsigned int nb)
{
	struct lanes_question question = {.capa = capa, .nb = nb};

	return octo_wire_ask(octo_of(dev), ask_lanes_capability, &question);
}
