/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_DUMP_H
#define OCTO_DUMP_H

#include <stdint.h>
#include <stdio.h>

/**
 * @file
 * A port as text for people: rte_eth_dev_priv_dump(), and the commands of testpmd. No lock is
 * held while something is printed. Any process, any thread but one that is inside a burst.
 */

struct octo_view_topology;
struct rte_eth_dev;

/** Room for a number, or for "-" where it is unknown. */
#define OCTO_DUMP_NUMBER_MAX 24

const char *octo_dump_number(int64_t number, char text[OCTO_DUMP_NUMBER_MAX]);

/** Room for the tier, and why it is not a higher one. */
#define OCTO_DUMP_TIER_MAX 96

const char *octo_dump_tier(const struct octo_view_topology *view, char text[OCTO_DUMP_TIER_MAX]);

/** "-" without a PF. */
const char *octo_dump_pf_name(const struct octo_view_topology *view, int pf);

/**
 * The PFs, and where each leg of a queue is.
 *
 * @return
 *   0, or -ENODEV if it is not an octo port, or not any more.
 */
int octo_dump_topology(uint16_t port_id, FILE *file);

/** The steered flows, so many at most, likewise. */
int octo_dump_steering(uint16_t port_id, uint32_t max, FILE *file);

/** Packets that came by the home PF of each queue, and strays, likewise. */
int octo_dump_strays(uint16_t port_id, FILE *file);

/** The op of ethdev: topology and steering. */
int octo_dump(struct rte_eth_dev *dev, FILE *file);

#endif /* OCTO_DUMP_H */
