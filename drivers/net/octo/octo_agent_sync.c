/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Resync of a new session: all rules are sent to the agent again, and packets that match no
 * rule are led to a usable PF.
 */

#include "octo_agent.h"
#include "octo_clock.h"
#include "octo_private.h"

/* How long a start waits for the agent; an agent that connects later is used from then on. */
#define START_MS 500
#define START_LOOK_US 500
/* Length of one slice of the resync: control operations wait meanwhile. */
#define RESYNC_US 5000
/* How long a slice waits for an agent that answers, so that the next window follows at once. */
#define RESYNC_WAIT_US 1000
/* How long the resync waits for fences, which may never close. */
#define PATIENCE_MS 100

static void
start_resync(struct octo_dev *octo)
{
	struct octo_agent *agent = octo->agent;
	struct rte_flow *rule;

	TAILQ_FOREACH(rule, &octo->rules, next) {
		octo_fanout_unlead(rule);
		octo_rule_ext_moved(octo, rule);
	}
	octo_rule_linger_forget_switch(octo);
	agent->default_pf = OCTO_NO_PF;
	agent->default_asked = false;
	agent->default_refused = false;
	agent->default_retry = 0;
	agent->nb_flips = 0;
	agent->nb_refused = 0;
	agent->nb_resync = 0;
	agent->sync_asked = false;
	agent->slow = false;
	octo->sync.cursor[OCTO_CURSOR_AGENT] = TAILQ_FIRST(&octo->rules);
	octo->agent_resyncing = true;
}

static bool
poll(struct octo_dev *octo)
{
	const bool ready = octo_agent_poll(octo->agent);

	if (ready)
		start_resync(octo);
	return ready;
}

/* Called before a start takes the mutex, so that the start itself need not wait for the agent. */
void
octo_agent_sync_await(struct octo_dev *octo)
{
	const uint64_t end = octo_deadline(START_MS * 1000);
	bool about = true;

	if (octo->agent == NULL)
		return;
	octo_lock(octo);
	/* the connection may have been lost, and established again, without notice */
	poll(octo);
	octo_mpfs_agent_hear_all(octo);
	octo_agent_try_now(octo->agent);
	octo_unlock(octo);
	while (about && octo_now() < end) {
		octo_lock(octo);
		poll(octo);
		about = octo->agent->state == OCTO_AGENT_CONNECTING ||
			octo->agent->state == OCTO_AGENT_GREETING;
		octo_unlock(octo);
		if (about)
			octo_wait_us(START_LOOK_US);
	}
}

/*
 * When the rule is installed, a flow that came by the default PF comes by its home PF, behind a
 * fence. An open fence that prevents this closes soon, unless nothing polls its queue: then no
 * consumer can see packets out of order.
 */
static bool
may_put(struct octo_dev *octo, const struct rte_flow *rule, uint8_t home)
{
	const bool armed = octo_fence_arm_home_locked(octo, rule->queue, home) == 0;

	return !octo_must_wait(&octo->agent->patient_until, armed, PATIENCE_MS * 1000);
}

/* Sends one rule if it may be installed now. Returns whether it did. */
static bool
put_next(struct octo_dev *octo)
{
	struct rte_flow *rule = octo->sync.cursor[OCTO_CURSOR_AGENT];
	const uint8_t home = octo_topo_home_of(octo, rule->queue);
	struct octo_agent_msg msg = octo_mpfs_agent_msg(OCTO_AGENT_PUT, rule, home);

	if (!octo_agent_has_room(octo->agent) || !may_put(octo, rule, home) ||
	    octo_agent_say(octo->agent, &msg, rule) != 0)
		return false;
	octo_mpfs_agent_count_flip(octo->agent);
	octo_agent_mark_resync(octo->agent);
	octo->sync.cursor[OCTO_CURSOR_AGENT] = TAILQ_NEXT(rule, next);
	return true;
}

/* Wait for an agent that answers at once; other threads must not wait for a slow one. */
static void
await_window(struct octo_dev *octo)
{
	const uint64_t end = octo_deadline(RESYNC_WAIT_US);
	struct octo_agent *agent = octo->agent;
	const unsigned int before = agent->nb_asked;

	while (!agent->slow && agent->nb_asked > 0 && agent->nb_asked == before &&
	       octo_now() < end) {
		octo_agent_stream_wait(&agent->stream, 1);
		octo_agent_stream_look(&agent->stream);
		octo_mpfs_agent_hear_all(octo);
	}
	agent->slow = agent->nb_asked == before;
}

/* The fences that were armed for these messages close when all of them are answered. */
static void
await_flips(struct octo_dev *octo)
{
	const uint64_t end = octo_deadline(RESYNC_WAIT_US);
	struct octo_agent *agent = octo->agent;

	while (agent->nb_resync > 0 && agent->state == OCTO_AGENT_READY && !agent->slow &&
	       octo_now() < end)
		await_window(octo);
}

/*
 * Works in slices: packets must not be held until all rules are installed. A slice waits for the
 * messages of the one before; others may be unanswered at any time.
 */
static void
resync(struct octo_dev *octo)
{
	const uint64_t end = octo_deadline(RESYNC_US);
	struct octo_agent *agent = octo->agent;
	const bool more = agent->nb_resync == 0;

	while (more && octo->sync.cursor[OCTO_CURSOR_AGENT] != NULL && octo_now() < end) {
		if (put_next(octo))
			continue;
		await_window(octo);
		if (agent->slow || agent->state != OCTO_AGENT_READY)
			return;
	}
	await_flips(octo);
	if (octo->sync.cursor[OCTO_CURSOR_AGENT] == NULL && agent->nb_resync == 0 &&
	    !agent->sync_asked)
		octo_mpfs_agent_say_synced(octo);
}

static void
send_default(struct octo_dev *octo, uint8_t pf)
{
	struct octo_agent_msg msg = {.type = OCTO_AGENT_DEFAULT, .default_pf = pf};

	octo_fence_hold_leg_locked(octo, pf);
	if (octo_agent_say(octo->agent, &msg, NULL) != 0)
		return;
	octo->agent->default_asked = true;
	octo_mpfs_agent_count_flip(octo->agent);
}

/*
 * Packets that match no rule come by the first usable PF. They leave a lost PF at once, and
 * return when no fence is in the way.
 */
static void
follow_default(struct octo_dev *octo)
{
	const struct octo_agent *agent = octo->agent;
	const uint32_t usable = octo->plan.usable;
	uint8_t pf;

	if (agent->state != OCTO_AGENT_READY || !(agent->flags & OCTO_AGENT_DEFAULTS) ||
	    usable == 0 || agent->default_asked || !octo_agent_has_room(agent) ||
	    octo_now() < agent->default_retry)
		return;
	pf = (uint8_t)__builtin_ctz(usable);
	if (pf == agent->default_pf && !agent->default_refused)
		return;
	if (agent->default_pf == OCTO_NO_PF || !(usable & RTE_BIT32(agent->default_pf)) ||
	    !octo_resync_must_wait_locked(octo, pf))
		send_default(octo, pf);
}

/*
 * Called by the control thread, often. A tier that was lowered because its rules had no effect
 * is tried again when the port is started, not when the agent is.
 */
void
octo_agent_sync_tick_locked(struct octo_dev *octo)
{
	const uint8_t flags = octo->agent == NULL ? 0 : octo->agent->flags;

	if (octo->agent == NULL)
		return;

	if (poll(octo) && octo->ignored == OCTO_IGNORED_NONE &&
	    (!octo_tier_has_mpfs(octo->tier) || octo->agent->flags != flags))
		octo_tier_probe_locked(octo);
	octo_mpfs_agent_hear_all(octo);
	follow_default(octo);
	if (octo->agent_resyncing && octo->agent->state == OCTO_AGENT_READY)
		resync(octo);
}

/*
 * The agent of a netdev has removed the rules, or does so when it runs again. Until then they are
 * not tried again: only a queue that gets another home does that.
 */
static void
lose_rules(struct octo_dev *octo)
{
	struct rte_flow *rule;

	TAILQ_FOREACH(rule, &octo->rules, next) {
		if (octo_rule_on(octo, rule, 0) == NULL)
			continue;
		octo_fanout_remove_from_locked(octo, rule, 0, NULL);
		octo_fanout_unlead(rule);
		octo_rule_ext_moved(octo, rule);
	}
}

/*
 * Rules and RETA of a port of net_af_xdp, by an agent that takes them back when the connection
 * ends: octo_sync.c makes them again when the next one begins.
 */
void
octo_ethtool_sync_tick_locked(struct octo_dev *octo)
{
	switch (octo_nic_follow_agent(&octo->port[0])) {
	case OCTO_ETHTOOL_CLIENT_LOST:
		lose_rules(octo);
		break;
	case OCTO_ETHTOOL_CLIENT_BEGUN:
		if (octo->ignored == OCTO_IGNORED_NONE && !octo_tier_has_mpfs(octo->tier))
			octo_tier_probe_locked(octo);
		octo->reta_stale = octo->reta_size > 0;
		octo_sync_mark_flows_locked(octo);
		break;
	case OCTO_ETHTOOL_CLIENT_NOTHING:
		break;
	}
}
