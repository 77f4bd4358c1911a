/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_ETHTOOL_RETA_H
#define OCTO_ETHTOOL_RETA_H

#include <rte_compat.h>

struct octo_ethtool;

/**
 * @file
 * The RETA of a netdev, for octo_ethtool_table.c. Functions return 0 or a negative errno.
 */

/** Send a request to the kernel, or to the agent (octo_ethtool_table.c). */
int octo_ethtool_ask(const struct octo_ethtool *et, void *request);

/** Read the sizes of RETA and key, the key, and what is hashed. Sets reta_refused. */
void octo_ethtool_reta_find(struct octo_ethtool *et);

/** Set the RETA that there is, the kernel's default as such. */
int octo_ethtool_reta_try(struct octo_ethtool *et);

/** If the RETA is the one that the journal says, set the one from before, or the default. */
__rte_internal
int octo_ethtool_reta_give_back(struct octo_ethtool *et);

#endif /* OCTO_ETHTOOL_RETA_H */
