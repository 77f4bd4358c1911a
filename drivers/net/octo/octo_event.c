/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Events raised by PFs and devices.
 *
 * ethdev keeps callbacks by port id, even after the port is gone and the id was given to
 * another device. So one callback is registered for all ports, for the life of the process, and
 * the registry tells whether a port is an octo port's PF.
 */

#include <errno.h>

#include <rte_dev.h>
#include <rte_string_fns.h>

#include "octo_clock.h"
#include "octo_peers.h"
#include "octo_private.h"
#include "octo_rx_intr.h"

/* The PF's removal is announced: it is drained if it works, and lost at once if not. */
static void
remove_pf(struct octo_dev *octo, uint16_t pf_port_id)
{
	bool leaves = false;
	int i;

	if (octo_lock_in_time(octo)) {
		i = octo_loss_index(octo, pf_port_id);
		leaves = i >= 0 && octo_drain_begin_locked(octo, (uint8_t)i);
		octo_unlock(octo);
	}
	if (!leaves)
		octo_loss_by_event(octo, pf_port_id, RTE_ETH_EVENT_INTR_RMV);
}

/* A new port: take ownership before the application can see it. */
static void
claim(struct octo_dev *octo, const void *what)
{
	const uint16_t port_id = *(const uint16_t *)what;
	struct rte_eth_dev_owner owner = {.id = octo->owner_id};

	if (!octo->replug.on)
		return;
	rte_strscpy(owner.name, octo_data(octo)->name, sizeof(owner.name));
	for (uint16_t i = 0; i < octo->nb_ports; i++) {
		struct octo_port *port = &octo->port[i];

		if (port->has_port || octo_port_is(port, OCTO_PORT_IDLE) ||
		    !octo_registry_is_named(port, port_id))
			continue;
		rte_eth_dev_owner_set(port_id, &owner);
		octo_port_state_post(&port->mail, OCTO_PORT_EV_BORN);
	}
	octo_wake(octo);
}

/* A secondary that uses no queue does not see that a PF has joined. */
static void
end_removal(struct octo_dev *octo, const void *what)
{
	RTE_SET_USED(what);
	octo_legs_end_removal(octo);
}

/* A port was created. The creating thread may hold any lock: do not wait for octo's locks. */
static int
on_new(uint16_t port_id, enum rte_eth_event_type event, void *arg, void *ret_param)
{
	RTE_SET_USED(event);
	RTE_SET_USED(arg);
	RTE_SET_USED(ret_param);
	octo_legs_set_lost(port_id, false);
	if (rte_eal_process_type() == RTE_PROC_PRIMARY)
		octo_registry_foreach(claim, &port_id);
	else
		octo_registry_foreach(end_removal, NULL);
	if (octo_legs_borrowed)
		octo_rx_intr_gain();
	return 0;
}

/* Of a port that has not joined: its owner hears of it besides. */
static void
note_end(struct octo_dev *octo, const void *what)
{
	const uint16_t port_id = *(const uint16_t *)what;

	for (uint16_t i = 0; octo->replug.on && i < octo->nb_ports; i++) {
		struct octo_port *port = &octo->port[i];

		if (port->has_port || !octo_registry_is_named(port, port_id))
			continue;
		octo_port_state_post(&port->mail, OCTO_PORT_EV_DIED);
		octo_wake(octo);
	}
}

/* Called in the thread that raises the event. */
static int
on_event(uint16_t port_id, enum rte_eth_event_type event, void *arg, void *ret_param)
{
	struct octo_dev *octo = octo_registry_get_by_pf(port_id);

	RTE_SET_USED(arg);
	RTE_SET_USED(ret_param);
	/*
	 * In EAL's interrupt thread the primary has asked this process to detach the device. In
	 * another thread this process exits.
	 */
	if (event == RTE_ETH_EVENT_DESTROY && rte_thread_is_intr())
		octo_peers_lose_pf(port_id);
	if (event == RTE_ETH_EVENT_DESTROY && rte_eal_process_type() == RTE_PROC_PRIMARY)
		octo_registry_foreach(note_end, &port_id);
	if (octo == NULL)
		return 0;
	if (event == RTE_ETH_EVENT_INTR_LSC)
		octo_wake_link(octo);
	else if (event == RTE_ETH_EVENT_FLOW_AGED)
		octo_raise(octo, event);
	else if (!octo_lending_is_open(octo))
		octo_loss_note(octo, port_id, event);
	else if (event == RTE_ETH_EVENT_RECOVERY_SUCCESS)
		octo_loss_end_recovery(octo, port_id);
	else if (event == RTE_ETH_EVENT_INTR_RMV)
		remove_pf(octo, port_id);
	else
		octo_loss_by_event(octo, port_id, event);
	octo_registry_put();
	return 0;
}

struct device_event {
	const char *device;
	enum rte_dev_event_type type;
};

/* The bus removes a device from its slot, about which its PMD may raise no event. */
static void
notify_device(struct octo_dev *octo, const void *what)
{
	const struct device_event *e = what;

	if (!octo_lending_is_open(octo))
		return;
	for (uint16_t i = 0; i < octo->nb_ports; i++) {
		struct octo_port *port = &octo->port[i];

		if (strcmp(port->past.device, e->device) != 0 && strcmp(port->name, e->device) != 0)
			continue;
		if (e->type == RTE_DEV_EVENT_ADD && octo->replug.on) {
			octo_port_state_post(&port->mail, OCTO_PORT_EV_ARRIVED);
			octo_wake(octo);
		}
		if (e->type == RTE_DEV_EVENT_REMOVE && port->has_port)
			remove_pf(octo, port->port_id);
	}
}

static void
on_device(const char *device, enum rte_dev_event_type type, void *arg)
{
	const struct device_event e = {.device = device, .type = type};

	RTE_SET_USED(arg);
	if (rte_eal_process_type() == RTE_PROC_PRIMARY)
		octo_registry_foreach(notify_device, &e);
}

int
octo_event_init(void)
{
	static const enum rte_eth_event_type watched[] = {
		RTE_ETH_EVENT_INTR_LSC,        RTE_ETH_EVENT_INTR_RMV,
		RTE_ETH_EVENT_DESTROY,         RTE_ETH_EVENT_FLOW_AGED,
		RTE_ETH_EVENT_ERR_RECOVERING,  RTE_ETH_EVENT_RECOVERY_SUCCESS,
		RTE_ETH_EVENT_RECOVERY_FAILED, RTE_ETH_EVENT_INTR_RESET,
	};
	static bool done;

	if (done)
		return 0;
	if (rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, on_new, NULL) != 0 ||
	    rte_dev_event_callback_register(NULL, on_device, NULL) != 0)
		return -ENOMEM;
	for (unsigned int i = 0; i < RTE_DIM(watched); i++) {
		int ret = rte_eth_dev_callback_register(RTE_ETH_ALL, watched[i], on_event, NULL);

		if (ret != 0)
			return ret;
	}
	/* without the monitor the port still polls for PFs */
	if (rte_eal_process_type() == RTE_PROC_PRIMARY && rte_dev_event_monitor_start() != 0)
		OCTO_LOG(NOTICE,
			 "the kernel's device events cannot be heard: PFs that are removed or "
			 "plugged are noticed later");
	done = true;
	return 0;
}
