/* SPDX-License-Identifier: BSD-3-Clause */

#include <string.h>

#include "rule_reader.h"

/* FNV-1a */
static void
add(uint64_t *sum, const void *bytes, size_t len)
{
	const uint8_t *b = bytes;

	for (size_t i = 0; bytes != NULL && i < len; i++)
		*sum = (*sum ^ b[i]) * UINT64_C(0x100000001b3);
}

static void
add_number(uint64_t *sum, uint64_t number)
{
	add(sum, &number, sizeof(number));
}

/* As rte_flow says, and not the code under test. */
static size_t
item_size(enum rte_flow_item_type type)
{
	static const uint64_t zeros[32];
	const struct rte_flow_item item[] = {{.type = type, .spec = zeros},
					     {.type = RTE_FLOW_ITEM_TYPE_END}};
	const int size = rte_flow_conv(RTE_FLOW_CONV_OP_PATTERN, NULL, 0, item, NULL);

	return size < (int)sizeof(item) ? 0 : size - sizeof(item);
}

static size_t
conf_size(enum rte_flow_action_type type)
{
	static const uint64_t zeros[32];
	const struct rte_flow_action action[] = {{.type = type, .conf = zeros},
						 {.type = RTE_FLOW_ACTION_TYPE_END}};
	const int size = rte_flow_conv(RTE_FLOW_CONV_OP_ACTIONS, NULL, 0, action, NULL);

	return size < (int)sizeof(action) ? 0 : size - sizeof(action);
}

static void
read_raw(uint64_t *sum, const struct rte_flow_item_raw *raw, const struct rte_flow_item_raw *spec)
{
	struct rte_flow_item_raw flat = *raw;

	flat.pattern = NULL;
	add(sum, &flat, sizeof(flat));
	add(sum, raw->pattern, spec == NULL ? 0 : spec->length & raw->length);
}

static void
read_geneve_opt(uint64_t *sum, const struct rte_flow_item_geneve_opt *opt,
		const struct rte_flow_item_geneve_opt *spec)
{
	struct rte_flow_item_geneve_opt flat = *opt;

	flat.data = NULL;
	add(sum, &flat, sizeof(flat));
	add(sum, opt->data, spec == NULL ? 0 : spec->option_len * sizeof(opt->data[0]));
}

static void
read_field(uint64_t *sum, const struct rte_flow_field_data *source)
{
	struct rte_flow_field_data flat = *source;

	if (source->field == RTE_FLOW_FIELD_POINTER) {
		memset(&flat, 0, sizeof(flat));
		/* as drivers do */
		add(sum, source->pvalue, sizeof(source->value));
	}
	add_number(sum, source->field);
	add(sum, flat.value, sizeof(flat.value));
}

static void
read_part(uint64_t *sum, const struct rte_flow_item *item, const void *part, bool is_mask)
{
	const struct rte_flow_item_compare *compare = part;
	const void *spec = is_mask ? item->spec : part;

	if (part == NULL)
		return;
	if (item->type == RTE_FLOW_ITEM_TYPE_RAW)
		read_raw(sum, part, spec);
	else if (item->type == RTE_FLOW_ITEM_TYPE_GENEVE_OPT)
		read_geneve_opt(sum, part, spec);
	else if ((int)item->type == (int)RTE_FLOW_ITEM_TYPE_COMPARE && !is_mask)
		read_field(sum, &compare->b);
	else
		add(sum, part, item_size(item->type));
}

void
rule_reader_pattern(uint64_t *sum, const struct rte_flow_item *item)
{
	for (; item != NULL && item->type != RTE_FLOW_ITEM_TYPE_END; item++) {
		add_number(sum, item->type);
		read_part(sum, item, item->spec, false);
		read_part(sum, item, item->last, false);
		read_part(sum, item, item->mask, true);
	}
}

static void
read_rss(uint64_t *sum, const struct rte_flow_action_rss *rss)
{
	struct rte_flow_action_rss flat = *rss;

	flat.key = NULL;
	flat.queue = NULL;
	add(sum, &flat, sizeof(flat));
	add(sum, rss->key, rss->key_len);
	add(sum, rss->queue, rss->queue_num * sizeof(rss->queue[0]));
}

static void
read_raw_encap(uint64_t *sum, const struct rte_flow_action_raw_encap *encap)
{
	add_number(sum, encap->size);
	add(sum, encap->data, encap->size);
	add(sum, encap->preserve, encap->size);
}

static void
read_raw_decap(uint64_t *sum, const struct rte_flow_action_raw_decap *decap)
{
	add_number(sum, decap->size);
	add(sum, decap->data, decap->size);
}

static void
read_modify_field(uint64_t *sum, const struct rte_flow_action_modify_field *modify)
{
	add_number(sum, modify->operation);
	add_number(sum, modify->width);
	read_field(sum, &modify->dst);
	read_field(sum, &modify->src);
}

static void
read_push(uint64_t *sum, const struct rte_flow_action_ipv6_ext_push *push)
{
	add_number(sum, push->type);
	add(sum, push->data, push->size);
}

static void
read_prog(uint64_t *sum, const struct rte_flow_action_prog *prog)
{
	add(sum, prog->name, strlen(prog->name));
	for (uint32_t i = 0; i < prog->args_num; i++) {
		add(sum, prog->args[i].name, strlen(prog->args[i].name));
		add(sum, prog->args[i].value, prog->args[i].size);
	}
}

/* Of actions that an older rte_flow does not know; returns whether it is one. */
static bool
read_newer(uint64_t *sum, const struct rte_flow_action *action)
{
	if ((int)action->type == (int)RTE_FLOW_ACTION_TYPE_IPV6_EXT_PUSH)
		read_push(sum, action->conf);
	else if ((int)action->type == (int)RTE_FLOW_ACTION_TYPE_PROG)
		read_prog(sum, action->conf);
	else
		return false;
	return true;
}

static void
read_conf(uint64_t *sum, const struct rte_flow_action *action)
{
	const struct rte_flow_action_vxlan_encap *vxlan = action->conf;
	const struct rte_flow_action_nvgre_encap *nvgre = action->conf;
	const struct rte_flow_action_sample *sample = action->conf;
	const struct rte_flow_action_age *age = action->conf;

	switch (action->type) {
	case RTE_FLOW_ACTION_TYPE_RSS:
		return read_rss(sum, action->conf);
	case RTE_FLOW_ACTION_TYPE_VXLAN_ENCAP:
		return rule_reader_pattern(sum, vxlan->definition);
	case RTE_FLOW_ACTION_TYPE_NVGRE_ENCAP:
		return rule_reader_pattern(sum, nvgre->definition);
	case RTE_FLOW_ACTION_TYPE_RAW_ENCAP:
		return read_raw_encap(sum, action->conf);
	case RTE_FLOW_ACTION_TYPE_RAW_DECAP:
		return read_raw_decap(sum, action->conf);
	case RTE_FLOW_ACTION_TYPE_MODIFY_FIELD:
		return read_modify_field(sum, action->conf);
	case RTE_FLOW_ACTION_TYPE_SAMPLE:
		add_number(sum, sample->ratio);
		return rule_reader_actions(sum, sample->actions);
	case RTE_FLOW_ACTION_TYPE_AGE:
		return add_number(sum, age->timeout);
	default:
		if (!read_newer(sum, action))
			add(sum, action->conf, conf_size(action->type));
	}
}

void
rule_reader_actions(uint64_t *sum, const struct rte_flow_action *action)
{
	for (; action != NULL && action->type != RTE_FLOW_ACTION_TYPE_END; action++) {
		add_number(sum, action->type);
		if (action->conf != NULL && action->type != RTE_FLOW_ACTION_TYPE_INDIRECT)
			read_conf(sum, action);
	}
}

uint64_t
rule_reader_sum(const struct rte_flow_item *pattern, const struct rte_flow_action *actions)
{
	uint64_t sum = 0;

	rule_reader_pattern(&sum, pattern);
	rule_reader_actions(&sum, actions);
	return sum;
}
