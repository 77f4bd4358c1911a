/* SPDX-License-Identifier: BSD-3-Clause */

#include <rte_bitops.h>
#include <rte_common.h>

#include "octo_test.h"

#include "octo_tx_switch.h"

#define NB_DESC 512
#define GRACE 100
#define STUCK 10000

static const struct octo_tx_limits limits = {.grace = GRACE, .stuck = STUCK};

/* Is the descriptor in use, in the eyes of a PMD, while `used` are? */
typedef bool (*pmd_t)(uint16_t offset, uint16_t used);

/* The next to be used is at offset 0, the last used at the end. */
static bool
exact_pmd(uint16_t offset, uint16_t used)
{
	return offset >= NB_DESC - used;
}

/* Only every 32nd is reported, so the offset is rounded up; the tail is at 0 mod 32 less 7. */
static bool
rounding_pmd(uint16_t offset, uint16_t used)
{
	const uint16_t tail = 25;
	const uint16_t desc = RTE_ALIGN_CEIL(tail + offset + 1, 32) - 1;
	const uint16_t rounded = desc - tail;

	/* past the tail it sees the lap before, which is done */
	return rounded < NB_DESC && exact_pmd(rounded, used);
}

/* mlx5: offset 0 is the oldest. */
static bool
counting_pmd(uint16_t offset, uint16_t used)
{
	return offset < used;
}

static enum octo_tx_report
ask(pmd_t pmd, uint16_t used, bool coarse)
{
	uint32_t full = 0;

	for (unsigned int i = 0; i < OCTO_TX_PROBES; i++)
		if (pmd(octo_tx_switch_probe(i, NB_DESC), used))
			full |= RTE_BIT32(i);
	return octo_tx_switch_report(full, coarse);
}

static void
test_an_exact_pmd_is_believed(void **state)
{
	(void)state;
	assert_int_equal(ask(exact_pmd, 0, false), OCTO_TX_EMPTY);
	for (uint16_t used = 1; used <= NB_DESC; used++)
		assert_int_equal(ask(exact_pmd, used, false), OCTO_TX_BUSY);
}

static void
test_a_rounding_pmd_is_quiet_at_the_end(void **state)
{
	(void)state;
	for (uint16_t used = 0; used <= NB_DESC; used++) {
		const enum octo_tx_report report = ask(rounding_pmd, used, true);

		/* those after the last that is reported are never seen */
		assert_int_equal(report, used <= 25 ? OCTO_TX_QUIET : OCTO_TX_BUSY);
	}
}

static void
test_a_counting_pmd_is_quiet_at_the_end(void **state)
{
	(void)state;
	assert_int_equal(ask(counting_pmd, 0, false), OCTO_TX_EMPTY);
	for (uint16_t used = 1; used <= NB_DESC; used++)
		assert_int_equal(ask(counting_pmd, used, false),
				 used <= 64 ? OCTO_TX_QUIET : OCTO_TX_BUSY);
}

static void
test_small_rings_are_asked_for_descriptors_they_have(void **state)
{
	(void)state;
	for (uint16_t nb_desc = 1; nb_desc < 200; nb_desc++)
		for (unsigned int i = 0; i < OCTO_TX_PROBES; i++)
			assert_true(octo_tx_switch_probe(i, nb_desc) < nb_desc);
}

static enum octo_tx_step
step(struct octo_tx_switch *s, enum octo_tx_report report, uint64_t now)
{
	return octo_tx_switch_step(s, report, now, &limits);
}

static void
test_an_empty_ring_is_left_at_once(void **state)
{
	struct octo_tx_switch s;

	(void)state;
	octo_tx_switch_begin(&s, 1000);
	assert_int_equal(step(&s, OCTO_TX_EMPTY, 1000), OCTO_TX_GO);
}

/* A ring that is never found empty is fed for the grace time, then no more. */
static void
test_a_busy_ring_has_to_drain(void **state)
{
	struct octo_tx_switch s;

	(void)state;
	octo_tx_switch_begin(&s, 1000);
	assert_int_equal(step(&s, OCTO_TX_BUSY, 1000), OCTO_TX_FEED);
	assert_int_equal(step(&s, OCTO_TX_BUSY, 1000 + GRACE - 1), OCTO_TX_FEED);
	assert_int_equal(step(&s, OCTO_TX_BUSY, 1000 + GRACE), OCTO_TX_HOLD);
	assert_int_equal(step(&s, OCTO_TX_BUSY, 1000 + 50 * GRACE), OCTO_TX_HOLD);
	assert_int_equal(step(&s, OCTO_TX_EMPTY, 1000 + 50 * GRACE + 1), OCTO_TX_GO);
}

static void
test_a_quiet_ring_is_left_after_the_grace_time(void **state)
{
	struct octo_tx_switch s;

	(void)state;
	octo_tx_switch_begin(&s, 0);
	assert_int_equal(step(&s, OCTO_TX_QUIET, 50), OCTO_TX_FEED);
	octo_tx_switch_fed(&s, 50);
	assert_int_equal(step(&s, OCTO_TX_QUIET, 100), OCTO_TX_HOLD);
	assert_int_equal(step(&s, OCTO_TX_QUIET, 149), OCTO_TX_HOLD);
	assert_int_equal(step(&s, OCTO_TX_QUIET, 150), OCTO_TX_GO);
}

/* Whoever sends now and then loses nothing by the switch. */
static void
test_a_ring_that_rests_between_bursts_is_left_unheld(void **state)
{
	struct octo_tx_switch s;

	(void)state;
	octo_tx_switch_begin(&s, 0);
	assert_int_equal(step(&s, OCTO_TX_QUIET, 0), OCTO_TX_FEED);
	octo_tx_switch_fed(&s, 0);
	assert_int_equal(step(&s, OCTO_TX_QUIET, GRACE), OCTO_TX_GO);
	assert_false(s.held);
}

static void
test_a_busy_ring_is_not_quiet(void **state)
{
	struct octo_tx_switch s;

	(void)state;
	octo_tx_switch_begin(&s, 0);
	assert_int_equal(step(&s, OCTO_TX_BUSY, 500), OCTO_TX_HOLD);
	assert_int_equal(step(&s, OCTO_TX_QUIET, 599), OCTO_TX_HOLD);
	assert_int_equal(step(&s, OCTO_TX_QUIET, 600), OCTO_TX_GO);
}

static void
test_a_stuck_ring_is_given_up(void **state)
{
	struct octo_tx_switch s;

	(void)state;
	octo_tx_switch_begin(&s, 7);
	assert_int_equal(step(&s, OCTO_TX_BUSY, 7 + STUCK - 1), OCTO_TX_HOLD);
	assert_int_equal(step(&s, OCTO_TX_BUSY, 7 + STUCK), OCTO_TX_FORCE);
	/* late, but drained: nothing was forced */
	assert_int_equal(step(&s, OCTO_TX_EMPTY, 7 + 2 * STUCK), OCTO_TX_GO);
}

/* Whoever brings it nearer may have read the clock before the sender did. */
static void
test_what_was_sent_a_moment_from_now_is_under_way(void **state)
{
	struct octo_tx_switch s;

	(void)state;
	octo_tx_switch_begin(&s, 1000);
	assert_int_equal(step(&s, OCTO_TX_QUIET, 999), OCTO_TX_FEED);
	assert_int_equal(step(&s, OCTO_TX_BUSY, 999), OCTO_TX_FEED);
	octo_tx_switch_fed(&s, 1000 + GRACE);
	assert_int_equal(step(&s, OCTO_TX_QUIET, 1000 + GRACE - 1), OCTO_TX_FEED);
	assert_int_equal(step(&s, OCTO_TX_QUIET, 1000 + GRACE), OCTO_TX_HOLD);
	octo_tx_switch_fed(&s, 1000 + 2 * GRACE);
	assert_int_equal(step(&s, OCTO_TX_QUIET, 1000 + 2 * GRACE - 1), OCTO_TX_HOLD);
	assert_int_equal(step(&s, OCTO_TX_QUIET, 1000 + 3 * GRACE), OCTO_TX_GO);
}

static void
test_without_a_grace_time_only_reports_count(void **state)
{
	const struct octo_tx_limits none = {.grace = 0, .stuck = STUCK};
	struct octo_tx_switch s;

	(void)state;
	octo_tx_switch_begin(&s, 7);
	assert_int_equal(octo_tx_switch_step(&s, OCTO_TX_BUSY, 7, &none), OCTO_TX_HOLD);
	assert_int_equal(octo_tx_switch_step(&s, OCTO_TX_QUIET, 7, &none), OCTO_TX_GO);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_exact_pmd_is_believed),
		cmocka_unit_test(test_a_rounding_pmd_is_quiet_at_the_end),
		cmocka_unit_test(test_a_counting_pmd_is_quiet_at_the_end),
		cmocka_unit_test(test_small_rings_are_asked_for_descriptors_they_have),
		cmocka_unit_test(test_an_empty_ring_is_left_at_once),
		cmocka_unit_test(test_a_busy_ring_has_to_drain),
		cmocka_unit_test(test_a_quiet_ring_is_left_after_the_grace_time),
		cmocka_unit_test(test_a_ring_that_rests_between_bursts_is_left_unheld),
		cmocka_unit_test(test_a_busy_ring_is_not_quiet),
		cmocka_unit_test(test_a_stuck_ring_is_given_up),
		cmocka_unit_test(test_what_was_sent_a_moment_from_now_is_under_way),
		cmocka_unit_test(test_without_a_grace_time_only_reports_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
