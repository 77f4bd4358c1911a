/* SPDX-License-Identifier: BSD-3-Clause */

/* The actions of rules, some of which may be indirect and have another handle on each PF. */

#include <errno.h>

#include "octo_private.h"
#include "octo_spec.h"

/* The handle of an indirect action, else NULL. */
static struct rte_flow_action_handle *
handle_of(const struct rte_flow_action *action)
{
	if (action->type != RTE_FLOW_ACTION_TYPE_INDIRECT)
		return NULL;
	return (void *)(uintptr_t)action->conf;
}

/* Is any of the actions indirect, or one in a sample? */
bool
octo_indirect_is_in(const struct rte_flow_action actions[])
{
	const struct rte_flow_action *action;
	struct octo_spec_walk walk;

	for (action = octo_spec_walk_first(&walk, actions); action != NULL;
	     action = octo_spec_walk_next(&walk))
		if (handle_of(action) != NULL)
			return true;
	return false;
}

/* Checks whether a rule may have these actions. */
int
octo_indirect_check(const struct octo_dev *octo, const struct rte_flow_action actions[],
		    struct rte_flow_error *error)
{
	const struct rte_flow_action *action;
	struct octo_spec_walk walk;
	bool foreign = false;
	unsigned int nb = 1; /* ends included */

	if (!octo_indirect_is_in(actions))
		return 0;
	for (action = octo_spec_walk_first(&walk, actions); action != NULL;
	     action = octo_spec_walk_next(&walk)) {
		foreign |= handle_of(action) != NULL && handle_of(action)->octo != octo;
		nb += octo_spec_nested(action) != NULL ? 2 : 1;
	}
	if (foreign)
		return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF, actions,
					  "an indirect action is not of this port");
	if (!octo->started)
		return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, NULL,
					  "the port is stopped: start it before a rule gets an "
					  "indirect action");
	if (nb > OCTO_TEMPLATE_MAX)
		return rte_flow_error_set(error, E2BIG, RTE_FLOW_ERROR_TYPE_ACTION_NUM, NULL,
					  "a rule with an indirect action has 31 actions at most, "
					  "those in samples and their ends included");
	return 0;
}

static void
change_users(const struct rte_flow_action actions[], int change)
{
	const struct rte_flow_action *action;
	struct octo_spec_walk walk;

	for (action = octo_spec_walk_first(&walk, actions); action != NULL;
	     action = octo_spec_walk_next(&walk))
		if (handle_of(action) != NULL)
			handle_of(action)->users += change;
}

void
octo_indirect_hold(const struct rte_flow_action actions[])
{
	change_users(actions, 1);
}

void
octo_indirect_release(const struct rte_flow_action actions[])
{
	change_users(actions, -1);
}

/* Does the rule apply the handle to its own packets, not only to its samples? */
bool
octo_indirect_is_used(const struct rte_flow_action actions[],
		      const struct rte_flow_action_handle *handle)
{
	for (; actions->type != RTE_FLOW_ACTION_TYPE_END; actions++)
		if (handle_of(actions) == handle)
			return true;
	return false;
}

/* The first action of a type, direct or behind a handle. */
const struct rte_flow_action *
octo_indirect_find(const struct rte_flow_action actions[], enum rte_flow_action_type type)
{
	for (; actions->type != RTE_FLOW_ACTION_TYPE_END; actions++) {
		const struct rte_flow_action_handle *handle = handle_of(actions);
		const struct rte_flow_action *action = handle == NULL ? actions : handle->action;

		if (action->type == type)
			return action;
	}
	return NULL;
}

/* The first indirect action of a type, NULL if there is none. */
const struct rte_flow_action_handle *
octo_indirect_find_handle(const struct rte_flow_action actions[], enum rte_flow_action_type type)
{
	for (; actions->type != RTE_FLOW_ACTION_TYPE_END; actions++) {
		const struct rte_flow_action_handle *handle = handle_of(actions);

		if (handle != NULL && handle->action->type == type)
			return handle;
	}
	return NULL;
}

static const struct rte_flow_action *
translate(const struct rte_flow_action actions[], uint8_t pf, struct octo_indirect_own *own);

/* A copy of the sample with this PF's handles. */
static const struct rte_flow_action_sample *
translate_sample(const struct rte_flow_action_sample *sample, uint8_t pf,
		 struct octo_indirect_own *own)
{
	struct rte_flow_action_sample *copy = &own->samples[own->nb_samples++];

	copy->ratio = sample->ratio;
	copy->actions = translate(sample->actions, pf, own);
	return copy;
}

static const struct rte_flow_action *
translate(const struct rte_flow_action actions[], uint8_t pf, struct octo_indirect_own *own)
{
	struct rte_flow_action *out = &own->actions[own->nb_actions];
	unsigned int nb = 1;

	if (!octo_indirect_is_in(actions))
		return actions;
	while (actions[nb - 1].type != RTE_FLOW_ACTION_TYPE_END)
		nb++;
	own->nb_actions += nb;
	for (unsigned int i = 0; i < nb; i++) {
		const struct rte_flow_action_handle *handle = handle_of(&actions[i]);

		out[i] = actions[i];
		if (handle != NULL)
			out[i].conf = octo_indirect_handle_on(handle, pf);
		else if (octo_spec_nested(&actions[i]) != NULL)
			out[i].conf = translate_sample(actions[i].conf, pf, own);
	}
	return out;
}

/* The actions with this PF's handles; octo_indirect_check() has ensured that they fit. */
const struct rte_flow_action *
octo_indirect_on_pf(const struct rte_flow_action actions[], uint8_t pf,
		    struct octo_indirect_own *own)
{
	own->nb_actions = 0;
	own->nb_samples = 0;
	return translate(actions, pf, own);
}
