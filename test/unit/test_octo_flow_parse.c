/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_common.h>
#include <rte_errno.h>

#include "octo_test.h"

#include "octo_flow_parse.h"

#define END_ITEM                                                                                   \
	{                                                                                          \
		.type = RTE_FLOW_ITEM_TYPE_END                                                     \
	}
#define END_ACTION                                                                                 \
	{                                                                                          \
		.type = RTE_FLOW_ACTION_TYPE_END                                                   \
	}
#define ITEM(name)                                                                                 \
	{                                                                                          \
		.type = RTE_FLOW_ITEM_TYPE_##name                                                  \
	}
#define ITEM_OF(name, s, m)                                                                        \
	{                                                                                          \
		.type = RTE_FLOW_ITEM_TYPE_##name, .spec = (s), .mask = (m)                        \
	}
#define ACTION(name, c)                                                                            \
	{                                                                                          \
		.type = RTE_FLOW_ACTION_TYPE_##name, .conf = (c)                                   \
	}
#define IPV4_UDP_END ITEM_OF(IPV4, &ip4, NULL), ITEM_OF(UDP, &udp, NULL), END_ITEM

static const struct rte_flow_attr ingress = {.ingress = 1};
static const struct rte_flow_attr transfer = {.transfer = 1};

static const struct rte_flow_item_eth eth, eth_dst_mask = {.hdr.dst_addr.addr_bytes[0] = 0xff};
static const struct rte_flow_item_eth eth_vlan_mask = {.has_vlan = 1};
static const struct rte_flow_item_ipv4 ip4 = {
	.hdr = {.src_addr = RTE_BE32(0x0a000001), .dst_addr = RTE_BE32(0x0a000002)}};
static const struct rte_flow_item_ipv4 ip4_prefix_mask = {
	.hdr = {.src_addr = RTE_BE32(0xffffff00), .dst_addr = RTE_BE32(0xffffffff)}};
static const struct rte_flow_item_ipv4 ip4_src_mask = {.hdr = {.src_addr = RTE_BE32(0xffffffff)}};
static const struct rte_flow_item_ipv4 ip4_tos_mask = {.hdr = {.type_of_service = 0xff,
							       .src_addr = RTE_BE32(0xffffffff),
							       .dst_addr = RTE_BE32(0xffffffff)}};
static const struct rte_flow_item_ipv6 ip6 = {
	.hdr = {.src_addr = {"\x20\x01\x0d\xb8"}, .dst_addr = {"\xfe\x80"}}};
static const struct rte_flow_item_udp udp = {
	.hdr = {.src_port = RTE_BE16(1000), .dst_port = RTE_BE16(2000)}};
static const struct rte_flow_item_udp udp_range = {
	.hdr = {.src_port = RTE_BE16(1001), .dst_port = RTE_BE16(2001)}};
static const struct rte_flow_item_udp udp_dst_mask = {.hdr = {.dst_port = RTE_BE16(0xffff)}};
static const struct rte_flow_item_tcp tcp = {
	.hdr = {.src_port = RTE_BE16(3000), .dst_port = RTE_BE16(4000), .tcp_flags = 0x3f}};
static const struct rte_flow_item_tcp tcp_flags_mask = {
	.hdr = {.src_port = RTE_BE16(0xffff), .dst_port = RTE_BE16(0xffff), .tcp_flags = 0x02}};
static const struct rte_flow_item_sctp sctp = {
	.hdr = {.src_port = RTE_BE16(5000), .dst_port = RTE_BE16(6000)}};
static const struct rte_flow_item_ethdev from = {.port_id = 3};
static const struct rte_flow_item_ethdev from_part_mask = {.port_id = 0x0f};
static const struct rte_flow_action_ethdev to = {.port_id = 4};
static const struct rte_flow_action_queue queue = {.index = 5};
static const struct rte_flow_action_count counter = {.id = 77};

static const struct rte_flow_item ip4_udp[] = {ITEM(ETH), ITEM_OF(IPV4, &ip4, NULL),
					       ITEM_OF(UDP, &udp, NULL), END_ITEM};
static const struct rte_flow_item ip4_udp_from[] = {ITEM_OF(REPRESENTED_PORT, &from, NULL),
						    ITEM(ETH), ITEM_OF(IPV4, &ip4, NULL),
						    ITEM_OF(UDP, &udp, NULL), END_ITEM};
static const struct rte_flow_action to_queue[] = {ACTION(QUEUE, &queue), END_ACTION};
static const struct rte_flow_item all_from[] = {ITEM_OF(REPRESENTED_PORT, &from, NULL), END_ITEM};
static const struct rte_flow_action to_port[] = {ACTION(PORT_REPRESENTOR, &to), END_ACTION};
static const struct rte_flow_action to_represented[] = {ACTION(COUNT, NULL),
							ACTION(REPRESENTED_PORT, &to), END_ACTION};

static void
parse_ok(const struct rte_flow_attr *attr, const struct rte_flow_item *pattern,
	 const struct rte_flow_action *actions, struct octo_flow_spec *spec)
{
	struct rte_flow_error error = {0};

	if (octo_flow_parse(attr, pattern, actions, spec, &error) != 0)
		fail_msg("refused: %s", error.message);
}

static void
test_queue_rule(void **state)
{
	struct octo_flow_spec spec;
	struct octo_tuple tuple;

	(void)state;
	octo_tuple_read(&tuple, "udp", "10.0.0.1", 1000, "10.0.0.2", 2000, NULL);
	parse_ok(&ingress, ip4_udp, to_queue, &spec);
	assert_memory_equal(&spec.tuple, &tuple, sizeof(tuple));
	assert_int_equal(spec.fate, OCTO_FATE_QUEUE);
	assert_int_equal(spec.queue, 5);
	assert_int_equal(spec.from_port, OCTO_NO_PORT);
	assert_int_equal(spec.to_port, OCTO_NO_PORT);
	assert_false(spec.transfer);
	assert_false(spec.count);
}

static void
test_ipv6_tcp_and_sctp(void **state)
{
	const struct rte_flow_item ip6_tcp[] = {ITEM(ETH), ITEM_OF(IPV6, &ip6, NULL),
						ITEM_OF(TCP, &tcp, NULL), END_ITEM};
	const struct rte_flow_item ip4_sctp[] = {ITEM(ETH), ITEM_OF(IPV4, &ip4, NULL),
						 ITEM_OF(SCTP, &sctp, NULL), END_ITEM};
	struct octo_flow_spec spec;
	struct octo_tuple tuple;

	(void)state;
	octo_tuple_read(&tuple, "tcp", "2001:db8::", 3000, "fe80::", 4000, NULL);
	parse_ok(&ingress, ip6_tcp, to_queue, &spec);
	assert_memory_equal(&spec.tuple, &tuple, sizeof(tuple));

	octo_tuple_read(&tuple, "sctp", "10.0.0.1", 5000, "10.0.0.2", 6000, NULL);
	parse_ok(&ingress, ip4_sctp, to_queue, &spec);
	assert_memory_equal(&spec.tuple, &tuple, sizeof(tuple));
}

static void
test_drop_and_count(void **state)
{
	const struct rte_flow_action drop[] = {ACTION(COUNT, &counter), ACTION(DROP, NULL),
					       END_ACTION};
	const struct rte_flow_action drop_first[] = {ACTION(DROP, NULL), ACTION(COUNT, NULL),
						     END_ACTION};
	const struct rte_flow_attr low = {.ingress = 1, .priority = 9};
	struct octo_flow_spec spec;

	(void)state;
	parse_ok(&low, ip4_udp, drop, &spec);
	assert_int_equal(spec.fate, OCTO_FATE_DROP);
	assert_int_equal(spec.priority, 9);
	assert_true(spec.count);
	assert_int_equal(spec.count_id, 77);
	parse_ok(&low, ip4_udp, drop_first, &spec);
	assert_true(spec.count);
	assert_int_equal(spec.count_id, 0);
}

static void
test_transfer_rule(void **state)
{
	struct octo_flow_spec spec;

	(void)state;
	parse_ok(&transfer, ip4_udp_from, to_port, &spec);
	assert_true(spec.transfer);
	assert_int_equal(spec.fate, OCTO_FATE_PORT_REPRESENTOR);
	assert_int_equal(spec.from_port, 3);
	assert_int_equal(spec.to_port, 4);
}

static void
test_transfer_rule_from_anywhere(void **state)
{
	struct octo_flow_spec spec;

	(void)state;
	parse_ok(&transfer, ip4_udp, to_port, &spec);
	assert_int_equal(spec.from_port, OCTO_NO_PORT);
}

static void
test_rule_to_represented_port(void **state)
{
	struct octo_flow_spec spec;

	(void)state;
	parse_ok(&transfer, ip4_udp_from, to_represented, &spec);
	assert_true(spec.transfer);
	assert_true(spec.count);
	assert_false(spec.match_all);
	assert_int_equal(spec.fate, OCTO_FATE_REPRESENTED_PORT);
	assert_int_equal(spec.from_port, 3);
	assert_int_equal(spec.to_port, 4);
}

static void
test_rule_for_all_of_a_port(void **state)
{
	const struct rte_flow_item with_eth[] = {ITEM_OF(REPRESENTED_PORT, &from, NULL), ITEM(ETH),
						 END_ITEM};
	static const struct octo_tuple none;
	struct octo_flow_spec spec;

	(void)state;
	parse_ok(&transfer, with_eth, to_represented, &spec);
	assert_true(spec.match_all);
	parse_ok(&transfer, all_from, to_represented, &spec);
	assert_true(spec.match_all);
	assert_memory_equal(&spec.tuple, &none, sizeof(none));
	assert_int_equal(spec.from_port, 3);
	assert_int_equal(spec.to_port, 4);
}

static void
test_void_is_skipped(void **state)
{
	const struct rte_flow_item pattern[] = {ITEM(VOID), ITEM(ETH),
						ITEM(VOID), ITEM_OF(IPV4, &ip4, NULL),
						ITEM(VOID), ITEM_OF(UDP, &udp, NULL),
						ITEM(VOID), END_ITEM};
	const struct rte_flow_action actions[] = {ACTION(VOID, NULL), ACTION(QUEUE, &queue),
						  ACTION(VOID, NULL), END_ACTION};
	struct octo_flow_spec spec;

	(void)state;
	parse_ok(&ingress, pattern, actions, &spec);
	assert_int_equal(spec.queue, 5);
}

static void
test_eth_may_be_left_out_or_blank(void **state)
{
	const struct rte_flow_item_eth no_mask = {0};
	const struct rte_flow_item without[] = {IPV4_UDP_END};
	const struct rte_flow_item blank[] = {ITEM_OF(ETH, &eth, &no_mask), IPV4_UDP_END};
	struct octo_flow_spec spec;

	(void)state;
	parse_ok(&ingress, without, to_queue, &spec);
	parse_ok(&ingress, blank, to_queue, &spec);
}

static void
test_what_is_masked_out_does_not_matter(void **state)
{
	const struct rte_flow_item_ipv4 noisy = {.hdr = {.type_of_service = 4,
							 .src_addr = ip4.hdr.src_addr,
							 .dst_addr = ip4.hdr.dst_addr}};
	const struct rte_flow_item pattern[] = {ITEM(ETH), ITEM_OF(IPV4, &noisy, NULL),
						ITEM_OF(TCP, &tcp, NULL), END_ITEM};
	struct octo_flow_spec spec;
	struct octo_tuple tuple;

	(void)state;
	octo_tuple_read(&tuple, "tcp", "10.0.0.1", 3000, "10.0.0.2", 4000, NULL);
	parse_ok(&ingress, pattern, to_queue, &spec);
	assert_memory_equal(&spec.tuple, &tuple, sizeof(tuple));
}

struct refusal {
	const char *what;
	int ret;
	enum rte_flow_error_type type;
	struct rte_flow_attr attr;
	struct rte_flow_item pattern[6];
	struct rte_flow_action actions[4];
};

#define GOOD_PATTERN                                                                               \
	{                                                                                          \
		ITEM(ETH), ITEM_OF(IPV4, &ip4, NULL), ITEM_OF(UDP, &udp, NULL), END_ITEM           \
	}
#define GOOD_ACTIONS                                                                               \
	{                                                                                          \
		ACTION(QUEUE, &queue), END_ACTION                                                  \
	}
#define INGRESS                                                                                    \
	{                                                                                          \
		.ingress = 1                                                                       \
	}
#define TRANSFER                                                                                   \
	{                                                                                          \
		.transfer = 1                                                                      \
	}
#define BAD_ITEM -ENOTSUP, RTE_FLOW_ERROR_TYPE_ITEM, INGRESS
#define BAD_ACTION RTE_FLOW_ERROR_TYPE_ACTION, INGRESS, GOOD_PATTERN

static void
check_refusals(const struct refusal *cases, size_t nb)
{
	struct octo_flow_spec before, spec;

	memset(&before, 0x5a, sizeof(before));
	for (size_t i = 0; i < nb; i++) {
		const struct refusal *c = &cases[i];
		struct rte_flow_error error = {0};
		int ret;

		spec = before;
		rte_errno = 0;
		ret = octo_flow_parse(&c->attr, c->pattern, c->actions, &spec, &error);
		if (ret != c->ret || error.type != c->type)
			fail_msg("%s: %d, error type %d (%s)", c->what, ret, error.type,
				 error.message);
		assert_int_equal(rte_errno, -c->ret);
		assert_non_null(error.message);
		assert_non_null(error.cause);
		assert_memory_equal(&spec, &before, sizeof(spec));
		assert_int_equal(octo_flow_parse(&c->attr, c->pattern, c->actions, &spec, NULL),
				 c->ret);
	}
}

static void
test_refuses_attributes(void **state)
{
	static const struct refusal cases[] = {
		{"group",
		 -ENOTSUP,
		 RTE_FLOW_ERROR_TYPE_ATTR_GROUP,
		 {.ingress = 1, .group = 1},
		 GOOD_PATTERN,
		 GOOD_ACTIONS},
		{"egress",
		 -ENOTSUP,
		 RTE_FLOW_ERROR_TYPE_ATTR_EGRESS,
		 {.egress = 1},
		 GOOD_PATTERN,
		 GOOD_ACTIONS},
		{"ingress and egress",
		 -ENOTSUP,
		 RTE_FLOW_ERROR_TYPE_ATTR_EGRESS,
		 {.ingress = 1, .egress = 1},
		 GOOD_PATTERN,
		 GOOD_ACTIONS},
		{"no direction",
		 -EINVAL,
		 RTE_FLOW_ERROR_TYPE_ATTR_INGRESS,
		 {0},
		 GOOD_PATTERN,
		 GOOD_ACTIONS},
		{"ingress and transfer",
		 -EINVAL,
		 RTE_FLOW_ERROR_TYPE_ATTR_INGRESS,
		 {.ingress = 1, .transfer = 1},
		 GOOD_PATTERN,
		 GOOD_ACTIONS},
	};

	(void)state;
	check_refusals(cases, RTE_DIM(cases));
}

static void
test_refuses_order_of_items(void **state)
{
	static const struct refusal cases[] = {
		{"empty", BAD_ITEM, {END_ITEM}, GOOD_ACTIONS},
		{"eth only", BAD_ITEM, {ITEM(ETH), END_ITEM}, GOOD_ACTIONS},
		{"no ports",
		 BAD_ITEM,
		 {ITEM(ETH), ITEM_OF(IPV4, &ip4, NULL), END_ITEM},
		 GOOD_ACTIONS},
		{"no ip", BAD_ITEM, {ITEM(ETH), ITEM_OF(UDP, &udp, NULL), END_ITEM}, GOOD_ACTIONS},
		{"eth twice", BAD_ITEM, {ITEM(ETH), ITEM(ETH), END_ITEM}, GOOD_ACTIONS},
		{"ip in ip",
		 BAD_ITEM,
		 {ITEM(ETH), ITEM_OF(IPV4, &ip4, NULL), ITEM_OF(IPV4, &ip4, NULL), END_ITEM},
		 GOOD_ACTIONS},
		{"ipv6 in ipv4",
		 BAD_ITEM,
		 {ITEM(ETH), ITEM_OF(IPV4, &ip4, NULL), ITEM_OF(IPV6, &ip6, NULL), END_ITEM},
		 GOOD_ACTIONS},
		{"eth at the end",
		 BAD_ITEM,
		 {ITEM_OF(IPV4, &ip4, NULL), ITEM_OF(UDP, &udp, NULL), ITEM(ETH), END_ITEM},
		 GOOD_ACTIONS},
		{"a tunnel",
		 BAD_ITEM,
		 {ITEM(ETH), ITEM_OF(IPV4, &ip4, NULL), ITEM_OF(UDP, &udp, NULL), ITEM(VXLAN),
		  END_ITEM},
		 GOOD_ACTIONS},
		{"a vlan",
		 BAD_ITEM,
		 {ITEM(ETH), ITEM(VLAN), ITEM_OF(IPV4, &ip4, NULL), ITEM_OF(UDP, &udp, NULL),
		  END_ITEM},
		 GOOD_ACTIONS},
		{"icmp",
		 BAD_ITEM,
		 {ITEM(ETH), ITEM_OF(IPV4, &ip4, NULL), ITEM(ICMP), END_ITEM},
		 GOOD_ACTIONS},
	};

	(void)state;
	check_refusals(cases, RTE_DIM(cases));
}

static void
test_refuses_what_is_not_exact(void **state)
{
	static const struct refusal cases[] = {
		{"eth address",
		 BAD_ITEM,
		 {ITEM_OF(ETH, &eth, &eth_dst_mask), ITEM_OF(IPV4, &ip4, NULL),
		  ITEM_OF(UDP, &udp, NULL), END_ITEM},
		 GOOD_ACTIONS},
		{"eth range",
		 BAD_ITEM,
		 {{.type = RTE_FLOW_ITEM_TYPE_ETH, .last = &eth}, IPV4_UDP_END},
		 GOOD_ACTIONS},
		{"eth default mask",
		 BAD_ITEM,
		 {ITEM_OF(ETH, &eth, NULL), ITEM_OF(IPV4, &ip4, NULL), ITEM_OF(UDP, &udp, NULL),
		  END_ITEM},
		 GOOD_ACTIONS},
		{"eth has_vlan",
		 BAD_ITEM,
		 {ITEM_OF(ETH, &eth, &eth_vlan_mask), ITEM_OF(IPV4, &ip4, NULL),
		  ITEM_OF(UDP, &udp, NULL), END_ITEM},
		 GOOD_ACTIONS},
		{"any ip",
		 BAD_ITEM,
		 {ITEM(ETH), ITEM(IPV4), ITEM_OF(UDP, &udp, NULL), END_ITEM},
		 GOOD_ACTIONS},
		{"ip prefix",
		 BAD_ITEM,
		 {ITEM(ETH), ITEM_OF(IPV4, &ip4, &ip4_prefix_mask), ITEM_OF(UDP, &udp, NULL),
		  END_ITEM},
		 GOOD_ACTIONS},
		{"source only",
		 BAD_ITEM,
		 {ITEM(ETH), ITEM_OF(IPV4, &ip4, &ip4_src_mask), ITEM_OF(UDP, &udp, NULL),
		  END_ITEM},
		 GOOD_ACTIONS},
		{"type of service",
		 BAD_ITEM,
		 {ITEM(ETH), ITEM_OF(IPV4, &ip4, &ip4_tos_mask), ITEM_OF(UDP, &udp, NULL),
		  END_ITEM},
		 GOOD_ACTIONS},
		{"any port",
		 BAD_ITEM,
		 {ITEM(ETH), ITEM_OF(IPV4, &ip4, NULL), ITEM(UDP), END_ITEM},
		 GOOD_ACTIONS},
		{"destination port only",
		 BAD_ITEM,
		 {ITEM(ETH), ITEM_OF(IPV4, &ip4, NULL), ITEM_OF(UDP, &udp, &udp_dst_mask),
		  END_ITEM},
		 GOOD_ACTIONS},
		{"port range",
		 BAD_ITEM,
		 {ITEM(ETH),
		  ITEM_OF(IPV4, &ip4, NULL),
		  {.type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &udp, .last = &udp_range},
		  END_ITEM},
		 GOOD_ACTIONS},
		{"tcp flags",
		 BAD_ITEM,
		 {ITEM(ETH), ITEM_OF(IPV4, &ip4, NULL), ITEM_OF(TCP, &tcp, &tcp_flags_mask),
		  END_ITEM},
		 GOOD_ACTIONS},
	};

	(void)state;
	check_refusals(cases, RTE_DIM(cases));
}

static void
test_refuses_actions(void **state)
{
	static const struct refusal cases[] = {
		{"none", -EINVAL, BAD_ACTION, {END_ACTION}},
		{"count only", -EINVAL, BAD_ACTION, {ACTION(COUNT, NULL), END_ACTION}},
		{"two queues",
		 -EINVAL,
		 BAD_ACTION,
		 {ACTION(QUEUE, &queue), ACTION(QUEUE, &queue), END_ACTION}},
		{"queue and drop",
		 -EINVAL,
		 BAD_ACTION,
		 {ACTION(QUEUE, &queue), ACTION(DROP, NULL), END_ACTION}},
		{"queue without number", -EINVAL, BAD_ACTION, {ACTION(QUEUE, NULL), END_ACTION}},
		{"two counts",
		 -ENOTSUP,
		 BAD_ACTION,
		 {ACTION(COUNT, NULL), ACTION(COUNT, NULL), ACTION(QUEUE, &queue), END_ACTION}},
		{"rss", -ENOTSUP, BAD_ACTION, {ACTION(RSS, NULL), END_ACTION}},
		{"port of an ingress rule",
		 -ENOTSUP,
		 BAD_ACTION,
		 {ACTION(PORT_REPRESENTOR, &to), END_ACTION}},
		{"represented port of an ingress rule",
		 -ENOTSUP,
		 BAD_ACTION,
		 {ACTION(REPRESENTED_PORT, &to), END_ACTION}},
	};

	(void)state;
	check_refusals(cases, RTE_DIM(cases));
}

static void
test_refuses_transfer_rules(void **state)
{
	static const struct refusal cases[] = {
		{"queue of a transfer rule", -ENOTSUP, RTE_FLOW_ERROR_TYPE_ACTION, TRANSFER,
		 GOOD_PATTERN, GOOD_ACTIONS},
		{"no port to go to",
		 -EINVAL,
		 RTE_FLOW_ERROR_TYPE_ACTION,
		 TRANSFER,
		 GOOD_PATTERN,
		 {ACTION(PORT_REPRESENTOR, NULL), END_ACTION}},
		{"represented port of an ingress rule",
		 -EINVAL,
		 RTE_FLOW_ERROR_TYPE_ITEM,
		 INGRESS,
		 {ITEM_OF(REPRESENTED_PORT, &from, NULL), ITEM(ETH), ITEM_OF(IPV4, &ip4, NULL),
		  ITEM_OF(UDP, &udp, NULL), END_ITEM},
		 GOOD_ACTIONS},
		{"any represented port",
		 -ENOTSUP,
		 RTE_FLOW_ERROR_TYPE_ITEM,
		 TRANSFER,
		 {ITEM(REPRESENTED_PORT), ITEM(ETH), ITEM_OF(IPV4, &ip4, NULL),
		  ITEM_OF(UDP, &udp, NULL), END_ITEM},
		 {ACTION(PORT_REPRESENTOR, &to), END_ACTION}},
		{"some represented ports",
		 -ENOTSUP,
		 RTE_FLOW_ERROR_TYPE_ITEM,
		 TRANSFER,
		 {ITEM_OF(REPRESENTED_PORT, &from, &from_part_mask), ITEM(ETH),
		  ITEM_OF(IPV4, &ip4, NULL), ITEM_OF(UDP, &udp, NULL), END_ITEM},
		 {ACTION(PORT_REPRESENTOR, &to), END_ACTION}},
		{"all, to a port representor",
		 -ENOTSUP,
		 RTE_FLOW_ERROR_TYPE_ACTION,
		 TRANSFER,
		 {ITEM_OF(REPRESENTED_PORT, &from, NULL), END_ITEM},
		 {ACTION(PORT_REPRESENTOR, &to), END_ACTION}},
		{"all from anywhere",
		 -ENOTSUP,
		 RTE_FLOW_ERROR_TYPE_ITEM,
		 TRANSFER,
		 {ITEM(ETH), END_ITEM},
		 {ACTION(REPRESENTED_PORT, &to), END_ACTION}},
		{"addresses only",
		 -ENOTSUP,
		 RTE_FLOW_ERROR_TYPE_ITEM,
		 TRANSFER,
		 {ITEM_OF(REPRESENTED_PORT, &from, NULL), ITEM(ETH), ITEM_OF(IPV4, &ip4, NULL),
		  END_ITEM},
		 {ACTION(REPRESENTED_PORT, &to), END_ACTION}},
		{"no represented port to go to",
		 -EINVAL,
		 RTE_FLOW_ERROR_TYPE_ACTION,
		 TRANSFER,
		 GOOD_PATTERN,
		 {ACTION(REPRESENTED_PORT, NULL), END_ACTION}},
		{"represented port last",
		 -ENOTSUP,
		 RTE_FLOW_ERROR_TYPE_ITEM,
		 TRANSFER,
		 {ITEM(ETH), ITEM_OF(REPRESENTED_PORT, &from, NULL), END_ITEM},
		 {ACTION(PORT_REPRESENTOR, &to), END_ACTION}},
	};

	(void)state;
	check_refusals(cases, RTE_DIM(cases));
}

static void
test_refuses_null(void **state)
{
	struct rte_flow_error error = {0};
	struct octo_flow_spec spec;

	(void)state;
	assert_int_equal(octo_flow_parse(NULL, ip4_udp, to_queue, &spec, &error), -EINVAL);
	assert_int_equal(error.type, RTE_FLOW_ERROR_TYPE_ATTR);
	assert_int_equal(octo_flow_parse(&ingress, NULL, to_queue, &spec, &error), -EINVAL);
	assert_int_equal(error.type, RTE_FLOW_ERROR_TYPE_ITEM_NUM);
	assert_int_equal(octo_flow_parse(&ingress, ip4_udp, NULL, &spec, &error), -EINVAL);
	assert_int_equal(error.type, RTE_FLOW_ERROR_TYPE_ACTION_NUM);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queue_rule),
		cmocka_unit_test(test_ipv6_tcp_and_sctp),
		cmocka_unit_test(test_drop_and_count),
		cmocka_unit_test(test_transfer_rule),
		cmocka_unit_test(test_transfer_rule_from_anywhere),
		cmocka_unit_test(test_rule_to_represented_port),
		cmocka_unit_test(test_rule_for_all_of_a_port),
		cmocka_unit_test(test_void_is_skipped),
		cmocka_unit_test(test_eth_may_be_left_out_or_blank),
		cmocka_unit_test(test_what_is_masked_out_does_not_matter),
		cmocka_unit_test(test_refuses_attributes),
		cmocka_unit_test(test_refuses_order_of_items),
		cmocka_unit_test(test_refuses_what_is_not_exact),
		cmocka_unit_test(test_refuses_actions),
		cmocka_unit_test(test_refuses_transfer_rules),
		cmocka_unit_test(test_refuses_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
