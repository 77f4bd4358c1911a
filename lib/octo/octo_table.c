/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>

#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_malloc.h>
#include <rte_string_fns.h>

#include "octo_table.h"

#define INITIAL_ENTRIES 1024
#define GROWTH 4

struct octo_table {
	struct rte_hash *hash;
	uint32_t capacity;
	uint32_t generation; /* rte_hash wants a new name for each */
	int socket;
	char name[24];
};

static uint32_t
hash_key(const void *key, uint32_t len, uint32_t seed)
{
	RTE_SET_USED(len);
	return octo_tuple_hash(key, seed);
}

static struct rte_hash *
new_hash(struct octo_table *t, uint32_t entries)
{
	char name[RTE_HASH_NAMESIZE];
	const struct rte_hash_parameters params = {
		.name = name,
		.entries = entries,
		.key_len = sizeof(struct octo_tuple),
		.hash_func = hash_key,
		.socket_id = t->socket,
		/* never "full" before the last entry is used */
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE,
	};

	snprintf(name, sizeof(name), "%.16s_%u", t->name, ++t->generation);
	return rte_hash_create(&params);
}

struct octo_table *
octo_table_create(const char *name, int socket)
{
	struct octo_table *t = rte_zmalloc_socket("octo_table", sizeof(*t), 0, socket);

	if (t == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	t->socket = socket;
	t->capacity = INITIAL_ENTRIES;
	rte_strscpy(t->name, name, sizeof(t->name));
	t->hash = new_hash(t, t->capacity);
	if (t->hash == NULL) {
		rte_free(t);
		return NULL;
	}
	return t;
}

void
octo_table_free(struct octo_table *t)
{
	if (t == NULL)
		return;
	rte_hash_free(t->hash);
	rte_free(t);
}

static int
copy_all(const struct rte_hash *from, struct rte_hash *to)
{
	const void *key;
	uint32_t next = 0;
	void *value;

	while (rte_hash_iterate(from, &key, &value, &next) >= 0) {
		int ret = rte_hash_add_key_data(to, key, value);

		if (ret != 0)
			return ret;
	}
	return 0;
}

static int
grow(struct octo_table *t)
{
	struct rte_hash *bigger = new_hash(t, t->capacity * GROWTH);

	if (bigger == NULL)
		return -ENOMEM;
	if (copy_all(t->hash, bigger) != 0) {
		rte_hash_free(bigger);
		return -ENOMEM;
	}
	rte_hash_free(t->hash);
	t->hash = bigger;
	t->capacity *= GROWTH;
	return 0;
}

int
octo_table_add(struct octo_table *t, const struct octo_tuple *key, void *value)
{
	int ret;

	if (rte_hash_lookup(t->hash, key) >= 0)
		return -EEXIST;
	if (octo_table_count(t) == t->capacity) {
		ret = grow(t);
		if (ret != 0)
			return ret;
	}
	ret = rte_hash_add_key_data(t->hash, key, value);
	return ret == 0 ? 0 : -ENOMEM;
}

void *
octo_table_remove(struct octo_table *t, const struct octo_tuple *key)
{
	void *value = octo_table_find(t, key);

	if (value != NULL)
		rte_hash_del_key(t->hash, key);
	return value;
}

void *
octo_table_find(const struct octo_table *t, const struct octo_tuple *key)
{
	void *value;

	return rte_hash_lookup_data(t->hash, key, &value) >= 0 ? value : NULL;
}

uint32_t
octo_table_count(const struct octo_table *t)
{
	return rte_hash_count(t->hash);
}

void *
octo_table_next(const struct octo_table *t, uint32_t *next)
{
	const void *key;
	void *value;

	return rte_hash_iterate(t->hash, &key, &value, next) >= 0 ? value : NULL;
}
