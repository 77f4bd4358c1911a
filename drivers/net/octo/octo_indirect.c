/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Indirect actions of the port: on every PF, or on none. An update changes all rules that refer
 * to the action; if the action is QUEUE, their home PF may change too.
 */

#include <errno.h>

#include <rte_malloc.h>

#include "octo_clock.h"
#include "octo_private.h"
#include "octo_spec.h"

/* An ethdev without the operation returns no message of its own. */
static int
blame(const struct octo_port *port, int ret, struct rte_flow_error *error)
{
	if (ret == -ENOSYS)
		octo_flow_refuse(error, ENOSYS, "it has no indirect actions");
	return octo_flow_blame(port, ret, error);
}

/* A PF that is about to be removed takes its handle along, and is not called any more. */
static bool
is_on(const struct octo_dev *octo, const struct rte_flow_action_handle *handle, uint8_t port)
{
	return octo_indirect_handle_on(handle, port) != NULL &&
	       octo_port_is(&octo->port[port], OCTO_PORT_IDLE);
}

static int
remove_from_pf(struct octo_dev *octo, struct rte_flow_action_handle *handle, uint8_t port,
	       struct rte_flow_error *error)
{
	const struct octo_port *p = &octo->port[port];
	int ret;

	if (!is_on(octo, handle, port))
		return 0;
	ret = rte_flow_action_handle_destroy(p->port_id, octo_indirect_handle_on(handle, port),
					     error);
	ret = octo_flow_destroyed(p, ret, error);
	if (ret == 0)
		handle->on[port] = (struct octo_handle){0};
	return ret;
}

/* Goes on after an error and returns the first one. */
static int
remove_from_pfs(struct octo_dev *octo, struct rte_flow_action_handle *handle,
		struct rte_flow_error *error)
{
	int first_error = 0;

	for (uint8_t port = 0; port < octo->nb_ports; port++) {
		int ret = remove_from_pf(octo, handle, port, first_error == 0 ? error : NULL);

		if (first_error == 0)
			first_error = ret;
	}
	return first_error;
}

static int
insert_on_pf(struct octo_dev *octo, struct rte_flow_action_handle *handle, uint8_t port,
	     struct rte_flow_error *error)
{
	const struct octo_port *p = &octo->port[port];
	const uint32_t life = p->fsm.life;
	struct octo_indirect_own own;
	const struct rte_flow_action *action = octo_indirect_one_on_pf(octo, handle->action, &own);
	void *on = rte_flow_action_handle_create(p->port_id, &handle->conf, action, error);

	handle->on[port] = octo_handle_make(on, life);
	return on != NULL ? 0 : blame(p, -rte_errno, error);
}

/* Insert on those of these ports that lack it. Goes on after an error; returns the first one. */
static int
complete(struct octo_dev *octo, struct rte_flow_action_handle *handle, uint32_t ports,
	 struct rte_flow_error *error)
{
	int first_error = 0;
	int port;

	OCTO_FOREACH_PORT(octo, port, OCTO_PORT_RUNNING) {
		int ret = 0;

		if ((ports & RTE_BIT32(port)) && octo_indirect_handle_on(handle, port) == NULL)
			ret = insert_on_pf(octo, handle, (uint8_t)port,
					   first_error == 0 ? error : NULL);
		/* rules that have the action are made without it, too */
		if (ret != 0 && !octo->sliced && octo_port_excuse_locked(octo, (uint8_t)port, ret))
			ret = 0;
		if (first_error == 0)
			first_error = ret;
	}
	return first_error;
}

static int
insert_on_pfs(struct octo_dev *octo, struct rte_flow_action_handle *handle,
	      struct rte_flow_error *error)
{
	const int ret = complete(octo, handle, UINT32_MAX, error);

	if (ret != 0) {
		remove_from_pfs(octo, handle, NULL);
		rte_errno = -ret;
	}
	return ret;
}

/* Returns a copy, to be freed by rte_free(), or NULL. */
struct rte_flow_action *
octo_indirect_copy_action(const struct rte_flow_action *action, struct rte_flow_error *error)
{
	const int size = octo_spec_copy(RTE_FLOW_CONV_OP_ACTION, NULL, 0, action, error);
	const struct rte_flow_action list[] = {*action, {.type = RTE_FLOW_ACTION_TYPE_END}};
	const struct rte_flow_action *nested;
	struct rte_flow_action *copy;

	if (size < 0 || octo_app_spec_check_samples(list, error) != 0)
		return NULL;
	nested = octo_spec_nested(action);
	if (nested != NULL && octo_indirect_is_in(nested)) {
		octo_flow_refuse(error, EINVAL, "an indirect action cannot have another one in it");
		return NULL;
	}
	copy = rte_malloc("octo_indirect", (size_t)size, 0);
	if (copy == NULL)
		octo_flow_refuse(error, ENOMEM, "no memory for the indirect action");
	else
		octo_spec_copy(RTE_FLOW_CONV_OP_ACTION, copy, (size_t)size, action, NULL);
	return copy;
}

int
octo_indirect_check_action(const struct octo_dev *octo, const struct rte_flow_action *action,
			   struct rte_flow_error *error)
{
	const struct rte_flow_action list[] = {*action, {.type = RTE_FLOW_ACTION_TYPE_END}};
	const struct rte_flow_action_queue *queue = action->conf;
	int ret;

	if (octo->tier_wanted == OCTO_TIER_NONE)
		return octo_flow_error_tier(error);
	if (!octo->started)
		return octo_flow_refuse(error, EINVAL, "the port is stopped: start it first");
	if (action->type == RTE_FLOW_ACTION_TYPE_INDIRECT)
		return octo_flow_refuse(error, EINVAL, "an indirect action cannot be one itself");
	if (action->conf == NULL && (action->type == RTE_FLOW_ACTION_TYPE_QUEUE ||
				     action->type == RTE_FLOW_ACTION_TYPE_AGE))
		return octo_flow_refuse(error, EINVAL, "the action has no configuration");
	if (octo->sliced) {
		/* validates what the action leads to, which the check walks over */
		ret = octo_spec_copy(RTE_FLOW_CONV_OP_ACTION, NULL, 0, action, error);
		return ret < 0 ? ret : octo_indirect_check(octo, list, error);
	}
	return action->type == RTE_FLOW_ACTION_TYPE_QUEUE ?
		       octo_flow_error_check_queue(octo, queue->index, error) :
		       0;
}

/*
 * Without a context a PF reports an aged action by its own handle, which is unknown to octo and
 * the application.
 */
static void
set_age_context(struct rte_flow_action_handle *handle)
{
	const struct rte_flow_action *action = handle->action;
	struct rte_flow_action_age *age;

	if (action == NULL || action->type != RTE_FLOW_ACTION_TYPE_AGE || action->conf == NULL)
		return;
	age = (void *)(uintptr_t)action->conf;
	if (age->context == NULL)
		age->context = handle;
}

static void
remove_handle(struct octo_dev *octo, struct rte_flow_action_handle *handle)
{
	if (octo->sync.handle == handle)
		octo->sync.handle = TAILQ_NEXT(handle, next);
	TAILQ_REMOVE(&octo->indirects, handle, next);
}

static void
free_handle(struct rte_flow_action_handle *handle)
{
	struct octo_dev *octo = handle->octo;

	for (uint8_t port = 0; port < octo->nb_ports; port++)
		octo_port_orphan(&octo->port[port], &handle->on[port]);
	rte_free(handle->action);
	rte_free(handle);
}

struct rte_flow_action_handle *
octo_indirect_create_locked(struct octo_dev *octo, const struct rte_flow_indir_action_conf *conf,
			    const struct rte_flow_action *action, struct rte_flow_error *error)
{
	struct rte_flow_action_handle *handle;

	octo_assert_locked(octo);
	if (conf == NULL || action == NULL) {
		octo_flow_refuse(error, EINVAL, "the configuration or the action is missing");
		return NULL;
	}
	if (octo_indirect_check_action(octo, action, error) != 0)
		return NULL;
	handle = rte_zmalloc("octo_indirect", sizeof(*handle), 0);
	if (handle == NULL) {
		octo_flow_refuse(error, ENOMEM, "no memory for the indirect action");
		return NULL;
	}
	handle->octo = octo;
	handle->conf = *conf;
	handle->action = octo_indirect_copy_action(action, error);
	set_age_context(handle);
	if (handle->action == NULL || insert_on_pfs(octo, handle, error) != 0) {
		free_handle(handle);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&octo->indirects, handle, next);
	return handle;
}

int
octo_indirect_destroy_locked(struct octo_dev *octo, struct rte_flow_action_handle *handle,
			     struct rte_flow_error *error)
{
	int ret;

	octo_assert_locked(octo);
	if (handle->users != 0)
		return octo_flow_refuse(error, EBUSY,
					"rules or templates have this indirect "
					"action: destroy them first");
	if (handle->pending != 0)
		return octo_flow_refuse(error, EBUSY,
					"a flow queue has operations on this indirect action: push "
					"it, and pull their results first");
	ret = remove_from_pfs(octo, handle, error);
	if (ret != 0) {
		/* the handle stays: the others get it again */
		complete(octo, handle, UINT32_MAX, NULL);
		rte_errno = -ret;
		return ret;
	}
	remove_handle(octo, handle);
	free_handle(handle);
	return 0;
}

/* Update the action on one PF; 0 also if that PF does not have it. */
int
octo_indirect_update_on_pf(struct octo_dev *octo, struct rte_flow_action_handle *handle,
			   uint8_t port, const void *update, struct rte_flow_error *error)
{
	struct octo_indirect_own own;
	int ret;

	if (!is_on(octo, handle, port))
		return 0;
	if (handle->action->type != RTE_FLOW_ACTION_TYPE_AGE)
		update = octo_indirect_one_on_pf(octo, update, &own);
	ret = rte_flow_action_handle_update(octo->port[port].port_id,
					    octo_indirect_handle_on(handle, port), update, error);
	return ret == 0 ? 0 : blame(&octo->port[port], ret, error);
}

static int
query_on_pf(struct octo_dev *octo, const struct rte_flow_action_handle *handle, uint8_t port,
	    void *data, struct rte_flow_error *error)
{
	const struct octo_port *p = &octo->port[port];
	int ret = rte_flow_action_handle_query(p->port_id, octo_indirect_handle_on(handle, port),
					       data, error);

	return ret == 0 ? 0 : blame(p, ret, error);
}

static int
count_on_pf(struct octo_dev *octo, struct rte_flow_action_handle *handle, uint8_t port,
	    struct rte_flow_query_count *one, struct rte_flow_error *error)
{
	const int ret = query_on_pf(octo, handle, port, one, error);

	if (ret == 0)
		octo_kept_hits_read(&handle->kept, port, &handle->on[port],
				    (struct octo_hits){one->hits, one->bytes});
	return ret;
}

/* Query the sum over the PFs. */
static int
query_count(struct octo_dev *octo, struct rte_flow_action_handle *handle,
	    struct rte_flow_query_count *sum, struct rte_flow_error *error)
{
	const bool reset = sum->reset;
	struct octo_hits hits;

	*sum = (struct rte_flow_query_count){.reset = reset, .hits_set = 1, .bytes_set = 1};
	for (uint8_t port = 0; port < octo->nb_ports; port++) {
		struct rte_flow_query_count one = {.reset = reset};
		int ret;

		if (!is_on(octo, handle, port))
			continue;
		ret = count_on_pf(octo, handle, port, &one, error);
		if (ret != 0)
			return ret;
		sum->hits_set &= one.hits_set;
		sum->bytes_set &= one.bytes_set;
		/* the PF begins anew, also if the next one refuses */
		if (reset)
			octo_kept_hits_end(&handle->kept, port);
	}
	hits = octo_kept_hits_sum(&handle->kept);
	sum->hits = hits.hits;
	sum->bytes = hits.bytes;
	if (reset)
		handle->kept = (struct octo_kept_hits){0};
	return 0;
}

static int
query_age(struct octo_dev *octo, struct rte_flow_action_handle *handle,
	  struct rte_flow_query_age *all, struct rte_flow_error *error)
{
	bool any = false;

	*all = (struct rte_flow_query_age){.aged = 1};
	for (uint8_t port = 0; port < octo->nb_ports; port++) {
		struct rte_flow_query_age one = {0};
		int ret;

		if (!is_on(octo, handle, port))
			continue;
		ret = query_on_pf(octo, handle, port, &one, error);
		if (ret != 0)
			return ret;
		octo_rule_hits_merge_age(all, &one);
		any = true;
	}
	octo_rule_hits_merge_lost(octo, handle->action, all);
	return any ? 0 : octo_flow_refuse(error, ENODEV, "no PF has this indirect action now");
}

int
octo_indirect_query_locked(struct octo_dev *octo, const struct rte_flow_action_handle *handle,
			   void *data, struct rte_flow_error *error)
{
	struct rte_flow_action_handle *h = (void *)(uintptr_t)handle;

	switch (handle->action->type) {
	case RTE_FLOW_ACTION_TYPE_COUNT:
		return query_count(octo, h, data, error);
	case RTE_FLOW_ACTION_TYPE_AGE:
		return query_age(octo, h, data, error);
	default:
		return octo_flow_refuse(error, ENOTSUP,
					"of indirect actions count and age can be queried");
	}
}

/* The port starts: create all handles on the PFs. */
int
octo_indirect_install_locked(struct octo_dev *octo)
{
	struct rte_flow_action_handle *handle;
	struct rte_flow_error error = {.message = NULL};

	octo_assert_locked(octo);
	TAILQ_FOREACH(handle, &octo->indirects, next) {
		int ret = insert_on_pfs(octo, handle, &error);

		if (ret == 0)
			continue;
		OCTO_LOG(ERR, "port %u: an indirect action cannot be kept: %s", octo->port_id,
			 error.message);
		octo_indirect_withdraw_locked(octo);
		return ret;
	}
	return 0;
}

/* Create the handles of the other PFs on the one that joins, or is tried again. */
int
octo_indirect_join_locked(struct octo_dev *octo)
{
	const uint32_t ports = RTE_BIT32(octo->sync.joining.port);
	struct rte_flow_action_handle *handle;
	int ret = 0;

	TAILQ_FOREACH(handle, &octo->indirects, next) {
		if (ret == 0)
			ret = complete(octo, handle, ports, NULL);
		if (ret == 0)
			ret = octo->sync.joining.ret;
	}
	return ret;
}

/* Inverse of octo_indirect_join_locked(): remove all handles from this PF. */
void
octo_indirect_leave_locked(struct octo_dev *octo, uint8_t port)
{
	struct rte_flow_action_handle *handle;

	TAILQ_FOREACH(handle, &octo->indirects, next) {
		remove_from_pf(octo, handle, port, NULL);
		handle->on[port] = (struct octo_handle){0};
	}
}

/* The PF is about to go: keep what the actions have counted on it, as far as there is time. */
void
octo_indirect_keep_pf_locked(struct octo_dev *octo, uint8_t port, uint64_t until)
{
	struct rte_flow_action_handle *handle;

	TAILQ_FOREACH(handle, &octo->indirects, next) {
		struct rte_flow_query_count count = {0};

		if (octo_now() >= until)
			break;
		if (handle->action->type == RTE_FLOW_ACTION_TYPE_COUNT && is_on(octo, handle, port))
			count_on_pf(octo, handle, port, &count, NULL);
	}
}

/* A COUNT continues across the stop: it is read before its handles are removed, and kept here. */
static void
withdraw(struct octo_dev *octo, struct rte_flow_action_handle *handle)
{
	struct rte_flow_query_count count = {0};

	if (handle->action->type == RTE_FLOW_ACTION_TYPE_COUNT)
		query_count(octo, handle, &count, NULL);
	remove_from_pfs(octo, handle, NULL);
	for (uint8_t port = 0; port < octo->nb_ports; port++)
		if (octo_indirect_handle_on(handle, port) == NULL)
			octo_kept_hits_end(&handle->kept, port);
}

/* The inverse of octo_indirect_install_locked(), at port stop: not all PFs keep such objects. */
void
octo_indirect_withdraw_locked(struct octo_dev *octo)
{
	struct rte_flow_action_handle *handle;

	TAILQ_FOREACH(handle, &octo->indirects, next)
		withdraw(octo, handle);
}

/* The port is closed, and rules and templates are gone: destroy the remaining handles. */
void
octo_indirect_free_locked(struct octo_dev *octo)
{
	struct rte_flow_action_handle *handle;

	while ((handle = TAILQ_FIRST(&octo->indirects)) != NULL) {
		remove_from_pfs(octo, handle, NULL);
		remove_handle(octo, handle);
		free_handle(handle);
	}
}

/* The port is about to have fewer queues: -EBUSY if an action leads to one of those that go. */
int
octo_indirect_fit_locked(const struct octo_dev *octo, uint16_t nb_queues)
{
	const struct rte_flow_action_handle *handle;

	TAILQ_FOREACH(handle, &octo->indirects, next) {
		const struct rte_flow_action list[] = {*handle->action,
						       {.type = RTE_FLOW_ACTION_TYPE_END}};
		const int queue = octo_app_spec_max_queue(list, false);

		if (queue < nb_queues)
			continue;
		OCTO_LOG(ERR,
			 "port %u: an indirect action leads to queue %d: destroy it before "
			 "there are only %u queues",
			 octo->port_id, queue, nb_queues);
		return -EBUSY;
	}
	return 0;
}
