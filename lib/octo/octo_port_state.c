/* SPDX-License-Identifier: BSD-3-Clause */

#include <eal_export.h>
#include <rte_common.h>

#include "octo_port_state.h"

#define TICK_MS 5
#define LOOK_MS 1000
#define MAX_PAUSE_MS 60000
/* Code that probed the device of a dead port may remove it first. */
#define BURY_MS 300
#define BURY_OTHERS_MS 5000

/* Mail word: events, whether the port exists, and births and deaths modulo 2^24. */
#define EVENTS (RTE_BIT64(OCTO_PORT_EV_BORN) - 1)
#define IS_THERE RTE_BIT64(15)
#define BIRTH RTE_BIT64(16)
#define DEATH RTE_BIT64(40)
#define BIRTHS (DEATH - BIRTH)
#define DEATHS (~(DEATH - 1))
/* The end of a port clears these events, as they do not concern the next one. */
#define OF_ITS_LIFE (RTE_BIT64(OCTO_PORT_EV_ARRIVED) - 1)
/* A recovery that begins later clears these events. */
#define BEFORE_RECOVERY                                                                            \
	(RTE_BIT64(OCTO_PORT_EV_RECOVERED) | RTE_BIT64(OCTO_PORT_EV_GAVE_UP) |                     \
	 RTE_BIT64(OCTO_PORT_EV_RESET))

#define LOSSES                                                                                     \
	(RTE_BIT64(OCTO_PORT_EV_RECOVERING) | RTE_BIT64(OCTO_PORT_EV_GAVE_UP) |                    \
	 RTE_BIT64(OCTO_PORT_EV_RESET) | RTE_BIT64(OCTO_PORT_EV_RMV))

/* The entries of the table. */
#define TO(state, when, actions)                                                                   \
	{                                                                                          \
		OCTO_PORT_##state, OCTO_PORT_WHEN_##when, actions                                  \
	}
#define DO(action) OCTO_PORT_DO_##action
#define NOTE(note) OCTO_PORT_NOTE_##note

#define SKIP TO(SAME, KEEP, 0)
#define ODD TO(SAME, KEEP, NOTE(ODD))
#define GONE TO(ABSENT, LOOK, DO(LOSE))
/* The port may be half-made: later steps check. */
#define MADE TO(PROBING_OTHERS, TICK, 0)
#define HEAL TO(RECOVERING, LOOK, DO(LOSE))
#define DIES TO(DEAD, BURY, DO(LOSE))
/* Its driver has given up, so there is nothing to wait for. */
#define FAIL TO(DEAD, NOW, DO(LOSE))
#define RESET TO(PROBING_OTHERS, TICK, DO(LOSE) | NOTE(RESET))
/* The application may be notified of the device, too, and probe it. */
#define SOON TO(SAME, SOON, NOTE(FORGET))
#define AGAIN TO(SAME, AGAIN, NOTE(FORGET))
#define NOW TO(SAME, NOW, NOTE(FORGET))
#define PROBE TO(PROBING_US, NEVER, DO(PROBE))
#define COMES TO(SAME, TICK, DO(CLAIM) | NOTE(OURS))
#define OURS TO(SAME, KEEP, NOTE(OURS))
#define NONE TO(ABSENT, LOOK, 0)
#define LATER TO(ABSENT, BACK_OFF, 0)
/* Repeated until there is an answer. */
#define CHECK TO(SAME, CHECK, DO(CHECK))
#define CLAIM TO(SAME, TICK, DO(CLAIM))
/* Its end may be missed: the event of its recovery may be posted after that. */
#define WATCH TO(SAME, LOOK, DO(CHECK))
#define WAIT TO(SAME, TICK, 0)
#define OWN TO(IDLE, NEVER, DO(SET_UP))
#define DENY TO(FOREIGN, BACK_OFF, DO(LOG))
#define GIVE TO(FOREIGN, BACK_OFF, DO(LOSE) | DO(LOG))
#define IDLE TO(IDLE, NEVER, 0)
#define READY TO(READY, NEVER, 0)
#define RUN TO(RUNNING, NEVER, 0)
#define JOIN TO(SAME, KEEP, NOTE(FORGET))
#define BURY TO(REMOVING, NEVER, DO(REMOVE))
#define EJECT TO(REMOVING, NEVER, DO(REMOVE) | NOTE(RELEASE))
#define FREE TO(ABSENT, FREE, 0)
#define LATE TO(SAME, KEEP, NOTE(RELEASE))
#define STUCK TO(DEAD, BACK_OFF, 0)

/* clang-format off */
#define E(event) OCTO_PORT_EV_##event

static const struct octo_port_move table[OCTO_PORT_NB_EVENTS][OCTO_PORT_NB_STATES] = {
	/*                   ABSENT PROBING:      FOREIGN       DEAD          IDLE          RUN */
	/*                          US     OTHERS        RECOVERING    REMOVING      READY */
	[E(RECOVERING)]    = {HEAL,  HEAL,  HEAL,  HEAL,  SKIP,  HEAL,  SKIP,  HEAL,  HEAL,  HEAL},
	[E(RECOVERED)]     = {SKIP,  SKIP,  SKIP,  SKIP,  MADE,  SKIP,  SKIP,  SKIP,  SKIP,  SKIP},
	[E(GAVE_UP)]       = {FAIL,  FAIL,  FAIL,  FAIL,  FAIL,  FAIL,  SKIP,  FAIL,  FAIL,  FAIL},
	[E(RESET)]         = {RESET, RESET, RESET, RESET, RESET, SKIP,  SKIP,  RESET, RESET, RESET},
	[E(RMV)]           = {DIES,  DIES,  DIES,  DIES,  DIES,  SKIP,  SKIP,  DIES,  DIES,  DIES},
	[E(ARRIVED)]       = {SOON,  SKIP,  SKIP,  AGAIN, SKIP,  AGAIN, SKIP,  SKIP,  SKIP,  SKIP},
	[E(LOOK)]          = {NOW,   SKIP,  NOW,   AGAIN, SKIP,  AGAIN, SKIP,  SKIP,  SKIP,  SKIP},
	[E(BORN)]          = {MADE,  SKIP,  SKIP,  ODD,   SKIP,  SKIP,  SKIP,  ODD,   ODD,   ODD},
	[E(DIED)]          = {SKIP,  GONE,  GONE,  GONE,  GONE,  GONE,  GONE,  GONE,  GONE,  GONE},
	[E(PROBE_DONE)]    = {NONE,  COMES, OURS,  ODD,   OURS,  OURS,  ODD,   ODD,   ODD,   ODD},
	[E(PROBE_FOUND)]   = {MADE,  MADE,  SKIP,  ODD,   SKIP,  SKIP,  ODD,   ODD,   ODD,   ODD},
	[E(PROBE_NONE)]    = {NONE,  NONE,  SKIP,  ODD,   SKIP,  SKIP,  ODD,   ODD,   ODD,   ODD},
	[E(PROBE_FAILED)]  = {LATER, LATER, SKIP,  ODD,   SKIP,  SKIP,  ODD,   ODD,   ODD,   ODD},
	[E(REMOVE_DONE)]   = {FREE,  ODD,   SKIP,  ODD,   SKIP,  SKIP,  FREE,  ODD,   ODD,   ODD},
	[E(REMOVE_FAILED)] = {NONE,  ODD,   SKIP,  ODD,   SKIP,  SKIP,  STUCK, ODD,   ODD,   ODD},
	[E(NOT_OURS)]      = {NONE,  ODD,   SKIP,  ODD,   SKIP,  SKIP,  STUCK, ODD,   ODD,   ODD},
	[E(PROBED)]        = {ODD,   ODD,   CLAIM, ODD,   SKIP,  ODD,   ODD,   ODD,   ODD,   ODD},
	[E(NONE)]          = {ODD,   GONE,  GONE,  GONE,  GONE,  ODD,   ODD,   ODD,   ODD,   ODD},
	[E(NOT_YET)]       = {ODD,   WAIT,  WAIT,  WAIT,  ODD,   ODD,   ODD,   ODD,   ODD,   ODD},
	[E(CLAIMED)]       = {ODD,   OWN,   OWN,   OWN,   ODD,   ODD,   ODD,   ODD,   ODD,   ODD},
	[E(OTHERS)]        = {ODD,   DENY,  DENY,  DENY,  ODD,   ODD,   ODD,   ODD,   ODD,   ODD},
	[E(LACKS)]         = {ODD,   DENY,  DENY,  DENY,  ODD,   ODD,   ODD,   ODD,   ODD,   ODD},
	[E(REFUSED)]       = {ODD,   DENY,  DENY,  DENY,  ODD,   ODD,   ODD,   GIVE,  GIVE,  GIVE},
	[E(RESET_FAILED)]  = {ODD,   FAIL,  FAIL,  FAIL,  ODD,   ODD,   ODD,   ODD,   ODD,   ODD},
	[E(CONFIGURED)]    = {ODD,   ODD,   ODD,   ODD,   ODD,   ODD,   ODD,   READY, READY, ODD},
	[E(UNCONFIGURED)]  = {ODD,   ODD,   ODD,   ODD,   ODD,   ODD,   ODD,   SKIP,  IDLE,  ODD},
	[E(STARTED)]       = {ODD,   ODD,   ODD,   ODD,   ODD,   ODD,   ODD,   ODD,   RUN,   ODD},
	[E(STOPPED)]       = {ODD,   ODD,   ODD,   ODD,   ODD,   ODD,   ODD,   ODD,   SKIP,  READY},
	[E(JOINED)]        = {ODD,   ODD,   ODD,   ODD,   ODD,   ODD,   ODD,   ODD,   ODD,   JOIN},
	[E(DRAINED)]       = {ODD,   ODD,   ODD,   ODD,   ODD,   ODD,   ODD,   ODD,   DIES,  DIES},
	[E(RELEASE)]       = {ODD,   ODD,   ODD,   ODD,   ODD,   EJECT, LATE,  ODD,   ODD,   ODD},
	[E(DEADLINE)]      = {PROBE, CLAIM, CHECK, CLAIM, WATCH, BURY,  ODD,   ODD,   ODD,   ODD},
};
/* clang-format on */

/* The request that this event answers, 0: none. */
static uint32_t
request_of(enum octo_port_event e)
{
	if (e < OCTO_PORT_EV_PROBE_DONE || e > OCTO_PORT_EV_NOT_OURS)
		return 0;
	return e <= OCTO_PORT_EV_PROBE_FAILED ? DO(PROBE) : DO(REMOVE);
}

static uint64_t
in_ms(const struct octo_port_fsm *p, uint64_t now, uint32_t ms)
{
	return now + ms * p->ms;
}

static uint64_t
back_off(struct octo_port_fsm *p, uint64_t now)
{
	p->pause = p->pause == 0 ? LOOK_MS : RTE_MIN(2 * p->pause, (uint32_t)MAX_PAUSE_MS);
	return in_ms(p, now, p->pause);
}

static uint64_t
deadline_of(struct octo_port_fsm *p, enum octo_port_when when, uint64_t now)
{
	switch (when) {
	case OCTO_PORT_WHEN_KEEP:
		break;
	case OCTO_PORT_WHEN_NEVER:
		return OCTO_PORT_NEVER;
	case OCTO_PORT_WHEN_NOW:
		return now;
	case OCTO_PORT_WHEN_TICK:
		return in_ms(p, now, TICK_MS);
	case OCTO_PORT_WHEN_CHECK:
		return in_ms(p, now, now < in_ms(p, p->since, LOOK_MS) ? TICK_MS : LOOK_MS);
	case OCTO_PORT_WHEN_LOOK:
		return in_ms(p, now, LOOK_MS);
	case OCTO_PORT_WHEN_SOON:
		return RTE_MIN(p->deadline, in_ms(p, now, LOOK_MS));
	case OCTO_PORT_WHEN_BACK_OFF:
		return back_off(p, now);
	case OCTO_PORT_WHEN_AGAIN:
		return p->put_off ? now : p->deadline;
	case OCTO_PORT_WHEN_BURY:
		return in_ms(p, now, p->by_us ? BURY_MS : BURY_OTHERS_MS);
	case OCTO_PORT_WHEN_FREE:
		return p->release ? in_ms(p, now, LOOK_MS) : now;
	}
	return p->deadline;
}

static void
take_note(struct octo_port_fsm *p, const struct octo_port_move *m)
{
	p->unexpected += (m->actions & NOTE(ODD)) != 0;
	p->by_us |= (m->actions & NOTE(OURS)) != 0;
	if (m->actions & NOTE(FORGET))
		p->pause = 0;
	if (m->actions & DO(REMOVE))
		p->release = false;
	p->release |= (m->actions & NOTE(RELEASE)) != 0;
	p->request |= m->actions & (DO(PROBE) | DO(REMOVE));
	if (!(m->actions & DO(LOSE)))
		return;
	p->life = octo_life_next(p->life);
	p->reset = (m->actions & NOTE(RESET)) != 0;
	/* a port that is given back is tried again and refuses again, so it stays logged */
	p->logged &= m->next == OCTO_PORT_FOREIGN;
}

static void
enter(struct octo_port_fsm *p, enum octo_port_state state, uint64_t now)
{
	p->state = state;
	p->since = now;
	if (state == OCTO_PORT_ABSENT) {
		p->by_us = false;
		p->used = false;
	}
	if (state == OCTO_PORT_IDLE) {
		p->used = true;
		p->reset = false;
	}
}

/* Returns whether a state was entered, possibly the same one again. */
static bool
apply(struct octo_port_fsm *p, enum octo_port_event e, uint64_t now, uint32_t *actions)
{
	const struct octo_port_move *m = octo_port_state_move(p->state, e);
	uint32_t todo = m->actions & (NOTE(ODD) - 1);

	/* one request at a time, and none without replug */
	if ((todo & (DO(PROBE) | DO(REMOVE))) && (p->request != 0 || !p->replug))
		return false;
	take_note(p, m);
	p->deadline = deadline_of(p, m->when, now);
	if (m->when != OCTO_PORT_WHEN_KEEP)
		p->put_off = m->when == OCTO_PORT_WHEN_BACK_OFF;
	if (m->next == OCTO_PORT_FOREIGN) {
		p->reason = e;
		if (p->logged)
			todo &= ~DO(LOG);
		p->logged = true;
	}
	/* a port that is lost in the same step must not be touched */
	if (todo & DO(LOSE))
		*actions &= ~(OCTO_PORT_TOUCHES | DO(CHECK));
	*actions |= todo;
	if (m->next == OCTO_PORT_SAME)
		return false;
	enter(p, m->next, now);
	return true;
}

static bool
hear_answer(struct octo_port_fsm *p, const struct octo_port_answer *a, uint64_t now,
	    uint32_t *actions)
{
	const uint32_t request = request_of(a->event);

	if (request != p->request && request != 0) {
		p->unexpected++;
		return false;
	}
	if (request == 0 && a->life != p->life) {
		p->stale++;
		return false;
	}
	p->request &= ~request;
	return apply(p, a->event, now, actions);
}

static bool
hear_mail(struct octo_port_fsm *p, uint64_t mail, uint64_t now, uint32_t *actions)
{
	bool is_new = false;

	if (((mail ^ p->seen) & BIRTHS) && (mail & IS_THERE))
		is_new |= apply(p, OCTO_PORT_EV_BORN, now, actions);
	for (unsigned int e = 0; e < OCTO_PORT_EV_BORN; e++)
		if (mail & RTE_BIT64(e))
			is_new |= apply(p, e, now, actions);
	p->seen = mail & ~EVENTS;
	return is_new;
}

static bool
is_due(const struct octo_port_fsm *p, uint64_t now)
{
	return p->replug && p->request == 0 && now >= p->deadline;
}

/* Returns whether a state was entered. */
static bool
hear_all(struct octo_port_fsm *p, uint64_t mail, const struct octo_port_answer *answer,
	 uint64_t now, uint32_t *actions)
{
	bool is_new = false;

	if ((mail ^ p->seen) & DEATHS)
		is_new |= apply(p, OCTO_PORT_EV_DIED, now, actions);
	if (answer != NULL)
		is_new |= hear_answer(p, answer, now, actions);
	return hear_mail(p, mail, now, actions) || is_new;
}

static struct octo_port_todo
finish(const struct octo_port_fsm *p, uint32_t actions)
{
	if ((actions & DO(CLAIM)) && p->used)
		actions |= DO(RENEW);
	if ((actions & DO(CLAIM)) && p->reset)
		actions |= DO(RESET);
	return (struct octo_port_todo){
		.actions = actions,
		.life = p->life,
		.deadline = p->replug && p->request == 0 ? p->deadline : OCTO_PORT_NEVER,
	};
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_port_state_hear)
struct octo_port_todo
octo_port_state_hear(struct octo_port_fsm *p, uint64_t mail, const struct octo_port_answer *answer,
		     uint64_t now)
{
	uint32_t actions = 0;

	hear_all(p, mail, answer, now, &actions);
	return finish(p, actions);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_port_state_step)
struct octo_port_todo
octo_port_state_step(struct octo_port_fsm *p, uint64_t mail, const struct octo_port_answer *answer,
		     uint64_t now)
{
	uint32_t actions = 0;
	const bool is_new = hear_all(p, mail, answer, now, &actions);

	/* a claim that was just requested is under way */
	if (!is_new && !(actions & DO(CLAIM)) && is_due(p, now))
		apply(p, OCTO_PORT_EV_DEADLINE, now, &actions);
	return finish(p, actions);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_port_state_is_lost_by)
bool
octo_port_state_is_lost_by(const struct octo_port_fsm *p, const struct octo_port_mail *mail)
{
	/* pairs with the release in octo_port_state_post() */
	const uint64_t word = rte_atomic_load_explicit(&mail->word, rte_memory_order_acquire);

	return ((word ^ p->seen) & DEATHS) || (word & LOSSES);
}

static uint64_t
posted(uint64_t word, enum octo_port_event e)
{
	if (e == OCTO_PORT_EV_DIED)
		return (word & ~(OF_ITS_LIFE | IS_THERE)) + DEATH;
	/* events of the port may be posted before its birth */
	if (e == OCTO_PORT_EV_BORN)
		return (word & ~BIRTHS) | ((word + BIRTH) & BIRTHS) | IS_THERE;
	if (e == OCTO_PORT_EV_RECOVERING)
		word &= ~BEFORE_RECOVERY;
	return word | RTE_BIT64(e);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_port_state_post)
void
octo_port_state_post(struct octo_port_mail *mail, enum octo_port_event event)
{
	uint64_t word = rte_atomic_load_explicit(&mail->word, rte_memory_order_relaxed);

	/* pairs with the acquire in octo_port_state_take() */
	while (!rte_atomic_compare_exchange_weak_explicit(&mail->word, &word, posted(word, event),
							  rte_memory_order_release,
							  rte_memory_order_relaxed))
		;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_port_state_take)
uint64_t
octo_port_state_take(struct octo_port_mail *mail)
{
	/* pairs with the release in octo_port_state_post() */
	return rte_atomic_fetch_and_explicit(&mail->word, ~EVENTS, rte_memory_order_acquire);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_port_state_init)
void
octo_port_state_init(struct octo_port_fsm *p, enum octo_port_state state, bool replug, bool by_us,
		     uint64_t hz, uint64_t now)
{
	*p = (struct octo_port_fsm){
		.replug = replug,
		.by_us = by_us,
		.life = octo_life_next(OCTO_LIFE_NONE),
		.ms = hz / 1000,
	};
	enter(p, state, now);
	p->deadline = state == OCTO_PORT_ABSENT ? in_ms(p, now, LOOK_MS) : OCTO_PORT_NEVER;
}

const struct octo_port_move *
octo_port_state_move(enum octo_port_state state, enum octo_port_event event)
{
	return &table[event][state];
}
