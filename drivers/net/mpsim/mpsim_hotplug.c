/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Removal and insertion of PFs. The device is removed in EAL's interrupt thread, as by a bus
 * that monitors its slots, so the thread that sets a fault holds no lock meanwhile.
 */

#include <errno.h>
#include <stdlib.h>

#include <rte_dev.h>
#include <rte_devargs.h>

#include "octo_clock.h"
#include "mpsim.h"
#include "mpsim_tx_ring.h"

/** A device that was removed, or is about to be. */
struct slot {
	TAILQ_ENTRY(slot) list;
	struct mpsim_nic *nic; /* not freed as long as the slot is listed, or being filled */
	char name[RTE_ETH_NAME_MAX_LEN];
	bool going; /* the removal is announced: it cannot be probed any more */
	bool out;
	bool off; /* cancelled; the pending alarm frees the slot */
	enum mpsim_removal how;
	bool probe; /* probe it when it is in again */
	uint32_t us;
	char args[]; /* devargs for the probe */
};

/** An event to be raised. */
struct event {
	char name[RTE_ETH_NAME_MAX_LEN];
	int type;
};

/* under the control lock */
static TAILQ_HEAD(, slot) slots = TAILQ_HEAD_INITIALIZER(slots);

static struct slot *
find_slot(const char *name)
{
	struct slot *s;

	TAILQ_FOREACH(s, &slots, list)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}

bool
mpsim_hotplug_is_out(const char *name)
{
	const struct slot *s;
	bool out;

	mpsim_control_lock();
	s = find_slot(name);
	out = s != NULL && (s->going || s->out);
	mpsim_control_unlock();
	return out;
}

static void
raise_event(const char *name, enum rte_eth_event_type type)
{
	uint16_t port;

	/* the port may be gone by now */
	if (rte_eth_dev_get_port_by_name(name, &port) != 0 || !mpsim_tell_begin(port))
		return;
	rte_eth_dev_callback_process(&rte_eth_devices[port], type, NULL);
	mpsim_tell_end();
}

/* Is the removal still wanted? If not, *s is freed. */
static bool
is_on(struct slot *s, bool out)
{
	bool off;

	mpsim_control_lock();
	off = s->off;
	s->out = out;
	mpsim_control_unlock();
	if (off)
		free(s);
	return !off;
}

static void
pull_out(void *arg)
{
	struct slot *s = arg;
	int ret;

	if (!is_on(s, true))
		return;
	if (s->how == MPSIM_REMOVAL_SURPRISE)
		rte_dev_event_callback_process(s->name, RTE_DEV_EVENT_REMOVE);
	ret = rte_eal_hotplug_remove("vdev", s->name);
	/* an event callback removed it, or is about to: it is gone, or has no driver */
	if (ret != 0 && ret != -EINVAL && ret != -ENOENT && ret != -EBUSY)
		MPSIM_LOG(ERR, s->name, "the device cannot be removed: %s", rte_strerror(-ret));
}

static void
set_going(struct slot *s)
{
	mpsim_control_lock();
	s->going = true;
	mpsim_control_unlock();
}

static void
announce(void *arg)
{
	struct slot *s = arg;

	if (!is_on(s, false))
		return;
	set_going(s);
	raise_event(s->name, RTE_ETH_EVENT_INTR_RMV);
	octo_alarm_set(RTE_MAX(s->us, 1u), pull_out, s);
}

/* Control lock held. */
static struct slot *
slot_create(struct mpsim_nic *nic, const char *name, const char *args)
{
	struct slot *s = calloc(1, sizeof(*s) + strlen(args) + 1);

	if (s == NULL)
		return NULL;
	s->nic = nic;
	nic->held++;
	strlcpy(s->name, name, sizeof(s->name));
	memcpy(s->args, args, strlen(args) + 1);
	return s;
}

/* The NIC ends with its last PF. Control lock held. */
static void
let_go(struct slot *s)
{
	s->nic->held--;
	mpsim_nic_put(s->nic);
}

/* Make the device dead: it does not answer any more. */
static void
kill_pf(struct mpsim_pf *pf)
{
	mpsim_tx_ring_set_stuck(pf, true);
	mpsim_nic_lock(pf->nic);
	pf->mute = MPSIM_MUTE_DEAD;
	pf->unplugged = true;
	pf->nic->stats.lost += mpsim_pipe_drop(&pf->pipe, NULL);
	mpsim_nic_unlock(pf->nic);
}

int
mpsim_hotplug_remove(struct mpsim_pf *pf, enum mpsim_removal how, uint32_t us)
{
	const struct rte_devargs *da = rte_eth_devices[pf->port_id].device->devargs;
	struct slot *s;
	int ret;

	if (find_slot(pf->data->name) != NULL)
		return -EBUSY;
	s = slot_create(pf->nic, pf->data->name, da == NULL || da->args == NULL ? "" : da->args);
	if (s == NULL)
		return -ENOMEM;
	s->how = how;
	s->us = us;
	TAILQ_INSERT_TAIL(&slots, s, list);
	ret = how == MPSIM_REMOVAL_SURPRISE ? octo_alarm_set(RTE_MAX(us, 1u), pull_out, s) :
					      octo_alarm_set(1, announce, s);
	if (ret == 0 && how == MPSIM_REMOVAL_SURPRISE)
		kill_pf(pf);
	if (ret != 0) {
		TAILQ_REMOVE(&slots, s, list);
		let_go(s);
		free(s);
	}
	return ret;
}

/* Cancel the removal. Its alarm frees the slot. */
static void
call_off(struct slot *s)
{
	TAILQ_REMOVE(&slots, s, list);
	s->off = true;
	let_go(s);
}

void
mpsim_hotplug_call_off(const char *name)
{
	struct slot *s;

	mpsim_control_lock();
	s = find_slot(name);
	if (s != NULL && !s->out)
		call_off(s);
	mpsim_control_unlock();
}

void
mpsim_hotplug_released(const char *name)
{
	struct slot *s, *empty = NULL;

	mpsim_control_lock();
	s = find_slot(name);
	if (s != NULL && !s->out) {
		/* without a delay it is out once that is announced: its alarm may run late */
		if (s->going && (s->how == MPSIM_REMOVAL_EJECT || s->us == 0))
			empty = slot_create(s->nic, s->name, s->args);
		call_off(s);
	}
	if (empty != NULL) {
		empty->out = true;
		TAILQ_INSERT_TAIL(&slots, empty, list);
	}
	mpsim_control_unlock();
}

static void
put_in(void *arg)
{
	struct slot *s = arg;
	int ret = 0;

	rte_dev_event_callback_process(s->name, RTE_DEV_EVENT_ADD);
	if (s->probe)
		ret = rte_eal_hotplug_add("vdev", s->name, s->args);
	/* -EEXIST: an event callback has probed it already */
	if (ret != 0 && ret != -EEXIST)
		MPSIM_LOG(ERR, s->name, "the device cannot be probed: %s", rte_strerror(-ret));
	mpsim_control_lock();
	let_go(s);
	mpsim_control_unlock();
	free(s);
}

int
mpsim_hotplug_insert(const char *name, bool probe)
{
	struct slot *s = find_slot(name);
	int ret;

	if (s == NULL)
		return -ENODEV;
	if (!s->out || rte_eth_dev_allocated(name) != NULL)
		return -EBUSY;
	s->probe = probe;
	/* the alarm owns the slot once it is set */
	TAILQ_REMOVE(&slots, s, list);
	ret = octo_alarm_set(1, put_in, s);
	if (ret != 0)
		TAILQ_INSERT_TAIL(&slots, s, list);
	return ret;
}

const char *
mpsim_hotplug_next(const char *name, bool *out)
{
	const struct slot *s = name == NULL ? TAILQ_FIRST(&slots) :
					      TAILQ_NEXT(find_slot(name), list);

	if (s == NULL)
		return NULL;
	*out = s->out;
	return s->name;
}

static void
raise_later(void *arg)
{
	struct event *e = arg;

	raise_event(e->name, (enum rte_eth_event_type)e->type);
	free(e);
}

int
mpsim_hotplug_raise(const char *name, int type)
{
	struct event *e = malloc(sizeof(*e));
	int ret;

	if (e == NULL)
		return -ENOMEM;
	strlcpy(e->name, name, sizeof(e->name));
	e->type = type;
	ret = octo_alarm_set(1, raise_later, e);
	if (ret != 0)
		free(e);
	return ret;
}
