/* SPDX-License-Identifier: BSD-3-Clause */

/* Events that the octo port raises. */

#include <rte_alarm.h>

#include "octo_clock.h"
#include "octo_private.h"

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
 * Raise an event of the port in EAL's interrupt thread, as a PMD with real interrupts does.
 * The application may stop or close the port in its callback; both join the control thread,
 * so it cannot run the callback itself.
 */
void
octo_raise(struct octo_dev *octo, enum rte_eth_event_type event)
{
	struct rte_eth_dev *dev = &rte_eth_devices[octo->port_id];
	int ret = octo_alarm_set(1, raiser_of(event), dev);

	if (ret != 0)
		OCTO_LOG(ERR, "port %u: event %d cannot be raised: %s", octo->port_id, event,
			 rte_strerror(-ret));
}

/* Cancel events that are still to be raised. None is raised after this returns. */
void
octo_raise_cancel(struct octo_dev *octo)
{
	rte_eal_alarm_cancel(raise_lsc, &rte_eth_devices[octo->port_id]);
	rte_eal_alarm_cancel(raise_rmv, &rte_eth_devices[octo->port_id]);
	rte_eal_alarm_cancel(raise_aged, &rte_eth_devices[octo->port_id]);
}
