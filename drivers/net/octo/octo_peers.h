/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_PEERS_H
#define OCTO_PEERS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * @file
 * An octo port in other processes. It lives in shared memory, which a secondary process uses
 * until it has released the port there. ethdev tells nobody that the primary closes a port.
 */

struct octo_dev;

/** In a secondary, before it attaches a port: the primary can ask for it. */
int octo_peers_init(void);

/**
 * In the primary: each secondary releases the port, whose memory is freed next. It waits for
 * them, for some seconds at most, so the caller holds no lock; not in EAL's thread of messages.
 *
 * @return
 *   false if one did not answer: it may still use the port's own structure.
 */
bool octo_peers_let_go(const struct octo_dev *octo);

/**
 * In a secondary whose port of a PF is about to go, before that of the primary: its
 * legs are not live any more when this returns, and no burst and no call uses them.
 */
void octo_peers_lose_pf(uint16_t pf_port_id);

#endif /* OCTO_PEERS_H */
