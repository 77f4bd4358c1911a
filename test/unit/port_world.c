/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_random.h>

#include "octo_test.h"

#include "port_world.h"

/* The longest back-off, and then a dead port that others may remove. */
#define SETTLE_MS (61000 + 5000 + 61000)

uint64_t
world_seed(void)
{
	const char *given = getenv("OCTO_TEST_SEED");
	const uint64_t seed = given != NULL ? strtoull(given, NULL, 0) : rte_rand();

	printf("OCTO_TEST_SEED=%#llx\n", (unsigned long long)seed);
	fflush(stdout);
	return seed | 1;
}

/* xorshift64* */
uint64_t
world_random(uint64_t *rng, uint64_t n)
{
	*rng ^= *rng >> 12;
	*rng ^= *rng << 25;
	*rng ^= *rng >> 27;
	return ((*rng * UINT64_C(0x2545f4914f6cdd1d)) >> 33) % n;
}

static bool
one_in(struct port_world *w, unsigned int n)
{
	return world_random(w->rng, n) == 0;
}

static bool
fails(struct port_world *w, unsigned int one_of)
{
	return !w->calm && one_in(w, one_of);
}

void
world_init(struct port_world *w, uint64_t *rng, bool owned, uint64_t now)
{
	*w = (struct port_world){
		.rng = rng,
		.now = now,
		.plugged = owned,
		.there = owned,
		.announced = owned,
		.whole = owned,
		.owned = owned,
		.used = owned,
	};
	octo_port_state_init(&w->port, owned ? OCTO_PORT_IDLE : OCTO_PORT_ABSENT, true, false,
			     WORLD_HZ, now);
}

/* What happens to the port, with or without us */

static void
announce(struct port_world *w)
{
	w->announced = true;
	/* the callback owns it, if nobody else does */
	w->owned = !w->taken;
	octo_port_state_post(&w->mail, OCTO_PORT_EV_BORN);
}

static void
make(struct port_world *w, bool by_us)
{
	w->there = true;
	w->whole = by_us;
	w->made_by_us = by_us;
	w->taken = !by_us && one_in(w, 4);
	/* its driver may be heard of before */
	if (by_us || !one_in(w, 4))
		announce(w);
}

static void
end(struct port_world *w)
{
	w->there = false;
	w->announced = false;
	w->whole = false;
	w->owned = false;
	w->taken = false;
	w->recovering = false;
	w->broken = false;
	w->hasty = false;
	w->must_reset = false;
	w->used = false;
	octo_port_state_post(&w->mail, OCTO_PORT_EV_DIED);
}

static void
break_port(struct port_world *w, bool hasty)
{
	if (!w->broken)
		w->broken_at = w->now;
	w->broken = true;
	w->hasty |= hasty;
	w->recovering = false;
	w->must_reset = false;
}

void
world_rmv(struct port_world *w)
{
	if (!w->there)
		return;
	break_port(w, false);
	octo_port_state_post(&w->mail, OCTO_PORT_EV_RMV);
}

void
world_drained(struct port_world *w)
{
	break_port(w, false);
	world_answer(w, OCTO_PORT_EV_DRAINED);
}

static void
recover(struct port_world *w)
{
	if (!w->there || w->broken)
		return;
	w->recovering = true;
	w->must_reset = false;
	octo_port_state_post(&w->mail, OCTO_PORT_EV_RECOVERING);
}

static void
end_recovery(struct port_world *w, bool well)
{
	if (!w->there || w->broken || (well && !w->recovering))
		return;
	if (!well)
		break_port(w, true);
	w->recovering = false;
	octo_port_state_post(&w->mail, well ? OCTO_PORT_EV_RECOVERED : OCTO_PORT_EV_GAVE_UP);
}

static void
ask_for_reset(struct port_world *w)
{
	if (!w->there || w->broken)
		return;
	w->recovering = false;
	w->must_reset = true;
	octo_port_state_post(&w->mail, OCTO_PORT_EV_RESET);
}

/* Somebody else */
static void
others(struct port_world *w)
{
	switch (world_random(w->rng, 6)) {
	case 0:
		if (w->plugged && !w->there)
			make(w, false);
		break;
	case 1:
		w->whole = w->announced;
		if (w->there && !w->announced)
			announce(w);
		break;
	case 2:
		if (w->there)
			end(w);
		break;
	case 3:
		w->taken = w->there && !w->owned && !w->taken;
		break;
	case 4:
		w->plugged = true;
		octo_port_state_post(&w->mail, OCTO_PORT_EV_ARRIVED);
		break;
	default:
		if (w->there)
			end(w);
		w->plugged = false;
	}
}

/* The application configures, starts and stops the octo port, and all PFs' ports with it. */
static void
operate(struct port_world *w)
{
	if (w->nb_answers > 0 || w->led)
		return;
	if (!w->configured || (!w->started && one_in(w, 3))) {
		w->configured = w->port.state != OCTO_PORT_READY || !one_in(w, 4);
		if (octo_port_state_is_owned(w->port.state))
			world_answer(w, w->configured ? OCTO_PORT_EV_CONFIGURED :
							OCTO_PORT_EV_UNCONFIGURED);
	} else if (!w->started) {
		w->started = true;
		octo_port_state_post(&w->mail, OCTO_PORT_EV_LOOK);
		if (w->port.state == OCTO_PORT_READY)
			world_answer(w, OCTO_PORT_EV_STARTED);
	} else if (one_in(w, 4)) {
		w->started = false;
		if (w->port.state == OCTO_PORT_RUNNING)
			world_answer(w, OCTO_PORT_EV_STOPPED);
	}
}

void
world_happen(struct port_world *w)
{
	switch (world_random(w->rng, 14)) {
	case 0:
		world_rmv(w);
		break;
	case 1:
		recover(w);
		break;
	case 2:
		end_recovery(w, true);
		break;
	case 3:
		end_recovery(w, false);
		break;
	case 4:
		ask_for_reset(w);
		break;
	case 5:
	case 6:
	case 7:
		others(w);
		break;
	case 8:
		w->lacks = one_in(w, 3);
		w->refuses = one_in(w, 3);
		break;
	case 9:
	case 10:
		operate(w);
		break;
	default:
		break;
	}
}

/* What is asked for */

void
world_answer(struct port_world *w, enum octo_port_event event)
{
	assert_true(w->nb_answers < WORLD_ANSWERS);
	w->answer[w->nb_answers++] = (struct octo_port_answer){event, w->port.life};
}

/* Nobody may use a port that is half-made, helps itself, or is about to go. */
static void
assert_may_be_touched(const struct port_world *w, const struct octo_port_todo *todo)
{
	assert_int_equal(todo->life, w->port.life);
	assert_true(w->there);
	assert_true(w->whole);
	assert_false(w->recovering);
	assert_false(w->broken);
}

static enum octo_port_event
claim(struct port_world *w, const struct octo_port_todo *todo)
{
	assert_may_be_touched(w, todo);
	assert_int_equal((todo->actions & OCTO_PORT_DO_RESET) != 0, w->must_reset);
	if (w->used)
		assert_true(todo->actions & OCTO_PORT_DO_RENEW);
	if (fails(w, 8))
		return OCTO_PORT_EV_NOT_YET;
	if (w->taken)
		return OCTO_PORT_EV_OTHERS;
	if (w->must_reset && fails(w, 4)) {
		break_port(w, true);
		return OCTO_PORT_EV_RESET_FAILED;
	}
	if (w->lacks) {
		w->owned = false;
		return OCTO_PORT_EV_LACKS;
	}
	w->must_reset = false;
	w->owned = true;
	w->used = true;
	return OCTO_PORT_EV_CLAIMED;
}

static void
set_up(struct port_world *w, const struct octo_port_todo *todo)
{
	assert_may_be_touched(w, todo);
	assert_true(w->owned);
	if (w->refuses) {
		world_answer(w, OCTO_PORT_EV_REFUSED);
		return;
	}
	if (w->configured)
		world_answer(w, OCTO_PORT_EV_CONFIGURED);
	if (w->configured && w->started)
		world_answer(w, OCTO_PORT_EV_STARTED);
}

static void
send_request(struct port_world *w, uint32_t request)
{
	/* EAL's list of devices is for one thread at a time */
	assert_int_equal(w->request, 0);
	assert_int_equal(w->nb_answers, 0);
	assert_true(w->port.replug);
	w->request = request;
	w->returns = w->now + world_random(w->rng, 2000) * WORLD_MS;
	if (request != OCTO_PORT_DO_REMOVE || !w->there || !w->owned)
		return;
	/* if that fails, it is tried again as soon as any other request */
	w->hasty |= w->port.release;
	if (w->hasty)
		return;
	/* whoever has probed it had time to remove it */
	assert_true(w->broken);
	assert_true(w->now >= w->broken_at + (w->made_by_us ? 300 : 5000) * WORLD_MS);
}

static enum octo_port_event
probe(struct port_world *w)
{
	if (w->there)
		return OCTO_PORT_EV_PROBE_FOUND;
	if (!w->plugged)
		return OCTO_PORT_EV_PROBE_NONE;
	if (fails(w, 6))
		return OCTO_PORT_EV_PROBE_FAILED;
	make(w, true);
	return OCTO_PORT_EV_PROBE_DONE;
}

static enum octo_port_event
remove_device(struct port_world *w)
{
	if (!w->there)
		return OCTO_PORT_EV_REMOVE_DONE;
	if (!w->owned)
		return OCTO_PORT_EV_NOT_OURS;
	if (fails(w, 6))
		return OCTO_PORT_EV_REMOVE_FAILED;
	end(w);
	return OCTO_PORT_EV_REMOVE_DONE;
}

static void
execute(struct port_world *w, const struct octo_port_todo *todo)
{
	w->losses += (todo->actions & OCTO_PORT_DO_LOSE) != 0;
	if (todo->actions & OCTO_PORT_DO_CHECK && (!w->there || w->whole))
		world_answer(w, w->there ? OCTO_PORT_EV_PROBED : OCTO_PORT_EV_NONE);
	if (todo->actions & OCTO_PORT_DO_CLAIM)
		world_answer(w, claim(w, todo));
	if (todo->actions & OCTO_PORT_DO_SET_UP)
		set_up(w, todo);
	if (todo->actions & (OCTO_PORT_DO_PROBE | OCTO_PORT_DO_REMOVE))
		send_request(w, todo->actions & (OCTO_PORT_DO_PROBE | OCTO_PORT_DO_REMOVE));
}

static void
end_request(struct port_world *w)
{
	const bool is_probe = w->request == OCTO_PORT_DO_PROBE;

	if (w->request == 0 || w->now < w->returns || w->nb_answers > 0)
		return;
	world_answer(w, is_probe ? probe(w) : remove_device(w));
	w->request = 0;
}

static void
check(const struct port_world *w, const struct octo_port_todo *todo)
{
	const struct octo_port_fsm *p = &w->port;
	const uint32_t requests = todo->actions & (OCTO_PORT_DO_PROBE | OCTO_PORT_DO_REMOVE);
	const bool waits = octo_port_state_is_owned(p->state) || p->request != 0;

	/* all that happens here is lawful */
	assert_int_equal(p->unexpected, 0);
	assert_int_equal(p->request, w->request | requests);
	/* a deadline always fires: there is one, and it is not far */
	assert_int_equal(waits, todo->deadline == OCTO_PORT_NEVER);
	if (!waits)
		assert_true(todo->deadline <= w->now + 60000 * WORLD_MS);
}

/* When all mail is read and answered, the machine knows how things are. */
static void
check_belief(const struct port_world *w)
{
	const enum octo_port_state s = w->port.state;
	const bool is_lost = s == OCTO_PORT_DEAD || s == OCTO_PORT_REMOVING;

	assert_int_equal(is_lost, w->there && w->broken);
	assert_int_equal(s == OCTO_PORT_RECOVERING, w->there && w->recovering);
	if (!w->there)
		assert_true(s == OCTO_PORT_ABSENT || s == OCTO_PORT_PROBING_US);
	else if (w->announced)
		assert_int_not_equal(s, OCTO_PORT_ABSENT);
	assert_int_equal(w->port.reset, w->must_reset);
	if (w->must_reset)
		assert_true(s == OCTO_PORT_PROBING_OTHERS || s == OCTO_PORT_FOREIGN);
	if (octo_port_state_is_owned(s))
		assert_true(w->owned);
}

/* Objects are of one life, in which the port is ours without a break. */
static void
check_life(const struct octo_port_fsm *before, const struct octo_port_fsm *after,
	   const struct octo_port_answer *answer)
{
	const bool was_ours = octo_port_state_is_owned(before->state);
	const bool is_ours = octo_port_state_is_owned(after->state);

	if (was_ours && !is_ours)
		assert_int_not_equal(after->life, before->life);
	if (!is_ours || (was_ours && after->life == before->life))
		return;
	assert_int_equal(answer->event, OCTO_PORT_EV_CLAIMED);
	assert_int_equal(answer->life, after->life);
}

static struct octo_port_todo
step(struct port_world *w)
{
	const struct octo_port_fsm before = w->port;
	struct octo_port_answer answer = {.event = OCTO_PORT_EV_DEADLINE};
	const struct octo_port_answer *given = NULL;
	struct octo_port_todo todo;

	if (w->nb_answers > 0) {
		answer = w->answer[0];
		given = &answer;
		w->nb_answers--;
		memmove(&w->answer[0], &w->answer[1], w->nb_answers * sizeof(answer));
	}
	todo = octo_port_state_step(&w->port, octo_port_state_take(&w->mail), given, w->now);
	w->steps++;
	check(w, &todo);
	check_life(&before, &w->port, &answer);
	if (w->nb_answers == 0)
		check_belief(w);
	return todo;
}

void
world_run(struct port_world *w)
{
	struct octo_port_todo todo;

	do {
		end_request(w);
		todo = step(w);
		execute(w, &todo);
		/* callbacks come while an action is done */
		if (w->nb_answers > 0 && fails(w, 8))
			world_happen(w);
	} while (w->nb_answers > 0 || todo.deadline <= w->now);
}

/* What there is of a port is as good as any. */
void
world_calm(struct port_world *w)
{
	w->calm = true;
	w->plugged = true;
	w->configured = true;
	w->started = true;
	if (w->there && !w->announced)
		announce(w);
	w->whole = w->there;
	w->taken = false;
	w->lacks = false;
	w->refuses = false;
	if (w->recovering)
		end_recovery(w, true);
	if (w->broken && !w->owned)
		end(w);
}

void
world_settle(struct port_world *w)
{
	const uint64_t end_at = w->now + SETTLE_MS * WORLD_MS;

	world_calm(w);
	do {
		w->now += 250 * WORLD_MS;
		world_run(w);
		if (w->port.state == OCTO_PORT_IDLE)
			world_answer(w, OCTO_PORT_EV_CONFIGURED);
		else if (w->port.state == OCTO_PORT_READY)
			world_answer(w, OCTO_PORT_EV_STARTED);
	} while ((w->port.state != OCTO_PORT_RUNNING || w->nb_answers > 0) && w->now < end_at);
	assert_int_equal(w->port.state, OCTO_PORT_RUNNING);
	w->calm = false;
}
