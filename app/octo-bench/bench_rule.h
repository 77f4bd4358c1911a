/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef BENCH_RULE_H
#define BENCH_RULE_H

#include <stdint.h>

#include <rte_flow.h>

#include "octo_flow_build.h"

/**
 * @file
 * Rules of flows, and what is said of those that a port refuses.
 */

/** @return 0, or a negative errno after a message. */
int bench_rule_create(uint16_t port, const struct octo_flow_rule *rule);

/** Have a flow come to a queue of a port. @return 0, or a negative errno after a message. */
int bench_rule_steer(uint16_t port, uint32_t flow, uint16_t queue);

/** Say why, as rte_errno and the error have it. @return the negative errno. */
int bench_rule_refused(uint16_t port, const struct rte_flow_error *error);

#endif /* BENCH_RULE_H */
