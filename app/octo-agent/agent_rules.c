/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_flow.h>

#include "octo_flow_build.h"
#include "octo_table.h"

#include "agent_rules.h"

/*
 * A rule that takes the place of another needs a priority of its own while both
 * are there; the default path comes after them, at one of two as well.
 */
#define PRIORITY_LAST 2

/* A rule of rte_flow, and where it is. */
struct installed {
	struct rte_flow *flow; /* NULL: there is none */
	uint16_t port;
	uint8_t priority;
};

struct rule {
	struct octo_tuple tuple;
	struct installed mpfs;
	struct installed arfs; /* on the PF; only if it chooses queues */
	uint16_t queue;
	uint8_t pf;
	uint32_t round; /* the resync that it was last put in */
	uint64_t hits;  /* of rules that this one took the place of */
	uint64_t bytes;
};

struct agent_rules {
	struct agent_rules_config config;
	uint16_t proxy; /* takes the transfer rules */
	bool queues;
	bool counts;
	bool sets_default;
	uint32_t round;
	struct octo_table *table;
	struct installed way_in; /* without an uplink, none unless a PF was chosen */
	uint8_t default_pf;      /* that it leads to */
	struct installed way_out[AGENT_RULES_MAX_PFS];
};

static bool
is_port(uint16_t port)
{
	return port != RTE_MAX_ETHPORTS;
}

static bool
has_uplink(const struct agent_rules *rules)
{
	return is_port(rules->config.uplink);
}

/* Say which port refused, and what it said; ret is handed on. */
static int
blame(uint16_t port, const struct rte_flow_error *error, int ret, char *why)
{
	const char *text = error->message != NULL ? error->message : rte_strerror(-ret);
	char name[RTE_ETH_NAME_MAX_LEN] = "";

	rte_eth_dev_get_name_by_port(port, name);
	if (why != NULL)
		snprintf(why, AGENT_WHY_MAX, "port %u (%s): %s", port, name, text);
	return ret;
}

static int
install(struct installed *p, uint16_t port, const struct octo_flow_rule *r, char *why)
{
	struct rte_flow_error error = {.message = NULL};

	p->flow = rte_flow_create(port, &r->attr, r->pattern, r->actions, &error);
	if (p->flow == NULL)
		return blame(port, &error, rte_errno != 0 ? -rte_errno : -EIO, why);
	p->port = port;
	p->priority = r->attr.priority;
	return 0;
}

static int
take_away(struct installed *p, char *why)
{
	struct rte_flow_error error = {.message = NULL};
	int ret;

	if (p->flow == NULL)
		return 0;
	ret = rte_flow_destroy(p->port, p->flow, &error);
	if (ret != 0)
		return blame(p->port, &error, ret, why);
	p->flow = NULL;
	return 0;
}

/* To the E-Switch an uplink is the network behind it, and a representor its PF. */
static void
build_mpfs(const struct agent_rules *rules, struct octo_flow_rule *r,
	   const struct octo_tuple *tuple, uint8_t priority, uint8_t pf, bool count)
{
	if (has_uplink(rules))
		octo_flow_build_transfer(r, OCTO_DIALECT_REPRESENTED, tuple, priority,
					 rules->config.uplink, rules->config.rep_port[pf], count);
	else
		octo_flow_build_transfer(r, OCTO_DIALECT_WIRE_ITEM, tuple, priority, rules->proxy,
					 rules->config.pf_port[pf], count);
}

static int
install_mpfs(const struct agent_rules *rules, const struct rule *rule, uint8_t pf,
	     struct installed *p, char *why)
{
	struct octo_flow_rule r;

	build_mpfs(rules, &r, &rule->tuple, !rule->mpfs.priority, pf, rules->counts);
	return install(p, rules->proxy, &r, why);
}

static int
install_arfs(const struct agent_rules *rules, const struct rule *rule, uint8_t pf, uint16_t queue,
	     struct installed *p, char *why)
{
	struct octo_flow_rule r;

	octo_flow_build_queue(&r, &rule->tuple, !rule->arfs.priority, queue, false);
	return install(p, rules->config.pf_port[pf], &r, why);
}

static int
query_installed(const struct installed *p, uint64_t *hits, uint64_t *bytes)
{
	const struct rte_flow_action count[] = {{.type = RTE_FLOW_ACTION_TYPE_COUNT},
						{.type = RTE_FLOW_ACTION_TYPE_END}};
	struct rte_flow_query_count answer = {0};
	int ret = rte_flow_query(p->port, p->flow, count, &answer, NULL);

	if (ret != 0)
		return ret;
	*hits += answer.hits;
	*bytes += answer.bytes;
	return 0;
}

/*
 * From the old PF to the new one without a gap: the new rule is there before the
 * old one goes, at whichever priority. What the old one counted is kept.
 */
static int
flip_mpfs(const struct agent_rules *rules, struct rule *rule, uint8_t pf, char *why)
{
	uint64_t hits = rule->hits, bytes = rule->bytes;
	struct installed to = {.flow = NULL};
	int ret;

	ret = install_mpfs(rules, rule, pf, &to, why);
	if (ret != 0)
		return ret;
	if (rules->counts && rule->mpfs.flow != NULL)
		query_installed(&rule->mpfs, &hits, &bytes);
	ret = take_away(&rule->mpfs, why);
	if (ret != 0) {
		take_away(&to, NULL);
		return ret;
	}
	rule->mpfs = to;
	rule->hits = hits;
	rule->bytes = bytes;
	return 0;
}

/* The queue is chosen on the new PF before packets come there, and on the old one until they do. */
static int
move(const struct agent_rules *rules, struct rule *rule, uint8_t pf, uint16_t queue, char *why)
{
	const bool new_pf = rule->mpfs.flow == NULL || rule->pf != pf;
	const bool new_queue = rules->queues &&
			       (new_pf || rule->arfs.flow == NULL || rule->queue != queue);
	struct installed arfs = {.flow = NULL};
	int ret = 0;

	if (new_queue)
		ret = install_arfs(rules, rule, pf, queue, &arfs, why);
	if (ret == 0 && new_pf)
		ret = flip_mpfs(rules, rule, pf, why);
	if (ret != 0) {
		if (new_queue)
			take_away(&arfs, NULL);
		return ret;
	}
	rule->pf = pf;
	if (!new_queue)
		return 0;
	/* one that stays all the same does no harm: it is behind the new rule or gets no packets */
	take_away(&rule->arfs, NULL);
	rule->arfs = arfs;
	rule->queue = queue;
	return 0;
}

static int
withdraw(struct rule *rule, char *why)
{
	int ret = take_away(&rule->mpfs, why);

	return ret != 0 ? ret : take_away(&rule->arfs, why);
}

/* A new rule begins with priority 0, which is the other one of 1. */
static struct rule *
rule_new(struct agent_rules *rules, const struct octo_tuple *tuple, char *why)
{
	struct rule *rule = calloc(1, sizeof(*rule));

	if (rule != NULL) {
		rule->tuple = *tuple;
		rule->mpfs.priority = 1;
		rule->arfs.priority = 1;
		if (octo_table_add(rules->table, &rule->tuple, rule) == 0)
			return rule;
	}
	free(rule);
	snprintf(why, AGENT_WHY_MAX, "the agent has no memory for the rule");
	return NULL;
}

static void
rule_free(struct agent_rules *rules, struct rule *rule)
{
	octo_table_remove(rules->table, &rule->tuple);
	free(rule);
}

int
agent_rules_put(struct agent_rules *rules, const struct octo_tuple *tuple, uint8_t pf,
		uint16_t queue, char *why)
{
	struct rule *rule = octo_table_find(rules->table, tuple);
	const bool known = rule != NULL;
	int ret;

	if (pf >= rules->config.nb_pfs) {
		snprintf(why, AGENT_WHY_MAX, "PF %u: there are %u", pf, rules->config.nb_pfs);
		return -EINVAL;
	}
	if (!known)
		rule = rule_new(rules, tuple, why);
	if (rule == NULL)
		return -ENOMEM;
	ret = move(rules, rule, pf, queue, why);
	if (ret == 0)
		rule->round = rules->round;
	else if (!known)
		rule_free(rules, rule);
	return ret;
}

int
agent_rules_remove(struct agent_rules *rules, const struct octo_tuple *tuple, char *why)
{
	struct rule *rule = octo_table_find(rules->table, tuple);
	int ret;

	if (rule == NULL) {
		snprintf(why, AGENT_WHY_MAX, "there is no rule for this 5-tuple");
		return -ENOENT;
	}
	ret = withdraw(rule, why);
	if (ret == 0)
		rule_free(rules, rule);
	return ret;
}

int
agent_rules_query(struct agent_rules *rules, const struct octo_tuple *tuple, uint64_t *hits,
		  uint64_t *bytes)
{
	const struct rule *rule = octo_table_find(rules->table, tuple);
	uint64_t h, b;
	int ret;

	if (rule == NULL || rule->mpfs.flow == NULL)
		return -ENOENT;
	if (!rules->counts)
		return -ENOTSUP;
	h = rule->hits;
	b = rule->bytes;
	ret = query_installed(&rule->mpfs, &h, &b);
	if (ret != 0)
		return ret;
	*hits = h;
	*bytes = b;
	return 0;
}

void
agent_rules_mark(struct agent_rules *rules)
{
	rules->round++;
}

/* Rules that a port does not give up stay known, so that it can be tried again. */
static unsigned int
remove_others(struct agent_rules *rules, uint32_t round)
{
	unsigned int gone = 0;
	uint32_t next = 0;
	struct rule *rule;

	while ((rule = octo_table_next(rules->table, &next)) != NULL) {
		if (rule->round == round || withdraw(rule, NULL) != 0)
			continue;
		rule_free(rules, rule);
		gone++;
	}
	return gone;
}

unsigned int
agent_rules_sweep(struct agent_rules *rules)
{
	return remove_others(rules, rules->round);
}

void
agent_rules_flush(struct agent_rules *rules)
{
	rules->round++;
	remove_others(rules, rules->round);
}

unsigned int
agent_rules_count(const struct agent_rules *rules)
{
	return octo_table_count(rules->table);
}

bool
agent_rules_chooses_queues(const struct agent_rules *rules)
{
	return rules->queues;
}

bool
agent_rules_counts(const struct agent_rules *rules)
{
	return rules->counts;
}

bool
agent_rules_sets_default(const struct agent_rules *rules)
{
	return rules->sets_default;
}

/*
 * A full switch has no room for the old default path and the new one: a gap is better than a PF
 * that is lost. If the new one is refused all the same, the old one is made again.
 */
static int
make_way_in(struct agent_rules *rules, const struct octo_flow_rule *r, struct installed *to,
	    char *why)
{
	struct octo_flow_rule old;
	int ret = install(to, rules->proxy, r, why);

	/* drivers report a full table by either of two errors */
	if ((ret != -ENOSPC && ret != -ENOMEM) || rules->way_in.flow == NULL ||
	    take_away(&rules->way_in, NULL) != 0)
		return ret;
	ret = install(to, rules->proxy, r, why);
	if (ret == 0)
		return 0;
	build_mpfs(rules, &old, NULL, rules->way_in.priority, rules->default_pf, false);
	install(&rules->way_in, rules->proxy, &old, NULL);
	return ret;
}

int
agent_rules_set_default(struct agent_rules *rules, uint8_t pf, char *why)
{
	const uint8_t priority = rules->way_in.priority == PRIORITY_LAST ? PRIORITY_LAST + 1 :
									   PRIORITY_LAST;
	struct installed to = {.flow = NULL};
	struct octo_flow_rule r;
	int ret;

	if (pf >= rules->config.nb_pfs) {
		snprintf(why, AGENT_WHY_MAX, "PF %u: there are %u", pf, rules->config.nb_pfs);
		return -EINVAL;
	}
	if (rules->way_in.flow != NULL && rules->default_pf == pf)
		return 0;
	build_mpfs(rules, &r, NULL, priority, pf, false);
	ret = make_way_in(rules, &r, &to, why);
	if (ret == 0)
		ret = take_away(&rules->way_in, why);
	if (ret != 0) {
		take_away(&to, NULL);
		return ret;
	}
	rules->way_in = to;
	rules->default_pf = pf;
	return 0;
}

static int
open_way_out(struct agent_rules *rules, uint8_t pf, char *why)
{
	struct octo_flow_rule r;

	octo_flow_build_transfer(&r, OCTO_DIALECT_REPRESENTED, NULL, 0, rules->config.rep_port[pf],
				 rules->config.uplink, false);
	return install(&rules->way_out[pf], rules->proxy, &r, why);
}

/* What a PF sends goes to the wire, and what comes from there to the default PF. */
static int
open_ways(struct agent_rules *rules, char *why)
{
	int ret = 0;

	for (uint8_t pf = 0; ret == 0 && pf < rules->config.nb_pfs; pf++)
		ret = open_way_out(rules, pf, why);
	return ret != 0 ? ret : agent_rules_set_default(rules, rules->config.default_pf, why);
}

static int
close_ways(struct agent_rules *rules)
{
	int first = take_away(&rules->way_in, NULL);

	for (uint8_t pf = 0; pf < rules->config.nb_pfs; pf++) {
		int ret = take_away(&rules->way_out[pf], NULL);

		first = first != 0 ? first : ret;
	}
	return first;
}

/* By making it: there are drivers whose rte_flow_validate() does not look at the actions. */
static int
could_install(uint16_t port, const struct octo_flow_rule *r, char *why)
{
	struct installed p = {.flow = NULL};
	int ret = install(&p, port, r, why);

	return ret != 0 ? ret : take_away(&p, why);
}

static int
probe_pf(const struct agent_rules *rules, uint8_t pf, char *why)
{
	struct octo_flow_rule r;
	int ret;

	build_mpfs(rules, &r, &octo_tuple_example, 0, pf, rules->counts);
	ret = could_install(rules->proxy, &r, why);
	if (ret != 0 || !rules->queues)
		return ret;
	octo_flow_build_queue(&r, &octo_tuple_example, 0, 0, false);
	return could_install(rules->config.pf_port[pf], &r, why);
}

/* What can be known before there is a rule; neither counting nor a default is a condition. */
static int
probe(struct agent_rules *rules, char *why)
{
	struct octo_flow_rule r;
	int ret = 0;

	build_mpfs(rules, &r, &octo_tuple_example, 0, 0, true);
	rules->counts = could_install(rules->proxy, &r, NULL) == 0;
	build_mpfs(rules, &r, NULL, PRIORITY_LAST, 0, false);
	rules->sets_default = could_install(rules->proxy, &r, NULL) == 0;
	for (uint8_t pf = 0; ret == 0 && pf < rules->config.nb_pfs; pf++)
		ret = probe_pf(rules, pf, why);
	return ret;
}

static int
find_proxy(struct agent_rules *rules, char *why)
{
	const struct agent_rules_config *c = &rules->config;
	const uint16_t port = has_uplink(rules) ? c->uplink : c->pf_port[0];
	struct rte_flow_error error = {.message = NULL};
	int ret = rte_flow_pick_transfer_proxy(port, &rules->proxy, &error);

	return ret == 0 ? 0 : blame(port, &error, ret, why);
}

static int
check_config(const struct agent_rules_config *c, char *why)
{
	if (c->nb_pfs == 0 || c->nb_pfs > AGENT_RULES_MAX_PFS) {
		snprintf(why, AGENT_WHY_MAX, "%u PFs: 1 to %u are possible", c->nb_pfs,
			 AGENT_RULES_MAX_PFS);
		return -EINVAL;
	}
	if (c->default_pf >= c->nb_pfs) {
		snprintf(why, AGENT_WHY_MAX, "default PF %u: there are %u PFs", c->default_pf,
			 c->nb_pfs);
		return -EINVAL;
	}
	for (uint16_t pf = 0; pf < c->nb_pfs; pf++) {
		if (is_port(c->uplink) ? is_port(c->rep_port[pf]) : is_port(c->pf_port[pf]))
			continue;
		snprintf(why, AGENT_WHY_MAX, "PF %u: %s is missing", pf,
			 is_port(c->uplink) ? "its representor" : "its port");
		return -EINVAL;
	}
	return 0;
}

static bool
has_all_pfs(const struct agent_rules_config *c)
{
	for (uint16_t pf = 0; pf < c->nb_pfs; pf++)
		if (!is_port(c->pf_port[pf]))
			return false;
	return true;
}

static int
bring_up(struct agent_rules *rules, char *why)
{
	int ret = find_proxy(rules, why);

	if (ret == 0)
		ret = probe(rules, why);
	if (ret == 0 && has_uplink(rules))
		ret = open_ways(rules, why);
	if (ret != 0)
		close_ways(rules);
	return ret;
}

int
agent_rules_create(const struct agent_rules_config *config, struct agent_rules **created, char *why)
{
	struct agent_rules *rules;
	int ret = check_config(config, why);

	if (ret != 0)
		return ret;
	rules = calloc(1, sizeof(*rules));
	if (rules != NULL)
		rules->table = octo_table_create("agent_rules");
	if (rules == NULL || rules->table == NULL) {
		free(rules);
		snprintf(why, AGENT_WHY_MAX, "no memory for the rules");
		return -ENOMEM;
	}
	rules->config = *config;
	rules->queues = has_all_pfs(config);
	ret = bring_up(rules, why);
	if (ret == 0) {
		*created = rules;
		return 0;
	}
	octo_table_free(rules->table);
	free(rules);
	return ret;
}

int
agent_rules_destroy(struct agent_rules *rules)
{
	uint32_t next = 0;
	struct rule *rule;
	int first = 0;
	int ret;

	if (rules == NULL)
		return 0;
	while ((rule = octo_table_next(rules->table, &next)) != NULL) {
		ret = withdraw(rule, NULL);
		first = first != 0 ? first : ret;
		rule_free(rules, rule);
	}
	ret = close_ways(rules);
	octo_table_free(rules->table);
	free(rules);
	return first != 0 ? first : ret;
}
