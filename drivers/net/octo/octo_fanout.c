/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A rule on the PFs: inserted, removed, queried. A steered flow has an ARFS rule on every PF
 * (whichever PF a packet comes by, it reaches its queue) and an MPFS rule to the queue's home
 * PF.
 */

#include <errno.h>

#include "octo_flow_build.h"
#include "octo_private.h"

/* The rule is not on this PF any more. */
void
octo_fanout_drop(struct rte_flow *rule, uint8_t port)
{
	rule->arfs[port] = (struct octo_handle){0};
	octo_rule_hits_end_pf(rule, port);
}

/* Remove the rule from one PF. */
int
octo_fanout_remove_from_locked(struct octo_dev *octo, struct rte_flow *rule, uint8_t port,
			       struct rte_flow_error *error)
{
	struct rte_flow *on = octo_rule_on(octo, rule, port);
	int ret = 0;

	octo_assert_locked(octo);
	if (on == NULL)
		return 0;
	/* a PF that is about to be removed takes its rule along */
	if (octo_port_is(&octo->port[port], OCTO_PORT_IDLE))
		ret = octo_port_nic(&octo->port[port])->destroy(&octo->port[port], on, error);
	ret = octo_flow_destroyed(&octo->port[port], ret, error);
	if (ret == 0)
		octo_fanout_drop(rule, port);
	return ret;
}

/* PFs that have the rule's table get the rule by their flow queues. */
bool
octo_fanout_goes_by_flow_queue(const struct octo_dev *octo, const struct rte_flow *rule,
			       uint8_t port)
{
	return rule->by_table && rule->ext->table != NULL &&
	       octo_port_object(&octo->port[port], &rule->ext->table->on[port]) != NULL;
}

/* Removes the rule from all PFs; goes on after an error and returns the first one. */
int
octo_fanout_remove_locked(struct octo_dev *octo, struct rte_flow *rule,
			  struct rte_flow_error *error)
{
	int first_error = 0;

	octo_assert_locked(octo);
	/* a rule created before the first start was never installed */
	if (octo->mpfs_ops != NULL && octo_rule_has_tuple(rule))
		first_error = octo->mpfs_ops->remove(octo, rule, error);
	for (uint8_t port = 0; port < octo->nb_ports; port++) {
		int ret = 0;

		if (!octo_fanout_goes_by_flow_queue(octo, rule, port))
			ret = octo_fanout_remove_from_locked(octo, rule, port,
							     first_error == 0 ? error : NULL);
		if (first_error == 0)
			first_error = ret;
	}
	return first_error;
}

/* The PF that the rule leads to, or will; 0 where rules of the PFs do not choose it. */
static uint8_t
leg_of(const struct octo_dev *octo, const struct rte_flow *rule)
{
	if (!octo->sliced || !octo->started || rule->generic || !octo_rule_has_tuple(rule))
		return 0;
	return octo_rule_pf(octo, rule) != OCTO_NO_PF ? rule->lead.pf :
							octo_topo_home_of(octo, rule->queue);
}

int
octo_fanout_write(const struct octo_dev *octo, const struct octo_rule_spec *spec,
		  struct octo_pf_rule *pf_rule, struct rte_flow_error *error)
{
	const uint32_t below = octo_mpfs_choose_queues(octo) ? OCTO_MPFS_PRIORITIES : 0;

	pf_rule->is_built = spec->app_spec == NULL;
	if (spec->app_spec != NULL) {
		pf_rule->rule = *spec->app_spec;
		return octo_app_spec_pfs(octo, spec->app_spec, &pf_rule->pfs, error);
	}
	if (spec->priority > UINT32_MAX - below)
		return octo_flow_refuse(error, EINVAL,
					"with dialect=indirect a priority is 4294967291 at most");
	octo_flow_build_queue(&pf_rule->built, spec->tuple, spec->priority + below,
			      octo_pf_leg(&octo->pf[spec->pf], spec->queue).queue, spec->count);
	pf_rule->rule.attr_ro = &pf_rule->built.attr;
	pf_rule->rule.pattern_ro = pf_rule->built.pattern;
	pf_rule->rule.actions_ro = pf_rule->built.actions;
	pf_rule->pfs = UINT32_MAX;
	return 0;
}

struct octo_rule_spec
octo_fanout_spec_of(const struct octo_dev *octo, const struct rte_flow *rule)
{
	const bool learned = rule->origin == OCTO_BY_LEARNING;

	return (struct octo_rule_spec){
		.tuple = &rule->tuple,
		.app_spec = rule->generic ? rule->ext->app_spec.rule : NULL,
		.priority = learned ? octo->learned_priority : rule->priority,
		.queue = rule->queue,
		.pf = leg_of(octo, rule),
		.count = rule->count || octo->count_rules,
	};
}

/* The rule's actions with the handles and queues of this port. */
const struct rte_flow_action *
octo_fanout_actions_on(const struct octo_dev *octo, uint8_t port,
		       const struct octo_pf_rule *pf_rule, struct octo_indirect_own *own)
{
	return pf_rule->is_built ? pf_rule->rule.actions_ro :
				   octo_indirect_on_pf(octo, pf_rule->rule.actions_ro, port, own);
}

/*
 * Does the rule have an indirect action that the PF lacks? One that joins, or is given back, may.
 * Then rte_errno is ENODEV.
 */
bool
octo_fanout_lacks_action(const struct octo_pf_rule *pf_rule, uint8_t port,
			 struct rte_flow_error *error)
{
	return !pf_rule->is_built && !octo_indirect_has(pf_rule->rule.actions_ro, port) &&
	       octo_flow_refuse(error, ENODEV, "it lacks an indirect action of the rule") != 0;
}

/* Create the rule on one port, so many priorities below its own. h is NULL on failure. */
struct octo_handle
octo_fanout_create_on(const struct octo_dev *octo, uint8_t port, const struct octo_pf_rule *pf_rule,
		      uint32_t step, struct rte_flow_error *error)
{
	const struct octo_port *p = &octo->port[port];
	struct rte_flow_attr attr = *pf_rule->rule.attr_ro;
	/* read before the PMD's call: the port may be lost inside it */
	const uint32_t life = p->fsm.life;
	const struct rte_flow_action *actions;
	struct octo_indirect_own own;
	struct rte_flow *on;

	attr.priority += step;
	if (octo_fanout_lacks_action(pf_rule, port, error))
		return octo_handle_make(NULL, life);
	actions = octo_fanout_actions_on(octo, port, pf_rule, &own);
	on = octo_port_nic(p)->create(p, &attr, pf_rule->rule.pattern_ro, actions, error);
	return octo_handle_make(on, life);
}

/* Insert the rule on those of these ports that lack it. After an error some may have it. */
static int
insert_on(struct octo_dev *octo, struct rte_flow *rule, uint32_t ports,
	  struct rte_flow_error *error)
{
	const struct octo_rule_spec spec = octo_fanout_spec_of(octo, rule);
	struct octo_pf_rule pf_rule;
	int ret = octo_fanout_write(octo, &spec, &pf_rule, error);
	int port;

	octo_assert_locked(octo);
	OCTO_FOREACH_PORT(octo, port, OCTO_PORT_RUNNING) {
		if (ret != 0)
			break;
		if ((pf_rule.pfs & ports & RTE_BIT32(port)) == 0 ||
		    octo_rule_on(octo, rule, port) != NULL ||
		    octo_fanout_goes_by_flow_queue(octo, rule, (uint8_t)port))
			continue;
		rule->arfs[port] = octo_fanout_create_on(octo, (uint8_t)port, &pf_rule, 0, error);
		/* the only rule of a flow is tried again when its queue is rehomed */
		if (rule->arfs[port].h == NULL &&
		    (octo_rule_is_sole(octo, rule) ||
		     !octo_port_excuse_locked(octo, port, -rte_errno)))
			ret = octo_flow_blame(&octo->port[port], -rte_errno, error);
	}
	return ret;
}

/*
 * Insert the rule on the PFs that lack it, usually all. After an error some PFs may have it:
 * the caller removes it.
 */
int
octo_fanout_insert_locked(struct octo_dev *octo, struct rte_flow *rule,
			  struct rte_flow_error *error)
{
	return insert_on(octo, rule, UINT32_MAX, error);
}

/* Check what only the agent, and no PF, can tell. */
int
octo_fanout_check_agent(const struct octo_dev *octo, bool count, struct rte_flow_error *error)
{
	if (!octo_tier_has_mpfs(octo->tier))
		return octo_flow_fail(error, ENOTSUP,
				      "the PFs refuse 5-tuple rules, and no agent that chooses "
				      "queues was there yet");
	if (count && !octo->count_rules)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, NULL,
					  "neither the PFs nor the agent can count");
	return 0;
}

/* The PFs among these that are asked: those that may lack rules only if there are no others. */
static uint32_t
asked(const struct octo_dev *octo, uint32_t pfs)
{
	uint32_t mask = 0;
	int port;

	OCTO_FOREACH_PORT(octo, port, OCTO_PORT_READY)
		if (!octo_port_may_lack_rules(octo, (uint8_t)port))
			mask |= pfs & RTE_BIT32(port);
	return mask != 0 ? mask : pfs;
}

/*
 * Would the PFs accept the rule? While the port is stopped the agent's answer is unknown, so
 * the rule is accepted.
 */
int
octo_fanout_validate_locked(const struct octo_dev *octo, const struct octo_rule_spec *spec,
			    struct rte_flow_error *error)
{
	const struct rte_flow_action *actions;
	struct octo_indirect_own own;
	struct octo_pf_rule pf_rule;
	int ret = 0;
	int port;

	if (spec->app_spec == NULL && octo->agent != NULL && !octo->started)
		return 0;
	if (spec->app_spec == NULL && octo->agent_queues)
		return octo_fanout_check_agent(octo, spec->count, error);
	ret = octo_fanout_write(octo, spec, &pf_rule, error);
	if (ret == 0 && pf_rule.pfs == 0)
		ret = rte_flow_error_set(error, ENODEV, RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER, NULL,
					 "the PF that the rule names is gone, or the transfer "
					 "proxy of the switch");
	pf_rule.pfs = asked(octo, pf_rule.pfs);
	OCTO_FOREACH_PORT(octo, port, OCTO_PORT_READY) {
		const struct octo_port *p = &octo->port[port];

		if (ret != 0)
			break;
		if ((pf_rule.pfs & RTE_BIT32(port)) == 0)
			continue;
		if (octo_fanout_lacks_action(&pf_rule, (uint8_t)port, error)) {
			ret = octo_flow_blame(p, -ENODEV, error);
			break;
		}
		actions = octo_fanout_actions_on(octo, (uint8_t)port, &pf_rule, &own);
		ret = octo_port_nic(p)->validate(p, pf_rule.rule.attr_ro, pf_rule.rule.pattern_ro,
						 actions, error);
		if (ret != 0)
			ret = octo_flow_blame(p, ret, error);
	}
	return ret;
}

/* Is a rule of its kind installed on PFs? */
static bool
is_on_pfs(const struct octo_dev *octo, const struct rte_flow *rule)
{
	return (!octo->agent_queues || rule->generic) && rule->origin != OCTO_BY_LEARNING &&
	       !rule->pending && !rule->rejected;
}

/*
 * The ports that lack the rule and are to have it; 0 for transfer rules, which are on one port. A
 * port that takes no two rules of a pattern may have refused both the new rule and that of before,
 * which was removed.
 */
uint32_t
octo_fanout_lacking(const struct octo_dev *octo, const struct rte_flow *rule)
{
	uint32_t ports = 0;
	int port;

	if (octo->sliced || octo_fanout_is_transfer(rule) || !is_on_pfs(octo, rule))
		return 0;
	OCTO_FOREACH_PORT(octo, port, OCTO_PORT_RUNNING)
		if (octo_rule_on(octo, rule, port) == NULL &&
		    !octo_port_may_lack_rules(octo, (uint8_t)port) &&
		    !octo_fanout_goes_by_flow_queue(octo, rule, (uint8_t)port))
			ports |= RTE_BIT32(port);
	return ports;
}

/* Insert the rule on those of these ports that lack it, if its kind is installed on PFs at all. */
int
octo_fanout_join_locked(struct octo_dev *octo, struct rte_flow *rule, uint32_t ports,
			struct rte_flow_error *error)
{
	if (octo_rule_is_sole(octo, rule))
		return octo_rule_on(octo, rule, 0) != NULL ?
			       0 :
			       octo->mpfs_ops->insert(octo, rule,
						      octo_topo_home_of(octo, rule->queue), error);
	if (!is_on_pfs(octo, rule))
		return 0;
	return insert_on(octo, rule, ports, error);
}

bool
octo_fanout_is_transfer(const struct rte_flow *rule)
{
	return rule->generic && rule->ext->app_spec.rule->attr->transfer;
}

/*
 * A lead to this PF that is about to be created: the lives are those from before, as the ports may
 * be lost while the rule is created.
 */
struct octo_lead
octo_fanout_lead(const struct octo_dev *octo, uint8_t pf)
{
	const uint8_t proxy = octo->proxy;

	return (struct octo_lead){
		.mpfs.life = proxy == OCTO_NO_PF ? OCTO_LIFE_NONE : octo->port[proxy].fsm.life,
		.pf_life = octo->pf[pf].port->fsm.life,
		.pf = pf,
		.proxy = proxy,
		.dialect = octo->dialects.now,
	};
}

/*
 * Make the flow come by this PF. The caller keeps the order, see octo_fence.h. Returns 0, or the
 * negative errno of the switch: the flow comes as before then, or is led by nothing.
 */
int
octo_fanout_lead_to_locked(struct octo_dev *octo, struct rte_flow *rule, uint8_t pf)
{
	const struct octo_mpfs_ops *ops = octo->mpfs_ops;

	octo_assert_locked(octo);
	if (ops->lead != NULL)
		return ops->lead(octo, rule, pf, NULL);
	return octo_rule_pf(octo, rule) == OCTO_NO_PF ? ops->insert(octo, rule, pf, NULL) :
							ops->flip(octo, rule, pf, NULL);
}

void
octo_fanout_unlead(struct rte_flow *rule)
{
	rule->lead = (struct octo_lead){.pf = OCTO_NO_PF, .proxy = OCTO_NO_PF};
}

/* Of slices: the port has lost the rule, which octo_sync.c installs again. */
void
octo_fanout_lose(struct octo_dev *octo, struct rte_flow *rule)
{
	octo_fanout_unlead(rule);
	octo_rule_ext_moved(octo, rule);
	/* a rule of several flows is not among those of a queue, but of all that name some */
	if (!octo_rule_has_tuple(rule))
		octo->sync.queue[rule->queue].divided = true;
	octo_rule_store_mark_queue_locked(octo, rule->queue);
}

/* Free a rule that is on no list. */
void
octo_fanout_end_locked(struct octo_dev *octo, struct rte_flow *rule)
{
	octo_fanout_remove_locked(octo, rule, NULL);
	octo_rule_store_free(octo, rule);
}
