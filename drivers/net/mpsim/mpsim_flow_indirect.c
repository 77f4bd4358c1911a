/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Indirect actions: a destination, a counter or an age that rules of the PF share. A rule has a
 * pointer to it, so an update takes effect for all rules at once.
 */

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "mpsim_caps.h"
#include "mpsim_flow.h"
#include "mpsim_flow_ops.h"
#include "octo_dialect.h"

static int
refuse(struct rte_flow_error *error, int code, const char *why)
{
	return mpsim_flow_refuse(error, code, RTE_FLOW_ERROR_TYPE_ACTION, "%s", why);
}

/* Create a destination, as for a rule with this action alone. */
static int
make_dest(struct mpsim_pf *pf, const struct rte_flow_action *action, struct mpsim_dest *dest,
	  struct rte_flow_error *error)
{
	const struct rte_flow_action actions[] = {*action, {.type = RTE_FLOW_ACTION_TYPE_END}};
	const struct rte_flow_attr attr = {.ingress = 1};
	struct mpsim_orders orders;
	struct mpsim_fate fate;
	int ret = mpsim_actions_read(&attr, actions, &orders, error);

	if (ret == 0)
		ret = mpsim_actions_check(pf, &orders, error);
	if (ret == 0)
		ret = mpsim_fate_make(pf, &orders, &fate, error);
	if (ret == 0)
		*dest = fate.own;
	return ret;
}

static int
check_create(const struct mpsim_pf *pf, const struct rte_flow_indir_action_conf *conf,
	     const struct rte_flow_action *action, struct rte_flow_error *error)
{
	if (rte_eal_process_type() != RTE_PROC_PRIMARY)
		return refuse(error, ENOTSUP, "indirect actions belong to the primary process");
	if (conf == NULL || action == NULL)
		return refuse(error, EINVAL, "the configuration or the action is missing");
	if (!conf->ingress && !conf->transfer)
		return refuse(error, ENOTSUP, "an indirect action is for ingress or for transfer");
	if (conf->transfer && action->type != RTE_FLOW_ACTION_TYPE_COUNT)
		return refuse(error, ENOTSUP, "of indirect actions only count goes with transfer");
	return mpsim_caps_need(pf, MPSIM_CAP_INDIRECT, error);
}

static int
make_counter(const struct mpsim_pf *pf, struct rte_flow_action_handle *h,
	     struct rte_flow_error *error)
{
	int ret = mpsim_caps_need(pf, MPSIM_CAP_COUNT, error);

	if (ret != 0)
		return ret;
	h->counter = rte_zmalloc("mpsim_counter", sizeof(*h->counter), 0);
	if (h->counter == NULL)
		return refuse(error, ENOMEM, "no memory for the counter");
	h->counter->refs = 1;
	return 0;
}

static int
make_age(struct mpsim_pf *pf, struct rte_flow_action_handle *h,
	 const struct rte_flow_action_age *conf, struct rte_flow_error *error)
{
	int ret = mpsim_caps_need(pf, MPSIM_CAP_AGE, error);

	if (ret != 0)
		return ret;
	if (conf == NULL || conf->timeout == 0)
		return refuse(error, EINVAL, "age needs a timeout of at least a second");
	h->age = mpsim_age_create(pf, conf);
	if (h->age == NULL)
		return refuse(error, ENOMEM, "no memory for the age");
	if (conf->context == NULL)
		h->age->context = h;
	return 0;
}

static int
fill_handle(struct mpsim_pf *pf, struct rte_flow_action_handle *h,
	    const struct rte_flow_action *action, struct rte_flow_error *error)
{
	int ret = 0;

	switch (action->type) {
	case RTE_FLOW_ACTION_TYPE_RSS:
	case RTE_FLOW_ACTION_TYPE_QUEUE:
		ret = mpsim_caps_need(pf,
				      action->type == RTE_FLOW_ACTION_TYPE_RSS ?
					      MPSIM_CAP_RSS :
					      MPSIM_CAP_INDIRECT_QUEUE,
				      error);
		return ret != 0 ? ret : make_dest(pf, action, &h->dest, error);
	case RTE_FLOW_ACTION_TYPE_COUNT:
		return make_counter(pf, h, error);
	case RTE_FLOW_ACTION_TYPE_AGE:
		return make_age(pf, h, action->conf, error);
	default:
		return refuse(error, ENOTSUP, "queue, rss, count and age can be indirect actions");
	}
}

struct rte_flow_action_handle *
mpsim_indirect_create(struct rte_eth_dev *dev, const struct rte_flow_indir_action_conf *conf,
		      const struct rte_flow_action *action, struct rte_flow_error *error)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	struct rte_flow_action_handle *h;

	if (check_create(pf, conf, action, error) != 0)
		return NULL;
	h = rte_zmalloc("mpsim_handle", sizeof(*h), 0);
	if (h == NULL) {
		refuse(error, ENOMEM, "no memory for the indirect action");
		return NULL;
	}
	h->pf = pf;
	h->type = action->type;
	if (fill_handle(pf, h, action, error) != 0) {
		rte_free(h);
		return NULL;
	}
	mpsim_nic_lock(pf->nic);
	LIST_INSERT_HEAD(&pf->handles, h, list);
	mpsim_nic_unlock(pf->nic);
	return h;
}

static void
free_handle(struct mpsim_pf *pf, struct rte_flow_action_handle *h)
{
	mpsim_nic_lock(pf->nic);
	LIST_REMOVE(h, list);
	mpsim_nic_unlock(pf->nic);
	mpsim_dest_release(pf, &h->dest);
	if (h->age != NULL)
		mpsim_age_put(pf, h->age);
	rte_free(h->counter);
	rte_free(h);
}

int
mpsim_indirect_destroy(struct rte_eth_dev *dev, struct rte_flow_action_handle *h,
		       struct rte_flow_error *error)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	uint32_t users;

	mpsim_nic_lock(pf->nic);
	users = h->counter != NULL ? h->counter->refs - 1 :
		h->age != NULL     ? h->age->refs - 1 :
				     h->users;
	mpsim_nic_unlock(pf->nic);
	if (users != 0)
		return mpsim_flow_refuse(error, EBUSY, RTE_FLOW_ERROR_TYPE_ACTION,
					 "%u rules have the indirect action: destroy them first",
					 users);
	free_handle(pf, h);
	return 0;
}

/* The update is an action of the same type, or for AGE a struct rte_flow_update_age. */
int
mpsim_indirect_read_update(struct mpsim_pf *pf, const struct rte_flow_action_handle *h,
			   const void *given, struct mpsim_indirect_update *update,
			   struct rte_flow_error *error)
{
	const struct rte_flow_action *action = given;

	if (h->type == RTE_FLOW_ACTION_TYPE_COUNT)
		return refuse(error, ENOTSUP,
			      "of indirect actions queue, rss and age can be updated");
	if (given == NULL || (h->type != RTE_FLOW_ACTION_TYPE_AGE && action->type != h->type))
		return refuse(error, EINVAL,
			      "the update of an indirect action is an action of its type");
	*update = (struct mpsim_indirect_update){0};
	if (h->type != RTE_FLOW_ACTION_TYPE_AGE)
		return make_dest(pf, action, &update->dest, error);
	memcpy(&update->age, given, sizeof(update->age));
	if (update->age.timeout_valid && update->age.timeout == 0)
		return refuse(error, EINVAL, "age needs a timeout of at least a second");
	return 0;
}

static void
apply_age(struct mpsim_pf *pf, struct mpsim_age *age, const struct rte_flow_update_age *update)
{
	if (update->timeout_valid)
		mpsim_age_set(pf, age, update->timeout);
	else if (update->touch)
		mpsim_age_set(pf, age, age->timeout / rte_get_timer_hz());
}

int
mpsim_indirect_apply(struct mpsim_pf *pf, struct rte_flow_action_handle *h,
		     const struct mpsim_indirect_update *update, struct rte_flow_error *error)
{
	struct mpsim_dest old = update->dest;
	struct mpsim_fate_of_rule fault;

	if (h->age != NULL) {
		apply_age(pf, h->age, &update->age);
		return 0;
	}
	fault = mpsim_fault_next_rule(pf);
	mpsim_fault_wait(fault.us / 2);
	if (fault.code == 0 && !fault.lost) {
		mpsim_nic_lock(pf->nic);
		old = h->dest;
		h->dest = update->dest;
		mpsim_nic_unlock(pf->nic);
	}
	mpsim_fault_wait(fault.us - fault.us / 2);
	mpsim_dest_release(pf, &old);
	return mpsim_flow_tell_fault(pf, &fault, error);
}

int
mpsim_indirect_update(struct rte_eth_dev *dev, struct rte_flow_action_handle *h, const void *update,
		      struct rte_flow_error *error)
{
	struct mpsim_pf *pf = dev->data->dev_private;
	struct mpsim_indirect_update u;
	int ret = mpsim_indirect_read_update(pf, h, update, &u, error);

	return ret != 0 ? ret : mpsim_indirect_apply(pf, h, &u, error);
}

int
mpsim_indirect_query(struct rte_eth_dev *dev, const struct rte_flow_action_handle *h, void *data,
		     struct rte_flow_error *error)
{
	const struct mpsim_pf *pf = dev->data->dev_private;

	if (h->counter == NULL && h->age == NULL)
		return refuse(error, ENOTSUP, "of indirect actions count and age can be queried");
	mpsim_nic_lock(pf->nic);
	if (h->counter != NULL)
		mpsim_counter_query_locked(h->counter, data);
	else
		mpsim_age_query(h->age, data);
	mpsim_nic_unlock(pf->nic);
	return 0;
}

void
mpsim_indirect_use_locked(struct mpsim_dest *shared)
{
	container_of(shared, struct rte_flow_action_handle, dest)->users++;
}

void
mpsim_indirect_leave(struct mpsim_nic *nic, struct mpsim_dest *shared)
{
	struct rte_flow_action_handle *h;
	bool orphan;

	mpsim_nic_lock(nic);
	h = container_of(shared, struct rte_flow_action_handle, dest);
	orphan = --h->users == 0 && h->pf == NULL;
	mpsim_nic_unlock(nic);
	if (orphan)
		rte_free(h);
}

bool
mpsim_indirect_is_for(const struct mpsim_pf *pf, const struct rte_flow_action_handle *h)
{
	const struct mpsim_nic *nic = pf->nic;

	return h == NULL || h->pf == pf ||
	       (h->pf != NULL && h->pf->nic == nic &&
		(nic->dialect == OCTO_DIALECT_INDIRECT || nic->takes_any_dialect));
}

/*
 * Free all indirect actions of a PF that is closing; its rules were freed before. Those of other
 * PFs that lead to it drop their packets from now on.
 */
void
mpsim_indirect_free_all(struct mpsim_pf *pf)
{
	struct rte_flow_action_handle *h;

	while ((h = LIST_FIRST(&pf->handles)) != NULL) {
		struct mpsim_dest old = {0};
		bool is_used;

		mpsim_nic_lock(pf->nic);
		is_used = h->users > 0;
		if (is_used) {
			LIST_REMOVE(h, list);
			old = h->dest;
			h->dest = (struct mpsim_dest){.port = old.port, .kind = MPSIM_TO_DROP};
			h->pf = NULL;
		}
		mpsim_nic_unlock(pf->nic);
		/* its last user may have freed it since */
		if (is_used)
			mpsim_dest_release(pf, &old);
		else
			free_handle(pf, h);
	}
}
