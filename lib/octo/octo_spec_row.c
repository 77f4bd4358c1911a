/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Every item and action of rte_flow has a row: the size of the struct behind its pointer, and
 * how to copy what the pointers inside that struct lead to. Types without a row are refused,
 * and so are objects of one PF.
 */

#include <errno.h>
#include <string.h>

#include <eal_export.h>
#include <rte_common.h>

#include "octo_spec.h"
#include "octo_spec_row.h"

static void *
own(struct octo_spec_copier *c, const void *bytes, size_t len)
{
	return octo_spec_own(c, bytes, len, len);
}

/* The spec has the length of the pattern; the mask's length is a mask of it. */
static void
own_raw(struct octo_spec_copier *c, union octo_spec_deep *copy)
{
	struct rte_flow_item_raw *raw = &copy->raw;
	const struct rte_flow_item_raw *spec = c->of == NULL ? raw : c->of->spec;
	const size_t len = spec == NULL ? 0 : spec->length & raw->length;

	if (c->of == NULL && len > 0 && raw->pattern == NULL)
		octo_spec_refuse(c, EINVAL, "the raw item has a length, but no pattern");
	if (spec == NULL && raw->pattern != NULL)
		octo_spec_refuse(c, EINVAL, "the raw mask has a pattern of unknown length");
	/* drivers may read it as a string: terminate it by a zero */
	raw->pattern = octo_spec_own(c, raw->pattern, len, len + 1);
}

static void
own_geneve_opt(struct octo_spec_copier *c, union octo_spec_deep *copy)
{
	struct rte_flow_item_geneve_opt *opt = &copy->geneve_opt;
	const struct rte_flow_item_geneve_opt *spec = c->of == NULL ? opt : c->of->spec;

	if (spec == NULL && opt->data != NULL)
		octo_spec_refuse(c, EINVAL, "the geneve_opt mask has data of unknown length");
	opt->data = own(c, opt->data, spec == NULL ? 0 : spec->option_len * sizeof(opt->data[0]));
}

/* Bytes behind a pointer to a value of the field; 0 where drivers do not agree on the size. */
static const struct {
	int field;
	uint8_t bytes;
} fields[] = {
#define FIELD(name, size)                                                                          \
	{                                                                                          \
		RTE_FLOW_FIELD_##name, size                                                        \
	}
	FIELD(START, 0),
	FIELD(MAC_DST, 6),
	FIELD(MAC_SRC, 6),
	FIELD(VLAN_TYPE, 2),
	FIELD(VLAN_ID, 2),
	FIELD(MAC_TYPE, 2),
	FIELD(IPV4_DSCP, 1),
	FIELD(IPV4_TTL, 1),
	FIELD(IPV4_SRC, 4),
	FIELD(IPV4_DST, 4),
	FIELD(IPV6_DSCP, 0),
	FIELD(IPV6_HOPLIMIT, 1),
	FIELD(IPV6_SRC, 16),
	FIELD(IPV6_DST, 16),
	FIELD(TCP_PORT_SRC, 2),
	FIELD(TCP_PORT_DST, 2),
	FIELD(TCP_SEQ_NUM, 4),
	FIELD(TCP_ACK_NUM, 4),
	FIELD(TCP_FLAGS, 0),
	FIELD(UDP_PORT_SRC, 2),
	FIELD(UDP_PORT_DST, 2),
	FIELD(VXLAN_VNI, 3),
	FIELD(GENEVE_VNI, 3),
	FIELD(GTP_TEID, 4),
	FIELD(TAG, 4),
	FIELD(MARK, 4),
	FIELD(META, 4),
	FIELD(POINTER, 0),
	FIELD(VALUE, 0),
	FIELD(IPV4_ECN, 1),
	FIELD(IPV6_ECN, 0),
	FIELD(GTP_PSC_QFI, 0),
	FIELD(METER_COLOR, 0),
	FIELD(IPV6_PROTO, 1),
	FIELD(HASH_RESULT, 0),
	FIELD(GENEVE_OPT_TYPE, 1),
	FIELD(GENEVE_OPT_CLASS, 2),
	FIELD(GENEVE_OPT_DATA, 0),
	FIELD(MPLS, 4),
	FIELD(TCP_DATA_OFFSET, 1),
	FIELD(IPV4_IHL, 1),
	FIELD(IPV4_TOTAL_LEN, 2),
	FIELD(IPV6_PAYLOAD_LEN, 2),
	FIELD(IPV4_PROTO, 1),
	FIELD(IPV6_FLOW_LABEL, 0),
	FIELD(IPV6_TRAFFIC_CLASS, 0),
	FIELD(ESP_SPI, 4),
	FIELD(ESP_SEQ_NUM, 4),
	FIELD(ESP_PROTO, 1),
	FIELD(RANDOM, 0),
	FIELD(VXLAN_LAST_RSVD, 1),
#undef FIELD
};

/* Returns -1 for fields without a row, such as FLEX_ITEM, whose handle belongs to one PF. */
static int
field_bytes(int field)
{
	for (unsigned int i = 0; field >= 0 && i < RTE_DIM(fields); i++)
		if (fields[i].field == field)
			return fields[i].bytes;
	return -1;
}

/* Copies a value for a field, if it is behind a pointer. Drivers read 16 bytes of any value. */
static void
own_field(struct octo_spec_copier *c, const struct rte_flow_field_data *target,
	  struct rte_flow_field_data *source)
{
	const int bytes = field_bytes((int)target->field);

	if (bytes < 0 || target->field == RTE_FLOW_FIELD_POINTER ||
	    field_bytes((int)source->field) < 0)
		octo_spec_refuse(c, ENOTSUP,
				 "octo does not know this field and cannot keep the rule");
	else if (source->field == RTE_FLOW_FIELD_POINTER && bytes == 0)
		octo_spec_refuse(c, ENOTSUP,
				 "octo does not know how long this field's value is: give it as an "
				 "immediate value");
	else if (source->field == RTE_FLOW_FIELD_POINTER)
		source->pvalue = octo_spec_own(c, source->pvalue, bytes, sizeof(source->value));
}

static void
own_compare(struct octo_spec_copier *c, union octo_spec_deep *copy)
{
	if (c->of == NULL)
		own_field(c, &copy->compare.a, &copy->compare.b);
}

static void
own_modify_field(struct octo_spec_copier *c, union octo_spec_deep *copy)
{
	own_field(c, &copy->modify_field.dst, &copy->modify_field.src);
}

static void
own_rss(struct octo_spec_copier *c, union octo_spec_deep *copy)
{
	struct rte_flow_action_rss *rss = &copy->rss;

	if (rss->queue_num > 0 && rss->queue == NULL)
		octo_spec_refuse(c, EINVAL, "the rss action has a number of queues, but no queues");
	rss->key = own(c, rss->key, rss->key_len);
	rss->queue = own(c, rss->queue, rss->queue_num * sizeof(rss->queue[0]));
}

static void
own_vxlan_encap(struct octo_spec_copier *c, union octo_spec_deep *copy)
{
	copy->vxlan_encap.definition = octo_spec_own_pattern(c, copy->vxlan_encap.definition);
}

static void
own_nvgre_encap(struct octo_spec_copier *c, union octo_spec_deep *copy)
{
	copy->nvgre_encap.definition = octo_spec_own_pattern(c, copy->nvgre_encap.definition);
}

static void
own_raw_encap(struct octo_spec_copier *c, union octo_spec_deep *copy)
{
	struct rte_flow_action_raw_encap *encap = &copy->raw_encap;

	encap->data = own(c, encap->data, encap->size);
	encap->preserve = own(c, encap->preserve, encap->size);
}

static void
own_raw_decap(struct octo_spec_copier *c, union octo_spec_deep *copy)
{
	copy->raw_decap.data = own(c, copy->raw_decap.data, copy->raw_decap.size);
}

static void
own_ipv6_ext_push(struct octo_spec_copier *c, union octo_spec_deep *copy)
{
	copy->ipv6_ext_push.data = own(c, copy->ipv6_ext_push.data, copy->ipv6_ext_push.size);
}

static void
own_sample(struct octo_spec_copier *c, union octo_spec_deep *copy)
{
	copy->sample.actions = octo_spec_own_actions(c, copy->sample.actions);
}

static char *
own_text(struct octo_spec_copier *c, const char *text)
{
	return own(c, text, text == NULL ? 0 : strnlen(text, OCTO_SPEC_MAX) + 1);
}

static void
own_prog(struct octo_spec_copier *c, union octo_spec_deep *copy)
{
	const struct rte_flow_action_prog_argument *from = copy->prog.args;
	const size_t nb = from == NULL ? 0 : copy->prog.args_num;
	struct rte_flow_action_prog_argument *to;

	copy->prog.name = own_text(c, copy->prog.name);
	to = own(c, from, nb * sizeof(*to));
	for (size_t i = 0; i < nb && c->ret == 0; i++) {
		const struct rte_flow_action_prog_argument arg = {
			.name = own_text(c, from[i].name),
			.size = from[i].size,
			.value = own(c, from[i].value, from[i].size),
		};

		if (c->to != NULL)
			to[i] = arg;
	}
	copy->prog.args = to;
}

/* Refuses objects of a PF, which no other PF has. */
static void
own_meter_mark(struct octo_spec_copier *c, union octo_spec_deep *copy)
{
	if (copy->meter_mark.profile != NULL || copy->meter_mark.policy != NULL)
		octo_spec_refuse(c, ENOTSUP, "a meter's objects belong to one PF: use it there");
}

#define BARE(kind, name)                                                                           \
	{                                                                                          \
		.type = RTE_FLOW_##kind##_TYPE_##name                                              \
	}
#define FLAT(kind, name, conf)                                                                     \
	{                                                                                          \
		.type = RTE_FLOW_##kind##_TYPE_##name, .size = sizeof(conf)                        \
	}
#define DEEP(kind, name, conf, fn)                                                                 \
	{                                                                                          \
		.type = RTE_FLOW_##kind##_TYPE_##name, .size = sizeof(conf), .own = fn             \
	}
#define NONE(kind, name, why)                                                                      \
	{                                                                                          \
		.type = RTE_FLOW_##kind##_TYPE_##name, .refusal = why                              \
	}

static const struct octo_spec_row items[] = {
	BARE(ITEM, END),
	BARE(ITEM, VOID),
	BARE(ITEM, INVERT),
	FLAT(ITEM, ANY, struct rte_flow_item_any),
	FLAT(ITEM, PORT_ID, struct rte_flow_item_port_id),
	DEEP(ITEM, RAW, struct rte_flow_item_raw, own_raw),
	FLAT(ITEM, ETH, struct rte_flow_item_eth),
	FLAT(ITEM, VLAN, struct rte_flow_item_vlan),
	FLAT(ITEM, IPV4, struct rte_flow_item_ipv4),
	FLAT(ITEM, IPV6, struct rte_flow_item_ipv6),
	FLAT(ITEM, ICMP, struct rte_flow_item_icmp),
	FLAT(ITEM, UDP, struct rte_flow_item_udp),
	FLAT(ITEM, TCP, struct rte_flow_item_tcp),
	FLAT(ITEM, SCTP, struct rte_flow_item_sctp),
	FLAT(ITEM, VXLAN, struct rte_flow_item_vxlan),
	FLAT(ITEM, E_TAG, struct rte_flow_item_e_tag),
	FLAT(ITEM, NVGRE, struct rte_flow_item_nvgre),
	FLAT(ITEM, MPLS, struct rte_flow_item_mpls),
	FLAT(ITEM, GRE, struct rte_flow_item_gre),
	FLAT(ITEM, FUZZY, struct rte_flow_item_fuzzy),
	FLAT(ITEM, GTP, struct rte_flow_item_gtp),
	FLAT(ITEM, GTPC, struct rte_flow_item_gtp),
	FLAT(ITEM, GTPU, struct rte_flow_item_gtp),
	FLAT(ITEM, ESP, struct rte_flow_item_esp),
	FLAT(ITEM, GENEVE, struct rte_flow_item_geneve),
	FLAT(ITEM, VXLAN_GPE, struct rte_flow_item_vxlan_gpe),
	FLAT(ITEM, ARP_ETH_IPV4, struct rte_flow_item_arp_eth_ipv4),
	FLAT(ITEM, IPV6_EXT, struct rte_flow_item_ipv6_ext),
	FLAT(ITEM, IPV6_FRAG_EXT, struct rte_flow_item_ipv6_frag_ext),
	FLAT(ITEM, ICMP6, struct rte_flow_item_icmp6),
	FLAT(ITEM, ICMP6_ECHO_REQUEST, struct rte_flow_item_icmp6_echo),
	FLAT(ITEM, ICMP6_ECHO_REPLY, struct rte_flow_item_icmp6_echo),
	FLAT(ITEM, ICMP6_ND_NS, struct rte_flow_item_icmp6_nd_ns),
	FLAT(ITEM, ICMP6_ND_NA, struct rte_flow_item_icmp6_nd_na),
	FLAT(ITEM, ICMP6_ND_OPT, struct rte_flow_item_icmp6_nd_opt),
	FLAT(ITEM, ICMP6_ND_OPT_SLA_ETH, struct rte_flow_item_icmp6_nd_opt_sla_eth),
	FLAT(ITEM, ICMP6_ND_OPT_TLA_ETH, struct rte_flow_item_icmp6_nd_opt_tla_eth),
	FLAT(ITEM, MARK, struct rte_flow_item_mark),
	FLAT(ITEM, META, struct rte_flow_item_meta),
	FLAT(ITEM, RANDOM, struct rte_flow_item_random),
	FLAT(ITEM, TAG, struct rte_flow_item_tag),
	FLAT(ITEM, GRE_KEY, rte_be32_t),
	FLAT(ITEM, GRE_OPTION, struct rte_flow_item_gre_opt),
	FLAT(ITEM, GTP_PSC, struct rte_flow_item_gtp_psc),
	FLAT(ITEM, PPPOES, struct rte_flow_item_pppoe),
	FLAT(ITEM, PPPOED, struct rte_flow_item_pppoe),
	FLAT(ITEM, PPPOE_PROTO_ID, struct rte_flow_item_pppoe_proto_id),
	FLAT(ITEM, NSH, struct rte_flow_item_nsh),
	FLAT(ITEM, IGMP, struct rte_flow_item_igmp),
	FLAT(ITEM, AH, struct rte_flow_item_ah),
	FLAT(ITEM, HIGIG2, struct rte_flow_item_higig2_hdr),
	FLAT(ITEM, L2TPV3OIP, struct rte_flow_item_l2tpv3oip),
	FLAT(ITEM, PFCP, struct rte_flow_item_pfcp),
	FLAT(ITEM, ECPRI, struct rte_flow_item_ecpri),
	DEEP(ITEM, GENEVE_OPT, struct rte_flow_item_geneve_opt, own_geneve_opt),
	FLAT(ITEM, INTEGRITY, struct rte_flow_item_integrity),
	FLAT(ITEM, CONNTRACK, struct rte_flow_item_conntrack),
	FLAT(ITEM, PORT_REPRESENTOR, struct rte_flow_item_ethdev),
	FLAT(ITEM, REPRESENTED_PORT, struct rte_flow_item_ethdev),
	NONE(ITEM, FLEX, "a flex item belongs to one PF: make the rule there"),
	FLAT(ITEM, L2TPV2, struct rte_flow_item_l2tpv2),
	FLAT(ITEM, PPP, struct rte_flow_item_ppp),
	FLAT(ITEM, MACSEC, struct rte_flow_item_macsec),
	FLAT(ITEM, METER_COLOR, struct rte_flow_item_meter_color),
	FLAT(ITEM, IPV6_ROUTING_EXT, struct rte_flow_item_ipv6_routing_ext),
	FLAT(ITEM, QUOTA, struct rte_flow_item_quota),
	FLAT(ITEM, AGGR_AFFINITY, struct rte_flow_item_aggr_affinity),
	FLAT(ITEM, TX_QUEUE, struct rte_flow_item_tx_queue),
	FLAT(ITEM, IB_BTH, struct rte_flow_item_ib_bth),
	FLAT(ITEM, PTYPE, struct rte_flow_item_ptype),
	DEEP(ITEM, COMPARE, struct rte_flow_item_compare, own_compare),
};

static const struct octo_spec_row actions[] = {
	BARE(ACTION, END),
	BARE(ACTION, VOID),
	BARE(ACTION, PASSTHRU),
	FLAT(ACTION, JUMP, struct rte_flow_action_jump),
	FLAT(ACTION, MARK, struct rte_flow_action_mark),
	BARE(ACTION, FLAG),
	FLAT(ACTION, QUEUE, struct rte_flow_action_queue),
	BARE(ACTION, DROP),
	FLAT(ACTION, COUNT, struct rte_flow_action_count),
	DEEP(ACTION, RSS, struct rte_flow_action_rss, own_rss),
	BARE(ACTION, PF),
	FLAT(ACTION, VF, struct rte_flow_action_vf),
	FLAT(ACTION, PORT_ID, struct rte_flow_action_port_id),
	FLAT(ACTION, METER, struct rte_flow_action_meter),
	NONE(ACTION, SECURITY, "a security session belongs to one PF: make the rule there"),
	BARE(ACTION, OF_DEC_NW_TTL),
	BARE(ACTION, OF_POP_VLAN),
	FLAT(ACTION, OF_PUSH_VLAN, struct rte_flow_action_of_push_vlan),
	FLAT(ACTION, OF_SET_VLAN_VID, struct rte_flow_action_of_set_vlan_vid),
	FLAT(ACTION, OF_SET_VLAN_PCP, struct rte_flow_action_of_set_vlan_pcp),
	FLAT(ACTION, OF_POP_MPLS, struct rte_flow_action_of_pop_mpls),
	FLAT(ACTION, OF_PUSH_MPLS, struct rte_flow_action_of_push_mpls),
	DEEP(ACTION, VXLAN_ENCAP, struct rte_flow_action_vxlan_encap, own_vxlan_encap),
	BARE(ACTION, VXLAN_DECAP),
	DEEP(ACTION, NVGRE_ENCAP, struct rte_flow_action_nvgre_encap, own_nvgre_encap),
	BARE(ACTION, NVGRE_DECAP),
	DEEP(ACTION, RAW_ENCAP, struct rte_flow_action_raw_encap, own_raw_encap),
	DEEP(ACTION, RAW_DECAP, struct rte_flow_action_raw_decap, own_raw_decap),
	FLAT(ACTION, SET_IPV4_SRC, struct rte_flow_action_set_ipv4),
	FLAT(ACTION, SET_IPV4_DST, struct rte_flow_action_set_ipv4),
	FLAT(ACTION, SET_IPV6_SRC, struct rte_flow_action_set_ipv6),
	FLAT(ACTION, SET_IPV6_DST, struct rte_flow_action_set_ipv6),
	FLAT(ACTION, SET_TP_SRC, struct rte_flow_action_set_tp),
	FLAT(ACTION, SET_TP_DST, struct rte_flow_action_set_tp),
	BARE(ACTION, MAC_SWAP),
	BARE(ACTION, DEC_TTL),
	FLAT(ACTION, SET_TTL, struct rte_flow_action_set_ttl),
	FLAT(ACTION, SET_MAC_SRC, struct rte_flow_action_set_mac),
	FLAT(ACTION, SET_MAC_DST, struct rte_flow_action_set_mac),
	FLAT(ACTION, INC_TCP_SEQ, rte_be32_t),
	FLAT(ACTION, DEC_TCP_SEQ, rte_be32_t),
	FLAT(ACTION, INC_TCP_ACK, rte_be32_t),
	FLAT(ACTION, DEC_TCP_ACK, rte_be32_t),
	FLAT(ACTION, SET_TAG, struct rte_flow_action_set_tag),
	FLAT(ACTION, SET_META, struct rte_flow_action_set_meta),
	FLAT(ACTION, SET_IPV4_DSCP, struct rte_flow_action_set_dscp),
	FLAT(ACTION, SET_IPV6_DSCP, struct rte_flow_action_set_dscp),
	FLAT(ACTION, AGE, struct rte_flow_action_age),
	DEEP(ACTION, SAMPLE, struct rte_flow_action_sample, own_sample),
	DEEP(ACTION, MODIFY_FIELD, struct rte_flow_action_modify_field, own_modify_field),
	BARE(ACTION, INDIRECT),
	FLAT(ACTION, CONNTRACK, struct rte_flow_action_conntrack),
	FLAT(ACTION, METER_COLOR, struct rte_flow_action_meter_color),
	FLAT(ACTION, PORT_REPRESENTOR, struct rte_flow_action_ethdev),
	FLAT(ACTION, REPRESENTED_PORT, struct rte_flow_action_ethdev),
	DEEP(ACTION, METER_MARK, struct rte_flow_action_meter_mark, own_meter_mark),
	BARE(ACTION, SEND_TO_KERNEL),
	FLAT(ACTION, QUOTA, struct rte_flow_action_quota),
	BARE(ACTION, SKIP_CMAN),
	DEEP(ACTION, IPV6_EXT_PUSH, struct rte_flow_action_ipv6_ext_push, own_ipv6_ext_push),
	FLAT(ACTION, IPV6_EXT_REMOVE, struct rte_flow_action_ipv6_ext_remove),
	NONE(ACTION, INDIRECT_LIST, "the port makes no lists of indirect actions"),
	DEEP(ACTION, PROG, struct rte_flow_action_prog, own_prog),
	FLAT(ACTION, NAT64, struct rte_flow_action_nat64),
	NONE(ACTION, JUMP_TO_TABLE_INDEX,
	     "a template table of the port is another one on each PF: use a group"),
};

static const struct octo_spec_row *
find(const struct octo_spec_row *rows, unsigned int nb, int type)
{
	/* negative types are private to a driver; see also compat/ */
	for (unsigned int i = 0; type >= 0 && i < nb; i++)
		if (rows[i].type == type)
			return &rows[i];
	return NULL;
}

const struct octo_spec_row *
octo_spec_row_of_item(int type)
{
	return find(items, RTE_DIM(items), type);
}

const struct octo_spec_row *
octo_spec_row_of_action(int type)
{
	return find(actions, RTE_DIM(actions), type);
}

size_t
octo_spec_conf_size(enum rte_flow_action_type type)
{
	const struct octo_spec_row *row = octo_spec_row_of_action((int)type);

	return row == NULL ? 0 : row->size;
}

size_t
octo_spec_item_extra(const struct rte_flow_item *item)
{
	const struct rte_flow_item_geneve_opt *opt = item->spec;
	const struct rte_flow_item_raw *raw = item->spec;

	if (item->spec == NULL)
		return 0;
	if (item->type == RTE_FLOW_ITEM_TYPE_RAW)
		return raw->length;
	return item->type == RTE_FLOW_ITEM_TYPE_GENEVE_OPT ?
		       opt->option_len * sizeof(opt->data[0]) :
		       0;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_spec_nested)
const struct rte_flow_action *
octo_spec_nested(const struct rte_flow_action *action)
{
	const struct rte_flow_action_sample *sample = action->conf;

	if (action->type != RTE_FLOW_ACTION_TYPE_SAMPLE || sample == NULL)
		return NULL;
	return sample->actions;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_spec_walk_next)
const struct rte_flow_action *
octo_spec_walk_next(struct octo_spec_walk *w)
{
	const struct rte_flow_action *action;
	const struct rte_flow_action *nested;

	while (w->next[w->depth]->type == RTE_FLOW_ACTION_TYPE_END) {
		if (w->depth == 0)
			return NULL;
		w->depth--;
	}
	action = w->next[w->depth]++;
	nested = octo_spec_nested(action);
	if (nested != NULL && w->depth + 1 < OCTO_SPEC_DEPTH)
		w->next[++w->depth] = nested;
	return action;
}
