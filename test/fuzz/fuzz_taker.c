/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>
#include <sys/queue.h>

#include <ethdev_driver.h>
#include <rte_flow_driver.h>

#include "../unit/rule_reader.h"
#include "fuzz.h"
#include "fuzz_taker.h"

/* A rule or an indirect action of a PF. */
struct taken {
	TAILQ_ENTRY(taken) next;
	const struct rte_eth_dev *dev;
	uint64_t sum;
	bool is_handle;
};

static TAILQ_HEAD(, taken) all = TAILQ_HEAD_INITIALIZER(all);
static struct eth_dev_ops ops;

static struct taken *
find(const struct rte_eth_dev *dev, const void *handle, bool is_handle)
{
	struct taken *t;

	TAILQ_FOREACH(t, &all, next)
		if ((const void *)t == handle && t->dev == dev && t->is_handle == is_handle)
			return t;
	FUZZ_CHECK(false, "%s is none of this PF", is_handle ? "an indirect action" : "a rule");
	return NULL;
}

static void *
take(const struct rte_eth_dev *dev, uint64_t sum, bool is_handle)
{
	struct taken *t = calloc(1, sizeof(*t));

	FUZZ_CHECK(t != NULL, "no memory");
	*t = (struct taken){.dev = dev, .sum = sum, .is_handle = is_handle};
	TAILQ_INSERT_TAIL(&all, t, next);
	return t;
}

static void
drop(struct taken *t)
{
	TAILQ_REMOVE(&all, t, next);
	free(t);
}

static void
check_handles(const struct rte_eth_dev *dev, const struct rte_flow_action *action)
{
	for (; action != NULL && action->type != RTE_FLOW_ACTION_TYPE_END; action++) {
		const struct rte_flow_action_sample *sample = action->conf;

		if (action->type == RTE_FLOW_ACTION_TYPE_INDIRECT)
			find(dev, action->conf, true);
		if (action->type == RTE_FLOW_ACTION_TYPE_SAMPLE && sample != NULL)
			check_handles(dev, sample->actions);
	}
}

static uint64_t
sum_of(const struct rte_eth_dev *dev, const struct rte_flow_item pattern[],
       const struct rte_flow_action actions[])
{
	check_handles(dev, actions);
	return rule_reader_sum(pattern, actions);
}

static int
validate(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
	 const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	 struct rte_flow_error *error)
{
	RTE_SET_USED(attr);
	RTE_SET_USED(error);
	sum_of(dev, pattern, actions);
	return 0;
}

static struct rte_flow *
create(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
       const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
       struct rte_flow_error *error)
{
	RTE_SET_USED(attr);
	RTE_SET_USED(error);
	return take(dev, sum_of(dev, pattern, actions), false);
}

static int
destroy(struct rte_eth_dev *dev, struct rte_flow *flow, struct rte_flow_error *error)
{
	RTE_SET_USED(error);
	drop(find(dev, flow, false));
	return 0;
}

static int
flush(struct rte_eth_dev *dev, struct rte_flow_error *error)
{
	struct taken *t, *next;

	RTE_SET_USED(error);
	for (t = TAILQ_FIRST(&all); t != NULL; t = next) {
		next = TAILQ_NEXT(t, next);
		if (t->dev == dev && !t->is_handle)
			drop(t);
	}
	return 0;
}

static int
query(struct rte_eth_dev *dev, struct rte_flow *flow, const struct rte_flow_action *action,
      void *data, struct rte_flow_error *error)
{
	RTE_SET_USED(error);
	find(dev, flow, false);
	if (action->type == RTE_FLOW_ACTION_TYPE_COUNT)
		*(struct rte_flow_query_count *)data = (struct rte_flow_query_count){.hits_set = 1};
	else if (action->type == RTE_FLOW_ACTION_TYPE_AGE)
		*(struct rte_flow_query_age *)data = (struct rte_flow_query_age){.aged = 0};
	return 0;
}

static int
isolate(struct rte_eth_dev *dev, int set, struct rte_flow_error *error)
{
	RTE_SET_USED(dev);
	RTE_SET_USED(set);
	RTE_SET_USED(error);
	return 0;
}

static struct rte_flow_action_handle *
handle_create(struct rte_eth_dev *dev, const struct rte_flow_indir_action_conf *conf,
	      const struct rte_flow_action *action, struct rte_flow_error *error)
{
	const struct rte_flow_action actions[] = {*action, {.type = RTE_FLOW_ACTION_TYPE_END}};

	RTE_SET_USED(conf);
	RTE_SET_USED(error);
	return take(dev, sum_of(dev, NULL, actions), true);
}

static int
handle_destroy(struct rte_eth_dev *dev, struct rte_flow_action_handle *handle,
	       struct rte_flow_error *error)
{
	RTE_SET_USED(error);
	drop(find(dev, handle, true));
	return 0;
}

/* Of AGE it is no action. */
static int
handle_update(struct rte_eth_dev *dev, struct rte_flow_action_handle *handle, const void *update,
	      struct rte_flow_error *error)
{
	RTE_SET_USED(error);
	RTE_SET_USED(update);
	find(dev, handle, true);
	return 0;
}

static int
handle_query(struct rte_eth_dev *dev, const struct rte_flow_action_handle *handle, void *data,
	     struct rte_flow_error *error)
{
	RTE_SET_USED(error);
	RTE_SET_USED(data);
	find(dev, handle, true);
	return 0;
}

static const struct rte_flow_ops flow_ops = {
	.validate = validate,
	.create = create,
	.destroy = destroy,
	.flush = flush,
	.query = query,
	.isolate = isolate,
	.action_handle_create = handle_create,
	.action_handle_destroy = handle_destroy,
	.action_handle_update = handle_update,
	.action_handle_query = handle_query,
};

static int
flow_ops_get(struct rte_eth_dev *dev, const struct rte_flow_ops **flow)
{
	RTE_SET_USED(dev);
	*flow = &flow_ops;
	return 0;
}

void
fuzz_taker_on(uint16_t port)
{
	struct rte_eth_dev *dev = &rte_eth_devices[port];

	ops = *dev->dev_ops;
	ops.flow_ops_get = flow_ops_get;
	dev->dev_ops = &ops;
}

/* After a restart they have the same in another order. */
uint64_t
fuzz_taker_sum(void)
{
	const struct taken *t;
	uint64_t sum = 0;

	TAILQ_FOREACH(t, &all, next)
		sum += t->is_handle ? 0 : t->sum;
	return sum;
}
