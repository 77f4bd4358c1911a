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

	OCTO_SPEC_FOREACH(action, actions)
		if (handle_of(action) != NULL)
			return true;
	return false;
}

/* A queue of slices is another one of the port, and an indirect action another one on each PF. */
static bool
must_translate(const struct octo_dev *octo, const struct rte_flow_action actions[])
{
	return octo_indirect_is_in(actions) ||
	       (octo->sliced && octo_app_spec_choose_queue(actions));
}

/* A port of slices has queues that nothing polls: RSS over all of its queues would lose packets. */
static int
check_queues(const struct octo_dev *octo, const struct rte_flow_action actions[],
	     struct rte_flow_error *error)
{
	const int highest = octo_app_spec_max_queue(actions, false);
	const struct rte_flow_action *action;

	OCTO_SPEC_FOREACH(action, actions) {
		const struct rte_flow_action_rss *rss = action->conf;

		if (action->type != RTE_FLOW_ACTION_TYPE_RSS)
			continue;
		if (rss == NULL || rss->queue_num == 0 || rss->queue_num > RTE_MAX_QUEUES_PER_PORT)
			return octo_flow_refuse(error, ENOTSUP,
						"PFs are slices of one port: rss names its queues, "
						"and not more than a port can have");
	}
	return highest < 0 ? 0 : octo_flow_error_check_queue(octo, (uint16_t)highest, error);
}

/* Checks whether a rule may have these actions. */
int
octo_indirect_check(const struct octo_dev *octo, const struct rte_flow_action actions[],
		    struct rte_flow_error *error)
{
	const struct rte_flow_action *action;
	bool foreign = false;
	unsigned int nb = 1; /* ends included */
	unsigned int nb_rss = 0;
	int ret = octo_app_spec_check_samples(actions, error);

	if (ret != 0)
		return ret;
	if (!must_translate(octo, actions))
		return 0;
	OCTO_SPEC_FOREACH(action, actions) {
		foreign |= handle_of(action) != NULL && handle_of(action)->octo != octo;
		nb += octo_spec_nested(action) != NULL ? 2 : 1;
		nb_rss += action->type == RTE_FLOW_ACTION_TYPE_RSS;
	}
	if (foreign)
		return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF, actions,
					  "an indirect action is not of this port");
	if (!octo->started && octo_indirect_is_in(actions))
		return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, NULL,
					  "the port is stopped: start it before a rule gets an "
					  "indirect action");
	if (nb > OCTO_TEMPLATE_MAX)
		return rte_flow_error_set(error, E2BIG, RTE_FLOW_ERROR_TYPE_ACTION_NUM, NULL,
					  "a rule with an indirect action, or of queues of "
					  "slices, has 31 actions at most, those in samples "
					  "and their ends included");
	if (octo->sliced && nb_rss > 1)
		return octo_flow_refuse(error, ENOTSUP,
					"PFs are slices of one port: a rule has one action rss");
	return octo->sliced ? check_queues(octo, actions, error) : 0;
}

static void
change_users(const struct rte_flow_action actions[], int change)
{
	const struct rte_flow_action *action;

	OCTO_SPEC_FOREACH(action, actions)
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

/* Has the PF all indirect actions among these? */
bool
octo_indirect_has(const struct rte_flow_action actions[], uint8_t port)
{
	const struct rte_flow_action *action;

	OCTO_SPEC_FOREACH(action, actions)
		if (handle_of(action) != NULL &&
		    octo_indirect_handle_on(handle_of(action), port) == NULL)
			return false;
	return true;
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

/* Actions to be translated, and for which PF. */
struct translation {
	const struct octo_dev *octo;
	struct octo_indirect_own *own;
	uint8_t port;
};

static const struct rte_flow_action *
translate(const struct translation *t, const struct rte_flow_action actions[]);

/* A copy of the sample with this PF's handles. */
static const struct rte_flow_action_sample *
translate_sample(const struct translation *t, const struct rte_flow_action_sample *sample)
{
	struct rte_flow_action_sample *copy = &t->own->samples[t->own->nb_samples++];

	copy->ratio = sample->ratio;
	copy->actions = translate(t, sample->actions);
	return copy;
}

/* The queue of the port that stands for one of the octo port. */
static uint16_t
leg_of(const struct octo_dev *octo, uint16_t queue)
{
	return octo_pf_leg(&octo->pf[octo->leg_pf[queue]], queue).queue;
}

static const struct rte_flow_action_queue *
translate_queue(const struct translation *t, const struct rte_flow_action_queue *queue)
{
	struct rte_flow_action_queue *copy = &t->own->queues[t->own->nb_queues++];

	copy->index = leg_of(t->octo, queue->index);
	return copy;
}

static const struct rte_flow_action_rss *
translate_rss(const struct translation *t, const struct rte_flow_action_rss *rss)
{
	struct octo_indirect_own *own = t->own;

	own->rss = *rss;
	own->rss.queue = own->rss_queues;
	for (uint32_t i = 0; i < rss->queue_num; i++)
		own->rss_queues[i] = leg_of(t->octo, rss->queue[i]);
	return &own->rss;
}

static const void *
translate_conf(const struct translation *t, const struct rte_flow_action *action)
{
	const struct rte_flow_action_handle *handle = handle_of(action);

	if (handle != NULL)
		return octo_indirect_handle_on(handle, t->port);
	if (octo_spec_nested(action) != NULL)
		return translate_sample(t, action->conf);
	if (t->octo->sliced && action->conf != NULL && action->type == RTE_FLOW_ACTION_TYPE_QUEUE)
		return translate_queue(t, action->conf);
	if (t->octo->sliced && action->conf != NULL && action->type == RTE_FLOW_ACTION_TYPE_RSS)
		return translate_rss(t, action->conf);
	return action->conf;
}

static const struct rte_flow_action *
translate(const struct translation *t, const struct rte_flow_action actions[])
{
	struct rte_flow_action *out = &t->own->actions[t->own->nb_actions];
	unsigned int nb = 1;

	if (!must_translate(t->octo, actions))
		return actions;
	while (actions[nb - 1].type != RTE_FLOW_ACTION_TYPE_END)
		nb++;
	t->own->nb_actions += nb;
	for (unsigned int i = 0; i < nb; i++) {
		out[i] = actions[i];
		out[i].conf = translate_conf(t, &actions[i]);
	}
	return out;
}

static void
begin(struct octo_indirect_own *own)
{
	own->nb_actions = 0;
	own->nb_samples = 0;
	own->nb_queues = 0;
}

/* The actions with this PF's handles and legs; octo_indirect_check() has ensured that they fit. */
const struct rte_flow_action *
octo_indirect_on_pf(const struct octo_dev *octo, const struct rte_flow_action actions[],
		    uint8_t port, struct octo_indirect_own *own)
{
	const struct translation t = {.octo = octo, .own = own, .port = port};

	begin(own);
	return translate(&t, actions);
}

/* The same of one action, which is not indirect itself. */
const struct rte_flow_action *
octo_indirect_one_on_pf(const struct octo_dev *octo, const struct rte_flow_action *action,
			struct octo_indirect_own *own)
{
	const struct translation t = {.octo = octo, .own = own};

	begin(own);
	own->actions[0] = *action;
	own->nb_actions = 1;
	own->actions[0].conf = translate_conf(&t, action);
	return own->actions;
}
