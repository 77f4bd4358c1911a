/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The NIC as seen by a CPU that owns its switch, as on a BlueField: an uplink representor
 * stands for the wire, and one representor for each PF of the host. Rules lead from one to
 * another. A frame that matches no rule is received on the representor of the port where it
 * entered.
 */

#include <errno.h>

#include "mpsim_flow.h"

void
mpsim_eswitch_update(struct mpsim_nic *nic)
{
	uint32_t mask = 1u << MPSIM_UPLINK;

	for (uint16_t i = 0; i < MPSIM_MAX_PFS; i++)
		if (!mpsim_has_eswitch(nic) || nic->way[MPSIM_REP(i)][0] != NULL)
			mask |= 1u << i;
	rte_atomic_store_explicit(&nic->to_wire, mask, rte_memory_order_relaxed);
}

/* Two rules of different priorities are possible, so that one can replace the other. */
int
mpsim_eswitch_add_way(struct mpsim_nic *nic, uint16_t from, struct mpsim_rule *rule)
{
	struct mpsim_rule **way = nic->way[from];
	unsigned int at = 0;

	if (way[1] != NULL || (way[0] != NULL && way[0]->priority == rule->priority))
		return -EEXIST;
	if (way[0] != NULL && way[0]->priority < rule->priority)
		at = 1;
	else
		way[1] = way[0];
	way[at] = rule;
	mpsim_eswitch_update(nic);
	return 0;
}

void
mpsim_eswitch_remove_way(struct mpsim_nic *nic, uint16_t from, const struct mpsim_rule *rule)
{
	struct mpsim_rule **way = nic->way[from];

	if (way[0] == rule)
		way[0] = way[1];
	way[1] = NULL;
	mpsim_eswitch_update(nic);
}

/* A frame sent by a PF is received by its representor, and vice versa. */
static uint16_t
other_side(const struct mpsim_pf *pf)
{
	return mpsim_is_representor(pf) ? pf->index - MPSIM_REP(0) : MPSIM_REP(pf->index);
}

bool
mpsim_eswitch_has_listener(const struct mpsim_pf *pf)
{
	/* no pair: checked again under the lock before delivery */
	return (rte_atomic_load_explicit(&pf->nic->started, rte_memory_order_relaxed) >>
			other_side(pf) &
		1) != 0;
}

uint16_t
mpsim_eswitch_tx(struct mpsim_pf *pf, struct rte_mbuf **pkts, uint16_t n)
{
	struct mpsim_nic *nic = pf->nic;
	struct mpsim_pf *to;

	mpsim_nic_lock(nic);
	to = nic->pf[other_side(pf)];
	/* it may be gone since mpsim_eswitch_has_listener() */
	if (to != NULL)
		mpsim_pump_to(to, pkts, n);
	mpsim_nic_unlock(nic);
	rte_pktmbuf_free_bulk(pkts, n);
	return n;
}

int
mpsim_eswitch_check_owner(const struct mpsim_pf *pf, struct rte_flow_error *error)
{
	const struct mpsim_pf *uplink = pf->nic->pf[MPSIM_UPLINK];

	if (mpsim_is_representor(pf))
		return 0;
	return mpsim_flow_refuse(error, EPERM, RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER,
				 "the switch of NIC %s belongs to another CPU: transfer rules "
				 "are made there, on the uplink representor %s",
				 pf->nic->name, uplink->data->name);
}

/* The representor of this NIC with this port id, or NULL. */
static const struct mpsim_pf *
find_representor(const struct mpsim_nic *nic, uint16_t port_id)
{
	const struct mpsim_pf *rep = mpsim_nic_pf_by_port(nic, port_id);

	return rep != NULL && mpsim_is_representor(rep) ? rep : NULL;
}

/*
 * Accept a rule from the wire to a PF, or for all traffic of a PF to the wire; others are not
 * possible.
 */
static int
check_way(const struct mpsim_pf *from, const struct mpsim_pf *to, struct mpsim_reading *r,
	  struct rte_flow_error *error)
{
	const bool from_uplink = from->index == MPSIM_UPLINK;
	const bool to_uplink = to->index == MPSIM_UPLINK;

	if (from_uplink == to_uplink)
		return mpsim_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
					 "represented_port: rules lead from the uplink "
					 "representor to that of a PF, or back");
	if (!from_uplink && !mpsim_match_is_all(&r->match))
		return mpsim_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM,
					 "what a PF sends is not told apart: give no 5-tuple");
	if (!from_uplink && r->orders.fate.flags != 0)
		return mpsim_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION,
					 "what a PF sends is not counted by its rule");
	r->from = from->index;
	r->whole_way = mpsim_match_is_all(&r->match);
	r->orders.fate.own.target = to_uplink ? MPSIM_UPLINK : other_side(to);
	return 0;
}

int
mpsim_eswitch_check(const struct mpsim_pf *pf, struct mpsim_reading *r,
		    struct rte_flow_error *error)
{
	const struct mpsim_nic *nic = pf->nic;
	const struct mpsim_pf *uplink = nic->pf[MPSIM_UPLINK];
	const struct mpsim_pf *a = find_representor(nic, r->match.from_port);
	const struct mpsim_pf *b = find_representor(nic, r->orders.to_port);
	int ret = mpsim_eswitch_check_owner(pf, error);

	if (ret != 0)
		return ret;
	if (pf != uplink)
		return mpsim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER,
					 "transfer rules of NIC %s are made on its proxy, "
					 "port %u (%s)",
					 nic->name, uplink->port_id, uplink->data->name);
	if (a == NULL)
		return mpsim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_SPEC,
					 "item represented_port of a representor of NIC %s must "
					 "come first",
					 nic->name);
	if (!r->orders.to_represented || b == NULL)
		return mpsim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
					 "action represented_port of a representor of NIC %s is "
					 "needed",
					 nic->name);
	return check_way(a, b, r, error);
}
