/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_STEER_H
#define OCTO_STEER_H

#include <stdint.h>

#include <rte_compat.h>
#include <rte_flow.h>

#include "octo_tuple.h"

/**
 * @file
 * Steering by hand, for the commands of testpmd. Such flows are told apart from
 * those that the application made through rte_flow and still holds pointers to.
 * Primary process; any control thread.
 */

/**
 * Steer a 5-tuple to an Rx queue of an octo port.
 *
 * @return
 *   0, or a negative errno with *error filled: -ENODEV if it is not an octo port,
 *   else what rte_flow_create() would say.
 */
__rte_experimental
int octo_steer_add(uint16_t port_id, const struct octo_tuple *tuple, uint16_t queue,
		   struct rte_flow_error *error);

/**
 * Move a flow that is steered to another Rx queue, in order; also one that
 * rte_flow_create() steers by its 5-tuple alone.
 *
 * @return
 *   0, or a negative errno with *error filled: -ENOENT if the 5-tuple is not
 *   steered, -ENOTSUP if its rule can only be changed through rte_flow.
 */
__rte_experimental
int octo_steer_move(uint16_t port_id, const struct octo_tuple *tuple, uint16_t queue,
		    struct rte_flow_error *error);

/**
 * Take back what octo_steer_add() did.
 *
 * @return
 *   0, or a negative errno with *error filled: -ENOENT if the 5-tuple is not
 *   steered, -EPERM if the rule was made through rte_flow.
 */
__rte_experimental
int
octo_steer_remove(uint16_t port_id, const struct octo_tuple *tuple, struct rte_flow_error *error);

/** Take back everything that octo_steer_add() did. @return how many, or a negative errno. */
__rte_experimental
int octo_steer_remove_all(uint16_t port_id, struct rte_flow_error *error);

#endif /* OCTO_STEER_H */
