/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Creation and removal of rules: the application's, testpmd's, and learned ones. A learned
 * rule is an MPFS rule only, as RSS is equal on all PFs. A full table makes room for a new
 * rule.
 */

#include <errno.h>

#include "octo_flow_build.h"
#include "octo_private.h"

/* How often, at most, room is made for one rule. */
#define MAKE_ROOM_TRIES 16

/*
 * A table was full: end all lingering rules, else evict a learned rule if that is allowed. Returns
 * whether to try again.
 */
static bool
make_room(struct octo_dev *octo, bool may_evict, unsigned int *tries)
{
	if ((*tries)++ >= MAKE_ROOM_TRIES)
		return false;
	return octo_rule_linger_end_locked(octo) ||
	       (may_evict && octo_hooks->make_room_locked(octo));
}

static int
insert_mpfs(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	const uint8_t home = octo_topo_home_of(octo, rule->queue);
	const bool may_evict = rule->origin != OCTO_BY_LEARNING;
	int ret = octo->mpfs_ops->insert(octo, rule, home, error);
	unsigned int tries = 0;

	octo_rule_store_led_locked(octo, rule->queue, home);
	while (octo_rule_says_full(ret) && make_room(octo, may_evict, &tries))
		ret = octo->mpfs_ops->insert(octo, rule, home, error);
	/* a slow agent has no room for another message: octo_sync.c sends it later */
	if (ret == -EAGAIN && octo->agent != NULL && !octo->agent_queues) {
		octo_rule_store_mark_queue_locked(octo, rule->queue);
		return 0;
	}
	return ret;
}

/* ARFS rules first, MPFS rule last: no packet is led to a PF that does not have the rule. */
static int
insert_on_pfs(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	int ret = 0;

	if (octo->agent_queues && !rule->generic)
		ret = octo_fanout_check_agent(octo, rule->count, error);
	else if (rule->origin != OCTO_BY_LEARNING && !octo_rule_is_sole(octo, rule))
		ret = octo_fanout_insert_locked(octo, rule, error);
	if (ret == 0 && octo_rule_has_tuple(rule) && octo_tier_has_mpfs(octo->tier))
		ret = insert_mpfs(octo, rule, error);
	if (ret != 0)
		octo_fanout_remove_locked(octo, rule, NULL);
	return ret;
}

int
octo_rule_install_locked(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	/* transfer rules of the application are in the same table as learned rules */
	const bool may_evict = octo_fanout_is_transfer(rule);
	int ret = insert_on_pfs(octo, rule, error);
	unsigned int tries = 0;

	octo_assert_locked(octo);
	while (octo_rule_says_full(ret) && make_room(octo, may_evict, &tries))
		ret = insert_on_pfs(octo, rule, error);
	if (ret == 0)
		octo_rule_ext_installed(rule);
	return ret;
}

/* Keep the rule, but remove it from the PFs: the inverse of octo_rule_install_locked(). */
void
octo_rule_withdraw_locked(struct octo_dev *octo, struct rte_flow *rule)
{
	octo_assert_locked(octo);
	for (uint8_t port = 0; port < octo->nb_ports; port++)
		octo_rule_hits_keep_pf_locked(octo, rule, port);
	octo_rule_hits_keep_lead_locked(octo, rule);
	octo_fanout_remove_locked(octo, rule, NULL);
	/* a PF may have refused: drop its handle all the same */
	for (uint8_t port = 0; port < octo->nb_ports; port++) {
		if (octo_fanout_goes_by_flow_queue(octo, rule, port))
			continue;
		octo_fanout_drop(rule, port);
	}
	octo_fanout_unlead(rule);
	octo_rule_ext_reset(octo, rule);
}

static int
refuse_twice(struct rte_flow_error *error)
{
	return octo_flow_fail(error, EEXIST,
			      "this 5-tuple is steered already: destroy that rule first");
}

/* Is the tuple used by another rule? A rule gives way to one of an earlier origin. */
static bool
is_taken(const struct octo_rule_spec *spec, const struct rte_flow *known)
{
	return known->origin <= spec->origin;
}

/* A rule of a command is given up for one that the PFs take. It does not come back by itself. */
static int
give_up_command(struct octo_dev *octo, const struct octo_rule_spec *spec,
		const struct rte_flow *known, struct rte_flow_error *error)
{
	char text[OCTO_RULE_TEXT_MAX];

	if (octo_fanout_validate_locked(octo, spec, error) != 0)
		return -rte_errno;
	OCTO_LOG(NOTICE, "port %u: a rule of the application replaces that of a command: %s",
		 octo->port_id, octo_rule_dump_format(known, text));
	return 0;
}

/* Insert the rule into the table of tuples. On failure the caller frees the rule. */
static int
enter_rule(struct octo_dev *octo, const struct octo_rule_spec *spec, struct rte_flow *rule,
	   struct rte_flow_error *error)
{
	int ret = octo_table_add(octo->table, &rule->tuple, rule);
	struct rte_flow *known;

	if (ret == -EEXIST) {
		known = octo_table_find(octo->table, spec->tuple);
		if (is_taken(spec, known))
			return refuse_twice(error);
		if (known->origin == OCTO_BY_COMMAND) {
			ret = give_up_command(octo, spec, known, error);
			if (ret != 0)
				return ret;
		}
		if (!octo_rule_linger_locked(octo, known))
			octo_rule_remove_locked(octo, known, NULL);
		ret = octo_table_add(octo->table, &rule->tuple, rule);
	}
	return ret == 0 ? 0 : octo_flow_error_memory(error);
}

/*
 * Other rules may lead the packets of a rule without a tuple elsewhere yet: lingering ones, and
 * those that slices have learned until there was such a rule.
 */
static void
clear_the_way(struct octo_dev *octo, const struct rte_flow *rule)
{
	octo_rule_end_all_locked(octo);
	if (octo_rule_store_is_behind_learned(octo, rule) &&
	    !octo_rule_store_forbids_learning(octo))
		octo_rule_list_drop_learned_locked(octo);
}

static int
install_new(struct octo_dev *octo, const struct octo_rule_spec *spec, struct rte_flow *rule,
	    struct rte_flow_error *error)
{
	int ret = octo_rule_has_tuple(rule) ? enter_rule(octo, spec, rule, error) : 0;

	if (ret != 0)
		return ret;
	if (!octo_rule_has_tuple(rule))
		clear_the_way(octo, rule);
	else if (octo_rule_linger_replace_locked(octo, rule))
		return 0;
	ret = octo->started ? octo_rule_install_locked(octo, rule, error) :
			      octo_fanout_validate_locked(octo, spec, error);
	if (ret != 0 && octo_rule_has_tuple(rule))
		octo_table_remove(octo->table, &rule->tuple);
	return ret;
}

/*
 * Have the PFs validate the rule first: the copy follows pointers that nothing else has
 * checked.
 */
static struct rte_flow *
make_rule(struct octo_dev *octo, const struct octo_rule_spec *spec, struct rte_flow_error *error)
{
	if (spec->app_spec != NULL && octo_fanout_validate_locked(octo, spec, error) != 0)
		return NULL;
	return octo_rule_store_new(octo, spec, error);
}

static struct rte_flow *
add_rule(struct octo_dev *octo, const struct octo_rule_spec *spec, struct rte_flow_error *error)
{
	struct rte_flow *rule = make_rule(octo, spec, error);
	int ret;

	if (rule == NULL)
		return NULL;
	ret = install_new(octo, spec, rule, error);
	if (ret != 0) {
		octo_rule_store_free(octo, rule);
		rte_errno = -ret;
		return NULL;
	}
	octo_rule_store_enlist(octo, rule);
	return rule;
}

/* Create a rule. The answer of an agent is waited for, meanwhile without the mutex. */
struct rte_flow *
octo_rule_create_locked(struct octo_dev *octo, const struct octo_rule_spec *spec,
			struct rte_flow_error *error)
{
	struct rte_flow *rule = add_rule(octo, spec, error);
	unsigned int tries = 0;
	int ret;

	if (rule == NULL)
		return NULL;
	ret = octo_mpfs_agent_await_locked(octo, &rule, error);
	while (rule != NULL && octo_rule_says_full(ret) && octo->started &&
	       make_room(octo, true, &tries)) {
		ret = insert_mpfs(octo, rule, error);
		if (ret == 0)
			ret = octo_mpfs_agent_await_locked(octo, &rule, error);
	}
	if (ret == 0)
		return rule;
	if (rule != NULL)
		octo_rule_remove_locked(octo, rule, NULL);
	rte_errno = -ret;
	return NULL;
}

/* Create a rule of a template table. It is not on any PF yet. */
struct rte_flow *
octo_rule_enter_locked(struct octo_dev *octo, const struct octo_rule_spec *spec,
		       struct rte_flow_error *error)
{
	struct rte_flow *rule = make_rule(octo, spec, error);
	int ret = 0;

	octo_assert_locked(octo);
	if (rule == NULL)
		return NULL;
	rule->by_table = true;
	rule->pending = true;
	if (octo_rule_ext_get(octo, rule) == NULL)
		ret = octo_flow_error_memory(error);
	if (ret == 0 && octo_rule_has_tuple(rule))
		ret = enter_rule(octo, spec, rule, error);
	/* its result is known only when the PFs have completed it: lingering rules end now */
	clear_the_way(octo, rule);
	if (ret != 0) {
		octo_rule_store_free(octo, rule);
		rte_errno = -ret;
		return NULL;
	}
	octo_rule_store_enlist(octo, rule);
	return rule;
}

/*
 * Remove the rule from all PFs and free its tuple for other rules; the handle stays. If a PF or the
 * switch refuses, the tuple stays, too: it tells which rule to remove at the next attempt.
 */
void
octo_rule_leave_locked(struct octo_dev *octo, struct rte_flow *rule)
{
	const int ret = octo_fanout_remove_locked(octo, rule, NULL);

	rule->rejected = true;
	if (ret != 0)
		return;
	octo_rule_store_delist_locked(octo, rule);
	rule->tuple = (struct octo_tuple){0};
	octo_rule_store_enlist(octo, rule);
}

/* Remove the rule from all PFs and free it, even if a PF refuses. */
int
octo_rule_remove_locked(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	int failed = 0;
	int ret;

	if (rule->by_table)
		failed = octo_async_withdraw_locked(octo, rule, error);
	ret = octo_fanout_remove_locked(octo, rule, failed == 0 ? error : NULL);
	/* no earlier: without a table the PFs would be asked again, by rte_flow_destroy() */
	if (rule->by_table)
		octo_async_leave_table(rule);
	octo_rule_store_delist_locked(octo, rule);
	octo_rule_store_free(octo, rule);
	return failed != 0 ? failed : ret;
}

/* A PF refused to destroy the rule: insert it again on the others, as far as they accept it. */
static void
restore(struct octo_dev *octo, struct rte_flow *rule)
{
	if (!octo->started)
		return;
	octo_fanout_join_locked(octo, rule, UINT32_MAX, NULL);
	if (octo_rule_has_tuple(rule) && octo_tier_has_mpfs(octo->tier) &&
	    octo_rule_pf(octo, rule) == OCTO_NO_PF &&
	    octo->mpfs_ops->insert(octo, rule, octo_topo_home_of(octo, rule->queue), NULL) != 0)
		octo_rule_store_mark_queue_locked(octo, rule->queue);
}

/*
 * Destroy a rule at the application's request. It may linger, as the flow's next rule may
 * follow at once. If a PF refuses, the rule stays and its handle stays valid for another
 * attempt. Where a flow queue has failed, only the handle does, as with the asynchronous call.
 */
int
octo_rule_retire_locked(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	int ret;

	if (octo->fences.settings.linger_ms > 0 && octo_rule_linger_locked(octo, rule))
		return 0;
	ret = octo_fanout_remove_locked(octo, rule, error);
	if (ret != 0) {
		restore(octo, rule);
	} else if (rule->by_table) {
		ret = octo_async_withdraw_locked(octo, rule, error);
		if (ret == 0)
			octo_async_leave_table(rule);
		else
			octo_rule_leave_locked(octo, rule);
	}
	if (ret == 0)
		return octo_rule_remove_locked(octo, rule, NULL);
	rte_errno = -ret;
	return ret;
}

/* Would the rule be accepted? Resources are not checked beyond the PFs' answer. */
int
octo_rule_check_locked(struct octo_dev *octo, const struct octo_rule_spec *spec,
		       struct rte_flow_error *error)
{
	const struct rte_flow *known = NULL;
	int ret;

	if (spec->tuple != NULL)
		known = octo_table_find(octo->table, spec->tuple);
	if (known != NULL && is_taken(spec, known))
		return refuse_twice(error);
	ret = octo_fanout_validate_locked(octo, spec, error);
	if (ret != 0 && octo_rule_linger_end_locked(octo))
		ret = octo_fanout_validate_locked(octo, spec, error);
	return ret;
}

/*
 * Create a learned rule, in tier exact: a sample of a stray showed that RSS sends this flow to this
 * queue.
 */
struct rte_flow *
octo_rule_learn_locked(struct octo_dev *octo, const struct octo_tuple *tuple, uint16_t queue,
		       struct rte_flow_error *error)
{
	const struct octo_rule_spec spec = {
		.tuple = tuple,
		.origin = OCTO_BY_LEARNING,
		.queue = queue,
	};

	return add_rule(octo, &spec, error);
}
