/* SPDX-License-Identifier: BSD-3-Clause */

#include <ethdev_driver.h>
#include <rte_flow_driver.h>

#include "octo_port.h"
#include "octo_port_taker.h"
#include "rule_reader.h"

static struct replaced {
	struct octo_port_taker taker;
	const struct eth_dev_ops *real;
	const struct rte_flow_ops *real_flow;
	struct eth_dev_ops ops;
} replaced[RTE_MAX_ETHPORTS];

static struct replaced *
of(const struct rte_eth_dev *dev)
{
	return &replaced[dev->data->port_id];
}

/* The rule that this is the handle of, or NULL if mpsim has it. */
static struct octo_port_taken *
taken(struct octo_port_taker *t, const struct rte_flow *flow)
{
	for (unsigned int i = 0; i < RTE_DIM(t->rule); i++)
		if ((const void *)&t->rule[i] == (const void *)flow)
			return &t->rule[i];
	return NULL;
}

static int
refuse(struct octo_port_taker *t, const struct rte_flow_item *item, struct rte_flow_error *error)
{
	return rte_flow_error_set(error, t->refuse, RTE_FLOW_ERROR_TYPE_ITEM, item,
				  "made up for the test");
}

static bool
has(const struct octo_port_taker *t, const void *handle)
{
	for (unsigned int i = 0; i < RTE_DIM(t->handle); i++)
		if ((const void *)&t->handle[i] == handle)
			return t->handle[i].used;
	return false;
}

static void
check_handles(const struct octo_port_taker *t, const struct rte_flow_action *action)
{
	for (; action->type != RTE_FLOW_ACTION_TYPE_END; action++) {
		const struct rte_flow_action_sample *sample = action->conf;

		if (action->type == RTE_FLOW_ACTION_TYPE_INDIRECT)
			assert_true(has(t, action->conf));
		if (action->type == RTE_FLOW_ACTION_TYPE_SAMPLE && sample != NULL &&
		    sample->actions != NULL)
			check_handles(t, sample->actions);
	}
}

static int
validate(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
	 const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	 struct rte_flow_error *error)
{
	struct octo_port_taker *t = &of(dev)->taker;

	if (attr->priority < OCTO_PORT_TAKEN)
		return of(dev)->real_flow->validate(dev, attr, pattern, actions, error);
	rule_reader_sum(pattern, actions);
	check_handles(t, actions);
	return t->refuse != 0 ? refuse(t, pattern, error) : 0;
}

static void
note(struct octo_port_taken *rule, const struct rte_flow_attr *attr,
     const struct rte_flow_item *item, const struct rte_flow_action *action)
{
	*rule = (struct octo_port_taken){
		.used = true,
		.attr = *attr,
		.sum = rule_reader_sum(item, action),
	};
	for (; item->type != RTE_FLOW_ITEM_TYPE_END; item++)
		rule->nb_items++;
	for (; action->type != RTE_FLOW_ACTION_TYPE_END; action++) {
		rule->nb_actions++;
		if (action->type == RTE_FLOW_ACTION_TYPE_AGE)
			rule->age_context = ((const struct rte_flow_action_age *)action->conf)
						    ->context;
		if (action->type == RTE_FLOW_ACTION_TYPE_MARK)
			rule->mark = ((const struct rte_flow_action_mark *)action->conf)->id;
	}
}

static struct rte_flow *
create(struct rte_eth_dev *dev, const struct rte_flow_attr *attr,
       const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
       struct rte_flow_error *error)
{
	struct octo_port_taker *t = &of(dev)->taker;
	unsigned int i = 0;

	if (attr->priority < OCTO_PORT_TAKEN)
		return of(dev)->real_flow->create(dev, attr, pattern, actions, error);
	if (t->refuse != 0) {
		refuse(t, pattern, error);
		return NULL;
	}
	while (t->rule[i].used)
		assert_true(++i < RTE_DIM(t->rule));
	check_handles(t, actions);
	note(&t->rule[i], attr, pattern, actions);
	t->nb++;
	return (struct rte_flow *)&t->rule[i];
}

static int
destroy(struct rte_eth_dev *dev, struct rte_flow *flow, struct rte_flow_error *error)
{
	struct octo_port_taken *rule = taken(&of(dev)->taker, flow);

	if (rule == NULL)
		return of(dev)->real_flow->destroy(dev, flow, error);
	assert_true(rule->used);
	rule->used = false;
	of(dev)->taker.nb--;
	return 0;
}

static int
flush(struct rte_eth_dev *dev, struct rte_flow_error *error)
{
	return of(dev)->real_flow->flush(dev, error);
}

static int
tell_count(struct octo_port_taker *t, struct rte_flow_query_count *count,
	   struct rte_flow_error *error)
{
	if (t->refuse_count != 0)
		return rte_flow_error_set(error, t->refuse_count, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
					  NULL, "made up for the test");
	t->reset = count->reset;
	*count = t->count;
	return 0;
}

static int
query(struct rte_eth_dev *dev, struct rte_flow *flow, const struct rte_flow_action *action,
      void *data, struct rte_flow_error *error)
{
	struct octo_port_taker *t = &of(dev)->taker;
	const struct octo_port_taken *rule = taken(t, flow);
	struct rte_flow_query_age *age = data;

	if (rule == NULL)
		return of(dev)->real_flow->query(dev, flow, action, data, error);
	if (action->type == RTE_FLOW_ACTION_TYPE_AGE && t->tells_no_age)
		return rte_flow_error_set(error, ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, NULL,
					  "made up for the test");
	if (action->type == RTE_FLOW_ACTION_TYPE_AGE) {
		*age = (struct rte_flow_query_age){.aged = rule->aged,
						   .sec_since_last_hit_valid = 1,
						   .sec_since_last_hit = t->idle};
		return 0;
	}
	assert_int_equal(action->type, RTE_FLOW_ACTION_TYPE_COUNT);
	return tell_count(t, data, error);
}

static int
get_aged_flows(struct rte_eth_dev *dev, void **contexts, uint32_t nb, struct rte_flow_error *error)
{
	struct octo_port_taker *t = &of(dev)->taker;
	void (*on_aged)(void) = t->on_aged;
	uint32_t n = 0;

	RTE_SET_USED(error);
	t->nb_asked++;
	t->on_aged = NULL;
	if (on_aged != NULL)
		on_aged();
	for (unsigned int i = 0; i < RTE_DIM(t->rule); i++) {
		if (!t->rule[i].used || !t->rule[i].aged || (t->rule[i].told && t->tells_once))
			continue;
		if (n < nb) {
			contexts[n] = t->rule[i].age_context;
			t->rule[i].told = true;
		}
		n++;
	}
	return (int)(nb == 0 ? n : RTE_MIN(n, nb));
}

static int
dev_dump(struct rte_eth_dev *dev, struct rte_flow *flow, FILE *file, struct rte_flow_error *error)
{
	RTE_SET_USED(error);
	of(dev)->taker.nb_dumps++;
	fprintf(file, "taker %s: %s\n", dev->data->name, flow == NULL ? "all" : "one");
	return 0;
}

static int
isolate(struct rte_eth_dev *dev, int set, struct rte_flow_error *error)
{
	return of(dev)->real_flow->isolate(dev, set, error);
}

static int
pick_transfer_proxy(struct rte_eth_dev *dev, uint16_t *port, struct rte_flow_error *error)
{
	const int code = of(dev)->taker.refuse_proxy;

	if (code != 0)
		return rte_flow_error_set(error, code, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
					  "there is no proxy");
	return of(dev)->real_flow->pick_transfer_proxy(dev, port, error);
}

static uint64_t
sum_of(const struct rte_flow_action *action)
{
	const struct rte_flow_action actions[] = {*action, {.type = RTE_FLOW_ACTION_TYPE_END}};

	return rule_reader_sum(NULL, actions);
}

static struct rte_flow_action_handle *
handle_create(struct rte_eth_dev *dev, const struct rte_flow_indir_action_conf *conf,
	      const struct rte_flow_action *action, struct rte_flow_error *error)
{
	struct octo_port_taker *t = &of(dev)->taker;
	unsigned int i = 0;

	RTE_SET_USED(conf);
	RTE_SET_USED(error);
	while (t->handle[i].used)
		assert_true(++i < RTE_DIM(t->handle));
	t->handle[i] = (struct octo_port_taken_handle){.used = true, .sum = sum_of(action)};
	return (struct rte_flow_action_handle *)&t->handle[i];
}

static int
handle_destroy(struct rte_eth_dev *dev, struct rte_flow_action_handle *handle,
	       struct rte_flow_error *error)
{
	RTE_SET_USED(error);
	assert_true(has(&of(dev)->taker, handle));
	((struct octo_port_taken_handle *)handle)->used = false;
	return 0;
}

static int
handle_update(struct rte_eth_dev *dev, struct rte_flow_action_handle *handle, const void *update,
	      struct rte_flow_error *error)
{
	RTE_SET_USED(error);
	assert_true(has(&of(dev)->taker, handle));
	((struct octo_port_taken_handle *)handle)->sum = sum_of(update);
	return 0;
}

static int
handle_query(struct rte_eth_dev *dev, const struct rte_flow_action_handle *handle, void *data,
	     struct rte_flow_error *error)
{
	assert_true(has(&of(dev)->taker, handle));
	return tell_count(&of(dev)->taker, data, error);
}

static const struct rte_flow_ops flow_ops = {
	.validate = validate,
	.create = create,
	.destroy = destroy,
	.flush = flush,
	.query = query,
	.get_aged_flows = get_aged_flows,
	.dev_dump = dev_dump,
	.isolate = isolate,
	.pick_transfer_proxy = pick_transfer_proxy,
	.action_handle_create = handle_create,
	.action_handle_destroy = handle_destroy,
	.action_handle_update = handle_update,
	.action_handle_query = handle_query,
};

static int
flow_ops_get(struct rte_eth_dev *dev, const struct rte_flow_ops **ops)
{
	int ret = of(dev)->real->flow_ops_get(dev, &of(dev)->real_flow);

	*ops = &flow_ops;
	return ret;
}

static struct octo_port_taker *
take_over(uint16_t port)
{
	struct rte_eth_dev *dev = &rte_eth_devices[port];
	struct replaced *r = of(dev);

	*r = (struct replaced){.real = dev->dev_ops, .ops = *dev->dev_ops};
	r->ops.flow_ops_get = flow_ops_get;
	dev->dev_ops = &r->ops;
	return &r->taker;
}

struct octo_port_taker *
octo_port_taker_on(unsigned int pf)
{
	return take_over(octo_port_pf(pf));
}

struct octo_port_taker *
octo_port_taker_of(unsigned int pf)
{
	return &replaced[octo_port_pf(pf)].taker;
}

static int
on_new(uint16_t port, enum rte_eth_event_type event, void *arg, void *data)
{
	RTE_SET_USED(event);
	RTE_SET_USED(arg);
	RTE_SET_USED(data);
	if (strncmp(rte_eth_devices[port].data->name, "net_mpsim", strlen("net_mpsim")) == 0)
		take_over(port);
	return 0;
}

void
octo_port_takers_stay(void)
{
	int ret = rte_eth_dev_callback_register(RTE_ETH_ALL, RTE_ETH_EVENT_NEW, on_new, NULL);

	assert_int_equal(ret, 0);
}

void
octo_port_taker_tell_aged(unsigned int pf)
{
	rte_eth_dev_callback_process(&rte_eth_devices[octo_port_pf(pf)], RTE_ETH_EVENT_FLOW_AGED,
				     NULL);
}

void
octo_port_takers_off(void)
{
	for (unsigned int i = 0; i < RTE_DIM(replaced); i++) {
		struct rte_eth_dev *dev = &rte_eth_devices[i];

		/* a port that has come since has operations of its own */
		if (replaced[i].real != NULL && dev->dev_ops == &replaced[i].ops)
			dev->dev_ops = replaced[i].real;
	}
}
