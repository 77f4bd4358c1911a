/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include <rte_malloc.h>

#include "octo_flow_parse.h"
#include "octosim.h"

static int
refuse(struct rte_flow_error *error, int code, enum rte_flow_error_type type, const char *why)
{
	return rte_flow_error_set(error, code, type, NULL, why);
}

/* Messages with names in them: one buffer per thread, as rte_flow keeps only the pointer. */
static char *
message_buffer(size_t *len)
{
	static __thread char text[192];

	*len = sizeof(text);
	return text;
}

static int
check_queue(const struct octosim_pf *pf, const struct octo_flow_spec *spec,
	    struct rte_flow_error *error)
{
	size_t len;
	char *why = message_buffer(&len);

	if (spec->fate != OCTO_FATE_QUEUE || spec->queue < pf->nb_rxq)
		return 0;
	snprintf(why, len, "queue index %u: port %s has %u Rx queues", spec->queue, pf->data->name,
		 pf->nb_rxq);
	return refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF, why);
}

/*
 * Transfer rules: from the network side of the NIC to one of its PFs, given to
 * its proxy. Under the NIC's lock, as PFs come and go.
 */
static int
check_transfer_locked(const struct octosim_pf *pf, const struct octo_flow_spec *spec,
		      uint16_t *target, struct rte_flow_error *error)
{
	const struct octosim_nic *nic = pf->nic;
	const struct octosim_pf *proxy = octosim_nic_first_pf(nic);
	const struct octosim_pf *to = octosim_nic_pf_by_port(nic, spec->to_port);
	size_t len;
	char *why = message_buffer(&len);

	if (pf != proxy) {
		snprintf(why, len, "transfer rules of NIC %s are made on its proxy, port %u (%s)",
			 nic->name, proxy->port_id, proxy->data->name);
		return refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER, why);
	}
	if (spec->from_port == OCTO_NO_PORT)
		return refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM,
			      "item represented_port of a PF of this NIC must come first");
	if (octosim_nic_pf_by_port(nic, spec->from_port) == NULL) {
		snprintf(why, len, "represented_port: ethdev %u is no PF of NIC %s",
			 spec->from_port, nic->name);
		return refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ITEM_SPEC, why);
	}
	if (to == NULL) {
		snprintf(why, len, "port_representor: ethdev %u is no PF of NIC %s", spec->to_port,
			 nic->name);
		return refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF, why);
	}
	*target = to->index;
	return 0;
}

/* Read and check a rule; *target is the queue or PF that it means. */
static int
read_rule(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
	  const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	  struct octo_flow_spec *spec, uint16_t *target, struct rte_flow_error *error)
{
	const struct octosim_pf *pf = dev->data->dev_private;
	int ret;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
			      "rules are made by the primary process");
	ret = octo_flow_parse(attr, pattern, actions, spec, error);
	if (ret != 0)
		return ret;
	*target = spec->queue;
	if (!spec->transfer)
		return check_queue(pf, spec, error);
	octosim_nic_lock(pf->nic);
	ret = check_transfer_locked(pf, spec, target, error);
	octosim_nic_unlock(pf->nic);
	return ret;
}

static int
octosim_flow_validate(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
		      const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
		      struct rte_flow_error *error)
{
	struct octo_flow_spec spec;
	uint16_t target = 0;

	return read_rule(dev, attr, pattern, actions, &spec, &target, error);
}

static struct rte_flow *
flow_alloc(struct octosim_pf *pf, const struct octo_flow_spec *spec, uint16_t target)
{
	struct rte_flow *flow = rte_zmalloc("octosim_flow", sizeof(*flow), 0);

	if (flow == NULL)
		return NULL;
	flow->rule.tuple = spec->tuple;
	flow->rule.priority = spec->priority;
	flow->rule.drop = spec->fate == OCTO_FATE_DROP;
	flow->rule.target = target;
	flow->count = spec->count;
	flow->table = spec->transfer ? &pf->nic->mpfs : &pf->arfs;
	flow->rule.inert = pf->args.ignore &
			   (spec->transfer ? OCTOSIM_IGNORE_MPFS : OCTOSIM_IGNORE_ARFS);
	return flow;
}

static int
explain(const struct octosim_pf *pf, const struct rte_flow *flow, int code,
	struct rte_flow_error *error)
{
	const bool mpfs = flow->table == &pf->nic->mpfs;
	const char *what = mpfs ? "MPFS table of NIC" : "ARFS table of PF";
	const char *name = mpfs ? pf->nic->name : pf->data->name;
	size_t len;
	char *why = message_buffer(&len);

	if (code == -EEXIST)
		snprintf(why, len, "the %s %s has a rule with this 5-tuple and priority already",
			 what, name);
	else if (code == -ENOSPC)
		snprintf(why, len, "the %s %s is full (%u entries)", what, name, flow->table->max);
	else
		snprintf(why, len, "no memory for the %s %s", what, name);
	return refuse(error, -code, RTE_FLOW_ERROR_TYPE_HANDLE, why);
}

static int
flow_insert(struct octosim_pf *pf, struct rte_flow *flow)
{
	int ret;

	/* outside of the NIC's lock: it takes long, and the pollers need not wait */
	octosim_control_lock();
	ret = octosim_table_prepare(flow->table, SOCKET_ID_ANY);
	octosim_control_unlock();
	if (ret != 0)
		return ret;
	octosim_nic_lock(pf->nic);
	ret = octosim_table_add(flow->table, &flow->rule);
	if (ret == 0)
		TAILQ_INSERT_TAIL(&pf->flows, flow, list);
	octosim_nic_unlock(pf->nic);
	return ret;
}

static struct rte_flow *
octosim_flow_create(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
		    const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
		    struct rte_flow_error *error)
{
	struct octosim_pf *pf = dev->data->dev_private;
	struct octo_flow_spec spec;
	struct rte_flow *flow;
	uint16_t target = 0;
	int ret;

	if (read_rule(dev, attr, pattern, actions, &spec, &target, error) != 0)
		return NULL;
	flow = flow_alloc(pf, &spec, target);
	if (flow == NULL) {
		refuse(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, "no memory for the rule");
		return NULL;
	}
	ret = flow_insert(pf, flow);
	if (ret != 0) {
		explain(pf, flow, ret, error);
		rte_free(flow);
		return NULL;
	}
	return flow;
}

static void
remove_locked(struct octosim_pf *pf, struct rte_flow *flow)
{
	TAILQ_REMOVE(&pf->flows, flow, list);
	octosim_table_remove(flow->table, &flow->rule);
}

static int
octosim_flow_destroy(struct rte_eth_dev *dev, struct rte_flow *flow, struct rte_flow_error *error)
{
	struct octosim_pf *pf = dev->data->dev_private;

	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
			      "rules are removed by the primary process");
	octosim_nic_lock(pf->nic);
	remove_locked(pf, flow);
	octosim_nic_unlock(pf->nic);
	rte_free(flow);
	return 0;
}

void
octosim_flow_free_all(struct octosim_pf *pf)
{
	struct octosim_flows flows = TAILQ_HEAD_INITIALIZER(flows);
	struct rte_flow *flow;

	octosim_nic_lock(pf->nic);
	while ((flow = TAILQ_FIRST(&pf->flows)) != NULL) {
		remove_locked(pf, flow);
		TAILQ_INSERT_TAIL(&flows, flow, list);
	}
	octosim_nic_unlock(pf->nic);
	while ((flow = TAILQ_FIRST(&flows)) != NULL) {
		TAILQ_REMOVE(&flows, flow, list);
		rte_free(flow);
	}
}

static int
octosim_flow_flush(struct rte_eth_dev *dev, struct rte_flow_error *error)
{
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return refuse(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
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

	RTE_SET_USED(error);
	octosim_nic_lock(pf->nic);
	*port = octosim_nic_first_pf(pf->nic)->port_id;
	octosim_nic_unlock(pf->nic);
	return 0;
}

static const struct rte_flow_ops flow_ops = {
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
	*ops = &flow_ops;
	return 0;
}
