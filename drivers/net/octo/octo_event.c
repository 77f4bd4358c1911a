/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Events: what the PFs raise, and what the port raises itself.
 *
 * ethdev keeps callbacks by port id, also when the port is gone and the id is
 * given to another device. So there is one callback for all ports, for the life
 * of the process, and the registry tells whether a port is a PF of ours.
 */

#include <errno.h>

#include <rte_alarm.h>

#include "octo_private.h"

static int
index_of(const struct octo_dev *octo, uint16_t pf_port_id)
{
	int i;

	OCTO_FOREACH_PF(octo, i, OCTO_PF_OWNED) {
		if (octo->pf[i].port_id == pf_port_id)
			return i;
	}
	return -1;
}

/* The port is freed when a removal event returns, so this does not wait for a thread. */
static void
take_away(struct octo_dev *octo, uint16_t pf_port_id, enum rte_eth_event_type event)
{
	bool link_changed = false;
	bool last = false;
	uint64_t cpu_ns;
	int i;

	octo_lock(octo);
	cpu_ns = octo_failover_cpu_ns();
	i = index_of(octo, pf_port_id);
	if (i >= 0) {
		/* DESTROY comes when the PMD has closed the port already */
		if (event == RTE_ETH_EVENT_INTR_RMV)
			octo_stats_keep(octo, (uint8_t)i);
		octo_pf_take_away(octo, (uint8_t)i);
		last = octo_pf_first(octo, OCTO_PF_OWNED) < 0;
		/* the link is as it is before anybody hears of the removal */
		link_changed = octo->started && octo_link_refresh(octo);
		octo->failover.cpu_ns += octo_failover_cpu_ns() - cpu_ns;
	}
	octo_unlock(octo);
	octo_ctrl_post_link(octo);
	if (link_changed)
		octo_event_raise(octo, RTE_ETH_EVENT_INTR_LSC);
	if (last)
		octo_event_raise(octo, RTE_ETH_EVENT_INTR_RMV);
}

/* In the thread that raises the event. */
static int
on_event(uint16_t port_id, enum rte_eth_event_type event, void *arg, void *ret_param)
{
	struct octo_dev *octo = octo_registry_get_by_pf(port_id);

	RTE_SET_USED(arg);
	RTE_SET_USED(ret_param);
	if (octo == NULL)
		return 0;
	if (event == RTE_ETH_EVENT_INTR_LSC)
		octo_ctrl_post_link(octo);
	else if (event == RTE_ETH_EVENT_FLOW_AGED)
		octo_event_raise(octo, event);
	else
		take_away(octo, port_id, event);
	octo_registry_put();
	return 0;
}

int
octo_event_init(void)
{
	static const enum rte_eth_event_type watched[] = {
		RTE_ETH_EVENT_INTR_LSC,
		RTE_ETH_EVENT_INTR_RMV,
		RTE_ETH_EVENT_DESTROY,
		RTE_ETH_EVENT_FLOW_AGED,
	};
	static bool done;

	for (unsigned int i = 0; !done && i < RTE_DIM(watched); i++) {
		int ret = rte_eth_dev_callback_register(RTE_ETH_ALL, watched[i], on_event, NULL);

		if (ret != 0)
			return ret;
	}
	done = true;
	return 0;
}

static void
raise_lsc(void *arg)
{
	rte_eth_dev_callback_process(arg, RTE_ETH_EVENT_INTR_LSC, NULL);
}

static void
raise_rmv(void *arg)
{
	rte_eth_dev_callback_process(arg, RTE_ETH_EVENT_INTR_RMV, NULL);
}

static void
raise_aged(void *arg)
{
	rte_eth_dev_callback_process(arg, RTE_ETH_EVENT_FLOW_AGED, NULL);
}

static rte_eal_alarm_callback
raiser_of(enum rte_eth_event_type event)
{
	switch (event) {
	case RTE_ETH_EVENT_INTR_LSC:
		return raise_lsc;
	case RTE_ETH_EVENT_FLOW_AGED:
		return raise_aged;
	default:
		return raise_rmv;
	}
}

/*
 * Raise an event of the port in EAL's interrupt thread, as a PMD with real
 * interrupts does: the application may stop or close the port in its callback,
 * which the control thread could not survive.
 */
void
octo_event_raise(struct octo_dev *octo, enum rte_eth_event_type event)
{
	struct rte_eth_dev *dev = &rte_eth_devices[octo->port_id];
	int ret = rte_eal_alarm_set(1, raiser_of(event), dev);

	if (ret != 0)
		OCTO_LOG(ERR, "port %u: event %d cannot be raised: %s", octo->port_id, event,
			 rte_strerror(-ret));
}

/* No event of the port is raised any more when this returns. */
void
octo_event_cancel(struct octo_dev *octo)
{
	rte_eal_alarm_cancel(raise_lsc, &rte_eth_devices[octo->port_id]);
	rte_eal_alarm_cancel(raise_rmv, &rte_eth_devices[octo->port_id]);
	rte_eal_alarm_cancel(raise_aged, &rte_eth_devices[octo->port_id]);
}
