/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include <rte_bitops.h>
#include <rte_common.h>

#include "octo_test.h"

#include "octo_flow_build.h"
#include "octo_flow_parse.h"

static const char *const protos[] = {"tcp", "udp", "sctp"};

static const struct {
	const char *src;
	const char *dst;
} addrs[] = {
	{"10.1.2.3", "192.168.254.1"},
	{"0.0.0.0", "255.255.255.255"},
	{"2001:db8::1", "fe80::ffff:1"},
	{"::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
};

static const uint16_t ports[] = {0, 1, 80, 65535};

/* What build_and_parse() is to do for each tuple. */
struct wanted {
	bool transfer;
	bool eswitch; /* with transfer */
	bool count;
	uint32_t priority;
	uint16_t queue;
	uint16_t from;
	uint16_t to;
};

static enum octo_fate
fate_of(const struct wanted *w)
{
	if (w->eswitch)
		return OCTO_FATE_REPRESENTED_PORT;
	return w->transfer ? OCTO_FATE_PORT_REPRESENTOR : OCTO_FATE_QUEUE;
}

static void
build_and_parse(const struct octo_tuple *tuple, const struct wanted *w)
{
	struct octo_flow_rule rule;
	struct octo_flow_spec spec;
	struct rte_flow_error error = {0};

	memset(&rule, 0xa5, sizeof(rule));
	if (w->eswitch)
		octo_flow_build_transfer(&rule, OCTO_DIALECT_REPRESENTED, tuple, w->priority,
					 w->from, w->to, w->count);
	else if (w->transfer)
		octo_flow_build_transfer(&rule, OCTO_DIALECT_WIRE_ITEM, tuple, w->priority, w->from,
					 w->to, w->count);
	else
		octo_flow_build_queue(&rule, tuple, w->priority, w->queue, w->count);
	if (octo_flow_parse(&rule.attr, rule.pattern, rule.actions, &spec, &error) != 0)
		fail_msg("refused: %s", error.message);
	assert_memory_equal(&spec.tuple, tuple, sizeof(*tuple));
	assert_int_equal(spec.transfer, w->transfer);
	assert_int_equal(spec.fate, fate_of(w));
	assert_int_equal(spec.priority, w->priority);
	assert_int_equal(spec.count, w->count);
	assert_int_equal(spec.queue, w->transfer ? 0 : w->queue);
	assert_int_equal(spec.from_port, w->transfer ? w->from : OCTO_NO_PORT);
	assert_int_equal(spec.to_port, w->transfer ? w->to : OCTO_NO_PORT);
}

static void
for_all_tuples(const struct wanted *w)
{
	for (size_t a = 0; a < RTE_DIM(addrs); a++)
		for (size_t p = 0; p < RTE_DIM(protos); p++)
			for (size_t i = 0; i < RTE_DIM(ports); i++) {
				struct octo_tuple t;

				assert_int_equal(octo_tuple_read(&t, protos[p], addrs[a].src,
								 ports[i], addrs[a].dst,
								 ports[RTE_DIM(ports) - 1 - i],
								 NULL),
						 0);
				build_and_parse(&t, w);
			}
}

static void
test_queue_rule_is_read_back(void **state)
{
	static const struct wanted cases[] = {
		{.queue = 0},
		{.queue = 65535, .priority = UINT32_MAX},
		{.queue = 63, .priority = 1, .count = true},
	};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(cases); i++)
		for_all_tuples(&cases[i]);
}

static void
test_mpfs_rule_is_read_back(void **state)
{
	static const struct wanted cases[] = {
		{.transfer = true, .from = 0, .to = 1},
		{.transfer = true, .from = 31, .to = 31, .priority = 7},
		{.transfer = true, .from = 2, .to = 0, .priority = UINT32_MAX, .count = true},
	};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(cases); i++)
		for_all_tuples(&cases[i]);
}

static void
test_eswitch_rule_is_read_back(void **state)
{
	static const struct wanted cases[] = {
		{.transfer = true, .eswitch = true, .from = 0, .to = 1},
		{.transfer = true, .eswitch = true, .from = 9, .to = 2, .priority = 1, .count = 1},
	};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(cases); i++)
		for_all_tuples(&cases[i]);
}

static void
test_eswitch_rule_without_tuple_is_for_all(void **state)
{
	struct octo_flow_spec spec = {0};
	struct octo_flow_rule rule;

	(void)state;
	octo_flow_build_transfer(&rule, OCTO_DIALECT_REPRESENTED, NULL, 5, 6, 7, false);
	assert_int_equal(octo_flow_parse(&rule.attr, rule.pattern, rule.actions, &spec, NULL), 0);
	assert_true(spec.match_all);
	assert_int_equal(spec.priority, 5);
	assert_int_equal(spec.from_port, 6);
	assert_int_equal(spec.to_port, 7);
}

static void
test_queue_rule_has_the_form_that_nics_take(void **state)
{
	static const enum rte_flow_item_type items[] = {
		RTE_FLOW_ITEM_TYPE_ETH, RTE_FLOW_ITEM_TYPE_IPV6, RTE_FLOW_ITEM_TYPE_SCTP,
		RTE_FLOW_ITEM_TYPE_END};
	struct octo_flow_rule rule;
	struct octo_tuple t;

	(void)state;
	assert_int_equal(octo_tuple_read(&t, "sctp", "::1", 5, "::2", 6, NULL), 0);
	octo_flow_build_queue(&rule, &t, 0, 3, false);
	assert_true(rule.attr.ingress && !rule.attr.egress && !rule.attr.transfer);
	for (size_t i = 0; i < RTE_DIM(items); i++)
		assert_int_equal(rule.pattern[i].type, items[i]);
	assert_int_equal(rule.actions[0].type, RTE_FLOW_ACTION_TYPE_QUEUE);
	assert_int_equal(rule.actions[1].type, RTE_FLOW_ACTION_TYPE_END);
	assert_int_equal(rule.l4.sctp.hdr.src_port, htons(5));
	assert_int_equal(rule.l4_mask.sctp.hdr.dst_port, 0xffff);
	assert_int_equal(rule.l4_mask.sctp.hdr.tag, 0);
}

static void
test_mpfs_rule_begins_at_the_network_side(void **state)
{
	static const enum rte_flow_item_type items[] = {
		RTE_FLOW_ITEM_TYPE_REPRESENTED_PORT, RTE_FLOW_ITEM_TYPE_ETH,
		RTE_FLOW_ITEM_TYPE_IPV4, RTE_FLOW_ITEM_TYPE_UDP, RTE_FLOW_ITEM_TYPE_END};
	const struct rte_flow_action_ethdev *to;
	struct octo_flow_rule rule;
	struct octo_tuple t;

	(void)state;
	assert_int_equal(octo_tuple_read(&t, "udp", "1.1.1.1", 5, "2.2.2.2", 6, NULL), 0);
	octo_flow_build_transfer(&rule, OCTO_DIALECT_WIRE_ITEM, &t, 0, 4, 9, true);
	assert_true(rule.attr.transfer && !rule.attr.ingress && !rule.attr.egress);
	for (size_t i = 0; i < RTE_DIM(items); i++)
		assert_int_equal(rule.pattern[i].type, items[i]);
	assert_int_equal(rule.actions[0].type, RTE_FLOW_ACTION_TYPE_COUNT);
	assert_int_equal(rule.actions[1].type, RTE_FLOW_ACTION_TYPE_PORT_REPRESENTOR);
	to = rule.actions[1].conf;
	assert_int_equal(to->port_id, 9);
}

static void
test_rule_without_a_port_item(void **state)
{
	static const enum rte_flow_item_type items[] = {
		RTE_FLOW_ITEM_TYPE_ETH, RTE_FLOW_ITEM_TYPE_IPV4, RTE_FLOW_ITEM_TYPE_UDP,
		RTE_FLOW_ITEM_TYPE_END};
	struct octo_flow_rule rule;
	struct octo_tuple t;

	(void)state;
	assert_int_equal(octo_tuple_read(&t, "udp", "1.1.1.1", 5, "2.2.2.2", 6, NULL), 0);
	octo_flow_build_transfer(&rule, OCTO_DIALECT_NO_ITEM, &t, 3, 4, 9, false);
	assert_true(rule.attr.transfer && !rule.attr.ingress && !rule.attr.egress);
	assert_int_equal(rule.attr.priority, 3);
	for (size_t i = 0; i < RTE_DIM(items); i++)
		assert_int_equal(rule.pattern[i].type, items[i]);
	assert_int_equal(rule.actions[0].type, RTE_FLOW_ACTION_TYPE_PORT_REPRESENTOR);
	assert_int_equal(((const struct rte_flow_action_ethdev *)rule.actions[0].conf)->port_id, 9);
	assert_int_equal(rule.actions[1].type, RTE_FLOW_ACTION_TYPE_END);
}

static void
test_dialects_have_names(void **state)
{
	(void)state;
	for (int i = 0; i < OCTO_NB_DIALECTS; i++) {
		const char *name = octo_dialect_get(i)->name;

		assert_int_equal(octo_dialect_find(name), i);
		assert_non_null(strstr(octo_dialect_names(), name));
	}
	assert_int_equal(octo_dialect_find("wire"), -EINVAL);
	assert_int_equal(octo_dialect_find(""), -EINVAL);
}

/* Rules that may send packets back to the wire are not tried without being asked for. */
static void
test_an_indirect_action_takes_the_place_of_the_queue(void **state)
{
	struct rte_flow_action_handle *const h = (void *)state;
	struct octo_flow_rule by_queue, by_action;
	struct octo_tuple t;

	assert_int_equal(octo_tuple_read(&t, "udp", "10.0.0.1", 7, "10.0.0.2", 9, NULL), 0);
	octo_flow_build_queue(&by_queue, &t, 3, 0, true);
	octo_flow_build_indirect(&by_action, &t, 3, h, true);
	assert_memory_equal(&by_action.attr, &by_queue.attr, sizeof(by_queue.attr));
	assert_memory_equal(&by_action.l3, &by_queue.l3, sizeof(by_queue.l3));
	assert_memory_equal(&by_action.l4, &by_queue.l4, sizeof(by_queue.l4));
	assert_int_equal(by_action.actions[0].type, RTE_FLOW_ACTION_TYPE_COUNT);
	assert_int_equal(by_action.actions[1].type, RTE_FLOW_ACTION_TYPE_INDIRECT);
	assert_ptr_equal(by_action.actions[1].conf, h);
	assert_int_equal(by_action.actions[2].type, RTE_FLOW_ACTION_TYPE_END);
}

static void
test_usual_dialects_deliver_to_pfs(void **state)
{
	(void)state;
	assert_int_not_equal(octo_dialect_usual(), 0);
	for (unsigned int i = 0; i < OCTO_NB_DIALECTS; i++)
		if (octo_dialect_usual() & RTE_BIT32(i))
			assert_int_equal(octo_dialect_get(i)->to,
					 RTE_FLOW_ACTION_TYPE_PORT_REPRESENTOR);
}

static const struct octo_partition_rule part = {.src = 0x105,
						.src_mask = 0x30f,
						.dst = 0x0a,
						.dst_mask = 0x1e,
						.pf = 1};

/* The item's address fields are the last of the header. */
static void
assert_masked(const struct octo_flow_rule *rule, enum rte_flow_item_type type, const void *spec,
	      const void *mask, size_t len)
{
	static const uint8_t src[] = {0, 0, 1, 5}, dst[] = {0, 0, 0, 0x0a};
	static const uint8_t src_mask[] = {0, 0, 3, 0x0f}, dst_mask[] = {0, 0, 0, 0x1e};
	uint8_t want[32] = {0}, want_mask[32] = {0};

	memcpy(want + len - 4, src, 4);
	memcpy(want + 2 * len - 4, dst, 4);
	memcpy(want_mask + len - 4, src_mask, 4);
	memcpy(want_mask + 2 * len - 4, dst_mask, 4);
	assert_true(rule->attr.transfer && !rule->attr.ingress);
	assert_int_equal(rule->attr.priority, 4);
	assert_int_equal(rule->pattern[0].type, RTE_FLOW_ITEM_TYPE_REPRESENTED_PORT);
	assert_int_equal(rule->pattern[1].type, RTE_FLOW_ITEM_TYPE_ETH);
	assert_int_equal(rule->pattern[2].type, type);
	assert_int_equal(rule->pattern[3].type, RTE_FLOW_ITEM_TYPE_END);
	assert_memory_equal(spec, want, 2 * len);
	assert_memory_equal(mask, want_mask, 2 * len);
	assert_int_equal(rule->to.port_id, 9);
}

static void
test_masked_rule_matches_low_bits_of_addresses(void **state)
{
	struct octo_flow_rule rule;

	(void)state;
	octo_flow_build_masked(&rule, OCTO_DIALECT_WIRE_ITEM, OCTO_IPV4, &part, 4, 3, 9, false);
	assert_masked(&rule, RTE_FLOW_ITEM_TYPE_IPV4, &rule.l3.v4.hdr.src_addr,
		      &rule.l3_mask.v4.hdr.src_addr, 4);
	octo_flow_build_masked(&rule, OCTO_DIALECT_WIRE_ITEM, OCTO_IPV6, &part, 4, 3, 9, false);
	assert_masked(&rule, RTE_FLOW_ITEM_TYPE_IPV6, &rule.l3.v6.hdr.src_addr,
		      &rule.l3_mask.v6.hdr.src_addr, 16);
}

static void
test_rule_of_an_ether_type(void **state)
{
	static const struct rte_flow_item_eth type = {.hdr.ether_type = RTE_BE16(0x88f7)};
	static const struct rte_flow_item_eth mask = {.hdr.ether_type = RTE_BE16(0xffff)};
	struct octo_flow_rule rule;

	(void)state;
	octo_flow_build_to_pf(&rule, OCTO_DIALECT_WIRE_ITEM, 0x88f7, 4, 3, 9);
	assert_true(rule.attr.transfer && !rule.attr.ingress);
	assert_int_equal(rule.attr.priority, 4);
	assert_int_equal(rule.pattern[0].type, RTE_FLOW_ITEM_TYPE_REPRESENTED_PORT);
	assert_int_equal(rule.from.port_id, 3);
	assert_int_equal(rule.pattern[1].type, RTE_FLOW_ITEM_TYPE_ETH);
	assert_memory_equal(rule.pattern[1].spec, &type, sizeof(type));
	assert_memory_equal(rule.pattern[1].mask, &mask, sizeof(mask));
	assert_int_equal(rule.pattern[2].type, RTE_FLOW_ITEM_TYPE_END);
	assert_int_equal(rule.to.port_id, 9);
	octo_flow_build_to_pf(&rule, OCTO_DIALECT_WIRE_ITEM, 0, 4, 3, 9);
	assert_int_equal(rule.pattern[1].type, RTE_FLOW_ITEM_TYPE_END);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_queue_rule_is_read_back),
		cmocka_unit_test(test_mpfs_rule_is_read_back),
		cmocka_unit_test(test_rule_without_a_port_item),
		cmocka_unit_test(test_dialects_have_names),
		cmocka_unit_test(test_an_indirect_action_takes_the_place_of_the_queue),
		cmocka_unit_test(test_usual_dialects_deliver_to_pfs),
		cmocka_unit_test(test_eswitch_rule_is_read_back),
		cmocka_unit_test(test_eswitch_rule_without_tuple_is_for_all),
		cmocka_unit_test(test_queue_rule_has_the_form_that_nics_take),
		cmocka_unit_test(test_mpfs_rule_begins_at_the_network_side),
		cmocka_unit_test(test_masked_rule_matches_low_bits_of_addresses),
		cmocka_unit_test(test_rule_of_an_ether_type),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
