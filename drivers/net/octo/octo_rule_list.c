/* SPDX-License-Identifier: BSD-3-Clause */

/* Operations on all rules at start, stop and configuration, and the ports that rules name. */

#include <errno.h>

#include <rte_tailq.h>

#include "octo_clock.h"
#include "octo_private.h"

/* Is the rule sent to the agent only when that connects? */
static bool
waits_for_agent(const struct octo_dev *octo, const struct rte_flow *rule)
{
	return octo->agent_queues && !rule->generic && !octo_tier_has_mpfs(octo->tier);
}

static int
install(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	int ret;

	if (waits_for_agent(octo, rule) || rule->rejected)
		return 0;
	ret = octo_rule_install_locked(octo, rule, error);
	/*
	 * octo_sync.c sends it: an agent that is slow has no room for more messages, or that of a
	 * netdev is away
	 */
	if ((ret == -EAGAIN && octo->agent_queues && !rule->generic) ||
	    (ret == -ENOTCONN && octo_rule_is_sole(octo, rule))) {
		octo_rule_store_mark_queue_locked(octo, rule->queue);
		return 0;
	}
	return ret;
}

/*
 * Those of commands, or the application's; commands' come last: they have the room that the others
 * leave. The application cannot destroy one that a PF refuses, so it is removed.
 */
static int
install_all(struct octo_dev *octo, struct octo_rules *rules, bool commands)
{
	struct rte_flow *rule, *next;

	RTE_TAILQ_FOREACH_SAFE(rule, rules, next, next) {
		struct rte_flow_error error = {.message = NULL};
		char text[OCTO_RULE_TEXT_MAX];
		const bool by_command = rule->origin == OCTO_BY_COMMAND;
		int ret = 0;

		if (by_command == commands)
			ret = install(octo, rule, &error);
		if (ret == 0)
			continue;
		if (error.message == NULL)
			error.message = rte_strerror(-ret);
		octo_rule_dump_format(rule, text);
		if (!commands) {
			OCTO_LOG(ERR,
				 "port %u: cannot start with this rule, destroy it first: %s: %s",
				 octo->port_id, text, error.message);
			return ret;
		}
		OCTO_LOG(WARNING, "port %u: a flow is not steered any more: %s: %s", octo->port_id,
			 text, error.message);
		octo_rule_remove_locked(octo, rule, NULL);
	}
	return 0;
}

/*
 * Rules refer to PFs that are back by their port ids again. A rule that is on the switch
 * has the old port id: withdraw it, to be inserted again.
 */
void
octo_rule_list_name_again_locked(struct octo_dev *octo)
{
	struct rte_flow *rule;
	int port;

	TAILQ_FOREACH(rule, &octo->others, next) {
		bool changed = false;

		if (!octo_fanout_is_transfer(rule))
			continue;
		OCTO_FOREACH_PORT(octo, port, OCTO_PORT_IDLE)
			changed |= octo_app_spec_renumber(&rule->ext->app_spec,
							  OCTO_LOST_PORT(port),
							  octo->port[port].port_id);
		if (changed && !rule->by_table)
			octo_rule_withdraw_locked(octo, rule);
	}
}

/* At port start: insert all rules of the application on the PFs, or none. */
int
octo_rule_list_install_locked(struct octo_dev *octo)
{
	int ret;

	octo_rule_list_name_again_locked(octo);
	ret = install_all(octo, &octo->rules, false);
	if (ret == 0)
		ret = install_all(octo, &octo->others, false);
	if (ret == 0)
		install_all(octo, &octo->rules, true);
	else
		octo_rule_list_withdraw_locked(octo);
	return ret;
}

/* Remove all learned rules: their flows are learned again. */
void
octo_rule_list_drop_learned_locked(struct octo_dev *octo)
{
	struct rte_flow *rule, *next;

	RTE_TAILQ_FOREACH_SAFE(rule, &octo->rules, next, next) {
		if (rule->origin == OCTO_BY_LEARNING)
			octo_rule_remove_locked(octo, rule, NULL);
	}
}

/* At port stop: withdraw all rules, and remove learned ones, which are learned again. */
void
octo_rule_list_withdraw_locked(struct octo_dev *octo)
{
	struct rte_flow *rule;

	octo_rule_linger_end_locked(octo);
	octo_rule_list_drop_learned_locked(octo);
	TAILQ_FOREACH(rule, &octo->rules, next)
		octo_rule_withdraw_locked(octo, rule);
	TAILQ_FOREACH(rule, &octo->others, next)
		octo_rule_withdraw_locked(octo, rule);
}

/*
 * The highest queue that the rule must have, -1 if it needs none. A PF may keep a rule of a table,
 * with all of its queues, while the port is stopped.
 */
static int
queue_of(const struct rte_flow *rule)
{
	const int queue = octo_rule_has_tuple(rule) ? rule->queue : -1;
	const struct rte_flow_action *actions;

	if (!rule->generic)
		return queue;
	actions = rule->ext->app_spec.rule->actions_ro;
	return RTE_MAX(queue, octo_app_spec_max_queue(actions, !rule->by_table));
}

static unsigned int
cut_rss(const struct octo_rules *rules, uint16_t nb_queues)
{
	unsigned int nb = 0;
	struct rte_flow *rule;

	TAILQ_FOREACH(rule, rules, next)
		if (rule->generic)
			nb += octo_app_spec_cut_rss(&rule->ext->app_spec, nb_queues);
	return nb;
}

/* Rules spread packets over the queues that stay; octo_rule_list_fit_locked() has found some. */
void
octo_rule_list_cut_rss_locked(struct octo_dev *octo)
{
	const uint16_t nb_queues = octo_data(octo)->nb_rx_queues;
	const unsigned int nb = cut_rss(&octo->rules, nb_queues) +
				cut_rss(&octo->others, nb_queues);

	if (nb > 0)
		OCTO_LOG(NOTICE,
			 "port %u: %u rules with rss have lost queues: there are %u queues now",
			 octo->port_id, nb, nb_queues);
}

/*
 * Remove steering commands' rules to queues that end: the application does not know of
 * these rules, so they must not make its configuration fail.
 */
void
octo_rule_list_drop_commands_locked(struct octo_dev *octo)
{
	const uint16_t nb_queues = octo_data(octo)->nb_rx_queues;
	struct rte_flow *rule, *next;
	unsigned int dropped = 0;

	RTE_TAILQ_FOREACH_SAFE(rule, &octo->rules, next, next) {
		if (rule->origin != OCTO_BY_COMMAND || rule->queue < nb_queues)
			continue;
		octo_rule_remove_locked(octo, rule, NULL);
		dropped++;
	}
	if (dropped > 0)
		OCTO_LOG(NOTICE,
			 "port %u: %u flows are not steered any more: there are %u queues now",
			 octo->port_id, dropped, nb_queues);
}

static int
check_queues(const struct octo_dev *octo, const struct octo_rules *rules, uint16_t nb_queues)
{
	char text[OCTO_RULE_TEXT_MAX];
	const struct rte_flow *rule;

	TAILQ_FOREACH(rule, rules, next) {
		if (rule->origin == OCTO_BY_COMMAND || queue_of(rule) < nb_queues)
			continue;
		OCTO_LOG(ERR,
			 "port %u: a rule leads to queue %d, destroy it before there are %u: %s",
			 octo->port_id, queue_of(rule), nb_queues,
			 octo_rule_dump_format(rule, text));
		return -EBUSY;
	}
	return 0;
}

/* Can the port have this number of Rx queues, given the rules that it keeps? */
int
octo_rule_list_fit_locked(const struct octo_dev *octo, uint16_t nb_queues)
{
	const int ret = check_queues(octo, &octo->rules, nb_queues);

	return ret != 0 ? ret : check_queues(octo, &octo->others, nb_queues);
}

static int
flush(struct octo_dev *octo, struct octo_rules *rules, struct rte_flow_error *error)
{
	struct rte_flow *rule;
	unsigned int nb_kept = 0;
	int first_error = 0;

	while ((rule = TAILQ_FIRST(rules)) != NULL) {
		int ret = octo_rule_remove_locked(octo, rule, first_error == 0 ? error : NULL);

		nb_kept += ret != 0;
		if (first_error == 0)
			first_error = ret;
	}
	/* their handles are void, also if a PF or the switch has refused */
	if (nb_kept > 0)
		OCTO_LOG(WARNING,
			 "port %u: %u rules stay, on a PF that refused to destroy them, "
			 "until it is closed: %s",
			 octo->port_id, nb_kept, rte_strerror(-first_error));
	return first_error;
}

int
octo_rule_list_flush_locked(struct octo_dev *octo, struct rte_flow_error *error)
{
	int steered;
	int others;

	octo_rule_linger_end_locked(octo);
	steered = flush(octo, &octo->rules, error);
	others = flush(octo, &octo->others, steered == 0 ? error : NULL);
	return steered != 0 ? steered : others;
}

/*
 * The port id of a PF that is gone may soon be another port's. Transfer rules refer to
 * OCTO_LOST_PORT(pf) instead until the PF is back.
 */
void
octo_rule_list_name_lost_locked(struct octo_dev *octo, uint8_t port)
{
	struct rte_flow *rule;

	TAILQ_FOREACH(rule, &octo->others, next)
		if (octo_fanout_is_transfer(rule))
			octo_app_spec_renumber(&rule->ext->app_spec, octo->port[port].port_id,
					       OCTO_LOST_PORT(port));
}

/*
 * Of slices: write a rule of several flows again, as another leg stands for a queue that it names.
 * If there is no room for both rules, the old one is removed first, and for a moment the flows are
 * led as without it. A rule that the port refuses is on it as it was, or is not: then it is tried
 * again.
 */
int
octo_rule_list_write_locked(struct octo_dev *octo, struct rte_flow *rule)
{
	const struct octo_rule_spec spec = octo_fanout_spec_of(octo, rule);
	struct octo_pf_rule now;
	struct octo_hits hits;
	int ret;

	if (octo_rule_on(octo, rule, 0) == NULL)
		return octo_fanout_insert_locked(octo, rule, NULL);
	ret = octo_fanout_write(octo, &spec, &now, NULL);
	if (ret == 0)
		ret = octo_replace_on_pf(octo, 0, rule, &now, &now, NULL);
	if ((ret != -EEXIST && !octo_rule_says_full(ret)) || octo_rule_on(octo, rule, 0) == NULL)
		return ret;
	hits = octo_rule_hits_keep_pf_locked(octo, rule, 0);
	if (octo_fanout_remove_from_locked(octo, rule, 0, NULL) != 0)
		return ret;
	ret = octo_fanout_insert_locked(octo, rule, NULL);
	if (ret != 0)
		octo_fanout_lose(octo, rule);
	octo_rule_hits_resume_locked(octo, rule, 0, hits);
	return ret;
}
