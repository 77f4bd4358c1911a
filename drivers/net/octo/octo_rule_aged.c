/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A flow is aged when all PFs report it so, as it may arrive by any of them. PFs report at
 * different times, and some report an aged rule only once. So reports are kept, and the PFs
 * are queried again before the application is told.
 */

#include <errno.h>
#include <stdlib.h>

#include "octo_private.h"

struct search {
	struct rte_flow **rules; /* with an AGE action, sorted by address */
	uint32_t nb_rules;
};

static int
refuse_memory(struct rte_flow_error *error)
{
	return octo_flow_fail(error, ENOMEM, "no memory for the aged flows");
}

static int
compare_rules(const void *a, const void *b)
{
	struct rte_flow *const *x = a;
	struct rte_flow *const *y = b;

	return (uintptr_t)*x < (uintptr_t)*y ? -1 : (uintptr_t)*x > (uintptr_t)*y;
}

/*
 * Collect the port's rules with AGE: a context that is not among them is an indirect
 * action's.
 */
static int
list_rules(const struct octo_dev *octo, struct search *s)
{
	const struct octo_rule_ext *ext;
	uint32_t nb = 0;

	TAILQ_FOREACH(ext, &octo->rule_exts, next)
		nb += ext->app_spec.ages;
	if (nb == 0)
		return 0;
	s->rules = calloc(nb, sizeof(struct rte_flow *));
	if (s->rules == NULL)
		return -ENOMEM;
	TAILQ_FOREACH(ext, &octo->rule_exts, next)
		if (ext->app_spec.ages)
			s->rules[s->nb_rules++] = ext->rule;
	qsort(s->rules, nb, sizeof(struct rte_flow *), compare_rules);
	return 0;
}

static const struct rte_flow_action_age *
age_of(const struct rte_flow_action_handle *handle)
{
	return handle->action->type == RTE_FLOW_ACTION_TYPE_AGE ? handle->action->conf : NULL;
}

/*
 * Record an aged context that is not a rule: an indirect action's, or one that was
 * destroyed. Several actions may have the same context; each is queried before it is
 * reported.
 */
static void
keep_indirect(struct octo_dev *octo, const void *context, uint8_t pf)
{
	struct rte_flow_action_handle *handle;

	TAILQ_FOREACH(handle, &octo->indirects, next) {
		if (age_of(handle) == NULL || age_of(handle)->context != context)
			continue;
		handle->aged_on |= RTE_BIT32(pf);
		handle->aged_reported = false;
	}
}

static void
keep_named(struct octo_dev *octo, const struct search *s, void *const *contexts, int nb, uint8_t pf)
{
	for (int i = 0; i < nb; i++) {
		struct rte_flow **found = NULL;

		if (s->nb_rules > 0)
			found = bsearch(&contexts[i], s->rules, s->nb_rules,
					sizeof(struct rte_flow *), compare_rules);
		if (found == NULL) {
			keep_indirect(octo, contexts[i], pf);
			continue;
		}
		(*found)->ext->app_spec.aged_on |= RTE_BIT32(pf);
		(*found)->ext->app_spec.aged_reported = false;
	}
}

/* Flows that age between the two calls are reported the next time. */
static int
ask_pf(struct octo_dev *octo, uint8_t pf, const struct search *s, struct rte_flow_error *error)
{
	const struct octo_port *port = &octo->port[pf];
	int nb = rte_flow_get_aged_flows(octo_port_usable_id(port), NULL, 0, error);
	void **contexts;
	int ret = 0;

	/* the port may have been lost in the call, and its rules with it */
	if (nb == 0 || !octo_port_is(port, OCTO_PORT_RUNNING))
		return 0;
	if (nb < 0)
		return octo_flow_blame(port, nb, error);
	contexts = calloc((size_t)nb, sizeof(*contexts));
	if (contexts == NULL)
		return refuse_memory(error);
	nb = rte_flow_get_aged_flows(octo_port_usable_id(port), contexts, (uint32_t)nb, error);
	if (nb < 0)
		ret = octo_flow_blame(port, nb, error);
	else
		keep_named(octo, s, contexts, nb, pf);
	free(contexts);
	return ret;
}

/* PFs announce a flow once: if the loss of a PF holds that back, it is announced later. */
static bool
may_be_hit(struct octo_dev *octo, const struct rte_flow_action *action)
{
	const struct rte_flow_action_age *conf = action == NULL ? NULL : action->conf;
	struct octo_failover *f = &octo->failover;
	struct rte_flow_query_age age = {.aged = 1};
	uint64_t due;

	/* if a PF that has not reported it is lost: octo_topo.c */
	if (conf != NULL && (f->age_timeout == 0 || conf->timeout < f->age_timeout))
		f->age_timeout = conf->timeout;
	octo_rule_hits_merge_lost(octo, action, &age);
	if (age.aged)
		return false;
	/* the application asks then, and flows that are held back for longer are due again */
	due = f->lost_at + conf->timeout * rte_get_timer_hz();
	f->age_due = f->age_due == 0 ? due : RTE_MIN(f->age_due, due);
	return true;
}

/*
 * Raise the event that a loss has held back. If the flows have had packets since, the application
 * gets none of them when it asks.
 */
void
octo_rule_aged_tick_locked(struct octo_dev *octo, uint64_t now)
{
	if (octo->failover.age_due == 0 || now < octo->failover.age_due)
		return;
	octo->failover.age_due = 0;
	octo_raise(octo, RTE_ETH_EVENT_FLOW_AGED);
}

/* The flow may have been hit since the report. If a PF cannot be queried, its report counts. */
static bool
is_aged(struct octo_dev *octo, const struct octo_handle on[], bool is_rule,
	const struct rte_flow_action *age, uint32_t *aged_on)
{
	static const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_AGE},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	int pf;

	if (*aged_on == 0 || may_be_hit(octo, age))
		return false;
	OCTO_FOREACH_PORT(octo, pf, OCTO_PORT_RUNNING) {
		void *object = octo_port_object(&octo->port[pf], &on[pf]);
		/* RTE_MAX_ETHPORTS, which has no objects, once it is about to be removed */
		const uint16_t port = octo_port_usable_id(&octo->port[pf]);
		struct rte_flow_query_age one = {0};
		int ret;

		if (object == NULL)
			continue;
		if ((*aged_on & RTE_BIT32(pf)) == 0)
			return false;
		ret = is_rule ? rte_flow_query(port, object, actions, &one, NULL) :
				rte_flow_action_handle_query(port, object, &one, NULL);
		if (ret == 0 && !one.aged) {
			*aged_on &= ~RTE_BIT32(pf);
			return false;
		}
	}
	return *aged_on != 0;
}

static uint32_t
report_rules(struct octo_dev *octo, const struct search *s, void **contexts, uint32_t nb)
{
	uint32_t aged = 0;

	for (uint32_t i = 0; i < s->nb_rules && (nb == 0 || aged < nb); i++) {
		struct octo_app_spec *app_spec = &s->rules[i]->ext->app_spec;
		const struct rte_flow_action *age = octo_indirect_find(app_spec->rule->actions_ro,
								       RTE_FLOW_ACTION_TYPE_AGE);

		if (app_spec->aged_reported ||
		    !is_aged(octo, s->rules[i]->arfs, true, age, &app_spec->aged_on))
			continue;
		if (nb > 0) {
			contexts[aged] = app_spec->age_context;
			app_spec->aged_reported = true;
		}
		aged++;
	}
	return aged;
}

static uint32_t
report_indirect(struct octo_dev *octo, void **contexts, uint32_t nb, uint32_t aged)
{
	struct rte_flow_action_handle *handle;

	TAILQ_FOREACH(handle, &octo->indirects, next) {
		if (nb > 0 && aged == nb)
			break;
		if (age_of(handle) == NULL || handle->aged_reported ||
		    !is_aged(octo, handle->on, false, handle->action, &handle->aged_on))
			continue;
		if (nb > 0) {
			contexts[aged] = age_of(handle)->context;
			handle->aged_reported = true;
		}
		aged++;
	}
	return aged;
}

int
octo_rule_aged_locked(struct octo_dev *octo, void **contexts, uint32_t nb,
		      struct rte_flow_error *error)
{
	struct search s = {0};
	int ret;
	int pf;

	if (nb > 0 && contexts == NULL)
		return octo_flow_fail(error, EINVAL, "there is no room for the contexts");
	ret = list_rules(octo, &s) == 0 ? 0 : refuse_memory(error);
	OCTO_FOREACH_PORT(octo, pf, OCTO_PORT_RUNNING) {
		if (ret != 0)
			break;
		ret = ask_pf(octo, (uint8_t)pf, &s, error);
	}
	if (ret == 0)
		ret = (int)report_indirect(octo, contexts, nb,
					   report_rules(octo, &s, contexts, nb));
	free(s.rules);
	return ret;
}
