/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include <rte_common.h>

#include "octo_test.h"
#include "octo_port_state.h"
#include "port_world.h"

#define T0 UINT64_C(1000000000)

/* A letter for each state. */
static const char letters[] = "AUOFVDMIRN";

static enum octo_port_state
state_of(char letter)
{
	return (enum octo_port_state)(strchr(letters, letter) - letters);
}

#define DO(action) OCTO_PORT_DO_##action
#define NOTE(note) OCTO_PORT_NOTE_##note
#define ROW(event, from, to, when, actions)                                                        \
	{                                                                                          \
		OCTO_PORT_EV_##event, from, to, OCTO_PORT_WHEN_##when, actions                     \
	}

/* All that is not ignored; '=' stays. */
static const struct {
	enum octo_port_event event;
	const char *from;
	char to;
	enum octo_port_when when;
	uint32_t actions;
} transitions[] = {
	ROW(RECOVERING, "AUOFIRND", 'V', LOOK, DO(LOSE)),
	ROW(RECOVERED, "V", 'O', TICK, 0),
	ROW(GAVE_UP, "AUOFIRNVD", 'D', NOW, DO(LOSE)),
	ROW(RESET, "AUOFIRNV", 'O', TICK, DO(LOSE) | NOTE(RESET)),
	ROW(RMV, "AUOFIRNV", 'D', BURY, DO(LOSE)),
	ROW(ARRIVED, "A", '=', SOON, NOTE(FORGET)),
	ROW(ARRIVED, "FD", '=', AGAIN, NOTE(FORGET)),
	ROW(LOOK, "AO", '=', NOW, NOTE(FORGET)),
	ROW(LOOK, "FD", '=', AGAIN, NOTE(FORGET)),
	ROW(BORN, "A", 'O', TICK, 0),
	ROW(DIED, "UOFIRNVDM", 'A', LOOK, DO(LOSE)),
	ROW(PROBE_DONE, "U", '=', TICK, DO(CLAIM) | NOTE(OURS)),
	ROW(PROBE_DONE, "OVD", '=', KEEP, NOTE(OURS)),
	ROW(PROBE_DONE, "A", 'A', LOOK, 0),
	ROW(PROBE_FOUND, "AU", 'O', TICK, 0),
	ROW(PROBE_NONE, "AU", 'A', LOOK, 0),
	ROW(PROBE_FAILED, "AU", 'A', BACK_OFF, 0),
	ROW(REMOVE_DONE, "AM", 'A', FREE, 0),
	ROW(REMOVE_FAILED, "M", 'D', BACK_OFF, 0),
	ROW(REMOVE_FAILED, "A", 'A', LOOK, 0),
	ROW(NOT_OURS, "M", 'D', BACK_OFF, 0),
	ROW(NOT_OURS, "A", 'A', LOOK, 0),
	ROW(PROBED, "O", '=', TICK, DO(CLAIM)),
	ROW(NONE, "UOFV", 'A', LOOK, DO(LOSE)),
	ROW(NOT_YET, "UOF", '=', TICK, 0),
	ROW(CLAIMED, "UOF", 'I', NEVER, DO(SET_UP)),
	ROW(OTHERS, "UOF", 'F', BACK_OFF, DO(LOG)),
	ROW(LACKS, "UOF", 'F', BACK_OFF, DO(LOG)),
	ROW(REFUSED, "UOF", 'F', BACK_OFF, DO(LOG)),
	ROW(REFUSED, "IRN", 'F', BACK_OFF, DO(LOSE) | DO(LOG)),
	ROW(RESET_FAILED, "UOF", 'D', NOW, DO(LOSE)),
	ROW(CONFIGURED, "IR", 'R', NEVER, 0),
	ROW(UNCONFIGURED, "R", 'I', NEVER, 0),
	ROW(STARTED, "R", 'N', NEVER, 0),
	ROW(STOPPED, "N", 'R', NEVER, 0),
	ROW(JOINED, "N", '=', KEEP, NOTE(FORGET)),
	ROW(DRAINED, "RN", 'D', BURY, DO(LOSE)),
	ROW(RELEASE, "D", 'M', NEVER, DO(REMOVE) | NOTE(RELEASE)),
	ROW(RELEASE, "M", '=', KEEP, NOTE(RELEASE)),
	ROW(DEADLINE, "A", 'U', NEVER, DO(PROBE)),
	ROW(DEADLINE, "UF", '=', TICK, DO(CLAIM)),
	ROW(DEADLINE, "O", '=', CHECK, DO(CHECK)),
	ROW(DEADLINE, "V", '=', LOOK, DO(CHECK)),
	ROW(DEADLINE, "D", 'M', NEVER, DO(REMOVE)),
};

/* What is ignored in silence; all else is unexpected. */
static const char *const ignored[OCTO_PORT_NB_EVENTS] = {
	[OCTO_PORT_EV_RECOVERING] = "VM",   [OCTO_PORT_EV_RECOVERED] = "AUOFIRNDM",
	[OCTO_PORT_EV_GAVE_UP] = "M",       [OCTO_PORT_EV_RESET] = "DM",
	[OCTO_PORT_EV_RMV] = "DM",          [OCTO_PORT_EV_ARRIVED] = "UOIRNVM",
	[OCTO_PORT_EV_LOOK] = "UIRNVM",     [OCTO_PORT_EV_BORN] = "UOVDM",
	[OCTO_PORT_EV_DIED] = "A",          [OCTO_PORT_EV_PROBE_FOUND] = "OVD",
	[OCTO_PORT_EV_PROBE_NONE] = "OVD",  [OCTO_PORT_EV_PROBE_FAILED] = "OVD",
	[OCTO_PORT_EV_REMOVE_DONE] = "OVD", [OCTO_PORT_EV_REMOVE_FAILED] = "OVD",
	[OCTO_PORT_EV_NOT_OURS] = "OVD",    [OCTO_PORT_EV_UNCONFIGURED] = "I",
	[OCTO_PORT_EV_STOPPED] = "R",       [OCTO_PORT_EV_PROBED] = "V",
};

static struct octo_port_move
expected_move(enum octo_port_state state, enum octo_port_event event)
{
	const char letter = letters[state];
	struct octo_port_move m = {OCTO_PORT_SAME, OCTO_PORT_WHEN_KEEP, NOTE(ODD)};
	unsigned int found = 0;

	for (unsigned int i = 0; i < RTE_DIM(transitions); i++) {
		if (transitions[i].event != event || strchr(transitions[i].from, letter) == NULL)
			continue;
		found++;
		m.next = transitions[i].to == '=' ? OCTO_PORT_SAME : state_of(transitions[i].to);
		m.when = transitions[i].when;
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
	for (int s = 0; s < OCTO_PORT_NB_STATES; s++) {
		for (int e = 0; e < OCTO_PORT_NB_EVENTS; e++) {
			const struct octo_port_move *m = octo_port_state_move(s, e);
			const struct octo_port_move expected = expected_move(s, e);

			assert_in_range(m->when, OCTO_PORT_WHEN_KEEP, OCTO_PORT_WHEN_FREE);
			assert_int_equal(m->next, expected.next);
			assert_int_equal(m->when, expected.when);
			assert_int_equal(m->actions, expected.actions);
		}
	}
}

/* @return the most events that it takes to come from one state to any other, or to `to`. */
static unsigned int
longest_way(enum octo_port_state from, uint32_t to, enum octo_port_event without)
{
	uint32_t reached = RTE_BIT32(from);
	unsigned int steps = 0;

	while ((reached & to) != to && steps < OCTO_PORT_NB_STATES) {
		uint32_t now = reached;

		for (int s = 0; s < OCTO_PORT_NB_STATES; s++)
			for (int e = 0; (now & RTE_BIT32(s)) && e < OCTO_PORT_NB_EVENTS; e++)
				if (e != (int)without &&
				    octo_port_state_move(s, e)->next != OCTO_PORT_SAME)
					reached |= RTE_BIT32(octo_port_state_move(s, e)->next);
		steps++;
	}
	return steps;
}

static void
test_every_state_is_reached_and_left(void **state)
{
	const uint32_t all = RTE_BIT32(OCTO_PORT_NB_STATES) - 1;

	(void)state;
	assert_in_range(longest_way(OCTO_PORT_ABSENT, all, OCTO_PORT_NB_EVENTS), 1, 5);
	for (int s = 0; s < OCTO_PORT_NB_STATES; s++) {
		/* also where a port that is removed is not known to have ended */
		assert_in_range(longest_way(s, RTE_BIT32(OCTO_PORT_ABSENT), OCTO_PORT_EV_DIED), 0,
				3);
		assert_in_range(longest_way(s, RTE_BIT32(OCTO_PORT_RUNNING), OCTO_PORT_NB_EVENTS),
				0, 5);
	}
}

/* A port in any state, with a request under way where there must be one. */
static struct octo_port_fsm
in_state(enum octo_port_state s)
{
	struct octo_port_fsm p;

	octo_port_state_init(&p, OCTO_PORT_IDLE, true, false, WORLD_HZ, T0);
	p.state = s;
	p.used = s >= OCTO_PORT_IDLE;
	if (s == OCTO_PORT_PROBING_US)
		p.request = DO(PROBE);
	if (s == OCTO_PORT_REMOVING)
		p.request = DO(REMOVE);
	return p;
}

static struct octo_port_todo
tell(struct octo_port_fsm *p, enum octo_port_event event)
{
	const struct octo_port_answer answer = {event, p->life};

	return octo_port_state_step(p, p->seen, &answer, T0);
}

static struct octo_port_todo
tick(struct octo_port_fsm *p, uint64_t now)
{
	return octo_port_state_step(p, p->seen, NULL, now);
}

/* All of these were posted since the last step. */
static struct octo_port_todo
mail_at(struct octo_port_fsm *p, const enum octo_port_event *events, unsigned int nb, uint64_t now)
{
	struct octo_port_mail mail = {p->seen};

	octo_port_state_take(&mail);
	for (unsigned int i = 0; i < nb; i++)
		octo_port_state_post(&mail, events[i]);
	return octo_port_state_step(p, octo_port_state_take(&mail), NULL, now);
}

#define EVENTS(...)                                                                                \
	(const enum octo_port_event[])                                                             \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define MAIL(p, ...)                                                                               \
	mail_at(p, EVENTS(__VA_ARGS__), RTE_DIM(((enum octo_port_event[]){__VA_ARGS__})), T0)
#define EV(event) OCTO_PORT_EV_##event

static void
test_the_end_of_a_port_ends_in_absent(void **state)
{
	(void)state;
	for (int s = 0; s < OCTO_PORT_NB_STATES; s++) {
		struct octo_port_fsm p = in_state(s);
		const uint32_t life = p.life;

		MAIL(&p, EV(DIED));
		assert_int_equal(p.state, OCTO_PORT_ABSENT);
		assert_int_equal(p.unexpected, 0);
		if (s != OCTO_PORT_ABSENT)
			assert_int_not_equal(p.life, life);
		p = in_state(s);
		MAIL(&p, EV(RMV), EV(RECOVERING), EV(DIED));
		assert_int_equal(p.state, OCTO_PORT_ABSENT);
	}
}

static void
test_a_port_that_comes_after_another_is_not_missed(void **state)
{
	(void)state;
	for (int s = OCTO_PORT_IDLE; s <= OCTO_PORT_DEAD; s++) {
		struct octo_port_fsm p = in_state(s);

		MAIL(&p, EV(DIED), EV(BORN));
		assert_int_equal(p.state, OCTO_PORT_PROBING_OTHERS);
		MAIL(&p, EV(DIED), EV(BORN), EV(DIED), EV(BORN), EV(DIED));
		assert_int_equal(p.state, OCTO_PORT_ABSENT);
		MAIL(&p, EV(BORN), EV(DIED));
		assert_int_equal(p.state, OCTO_PORT_ABSENT);
		MAIL(&p, EV(BORN), EV(DIED), EV(BORN));
		assert_int_equal(p.state, OCTO_PORT_PROBING_OTHERS);
		assert_int_equal(p.unexpected, 0);
	}
}

/* What is heard of a port does not count for the next one of its name. */
static void
test_mail_of_a_port_that_has_ended_is_void(void **state)
{
	struct octo_port_fsm p = in_state(OCTO_PORT_RUNNING);

	(void)state;
	MAIL(&p, EV(RMV), EV(RESET), EV(DIED), EV(BORN));
	assert_int_equal(p.state, OCTO_PORT_PROBING_OTHERS);
	assert_false(p.reset);
	MAIL(&p, EV(DIED), EV(BORN), EV(RMV));
	assert_int_equal(p.state, OCTO_PORT_DEAD);
	/* but it may have arrived itself */
	MAIL(&p, EV(LOOK), EV(DIED));
	assert_int_equal(tick(&p, T0).actions, DO(PROBE));
	/* a driver may raise events before its port is announced */
	p = in_state(OCTO_PORT_ABSENT);
	MAIL(&p, EV(RECOVERING), EV(BORN));
	assert_int_equal(p.state, OCTO_PORT_RECOVERING);
}

static void
test_a_recovery_voids_what_came_before(void **state)
{
	struct octo_port_fsm p = in_state(OCTO_PORT_RECOVERING);

	(void)state;
	MAIL(&p, EV(RECOVERED), EV(RECOVERING));
	assert_int_equal(p.state, OCTO_PORT_RECOVERING);
	MAIL(&p, EV(GAVE_UP), EV(RECOVERING));
	assert_int_equal(p.state, OCTO_PORT_RECOVERING);
	MAIL(&p, EV(RESET), EV(RECOVERING));
	assert_int_equal(p.state, OCTO_PORT_RECOVERING);
	MAIL(&p, EV(RECOVERING), EV(RECOVERED));
	assert_int_equal(p.state, OCTO_PORT_PROBING_OTHERS);
}

static void
test_births_and_deaths_are_counted_beyond_24_bits(void **state)
{
	struct octo_port_mail mail = {UINT64_MAX & ~UINT64_C(0xffff)};
	struct octo_port_fsm p = in_state(OCTO_PORT_RUNNING);

	(void)state;
	p.seen = octo_port_state_take(&mail);
	octo_port_state_post(&mail, EV(DIED));
	octo_port_state_post(&mail, EV(BORN));
	octo_port_state_step(&p, octo_port_state_take(&mail), NULL, T0);
	assert_int_equal(p.state, OCTO_PORT_PROBING_OTHERS);
	octo_port_state_step(&p, octo_port_state_take(&mail), NULL, T0);
	assert_int_equal(p.state, OCTO_PORT_PROBING_OTHERS);
	assert_int_equal(p.unexpected, 0);
	/* a birth alone is no death */
	mail = (struct octo_port_mail){UINT64_C(0xffffff0000)};
	p = in_state(OCTO_PORT_RECOVERING);
	p.seen = octo_port_state_take(&mail);
	octo_port_state_post(&mail, EV(BORN));
	octo_port_state_step(&p, octo_port_state_take(&mail), NULL, T0);
	assert_int_equal(p.state, OCTO_PORT_RECOVERING);
}

/* It is looked at in a later step than that in which it is announced, also where that hurries. */
static void
test_a_port_that_others_probe_is_not_touched(void **state)
{
	struct octo_port_fsm p = in_state(OCTO_PORT_ABSENT);
	struct octo_port_todo todo = MAIL(&p, EV(BORN), EV(LOOK));

	(void)state;
	assert_int_equal(todo.actions, 0);
	/* at first often */
	for (unsigned int i = 0; i < 200; i++) {
		assert_true(todo.deadline <= T0 + (i + 1) * 5 * WORLD_MS);
		todo = tick(&p, todo.deadline);
		assert_int_equal(todo.actions, DO(CHECK));
	}
	assert_int_equal(tick(&p, T0 + WORLD_HZ).deadline, T0 + 2 * WORLD_HZ);
	assert_int_equal(tell(&p, EV(PROBED)).actions, DO(CLAIM));
	assert_int_equal(tell(&p, EV(CLAIMED)).actions, DO(SET_UP));
	assert_int_equal(p.state, OCTO_PORT_IDLE);
}

static void
test_what_is_asked_for_is_not_asked_for_twice_in_a_step(void **state)
{
	struct octo_port_fsm p = in_state(OCTO_PORT_PROBING_OTHERS);
	const struct octo_port_answer answer = {EV(PROBED), p.life};
	const uint64_t mail = RTE_BIT64(EV(LOOK));

	(void)state;
	p.deadline = T0;
	assert_int_equal(octo_port_state_step(&p, mail, &answer, T0).actions, DO(CLAIM));
	assert_int_equal(octo_port_state_step(&p, mail, NULL, T0).actions, DO(CHECK));
}

/* Nothing is done to a port that is lost while it is asked for something. */
static void
test_a_loss_takes_back_what_was_asked_for(void **state)
{
	static const enum octo_port_event losses[] = {EV(RMV), EV(RECOVERING), EV(GAVE_UP)};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(losses); i++) {
		struct octo_port_fsm p = in_state(OCTO_PORT_PROBING_OTHERS);
		struct octo_port_answer answer = {EV(PROBED), p.life};
		struct octo_port_todo todo = octo_port_state_step(&p, RTE_BIT64(losses[i]), &answer,
								  T0);

		assert_int_equal(todo.actions, DO(LOSE));
		p = in_state(OCTO_PORT_FOREIGN);
		answer = (struct octo_port_answer){EV(CLAIMED), p.life};
		todo = octo_port_state_step(&p, RTE_BIT64(losses[i]), &answer, T0);
		assert_int_equal(todo.actions, DO(LOSE));
	}
}

static void
test_an_answer_of_another_life_is_nothing(void **state)
{
	struct octo_port_fsm p = in_state(OCTO_PORT_PROBING_OTHERS);
	struct octo_port_answer late = {EV(CLAIMED), p.life};

	(void)state;
	MAIL(&p, EV(DIED), EV(BORN));
	assert_int_equal(octo_port_state_step(&p, p.seen, &late, T0).actions, 0);
	assert_int_equal(p.state, OCTO_PORT_PROBING_OTHERS);
	assert_int_equal(p.stale, 1);
	assert_int_equal(p.unexpected, 0);
}

static void
test_failures_are_put_off_longer_and_longer(void **state)
{
	static const unsigned int s[] = {1, 2, 4, 8, 16, 32, 60, 60};
	struct octo_port_fsm p = in_state(OCTO_PORT_ABSENT);

	(void)state;
	p.deadline = T0;
	for (unsigned int i = 0; i < RTE_DIM(s); i++) {
		assert_int_equal(tick(&p, T0).actions, DO(PROBE));
		assert_int_equal(tell(&p, EV(PROBE_FAILED)).deadline, T0 + s[i] * WORLD_HZ);
		p.deadline = T0;
	}
	/* one that is not there may come any second */
	tick(&p, T0);
	assert_int_equal(tell(&p, EV(PROBE_NONE)).deadline, T0 + WORLD_HZ);
	p = in_state(OCTO_PORT_RUNNING);
	for (unsigned int i = 0; i < RTE_DIM(s); i++) {
		p.state = OCTO_PORT_RUNNING;
		assert_int_equal(tell(&p, EV(REFUSED)).deadline, T0 + s[i] * WORLD_HZ);
	}
	/* it has all rules */
	p.state = OCTO_PORT_RUNNING;
	tell(&p, EV(JOINED));
	assert_int_equal(tell(&p, EV(REFUSED)).deadline, T0 + WORLD_HZ);
}

static void
test_a_device_that_arrives_is_tried_at_once(void **state)
{
	struct octo_port_fsm p = in_state(OCTO_PORT_FOREIGN);

	(void)state;
	tell(&p, EV(LACKS));
	assert_int_equal(MAIL(&p, EV(ARRIVED)).actions, DO(CLAIM));
	assert_int_equal(p.pause, 0);
	/* the application may probe it */
	p = in_state(OCTO_PORT_ABSENT);
	p.deadline = T0 + 60 * WORLD_HZ;
	assert_int_equal(MAIL(&p, EV(ARRIVED)).deadline, T0 + WORLD_HZ);
	/* whoever starts the octo port does not wait for that */
	assert_int_equal(MAIL(&p, EV(LOOK)).actions, DO(PROBE));
	/* whoever may remove a dead port has its time */
	p = in_state(OCTO_PORT_RUNNING);
	MAIL(&p, EV(RMV), EV(ARRIVED), EV(LOOK));
	assert_int_equal(p.deadline, T0 + 5 * WORLD_HZ);
}

static void
test_a_dead_port_is_left_to_its_remover_first(void **state)
{
	(void)state;
	for (int by_us = 0; by_us < 2; by_us++) {
		struct octo_port_fsm p = in_state(OCTO_PORT_RUNNING);
		const uint64_t end = T0 + (by_us ? 300 : 5000) * WORLD_MS;

		p.by_us = by_us;
		assert_int_equal(MAIL(&p, EV(RMV)).deadline, end);
		assert_int_equal(tick(&p, end - 1).actions, 0);
		assert_int_equal(tick(&p, end).actions, DO(REMOVE));
		assert_int_equal(p.state, OCTO_PORT_REMOVING);
		/* and the next one is made at once */
		tell(&p, EV(REMOVE_DONE));
		assert_int_equal(tick(&p, T0).actions, DO(PROBE));
	}
}

static void
test_who_has_probed_a_port_last_counts(void **state)
{
	struct octo_port_fsm p = in_state(OCTO_PORT_ABSENT);

	(void)state;
	MAIL(&p, EV(LOOK));
	MAIL(&p, EV(BORN));
	assert_int_equal(tell(&p, EV(PROBE_DONE)).actions, DO(CLAIM));
	tell(&p, EV(CLAIMED));
	assert_int_equal(MAIL(&p, EV(RMV)).deadline, T0 + 300 * WORLD_MS);
	MAIL(&p, EV(DIED), EV(BORN));
	assert_int_equal(MAIL(&p, EV(RMV)).deadline, T0 + 5000 * WORLD_MS);
}

/* Who ejects it may be slow to take it away: it is not to come back meanwhile. */
static void
test_an_ejected_device_is_not_probed_at_once(void **state)
{
	struct octo_port_fsm p = in_state(OCTO_PORT_RUNNING);

	(void)state;
	assert_int_equal(tell(&p, EV(DRAINED)).actions, DO(LOSE));
	assert_int_equal(tell(&p, EV(RELEASE)).actions, DO(REMOVE));
	assert_int_equal(tell(&p, EV(REMOVE_DONE)).deadline, T0 + WORLD_HZ);
	/* another one that dies is */
	MAIL(&p, EV(BORN), EV(GAVE_UP));
	assert_int_equal(tick(&p, T0).actions, DO(REMOVE));
	assert_int_equal(tell(&p, EV(REMOVE_DONE)).deadline, T0);
}

static void
test_requests_come_one_at_a_time(void **state)
{
	struct octo_port_fsm p = in_state(OCTO_PORT_ABSENT);
	struct octo_port_todo todo;

	(void)state;
	MAIL(&p, EV(LOOK));
	assert_int_equal(p.state, OCTO_PORT_PROBING_US);
	/* it ends, and another comes and breaks, before the request returns */
	MAIL(&p, EV(BORN), EV(DIED));
	todo = MAIL(&p, EV(LOOK));
	assert_int_equal(todo.actions, 0);
	assert_int_equal(todo.deadline, OCTO_PORT_NEVER);
	MAIL(&p, EV(BORN), EV(GAVE_UP));
	assert_int_equal(tick(&p, T0 + 60 * WORLD_HZ).actions, 0);
	assert_int_equal(tell(&p, EV(RELEASE)).actions, 0);
	assert_int_equal(tell(&p, EV(PROBE_FOUND)).actions, DO(REMOVE));
	assert_int_equal(p.unexpected, 0);
	/* an answer that nobody waits for */
	p = in_state(OCTO_PORT_ABSENT);
	tell(&p, EV(PROBE_FAILED));
	assert_int_equal(p.unexpected, 1);
}

static void
test_a_port_that_was_ours_is_renewed(void **state)
{
	struct octo_port_fsm p = in_state(OCTO_PORT_RUNNING);

	(void)state;
	MAIL(&p, EV(RECOVERING), EV(RECOVERED));
	assert_int_equal(tell(&p, EV(PROBED)).actions, DO(CLAIM) | DO(RENEW));
	tell(&p, EV(CLAIMED));
	MAIL(&p, EV(RESET));
	assert_int_equal(tell(&p, EV(PROBED)).actions, DO(CLAIM) | DO(RENEW) | DO(RESET));
	/* as it has been reset */
	tell(&p, EV(CLAIMED));
	MAIL(&p, EV(RECOVERING), EV(RECOVERED));
	assert_int_equal(tell(&p, EV(PROBED)).actions, DO(CLAIM) | DO(RENEW));
	MAIL(&p, EV(RESET));
	tell(&p, EV(PROBED));
	assert_int_equal(tell(&p, EV(RESET_FAILED)).deadline, T0);
	assert_int_equal(p.state, OCTO_PORT_DEAD);
	MAIL(&p, EV(DIED), EV(BORN));
	assert_int_equal(tell(&p, EV(PROBED)).actions, DO(CLAIM));
}

static void
test_why_a_port_stays_out_is_told_once(void **state)
{
	struct octo_port_fsm p = in_state(OCTO_PORT_PROBING_OTHERS);

	(void)state;
	assert_int_equal(tell(&p, EV(OTHERS)).actions, DO(LOG));
	assert_int_equal(p.reason, EV(OTHERS));
	tick(&p, p.deadline);
	assert_int_equal(tell(&p, EV(LACKS)).actions, 0);
	assert_int_equal(p.reason, EV(LACKS));
	tick(&p, p.deadline);
	tell(&p, EV(CLAIMED));
	assert_int_equal(tell(&p, EV(REFUSED)).actions, DO(LOSE));
	MAIL(&p, EV(DIED), EV(BORN));
	tell(&p, EV(PROBED));
	assert_int_equal(tell(&p, EV(OTHERS)).actions, DO(LOG));
}

static void
test_without_replug_nothing_is_looked_for(void **state)
{
	(void)state;
	for (int s = 0; s < OCTO_PORT_NB_STATES; s++) {
		struct octo_port_fsm p = in_state(s);

		p.replug = false;
		p.request = 0;
		p.deadline = T0;
		assert_int_equal(MAIL(&p, EV(LOOK)).actions, 0);
		assert_int_equal(tell(&p, EV(RELEASE)).actions, 0);
		assert_int_equal(tick(&p, T0 + 60 * WORLD_HZ).deadline, OCTO_PORT_NEVER);
		assert_int_equal(p.state, s);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_state_has_the_entry_of_each_event),
		cmocka_unit_test(test_every_state_is_reached_and_left),
		cmocka_unit_test(test_the_end_of_a_port_ends_in_absent),
		cmocka_unit_test(test_a_port_that_comes_after_another_is_not_missed),
		cmocka_unit_test(test_mail_of_a_port_that_has_ended_is_void),
		cmocka_unit_test(test_a_recovery_voids_what_came_before),
		cmocka_unit_test(test_births_and_deaths_are_counted_beyond_24_bits),
		cmocka_unit_test(test_a_port_that_others_probe_is_not_touched),
		cmocka_unit_test(test_what_is_asked_for_is_not_asked_for_twice_in_a_step),
		cmocka_unit_test(test_a_loss_takes_back_what_was_asked_for),
		cmocka_unit_test(test_an_answer_of_another_life_is_nothing),
		cmocka_unit_test(test_failures_are_put_off_longer_and_longer),
		cmocka_unit_test(test_a_device_that_arrives_is_tried_at_once),
		cmocka_unit_test(test_a_dead_port_is_left_to_its_remover_first),
		cmocka_unit_test(test_who_has_probed_a_port_last_counts),
		cmocka_unit_test(test_an_ejected_device_is_not_probed_at_once),
		cmocka_unit_test(test_requests_come_one_at_a_time),
		cmocka_unit_test(test_a_port_that_was_ours_is_renewed),
		cmocka_unit_test(test_why_a_port_stays_out_is_told_once),
		cmocka_unit_test(test_without_replug_nothing_is_looked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
