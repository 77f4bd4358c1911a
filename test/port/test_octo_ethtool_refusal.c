/* SPDX-License-Identifier: BSD-3-Clause */

/* Rules of a netdev that the kernel refuses to remove or to tell. */

#include <errno.h>

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include "octo_ethtool_io.h"
#include "octo_ethtool_table.h"
#include "octo_port.h"
#include "octo_port_kernel.h"

static struct octo_port_kernel *const kernel = &octo_port_kernel;

static struct octo_ethtool_note *
add(struct octo_ethtool *et, uint16_t port, uint32_t channel)
{
	const struct octo_tuple t = octo_port_kernel_tuple(port);
	struct octo_ethtool_note *rule = NULL;

	assert_int_equal(octo_ethtool_insert(et, &t, channel, &rule), 0);
	assert_non_null(rule);
	return rule;
}

static struct octo_ethtool *
open_doubling(void)
{
	kernel->special = true;
	kernel->doubles = true;
	return octo_port_kernel_open();
}

/* The driver makes the new rule beside the old one, which stays: the new one goes again. */
static void
test_a_move_that_leaves_the_old_rule_is_refused(void **state)
{
	struct octo_ethtool *et = open_doubling();
	struct octo_ethtool_note *rule = add(et, 7, 1);

	(void)state;
	kernel->stays = 1 + rule->fs.location;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(octo_ethtool_update(et, rule, 2), -EBUSY);
		assert_int_equal(octo_port_kernel_channel_of(7), 1);
	}
	kernel->stays = 0;
	assert_int_equal(octo_ethtool_update(et, rule, 2), 0);
	assert_int_equal(octo_port_kernel_channel_of(7), 2);
	assert_int_equal(octo_ethtool_remove(et, rule), 0);
	assert_int_equal(octo_port_kernel_count(), 0);
	octo_ethtool_close(et);
}

/* There is no note for a second rule. */
static void
test_a_move_with_a_full_journal_is_refused(void **state)
{
	struct octo_ethtool_note *rule = NULL;
	struct octo_ethtool *et;

	(void)state;
	kernel->size = 4;
	et = open_doubling();
	kernel->size = 5;
	for (uint16_t i = 0; i < 4; i++)
		rule = add(et, i, 1);
	kernel->stays = 1 + rule->fs.location;
	assert_int_equal(octo_ethtool_update(et, rule, 2), -EBUSY);
	assert_int_equal(octo_port_kernel_channel_of(3), 1);
	kernel->stays = 0;
	assert_int_equal(octo_ethtool_update(et, rule, 2), 0);
	assert_int_equal(octo_port_kernel_channel_of(3), 2);
	octo_ethtool_close(et);
	assert_int_equal(octo_port_kernel_count(), 0);
}

/* Neither of the two goes: one note is kept for that, and no other rule moves until it is free. */
static void
test_what_is_left_with_a_full_journal_is_noted(void **state)
{
	const struct octo_tuple t = octo_port_kernel_tuple(4);
	struct octo_ethtool_note *rules[4], *none;
	struct octo_ethtool *et;

	(void)state;
	kernel->size = 4;
	et = open_doubling();
	kernel->size = 8;
	for (uint16_t i = 0; i < 4; i++)
		rules[i] = add(et, i, 1);
	assert_int_equal(octo_ethtool_insert(et, &t, 1, &none), -ENOSPC);
	kernel->remove = EBUSY;
	assert_int_equal(octo_ethtool_update(et, rules[0], 2), -EBUSY);
	assert_int_equal(octo_ethtool_update(et, rules[1], 2), -ENOSPC);
	assert_int_equal(octo_port_kernel_channel_of(1), 1);
	assert_int_equal(octo_port_kernel_count(), 5);
	octo_port_kernel_die(et);
	kernel->remove = 0;
	et = octo_port_kernel_open();
	assert_int_equal(octo_port_kernel_count(), 0);
	octo_ethtool_close(et);
}

/* Nor does the new one go: it is removed as soon as the kernel lets it. */
static void
test_a_rule_that_is_left_is_noted(void **state)
{
	struct octo_ethtool *et = open_doubling();
	struct octo_ethtool_note *rule = add(et, 7, 1);

	(void)state;
	assert_int_equal(octo_ethtool_update(et, rule, 2), 0);
	assert_int_equal(octo_port_kernel_channel_of(7), 2);
	kernel->remove = EBUSY;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(octo_ethtool_update(et, rule, 3), -EBUSY);
		assert_int_equal(octo_port_kernel_count(), 2);
	}
	kernel->remove = 0;
	assert_int_equal(octo_ethtool_update(et, rule, 4), 0);
	assert_int_equal(octo_port_kernel_channel_of(7), 4);
	kernel->remove = EBUSY;
	assert_int_equal(octo_ethtool_update(et, rule, 5), -EBUSY);
	kernel->remove = 0;
	assert_int_equal(octo_ethtool_remove(et, rule), 0);
	assert_int_equal(octo_port_kernel_count(), 0);
	rule = add(et, 7, 1);
	kernel->remove = EBUSY;
	assert_int_equal(octo_ethtool_update(et, rule, 2), -EBUSY);
	octo_port_kernel_die(et);
	kernel->remove = 0;
	et = octo_port_kernel_open();
	assert_int_equal(octo_port_kernel_count(), 0);
	octo_ethtool_close(et);
	assert_int_equal(octo_port_kernel_count(), 0);
}

/* What is left would still lead the flow: the kernel refuses to remove it, again and again. */
static void
test_a_rule_goes_with_what_is_left_of_it(void **state)
{
	struct octo_ethtool *et = open_doubling();
	struct octo_ethtool_note *rule = add(et, 7, 1);

	(void)state;
	kernel->remove = EBUSY;
	assert_int_equal(octo_ethtool_update(et, rule, 2), -EBUSY);
	kernel->remove = 0;
	kernel->stays = 2 + rule->fs.location;
	assert_int_equal(octo_ethtool_remove(et, rule), -EBUSY);
	assert_int_equal(octo_port_kernel_count(), 2);
	kernel->stays = 0;
	assert_int_equal(octo_ethtool_remove(et, rule), 0);
	assert_int_equal(octo_port_kernel_count(), 0);
	octo_ethtool_close(et);
}

/* All rules were to go, and one stayed. */
static void
test_a_rule_is_not_made_beside_one_that_is_left(void **state)
{
	const struct octo_tuple t = octo_port_kernel_tuple(7);
	struct octo_ethtool *et = open_doubling();
	struct octo_ethtool_note *rule = add(et, 7, 1);

	(void)state;
	kernel->remove = EBUSY;
	assert_int_equal(octo_ethtool_update(et, rule, 2), -EBUSY);
	assert_int_equal(octo_ethtool_flush(et), -EBUSY);
	assert_int_equal(octo_ethtool_insert(et, &t, 3, &rule), -EBUSY);
	assert_int_equal(octo_port_kernel_count(), 2);
	add(et, 8, 3);
	kernel->remove = 0;
	rule = add(et, 7, 3);
	assert_int_equal(octo_port_kernel_channel_of(7), 3);
	assert_int_equal(octo_port_kernel_count(), 2);
	octo_ethtool_close(et);
	assert_int_equal(octo_port_kernel_count(), 0);
}

/* So did one whose location is not known. */
static void
test_a_rule_that_is_left_anywhere_is_found(void **state)
{
	const struct octo_tuple t = octo_port_kernel_tuple(7);
	struct octo_ethtool_note *rule;
	struct octo_ethtool *et;

	(void)state;
	kernel->special = true;
	et = octo_port_kernel_open();
	add(et, 7, 1)->fs.location = RX_CLS_LOC_ANY;
	kernel->remove = EBUSY;
	assert_int_equal(octo_ethtool_flush(et), -EBUSY);
	assert_int_equal(octo_ethtool_insert(et, &t, 3, &rule), -EBUSY);
	assert_int_equal(octo_port_kernel_count(), 1);
	kernel->remove = 0;
	add(et, 7, 3);
	assert_int_equal(octo_port_kernel_count(), 1);
	octo_ethtool_close(et);
	assert_int_equal(octo_port_kernel_count(), 0);
}

/* A location that cannot be read is neither free, nor is its rule gone. */
static void
test_a_rule_that_cannot_be_read_stays(void **state)
{
	static const int codes[] = {EBUSY, ENOMEM, EINTR, EAGAIN, EIO};
	const struct octo_tuple late = octo_port_kernel_tuple(8),
				theirs = octo_port_kernel_tuple(500);
	struct octo_ethtool *et = octo_port_kernel_open();
	struct octo_ethtool_note *rule = add(et, 7, 3), *other = NULL;

	(void)state;
	octo_port_kernel_add(1022, &theirs, 5);
	for (size_t i = 0; i < RTE_DIM(codes); i++) {
		kernel->read = codes[i];
		assert_int_equal(octo_ethtool_insert(et, &late, 4, &other), -codes[i]);
		assert_int_equal(octo_ethtool_update(et, rule, 4), -codes[i]);
		assert_int_equal(octo_ethtool_remove(et, rule), -codes[i]);
	}
	assert_int_equal(octo_port_kernel_channel_of(7), 3);
	assert_int_equal(octo_port_kernel_channel_of(500), 5);
	assert_int_equal(octo_port_kernel_count(), 2);
	kernel->read = 0;
	assert_int_equal(octo_ethtool_update(et, rule, 4), 0);
	assert_int_equal(octo_ethtool_remove(et, rule), 0);
	octo_ethtool_close(et);
	assert_int_equal(octo_port_kernel_count(), 1);
}

/* Some drivers say so of a free location. */
static void
test_einval_means_a_free_location(void **state)
{
	struct octo_ethtool *et = octo_port_kernel_open();
	struct octo_ethtool_note *rule;

	(void)state;
	kernel->read = EINVAL;
	rule = add(et, 7, 3);
	kernel->used[rule->fs.location] = false;
	assert_int_equal(octo_ethtool_remove(et, rule), 0);
	octo_ethtool_close(et);
	assert_int_equal(octo_port_kernel_count(), 0);
}

/* Somebody has turned ntuple off after a crash: there is no rule to take back. */
static void
test_a_netdev_that_takes_no_rules_any_more(void **state)
{
	struct octo_ethtool *et = octo_port_kernel_open();

	(void)state;
	add(et, 7, 3);
	octo_port_kernel_die(et);
	kernel->used[1023] = false;
	kernel->no_rules = EOPNOTSUPP;
	et = octo_port_kernel_open();
	assert_int_equal(et->rules_refused, EOPNOTSUPP);
	assert_int_equal(et->reta_refused, 0);
	octo_ethtool_close(et);
}

static void
test_a_rule_that_stays_holds_no_reta(void **state)
{
	const uint32_t reta[4] = {0, 1, 0, 3};
	struct octo_ethtool *et = octo_port_kernel_open();

	(void)state;
	add(et, 7, 3);
	assert_int_equal(octo_ethtool_set_reta(et, reta, 4), 0);
	kernel->remove = EBUSY;
	assert_int_equal(octo_ethtool_close(et), -EBUSY);
	assert_int_equal(octo_port_kernel_channels(), 0xffff);
	kernel->remove = 0;
	et = octo_port_kernel_open();
	assert_int_equal(et->nb_swept, 1);
	octo_ethtool_close(et);
	assert_int_equal(octo_port_kernel_count(), 0);
}

static bool has_name, is_attached;

/* Requests for a netdev, as octo_ethtool_io() makes them. */
int
ioctl(int fd, unsigned long request, ...)
{
	const bool taken = request == SIOCGIFNAME ? has_name : is_attached;

	(void)fd;
	errno = ENODEV;
	return taken ? 0 : -1;
}

/* While a driver resets its device, the kernel has the errno of a netdev that is gone. */
static void
test_a_netdev_that_is_detached_is_busy(void **state)
{
	struct ethtool_rxnfc nfc = {.cmd = ETHTOOL_GRXCLSRULE};

	(void)state;
	octo_port_kernel_off();
	assert_int_equal(octo_ethtool_io(0, 1, &nfc), -ENODEV);
	has_name = true;
	assert_int_equal(octo_ethtool_io(0, 1, &nfc), -EBUSY);
	is_attached = true;
	assert_int_equal(octo_ethtool_io(0, 1, &nfc), 0);
}

#define refusal_test(f)                                                                            \
	cmocka_unit_test_setup_teardown(f, octo_port_kernel_dir_setup,                             \
					octo_port_kernel_dir_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		refusal_test(test_a_move_that_leaves_the_old_rule_is_refused),
		refusal_test(test_a_move_with_a_full_journal_is_refused),
		refusal_test(test_what_is_left_with_a_full_journal_is_noted),
		refusal_test(test_a_rule_that_is_left_is_noted),
		refusal_test(test_a_rule_goes_with_what_is_left_of_it),
		refusal_test(test_a_rule_is_not_made_beside_one_that_is_left),
		refusal_test(test_a_rule_that_is_left_anywhere_is_found),
		refusal_test(test_a_rule_that_cannot_be_read_stays),
		refusal_test(test_einval_means_a_free_location),
		refusal_test(test_a_netdev_that_takes_no_rules_any_more),
		refusal_test(test_a_rule_that_stays_holds_no_reta),
		refusal_test(test_a_netdev_that_is_detached_is_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
