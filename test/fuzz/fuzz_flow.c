/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rules and indirect actions come and go, packets are sent: to an octo port, and
 * with the twin, to the PFs themselves, which must accept and do the same. Other PFs
 * accept all and read it, also when it is gone. In the end nothing is left.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_errno.h>
#include <rte_ethdev.h>

#include "fuzz_nic.h"
#include "fuzz_taker.h"
#include "octo_view.h"

#define MAX_OPS 32
#define MAX_RULES 32
#define MAX_HANDLES 8
/* who has a rule or a handle: the octo port, or one of the twin's PFs */
#define WHO (1 + FUZZ_PFS)

/* Of one input. */
static struct {
	const struct fuzz_nic *nic;
	unsigned int nb_who;
	uint16_t port[WHO];
	struct rte_flow *flow[WHO][MAX_RULES];
	bool transfer[MAX_RULES];
	bool count_has_id[MAX_RULES];
	bool restarted;
	unsigned int nb_rules;
	struct rte_flow_action_handle *handle[WHO][MAX_HANDLES];
	unsigned int nb_handles;
} s;

static int live_before;
static FILE *nowhere;

static struct fuzz_names
names_of(unsigned int who)
{
	const uint16_t *pf = who == 0 ? s.nic->pf : s.nic->twin;

	return (struct fuzz_names){
		.pf = {pf[0], pf[1]},
		.handles = s.handle[who],
		.nb_handles = s.nb_handles,
	};
}

/* Everybody reads the same bytes; they are gone afterwards. */
static void
read_rules(struct fuzz_input *in, struct fuzz_rule *rules)
{
	const struct fuzz_input begin = *in;

	for (unsigned int who = 0; who < s.nb_who; who++) {
		const struct fuzz_names names = names_of(who);

		*in = begin;
		fuzz_rule_read(in, &names, &rules[who]);
	}
}

static void
free_rules(struct fuzz_rule *rules)
{
	for (unsigned int who = 0; who < s.nb_who; who++)
		fuzz_rule_free(&rules[who]);
}

/* Transfer rules are for the proxy of a NIC, which is its first PF. */
static unsigned int
who_takes(const struct fuzz_rule *rule)
{
	return rule->attr.transfer ? RTE_MIN(s.nb_who, 2u) : s.nb_who;
}

/* A refusal has a reason. */
static void
check_error(int ret, const struct fuzz_rule *rule, const struct rte_flow_error *error)
{
	FUZZ_CHECK(ret < 0, "refused with %d", ret);
	if (error->message != NULL && error->message[0] != '\0')
		return;
	fuzz_rule_print(rule);
	FUZZ_CHECK(false, "refused with %d and without a word", ret);
}

static int
validate(unsigned int who, const struct fuzz_rule *rule, const char **why)
{
	struct rte_flow_error error = {.message = NULL};
	int ret = rte_flow_validate(s.port[who], &rule->attr, rule->items, rule->actions, &error);

	if (ret != 0)
		check_error(ret, rule, &error);
	*why = error.message;
	return ret;
}

/* What every PF accepts, and nothing else, is accepted. */
static int
validate_all(const struct fuzz_rule *rules)
{
	static char texts[WHO][256];
	const char *why;
	int ret[WHO];

	for (unsigned int who = 0; who < who_takes(&rules[0]); who++) {
		ret[who] = validate(who, &rules[who], &why);
		snprintf(texts[who], sizeof(texts[who]), "%s", why == NULL ? "fine" : why);
	}
	for (unsigned int who = 1; who < who_takes(&rules[0]); who++) {
		if ((ret[0] == 0) == (ret[who] == 0))
			continue;
		if (ret[0] == -EEXIST)
			continue;
		fuzz_rule_print(&rules[0]);
		FUZZ_CHECK(rules[0].beyond, "validate: the port: %d (%s), PF %u: %d (%s)", ret[0],
			   texts[0], who - 1, ret[who], texts[who]);
	}
	return ret[0];
}

static struct rte_flow *
create(unsigned int who, const struct fuzz_rule *rule, int *ret)
{
	struct rte_flow_error error = {.message = NULL};
	struct rte_flow *flow;

	rte_errno = 0;
	flow = rte_flow_create(s.port[who], &rule->attr, rule->items, rule->actions, &error);
	*ret = flow != NULL ? 0 : -rte_errno;
	if (flow == NULL)
		check_error(*ret, rule, &error);
	return flow;
}

static bool
count_has_id(const struct fuzz_rule *rule)
{
	const struct rte_flow_action *action = rule->actions;

	for (; action->type != RTE_FLOW_ACTION_TYPE_END; action++)
		if (action->type == RTE_FLOW_ACTION_TYPE_COUNT && action->conf != NULL &&
		    ((const struct rte_flow_action_count *)action->conf)->id != 0)
			return true;
	return false;
}

static bool
is_for_want_of_room(int ret)
{
	return ret == -ENOSPC || ret == -EEXIST || ret == -ENOMEM;
}

static void
destroy(unsigned int who, struct rte_flow *flow)
{
	struct rte_flow_error error = {.message = NULL};
	int ret = flow == NULL ? 0 : rte_flow_destroy(s.port[who], flow, &error);

	FUZZ_CHECK(ret == 0, "destroy: %d (%s)", ret, error.message);
}

/* All have it or none. */
static void
create_all(const struct fuzz_rule *rules, int valid)
{
	struct rte_flow *flows[WHO] = {NULL};
	int ret[WHO] = {0};
	int refused = 0;

	for (unsigned int who = 0; who < who_takes(&rules[0]); who++) {
		flows[who] = create(who, &rules[who], &ret[who]);
		refused |= ret[who];
	}
	if ((valid == 0) != (ret[0] == 0) && !is_for_want_of_room(ret[0])) {
		fuzz_rule_print(&rules[0]);
		FUZZ_CHECK(false, "validate: %d, create: %d", valid, ret[0]);
	}
	for (unsigned int who = 1; who < who_takes(&rules[0]); who++) {
		if ((ret[0] == 0) == (ret[who] == 0) || ret[0] == -EEXIST)
			continue;
		fuzz_rule_print(&rules[0]);
		FUZZ_CHECK(rules[0].beyond, "create: the port: %d, PF %u: %d", ret[0], who - 1,
			   ret[who]);
	}
	for (unsigned int who = 0; who < s.nb_who; who++) {
		if (refused != 0)
			destroy(who, flows[who]);
		else
			s.flow[who][s.nb_rules] = flows[who];
	}
	s.transfer[s.nb_rules] = rules[0].attr.transfer;
	s.count_has_id[s.nb_rules] = count_has_id(&rules[0]);
	s.nb_rules += refused == 0 ? 1 : 0;
}

static void
op_create(struct fuzz_input *in)
{
	struct fuzz_rule rules[WHO];
	int valid;

	read_rules(in, rules);
	valid = validate_all(rules);
	if (s.nb_rules < MAX_RULES)
		create_all(rules, valid);
	free_rules(rules);
}

static void
op_destroy(struct fuzz_input *in)
{
	const unsigned int rule = s.nb_rules == 0 ? 0 : fuzz_u8(in) % s.nb_rules;

	if (s.nb_rules == 0)
		return;
	s.nb_rules--;
	for (unsigned int who = 0; who < s.nb_who; who++) {
		destroy(who, s.flow[who][rule]);
		s.flow[who][rule] = s.flow[who][s.nb_rules];
		s.flow[who][s.nb_rules] = NULL;
	}
	s.transfer[rule] = s.transfer[s.nb_rules];
	s.count_has_id[rule] = s.count_has_id[s.nb_rules];
}

static void
op_flush(void)
{
	for (unsigned int who = 0; who < s.nb_who; who++) {
		struct rte_flow_error error = {.message = NULL};
		int ret = rte_flow_flush(s.port[who], &error);

		FUZZ_CHECK(ret == 0, "flush: %d (%s)", ret, error.message);
		memset(s.flow[who], 0, sizeof(s.flow[who]));
	}
	s.nb_rules = 0;
}

/* The answer is as long as the longest, and may be of anything. */
union answer {
	struct rte_flow_query_count count;
	struct rte_flow_query_age age;
	struct rte_flow_action_rss rss;
	uint8_t bytes[256];
};

/*
 * The port has counted what its PFs have. Rules with one id may share a counter there; what
 * it had before a restart, each rule of the port has kept for itself.
 */
static void
check_counts(const int *ret, const union answer *answers, unsigned int nb, bool equal)
{
	uint64_t hits = 0, bytes = 0;

	for (unsigned int who = 1; who < nb; who++) {
		FUZZ_CHECK((ret[0] == 0) == (ret[who] == 0), "query: the port: %d, PF %u: %d",
			   ret[0], who - 1, ret[who]);
		hits += answers[who].count.hits;
		bytes += answers[who].count.bytes;
	}
	if (nb == 1 || ret[0] != 0 || !equal)
		return;
	FUZZ_CHECK(answers[0].count.hits == hits, "hits: the port: %" PRIu64 ", PFs: %" PRIu64,
		   answers[0].count.hits, hits);
	FUZZ_CHECK(answers[0].count.bytes == bytes, "bytes: the port: %" PRIu64 ", PFs: %" PRIu64,
		   answers[0].count.bytes, bytes);
}

static void
op_query(struct fuzz_input *in)
{
	static const int types[] = {RTE_FLOW_ACTION_TYPE_COUNT, RTE_FLOW_ACTION_TYPE_AGE,
				    RTE_FLOW_ACTION_TYPE_RSS, RTE_FLOW_ACTION_TYPE_QUEUE, 9999};
	const uint8_t which = fuzz_u8(in), what = fuzz_u8(in) % RTE_DIM(types);
	const struct rte_flow_action actions[] = {{.type = (enum rte_flow_action_type)types[what]},
						  {.type = RTE_FLOW_ACTION_TYPE_END}};
	const unsigned int rule = s.nb_rules == 0 ? 0 : which % s.nb_rules;
	const unsigned int nb = s.transfer[rule] ? RTE_MIN(s.nb_who, 2u) : s.nb_who;
	union answer answers[WHO];
	int ret[WHO];

	if (s.nb_rules == 0)
		return;
	memset(answers, 0, sizeof(answers));
	for (unsigned int who = 0; who < nb; who++) {
		struct rte_flow_error error = {.message = NULL};

		answers[who].count.reset = types[what] == RTE_FLOW_ACTION_TYPE_COUNT &&
					   which >= 128;
		ret[who] = rte_flow_query(s.port[who], s.flow[who][rule], actions, &answers[who],
					  &error);
	}
	if (types[what] == RTE_FLOW_ACTION_TYPE_COUNT)
		check_counts(ret, answers, nb, !s.count_has_id[rule] || !s.restarted);
}

static void
op_packet(struct fuzz_input *in)
{
	const struct fuzz_input begin = *in;
	struct fuzz_fate port = fuzz_nic_send(s.nic, false, in);
	struct fuzz_fate twin;

	if (!s.nic->has_twin)
		return;
	*in = begin;
	twin = fuzz_nic_send(s.nic, true, in);
	FUZZ_CHECK(port.queue == twin.queue && port.marks == twin.marks && port.mark == twin.mark,
		   "a packet: by the port to queue %d with mark %u (%" PRIx64 "), "
		   "by a PF to queue %d with mark %u (%" PRIx64 ")",
		   port.queue, port.mark, port.marks, twin.queue, twin.mark, twin.marks);
}

static void
op_handle_create(struct fuzz_input *in)
{
	const struct fuzz_input begin = *in;
	struct rte_flow_action_handle *handles[WHO] = {NULL};
	struct fuzz_rule rules[WHO];
	unsigned int refused = 0;

	if (s.nb_handles == MAX_HANDLES)
		return;
	for (unsigned int who = 0; who < s.nb_who; who++) {
		const struct fuzz_names names = names_of(who);
		struct rte_flow_indir_action_conf conf;
		struct rte_flow_error error;

		*in = begin;
		fuzz_rule_read_action(in, &names, &rules[who]);
		conf = (struct rte_flow_indir_action_conf){
			.ingress = rules[who].attr.ingress,
			.egress = rules[who].attr.egress,
			.transfer = rules[who].attr.transfer,
		};
		handles[who] = rte_flow_action_handle_create(s.port[who], &conf,
							     &rules[who].actions[0], &error);
		refused += handles[who] == NULL ? 1 : 0;
	}
	FUZZ_CHECK(refused == 0 || refused == s.nb_who,
		   "indirect action %d: the port %s it, %u of %u refuse", rules[0].actions[0].type,
		   handles[0] == NULL ? "refuses" : "takes", refused, s.nb_who);
	free_rules(rules);
	for (unsigned int who = 0; who < s.nb_who; who++) {
		if (refused == 0)
			s.handle[who][s.nb_handles] = handles[who];
		else if (handles[who] != NULL)
			rte_flow_action_handle_destroy(s.port[who], handles[who], NULL);
	}
	s.nb_handles += refused == 0 ? 1 : 0;
}

/* Returns false if it is in use. */
static bool
handle_destroy(unsigned int handle)
{
	int ret[WHO];

	for (unsigned int who = 0; who < s.nb_who; who++) {
		struct rte_flow_error error;

		ret[who] = rte_flow_action_handle_destroy(s.port[who], s.handle[who][handle],
							  &error);
		FUZZ_CHECK((ret[who] == 0) == (ret[0] == 0),
			   "destroy indirect: the port: %d, PF %u: %d", ret[0], who - 1, ret[who]);
	}
	if (ret[0] != 0)
		return false;
	s.nb_handles--;
	for (unsigned int who = 0; who < s.nb_who; who++) {
		s.handle[who][handle] = s.handle[who][s.nb_handles];
		s.handle[who][s.nb_handles] = NULL;
	}
	return true;
}

static void
op_handle_destroy(struct fuzz_input *in)
{
	const uint8_t which = fuzz_u8(in);

	if (s.nb_handles > 0)
		handle_destroy(which % s.nb_handles);
}

static void
op_handle_update(struct fuzz_input *in)
{
	const uint8_t which = fuzz_u8(in);
	const struct fuzz_input begin = *in;
	struct fuzz_rule rules[WHO];
	int ret[WHO];

	if (s.nb_handles == 0)
		return;
	for (unsigned int who = 0; who < s.nb_who; who++) {
		const struct fuzz_names names = names_of(who);
		struct rte_flow_error error;

		*in = begin;
		fuzz_rule_read_action(in, &names, &rules[who]);
		ret[who] = rte_flow_action_handle_update(s.port[who],
							 s.handle[who][which % s.nb_handles],
							 &rules[who].actions[0], &error);
		if ((ret[who] == 0) == (ret[0] == 0))
			continue;
		fuzz_rule_print(&rules[0]);
		FUZZ_CHECK(false, "update: the port: %d, PF %u: %d", ret[0], who - 1, ret[who]);
	}
	free_rules(rules);
}

static void
op_handle_query(struct fuzz_input *in)
{
	const uint8_t which = fuzz_u8(in);
	union answer answers[WHO];
	int ret[WHO];

	if (s.nb_handles == 0)
		return;
	memset(answers, 0, sizeof(answers));
	for (unsigned int who = 0; who < s.nb_who; who++) {
		struct rte_flow_error error;

		ret[who] = rte_flow_action_handle_query(
			s.port[who], s.handle[who][which % s.nb_handles], &answers[who], &error);
		FUZZ_CHECK((ret[who] == 0) == (ret[0] == 0),
			   "query indirect: the port: %d, PF %u: %d", ret[0], who - 1, ret[who]);
	}
}

static void
set_isolated(int on)
{
	for (unsigned int who = 0; who < s.nb_who; who++)
		FUZZ_CHECK(rte_flow_isolate(s.port[who], on, NULL) == 0, "isolate %d", on);
}

/* Rules are kept, in every byte. */
static void
restart(void)
{
	const uint64_t before = fuzz_taker_sum();

	s.restarted = true;
	for (unsigned int who = 0; who < s.nb_who; who++)
		FUZZ_CHECK(rte_eth_dev_stop(s.port[who]) == 0, "port %u does not stop", who);
	for (unsigned int who = 0; who < s.nb_who; who++)
		FUZZ_CHECK(rte_eth_dev_start(s.port[who]) == 0, "port %u does not start", who);
	FUZZ_CHECK(fuzz_taker_sum() == before, "rules are others after a restart");
}

/* Answers are not compared: times and pointers are everybody's own. */
static void
op_look(struct fuzz_input *in)
{
	const uint8_t nb = fuzz_u8(in) & 15;
	void **contexts = calloc(nb, sizeof(*contexts));
	struct rte_flow_error error;

	FUZZ_CHECK(contexts != NULL || nb == 0, "no memory");
	rte_flow_get_aged_flows(s.port[0], contexts, nb, &error);
	rte_flow_dev_dump(s.port[0], s.nb_rules > 0 && nb > 7 ? s.flow[0][nb % s.nb_rules] : NULL,
			  nowhere, &error);
	free(contexts);
}

static void
run_op(uint8_t op, struct fuzz_input *in)
{
	switch (op & 15) {
	case 5:
		return op_destroy(in);
	case 6:
		return op_query(in);
	case 7:
	case 8:
		return op_packet(in);
	case 9:
		return op_handle_create(in);
	case 10:
		return op_handle_update(in);
	case 11:
		return op_handle_query(in);
	case 12:
		return op_handle_destroy(in);
	case 13:
		return set_isolated(op & 16);
	case 14:
		return (op & 16) != 0 ? restart() : op_look(in);
	case 15:
		return op_flush();
	default:
		return op_create(in);
	}
}

static void
begin(const struct fuzz_nic *nic)
{
	memset(&s, 0, sizeof(s));
	s.nic = nic;
	s.nb_who = nic->has_twin ? WHO : 1;
	s.port[0] = nic->octo;
	for (unsigned int pf = 0; pf < FUZZ_PFS; pf++)
		s.port[1 + pf] = nic->twin[pf];
}

static void
end(void)
{
	struct octo_view_rule rule;
	uint32_t total = 0;

	op_flush();
	set_isolated(0);
	while (s.nb_handles > 0)
		FUZZ_CHECK(handle_destroy(s.nb_handles - 1), "an indirect action is in use");
	rte_pmd_octo_view_rules(s.port[0], 0, &rule, 1, &total);
	FUZZ_CHECK(total == 0, "%u rules are left", total);
}

static void
run(struct fuzz_input *in)
{
	const uint8_t which = fuzz_u8(in);

	fuzz_log_forget();
	begin((which & 3) == 3 ? fuzz_nic_narrow() :
	      (which & 3) == 2 ? fuzz_nic_reading() :
				 fuzz_nic_roomy());
	for (int op = 0; op < MAX_OPS && in->left > 0; op++)
		run_op(fuzz_u8(in), in);
	end();
}

/* Tables stay for good once there has been something in them: both NICs had it. */
int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	/* rules by a prefix of an address, for a queue and for the switch */
	static const uint8_t first[][48] = {
		{0, 0, 0, 4, 6, 0, 3, 5, 20, 0, 0, 0, 1,  0,
		 2, 7, 0, 0, 6, 0, 1, 5, 0,  5, 0, 0, 11, 1},
		{2, 0, 0, 4, 6, 0, 3, 5, 20, 0, 0, 0, 1,  0,
		 2, 7, 0, 0, 6, 0, 1, 5, 0,  5, 0, 0, 11, 1},
		{3, 0, 0, 4, 6, 0, 3, 5, 20, 0, 0, 0, 1,  0,
		 2, 7, 0, 0, 6, 0, 1, 5, 0,  5, 0, 0, 11, 1},
	};

	RTE_SET_USED(argc);
	RTE_SET_USED(argv);
	fuzz_eal_init();
	nowhere = fopen("/dev/null", "w");
	FUZZ_CHECK(nowhere != NULL, "no /dev/null");
	fuzz_heap_guard(true);
	fuzz_nic_roomy();
	for (unsigned int i = 0; i < RTE_DIM(first); i++)
		run(&(struct fuzz_input){.at = first[i], .left = sizeof(first[i])});
	live_before = fuzz_heap_live();
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	run(&(struct fuzz_input){.at = data, .left = size});
	FUZZ_CHECK(fuzz_heap_live() == live_before, "%d objects are left",
		   fuzz_heap_live() - live_before);
	return 0;
}
