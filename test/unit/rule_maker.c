/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>
#include <string.h>

#include "rule_maker.h"

void *
rule_maker_piece(struct rule_maker *m, size_t len)
{
	uint8_t *bytes = malloc(len);

	if (bytes == NULL || m->nb == RTE_DIM(m->piece))
		abort();
	for (size_t i = 0; i < len; i++)
		bytes[i] = (uint8_t)(7 * m->nb + i);
	m->piece[m->nb].bytes = bytes;
	m->piece[m->nb++].len = len;
	return bytes;
}

static void *
zeros(struct rule_maker *m, size_t len)
{
	return memset(rule_maker_piece(m, len), 0, len);
}

static char *
text(struct rule_maker *m, const char *from)
{
	return strcpy(rule_maker_piece(m, strlen(from) + 1), from);
}

/* One item, and an end. */
static struct rte_flow_item *
pattern_of(struct rule_maker *m, enum rte_flow_item_type type, void *spec, void *mask)
{
	struct rte_flow_item *pattern = zeros(m, 2 * sizeof(*pattern));

	pattern[0] = (struct rte_flow_item){.type = type, .spec = spec, .mask = mask};
	return pattern;
}

static struct rte_flow_action *
actions_of(struct rule_maker *m, enum rte_flow_action_type type, void *conf)
{
	struct rte_flow_action *actions = zeros(m, 2 * sizeof(*actions));

	actions[0] = (struct rte_flow_action){.type = type, .conf = conf};
	return actions;
}

static void
make_raw(struct rule_maker *m)
{
	struct rte_flow_item_raw *spec = zeros(m, sizeof(*spec));
	struct rte_flow_item_raw *mask = zeros(m, sizeof(*mask));

	spec->length = 11;
	spec->pattern = rule_maker_piece(m, spec->length);
	mask->length = UINT16_MAX;
	mask->pattern = rule_maker_piece(m, spec->length);
	m->pattern = pattern_of(m, RTE_FLOW_ITEM_TYPE_RAW, spec, mask);
}

static void
make_geneve_opt(struct rule_maker *m)
{
	struct rte_flow_item_geneve_opt *spec = zeros(m, sizeof(*spec));
	struct rte_flow_item_geneve_opt *mask = zeros(m, sizeof(*mask));

	spec->option_len = 3;
	spec->data = rule_maker_piece(m, spec->option_len * sizeof(spec->data[0]));
	mask->option_len = 0x1f;
	mask->data = rule_maker_piece(m, spec->option_len * sizeof(spec->data[0]));
	m->pattern = pattern_of(m, RTE_FLOW_ITEM_TYPE_GENEVE_OPT, spec, mask);
}

static void
make_compare(struct rule_maker *m)
{
	struct rte_flow_item_compare *spec = zeros(m, sizeof(*spec));

	spec->a.field = RTE_FLOW_FIELD_IPV6_SRC;
	spec->b.field = RTE_FLOW_FIELD_POINTER;
	spec->b.pvalue = rule_maker_piece(m, 16);
	m->pattern = pattern_of(m, (enum rte_flow_item_type)RTE_FLOW_ITEM_TYPE_COMPARE, spec, NULL);
}

static void
make_rss(struct rule_maker *m)
{
	struct rte_flow_action_rss *rss = zeros(m, sizeof(*rss));

	rss->queue_num = 2;
	rss->queue = zeros(m, rss->queue_num * sizeof(rss->queue[0]));
	rss->key_len = 40;
	rss->key = rule_maker_piece(m, rss->key_len);
	m->actions = actions_of(m, RTE_FLOW_ACTION_TYPE_RSS, rss);
}

static void
make_vxlan_encap(struct rule_maker *m)
{
	struct rte_flow_action_vxlan_encap *encap = zeros(m, sizeof(*encap));
	void *spec = rule_maker_piece(m, sizeof(struct rte_flow_item_ipv4));
	void *mask = rule_maker_piece(m, sizeof(struct rte_flow_item_ipv4));

	encap->definition = pattern_of(m, RTE_FLOW_ITEM_TYPE_IPV4, spec, mask);
	m->actions = actions_of(m, RTE_FLOW_ACTION_TYPE_VXLAN_ENCAP, encap);
}

static void
make_nvgre_encap(struct rule_maker *m)
{
	struct rte_flow_action_nvgre_encap *encap = zeros(m, sizeof(*encap));

	make_raw(m);
	encap->definition = m->pattern;
	m->pattern = NULL;
	m->actions = actions_of(m, RTE_FLOW_ACTION_TYPE_NVGRE_ENCAP, encap);
}

static void
make_raw_encap(struct rule_maker *m)
{
	struct rte_flow_action_raw_encap *encap = zeros(m, sizeof(*encap));

	encap->size = 50;
	encap->data = rule_maker_piece(m, encap->size);
	encap->preserve = rule_maker_piece(m, encap->size);
	m->actions = actions_of(m, RTE_FLOW_ACTION_TYPE_RAW_ENCAP, encap);
}

static void
make_raw_decap(struct rule_maker *m)
{
	struct rte_flow_action_raw_decap *decap = zeros(m, sizeof(*decap));

	decap->size = 14;
	decap->data = rule_maker_piece(m, decap->size);
	m->actions = actions_of(m, RTE_FLOW_ACTION_TYPE_RAW_DECAP, decap);
}

static void
make_modify_field(struct rule_maker *m)
{
	struct rte_flow_action_modify_field *modify = zeros(m, sizeof(*modify));

	modify->dst.field = RTE_FLOW_FIELD_MAC_DST;
	modify->src.field = RTE_FLOW_FIELD_POINTER;
	/* so much is read of any value */
	modify->src.pvalue = memcpy(zeros(m, 16), "\2\4\6\10\12\14", 6);
	modify->width = 48;
	m->actions = actions_of(m, RTE_FLOW_ACTION_TYPE_MODIFY_FIELD, modify);
}

static void
make_push(struct rule_maker *m)
{
	struct rte_flow_action_ipv6_ext_push *push = zeros(m, sizeof(*push));

	push->size = 24;
	push->data = rule_maker_piece(m, push->size);
	m->actions = actions_of(m, (enum rte_flow_action_type)RTE_FLOW_ACTION_TYPE_IPV6_EXT_PUSH,
				push);
}

static void
make_prog(struct rule_maker *m)
{
	struct rte_flow_action_prog_argument *args = zeros(m, 2 * sizeof(*args));
	struct rte_flow_action_prog *prog = zeros(m, sizeof(*prog));

	for (uint32_t i = 0; i < 2; i++) {
		args[i].name = text(m, i == 0 ? "first" : "second");
		args[i].size = 3 + i;
		args[i].value = rule_maker_piece(m, args[i].size);
	}
	prog->name = text(m, "program");
	prog->args_num = 2;
	prog->args = args;
	m->actions = actions_of(m, (enum rte_flow_action_type)RTE_FLOW_ACTION_TYPE_PROG, prog);
}

void
rule_maker_sample(struct rule_maker *m, const struct rte_flow_action *action)
{
	struct rte_flow_action_sample *sample = zeros(m, sizeof(*sample));
	struct rte_flow_action *inner = zeros(m, 2 * sizeof(*inner));

	inner[0] = *action;
	sample->ratio = 2;
	sample->actions = inner;
	m->actions = actions_of(m, RTE_FLOW_ACTION_TYPE_SAMPLE, sample);
	if (m->pattern == NULL)
		m->pattern = pattern_of(m, RTE_FLOW_ITEM_TYPE_ETH, NULL, NULL);
}

static void
make_sample(struct rule_maker *m)
{
	make_raw_encap(m);
	rule_maker_sample(m, m->actions);
}

static const struct {
	const char *name;
	int type;
	void (*make)(struct rule_maker *m);
} kinds[] = {
	{"raw", RTE_FLOW_ITEM_TYPE_RAW, make_raw},
	{"geneve_opt", RTE_FLOW_ITEM_TYPE_GENEVE_OPT, make_geneve_opt},
	{"compare", RTE_FLOW_ITEM_TYPE_COMPARE, make_compare},
	{"rss", RTE_FLOW_ACTION_TYPE_RSS, make_rss},
	{"vxlan_encap", RTE_FLOW_ACTION_TYPE_VXLAN_ENCAP, make_vxlan_encap},
	{"nvgre_encap", RTE_FLOW_ACTION_TYPE_NVGRE_ENCAP, make_nvgre_encap},
	{"raw_encap", RTE_FLOW_ACTION_TYPE_RAW_ENCAP, make_raw_encap},
	{"raw_decap", RTE_FLOW_ACTION_TYPE_RAW_DECAP, make_raw_decap},
	{"modify_field", RTE_FLOW_ACTION_TYPE_MODIFY_FIELD, make_modify_field},
	{"sample", RTE_FLOW_ACTION_TYPE_SAMPLE, make_sample},
	{"ipv6_ext_push", RTE_FLOW_ACTION_TYPE_IPV6_EXT_PUSH, make_push},
	{"prog", RTE_FLOW_ACTION_TYPE_PROG, make_prog},
};

unsigned int
rule_maker_kinds(void)
{
	return RTE_DIM(kinds);
}

const char *
rule_maker_name(unsigned int kind)
{
	return kinds[kind].type < 0 ? NULL : kinds[kind].name;
}

void
rule_maker_make(struct rule_maker *m, unsigned int kind)
{
	*m = (struct rule_maker){.nb = 0};
	kinds[kind].make(m);
	if (m->pattern == NULL)
		m->pattern = pattern_of(m, RTE_FLOW_ITEM_TYPE_ETH, NULL, NULL);
	if (m->actions == NULL)
		m->actions = actions_of(m, RTE_FLOW_ACTION_TYPE_PASSTHRU, NULL);
}

void
rule_maker_free(struct rule_maker *m)
{
	for (unsigned int i = 0; i < m->nb; i++) {
		memset(m->piece[i].bytes, 0xa5, m->piece[i].len);
		free(m->piece[i].bytes);
	}
	m->nb = 0;
}
