/* SPDX-License-Identifier: BSD-3-Clause */

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_string_fns.h>

#include "agent_rep.h"

#define MAX_VF 65535

/* Digits only, up to the end of the text. */
static int
read_number(const char *text)
{
	unsigned long number;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	number = strtoul(text, &end, 10);
	return *end == '\0' && number <= MAX_VF ? (int)number : -EINVAL;
}

int
agent_rep_read_vf(const char *text, struct agent_vf *vf)
{
	char copy[PCI_PRI_STR_SIZE + sizeof("/65535")];
	char *number = copy;
	struct rte_pci_addr addr;

	vf->number = -1;
	if (strlcpy(copy, text, sizeof(copy)) >= sizeof(copy))
		return -EINVAL;
	strsep(&number, "/");
	if (rte_pci_addr_parse(copy, &addr) != 0)
		return -EINVAL;
	rte_pci_device_name(&addr, vf->address, sizeof(vf->address));
	if (number == NULL)
		return 0;
	vf->number = read_number(number);
	return vf->number < 0 ? -EINVAL : 0;
}

/*
 * The VF's number in "pf0vf12", or -1. Names with a controller, "c1pf0vf12", are of VFs of another
 * machine (devlink: external ports).
 */
static int
vf_of_name(const char *name)
{
	char *end;

	if (strncmp(name, "pf", 2) != 0 || !isdigit((unsigned char)name[2]))
		return -1;
	strtoul(name + 2, &end, 10);
	return strncmp(end, "vf", 2) == 0 ? read_number(end + 2) : -1;
}

const struct agent_netdev *
agent_rep_find(const struct agent_netdev *devs, unsigned int nb, const struct agent_vf *vf,
	       char *why, size_t size)
{
	const struct agent_netdev *found = NULL;
	bool has_others = false;

	for (unsigned int i = 0; i < nb; i++) {
		const int number = vf_of_name(devs[i].port_name);

		if (number < 0 || devs[i].switch_id[0] == '\0' ||
		    strcmp(devs[i].parent, vf->address) != 0)
			continue;
		has_others |= number != vf->number;
		if (number != vf->number)
			continue;
		if (found != NULL) {
			snprintf(why, size,
				 "VF %d of %s has two representors, %s (%s) and %s (%s): give the "
				 "right one by rep=ETHDEV",
				 vf->number, vf->address, found->name, found->port_name,
				 devs[i].name, devs[i].port_name);
			return NULL;
		}
		found = &devs[i];
	}
	if (found != NULL)
		return found;
	if (has_others)
		snprintf(why, size, "VF %d of %s has no representor, other VFs have", vf->number,
			 vf->address);
	else
		snprintf(why, size,
			 "%s is not in switchdev mode, or its representors are in another network "
			 "namespace: devlink dev eswitch set pci/%s mode switchdev",
			 vf->address, vf->address);
	return NULL;
}

int
agent_rep_check_fdb(const struct agent_netdev *a, const struct agent_netdev *b, char *why,
		    size_t size)
{
	if (strcmp(a->switch_id, b->switch_id) == 0 || (a->multiport && b->multiport))
		return 0;
	snprintf(why, size,
		 "the PFs do not share an FDB: %s (%s) has switch id %s, and %s (%s) has %s",
		 a->name, a->parent, a->switch_id, b->name, b->parent, b->switch_id);
	return -EXDEV;
}
