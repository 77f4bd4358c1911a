/* SPDX-License-Identifier: BSD-3-Clause */

#ifndef OCTO_PORT_ASYNC_H
#define OCTO_PORT_ASYNC_H

#include "octo_port.h"

/**
 * @file
 * Indirect actions, and rules through flow queues, on any port: a table of the
 * 5-tuples of octo_port, whose queue is the rule's own.
 */

/** A QUEUE action in the memory that is given. */
void octo_port_queue_action(struct rte_flow_action *action, struct rte_flow_action_queue *queue,
			    uint16_t index);
/** An indirect one. */
struct rte_flow_action_handle *octo_port_indirect_queue(uint16_t port, uint16_t queue);
/** octo_port_steer() by an indirect QUEUE action, and with an indirect COUNT action. */
struct rte_flow *
octo_port_steer_by(uint16_t port, uint16_t src_port, struct rte_flow_action_handle *queue,
		   struct rte_flow_error *error);
struct rte_flow *
octo_port_steer_and_count_by(uint16_t port, uint16_t src_port, uint16_t queue,
			     struct rte_flow_action_handle *count, struct rte_flow_error *error);

struct octo_port_table {
	uint16_t port;
	struct rte_flow_pattern_template *pattern;
	struct rte_flow_actions_template *actions;
	struct rte_flow_template_table *table;
};

/** Flow queues that hold this many operations; a negative errno on failure. */
int octo_port_flow_queues(uint16_t port, uint16_t nb, uint32_t size, struct rte_flow_error *error);

/** Templates and a table of this many rules. */
void octo_port_table_create(struct octo_port_table *t, uint16_t port, uint32_t nb_flows);
/** Whose queue is an indirect action. */
void octo_port_table_create_by_handle(struct octo_port_table *t, uint16_t port, uint32_t nb_flows);
/** Of these actions; masks tell which of their confs the rules have in common. */
void octo_port_table_create_as(struct octo_port_table *t, uint16_t port, uint32_t nb_flows,
			       const struct rte_flow_action *actions,
			       const struct rte_flow_action *masks);
void octo_port_table_destroy(struct octo_port_table *t);

/** A started port with 4 queues, two flow queues, and a table of 64 rules. */
uint16_t octo_port_start_with_table(const struct octo_port_conf *conf, struct octo_port_table *t);

/** By flow queue 0; what is given as user_data is the source port. */
struct rte_flow *octo_port_enqueue(const struct octo_port_table *t, uint16_t src_port,
				   uint16_t queue, bool postpone, struct rte_flow_error *error);
struct rte_flow *octo_port_enqueue_by(const struct octo_port_table *t, uint16_t src_port,
				      struct rte_flow_action_handle *queue, bool postpone);
int
octo_port_enqueue_destroy(uint16_t port, struct rte_flow *flow, uint16_t src_port, bool postpone);

/** The next result of flow queue 0 must be this one. */
void octo_port_pull(uint16_t port, uint16_t src_port, enum rte_flow_op_status status);
void octo_port_pull_nothing(uint16_t port);

/** How many results a PF, told by its port id, gives at a pull; NULL: as many as there are. */
extern uint16_t (*octo_port_results_given)(uint16_t pf);

/** This PF, told by its port id, fails the next destruction and keeps the rule. */
extern uint16_t octo_port_fail_destroy;

#endif /* OCTO_PORT_ASYNC_H */
