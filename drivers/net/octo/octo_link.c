/* SPDX-License-Identifier: BSD-3-Clause */

/* The port's link: up as long as any PF's is, with the speed of the fastest PF. */

#include "octo_private.h"

static struct rte_eth_link
no_link(void)
{
	return (struct rte_eth_link){
		.link_speed = RTE_ETH_SPEED_NUM_NONE,
		.link_duplex = RTE_ETH_LINK_FULL_DUPLEX,
		.link_autoneg = RTE_ETH_LINK_AUTONEG,
		.link_status = RTE_ETH_LINK_DOWN,
	};
}

static struct rte_eth_link
link_of(const struct octo_port *port)
{
	struct rte_eth_link link = no_link();
	struct octo_use use;

	if (!octo_users_enter(port, &use))
		return link;
	if (rte_eth_link_get_nowait(use.port_id, &link) != 0)
		link = no_link();
	octo_users_leave(&use);
	return link;
}

/* A multi-PF NIC has one wire, so the PFs' speeds do not add up. */
static struct rte_eth_link
best_link(const struct octo_dev *octo, uint32_t *up)
{
	struct rte_eth_link best = no_link();
	int i;

	*up = 0;
	OCTO_FOREACH_PORT(octo, i, OCTO_PORT_RUNNING) {
		const struct rte_eth_link link = link_of(&octo->port[i]);

		if (link.link_status != RTE_ETH_LINK_UP)
			continue;
		*up |= RTE_BIT32(i);
		if (best.link_status == RTE_ETH_LINK_DOWN || link.link_speed > best.link_speed)
			best = link;
	}
	return best;
}

int
octo_link_update(struct rte_eth_dev *dev, int wait_to_complete)
{
	const struct octo_dev *octo = octo_of(dev);
	struct rte_eth_link link;
	uint32_t up;

	RTE_SET_USED(wait_to_complete);
	/* a secondary may lack the PFs' drivers: the primary keeps the link status up to date */
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return 0;
	link = octo->started ? best_link(octo, &up) : no_link();
	return rte_eth_linkstatus_set(dev, &link);
}

/*
 * Update every PF's link; under the control mutex. A PF that lost its link stays polled, but is
 * no queue's home. Returns whether the port's own link status changed.
 */
bool
octo_link_refresh(struct octo_dev *octo)
{
	struct rte_eth_dev *dev = &rte_eth_devices[octo->port_id];
	struct rte_eth_link link, before;
	uint32_t up;

	link = best_link(octo, &up);
	for (uint16_t i = 0; i < octo->nb_ports; i++) {
		const bool is_up = (up & RTE_BIT32(i)) != 0;

		if (octo->started && octo->port[i].link_up != is_up)
			OCTO_LOG(NOTICE, "port %u: link of PF %s is %s", octo->port_id,
				 octo->port[i].name, is_up ? "up" : "down");
		octo->port[i].link_up = is_up;
		octo_port_role_hear_locked(octo, (uint8_t)i,
					   is_up ? OCTO_PF_EV_UP : OCTO_PF_EV_DOWN);
	}
	octo_topo_update(octo);
	rte_eth_linkstatus_get(dev, &before);
	rte_eth_linkstatus_set(dev, &link);
	return before.link_status != link.link_status;
}

static int
set_link_locked(struct octo_dev *octo, bool up)
{
	const char *what = up ? "set the link up" : "set the link down";
	const octo_port_id_fn apply = up ? rte_eth_dev_set_link_up : rte_eth_dev_set_link_down;
	const octo_port_id_fn undo = octo->settings.link_down ? rte_eth_dev_set_link_down :
								rte_eth_dev_set_link_up;
	int ret = octo_port_call(octo, UINT32_MAX, OCTO_PORT_READY, what, apply, undo);

	if (ret == 0) {
		octo->settings.link_set = true;
		octo->settings.link_down = !up;
	}
	return ret;
}

/*
 * A start sets the link up, as in other drivers, also on PFs that do not do so themselves, and on
 * those that were recovering when the application did.
 */
void
octo_link_start_locked(struct octo_dev *octo)
{
	int i;

	/* link_set stays: a PF that recovers has not been told of this */
	octo->settings.link_down = false;
	if (!octo->settings.link_set)
		return;
	OCTO_FOREACH_PORT(octo, i, OCTO_PORT_READY) {
		const int ret = rte_eth_dev_set_link_up(octo->port[i].port_id);

		if (ret != 0)
			OCTO_LOG(ERR, "port %u: PF %s cannot set the link up: %s", octo->port_id,
				 octo->port[i].name, rte_strerror(-ret));
	}
}

int
octo_set_link_up(struct rte_eth_dev *dev)
{
	return OCTO_CALL_LOCKED(dev, set_link_locked, true);
}

int
octo_set_link_down(struct rte_eth_dev *dev)
{
	return OCTO_CALL_LOCKED(dev, set_link_locked, false);
}
