/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The agent's rules on mpsim, of three kinds: PFs only; an uplink and
 * representors with the PFs in the agent's hands, and with PFs that are not.
 */

#include <errno.h>
#include <string.h>

#include "agent_rules_rig.h"
#include "octo_flow_build.h"
#include "mpsim_control.h"

#define MOVING 7 /* the flow whose rule moves */

static struct agent_rules *rules;
static char why[AGENT_WHY_MAX];

static int
create(void)
{
	const struct agent_rules_config c = rig_config();

	return agent_rules_create(&c, &rules, why);
}

/* Two rules fit the switch, and two each PF. */
static void
start_small(void)
{
	rig_add_ports("default_pf=2,mpfs_entries=2", "arfs_entries=2");
	if (create() != 0)
		fail_msg("%s", why);
}

static void
start(void)
{
	rig_add_ports("default_pf=2", NULL);
	if (create() != 0)
		fail_msg("%s", why);
}

static int
setup(void **state)
{
	rig_kind = *state;
	rig_between = NULL;
	rules = NULL;
	why[0] = '\0';
	return octo_port_setup(state);
}

static int
teardown(void **state)
{
	agent_rules_destroy(rules);
	return octo_port_teardown(state);
}

static struct octo_tuple
tuple_of(uint16_t src_port)
{
	struct octo_tuple t;

	assert_int_equal(octo_tuple_read(&t, "udp", "10.0.0.1", src_port, "10.0.0.2", 9, NULL), 0);
	return t;
}

static int
put(uint16_t src_port, uint8_t pf, uint16_t queue)
{
	const struct octo_tuple t = tuple_of(src_port);

	return agent_rules_put(rules, &t, pf, queue, why);
}

static int
take(uint16_t src_port)
{
	const struct octo_tuple t = tuple_of(src_port);

	return agent_rules_remove(rules, &t, why);
}

static uint64_t
hits_of(uint16_t src_port)
{
	const struct octo_tuple t = tuple_of(src_port);
	uint64_t hits = 0, bytes = 0;

	assert_int_equal(agent_rules_query(rules, &t, &hits, &bytes), 0);
	assert_int_equal(bytes, hits * OCTO_PORT_FRAME_LEN);
	return hits;
}

/* Queues are chosen by the agent if the PFs are its own. */
static void
expect_on_pf(uint16_t src_port, unsigned int pf, uint16_t queue)
{
	rig_expect(src_port, pf, rig_kind->own_pfs ? queue : 0);
}

static void
test_capabilities(void **state)
{
	(void)state;
	start();
	assert_int_equal(agent_rules_chooses_queues(rules), rig_kind->own_pfs);
	assert_true(agent_rules_counts(rules));
	assert_int_equal(agent_rules_count(rules), 0);
}

static void
test_rule_steers_its_flow(void **state)
{
	(void)state;
	start();
	assert_int_equal(put(1, 0, 1), 0);
	assert_int_equal(put(2, 1, 1), 0);
	assert_int_equal(agent_rules_count(rules), 2);
	expect_on_pf(1, 0, 1);
	expect_on_pf(2, 1, 1);
	rig_expect(3, RIG_DEFAULT_PF, 0);
}

static void
test_rule_moves_between_pfs_and_queues(void **state)
{
	static const struct {
		uint8_t pf;
		uint16_t queue;
	} steps[] = {{0, 0}, {1, 1}, {0, 1}, {0, 0}, {0, 1}, {1, 1}, {1, 0}, {2, 1}, {0, 0}};

	(void)state;
	start();
	for (size_t i = 0; i < RTE_DIM(steps); i++) {
		assert_int_equal(put(MOVING, steps[i].pf, steps[i].queue), 0);
		expect_on_pf(MOVING, steps[i].pf, steps[i].queue);
	}
	assert_int_equal(agent_rules_count(rules), 1);
	/* what the rules before it counted is not forgotten */
	assert_int_equal(hits_of(MOVING), 5 * RTE_DIM(steps));
}

static void
test_same_rule_again_changes_nothing(void **state)
{
	(void)state;
	start_small();
	assert_int_equal(put(1, 1, 1), 0);
	assert_int_equal(put(2, 1, 1), 0);
	expect_on_pf(1, 1, 1);
	/* another rule would not fit beside it */
	assert_int_equal(put(1, 1, 1), 0);
	assert_int_equal(agent_rules_count(rules), 2);
	assert_int_equal(hits_of(1), 5);
	expect_on_pf(1, 1, 1);
}

static void
test_removed_rule_is_gone(void **state)
{
	(void)state;
	start_small();
	for (int i = 0; i < 5; i++) {
		assert_int_equal(put(1, 0, 1), 0);
		assert_int_equal(take(1), 0);
	}
	assert_int_equal(agent_rules_count(rules), 0);
	rig_expect(1, RIG_DEFAULT_PF, 0);
	assert_int_equal(take(1), -ENOENT);
	assert_non_null(strstr(why, "no rule"));
}

static void
test_query_of_what_is_not_there(void **state)
{
	const struct octo_tuple t = tuple_of(1);
	uint64_t hits = 77, bytes = 78;

	(void)state;
	start();
	assert_int_equal(agent_rules_query(rules, &t, &hits, &bytes), -ENOENT);
	assert_int_equal(hits, 77);
	assert_int_equal(bytes, 78);
}

static void
test_pf_that_is_not_there_is_refused(void **state)
{
	(void)state;
	start();
	assert_int_equal(put(1, RIG_PFS, 0), -EINVAL);
	assert_non_null(strstr(why, "PF 3"));
	assert_int_equal(agent_rules_count(rules), 0);
}

static void
test_full_switch_leaves_what_is_there(void **state)
{
	(void)state;
	start_small();
	assert_int_equal(put(1, 0, 1), 0);
	assert_int_equal(put(2, 1, 1), 0);
	assert_int_equal(put(3, 0, 1), -ENOSPC);
	assert_non_null(strstr(why, "MPFS table"));
	assert_non_null(strstr(why, octo_port_pf_name(rig_kind->uplink ? RIG_UPLINK : 0)));
	assert_int_equal(agent_rules_count(rules), 2);
	rig_expect(3, RIG_DEFAULT_PF, 0);
	/* nor is there room for a rule that takes the place of another */
	assert_int_equal(put(1, 1, 0), -ENOSPC);
	expect_on_pf(1, 0, 1);
	assert_int_equal(take(2), 0);
	assert_int_equal(put(1, 1, 0), 0);
	expect_on_pf(1, 1, 0);
}

static void
test_full_pf_leaves_what_is_there(void **state)
{
	(void)state;
	rig_add_ports("default_pf=2", "arfs_entries=1");
	assert_int_equal(create(), 0);
	assert_int_equal(put(1, 0, 1), 0);
	assert_int_equal(put(2, 1, 1), 0);
	assert_int_equal(put(3, 1, 1), -ENOSPC);
	assert_non_null(strstr(why, "ARFS table"));
	assert_non_null(strstr(why, octo_port_pf_name(1)));
	rig_expect(3, RIG_DEFAULT_PF, 0);
	assert_int_equal(put(1, 1, 0), -ENOSPC);
	expect_on_pf(1, 0, 1);
	/* the PF that it did not leave has no rule too many */
	assert_int_equal(take(1), 0);
	assert_int_equal(put(3, 0, 1), 0);
	expect_on_pf(3, 0, 1);
}

static void
test_queue_that_is_not_there_leaves_what_is_there(void **state)
{
	(void)state;
	start();
	assert_int_equal(put(1, 0, 1), 0);
	assert_int_equal(put(1, 1, RIG_QUEUES), -EINVAL);
	assert_non_null(strstr(why, "queue index 3"));
	expect_on_pf(1, 0, 1);
	assert_int_equal(hits_of(1), 5);
}

static void
test_sweep_removes_what_was_not_put_again(void **state)
{
	(void)state;
	start();
	for (uint16_t flow = 1; flow <= 40; flow++)
		assert_int_equal(put(flow, flow % 2, 1), 0);
	agent_rules_mark(rules);
	assert_int_equal(put(1, 1, 1), 0);
	assert_int_equal(put(2, 1, 1), 0);
	assert_int_equal(put(50, 0, 1), 0);
	assert_int_equal(agent_rules_count(rules), 41);
	assert_int_equal(agent_rules_sweep(rules), 38);
	assert_int_equal(agent_rules_count(rules), 3);
	assert_int_equal(agent_rules_sweep(rules), 0);
	expect_on_pf(1, 1, 1);
	expect_on_pf(2, 1, 1);
	expect_on_pf(50, 0, 1);
	rig_expect(3, RIG_DEFAULT_PF, 0);
}

static void
test_stale_rules_work_until_they_are_swept(void **state)
{
	(void)state;
	start();
	assert_int_equal(put(1, 0, 1), 0);
	agent_rules_mark(rules);
	expect_on_pf(1, 0, 1);
	/* a port that begins a second time, the first resync unfinished */
	agent_rules_mark(rules);
	assert_int_equal(agent_rules_sweep(rules), 1);
	rig_expect(1, RIG_DEFAULT_PF, 0);
}

static void
test_flush_keeps_the_default_paths(void **state)
{
	(void)state;
	start();
	for (uint16_t flow = 1; flow <= 40; flow++)
		assert_int_equal(put(flow, 0, 1), 0);
	agent_rules_flush(rules);
	assert_int_equal(agent_rules_count(rules), 0);
	rig_expect(1, RIG_DEFAULT_PF, 0);
	assert_int_equal(put(1, 1, 1), 0);
	expect_on_pf(1, 1, 1);
}

/* What no rule matches goes where it was told last, and the rules do not mind. */
static void
test_default_pf_is_chosen(void **state)
{
	(void)state;
	start();
	assert_true(agent_rules_sets_default(rules));
	assert_int_equal(put(1, 0, 1), 0);
	for (unsigned int turn = 0; turn < 2; turn++) {
		for (uint8_t pf = 0; pf < RIG_PFS; pf++) {
			assert_int_equal(agent_rules_set_default(rules, pf, why), 0);
			rig_expect(100, pf, 0);
			expect_on_pf(1, 0, 1);
		}
	}
	assert_int_equal(agent_rules_set_default(rules, RIG_PFS, why), -EINVAL);
	assert_string_equal(why, "PF 3: there are 3");
	rig_expect(100, RIG_PFS - 1, 0);
}

static void
test_destroy_leaves_no_rule(void **state)
{
	(void)state;
	start_small();
	assert_int_equal(put(1, 0, 1), 0);
	assert_int_equal(put(2, 1, 1), 0);
	assert_int_equal(agent_rules_destroy(rules), 0);
	rules = NULL;
	/* to the owner of the switch if there is one, and to the default PF if not */
	rig_expect(1, rig_kind->uplink ? RIG_UPLINK : RIG_DEFAULT_PF, 0);
	assert_int_equal(create(), 0);
	assert_int_equal(put(3, 0, 1), 0);
	assert_int_equal(put(4, 0, 1), 0);
}

static void
test_pfs_are_let_out_to_the_wire(void **state)
{
	unsigned int got[RIG_PORTS][RIG_QUEUES] = {0};

	(void)state;
	start();
	assert_int_equal(put(1, 1, 0), 0);
	for (unsigned int pf = 0; pf < RIG_PFS; pf++)
		octo_port_send(octo_port_pf(pf), 0, 1, 1);
	while (rig_poll_all(got) > 0)
		continue;
	assert_int_equal(got[1][0], RIG_PFS);
}

/* Packets of the flow that is steered, sent while its rules are half way. */
static unsigned int between_sent;
static unsigned int between_got[RIG_PORTS][RIG_QUEUES];

static void
send_between(void)
{
	octo_port_send(rig_player(), 0, MOVING, 1);
	between_sent++;
	while (rig_poll_all(between_got) > 0)
		continue;
}

/* Not one packet may come where there is no rule for it while the rule moves. */
static void
test_rule_moves_without_a_gap(void **state)
{
	static const struct {
		uint8_t pf;
		uint16_t queue;
	} steps[] = {{1, 1}, {0, 1}, {0, 2}, {0, 1}, {1, 2}, {1, 1}, {0, 2}, {1, 2}, {0, 1}};
	unsigned int on_queue_0, arrived = 0;

	(void)state;
	between_sent = 0;
	memset(between_got, 0, sizeof(between_got));
	start();
	assert_int_equal(put(MOVING, 0, 1), 0);
	rig_between = send_between;
	for (size_t i = 0; i < RTE_DIM(steps); i++)
		assert_int_equal(put(MOVING, steps[i].pf, steps[i].queue), 0);
	rig_between = NULL;
	assert_true(between_sent >= 2 * 6);
	for (uint16_t q = 0; q < RIG_QUEUES; q++)
		arrived += between_got[0][q] + between_got[1][q];
	assert_int_equal(arrived, between_sent);
	/* no rule of this test chooses queue 0 */
	on_queue_0 = between_got[0][0] + between_got[1][0];
	assert_int_equal(on_queue_0, rig_kind->own_pfs ? 0 : between_sent);
}

/* On the PFs, if nothing chooses a queue for it, all of it comes by queue 0. */
static void
test_default_moves_without_a_gap(void **state)
{
	unsigned int arrived = 0;

	(void)state;
	between_sent = 0;
	memset(between_got, 0, sizeof(between_got));
	start();
	rig_between = send_between;
	for (unsigned int i = 0; i < 6; i++)
		assert_int_equal(agent_rules_set_default(rules, i % 2, why), 0);
	rig_between = NULL;
	assert_true(between_sent >= 2 * 5);
	for (unsigned int pf = 0; pf < RIG_PFS; pf++)
		arrived += between_got[pf][0];
	assert_int_equal(arrived, between_sent);
}

/* Have the port that takes the transfer rules refuse the next ones. */
static void
refuse_rules(int code, unsigned int count)
{
	const char *name = octo_port_pf_name(rig_kind->uplink ? RIG_UPLINK : 0);
	char request[64];

	snprintf(request, sizeof(request), "%s,rule_fail,1,%d,%u", name, code, count);
	assert_int_equal(rte_pmd_mpsim_fault(request), 0);
}

static void
test_refused_default_leaves_the_old_one(void **state)
{
	(void)state;
	start();
	assert_int_equal(agent_rules_set_default(rules, 0, why), 0);
	refuse_rules(EIO, 2);
	assert_int_equal(agent_rules_set_default(rules, 1, why), -EIO);
	rig_expect(100, 0, 0);
	/* the second one was not asked for */
	assert_int_equal(agent_rules_set_default(rules, 1, why), -EIO);
	assert_int_equal(agent_rules_set_default(rules, 1, why), 0);
	rig_expect(100, 1, 0);
}

/* The old path has made room for the new one, and is refused itself at first. */
static void
test_full_switch_has_its_default_back(void **state)
{
	(void)state;
	start();
	assert_int_equal(agent_rules_set_default(rules, 0, why), 0);
	refuse_rules(ENOSPC, 1);
	assert_int_equal(agent_rules_set_default(rules, 1, why), 0);
	rig_expect(100, 1, 0);
	refuse_rules(ENOSPC, 2);
	assert_int_equal(agent_rules_set_default(rules, 0, why), -ENOSPC);
	rig_expect(100, 1, 0);
	refuse_rules(ENOSPC, 3);
	assert_int_equal(agent_rules_set_default(rules, 0, why), -ENOSPC);
	assert_int_equal(agent_rules_set_default(rules, 1, why), 0);
	rig_expect(100, 1, 0);
}

static void
test_bad_configuration_is_refused(void **state)
{
	struct agent_rules_config c;

	(void)state;
	rig_add_ports("default_pf=2", NULL);
	c = rig_config();
	c.nb_pfs = 0;
	assert_int_equal(agent_rules_create(&c, &rules, why), -EINVAL);
	assert_non_null(strstr(why, "0 PFs"));
	c = rig_config();
	c.default_pf = RIG_PFS;
	assert_int_equal(agent_rules_create(&c, &rules, why), -EINVAL);
	assert_non_null(strstr(why, "default PF 3"));
	c = rig_config();
	if (rig_kind->uplink)
		c.rep_port[1] = RTE_MAX_ETHPORTS;
	else
		c.pf_port[1] = RTE_MAX_ETHPORTS;
	assert_int_equal(agent_rules_create(&c, &rules, why), -EINVAL);
	assert_non_null(strstr(why, "PF 1"));
	assert_null(rules);
}

/* A PF of the agent's is its own representor, says the user: the NIC knows better. */
static void
test_port_of_another_kind_is_refused(void **state)
{
	struct agent_rules_config c;

	(void)state;
	rig_add_ports("default_pf=2", NULL);
	c = rig_config();
	if (rig_kind->uplink)
		c.rep_port[1] = octo_port_pf(1);
	else
		c.pf_port[1] = RTE_MAX_ETHPORTS - 1;
	assert_true(agent_rules_create(&c, &rules, why) < 0);
	assert_true(strlen(why) > 0);
	assert_null(rules);
	assert_int_equal(create(), 0);
}

/* Another program's rule on the uplink, of its priority, is in the way of the last default path. */
static void
test_failed_creation_takes_everything_back(void **state)
{
	struct rte_flow_error error;
	struct octo_flow_rule r;
	struct rte_flow *flow;
	uint16_t uplink;

	(void)state;
	rig_add_ports("default_pf=2", NULL);
	uplink = octo_port_pf(RIG_UPLINK);
	octo_flow_build_transfer(&r, OCTO_DIALECT_REPRESENTED, NULL, 2, uplink,
				 octo_port_pf(RIG_REP(0)), false);
	flow = rte_flow_create(uplink, &r.attr, r.pattern, r.actions, &error);
	assert_non_null(flow);
	assert_int_equal(create(), -EEXIST);
	assert_non_null(strstr(why, octo_port_pf_name(RIG_UPLINK)));
	assert_int_equal(rte_flow_destroy(uplink, flow, &error), 0);
	/* the ways out would be in the way now */
	if (create() != 0)
		fail_msg("%s", why);
}

#define TEST(f, k)                                                                                 \
	{                                                                                          \
		.name = #f " (" #k ")", .test_func = f, .setup_func = setup,                       \
		.teardown_func = teardown, .initial_state = (void *)(uintptr_t) & (k)              \
	}
#define FOR_ALL_KINDS(f) TEST(f, rig_direct), TEST(f, rig_eswitch), TEST(f, rig_eswitch_of_host)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		FOR_ALL_KINDS(test_capabilities),
		FOR_ALL_KINDS(test_rule_steers_its_flow),
		FOR_ALL_KINDS(test_rule_moves_between_pfs_and_queues),
		FOR_ALL_KINDS(test_same_rule_again_changes_nothing),
		FOR_ALL_KINDS(test_removed_rule_is_gone),
		FOR_ALL_KINDS(test_query_of_what_is_not_there),
		FOR_ALL_KINDS(test_pf_that_is_not_there_is_refused),
		FOR_ALL_KINDS(test_full_switch_leaves_what_is_there),
		TEST(test_full_pf_leaves_what_is_there, rig_direct),
		TEST(test_full_pf_leaves_what_is_there, rig_eswitch),
		TEST(test_queue_that_is_not_there_leaves_what_is_there, rig_direct),
		TEST(test_queue_that_is_not_there_leaves_what_is_there, rig_eswitch),
		FOR_ALL_KINDS(test_sweep_removes_what_was_not_put_again),
		FOR_ALL_KINDS(test_stale_rules_work_until_they_are_swept),
		FOR_ALL_KINDS(test_flush_keeps_the_default_paths),
		FOR_ALL_KINDS(test_destroy_leaves_no_rule),
		FOR_ALL_KINDS(test_pfs_are_let_out_to_the_wire),
		FOR_ALL_KINDS(test_rule_moves_without_a_gap),
		FOR_ALL_KINDS(test_default_pf_is_chosen),
		FOR_ALL_KINDS(test_default_moves_without_a_gap),
		FOR_ALL_KINDS(test_refused_default_leaves_the_old_one),
		FOR_ALL_KINDS(test_full_switch_has_its_default_back),
		FOR_ALL_KINDS(test_bad_configuration_is_refused),
		FOR_ALL_KINDS(test_port_of_another_kind_is_refused),
		TEST(test_failed_creation_takes_everything_back, rig_eswitch),
		TEST(test_failed_creation_takes_everything_back, rig_eswitch_of_host),
	};

	return cmocka_run_group_tests(tests, octo_port_group_setup, octo_port_group_teardown);
}
