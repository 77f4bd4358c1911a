/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include <eal_export.h>

#include "octo_private.h"
#include "octo_steer.h"

RTE_EXPORT_EXPERIMENTAL_SYMBOL(octo_steer_add, 26.11)
int
octo_steer_add(uint16_t port_id, const struct octo_tuple *tuple, uint16_t queue,
	       struct rte_flow_error *error)
{
	const struct octo_rule_wish wish = {
		.tuple = tuple,
		.origin = OCTO_BY_COMMAND,
		.queue = queue,
	};
	struct octo_dev *octo = octo_registry_get(port_id);
	int ret;

	if (octo == NULL)
		return rte_flow_error_set(error, ENODEV, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					  "this is not an octo port");
	octo_lock(octo);
	ret = octo_flow_error_check_queue(octo, queue, error);
	if (ret == 0 && octo_rule_add_locked(octo, &wish, error) == NULL)
		ret = -rte_errno;
	octo_unlock(octo);
	octo_registry_put();
	return ret;
}

/* A rule in the application's own words says more than its queue. */
static int
move_locked(struct octo_dev *octo, const struct octo_tuple *tuple, uint16_t queue,
	    struct rte_flow_error *error)
{
	struct rte_flow *rule = octo_table_find(octo->table, tuple);
	const char *why = NULL;
	int ret = octo_flow_error_check_queue(octo, queue, error);

	if (ret != 0)
		return ret;
	if (rule == NULL || rule->origin == OCTO_BY_LEARNING)
		return rte_flow_error_set(error, ENOENT, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					  "this 5-tuple is not steered: steer it");
	if (!octo->started)
		why = "the port is stopped: start it first";
	else if (rule->generic || rule->by_table)
		why = "this rule says more than its queue: change it through rte_flow";
	else if (octo->agent_queues)
		why = "an agent chooses the queue: unsteer the flow and steer it again";
	if (why != NULL)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					  why);
	return octo_move_exact_locked(octo, rule, queue, error);
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(octo_steer_move, 26.11)
int
octo_steer_move(uint16_t port_id, const struct octo_tuple *tuple, uint16_t queue,
		struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_registry_get(port_id);
	int ret;

	if (octo == NULL)
		return rte_flow_error_set(error, ENODEV, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					  "this is not an octo port");
	ret = OCTO_LOCKED(octo, move_locked(octo, tuple, queue, error));
	octo_registry_put();
	return ret;
}

static int
remove_locked(struct octo_dev *octo, const struct octo_tuple *tuple, struct rte_flow_error *error)
{
	struct rte_flow *rule = octo_table_find(octo->table, tuple);

	if (rule == NULL)
		return rte_flow_error_set(error, ENOENT, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					  "this 5-tuple is not steered");
	if (rule->origin == OCTO_BY_APP)
		return rte_flow_error_set(error, EPERM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					  "this rule was made through rte_flow: destroy it there");
	return octo_rule_retire_locked(octo, rule, error);
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(octo_steer_remove, 26.11)
int
octo_steer_remove(uint16_t port_id, const struct octo_tuple *tuple, struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_registry_get(port_id);
	int ret;

	if (octo == NULL)
		return rte_flow_error_set(error, ENODEV, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					  "this is not an octo port");
	ret = OCTO_LOCKED(octo, remove_locked(octo, tuple, error));
	octo_registry_put();
	return ret;
}

static int
remove_all_locked(struct octo_dev *octo, struct rte_flow_error *error)
{
	struct rte_flow *rule = TAILQ_FIRST(&octo->rules);
	int first_error = 0;
	int removed = 0;

	while (rule != NULL) {
		struct rte_flow *next = TAILQ_NEXT(rule, next);

		if (rule->origin == OCTO_BY_COMMAND) {
			int ret = octo_rule_retire_locked(octo, rule,
							  first_error == 0 ? error : NULL);

			if (first_error == 0)
				first_error = ret;
			removed += ret == 0;
		}
		rule = next;
	}
	return first_error != 0 ? first_error : removed;
}

RTE_EXPORT_EXPERIMENTAL_SYMBOL(octo_steer_remove_all, 26.11)
int
octo_steer_remove_all(uint16_t port_id, struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_registry_get(port_id);
	int ret;

	if (octo == NULL)
		return rte_flow_error_set(error, ENODEV, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					  "this is not an octo port");
	ret = OCTO_LOCKED(octo, remove_all_locked(octo, error));
	octo_registry_put();
	return ret;
}
