/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Hotplug requests. Devices of PFs that are gone are removed and probed in EAL's interrupt
 * thread, as EAL's list of devices may be changed by one thread at a time, and events of buses
 * are handled there. Only a start of the port, and a close by the application, wait for a
 * request: a bus may hold its lock while it removes the octo port, and other processes take
 * time to answer. So a request has copies of all it needs.
 */

#include <errno.h>
#include <stdlib.h>

#include "octo_clock.h"
#include "octo_private.h"

/*
 * Attempts that fail with -EEXIST before octo removes the device: another thread or process
 * that is creating its port has time to finish.
 */
#define MAX_EXISTS 3
/* EAL asks the other processes, which have five seconds to answer. */
#define MAX_AWAIT_MS 6000
#define AWAIT_LOOK_US 100
/* Open fences close within the grace time, unless nothing polls their queues. */
#define MAX_HOLD_MS 20

struct request {
	uint16_t port_id;      /* of the octo port, which may not exist any more */
	uint64_t owner_id;     /* identifies the octo port: owner ids are unique */
	uint8_t index;         /* of the PF */
	uint32_t action;       /* OCTO_PORT_DO_PROBE or OCTO_PORT_DO_REMOVE */
	uint64_t until;        /* TSC; end of the drain before an announced removal */
	struct octo_port port; /* copy made when the request was sent */
	char args[];
};

/*
 * Returns the port that sent the request, or NULL if it does not exist any more. Where not
 * NULL, octo_registry_put() must follow.
 */
static struct octo_dev *
sender(const struct request *r)
{
	struct octo_dev *octo = octo_registry_get(r->port_id);

	if (octo == NULL || octo->owner_id == r->owner_id)
		return octo;
	octo_registry_put();
	return NULL;
}

/* The meaning of the request's result for the state machine. */
static enum octo_port_event
answer_of(const struct request *r, int ret)
{
	if (r->action == OCTO_PORT_DO_REMOVE)
		return ret == 0      ? OCTO_PORT_EV_REMOVE_DONE :
		       ret == -EPERM ? OCTO_PORT_EV_NOT_OURS :
				       OCTO_PORT_EV_REMOVE_FAILED;
	if (ret == 0)
		return OCTO_PORT_EV_PROBE_DONE;
	if (ret == -EALREADY)
		return OCTO_PORT_EV_PROBE_FOUND;
	/* a missing device may appear at any time */
	return ret == -ENODEV || ret == -EAGAIN ? OCTO_PORT_EV_PROBE_NONE :
						  OCTO_PORT_EV_PROBE_FAILED;
}

/* Tell the port's state machine the result. */
static void
finish(struct octo_dev *octo, const struct request *r, int ret)
{
	struct octo_pf_past *past = &octo->port[r->index].past;

	octo_lock(octo);
	if (r->action == OCTO_PORT_DO_PROBE)
		past->exists = ret == -EEXIST ? past->exists + 1 : 0;
	octo_loss_answer_locked(octo, r->index, answer_of(r, ret), 0);
	/* pairs with the acquire in await() */
	rte_atomic_store_explicit(&past->under_way, false, rte_memory_order_release);
	octo_unlock(octo);
}

/* Returns whether the sender still exists. */
static bool
report(const struct request *r, int ret)
{
	struct octo_dev *octo = sender(r);

	if (octo == NULL)
		return false;
	finish(octo, r, ret);
	octo_wake(octo);
	octo_registry_put();
	return true;
}

/* The device is kept while another of its ports exists. */
static int
remove_device(const struct octo_port *port)
{
	const uint16_t port_id = port->has_port ? port->port_id : RTE_MAX_ETHPORTS;

	if (octo_lower_is_shared(port_id, port->past.bus, port->past.device))
		return -EBUSY;
	return rte_eal_hotplug_remove(port->past.bus, port->past.device);
}

/* Returns whether nothing is left to be held. */
static bool
try_to_hold(const struct request *r)
{
	struct octo_dev *octo = sender(r);
	bool done = true;

	if (octo == NULL)
		return true;
	octo_lock(octo);
	if (octo->started && octo->failover.seeking)
		done = octo_fence_hold_strays_locked(octo);
	octo_unlock(octo);
	octo_registry_put();
	return done;
}

/*
 * The switch rules go with their transfer proxy PF, until another PF has them. Strays are held
 * meanwhile. After an announced removal the time limit is what is left of the drain time.
 */
static void
hold_strays(const struct request *r)
{
	uint64_t end = octo_deadline(MAX_HOLD_MS * 1000);

	if (octo_gate_before(end, r->until))
		end = r->until;
	while (!try_to_hold(r) && octo_now() < end)
		octo_sleep_us(AWAIT_LOOK_US);
}

static void
let_strays_go(const struct request *r)
{
	struct octo_dev *octo = sender(r);

	if (octo == NULL)
		return;
	octo_lock(octo);
	octo_fence_let_strays_go_locked(octo);
	octo_unlock(octo);
	octo_registry_put();
}

/* The device may have been removed, or have another owner, since. */
static int
remove_port(const struct request *r)
{
	uint16_t port_id;
	int ret;

	if (!octo_attach_find(&r->port, &port_id))
		return 0;
	if (!octo_attach_is_ours(r->owner_id, &r->port))
		return -EPERM;
	hold_strays(r);
	ret = remove_device(&r->port);
	let_strays_go(r);
	return ret;
}

static int
probe(const struct request *r)
{
	const struct octo_port *port = &r->port;
	int ret = octo_attach_probe_again(port);
	uint16_t port_id;

	if (ret != -EEXIST)
		return ret;
	if (octo_attach_find(port, &port_id))
		return -EALREADY;
	/* the port was closed without its device being removed */
	if (port->past.device[0] != '\0' && port->past.exists + 1 >= MAX_EXISTS)
		ret = remove_device(port) == 0 ? -EAGAIN : -EEXIST;
	return ret;
}

static void
run(void *arg)
{
	struct request *r = arg;
	const struct octo_dev *octo = sender(r);
	int ret;

	if (octo != NULL) {
		octo_registry_put();
		ret = r->action == OCTO_PORT_DO_REMOVE ? remove_port(r) : probe(r);
		if (!report(r, ret) && ret == 0 && r->action == OCTO_PORT_DO_PROBE)
			octo_attach_abandon(&r->port);
	}
	free(r);
}

static void
await(const struct octo_port *port, uint64_t end)
{
	/* pairs with the release in finish(): the request is done with the bus */
	while (rte_atomic_load_explicit(&port->past.under_way, rte_memory_order_acquire) &&
	       octo_now() < end)
		octo_wait_us(AWAIT_LOOK_US);
}

/*
 * Send the request for OCTO_PORT_DO_PROBE or OCTO_PORT_DO_REMOVE. Called by the control thread,
 * without the mutex; a start of the port may pass wait=true.
 */
void
octo_hotplug_send(struct octo_dev *octo, uint8_t port, uint32_t action, bool wait)
{
	struct octo_port *p = &octo->port[port];
	const char *args = p->past.args == NULL ? "" : p->past.args;
	struct request *r = calloc(1, sizeof(*r) + strlen(args) + 1);
	const struct request failed = {.index = port, .action = action};

	if (r == NULL) {
		finish(octo, &failed, -ENOMEM);
		return;
	}
	*r = (struct request){
		.port_id = octo->port_id,
		.owner_id = octo->owner_id,
		.index = port,
		.action = action,
		.until = p->draining.until,
		.port = *p,
	};
	memcpy(r->args, args, strlen(args) + 1);
	r->port.past.args = r->args;
	rte_atomic_store_explicit(&p->past.under_way, true, rte_memory_order_release);
	if (wait && rte_thread_is_intr()) {
		run(r);
	} else if (octo_alarm_set(1, run, r) != 0) {
		finish(octo, r, -ENOMEM);
		free(r);
	}
	if (wait)
		await(p, octo_deadline(MAX_AWAIT_MS * 1000));
}

/*
 * Called by an application that closes the port, and so holds no bus lock; does nothing in the
 * interrupt thread, where requests are run.
 */
void
octo_hotplug_await(const struct octo_dev *octo)
{
	const uint64_t end = octo_deadline(MAX_AWAIT_MS * 1000);

	if (rte_eal_process_type() != RTE_PROC_PRIMARY || rte_thread_is_intr())
		return;
	for (uint16_t i = 0; i < octo->nb_ports; i++)
		await(&octo->port[i], end);
}
