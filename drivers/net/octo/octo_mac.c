/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Tier mac: each PF has a MAC address of its own, and the NIC's switch sorts by these. Entry i of
 * the port's MAC table is the address of PF i. If PF i cannot be used, the designated PF has it as
 * well (octo_mac_plan.h). The designated PF alone is promiscuous, and has groups and the addresses
 * that the application adds, as the switch would copy frames to each PF that asks for them.
 */

#include <errno.h>

#include "octo_private.h"

bool
octo_mac_is_of(const struct octo_port *port, const struct rte_ether_addr *mac)
{
	struct rte_ether_addr now;

	return rte_eth_macaddr_get(port->port_id, &now) == 0 && rte_is_same_ether_addr(&now, mac);
}

int
octo_mac_set_on(struct octo_port *port, const void *arg)
{
	struct rte_ether_addr mac = *(const struct rte_ether_addr *)arg;

	return octo_mac_is_of(port, &mac) ? 0 :
					    rte_eth_dev_default_mac_addr_set(port->port_id, &mac);
}

bool
octo_mac_is_reserved(const struct octo_dev *octo, uint32_t index)
{
	return octo->macs.reserved && index > 0 && index < octo->nb_pfs;
}

/* ethdev clears the entry of a PF that the application removes. */
struct rte_ether_addr
octo_mac_entry(const struct octo_dev *octo, uint32_t i)
{
	return octo_mac_is_reserved(octo, i) ? octo->macs.own[i] : octo_data(octo)->mac_addrs[i];
}

const char *
octo_mac_refuse(const struct octo_dev *octo)
{
	struct rte_ether_addr macs[OCTO_MAX_PFS];

	if (octo->sliced)
		return "the PFs are slices of one port, which has one address";
	if (octo->agent != NULL)
		return "an agent chooses the PF by rules";
	if (octo->nb_macs < octo->nb_pfs)
		return "a PF's MAC table has no room for the addresses of all PFs";
	for (uint16_t i = 0; i < octo->nb_pfs; i++)
		macs[i] = octo->macs.reserved ? octo_mac_entry(octo, i) : octo->port[i].mac;
	if (!octo->macs.reserved)
		macs[0] = octo_data(octo)->mac_addrs[0];
	return octo_mac_plan_refuse(macs, octo->nb_pfs);
}

void
octo_mac_reserve(struct octo_dev *octo)
{
	if (octo_mac_refuse(octo) != NULL)
		return;
	for (uint16_t i = 1; i < octo->nb_pfs; i++) {
		octo->macs.own[i] = octo->port[i].mac;
		octo_data(octo)->mac_addrs[i] = octo->port[i].mac;
	}
	octo_mac_plan_make(octo->nb_pfs, 0, &octo->macs.plan);
	octo->macs.reserved = true;
}

/* Does the PF have this entry in addition to its own? Without a plan each has the first entry. */
static bool
is_extra(const struct octo_dev *octo, const struct octo_mac_plan *plan, uint8_t pf, uint32_t i)
{
	if (plan == NULL)
		return i != 0;
	return i < octo->nb_pfs ? plan->holder[i] == pf && i != pf : plan->designated == pf;
}

/* Without effect if the PF does not have the address, but -ENOTSUP comes first. */
static void
take_one(const struct octo_dev *octo, const struct octo_port *port, uint32_t i,
	 struct rte_ether_addr mac)
{
	const int ret = rte_eth_dev_mac_addr_remove(port->port_id, &mac);

	if (ret == 0 || (ret == -ENOTSUP &&
			 !octo_lower_has_mac(port->port_id, &mac, port->past.info.max_mac_addrs)))
		return;
	OCTO_LOG(WARNING, "port %u: PF %s keeps MAC address %u, and may get its packets, too: %s",
		 octo->port_id, port->name, i, rte_strerror(-ret));
}

/* Take from the PF the addresses that it does not have in addition by this plan. */
static void
take_back(struct octo_dev *octo, const struct octo_mac_plan *plan, uint8_t pf)
{
	const struct octo_port *port = &octo->port[pf];

	for (uint32_t i = 0; i < octo->nb_macs; i++) {
		const struct rte_ether_addr mac = octo_mac_entry(octo, i);

		if (!rte_is_zero_ether_addr(&mac) && !is_extra(octo, plan, pf, i) &&
		    !octo_mac_is_of(port, &mac))
			take_one(octo, port, i, mac);
	}
}

/* Give the PF its own address, and those that it has in addition. */
static void
give(struct octo_dev *octo, const struct octo_mac_plan *plan, uint8_t pf)
{
	const struct rte_ether_addr own = octo_mac_entry(octo, plan == NULL ? 0 : pf);
	struct octo_port *port = &octo->port[pf];
	int ret = octo_mac_set_on(port, &own);

	if (ret != 0)
		OCTO_LOG(WARNING, "port %u: PF %s keeps a MAC address of its own: %s",
			 octo->port_id, port->name, rte_strerror(-ret));
	for (uint32_t i = 0; octo->macs.reserved && i < octo->nb_macs; i++) {
		struct rte_ether_addr mac = octo_mac_entry(octo, i);

		if (rte_is_zero_ether_addr(&mac) || !is_extra(octo, plan, pf, i))
			continue;
		ret = rte_eth_dev_mac_addr_add(port->port_id, &mac, 0);
		if (ret != 0)
			OCTO_LOG(WARNING, "port %u: PF %s cannot have MAC address %u: %s",
				 octo->port_id, port->name, i, rte_strerror(-ret));
	}
}

/* Errors are no news: a mode that a PF does not support was not set on the others either. */
static void
set_modes(struct octo_dev *octo, uint8_t pf)
{
	const bool shares = (octo_mac_shared_by(&octo->macs) & RTE_BIT32(pf)) != 0;
	const struct octo_settings *s = &octo->settings;
	const uint16_t port_id = octo->port[pf].port_id;

	if (shares && s->promiscuous)
		rte_eth_promiscuous_enable(port_id);
	else
		rte_eth_promiscuous_disable(port_id);
	if (shares && s->all_multicast)
		rte_eth_allmulticast_enable(port_id);
	else
		rte_eth_allmulticast_disable(port_id);
	if (s->nb_mc > 0)
		rte_eth_dev_set_mc_addr_list(port_id, shares ? s->mc : NULL, shares ? s->nb_mc : 0);
}

/* An address is taken from a PF before another gets it: a switch may store each only once. */
static void
arrange(struct octo_dev *octo, const struct octo_mac_plan *plan, bool modes)
{
	int i;

	OCTO_FOREACH_PORT(octo, i, OCTO_PORT_READY)
		take_back(octo, plan, (uint8_t)i);
	OCTO_FOREACH_PORT(octo, i, OCTO_PORT_READY) {
		give(octo, plan, (uint8_t)i);
		if (modes)
			set_modes(octo, (uint8_t)i);
	}
}

/*
 * The rings of a PF that was promiscuous may have copies of frames that others deliver; what came
 * for an address that it held itself is no copy.
 */
static uint32_t
late_copies(struct octo_macs *m, uint8_t pf, uint32_t others, bool promiscuous)
{
	m->held[pf] |= ~others;
	if (promiscuous && m->plan.designated == pf)
		m->promiscuous |= RTE_BIT32(pf);
	return m->promiscuous & RTE_BIT32(pf) ? others & ~m->held[pf] : 0;
}

static void
publish_pf(struct octo_dev *octo, uint8_t pf, bool promiscuous)
{
	struct octo_macs *m = &octo->macs;
	struct octo_mac_view *view = &octo->macs.view;
	const struct rte_ether_addr mac = octo_mac_entry(octo, pf);
	uint32_t foreign = 0, others = 0;

	for (uint8_t i = 0; m->apart && i < octo->nb_pfs; i++)
		if (m->plan.holder[i] != pf)
			others |= RTE_BIT32(i);
	if (m->apart)
		foreign = octo_mac_plan_foreign(octo->nb_pfs, &m->plan, pf, promiscuous) |
			  late_copies(m, pf, others, promiscuous);
	rte_atomic_store_explicit(&view->mac[pf], octo_mac_key(mac.addr_bytes),
				  rte_memory_order_relaxed);
	rte_atomic_store_explicit(&view->holder[pf], m->plan.holder[pf], rte_memory_order_relaxed);
	rte_atomic_store_explicit(&view->foreign[pf], foreign, rte_memory_order_relaxed);
	rte_atomic_store_explicit(&view->others[pf], others, rte_memory_order_relaxed);
}

void
octo_mac_publish_locked(struct octo_dev *octo, bool promiscuous)
{
	const struct octo_macs *m = &octo->macs;
	struct octo_mac_view *view = &octo->macs.view;
	const uint32_t apart = m->apart ? RTE_BIT32(octo->nb_pfs) - 1 : 0;

	if (!m->reserved)
		return;
	for (uint8_t i = 0; i < octo->nb_pfs; i++)
		publish_pf(octo, i, promiscuous);
	rte_atomic_store_explicit(&view->groups, apart & ~RTE_BIT32(m->plan.designated),
				  rte_memory_order_relaxed);
	rte_atomic_store_explicit(&view->apart, apart, rte_memory_order_relaxed);
}

void
octo_mac_spread_locked(struct octo_dev *octo)
{
	struct octo_macs *m = &octo->macs;
	const struct octo_mac_plan before = m->plan;

	/* which PFs have link, or drain, is not known before they start */
	octo_mac_plan_make(octo->nb_pfs, octo_pf_mask(octo, OCTO_PORT_READY), &m->plan);
	m->apart = true;
	m->promiscuous = 0;
	memset(m->held, 0, sizeof(m->held));
	m->due |= octo_mac_plan_moved(octo->nb_pfs, &before, &m->plan);
	octo_mac_publish_locked(octo, octo->settings.promiscuous);
	arrange(octo, &m->plan, true);
}

void
octo_mac_join_locked(struct octo_dev *octo)
{
	const bool were_apart = octo->macs.apart;

	octo->macs.apart = false;
	octo_mac_publish_locked(octo, octo->settings.promiscuous);
	arrange(octo, NULL, were_apart);
}

static void
log_moves(const struct octo_dev *octo, uint32_t moved)
{
	for (uint16_t i = 0; i < octo->nb_pfs; i++)
		if (moved & RTE_BIT32(i))
			OCTO_LOG(INFO, "port %u: PF %s has the MAC address of PF %s now",
				 octo->port_id, octo->port[octo->macs.plan.holder[i]].name,
				 octo->port[i].name);
}

void
octo_mac_follow_locked(struct octo_dev *octo)
{
	struct octo_macs *m = &octo->macs;
	struct octo_mac_plan plan;

	octo_assert_locked(octo);
	for (uint16_t i = 1; m->reserved && i < octo->nb_pfs; i++)
		octo_data(octo)->mac_addrs[i] = m->own[i];
	if (!m->apart)
		return;
	octo_mac_plan_make(octo->nb_pfs, octo->plan.usable, &plan);
	if (m->renewed || memcmp(&plan, &m->plan, sizeof(plan)) != 0) {
		const uint32_t moved = octo_mac_plan_moved(octo->nb_pfs, &m->plan, &plan);
		const bool modes = m->renewed || plan.designated != m->plan.designated;

		m->renewed = false;
		m->plan = plan;
		octo_mac_publish_locked(octo, octo->settings.promiscuous);
		arrange(octo, &plan, modes);
		log_moves(octo, moved);
		m->due |= moved;
	}
	octo_mac_announce_tick_locked(octo);
}

int
octo_mac_resync_locked(struct octo_dev *octo, struct octo_port *port)
{
	const struct rte_ether_addr own = octo_mac_entry(octo, (uint32_t)(port - octo->port));
	const int ret = octo_mac_set_on(port, &own);

	octo->macs.renewed = true;
	return ret == -ENOTSUP ? 0 : ret;
}

int
octo_mac_set_first_locked(struct octo_dev *octo, const struct rte_ether_addr *mac)
{
	const uint8_t holder = octo->macs.plan.holder[0];
	struct rte_ether_addr to = *mac;
	const struct rte_ether_addr before = octo_mac_entry(octo, 0);
	struct octo_port *port = &octo->port[holder];
	int ret;

	/* as ethdev sets it at each start */
	if (rte_is_same_ether_addr(&to, &before))
		return 0;
	for (uint16_t i = 1; i < octo->nb_pfs; i++) {
		if (!rte_is_same_ether_addr(mac, &octo->macs.own[i]))
			continue;
		OCTO_LOG(ERR, "port %u: this is the MAC address of PF %s (tier=mac): give another",
			 octo->port_id, octo->port[i].name);
		return -EADDRINUSE;
	}
	/* PF 0 gets it when it returns */
	if (!octo_port_is(port, OCTO_PORT_IDLE))
		return 0;
	if (holder == 0)
		return octo_mac_set_on(port, &to);
	ret = rte_eth_dev_mac_addr_add(port->port_id, &to, 0);
	if (ret == 0)
		take_one(octo, port, 0, before);
	return ret;
}
