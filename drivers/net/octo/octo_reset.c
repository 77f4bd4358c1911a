/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Reset of the port: its PFs are lost, as if they had asked for a reset, and come back after it by
 * their state machines (octo_port_state.h).
 */

#include <errno.h>

#include "octo_private.h"

static int
check_locked(const struct octo_dev *octo)
{
	int i;

	if (!octo->replug.on) {
		OCTO_LOG(ERR,
			 "port %u: with replug=off no PF comes back, not even after a reset: make "
			 "the port with replug=on to reset it",
			 octo->port_id);
		return -ENOTSUP;
	}
	OCTO_FOREACH_PORT(octo, i, OCTO_PORT_IDLE) {
		if (octo_lower_can_reset(octo->port[i].port_id))
			continue;
		OCTO_LOG(ERR,
			 "port %u: the driver of PF %s cannot reset it, so no PF is reset: close "
			 "the port and make it again instead",
			 octo->port_id, octo->port[i].name);
		return -ENOTSUP;
	}
	return 0;
}

/*
 * What ethdev keeps stays: the MAC addresses and what the port lets in. The settings of the wire
 * stay, too.
 */
static void
forget_locked(struct octo_dev *octo)
{
	struct rte_eth_dev *dev = &rte_eth_devices[octo->port_id];

	octo_rule_list_flush_locked(octo, NULL);
	octo_template_free_locked(octo);
	octo_indirect_free_locked(octo);
	rte_eth_dev_internal_reset(dev);
	dev->data->dev_configured = 0;
	dev->data->flow_configured = 0;
	memset(&dev->data->vlan_filter_conf, 0, sizeof(dev->data->vlan_filter_conf));
	octo->isolated = false;
	octo->settings.vlan_offloads = 0;
	octo->settings.rx_metadata = 0;
	octo->settings.ptypes_set = false;
	octo->settings.encap = (struct octo_encap){0};
}

static void
lose_locked(struct octo_dev *octo, struct octo_port *port)
{
	octo_loss_by_event(octo, port->port_id, RTE_ETH_EVENT_INTR_RESET);
	/* as the application wishes: no message that it is gone */
	port->past.log_at = 0;
}

static int
reset_locked(struct octo_dev *octo)
{
	int ret = check_locked(octo);

	if (ret != 0)
		return ret;
	forget_locked(octo);
	for (uint16_t i = 0; i < octo->nb_ports; i++)
		if (octo_port_is_owned(&octo->port[i]))
			lose_locked(octo, &octo->port[i]);
	return 0;
}

static int
finish_locked(struct octo_dev *octo)
{
	/* clones of queues that the PFs have released */
	octo_pools_sweep_locked(octo);
	if (octo_port_first(octo, OCTO_PORT_IDLE) >= 0)
		return 0;
	OCTO_LOG(ERR,
		 "port %u: no PF works after its reset; the port looks for them when it starts",
		 octo->port_id);
	return -EIO;
}

/*
 * ethdev has stopped the port. Reset every PF: what the application has made is gone, and the port
 * has to be configured. On -EPERM, in a secondary process, and -ENOTSUP nothing is changed; on -EIO
 * no PF is left.
 */
int
octo_reset(struct rte_eth_dev *dev)
{
	struct octo_dev *octo = octo_of(dev);
	int ret;

	if (!octo_is_primary(octo, "reset the port"))
		return -EPERM;
	ret = OCTO_LOCKED(octo, reset_locked(octo));
	if (ret != 0)
		return ret;
	/* without the mutex: a PF that fails is removed and probed again */
	octo_replug_look_at_once(octo);
	return OCTO_LOCKED(octo, finish_locked(octo));
}
