/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef FUZZ_TAKER_H
#define FUZZ_TAKER_H

#include <stdint.h>

/**
 * @file
 * PFs that take every rule and indirect action, do nothing with them, and read all
 * that they are given.
 */

/** Put it in place of the rules of this port, which has none yet. */
void fuzz_taker_on(uint16_t port);
/** Of all that these PFs have now, whatever its order. */
uint64_t fuzz_taker_sum(void);

#endif /* FUZZ_TAKER_H */
