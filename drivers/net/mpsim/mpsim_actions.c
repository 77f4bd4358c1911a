/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include "mpsim_flow.h"

struct reader {
	const struct rte_flow_attr *attr;
	struct mpsim_orders *orders;
	struct rte_flow_error *error;
};

static int
refuse(struct reader *r, int code, const struct rte_flow_action *action, const char *why)
{
	return rte_flow_error_set(r->error, code, RTE_FLOW_ERROR_TYPE_ACTION, action, why);
}

static int
set_dest(struct reader *r, const struct rte_flow_action *action, enum mpsim_dest_kind kind)
{
	struct mpsim_dest *dest = &r->orders->fate.own;
	const bool to_port = kind == MPSIM_TO_PORT;

	if (dest->kind != MPSIM_TO_NOTHING)
		return refuse(r, EINVAL, action,
			      "one action says where a packet goes, no more: queue, rss, drop, "
			      "passthru, jump, port_representor or represented_port");
	if (r->attr->transfer != to_port)
		return refuse(r, ENOTSUP, action,
			      "port_representor goes with transfer, and so does represented_port; "
			      "queue, rss, drop, passthru and jump go with ingress");
	if (action->conf == NULL && kind != MPSIM_TO_DROP && kind != MPSIM_TO_NEXT)
		return refuse(r, EINVAL, action, "the action has no configuration");
	dest->kind = kind;
	return 0;
}

static int
read_queue(struct reader *r, const struct rte_flow_action *action)
{
	const struct rte_flow_action_queue *conf = action->conf;
	int ret = set_dest(r, action, MPSIM_TO_QUEUE);

	if (ret == 0)
		r->orders->fate.own.target = conf->index;
	return ret;
}

static int
read_rss(struct reader *r, const struct rte_flow_action *action)
{
	int ret = set_dest(r, action, MPSIM_TO_RSS);

	if (ret == 0)
		r->orders->rss = action->conf;
	return ret;
}

static int
read_jump(struct reader *r, const struct rte_flow_action *action)
{
	const struct rte_flow_action_jump *conf = action->conf;
	int ret = set_dest(r, action, MPSIM_TO_GROUP);

	if (ret != 0)
		return ret;
	/* so that no packet is in a loop */
	if (conf->group <= r->attr->group)
		return refuse(r, EINVAL, action, "jump leads to a group of a higher number only");
	r->orders->fate.own.group = conf->group;
	return 0;
}

static int
read_port(struct reader *r, const struct rte_flow_action *action)
{
	const struct rte_flow_action_ethdev *conf = action->conf;
	int ret = set_dest(r, action, MPSIM_TO_PORT);

	if (ret != 0)
		return ret;
	r->orders->to_port = conf->port_id;
	r->orders->to_represented = action->type == RTE_FLOW_ACTION_TYPE_REPRESENTED_PORT;
	return 0;
}

/* Set an action that accompanies the one with the destination. */
static int
add(struct reader *r, const struct rte_flow_action *action, uint32_t flag)
{
	struct mpsim_fate *fate = &r->orders->fate;

	if (fate->flags & flag)
		return refuse(r, ENOTSUP, action, "this action can be given only once");
	if (r->attr->transfer && (flag & (MPSIM_FATE_MARK | MPSIM_FATE_FLAG)) != 0)
		return refuse(r, ENOTSUP, action,
			      "with transfer there are port_representor, represented_port, "
			      "count and age only");
	fate->flags |= flag;
	return 0;
}

static int
read_count(struct reader *r, const struct rte_flow_action *action)
{
	const struct rte_flow_action_count *conf = action->conf;

	r->orders->count_id = conf != NULL ? conf->id : 0;
	return add(r, action, MPSIM_FATE_COUNT);
}

static int
read_mark(struct reader *r, const struct rte_flow_action *action)
{
	const struct rte_flow_action_mark *conf = action->conf;

	if (conf == NULL)
		return refuse(r, EINVAL, action, "the action has no configuration");
	r->orders->fate.mark = conf->id;
	return add(r, action, MPSIM_FATE_MARK);
}

/* Only read the handle: its PF is checked when the rule's PF is known. */
static int
read_indirect(struct reader *r, const struct rte_flow_action *action)
{
	struct rte_flow_action_handle *h = (void *)(uintptr_t)action->conf;
	struct mpsim_orders *orders = r->orders;
	int ret;

	if (h == NULL)
		return refuse(r, EINVAL, action, "the indirect action is missing");
	if (h->counter != NULL) {
		orders->count_handle = h;
		return add(r, action, MPSIM_FATE_COUNT);
	}
	if (h->age != NULL) {
		orders->age_handle = h;
		return add(r, action, MPSIM_FATE_AGE);
	}
	ret = set_dest(r, action, h->dest.kind);
	if (ret == 0)
		orders->dest_handle = h;
	return ret;
}

static int
read_age(struct reader *r, const struct rte_flow_action *action)
{
	const struct rte_flow_action_age *conf = action->conf;

	if (conf == NULL || conf->timeout == 0 || conf->reserved != 0)
		return refuse(r, EINVAL, action, "age needs a timeout of at least a second");
	r->orders->age = conf;
	return add(r, action, MPSIM_FATE_AGE);
}

static int
read_action(struct reader *r, const struct rte_flow_action *action)
{
	switch (action->type) {
	case RTE_FLOW_ACTION_TYPE_VOID:
	case RTE_FLOW_ACTION_TYPE_PF: /* the rule's own PF */
		return 0;
	case RTE_FLOW_ACTION_TYPE_QUEUE:
		return read_queue(r, action);
	case RTE_FLOW_ACTION_TYPE_RSS:
		return read_rss(r, action);
	case RTE_FLOW_ACTION_TYPE_DROP:
		return set_dest(r, action, MPSIM_TO_DROP);
	case RTE_FLOW_ACTION_TYPE_PASSTHRU:
		return set_dest(r, action, MPSIM_TO_NEXT);
	case RTE_FLOW_ACTION_TYPE_JUMP:
		return read_jump(r, action);
	case RTE_FLOW_ACTION_TYPE_PORT_REPRESENTOR:
	case RTE_FLOW_ACTION_TYPE_REPRESENTED_PORT:
		return read_port(r, action);
	case RTE_FLOW_ACTION_TYPE_COUNT:
		return read_count(r, action);
	case RTE_FLOW_ACTION_TYPE_AGE:
		return read_age(r, action);
	case RTE_FLOW_ACTION_TYPE_MARK:
		return read_mark(r, action);
	case RTE_FLOW_ACTION_TYPE_FLAG:
		return add(r, action, MPSIM_FATE_FLAG);
	case RTE_FLOW_ACTION_TYPE_INDIRECT:
		return read_indirect(r, action);
	default:
		return refuse(r, ENOTSUP, action,
			      "unsupported action: queue, rss, drop, passthru, jump, mark, flag, "
			      "count, age, port_representor and represented_port are known");
	}
}

int
mpsim_actions_read(const struct rte_flow_attr *attr, const struct rte_flow_action actions[],
		   struct mpsim_orders *orders, struct rte_flow_error *error)
{
	struct reader r = {.attr = attr, .orders = orders, .error = error};
	const struct rte_flow_action *action;
	int ret = 0;

	*orders = (struct mpsim_orders){.to_port = MPSIM_NO_PORT};
	for (action = actions; ret == 0 && action->type != RTE_FLOW_ACTION_TYPE_END; action++)
		ret = read_action(&r, action);
	if (ret == 0 && mpsim_fate_dest(&orders->fate)->kind == MPSIM_TO_NOTHING)
		ret = refuse(&r, EINVAL, action,
			     "the rule does not say where packets go: add queue, rss, drop, "
			     "passthru or jump");
	return ret;
}

static int
check_queue(const struct mpsim_pf *pf, uint16_t queue, struct rte_flow_error *error)
{
	if (queue < pf->nb_rxq)
		return 0;
	return mpsim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
				 "queue index %u: port %s has %u Rx queues", queue, pf->data->name,
				 pf->nb_rxq);
}

static int
refuse_rss(struct rte_flow_error *error, int code, const char *why)
{
	return mpsim_flow_refuse(error, code, RTE_FLOW_ERROR_TYPE_ACTION_CONF, "rss: %s", why);
}

static int
check_rss(const struct mpsim_pf *pf, const struct rte_flow_action_rss *rss,
	  struct rte_flow_error *error)
{
	int ret = 0;

	if (rss->func != RTE_ETH_HASH_FUNCTION_DEFAULT &&
	    rss->func != RTE_ETH_HASH_FUNCTION_TOEPLITZ)
		return refuse_rss(error, ENOTSUP, "toeplitz is the only hash function");
	if (rss->level > 2)
		return refuse_rss(error, ENOTSUP, "level is 0, 1, or 2 for what a tunnel carries");
	if (rss->queue_num > MPSIM_RSS_RETA_SIZE)
		return refuse_rss(error, EINVAL, "128 queues can be named, no more");
	if (rss->queue_num > 0 && rss->queue == NULL)
		return refuse_rss(error, EINVAL, "the queues are missing");
	if (rss->queue_num == 0 && pf->nb_rxq == 0)
		return refuse_rss(error, EINVAL, "the port has no Rx queues yet");
	if (rss->key != NULL && rss->key_len != 0 && rss->key_len != MPSIM_RSS_KEY_LEN)
		return refuse_rss(error, EINVAL, "the key has 40 bytes");
	if (rss->key == NULL && rss->key_len != 0)
		return refuse_rss(error, EINVAL, "a key length without a key");
	if (rss->types & (RTE_ETH_RSS_L3_SRC_ONLY | RTE_ETH_RSS_L3_DST_ONLY |
			  RTE_ETH_RSS_L4_SRC_ONLY | RTE_ETH_RSS_L4_DST_ONLY))
		return refuse_rss(error, ENOTSUP, "both ends are hashed: no src-only or dst-only");
	if (rss->types != 0 && (rss->types & MPSIM_RSS_HF) == 0)
		return refuse_rss(error, ENOTSUP,
				  "none of the types can be hashed: ipv4 and ipv6, "
				  "with tcp, udp or sctp, are known");
	for (uint32_t i = 0; ret == 0 && i < rss->queue_num; i++)
		ret = check_queue(pf, rss->queue[i], error);
	return ret;
}

int
mpsim_actions_check(const struct mpsim_pf *pf, const struct mpsim_orders *orders,
		    struct rte_flow_error *error)
{
	if (!mpsim_indirect_is_for(pf, orders->dest_handle) ||
	    (orders->count_handle != NULL && orders->count_handle->pf != pf) ||
	    (orders->age_handle != NULL && orders->age_handle->pf != pf))
		return mpsim_flow_refuse(error, EINVAL, RTE_FLOW_ERROR_TYPE_ACTION_CONF,
					 "the indirect action is not of port %s", pf->data->name);
	if (orders->dest_handle != NULL)
		return 0;
	if (orders->rss != NULL)
		return check_rss(pf, orders->rss, error);
	if (orders->fate.own.kind == MPSIM_TO_QUEUE)
		return check_queue(pf, orders->fate.own.target, error);
	return 0;
}
