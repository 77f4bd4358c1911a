/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The steering tier: the PFs validate trial rules. The devarg tier= may limit it, or ask
 * for tier partition or mac, which are never used by default.
 */

#include <errno.h>
#include <string.h>

#include "octo_flow_build.h"
#include "octo_private.h"

static const char *const tier_names[] = {
	[OCTO_TIER_NONE] = "none",   [OCTO_TIER_QUEUE] = "queue",         [OCTO_TIER_MAC] = "mac",
	[OCTO_TIER_EXACT] = "exact", [OCTO_TIER_PARTITION] = "partition",
};

const char *
octo_tier_name(enum octo_tier tier)
{
	return tier_names[tier];
}

const char *
octo_tier_ignored_name(enum octo_ignored ignored)
{
	static const char *const names[] = {
		[OCTO_IGNORED_NONE] = "none",
		[OCTO_IGNORED_MASKED] = "masked",
		[OCTO_IGNORED_MPFS] = "MPFS",
		[OCTO_IGNORED_QUEUE] = "queue",
	};

	return names[ignored];
}

int
octo_tier_read(const char *name, enum octo_tier *tier)
{
	for (unsigned int i = 0; i < RTE_DIM(tier_names); i++) {
		if (strcmp(name, tier_names[i]) == 0) {
			*tier = (enum octo_tier)i;
			return 0;
		}
	}
	return -EINVAL;
}

void
octo_tier_init(struct octo_dev *octo, const struct octo_args *args)
{
	octo->tier_forced = args->has_tier;
	octo->tier_wanted = args->has_tier ? args->tier : OCTO_TIER_EXACT;
	octo->dialects.wanted = args->dialects != 0 ? args->dialects : octo_dialect_usual();
}

static bool
pfs_accept_queue_rules(struct octo_dev *octo, bool count)
{
	const uint32_t highest = octo_mpfs_choose_queues(octo) ? OCTO_MPFS_PRIORITIES : 0;
	struct rte_flow_error error;
	struct octo_flow_rule r;
	int pf;

	octo_flow_build_queue(&r, &octo_tuple_example, highest, 0, count);
	OCTO_FOREACH_PORT(octo, pf, OCTO_PORT_RUNNING)
		if (octo_port_nic(&octo->port[pf])
			    ->validate(&octo->port[pf], &r.attr, r.pattern, r.actions, &error) != 0)
			return false;
	return true;
}

/* Do the PFs accept rules that choose the queue? If not, an agent may choose queue and PF. */
static bool
find_queue_rules(struct octo_dev *octo, struct rte_flow_error *error)
{
	bool queue_rules;

	octo->count_rules = pfs_accept_queue_rules(octo, true);
	queue_rules = octo->count_rules || pfs_accept_queue_rules(octo, false);
	octo->agent_queues = octo->agent != NULL && !queue_rules;
	error->message = "the PFs refuse 5-tuple rules";
	return queue_rules;
}

/* Set error->message from ret if the back end did not set it. */
static int
explain(int ret, struct rte_flow_error *error)
{
	if (ret != 0 && error->message == NULL)
		error->message = rte_strerror(-ret);
	return ret;
}

/* The tier that the switch allows; queue_rules: the PFs' rules choose the queue. */
static enum octo_tier
find_mpfs_tier(struct octo_dev *octo, bool queue_rules, struct rte_flow_error *error)
{
	error->message = NULL;
	if (explain(octo->mpfs_ops->probe(octo, error), error) != 0) {
		octo->proxy = OCTO_NO_PF;
		return queue_rules ? OCTO_TIER_QUEUE : OCTO_TIER_NONE;
	}
	if (queue_rules)
		return OCTO_TIER_EXACT;
	octo->count_rules = octo_mpfs_agent_counts(octo);
	error->message = "the PFs refuse 5-tuple rules, and the agent does not choose queues";
	return octo_mpfs_agent_chooses_queues(octo) ? OCTO_TIER_EXACT : OCTO_TIER_NONE;
}

/* Can the PFs' RETAs differ? */
static bool
can_differ(const struct octo_dev *octo, const char **why)
{
	*why = "the application sets or reads the RSS key or the RETA";
	if (octo->rss_by_app)
		return false;
	*why = "the PFs have no RETA that could be set";
	return !octo_rss_is_on(octo) || octo->reta_size != 0;
}

/* Does the MAC address of a frame choose the PF? */
bool
octo_tier_can_be_mac(const struct octo_dev *octo, const char **why)
{
	if (octo->tier_wanted != OCTO_TIER_MAC || !can_differ(octo, why))
		return false;
	*why = octo_mac_refuse(octo);
	if (*why == NULL && !octo->macs.reserved)
		*why = "the MAC address of a PF was not known when the port was made";
	return *why == NULL;
}

static bool
can_partition(struct octo_dev *octo, struct rte_flow_error *error)
{
	error->message = octo->sliced ? "the PFs are slices of one port, which has no switch" :
					"an agent takes no masked rules";
	if (octo->mpfs_ops != &octo_mpfs_switch_ops)
		return false;
	if (!can_differ(octo, &error->message))
		return false;
	error->message = NULL;
	return explain(octo_mpfs_masked_probe(octo, error), error) == 0;
}

/* The wanted tier, or the best one below it; then error->message is the reason. */
static enum octo_tier
find_tier(struct octo_dev *octo, struct rte_flow_error *error)
{
	const enum octo_tier wanted = octo->tier_wanted;
	enum octo_tier tier;
	bool queue_rules;

	octo->agent_queues = false;
	if (wanted == OCTO_TIER_NONE)
		return OCTO_TIER_NONE;
	queue_rules = find_queue_rules(octo, error);
	if (!octo_tier_has_mpfs(wanted))
		octo->agent_queues = false;
	octo->tier_below = queue_rules ? OCTO_TIER_QUEUE : OCTO_TIER_NONE;
	if (octo_tier_can_be_mac(octo, &error->message) && octo->macs.apart)
		return OCTO_TIER_MAC;
	if (wanted == OCTO_TIER_MAC && error->message == NULL)
		error->message = "the PFs share their addresses until the next start";
	if (!queue_rules && !octo->agent_queues)
		return OCTO_TIER_NONE;
	if (!octo_tier_has_mpfs(wanted))
		return OCTO_TIER_QUEUE;
	tier = find_mpfs_tier(octo, queue_rules, error);
	if (tier == OCTO_TIER_EXACT && wanted == OCTO_TIER_PARTITION && can_partition(octo, error))
		return OCTO_TIER_PARTITION;
	return tier;
}

/* Log the tier, and why it is not the wanted one. */
static void
log_tier(const struct octo_dev *octo, const char *why)
{
	const char *name = octo_tier_name(octo->tier);

	if (octo->tier_forced && octo->tier < octo->tier_wanted)
		OCTO_LOG(WARNING, "port %u: tier=%s cannot be had, steering tier is %s: %s",
			 octo->port_id, octo_tier_name(octo->tier_wanted), name, why);
	else if (octo->tier < octo->tier_wanted)
		OCTO_LOG(NOTICE, "port %u: steering tier %s: %s", octo->port_id, name, why);
	else if (octo_tier_has_mpfs(octo->tier) && octo->dialects.taken != 0)
		OCTO_LOG(NOTICE, "port %u: steering tier %s, by %s, dialect %s", octo->port_id,
			 name, octo->mpfs_ops->name, octo_mpfs_switch_dialect(octo)->name);
	else if (octo_tier_has_mpfs(octo->tier))
		OCTO_LOG(NOTICE, "port %u: steering tier %s, by %s", octo->port_id, name,
			 octo->mpfs_ops->name);
	else
		OCTO_LOG(NOTICE, "port %u: steering tier %s, as it was asked for", octo->port_id,
			 name);
}

/* Find out the tier: have the PFs validate trial rules. */
void
octo_tier_probe_locked(struct octo_dev *octo)
{
	struct rte_flow_error error = {.message = NULL};

	octo->proxy = OCTO_NO_PF;
	octo->dialects.taken = 0;
	octo->ignored = OCTO_IGNORED_NONE;
	octo->mpfs_ops = octo->agent != NULL ? &octo_mpfs_agent_ops :
			 octo->sliced        ? &octo_mpfs_slices_ops :
					       &octo_mpfs_switch_ops;
	octo->tier = find_tier(octo, &error);
	log_tier(octo, error.message);
	octo->learning.stale = true;
}

/* At port start: dialects that had no effect are tried again. */
void
octo_tier_start_locked(struct octo_dev *octo)
{
	struct octo_dialects *d = &octo->dialects;
	const bool has_switch = octo->agent == NULL && !octo->sliced;

	d->failed = 0;
	d->made = 0;
	d->left = 0;
	d->now = has_switch ? (uint8_t)rte_bsf32(d->wanted) : 0;
	octo_tier_probe_locked(octo);
}
