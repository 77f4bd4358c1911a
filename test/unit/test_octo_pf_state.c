/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include <rte_common.h>

#include "octo_test.h"

#include "octo_pf_state.h"
#include "port_world.h"

#define T0 UINT64_C(1000000000)
#define EJECT_MS 75
#define BACK_MS 1000

/* A letter for each state. */
static const char letters[] = "ORAEBF";

#define DO(action) OCTO_PF_DO_##action
#define NOTE(note) OCTO_PF_NOTE_##note
#define EV(event) OCTO_PF_EV_##event
#define ROW(event, from, to, until, actions)                                                       \
	{                                                                                          \
		EV(event), from, to, OCTO_PF_UNTIL_##until, actions                                \
	}

/* All that is not ignored; '=' stays. */
static const struct {
	enum octo_pf_event event;
	const char *from;
	char to;
	enum octo_pf_until until;
	uint32_t actions;
} transitions[] = {
	ROW(STARTED, "O", 'A', NEVER, 0),
	ROW(JOINS, "O", 'R', NEVER, 0),
	ROW(SYNCED, "RB", 'A', NEVER, DO(JOINED)),
	ROW(REFUSED, "R", 'B', BACK, 0),
	ROW(EJECT, "RAB", 'E', EJECT, 0),
	ROW(EJECT, "O", 'O', NEVER, DO(RMV)),
	ROW(EMPTY, "E", 'F', KEEP, DO(DRAINED)),
	ROW(EMPTY, "B", 'O', NEVER, DO(REFUSED)),
	ROW(SENT, "F", 'O', NEVER, DO(RELEASE)),
	ROW(UP, "RAEB", '=', KEEP, NOTE(UP)),
	ROW(DOWN, "RA", '=', KEEP, NOTE(DOWN)),
	ROW(DOWN, "E", 'F', KEEP, DO(DRAINED)),
	ROW(DOWN, "B", 'O', NEVER, DO(REFUSED)),
	ROW(LOST, "RAEBF", 'O', NEVER, 0),
	ROW(STOPPED, "RAB", 'O', NEVER, 0),
	ROW(STOPPED, "E", 'O', NEVER, DO(DRAINED) | DO(RELEASE)),
	ROW(STOPPED, "F", 'O', NEVER, DO(RELEASE)),
	ROW(EJECT_NOW, "ORAB", 'O', NEVER, DO(RMV)),
	ROW(EMPTY_LAST, "E", 'F', KEEP, DO(DRAINED)),
	ROW(DOWN_LAST, "RAB", '=', KEEP, NOTE(DOWN)),
	ROW(DOWN_LAST, "E", 'F', KEEP, DO(DRAINED)),
	ROW(LAST, "B", '=', BACK, 0),
	ROW(LATE, "E", 'F', KEEP, DO(DRAINED)),
	ROW(LATE, "B", 'O', NEVER, DO(REFUSED)),
	ROW(LATE, "F", 'O', NEVER, DO(RELEASE)),
};

/* What is ignored in silence; all else is unexpected. */
static const char *const ignored[OCTO_PF_NB_EVENTS] = {
	[EV(TIME)] = "ORAEBF",  [EV(EJECT)] = "EF",     [EV(UP)] = "OF",
	[EV(DOWN)] = "OF",      [EV(LOST)] = "O",       [EV(STOPPED)] = "O",
	[EV(EJECT_NOW)] = "EF", [EV(EMPTY_LAST)] = "B", [EV(DOWN_LAST)] = "OF",
	[EV(LAST)] = "ORAEF",
};

static struct octo_pf_move
expected_move(enum octo_pf_state state, enum octo_pf_event event)
{
	const char letter = letters[state];
	struct octo_pf_move m = {OCTO_PF_SAME, OCTO_PF_UNTIL_KEEP, NOTE(ODD)};
	unsigned int found = 0;

	for (unsigned int i = 0; i < RTE_DIM(transitions); i++) {
		if (transitions[i].event != event || strchr(transitions[i].from, letter) == NULL)
			continue;
		found++;
		m.next = OCTO_PF_SAME;
		if (transitions[i].to != '=')
			m.next = strchr(letters, transitions[i].to) - letters;
		m.until = transitions[i].until;
		m.actions = transitions[i].actions;
	}
	if (ignored[event] != NULL && strchr(ignored[event], letter) != NULL) {
		found++;
		m.actions = 0;
	}
	assert_in_range(found, 0, 1);
	return m;
}

static void
test_each_state_has_the_entry_of_each_event(void **state)
{
	(void)state;
	for (int s = 0; s < OCTO_PF_NB_STATES; s++) {
		for (int e = 0; e < OCTO_PF_NB_EVENTS; e++) {
			const struct octo_pf_move *m = octo_pf_state_move(s, e);
			const struct octo_pf_move expected = expected_move(s, e);

			assert_in_range(m->until, OCTO_PF_UNTIL_KEEP, OCTO_PF_UNTIL_BACK);
			assert_int_equal(m->next, expected.next);
			assert_int_equal(m->until, expected.until);
			assert_int_equal(m->actions, expected.actions);
		}
	}
}

static uint32_t
one_event_on(uint32_t reached)
{
	uint32_t next = reached;

	for (int s = 0; s < OCTO_PF_NB_STATES; s++)
		for (int e = 0; (reached & RTE_BIT32(s)) && e < OCTO_PF_NB_EVENTS; e++)
			if (octo_pf_state_move(s, e)->next != OCTO_PF_SAME)
				next |= RTE_BIT32(octo_pf_state_move(s, e)->next);
	return next;
}

static void
test_every_state_is_reached_and_left(void **state)
{
	uint32_t reached = RTE_BIT32(OCTO_PF_OFF);

	(void)state;
	for (int i = 0; i < 3; i++)
		reached = one_event_on(reached);
	assert_int_equal(reached, RTE_BIT32(OCTO_PF_NB_STATES) - 1);
	for (int s = 0; s < OCTO_PF_NB_STATES; s++)
		assert_true(one_event_on(RTE_BIT32(s)) & RTE_BIT32(OCTO_PF_OFF));
}

static struct octo_pf_fsm
in_state(enum octo_pf_state s)
{
	struct octo_pf_fsm p;

	octo_pf_state_init(&p, WORLD_HZ, T0);
	p.state = s;
	p.link = s != OCTO_PF_OFF && s != OCTO_PF_FLUSHING;
	return p;
}

static void
test_an_ejected_pf_drains_and_flushes_in_time(void **state)
{
	const uint64_t end = T0 + EJECT_MS * WORLD_MS;
	struct octo_pf_fsm p = in_state(OCTO_PF_ACTIVE);

	(void)state;
	assert_int_equal(octo_pf_state_step(&p, EV(EJECT), false, T0).deadline, end);
	/* others announce it, too */
	assert_int_equal(octo_pf_state_step(&p, EV(EJECT), false, T0 + 1).deadline, end);
	assert_int_equal(octo_pf_state_step(&p, EV(EMPTY), false, T0 + 2).actions, DO(DRAINED));
	assert_int_equal(p.state, OCTO_PF_FLUSHING);
	assert_int_equal(octo_pf_state_step(&p, EV(TIME), false, end - 1).actions, 0);
	assert_int_equal(octo_pf_state_step(&p, EV(TIME), false, end).actions, DO(RELEASE));
	assert_int_equal(p.state, OCTO_PF_OFF);
	/* nobody polls it */
	p = in_state(OCTO_PF_ACTIVE);
	octo_pf_state_step(&p, EV(EJECT), false, T0);
	assert_int_equal(octo_pf_state_step(&p, EV(TIME), false, end).actions, DO(DRAINED));
	assert_int_equal(octo_pf_state_step(&p, EV(TIME), false, end).actions, DO(RELEASE));
	/* it is lost before its device goes, also when both are late */
	p = in_state(OCTO_PF_ACTIVE);
	octo_pf_state_step(&p, EV(EJECT), false, T0);
	assert_int_equal(octo_pf_state_step(&p, EV(EMPTY), false, end).actions, DO(DRAINED));
	assert_int_equal(octo_pf_state_step(&p, EV(TIME), false, end).actions, DO(RELEASE));
}

static void
test_the_last_usable_pf_is_not_drained(void **state)
{
	static const enum octo_pf_event events[] = {EV(EMPTY), EV(DOWN), EV(TIME)};
	struct octo_pf_fsm p = in_state(OCTO_PF_ACTIVE);

	(void)state;
	assert_int_equal(octo_pf_state_step(&p, EV(EJECT), true, T0).actions, DO(RMV));
	assert_int_equal(p.state, OCTO_PF_OFF);
	/* it could not join, and there is no other: it goes on, and has its time afterwards */
	for (unsigned int i = 0; i < RTE_DIM(events); i++) {
		const uint64_t later = T0 + 2 * BACK_MS * WORLD_MS;
		struct octo_pf_todo todo;

		p = in_state(OCTO_PF_RESYNC);
		octo_pf_state_step(&p, EV(REFUSED), true, T0);
		todo = octo_pf_state_step(&p, events[i], true, later);
		assert_int_equal(todo.actions, 0);
		assert_int_equal(p.state, OCTO_PF_DRAIN_BACK);
		assert_int_equal(todo.deadline, later + BACK_MS * WORLD_MS);
		todo = octo_pf_state_step(&p, EV(TIME), false, todo.deadline);
		assert_int_equal(todo.actions, DO(REFUSED));
		assert_int_equal(p.state, OCTO_PF_OFF);
	}
}

/* It goes on without some rules until it has them. */
static void
test_the_last_pf_gets_its_rules_later(void **state)
{
	const uint64_t later = T0 + 2 * BACK_MS * WORLD_MS;
	struct octo_pf_fsm p = in_state(OCTO_PF_RESYNC);
	struct octo_pf_todo todo;

	(void)state;
	octo_pf_state_step(&p, EV(REFUSED), true, T0);
	todo = octo_pf_state_step(&p, EV(SYNCED), true, later);
	assert_int_equal(todo.actions, DO(JOINED));
	assert_int_equal(todo.deadline, OCTO_PORT_NEVER);
	assert_int_equal(p.state, OCTO_PF_ACTIVE);
}

static void
test_a_pf_without_link_is_not_drained(void **state)
{
	struct octo_pf_fsm p = in_state(OCTO_PF_ACTIVE);

	(void)state;
	octo_pf_state_step(&p, EV(DOWN), false, T0);
	assert_int_equal(p.state, OCTO_PF_ACTIVE);
	assert_int_equal(octo_pf_state_step(&p, EV(EJECT), false, T0).actions, DO(RMV));
	/* and the rest of one that loses it is not waited for */
	p = in_state(OCTO_PF_ACTIVE);
	octo_pf_state_step(&p, EV(EJECT), false, T0);
	assert_int_equal(octo_pf_state_step(&p, EV(DOWN), false, T0).actions, DO(DRAINED));
}

static void
test_whoever_ejects_a_pf_waits_for_it_also_at_a_stop(void **state)
{
	struct octo_pf_fsm p = in_state(OCTO_PF_DRAIN_EJECT);

	(void)state;
	assert_int_equal(octo_pf_state_step(&p, EV(STOPPED), false, T0).actions,
			 DO(DRAINED) | DO(RELEASE));
	p = in_state(OCTO_PF_FLUSHING);
	assert_int_equal(octo_pf_state_step(&p, EV(STOPPED), false, T0).actions, DO(RELEASE));
	p = in_state(OCTO_PF_DRAIN_BACK);
	assert_int_equal(octo_pf_state_step(&p, EV(STOPPED), false, T0).actions, 0);
}

static void
test_usable_are_active_ones_with_link_else_all_that_are_polled(void **state)
{
	struct octo_pf_fsm pfs[OCTO_PF_NB_STATES];

	(void)state;
	for (int s = 0; s < OCTO_PF_NB_STATES; s++)
		pfs[s] = in_state(s);
	assert_int_equal(octo_pf_state_usable(pfs, RTE_DIM(pfs)), RTE_BIT32(OCTO_PF_ACTIVE));
	assert_true(octo_pf_state_is_last(pfs, RTE_DIM(pfs), OCTO_PF_ACTIVE));
	assert_false(octo_pf_state_is_last(pfs, RTE_DIM(pfs), OCTO_PF_RESYNC));
	octo_pf_state_step(&pfs[OCTO_PF_ACTIVE], EV(DOWN), true, T0);
	assert_int_equal(octo_pf_state_usable(pfs, RTE_DIM(pfs)),
			 RTE_BIT32(OCTO_PF_ACTIVE) | RTE_BIT32(OCTO_PF_DRAIN_EJECT) |
				 RTE_BIT32(OCTO_PF_DRAIN_BACK));
	assert_true(octo_pf_state_is_last(pfs, RTE_DIM(pfs), OCTO_PF_RESYNC));
	/* one that resyncs is a home only if nothing goes on that has more */
	pfs[OCTO_PF_DRAIN_BACK] = in_state(OCTO_PF_OFF);
	assert_int_equal(octo_pf_state_usable(pfs, RTE_DIM(pfs)),
			 RTE_BIT32(OCTO_PF_ACTIVE) | RTE_BIT32(OCTO_PF_RESYNC) |
				 RTE_BIT32(OCTO_PF_DRAIN_EJECT));
	assert_int_equal(octo_pf_state_usable(pfs, 1), 0);
	octo_pf_state_step(&pfs[OCTO_PF_ACTIVE], EV(UP), true, T0);
	assert_int_equal(octo_pf_state_usable(pfs, RTE_DIM(pfs)), RTE_BIT32(OCTO_PF_ACTIVE));
}

static void
test_which_states_drain(void **state)
{
	(void)state;
	for (enum octo_pf_state s = 0; s < OCTO_PF_NB_STATES; s++)
		assert_int_equal(octo_pf_state_drains(s), s == OCTO_PF_DRAIN_EJECT ||
								  s == OCTO_PF_DRAIN_BACK ||
								  s == OCTO_PF_FLUSHING);
}

/* Each would wait for the others, and none would ever be tried again. */
static void
test_only_one_of_those_that_drain_back_is_the_last(void **state)
{
	struct octo_pf_fsm pfs[3];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(pfs); i++)
		pfs[i] = in_state(OCTO_PF_DRAIN_BACK);
	assert_int_equal(octo_pf_state_usable(pfs, RTE_DIM(pfs)), RTE_BIT32(0));
	assert_true(octo_pf_state_is_last(pfs, RTE_DIM(pfs), 0));
	assert_false(octo_pf_state_is_last(pfs, RTE_DIM(pfs), 1));
	assert_false(octo_pf_state_is_last(pfs, RTE_DIM(pfs), 2));
	pfs[0].link = false;
	assert_false(octo_pf_state_is_last(pfs, RTE_DIM(pfs), 0));
	assert_true(octo_pf_state_is_last(pfs, RTE_DIM(pfs), 1));
	/* traffic cannot go to them in order */
	pfs[2] = in_state(OCTO_PF_ACTIVE);
	assert_true(octo_pf_state_is_last(pfs, RTE_DIM(pfs), 2));
	assert_false(octo_pf_state_is_last(pfs, RTE_DIM(pfs), 1));
}

static void
test_a_pf_runs_on_a_running_port_only(void **state)
{
	(void)state;
	for (int port = 0; port < OCTO_PORT_NB_STATES; port++) {
		assert_true(octo_pf_state_fits(OCTO_PF_OFF, port));
		for (int pf = OCTO_PF_RESYNC; pf < OCTO_PF_FLUSHING; pf++)
			assert_int_equal(octo_pf_state_fits(pf, port), port == OCTO_PORT_RUNNING);
		assert_int_equal(octo_pf_state_fits(OCTO_PF_FLUSHING, port),
				 port == OCTO_PORT_DEAD);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_state_has_the_entry_of_each_event),
		cmocka_unit_test(test_every_state_is_reached_and_left),
		cmocka_unit_test(test_an_ejected_pf_drains_and_flushes_in_time),
		cmocka_unit_test(test_the_last_usable_pf_is_not_drained),
		cmocka_unit_test(test_the_last_pf_gets_its_rules_later),
		cmocka_unit_test(test_a_pf_without_link_is_not_drained),
		cmocka_unit_test(test_whoever_ejects_a_pf_waits_for_it_also_at_a_stop),
		cmocka_unit_test(test_usable_are_active_ones_with_link_else_all_that_are_polled),
		cmocka_unit_test(test_a_pf_runs_on_a_running_port_only),
		cmocka_unit_test(test_which_states_drain),
		cmocka_unit_test(test_only_one_of_those_that_drain_back_is_the_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
