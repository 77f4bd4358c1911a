/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef AGENT_REP_H
#define AGENT_REP_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_pci.h>

/**
 * @file
 * Finds the representor of a VF among the kernel's netdevs. A representor's name tells the
 * function of its PF, not the bus: PFs of both sockets are function 0, and both have a pf0vf0.
 * The parent device tells them apart. Pure.
 */

#define AGENT_PORT_NAME_MAX 32
#define AGENT_SWITCH_ID_MAX 66 /* of 32 bytes, in hexadecimal digits, and a newline */

/** A VF as vf= names it: by its own address, or by that of its PF and by its number. */
struct agent_vf {
	char address[PCI_PRI_STR_SIZE]; /**< of the PF if there is a number; "": no VF is named */
	int number;                     /**< -1: the address is that of the VF */
};

/** A netdev below a PF: an uplink or a representor in switchdev mode. */
struct agent_netdev {
	char name[IF_NAMESIZE];
	char port_name[AGENT_PORT_NAME_MAX]; /**< phys_port_name: "pf0vf0"; "" if there is none */
	char switch_id[AGENT_SWITCH_ID_MAX]; /**< phys_switch_id; "" if there is none */
	char parent[PCI_PRI_STR_SIZE];       /**< address of the PF */
	uint32_t ifindex;
	bool multiport; /**< the PF is part of a multiport E-Switch */
};

/**
 * Read the value of vf=.
 *
 * @return
 *   0, or -EINVAL.
 */
int agent_rep_read_vf(const char *text, struct agent_vf *vf);

/**
 * Find the representor of a VF.
 *
 * @param vf
 *   By PF and number.
 * @param why
 *   Filled on failure: no representors, none of this VF, or several.
 * @return
 *   The netdev, or NULL.
 */
const struct agent_netdev *agent_rep_find(const struct agent_netdev *devs, unsigned int nb,
					  const struct agent_vf *vf, char *why, size_t size);

/**
 * Check that two representors can be ports of one FDB. Equal switch ids do not prove it.
 *
 * @return
 *   0, or -EXDEV with why filled.
 */
int agent_rep_check_fdb(const struct agent_netdev *a, const struct agent_netdev *b, char *why,
			size_t size);

#endif /* AGENT_REP_H */
