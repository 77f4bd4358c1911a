/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The executor: brings the rules of the NIC to what is wanted, in slices, so that other threads
 * get the mutex in between. A change of what is wanted marks a queue, or all: a queue has a new
 * home, a PF is lost or has come, there is another transfer proxy, a rule was refused.
 */

#include <errno.h>

#include "octo_clock.h"
#include "octo_private.h"

/* A slice ends after so many rules, or after this time. */
#define SLICE_RULES 64
#define SLICE_US 50

static void
mark(struct octo_dev *octo, uint8_t lost, bool all)
{
	for (uint16_t i = 0; i < octo_data(octo)->nb_rx_queues; i++) {
		octo->sync.queue[i].retry = 0;
		if (all || octo->sync.queue[i].home == lost ||
		    (octo->sync.queue[i].walking && octo->sync.queue[i].target == lost))
			octo_rule_store_mark_queue_locked(octo, i);
	}
}

void
octo_sync_mark_flows_locked(struct octo_dev *octo)
{
	mark(octo, OCTO_NO_PF, true);
}

void
octo_sync_mark_lost_locked(struct octo_dev *octo, uint8_t lost)
{
	mark(octo, lost, false);
}

/* The part of a walk that one hold of the mutex does. */
struct slice {
	uint64_t end;   /* TSC */
	unsigned int n; /* changes on the port, so far */
};

static bool
goes_on(const struct slice *s)
{
	return s->n < SLICE_RULES && octo_now() < s->end;
}

static int
arm_home(struct octo_dev *octo, uint16_t queue, struct slice *s)
{
	int ret = octo_fence_arm_home_locked(octo, queue, octo->sync.queue[queue].target);

	/* arming may have waited for a burst: the slice's time starts here */
	if (ret == 0 && s->n++ == 0)
		s->end = octo_deadline(SLICE_US);
	return ret;
}

/*
 * What names the queue may name others, too, whose legs it leads to are old ones: writing it gives
 * it the new ones of all. Returns 0, or -EBUSY when a fence has to close first.
 */
static int
arm_divided(struct octo_dev *octo, const struct rte_flow_action actions[])
{
	int ret = 0;

	for (uint16_t i = 0; ret == 0 && i < octo_data(octo)->nb_rx_queues; i++)
		if (octo->sync.queue[i].divided && octo_app_spec_names_queue(actions, i))
			ret = octo_fence_arm_home_locked(octo, i, octo->leg_pf[i]);
	return ret;
}

static void
flip_divided(struct octo_dev *octo)
{
	for (uint16_t i = 0; i < octo_data(octo)->nb_rx_queues; i++)
		if (octo->sync.queue[i].divided)
			octo_fence_flipped_locked(octo, i);
}

/* Does it name the queue, and was written before that got the leg of now? */
static bool
leads_elsewhere(const struct octo_dev *octo, const struct rte_flow_action actions[],
		uint64_t written, uint16_t queue)
{
	return written < octo->sync.queue[queue].led && octo_app_spec_names_queue(actions, queue);
}

static int
lead_handle(struct octo_dev *octo, struct rte_flow_action_handle *handle, uint16_t queue,
	    struct slice *s)
{
	const struct rte_flow_action list[] = {*handle->action, {.type = RTE_FLOW_ACTION_TYPE_END}};
	int ret;

	if (!leads_elsewhere(octo, list, handle->written, queue))
		return 0;
	s->n++;
	ret = arm_divided(octo, list);
	if (ret == 0)
		ret = octo_indirect_update_on_pf(octo, handle, 0, handle->action, NULL);
	if (ret == 0)
		handle->written = octo->sync.legs;
	return ret;
}

/* A rule that the port lacks is tried again with the queue that octo_fanout_lose() marked. */
static int
lead_rule(struct octo_dev *octo, struct rte_flow *rule, uint16_t queue, struct slice *s)
{
	const struct rte_flow_action *actions = rule->ext->app_spec.rule->actions_ro;
	int ret;

	if (octo_rule_on(octo, rule, 0) == NULL ?
		    queue != rule->queue :
		    !leads_elsewhere(octo, actions, rule->ext->written, queue))
		return 0;
	s->n++;
	ret = arm_divided(octo, actions);
	if (ret == 0)
		ret = octo_rule_list_write_locked(octo, rule);
	if (ret == 0)
		rule->ext->written = octo->sync.legs;
	return ret;
}

static void
end_naming(struct octo_sync_queue *q)
{
	q->naming = false;
	q->divided = q->astray != 0;
	q->failed += q->astray;
}

/* Indirect actions, then rules of several flows. */
static void
lead_next(struct octo_dev *octo, uint16_t queue, struct slice *s)
{
	struct octo_sync_queue *q = &octo->sync.queue[queue];
	struct rte_flow_action_handle *const handle = octo->sync.handle;
	struct rte_flow *const rule = octo->sync.cursor[OCTO_CURSOR_NAMING];

	if (handle != NULL) {
		octo->sync.handle = TAILQ_NEXT(handle, next);
		q->astray += lead_handle(octo, handle, queue, s) != 0;
	} else if (rule != NULL) {
		octo->sync.cursor[OCTO_CURSOR_NAMING] = TAILQ_NEXT(rule, next);
		q->astray += lead_rule(octo, rule, queue, s) != 0;
	} else {
		end_naming(q);
	}
}

/* Another queue has the cursors. */
static bool
must_wait(const struct octo_dev *octo, uint16_t queue)
{
	const struct octo_sync_queue *other = &octo->sync.queue[octo->sync.naming];

	return octo->sync.naming != queue && other->walking && other->naming;
}

/*
 * The RETA, from which the walk over the others follows. These stay where they are if the port
 * refuses the RETA: their way back would need another fence.
 */
static void
begin_naming(struct octo_dev *octo, uint16_t queue)
{
	struct octo_sync_queue *q = &octo->sync.queue[queue];
	const uint8_t before = octo->leg_pf[queue];

	octo->leg_pf[queue] = q->target;
	if (octo_rss_lead_queue_locked(octo, queue) != 0) {
		octo->leg_pf[queue] = before;
		q->no_reta = true;
		return;
	}
	if (before != q->target)
		q->led = ++octo->sync.legs;
	q->naming = true;
	q->divided = true;
	q->astray = 0;
	octo->sync.naming = queue;
	octo->sync.handle = TAILQ_FIRST(&octo->indirects);
	octo->sync.cursor[OCTO_CURSOR_NAMING] = TAILQ_FIRST(&octo->others);
}

/*
 * Of slices, what names a queue and no flow follows after the last flow, in the same arm if these
 * are few: the RETA, indirect actions, and rules of several flows. Returns as walk(). What but the
 * RETA is refused counts as a flow.
 */
static int
lead_named(struct octo_dev *octo, uint16_t queue, struct slice *s)
{
	struct octo_sync_queue *q = &octo->sync.queue[queue];
	int ret;

	if (!octo->sliced ||
	    (!q->naming && octo->leg_pf[queue] == q->target && !q->divided && !octo->reta_stale))
		return 0;
	if (s->n > 0 && !goes_on(s))
		return -EAGAIN;
	ret = must_wait(octo, queue) ? -EBUSY : arm_home(octo, queue, s);
	if (ret != 0) {
		/* a queue that nothing polls has an open fence: others may have the cursors */
		q->naming = false;
		return ret;
	}
	if (!q->naming)
		begin_naming(octo, queue);
	while (q->naming && goes_on(s))
		lead_next(octo, queue, s);
	flip_divided(octo);
	return q->naming ? -EAGAIN : 0;
}

/* Put the rule of a flow back on PFs that lost it. */
static int
complete(struct octo_dev *octo, struct rte_flow *rule, struct slice *s)
{
	const uint32_t ports = octo_fanout_lacking(octo, rule);

	if (ports == 0)
		return 0;
	s->n++;
	return octo_fanout_join_locked(octo, rule, ports, NULL);
}

/* As walk(), of the flows alone. */
static int
lead_flows(struct octo_dev *octo, uint16_t queue, struct slice *s)
{
	struct octo_sync_queue *q = &octo->sync.queue[queue];
	int ret;

	while (q->next != NULL && goes_on(s)) {
		struct rte_flow *rule = q->next;

		if (octo_rule_is_unlearned(rule)) {
			/* it leaves the queue, and q->next is the one after it */
			octo_hooks->unlearn_locked(octo, rule);
			s->n++;
			continue;
		}
		if (q->lacking)
			q->failed += complete(octo, rule, s) != 0;
		if (octo_tier_has_mpfs(octo->tier) && !octo_rule_leads_to(octo, rule, q->target) &&
		    !rule->pending && !rule->rejected) {
			ret = arm_home(octo, queue, s);
			if (ret != 0)
				return ret;
			ret = octo_fanout_lead_to_locked(octo, rule, q->target);
			/* a slow agent has no room for another message: go on when it has */
			if (ret == -EAGAIN && octo->agent != NULL)
				return -EBUSY;
			q->failed += ret != 0;
			octo_rule_ext_moved(octo, rule);
		}
		q->next = TAILQ_NEXT(rule, next_of_queue);
	}
	return q->next != NULL ? -EAGAIN : 0;
}

/*
 * Lead a slice of the queue's flows home. Returns 0 when all were visited, -EAGAIN when some are
 * left, or -EBUSY when another fence of the queue has to close first, or an agent has to answer.
 */
static int
walk(struct octo_dev *octo, uint16_t queue)
{
	struct octo_sync_queue *q = &octo->sync.queue[queue];
	struct slice s = {.end = octo_deadline(SLICE_US)};
	int ret;

	if (!octo_tier_has_mpfs(octo->tier) && !q->lacking)
		q->next = NULL;
	ret = lead_flows(octo, queue, &s);
	/* fences that were armed before stay as they are */
	if (ret == -EBUSY)
		return ret;
	if (ret == 0)
		ret = lead_named(octo, queue, &s);
	octo_fence_flipped_locked(octo, queue);
	return ret;
}

/*
 * A flow that failed to follow arrives as a stray: log once, try again after a delay. That the
 * kernel refuses the RETA is logged by octo_ethtool_ops.c, with the reason.
 */
static void
put_off(struct octo_dev *octo, uint16_t queue, unsigned int failed, bool reta)
{
	struct octo_sync_queue *q = &octo->sync.queue[queue];
	char name[OCTO_PF_NAME_MAX];

	octo_pf_format(octo, q->target, name, sizeof(name));
	if (q->retry == 0 && reta && !octo->port[0].kernel.on)
		OCTO_LOG(WARNING, "port %u: the RETA does not follow queue %u to PF %s yet",
			 octo->port_id, queue, name);
	if (q->retry == 0 && failed > 0 && q->lacking)
		OCTO_LOG(WARNING, "port %u: PFs still lack rules of %u flows of queue %u",
			 octo->port_id, failed, queue);
	else if (q->retry == 0 && failed > 0)
		OCTO_LOG(WARNING, "port %u: %u flows of queue %u do not follow it to PF %s yet",
			 octo->port_id, failed, queue, name);
	q->retry = octo_next_try(&q->pause_ms);
}

static void
end_walk(struct octo_dev *octo, uint16_t queue)
{
	struct octo_sync_queue *q = &octo->sync.queue[queue];

	q->walking = false;
	if (q->again)
		return;
	if (q->failed != 0 || q->no_reta) {
		put_off(octo, queue, q->failed, q->no_reta);
		return;
	}
	q->home = q->target;
	q->lacking = false;
	octo->fences.rehomes++;
	/* an agent that is slow may refuse yet */
	if (octo_mpfs_agent_flips(octo))
		return;
	q->retry = 0;
	q->pause_ms = 0;
}

/* Returns whether another slice can follow at once. */
static bool
sync_queue(struct octo_dev *octo, uint16_t queue)
{
	const uint8_t home = octo_topo_home_of(octo, queue);
	struct octo_sync_queue *q = &octo->sync.queue[queue];
	int ret;

	/* the delay is of flows that failed to follow to another PF */
	if (home != q->target)
		q->retry = 0;
	if (q->refused && octo_now() >= q->retry) {
		q->target = home;
		put_off(octo, queue, 1, false);
	}
	q->refused = false;
	if ((home == q->home && !octo->reta_stale) || octo_now() < q->retry)
		return false;
	if (!q->walking || q->target != home) {
		q->walking = true;
		q->naming = false;
		q->target = home;
		q->failed = 0;
		q->no_reta = false;
		q->again = false;
		q->next = TAILQ_FIRST(&octo->queue_rules[queue]);
	}
	q->home = OCTO_NO_PF;
	ret = walk(octo, queue);
	/* marked meanwhile: the first flow is next */
	if (!q->walking)
		return true;
	if (ret == 0)
		end_walk(octo, queue);
	return ret == -EAGAIN;
}

static bool
is_on_a_port(const struct octo_dev *octo, const struct rte_flow *rule)
{
	for (uint8_t port = 0; port < octo->nb_ports; port++)
		if (octo_rule_on(octo, rule, port) != NULL)
			return true;
	return false;
}

/* Of those without a 5-tuple: a transfer rule is on one port, another on all. */
static bool
is_missing(const struct octo_dev *octo, const struct rte_flow *rule)
{
	if (octo_fanout_is_transfer(rule))
		return !rule->pending && !rule->rejected && !is_on_a_port(octo, rule);
	return rule->ext->lost && octo_fanout_lacking(octo, rule) != 0;
}

static void
say_missing(struct octo_dev *octo, unsigned int failed, const struct rte_flow_error *error)
{
	if (failed > 0 && !octo->sync.others_logged)
		OCTO_LOG(WARNING, "port %u: %u rules are not on the switch, or on all PFs, yet: %s",
			 octo->port_id, failed,
			 error->message != NULL ? error->message : "unknown");
	octo->sync.others_logged = failed > 0;
}

static int
put_back(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	return octo_fanout_is_transfer(rule) ?
		       octo_rule_install_locked(octo, rule, error) :
		       octo_fanout_join_locked(octo, rule, UINT32_MAX, error);
}

/*
 * Insert transfer rules that waited for a PF or for its transfer proxy, and rules of many flows
 * that a PF has lost. Those that are missing yet are tried again after a delay: a NIC may name a
 * proxy that is gone until it has another.
 */
static void
sync_others(struct octo_dev *octo)
{
	struct octo_sync *sync = &octo->sync;
	struct rte_flow_error error = {.message = NULL};
	struct rte_flow *rule;
	unsigned int failed = 0;

	sync->others = false;
	octo_rule_list_name_again_locked(octo);
	TAILQ_FOREACH(rule, &octo->others, next) {
		if (!is_missing(octo, rule))
			continue;
		failed += put_back(octo, rule, &error) != 0;
		sync->others |= is_missing(octo, rule);
	}
	say_missing(octo, failed, &error);
	if (sync->others)
		sync->others_retry = octo_next_try(&sync->others_pause_ms);
	else
		sync->others_pause_ms = 0;
}

/*
 * No rule of the switch is to lead to a PF that lacks rules yet, or is given back as it cannot have
 * them.
 */
static bool
is_any_without_rules(const struct octo_dev *octo)
{
	for (uint8_t port = 0; port < octo->nb_ports; port++)
		if (octo_port_may_lack_rules(octo, port))
			return true;
	return false;
}

bool
octo_sync_step_locked(struct octo_dev *octo)
{
	const struct rte_eth_dev_data *data = octo_data(octo);
	bool more = false;

	octo_assert_locked(octo);
	if (octo->sync.others && octo_now() >= octo->sync.others_retry &&
	    !is_any_without_rules(octo))
		sync_others(octo);
	for (uint16_t i = 0; i < data->nb_rx_queues; i++)
		if (data->rx_queues[i] != NULL)
			more |= sync_queue(octo, i);
	return more;
}

static bool
is_settled(const struct octo_sync_queue *q, uint8_t home)
{
	return q->home == home || (q->retry != 0 && q->target == home);
}

bool
octo_sync_is_done_locked(const struct octo_dev *octo)
{
	const struct rte_eth_dev_data *data = octo_data(octo);

	octo_assert_locked(octo);
	for (uint16_t i = 0; i < data->nb_rx_queues; i++)
		if (data->rx_queues[i] != NULL &&
		    !is_settled(&octo->sync.queue[i], octo_topo_home_of(octo, i)))
			return false;
	return true;
}

void
octo_sync_stop_locked(struct octo_dev *octo)
{
	octo_assert_locked(octo);
	for (unsigned int i = 0; i < RTE_DIM(octo->sync.queue); i++) {
		octo->sync.queue[i].walking = false;
		/* rules and indirect actions are written anew at the next start */
		octo->sync.queue[i].divided = false;
	}
	octo->sync.others = false;
}

void
octo_sync_port_begin_locked(struct octo_dev *octo, uint8_t port)
{
	octo_assert_locked(octo);
	octo->sync.joining = (struct octo_sync_port){.port = port};
	octo->sync.cursor[OCTO_CURSOR_PORT] = TAILQ_FIRST(&octo->rules);
}

void
octo_sync_port_again_locked(struct octo_dev *octo, uint8_t port)
{
	struct octo_draining *d = &octo->port[port].draining;

	octo_assert_locked(octo);
	if (octo_port_is_any_joining(octo) || octo_sync_port_is_tried_again(octo, port))
		return;
	if (d->retry == 0)
		d->retry = octo_next_try(&d->pause_ms);
	if (octo_now() < d->retry)
		return;
	octo_sync_port_begin_locked(octo, port);
	octo->sync.joining.again = true;
	octo->sync.joining.ret = octo_indirect_join_locked(octo);
}

bool
octo_sync_port_is_tried_again(const struct octo_dev *octo, uint8_t port)
{
	return octo->sync.joining.again && octo->sync.joining.port == port &&
	       octo_port_is_kept(octo, port);
}

/* The next rule to insert, or NULL after the last. Rules created since are on the port already. */
static struct rte_flow *
next_of_port(struct octo_dev *octo)
{
	return octo_rule_store_next_locked(octo, OCTO_CURSOR_PORT, &octo->sync.joining.others);
}

static void
log_refusal(const struct octo_dev *octo, const struct rte_flow_error *error)
{
	const struct octo_port *port = &octo->port[octo->sync.joining.port];

	if (!port->fsm.logged)
		OCTO_LOG(ERR, "port %u: PF %s cannot have the rules of the others: %s",
			 octo->port_id, port->name,
			 error->message != NULL ? error->message :
						  rte_strerror(-octo->sync.joining.ret));
}

/* Returns whether the walk goes on: one that tries again what was refused visits all rules. */
static bool
join_next(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	struct octo_sync_port *joining = &octo->sync.joining;
	int ret = 0;

	if (!octo_fanout_is_transfer(rule))
		ret = octo_fanout_join_locked(octo, rule, RTE_BIT32(joining->port), error);
	/* the only rule of a flow is tried again with its queue */
	if (joining->again && joining->ret == 0 && !octo_rule_is_sole(octo, rule))
		joining->ret = ret;
	return joining->again || joining->ret == 0;
}

int
octo_sync_port_locked(struct octo_dev *octo)
{
	const uint64_t end = octo_deadline(SLICE_US);
	struct rte_flow_error error = {.message = NULL};
	const struct octo_sync_port *joining = &octo->sync.joining;
	bool more = joining->again || joining->ret == 0;

	octo_assert_locked(octo);
	/* pending operations of flow queues do not include this port, which has no such queues */
	octo_async_settle_locked(octo);
	for (unsigned int n = 0; more && n < SLICE_RULES && octo_now() < end; n++) {
		struct rte_flow *rule = next_of_port(octo);

		if (rule == NULL)
			return joining->ret;
		more = join_next(octo, rule, &error);
	}
	if (more)
		return 1;
	log_refusal(octo, &error);
	return joining->ret;
}
