/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include "octo_port_random.h"

static struct random_port *const r = &random_port;

void
random_op_change_pf(void)
{
	static const char *const recovery[] = {"start", "success", "failed"};
	const bool forgets = r->mode == RANDOM_FORGETS;
	const unsigned int pf = random_below(r->nb_ports);
	const char *name = octo_port_pf_name(pf);
	const uint32_t soon_us = random_one_in(3) ? 0 : random_below(20000);

	switch (random_below(10)) {
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
			random_fault("%s,reset", name);
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

	switch (random_below(9)) {
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
