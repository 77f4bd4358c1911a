/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The MPFS back end for an agent, on a machine whose switch belongs to another CPU. The agent
 * keeps its rules while the connection is down; a new session sends all of them again, and the
 * agent drops the others. See "The agent's protocol" in the guide.
 */

#include <errno.h>
#include <stdlib.h>

#include "octo_agent.h"
#include "octo_clock.h"
#include "octo_private.h"

/* How long packets are held for the agent's answers. */
#define PATIENCE_MS 100
/* Delay until a refused default PF is sent again. */
#define DEFAULT_RETRY_MS 1000
/* Why there is no room for another message. */
#define NOT_SO_FAR "it has not answered so far"
/* How often a thread without the mutex looks for an answer: see sleep_for() in octo_agent.c. */
#define LOOK_MIN_US UINT64_C(1000)
#define LOOK_MAX_US UINT64_C(16000)

static int
refuse(struct octo_dev *octo, int ret, const char *why, struct rte_flow_error *error)
{
	static __thread char text[OCTO_AGENT_TEXT_MAX + OCTO_AGENT_ADDR_TEXT_MAX + 16];

	snprintf(text, sizeof(text), "agent %s%s: %s", octo->agent->addr.text,
		 ret == -ENOTCONN ? " is away" : "", why);
	return octo_flow_fail(error, -ret, text);
}

struct octo_agent_msg
octo_mpfs_agent_msg(enum octo_agent_type type, const struct rte_flow *rule, uint8_t pf)
{
	return (struct octo_agent_msg){
		.type = type,
		.rule = {.tuple = rule->tuple, .queue = rule->queue, .pf = pf},
	};
}

int
octo_mpfs_agent_init(struct octo_dev *octo, const struct octo_args *args)
{
	if (args->agent[0] == '\0')
		return 0;
	if (args->has_tier && !octo_tier_has_mpfs(args->tier)) {
		OCTO_LOG(NOTICE, "%s: with tier=%s the agent is not used", args->port,
			 octo_tier_name(args->tier));
		return 0;
	}
	octo->agent = malloc(sizeof(*octo->agent));
	if (octo->agent == NULL) {
		OCTO_LOG(ERR, "%s: no memory for the agent", args->port);
		return -ENOMEM;
	}
	octo_agent_init(octo->agent, args->agent, &args->agent_secret, (uint8_t)octo->nb_pfs);
	return 0;
}

void
octo_mpfs_agent_fini(struct octo_dev *octo)
{
	if (octo->agent == NULL)
		return;
	octo_agent_close(octo->agent);
	free(octo->agent);
	octo->agent = NULL;
}

bool
octo_mpfs_agent_chooses_queues(const struct octo_dev *octo)
{
	return octo->agent != NULL && (octo->agent->flags & OCTO_AGENT_PLACES_QUEUES) != 0;
}

bool
octo_mpfs_agent_counts(struct octo_dev *octo)
{
	return octo->agent != NULL && (octo->agent->flags & OCTO_AGENT_COUNTS) != 0;
}

/*
 * Packets are held behind fences for the agent's answers, for PATIENCE_MS at most: then
 * delivering them matters more than their order.
 */
bool
octo_mpfs_agent_flips(const struct octo_dev *octo)
{
	return octo->agent != NULL && octo->agent->state == OCTO_AGENT_READY &&
	       octo->agent->nb_flips > 0 && octo_now() < octo->agent->flips_end;
}

void
octo_mpfs_agent_count_flip(struct octo_agent *agent)
{
	if (agent->nb_flips++ == 0)
		agent->flips_end = octo_deadline(PATIENCE_MS * 1000);
}

/* An agent that is away may have lost its rules: they are not ineffective then. */
bool
octo_mpfs_agent_may_lack(const struct octo_dev *octo, const struct rte_flow *rule)
{
	if (octo->agent == NULL)
		return false;
	return octo->agent->state != OCTO_AGENT_READY ||
	       (octo->agent_queues && rule->lead.pf == OCTO_NO_PF);
}

static void
put_was_answered(struct octo_dev *octo, const struct octo_agent_asked *asked, int ret)
{
	struct rte_flow *rule = asked->cookie;

	octo->agent->nb_flips--;
	/* the rule was removed meanwhile */
	if (rule == NULL)
		return;
	rule->crowded = ret != 0 && rule->lead.pf != OCTO_NO_PF;
	/* there may be room once all rules are sent and stale ones are dropped */
	rule->no_room = octo_rule_says_full(ret) && rule->lead.pf == OCTO_NO_PF &&
			!octo->agent_resyncing;
	if (ret == 0)
		rule->lead = octo_fanout_lead(octo, asked->pf);
	/* the queue may have another home since the message was sent */
	if (asked->pf != octo_topo_home_of(octo, rule->queue) || rule->crowded ||
	    octo_rule_is_unlearned(rule))
		octo_rule_store_look_again_locked(octo, rule->queue);
	else if (ret != 0 && !asked->awaited)
		octo_rule_store_refused_locked(octo, rule->queue);
	if (asked->awaited)
		return;
	if (ret == 0)
		octo_rule_ext_moved(octo, rule);
	else
		octo->agent->nb_refused++;
}

static void
default_was_answered(struct octo_dev *octo, uint8_t pf, int ret)
{
	struct octo_agent *agent = octo->agent;

	agent->nb_flips--;
	agent->default_asked = false;
	agent->default_refused = ret != 0;
	if (ret == 0) {
		agent->default_pf = pf;
		return;
	}
	agent->default_retry = octo_deadline(DEFAULT_RETRY_MS * 1000);
	OCTO_LOG(WARNING, "port %u: packets without a rule do not come by PF %s yet: agent %s: %s",
		 octo->port_id, octo->pf[pf].port->name, agent->addr.text, agent->why);
}

/* Nobody waits for that any more, and the rule is not there to be removed again. */
static void
remove_was_answered(struct octo_dev *octo, const struct octo_agent_asked *asked, int ret)
{
	struct octo_agent *agent = octo->agent;

	agent->nb_flips--;
	if (ret != 0 && ret != -ENOENT && !asked->awaited)
		OCTO_LOG(WARNING,
			 "port %u: a flow is steered, though its rule is removed: "
			 "agent %s: %s",
			 octo->port_id, agent->addr.text, agent->why);
}

/* The resync is complete: the agent has all rules, and has dropped those of earlier sessions. */
static void
sync_was_answered(struct octo_dev *octo, int ret)
{
	struct octo_agent *agent = octo->agent;

	agent->sync_asked = false;
	if (ret != 0)
		return;
	octo->agent_resyncing = false;
	if (agent->nb_refused > 0)
		OCTO_LOG(WARNING, "port %u: %u flows are not steered: agent %s: %s", octo->port_id,
			 agent->nb_refused, agent->addr.text, agent->why);
}

void
octo_mpfs_agent_hear_all(struct octo_dev *octo)
{
	struct octo_agent_asked asked;
	struct octo_agent_msg answer;
	int ret;

	while (octo_agent_hear(octo->agent, &asked, &answer, &ret) == 0) {
		if (asked.type == OCTO_AGENT_PUT)
			put_was_answered(octo, &asked, ret);
		else if (asked.type == OCTO_AGENT_REMOVE)
			remove_was_answered(octo, &asked, ret);
		else if (asked.type == OCTO_AGENT_DEFAULT)
			default_was_answered(octo, asked.pf, ret);
		else if (asked.type == OCTO_AGENT_SYNCED)
			sync_was_answered(octo, ret);
	}
}

/*
 * How long to wait under the mutex: octo_agent_wait(), octo_agent_wait_briefly() or
 * do_not_wait().
 */
typedef int (*patience_fn)(struct octo_agent *agent, uint64_t since);

static int
do_not_wait(struct octo_agent *agent, uint64_t since)
{
	RTE_SET_USED(agent);
	RTE_SET_USED(since);
	return -ETIMEDOUT;
}

/* Wait until the waiter is done or, if it is NULL, until there is room for another message. */
static int
await_agent(struct octo_dev *octo, const struct octo_agent_waiter *waiter, uint64_t since,
	    patience_fn patience)
{
	int ret = 0;

	octo_mpfs_agent_hear_all(octo);
	while (ret == 0 && !(waiter != NULL ? waiter->done : octo_agent_has_room(octo->agent))) {
		ret = patience(octo->agent, since);
		octo_mpfs_agent_hear_all(octo);
	}
	return ret;
}

static int
say_when_room(struct octo_dev *octo, struct octo_agent_msg *msg, void *cookie, uint64_t since,
	      patience_fn patience)
{
	const int ret = await_agent(octo, NULL, since, patience);

	return ret == 0 ? octo_agent_say(octo->agent, msg, cookie) : ret;
}

/* Returns the agent's answer: 0 or its negative errno, or what patience() returned. */
static int
hear_answer(struct octo_dev *octo, uint32_t seq, struct octo_agent_waiter *waiter, uint64_t since,
	    patience_fn patience)
{
	int ret;

	octo_agent_await(octo->agent, waiter, seq);
	ret = await_agent(octo, waiter, since, patience);
	LIST_REMOVE(waiter, next);
	return waiter->done ? waiter->ret : ret;
}

/*
 * Wait for the answer to a message after which the flow comes by another PF. -EINPROGRESS: there is
 * none so far, and octo_mpfs_agent_hear_all() handles it.
 */
static int
tell(struct octo_dev *octo, const struct octo_agent_msg *msg, uint64_t since, patience_fn patience)
{
	struct octo_agent_waiter waiter;
	int ret;

	octo_mpfs_agent_count_flip(octo->agent);
	ret = hear_answer(octo, msg->seq, &waiter, since, patience);
	return ret == -ETIMEDOUT && !waiter.done ? -EINPROGRESS : ret;
}

void
octo_mpfs_agent_say_synced(struct octo_dev *octo)
{
	struct octo_agent_msg synced = {.type = OCTO_AGENT_SYNCED};

	if (octo_agent_has_room(octo->agent))
		octo->agent->sync_asked = octo_agent_say(octo->agent, &synced, NULL) == 0;
}

static int
agent_probe(struct octo_dev *octo, struct rte_flow_error *error)
{
	octo->proxy = OCTO_NO_PF;
	if (octo->agent->state != OCTO_AGENT_READY)
		return refuse(octo, -ENOTCONN, octo->agent->why, error);
	/* an earlier process may have left rules, and this one may need their room at once */
	if (octo->agent_resyncing && TAILQ_EMPTY(&octo->rules) && !octo->agent->sync_asked)
		octo_mpfs_agent_say_synced(octo);
	return 0;
}

/*
 * While the agent is away the rule waits for it, and its packets come by the default PF into
 * the right queue, provided that the PFs have ARFS rules. A slow agent has the rule later, or
 * refuses it: octo_mpfs_agent_await_locked() and agent_settle() wait for that, and
 * put_was_answered() hears of it.
 */
static int
put_rule(struct octo_dev *octo, struct rte_flow *rule, uint8_t pf, patience_fn patience,
	 struct rte_flow_error *error)
{
	struct octo_agent *agent = octo->agent;
	struct octo_agent_msg msg = octo_mpfs_agent_msg(OCTO_AGENT_PUT, rule, pf);
	const struct octo_agent_asked *asked = octo_agent_find(agent, rule);
	const uint64_t since = octo_now();
	int ret;

	if (asked != NULL && asked->pf == pf)
		return 0;
	ret = say_when_room(octo, &msg, rule, since, patience);
	if (ret == -ETIMEDOUT)
		return refuse(octo, -EAGAIN, NOT_SO_FAR, error);
	if (ret == 0)
		ret = tell(octo, &msg, since, patience);
	if (ret == 0 || ret == -EINPROGRESS || (ret == -ENOTCONN && !octo->agent_queues))
		return 0;
	return refuse(octo, ret, agent->why, error);
}

static int
agent_insert(struct octo_dev *octo, struct rte_flow *rule, uint8_t pf, struct rte_flow_error *error)
{
	return put_rule(octo, rule, pf, octo_agent_wait_briefly, error);
}

/* The agent may not have executed an earlier message about the rule so far. */
static int
remove_rule(struct octo_dev *octo, struct rte_flow *rule, patience_fn patience,
	    struct rte_flow_error *error)
{
	struct octo_agent_msg msg = octo_mpfs_agent_msg(OCTO_AGENT_REMOVE, rule, 0);
	const bool asked = octo_agent_disown(octo->agent, rule);
	const uint64_t since = octo_now();
	int ret;

	/* an agent drops a rule that is not sent again in a new session */
	if (!asked && rule->lead.pf == OCTO_NO_PF)
		return 0;
	ret = say_when_room(octo, &msg, NULL, since, octo_agent_wait);
	octo_credit_waited(&octo->agent->credit, since);
	if (ret == 0)
		ret = tell(octo, &msg, since, patience);
	octo_fanout_unlead(rule);
	/* the agent does not know the rule, or will not be sent it again */
	if (ret == 0 || ret == -ENOENT || ret == -ENOTCONN || ret == -EINPROGRESS)
		return 0;
	return refuse(octo, ret, octo->agent->why, error);
}

static int
agent_remove(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	return remove_rule(octo, rule, octo_agent_wait_briefly, error);
}

/*
 * Many flows are led one after the other, so their answers are not waited for. The agent makes
 * before it breaks. If it refused, as its table is too full for that, remove the rule first.
 */
static int
agent_lead(struct octo_dev *octo, struct rte_flow *rule, uint8_t pf, struct rte_flow_error *error)
{
	int ret = 0;

	if (rule->crowded && await_agent(octo, NULL, octo_now(), do_not_wait) != 0)
		return refuse(octo, -EAGAIN, NOT_SO_FAR, error);
	/* an answer may have been heard */
	if (rule->crowded)
		ret = remove_rule(octo, rule, do_not_wait, error);
	rule->crowded = false;
	return ret == 0 ? put_rule(octo, rule, pf, do_not_wait, error) : ret;
}

/* For what cannot be undone when the agent refuses later; and there is room for what is next. */
static int
agent_settle(struct octo_dev *octo, struct rte_flow *rule)
{
	const struct octo_agent_asked *asked = octo_agent_find(octo->agent, rule);
	const uint64_t since = octo_now();
	struct octo_agent_waiter waiter;
	int ret;

	if (asked == NULL)
		ret = await_agent(octo, NULL, since, octo_agent_wait);
	else
		ret = hear_answer(octo, asked->seq, &waiter, since, octo_agent_wait);
	octo_credit_waited(&octo->agent->credit, since);
	return ret == -ENOTCONN && !octo->agent_queues ? 0 : ret;
}

/*
 * Wait for the agent's answer about a new rule. The mutex, which the caller holds once, is
 * released meanwhile: *rule becomes NULL if another thread removes the rule.
 */
int
octo_mpfs_agent_await_locked(struct octo_dev *octo, struct rte_flow **rule,
			     struct rte_flow_error *error)
{
	struct octo_agent_waiter waiter = {.rule = *rule};
	const struct octo_agent_asked *asked;
	uint64_t us = LOOK_MIN_US;

	if (octo->agent == NULL || octo->lock_depth > 1)
		return 0;
	asked = octo_agent_find(octo->agent, *rule);
	if (asked == NULL)
		return 0;
	octo_agent_await(octo->agent, &waiter, asked->seq);
	while (!waiter.done) {
		octo_unlock(octo);
		octo_sleep_us(us);
		us = RTE_MIN(2 * us, LOOK_MAX_US);
		octo_lock(octo);
		octo_agent_look(octo->agent);
		octo_mpfs_agent_hear_all(octo);
	}
	LIST_REMOVE(&waiter, next);
	*rule = waiter.rule;
	if (*rule == NULL)
		return octo_flow_fail(error, ECANCELED,
				      "the rule was removed before the agent answered");
	if (waiter.ret == 0 || (waiter.ret == -ENOTCONN && !octo->agent_queues))
		return 0;
	return refuse(octo, waiter.ret,
		      waiter.ret == -ENOTCONN ? octo->agent->why : waiter.answer.result.text,
		      error);
}

bool
octo_mpfs_agent_is_asked(const struct octo_dev *octo, const struct rte_flow *rule)
{
	return octo->agent != NULL && octo_agent_find(octo->agent, rule) != NULL;
}

static int
agent_query(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_query_count *count,
	    struct rte_flow_error *error)
{
	struct octo_agent_msg msg = octo_mpfs_agent_msg(OCTO_AGENT_QUERY, rule, 0);
	struct octo_rule_ext *ext = octo_rule_ext_get(octo, rule);
	struct octo_agent_waiter waiter;
	const struct octo_agent_msg *answer = &waiter.answer;
	const uint64_t since = octo_now();
	int ret;

	if (ext == NULL)
		return octo_flow_fail(error, ENOMEM, "no memory for the counters of the rule");
	ret = say_when_room(octo, &msg, NULL, since, octo_agent_wait);
	if (ret == 0)
		ret = hear_answer(octo, msg.seq, &waiter, since, octo_agent_wait);
	octo_credit_waited(&octo->agent->credit, since);
	if (ret != 0)
		return refuse(octo, ret, octo->agent->why, error);
	if (answer->type != OCTO_AGENT_COUNT)
		return refuse(octo, -EPROTO, "it does not answer with counters", error);
	/* the agent was restarted, and its counters with it */
	if (answer->count.hits < ext->agent_base.hits)
		memset(&ext->agent_base, 0, sizeof(ext->agent_base));
	count->hits_set = 1;
	count->bytes_set = 1;
	count->hits = answer->count.hits - ext->agent_base.hits;
	count->bytes = answer->count.bytes - ext->agent_base.bytes;
	if (count->reset) {
		ext->agent_base.hits = answer->count.hits;
		ext->agent_base.bytes = answer->count.bytes;
	}
	return 0;
}

const struct octo_mpfs_ops octo_mpfs_agent_ops = {
	.name = "agent",
	.probe = agent_probe,
	.insert = agent_insert,
	.lead = agent_lead,
	.settle = agent_settle,
	.remove = agent_remove,
	.counts = octo_mpfs_agent_counts,
	.query = agent_query,
	.flips = octo_mpfs_agent_flips,
};
