/* SPDX-License-Identifier: BSD-3-Clause */

/* UDP tunnel ports, and the VLAN that is inserted into what is sent. */

#include <errno.h>

#include "octo_encap.h"
#include "octo_private.h"

static int
pf_tunnel_add(struct octo_port *port, const void *arg)
{
	struct rte_eth_udp_tunnel tunnel = *(const struct rte_eth_udp_tunnel *)arg;

	return rte_eth_dev_udp_tunnel_port_add(port->port_id, &tunnel);
}

static int
pf_tunnel_del(struct octo_port *port, const void *arg)
{
	struct rte_eth_udp_tunnel tunnel = *(const struct rte_eth_udp_tunnel *)arg;

	return rte_eth_dev_udp_tunnel_port_delete(port->port_id, &tunnel);
}

/* The entry of this tunnel port, or else room for it: unused rather than deleted; NULL: none. */
static struct octo_tunnel *
entry_for(struct octo_encap *encap, const struct rte_eth_udp_tunnel *tunnel)
{
	struct octo_tunnel *room = NULL;

	for (unsigned int i = 0; i < OCTO_MAX_TUNNELS; i++) {
		struct octo_tunnel *t = &encap->tunnel[i];

		if (t->at.udp_port == tunnel->udp_port && t->at.prot_type == tunnel->prot_type)
			return t;
		if (!t->on && (room == NULL || t->at.udp_port == 0))
			room = t;
	}
	return room;
}

/* Drivers differ in whether a second addition is an error, so the PFs get none. */
static int
tunnel_add_locked(struct octo_dev *octo, const struct rte_eth_udp_tunnel *tunnel)
{
	struct octo_tunnel *t = entry_for(&octo->settings.encap, tunnel);
	int ret;

	if (t == NULL)
		return -ENOSPC;
	if (t->on)
		return 0;
	ret = octo_port_apply(octo, OCTO_PORT_IDLE, "add the UDP tunnel port", pf_tunnel_add,
			      pf_tunnel_del, tunnel, tunnel);
	if (ret == 0)
		*t = (struct octo_tunnel){.at = *tunnel, .on = true};
	return ret;
}

int
octo_tunnel_add(struct rte_eth_dev *dev, struct rte_eth_udp_tunnel *tunnel)
{
	return OCTO_CALL_LOCKED(dev, tunnel_add_locked, tunnel);
}

static int
tunnel_del_locked(struct octo_dev *octo, const struct rte_eth_udp_tunnel *tunnel)
{
	struct octo_tunnel *t = entry_for(&octo->settings.encap, tunnel);
	int ret = octo_port_apply(octo, OCTO_PORT_IDLE, "delete the UDP tunnel port", pf_tunnel_del,
				  pf_tunnel_add, tunnel, tunnel);

	/* without an entry of its own, t is one that is off */
	if (ret == 0 && t != NULL)
		t->on = false;
	return ret;
}

int
octo_tunnel_del(struct rte_eth_dev *dev, struct rte_eth_udp_tunnel *tunnel)
{
	return OCTO_CALL_LOCKED(dev, tunnel_del_locked, tunnel);
}

struct pvid {
	uint16_t id;
	int on;
};

static int
pf_pvid(struct octo_port *port, const void *arg)
{
	const struct pvid *pvid = arg;

	return rte_eth_dev_set_vlan_pvid(port->port_id, pvid->id, pvid->on);
}

int
octo_vlan_pvid(struct rte_eth_dev *dev, uint16_t vlan_id, int on)
{
	struct octo_dev *octo = octo_of(dev);
	struct octo_encap *e = &octo->settings.encap;
	const struct pvid to = {.id = vlan_id, .on = on};
	struct pvid before;
	int ret;

	octo_lock(octo);
	before = (struct pvid){.id = e->pvid, .on = e->pvid_on};
	ret = octo_port_apply(octo, OCTO_PORT_IDLE, "set the VLAN of what is sent", pf_pvid,
			      pf_pvid, &to, &before);
	if (ret == 0) {
		e->pvid = vlan_id;
		e->pvid_on = on != 0;
		e->pvid_set = true;
	}
	octo_unlock(octo);
	return ret;
}

void
octo_encap_clear(const struct octo_dev *octo, const struct octo_port *port)
{
	const struct octo_encap *e = &octo->settings.encap;

	for (unsigned int i = 0; i < OCTO_MAX_TUNNELS; i++) {
		struct rte_eth_udp_tunnel tunnel = e->tunnel[i].at;

		if (tunnel.udp_port != 0)
			rte_eth_dev_udp_tunnel_port_delete(port->port_id, &tunnel);
	}
	if (e->pvid_set)
		rte_eth_dev_set_vlan_pvid(port->port_id, 0, 0);
}

int
octo_encap_resync_locked(const struct octo_dev *octo, const struct octo_port *port)
{
	const struct octo_encap *e = &octo->settings.encap;
	int ret = 0;

	for (unsigned int i = 0; ret == 0 && i < OCTO_MAX_TUNNELS; i++) {
		struct rte_eth_udp_tunnel tunnel = e->tunnel[i].at;

		if (e->tunnel[i].on)
			ret = rte_eth_dev_udp_tunnel_port_add(port->port_id, &tunnel);
	}
	if (ret == 0 && e->pvid_on)
		ret = rte_eth_dev_set_vlan_pvid(port->port_id, e->pvid, 1);
	return ret;
}
