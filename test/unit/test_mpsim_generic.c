/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include <rte_memory.h>
#include <rte_random.h>

#include "octo_test.h"
#include "octo_test_eal.h"

#include "mpsim_generic.h"

#define MAX 256
#define NB_MASKS 6

struct known {
	struct mpsim_rule rule;
	struct mpsim_key value;
	struct mpsim_key mask;
	struct mpsim_entry *entry; /* NULL: not in the table */
};

static struct mpsim_generic table;
static struct known rules[MAX + 1];
static uint64_t next_serial;

static int
make_table(void **state)
{
	RTE_SET_USED(state);
	memset(rules, 0, sizeof(rules));
	table = (struct mpsim_generic){.max = MAX};
	return mpsim_generic_prepare(&table, SOCKET_ID_ANY);
}

static int
free_table(void **state)
{
	RTE_SET_USED(state);
	for (unsigned int i = 0; i <= MAX; i++)
		if (rules[i].entry != NULL)
			mpsim_generic_remove(&table, rules[i].entry);
	mpsim_generic_free(&table);
	return 0;
}

/* Fields far apart, so that masks differ in which words they have. */
static void
set_fields(struct mpsim_key *k, uint8_t a, uint8_t b, uint8_t c, uint32_t group)
{
	memset(k, 0, sizeof(*k));
	k->layer[0].ip[12] = a;
	k->layer[0].eth[13] = b;
	k->layer[1].l4[3] = c;
	k->group = group;
}

static int
add(struct known *r, uint32_t priority)
{
	r->rule.priority = priority;
	r->rule.serial = next_serial++;
	return mpsim_generic_add(&table, &r->value, &r->mask, &r->rule, &r->entry);
}

static int
add_byte(struct known *r, uint8_t value, uint8_t mask, uint32_t priority)
{
	set_fields(&r->value, value, 0, 0, 0);
	set_fields(&r->mask, mask, 0, 0, 0);
	return add(r, priority);
}

static struct mpsim_rule *
find_byte(uint8_t byte, const struct mpsim_rule *after)
{
	struct mpsim_key key;

	set_fields(&key, byte, 7, 7, 7);
	return mpsim_generic_find(&table, &key, after);
}

static bool
matches(const struct known *r, const struct mpsim_key *key)
{
	const uint8_t *k = (const uint8_t *)key;
	const uint8_t *v = (const uint8_t *)&r->value;
	const uint8_t *m = (const uint8_t *)&r->mask;

	for (size_t i = 0; i < sizeof(*key); i++)
		if ((k[i] & m[i]) != v[i])
			return false;
	return true;
}

/* What the table must find, by a look at every rule. */
static struct mpsim_rule *
find_slowly(const struct mpsim_key *key, const struct mpsim_rule *after)
{
	struct mpsim_rule *best = NULL;

	for (unsigned int i = 0; i < MAX; i++) {
		struct mpsim_rule *r = &rules[i].rule;

		if (rules[i].entry == NULL || r->inert || !matches(&rules[i], key))
			continue;
		if (after != NULL &&
		    (r->priority < after->priority ||
		     (r->priority == after->priority && r->serial <= after->serial)))
			continue;
		if (best == NULL || r->priority < best->priority ||
		    (r->priority == best->priority && r->serial < best->serial))
			best = r;
	}
	return best;
}

static bool
is_twice(const struct known *r, uint32_t priority)
{
	for (unsigned int i = 0; i < MAX; i++)
		if (rules[i].entry != NULL && rules[i].rule.priority == priority &&
		    memcmp(&rules[i].value, &r->value, sizeof(r->value)) == 0 &&
		    memcmp(&rules[i].mask, &r->mask, sizeof(r->mask)) == 0)
			return true;
	return false;
}

static void
random_key(struct mpsim_key *key)
{
	set_fields(key, rte_rand_max(8), rte_rand_max(4), rte_rand_max(4), rte_rand_max(2));
}

/* A rule comes, or goes. */
static void
change(struct known *r)
{
	static const uint8_t masks[NB_MASKS][4] = {{0, 0, 0, 1}, {7, 0, 0, 1}, {6, 3, 0, 1},
						   {7, 3, 3, 1}, {0, 0, 1, 1}, {4, 0, 0, 0}};
	const uint8_t *m = masks[rte_rand_max(NB_MASKS)];
	const uint32_t priority = rte_rand_max(4);
	bool twice;

	if (r->entry != NULL) {
		mpsim_generic_remove(&table, r->entry);
		r->entry = NULL;
		return;
	}
	random_key(&r->value);
	set_fields(&r->mask, m[0], m[1], m[2], m[3]);
	for (size_t i = 0; i < sizeof(r->value); i++)
		((uint8_t *)&r->value)[i] &= ((uint8_t *)&r->mask)[i];
	r->rule.inert = rte_rand_max(16) == 0;
	twice = is_twice(r, priority);
	assert_int_equal(add(r, priority), twice ? -EEXIST : 0);
}

static void
finds_what_a_look_at_every_rule_finds(void **state)
{
	RTE_SET_USED(state);
	rte_srand(1);
	for (unsigned int i = 0; i < 20000; i++) {
		const struct mpsim_rule *after = NULL;
		struct mpsim_rule *found;
		struct mpsim_key key;

		change(&rules[rte_rand_max(MAX)]);
		random_key(&key);
		do {
			found = mpsim_generic_find(&table, &key, after);
			assert_ptr_equal(found, find_slowly(&key, after));
			after = found;
		} while (after != NULL);
	}
}

static void
full_table_refuses_and_keeps_all(void **state)
{
	RTE_SET_USED(state);
	for (unsigned int i = 0; i < MAX; i++)
		assert_int_equal(add_byte(&rules[i], i, 0xff, 0), 0);
	assert_int_equal(add_byte(&rules[MAX], 0, 0x0f, 0), -ENOSPC);
	assert_null(rules[MAX].entry);
	for (unsigned int i = 0; i < MAX; i++)
		assert_ptr_equal(find_byte(i, NULL), &rules[i].rule);
	mpsim_generic_remove(&table, rules[7].entry);
	rules[7].entry = NULL;
	assert_null(find_byte(7, NULL));
	assert_int_equal(add_byte(&rules[MAX], 0, 0x0f, 0), 0);
}

static void
same_rule_twice_is_refused(void **state)
{
	RTE_SET_USED(state);
	assert_int_equal(add_byte(&rules[0], 1, 0xff, 3), 0);
	assert_int_equal(add_byte(&rules[1], 1, 0xff, 3), -EEXIST);
	assert_int_equal(add_byte(&rules[1], 1, 0xff, 2), 0);
	assert_int_equal(add_byte(&rules[2], 1, 0x0f, 3), 0);
	assert_int_equal(table.count, 3);
}

static void
an_empty_mask_matches_all(void **state)
{
	RTE_SET_USED(state);
	assert_int_equal(add_byte(&rules[0], 0, 0, 1), 0);
	assert_int_equal(add_byte(&rules[1], 5, 0xff, 2), 0);
	assert_ptr_equal(find_byte(5, NULL), &rules[0].rule);
	assert_ptr_equal(find_byte(5, &rules[0].rule), &rules[1].rule);
	assert_null(find_byte(5, &rules[1].rule));
	assert_null(find_byte(6, &rules[0].rule));
}

static void
tells_whether_to_look_into_tunnels(void **state)
{
	RTE_SET_USED(state);
	assert_int_equal(add_byte(&rules[0], 1, 0xff, 0), 0);
	assert_int_equal(table.inner, 0);
	set_fields(&rules[1].value, 0, 0, 1, 0);
	set_fields(&rules[1].mask, 0, 0, 0xff, UINT32_MAX);
	assert_int_equal(add(&rules[1], 0), 0);
	assert_int_equal(table.inner, 1);
	mpsim_generic_remove(&table, rules[1].entry);
	rules[1].entry = NULL;
	assert_int_equal(table.inner, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(finds_what_a_look_at_every_rule_finds, make_table,
						free_table),
		cmocka_unit_test_setup_teardown(full_table_refuses_and_keeps_all, make_table,
						free_table),
		cmocka_unit_test_setup_teardown(same_rule_twice_is_refused, make_table, free_table),
		cmocka_unit_test_setup_teardown(an_empty_mask_matches_all, make_table, free_table),
		cmocka_unit_test_setup_teardown(tells_whether_to_look_into_tunnels, make_table,
						free_table),
	};

	return cmocka_run_group_tests(tests, octo_test_eal_init, octo_test_eal_cleanup);
}
