/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include <rte_malloc.h>

#include "octosim.h"
#include "octosim_async.h"

/* A rule that was understood: what is asked for, and what it means on this NIC. */
struct reading {
	struct octo_flow_spec spec;
	uint16_t from; /* with spec.match_all: index in nic->way[] */
	uint16_t to;   /* queue, or index of the port */
};

int
octosim_flow_refuse(struct rte_flow_error *error, int code, enum rte_flow_error_type type,
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

static int
check_queue(const struct octosim_pf *pf, const struct octo_flow_spec *spec,
	    struct rte_flow_error *error)
{
	if (spec->fate != OCTO_FATE_QUEUE || spec->queue < pf->nb_rxq)
		return 0;
	return octosim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
				   "queue index %u: port %s has %u Rx queues", spec->queue,
				   pf->data->name, pf->nb_rxq);
}

/* Transfer rules: from the network side of the NIC to one of its PFs, given to its proxy. */
static int
check_switch(const struct octosim_pf *pf, const struct octo_flow_spec *spec, uint16_t *target,
	     struct rte_flow_error *error)
{
	const struct octosim_nic *nic = pf->nic;
	const struct octosim_pf *proxy = octosim_nic_first_pf(nic);
	const struct octosim_pf *from = octosim_nic_pf_by_port(nic, spec->from_port);
	const struct octosim_pf *to = octosim_nic_pf_by_port(nic, spec->to_port);

	if (pf != proxy && proxy != NULL)
		return octosim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER,
					   "transfer rules of NIC %s are made on its proxy, "
					   "port %u (%s)",
					   nic->name, proxy->port_id, proxy->data->name);
	if (spec->fate == OCTO_FATE_REPRESENTED_PORT)
		return octosim_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION,
					   "represented_port: NIC %s has no uplink representor: "
					   "port_representor of a PF is known",
					   nic->name);
	if (spec->from_port == OCTO_NO_PORT)
		return octosim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM,
					   "item represented_port of a PF of this NIC "
					   "must come first");
	if (from == NULL || octosim_is_representor(from))
		return octosim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_SPEC,
					   "represented_port: ethdev %u is no PF of NIC %s",
					   spec->from_port, nic->name);
	if (to == NULL || octosim_is_representor(to))
		return octosim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
					   "port_representor: ethdev %u is no PF of NIC %s",
					   spec->to_port, nic->name);
	*target = to->index;
	return 0;
}

/* PFs come and go, so what the rule means is found out under the NIC's lock. */
static int
check_transfer(const struct octosim_pf *pf, struct reading *r, struct rte_flow_error *error)
{
	int ret;

	octosim_nic_lock(pf->nic);
	if (octosim_has_eswitch(pf->nic))
		ret = octosim_eswitch_check(pf, &r->spec, &r->from, &r->to, error);
	else
		ret = check_switch(pf, &r->spec, &r->to, error);
	octosim_nic_unlock(pf->nic);
	return ret;
}

/* Read and check a rule. */
static int
read_rule(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
	  const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	  struct reading *r, struct rte_flow_error *error)
{
	const struct octosim_pf *pf = dev->data->dev_private;
	int ret;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return octosim_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
					   "rules are made by the primary process");
	ret = octo_flow_parse(attr, pattern, actions, &r->spec, error);
	if (ret != 0)
		return ret;
	if (r->spec.transfer)
		return check_transfer(pf, r, error);
	r->to = r->spec.queue;
	return check_queue(pf, &r->spec, error);
}

static int
octosim_flow_validate(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
		      const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
		      struct rte_flow_error *error)
{
	struct reading r;

	return read_rule(dev, attr, pattern, actions, &r, error);
}

static struct rte_flow *
flow_alloc(struct octosim_pf *pf, const struct reading *r)
{
	struct rte_flow *flow = rte_zmalloc("octosim_flow", sizeof(*flow), 0);

	if (flow == NULL)
		return NULL;
	flow->rule.tuple = r->spec.tuple;
	flow->rule.priority = r->spec.priority;
	flow->rule.drop = r->spec.fate == OCTO_FATE_DROP;
	flow->rule.target = r->to;
	flow->count = r->spec.count;
	if (r->spec.match_all) {
		flow->from = r->from;
		return flow;
	}
	flow->table = r->spec.transfer ? &pf->nic->mpfs : &pf->arfs;
	flow->rule.inert = pf->args.ignore &
			   (r->spec.transfer ? OCTOSIM_IGNORE_MPFS : OCTOSIM_IGNORE_ARFS);
	return flow;
}

static int
explain(const struct octosim_pf *pf, const struct rte_flow *flow, int code,
	struct rte_flow_error *error)
{
	const bool mpfs = flow->table == &pf->nic->mpfs;
	const char *what = mpfs ? "MPFS table of NIC" : "ARFS table of PF";
	const char *name = mpfs ? pf->nic->name : pf->data->name;

	if (flow->table == NULL)
		return octosim_flow_refuse(error, -code, RTE_FLOW_ERROR_TYPE_HANDLE,
					   "NIC %s has a rule for all of this represented_port "
					   "already",
					   pf->nic->name);
	if (code == -EEXIST)
		return octosim_flow_refuse(error, -code, RTE_FLOW_ERROR_TYPE_HANDLE,
					   "the %s %s has a rule with this 5-tuple "
					   "and priority already",
					   what, name);
	if (code == -ENOSPC)
		return octosim_flow_refuse(error, -code, RTE_FLOW_ERROR_TYPE_HANDLE,
					   "the %s %s is full (%u entries)", what, name,
					   flow->table->max);
	return octosim_flow_refuse(error, -code, RTE_FLOW_ERROR_TYPE_HANDLE,
				   "no memory for the %s %s", what, name);
}

static int
insert_locked(struct octosim_nic *nic, struct rte_flow *flow)
{
	if (flow->table != NULL)
		return octosim_table_add(flow->table, &flow->rule);
	if (nic->way[flow->from] != NULL)
		return -EEXIST;
	nic->way[flow->from] = &flow->rule;
	octosim_eswitch_update(nic);
	return 0;
}

static void
remove_locked(struct octosim_pf *pf, struct rte_flow *flow)
{
	TAILQ_REMOVE(&pf->flows, flow, list);
	if (!flow->effective)
		return;
	flow->effective = false;
	if (flow->table != NULL) {
		octosim_table_remove(flow->table, &flow->rule);
		return;
	}
	pf->nic->way[flow->from] = NULL;
	octosim_eswitch_update(pf->nic);
}

struct rte_flow *
octosim_flow_make(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
		  const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
		  struct rte_flow_error *error)
{
	struct octosim_pf *pf = dev->data->dev_private;
	struct rte_flow *flow;
	struct reading r;

	if (read_rule(dev, attr, pattern, actions, &r, error) != 0)
		return NULL;
	flow = flow_alloc(pf, &r);
	if (flow == NULL) {
		octosim_flow_refuse(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
				    "no memory for the rule");
		return NULL;
	}
	octosim_nic_lock(pf->nic);
	TAILQ_INSERT_TAIL(&pf->flows, flow, list);
	octosim_nic_unlock(pf->nic);
	return flow;
}

int
octosim_flow_put(struct octosim_pf *pf, struct rte_flow *flow, struct rte_flow_error *error)
{
	int ret = 0;

	/* outside of the NIC's lock: it takes long, and the pollers need not wait */
	octosim_control_lock();
	if (flow->table != NULL)
		ret = octosim_table_prepare(flow->table, SOCKET_ID_ANY);
	octosim_control_unlock();
	if (ret != 0)
		return explain(pf, flow, ret, error);
	octosim_nic_lock(pf->nic);
	ret = insert_locked(pf->nic, flow);
	flow->effective = ret == 0;
	octosim_nic_unlock(pf->nic);
	return ret == 0 ? 0 : explain(pf, flow, ret, error);
}

static void
flow_free(struct rte_flow *flow)
{
	if (flow->template_table != NULL)
		octosim_async_leave(flow->template_table);
	rte_free(flow);
}

void
octosim_flow_drop(struct octosim_pf *pf, struct rte_flow *flow)
{
	octosim_nic_lock(pf->nic);
	remove_locked(pf, flow);
	octosim_nic_unlock(pf->nic);
	flow_free(flow);
}

static struct rte_flow *
octosim_flow_create(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
		    const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
		    struct rte_flow_error *error)
{
	struct octosim_pf *pf = dev->data->dev_private;
	struct rte_flow *flow = octosim_flow_make(dev, attr, pattern, actions, error);

	if (flow == NULL || octosim_flow_put(pf, flow, error) == 0)
		return flow;
	octosim_flow_drop(pf, flow);
	return NULL;
}

static int
octosim_flow_destroy(struct rte_eth_dev *dev, struct rte_flow *flow, struct rte_flow_error *error)
{
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return octosim_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
					   "rules are removed by the primary process");
	octosim_flow_drop(dev->data->dev_private, flow);
	return 0;
}

void
octosim_flow_free_all(struct octosim_pf *pf)
{
	struct octosim_flows flows = TAILQ_HEAD_INITIALIZER(flows);
	struct rte_flow *flow;

	octosim_async_forget(pf);
	octosim_nic_lock(pf->nic);
	while ((flow = TAILQ_FIRST(&pf->flows)) != NULL) {
		remove_locked(pf, flow);
		TAILQ_INSERT_TAIL(&flows, flow, list);
	}
	octosim_nic_unlock(pf->nic);
	while ((flow = TAILQ_FIRST(&flows)) != NULL) {
		TAILQ_REMOVE(&flows, flow, list);
		flow_free(flow);
	}
}

static int
octosim_flow_flush(struct rte_eth_dev *dev, struct rte_flow_error *error)
{
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return octosim_flow_refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
					   "rules are removed by the primary process");
	octosim_flow_free_all(dev->data->dev_private);
	return 0;
}

static void
query_locked(struct rte_flow *flow, struct rte_flow_query_count *q)
{
	q->hits_set = 1;
	q->bytes_set = 1;
	q->hits = flow->rule.hits - flow->hits_base;
	q->bytes = flow->rule.bytes - flow->bytes_base;
	if (q->reset) {
		flow->hits_base = flow->rule.hits;
		flow->bytes_base = flow->rule.bytes;
	}
}

static int
octosim_flow_query(struct rte_eth_dev *dev, struct rte_flow *flow,
		   const struct rte_flow_action *action, void *data, struct rte_flow_error *error)
{
	struct octosim_pf *pf = dev->data->dev_private;

	for (; action->type != RTE_FLOW_ACTION_TYPE_END; action++) {
		if (action->type == RTE_FLOW_ACTION_TYPE_VOID)
			continue;
		if (action->type != RTE_FLOW_ACTION_TYPE_COUNT)
			return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION,
						  action, "only count can be queried");
		if (!flow->count)
			return rte_flow_error_set(error, EINVAL, RTE_FLOW_ERROR_TYPE_HANDLE, flow,
						  "the rule was made without a count action");
		octosim_nic_lock(pf->nic);
		query_locked(flow, data);
		octosim_nic_unlock(pf->nic);
	}
	return 0;
}

static int
octosim_flow_isolate(struct rte_eth_dev *dev, int on, struct rte_flow_error *error)
{
	struct octosim_pf *pf = dev->data->dev_private;

	RTE_SET_USED(error);
	octosim_nic_lock(pf->nic);
	pf->isolated = on != 0;
	octosim_nic_unlock(pf->nic);
	return 0;
}

static int
octosim_flow_pick_transfer_proxy(struct rte_eth_dev *dev, uint16_t *port,
				 struct rte_flow_error *error)
{
	const struct octosim_pf *pf = dev->data->dev_private;
	const struct octosim_pf *proxy;
	int ret = 0;

	octosim_nic_lock(pf->nic);
	if (octosim_has_eswitch(pf->nic))
		ret = octosim_eswitch_check_owner(pf, error);
	proxy = octosim_has_eswitch(pf->nic) ? pf->nic->pf[OCTOSIM_UPLINK] :
					       octosim_nic_first_pf(pf->nic);
	if (ret == 0 && proxy != NULL)
		*port = proxy->port_id;
	else if (ret == 0)
		ret = octosim_flow_refuse(error, ENODEV, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
					  "NIC %s has neither an uplink representor nor a PF",
					  pf->nic->name);
	octosim_nic_unlock(pf->nic);
	return ret;
}

struct rte_flow_ops octosim_flow_ops = {
	.validate = octosim_flow_validate,
	.create = octosim_flow_create,
	.destroy = octosim_flow_destroy,
	.flush = octosim_flow_flush,
	.query = octosim_flow_query,
	.isolate = octosim_flow_isolate,
	.pick_transfer_proxy = octosim_flow_pick_transfer_proxy,
};

int
octosim_flow_ops_get(struct rte_eth_dev *dev, const struct rte_flow_ops **ops)
{
	RTE_SET_USED(dev);
	*ops = &octosim_flow_ops;
	return 0;
}
