/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include <rte_malloc.h>

#include "mpsim_async.h"
#include "mpsim_caps.h"
#include "mpsim_flow.h"
#include "mpsim_flow_ops.h"
#include "octo_dialect.h"

/* there may be a million, and the pump reads the first two cache lines of each */
static_assert(sizeof(struct mpsim_rule) <= 128, "a rule takes two cache lines of 64 bytes");
static_assert(sizeof(struct rte_flow) <= 192, "a rule of the application takes three");

static RTE_ATOMIC(uint64_t) next_serial;

int
mpsim_flow_refuse(struct rte_flow_error *error, int code, enum rte_flow_error_type type,
		  const char *format, ...)
{
	/* rte_flow keeps only the pointer */
	static __thread char text[192];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return rte_flow_error_set(error, code, type, NULL, text);
}

/* Is the rule in the NIC's dialect? Others are refused, unless the NIC takes them in vain. */
static int
check_dialect(const struct mpsim_nic *nic, struct mpsim_reading *r, struct rte_flow_error *error)
{
	const struct octo_dialect *own = octo_dialect_get(nic->dialect);
	const bool has_item = r->match.from_port != MPSIM_NO_PORT;
	const bool needs_item = own->from == RTE_FLOW_ITEM_TYPE_REPRESENTED_PORT;
	const bool to_represented = own->to == RTE_FLOW_ACTION_TYPE_REPRESENTED_PORT;

	r->foreign = has_item != needs_item || r->orders.to_represented != to_represented ||
		     nic->dialect == OCTO_DIALECT_INDIRECT;
	if (!r->foreign || nic->takes_any_dialect)
		return 0;
	if (r->orders.to_represented && !to_represented)
		return mpsim_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION,
					 "represented_port: NIC %s has no uplink representor: "
					 "port_representor of a PF is known",
					 nic->name);
	if (!has_item && needs_item)
		return mpsim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM,
					 "item represented_port of a PF of this NIC "
					 "must come first");
	return mpsim_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
				 "NIC %s takes transfer rules of dialect %s only", nic->name,
				 own->name);
}

/* Check a transfer rule: from the wire to a PF, created on the NIC's transfer proxy. */
static int
check_switch(const struct mpsim_pf *pf, struct mpsim_reading *r, struct rte_flow_error *error)
{
	const struct mpsim_nic *nic = pf->nic;
	const struct mpsim_pf *proxy = nic->manager;
	const struct mpsim_pf *from = mpsim_nic_pf_by_port(nic, r->match.from_port);
	const struct mpsim_pf *to = mpsim_nic_pf_by_port(nic, r->orders.to_port);
	int ret;

	if (pf != proxy && proxy != NULL)
		return mpsim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER,
					 "transfer rules of NIC %s are made on its proxy, "
					 "port %u (%s)",
					 nic->name, proxy->port_id, proxy->data->name);
	ret = check_dialect(nic, r, error);
	if (ret != 0)
		return ret;
	if (r->match.from_port != MPSIM_NO_PORT && (from == NULL || mpsim_is_representor(from)))
		return mpsim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_SPEC,
					 "represented_port: ethdev %u is no PF of NIC %s",
					 r->match.from_port, nic->name);
	if (to == NULL || mpsim_is_representor(to))
		return mpsim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
					 "%s: ethdev %u is no PF of NIC %s",
					 r->orders.to_represented ? "represented_port" :
								    "port_representor",
					 r->orders.to_port, nic->name);
	r->orders.fate.own.target = to->index;
	return 0;
}

/* Check a transfer rule under the NIC's lock, as its ports may come and go. */
static int
check_transfer(const struct mpsim_pf *pf, struct mpsim_reading *r, struct rte_flow_error *error)
{
	int ret;

	if (r->group != 0)
		return mpsim_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_GROUP,
					 "transfer rules have group 0 only");
	mpsim_nic_lock(pf->nic);
	if (mpsim_has_eswitch(pf->nic))
		ret = mpsim_eswitch_check(pf, r, error);
	else
		ret = check_switch(pf, r, error);
	mpsim_nic_unlock(pf->nic);
	return ret;
}

static int
check_ingress(const struct mpsim_pf *pf, struct mpsim_reading *r, struct rte_flow_error *error)
{
	if (r->match.from_port != MPSIM_NO_PORT)
		return mpsim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM,
					 "item represented_port goes with transfer");
	r->match.value.group = r->group;
	r->match.mask.group = UINT32_MAX;
	r->foreign = r->orders.dest_handle != NULL && r->orders.dest_handle->pf != pf &&
		     pf->nic->dialect != OCTO_DIALECT_INDIRECT;
	return mpsim_actions_check(pf, &r->orders, error);
}

/* ethdev passes on the application's pointers without a check. */
static int
check_given(const struct rte_flow_attr *attr, const struct rte_flow_item *pattern,
	    const struct rte_flow_action *actions, struct rte_flow_error *error)
{
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return mpsim_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
					 "rules are made by the primary process");
	if (attr == NULL)
		return mpsim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ATTR,
					 "the attributes are missing");
	if (pattern == NULL)
		return mpsim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_NUM,
					 "the pattern is missing");
	if (actions == NULL)
		return mpsim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_NUM,
					 "the actions are missing");
	if (attr->egress)
		return mpsim_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ATTR_EGRESS,
					 "there are no egress rules: ingress and transfer are "
					 "known");
	if (attr->transfer == attr->ingress)
		return mpsim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ATTR_INGRESS,
					 "exactly one of ingress and transfer is needed");
	return 0;
}

/* Parse and check a rule. */
static int
read_rule(const struct mpsim_pf *pf, const struct rte_flow_attr *attr,
	  const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	  struct mpsim_reading *r, struct rte_flow_error *error)
{
	int ret = check_given(attr, pattern, actions, error);

	if (ret == 0)
		ret = mpsim_match_read(pattern, &r->match, error);
	if (ret == 0)
		ret = mpsim_actions_read(attr, actions, &r->orders, error);
	if (ret != 0)
		return ret;
	r->transfer = attr->transfer;
	r->whole_way = false;
	r->foreign = false;
	r->priority = attr->priority;
	r->group = attr->group;
	ret = attr->transfer ? check_transfer(pf, r, error) : check_ingress(pf, r, error);
	return ret != 0 ? ret : mpsim_caps_check_rule(pf, r, error);
}

int
mpsim_flow_validate(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
		    const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
		    struct rte_flow_error *error)
{
	struct mpsim_reading r;

	return read_rule(dev->data->dev_private, attr, pattern, actions, &r, error);
}

/* Choose the table of the rule. */
static void
choose_table(struct mpsim_pf *pf, const struct mpsim_reading *r, struct rte_flow *flow)
{
	flow->from = r->from;
	if (r->whole_way)
		return;
	if (mpsim_reading_is_exact(r))
		flow->exact = r->transfer ? &pf->nic->mpfs : &pf->arfs;
	else
		flow->generic = r->transfer ? &pf->nic->masked : &pf->generic;
	flow->rule.inert = r->foreign ||
			   pf->args.ignore & (r->transfer ? MPSIM_IGNORE_MPFS : MPSIM_IGNORE_ARFS);
}

/* Keep a copy of the match, from which the entries of a generic table are made. */
static int
keep_match(struct rte_flow *flow, const struct mpsim_match *match)
{
	if (flow->generic == NULL)
		return 0;
	flow->match = rte_malloc("mpsim_match", sizeof(*match), 0);
	if (flow->match == NULL)
		return -ENOMEM;
	*flow->match = *match;
	return 0;
}

/* Entries in a generic table; other tables refer to the rule itself. */
static uint32_t
count_entries(const struct mpsim_reading *r)
{
	return r->whole_way || mpsim_reading_is_exact(r) ? 0 : mpsim_match_count(&r->match);
}

static struct rte_flow *
flow_alloc(struct mpsim_pf *pf, const struct mpsim_reading *r, struct rte_flow_error *error)
{
	const uint32_t entries = count_entries(r);
	struct rte_flow *flow;

	flow = rte_zmalloc("mpsim_flow", sizeof(*flow) + entries * sizeof(flow->entries[0]), 0);
	if (flow == NULL)
		goto no_memory;
	flow->rule.tuple = r->match.tuple;
	flow->rule.priority = r->priority;
	flow->rule.serial = rte_atomic_fetch_add_explicit(&next_serial, 1,
							  rte_memory_order_relaxed);
	flow->group = r->group;
	flow->transfer = r->transfer;
	choose_table(pf, r, flow);
	if (keep_match(flow, &r->match) != 0)
		goto no_memory;
	if (mpsim_fate_make(pf, &r->orders, &flow->rule.fate, error) == 0) {
		if (r->orders.age != NULL && r->orders.age->context == NULL)
			flow->rule.fate.age->context = flow;
		return flow;
	}
	rte_free(flow->match);
	rte_free(flow);
	return NULL;
no_memory:
	rte_free(flow);
	mpsim_flow_refuse(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, "no memory for the rule");
	return NULL;
}

/* Name the rule's table, and its number of entries. */
static void
name_table(const struct mpsim_pf *pf, const struct rte_flow *flow, char *text, size_t size,
	   uint32_t *max)
{
	if (flow->transfer)
		snprintf(text, size, "MPFS table of NIC %s", pf->nic->name);
	else
		snprintf(text, size, "%s table of PF %s", flow->exact != NULL ? "ARFS" : "generic",
			 pf->data->name);
	*max = flow->transfer      ? RTE_MIN(pf->nic->mpfs.max, pf->nic->room) :
	       flow->exact != NULL ? RTE_MIN(pf->arfs.max, pf->faults.room_arfs) :
				     RTE_MIN(pf->generic.max, pf->faults.room_generic);
}

static int
explain(const struct mpsim_pf *pf, const struct rte_flow *flow, int code,
	struct rte_flow_error *error)
{
	char table[RTE_ETH_NAME_MAX_LEN + 32];
	uint32_t max;

	name_table(pf, flow, table, sizeof(table), &max);
	if (flow->exact == NULL && flow->generic == NULL)
		return mpsim_flow_refuse(error, -code, RTE_FLOW_ERROR_TYPE_HANDLE,
					 "NIC %s has a rule for all of this represented_port "
					 "and priority already, or two others",
					 pf->nic->name);
	if (code == -EEXIST)
		return mpsim_flow_refuse(error, -code, RTE_FLOW_ERROR_TYPE_HANDLE,
					 "the %s has a rule with this %s and priority already",
					 table, flow->exact != NULL ? "5-tuple" : "pattern");
	if (code == -ENOSPC)
		return mpsim_flow_refuse(error, -code, RTE_FLOW_ERROR_TYPE_HANDLE,
					 "the %s is full (%u entries)", table, max);
	return mpsim_flow_refuse(error, -code, RTE_FLOW_ERROR_TYPE_HANDLE, "no memory for the %s",
				 table);
}

static void
remove_entries(struct rte_flow *flow)
{
	while (flow->nb_entries > 0)
		mpsim_generic_remove(flow->generic, flow->entries[--flow->nb_entries]);
}

static int
add_entries(struct rte_flow *flow)
{
	const struct mpsim_match *match = flow->match;
	const uint32_t n = mpsim_match_count(match);
	struct mpsim_key value, mask;
	int ret = 0;

	for (uint32_t i = 0; ret == 0 && i < n; i++) {
		mpsim_match_entry(match, i, &value, &mask);
		ret = mpsim_generic_add(flow->generic, &value, &mask, &flow->rule,
					&flow->entries[i]);
		if (ret == 0)
			flow->nb_entries++;
	}
	if (ret != 0)
		remove_entries(flow);
	return ret;
}

/* Remove the rule from its table. */
static void
withdraw_locked(struct mpsim_nic *nic, struct rte_flow *flow)
{
	if (flow->exact != NULL)
		mpsim_table_remove(flow->exact, &flow->rule);
	else if (flow->generic != NULL)
		remove_entries(flow);
	else
		mpsim_eswitch_remove_way(nic, flow->from, &flow->rule);
}

/* Is the rule's table over its limit? The switch has one table for exact and other rules. */
static bool
is_over_full(const struct mpsim_pf *pf, const struct rte_flow *flow)
{
	const struct mpsim_nic *nic = pf->nic;

	if (flow->exact == NULL && flow->generic == NULL)
		return false;
	if (flow->transfer)
		return nic->mpfs.count + nic->masked.count > RTE_MIN(nic->mpfs.max, nic->room);
	return flow->exact != NULL ? pf->arfs.count > pf->faults.room_arfs :
				     pf->generic.count > pf->faults.room_generic;
}

static int
insert_locked(struct mpsim_pf *pf, struct rte_flow *flow)
{
	struct mpsim_nic *nic = pf->nic;
	int ret = 0;

	if (flow->exact != NULL)
		ret = mpsim_table_add(flow->exact, &flow->rule);
	else if (flow->generic != NULL)
		ret = add_entries(flow);
	else
		ret = mpsim_eswitch_add_way(nic, flow->from, &flow->rule);
	if (ret == 0 && is_over_full(pf, flow)) {
		withdraw_locked(nic, flow);
		ret = -ENOSPC;
	}
	return ret;
}

static void
remove_locked(struct mpsim_pf *pf, struct rte_flow *flow)
{
	TAILQ_REMOVE(&pf->flows, flow, list);
	if (flow->effective)
		withdraw_locked(pf->nic, flow);
	flow->effective = false;
}

struct rte_flow *
mpsim_flow_make(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
		const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
		struct rte_flow_error *error)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	struct mpsim_reading r;
	struct rte_flow *flow;

	if (read_rule(pf, attr, pattern, actions, &r, error) != 0)
		return NULL;
	flow = flow_alloc(pf, &r, error);
	if (flow == NULL)
		return NULL;
	mpsim_nic_lock(pf->nic);
	TAILQ_INSERT_TAIL(&pf->flows, flow, list);
	mpsim_nic_unlock(pf->nic);
	return flow;
}

static int
prepare_table(struct mpsim_nic *nic, struct rte_flow *flow)
{
	int ret = 0;

	mpsim_control_lock();
	if (flow->exact != NULL)
		ret = mpsim_table_prepare(flow->exact, SOCKET_ID_ANY);
	nic->masked.max = nic->mpfs.max;
	if (flow->generic != NULL)
		ret = mpsim_generic_prepare(flow->generic, SOCKET_ID_ANY);
	mpsim_control_unlock();
	return ret;
}

static int
put(struct mpsim_pf *pf, struct rte_flow *flow, bool lost, struct rte_flow_error *error)
{
	/* outside the NIC's lock: it takes long, and the pollers need not wait */
	int ret = prepare_table(pf->nic, flow);

	if (ret != 0)
		return explain(pf, flow, ret, error);
	mpsim_nic_lock(pf->nic);
	flow->rule.inert |= lost;
	ret = insert_locked(pf, flow);
	flow->effective = ret == 0;
	mpsim_nic_unlock(pf->nic);
	if (ret != 0)
		return explain(pf, flow, ret, error);
	rte_free(flow->match);
	flow->match = NULL;
	return 0;
}

int
mpsim_flow_tell_fault(const struct mpsim_pf *pf, const struct mpsim_fate_of_rule *fault,
		      struct rte_flow_error *error)
{
	if (fault->code == 0 && !fault->false_error)
		return 0;
	return mpsim_flow_refuse(error, fault->code != 0 ? fault->code : EIO,
				 RTE_FLOW_ERROR_TYPE_HANDLE,
				 "PF %s did not make the rule: a fault was set", pf->data->name);
}

int
mpsim_flow_put(struct mpsim_pf *pf, struct rte_flow *flow, struct rte_flow_error *error)
{
	const struct mpsim_fate_of_rule fault = mpsim_fault_next_rule(pf);
	int ret = 0;

	mpsim_fault_wait(fault.us / 2);
	if (fault.code == 0)
		ret = put(pf, flow, fault.lost, error);
	mpsim_fault_wait(fault.us - fault.us / 2);
	return ret != 0 ? ret : mpsim_flow_tell_fault(pf, &fault, error);
}

static void
flow_free(struct mpsim_pf *pf, struct rte_flow *flow)
{
	if (flow->template_table != NULL)
		mpsim_async_leave(flow->template_table);
	mpsim_fate_release(pf, &flow->rule.fate);
	rte_free(flow->match);
	rte_free(flow);
}

void
mpsim_flow_drop(struct mpsim_pf *pf, struct rte_flow *flow)
{
	mpsim_nic_lock(pf->nic);
	remove_locked(pf, flow);
	mpsim_nic_unlock(pf->nic);
	flow_free(pf, flow);
}

int
mpsim_flow_swap_fate(struct mpsim_pf *pf, struct rte_flow *flow, const struct mpsim_fate *fate,
		     struct rte_flow_error *error)
{
	const struct mpsim_fate_of_rule fault = mpsim_fault_next_rule(pf);
	struct mpsim_fate old = *fate;

	mpsim_fault_wait(fault.us / 2);
	if (fault.code == 0 && !fault.lost) {
		mpsim_nic_lock(pf->nic);
		old = flow->rule.fate;
		flow->rule.fate = *fate;
		mpsim_nic_unlock(pf->nic);
	}
	mpsim_fault_wait(fault.us - fault.us / 2);
	mpsim_fate_release(pf, &old);
	return mpsim_flow_tell_fault(pf, &fault, error);
}

struct rte_flow *
mpsim_flow_create(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
		  const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
		  struct rte_flow_error *error)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	struct rte_flow *flow = mpsim_flow_make(dev, attr, pattern, actions, error);

	if (flow == NULL || mpsim_flow_put(pf, flow, error) == 0)
		return flow;
	mpsim_flow_drop(pf, flow);
	return NULL;
}

int
mpsim_flow_destroy(struct rte_eth_dev *dev, struct rte_flow *flow, struct rte_flow_error *error)
{
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return mpsim_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
					 "rules are removed by the primary process");
	mpsim_flow_drop(dev->data->dev_private, flow);
	return 0;
}

void
mpsim_flow_free_all(struct mpsim_pf *pf)
{
	struct mpsim_flows flows = TAILQ_HEAD_INITIALIZER(flows);
	struct rte_flow *flow;

	mpsim_async_forget(pf);
	mpsim_nic_lock(pf->nic);
	while ((flow = TAILQ_FIRST(&pf->flows)) != NULL) {
		remove_locked(pf, flow);
		TAILQ_INSERT_TAIL(&flows, flow, list);
	}
	mpsim_nic_unlock(pf->nic);
	while ((flow = TAILQ_FIRST(&flows)) != NULL) {
		TAILQ_REMOVE(&flows, flow, list);
		flow_free(pf, flow);
	}
}

int
mpsim_flow_flush(struct rte_eth_dev *dev, struct rte_flow_error *error)
{
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return mpsim_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
					 "rules are removed by the primary process");
	mpsim_flow_free_all(dev->data->dev_private);
	return 0;
}

int
mpsim_flow_isolate(struct rte_eth_dev *dev, int on, struct rte_flow_error *error)
{
	struct mpsim_pf *pf = dev->data->dev_private;

	RTE_SET_USED(error);
	mpsim_nic_lock(pf->nic);
	pf->isolated = on != 0;
	mpsim_nic_unlock(pf->nic);
	return 0;
}

int
mpsim_flow_pick_transfer_proxy(struct rte_eth_dev *dev, uint16_t *port,
			       struct rte_flow_error *error)
{
	const struct mpsim_pf *pf = dev->data->dev_private;
	const struct mpsim_pf *proxy;
	int ret = 0;

	mpsim_nic_lock(pf->nic);
	if (mpsim_has_eswitch(pf->nic))
		ret = mpsim_eswitch_check_owner(pf, error);
	proxy = mpsim_has_eswitch(pf->nic) ? pf->nic->pf[MPSIM_UPLINK] : pf->nic->manager;
	if (ret == 0 && proxy != NULL)
		*port = proxy->port_id;
	else if (ret == 0)
		ret = mpsim_flow_refuse(error, ENODEV, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
					"NIC %s has neither an uplink representor nor a PF",
					pf->nic->name);
	mpsim_nic_unlock(pf->nic);
	return ret;
}

int
mpsim_flow_ops_get(struct rte_eth_dev *dev, const struct rte_flow_ops **ops)
{
	RTE_SET_USED(dev);
	*ops = &mpsim_flow_ops;
	return 0;
}
