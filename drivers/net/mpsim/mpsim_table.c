/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>

#include <rte_common.h>
#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_prefetch.h>
#include <rte_stdatomic.h>

#include "mpsim_table.h"

/* rte_hash does not allow fewer entries than a bucket has. */
#define MIN_HASH_ENTRIES 8

int
mpsim_table_prepare(struct mpsim_table *t, int socket)
{
	static RTE_ATOMIC(uint32_t) serial;
	char name[RTE_HASH_NAMESIZE];
	struct rte_hash_parameters params = {
		.name = name,
		.entries = RTE_MAX(t->max, (uint32_t)MIN_HASH_ENTRIES),
		.key_len = sizeof(struct octo_tuple),
		.socket_id = socket,
		/* without it a bucket may be full long before the table */
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE,
	};

	if (t->hash != NULL)
		return 0;
	snprintf(name, sizeof(name), "mpsim_%u",
		 rte_atomic_fetch_add_explicit(&serial, 1, rte_memory_order_relaxed));
	t->hash = rte_hash_create(&params);
	return t->hash == NULL ? -rte_errno : 0;
}

void
mpsim_table_free(struct mpsim_table *t)
{
	rte_hash_free(t->hash);
	t->hash = NULL;
	t->count = 0;
}

static struct mpsim_rule *
find_chain(const struct mpsim_table *t, const struct octo_tuple *key)
{
	void *data;
	int ret;

	ret = rte_hash_lookup_with_hash_data(t->hash, key, mpsim_table_sig(key), &data);
	return ret < 0 ? NULL : data;
}

static int
set_chain(struct mpsim_table *t, struct mpsim_rule *first)
{
	return rte_hash_add_key_with_hash_data(t->hash, &first->tuple,
					       mpsim_table_sig(&first->tuple), first);
}

int
mpsim_table_add(struct mpsim_table *t, struct mpsim_rule *rule)
{
	struct mpsim_rule *prev = NULL;
	struct mpsim_rule *r;
	int ret = 0;

	for (r = find_chain(t, &rule->tuple); r != NULL; r = r->next) {
		if (r->priority == rule->priority)
			return -EEXIST;
		if (r->priority > rule->priority)
			break;
		prev = r;
	}
	if (t->count >= t->max)
		return -ENOSPC;
	rule->next = r;
	if (prev == NULL)
		ret = set_chain(t, rule);
	else
		prev->next = rule;
	if (ret == 0)
		t->count++;
	return ret;
}

void
mpsim_table_remove(struct mpsim_table *t, struct mpsim_rule *rule)
{
	struct mpsim_rule *first = find_chain(t, &rule->tuple);
	struct mpsim_rule *prev = first;

	if (first != rule) {
		while (prev->next != rule)
			prev = prev->next;
		prev->next = rule->next;
	} else if (rule->next != NULL) {
		/* the key is there, so this only replaces its data and cannot fail */
		set_chain(t, rule->next);
	} else {
		rte_hash_del_key_with_hash(t->hash, &rule->tuple, mpsim_table_sig(&rule->tuple));
	}
	t->count--;
}

void
mpsim_table_lookup(const struct mpsim_table *t, const struct octo_tuple *const keys[],
		   uint32_t sigs[], uint32_t n, struct mpsim_rule *rules[])
{
	const void *k[MPSIM_TABLE_BULK];
	void *data[MPSIM_TABLE_BULK];
	uint64_t hits = 0;

	for (uint32_t i = 0; i < n; i++)
		k[i] = keys[i];
	/* with hashes given, no function pointer of another process is called */
	rte_hash_lookup_with_hash_bulk_data(t->hash, k, sigs, n, &hits, data);
	for (uint32_t i = 0; i < n; i++) {
		rules[i] = (hits >> i & 1) != 0 ? data[i] : NULL;
		if (rules[i] != NULL)
			rte_prefetch0(&rules[i]->next);
	}
}
