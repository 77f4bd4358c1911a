/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The MPFS behind an agent, on a machine whose switch belongs to another CPU.
 * The agent keeps the rules while the connection is down; a new session puts
 * them all again, and the agent drops what was not put. See "The agent's
 * protocol" in the guide.
 */

#include <errno.h>
#include <stdlib.h>

#include "octo_agent.h"
#include "octo_clock.h"
#include "octo_fence.h"
#include "octo_private.h"

/* How long a start waits for the agent; after that it may come when it likes. */
#define START_MS 500
/* How long rules are put again in one go: control operations wait meanwhile. */
#define REPLAY_MS 20
/* How long one waits for fences that may never close. */
#define PATIENCE_MS 100
/* How soon an agent is told its default PF again that has refused it. */
#define DEFAULT_RETRY_MS 1000

static int
refuse(struct octo_dev *octo, int ret, struct rte_flow_error *error)
{
	static __thread char text[OCTO_AGENT_TEXT_MAX + OCTO_AGENT_ADDR_TEXT_MAX + 16];

	snprintf(text, sizeof(text), "agent %s%s: %s", octo->agent->addr.text,
		 ret == -ENOTCONN ? " is away" : "", octo->agent->why);
	return rte_flow_error_set(error, -ret, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, text);
}

static struct octo_agent_msg
msg_of(enum octo_agent_type type, const struct rte_flow *rule, uint8_t pf)
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
	octo_agent_init(octo->agent, args->agent, (uint8_t)octo->nb_pfs);
	return 0;
}

void
octo_mpfs_agent_fini(struct octo_dev *octo)
{
	if (octo->agent == NULL)
		return;
	octo_agent_fini(octo->agent);
	free(octo->agent);
	octo->agent = NULL;
}

bool
octo_mpfs_agent_places_queues(const struct octo_dev *octo)
{
	return octo->agent != NULL && (octo->agent->flags & OCTO_AGENT_PLACES_QUEUES) != 0;
}

bool
octo_mpfs_agent_counts(const struct octo_dev *octo)
{
	return octo->agent != NULL && (octo->agent->flags & OCTO_AGENT_COUNTS) != 0;
}

/*
 * An agent that is away may have taken its rules with it; whose rule is not
 * there is not at fault.
 */
bool
octo_mpfs_agent_may_lack(const struct octo_dev *octo, const struct rte_flow *rule)
{
	if (octo->agent == NULL)
		return false;
	return octo->agent->state != OCTO_AGENT_READY ||
	       (octo->agent_queues && rule->pf == OCTO_NO_PF);
}

static void
start_replay(struct octo_dev *octo)
{
	struct rte_flow *rule;

	TAILQ_FOREACH(rule, &octo->rules, next) {
		rule->pf = OCTO_NO_PF;
		octo_rule_notes_moved(octo, rule);
	}
	octo_rule_part_forget_switch(octo);
	octo->agent->default_pf = OCTO_NO_PF;
	octo->agent->default_retry = 0;
	octo->agent_replay = TAILQ_FIRST(&octo->rules);
	octo->agent_replaying = true;
}

/* All rules were put: what is left of sessions before goes. */
static void
finish_replay(struct octo_dev *octo)
{
	struct octo_agent_msg synced = {.type = OCTO_AGENT_SYNCED};
	struct octo_agent_msg answer;

	if (octo_agent_ask(octo->agent, &synced, &answer) == 0)
		octo->agent_replaying = false;
}

static int
agent_probe(struct octo_dev *octo, struct rte_flow_error *error)
{
	const uint64_t session = octo->agent->sessions;

	octo->manager = OCTO_NO_PF;
	if (!octo_agent_await(octo->agent, START_MS))
		return refuse(octo, -ENOTCONN, error);
	if (octo->agent->sessions != session)
		start_replay(octo);
	/* an earlier process may have left rules, and this one may need their room at once */
	if (octo->agent_replaying && TAILQ_EMPTY(&octo->rules))
		finish_replay(octo);
	return 0;
}

/*
 * While the agent is away a rule waits for it, and its packets come by the
 * default PF into the right queue; but only if the PFs know that queue.
 */
static int
agent_insert(struct octo_dev *octo, struct rte_flow *rule, uint8_t pf, struct rte_flow_error *error)
{
	struct octo_agent_msg msg = msg_of(OCTO_AGENT_PUT, rule, pf);
	struct octo_agent_msg answer;
	int ret = octo_agent_ask(octo->agent, &msg, &answer);

	if (ret == 0) {
		rule->pf = pf;
		rule->stale = false;
	}
	if (ret == -ENOTCONN && !octo->agent_queues)
		return 0;
	return ret == 0 ? 0 : refuse(octo, ret, error);
}

static int
agent_remove(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_error *error)
{
	struct octo_agent_msg msg = msg_of(OCTO_AGENT_REMOVE, rule, 0);
	struct octo_agent_msg answer;
	int ret;

	if (octo->agent_replay == rule)
		octo->agent_replay = TAILQ_NEXT(rule, next);
	/* what is not put again in a new session goes by itself */
	if (rule->pf == OCTO_NO_PF)
		return 0;
	ret = octo_agent_ask(octo->agent, &msg, &answer);
	rule->pf = OCTO_NO_PF;
	/* a rule that it does not know, or does not get to know again, is gone */
	if (ret == 0 || ret == -ENOENT || ret == -ENOTCONN)
		return 0;
	return refuse(octo, ret, error);
}

/* The agent makes before it breaks, for which a full table has no room: then it is broken first. */
static int
agent_flip(struct octo_dev *octo, struct rte_flow *rule, uint8_t pf, struct rte_flow_error *error)
{
	int ret = agent_insert(octo, rule, pf, error);

	if (ret == 0 || ret == -ENOTCONN || agent_remove(octo, rule, error) != 0)
		return ret;
	return agent_insert(octo, rule, pf, error);
}

static bool
agent_counts(struct octo_dev *octo)
{
	return octo_mpfs_agent_counts(octo);
}

static int
agent_query(struct octo_dev *octo, struct rte_flow *rule, struct rte_flow_query_count *count,
	    struct rte_flow_error *error)
{
	struct octo_agent_msg msg = msg_of(OCTO_AGENT_QUERY, rule, 0);
	struct octo_notes *notes = octo_rule_notes_get(octo, rule);
	struct octo_agent_msg answer;
	int ret;

	if (notes == NULL)
		return rte_flow_error_set(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					  "no memory for the counters of the rule");
	ret = octo_agent_ask(octo->agent, &msg, &answer);
	if (ret != 0)
		return refuse(octo, ret, error);
	if (answer.type != OCTO_AGENT_COUNT)
		return refuse(octo, -EPROTO, error);
	/* the agent began anew, and so did its counters */
	if (answer.count.hits < notes->agent_base.hits)
		memset(&notes->agent_base, 0, sizeof(notes->agent_base));
	count->hits_set = 1;
	count->bytes_set = 1;
	count->hits = answer.count.hits - notes->agent_base.hits;
	count->bytes = answer.count.bytes - notes->agent_base.bytes;
	if (count->reset) {
		notes->agent_base.hits = answer.count.hits;
		notes->agent_base.bytes = answer.count.bytes;
	}
	return 0;
}

/*
 * A flow that came by the default PF comes by its home when its rule is put, behind a
 * fence. One that is in the way is closed soon, unless nobody polls its queue: then
 * nobody is confused.
 */
static bool
may_put(struct octo_dev *octo, const struct rte_flow *rule, uint8_t home)
{
	struct octo_agent *agent = octo->agent;

	if (octo_fence_arm_home_locked(octo, rule->queue, home) == 0) {
		agent->patient_until = 0;
		return true;
	}
	if (agent->patient_until == 0)
		agent->patient_until = octo_ctrl_deadline(PATIENCE_MS * 1000);
	return octo_now() >= agent->patient_until;
}

static void
try_again_later(const struct octo_dev *octo, uint16_t queue)
{
	struct octo_rxq *q = octo_data(octo)->rx_queues[queue];

	q->rules_home = OCTO_NO_PF;
}

/* Says as many as may be put now, up to a window. Returns how many. */
static unsigned int
put_window(struct octo_dev *octo, struct rte_flow **rules, struct octo_agent_msg *msg)
{
	unsigned int n = 0;

	for (struct rte_flow *r = octo->agent_replay; r != NULL && n < OCTO_AGENT_WINDOW;
	     r = TAILQ_NEXT(r, next)) {
		const uint8_t home = octo_rule_home(octo, r->queue);

		if (!may_put(octo, r, home))
			break;
		msg[n] = msg_of(OCTO_AGENT_PUT, r, home);
		if (octo_agent_say(octo->agent, &msg[n]) != 0)
			break;
		rules[n++] = r;
	}
	return n;
}

/*
 * Some rules, from octo->agent_replay on. Returns false if no more can be put now; adds
 * how many it could not take.
 */
static bool
replay_window(struct octo_dev *octo, unsigned int *failed)
{
	struct rte_flow *rules[OCTO_AGENT_WINDOW];
	struct octo_agent_msg msg[OCTO_AGENT_WINDOW];
	const unsigned int n = put_window(octo, rules, msg);
	struct octo_agent_msg answer;
	bool go_on = n > 0;

	for (unsigned int i = 0; i < n; i++) {
		int ret = octo_agent_hear(octo->agent, msg[i].seq, &answer);

		go_on = ret != -ENOTCONN;
		if (!go_on)
			break;
		if (ret == 0) {
			rules[i]->pf = msg[i].rule.pf;
			octo_rule_notes_moved(octo, rules[i]);
		} else {
			/* once the rest is there, and what is stale is gone, there may be room */
			try_again_later(octo, rules[i]->queue);
			(*failed)++;
		}
		octo->agent_replay = TAILQ_NEXT(rules[i], next);
	}
	octo_fence_flipped_all_locked(octo);
	return go_on;
}

static void
replay(struct octo_dev *octo)
{
	const uint64_t end = octo_truth_now() + REPLAY_MS;
	unsigned int failed = 0;

	while (octo->agent_replay != NULL && octo_truth_now() <= end)
		if (!replay_window(octo, &failed))
			break;
	if (failed > 0)
		OCTO_LOG(WARNING, "port %u: %u flows are not steered: agent %s: %s", octo->port_id,
			 failed, octo->agent->addr.text, octo->agent->why);
	if (octo->agent_replay == NULL)
		finish_replay(octo);
}

static void
tell_default(struct octo_dev *octo, uint8_t pf)
{
	struct octo_agent_msg msg = {.type = OCTO_AGENT_DEFAULT, .default_pf = pf};
	struct octo_agent_msg answer;
	int ret;

	octo_fence_hold_leg_locked(octo, pf);
	ret = octo_agent_ask(octo->agent, &msg, &answer);
	octo_fence_flipped_all_locked(octo);
	if (ret == 0) {
		octo->agent->default_pf = pf;
		return;
	}
	octo->agent->default_retry = octo_ctrl_deadline(DEFAULT_RETRY_MS * 1000);
	if (ret != -ENOTCONN)
		OCTO_LOG(WARNING,
			 "port %u: what has no rule does not come by PF %s yet: agent %s: %s",
			 octo->port_id, octo->pf[pf].name, octo->agent->addr.text,
			 octo->agent->why);
}

/*
 * What has no rule comes by the first PF that is of use. From one that is lost it goes
 * at once, and home again when no fence is in its way.
 */
static void
follow_default(struct octo_dev *octo)
{
	const struct octo_agent *agent = octo->agent;
	const uint32_t usable = octo->plan.usable;
	uint8_t pf;

	if (agent->state != OCTO_AGENT_READY || !(agent->flags & OCTO_AGENT_DEFAULTS) ||
	    usable == 0 || octo_now() < agent->default_retry)
		return;
	pf = (uint8_t)__builtin_ctz(usable);
	if (pf == agent->default_pf)
		return;
	if (agent->default_pf == OCTO_NO_PF || !(usable & RTE_BIT32(agent->default_pf)) ||
	    !octo_replay_must_wait_locked(octo, pf))
		tell_default(octo, pf);
}

/*
 * From the control thread, often. A tier that was dropped as its rules are ignored
 * gets its next chance when the port is started again, not when the agent is.
 */
static void
agent_tick(struct octo_dev *octo)
{
	const uint8_t flags = octo->agent->flags;

	if (octo_agent_poll(octo->agent)) {
		start_replay(octo);
		if (octo->ignored == NULL &&
		    (!octo_tier_has_mpfs(octo->tier) || octo->agent->flags != flags))
			octo_tier_probe_locked(octo);
	}
	follow_default(octo);
	if (octo->agent_replaying && octo->agent->state == OCTO_AGENT_READY)
		replay(octo);
}

const struct octo_mpfs_ops octo_mpfs_agent_ops = {
	.name = "agent",
	.probe = agent_probe,
	.insert = agent_insert,
	.flip = agent_flip,
	.remove = agent_remove,
	.counts = agent_counts,
	.query = agent_query,
	.tick = agent_tick,
};
