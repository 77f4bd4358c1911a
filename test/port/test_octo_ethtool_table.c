/* SPDX-License-Identifier: BSD-3-Clause */

/* A netdev as octo changes it: its rules, and what is taken back after a crash. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "octo_ethtool_table.h"
#include "octo_port.h"
#include "octo_port_kernel.h"

static struct octo_port_kernel *const kernel = &octo_port_kernel;

static struct octo_tuple
tuple(uint16_t port)
{
	static const char *const protos[] = {"tcp", "udp"};
	struct octo_tuple t;
	const bool v6 = port % 4 >= 2;

	assert_int_equal(octo_tuple_read(&t, protos[port % 2], v6 ? "2001:db8::1" : "10.0.0.1",
					 port, v6 ? "2001:db8::2" : "10.0.0.2", 9, NULL),
			 0);
	return t;
}

static struct octo_ethtool_note *
add(struct octo_ethtool *et, uint16_t port, uint32_t channel)
{
	const struct octo_tuple t = tuple(port);
	struct octo_ethtool_note *rule = NULL;

	assert_int_equal(octo_ethtool_insert(et, &t, channel, &rule), 0);
	assert_non_null(rule);
	assert_int_equal(octo_port_kernel_channel(&t), channel);
	return rule;
}

static void
assert_all_back(void)
{
	assert_int_equal(octo_port_kernel_count(), 0);
	for (uint32_t i = 0; i < kernel->reta_size; i++)
		assert_int_equal(kernel->reta[i], i % 16);
}

static void
test_rules_come_and_go(void **state)
{
	struct octo_ethtool *et = octo_port_kernel_open();
	struct octo_ethtool_note *rules[8];

	(void)state;
	for (uint16_t i = 0; i < 8; i++)
		rules[i] = add(et, i, i);
	assert_int_equal(octo_port_kernel_count(), 8);
	assert_true(kernel->used[1023] && kernel->used[1016]);
	for (uint16_t i = 0; i < 8; i += 2)
		assert_int_equal(octo_ethtool_remove(et, rules[i]), 0);
	assert_int_equal(octo_port_kernel_count(), 4);
	octo_ethtool_close(et);
	assert_all_back();
}

static void
test_an_update_stays_at_its_location(void **state)
{
	struct octo_ethtool *et = octo_port_kernel_open();
	struct octo_ethtool_note *rule = add(et, 7, 0);
	const struct octo_tuple t = tuple(7);

	(void)state;
	for (uint32_t channel = 1; channel < 10; channel++) {
		assert_int_equal(octo_ethtool_update(et, rule, channel), 0);
		assert_int_equal(octo_port_kernel_channel(&t), channel);
		assert_true(kernel->used[1023]);
	}
	assert_int_equal(octo_port_kernel_count(), 1);
	assert_int_equal(octo_ethtool_remove(et, rule), 0);
	octo_ethtool_close(et);
	assert_all_back();
}

static void
test_a_full_table_has_no_room(void **state)
{
	struct octo_ethtool *et;
	struct octo_ethtool_note *rule = NULL;
	const struct octo_tuple t = tuple(9999);

	(void)state;
	for (uint16_t i = 0; i < 24; i++) {
		const struct octo_tuple theirs = tuple(2000 + i);

		octo_port_kernel_add(40 * i, &theirs, 1);
	}
	et = octo_port_kernel_open();
	for (uint16_t i = 0; i < 1000; i++)
		rule = add(et, i, i % 16);
	assert_int_equal(octo_ethtool_insert(et, &t, 1, &rule), -ENOSPC);
	/* somebody removes one */
	kernel->used[40] = false;
	assert_int_equal(octo_ethtool_insert(et, &t, 1, &rule), 0);
	assert_int_equal(rule->fs.location, 40);
	octo_ethtool_close(et);
	assert_int_equal(octo_port_kernel_count(), 23);
}

static void
test_rules_of_others_stay(void **state)
{
	const struct octo_tuple theirs = tuple(500), late = tuple(600);
	struct octo_ethtool_note *rule;
	struct octo_ethtool *et;

	(void)state;
	octo_port_kernel_add(1023, &theirs, 5);
	et = octo_port_kernel_open();
	rule = add(et, 7, 1);
	assert_int_equal(rule->fs.location, 1022);
	/* the next free location is taken by somebody else meanwhile */
	octo_port_kernel_add(1021, &late, 6);
	rule = add(et, 8, 1);
	assert_int_equal(rule->fs.location, 1020);
	/* and that of a rule of octo is given to another flow */
	octo_port_kernel_add(1020, &late, 7);
	assert_int_equal(octo_ethtool_remove(et, rule), 0);
	octo_ethtool_close(et);
	assert_int_equal(octo_port_kernel_count(), 3);
	assert_int_equal(octo_port_kernel_channel(&theirs), 5);
}

static void
test_the_list_may_tell_the_size(void **state)
{
	const struct octo_tuple theirs = tuple(500);
	struct octo_ethtool *et;

	(void)state;
	kernel->late_size = true;
	for (int i = 0; i < 2; i++) {
		et = octo_port_kernel_open();
		assert_int_equal(et->rules_refused, 0);
		assert_int_equal(et->room.size, OCTO_PORT_KERNEL_RULES);
		add(et, 7, 1);
		octo_ethtool_close(et);
		assert_int_equal(octo_port_kernel_count(), i);
		octo_port_kernel_add(1023, &theirs, 5);
	}
}

/* An update of a rule in whose place somebody has put another makes it elsewhere. */
static void
test_an_update_replaces_nothing_of_others(void **state)
{
	const struct octo_tuple theirs = tuple(500), ours = tuple(8);
	struct octo_ethtool *et = octo_port_kernel_open();
	struct octo_ethtool_note *rule = add(et, 8, 1);

	(void)state;
	octo_port_kernel_add(1023, &theirs, 7);
	assert_int_equal(octo_ethtool_update(et, rule, 2), 0);
	assert_int_equal(octo_port_kernel_channel(&theirs), 7);
	assert_int_equal(octo_port_kernel_channel(&ours), 2);
	octo_ethtool_close(et);
	assert_int_equal(octo_port_kernel_count(), 1);
}

static void
test_a_driver_may_choose_locations(void **state)
{
	const struct octo_tuple t = tuple(7);
	struct octo_ethtool_note *rule;
	struct octo_ethtool *et;

	(void)state;
	kernel->special = true;
	et = octo_port_kernel_open();
	add(et, 6, 1);
	rule = add(et, 7, 1);
	assert_int_equal(rule->fs.location, 1);
	assert_int_equal(octo_ethtool_update(et, rule, 2), 0);
	assert_int_equal(octo_port_kernel_channel(&t), 2);
	assert_int_equal(octo_ethtool_remove(et, rule), 0);
	assert_int_equal(octo_port_kernel_count(), 1);
	octo_ethtool_close(et);
	assert_all_back();
}

/* mlx5 removes the rule that is to be replaced first. */
static void
test_a_refused_update_goes_back(void **state)
{
	static const int codes[] = {ENOSPC, EBUSY, EOPNOTSUPP, EINVAL, EPERM};
	const struct octo_tuple t = tuple(7);
	struct octo_ethtool *et = octo_port_kernel_open();
	struct octo_ethtool_note *rule = add(et, 7, 3);

	(void)state;
	for (size_t i = 0; i < RTE_DIM(codes); i++) {
		kernel->insert = codes[i];
		assert_int_equal(octo_ethtool_update(et, rule, 4), -codes[i]);
		assert_int_equal(octo_port_kernel_channel(&t), 3);
	}
	kernel->insert = 0;
	kernel->removes_first = true;
	/* channel 99 is refused alone */
	assert_int_equal(octo_ethtool_update(et, rule, 99), -EINVAL);
	assert_int_equal(octo_port_kernel_channel(&t), 3);
	/* nothing is taken any more: the rule is lost */
	kernel->insert = ENOSPC;
	assert_int_equal(octo_ethtool_update(et, rule, 4), -ENOSPC);
	assert_int_equal(octo_port_kernel_channel(&t), -1);
	assert_int_equal(octo_ethtool_update(et, rule, 4), -ENOSPC);
	kernel->insert = 0;
	assert_int_equal(octo_ethtool_update(et, rule, 4), 0);
	assert_int_equal(octo_port_kernel_channel(&t), 4);
	octo_ethtool_close(et);
	assert_all_back();
}

/* Also where the driver chooses locations, and takes no rule at another. */
static void
test_it_goes_back_where_the_driver_chooses(void **state)
{
	const struct octo_tuple t = tuple(7);
	struct octo_ethtool_note *rule;
	struct octo_ethtool *et;

	(void)state;
	kernel->special = true;
	kernel->removes_first = true;
	et = octo_port_kernel_open();
	rule = add(et, 7, 3);
	assert_int_equal(octo_ethtool_update(et, rule, 99), -EINVAL);
	assert_int_equal(octo_port_kernel_channel(&t), 3);
	assert_int_equal(octo_ethtool_remove(et, rule), 0);
	octo_ethtool_close(et);
	assert_all_back();
}

static void
test_sctp_is_refused(void **state)
{
	struct octo_ethtool *et = octo_port_kernel_open();
	struct octo_ethtool_note *rule;
	struct octo_tuple t;

	(void)state;
	assert_int_equal(octo_tuple_read(&t, "sctp", "10.0.0.1", 1, "10.0.0.2", 2, NULL), 0);
	assert_int_equal(octo_ethtool_insert(et, &t, 1, &rule), -ENOTSUP);
	octo_ethtool_close(et);
}

static void
test_a_crash_is_swept(void **state)
{
	const uint32_t reta[4] = {0, 1, 0, 3};
	const struct octo_tuple theirs = tuple(500);
	struct octo_ethtool *et = octo_port_kernel_open();

	(void)state;
	octo_port_kernel_add(3, &theirs, 5);
	for (uint16_t i = 0; i < 20; i++)
		add(et, i, 1);
	assert_int_equal(octo_ethtool_set_reta(et, reta, 4), 0);
	assert_int_equal(octo_port_kernel_channels(), 0xb);
	octo_port_kernel_die(et);
	assert_int_equal(octo_port_kernel_count(), 21);
	et = octo_port_kernel_open();
	assert_int_equal(et->nb_swept, 20);
	assert_int_equal(octo_port_kernel_count(), 1);
	assert_int_equal(octo_port_kernel_channel(&theirs), 5);
	assert_int_equal(octo_port_kernel_channels(), 0xffff);
	octo_ethtool_close(et);
}

/* The note is written before the rule is made, and before it is changed. */
static void
test_a_crash_at_any_time_is_swept(void **state)
{
	struct ethtool_rxnfc nfc;
	struct octo_ethtool_note *rule;
	struct octo_ethtool *et = octo_port_kernel_open();
	const struct octo_tuple t = tuple(7), never = tuple(8);

	(void)state;
	rule = add(et, 7, 1);
	rule->queue_before = 1;
	rule->fs.ring_cookie = 2;
	assert_int_equal(octo_ethtool_fill_insert(&nfc, &never, 3, 5), 0);
	assert_non_null(octo_ethtool_journal_note(&et->journal, &nfc.fs, false));
	octo_port_kernel_die(et);
	et = octo_port_kernel_open();
	assert_int_equal(octo_port_kernel_channel(&t), -1);
	octo_ethtool_close(et);
	assert_all_back();
}

/* The driver was to choose the location, which never got into the note. */
static void
test_a_rule_at_an_unknown_location_is_swept(void **state)
{
	const struct octo_tuple theirs = tuple(500);
	struct octo_ethtool *et;

	(void)state;
	kernel->special = true;
	octo_port_kernel_add(0, &theirs, 5);
	et = octo_port_kernel_open();
	add(et, 7, 1)->fs.location = RX_CLS_LOC_ANY;
	octo_port_kernel_die(et);
	assert_int_equal(octo_port_kernel_count(), 2);
	et = octo_port_kernel_open();
	assert_int_equal(octo_port_kernel_count(), 1);
	assert_int_equal(octo_port_kernel_channel(&theirs), 5);
	octo_ethtool_close(et);
}

/* Somebody has cleared the table after the crash, and made rules there. */
static void
test_the_sweep_looks_before_it_removes(void **state)
{
	const uint32_t reta[4] = {0, 1, 0, 3};
	struct octo_ethtool *et = octo_port_kernel_open();
	const struct octo_tuple a = tuple(7), b = tuple(8);

	(void)state;
	assert_int_equal(add(et, 7, 1)->fs.location, 1023);
	assert_int_equal(add(et, 8, 1)->fs.location, 1022);
	assert_int_equal(octo_ethtool_set_reta(et, reta, 4), 0);
	octo_port_kernel_die(et);
	/* another flow, and the same flow to another channel */
	octo_port_kernel_add(1023, &b, 1);
	octo_port_kernel_add(1022, &b, 9);
	kernel->reta[7] = 9;
	et = octo_port_kernel_open();
	assert_int_equal(octo_port_kernel_count(), 2);
	assert_int_equal(octo_port_kernel_channel(&a), -1);
	assert_int_equal(kernel->reta[7], 9);
	octo_ethtool_close(et);
	assert_int_equal(kernel->reta[7], 9);
}

/* Another boot, another netdev, a file that is cut short or is none: nothing is removed. */
static void
test_a_record_of_something_else_is_ignored(void **state)
{
	struct octo_ethtool *et;

	(void)state;
	for (int i = 0; i < 4; i++) {
		char path[sizeof(et->journal.path)];

		et = octo_port_kernel_open();
		add(et, 7, 1);
		if (i == 0)
			et->journal.record->boot[3] ^= 1;
		else if (i == 1)
			et->journal.record->ifindex++;
		else if (i == 2)
			et->journal.record->magic[0] = 'x';
		strcpy(path, et->journal.path);
		octo_port_kernel_die(et);
		if (i == 3)
			assert_int_equal(truncate(path, 100), 0);
		et = octo_port_kernel_open();
		assert_int_equal(et->nb_swept, 0);
		assert_int_equal(octo_port_kernel_count(), 1);
		octo_ethtool_close(et);
		octo_port_kernel_on();
	}
}

static void
test_a_netdev_is_steered_by_one_process(void **state)
{
	struct octo_ethtool *first = octo_port_kernel_open(), *second = octo_port_kernel_open();
	const struct octo_tuple t = tuple(8);
	struct octo_ethtool_note *rule;

	(void)state;
	add(first, 7, 1);
	assert_int_equal(second->rules_refused, EALREADY);
	assert_int_equal(second->reta_refused, EALREADY);
	assert_int_equal(octo_ethtool_insert(second, &t, 1, &rule), -EALREADY);
	octo_ethtool_close(second);
	assert_int_equal(octo_port_kernel_count(), 1);
	octo_ethtool_close(first);
	assert_all_back();
}

static void
test_without_a_right_nothing_is_touched(void **state)
{
	const uint32_t reta[4] = {0, 1, 0, 3};
	struct octo_ethtool *et = octo_port_kernel_open();

	(void)state;
	add(et, 7, 1);
	assert_int_equal(octo_ethtool_set_reta(et, reta, 4), 0);
	octo_port_kernel_die(et);
	kernel->change = EPERM;
	et = octo_port_kernel_open();
	assert_int_equal(et->rules_refused, EPERM);
	assert_int_equal(et->reta_refused, EPERM);
	octo_ethtool_close(et);
	assert_int_equal(octo_port_kernel_count(), 1);
	/* what could not be swept is left to the next run that can */
	kernel->change = 0;
	et = octo_port_kernel_open();
	assert_int_equal(octo_port_kernel_count(), 0);
	assert_int_equal(octo_port_kernel_channels(), 0xffff);
	octo_ethtool_close(et);
}

static void
test_without_a_directory_nothing_is_written(void **state)
{
	struct octo_ethtool *et = octo_ethtool_open(NULL, octo_port_kernel_ifindex());

	(void)state;
	assert_non_null(et);
	add(et, 7, 1);
	octo_ethtool_close(et);
	assert_all_back();
	et = octo_ethtool_open("/nowhere", octo_port_kernel_ifindex());
	assert_int_equal(et->rules_refused, ENOTRECOVERABLE);
	octo_ethtool_close(et);
}

static void
test_rules_and_reta_are_refused_apart(void **state)
{
	const struct octo_tuple t = tuple(8);
	const uint32_t reta[4] = {0, 1, 0, 3};
	struct octo_ethtool_note *rule;
	struct octo_ethtool *et;

	(void)state;
	kernel->no_rules = EOPNOTSUPP;
	et = octo_port_kernel_open();
	assert_int_equal(et->rules_refused, EOPNOTSUPP);
	assert_int_equal(octo_ethtool_insert(et, &t, 1, &rule), -EOPNOTSUPP);
	assert_int_equal(octo_ethtool_set_reta(et, reta, 4), 0);
	octo_ethtool_close(et);
	assert_all_back();
	kernel->no_rules = 0;
	kernel->no_reta = EOPNOTSUPP;
	et = octo_port_kernel_open();
	assert_int_equal(et->reta_refused, EOPNOTSUPP);
	assert_int_equal(octo_ethtool_set_reta(et, reta, 4), -EOPNOTSUPP);
	add(et, 7, 1);
	octo_ethtool_close(et);
	assert_all_back();
}

static void
test_what_the_kernel_hashes_is_read(void **state)
{
	struct octo_ethtool *et = octo_port_kernel_open();

	(void)state;
	assert_int_equal(et->key_size, OCTO_PORT_KERNEL_KEY);
	assert_memory_equal(et->key, kernel->key, OCTO_PORT_KERNEL_KEY);
	assert_int_equal(et->hash_types,
			 RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_NONFRAG_IPV4_UDP |
				 RTE_ETH_RSS_NONFRAG_IPV6_TCP | RTE_ETH_RSS_NONFRAG_IPV6_UDP);
	octo_ethtool_close(et);
	/* not Toeplitz */
	kernel->hfunc = 2;
	et = octo_port_kernel_open();
	assert_int_equal(et->key_size, 0);
	assert_int_equal(et->hash_types, 0);
	octo_ethtool_close(et);
}

/* The netdev goes: there is nothing left to be taken back. */
static void
test_a_netdev_may_go(void **state)
{
	const uint32_t reta[4] = {0, 1, 0, 3};
	struct octo_ethtool *et = octo_port_kernel_open();
	struct octo_ethtool_note *rule = add(et, 7, 1);
	const struct octo_tuple t = tuple(8);

	(void)state;
	assert_int_equal(octo_ethtool_set_reta(et, reta, 4), 0);
	kernel->everything = ENODEV;
	assert_int_equal(octo_ethtool_update(et, rule, 2), -ENODEV);
	assert_int_equal(octo_ethtool_insert(et, &t, 2, &rule), -ENODEV);
	assert_int_equal(octo_ethtool_set_reta(et, reta, 4), -ENODEV);
	octo_ethtool_close(et);
}

#define table_test(f)                                                                              \
	cmocka_unit_test_setup_teardown(f, octo_port_kernel_dir_setup,                             \
					octo_port_kernel_dir_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		table_test(test_rules_come_and_go),
		table_test(test_an_update_stays_at_its_location),
		table_test(test_a_full_table_has_no_room),
		table_test(test_rules_of_others_stay),
		table_test(test_the_list_may_tell_the_size),
		table_test(test_an_update_replaces_nothing_of_others),
		table_test(test_a_driver_may_choose_locations),
		table_test(test_a_refused_update_goes_back),
		table_test(test_it_goes_back_where_the_driver_chooses),
		table_test(test_sctp_is_refused),
		table_test(test_a_crash_is_swept),
		table_test(test_a_crash_at_any_time_is_swept),
		table_test(test_a_rule_at_an_unknown_location_is_swept),
		table_test(test_the_sweep_looks_before_it_removes),
		table_test(test_a_record_of_something_else_is_ignored),
		table_test(test_a_netdev_is_steered_by_one_process),
		table_test(test_without_a_right_nothing_is_touched),
		table_test(test_without_a_directory_nothing_is_written),
		table_test(test_rules_and_reta_are_refused_apart),
		table_test(test_what_the_kernel_hashes_is_read),
		table_test(test_a_netdev_may_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
