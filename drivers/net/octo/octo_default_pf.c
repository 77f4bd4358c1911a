/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The default-PF rule, in tier exact. Packets that match no rule go to the NIC's default PF,
 * even if that PF has no link, recovers, drains, or is back and not started. No API tells which
 * PF that is, so while any PF that may be the default is unusable, a catch-all rule of lowest
 * priority leads to a usable one. The rule is installed and removed behind a fence, so the
 * order is kept whichever PF packets came by.
 */

#include "octo_clock.h"
#include "octo_private.h"

/* Below the rules of flows. */
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

/*
 * The current target is kept as long as it is usable. OCTO_NO_PF: none is usable, as the last PF is
 * shut, and its loss not heard yet.
 */
static uint8_t
wanted_pf(const struct octo_dev *octo)
{
	const struct octo_default_pf *d = &octo->default_pf;
	const uint32_t usable = octo->plan.usable;

	if (octo_pf_way_leads_to(octo, &d->rule, d->rule.pf) && (usable & RTE_BIT32(d->rule.pf)))
		return d->rule.pf;
	return usable != 0 ? (uint8_t)__builtin_ctz(usable) : OCTO_NO_PF;
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
	d->installed += ret == 0;
	d->refused += ret != 0;
	d->retry_at = ret != 0 ? octo_deadline(RETRY_MS * 1000) : 0;
}

static void
begin(struct octo_dev *octo, uint8_t pf)
{
	struct rte_flow_error error = {.message = NULL};
	int ret;

	octo_fence_hold_leg_locked(octo, pf);
	ret = octo_pf_way_lead_locked(octo, &octo->default_pf.rule, 0, PRIORITY, pf, &error);
	octo_fence_flipped_all_locked(octo);
	log_result(octo, pf, ret, &error);
}

/* From then on only the NIC knows by which PF packets come. */
static void
end(struct octo_dev *octo)
{
	for (uint16_t i = 0; i < octo_data(octo)->nb_rx_queues; i++)
		octo_fence_arm_away_locked(octo, i, octo->default_pf.rule.pf);
	octo_pf_way_destroy_locked(octo, &octo->default_pf.rule);
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

	if (octo->tier != OCTO_TIER_EXACT || !octo_pf_way_is_possible(octo)) {
		octo_default_pf_stop_locked(octo);
		return;
	}
	d->on = useless != 0 && (d->on || must_begin(octo, useless));
	/* another transfer proxy PF may come soon */
	if (octo->proxy == OCTO_NO_PF || (flows_go && !urgent))
		return;
	if (!d->on) {
		if (octo_pf_way_exists(octo, &d->rule) && !must_wait(octo, OCTO_NO_PF, PATIENCE_MS))
			end(octo);
		return;
	}
	pf = wanted_pf(octo);
	if (pf != OCTO_NO_PF && !octo_pf_way_leads_to(octo, &d->rule, pf) &&
	    octo_now() >= d->retry_at && !must_wait(octo, pf, urgent ? HURRY_MS : PATIENCE_MS))
		begin(octo, pf);
}

/* The PF that the default-PF rule leads to, or OCTO_NO_PF if there is no such rule. */
uint8_t
octo_default_pf_target(const struct octo_dev *octo)
{
	const struct octo_pf_way *rule = &octo->default_pf.rule;

	return octo_pf_way_leads_to(octo, rule, rule->pf) ? rule->pf : OCTO_NO_PF;
}

/* Will packets that match no rule come by another PF soon? */
bool
octo_default_pf_is_due_locked(const struct octo_dev *octo)
{
	const struct octo_default_pf *d = &octo->default_pf;
	const uint8_t pf = wanted_pf(octo);

	return d->on && !d->logged && pf != OCTO_NO_PF && !octo_pf_way_leads_to(octo, &d->rule, pf);
}

void
octo_default_pf_stop_locked(struct octo_dev *octo)
{
	struct octo_default_pf *d = &octo->default_pf;

	octo_pf_way_destroy_locked(octo, &d->rule);
	d->on = false;
	d->logged = false;
	d->retry_at = 0;
	d->patient_until = 0;
}
