/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include <ethdev_driver.h>

#include "mpsim_control.h"
#include "octo_port_fault.h"
#include "octo_port_random.h"

static struct random_port *const r = &random_port;

/* Those that have come, by port. */
static struct octo_port_faults *refusals[RTE_MAX_ETHPORTS];
static bool refuses_next;

static void
refuse(struct octo_port_faults *f, unsigned int what)
{
	int *const codes[] = {&f->configure,      &f->rx_setup,       &f->tx_setup,
			      &f->start,          &f->isolate,        &f->reta_update,
			      &f->create_ingress, &f->create_transfer};

	*codes[what % RTE_DIM(codes)] = EIO;
}

static int
on_new(uint16_t port, enum rte_eth_event_type event, void *arg, void *ret)
{
	struct mpsim_account account;

	RTE_SET_USED(event);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret);
	if (strncmp(rte_eth_devices[port].data->name, "net_mpsim", 9) != 0)
		return 0;
	/* it may be the first PF of a NIC, after the last one went */
	if (rte_pmd_mpsim_account_get("T", &account) == 0 && account.delivered == 0)
		r->other_nic = true;
	refusals[port] = octo_port_faults_on_port(port);
	if (refuses_next)
		refuse(refusals[port], (unsigned int)random_port.seed + random_port.step);
	refuses_next = false;
	return 0;
}

void
random_watch_pfs(bool on)
{
	refuses_next = false;
	if (on)
		rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, on_new, NULL);
	else
		rte_eth_dev_callback_unregister(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, on_new, NULL);
}

void
random_relent(void)
{
	refuses_next = false;
	for (unsigned int i = 0; i < RTE_DIM(refusals); i++)
		if (refusals[i] != NULL)
			memset(refusals[i], 0, sizeof(*refusals[i]));
}

/* The next one that comes, or one that is there: what is asked of it fails. */
void
random_op_refuse_to_join(void)
{
	const unsigned int pf = random_below(r->nb_ports), what = random_below(8);

	if (!random_one_in(2)) {
		random_relent();
		return;
	}
	refuses_next = random_one_in(2);
	random_say("a PF refuses %u: %d", what, refuses_next ? -1 : (int)pf);
	if (!refuses_next && octo_port_pf_is_there(pf) && refusals[octo_port_pf(pf)] != NULL)
		refuse(refusals[octo_port_pf(pf)], what);
}

/* All PFs at the same time. */
static void
change_all(bool forgets)
{
	static const char *const ways[] = {"link,down", "link,up",        "remove,5000",
					   "reset",     "recovery,start", "recovery,success",
					   "surprise",  "recovery,failed"};

	random_fault("T,%s", ways[random_below(forgets ? RTE_DIM(ways) : 3)]);
}

void
random_op_change_pf(void)
{
	static const char *const recovery[] = {"start", "success", "failed"};
	const bool forgets = r->mode == RANDOM_FORGETS;
	const unsigned int pf = random_below(r->nb_ports);
	const char *name = octo_port_pf_name(pf);
	const uint32_t soon_us = random_one_in(3) ? 0 : random_below(20000);

	switch (random_below(11)) {
	case 10:
		if (random_one_in(4))
			change_all(forgets);
		break;
	case 0:
	case 1:
		random_fault("%s,link,%s", name, random_one_in(2) ? "down" : "up");
		break;
	case 2:
		random_fault("%s,remove,%u", name, soon_us);
		break;
	case 3:
		if (forgets)
			random_fault("%s,surprise,%u", name, soon_us);
		break;
	case 4:
		random_fault("%s,eject,%u", name, 100000 + random_below(200000));
		break;
	case 5:
	case 6:
		if (forgets)
			random_fault("%s,recovery,%s", name,
				     recovery[random_below(RTE_DIM(recovery))]);
		break;
	case 7:
		if (forgets)
			random_fault("%s,reset%s", name, random_one_in(4) ? ",fail" : "");
		break;
	default:
		if (!octo_port_pf_is_there(pf))
			random_fault("%s,plug", name);
	}
}

/* One at a time, with notice: its packets come, in order. The proxy's rules may not be. */
void
random_op_eject(void)
{
	const unsigned int pf = random_below(r->nb_ports);

	if (r->nb_ports == 1)
		return;
	if (r->ejected >= 0) {
		if (!octo_port_pf_is_there(r->ejected) &&
		    random_fault("%s,plug", octo_port_pf_name(r->ejected)) == 0)
			r->ejected = -1;
		return;
	}
	if (!random_one_in(4) || !random_is_whole() || octo_port_is_proxy(r->port, pf))
		return;
	random_fault("%s,eject,60000000", octo_port_pf_name(pf));
	r->ejected = pf;
}

void
random_op_refuse_rules(void)
{
	const char *name = octo_port_pf_name(random_below(r->nb_ports));

	switch (random_below(12)) {
	case 0:
		random_fault("T,room,mpfs,%u", random_below(30));
		break;
	case 1:
		random_fault("%s,room,arfs,%u", name, random_below(30));
		break;
	case 2:
		random_fault("%s,rule_fail,%u,%d,%u", name, 1 + random_below(10),
			     random_one_in(2) ? EIO : ENOSPC, 1 + random_below(4));
		break;
	case 3:
		random_fault("%s,rule_slow,%u", name, random_below(500));
		break;
	case 4:
		random_fault("%s,room,generic,%u", name, random_below(6));
		break;
	case 5:
		random_fault("%s,ring_full,%u,%s", name, random_below(RANDOM_QUEUES),
			     random_one_in(2) ? "on" : "off");
		break;
	case 6:
		random_fault("%s,tx_stuck,%s", name, random_one_in(2) ? "on" : "off");
		break;
	case 7:
		random_fault("%s,latency,%u", name, random_below(2000));
		break;
	default:
		random_fault("%s,clear", name);
	}
}

void
random_heal(unsigned int pf)
{
	const char *name = octo_port_pf_name(pf);

	if (!octo_port_pf_is_there(pf)) {
		random_fault("%s,plug", name);
		return;
	}
	random_fault("%s,clear", name);
	random_fault("%s,link,up", name);
	random_fault("%s,recovery,success", name);
}
