/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef AGENT_SYSFS_H
#define AGENT_SYSFS_H

#include <stddef.h>

#include "agent_rep.h"

/**
 * @file
 * Reads VFs and netdevs from sysfs, which is below a root: "" outside of tests. All functions
 * return 0, or a negative errno with why filled.
 */

#define AGENT_MAX_NETDEVS 4096

struct agent_netdevs {
	unsigned int nb;
	struct agent_netdev dev[AGENT_MAX_NETDEVS];
};

/** The PF and the number of a VF, by whichever of the two ways it is named. */
int agent_sysfs_find_pf(const char *root, const struct agent_vf *named, struct agent_vf *vf,
			char *why, size_t size);

/** Append the netdevs of a PF. */
int agent_sysfs_add_netdevs(const char *root, const char *pf, struct agent_netdevs *devs, char *why,
			    size_t size);

#endif /* AGENT_SYSFS_H */
