/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Specs as the application gave them to rte_flow: the parts that octo needs in order to
 * pass them to the PFs. All else is left to the PFs.
 */

#include <errno.h>
#include <limits.h>

#include <rte_malloc.h>

#include "octo_private.h"
#include "octo_spec.h"

/* PFs report an aged rule by its context. Put the owner there, as it is unique. */
static void
take_age_context(struct octo_app_spec *app_spec, void *owner)
{
	struct rte_flow_action *action = app_spec->rule->actions;

	for (; action->type != RTE_FLOW_ACTION_TYPE_END; action++) {
		struct rte_flow_action_age *age = (void *)(uintptr_t)action->conf;

		if (action->type != RTE_FLOW_ACTION_TYPE_AGE || age == NULL)
			continue;
		/* without a context, rte_flow reports the rule's handle (rte_flow guide, "AGE") */
		app_spec->age_context = age->context != NULL ? age->context : owner;
		app_spec->ages = true;
		age->context = owner;
	}
}

/*
 * Copy a rule. Returns 0, or a negative errno with *error set. The inverse of
 * octo_app_spec_drop().
 */
int
octo_app_spec_take(struct octo_app_spec *app_spec, const struct rte_flow_conv_rule *rule,
		   void *owner, struct rte_flow_error *error)
{
	const int bytes = octo_spec_copy(RTE_FLOW_CONV_OP_RULE, NULL, 0, rule, error);

	if (bytes < 0)
		return bytes;
	app_spec->rule = rte_malloc("octo_app_spec", (size_t)bytes, 0);
	if (app_spec->rule == NULL)
		return octo_flow_error_memory(error);
	octo_spec_copy(RTE_FLOW_CONV_OP_RULE, app_spec->rule, (size_t)bytes, rule, NULL);
	app_spec->bytes = (uint32_t)bytes;
	take_age_context(app_spec, owner);
	return 0;
}

void
octo_app_spec_drop(struct octo_app_spec *app_spec)
{
	rte_free(app_spec->rule);
	*app_spec = (struct octo_app_spec){0};
}

/* The first action of a type, or NULL. */
const struct rte_flow_action *
octo_app_spec_find(const struct rte_flow_action *actions, enum rte_flow_action_type type)
{
	while (actions->type != RTE_FLOW_ACTION_TYPE_END && actions->type != type)
		actions++;
	return actions->type == type ? actions : NULL;
}

/* The queues that an action names. Returns their number, 0 if there are none. */
static uint32_t
queues_of(const struct rte_flow_action *action, const uint16_t **queues)
{
	const struct rte_flow_action_queue *queue = action->conf;
	const struct rte_flow_action_rss *rss = action->conf;

	if (action->conf == NULL)
		return 0;
	if (action->type == RTE_FLOW_ACTION_TYPE_QUEUE) {
		*queues = &queue->index;
		return 1;
	}
	if (action->type != RTE_FLOW_ACTION_TYPE_RSS)
		return 0;
	*queues = rss->queue;
	return rss->queue_num;
}

/*
 * The highest queue that the port must have for the actions, those nested in them included; -1 if
 * none. With `cut`, of an rss action only its lowest queue counts: it can go on with that one.
 */
int
octo_app_spec_max_queue(const struct rte_flow_action actions[], bool cut)
{
	const struct rte_flow_action *action;
	const uint16_t *queues = NULL;
	int highest = -1;

	OCTO_SPEC_FOREACH(action, actions) {
		const uint32_t nb = queues_of(action, &queues);
		int queue = nb > 0 ? queues[0] : -1;

		for (uint32_t i = 1; i < nb; i++)
			queue = cut ? RTE_MIN(queue, queues[i]) : RTE_MAX(queue, queues[i]);
		highest = RTE_MAX(highest, queue);
	}
	return highest;
}

/* Take the queues that end out of the rule's rss actions. Returns whether there were any. */
bool
octo_app_spec_cut_rss(struct octo_app_spec *app_spec, uint16_t nb_queues)
{
	const struct rte_flow_action *action;
	bool is_cut = false;

	OCTO_SPEC_FOREACH(action, app_spec->rule->actions_ro) {
		struct rte_flow_action_rss *rss = (void *)(uintptr_t)action->conf;
		uint16_t *queues;
		uint32_t nb = 0;

		if (action->type != RTE_FLOW_ACTION_TYPE_RSS || rss == NULL)
			continue;
		queues = (uint16_t *)(uintptr_t)rss->queue;
		for (uint32_t i = 0; i < rss->queue_num; i++)
			if (queues[i] < nb_queues)
				queues[nb++] = queues[i];
		is_cut |= nb < rss->queue_num;
		rss->queue_num = nb;
	}
	return is_cut;
}

/* Does an action of the list, or one nested in it, name this queue? */
bool
octo_app_spec_names_queue(const struct rte_flow_action actions[], uint16_t queue)
{
	const struct rte_flow_action *action;
	const uint16_t *queues = NULL;

	OCTO_SPEC_FOREACH(action, actions) {
		const uint32_t nb = queues_of(action, &queues);

		for (uint32_t i = 0; i < nb; i++)
			if (queues[i] == queue)
				return true;
	}
	return false;
}

/* Does an action of the list, or one nested in it, choose a queue? */
bool
octo_app_spec_choose_queue(const struct rte_flow_action actions[])
{
	const struct rte_flow_action *action;

	OCTO_SPEC_FOREACH(action, actions)
		if (action->type == RTE_FLOW_ACTION_TYPE_QUEUE ||
		    action->type == RTE_FLOW_ACTION_TYPE_RSS)
			return true;
	return false;
}

/*
 * Refuse AGE among the actions nested in one of the list, as PFs report a rule by the context of
 * the list's own AGE. An indirect AGE is reported by its own context wherever it is.
 */
int
octo_app_spec_check_samples(const struct rte_flow_action actions[], struct rte_flow_error *error)
{
	const struct rte_flow_action *action;
	unsigned int nb = 0;

	OCTO_SPEC_FOREACH(action, actions)
		nb += action->type == RTE_FLOW_ACTION_TYPE_AGE;
	for (; actions->type != RTE_FLOW_ACTION_TYPE_END; actions++)
		nb -= actions->type == RTE_FLOW_ACTION_TYPE_AGE;
	return nb == 0 ? 0 :
			 octo_flow_refuse(error, ENOTSUP,
					  "an age in a sample would not be reported: give it to "
					  "the rule, or make it an indirect action");
}

/* In place of a PF's index: the port is none of the PFs, or it is the octo port. */
#define NO_PF (-1)
#define OCTO_PORT (-2)
/*
 * The PF is gone: the port id is its last one, or OCTO_LOST_PORT(). Not the negative of any errno,
 * as transfer_pf() returns those, too.
 */
#define PF_IS_GONE INT_MIN

static int
index_of(const struct octo_dev *octo, uint32_t port_id)
{
	int found = NO_PF;

	for (int pf = 0; pf < octo->nb_ports; pf++) {
		if (port_id == OCTO_LOST_PORT(pf))
			return PF_IS_GONE;
		if (octo->port[pf].port_id != port_id)
			continue;
		if (octo_port_is(&octo->port[pf], OCTO_PORT_IDLE))
			return pf;
		found = PF_IS_GONE;
	}
	return found;
}

/* The ethdev port id in an item, or -1. */
static int
item_port(const struct rte_flow_item *item)
{
	const struct rte_flow_item_ethdev *ethdev = item->spec;

	if ((item->type != RTE_FLOW_ITEM_TYPE_PORT_REPRESENTOR &&
	     item->type != RTE_FLOW_ITEM_TYPE_REPRESENTED_PORT) ||
	    ethdev == NULL)
		return -1;
	return ethdev->port_id;
}

static int
action_port(const struct rte_flow_action *action)
{
	const struct rte_flow_action_ethdev *ethdev = action->conf;

	if ((action->type != RTE_FLOW_ACTION_TYPE_PORT_REPRESENTOR &&
	     action->type != RTE_FLOW_ACTION_TYPE_REPRESENTED_PORT) ||
	    ethdev == NULL)
		return -1;
	return ethdev->port_id;
}

static void
look_at(const struct octo_dev *octo, int port, int *named)
{
	if (port == octo->port_id)
		*named = OCTO_PORT;
	else if (port >= 0 && *named == NO_PF)
		*named = index_of(octo, (uint32_t)port);
}

/* The first PF that the rule names, else NO_PF, OCTO_PORT or PF_IS_GONE. */
static int
named_pf(const struct octo_dev *octo, const struct rte_flow_conv_rule *rule)
{
	const struct rte_flow_item *item = rule->pattern_ro;
	const struct rte_flow_action *action;
	int named = NO_PF;

	for (; item->type != RTE_FLOW_ITEM_TYPE_END; item++)
		look_at(octo, item_port(item), &named);
	OCTO_SPEC_FOREACH(action, rule->actions_ro)
		look_at(octo, action_port(action), &named);
	return named;
}

/*
 * The transfer proxy PF for the PF that the rule names. Returns its index, PF_IS_GONE, or a
 * negative errno with *error set.
 */
static int
transfer_pf(const struct octo_dev *octo, const struct rte_flow_conv_rule *rule,
	    struct rte_flow_error *error)
{
	const int named = named_pf(octo, rule);
	uint16_t proxy;
	int ret;

	if (named == PF_IS_GONE)
		return named;
	if (named == OCTO_PORT)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER, NULL,
					  "the NIC's switch does not know the octo port: name "
					  "one of its PFs instead");
	if (named == NO_PF)
		/* by this type Open vSwitch knows that other actions may do, and does not warn */
		return octo_flow_refuse(error, ENOTSUP,
					"a transfer rule goes to the PF that it names: add the "
					"item represented_port with the ethdev port of a PF");
	ret = rte_flow_pick_transfer_proxy(octo->port[named].port_id, &proxy, error);
	if (ret != 0)
		return octo_flow_blame(&octo->port[named], ret, error);
	ret = index_of(octo, proxy);
	if (ret == NO_PF)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER, NULL,
					  "the transfer proxy of the PF's switch is not a PF of "
					  "this port: make the rule there");
	return ret;
}

/*
 * Set the mask of PFs that get the rule: all, or for a transfer rule the transfer proxy PF,
 * or none while that PF or the named one is gone.
 */
int
octo_app_spec_pfs(const struct octo_dev *octo, const struct rte_flow_conv_rule *rule, uint32_t *pfs,
		  struct rte_flow_error *error)
{
	int port;

	*pfs = UINT32_MAX;
	if (!rule->attr_ro->transfer)
		return 0;
	port = transfer_pf(octo, rule, error);
	if (port < 0 && port != PF_IS_GONE)
		return port;
	*pfs = port == PF_IS_GONE ? 0 : RTE_BIT32(port);
	return 0;
}

/* Replace port id `from` by `to` in the rule. Returns whether it occurred. */
bool
octo_app_spec_renumber(struct octo_app_spec *app_spec, uint16_t from, uint16_t to)
{
	const struct rte_flow_item *item = app_spec->rule->pattern_ro;
	const struct rte_flow_action *action;
	bool changed = false;

	OCTO_SPEC_FOREACH(action, app_spec->rule->actions_ro) {
		if (action_port(action) != from)
			continue;
		((struct rte_flow_action_ethdev *)(uintptr_t)action->conf)->port_id = to;
		changed = true;
	}
	for (; item->type != RTE_FLOW_ITEM_TYPE_END; item++) {
		if (item_port(item) != from)
			continue;
		((struct rte_flow_item_ethdev *)(uintptr_t)item->spec)->port_id = to;
		changed = true;
	}
	return changed;
}
