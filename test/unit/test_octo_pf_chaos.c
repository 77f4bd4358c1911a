/* SPDX-License-Identifier: BSD-3-Clause */

/* PFs and their ports, both machines, and random events at each step of a clock. */

#include <rte_common.h>

#include "octo_test.h"

#include "octo_pf_state.h"
#include "port_world.h"

#define CHAOS_STEPS 1000000
#define NB_PFS 3
#define EV(event) OCTO_PF_EV_##event

/* An octo port over three PFs, each of a port of its own. */
struct octo {
	uint64_t rng;
	uint64_t now;
	uint64_t steps; /* of the PFs */
	bool started;
	struct octo_pf_fsm pf[NB_PFS];
	struct port_world world[NB_PFS];
	uint64_t leaves_by[NB_PFS]; /* TSC, 0: it is not to leave */
};

static bool
one_in(struct octo *o, unsigned int n)
{
	return world_random(&o->rng, n) == 0;
}

static void
octo_init(struct octo *o, uint64_t rng)
{
	*o = (struct octo){.rng = rng, .now = world_random(&rng, UINT32_MAX)};
	for (unsigned int i = 0; i < NB_PFS; i++) {
		octo_pf_state_init(&o->pf[i], WORLD_HZ, o->now);
		world_init(&o->world[i], &o->rng, !one_in(o, 3), o->now);
		o->world[i].led = true;
		o->world[i].configured = true;
		if (o->world[i].owned)
			world_answer(&o->world[i], OCTO_PORT_EV_CONFIGURED);
		world_run(&o->world[i]);
	}
}

/* Its port is told what a step of the PF says. */
static void
tell_port(struct port_world *w, uint32_t actions)
{
	if (actions & OCTO_PF_DO_JOINED)
		world_answer(w, OCTO_PORT_EV_JOINED);
	if (actions & OCTO_PF_DO_REFUSED)
		world_answer(w, OCTO_PORT_EV_REFUSED);
	if (actions & OCTO_PF_DO_RMV)
		world_rmv(w);
	if (actions & OCTO_PF_DO_DRAINED)
		world_drained(w);
	world_run(w);
	/* of the life after it was lost */
	if (actions & OCTO_PF_DO_RELEASE)
		world_answer(w, OCTO_PORT_EV_RELEASE);
	world_run(w);
}

/* Where there is no other to go to, nothing leaves it, but what is lost anyway. */
static void
assert_is_not_drained(enum octo_pf_state before, enum octo_pf_state after, enum octo_pf_event event)
{
	if (before != OCTO_PF_DRAIN_EJECT)
		assert_int_not_equal(after, OCTO_PF_DRAIN_EJECT);
	if (before == OCTO_PF_DRAIN_BACK && event != EV(LOST) && event != EV(STOPPED) &&
	    event != EV(EJECT) && event != EV(SYNCED))
		assert_int_equal(after, OCTO_PF_DRAIN_BACK);
}

/* What each event is for. */
static void
check_transition(const struct octo_pf_fsm *p, enum octo_pf_event event, enum octo_pf_state before,
		 bool last)
{
	const bool goes_back = before == OCTO_PF_DRAIN_BACK && !last;

	if (event == EV(LOST) || event == EV(STOPPED) || event == EV(SENT))
		assert_int_equal(p->state, OCTO_PF_OFF);
	if (event == EV(EJECT))
		assert_true(p->state == OCTO_PF_OFF || p->state == OCTO_PF_DRAIN_EJECT ||
			    p->state == OCTO_PF_FLUSHING);
	if (event == EV(UP) && p->state != OCTO_PF_OFF && p->state != OCTO_PF_FLUSHING)
		assert_true(p->link);
	if (event == EV(DOWN))
		assert_false(p->link);
	if (event == EV(EMPTY) || event == EV(DOWN)) {
		assert_int_not_equal(p->state, OCTO_PF_DRAIN_EJECT);
		if (goes_back)
			assert_int_equal(p->state, OCTO_PF_OFF);
	}
	if (event == EV(REFUSED))
		assert_int_equal(p->state, OCTO_PF_DRAIN_BACK);
	if (event == EV(SYNCED))
		assert_int_equal(p->state, OCTO_PF_ACTIVE);
}

static void
step(struct octo *o, unsigned int i, enum octo_pf_event event)
{
	struct octo_pf_fsm *p = &o->pf[i];
	const bool last = octo_pf_state_is_last(o->pf, NB_PFS, i);
	const enum octo_pf_state before = p->state;
	const struct octo_pf_todo todo = octo_pf_state_step(p, event, last, o->now);

	o->steps++;
	check_transition(p, event, before, last);
	if (last)
		assert_is_not_drained(before, p->state, event);
	/* whoever ejects a device is not kept waiting by what is announced again */
	if (p->state == OCTO_PF_DRAIN_EJECT && before != OCTO_PF_DRAIN_EJECT)
		o->leaves_by[i] = o->now + 75 * WORLD_MS;
	if (p->state == OCTO_PF_DRAIN_EJECT || p->state == OCTO_PF_FLUSHING)
		assert_int_equal(todo.deadline, o->leaves_by[i]);
	tell_port(&o->world[i], todo.actions);
}

/* What a PF may hear of in its state. */
static void
happen_to_pf(struct octo *o, unsigned int i)
{
	const enum octo_pf_state s = o->pf[i].state;
	const bool drains = s == OCTO_PF_DRAIN_EJECT || s == OCTO_PF_DRAIN_BACK;

	switch (world_random(&o->rng, 8)) {
	case 0:
		step(o, i, EV(UP));
		break;
	case 1:
		step(o, i, one_in(o, 3) ? EV(DOWN) : EV(UP));
		break;
	case 2:
		step(o, i, one_in(o, 3) ? EV(EJECT) : EV(TIME));
		break;
	case 3:
	case 4:
		if (drains)
			step(o, i, EV(EMPTY));
		else if (s == OCTO_PF_FLUSHING)
			step(o, i, EV(SENT));
		break;
	case 5:
	case 6:
		if (s == OCTO_PF_RESYNC)
			step(o, i, one_in(o, 3) ? EV(REFUSED) : EV(SYNCED));
		else if (s == OCTO_PF_DRAIN_BACK && octo_pf_state_is_last(o->pf, NB_PFS, i))
			step(o, i, one_in(o, 3) ? EV(SYNCED) : EV(TIME));
		break;
	default:
		step(o, i, EV(TIME));
	}
}

/* The port has changed: so may the PF have to. */
static void
follow_port(struct octo *o, unsigned int i, enum octo_pf_event how)
{
	struct octo_pf_fsm *p = &o->pf[i];
	const enum octo_port_state port = o->world[i].port.state;

	if (p->state == OCTO_PF_OFF && port == OCTO_PORT_RUNNING)
		step(o, i, how);
	else if (!octo_pf_state_fits(p->state, port))
		step(o, i, o->started ? EV(LOST) : EV(STOPPED));
}

static void
check(const struct octo *o)
{
	uint32_t with_link = 0;
	uint32_t usable;
	uint32_t polled = 0;

	for (unsigned int i = 0; i < NB_PFS; i++) {
		const struct octo_pf_fsm *p = &o->pf[i];
		const bool leaves = p->state >= OCTO_PF_DRAIN_EJECT;

		if (p->state == OCTO_PF_ACTIVE || p->state == OCTO_PF_RESYNC)
			assert_int_equal(o->world[i].port.state, OCTO_PORT_RUNNING);
		assert_true(octo_pf_state_fits(p->state, o->world[i].port.state));
		assert_int_equal(p->unexpected, 0);
		/* a deadline always fires */
		assert_int_equal(leaves, p->until != OCTO_PORT_NEVER);
		if (leaves)
			assert_true(p->until <= o->now + 1000 * WORLD_MS);
		if (p->state == OCTO_PF_OFF || p->state == OCTO_PF_FLUSHING)
			assert_false(p->link);
		else
			polled |= RTE_BIT32(i);
		if (p->state == OCTO_PF_ACTIVE && p->link)
			with_link |= RTE_BIT32(i);
	}
	usable = octo_pf_state_usable(o->pf, NB_PFS);
	if (with_link != 0)
		assert_int_equal(usable, with_link);
	/* without those that may lack rules which the one has that goes on */
	assert_int_equal(usable & ~polled, 0);
	assert_int_equal(usable != 0, polled != 0);
}

/* The application starts the octo port, or stops it. */
static void
operate(struct octo *o)
{
	o->started = !o->started;
	for (unsigned int i = 0; i < NB_PFS; i++) {
		struct port_world *w = &o->world[i];

		w->started = o->started;
		if (o->started && w->port.state == OCTO_PORT_READY)
			world_answer(w, OCTO_PORT_EV_STARTED);
		if (!o->started && w->port.state == OCTO_PORT_RUNNING)
			world_answer(w, OCTO_PORT_EV_STOPPED);
		world_run(w);
		if (o->started)
			follow_port(o, i, EV(STARTED));
		else
			step(o, i, EV(STOPPED));
	}
}

static void
round_of(struct octo *o)
{
	o->now += world_random(&o->rng, one_in(o, 10) ? 3000 * WORLD_MS : 40 * WORLD_MS);
	for (unsigned int i = 0; i < NB_PFS; i++)
		o->world[i].now = o->now;
	if (one_in(o, 40) || !o->started)
		operate(o);
	for (unsigned int i = 0; i < NB_PFS; i++) {
		if (one_in(o, 6))
			world_happen(&o->world[i]);
		world_run(&o->world[i]);
		follow_port(o, i, EV(JOINS));
		step(o, i, EV(TIME));
		follow_port(o, i, EV(JOINS));
		happen_to_pf(o, i);
		follow_port(o, i, EV(JOINS));
	}
	check(o);
}

/* All faults end: all PFs are active in the end. */
static void
settle(struct octo *o)
{
	const uint64_t end = o->now + 200 * WORLD_HZ;
	unsigned int nb_active = 0;

	if (!o->started)
		operate(o);
	while (nb_active < NB_PFS && o->now < end) {
		nb_active = 0;
		o->now += 250 * WORLD_MS;
		for (unsigned int i = 0; i < NB_PFS; i++) {
			struct port_world *w = &o->world[i];

			w->now = o->now;
			world_calm(w);
			world_run(w);
			follow_port(o, i, EV(JOINS));
			step(o, i, o->pf[i].state == OCTO_PF_RESYNC ? EV(SYNCED) : EV(UP));
			follow_port(o, i, EV(JOINS));
			nb_active += o->pf[i].state == OCTO_PF_ACTIVE;
			w->calm = false;
		}
		check(o);
	}
	assert_int_equal(nb_active, NB_PFS);
}

static void
test_whatever_happens_pfs_fit_their_ports_and_come_back(void **state)
{
	uint64_t rng = world_seed();
	struct octo o;
	uint64_t steps = 0;

	(void)state;
	while (steps < CHAOS_STEPS) {
		octo_init(&o, rng);
		for (unsigned int i = 0; i < 20; i++) {
			for (uint64_t n = world_random(&o.rng, 200); n > 0; n--)
				round_of(&o);
			settle(&o);
		}
		steps += o.steps;
		rng = o.rng;
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whatever_happens_pfs_fit_their_ports_and_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
