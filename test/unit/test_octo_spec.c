/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_errno.h>

#include "octo_test.h"

#include "octo_spec.h"
#include "octo_spec_row.h"
#include "rule_maker.h"
#include "rule_reader.h"

#define UNKNOWN_TYPE 9999
#define PRIVATE_TYPE -7
/* more than any DPDK has */
#define MANY_TYPES 256

static const struct rte_flow_item no_items[] = {{.type = RTE_FLOW_ITEM_TYPE_END}};
static const struct rte_flow_action no_actions[] = {{.type = RTE_FLOW_ACTION_TYPE_END}};

/* As large as it says, by memory that ends there. */
static void *
copy(enum rte_flow_conv_op op, const void *from)
{
	struct rte_flow_error error = {.message = ""};
	const int size = octo_spec_copy(op, NULL, 0, from, &error);
	void *to;

	if (size <= 0)
		fail_msg("%d: %s", size, error.message);
	to = malloc(size);
	assert_non_null(to);
	memset(to, 0xa5, size);
	assert_int_equal(octo_spec_copy(op, to, size, from, &error), size);
	return to;
}

static void
assert_refused(const struct rte_flow_item *pattern, const struct rte_flow_action *actions, int code,
	       const char *words)
{
	const struct rte_flow_conv_rule rule = {.pattern_ro = pattern, .actions_ro = actions};
	struct rte_flow_error error = {.message = NULL};

	assert_int_equal(octo_spec_copy(RTE_FLOW_CONV_OP_RULE, NULL, 0, &rule, &error), -code);
	assert_int_equal(rte_errno, code);
	assert_non_null(error.message);
	if (strstr(error.message, words) == NULL)
		fail_msg("\"%s\" is not in \"%s\"", words, error.message);
	assert_ptr_equal(error.cause, pattern != NULL ? (const void *)pattern : actions);
}

static void
assert_item_refused(int type, const void *spec, const void *mask, int code, const char *words)
{
	const struct rte_flow_item pattern[] = {
		{.type = (enum rte_flow_item_type)type, .spec = spec, .mask = mask},
		{.type = RTE_FLOW_ITEM_TYPE_END},
	};

	assert_refused(pattern, NULL, code, words);
}

static void
assert_action_refused(int type, const void *conf, int code, const char *words)
{
	const struct rte_flow_action actions[] = {
		{.type = (enum rte_flow_action_type)type, .conf = conf},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};

	assert_refused(NULL, actions, code, words);
}

static void
test_copies_own_every_byte(void **state)
{
	const struct rte_flow_attr attr = {.group = 3, .priority = 9};
	struct rte_flow_conv_rule rule = {.attr_ro = &attr};
	struct rte_flow_conv_rule *own;
	struct rule_maker m;
	uint64_t sum;

	(void)state;
	for (unsigned int kind = 0; kind < rule_maker_kinds(); kind++) {
		if (rule_maker_name(kind) == NULL)
			continue;
		rule_maker_make(&m, kind);
		rule.pattern_ro = m.pattern;
		rule.actions_ro = m.actions;
		sum = rule_reader_sum(m.pattern, m.actions);
		own = copy(RTE_FLOW_CONV_OP_RULE, &rule);
		rule_maker_free(&m);
		if (rule_reader_sum(own->pattern, own->actions) != sum)
			fail_msg("%s is another one", rule_maker_name(kind));
		assert_memory_equal(own->attr, &attr, sizeof(attr));
		free(own);
	}
}

static void
test_parts_of_rules(void **state)
{
	struct rte_flow_action *actions;
	struct rte_flow_item *pattern;
	struct rule_maker m;
	uint64_t sum;

	(void)state;
	for (unsigned int kind = 0; kind < rule_maker_kinds(); kind++) {
		if (rule_maker_name(kind) == NULL)
			continue;
		rule_maker_make(&m, kind);
		sum = rule_reader_sum(m.pattern, m.actions);
		pattern = copy(RTE_FLOW_CONV_OP_PATTERN, m.pattern);
		actions = copy(RTE_FLOW_CONV_OP_ACTIONS, m.actions);
		assert_true(rule_reader_sum(pattern, actions) == sum);
		sum = rule_reader_sum(NULL, m.actions);
		free(actions);
		actions = copy(RTE_FLOW_CONV_OP_ACTION, m.actions);
		rule_maker_free(&m);
		/* it has no end, and is read with one */
		assert_true(rule_reader_sum(NULL, (struct rte_flow_action[]){
							  *actions, no_actions[0]}) == sum);
		free(actions);
		free(pattern);
	}
}

/* Of what it calls by a name, and how large it thinks that to be. */
static int
size_by_rte_flow(enum rte_flow_conv_op name_op, int type)
{
	static const uint64_t zeros[32];
	const struct rte_flow_item items[] = {
		{.type = (enum rte_flow_item_type)type, .spec = zeros}, no_items[0]};
	const struct rte_flow_action actions[] = {
		{.type = (enum rte_flow_action_type)type, .conf = zeros}, no_actions[0]};
	const char *name;

	if (rte_flow_conv(name_op, &name, sizeof(name), (void *)(uintptr_t)type, NULL) < 0)
		return -1;
	return name_op == RTE_FLOW_CONV_OP_ITEM_NAME_PTR ?
		       rte_flow_conv(RTE_FLOW_CONV_OP_PATTERN, NULL, 0, items, NULL) -
			       (int)sizeof(items) :
		       rte_flow_conv(RTE_FLOW_CONV_OP_ACTIONS, NULL, 0, actions, NULL) -
			       (int)sizeof(actions);
}

/* Whoever adds an item or an action to DPDK is noticed here. */
static void
test_every_type_of_rte_flow_has_a_row(void **state)
{
	const struct octo_spec_row *row;
	int size;

	(void)state;
	for (int type = 0; type < MANY_TYPES; type++) {
		size = size_by_rte_flow(RTE_FLOW_CONV_OP_ITEM_NAME_PTR, type);
		row = octo_spec_row_of_item(type);
		if (size >= 0 && (row == NULL || (row->refusal == NULL && row->size != size)))
			fail_msg("item %d of %d bytes", type, size);
		size = size_by_rte_flow(RTE_FLOW_CONV_OP_ACTION_NAME_PTR, type);
		row = octo_spec_row_of_action(type);
		if (size >= 0 && (row == NULL || (row->refusal == NULL && row->size != size)))
			fail_msg("action %d of %d bytes", type, size);
	}
}

static void
test_unknown_types_are_refused(void **state)
{
	(void)state;
	assert_item_refused(UNKNOWN_TYPE, NULL, NULL, ENOTSUP, "does not know");
	assert_item_refused(PRIVATE_TYPE, NULL, NULL, ENOTSUP, "does not know");
	assert_item_refused(-1, NULL, NULL, ENOTSUP, "does not know");
	assert_action_refused(UNKNOWN_TYPE, NULL, ENOTSUP, "does not know");
	assert_action_refused(PRIVATE_TYPE, NULL, ENOTSUP, "does not know");
	assert_action_refused(-1, NULL, ENOTSUP, "does not know");
}

static void
test_what_belongs_to_one_pf_is_refused(void **state)
{
	struct rte_flow_action_meter_mark meter = {.color_mode = 1};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_METER_MARK, .conf = &meter}, no_actions[0]};

	(void)state;
	assert_item_refused(RTE_FLOW_ITEM_TYPE_FLEX, NULL, NULL, ENOTSUP, "belongs to one PF");
	assert_action_refused(RTE_FLOW_ACTION_TYPE_SECURITY, NULL, ENOTSUP, "belongs to one PF");
	free(copy(RTE_FLOW_CONV_OP_ACTIONS, actions));
	meter.profile = (void *)&meter;
	assert_action_refused(RTE_FLOW_ACTION_TYPE_METER_MARK, &meter, ENOTSUP, "belong to one PF");
}

static void
test_missing_lists(void **state)
{
	const struct rte_flow_action_rss rss = {.queue_num = 2};
	const struct rte_flow_item_raw raw = {.length = 4};
	const struct rte_flow_action_raw_encap encap = {.size = 9};
	const struct rte_flow_action_sample sample = {.ratio = 1};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_RAW_ENCAP, .conf = &encap},
		{.type = RTE_FLOW_ACTION_TYPE_SAMPLE, .conf = &sample},
		no_actions[0],
	};
	struct rte_flow_action *own;

	(void)state;
	assert_action_refused(RTE_FLOW_ACTION_TYPE_RSS, &rss, EINVAL, "but no queues");
	assert_item_refused(RTE_FLOW_ITEM_TYPE_RAW, &raw, NULL, EINVAL, "but no pattern");
	own = copy(RTE_FLOW_CONV_OP_ACTIONS, actions);
	assert_memory_equal(own[0].conf, &encap, sizeof(encap));
	assert_memory_equal(own[1].conf, &sample, sizeof(sample));
	free(own);
}

/* Without a value nobody knows how long its mask is. */
static void
test_masks_of_unknown_length(void **state)
{
	const uint8_t bytes[4] = {0};
	uint32_t data = 0;
	const struct rte_flow_item_raw raw = {.length = UINT16_MAX, .pattern = bytes};
	const struct rte_flow_item_geneve_opt opt = {.option_len = 1, .data = &data};
	const struct rte_flow_item pattern[] = {
		{.type = RTE_FLOW_ITEM_TYPE_RAW, .mask = &rte_flow_item_raw_mask},
		no_items[0],
	};

	(void)state;
	assert_item_refused(RTE_FLOW_ITEM_TYPE_RAW, NULL, &raw, EINVAL, "unknown length");
	assert_item_refused(RTE_FLOW_ITEM_TYPE_GENEVE_OPT, NULL, &opt, EINVAL, "unknown length");
	free(copy(RTE_FLOW_CONV_OP_PATTERN, pattern));
}

/* Some drivers take the pattern for text. */
static void
test_a_zero_ends_raw_patterns(void **state)
{
	const struct rte_flow_item_raw raw = {.length = 4, .pattern = (const uint8_t *)"abcdefg"};
	const struct rte_flow_item pattern[] = {
		{.type = RTE_FLOW_ITEM_TYPE_RAW, .spec = &raw, .last = &raw}, no_items[0]};
	struct rte_flow_item *own = copy(RTE_FLOW_CONV_OP_PATTERN, pattern);
	const struct rte_flow_item_raw *spec = own->spec, *last = own->last;

	(void)state;
	assert_string_equal(spec->pattern, "abcd");
	assert_string_equal(last->pattern, "abcd");
	free(own);
}

static void
test_fields(void **state)
{
	struct rte_flow_action_modify_field modify = {
		.dst.field = RTE_FLOW_FIELD_IPV4_SRC,
		.src = {.field = RTE_FLOW_FIELD_VALUE, .value = {1, 2, 3, 4}},
		.width = 32,
	};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_MODIFY_FIELD, .conf = &modify}, no_actions[0]};
	struct rte_flow_action *own = copy(RTE_FLOW_CONV_OP_ACTIONS, actions);

	(void)state;
	assert_memory_equal(own[0].conf, &modify, sizeof(modify));
	free(own);
	modify.src.field = RTE_FLOW_FIELD_POINTER;
	modify.src.pvalue = &modify;
	modify.dst.field = RTE_FLOW_FIELD_TCP_FLAGS;
	assert_action_refused(RTE_FLOW_ACTION_TYPE_MODIFY_FIELD, &modify, ENOTSUP,
			      "immediate value");
	modify.dst.field = RTE_FLOW_FIELD_POINTER;
	assert_action_refused(RTE_FLOW_ACTION_TYPE_MODIFY_FIELD, &modify, ENOTSUP,
			      "does not know this field");
	modify.dst.field = RTE_FLOW_FIELD_MARK;
	modify.src.field = (enum rte_flow_field_id)UNKNOWN_TYPE;
	assert_action_refused(RTE_FLOW_ACTION_TYPE_MODIFY_FIELD, &modify, ENOTSUP,
			      "does not know this field");
	/* a flex item's handle, or none that this DPDK has */
	modify.src.field = (enum rte_flow_field_id)RTE_FLOW_FIELD_FLEX_ITEM;
	assert_action_refused(RTE_FLOW_ACTION_TYPE_MODIFY_FIELD, &modify, ENOTSUP,
			      "does not know this field");
}

static void
test_handles_stay(void **state)
{
	const struct rte_flow_action inner[] = {
		{.type = RTE_FLOW_ACTION_TYPE_INDIRECT, .conf = state}, no_actions[0]};
	const struct rte_flow_action_sample sample = {.actions = inner};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_SAMPLE, .conf = &sample}, inner[0], no_actions[0]};
	struct rte_flow_action *own = copy(RTE_FLOW_CONV_OP_ACTIONS, actions);

	assert_ptr_equal(own[1].conf, state);
	assert_ptr_equal(octo_spec_nested(&own[0])->conf, state);
	assert_ptr_not_equal(octo_spec_nested(&own[0]), inner);
	assert_null(octo_spec_nested(&own[1]));
	free(own);
}

static void
test_a_walk_meets_nested_actions(void **state)
{
	const struct rte_flow_action drop = {.type = RTE_FLOW_ACTION_TYPE_DROP};
	const struct rte_flow_action innermost[] = {drop, no_actions[0]};
	const struct rte_flow_action_sample inner_sample = {.actions = innermost};
	const struct rte_flow_action inner[] = {
		{.type = RTE_FLOW_ACTION_TYPE_SAMPLE, .conf = &inner_sample}, no_actions[0]};
	const struct rte_flow_action_sample sample = {.actions = inner};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_SAMPLE, .conf = &sample}, drop, no_actions[0]};
	struct octo_spec_walk walk = {.next = {actions}};
	struct octo_spec_walk none = {.next = {no_actions}};

	(void)state;
	assert_ptr_equal(octo_spec_walk_next(&walk), &actions[0]);
	assert_ptr_equal(octo_spec_walk_next(&walk), &inner[0]);
	assert_ptr_equal(octo_spec_walk_next(&walk), &innermost[0]);
	assert_ptr_equal(octo_spec_walk_next(&walk), &actions[1]);
	assert_null(octo_spec_walk_next(&walk));
	assert_null(octo_spec_walk_next(&none));
}

/* A list within itself has no end, but the walk has one. */
static void
test_a_walk_ends(void **state)
{
	struct rte_flow_action_sample sample = {0};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_SAMPLE, .conf = &sample}, no_actions[0]};
	struct octo_spec_walk walk = {.next = {actions}};

	(void)state;
	sample.actions = actions;
	for (unsigned int i = 0; i < OCTO_SPEC_DEPTH; i++)
		assert_ptr_equal(octo_spec_walk_next(&walk), &actions[0]);
	assert_null(octo_spec_walk_next(&walk));
}

/* What is behind a length is not looked at before it is known to be bearable. */
static void
test_too_much_is_refused(void **state)
{
	const struct rte_flow_action_raw_encap encap = {.data = (uint8_t *)state, .size = SIZE_MAX};
	const struct rte_flow_action_raw_decap decap = {.data = (uint8_t *)state,
							.size = OCTO_SPEC_MAX};
	struct rte_flow_action_sample samples[OCTO_SPEC_DEPTH + 1];
	struct rte_flow_action lists[OCTO_SPEC_DEPTH + 1][2];

	assert_action_refused(RTE_FLOW_ACTION_TYPE_RAW_ENCAP, &encap, E2BIG, "1 MiB");
	assert_action_refused(RTE_FLOW_ACTION_TYPE_RAW_DECAP, &decap, E2BIG, "1 MiB");
	memset(lists, 0, sizeof(lists));
	memset(samples, 0, sizeof(samples));
	for (int i = 0; i < OCTO_SPEC_DEPTH; i++) {
		samples[i].actions = lists[i + 1];
		lists[i][0].type = RTE_FLOW_ACTION_TYPE_SAMPLE;
		lists[i][0].conf = &samples[i];
	}
	free(copy(RTE_FLOW_CONV_OP_ACTIONS, lists[1]));
	assert_int_equal(octo_spec_copy(RTE_FLOW_CONV_OP_ACTIONS, NULL, 0, lists[0], NULL), -E2BIG);
}

static void
test_what_has_no_contents_has_no_pointer(void **state)
{
	const struct rte_flow_item pattern[] = {
		{.type = RTE_FLOW_ITEM_TYPE_VOID, .spec = state, .mask = state, .last = state},
		{.type = RTE_FLOW_ITEM_TYPE_END, .spec = state},
	};
	const struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_DROP, .conf = state},
		{.type = RTE_FLOW_ACTION_TYPE_END, .conf = state},
	};
	struct rte_flow_action *own_actions = copy(RTE_FLOW_CONV_OP_ACTIONS, actions);
	struct rte_flow_item *own_items = copy(RTE_FLOW_CONV_OP_PATTERN, pattern);

	for (int i = 0; i < 2; i++) {
		assert_null(own_items[i].spec);
		assert_null(own_items[i].mask);
		assert_null(own_items[i].last);
		assert_null(own_actions[i].conf);
	}
	free(own_actions);
	free(own_items);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copies_own_every_byte),
		cmocka_unit_test(test_parts_of_rules),
		cmocka_unit_test(test_every_type_of_rte_flow_has_a_row),
		cmocka_unit_test(test_unknown_types_are_refused),
		cmocka_unit_test(test_what_belongs_to_one_pf_is_refused),
		cmocka_unit_test(test_missing_lists),
		cmocka_unit_test(test_masks_of_unknown_length),
		cmocka_unit_test(test_a_zero_ends_raw_patterns),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_handles_stay),
		cmocka_unit_test(test_a_walk_meets_nested_actions),
		cmocka_unit_test(test_a_walk_ends),
		cmocka_unit_test(test_too_much_is_refused),
		cmocka_unit_test(test_what_has_no_contents_has_no_pointer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
