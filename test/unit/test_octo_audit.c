/* SPDX-License-Identifier: BSD-3-Clause */

#include <rte_common.h>

#include "octo_test.h"

#include "octo_audit.h"

#define QUEUE 3
#define PF 1
#define OTHER_QUEUE 2
#define OTHER_PF 0

static const struct octo_expected expected = {.queue = QUEUE, .pf = PF};
static const struct octo_expected any_pf = {.queue = QUEUE, .pf = OCTO_AUDIT_ANY_PF};

static struct octo_observed e;
static uint64_t now;
static uint32_t turn;

static int
new_rule(void **state)
{
	RTE_SET_USED(state);
	now = 5000;
	turn = UINT32_MAX - 3; /* wraps in most tests */
	octo_observed_start(&e, now, false);
	now += OCTO_AUDIT_GRACE_MS;
	return 0;
}

static void
stray(const struct octo_expected *p, uint16_t queue, uint8_t pf)
{
	const struct octo_sample s = {.when = now, .turn = turn, .queue = queue, .pf = pf};

	octo_observed_stray(&e, p, &s);
}

/* Strays one after another, each from a ring that has been emptied since the last. */
static void
strays(const struct octo_expected *p, uint16_t queue, uint8_t pf, int n)
{
	for (; n > 0; n--) {
		turn += 2;
		now++;
		stray(p, queue, pf);
	}
}

static void
assert_status(enum octo_rule_status v)
{
	assert_string_equal(octo_rule_status_name(octo_observed_status(&e)),
			    octo_rule_status_name(v));
}

static void
test_nothing_is_known_of_a_new_rule(void **state)
{
	RTE_SET_USED(state);
	assert_status(OCTO_STATUS_UNPROVEN);
	octo_observed_hits(&e, 0, 0, now);
	assert_status(OCTO_STATUS_UNPROVEN);
}

static void
test_hits_by_its_pf_show_that_it_works(void **state)
{
	RTE_SET_USED(state);
	octo_observed_hits(&e, 1, 1, now);
	assert_status(OCTO_STATUS_WORKS);
}

static void
test_hits_by_another_pf_prove_nothing(void **state)
{
	RTE_SET_USED(state);
	octo_observed_hits(&e, 0, 100, now);
	assert_status(OCTO_STATUS_UNPROVEN);
}

static void
test_another_pf_all_the_time(void **state)
{
	RTE_SET_USED(state);
	/* the first says where to look, each further one is a proof */
	strays(&expected, QUEUE, OTHER_PF, OCTO_AUDIT_PROOFS);
	assert_status(OCTO_STATUS_UNPROVEN);
	strays(&expected, QUEUE, OTHER_PF, 1);
	assert_status(OCTO_STATUS_PF_IGNORED);
	strays(&expected, QUEUE, OTHER_PF, 1000);
	assert_status(OCTO_STATUS_PF_IGNORED);
}

static void
test_another_queue_all_the_time(void **state)
{
	RTE_SET_USED(state);
	strays(&expected, OTHER_QUEUE, PF, OCTO_AUDIT_PROOFS + 1);
	assert_status(OCTO_STATUS_QUEUE_IGNORED);
}

static void
test_another_queue_by_another_pf(void **state)
{
	RTE_SET_USED(state);
	strays(&expected, OTHER_QUEUE, OTHER_PF, OCTO_AUDIT_PROOFS + 1);
	assert_status(OCTO_STATUS_QUEUE_IGNORED);
}

static void
test_without_a_switch_any_pf_is_right(void **state)
{
	RTE_SET_USED(state);
	strays(&any_pf, QUEUE, 0, 100);
	strays(&any_pf, QUEUE, 7, 100);
	assert_status(OCTO_STATUS_UNPROVEN);
	strays(&any_pf, OTHER_QUEUE, 0, OCTO_AUDIT_PROOFS + 1);
	assert_status(OCTO_STATUS_QUEUE_IGNORED);
}

/* The queue's home has moved on, the rule has not followed yet. */
static void
test_a_stray_by_the_expected_pf_is_right(void **state)
{
	RTE_SET_USED(state);
	strays(&expected, QUEUE, PF, 1000);
	assert_status(OCTO_STATUS_UNPROVEN);
}

static void
test_packets_under_way_do_not_count(void **state)
{
	RTE_SET_USED(state);
	now -= OCTO_AUDIT_GRACE_MS;
	strays(&expected, QUEUE, OTHER_PF, OCTO_AUDIT_GRACE_MS - 1);
	assert_status(OCTO_STATUS_UNPROVEN);
	assert_false(e.has_bad);
}

/* A control thread that stood still for an hour finds samples of before the rule. */
static void
test_samples_that_waited_do_not_count(void **state)
{
	RTE_SET_USED(state);
	octo_observed_start(&e, now + 3600 * 1000, false);
	strays(&expected, QUEUE, OTHER_PF, 1000);
	assert_status(OCTO_STATUS_UNPROVEN);
	assert_false(e.has_bad);
	octo_observed_start(&e, now + 3600 * 1000, true);
	strays(&expected, OTHER_QUEUE, PF, 1000);
	assert_status(OCTO_STATUS_UNPROVEN);
	now += 3600 * 1000 + OCTO_AUDIT_GRACE_MS;
	strays(&expected, QUEUE, OTHER_PF, OCTO_AUDIT_PROOFS + 1);
	assert_status(OCTO_STATUS_PF_IGNORED);
}

/* A poller that stood still for an hour finds full rings: all that is in one is one sample. */
static void
test_old_packets_in_a_ring_do_not_count(void **state)
{
	RTE_SET_USED(state);
	now += 3600 * 1000;
	for (int i = 0; i < 1000; i++)
		stray(&expected, QUEUE, OTHER_PF);
	turn++;
	for (int i = 0; i < 1000; i++)
		stray(&expected, QUEUE, OTHER_PF);
	assert_status(OCTO_STATUS_UNPROVEN);
	assert_int_equal(e.wrong_pf, 0);
}

static void
test_turns_of_two_rings_are_apart(void **state)
{
	RTE_SET_USED(state);
	for (int i = 0; i < 100; i++) {
		turn += 2;
		stray(&expected, QUEUE, OTHER_PF + (i % 2) * 2);
	}
	assert_status(OCTO_STATUS_UNPROVEN);
}

/* A queue whose home goes back and forth under traffic: each time, strays for a while. */
static void
test_a_rule_that_moves_starts_anew(void **state)
{
	RTE_SET_USED(state);
	for (int i = 0; i < 100; i++) {
		strays(&expected, QUEUE, OTHER_PF, OCTO_AUDIT_PROOFS);
		octo_observed_start(&e, now, true);
		assert_status(OCTO_STATUS_UNPROVEN);
		strays(&expected, QUEUE, OTHER_PF, OCTO_AUDIT_GRACE_MS - 1);
		now += OCTO_AUDIT_GRACE_MS;
	}
	strays(&expected, QUEUE, OTHER_PF, OCTO_AUDIT_PROOFS + 1);
	assert_status(OCTO_STATUS_PF_IGNORED);
	octo_observed_start(&e, now, true);
	assert_status(OCTO_STATUS_UNPROVEN);
}

static void
test_hits_from_before_a_move_prove_nothing(void **state)
{
	RTE_SET_USED(state);
	octo_observed_hits(&e, 10, 10, now);
	octo_observed_start(&e, now, true);
	octo_observed_hits(&e, 7, 17, now);
	assert_status(OCTO_STATUS_UNPROVEN);
	now += 2 * OCTO_AUDIT_QUIET_MS;
	octo_observed_hits(&e, 7, 17, now);
	assert_status(OCTO_STATUS_UNPROVEN);
	octo_observed_hits(&e, 8, 18, now);
	assert_status(OCTO_STATUS_WORKS);
}

/* The application may set the counters back. */
static void
test_hits_after_a_reset(void **state)
{
	RTE_SET_USED(state);
	octo_observed_start(&e, now, true);
	octo_observed_hits(&e, 10, 10, now);
	now += OCTO_AUDIT_QUIET_MS;
	octo_observed_hits(&e, 0, 0, now);
	assert_status(OCTO_STATUS_UNPROVEN);
	octo_observed_hits(&e, 3, 3, now);
	assert_status(OCTO_STATUS_WORKS);
}

static void
test_some_come_and_some_stray(void **state)
{
	RTE_SET_USED(state);
	octo_observed_hits(&e, 10, 10, now);
	strays(&expected, QUEUE, OTHER_PF, OCTO_AUDIT_PROOFS + 1);
	assert_status(OCTO_STATUS_PARTLY);
	for (int i = 2; i < 10; i++) {
		now += OCTO_AUDIT_QUIET_MS;
		strays(&expected, QUEUE, OTHER_PF, 1);
		octo_observed_hits(&e, i * 10, i * 20, now);
		/* asked again at once: that no packet has come since means nothing */
		octo_observed_hits(&e, i * 10, i * 20, now + 1);
		assert_status(OCTO_STATUS_PARTLY);
	}
}

/* A switch that forgot its rules. */
static void
test_a_rule_that_works_no_more(void **state)
{
	RTE_SET_USED(state);
	octo_observed_hits(&e, 10, 10, now);
	assert_status(OCTO_STATUS_WORKS);
	now += 3600 * 1000;
	octo_observed_hits(&e, 1000, 1000, now);
	strays(&expected, QUEUE, OTHER_PF, OCTO_AUDIT_PROOFS + 1);
	assert_status(OCTO_STATUS_PARTLY);
	now += OCTO_AUDIT_QUIET_MS;
	strays(&expected, QUEUE, OTHER_PF, 1);
	octo_observed_hits(&e, 1000, 1010, now);
	assert_status(OCTO_STATUS_PF_IGNORED);
	assert_true(e.kept_queue);
}

/* A switch that took its time. */
static void
test_a_rule_that_works_at_last(void **state)
{
	RTE_SET_USED(state);
	strays(&expected, QUEUE, OTHER_PF, OCTO_AUDIT_PROOFS + 1);
	assert_status(OCTO_STATUS_PF_IGNORED);
	now += OCTO_AUDIT_QUIET_MS;
	octo_observed_hits(&e, 0, 50, now);
	assert_status(OCTO_STATUS_PF_IGNORED);
	now += OCTO_AUDIT_QUIET_MS;
	octo_observed_hits(&e, 10, 60, now);
	assert_status(OCTO_STATUS_WORKS);
	strays(&expected, QUEUE, OTHER_PF, OCTO_AUDIT_PROOFS);
	assert_status(OCTO_STATUS_WORKS);
}

/* A learned rule: its switch counts what it matched, wherever that went. */
#define MANY 1000

static void
test_matches_beside_strays_prove_nothing(void **state)
{
	uint64_t matched = 0;

	RTE_SET_USED(state);
	for (int i = 0; i < 20; i++) {
		strays(&expected, QUEUE, OTHER_PF, 1);
		now += OCTO_AUDIT_QUIET_MS;
		matched += 100 * MANY;
		octo_observed_matched(&e, matched, MANY, now);
	}
	assert_status(OCTO_STATUS_PF_IGNORED);
}

static void
test_many_matches_without_a_stray_heal(void **state)
{
	RTE_SET_USED(state);
	strays(&expected, QUEUE, OTHER_PF, OCTO_AUDIT_PROOFS + 1);
	octo_observed_matched(&e, 7000, MANY, ++now);
	/* too few, then too soon */
	octo_observed_matched(&e, 7000 + MANY, MANY, now + 3600 * 1000);
	octo_observed_matched(&e, 7001 + MANY, MANY, now + OCTO_AUDIT_QUIET_MS - 2);
	assert_status(OCTO_STATUS_PF_IGNORED);
	now += OCTO_AUDIT_QUIET_MS;
	octo_observed_matched(&e, 7001 + MANY, MANY, now);
	assert_status(OCTO_STATUS_WORKS);
	/* what is proven takes as many proofs as ever to be in doubt again */
	strays(&expected, QUEUE, OTHER_PF, OCTO_AUDIT_PROOFS);
	assert_status(OCTO_STATUS_WORKS);
}

static void
test_a_learned_rule_that_works_no_more(void **state)
{
	RTE_SET_USED(state);
	octo_observed_matched(&e, 0, MANY, now);
	now += OCTO_AUDIT_QUIET_MS;
	octo_observed_matched(&e, 2 * MANY, MANY, now);
	assert_status(OCTO_STATUS_WORKS);
	strays(&expected, QUEUE, OTHER_PF, OCTO_AUDIT_PROOFS + 1);
	octo_observed_matched(&e, 9 * MANY, MANY, now);
	assert_status(OCTO_STATUS_PF_IGNORED);
}

static void
test_matches_after_a_reset(void **state)
{
	RTE_SET_USED(state);
	strays(&expected, QUEUE, OTHER_PF, OCTO_AUDIT_PROOFS + 1);
	octo_observed_matched(&e, 100 * MANY, MANY, ++now);
	now += OCTO_AUDIT_QUIET_MS;
	octo_observed_matched(&e, 1, MANY, now);
	assert_status(OCTO_STATUS_PF_IGNORED);
	now += OCTO_AUDIT_QUIET_MS;
	octo_observed_matched(&e, 2 + MANY, MANY, now);
	assert_status(OCTO_STATUS_WORKS);
}

static void
test_what_nobody_counts_is_forgotten(void **state)
{
	RTE_SET_USED(state);
	strays(&expected, QUEUE, OTHER_PF, OCTO_AUDIT_PROOFS + 1);
	octo_observed_uncounted(&e, now + OCTO_AUDIT_FORGET_MS - 1);
	assert_status(OCTO_STATUS_PF_IGNORED);
	octo_observed_uncounted(&e, now + OCTO_AUDIT_FORGET_MS);
	assert_status(OCTO_STATUS_UNPROVEN);
}

static void
test_which_are_ineffective(void **state)
{
	RTE_SET_USED(state);
	assert_false(octo_rule_status_is_ineffective(OCTO_STATUS_UNPROVEN));
	assert_false(octo_rule_status_is_ineffective(OCTO_STATUS_WORKS));
	assert_false(octo_rule_status_is_ineffective(OCTO_STATUS_PARTLY));
	assert_true(octo_rule_status_is_ineffective(OCTO_STATUS_PF_IGNORED));
	assert_true(octo_rule_status_is_ineffective(OCTO_STATUS_QUEUE_IGNORED));
}

/* The tier: rules of both kinds, n of each */

static const struct octo_observed unknown;

static void
add(struct octo_tally *t, int n, bool kept, uint8_t led_to, uint8_t came)
{
	const struct octo_observed rule = {
		.kept_pf = kept,
		.kept_queue = kept,
		.wrong_pf = kept ? 0 : OCTO_AUDIT_PROOFS,
		.wrong_queue = kept ? 0 : OCTO_AUDIT_PROOFS,
		.pf = came,
		.queue = came,
	};

	for (; n > 0; n--) {
		if (n % 2 == 0)
			octo_tally_pf(t, &rule, led_to);
		else
			octo_tally_queue(t, &rule, led_to);
	}
}

static void
assert_ignored(const struct octo_tally *t, bool at_once, bool in_time)
{
	assert_int_equal(octo_tally_is_ignored(t, false), at_once);
	assert_int_equal(octo_tally_is_ignored(t, true), in_time);
}

static void
test_silent_flows_leave_a_doubt(void **state)
{
	struct octo_tally t = {0};

	RTE_SET_USED(state);
	assert_false(octo_tally_is_doubtful(&t));
	octo_tally_pf(&t, &unknown, 1);
	assert_false(octo_tally_is_doubtful(&t));
	add(&t, 2, true, 0, 0);
	assert_false(octo_tally_is_doubtful(&t));
	/* all that were seen come by PF 0 */
	add(&t, 2, false, 1, 0);
	assert_ignored(&t, false, false);
	assert_true(octo_tally_is_doubtful(&t));
	/* a rule that leads elsewhere works */
	add(&t, 2, true, 1, 1);
	assert_false(octo_tally_is_doubtful(&t));
}

static void
test_no_rule_is_known_not_to_work(void **state)
{
	struct octo_tally t = {0};

	RTE_SET_USED(state);
	assert_ignored(&t, false, false);
	octo_tally_pf(&t, &unknown, 1);
	assert_ignored(&t, false, false);
	add(&t, 100, true, 1, 1);
	assert_ignored(&t, false, false);
}

static void
test_the_only_rule_does_not_work(void **state)
{
	struct octo_tally t = {0};

	RTE_SET_USED(state);
	add(&t, 1, false, 1, 0);
	assert_ignored(&t, false, true);
	/* no packet came of another one: nobody knows */
	octo_tally_pf(&t, &unknown, 1);
	assert_ignored(&t, false, false);
}

static void
test_many_rules_do_not_work(void **state)
{
	struct octo_tally t = {0};

	RTE_SET_USED(state);
	octo_tally_queue(&t, &unknown, 1);
	add(&t, OCTO_AUDIT_MANY - 1, false, 1, 0);
	assert_ignored(&t, false, false);
	add(&t, 1, false, 1, 0);
	assert_ignored(&t, true, true);
}

/* All come by the default PF: that some rules lead there proves nothing for the others. */
static void
test_rules_that_come_true_by_chance(void **state)
{
	struct octo_tally t = {0};

	RTE_SET_USED(state);
	add(&t, 100, true, 0, 0);
	add(&t, 1, false, 1, 0);
	assert_ignored(&t, false, true);
	add(&t, OCTO_AUDIT_MANY, false, 1, 0);
	assert_ignored(&t, true, true);
}

/* The network spreads the packets over the PFs as it likes: half of all rules come true. */
static void
test_no_better_than_chance(void **state)
{
	struct octo_tally t = {0};

	RTE_SET_USED(state);
	add(&t, 2, true, 0, 0);
	add(&t, 2, true, 1, 1);
	add(&t, 2, false, 1, 0);
	add(&t, 2, false, 0, 1);
	assert_ignored(&t, false, false);
	add(&t, 2, true, 0, 0);
	add(&t, 2, true, 1, 1);
	add(&t, 2, false, 1, 0);
	add(&t, 2, false, 0, 1);
	assert_ignored(&t, true, true);
}

/* The switch works, but there are flows that it cannot match (tunnels, options). */
static void
test_a_few_that_do_not_work_among_many(void **state)
{
	struct octo_tally t = {0};

	RTE_SET_USED(state);
	add(&t, 20, true, 0, 0);
	add(&t, 20, true, 1, 1);
	add(&t, OCTO_AUDIT_MANY, false, 1, 0);
	assert_ignored(&t, false, false);
}

#define of_a_rule(f) cmocka_unit_test_setup(f, new_rule)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		of_a_rule(test_nothing_is_known_of_a_new_rule),
		of_a_rule(test_hits_by_its_pf_show_that_it_works),
		of_a_rule(test_hits_by_another_pf_prove_nothing),
		of_a_rule(test_another_pf_all_the_time),
		of_a_rule(test_another_queue_all_the_time),
		of_a_rule(test_another_queue_by_another_pf),
		of_a_rule(test_without_a_switch_any_pf_is_right),
		of_a_rule(test_a_stray_by_the_expected_pf_is_right),
		of_a_rule(test_packets_under_way_do_not_count),
		of_a_rule(test_samples_that_waited_do_not_count),
		of_a_rule(test_old_packets_in_a_ring_do_not_count),
		of_a_rule(test_turns_of_two_rings_are_apart),
		of_a_rule(test_a_rule_that_moves_starts_anew),
		of_a_rule(test_hits_from_before_a_move_prove_nothing),
		of_a_rule(test_hits_after_a_reset),
		of_a_rule(test_some_come_and_some_stray),
		of_a_rule(test_a_rule_that_works_at_last),
		of_a_rule(test_a_rule_that_works_no_more),
		of_a_rule(test_matches_beside_strays_prove_nothing),
		of_a_rule(test_many_matches_without_a_stray_heal),
		of_a_rule(test_a_learned_rule_that_works_no_more),
		of_a_rule(test_matches_after_a_reset),
		of_a_rule(test_what_nobody_counts_is_forgotten),
		cmocka_unit_test(test_which_are_ineffective),
		cmocka_unit_test(test_silent_flows_leave_a_doubt),
		cmocka_unit_test(test_no_rule_is_known_not_to_work),
		cmocka_unit_test(test_the_only_rule_does_not_work),
		cmocka_unit_test(test_many_rules_do_not_work),
		cmocka_unit_test(test_rules_that_come_true_by_chance),
		cmocka_unit_test(test_no_better_than_chance),
		cmocka_unit_test(test_a_few_that_do_not_work_among_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
