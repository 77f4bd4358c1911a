/* SPDX-License-Identifier: BSD-3-Clause */

#include <rte_ethdev.h>

#include "fuzz_rule.h"

#define UNKNOWN_TYPE 9999
#define PRIVATE_TYPE -7

static void *
queue_conf(struct fuzz_input *in, struct fuzz_rule *rule)
{
	struct rte_flow_action_queue *conf = fuzz_piece(rule, sizeof(*conf));
	const uint8_t queue = fuzz_u8(in);

	conf->index = queue < 240 ? queue % FUZZ_QUEUES : fuzz_u16(in);
	return conf;
}

/* Queues, a key, types: lists are as long as their lengths say. */
static void *
rss_conf(struct fuzz_input *in, struct fuzz_rule *rule)
{
	static const uint64_t types[] = {0,
					 RTE_ETH_RSS_IP,
					 RTE_ETH_RSS_UDP,
					 RTE_ETH_RSS_TCP,
					 RTE_ETH_RSS_IP | RTE_ETH_RSS_L3_SRC_ONLY,
					 UINT64_MAX};
	struct rte_flow_action_rss *conf = fuzz_piece(rule, sizeof(*conf));
	const uint8_t how = fuzz_u8(in), many = fuzz_u8(in);
	const uint16_t nb = many < 250 ? many % (FUZZ_QUEUES + 1) : many * 2;
	uint16_t *queue = fuzz_piece(rule, nb * sizeof(*queue));
	uint8_t *key;

	for (uint16_t i = 0; i < nb; i++)
		queue[i] = nb > FUZZ_QUEUES || (how & 1) != 0 ? fuzz_u8(in) & 7 : i;
	conf->queue = nb > 0 && (how & 32) == 0 ? queue : NULL;
	conf->queue_num = nb;
	conf->types = types[fuzz_u8(in) % RTE_DIM(types)];
	conf->level = (how & 2) != 0 ? fuzz_u8(in) : 0;
	conf->func = (how & 4) != 0 ? fuzz_u8(in) & 7 : RTE_ETH_HASH_FUNCTION_DEFAULT;
	if ((how & 8) != 0) {
		conf->key_len = (how & 16) != 0 ? fuzz_u8(in) : 40;
		key = fuzz_piece(rule, conf->key_len);
		fuzz_bytes(in, key, conf->key_len);
		conf->key = conf->key_len > 0 ? key : NULL;
	}
	return conf;
}

static void *
port_conf(struct fuzz_input *in, const struct fuzz_names *names, struct fuzz_rule *rule)
{
	struct rte_flow_action_ethdev *conf = fuzz_piece(rule, sizeof(*conf));

	conf->port_id = names->pf[fuzz_u8(in) & 1];
	return conf;
}

/* A number of 32 bits, mostly a small one, and more that is mostly nothing. */
static void *
number_conf(struct fuzz_input *in, struct fuzz_rule *rule, size_t size)
{
	uint32_t *conf = fuzz_piece(rule, size);
	const uint8_t small = fuzz_u8(in);

	*conf = small < 240 ? small & 7 : fuzz_u32(in);
	return conf;
}

static void *
age_conf(struct fuzz_input *in, struct fuzz_rule *rule)
{
	struct rte_flow_action_age *conf = fuzz_piece(rule, sizeof(*conf));

	conf->timeout = fuzz_u8(in);
	conf->context = conf->timeout & 1 ? conf : NULL;
	return conf;
}

/* A header with a mask, and what is longer than itself. */
static void *
encap_conf(struct fuzz_input *in, struct fuzz_rule *rule)
{
	struct rte_flow_action_vxlan_encap *conf = fuzz_piece(rule, sizeof(*conf));
	const uint8_t how = fuzz_u8(in);
	struct rte_flow_item_raw *raw;
	struct rte_flow_item *item;

	if ((how & 1) != 0)
		return conf;
	conf->definition = item = fuzz_piece(rule, 3 * sizeof(*item));
	if (how < 64)
		return conf;
	item[0].type = RTE_FLOW_ITEM_TYPE_IPV4;
	item[0].spec = fuzz_piece(rule, sizeof(struct rte_flow_item_ipv4));
	item[0].mask = fuzz_piece(rule, sizeof(struct rte_flow_item_ipv4));
	if (how < 128)
		return conf;
	item[1].type = RTE_FLOW_ITEM_TYPE_RAW;
	item[1].spec = raw = fuzz_piece(rule, sizeof(*raw));
	raw->length = how & 15;
	raw->pattern = fuzz_piece(rule, raw->length);
	return conf;
}

static void *
raw_encap_conf(struct fuzz_input *in, struct fuzz_rule *rule)
{
	struct rte_flow_action_raw_encap *conf = fuzz_piece(rule, sizeof(*conf));
	const uint8_t how = fuzz_u8(in);

	conf->size = how & 31;
	conf->data = how < 192 ? fuzz_piece(rule, conf->size) : NULL;
	conf->preserve = (how & 32) != 0 ? fuzz_piece(rule, conf->size) : NULL;
	return conf;
}

static void *
raw_decap_conf(struct fuzz_input *in, struct fuzz_rule *rule)
{
	struct rte_flow_action_raw_decap *conf = fuzz_piece(rule, sizeof(*conf));
	const uint8_t how = fuzz_u8(in);

	conf->size = how & 31;
	conf->data = how < 192 ? fuzz_piece(rule, conf->size) : NULL;
	return conf;
}

static void *
modify_conf(struct fuzz_input *in, struct fuzz_rule *rule)
{
	struct rte_flow_action_modify_field *conf = fuzz_piece(rule, sizeof(*conf));
	const uint8_t how = fuzz_u8(in);

	conf->operation = how & 3;
	if (how < 64)
		return conf;
	conf->dst.field = (enum rte_flow_field_id)(fuzz_u8(in) & 63);
	conf->width = fuzz_u8(in);
	conf->src.field = RTE_FLOW_FIELD_POINTER;
	if (how >= 128)
		conf->src.field = (enum rte_flow_field_id)(fuzz_u8(in) & 63);
	if (conf->src.field == RTE_FLOW_FIELD_POINTER)
		conf->src.pvalue = fuzz_piece(rule, sizeof(conf->src.value));
	return conf;
}

static void *
indirect_conf(struct fuzz_input *in, const struct fuzz_names *names, struct rte_flow_action *action)
{
	const uint8_t which = fuzz_u8(in);

	if (names->nb_handles == 0 || names->handles[which % names->nb_handles] == NULL)
		action->type = RTE_FLOW_ACTION_TYPE_VOID;
	else
		return names->handles[which % names->nb_handles];
	return NULL;
}

static void *
sample_conf(struct fuzz_input *in, const struct fuzz_names *names, struct fuzz_rule *rule);

static const int types[] = {
	RTE_FLOW_ACTION_TYPE_QUEUE,
	RTE_FLOW_ACTION_TYPE_COUNT,
	RTE_FLOW_ACTION_TYPE_MARK,
	RTE_FLOW_ACTION_TYPE_DROP,
	RTE_FLOW_ACTION_TYPE_RSS,
	RTE_FLOW_ACTION_TYPE_FLAG,
	RTE_FLOW_ACTION_TYPE_PASSTHRU,
	RTE_FLOW_ACTION_TYPE_JUMP,
	RTE_FLOW_ACTION_TYPE_AGE,
	RTE_FLOW_ACTION_TYPE_VOID,
	RTE_FLOW_ACTION_TYPE_INDIRECT,
	RTE_FLOW_ACTION_TYPE_PORT_REPRESENTOR,
	RTE_FLOW_ACTION_TYPE_REPRESENTED_PORT,
	RTE_FLOW_ACTION_TYPE_PORT_ID,
	RTE_FLOW_ACTION_TYPE_METER,
	RTE_FLOW_ACTION_TYPE_OF_POP_VLAN,
	RTE_FLOW_ACTION_TYPE_DEC_TTL,
	RTE_FLOW_ACTION_TYPE_SET_TAG,
	RTE_FLOW_ACTION_TYPE_SET_META,
	RTE_FLOW_ACTION_TYPE_VXLAN_ENCAP,
	RTE_FLOW_ACTION_TYPE_SAMPLE,
	RTE_FLOW_ACTION_TYPE_MODIFY_FIELD,
	UNKNOWN_TYPE,
	PRIVATE_TYPE,
	RTE_FLOW_ACTION_TYPE_RAW_ENCAP,
	RTE_FLOW_ACTION_TYPE_RAW_DECAP,
	RTE_FLOW_ACTION_TYPE_NVGRE_ENCAP,
	RTE_FLOW_ACTION_TYPE_SECURITY,
};

static void *
read_conf(struct fuzz_input *in, const struct fuzz_names *names, struct fuzz_rule *rule,
	  struct rte_flow_action *action)
{
	switch ((int)action->type) {
	case RTE_FLOW_ACTION_TYPE_QUEUE:
		return queue_conf(in, rule);
	case RTE_FLOW_ACTION_TYPE_RSS:
		return rss_conf(in, rule);
	case RTE_FLOW_ACTION_TYPE_AGE:
		return age_conf(in, rule);
	case RTE_FLOW_ACTION_TYPE_INDIRECT:
		return indirect_conf(in, names, action);
	case RTE_FLOW_ACTION_TYPE_PORT_REPRESENTOR:
	case RTE_FLOW_ACTION_TYPE_REPRESENTED_PORT:
		return port_conf(in, names, rule);
	case RTE_FLOW_ACTION_TYPE_VXLAN_ENCAP:
	case RTE_FLOW_ACTION_TYPE_NVGRE_ENCAP:
		return encap_conf(in, rule);
	case RTE_FLOW_ACTION_TYPE_RAW_ENCAP:
		return raw_encap_conf(in, rule);
	case RTE_FLOW_ACTION_TYPE_RAW_DECAP:
		return raw_decap_conf(in, rule);
	case RTE_FLOW_ACTION_TYPE_SAMPLE:
		return sample_conf(in, names, rule);
	case RTE_FLOW_ACTION_TYPE_DROP:
	case RTE_FLOW_ACTION_TYPE_FLAG:
	case RTE_FLOW_ACTION_TYPE_PASSTHRU:
	case RTE_FLOW_ACTION_TYPE_VOID:
	case RTE_FLOW_ACTION_TYPE_OF_POP_VLAN:
	case RTE_FLOW_ACTION_TYPE_DEC_TTL:
		return NULL;
	case RTE_FLOW_ACTION_TYPE_COUNT:
		return number_conf(in, rule, sizeof(struct rte_flow_action_count));
	case RTE_FLOW_ACTION_TYPE_MODIFY_FIELD:
		return modify_conf(in, rule);
	default:
		return number_conf(in, rule, 16);
	}
}

/* Up to three actions; whatever has many parts has no samples of samples. */
static void *
sample_conf(struct fuzz_input *in, const struct fuzz_names *names, struct fuzz_rule *rule)
{
	struct rte_flow_action_sample *conf = fuzz_piece(rule, sizeof(*conf));
	struct rte_flow_action *actions;

	conf->ratio = fuzz_u8(in);
	if ((conf->ratio & 1) != 0)
		return conf;
	conf->actions = actions = fuzz_piece(rule, 4 * sizeof(*actions));
	for (uint32_t i = 0; i < (conf->ratio >> 1 & 3); i++) {
		if (rule->nb_pieces > FUZZ_MAX_PIECES / 2)
			break;
		actions[i].type = (enum rte_flow_action_type)types[fuzz_u8(in) % RTE_DIM(types)];
		actions[i].conf = read_conf(in, names, rule, &actions[i]);
	}
	return conf;
}

/* A byte of 128 and more: an action that has lost its configuration, where that is no handle. */
void
fuzz_action_read(struct fuzz_input *in, const struct fuzz_names *names, struct fuzz_rule *rule)
{
	struct rte_flow_action *action = &rule->actions[rule->nb_actions];
	const uint8_t which = fuzz_u8(in);

	if (rule->nb_actions + 1 == FUZZ_MAX_ACTIONS)
		return;
	rule->nb_actions++;
	action->type = (enum rte_flow_action_type)types[(which & 127) % RTE_DIM(types)];
	action->conf = read_conf(in, names, rule, action);
	if (which >= 128 && action->type != RTE_FLOW_ACTION_TYPE_INDIRECT)
		action->conf = NULL;
}
