/* SPDX-License-Identifier: BSD-3-Clause */

/* Set-up of the template API: flow queues, templates, tables. */

#include <errno.h>
#include <stdlib.h>

#include "mpsim_async.h"
#include "mpsim_caps.h"
#include "mpsim_flow_ops.h"

/* A mask: attributes of rules and of templates have the same three bits. */
static uint32_t
directions_of(uint32_t ingress, uint32_t egress, uint32_t transfer)
{
	return ingress | egress << 1 | transfer << 2;
}

static int
refuse(struct rte_flow_error *error, int code, const char *why)
{
	return rte_flow_error_set(error, code, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL, why);
}

static void
free_queues(struct mpsim_pf *pf, struct mpsim_async *async)
{
	for (uint16_t i = 0; i < async->nb_queues; i++)
		mpsim_async_queue_free(pf, async->queues[i]);
	free(async);
}

int
mpsim_flow_info_get(struct rte_eth_dev *dev, struct rte_flow_port_info *port,
		    struct rte_flow_queue_info *queue, struct rte_flow_error *error)
{
	const struct mpsim_pf *pf = dev->data->dev_private;

	*port = (struct rte_flow_port_info){
		.max_nb_queues = MPSIM_MAX_FLOW_QUEUES,
		/* each rule may have its own */
		.max_nb_counters = pf->args.arfs_entries + pf->nic->mpfs.max,
		.max_nb_aging_objects = pf->args.arfs_entries + pf->nic->mpfs.max,
		.supported_flags = RTE_FLOW_PORT_FLAG_STRICT_QUEUE,
	};
	if (queue != NULL)
		queue->max_size = MPSIM_MAX_FLOW_OPS;
	return mpsim_caps_need(pf, MPSIM_CAP_ASYNC, error);
}

static int
check_port_attr(struct rte_eth_dev *dev, const struct rte_flow_port_attr *attr, uint16_t nb_queue,
		struct rte_flow_error *error)
{
	struct rte_flow_port_info max;

	mpsim_flow_info_get(dev, &max, NULL, error);
	if (nb_queue == 0 || nb_queue > max.max_nb_queues)
		return mpsim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
					 "%u flow queues: between 1 and %u are possible", nb_queue,
					 max.max_nb_queues);
	if (attr->nb_counters > max.max_nb_counters ||
	    attr->nb_aging_objects > max.max_nb_aging_objects)
		return mpsim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
					 "%u counters, %u aging objects: port %s has %u of each",
					 attr->nb_counters, attr->nb_aging_objects, dev->data->name,
					 max.max_nb_counters);
	if (attr->nb_meters != 0 || attr->nb_conn_tracks != 0)
		return refuse(error, ENOTSUP, "there are no meters and no connection tracking");
	if ((attr->flags & ~max.supported_flags) != 0)
		return refuse(error, ENOTSUP, "of the port flags only strict_queue is known");
	return 0;
}

static int
check_configure(struct rte_eth_dev *dev, const struct rte_flow_port_attr *attr, uint16_t nb_queue,
		const struct rte_flow_queue_attr *const queue_attr[], struct rte_flow_error *error)
{
	const struct mpsim_pf *pf = dev->data->dev_private;
	int ret = mpsim_caps_need(pf, MPSIM_CAP_ASYNC, error);

	if (ret == 0)
		ret = check_port_attr(dev, attr, nb_queue, error);
	if (ret != 0)
		return ret;
	for (uint16_t i = 0; i < nb_queue; i++)
		if (queue_attr[i] == NULL || queue_attr[i]->size > MPSIM_MAX_FLOW_OPS)
			return mpsim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
						 "flow queue %u: it can hold %u operations", i,
						 MPSIM_MAX_FLOW_OPS);
	if (pf->async != NULL && !LIST_EMPTY(&pf->async->templates))
		return refuse(error, EBUSY,
			      "there are templates: destroy them and their tables first");
	return 0;
}

int
mpsim_flow_configure(struct rte_eth_dev *dev, const struct rte_flow_port_attr *attr,
		     uint16_t nb_queue, const struct rte_flow_queue_attr *queue_attr[],
		     struct rte_flow_error *error)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	struct mpsim_async *async;
	int ret = check_configure(dev, attr, nb_queue, queue_attr, error);

	if (ret != 0)
		return ret;
	async = calloc(1, sizeof(*async));
	if (async == NULL)
		return refuse(error, ENOMEM, "no memory for flow queues");
	while (async->nb_queues < nb_queue) {
		struct mpsim_async_queue *q;

		q = mpsim_async_queue_create(queue_attr[async->nb_queues]->size);
		if (q == NULL) {
			free_queues(pf, async);
			return refuse(error, ENOMEM, "no memory for flow queues");
		}
		async->queues[async->nb_queues++] = q;
	}
	mpsim_template_free_all(pf);
	pf->async = async;
	return 0;
}

/* Transfer rules are made on the NIC's transfer proxy, and so are their templates and tables. */
static int
check_proxy(struct rte_eth_dev *dev, struct rte_flow_error *error)
{
	uint16_t proxy;
	int ret = mpsim_flow_pick_transfer_proxy(dev, &proxy, error);

	if (ret != 0 || proxy == dev->data->port_id)
		return ret;
	return mpsim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ATTR_TRANSFER,
				 "templates and tables of transfer rules are made on the NIC's "
				 "proxy, port %u",
				 proxy);
}

static struct mpsim_template *
template_alloc(struct rte_eth_dev *dev, uint32_t directions, struct rte_flow_error *error)
{
	struct mpsim_template *t;

	if (directions == 0) {
		refuse(error, EINVAL, "a template needs one of ingress, egress and transfer");
		return NULL;
	}
	if (directions == directions_of(0, 0, 1) && check_proxy(dev, error) != 0)
		return NULL;
	t = calloc(1, sizeof(*t));
	if (t == NULL)
		refuse(error, ENOMEM, "no memory for the template");
	else
		t->directions = directions;
	return t;
}

static void
template_free(struct mpsim_template *t)
{
	octo_template_clear(&t->common);
	LIST_REMOVE(t, list);
	free(t);
}

static int
template_destroy(struct mpsim_template *t, struct rte_flow_error *error)
{
	if (t->common.users != 0)
		return mpsim_flow_refuse(error, EBUSY, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
					 "%u template tables use the template: "
					 "destroy them first",
					 t->common.users);
	template_free(t);
	return 0;
}

struct rte_flow_pattern_template *
mpsim_flow_pattern_template_create(struct rte_eth_dev *dev,
				   const struct rte_flow_pattern_template_attr *attr,
				   const struct rte_flow_item pattern[],
				   struct rte_flow_error *error)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	struct mpsim_template *t;

	if (attr->relaxed_matching) {
		refuse(error, ENOTSUP, "relaxed matching is not possible: every item is matched");
		return NULL;
	}
	t = template_alloc(dev, directions_of(attr->ingress, attr->egress, attr->transfer), error);
	if (t == NULL)
		return NULL;
	if (octo_template_set_pattern(&t->common, pattern, error) != 0) {
		free(t);
		return NULL;
	}
	LIST_INSERT_HEAD(&pf->async->templates, t, list);
	return (struct rte_flow_pattern_template *)t;
}

int
mpsim_flow_pattern_template_destroy(struct rte_eth_dev *dev, struct rte_flow_pattern_template *t,
				    struct rte_flow_error *error)
{
	RTE_SET_USED(dev);
	return template_destroy((struct mpsim_template *)t, error);
}

struct rte_flow_actions_template *
mpsim_flow_actions_template_create(struct rte_eth_dev *dev,
				   const struct rte_flow_actions_template_attr *attr,
				   const struct rte_flow_action actions[],
				   const struct rte_flow_action masks[],
				   struct rte_flow_error *error)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	struct mpsim_template *t;

	t = template_alloc(dev, directions_of(attr->ingress, attr->egress, attr->transfer), error);
	if (t == NULL)
		return NULL;
	if (octo_template_set_actions(&t->common, actions, masks, error) != 0) {
		free(t);
		return NULL;
	}
	LIST_INSERT_HEAD(&pf->async->templates, t, list);
	return (struct rte_flow_actions_template *)t;
}

int
mpsim_flow_actions_template_destroy(struct rte_eth_dev *dev, struct rte_flow_actions_template *t,
				    struct rte_flow_error *error)
{
	RTE_SET_USED(dev);
	return template_destroy((struct mpsim_template *)t, error);
}

/* Each template must support the directions of the table's rules. */
static int
check_table(struct rte_eth_dev *dev, const struct rte_flow_template_table *t,
	    struct rte_flow_error *error)
{
	const struct rte_flow_attr *attr = &t->attr.flow_attr;
	const uint32_t directions = directions_of(attr->ingress, attr->egress, attr->transfer);
	uint32_t all = UINT32_MAX;

	for (uint8_t i = 0; i < t->nb_patterns; i++)
		all &= t->patterns[i]->directions;
	for (uint8_t i = 0; i < t->nb_actions; i++)
		all &= t->actions[i]->directions;
	if ((directions & ~all) != 0)
		return refuse(error, EINVAL, "a template is not for the direction of the table");
	if (t->attr.nb_flows == 0 || t->nb_patterns == 0 || t->nb_actions == 0)
		return refuse(error, EINVAL,
			      "a table needs room for a rule, a pattern template "
			      "and an actions template");
	if (attr->transfer && check_proxy(dev, error) != 0)
		return -rte_errno;
	return mpsim_flow_ops_check_table(&t->attr, error);
}

static void
count_users(const struct rte_flow_template_table *t, int step)
{
	for (uint8_t i = 0; i < t->nb_patterns; i++)
		t->patterns[i]->common.users += step;
	for (uint8_t i = 0; i < t->nb_actions; i++)
		t->actions[i]->common.users += step;
}

struct rte_flow_template_table *
mpsim_flow_template_table_create(struct rte_eth_dev *dev,
				 const struct rte_flow_template_table_attr *attr,
				 struct rte_flow_pattern_template *patterns[], uint8_t nb_patterns,
				 struct rte_flow_actions_template *actions[], uint8_t nb_actions,
				 struct rte_flow_error *error)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	struct rte_flow_template_table *t = calloc(1, sizeof(*t));

	if (t == NULL) {
		refuse(error, ENOMEM, "no memory for the template table");
		return NULL;
	}
	t->attr = *attr;
	t->nb_patterns = nb_patterns;
	t->nb_actions = nb_actions;
	memcpy(t->patterns, patterns, nb_patterns * sizeof(patterns[0]));
	memcpy(t->actions, actions, nb_actions * sizeof(actions[0]));
	if (check_table(dev, t, error) != 0) {
		free(t);
		return NULL;
	}
	count_users(t, 1);
	LIST_INSERT_HEAD(&pf->async->tables, t, list);
	return t;
}

static void
table_free(struct rte_flow_template_table *t)
{
	count_users(t, -1);
	LIST_REMOVE(t, list);
	free(t);
}

int
mpsim_flow_template_table_destroy(struct rte_eth_dev *dev, struct rte_flow_template_table *t,
				  struct rte_flow_error *error)
{
	const uint32_t nb = rte_atomic_load_explicit(&t->nb_flows, rte_memory_order_relaxed);

	RTE_SET_USED(dev);
	if (nb != 0)
		return mpsim_flow_refuse(error, EBUSY, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
					 "%u rules are in the table: destroy them first", nb);
	table_free(t);
	return 0;
}

void
mpsim_template_free_all(struct mpsim_pf *pf)
{
	struct rte_flow_template_table *table;
	struct mpsim_template *t;

	if (pf->async == NULL)
		return;
	while ((table = LIST_FIRST(&pf->async->tables)) != NULL)
		table_free(table);
	while ((t = LIST_FIRST(&pf->async->templates)) != NULL)
		template_free(t);
	free_queues(pf, pf->async);
	pf->async = NULL;
}
