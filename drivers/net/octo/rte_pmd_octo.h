/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef RTE_PMD_OCTO_H
#define RTE_PMD_OCTO_H

#include <stdint.h>
#include <stdio.h>

#include <rte_compat.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file
 * What net_octo can do beyond ethdev and rte_flow.
 *
 * Threads: every function may be called by any thread, EAL's or not, at the same time as any
 * other, but not inside a burst nor in a handler of an ethdev event. None is for the data path.
 */

/**
 * Print the PFs of a port, with their sockets, links and states, and for each queue its CPU and
 * where the ring and the packets of each leg are. rte_eth_dev_priv_dump() prints it, too. In any
 * process.
 *
 * @param port_id
 *   An octo port.
 * @param file
 *   Where to; no lock is held while it is written to, and its errors are not looked at.
 * @return
 *   0, or -ENODEV if the port is not an octo port.
 */
__rte_experimental
int rte_pmd_octo_topology_dump(uint16_t port_id, FILE *file);

/**
 * Print the steered flows of a port, with queue, PF, hits in packets, sampled strays and whether
 * their rules work; rte_eth_dev_priv_dump() prints the first 32. A secondary process prints
 * how many there are.
 *
 * @param port_id
 *   An octo port.
 * @param file
 *   Likewise.
 * @return
 *   0, or -ENODEV if the port is not an octo port.
 */
__rte_experimental
int rte_pmd_octo_steering_dump(uint16_t port_id, FILE *file);

/**
 * Print, in packets since the last reset, what each queue received by its home PF, and by others.
 * In any process.
 *
 * @param port_id
 *   An octo port.
 * @param file
 *   Likewise.
 * @return
 *   0, or -ENODEV if the port is not an octo port.
 */
__rte_experimental
int rte_pmd_octo_strays_dump(uint16_t port_id, FILE *file);

#ifdef __cplusplus
}
#endif

#endif /* RTE_PMD_OCTO_H */
