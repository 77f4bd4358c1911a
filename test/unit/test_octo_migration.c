/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdlib.h>
#include <string.h>

#include <rte_bitops.h>
#include <rte_common.h>

#include "octo_test.h"

#include "octo_migration.h"

#define MAX_QUEUES 24
#define RETA_SIZE 128
#define MAX_STEPS 3

/* A port whose queues change their homes. */
static struct {
	struct octo_migration_port port;
	uint8_t home[MAX_QUEUES];
	struct octo_migration_map map;
	struct octo_migration_map target;
	struct octo_migration_step step;
} rig;

/* What a flow was before a step: by bucket and entry of the RETA. */
static struct octo_migration_map before;
/* Flows that moved already, of those in the corner that is looked at. */
static uint8_t moved[OCTO_PARTITION_BUCKETS];

static uint32_t
random_below(uint32_t n)
{
	static uint64_t state = 3;

	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(state >> 33) % n;
}

static void
make_map(struct octo_migration_map *map, bool keep)
{
	uint16_t queues[OCTO_PLAN_MAX_PFS] = {0};

	for (uint16_t q = 0; q < rig.port.nb_queues; q++)
		queues[rig.home[q]]++;
	octo_partition_share(queues, rig.port.nb_pfs, map->bucket, keep);
	map->rest = rig.home[0];
	for (uint8_t pf = 0; pf < rig.port.nb_pfs; pf++)
		octo_partition_reta(rig.home, rig.port.nb_queues, pf, map->reta[pf],
				    rig.port.reta_size, keep);
}

static void
set_up(uint16_t nb_pfs, uint16_t nb_queues)
{
	memset(&rig, 0, sizeof(rig));
	memset(moved, 0, sizeof(moved));
	rig.port = (struct octo_migration_port){
		.nb_pfs = nb_pfs,
		.nb_queues = nb_queues,
		.reta_size = RETA_SIZE,
		.present = RTE_BIT32(nb_pfs) - 1,
		.usable = RTE_BIT32(nb_pfs) - 1,
	};
	for (uint16_t q = 0; q < nb_queues; q++)
		rig.home[q] = q % nb_pfs;
	make_map(&rig.map, false);
}

static void
make_target(void)
{
	rig.target = rig.map;
	make_map(&rig.target, true);
	memset(moved, 0, sizeof(moved));
}

/* A flow of this bucket and entry: does the step keep its order? @return whether it moves. */
static bool
check_flow(uint32_t bucket, uint16_t entry)
{
	const uint8_t pf[2] = {before.bucket[bucket], rig.map.bucket[bucket]};
	const uint16_t q[2] = {before.reta[pf[0]][entry], rig.map.reta[pf[1]][entry]};

	if (pf[0] == pf[1] && q[0] == q[1])
		return false;
	/* nothing of what came by a PF that is lost can be overtaken */
	if (rig.port.present & RTE_BIT32(pf[0])) {
		assert_true(rig.step.legs[q[0]].drained & RTE_BIT32(pf[0]));
		assert_true(rig.step.legs[q[1]].held & RTE_BIT32(pf[1]));
	}
	return true;
}

static void
check_rest(void)
{
	if (before.rest == rig.map.rest || !(rig.port.present & RTE_BIT32(before.rest)))
		return;
	assert_true(rig.step.legs[0].drained & RTE_BIT32(before.rest));
	assert_true(rig.step.legs[0].held & RTE_BIT32(rig.map.rest));
}

/* Nobody waits for himself, and every flow that moves is kept in order. */
static void
check_step(bool once)
{
	for (uint16_t q = 0; q < RTE_MAX_QUEUES_PER_PORT; q++)
		assert_int_equal(rig.step.legs[q].held & rig.step.legs[q].drained, 0);
	check_rest();
	for (uint32_t bucket = 0; bucket < OCTO_PARTITION_BUCKETS; bucket += 1 + random_below(60)) {
		const uint16_t entry = bucket % RETA_SIZE;

		if (!check_flow(bucket, entry))
			continue;
		assert_false(once && moved[bucket]);
		moved[bucket] = true;
	}
}

static bool
step(bool once)
{
	bool more;

	before = rig.map;
	more = octo_migration_next(&rig.port, &rig.map, &rig.target, &rig.step);
	check_step(once);
	return more;
}

/* @return the number of steps. */
static unsigned int
go(bool once)
{
	unsigned int n = 0;

	while (step(once))
		assert_in_range(++n, 1, 64);
	assert_memory_equal(rig.map.bucket, rig.target.bucket, sizeof(rig.map.bucket));
	assert_int_equal(rig.map.rest, rig.target.rest);
	for (uint8_t pf = 0; pf < rig.port.nb_pfs; pf++)
		if (rig.port.present & RTE_BIT32(pf))
			assert_memory_equal(rig.map.reta[pf], rig.target.reta[pf],
					    RETA_SIZE * sizeof(uint16_t));
	return n;
}

static void
change_some_homes(unsigned int n)
{
	for (; n > 0; n--)
		rig.home[random_below(rig.port.nb_queues)] = random_below(rig.port.nb_pfs);
}

static void
test_nothing_to_do(void **state)
{
	(void)state;
	set_up(4, 9);
	make_target();
	assert_int_equal(go(true), 0);
}

/* The last queue of one of two PFs: nothing is left there that has to go later. */
static void
test_one_of_two(void **state)
{
	(void)state;
	set_up(2, 2);
	rig.home[1] = 0;
	make_target();
	assert_true(step(true));
	assert_int_equal(rig.step.retas, 0x1);
	assert_false(rig.step.buckets);
	/* some flows of queue 0 go to queue 1, by the PF that they came by */
	assert_int_equal(rig.step.legs[0].drained, 0x1);
	assert_int_equal(rig.step.legs[0].held, 0);
	assert_int_equal(rig.step.legs[1].held, 0x1);
	assert_true(step(true));
	assert_true(rig.step.buckets);
	/* some of queue 1 go to queue 0, and all by the other PF */
	assert_int_equal(rig.step.legs[1].drained, 0x2);
	assert_int_equal(rig.step.legs[0].held, 0x1);
	assert_int_equal(rig.step.legs[1].held, 0x1);
	/* nothing comes by PF 1 any more: what its RETA says holds nobody up */
	assert_true(step(true));
	assert_int_equal(rig.step.retas, 0x2);
	for (uint16_t q = 0; q < 2; q++)
		assert_int_equal(rig.step.legs[q].held, 0);
	assert_false(step(true));
}

static void
test_three_steps_whatever_changes(void **state)
{
	(void)state;
	for (uint16_t nb_pfs = 2; nb_pfs <= OCTO_PLAN_MAX_PFS; nb_pfs++) {
		set_up(nb_pfs, 3 * nb_pfs);
		for (unsigned int round = 0; round < 60; round++) {
			change_some_homes(1 + random_below(round % 7 + 1));
			make_target();
			assert_in_range(go(true), 0, MAX_STEPS);
		}
	}
}

/* What is shared out anew goes round in circles, and takes as many steps as it takes. */
static void
test_any_target_is_reached(void **state)
{
	(void)state;
	for (uint16_t nb_pfs = 2; nb_pfs <= OCTO_PLAN_MAX_PFS; nb_pfs++) {
		set_up(nb_pfs, 3 * nb_pfs);
		for (unsigned int round = 0; round < 20; round++) {
			change_some_homes(4);
			make_map(&rig.target, false);
			go(false);
		}
	}
}

/* The target changes between two steps. */
static void
test_another_target_in_between(void **state)
{
	(void)state;
	set_up(4, 10);
	for (unsigned int round = 0; round < 200; round++) {
		change_some_homes(2);
		make_target();
		for (unsigned int i = random_below(MAX_STEPS); i > 0; i--)
			step(true);
	}
	make_target();
	assert_in_range(go(true), 0, MAX_STEPS);
}

static void
leave_pf(uint8_t pf)
{
	for (uint16_t q = 0; q < rig.port.nb_queues; q++)
		if (rig.home[q] == pf)
			rig.home[q] = (pf + 1 + q) % rig.port.nb_pfs == pf ? (pf + 1) % 4 :
									     (pf + 1 + q) % 4;
}

/* What came by it must come by others before anything else is done. */
static void
test_a_pf_is_lost(void **state)
{
	(void)state;
	for (unsigned int gone = 0; gone < 2; gone++) {
		set_up(4, 8);
		rig.port.usable &= ~RTE_BIT32(2);
		if (gone)
			rig.port.present &= ~RTE_BIT32(2);
		leave_pf(2);
		make_target();
		assert_true(step(true));
		assert_true(rig.step.buckets);
		for (uint32_t i = 0; i < OCTO_PARTITION_BUCKETS; i++)
			assert_int_not_equal(rig.map.bucket[i], 2);
		for (uint16_t q = 0; q < 8; q++) {
			assert_int_equal(rig.step.legs[q].drained & ~(gone ? 0 : 0x4), 0);
			if (gone)
				assert_int_equal(rig.step.legs[q].held, 0);
		}
		assert_in_range(go(false), 1, MAX_STEPS - 1);
	}
}

/* A PF that has no traffic is told of its queues without ado. */
static void
test_a_pf_that_is_new(void **state)
{
	(void)state;
	set_up(3, 6);
	rig.port.usable = rig.port.present = 0x3;
	for (uint16_t q = 0; q < 6; q++)
		rig.home[q] = q % 2;
	make_target();
	go(false);
	rig.port.usable = rig.port.present = 0x7;
	rig.home[1] = rig.home[5] = 2;
	make_target();
	assert_true(step(true));
	assert_int_equal(rig.step.retas, 0x4);
	for (uint16_t q = 0; q < 6; q++)
		assert_int_equal(rig.step.legs[q].held, 0);
	assert_true(step(true));
	assert_true(rig.step.buckets);
	/* nobody is held back where nothing comes from elsewhere */
	assert_int_equal(rig.step.legs[1].held, 0x4);
	assert_int_equal(rig.step.legs[5].held, 0x4);
	assert_int_equal(rig.step.legs[0].held, 0);
	go(true);
}

/* Two queues change places: no PF gets more than it had, but what is not hashed moves. */
static void
test_what_is_not_hashed_follows_queue_0(void **state)
{
	(void)state;
	set_up(2, 4);
	rig.home[0] = 1;
	rig.home[3] = 0;
	make_target();
	assert_int_equal(go(true), 1);
	assert_int_equal(rig.map.rest, 1);
}

static void
test_without_hashing_only_queue_0_moves(void **state)
{
	(void)state;
	set_up(2, 4);
	rig.port.reta_size = 0;
	memset(rig.map.bucket, 0, sizeof(rig.map.bucket));
	rig.target = rig.map;
	memset(rig.target.bucket, 1, sizeof(rig.target.bucket));
	rig.target.rest = 1;
	/* what is not hashed, and what would not be parted */
	assert_true(step(false));
	assert_true(rig.step.buckets);
	assert_int_equal(rig.step.legs[0].held, 0x2);
	assert_int_equal(rig.step.legs[0].drained, 0x1);
	for (uint16_t q = 1; q < 4; q++)
		assert_int_equal(rig.step.legs[q].held | rig.step.legs[q].drained, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_to_do),
		cmocka_unit_test(test_one_of_two),
		cmocka_unit_test(test_three_steps_whatever_changes),
		cmocka_unit_test(test_any_target_is_reached),
		cmocka_unit_test(test_another_target_in_between),
		cmocka_unit_test(test_a_pf_is_lost),
		cmocka_unit_test(test_a_pf_that_is_new),
		cmocka_unit_test(test_what_is_not_hashed_follows_queue_0),
		cmocka_unit_test(test_without_hashing_only_queue_0_moves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
