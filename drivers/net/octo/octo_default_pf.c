/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The default-PF rule, in tier exact. Packets that match no rule go to the NIC's default PF,
 * even if that PF has no link, recovers, drains, or is back and not started. No API tells which
 * PF that is, so while any PF that may be the default is unusable, a catch-all rule of lowest
 * priority leads to a usable one. The rule is installed and removed behind a fence, so the
 * order is kept whichever PF packets came by.
 */

#include <errno.h>

#include "octo_clock.h"
#include "octo_flow_build.h"
#include "octo_private.h"

/*
 * Below the rules of flows. Two priorities, used alternately: the new rule is installed before
 * the old one is removed.
 */
#define PRIORITY 6

/*
 * How long to wait for fences, which close soon unless nothing polls: then no consumer can see
 * packets out of order.
 */
#define PATIENCE_MS 1000
/* The same, where packets are lost meanwhile. */
#define HURRY_MS 2
/* Added to the grace time, for consumers to close their fences while no new ones can be armed. */
#define CLOSE_US 50
#define LOOK_US 5

#define RETRY_MS 1000
/* Learned rules that may be evicted to make room for this one. */
#define MAKE_ROOM_TRIES 4

static bool
is_started(const struct octo_dev *octo, uint8_t pf)
{
	return octo_port_is(&octo->port[pf], OCTO_PORT_RUNNING) && !octo_port_is_joining(octo, pf);
}

/* Unusable PFs that are present or may be soon: the NIC may send to them before they start. */
static uint32_t
useless_pfs(const struct octo_dev *octo)
{
	uint32_t pfs = 0;

	for (uint16_t i = 0; i < octo->nb_ports; i++)
		if (octo->port[i].has_port || octo->replug.on)
			pfs |= RTE_BIT32(i);
	/* slices have no switch, and share their port's fate */
	return octo->sliced ? 0 : pfs & ~octo->plan.usable;
}

/* A PF that is present and was never started is not the NIC's default PF so far. */
static bool
must_begin(const struct octo_dev *octo, uint32_t useless)
{
	for (uint8_t i = 0; i < octo->nb_ports; i++)
		if ((useless & RTE_BIT32(i)) && (!octo->port[i].has_port || is_started(octo, i) ||
						 octo->port[i].fsm.state == OCTO_PORT_RECOVERING))
			return true;
	return false;
}

/* Does the NIC send to an unusable PF that drops packets? It does not send to absent PFs. */
static bool
is_urgent(const struct octo_dev *octo, uint32_t useless)
{
	for (uint8_t i = 0; i < octo->nb_ports; i++) {
		const struct octo_port *port = &octo->port[i];

		if ((useless & RTE_BIT32(i)) &&
		    (port->fsm.state == OCTO_PORT_RECOVERING ||
		     (port->fsm.state == OCTO_PORT_RUNNING && !port->link_up)))
			return true;
	}
	return false;
}

static struct rte_flow *
flow_of(const struct octo_dev *octo)
{
	const struct octo_default_pf *d = &octo->default_pf;

	return octo_port_object(&octo->port[d->proxy], &d->flow);
}

static bool
leads_to(const struct octo_dev *octo, uint8_t pf)
{
	const struct octo_default_pf *d = &octo->default_pf;

	return flow_of(octo) != NULL && d->pf == pf && d->pf_life == octo->port[pf].fsm.life &&
	       d->dialect == octo->dialects.now;
}

/* The current target is kept as long as it is usable. */
static uint8_t
wanted_pf(const struct octo_dev *octo)
{
	const struct octo_default_pf *d = &octo->default_pf;
	const uint32_t usable = octo->plan.usable;

	return leads_to(octo, d->pf) && (usable & RTE_BIT32(d->pf)) ?
		       d->pf :
		       (uint8_t)__builtin_ctz(usable);
}

/* Must the caller wait until this leg, or with OCTO_NO_PF any leg, can be held? */
static bool
must_wait(struct octo_dev *octo, uint8_t leg, unsigned int patience_ms)
{
	const uint64_t end = octo_deadline(octo->fences.settings.grace_us + CLOSE_US);
	struct octo_default_pf *d = &octo->default_pf;
	bool free = octo_fence_can_hold_leg_locked(octo, leg);

	while (!free && octo_gate_before(octo_now(), end)) {
		octo_sleep_us(LOOK_US);
		free = octo_fence_can_hold_leg_locked(octo, leg);
	}
	if (octo_must_wait(&d->patient_until, free, patience_ms * 1000))
		return true;
	d->patient_until = 0;
	return false;
}

static void
destroy(struct octo_dev *octo)
{
	struct octo_default_pf *d = &octo->default_pf;
	struct rte_flow *flow = flow_of(octo);

	if (flow != NULL)
		rte_flow_destroy(octo_port_usable_id(&octo->port[d->proxy]), flow, NULL);
	d->flow = (struct octo_handle){0};
}

/* The default-PF rule serves more flows than a learned rule does, which may be evicted for it. */
static struct rte_flow *
create_flow(struct octo_dev *octo, uint16_t proxy, const struct octo_flow_rule *r,
	    struct rte_flow_error *error)
{
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
	struct octo_default_pf *d = &octo->default_pf;
	const uint8_t index = octo->proxy;
	const struct octo_port *proxy = &octo->port[index];
	const uint32_t life = proxy->fsm.life;
	const uint32_t pf_life = octo->port[pf].fsm.life;
	const uint8_t turn = d->turn ^ 1;
	struct octo_flow_rule r;
	struct rte_flow *flow;

	octo_flow_build_transfer(&r, octo->dialects.now, NULL, PRIORITY + turn, proxy->port_id,
				 octo->port[pf].port_id, false);
	flow = create_flow(octo, proxy->port_id, &r, error);
	if (flow == NULL && flow_of(octo) != NULL) {
		/* a full table, or a switch of few priorities, has no room for both */
		destroy(octo);
		flow = create_flow(octo, proxy->port_id, &r, error);
	}
	if (flow == NULL)
		return octo_flow_blame(proxy, -rte_errno, error);
	destroy(octo);
	d->flow = octo_handle_make(flow, life);
	d->pf_life = pf_life;
	d->pf = pf;
	d->proxy = index;
	d->dialect = octo->dialects.now;
	d->turn = turn;
	d->installed++;
	return 0;
}

static void
log_result(struct octo_dev *octo, uint8_t pf, int ret, const struct rte_flow_error *error)
{
	struct octo_default_pf *d = &octo->default_pf;

	if (ret == 0) {
		OCTO_LOG(NOTICE, "port %u: packets without a rule come by PF %s now", octo->port_id,
			 octo->port[pf].name);
	} else if (!d->logged) {
		OCTO_LOG(WARNING, "port %u: packets without a rule cannot be led to PF %s yet: %s",
			 octo->port_id, octo->port[pf].name,
			 error->message != NULL ? error->message : rte_strerror(-ret));
	}
	d->logged = ret != 0;
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
	log_result(octo, pf, ret, &error);
}

/* From then on only the NIC knows by which PF packets come. */
static void
end(struct octo_dev *octo)
{
	for (uint16_t i = 0; i < octo_data(octo)->nb_rx_queues; i++)
		octo_fence_arm_away_locked(octo, i, octo->default_pf.pf);
	destroy(octo);
	octo_fence_flipped_all_locked(octo);
	OCTO_LOG(NOTICE, "port %u: packets without a rule come by the NIC's default PF again",
		 octo->port_id);
}

/*
 * Called by the control thread, often, and by the handler of a PF's loss. Flows that are being
 * rehomed go first, if nothing is urgent: a fence armed here would be in their way.
 */
void
octo_default_pf_follow_locked(struct octo_dev *octo, bool flows_go)
{
	const uint32_t useless = useless_pfs(octo);
	const bool urgent = is_urgent(octo, useless);
	struct octo_default_pf *d = &octo->default_pf;
	uint8_t pf;

	if (octo->agent != NULL || octo->tier != OCTO_TIER_EXACT ||
	    octo_mpfs_switch_dialect(octo)->from == RTE_FLOW_ITEM_TYPE_END) {
		octo_default_pf_stop_locked(octo);
		return;
	}
	d->on = useless != 0 && (d->on || must_begin(octo, useless));
	/* another transfer proxy PF may come soon */
	if (octo->proxy == OCTO_NO_PF || (flows_go && !urgent))
		return;
	if (!d->on) {
		if (flow_of(octo) != NULL && !must_wait(octo, OCTO_NO_PF, PATIENCE_MS))
			end(octo);
		return;
	}
	pf = wanted_pf(octo);
	if (!leads_to(octo, pf) && octo_now() >= d->retry_at &&
	    !must_wait(octo, pf, urgent ? HURRY_MS : PATIENCE_MS))
		begin(octo, pf);
}

/* The PF that the default-PF rule leads to, or OCTO_NO_PF if there is no such rule. */
uint8_t
octo_default_pf_target(const struct octo_dev *octo)
{
	return leads_to(octo, octo->default_pf.pf) ? octo->default_pf.pf : OCTO_NO_PF;
}

/* Will packets that match no rule come by another PF soon? */
bool
octo_default_pf_is_due_locked(const struct octo_dev *octo)
{
	const struct octo_default_pf *d = &octo->default_pf;

	return d->on && !d->logged && !leads_to(octo, wanted_pf(octo));
}

void
octo_default_pf_stop_locked(struct octo_dev *octo)
{
	struct octo_default_pf *d = &octo->default_pf;

	destroy(octo);
	d->on = false;
	d->logged = false;
	d->retry_at = 0;
	d->patient_until = 0;
}
