/* SPDX-License-Identifier: BSD-3-Clause */

#include <eal_export.h>

#include "octo_pf_state.h"

#define BACK_MS 1000

/* The entries of the table. */
#define TO(state, until, actions)                                                                  \
	{                                                                                          \
		OCTO_PF_##state, OCTO_PF_UNTIL_##until, actions                                    \
	}
#define DO(action) OCTO_PF_DO_##action
#define NOTE(note) OCTO_PF_NOTE_##note

#define SKIP TO(SAME, KEEP, 0)
#define ODD TO(SAME, KEEP, NOTE(ODD))
#define UP TO(SAME, KEEP, NOTE(UP))
#define DOWN TO(SAME, KEEP, NOTE(DOWN))
#define BEGIN TO(ACTIVE, NEVER, 0)
#define JOIN TO(RESYNC, NEVER, 0)
#define GOOD TO(ACTIVE, NEVER, DO(JOINED))
#define BACK TO(DRAIN_BACK, BACK, 0)
#define EJECT TO(DRAIN_EJECT, EJECT, 0)
#define DROP TO(OFF, NEVER, DO(RMV))
#define FLUSH TO(FLUSHING, KEEP, DO(DRAINED))
#define GIVE TO(OFF, NEVER, DO(REFUSED))
/* A PF without some rules is better than none. */
#define PAUSE TO(SAME, BACK, 0)
#define OFF TO(OFF, NEVER, 0)
#define FREE TO(OFF, NEVER, DO(RELEASE))
/* An ejector waits for the device, and the queues are not polled any more. */
#define CUT TO(OFF, NEVER, DO(DRAINED) | DO(RELEASE))

/* clang-format off */
#define E(event) OCTO_PF_EV_##event

static const struct octo_pf_move table[OCTO_PF_NB_EVENTS][OCTO_PF_NB_STATES] = {
	/*                 OFF    RESYNC ACTIVE DRAIN: DRAIN: FLUSHING */
	/*                                      EJECT  BACK */
	[E(TIME)]       = {SKIP,  SKIP,  SKIP,  SKIP,  SKIP,  SKIP},
	[E(STARTED)]    = {BEGIN, ODD,   ODD,   ODD,   ODD,   ODD},
	[E(JOINS)]      = {JOIN,  ODD,   ODD,   ODD,   ODD,   ODD},
	[E(SYNCED)]     = {ODD,   GOOD,  ODD,   ODD,   GOOD,  ODD},
	[E(REFUSED)]    = {ODD,   BACK,  ODD,   ODD,   ODD,   ODD},
	[E(EJECT)]      = {DROP,  EJECT, EJECT, SKIP,  EJECT, SKIP},
	[E(EMPTY)]      = {ODD,   ODD,   ODD,   FLUSH, GIVE,  ODD},
	[E(SENT)]       = {ODD,   ODD,   ODD,   ODD,   ODD,   FREE},
	[E(UP)]         = {SKIP,  UP,    UP,    UP,    UP,    SKIP},
	[E(DOWN)]       = {SKIP,  DOWN,  DOWN,  FLUSH, GIVE,  SKIP},
	[E(LOST)]       = {SKIP,  OFF,   OFF,   OFF,   OFF,   OFF},
	[E(STOPPED)]    = {SKIP,  OFF,   OFF,   CUT,   OFF,   FREE},
	[E(EJECT_NOW)]  = {DROP,  DROP,  DROP,  SKIP,  DROP,  SKIP},
	[E(EMPTY_LAST)] = {ODD,   ODD,   ODD,   FLUSH, SKIP,  ODD},
	[E(DOWN_LAST)]  = {SKIP,  DOWN,  DOWN,  FLUSH, DOWN,  SKIP},
	[E(LAST)]       = {SKIP,  SKIP,  SKIP,  SKIP,  PAUSE, SKIP},
	[E(LATE)]       = {ODD,   ODD,   ODD,   FLUSH, GIVE,  FREE},
};
/* clang-format on */

static uint64_t
until(const struct octo_pf_fsm *p, enum octo_pf_until u, uint64_t now)
{
	switch (u) {
	case OCTO_PF_UNTIL_KEEP:
		break;
	case OCTO_PF_UNTIL_NEVER:
		return OCTO_PORT_NEVER;
	case OCTO_PF_UNTIL_EJECT:
		return now + OCTO_PF_EJECT_MS * p->ms;
	case OCTO_PF_UNTIL_BACK:
		return now + BACK_MS * p->ms;
	}
	return p->until;
}

/* Returns whether a state was entered. */
static bool
apply(struct octo_pf_fsm *p, enum octo_pf_event e, uint64_t now, uint32_t *actions)
{
	const struct octo_pf_move *m = octo_pf_state_move(p->state, e);

	p->unexpected += (m->actions & NOTE(ODD)) != 0;
	p->link |= (m->actions & NOTE(UP)) != 0;
	p->link &= (m->actions & NOTE(DOWN)) == 0;
	p->until = until(p, m->until, now);
	*actions |= m->actions & (NOTE(ODD) - 1);
	if (m->next == OCTO_PF_SAME)
		return false;
	p->state = m->next;
	p->since = now;
	p->link &= m->next != OCTO_PF_OFF && m->next != OCTO_PF_FLUSHING;
	return true;
}

/* Refines the event for a PF without a link, or without another PF to take its traffic. */
static enum octo_pf_event
as_it_is(const struct octo_pf_fsm *p, enum octo_pf_event e, bool last)
{
	if (e == OCTO_PF_EV_EJECT)
		return last || !p->link ? OCTO_PF_EV_EJECT_NOW : e;
	if (e == OCTO_PF_EV_EMPTY && last)
		return OCTO_PF_EV_EMPTY_LAST;
	return e == OCTO_PF_EV_DOWN && last ? OCTO_PF_EV_DOWN_LAST : e;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_pf_state_step)
struct octo_pf_todo
octo_pf_state_step(struct octo_pf_fsm *p, enum octo_pf_event event, bool last, uint64_t now)
{
	struct octo_pf_todo todo = {0};
	bool is_new;

	if (last)
		apply(p, OCTO_PF_EV_LAST, now, &todo.actions);
	is_new = apply(p, as_it_is(p, event, last), now, &todo.actions);
	if (!is_new && now >= p->until)
		apply(p, OCTO_PF_EV_LATE, now, &todo.actions);
	todo.deadline = p->until;
	return todo;
}

/* The PF in DRAIN_BACK that goes on if there is no other; nb: none drains back. */
static unsigned int
keeper(const struct octo_pf_fsm *pfs, unsigned int nb)
{
	unsigned int found = nb;

	for (unsigned int i = 0; i < nb; i++)
		if (pfs[i].state == OCTO_PF_DRAIN_BACK &&
		    (found == nb || (pfs[i].link && !pfs[found].link)))
			found = i;
	return found;
}

/* It may lack rules that the keeper has. */
static bool
may_lack_rules(const struct octo_pf_fsm *pf)
{
	return pf->state == OCTO_PF_DRAIN_BACK || pf->state == OCTO_PF_RESYNC;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_pf_state_usable)
uint32_t
octo_pf_state_usable(const struct octo_pf_fsm *pfs, unsigned int nb)
{
	const unsigned int kept = keeper(pfs, nb);
	uint32_t polled = 0;
	uint32_t usable = 0;

	for (unsigned int i = 0; i < nb; i++) {
		if (pfs[i].state != OCTO_PF_OFF && pfs[i].state != OCTO_PF_FLUSHING &&
		    (i == kept || kept == nb || !may_lack_rules(&pfs[i])))
			polled |= RTE_BIT32(i);
		if (pfs[i].state == OCTO_PF_ACTIVE && pfs[i].link)
			usable |= RTE_BIT32(i);
	}
	return usable != 0 ? usable : polled;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_pf_state_is_last)
bool
octo_pf_state_is_last(const struct octo_pf_fsm *pfs, unsigned int nb, unsigned int pf)
{
	for (unsigned int i = 0; i < nb; i++)
		if (i != pf && pfs[i].state == OCTO_PF_ACTIVE && pfs[i].link)
			return false;
	/* if all paused they would wait for each other, and none would be tried again */
	return pfs[pf].state != OCTO_PF_DRAIN_BACK || pf == keeper(pfs, nb);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_pf_state_fits)
bool
octo_pf_state_fits(enum octo_pf_state pf, enum octo_port_state port)
{
	if (pf == OCTO_PF_OFF)
		return true;
	return port == (pf == OCTO_PF_FLUSHING ? OCTO_PORT_DEAD : OCTO_PORT_RUNNING);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_pf_state_drains)
bool
octo_pf_state_drains(enum octo_pf_state state)
{
	return state == OCTO_PF_DRAIN_EJECT || state == OCTO_PF_DRAIN_BACK ||
	       state == OCTO_PF_FLUSHING;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_pf_state_init)
void
octo_pf_state_init(struct octo_pf_fsm *p, uint64_t hz, uint64_t now)
{
	*p = (struct octo_pf_fsm){.ms = hz / 1000, .since = now, .until = OCTO_PORT_NEVER};
}

const struct octo_pf_move *
octo_pf_state_move(enum octo_pf_state state, enum octo_pf_event event)
{
	return &table[event][state];
}
