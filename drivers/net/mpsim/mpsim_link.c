/* SPDX-License-Identifier: BSD-3-Clause */

#include "octo_clock.h"
#include "mpsim.h"

/* Interval of checks while a wire is down. */
#define WIRE_LOOK_US 100000

int
mpsim_link_update(struct rte_eth_dev *dev, int wait)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	struct rte_eth_link link = {
		.link_speed = RTE_ETH_SPEED_NUM_100G,
		.link_duplex = RTE_ETH_LINK_FULL_DUPLEX,
		.link_autoneg = RTE_ETH_LINK_FIXED,
	};
	int ret;

	RTE_SET_USED(wait);
	/* the wire is only known to the process that owns it */
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return 0;
	/*
	 * The interrupt thread updates the link, too: the last one to look must be the last one
	 * to store.
	 */
	rte_spinlock_lock(&pf->link_lock);
	link.link_status = pf->started && !pf->unplugged &&
			   rte_atomic_load_explicit(&pf->link_up, rte_memory_order_relaxed) &&
			   mpsim_wire_is_up(pf->nic);
	if (link.link_status == RTE_ETH_LINK_DOWN)
		link.link_speed = RTE_ETH_SPEED_NUM_NONE;
	ret = rte_eth_linkstatus_set(dev, &link);
	rte_spinlock_unlock(&pf->link_lock);
	return ret;
}

static void
update_and_tell(struct rte_eth_dev *dev)
{
	/* 0: the status has changed */
	if (mpsim_link_update(dev, 0) == 0)
		rte_eth_dev_callback_process(dev, RTE_ETH_EVENT_INTR_LSC, NULL);
}

void
mpsim_link_apply(struct mpsim_pf *pf)
{
	rte_spinlock_lock(&pf->link_lock);
	rte_atomic_store_explicit(&pf->link_up, !pf->link_down && !pf->faults.no_link,
				  rte_memory_order_relaxed);
	rte_spinlock_unlock(&pf->link_lock);
}

static int
set_link(struct rte_eth_dev *dev, bool up)
{
	struct mpsim_pf *pf = dev->data->dev_private;

	pf->link_down = !up;
	mpsim_link_apply(pf);
	update_and_tell(dev);
	return 0;
}

int
mpsim_set_link_up(struct rte_eth_dev *dev)
{
	return set_link(dev, true);
}

int
mpsim_set_link_down(struct rte_eth_dev *dev)
{
	return set_link(dev, false);
}

/* Few wires report that their other end has come: net_memif, for one, does not. */
static bool
waits_for_wire(const struct rte_eth_dev *dev)
{
	const struct mpsim_pf *pf = dev->data->dev_private;

	return pf->started && mpsim_wire_kind(pf->nic) == MPSIM_WIRE_ETHDEV &&
	       !mpsim_wire_is_up(pf->nic);
}

/* In the interrupt thread, like link changes of hardware. */
static void
recheck(void *arg)
{
	bool waiting = false;

	RTE_SET_USED(arg);
	/* not under the lock: a callback may take locks of its own */
	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++)
		if (mpsim_tell_begin(p)) {
			waiting = waits_for_wire(&rte_eth_devices[p]) || waiting;
			/* a callback may close the port */
			update_and_tell(&rte_eth_devices[p]);
			mpsim_tell_end();
		}
	if (waiting)
		octo_alarm_set(WIRE_LOOK_US, recheck, NULL);
}

void
mpsim_link_recheck(void)
{
	octo_alarm_set(1, recheck, NULL);
}
