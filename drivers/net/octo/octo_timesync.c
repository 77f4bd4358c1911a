/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include "octo_clock.h"
#include "octo_private.h"

/* Above the catch-alls; other rules match IP only. */
#define PRIORITY 4

#define RETRY_MS 1000

static uint8_t
clock_of(const struct octo_dev *octo)
{
	/* pairs with the release in set_clock(): timesync is enabled on it */
	return rte_atomic_load_explicit(&octo->timesync.clock, rte_memory_order_acquire);
}

static bool
is_a_pf(uint8_t clock)
{
	return clock != OCTO_TIMESYNC_OFF && clock != OCTO_TIMESYNC_LOST;
}

static void
set_clock(struct octo_dev *octo, uint8_t clock)
{
	rte_atomic_store_explicit(&octo->timesync.clock, clock, rte_memory_order_release);
	octo->timesync.sends = octo->nb_ports > 1 && is_a_pf(clock) ? RTE_BIT32(clock - 1) : 0;
	if (octo->started)
		octo_topo_update(octo);
}

static bool
is_usable(const struct octo_dev *octo, uint8_t port)
{
	return octo_port_is(&octo->port[port], OCTO_PORT_RUNNING) &&
	       (octo->plan.usable & octo_port_pfs(octo, port)) != 0;
}

/* Is the clock PF the port that it was, and usable? */
static bool
has_clock(const struct octo_dev *octo)
{
	const uint8_t clock = clock_of(octo);

	return is_a_pf(clock) && octo->port[clock - 1].fsm.life == octo->timesync.life &&
	       is_usable(octo, clock - 1);
}

/* The clock PF goes: its timestamps mean nothing any more. */
static void
drop_clock(struct octo_dev *octo, uint8_t then)
{
	const uint8_t clock = clock_of(octo);

	set_clock(octo, then);
	if (is_a_pf(clock) && octo->port[clock - 1].fsm.life == octo->timesync.life &&
	    octo_port_is(&octo->port[clock - 1], OCTO_PORT_IDLE))
		rte_eth_timesync_disable(octo->port[clock - 1].port_id);
}

/*
 * Enable timesync on the first usable PF that can. Returns its index, or the first error but for
 * that of a PF without timesync.
 */
static int
enable_first(struct octo_dev *octo)
{
	int first_error = -ENOTSUP;
	int i, ret;

	OCTO_FOREACH_PORT(octo, i, OCTO_PORT_RUNNING) {
		if (!is_usable(octo, (uint8_t)i))
			continue;
		octo->timesync.life = octo->port[i].fsm.life;
		ret = rte_eth_timesync_enable(octo->port[i].port_id);
		if (ret == 0)
			return i;
		if (first_error == -ENOTSUP)
			first_error = ret;
	}
	return first_error;
}

/* Lead PTP frames to this PF. With a single port they all come by that. */
static int
lead_to(struct octo_dev *octo, uint8_t pf, struct rte_flow_error *error)
{
	struct octo_pf_way *rule = &octo->timesync.rule;

	if (octo->nb_ports == 1)
		return 0;
	if (octo->agent != NULL)
		return octo_flow_fail(error, ENOTSUP, "an agent takes rules of 5-tuples only");
	if (!octo_tier_has_mpfs(octo->tier))
		return octo_flow_fail(error, ENOTSUP, "in this tier no rules choose the PF");
	if (!octo_pf_way_is_possible(octo))
		return octo_flow_fail(error, ENOTSUP,
				      "its rules have no port item, so one would match what PFs "
				      "send, too");
	if (octo_pf_way_leads_to(octo, rule, pf))
		return 0;
	if (octo->proxy == OCTO_NO_PF)
		return octo_flow_fail(error, EAGAIN, "no PF takes its rules now");
	return octo_pf_way_lead_locked(octo, rule, RTE_ETHER_TYPE_1588, PRIORITY, pf, error);
}

/* Make the first usable PF that has a clock the clock PF. */
static int
seek_clock(struct octo_dev *octo, struct rte_flow_error *error)
{
	int pf, ret;

	pf = enable_first(octo);
	if (pf < 0) {
		error->message = pf == -ENOTSUP ? "no PF has timesync" :
						  "a PF failed to enable timesync";
		return pf;
	}
	ret = lead_to(octo, (uint8_t)pf, error);
	if (ret != 0) {
		rte_eth_timesync_disable(octo->port[pf].port_id);
		return ret;
	}
	set_clock(octo, (uint8_t)pf + 1);
	OCTO_LOG(NOTICE, "port %u: PF %s is the clock PF, by which PTP comes and goes",
		 octo->port_id, octo->port[pf].name);
	return 0;
}

static void
log_refusal(const struct octo_dev *octo, int ret, const struct rte_flow_error *error)
{
	OCTO_LOG(ERR,
		 "port %u: no clock PF for timesync, to which a rule of the NIC's switch must lead "
		 "PTP: %s",
		 octo->port_id, error->message != NULL ? error->message : rte_strerror(-ret));
}

/* A rule that cannot lead to the clock PF any more takes it away, too: frames would miss it. */
void
octo_timesync_follow_locked(struct octo_dev *octo)
{
	struct octo_timesync *t = &octo->timesync;
	struct rte_flow_error error = {.message = NULL};
	const uint8_t clock = clock_of(octo);
	int ret;

	if (clock == OCTO_TIMESYNC_OFF)
		return;
	if (has_clock(octo)) {
		ret = lead_to(octo, clock - 1, &error);
		/* another transfer proxy PF may come soon */
		if (ret == 0 || ret == -EAGAIN)
			return;
	}
	if (clock != OCTO_TIMESYNC_LOST)
		drop_clock(octo, OCTO_TIMESYNC_LOST);
	if (octo_now() < t->retry_at)
		return;
	ret = seek_clock(octo, &error);
	if (ret == 0) {
		t->retry_at = 0;
		return;
	}
	octo_pf_way_destroy_locked(octo, &t->rule);
	if (t->retry_at == 0)
		log_refusal(octo, ret, &error);
	t->retry_at = octo_deadline(RETRY_MS * 1000);
}

void
octo_timesync_stop_locked(struct octo_dev *octo)
{
	drop_clock(octo, OCTO_TIMESYNC_OFF);
	octo_pf_way_destroy_locked(octo, &octo->timesync.rule);
	octo->timesync.retry_at = 0;
}

static int
enable_locked(struct octo_dev *octo)
{
	struct rte_flow_error error = {.message = NULL};
	int ret;

	if (!octo->started) {
		OCTO_LOG(ERR, "port %u: start the port before timesync is enabled", octo->port_id);
		return -EINVAL;
	}
	if (clock_of(octo) != OCTO_TIMESYNC_OFF)
		return 0;
	ret = seek_clock(octo, &error);
	if (ret != 0)
		log_refusal(octo, ret, &error);
	return ret;
}

int
octo_timesync_enable(struct rte_eth_dev *dev)
{
	struct octo_dev *octo = octo_of(dev);

	if (!octo_is_primary(octo, "enable timesync"))
		return -ENOTSUP;
	return OCTO_LOCKED(octo, enable_locked(octo));
}

int
octo_timesync_disable(struct rte_eth_dev *dev)
{
	struct octo_dev *octo = octo_of(dev);

	if (!octo_is_primary(octo, "disable timesync"))
		return -ENOTSUP;
	octo_lock(octo);
	octo_timesync_stop_locked(octo);
	octo_unlock(octo);
	return 0;
}

struct octo_wire_turn
octo_timesync_turn(struct rte_eth_dev *dev)
{
	const uint8_t clock = clock_of(octo_of(dev));
	struct octo_wire_turn turn = octo_wire_turn(dev);

	if (clock == OCTO_TIMESYNC_LOST) {
		turn.end = 0;
	} else if (clock != OCTO_TIMESYNC_OFF) {
		turn.next = clock - 1;
		turn.end = clock;
	}
	return turn;
}

int
octo_timesync_read_rx(struct rte_eth_dev *dev, struct timespec *time, uint32_t flags)
{
	return OCTO_WIRE_ASK(octo_timesync_turn(dev),
			     rte_eth_timesync_read_rx_timestamp(pf_port_id, time, flags));
}

int
octo_timesync_read_tx(struct rte_eth_dev *dev, struct timespec *time)
{
	return OCTO_WIRE_ASK(octo_timesync_turn(dev),
			     rte_eth_timesync_read_tx_timestamp(pf_port_id, time));
}

int
octo_timesync_adjust_time(struct rte_eth_dev *dev, int64_t ns)
{
	return OCTO_WIRE_ASK(octo_timesync_turn(dev), rte_eth_timesync_adjust_time(pf_port_id, ns));
}

int
octo_timesync_read_time(struct rte_eth_dev *dev, struct timespec *time)
{
	return OCTO_WIRE_ASK(octo_timesync_turn(dev), rte_eth_timesync_read_time(pf_port_id, time));
}

int
octo_timesync_write_time(struct rte_eth_dev *dev, const struct timespec *time)
{
	return OCTO_WIRE_ASK(octo_timesync_turn(dev),
			     rte_eth_timesync_write_time(pf_port_id, time));
}

int
octo_read_clock(struct rte_eth_dev *dev, uint64_t *clock)
{
	return OCTO_WIRE_ASK(octo_timesync_turn(dev), rte_eth_read_clock(pf_port_id, clock));
}
