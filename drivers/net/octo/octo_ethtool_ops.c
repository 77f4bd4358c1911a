/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Rules, RETA and hash of a port of net_af_xdp, by the kernel: the port's queues are channels of a
 * netdev, whose ntuple rules and RETA lead to any of them. The driver itself has neither.
 */

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_string_fns.h>

#include "octo_ethtool_table.h"
#include "octo_private.h"

#define OFFERED (RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP)

static int
refuse(int code, struct rte_flow_error *error)
{
	return rte_flow_error_set(error, code, RTE_FLOW_ERROR_TYPE_UNSPECIFIED, NULL,
				  octo_ethtool_rule_refusal(code));
}

static int
unsupported(enum rte_flow_error_type type, const char *message, struct rte_flow_error *error)
{
	return rte_flow_error_set(error, ENOTSUP, type, NULL, message);
}

/* What an ntuple rule can express: one 5-tuple and one queue. */
static int
read_rule(const struct rte_flow_attr *attr, const struct rte_flow_item pattern[],
	  const struct rte_flow_action actions[], struct octo_flow_spec *spec,
	  struct rte_flow_error *error)
{
	int ret = octo_flow_parse(attr, pattern, actions, spec, error);

	if (ret != 0)
		return ret;
	if (spec->transfer || spec->fate != OCTO_FATE_QUEUE)
		return unsupported(RTE_FLOW_ERROR_TYPE_ACTION,
				   "an ntuple rule of the kernel has the action queue alone",
				   error);
	if (spec->count)
		return unsupported(RTE_FLOW_ERROR_TYPE_ACTION,
				   "the kernel does not count the hits of ntuple rules", error);
	if (spec->priority != 0)
		return unsupported(RTE_FLOW_ERROR_TYPE_ATTR_PRIORITY,
				   "ntuple rules of the kernel have no priorities", error);
	if (spec->tuple.proto == IPPROTO_SCTP)
		return unsupported(RTE_FLOW_ERROR_TYPE_ITEM,
				   "the kernel has no ntuple rules for SCTP", error);
	return 0;
}

static int
validate(const struct octo_port *port, const struct rte_flow_attr *attr,
	 const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	 struct rte_flow_error *error)
{
	const struct octo_ethtool *et = port->kernel.et;
	struct octo_flow_spec spec;
	int ret = read_rule(attr, pattern, actions, &spec, error);

	return ret == 0 && et->rules_refused != 0 ? refuse(et->rules_refused, error) : ret;
}

static struct rte_flow *
create_rule(const struct octo_port *port, const struct rte_flow_attr *attr,
	    const struct rte_flow_item pattern[], const struct rte_flow_action actions[],
	    struct rte_flow_error *error)
{
	struct octo_ethtool_note *rule;
	struct octo_flow_spec spec;
	int ret = read_rule(attr, pattern, actions, &spec, error);

	if (ret != 0)
		return NULL;
	ret = octo_ethtool_insert(port->kernel.et, &spec.tuple,
				  port->kernel.first_channel + spec.queue, &rule);
	if (ret == 0)
		return (struct rte_flow *)rule;
	refuse(-ret, error);
	return NULL;
}

static const struct rte_flow_action_queue *
queue_of(const struct rte_flow_action actions[])
{
	while (actions->type == RTE_FLOW_ACTION_TYPE_VOID)
		actions++;
	return actions->type == RTE_FLOW_ACTION_TYPE_QUEUE ? actions->conf : NULL;
}

static int
update_rule(const struct octo_port *port, struct rte_flow *flow,
	    const struct rte_flow_action actions[], struct rte_flow_error *error)
{
	const struct rte_flow_action_queue *queue = queue_of(actions);
	int ret;

	if (queue == NULL)
		return refuse(EINVAL, error);
	ret = octo_ethtool_update(port->kernel.et, (struct octo_ethtool_note *)flow,
				  port->kernel.first_channel + queue->index);
	if (ret == 0)
		return 0;
	refuse(-ret, error);
	/* the rule is not to be made beside the one that there may be */
	return ret == -ENOTSUP ? -EINVAL : ret;
}

static int
destroy(const struct octo_port *port, struct rte_flow *flow, struct rte_flow_error *error)
{
	int ret = octo_ethtool_remove(port->kernel.et, (struct octo_ethtool_note *)flow);

	return ret == 0 ? 0 : refuse(-ret, error);
}

static int
flush(const struct octo_port *port)
{
	return octo_ethtool_flush(port->kernel.et);
}

static int
query_rule(const struct octo_port *port, struct rte_flow *flow,
	   const struct rte_flow_action actions[], void *data, struct rte_flow_error *error)
{
	RTE_SET_USED(port);
	RTE_SET_USED(flow);
	RTE_SET_USED(actions);
	RTE_SET_USED(data);
	return unsupported(RTE_FLOW_ERROR_TYPE_ACTION,
			   "the kernel does not count the hits of ntuple rules", error);
}

static int
dump(const struct octo_port *port, struct rte_flow *flow, FILE *file, struct rte_flow_error *error)
{
	const struct octo_ethtool_note *rule = (const struct octo_ethtool_note *)flow;

	RTE_SET_USED(port);
	RTE_SET_USED(error);
	if (rule == NULL)
		return -ENOTSUP;
	fprintf(file, "  ntuple rule %u: action %u\n", rule->fs.location,
		(unsigned int)rule->fs.ring_cookie);
	return 0;
}

/*
 * Each refusal is logged once, until the kernel has taken a RETA again: it is tried often. That an
 * agent is away is logged by octo_nic_follow_agent().
 */
static int
judge_reta(struct octo_port *port, int ret)
{
	if (ret == -ENOTCONN)
		return ret;
	if (ret != 0 && !port->kernel.logged)
		OCTO_LOG(WARNING, "PF %s: the RETA stays as it is: %s", port->name,
			 octo_ethtool_reta_refusal(-ret));
	port->kernel.logged = ret != 0;
	return ret;
}

static int
reta_update(struct octo_port *port, struct rte_eth_rss_reta_entry64 *entries, uint16_t size)
{
	struct octo_nic_kernel *k = &port->kernel;
	uint32_t reta[OCTO_ETHTOOL_MAX_RETA] = {0};
	int ret;

	if (size != k->reta_size)
		return -EINVAL;
	for (uint16_t i = 0; i < size; i++) {
		const struct rte_eth_rss_reta_entry64
			*group = &entries[i / RTE_ETH_RETA_GROUP_SIZE];
		const uint16_t at = i % RTE_ETH_RETA_GROUP_SIZE;

		reta[i] = k->first_channel +
			  (group->mask & RTE_BIT64(at) ? group->reta[at] : k->reta[i]);
	}
	ret = judge_reta(port, octo_ethtool_set_reta(k->et, reta, size));
	for (uint16_t i = 0; ret == 0 && i < size; i++)
		k->reta[i] = (uint16_t)(reta[i] - k->first_channel);
	return ret;
}

/* The key is the administrator's, who may have made it known to others. */
static int
hash_update(struct octo_port *port, struct rte_eth_rss_conf *conf)
{
	const struct octo_nic_kernel *k = &port->kernel;

	if (conf->rss_key == NULL ||
	    (conf->rss_key_len == k->key_size && memcmp(conf->rss_key, k->key, k->key_size) == 0))
		return 0;
	OCTO_LOG(ERR, "PF %s: the kernel keeps its RSS key: set it by ethtool -X, and give none",
		 port->name);
	return -ENOTSUP;
}

static int
hash_get(const struct octo_port *port, struct rte_eth_rss_conf *conf)
{
	const struct octo_nic_kernel *k = &port->kernel;

	conf->rss_hf = k->hash_types != 0 ? k->hash_types : OFFERED;
	if (conf->rss_key != NULL && conf->rss_key_len >= k->key_size)
		memcpy(conf->rss_key, k->key, k->key_size);
	conf->rss_key_len = k->key_size;
	return 0;
}

const struct octo_nic_ops octo_ethtool_ops = {
	.validate = validate,
	.create = create_rule,
	.update = update_rule,
	.destroy = destroy,
	.flush = flush,
	.query = query_rule,
	.dump = dump,
	.reta_update = reta_update,
	.hash_update = hash_update,
	.hash_get = hash_get,
};

/* Processes of all file prefixes share the directory, as they share the netdev. */
static const char *
journal_dir(char *dir, size_t size)
{
	char *slash;

	rte_strscpy(dir, rte_eal_get_runtime_dir(), size);
	slash = strrchr(dir, '/');
	if (slash == NULL)
		return NULL;
	*slash = '\0';
	return access(dir, W_OK | X_OK) == 0 ? dir : NULL;
}

/* An agent that accepts hello, and answers nothing else, stays away. */
static void
log_agent(struct octo_nic_kernel *k, bool is_away)
{
	const struct octo_ethtool_client *client = k->et->client;

	if (is_away && !k->complained)
		OCTO_LOG(WARNING, "agent %s is away: %s; trying again every second",
			 client->addr.text, client->why);
	else if (!is_away && client->has_answered && k->complained)
		OCTO_LOG(NOTICE, "agent %s is there", client->addr.text);
	else
		return;
	k->complained = is_away;
}

static void
log_refusals(const struct octo_dev *octo, struct octo_port *port)
{
	const struct octo_ethtool *et = port->kernel.et;
	const char *name = octo_data(octo)->name;

	if (et->client != NULL && et->rules_refused == ENOTCONN) {
		log_agent(&port->kernel, true);
		return;
	}
	if (et->nb_swept > 0)
		OCTO_LOG(NOTICE, "%s: PF %s: %u ntuple rules of a previous run are removed", name,
			 port->name, et->nb_swept);
	if (et->rules_refused != 0)
		OCTO_LOG(WARNING, "%s: PF %s takes no rules: %s", name, port->name,
			 octo_ethtool_rule_refusal(et->rules_refused));
	if (et->reta_refused != 0)
		OCTO_LOG(WARNING, "%s: PF %s: RSS is as the netdev has it: %s", name, port->name,
			 octo_ethtool_reta_refusal(et->reta_refused));
}

/* A RETA that the octo port has offered stays as large, as applications do not ask again. */
static void
find_reta(struct octo_nic_kernel *k, uint16_t offered)
{
	uint32_t reta[OCTO_ETHTOOL_MAX_RETA] = {0};
	const bool known = k->et->reta_refused == 0 && octo_ethtool_get_reta(k->et, reta) == 0 &&
			   k->et->reta_size <= OCTO_MAX_RETA;
	uint16_t size = known ? (uint16_t)k->et->reta_size : 0;

	if (offered > 0)
		size = offered;
	k->reta = calloc(RTE_MAX(size, 1), sizeof(k->reta[0]));
	if (k->reta == NULL)
		return;
	k->reta_size = size;
	for (uint16_t i = 0; known && i < size; i++)
		k->reta[i] = (uint16_t)(reta[i % k->et->reta_size] - k->first_channel);
}

static void
find_hash(struct octo_nic_kernel *k)
{
	k->key_size = (uint8_t)k->et->key_size;
	memcpy(k->key, k->et->key, k->key_size);
	k->hash_types = k->et->hash_types;
	k->symmetric = k->et->xfrm != 0;
}

static struct octo_ethtool *
open_netdev(const struct octo_dev *octo, const struct octo_port *port, uint32_t ifindex)
{
	const char *dir;
	char text[256];

	if (octo->ethtool[0] != '\0')
		return octo_ethtool_open_by_agent(octo->ethtool, ifindex);
	dir = journal_dir(text, sizeof(text));
	if (dir == NULL)
		OCTO_LOG(WARNING,
			 "%s: PF %s: a crash leaves ntuple rules and RETA as they are: "
			 "EAL has no directory of runtime data",
			 octo_data(octo)->name, port->name);
	return octo_ethtool_open(dir, ifindex);
}

void
octo_nic_take(const struct octo_dev *octo, struct octo_port *port, struct rte_eth_dev_info *info)
{
	const uint32_t ifindex = octo_af_xdp_netdev(info);
	struct octo_nic_kernel *k = &port->kernel;
	const uint16_t offered = k->reta_size;

	octo_nic_give_back(port);
	*k = (struct octo_nic_kernel){.first_channel = octo_af_xdp_first_channel(info)};
	if (!octo->sliced || ifindex == 0)
		return;
	k->et = open_netdev(octo, port, ifindex);
	if (k->et == NULL)
		return;
	k->on = true;
	find_hash(k);
	find_reta(k, offered);
	log_refusals(octo, port);
	octo_nic_offer(port, info);
}

enum octo_ethtool_client_event
octo_nic_follow_agent(struct octo_port *port)
{
	struct octo_ethtool *et = port->kernel.et;
	enum octo_ethtool_client_event event;

	if (et == NULL || et->client == NULL)
		return OCTO_ETHTOOL_CLIENT_NOTHING;
	event = octo_ethtool_client_poll(et->client);
	if (event == OCTO_ETHTOOL_CLIENT_BEGUN && et->rules_refused == ENOTCONN)
		octo_ethtool_begin_again(et);
	log_agent(&port->kernel, event == OCTO_ETHTOOL_CLIENT_LOST);
	return event;
}

void
octo_nic_give_back(struct octo_port *port)
{
	const int ret = octo_ethtool_close(port->kernel.et);

	/* an agent that is away takes them back itself */
	if (ret != 0 && ret != -ENOTCONN)
		OCTO_LOG(WARNING,
			 "PF %s: rules or the RETA stay until another port takes them back: %s",
			 port->name, rte_strerror(-ret));
	port->kernel.et = NULL;
	free(port->kernel.reta);
	port->kernel.reta = NULL;
}

void
octo_nic_offer(const struct octo_port *port, struct rte_eth_dev_info *info)
{
	if (!port->kernel.on)
		return;
	info->reta_size = port->kernel.reta_size;
	info->hash_key_size = port->kernel.key_size;
	info->flow_type_rss_offloads |= OFFERED;
}

void
octo_nic_strip(const struct octo_port *port, struct rte_eth_conf *conf)
{
	if (!port->kernel.on)
		return;
	conf->rxmode.mq_mode = RTE_ETH_MQ_RX_NONE;
	conf->rxmode.offloads &= ~RTE_ETH_RX_OFFLOAD_RSS_HASH;
	conf->rx_adv_conf.rss_conf = (struct rte_eth_rss_conf){0};
}
