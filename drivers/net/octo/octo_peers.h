/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_PEERS_H
#define OCTO_PEERS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * @file
 * An octo port in other processes. A port is in shared memory, which a secondary process uses
 * until it has released the port. ethdev does not tell secondaries that the primary closes a
 * port.
 */

struct octo_dev;

/**
 * In a secondary, before it attaches a port: let the primary request its release.
 *
 * @return
 *   0 or a negative errno.
 */
int octo_peers_init(void);

/**
 * In a secondary that attaches a port: it is not released meanwhile. Octo's lock of the outermost
 * rank; until octo_peers_end_attach().
 */
void octo_peers_begin_attach(void);

void octo_peers_end_attach(void);

/**
 * In the primary: make each secondary release the port, whose memory is freed next. Waits for
 * them, for some seconds at most, so the caller must hold no lock; not from EAL's thread for
 * messages.
 *
 * @return
 *   False if a secondary did not answer: it may use the port's structure still.
 */
bool octo_peers_let_go(const struct octo_dev *octo);

/**
 * In a secondary whose port of a PF is about to be detached, as the primary removes the PF: no
 * burst and no call of this process uses it any more when this returns.
 */
void octo_peers_lose_pf(uint16_t pf_port_id);

#endif /* OCTO_PEERS_H */
