/* SPDX-License-Identifier: BSD-3-Clause */

/* Queries of rules: COUNT and AGE, read from the PFs or from an agent. */

#include <errno.h>
#include <stdlib.h>

#include "octo_clock.h"
#include "octo_private.h"

const struct rte_flow_action octo_rule_hits_count[] = {
	{.type = RTE_FLOW_ACTION_TYPE_COUNT},
	{.type = RTE_FLOW_ACTION_TYPE_END},
};

/* A PF that is about to go is not queried. */
static bool
is_on(const struct octo_dev *octo, const struct rte_flow *rule, uint8_t port)
{
	return octo_rule_on(octo, rule, port) != NULL &&
	       octo_port_is(&octo->port[port], OCTO_PORT_IDLE);
}

/* Query a rule on one PF that has it. */
static int
query_pf(struct octo_dev *octo, const struct rte_flow *rule, uint8_t pf,
	 const struct rte_flow_action *action, void *data, struct rte_flow_error *error)
{
	const struct rte_flow_action actions[] = {*action, {.type = RTE_FLOW_ACTION_TYPE_END}};
	const struct octo_port *p = &octo->port[pf];
	int ret = octo_port_nic(p)->query(p, octo_rule_on(octo, rule, pf), actions, data, error);

	return ret == 0 ? 0 : octo_flow_blame(p, ret, error);
}

/* Hits on one PF; none if the PF does not have the rule. */
static int
count_of_pf(struct octo_dev *octo, const struct rte_flow *rule, uint8_t pf,
	    const struct rte_flow_action *action, struct rte_flow_query_count *count,
	    struct rte_flow_error *error)
{
	return is_on(octo, rule, pf) ? query_pf(octo, rule, pf, action, count, error) : 0;
}

/* Returns NULL without memory: then the count of a PF that is lost is lost, too. */
static struct octo_kept_hits *
kept_of(struct octo_dev *octo, struct rte_flow *rule)
{
	struct octo_rule_ext *ext = octo_rule_ext_get(octo, rule);

	if (ext != NULL && ext->kept == NULL)
		ext->kept = calloc(1, sizeof(*ext->kept));
	return ext == NULL ? NULL : ext->kept;
}

/* By a counter id; some PFs share one counter among all rules with the same id. */
static bool
may_share_counter(const struct rte_flow *rule)
{
	const struct rte_flow_action_count *conf;
	const struct rte_flow_action *count;

	if (!rule->generic)
		return false;
	count = octo_app_spec_find(rule->ext->app_spec.rule->actions_ro,
				   RTE_FLOW_ACTION_TYPE_COUNT);
	conf = count == NULL ? NULL : count->conf;
	return conf != NULL && conf->id != 0;
}

/* A lower count than before means a new counter, unless another rule has reset a shared one. */
static void
read_pf(struct octo_kept_hits *kept, const struct rte_flow *rule, uint8_t pf,
	const struct rte_flow_query_count *count)
{
	const struct octo_handle *counter = &rule->arfs[pf];

	if (may_share_counter(rule) && octo_handle_equal(&kept->last[pf].counter, counter))
		kept->last[pf].hits = (struct octo_hits){0};
	octo_kept_hits_read(kept, pf, counter, (struct octo_hits){count->hits, count->bytes});
}

/* The PF is about to lose the rule: keep its count in the sum. Returns the part of its counter. */
struct octo_hits
octo_rule_hits_keep_pf_locked(struct octo_dev *octo, struct rte_flow *rule, uint8_t port)
{
	struct octo_kept_hits *kept = rule->ext == NULL ? NULL : rule->ext->kept;
	struct rte_flow_query_count count = {0};

	if (!rule->count || count_of_pf(octo, rule, port, octo_rule_hits_count, &count, NULL) != 0)
		return (struct octo_hits){0};
	if (kept == NULL && count.hits > 0)
		kept = kept_of(octo, rule);
	if (kept != NULL && is_on(octo, rule, port))
		read_pf(kept, rule, port, &count);
	return kept != NULL ? kept->last[port].hits : (struct octo_hits){0};
}

/*
 * The rule, of whose counter this was kept, was destroyed on the PF and is there again. A count
 * that is not lower is of a counter that other rules share: it is in the sum already.
 */
void
octo_rule_hits_resume_locked(struct octo_dev *octo, struct rte_flow *rule, uint8_t port,
			     struct octo_hits before)
{
	struct rte_flow_query_count count = {0};
	struct octo_kept_hits *kept = rule->ext == NULL ? NULL : rule->ext->kept;

	if (kept == NULL || before.hits == 0 || !may_share_counter(rule) ||
	    !is_on(octo, rule, port) ||
	    query_pf(octo, rule, port, octo_rule_hits_count, &count, NULL) != 0 ||
	    count.hits < before.hits)
		return;
	kept->gone.hits -= before.hits;
	kept->gone.bytes -= before.bytes;
	kept->last[port].counter = rule->arfs[port];
	kept->last[port].hits = before;
}

/*
 * The PF has the next rule beside this one, which is about to be destroyed: the count goes on
 * there. A count of the next rule that is not lower is of a counter that both share.
 */
void
octo_rule_hits_hand_over_locked(struct octo_dev *octo, struct rte_flow *rule, uint8_t port,
				const struct octo_handle *next)
{
	struct rte_flow_query_count count = {0};
	struct octo_kept_hits *kept;

	octo_rule_hits_keep_pf_locked(octo, rule, port);
	rule->arfs[port] = *next;
	kept = rule->ext == NULL ? NULL : rule->ext->kept;
	if (kept == NULL)
		return;
	if (may_share_counter(rule) &&
	    count_of_pf(octo, rule, port, octo_rule_hits_count, &count, NULL) == 0 &&
	    count.hits >= kept->last[port].hits.hits)
		kept->last[port].counter = *next;
	else
		octo_kept_hits_end(kept, port);
}

/* The rule on this PF is gone, and its counter with it. */
void
octo_rule_hits_end_pf(struct rte_flow *rule, uint8_t port)
{
	if (rule->ext != NULL && rule->ext->kept != NULL)
		octo_kept_hits_end(rule->ext->kept, port);
}

/* Read the hits of an MPFS rule that chooses the queue: the flow's packets pass by ARFS rules. */
static int
read_lead(struct octo_dev *octo, struct rte_flow *rule, struct octo_kept_hits *kept,
	  struct rte_flow_query_count *sum, struct rte_flow_error *error)
{
	struct rte_flow_query_count one = {.reset = sum->reset};
	int ret;

	if (!octo_mpfs_choose_queues(octo) || octo_rule_mpfs(octo, rule) == NULL)
		return 0;
	ret = octo->mpfs_ops->query(octo, rule, &one, error);
	if (ret != 0)
		return ret;
	sum->hits_set |= one.hits_set;
	sum->bytes_set |= one.bytes_set;
	octo_kept_hits_read(kept, OCTO_KEPT_HITS_LEAD, &rule->lead.mpfs,
			    (struct octo_hits){one.hits, one.bytes});
	return 0;
}

static void
keep_lead(struct octo_dev *octo, struct rte_flow *rule)
{
	struct rte_flow_query_count count = {0};
	struct octo_kept_hits *kept;

	if (!octo_mpfs_choose_queues(octo) || !rule->count)
		return;
	kept = kept_of(octo, rule);
	if (kept != NULL)
		read_lead(octo, rule, kept, &count, NULL);
}

/* The MPFS rule is about to be destroyed: keep its count in the sum. */
void
octo_rule_hits_keep_lead_locked(struct octo_dev *octo, struct rte_flow *rule)
{
	keep_lead(octo, rule);
	octo_rule_hits_end_pf(rule, OCTO_KEPT_HITS_LEAD);
}

/* The PF is about to go: keep the counts of its rules, also of its MPFS rule, in the sum. */
void
octo_rule_hits_keep_all_locked(struct octo_dev *octo, struct rte_flow *rule, uint8_t port)
{
	octo_rule_hits_keep_pf_locked(octo, rule, port);
	if (rule->lead.proxy == port)
		keep_lead(octo, rule);
}

/*
 * Sum of the hits on all PFs, and of those in `kept` from PFs that are gone; kept may be
 * NULL. A counter that several rules share is one counter per PF, so the sum has each PF's
 * part once.
 */
static int
query_count(struct octo_dev *octo, struct rte_flow *rule, const struct rte_flow_action *action,
	    struct octo_kept_hits *kept, struct rte_flow_query_count *sum,
	    struct rte_flow_error *error)
{
	struct octo_kept_hits once = {0};
	const bool reset = sum->reset;
	struct octo_hits hits;
	int ret;

	*sum = (struct rte_flow_query_count){.reset = reset};
	if (kept == NULL)
		kept = &once;
	/* a learned rule is on the switch only */
	if ((octo->agent_queues && !rule->generic) ||
	    (rule->origin == OCTO_BY_LEARNING && !octo->sliced))
		return octo->mpfs_ops->query(octo, rule, sum, error);
	for (uint8_t port = 0; port < octo->nb_ports; port++) {
		struct rte_flow_query_count one = {.reset = reset};

		ret = count_of_pf(octo, rule, port, action, &one, error);
		if (ret != 0)
			return ret;
		sum->hits_set |= one.hits_set;
		sum->bytes_set |= one.bytes_set;
		if (is_on(octo, rule, port))
			read_pf(kept, rule, port, &one);
		/* the PF begins anew, also if the next one refuses */
		if (reset)
			octo_kept_hits_end(kept, port);
	}
	ret = read_lead(octo, rule, kept, sum, error);
	if (ret != 0)
		return ret;
	hits = octo_kept_hits_sum(kept);
	/* there may be hits though no PF has the rule now */
	sum->hits_set |= hits.hits > 0;
	sum->bytes_set |= hits.bytes > 0;
	sum->hits = hits.hits;
	sum->bytes = hits.bytes;
	if (reset)
		*kept = (struct octo_kept_hits){0};
	return 0;
}

/* Aged if all PFs say so; the time is since the latest hit on any PF. */
void
octo_rule_hits_merge_age(struct rte_flow_query_age *all, const struct rte_flow_query_age *one)
{
	all->aged &= one->aged;
	if (one->sec_since_last_hit_valid &&
	    (!all->sec_since_last_hit_valid || one->sec_since_last_hit < all->sec_since_last_hit))
		all->sec_since_last_hit = one->sec_since_last_hit;
	all->sec_since_last_hit_valid |= one->sec_since_last_hit_valid;
}

/* A PF that is lost may have had packets until then, and flows that came by it are not idle. */
void
octo_rule_hits_merge_lost(const struct octo_dev *octo, const struct rte_flow_action *action,
			  struct rte_flow_query_age *all)
{
	const struct rte_flow_action_age *conf = action == NULL ? NULL : action->conf;
	const uint64_t idle = (octo_now() - octo->failover.lost_at) / rte_get_timer_hz();
	const struct rte_flow_query_age lost = {
		.sec_since_last_hit_valid = 1,
		.sec_since_last_hit = (uint32_t)idle,
	};

	if (octo->failover.lost_at != 0 && conf != NULL && idle < conf->timeout)
		octo_rule_hits_merge_age(all, &lost);
}

static const struct rte_flow_action *
age_of(const struct rte_flow *rule)
{
	return !rule->generic ? NULL :
				octo_indirect_find(rule->ext->app_spec.rule->actions_ro,
						   RTE_FLOW_ACTION_TYPE_AGE);
}

static int
refuse_absent(struct rte_flow_error *error)
{
	return rte_flow_error_set(error, ENODEV, RTE_FLOW_ERROR_TYPE_HANDLE, NULL,
				  "no PF has this rule now");
}

static int
query_age(struct octo_dev *octo, const struct rte_flow *rule, const struct rte_flow_action *action,
	  struct rte_flow_query_age *age, struct rte_flow_error *error)
{
	bool any = false;

	*age = (struct rte_flow_query_age){.aged = 1};
	for (uint8_t port = 0; port < octo->nb_ports; port++) {
		struct rte_flow_query_age one = {0};
		int ret;

		if (!is_on(octo, rule, port))
			continue;
		ret = query_pf(octo, rule, port, action, &one, error);
		if (ret != 0)
			return ret;
		octo_rule_hits_merge_age(age, &one);
		any = true;
	}
	octo_rule_hits_merge_lost(octo, age_of(rule), age);
	return any ? 0 : refuse_absent(error);
}

/* Query the first PF that has the rule, as the answer is the same on all. */
static int
query_first(struct octo_dev *octo, const struct rte_flow *rule,
	    const struct rte_flow_action *action, void *data, struct rte_flow_error *error)
{
	for (uint8_t pf = 0; pf < octo->nb_ports; pf++)
		if (is_on(octo, rule, pf))
			return query_pf(octo, rule, pf, action, data, error);
	return refuse_absent(error);
}

/* The ethdev of slices answers with legs: replace them by the queues that the application named. */
static int
query_rss(struct octo_dev *octo, const struct rte_flow *rule, const struct rte_flow_action *action,
	  struct rte_flow_action_rss *rss, struct rte_flow_error *error)
{
	const int ret = query_first(octo, rule, action, rss, error);
	const struct rte_flow_action_rss *named = NULL;

	if (ret != 0 || !octo->sliced || !rule->generic)
		return ret;
	action = octo_indirect_find(rule->ext->app_spec.rule->actions_ro, RTE_FLOW_ACTION_TYPE_RSS);
	if (action != NULL)
		named = action->conf;
	if (named != NULL) {
		rss->queue = named->queue;
		rss->queue_num = named->queue_num;
	}
	return 0;
}

/* Query the rule's own counter, or that of an indirect action. */
static int
query_count_of(struct octo_dev *octo, struct rte_flow *rule, const struct rte_flow_action *action,
	       struct rte_flow_query_count *count, struct rte_flow_error *error)
{
	const struct rte_flow_action_handle *handle = NULL;

	if (rule->count)
		return query_count(octo, rule, action, kept_of(octo, rule), count, error);
	if (rule->generic)
		handle = octo_indirect_find_handle(rule->ext->app_spec.rule->actions_ro,
						   RTE_FLOW_ACTION_TYPE_COUNT);
	if (handle == NULL)
		return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION, action,
					  "the rule was created without a count action");
	return octo_indirect_query_locked(octo, handle, count, error);
}

int
octo_rule_hits_query_locked(struct octo_dev *octo, struct rte_flow *rule,
			    const struct rte_flow_action *action, void *data,
			    struct rte_flow_error *error)
{
	switch (action->type) {
	case RTE_FLOW_ACTION_TYPE_COUNT:
		return query_count_of(octo, rule, action, data, error);
	case RTE_FLOW_ACTION_TYPE_AGE:
		return query_age(octo, rule, action, data, error);
	case RTE_FLOW_ACTION_TYPE_RSS:
		return query_rss(octo, rule, action, data, error);
	default:
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, action,
					  "only count, age and rss can be queried");
	}
}

static bool
is_counted(const struct octo_dev *octo, const struct rte_flow *rule)
{
	if (rule->origin == OCTO_BY_LEARNING)
		return octo->learning.counted;
	return rule->count || (octo->count_rules && !rule->generic);
}

/* Packets that came by the PF to which the rule leads: an MPFS rule may have passed by its own. */
static int
count_of_lead(struct octo_dev *octo, struct rte_flow *rule, uint8_t port,
	      struct rte_flow_query_count *count)
{
	return octo_mpfs_choose_queues(octo) ?
		       octo->mpfs_ops->query(octo, rule, count, NULL) :
		       count_of_pf(octo, rule, port, octo_rule_hits_count, count, NULL);
}

/*
 * Hits on the PF to which the rule leads, or on all if port is OCTO_NO_PF. Returns false if they
 * are unknown.
 */
bool
octo_rule_hits_locked(struct octo_dev *octo, struct rte_flow *rule, uint8_t port, uint64_t *hits)
{
	struct rte_flow_query_count count = {0};
	int ret;

	if (!is_counted(octo, rule))
		return false;
	ret = port == OCTO_NO_PF ?
		      query_count(octo, rule, octo_rule_hits_count, NULL, &count, NULL) :
		      count_of_lead(octo, rule, port, &count);
	*hits = count.hits;
	return ret == 0 && count.hits_set;
}
