/* SPDX-License-Identifier: BSD-3-Clause */

/* A port's machine, and random events at each step of a clock. */

#include "octo_test.h"

#include "octo_port_state.h"
#include "port_world.h"

#define T0 UINT64_C(1000000000)
#define CHAOS_STEPS 2000000
#define DO(action) OCTO_PORT_DO_##action
#define EV(event) OCTO_PORT_EV_##event

/* All that DPDK allows, in any order, at any time: port_world.c checks what is promised. */
static void
test_whatever_happens_a_port_comes_back(void **state)
{
	uint64_t rng = world_seed();
	struct port_world w;
	uint64_t steps = 0;

	(void)state;
	while (steps < CHAOS_STEPS) {
		world_init(&w, &rng, world_random(&rng, 2), world_random(&rng, UINT32_MAX));
		while (w.steps < 10000) {
			for (uint64_t n = world_random(&rng, 60); n > 0; n--) {
				w.now += world_random(&rng, (n % 8 ? 50 : 7000) * WORLD_MS);
				world_happen(&w);
				if (n % 3)
					world_run(&w);
			}
			world_settle(&w);
		}
		steps += w.steps;
	}
}

/* Any event and any answer at any time, and what must hold all the same. */
struct havoc {
	struct octo_port_fsm p;
	struct octo_port_mail mail;
	bool whole;     /* the port of this life is known to be */
	uint32_t asked; /* the request that is under way */
	uint32_t asked_of_life;
	uint64_t now;
};

static void
check_havoc(struct havoc *h, const struct octo_port_fsm *before, const struct octo_port_todo *todo)
{
	const struct octo_port_fsm *p = &h->p;
	const uint32_t requests = todo->actions & (DO(PROBE) | DO(REMOVE));

	assert_int_equal(todo->life, p->life);
	if (todo->actions & OCTO_PORT_TOUCHES)
		assert_true(h->whole);
	if (p->state == OCTO_PORT_RECOVERING)
		assert_int_equal(todo->actions & ~(DO(LOSE) | DO(LOG) | DO(CHECK)), 0);
	if (requests != 0)
		assert_int_equal(h->asked, 0);
	assert_int_not_equal(requests, DO(PROBE) | DO(REMOVE));
	h->asked |= requests;
	assert_int_equal(p->request, h->asked);
	if (octo_port_state_is_owned(before->state) && !octo_port_state_is_owned(p->state))
		assert_int_not_equal(p->life, before->life);
	if (octo_port_state_is_owned(p->state) || h->asked != 0)
		assert_int_equal(todo->deadline, OCTO_PORT_NEVER);
	else
		assert_true(todo->deadline <= h->now + 60 * WORLD_HZ);
}

static uint32_t
request_of(enum octo_port_event e)
{
	if (e <= EV(PROBE_FAILED))
		return DO(PROBE);
	return e <= EV(NOT_OURS) ? DO(REMOVE) : 0;
}

/* What nobody has asked for is not answered: it would be a lie. */
static bool
may_be_given(const struct havoc *h, enum octo_port_event e)
{
	if (e == EV(PROBED))
		return h->asked_of_life & DO(CHECK);
	if (e > EV(PROBED) && e <= EV(RESET_FAILED))
		return h->asked_of_life & DO(CLAIM);
	return true;
}

static void
note_answer(struct havoc *h, const struct octo_port_fsm *before, enum octo_port_event e)
{
	if (request_of(e) == h->asked)
		h->asked = 0;
	if (e == EV(PROBED) || (e == EV(PROBE_DONE) && before->state == OCTO_PORT_PROBING_US))
		h->whole = true;
}

static void
wreak_havoc(struct havoc *h, uint64_t *rng)
{
	const struct octo_port_fsm before = h->p;
	struct octo_port_answer a = {
		.event = EV(PROBE_DONE) + world_random(rng, EV(DEADLINE) - EV(PROBE_DONE)),
		.life = h->p.life - (world_random(rng, 8) == 0),
	};
	const bool is_given = world_random(rng, 4) != 0 && may_be_given(h, a.event);
	struct octo_port_todo todo;

	for (uint64_t n = world_random(rng, 3); n > 0; n--)
		octo_port_state_post(&h->mail, world_random(rng, EV(DIED) + 1));
	h->now += world_random(rng, WORLD_HZ);
	todo = octo_port_state_step(&h->p, octo_port_state_take(&h->mail), is_given ? &a : NULL,
				    h->now);
	if (is_given && (a.life == before.life || request_of(a.event) != 0))
		note_answer(h, &before, a.event);
	if (h->p.life != before.life) {
		/* one that is given back is whole */
		h->whole = h->p.state == OCTO_PORT_FOREIGN;
		h->asked_of_life = 0;
	}
	check_havoc(h, &before, &todo);
	h->asked_of_life |= todo.actions;
}

static void
test_no_event_at_any_time_does_harm(void **state)
{
	uint64_t rng = world_seed();
	struct havoc h = {.now = T0};

	(void)state;
	octo_port_state_init(&h.p, OCTO_PORT_ABSENT, true, false, WORLD_HZ, T0);
	for (int i = 0; i < CHAOS_STEPS; i++)
		wreak_havoc(&h, &rng);
	assert_true(h.p.unexpected > 0);
	assert_true(h.p.stale > 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whatever_happens_a_port_comes_back),
		cmocka_unit_test(test_no_event_at_any_time_does_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
