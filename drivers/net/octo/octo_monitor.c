/* SPDX-License-Identifier: BSD-3-Clause */

/* The address that a poller waits at instead of an interrupt: see octo_get_monitor_addr(). */

#include <errno.h>

#include "octo_private.h"
#include "octo_rx_intr.h"

/* May a poller wait for a packet by its home leg only? */
static int
check_other_legs(const struct octo_rxq *q, uint32_t live, uint8_t home)
{
	if (!(live & RTE_BIT32(home)) || octo_rx_intr_is_fenced(q))
		return -EBUSY;
	for (uint8_t pf = 0; pf < OCTO_MAX_PFS; pf++) {
		int n;

		if (!(live & RTE_BIT32(pf)) || pf == home)
			continue;
		n = octo_rx_intr_count(q->leg[pf].port, q->leg[pf].queue);
		if (n != 0)
			return n > 0 ? -EBUSY : n;
	}
	return 0;
}

/* A stopped queue has nothing to wait for, but an application asks there whether it could. */
static int
ask_stopped(const struct octo_rxq *q)
{
	const struct octo_dev *octo = q->octo;
	struct rte_power_monitor_cond cond;
	struct octo_use use;
	int pf, ret;

	OCTO_FOREACH_PF(octo, pf, OCTO_PORT_READY) {
		const uint16_t queue = octo_pf_leg(&octo->pf[pf], q->queue_id).queue;

		if (!octo_users_enter(octo->pf[pf].port, &use))
			continue;
		ret = rte_eth_get_monitor_addr(use.port_id, queue, &cond);
		octo_users_leave(&use);
		if (ret == -ENOTSUP)
			return ret;
	}
	return -EBUSY;
}

int
octo_get_monitor_addr(void *rxq, struct rte_power_monitor_cond *cond)
{
	struct octo_rxq *q = rxq;
	uint32_t live;
	uint8_t home;
	int ret;

	octo_askers_enter(octo_legs_askers(q->askers));
	/* pairs with the release in octo_topo_publish_live() */
	live = rte_atomic_load_explicit(&q->live, rte_memory_order_acquire);
	home = rte_atomic_load_explicit(&q->home, rte_memory_order_relaxed);
	live = octo_legs_follow(q->octo, live);
	ret = live == 0 ? ask_stopped(q) : check_other_legs(q, live, home);
	if (ret == 0)
		ret = rte_eth_get_monitor_addr(q->leg[home].port, q->leg[home].queue, cond);
	octo_askers_leave(octo_legs_askers(q->askers));
	return ret;
}
