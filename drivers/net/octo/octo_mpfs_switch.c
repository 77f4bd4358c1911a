/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The MPFS back end for `transfer` rules of the NIC's own switch. A rule gives packets from the
 * network that match a 5-tuple to the ethdev of the chosen PF (REPRESENTED_PORT ->
 * PORT_REPRESENTOR), and is created on the port that rte_flow_pick_transfer_proxy() returns. In
 * dialect "indirect" it is an ingress rule of that port, and leads to a queue of the chosen PF by
 * an indirect action: one for each queue of a PF that flows were led to. A rule of another PF may
 * have them if the PMD shares them between ports.
 */

#include <errno.h>

#include <rte_malloc.h>

#include "octo_flow_build.h"
#include "octo_private.h"

static_assert(OCTO_NB_DIALECTS <= 4, "octo_lead.dialect has 2 bits");
static_assert(OCTO_MPFS_PRIORITIES <= 4, "octo_lead.priority has 2 bits");
static_assert(RTE_MAX_QUEUES_PER_PORT <= 4096, "octo_lead.queue has 12 bits");

/* What a rule of the switch is written from. */
struct switch_spec {
	const struct octo_tuple *tuple;
	uint16_t proxy;  /* port id */
	uint16_t queue;  /* used by a dialect that names one */
	uint8_t dialect; /* enum octo_dialect_id */
	uint8_t priority;
	uint8_t pf;
	bool count;
};

/* Some PMDs have RSS as an indirect action, but not QUEUE: RSS of one queue leads there, too. */
static struct rte_flow_action_handle *
create_action(uint16_t port_id, uint16_t queue, struct rte_flow_error *error)
{
	const struct rte_flow_indir_action_conf conf = {.ingress = 1};
	const struct rte_flow_action_queue to = {.index = queue};
	const struct rte_flow_action_rss rss = {.queue = &queue, .queue_num = 1};
	struct rte_flow_action action = {.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &to};
	struct rte_flow_action_handle *h;

	h = rte_flow_action_handle_create(port_id, &conf, &action, error);
	if (h != NULL || (rte_errno != ENOTSUP && rte_errno != EINVAL))
		return h;
	action = (struct rte_flow_action){.type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &rss};
	return rte_flow_action_handle_create(port_id, &conf, &action, error);
}

/* The indirect action that leads to a queue of a PF, or NULL with rte_errno and *error set. */
static struct rte_flow_action_handle *
action_to(struct octo_dev *octo, uint8_t pf, uint16_t queue, struct rte_flow_error *error)
{
	const struct octo_port *port = &octo->port[pf];
	/* read before the PMD's call: the port may be lost inside it */
	const uint32_t life = port->fsm.life;
	struct octo_handle **actions = &octo->queue_actions[pf];
	struct octo_handle *h;

	if (*actions == NULL)
		*actions = rte_calloc("octo_queue_actions", octo_data(octo)->nb_rx_queues,
				      sizeof(**actions), 0);
	if (*actions == NULL) {
		octo_flow_fail(error, ENOMEM, "no memory for the indirect actions");
		return NULL;
	}
	h = &(*actions)[queue];
	if (octo_port_object(port, h) == NULL)
		*h = octo_handle_make(create_action(port->port_id,
						    octo_pf_leg(&octo->pf[pf], queue).queue, error),
				      life);
	return octo_port_object(port, h);
}

static int
write_rule(struct octo_dev *octo, struct octo_flow_rule *rule, const struct switch_spec *s,
	   struct rte_flow_error *error)
{
	const struct rte_flow_action_handle *action;

	if (s->dialect != OCTO_DIALECT_INDIRECT) {
		octo_flow_build_transfer(rule, s->dialect, s->tuple, s->priority, s->proxy,
					 octo->port[s->pf].port_id, s->count);
		return 0;
	}
	action = action_to(octo, s->pf, s->queue, error);
	if (action == NULL)
		return octo_flow_blame(&octo->port[s->pf], -rte_errno, error);
	octo_flow_build_indirect(rule, s->tuple, s->priority, action, s->count);
	return 0;
}

static void
end_actions(struct octo_dev *octo, uint8_t pf)
{
	struct octo_port *port = &octo->port[pf];

	for (uint16_t q = 0; q < octo_data(octo)->nb_rx_queues; q++) {
		struct rte_flow_action_handle *h = octo_port_object(port,
								    &octo->queue_actions[pf][q]);

		octo_port_orphan(port, &octo->queue_actions[pf][q]);
		if (h != NULL)
			rte_flow_action_handle_destroy(octo_port_usable_id(port), h, NULL);
	}
	rte_free(octo->queue_actions[pf]);
	octo->queue_actions[pf] = NULL;
}

void
octo_mpfs_actions_end_locked(struct octo_dev *octo)
{
	octo_assert_locked(octo);
	for (uint8_t pf = 0; pf < octo->nb_ports; pf++)
		if (octo->queue_actions[pf] != NULL)
			end_actions(octo, pf);
}

static int
validate_rule(struct octo_dev *octo, const struct switch_spec *spec, struct rte_flow_error *error)
{
	struct octo_flow_rule r;
	int ret = write_rule(octo, &r, spec, error);

	return ret != 0 ? ret :
			  rte_flow_validate(spec->proxy, &r.attr, r.pattern, r.actions, error);
}

/* Does the proxy take rules of this dialect that lead to each of the ports? */
static int
validate(struct octo_dev *octo, uint16_t proxy, uint8_t dialect, struct rte_flow_error *error)
{
	struct switch_spec spec = {
		.tuple = &octo_tuple_example,
		.proxy = proxy,
		.dialect = dialect,
	};
	int ret = 0;
	int i;

	OCTO_FOREACH_PORT(octo, i, OCTO_PORT_RUNNING) {
		spec.pf = (uint8_t)i;
		ret = validate_rule(octo, &spec, error);
		if (ret != 0)
			break;
	}
	return ret;
}

/*
 * Find out which dialects the ports take, and take the first one, unless the dialect of now is
 * among them. On failure *error is about the first.
 */
static int
find_dialects(struct octo_dev *octo, uint16_t proxy, struct rte_flow_error *error)
{
	struct octo_dialects *d = &octo->dialects;
	const uint32_t candidates = d->wanted & ~d->failed;
	struct rte_flow_error ignored;

	d->taken = 0;
	for (uint8_t i = 0; i < OCTO_NB_DIALECTS; i++)
		if ((candidates & RTE_BIT32(i)) && validate(octo, proxy, i, &ignored) == 0)
			d->taken |= RTE_BIT32(i);
	if (d->taken == 0)
		return validate(octo, proxy, (uint8_t)rte_bsf32(d->wanted), error);
	if (!(d->taken & RTE_BIT32(d->now)))
		d->now = (uint8_t)rte_bsf32(d->taken);
	return 0;
}

/* The dialect in which rules are written. */
const struct octo_dialect *
octo_mpfs_switch_dialect(const struct octo_dev *octo)
{
	return octo_dialect_get(octo->dialects.now);
}

/* Is there another dialect that the ports take? */
bool
octo_mpfs_switch_has_next(const struct octo_dev *octo)
{
	return (octo->dialects.taken & ~RTE_BIT32(octo->dialects.now)) != 0;
}

/* Is there one that was not left before? */
bool
octo_mpfs_switch_has_untried(const struct octo_dev *octo)
{
	const struct octo_dialects *d = &octo->dialects;

	return (d->taken & ~d->left & ~RTE_BIT32(d->now)) != 0;
}

/*
 * Leave the dialect for the next, for good if it is certain that its rules have no effect. The
 * caller marks all flows.
 */
void
octo_mpfs_switch_take_next_locked(struct octo_dev *octo, bool failed)
{
	struct octo_dialects *d = &octo->dialects;
	uint32_t others, untried;

	d->left |= RTE_BIT32(d->now);
	if (failed)
		d->failed |= RTE_BIT32(d->now);
	d->taken &= ~d->failed;
	others = d->taken & ~RTE_BIT32(d->now);
	untried = others & ~d->left;
	d->now = (uint8_t)rte_bsf32(untried != 0 ? untried : others);
}

static int
switch_probe(struct octo_dev *octo, struct rte_flow_error *error)
{
	const int first = octo_port_first(octo, OCTO_PORT_RUNNING);
	uint16_t proxy;
	int ret;
	int i;

	if (first < 0)
		return -ENODEV;
	ret = rte_flow_pick_transfer_proxy(octo->port[first].port_id, &proxy, error);
	if (ret != 0)
		return ret;
	octo->proxy = OCTO_NO_PF;
	OCTO_FOREACH_PORT(octo, i, OCTO_PORT_RUNNING)
		if (octo->port[i].port_id == proxy)
			octo->proxy = (uint8_t)i;
	if (octo->proxy == OCTO_NO_PF)
		return octo_flow_fail(error, ENODEV,
				      "the transfer proxy of the switch is not a PF");
	return find_dialects(octo, proxy, error);
}

/* The higher of two priorities. Those of learned rules are lower, should both match. */
static uint8_t
first_priority(const struct rte_flow *rule)
{
	return rule->origin == OCTO_BY_LEARNING ? OCTO_LEARNED_PRIORITY : 0;
}

/* Explicit rules are counted by the PFs, unless the flow's packets pass by their rules. */
static bool
is_counted(const struct octo_dev *octo, const struct rte_flow *rule)
{
	if (rule->origin == OCTO_BY_LEARNING)
		return octo->learning.counted;
	return octo_mpfs_choose_queues(octo) && (rule->count || octo->count_rules);
}

/*
 * Create an MPFS rule for the flow, beside the one that it has; h is NULL on failure, and pf is
 * OCTO_NO_PF if it was not the switch that refused.
 */
static struct octo_lead
create_now(struct octo_dev *octo, const struct rte_flow *rule, uint8_t priority, uint8_t pf,
	   struct rte_flow_error *error)
{
	struct octo_lead lead = octo_fanout_lead(octo, pf);
	struct switch_spec spec = {
		.tuple = &rule->tuple,
		.queue = rule->queue,
		.dialect = lead.dialect,
		.priority = priority,
		.pf = pf,
		.count = is_counted(octo, rule),
	};
	const struct octo_port *proxy;
	struct octo_flow_rule r;
	int ret;

	/* it may be lost in a call of its own, after which another dialect is tried */
	if (octo->proxy == OCTO_NO_PF) {
		octo_flow_fail(error, ENODEV, "the transfer proxy of the switch is gone");
		return lead;
	}
	proxy = octo_proxy(octo);
	spec.proxy = proxy->port_id;
	ret = write_rule(octo, &r, &spec, error);
	if (ret != 0) {
		rte_errno = -ret;
		lead.pf = OCTO_NO_PF;
		return lead;
	}
	octo->failover.proxies |= RTE_BIT32(octo->proxy);
	lead.priority = priority & 3;
	lead.queue = rule->queue & 0xfff;
	lead.mpfs.h = rte_flow_create(proxy->port_id, &r.attr, r.pattern, r.actions, error);
	if (lead.mpfs.h == NULL)
		octo_flow_blame(proxy, -rte_errno, error);
	else
		octo->dialects.made |= RTE_BIT32(lead.dialect);
	return lead;
}

/* Could another dialect help? Not if rules of this one were created before. */
static bool
is_refused(const struct octo_dev *octo, int code)
{
	return (code == ENOTSUP || code == EINVAL) &&
	       (octo->dialects.made & RTE_BIT32(octo->dialects.now)) == 0 &&
	       octo_mpfs_switch_has_next(octo);
}

/*
 * The same, but in another dialect if this one is refused: some PMDs only parse the rules that they
 * validate. If all are refused, the dialect stays, and *error is about it.
 */
static struct octo_lead
create_lead(struct octo_dev *octo, const struct rte_flow *rule, uint8_t priority, uint8_t pf,
	    struct rte_flow_error *error)
{
	struct octo_lead lead = create_now(octo, rule, priority, pf, error);
	const uint8_t before = octo->dialects.now;

	if (lead.mpfs.h != NULL || !is_refused(octo, rte_errno))
		return lead;
	for (uint8_t i = 0; i < OCTO_NB_DIALECTS; i++) {
		if (i == before || !(octo->dialects.taken & RTE_BIT32(i)))
			continue;
		octo->dialects.now = i;
		lead = create_now(octo, rule, priority, pf, error);
		if (lead.mpfs.h == NULL)
			continue;
		OCTO_LOG(NOTICE,
			 "port %u: the NIC validates rules of dialect %s and refuses them: "
			 "dialect %s is used now",
			 octo->port_id, octo_dialect_get(before)->name, octo_dialect_get(i)->name);
		return lead;
	}
	octo->dialects.now = before;
	return create_now(octo, rule, priority, pf, error);
}

static int
switch_insert(struct octo_dev *octo, struct rte_flow *rule, uint8_t pf,
	      struct rte_flow_error *error)
{
	struct octo_lead lead;

	/* the rule waits for the next transfer proxy PF: see octo_failover.c */
	if (octo->proxy == OCTO_NO_PF)
		return 0;
	lead = create_lead(octo, rule, first_priority(rule), pf, error);
	if (lead.mpfs.h == NULL)
		return -rte_errno;
	/* a counter of a proxy that is gone: one of another proxy may have the same handle */
	octo_rule_hits_end_pf(rule, OCTO_KEPT_HITS_LEAD);
	rule->lead = lead;
	return 0;
}

static int
switch_remove(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	struct rte_flow *mpfs = octo_rule_mpfs(octo, rule);
	const struct octo_port *port;
	int ret = 0;

	if (mpfs != NULL) {
		port = &octo->port[rule->lead.proxy];
		ret = rte_flow_destroy(octo_port_usable_id(port), mpfs, error);
		ret = octo_flow_destroyed(port, ret, error);
	}
	if (ret == 0)
		octo_fanout_unlead(rule);
	return ret;
}

/* May the switch have refused because it has the old rule? It is full, or has one priority. */
static bool
may_lack_room(const struct octo_lead *refused, int ret)
{
	return refused->pf != OCTO_NO_PF &&
	       (octo_rule_says_full(ret) || ret == -EEXIST || ret == -EINVAL || ret == -ENOTSUP);
}

/*
 * Make before break: the new rule is installed at the other priority before the old one is
 * removed, so that no packet in between goes by the default PF.
 */
static int
switch_flip(struct octo_dev *octo, struct rte_flow *rule, uint8_t pf, struct rte_flow_error *error)
{
	/* a rule that was learned may be the application's by now */
	const uint8_t priority = first_priority(rule) | (~rule->lead.priority & 1);
	struct rte_flow *old = octo_rule_mpfs(octo, rule);
	struct octo_lead lead;

	if (octo->proxy == OCTO_NO_PF)
		return 0;
	lead = create_lead(octo, rule, priority, pf, error);
	if (lead.mpfs.h == NULL) {
		int ret = -rte_errno;

		if (!may_lack_room(&lead, ret))
			return ret;
		octo_rule_hits_keep_lead_locked(octo, rule);
		if (old != NULL && switch_remove(octo, rule, error) != 0)
			return ret;
		return switch_insert(octo, rule, pf, error);
	}
	octo_rule_hits_keep_lead_locked(octo, rule);
	if (old != NULL)
		rte_flow_destroy(octo_port_usable_id(&octo->port[rule->lead.proxy]), old, NULL);
	rule->lead = lead;
	return 0;
}

/* Only learned rules are counted by the switch: explicit ones are counted by the PFs. */
static bool
switch_counts(struct octo_dev *octo)
{
	struct switch_spec spec = {
		.tuple = &octo_tuple_example,
		.dialect = octo->dialects.now,
		.priority = OCTO_LEARNED_PRIORITY,
		.pf = octo->proxy,
		.count = true,
	};
	struct rte_flow_error error;

	if (octo->proxy == OCTO_NO_PF)
		return octo->learning.counted;
	spec.proxy = octo_proxy(octo)->port_id;
	return validate_rule(octo, &spec, &error) == 0;
}

static int
switch_query(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_query_count *count,
	     struct rte_flow_error *error)
{
	struct rte_flow *mpfs = octo_rule_mpfs(octo, rule);
	const struct octo_port *port;
	int ret;

	if (mpfs == NULL)
		return 0;
	port = &octo->port[rule->lead.proxy];
	ret = rte_flow_query(octo_port_usable_id(port), mpfs, octo_rule_hits_count, count, error);
	return ret == 0 ? 0 : octo_flow_blame(port, ret, error);
}

const struct octo_mpfs_ops octo_mpfs_switch_ops = {
	.name = "switch",
	.probe = switch_probe,
	.insert = switch_insert,
	.flip = switch_flip,
	.remove = switch_remove,
	.counts = switch_counts,
	.query = switch_query,
};
