/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_DUMP_H
#define OCTO_DUMP_H

#include <stdint.h>
#include <stdio.h>

/**
 * @file
 * A port as text: rte_eth_dev_priv_dump(), and the commands of testpmd. No lock is held while
 * something is printed. May be called by any process, and by any thread that is not inside a
 * burst.
 */

struct octo_view_topology;
struct rte_eth_dev;

/** Room for a number, or for "-" if it is unknown. */
#define OCTO_DUMP_NUMBER_MAX 24

const char *octo_dump_number(int64_t number, char text[OCTO_DUMP_NUMBER_MAX]);

/** Room for the tier and the reason why it is not a higher one. */
#define OCTO_DUMP_TIER_MAX 96

const char *octo_dump_tier(const struct octo_view_topology *view, char text[OCTO_DUMP_TIER_MAX]);

/** The PF's name, or "-" if there is no such PF. */
const char *octo_dump_pf_name(const struct octo_view_topology *view, int pf);

/**
 * Print the PFs, and the NUMA locality of each leg of a queue.
 *
 * @return
 *   0, or -ENODEV if the port is not, or no longer, an octo port.
 */
int octo_dump_topology(uint16_t port_id, FILE *file);

/** Print at most @p max steered flows. Returns as octo_dump_topology(). */
int octo_dump_steering(uint16_t port_id, uint32_t max, FILE *file);

/** Print home and stray packets per queue. Returns as octo_dump_topology(). */
int octo_dump_strays(uint16_t port_id, FILE *file);

/** ethdev's op eth_dev_priv_dump: topology and steering. */
int octo_dump(struct rte_eth_dev *dev, FILE *file);

#endif /* OCTO_DUMP_H */
