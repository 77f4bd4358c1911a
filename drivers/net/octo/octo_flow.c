/* SPDX-License-Identifier: BSD-3-Clause */

/* rte_flow on the port, under the control mutex. */

#include <errno.h>

#include "octo_flow_ops.h"
#include "octo_private.h"
#include "octo_spec.h"

static void
specify_exact(struct octo_flow_request *r)
{
	r->rule_spec = (struct octo_rule_spec){
		.tuple = &r->spec.tuple,
		.origin = OCTO_BY_APP,
		.priority = r->spec.priority,
		.queue = r->spec.queue,
		.count = r->spec.count,
	};
}

/* Does the rule match exactly one flow and lead it to a queue, whatever its other actions? */
static bool
leads_to_a_queue(const struct octo_dev *octo, struct octo_flow_request *r)
{
	const struct rte_flow_attr *attr = r->app_spec.attr_ro;
	const struct rte_flow_action_queue *queue;
	const struct rte_flow_action *action;

	/*
	 * a rule of slices chooses the PF as well, and is the flow's only one; a rule of the switch
	 * that chooses the queue passes by the other actions
	 */
	if (octo->sliced || octo_mpfs_choose_queues(octo) || !attr->ingress || attr->egress ||
	    attr->transfer || attr->group != 0)
		return false;
	action = octo_indirect_find(r->app_spec.actions_ro, RTE_FLOW_ACTION_TYPE_QUEUE);
	queue = action == NULL ? NULL : action->conf;
	if (queue == NULL || queue->index >= octo_data(octo)->nb_rx_queues)
		return false;
	r->spec.queue = queue->index;
	return octo_flow_parse_tuple(r->app_spec.pattern_ro, &r->spec.tuple) == 0;
}

/* Pass the rule to the PFs in the application's own words. Octo leads it home only if `steered`. */
void
octo_flow_specify_generic(struct octo_flow_request *r, bool steered)
{
	r->rule_spec = (struct octo_rule_spec){
		.tuple = steered ? &r->spec.tuple : NULL,
		.app_spec = &r->app_spec,
		.origin = OCTO_BY_APP,
		.priority = r->app_spec.attr_ro->priority,
		.queue = steered ? r->spec.queue : 0,
		.count = octo_app_spec_find(r->app_spec.actions_ro, RTE_FLOW_ACTION_TYPE_COUNT) !=
			 NULL,
	};
}

/* An exact 5-tuple to a queue is steered by octo; any other rule is passed to the PFs. */
int
octo_flow_read(const struct octo_dev *octo, const struct rte_flow_attr *attr,
	       const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	       struct octo_flow_request *r, struct rte_flow_error *error)
{
	const bool given = attr != NULL && pattern != NULL && actions != NULL;
	int ret = octo_flow_parse(attr, pattern, actions, &r->spec, given ? NULL : error);

	if (!given)
		return ret;
	if (!octo_data(octo)->dev_configured)
		return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_STATE, NULL,
					  "the port is not configured: configure it first");
	if (octo->tier_wanted == OCTO_TIER_NONE)
		return octo_flow_error_tier(error);
	r->app_spec.attr_ro = attr;
	r->app_spec.pattern_ro = pattern;
	r->app_spec.actions_ro = actions;
	if (ret == 0 && !r->spec.transfer && r->spec.fate == OCTO_FATE_QUEUE &&
	    r->spec.count_id == 0) {
		specify_exact(r);
		return octo_flow_error_check_queue(octo, r->spec.queue, error);
	}
	/* validates nested lists, so that code that walks them need not check */
	ret = octo_spec_copy(RTE_FLOW_CONV_OP_RULE, NULL, 0, &r->app_spec, error);
	if (ret >= 0)
		ret = octo_indirect_check(octo, actions, error);
	if (ret == 0)
		octo_flow_specify_generic(r, leads_to_a_queue(octo, r));
	return ret;
}

/*
 * Read a new rule. If the application gave the flow a rule of another priority, the PFs decide
 * which one applies: octo passes the rule on.
 */
static int
read_new(const struct octo_dev *octo, const struct rte_flow_attr *attr,
	 const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	 struct octo_flow_request *r, struct rte_flow_error *error)
{
	const struct rte_flow *known = NULL;
	int ret = octo_flow_read(octo, attr, pattern, actions, r, error);

	/* the only port of slices would take the queue for one of its own */
	if (ret == 0 && !octo->sliced && r->rule_spec.tuple != NULL)
		known = octo_table_find(octo->table, r->rule_spec.tuple);
	if (known != NULL && known->origin == OCTO_BY_APP &&
	    known->priority != r->rule_spec.priority)
		octo_flow_specify_generic(r, false);
	return ret;
}

int
octo_flow_validate(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
		   const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
		   struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_of(dev);
	struct octo_flow_request r;
	int ret;

	octo_lock(octo);
	ret = read_new(octo, attr, pattern, actions, &r, error);
	if (ret == 0)
		ret = octo_rule_check_locked(octo, &r.rule_spec, error);
	octo_unlock(octo);
	return ret;
}

struct rte_flow *
octo_flow_create(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
		 const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
		 struct rte_flow_error *error)
{
	struct octo_dev *octo = octo_of(dev);
	struct rte_flow *rule = NULL;
	struct octo_flow_request r;

	octo_lock(octo);
	if (read_new(octo, attr, pattern, actions, &r, error) == 0)
		rule = octo_rule_create_locked(octo, &r.rule_spec, error);
	octo_unlock(octo);
	return rule;
}

int
octo_flow_destroy(struct rte_eth_dev *dev, struct rte_flow *rule, struct rte_flow_error *error)
{
	return OCTO_CALL_LOCKED(dev, octo_rule_retire_locked, rule, error);
}

int
octo_flow_flush(struct rte_eth_dev *dev, struct rte_flow_error *error)
{
	return OCTO_CALL_LOCKED(dev, octo_rule_list_flush_locked, error);
}

int
octo_flow_query(struct rte_eth_dev *dev, struct rte_flow *rule,
		const struct rte_flow_action *actions, void *data, struct rte_flow_error *error)
{
	while (actions->type == RTE_FLOW_ACTION_TYPE_VOID)
		actions++;
	return OCTO_CALL_LOCKED(dev, octo_rule_hits_query_locked, rule, actions, data, error);
}

int
octo_flow_dev_dump(struct rte_eth_dev *dev, struct rte_flow *rule, FILE *file,
		   struct rte_flow_error *error)
{
	return OCTO_CALL_LOCKED(dev, octo_rule_dump_locked, rule, file, error);
}

int
octo_flow_get_aged_flows(struct rte_eth_dev *dev, void **contexts, uint32_t nb,
			 struct rte_flow_error *error)
{
	return OCTO_CALL_LOCKED(dev, octo_rule_aged_locked, contexts, nb, error);
}

/* A rule of a template table, on no PF so far. */
struct rte_flow *
octo_flow_enter_locked(struct octo_dev *octo, const struct rte_flow_attr *attr,
		       const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
		       struct rte_flow_error *error)
{
	struct octo_flow_request r;

	if (read_new(octo, attr, pattern, actions, &r, error) != 0)
		return NULL;
	return octo_rule_enter_locked(octo, &r.rule_spec, error);
}

static int
isolate_locked(struct octo_dev *octo, int set, struct rte_flow_error *error)
{
	int ret = 0;
	int pf;

	/* without rules nothing would ever come */
	if (set != 0 && octo->tier_wanted == OCTO_TIER_NONE)
		return octo_flow_error_tier(error);
	OCTO_FOREACH_PORT(octo, pf, OCTO_PORT_IDLE) {
		ret = rte_flow_isolate(octo->port[pf].port_id, set, error);
		if (ret != 0)
			break;
	}
	if (ret == 0) {
		octo->isolated = set != 0;
		return 0;
	}
	octo_flow_blame(&octo->port[pf], ret, error);
	while (--pf >= 0)
		if (octo_port_is(&octo->port[pf], OCTO_PORT_IDLE))
			rte_flow_isolate(octo->port[pf].port_id, octo->isolated, NULL);
	return ret;
}

/* A PF may lose the setting when it is configured or stopped. */
void
octo_flow_isolate_again_locked(struct octo_dev *octo)
{
	int pf;

	OCTO_FOREACH_PORT(octo, pf, OCTO_PORT_IDLE)
		if (octo->isolated)
			rte_flow_isolate(octo->port[pf].port_id, 1, NULL);
}

int
octo_flow_isolate(struct rte_eth_dev *dev, int set, struct rte_flow_error *error)
{
	return OCTO_CALL_LOCKED(dev, isolate_locked, set, error);
}

struct rte_flow_action_handle *
octo_flow_action_handle_create(struct rte_eth_dev *dev,
			       const struct rte_flow_indir_action_conf *conf,
			       const struct rte_flow_action *action, struct rte_flow_error *error)
{
	return OCTO_CALL_LOCKED(dev, octo_indirect_create_locked, conf, action, error);
}

int
octo_flow_action_handle_destroy(struct rte_eth_dev *dev, struct rte_flow_action_handle *handle,
				struct rte_flow_error *error)
{
	return OCTO_CALL_LOCKED(dev, octo_indirect_destroy_locked, handle, error);
}

int
octo_flow_action_handle_update(struct rte_eth_dev *dev, struct rte_flow_action_handle *handle,
			       const void *update, struct rte_flow_error *error)
{
	return OCTO_CALL_LOCKED(dev, octo_indirect_update_locked, handle, update, error);
}

int
octo_flow_action_handle_query(struct rte_eth_dev *dev, const struct rte_flow_action_handle *handle,
			      void *data, struct rte_flow_error *error)
{
	return OCTO_CALL_LOCKED(dev, octo_indirect_query_locked, handle, data, error);
}
