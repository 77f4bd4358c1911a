/* SPDX-License-Identifier: BSD-3-Clause */

/* Updates of indirect actions: a new queue moves the flows of all rules that have the action. */

#include <errno.h>

#include <rte_malloc.h>

#include "octo_private.h"

/* Update on every PF, or on none: after an error the PFs updated before are restored. */
static int
update_on_pfs(struct octo_dev *octo, struct rte_flow_action_handle *handle, const void *update,
	      const void *undo, struct rte_flow_error *error)
{
	int ret = 0;
	int port;

	for (port = 0; ret == 0 && port < octo->nb_ports; port++)
		ret = octo_indirect_update_on_pf(octo, handle, (uint8_t)port, update, error);
	if (ret == 0)
		return 0;
	for (port -= 2; port >= 0; port--)
		octo_indirect_update_on_pf(octo, handle, (uint8_t)port, undo, NULL);
	rte_errno = -ret;
	return ret;
}

/* rte_flow: the update is an action of the same type. */
static int
check_update(const struct rte_flow_action_handle *handle, const struct rte_flow_action *update,
	     struct rte_flow_error *error)
{
	if (update == NULL || update->type != handle->action->type || update->conf == NULL)
		return octo_flow_refuse(error, EINVAL,
					"the update of an indirect queue or rss "
					"action is an action of the same type");
	return 0;
}

static int
update_action(struct octo_dev *octo, struct rte_flow_action_handle *handle,
	      const struct rte_flow_action *update, struct rte_flow_error *error)
{
	struct rte_flow_action *old = handle->action;
	struct rte_flow_action *new;
	int ret = check_update(handle, update, error);

	if (ret == 0)
		ret = octo_indirect_check_action(octo, update, error);
	if (ret != 0)
		return ret;
	new = octo_indirect_copy_action(update, error);
	if (new == NULL)
		return -rte_errno;
	if (new->type == RTE_FLOW_ACTION_TYPE_QUEUE)
		ret = octo_move_indirect_locked(octo, handle, old, new, error);
	else
		ret = update_on_pfs(octo, handle, new, old, error);
	if (ret == 0)
		handle->action = new;
	rte_free(ret == 0 ? old : new);
	return ret;
}

static int
update_age(struct octo_dev *octo, struct rte_flow_action_handle *handle,
	   const struct rte_flow_update_age *update, struct rte_flow_error *error)
{
	struct rte_flow_action_age *age = (void *)(uintptr_t)handle->action->conf;
	const struct rte_flow_update_age undo = {.timeout_valid = 1, .timeout = age->timeout};
	int ret;

	if (update == NULL)
		return octo_flow_refuse(error, EINVAL, "the update is missing");
	ret = update_on_pfs(octo, handle, update, &undo, error);
	if (ret == 0 && update->timeout_valid)
		age->timeout = update->timeout;
	return ret;
}

int
octo_indirect_update_locked(struct octo_dev *octo, struct rte_flow_action_handle *handle,
			    const void *update, struct rte_flow_error *error)
{
	switch (handle->action->type) {
	case RTE_FLOW_ACTION_TYPE_QUEUE:
	case RTE_FLOW_ACTION_TYPE_RSS:
		return update_action(octo, handle, update, error);
	case RTE_FLOW_ACTION_TYPE_AGE:
		return update_age(octo, handle, update, error);
	default:
		return octo_flow_refuse(error, ENOTSUP,
					"of indirect actions queue, rss and age can be updated");
	}
}

/* A copy of the update for use in a flow queue; to be freed by rte_free(). NULL on error. */
void *
octo_indirect_copy_update(const struct rte_flow_action_handle *handle, const void *update,
			  struct rte_flow_error *error)
{
	struct rte_flow_update_age *age;

	if (handle->action->type != RTE_FLOW_ACTION_TYPE_AGE)
		return check_update(handle, update, error) == 0 ?
			       octo_indirect_copy_action(update, error) :
			       NULL;
	age = update == NULL ? NULL : rte_malloc("octo_indirect", sizeof(*age), 0);
	if (age == NULL)
		octo_flow_refuse(error, EINVAL,
				 "the update is missing, or there is no memory for it");
	else
		memcpy(age, update, sizeof(*age));
	return age;
}
