/* SPDX-License-Identifier: BSD-3-Clause */

/* Objects of the template API: flow queues, templates, tables; on every PF or on none. */

#include <errno.h>
#include <stdlib.h>

#include "octo_async_queue.h"
#include "octo_flow_ops.h"
#include "octo_private.h"

/* An ethdev without the operation returns no message of its own. */
static int
blame(const struct octo_port *port, int ret, struct rte_flow_error *error)
{
	if (ret == -ENOSYS || ret == -ENOTSUP)
		if (error != NULL &&
		    (error->message == NULL || strcmp(error->message, rte_strerror(-ret)) == 0))
			octo_flow_fail(error, -ret, "it has no template tables and flow queues");
	return octo_flow_blame(port, ret, error);
}

static void
take_less(struct rte_flow_port_info *all, const struct rte_flow_port_info *one)
{
	all->max_nb_queues = RTE_MIN(all->max_nb_queues, one->max_nb_queues);
	all->max_nb_counters = RTE_MIN(all->max_nb_counters, one->max_nb_counters);
	all->max_nb_aging_objects = RTE_MIN(all->max_nb_aging_objects, one->max_nb_aging_objects);
	all->max_nb_meters = RTE_MIN(all->max_nb_meters, one->max_nb_meters);
	all->max_nb_conn_tracks = RTE_MIN(all->max_nb_conn_tracks, one->max_nb_conn_tracks);
	/* PFs with strict flow queues name aged flows by flow queue only, but octo by port */
	all->supported_flags &= one->supported_flags & ~RTE_FLOW_PORT_FLAG_STRICT_QUEUE;
}

/* The limits that every PF supports. */
static int
info_get_locked(struct octo_dev *octo, struct rte_flow_port_info *port, uint32_t *max_size,
		struct rte_flow_error *error)
{
	const int first = octo_port_first(octo, OCTO_PORT_READY);
	int pf;

	*max_size = UINT32_MAX;
	OCTO_FOREACH_PORT(octo, pf, OCTO_PORT_READY) {
		struct rte_flow_queue_info queue = {0};
		struct rte_flow_port_info one = {0};
		int ret = rte_flow_info_get(octo->port[pf].port_id, &one, &queue, error);

		if (ret != 0)
			return blame(&octo->port[pf], ret, error);
		if (pf == first)
			*port = one;
		take_less(port, &one);
		*max_size = RTE_MIN(*max_size, queue.max_size);
	}
	return first < 0 ? octo_flow_fail(error, ENODEV, "no PF is left") : 0;
}

static void
free_queues(struct octo_async *async)
{
	for (uint16_t i = 0; i < async->nb_queues; i++)
		octo_async_queue_free(async->queues[i]);
	free(async);
}

static struct octo_async *
make_queues(uint16_t nb_queue, const struct rte_flow_queue_attr *const attr[])
{
	struct octo_async *async = calloc(1, sizeof(*async) + nb_queue * sizeof(async->queues[0]));

	for (uint16_t i = 0; async != NULL && i < nb_queue; i++) {
		async->queues[i] = octo_async_queue_create(i, attr[i]->size);
		if (async->queues[i] == NULL) {
			free_queues(async);
			return NULL;
		}
		async->nb_queues++;
	}
	return async;
}

static int
check_configure(struct octo_dev *octo, const struct rte_flow_port_attr *attr, uint16_t nb_queue,
		const struct rte_flow_queue_attr *const queue_attr[], uint32_t *max_size,
		struct rte_flow_error *error)
{
	struct rte_flow_port_info max;
	int ret = info_get_locked(octo, &max, max_size, error);

	if (ret != 0)
		return ret;
	if (nb_queue == 0 || nb_queue > max.max_nb_queues)
		return octo_flow_fail(error, EINVAL,
				      "that many flow queues are not possible on every PF");
	for (uint16_t i = 0; i < nb_queue; i++)
		if (queue_attr[i] == NULL || queue_attr[i]->size > *max_size)
			return octo_flow_fail(error, EINVAL,
					      "flow queues of that size are not possible on "
					      "every PF");
	if ((attr->flags & ~max.supported_flags) != 0)
		return octo_flow_fail(error, ENOTSUP,
				      "a port flag is not among those that the port supports");
	if (octo->async != NULL && !LIST_EMPTY(&octo->async->templates))
		return octo_flow_fail(error, EBUSY,
				      "there are templates: destroy them and their tables first");
	return 0;
}

/* Octo's default size is passed on explicitly, as a PF's default may differ. */
static int
configure_pf(const struct octo_port *port, const struct octo_async *async,
	     struct rte_flow_error *error)
{
	const struct rte_flow_queue_attr **sizes = calloc(async->nb_queues, sizeof(sizes[0]));
	int ret;

	if (sizes == NULL)
		return octo_flow_fail(error, ENOMEM, "no memory for flow queues");
	for (uint16_t i = 0; i < async->nb_queues; i++)
		sizes[i] = &async->queues[i]->attr;
	ret = rte_flow_configure(port->port_id, &async->attr, async->nb_queues, sizes, error);
	free(sizes);
	return ret == 0 ? 0 : blame(port, ret, error);
}

/* Results that the PF had in its flow queues do not come any more. */
static void
forget_results(const struct octo_async *async, uint8_t pf)
{
	for (uint16_t i = 0; i < async->nb_queues; i++) {
		async->queues[i]->own_results[pf] = 0;
		async->queues[i]->own.awaited &= ~RTE_BIT32(pf);
	}
}

/* If a PF refuses, those before it get the flow queues again with which the port goes on. */
static int
configure_pfs(const struct octo_dev *octo, const struct octo_async *async,
	      struct rte_flow_error *error)
{
	int ret = 0;
	int pf;

	OCTO_FOREACH_PORT(octo, pf, OCTO_PORT_READY) {
		ret = configure_pf(&octo->port[pf], async, error);
		if (ret != 0)
			break;
	}
	while (ret != 0 && octo->async != NULL && --pf >= 0)
		if (octo_port_is(&octo->port[pf], OCTO_PORT_READY) &&
		    !octo->port[pf].no_flow_queues) {
			configure_pf(&octo->port[pf], octo->async, NULL);
			forget_results(octo->async, (uint8_t)pf);
		}
	return ret;
}

static int
configure_locked(struct octo_dev *octo, const struct rte_flow_port_attr *attr, uint16_t nb_queue,
		 const struct rte_flow_queue_attr *const queue_attr[], struct rte_flow_error *error)
{
	struct octo_async *async;
	uint32_t max_size;
	int ret;

	if (octo->tier_wanted == OCTO_TIER_NONE)
		return octo_flow_error_tier(error);
	ret = check_configure(octo, attr, nb_queue, queue_attr, &max_size, error);
	if (ret != 0)
		return ret;
	if (octo->sliced)
		return octo_flow_fail(error, ENOTSUP,
				      "the PFs are slices of one port: no flow queues");
	/* a rule of a table has the priority of the table, and its ARFS rules need a lower one */
	if (octo_mpfs_choose_queues(octo))
		return octo_flow_fail(error, ENOTSUP,
				      "there are no flow queues with dialect=indirect: make rules "
				      "by rte_flow_create()");
	async = make_queues(nb_queue, queue_attr);
	if (async == NULL)
		return octo_flow_fail(error, ENOMEM, "no memory for flow queues");
	async->attr = *attr;
	ret = configure_pfs(octo, async, error);
	if (ret != 0) {
		free_queues(async);
		return ret;
	}
	octo_template_free_locked(octo);
	octo->async = async;
	for (uint16_t i = 0; i < octo->nb_ports; i++)
		octo->port[i].no_flow_queues = false;
	return 0;
}

/* An object that a PF fails to destroy steers nothing: go on with the others. */
static void
end_on_pf(const struct octo_dev *octo, uint8_t pf, const char *what, int ret,
	  struct rte_flow_error *error)
{
	if (octo_flow_destroyed(&octo->port[pf], ret, error) != 0)
		OCTO_LOG(WARNING, "port %u: %s stays until the PF is closed: %s",
			 octo_data(octo)->port_id, what, error->message);
}

static void
destroy_on_pf(struct octo_dev *octo, const struct octo_pf_template *t, uint8_t pf)
{
	const uint16_t port = octo->port[pf].port_id;
	struct rte_flow_error error = {0};
	void *on = octo_port_object(&octo->port[pf], &t->on[pf]);

	octo_port_orphan(&octo->port[pf], &t->on[pf]);
	/* a PF that is about to be removed takes it along */
	if (on == NULL || !octo_port_is(&octo->port[pf], OCTO_PORT_IDLE))
		return;
	if (t->common.pattern != NULL)
		end_on_pf(octo, pf, "a pattern template",
			  rte_flow_pattern_template_destroy(port, on, &error), &error);
	else
		end_on_pf(octo, pf, "an actions template",
			  rte_flow_actions_template_destroy(port, on, &error), &error);
}

static void
free_template(struct octo_dev *octo, struct octo_pf_template *t)
{
	for (uint8_t pf = 0; pf < octo->nb_ports; pf++)
		destroy_on_pf(octo, t, pf);
	if (t->common.actions != NULL)
		octo_indirect_release(t->common.actions);
	octo_template_clear(&t->common);
	free(t);
}

/* Arguments of a template's creation; the attributes and lists of one of the two kinds. */
struct making {
	const struct rte_flow_pattern_template_attr *pattern_attr;
	const struct rte_flow_item *pattern;
	const struct rte_flow_actions_template_attr *actions_attr;
	const struct rte_flow_action *actions;
	const struct rte_flow_action *masks;
};

/* Each rule gives an AGE action of its own, as the PFs report the rule by its context. */
static void
open_ages(const struct making *m, struct rte_flow_action masks[OCTO_TEMPLATE_MAX])
{
	unsigned int i = 0;

	do {
		masks[i] = m->masks[i];
		if (m->actions[i].type == RTE_FLOW_ACTION_TYPE_AGE)
			masks[i].conf = NULL;
	} while (m->actions[i++].type != RTE_FLOW_ACTION_TYPE_END);
}

static void *
create_on_pf(const struct octo_dev *octo, const struct making *m, uint8_t pf,
	     struct rte_flow_error *error)
{
	struct rte_flow_action masks[OCTO_TEMPLATE_MAX];
	const uint16_t port = octo->port[pf].port_id;
	const struct rte_flow_action *actions;
	struct octo_indirect_own own;

	if (m->pattern_attr != NULL)
		return rte_flow_pattern_template_create(port, m->pattern_attr, m->pattern, error);
	actions = octo_indirect_on_pf(octo, m->actions, pf, &own);
	open_ages(m, masks);
	return rte_flow_actions_template_create(port, m->actions_attr, actions, masks, error);
}

static int
copy_template(const struct octo_dev *octo, struct octo_pf_template *t, const struct making *m,
	      struct rte_flow_error *error)
{
	int ret;

	if (m->pattern_attr != NULL)
		return octo_template_set_pattern(&t->common, m->pattern, error);
	ret = octo_template_set_actions(&t->common, m->actions, m->masks, error);
	if (ret != 0)
		return ret;
	/* in a template the conf of an indirect action may be left open */
	ret = octo_indirect_check(octo, t->common.actions, error);
	if (ret == 0)
		octo_indirect_hold(t->common.actions);
	else
		octo_template_clear(&t->common);
	return ret;
}

/* A switch takes transfer rules, and templates and tables of them, from its transfer proxy only. */
static bool
is_transfer_proxy(const struct octo_port *port)
{
	uint16_t proxy;

	return rte_flow_pick_transfer_proxy(port->port_id, &proxy, NULL) == 0 &&
	       proxy == port->port_id;
}

/* Some PFs refuse templates of transfer rules unless they are the proxy. */
static bool
is_of_switch(const struct making *m)
{
	if (m->pattern_attr != NULL)
		return m->pattern_attr->transfer && !m->pattern_attr->ingress &&
		       !m->pattern_attr->egress;
	return m->actions_attr->transfer && !m->actions_attr->ingress && !m->actions_attr->egress;
}

static struct octo_pf_template *
create_template(struct octo_dev *octo, const struct making *m, struct rte_flow_error *error)
{
	struct octo_pf_template *t = calloc(1, sizeof(*t));
	int ret;
	int pf;

	if (t == NULL) {
		octo_flow_fail(error, ENOMEM, "no memory for the template");
		return NULL;
	}
	if (copy_template(octo, t, m, error) != 0) {
		free(t);
		return NULL;
	}
	OCTO_FOREACH_ASYNC_PORT(octo, pf) {
		const struct octo_port *p = &octo->port[pf];
		const uint32_t life = p->fsm.life;

		if (is_of_switch(m) && !is_transfer_proxy(p))
			continue;
		t->on[pf] = octo_handle_make(create_on_pf(octo, m, (uint8_t)pf, error), life);
		if (t->on[pf].h != NULL)
			continue;
		ret = blame(p, -rte_errno, error);
		free_template(octo, t);
		rte_errno = -ret;
		return NULL;
	}
	LIST_INSERT_HEAD(&octo->async->templates, t, next);
	return t;
}

static int
destroy_template(struct octo_dev *octo, struct octo_pf_template *t, struct rte_flow_error *error)
{
	if (t->common.users != 0)
		return octo_flow_fail(error, EBUSY,
				      "a template table uses the template: destroy it first");
	LIST_REMOVE(t, next);
	free_template(octo, t);
	return 0;
}

static void
count_users(const struct rte_flow_template_table *t, int step)
{
	for (uint8_t i = 0; i < t->nb_patterns; i++)
		t->patterns[i]->common.users += step;
	for (uint8_t i = 0; i < t->nb_actions; i++)
		t->actions[i]->common.users += step;
}

static void
free_table(struct octo_dev *octo, struct rte_flow_template_table *t)
{
	for (uint8_t pf = 0; pf < octo->nb_ports; pf++) {
		struct rte_flow_template_table *on = octo_port_object(&octo->port[pf], &t->on[pf]);
		const uint16_t port = octo->port[pf].port_id;
		struct rte_flow_error error = {0};

		octo_port_orphan(&octo->port[pf], &t->on[pf]);
		if (on == NULL || !octo_port_is(&octo->port[pf], OCTO_PORT_IDLE))
			continue;
		end_on_pf(octo, pf, "a template table",
			  rte_flow_template_table_destroy(port, on, &error), &error);
	}
	free(t);
}

/* The PF's templates of the table. */
struct templates {
	struct rte_flow_pattern_template *patterns[UINT8_MAX];
	struct rte_flow_actions_template *actions[UINT8_MAX];
};

/* Returns false if the PF lacks some, as it became the proxy after they were made. */
static bool
find_templates(const struct octo_port *port, const struct rte_flow_template_table *t, uint8_t pf,
	       struct templates *on)
{
	bool has = true;

	for (uint8_t i = 0; i < t->nb_patterns; i++) {
		on->patterns[i] = octo_port_object(port, &t->patterns[i]->on[pf]);
		has &= on->patterns[i] != NULL;
	}
	for (uint8_t i = 0; i < t->nb_actions; i++) {
		on->actions[i] = octo_port_object(port, &t->actions[i]->on[pf]);
		has &= on->actions[i] != NULL;
	}
	return has;
}

static int
create_table_on_pfs(const struct octo_dev *octo, struct rte_flow_template_table *t,
		    const struct rte_flow_template_table_attr *attr, struct rte_flow_error *error)
{
	bool any = false;
	int pf;

	OCTO_FOREACH_PORT(octo, pf, OCTO_PORT_READY) {
		const struct octo_port *p = &octo->port[pf];
		const uint32_t life = p->fsm.life;
		struct templates on;

		if (t->attr.transfer && !is_transfer_proxy(p))
			continue;
		any = true;
		if (p->no_flow_queues)
			continue;
		if (!find_templates(p, t, (uint8_t)pf, &on)) {
			if (t->attr.transfer)
				continue;
			return octo_flow_fail(error, EINVAL,
					      "a template is not for the direction of the table");
		}
		t->on[pf].h = rte_flow_template_table_create(p->port_id, attr, on.patterns,
							     t->nb_patterns, on.actions,
							     t->nb_actions, error);
		t->on[pf].life = life;
		if (t->on[pf].h == NULL)
			return blame(p, -rte_errno, error);
	}
	return any || !t->attr.transfer ?
		       0 :
		       octo_flow_fail(error, ENOTSUP,
				      "the transfer proxy of the PFs' switch is not a PF of this "
				      "port: make the table there");
}

/* Create the table, whose templates are filled in. Frees it on failure. */
static int
create_table(struct octo_dev *octo, struct rte_flow_template_table *t,
	     const struct rte_flow_template_table_attr *attr, struct rte_flow_error *error)
{
	int ret;

	t->attr = attr->flow_attr;
	ret = create_table_on_pfs(octo, t, attr, error);
	if (ret != 0) {
		free_table(octo, t);
		rte_errno = -ret;
		return ret;
	}
	count_users(t, 1);
	LIST_INSERT_HEAD(&octo->async->tables, t, next);
	return 0;
}

static int
destroy_table(struct octo_dev *octo, struct rte_flow_template_table *t,
	      struct rte_flow_error *error)
{
	if (t->nb_flows != 0)
		return octo_flow_fail(error, EBUSY, "the table has rules: destroy them first");
	count_users(t, -1);
	LIST_REMOVE(t, next);
	free_table(octo, t);
	return 0;
}

/* The port is closed: destroy what the application did not destroy. The rules are gone by then. */
void
octo_template_free_locked(struct octo_dev *octo)
{
	struct rte_flow_template_table *table;
	struct octo_pf_template *t;

	if (octo->async == NULL)
		return;
	while ((table = LIST_FIRST(&octo->async->tables)) != NULL) {
		LIST_REMOVE(table, next);
		free_table(octo, table);
	}
	while ((t = LIST_FIRST(&octo->async->templates)) != NULL) {
		LIST_REMOVE(t, next);
		free_template(octo, t);
	}
	free_queues(octo->async);
	octo->async = NULL;
}

int
octo_flow_info_get(struct rte_eth_dev *dev, struct rte_flow_port_info *port,
		   struct rte_flow_queue_info *queue, struct rte_flow_error *error)
{
	uint32_t max_size;
	int ret = OCTO_CALL_LOCKED(dev, info_get_locked, port, &max_size, error);

	if (ret == 0 && queue != NULL)
		queue->max_size = max_size;
	return ret;
}

int
octo_flow_configure(struct rte_eth_dev *dev, const struct rte_flow_port_attr *attr,
		    uint16_t nb_queue, const struct rte_flow_queue_attr *queue_attr[],
		    struct rte_flow_error *error)
{
	return OCTO_CALL_LOCKED(dev, configure_locked, attr, nb_queue, queue_attr, error);
}

struct rte_flow_pattern_template *
octo_flow_pattern_template_create(struct rte_eth_dev *dev,
				  const struct rte_flow_pattern_template_attr *attr,
				  const struct rte_flow_item pattern[],
				  struct rte_flow_error *error)
{
	const struct making m = {.pattern_attr = attr, .pattern = pattern};

	return (void *)OCTO_CALL_LOCKED(dev, create_template, &m, error);
}

int
octo_flow_pattern_template_destroy(struct rte_eth_dev *dev, struct rte_flow_pattern_template *t,
				   struct rte_flow_error *error)
{
	return OCTO_CALL_LOCKED(dev, destroy_template, (void *)t, error);
}

struct rte_flow_actions_template *
octo_flow_actions_template_create(struct rte_eth_dev *dev,
				  const struct rte_flow_actions_template_attr *attr,
				  const struct rte_flow_action actions[],
				  const struct rte_flow_action masks[],
				  struct rte_flow_error *error)
{
	const struct making m = {.actions_attr = attr, .actions = actions, .masks = masks};

	return (void *)OCTO_CALL_LOCKED(dev, create_template, &m, error);
}

int
octo_flow_actions_template_destroy(struct rte_eth_dev *dev, struct rte_flow_actions_template *t,
				   struct rte_flow_error *error)
{
	return OCTO_CALL_LOCKED(dev, destroy_template, (void *)t, error);
}

struct rte_flow_template_table *
octo_flow_template_table_create(struct rte_eth_dev *dev,
				const struct rte_flow_template_table_attr *attr,
				struct rte_flow_pattern_template *patterns[], uint8_t nb_patterns,
				struct rte_flow_actions_template *actions[], uint8_t nb_actions,
				struct rte_flow_error *error)
{
	struct rte_flow_template_table *t = calloc(1, sizeof(*t));

	if (t == NULL) {
		octo_flow_fail(error, ENOMEM, "no memory for the template table");
		return NULL;
	}
	t->nb_patterns = nb_patterns;
	t->nb_actions = nb_actions;
	memcpy(t->patterns, patterns, nb_patterns * sizeof(patterns[0]));
	memcpy(t->actions, actions, nb_actions * sizeof(actions[0]));
	return OCTO_CALL_LOCKED(dev, create_table, t, attr, error) == 0 ? t : NULL;
}

int
octo_flow_template_table_destroy(struct rte_eth_dev *dev, struct rte_flow_template_table *t,
				 struct rte_flow_error *error)
{
	return OCTO_CALL_LOCKED(dev, destroy_table, t, error);
}
