/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Tier mac. A packet may come twice only if an address has moved while it was on its way, or if the
 * port has left the tier, after which all PFs have all addresses.
 */

#include <ethdev_driver.h>

#include "octo_port_random.h"
#include "octo_private.h"

static struct random_port *const r = &random_port;

static const struct octo_dev *
octo(void)
{
	return octo_of(&rte_eth_devices[r->port]);
}

bool
random_mac_is_apart(void)
{
	return r->by_mac && octo()->macs.apart;
}

void
random_mac_note(void)
{
	const bool apart = random_mac_is_apart();
	const struct octo_mac_plan *plan = &octo()->macs.plan;

	if (!r->by_mac || (apart && r->were_apart && memcmp(plan, &r->macs, sizeof(*plan)) == 0))
		return;
	r->were_apart = apart;
	random_say("addresses are apart: %d, designated %u", apart, plan->designated);
	r->macs = *plan;
	for (unsigned int i = 0; i < RANDOM_ALL; i++)
		r->traffic[i].doubted = r->traffic[i].sent;
}

/* Rules of flows to all count the copies of all PFs. */
struct rte_ether_addr
random_mac_dst(unsigned int flow)
{
	static const struct rte_ether_addr others[] = {
		{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
		{{0x01, 0, 0x5e, 0, 0, 0x01}},
		{{0x02, 0, 0, 0, 0x77, 16}},
	};
	const struct rte_ether_addr *macs = rte_eth_devices[r->port].data->mac_addrs;

	if (r->by_mac && flow >= RANDOM_ALL - RTE_DIM(others))
		return others[RANDOM_ALL - 1 - flow];
	return random_mac_is_apart() ? macs[flow % r->nb_ports] : macs[0];
}

/* The PF that has the address counts it, and a promiscuous one that drops it. */
unsigned int
random_mac_hits(unsigned int flow)
{
	if (!r->by_mac)
		return 1;
	if (!random_mac_is_apart())
		return r->nb_ports;
	return 1 + (flow % r->nb_ports != 0 && octo()->settings.promiscuous);
}

/* They begin at zero with the port's counters. */
uint64_t
random_mac_copies(void)
{
	const struct octo_rxq_counts c = octo_queue_counts_rx(octo());
	const uint64_t now = c.copies.foreign + c.copies.groups;

	if (now < r->copies)
		r->copies_before += r->copies;
	r->copies = now;
	return r->copies_before + now;
}
