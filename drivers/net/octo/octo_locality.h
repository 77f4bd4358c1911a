/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_LOCALITY_H
#define OCTO_LOCALITY_H

#include <stdint.h>

#include "octo_plan.h"

struct octo_dev;
struct octo_rxq;
struct octo_txq;

/* Kinds of crossings by the home leg of any queue: OCTO_CROSS_... */
struct octo_crossings {
	uint32_t logged; /* logged since the port was started */
	uint32_t before; /* as of the last look */
	uint32_t now;
};

void octo_locality_start_locked(struct octo_dev *octo);
struct octo_locality
octo_locality_rx(const struct octo_dev *octo, const struct octo_rxq *q, uint8_t leg);
struct octo_locality
octo_locality_tx(const struct octo_dev *octo, const struct octo_txq *q, uint8_t leg);
void octo_locality_follow_locked(struct octo_dev *octo);

#endif /* OCTO_LOCALITY_H */
