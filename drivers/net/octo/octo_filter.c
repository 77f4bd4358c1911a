/* SPDX-License-Identifier: BSD-3-Clause */

/* Rx filters: MAC addresses, VLANs, promiscuity, MTU; the same on every PF. */

#include <errno.h>
#include <stdlib.h>

#include <rte_malloc.h>

#include "octo_private.h"

/*
 * ethdev stores some settings before the operation, and restores them if it fails, and others
 * after it. Here all are stored under the mutex, so that a PF that joins in between gets the
 * settings of the others.
 */

static int
pf_mtu(struct octo_port *port, const void *arg)
{
	return rte_eth_dev_set_mtu(port->port_id, *(const uint16_t *)arg);
}

int
octo_mtu_set(struct rte_eth_dev *dev, uint16_t mtu)
{
	struct octo_dev *octo = octo_of(dev);
	const uint16_t before = dev->data->mtu;
	int ret;

	octo_lock(octo);
	ret = octo_port_apply(octo, OCTO_PORT_READY, "set the MTU", pf_mtu, pf_mtu, &mtu, &before);
	if (ret == 0)
		dev->data->mtu = mtu;
	octo_unlock(octo);
	return ret;
}

/* Set `setting`, which PFs that join get as well, to `to` on all PFs. */
static int
switch_mode(struct octo_dev *octo, bool *setting, bool to, const char *what, octo_port_id_fn apply,
	    octo_port_id_fn undo)
{
	struct octo_settings *s = &octo->settings;
	const bool is_promiscuity = setting == &s->promiscuous;
	int ret;

	octo_lock(octo);
	/* copies that arrive between the two steps are none of the application's packets */
	if (is_promiscuity && to)
		octo_mac_publish_locked(octo, true);
	ret = octo_port_call(octo, octo_mac_shared_by(&octo->macs), OCTO_PORT_IDLE, what, apply,
			     undo);
	if (ret == 0)
		*setting = to;
	if (is_promiscuity)
		octo_mac_publish_locked(octo, s->promiscuous);
	octo_unlock(octo);
	return ret;
}

int
octo_promiscuous_enable(struct rte_eth_dev *dev)
{
	return switch_mode(octo_of(dev), &octo_of(dev)->settings.promiscuous, true,
			   "become promiscuous", rte_eth_promiscuous_enable,
			   rte_eth_promiscuous_disable);
}

int
octo_promiscuous_disable(struct rte_eth_dev *dev)
{
	return switch_mode(octo_of(dev), &octo_of(dev)->settings.promiscuous, false,
			   "stop being promiscuous", rte_eth_promiscuous_disable,
			   rte_eth_promiscuous_enable);
}

int
octo_allmulticast_enable(struct rte_eth_dev *dev)
{
	return switch_mode(octo_of(dev), &octo_of(dev)->settings.all_multicast, true,
			   "take all multicast", rte_eth_allmulticast_enable,
			   rte_eth_allmulticast_disable);
}

int
octo_allmulticast_disable(struct rte_eth_dev *dev)
{
	return switch_mode(octo_of(dev), &octo_of(dev)->settings.all_multicast, false,
			   "stop taking all multicast", rte_eth_allmulticast_disable,
			   rte_eth_allmulticast_enable);
}

int
octo_mac_set(struct rte_eth_dev *dev, struct rte_ether_addr *mac)
{
	struct octo_dev *octo = octo_of(dev);
	const struct rte_ether_addr before = dev->data->mac_addrs[0];
	int ret;

	if (!octo_is_primary(octo, "set the MAC address"))
		return -ENOTSUP;
	octo_lock(octo);
	if (octo->macs.apart)
		ret = octo_mac_set_first_locked(octo, mac);
	else
		ret = octo_port_apply(octo, OCTO_PORT_IDLE, "set the MAC address", octo_mac_set_on,
				      octo_mac_set_on, mac, &before);
	if (ret == 0)
		dev->data->mac_addrs[0] = *mac;
	octo_mac_publish_locked(octo, octo->settings.promiscuous);
	octo_unlock(octo);
	return ret;
}

struct mac_arg {
	struct rte_ether_addr mac;
	uint32_t pool;
	const struct octo_port *ports;
	uint32_t *had; /* mask of the ports that had the address before */
};

static int
pf_mac_add(struct octo_port *port, const void *arg)
{
	struct mac_arg a = *(const struct mac_arg *)arg;

	return rte_eth_dev_mac_addr_add(port->port_id, &a.mac, a.pool);
}

static int
pf_mac_remove(struct octo_port *port, const void *arg)
{
	struct mac_arg a = *(const struct mac_arg *)arg;

	return rte_eth_dev_mac_addr_remove(port->port_id, &a.mac);
}

/* Of another pool, or by itself, a PF may have the address. */
static int
pf_mac_try_add(struct octo_port *port, const void *arg)
{
	const struct mac_arg *a = arg;

	if (octo_lower_has_mac(port->port_id, &a->mac, port->past.info.max_mac_addrs))
		*a->had |= RTE_BIT32(port - a->ports);
	return pf_mac_add(port, arg);
}

static int
pf_mac_undo_add(struct octo_port *port, const void *arg)
{
	const struct mac_arg *a = arg;

	return *a->had & RTE_BIT32(port - a->ports) ? 0 : pf_mac_remove(port, arg);
}

int
octo_mac_add(struct rte_eth_dev *dev, struct rte_ether_addr *mac, uint32_t index, uint32_t pool)
{
	struct octo_dev *octo = octo_of(dev);
	uint32_t had = 0;
	const struct mac_arg arg = {.mac = *mac, .pool = pool, .ports = octo->port, .had = &had};
	int ret;

	octo_lock(octo);
	if (octo_mac_is_reserved(octo, index)) {
		const struct rte_ether_addr own = octo_mac_entry(octo, index);

		/* ethdev found an entry that the application has cleared: it finds the next one */
		dev->data->mac_addrs[index] = own;
		octo_unlock(octo);
		return rte_is_same_ether_addr(mac, &own) ? 0 : -EAGAIN;
	}
	ret = octo_port_apply_to(octo, octo_mac_shared_by(&octo->macs), OCTO_PORT_IDLE,
				 "add the MAC address", pf_mac_try_add, pf_mac_undo_add, &arg,
				 &arg);
	if (ret == 0)
		dev->data->mac_addrs[index] = *mac;
	octo_unlock(octo);
	return ret;
}

void
octo_mac_remove(struct rte_eth_dev *dev, uint32_t index)
{
	struct octo_dev *octo = octo_of(dev);
	const struct mac_arg arg = {.mac = dev->data->mac_addrs[index]};
	int i;

	octo_lock(octo);
	if (octo_mac_is_reserved(octo, index)) {
		OCTO_LOG(ERR,
			 "port %u: MAC address %u is that of PF %s (tier=mac): it stays, and can "
			 "be neither removed nor replaced",
			 octo->port_id, index, octo->port[index].name);
		octo_unlock(octo);
		return;
	}
	/* ethdev forgets the address in any case, so every PF is asked */
	OCTO_FOREACH_PORT(octo, i, OCTO_PORT_IDLE) {
		int ret;

		if (!(octo_mac_shared_by(&octo->macs) & RTE_BIT32(i)))
			continue;
		ret = pf_mac_remove(&octo->port[i], &arg);
		if (ret != 0)
			OCTO_LOG(ERR, "port %u: PF %s cannot remove the MAC address: %s",
				 octo->port_id, octo->port[i].name, rte_strerror(-ret));
	}
	dev->data->mac_addrs[index] = (struct rte_ether_addr){0};
	octo_unlock(octo);
}

struct mc_arg {
	struct rte_ether_addr *list;
	uint32_t nb;
};

static int
pf_mc_list(struct octo_port *port, const void *arg)
{
	const struct mc_arg *a = arg;

	return rte_eth_dev_set_mc_addr_list(port->port_id, a->list, a->nb);
}

/* Keep a copy: ethdev does not, and a PF that comes back needs the list. */
static int
mc_list_locked(struct octo_dev *octo, const struct mc_arg *arg)
{
	const struct mc_arg before = {.list = octo->settings.mc, .nb = octo->settings.nb_mc};
	struct rte_ether_addr *copy = NULL;
	int ret;

	if (arg->nb > 0) {
		copy = rte_calloc("octo_mc", arg->nb, sizeof(*copy), 0);
		if (copy == NULL)
			return -ENOMEM;
		memcpy(copy, arg->list, arg->nb * sizeof(*copy));
	}
	ret = octo_port_apply_to(octo, octo_mac_shared_by(&octo->macs), OCTO_PORT_IDLE,
				 "set the multicast list", pf_mc_list, pf_mc_list, arg, &before);
	if (ret != 0) {
		rte_free(copy);
		return ret;
	}
	rte_free(octo->settings.mc);
	octo->settings.mc = copy;
	octo->settings.nb_mc = arg->nb;
	return 0;
}

int
octo_mc_list(struct rte_eth_dev *dev, struct rte_ether_addr *list, uint32_t nb)
{
	const struct mc_arg arg = {.list = list, .nb = nb};

	return OCTO_CALL_LOCKED(dev, mc_list_locked, &arg);
}

struct vlan_arg {
	uint16_t id;
	int on;
};

static int
pf_vlan_filter(struct octo_port *port, const void *arg)
{
	const struct vlan_arg *a = arg;

	return rte_eth_dev_vlan_filter(port->port_id, a->id, a->on);
}

int
octo_vlan_filter(struct rte_eth_dev *dev, uint16_t vlan_id, int on)
{
	struct octo_dev *octo = octo_of(dev);
	const struct vlan_arg arg = {.id = vlan_id, .on = on};
	const struct vlan_arg undo = {.id = vlan_id,
				      .on = octo_lower_has_vlan(octo->port_id, vlan_id)};
	uint64_t *ids = &dev->data->vlan_filter_conf.ids[vlan_id / 64];
	int ret;

	octo_lock(octo);
	ret = octo_port_apply(octo, OCTO_PORT_IDLE, "set the VLAN filter", pf_vlan_filter,
			      pf_vlan_filter, &arg, &undo);
	if (ret == 0)
		*ids = on ? *ids | RTE_BIT64(vlan_id % 64) : *ids & ~RTE_BIT64(vlan_id % 64);
	octo_unlock(octo);
	return ret;
}

static int
pf_vlan_offload(struct octo_port *port, const void *arg)
{
	return rte_eth_dev_set_vlan_offload(port->port_id, *(const int *)arg);
}

/* rte_eth_dev_set_vlan_offload() has its own bits for the offloads. */
static int
vlan_bits(uint64_t offloads)
{
	int bits = 0;

	if (offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP)
		bits |= RTE_ETH_VLAN_STRIP_OFFLOAD;
	if (offloads & RTE_ETH_RX_OFFLOAD_VLAN_FILTER)
		bits |= RTE_ETH_VLAN_FILTER_OFFLOAD;
	if (offloads & RTE_ETH_RX_OFFLOAD_VLAN_EXTEND)
		bits |= RTE_ETH_VLAN_EXTEND_OFFLOAD;
	if (offloads & RTE_ETH_RX_OFFLOAD_QINQ_STRIP)
		bits |= RTE_ETH_QINQ_STRIP_OFFLOAD;
	return bits;
}

/* Offloads of the port are no offloads of a queue's own, but for one that was set alone. */
static bool
strips(const struct octo_dev *octo, const struct octo_rxq *q)
{
	const uint64_t offloads = q->conf.offloads |
				  (q->strip_set ? 0 : octo->settings.vlan_offloads);

	return (offloads & RTE_ETH_RX_OFFLOAD_VLAN_STRIP) != 0;
}

static void
set_strips(struct octo_rxq *q, bool alone, bool on)
{
	q->strip_set = alone;
	if (on)
		q->conf.offloads |= RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
	else
		q->conf.offloads &= ~RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
}

/* ethdev has written the wanted offloads into dev_conf and restores them if this fails. */
int
octo_vlan_offload(struct rte_eth_dev *dev, int mask)
{
	struct octo_dev *octo = octo_of(dev);
	const uint64_t offloads = dev->data->dev_conf.rxmode.offloads;
	const int wanted = vlan_bits(offloads);
	const int before = wanted ^ mask;
	struct octo_rxq *q;
	int ret;

	octo_lock(octo);
	ret = octo_port_apply(octo, OCTO_PORT_IDLE, "set the VLAN offloads", pf_vlan_offload,
			      pf_vlan_offload, &wanted, &before);
	if (ret == 0) {
		octo->settings.vlan_offloads = offloads & RTE_ETH_RX_OFFLOAD_VLAN;
		/* what is set for the port replaces what was set for its queues */
		OCTO_FOREACH_RXQ(octo, q)
			if (mask & RTE_ETH_VLAN_STRIP_MASK)
				set_strips(q, false, false);
	}
	octo_unlock(octo);
	return ret;
}

struct strip_arg {
	uint16_t queue;
	int on;
};

static int
leg_strip(struct octo_pf *pf, const void *arg)
{
	const struct strip_arg *a = arg;
	const struct octo_leg leg = octo_pf_leg(pf, a->queue);

	return rte_eth_dev_set_vlan_strip_on_queue(leg.port, leg.queue, a->on);
}

static void
vlan_strip_queue_locked(struct octo_dev *octo, struct octo_rxq *q, bool on)
{
	const struct strip_arg arg = {.queue = q->queue_id, .on = on};
	const struct strip_arg undo = {.queue = q->queue_id, .on = strips(octo, q)};
	const int ret = octo_pf_apply(octo, OCTO_PORT_READY, "set VLAN stripping of an Rx queue",
				      leg_strip, leg_strip, &arg, &undo);

	if (ret == 0)
		set_strips(q, true, on);
	else
		OCTO_LOG(ERR, "port %u: VLAN stripping of Rx queue %u stays %s: %s", octo->port_id,
			 q->queue_id, undo.on ? "on" : "off", rte_strerror(-ret));
}

/* ethdev returns nothing of this to the application, hence a message. */
void
octo_vlan_strip_queue(struct rte_eth_dev *dev, uint16_t queue_id, int on)
{
	struct octo_dev *octo = octo_of(dev);
	struct octo_rxq *q = dev->data->rx_queues[queue_id];

	if (q == NULL) {
		OCTO_LOG(ERR,
			 "port %u: Rx queue %u has no VLAN stripping to set before it is set up",
			 octo->port_id, queue_id);
		return;
	}
	octo_lock(octo);
	vlan_strip_queue_locked(octo, q, on != 0);
	octo_unlock(octo);
}

static bool
has_vlans(uint16_t port_id)
{
	for (uint16_t id = 0; id <= RTE_ETHER_MAX_VLAN_ID; id++)
		if (octo_lower_has_vlan(port_id, id))
			return true;
	return false;
}

/* Remove the VLANs of a port from the PF's filter; ethdev refuses that while the filter is off. */
static void
clear_vlans(const struct octo_port *port, uint16_t port_id)
{
	const int before = rte_eth_dev_get_vlan_offload(port->port_id);
	const int on = before | RTE_ETH_VLAN_FILTER_OFFLOAD;

	if (!has_vlans(port_id) ||
	    (on != before && rte_eth_dev_set_vlan_offload(port->port_id, on) != 0))
		return;
	for (uint16_t id = 0; id <= RTE_ETHER_MAX_VLAN_ID; id++)
		if (octo_lower_has_vlan(port_id, id))
			rte_eth_dev_vlan_filter(port->port_id, id, 0);
	if (on != before)
		rte_eth_dev_set_vlan_offload(port->port_id, before);
}

static void
pf_restore(struct octo_dev *octo, struct octo_port *port)
{
	const bool have_macs = octo_data(octo)->mac_addrs != NULL;

	/* tier mac: it may have the first one in addition to its own */
	for (uint32_t i = 0; have_macs && i < octo->nb_macs; i++) {
		const struct mac_arg extra = {.mac = octo_mac_entry(octo, i)};

		if (!rte_is_zero_ether_addr(&extra.mac) && !octo_mac_is_of(port, &extra.mac))
			pf_mac_remove(port, &extra);
	}
	if (octo->settings.nb_mc > 0)
		rte_eth_dev_set_mc_addr_list(port->port_id, NULL, 0);
	clear_vlans(port, octo->port_id);
	if (!rte_is_zero_ether_addr(&port->mac))
		octo_mac_set_on(port, &port->mac);
	octo_encap_clear(octo, port);
	rte_eth_promiscuous_disable(port->port_id);
	rte_eth_allmulticast_disable(port->port_id);
	if (octo->isolated)
		rte_flow_isolate(port->port_id, 0, NULL);
}

/* Restore the PFs' filters as they were found, as far as possible. */
void
octo_filter_restore(struct octo_dev *octo)
{
	for (uint16_t i = 0; i < octo->nb_ports; i++) {
		struct octo_port *port = &octo->port[i];
		/* it has what it took before it refused the rest */
		const bool refused = port->has_port && port->fsm.state == OCTO_PORT_FOREIGN;

		/* events of PFs are not handled any more: a PF that is gone by now has no data */
		if ((refused || octo_port_is(port, OCTO_PORT_IDLE)) &&
		    octo_attach_is_ours(octo->owner_id, port))
			pf_restore(octo, port);
	}
	rte_free(octo->settings.mc);
	octo->settings.mc = NULL;
	octo->settings.nb_mc = 0;
}

/* -ENOTSUP is no error: then the other PFs do not support the setting either. */
static int
or_unknown(int ret)
{
	return ret == -ENOTSUP ? 0 : ret;
}

static void
clear_macs(const struct octo_port *port)
{
	const uint32_t room = port->past.info.max_mac_addrs;
	struct rte_ether_addr *macs = calloc(room, sizeof(*macs));
	const int nb = macs != NULL ? rte_eth_macaddrs_get(port->port_id, macs, room) : 0;

	for (int i = 1; i < nb; i++)
		if (!rte_is_zero_ether_addr(&macs[i]))
			rte_eth_dev_mac_addr_remove(port->port_id, &macs[i]);
	free(macs);
	rte_eth_dev_set_mc_addr_list(port->port_id, NULL, 0);
}

/*
 * A PF that was away for a while may have filters that the application has removed since.
 * Errors are ignored: a filter that the PF does not support was never set.
 */
void
octo_filter_clear_locked(const struct octo_port *port)
{
	clear_macs(port);
	clear_vlans(port, port->port_id);
	rte_eth_promiscuous_disable(port->port_id);
	rte_eth_allmulticast_disable(port->port_id);
	rte_flow_isolate(port->port_id, 0, NULL);
}

static int
resync_macs(struct octo_dev *octo, struct octo_port *port)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	int ret = or_unknown(octo_mac_set_on(port, &data->mac_addrs[0]));

	for (uint32_t i = 1; ret == 0 && i < octo->nb_macs; i++) {
		const struct mac_arg extra = {.mac = data->mac_addrs[i]};

		if (!rte_is_zero_ether_addr(&extra.mac))
			ret = pf_mac_add(port, &extra);
	}
	if (ret == 0 && octo->settings.nb_mc > 0) {
		const struct mc_arg mc = {.list = octo->settings.mc, .nb = octo->settings.nb_mc};

		ret = pf_mc_list(port, &mc);
	}
	return ret;
}

/* VLANs can be given while the filter is on, and stay on the other PFs when it is off. */
static int
resync_vlans(struct octo_dev *octo, struct octo_port *port)
{
	const int bits = vlan_bits(octo->settings.vlan_offloads);
	const int first = bits | (has_vlans(octo->port_id) ? RTE_ETH_VLAN_FILTER_OFFLOAD : 0);
	int ret = first != 0 ? or_unknown(pf_vlan_offload(port, &first)) : 0;

	for (uint16_t id = 0; ret == 0 && id <= RTE_ETHER_MAX_VLAN_ID; id++) {
		const struct vlan_arg filter = {.id = id, .on = 1};

		if (octo_lower_has_vlan(octo->port_id, id))
			ret = pf_vlan_filter(port, &filter);
	}
	return ret == 0 && first != bits ? pf_vlan_offload(port, &bits) : ret;
}

/* A PF that is configured again gets the filters of the others. */
int
octo_filter_resync_locked(struct octo_dev *octo, struct octo_port *port)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	const bool shares = !octo->macs.apart;
	uint16_t mtu;
	int ret = shares ? resync_macs(octo, port) : octo_mac_resync_locked(octo, port);

	if (ret == 0)
		ret = resync_vlans(octo, port);
	/* ethdev refuses it for a port without a configuration, which has the MTU with it */
	if (ret == 0 && data->dev_configured && rte_eth_dev_get_mtu(port->port_id, &mtu) == 0 &&
	    mtu != data->mtu)
		ret = pf_mtu(port, &data->mtu);
	if (ret == 0 && shares && octo->settings.promiscuous)
		ret = or_unknown(rte_eth_promiscuous_enable(port->port_id));
	if (ret == 0 && shares && octo->settings.all_multicast)
		ret = or_unknown(rte_eth_allmulticast_enable(port->port_id));
	return ret;
}
