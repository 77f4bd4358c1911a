/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_errno.h>

#include "octo_test.h"

#include "octo_template.h"
#include "rule_maker.h"
#include "rule_reader.h"

#define ITEM_END                                                                                   \
	{                                                                                          \
		.type = RTE_FLOW_ITEM_TYPE_END                                                     \
	}
#define ACTION_END                                                                                 \
	{                                                                                          \
		.type = RTE_FLOW_ACTION_TYPE_END                                                   \
	}

static const struct rte_flow_item_udp port_1 = {.hdr.dst_port = RTE_BE16(1)};
static const struct rte_flow_item_udp port_9 = {.hdr.dst_port = RTE_BE16(9)};
static const struct rte_flow_action_queue queue_2 = {.index = 2};
static const struct rte_flow_action_queue queue_3 = {.index = 3};
static const struct rte_flow_action_queue no_queue;
static const struct rte_flow_action_queue any_queue = {.index = UINT16_MAX};

static void
assert_refused(int ret, int code, const struct rte_flow_error *error, const char *words)
{
	assert_int_equal(ret, -code);
	assert_int_equal(rte_errno, code);
	assert_non_null(error->message);
	assert_non_null(strstr(error->message, words));
}

/* Of what the application gave nothing is needed any more. */
static void
make_pattern(struct octo_template *t)
{
	struct rte_flow_item_udp mask = {.hdr.dst_port = RTE_BE16(0xff00)};
	struct rte_flow_item_udp last = port_9;
	struct rte_flow_item pattern[] = {
		{.type = RTE_FLOW_ITEM_TYPE_ETH},
		{.type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &port_1, .mask = &mask, .last = &last},
		ITEM_END,
	};

	assert_int_equal(octo_template_set_pattern(t, pattern, NULL), 0);
	memset(&mask, 0xa5, sizeof(mask));
	memset(&last, 0xa5, sizeof(last));
	memset(pattern, 0xa5, sizeof(pattern));
}

static void
test_a_rule_gives_values(void **state)
{
	const struct rte_flow_item given[] = {
		{.type = RTE_FLOW_ITEM_TYPE_ETH},
		{.type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &port_9, .mask = &port_1},
		ITEM_END,
	};
	struct rte_flow_item out[OCTO_TEMPLATE_MAX];
	const struct rte_flow_item_udp *mask;
	const struct rte_flow_item_udp *last;
	struct octo_template t;

	(void)state;
	make_pattern(&t);
	assert_int_equal(octo_template_fill_pattern(&t, given, out, NULL), 0);
	assert_int_equal(out[0].type, RTE_FLOW_ITEM_TYPE_ETH);
	assert_null(out[0].spec);
	assert_null(out[0].mask);
	assert_int_equal(out[1].type, RTE_FLOW_ITEM_TYPE_UDP);
	assert_ptr_equal(out[1].spec, &port_9);
	mask = out[1].mask;
	last = out[1].last;
	assert_int_equal(mask->hdr.dst_port, RTE_BE16(0xff00));
	assert_int_equal(last->hdr.dst_port, RTE_BE16(9));
	assert_int_equal(out[2].type, RTE_FLOW_ITEM_TYPE_END);
	octo_template_clear(&t);
	assert_null(t.pattern);
}

static void
test_a_rule_has_the_items_of_its_template(void **state)
{
	const struct rte_flow_item udp = {.type = RTE_FLOW_ITEM_TYPE_UDP, .spec = &port_9};
	const struct rte_flow_item eth = {.type = RTE_FLOW_ITEM_TYPE_ETH};
	const struct rte_flow_item shorter[] = {eth, ITEM_END};
	const struct rte_flow_item other[] = {udp, eth, ITEM_END};
	const struct rte_flow_item longer[] = {eth, udp, udp, ITEM_END};
	const struct rte_flow_item no_value[] = {eth, {.type = udp.type}, ITEM_END};
	struct rte_flow_item out[OCTO_TEMPLATE_MAX];
	struct rte_flow_error error;
	struct octo_template t;

	(void)state;
	make_pattern(&t);
	assert_refused(octo_template_fill_pattern(&t, shorter, out, &error), EINVAL, &error,
		       "in the same order");
	assert_refused(octo_template_fill_pattern(&t, other, out, &error), EINVAL, &error,
		       "in the same order");
	assert_refused(octo_template_fill_pattern(&t, longer, out, &error), EINVAL, &error,
		       "in the same order");
	assert_refused(octo_template_fill_pattern(&t, no_value, out, &error), EINVAL, &error,
		       "give a value");
	octo_template_clear(&t);
}

static void
test_masks_say_what_is_constant(void **state)
{
	const struct {
		const void *conf;
		const void *mask;
		const void *wanted;
	} cases[] = {
		{&queue_2, &any_queue, &queue_2}, {&queue_2, &no_queue, &queue_3},
		{&queue_2, NULL, &queue_3},       {NULL, &any_queue, &queue_3},
		{NULL, NULL, &queue_3},
	};
	const struct rte_flow_action given[] = {
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &queue_3},
		ACTION_END,
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		const struct rte_flow_action actions[] = {
			{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = cases[i].conf},
			ACTION_END,
		};
		const struct rte_flow_action masks[] = {
			{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = cases[i].mask},
			ACTION_END,
		};
		struct rte_flow_action out[OCTO_TEMPLATE_MAX];
		const struct rte_flow_action_queue *wanted = cases[i].wanted;
		const struct rte_flow_action_queue *got;
		struct octo_template t;

		assert_int_equal(octo_template_set_actions(&t, actions, masks, NULL), 0);
		assert_int_equal(octo_template_fill_actions(&t, given, out, NULL), 0);
		got = out[0].conf;
		assert_int_equal(got->index, wanted->index);
		assert_int_equal(out[1].type, RTE_FLOW_ACTION_TYPE_END);
		octo_template_clear(&t);
	}
}

/* The handle itself is the configuration: it must not be looked into. */
static void
test_an_indirect_action_is_the_rules(void **state)
{
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_INDIRECT},
		ACTION_END,
	};
	const struct rte_flow_action masks[] = {
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &any_queue},
		ACTION_END,
	};
	const struct rte_flow_action given[] = {
		{.type = RTE_FLOW_ACTION_TYPE_INDIRECT, .conf = (const void *)(uintptr_t)16},
		ACTION_END,
	};
	struct rte_flow_action out[OCTO_TEMPLATE_MAX];
	struct octo_template t;

	(void)state;
	assert_int_equal(octo_template_set_actions(&t, actions, masks, NULL), 0);
	assert_int_equal(octo_template_fill_actions(&t, given, out, NULL), 0);
	assert_ptr_equal(out[0].conf, given[0].conf);
	octo_template_clear(&t);
}

/* With all of it constant; what a mask would point to is nowhere. */
static void
make_of(struct octo_template *pattern, struct octo_template *actions, const struct rule_maker *m)
{
	uint64_t ones[32];
	const struct rte_flow_action masks[] = {{.type = m->actions[0].type, .conf = ones},
						ACTION_END};
	struct rte_flow_error error = {.message = ""};

	memset(ones, 0xff, sizeof(ones));
	if (octo_template_set_pattern(pattern, m->pattern, &error) != 0 ||
	    octo_template_set_actions(actions, m->actions, masks, &error) != 0)
		fail_msg("%s", error.message);
}

static void
test_templates_own_every_byte(void **state)
{
	struct rte_flow_action actions[OCTO_TEMPLATE_MAX];
	struct rte_flow_action given[2] = {ACTION_END, ACTION_END};
	struct rte_flow_item pattern[OCTO_TEMPLATE_MAX];
	struct octo_template pt, at;
	struct rule_maker m;
	uint64_t sum;

	(void)state;
	for (unsigned int kind = 0; kind < rule_maker_kinds(); kind++) {
		if (rule_maker_name(kind) == NULL)
			continue;
		rule_maker_make(&m, kind);
		make_of(&pt, &at, &m);
		rule_maker_free(&m);
		/* the values are the rule's */
		rule_maker_make(&m, kind);
		sum = rule_reader_sum(m.pattern, m.actions);
		given[0].type = m.actions[0].type;
		assert_int_equal(octo_template_fill_pattern(&pt, m.pattern, pattern, NULL), 0);
		assert_int_equal(octo_template_fill_actions(&at, given, actions, NULL), 0);
		if (rule_reader_sum(pattern, actions) != sum)
			fail_msg("%s is another one", rule_maker_name(kind));
		rule_maker_free(&m);
		octo_template_clear(&pt);
		octo_template_clear(&at);
	}
}

/* The mask would be read beyond its end. */
static void
test_a_value_of_another_length(void **state)
{
	const uint8_t bytes[8] = {0};
	const struct rte_flow_item_raw mask = {.length = UINT16_MAX, .pattern = bytes};
	struct rte_flow_item_raw spec = {.length = 4, .pattern = bytes};
	const struct rte_flow_item pattern[] = {
		{.type = RTE_FLOW_ITEM_TYPE_RAW, .spec = &spec, .mask = &mask}, ITEM_END};
	struct rte_flow_item out[OCTO_TEMPLATE_MAX];
	struct rte_flow_error error;
	struct octo_template t;

	(void)state;
	assert_int_equal(octo_template_set_pattern(&t, pattern, NULL), 0);
	assert_int_equal(octo_template_fill_pattern(&t, pattern, out, NULL), 0);
	spec.length = 5;
	assert_refused(octo_template_fill_pattern(&t, pattern, out, &error), EINVAL, &error,
		       "another length");
	octo_template_clear(&t);
}

static void
test_bad_templates(void **state)
{
	const struct rte_flow_action queue = {.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &queue_2};
	const struct rte_flow_action drop = {.type = RTE_FLOW_ACTION_TYPE_DROP};
	const struct rte_flow_action queues[] = {queue, ACTION_END};
	const struct rte_flow_action drops[] = {drop, ACTION_END};
	const struct rte_flow_action longer[] = {queue, drop, ACTION_END};
	const struct rte_flow_action indirect = {.type = RTE_FLOW_ACTION_TYPE_INDIRECT};
	const struct rte_flow_action behind_handle[] = {indirect, queue, ACTION_END};
	const struct rte_flow_action ended[] = {ACTION_END, queue, ACTION_END};
	struct rte_flow_item items[OCTO_TEMPLATE_MAX + 1] = {ITEM_END};
	struct rte_flow_action many[OCTO_TEMPLATE_MAX + 1] = {ACTION_END};
	struct rte_flow_action out[OCTO_TEMPLATE_MAX];
	struct rte_flow_error error;
	struct octo_template t;

	(void)state;
	for (unsigned int i = 0; i < OCTO_TEMPLATE_MAX; i++) {
		items[i].type = RTE_FLOW_ITEM_TYPE_VOID;
		many[i].type = RTE_FLOW_ACTION_TYPE_VOID;
	}
	assert_refused(octo_template_set_pattern(&t, items, &error), E2BIG, &error, "32 items");
	assert_refused(octo_template_set_actions(&t, many, many, &error), E2BIG, &error,
		       "32 actions");
	assert_refused(octo_template_set_actions(&t, queues, drops, &error), EINVAL, &error,
		       "masks");
	assert_refused(octo_template_set_actions(&t, queues, longer, &error), EINVAL, &error,
		       "masks");
	/* nothing behind the end of the masks is read */
	assert_refused(octo_template_set_actions(&t, behind_handle, ended, &error), EINVAL, &error,
		       "masks");
	assert_int_equal(octo_template_set_actions(&t, queues, queues, NULL), 0);
	assert_refused(octo_template_fill_actions(&t, drops, out, &error), EINVAL, &error,
		       "in the same order");
	assert_refused(octo_template_fill_actions(&t, longer, out, &error), EINVAL, &error,
		       "in the same order");
	octo_template_clear(&t);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_rule_gives_values),
		cmocka_unit_test(test_a_rule_has_the_items_of_its_template),
		cmocka_unit_test(test_masks_say_what_is_constant),
		cmocka_unit_test(test_an_indirect_action_is_the_rules),
		cmocka_unit_test(test_templates_own_every_byte),
		cmocka_unit_test(test_a_value_of_another_length),
		cmocka_unit_test(test_bad_templates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
