/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Tier exact: what no rule leads goes where the NIC sends it by default, also if that PF
 * has no link, recovers, is to go, or is back and not started. Nobody tells which PF that
 * is, so while one is of no use that the NIC may send to, a rule for everything leads to
 * one that is, below all others. Behind a fence both ways, so that it does not matter where
 * packets came by.
 */

#include <errno.h>

#include "octo_clock.h"
#include "octo_flow_build.h"
#include "octo_private.h"

/* Below the rules of flows. Each one of two, in turn: the new is there before the old goes. */
#define PRIORITY 6

/* Fences close soon, unless nobody polls: then nobody is confused. */
#define PATIENCE_MS 1000
/* So long at most, where packets are lost meanwhile. */
#define HURRY_MS 2
/* Besides the grace time, for consumers to close theirs, while nobody can open others. */
#define CLOSE_US 50
#define LOOK_US 5

#define RETRY_MS 1000
/* Learned rules that go for this one, if they are of any help. */
#define MAKE_ROOM_TRIES 4

static bool
is_started(const struct octo_dev *octo, uint8_t pf)
{
	return octo_pf_is(&octo->pf[pf], OCTO_PF_STARTED) && !octo_pf_is_joining(octo, pf);
}

/* PFs of no use that are there, or may be soon: the NIC may send to them before they start. */
static uint32_t
useless_pfs(const struct octo_dev *octo)
{
	uint32_t pfs = 0;

	for (uint16_t i = 0; i < octo->nb_pfs; i++)
		if (octo->pf[i].has_port || octo->replug.on)
			pfs |= RTE_BIT32(i);
	return pfs & ~octo->plan.usable;
}

/* One that is there and was never started is nobody's default PF yet. */
static bool
must_begin(const struct octo_dev *octo, uint32_t useless)
{
	for (uint8_t i = 0; i < octo->nb_pfs; i++)
		if ((useless & RTE_BIT32(i)) &&
		    (!octo->pf[i].has_port || is_started(octo, i) || octo->pf[i].recovering))
			return true;
	return false;
}

/* Does the NIC send to one of them that drops packets? It knows of those that are gone. */
static bool
is_urgent(const struct octo_dev *octo, uint32_t useless)
{
	for (uint8_t i = 0; i < octo->nb_pfs; i++) {
		const struct octo_pf *pf = &octo->pf[i];

		if ((useless & RTE_BIT32(i)) &&
		    (pf->recovering || (pf->state == OCTO_PF_STARTED && !pf->link_up)))
			return true;
	}
	return false;
}

static bool
leads_to(const struct octo_detour *d, uint8_t pf)
{
	return d->flow != NULL && !d->stale && d->pf == pf;
}

/* It stays where it is as long as that is of use. */
static uint8_t
target(const struct octo_dev *octo)
{
	const struct octo_detour *d = &octo->detour;
	const uint32_t usable = octo->plan.usable;

	return leads_to(d, d->pf) && (usable & RTE_BIT32(d->pf)) ? d->pf :
								   (uint8_t)__builtin_ctz(usable);
}

/* This leg, or any, is to be held. */
static bool
must_wait(struct octo_dev *octo, uint8_t leg, unsigned int patience_ms)
{
	const uint64_t end = octo_deadline(octo->fences.settings.grace_us + CLOSE_US);
	struct octo_detour *d = &octo->detour;
	bool free = octo_fence_can_hold_leg_locked(octo, leg);

	while (!free && octo_gate_before(octo_now(), end)) {
		octo_sleep_us(LOOK_US);
		free = octo_fence_can_hold_leg_locked(octo, leg);
	}
	if (!free && d->patient_until == 0)
		d->patient_until = octo_deadline(patience_ms * 1000);
	if (!free && octo_gate_before(octo_now(), d->patient_until))
		return true;
	d->patient_until = 0;
	return false;
}

static void
destroy(struct octo_dev *octo)
{
	struct octo_detour *d = &octo->detour;

	if (d->flow != NULL)
		rte_flow_destroy(octo_pf_port(&octo->pf[d->manager]), d->flow, NULL);
	d->flow = NULL;
	d->stale = false;
}

/* It serves more flows than one that was learned. */
static struct rte_flow *
create(struct octo_dev *octo, const struct octo_flow_rule *r, struct rte_flow_error *error)
{
	const uint16_t proxy = octo_manager(octo)->port_id;
	struct rte_flow *flow = rte_flow_create(proxy, &r->attr, r->pattern, r->actions, error);

	for (unsigned int i = 0;
	     i < MAKE_ROOM_TRIES && flow == NULL && octo_rule_says_full(-rte_errno) &&
	     octo_hooks->make_room_locked(octo);
	     i++)
		flow = rte_flow_create(proxy, &r->attr, r->pattern, r->actions, error);
	return flow;
}

static int
lead_to(struct octo_dev *octo, uint8_t pf, struct rte_flow_error *error)
{
	struct octo_detour *d = &octo->detour;
	const uint8_t turn = d->turn ^ 1;
	struct octo_flow_rule r;
	struct rte_flow *flow;

	octo_flow_build_mpfs(&r, NULL, PRIORITY + turn, octo_manager(octo)->port_id,
			     octo->pf[pf].port_id, false);
	flow = create(octo, &r, error);
	if (flow == NULL && d->flow != NULL) {
		/* a full table, or one of few priorities, has no room for both */
		destroy(octo);
		flow = create(octo, &r, error);
	}
	if (flow == NULL)
		return octo_flow_blame(octo_manager(octo), -rte_errno, error);
	destroy(octo);
	d->flow = flow;
	d->pf = pf;
	d->manager = octo->manager;
	d->turn = turn;
	d->detours++;
	return 0;
}

static void
tell(struct octo_dev *octo, uint8_t pf, int ret, const struct rte_flow_error *error)
{
	struct octo_detour *d = &octo->detour;

	if (ret == 0) {
		OCTO_LOG(NOTICE, "port %u: what has no rule comes by PF %s now", octo->port_id,
			 octo->pf[pf].name);
	} else if (!d->told) {
		OCTO_LOG(WARNING, "port %u: what has no rule cannot be led to PF %s yet: %s",
			 octo->port_id, octo->pf[pf].name,
			 error->message != NULL ? error->message : rte_strerror(-ret));
	}
	d->told = ret != 0;
	d->refused += ret != 0;
	d->retry_at = ret != 0 ? octo_deadline(RETRY_MS * 1000) : 0;
}

static void
begin(struct octo_dev *octo, uint8_t pf)
{
	struct rte_flow_error error = {.message = NULL};
	int ret;

	octo_fence_hold_leg_locked(octo, pf);
	ret = lead_to(octo, pf, &error);
	octo_fence_flipped_all_locked(octo);
	tell(octo, pf, ret, &error);
}

/* By which PF packets come then only the NIC knows. */
static void
end(struct octo_dev *octo)
{
	for (uint16_t i = 0; i < octo_data(octo)->nb_rx_queues; i++)
		octo_fence_arm_away_locked(octo, i, octo->detour.pf);
	destroy(octo);
	octo_fence_flipped_all_locked(octo);
	OCTO_LOG(NOTICE, "port %u: what has no rule comes by the NIC's default PF again",
		 octo->port_id);
}

/*
 * By the control thread, often, and by who is told of a loss. Flows that are on their way
 * go first, if they can: a fence of ours would be in the way of theirs.
 */
void
octo_detour_follow_locked(struct octo_dev *octo, bool flows_go)
{
	const uint32_t useless = useless_pfs(octo);
	const bool urgent = is_urgent(octo, useless);
	struct octo_detour *d = &octo->detour;
	uint8_t pf;

	if (octo->agent != NULL || octo->tier != OCTO_TIER_EXACT) {
		octo_detour_stop_locked(octo);
		return;
	}
	d->on = useless != 0 && (d->on || must_begin(octo, useless));
	/* there may be another manager soon */
	if (octo->manager == OCTO_NO_PF || (flows_go && !urgent))
		return;
	if (!d->on) {
		if (d->flow != NULL && !must_wait(octo, OCTO_NO_PF, PATIENCE_MS))
			end(octo);
		return;
	}
	pf = target(octo);
	if (!leads_to(d, pf) && octo_now() >= d->retry_at &&
	    !must_wait(octo, pf, urgent ? HURRY_MS : PATIENCE_MS))
		begin(octo, pf);
}

/* Where what has no rule is led, OCTO_NO_PF if the NIC sends it where it likes. */
uint8_t
octo_detour_pf(const struct octo_dev *octo)
{
	return leads_to(&octo->detour, octo->detour.pf) ? octo->detour.pf : OCTO_NO_PF;
}

/* Will what has no rule come by another PF soon? */
bool
octo_detour_is_due_locked(const struct octo_dev *octo)
{
	const struct octo_detour *d = &octo->detour;

	return d->on && !d->told && !leads_to(d, target(octo));
}

/* It went with the PF that had it. */
void
octo_detour_forget_pf(struct octo_dev *octo, uint8_t pf)
{
	struct octo_detour *d = &octo->detour;

	if (d->manager == pf)
		d->flow = NULL;
	d->stale |= d->pf == pf;
}

void
octo_detour_stop_locked(struct octo_dev *octo)
{
	struct octo_detour *d = &octo->detour;

	destroy(octo);
	d->on = false;
	d->told = false;
	d->retry_at = 0;
	d->patient_until = 0;
}
