/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdio.h>

#include <eal_export.h>
#include <rte_errno.h>
#include <rte_hash.h>
#include <rte_malloc.h>
#include <rte_string_fns.h>

#include "octo_table.h"

#define INITIAL_ENTRIES 1024
#define GROWTH 2

/*
 * Memory of rte_hash_create(): buckets of a cache line for eight keys, as many to extend them,
 * and 32-bit indices of free keys and free buckets. The ring of free keys has one entry more
 * than there are keys, rounded up to a power of two.
 */
#define KEYS_PER_BUCKET 8
#define HASH_KEY_BYTES 16

/*
 * The hash stores pointers to keys: the tuples are in the memory of the table's user, and need
 * not be stored twice.
 *
 * The values are stored here rather than in the hash, at the position that the hash assigns to
 * each key for its lifetime. rte_hash_iterate() misses keys if others are removed meanwhile,
 * because a key may be moved into the slot of a removed one.
 */
typedef const struct octo_tuple *key_ref;

struct octo_table {
	struct rte_hash *hash;
	void **values; /* array of `capacity`; NULL where the position is free */
	uint32_t capacity;
	uint32_t generation; /* rte_hash needs a new name for each hash */
	int socket;
	char name[24];
};

static uint32_t
hash_key(const void *key, uint32_t len, uint32_t seed)
{
	RTE_SET_USED(len);
	return octo_tuple_hash(*(const key_ref *)key, seed);
}

/* The hash also compares with the slot that it reserves for no key. */
static int
compare_keys(const void *asked, const void *kept, size_t len)
{
	const key_ref key = *(const key_ref *)kept;

	RTE_SET_USED(len);
	return key == NULL || !octo_tuple_equal(*(const key_ref *)asked, key);
}

static struct rte_hash *
new_hash(struct octo_table *t, uint32_t entries)
{
	char name[RTE_HASH_NAMESIZE];
	const struct rte_hash_parameters params = {
		.name = name,
		.entries = entries,
		.key_len = sizeof(key_ref),
		.hash_func = hash_key,
		.socket_id = t->socket,
		/* otherwise it may be "full" before the last entry is used */
		.extra_flag = RTE_HASH_EXTRA_FLAGS_EXT_TABLE,
	};

	struct rte_hash *hash;

	snprintf(name, sizeof(name), "%.16s_%u", t->name, ++t->generation);
	hash = rte_hash_create(&params);
	if (hash != NULL)
		rte_hash_set_cmp_func(hash, compare_keys);
	return hash;
}

/* Create hash and values for `capacity` keys, in place of the present ones. */
static int
make_room(struct octo_table *t, uint32_t capacity)
{
	struct rte_hash *hash = new_hash(t, capacity);
	void **values;

	if (hash == NULL)
		return -rte_errno;
	values = rte_calloc_socket("octo_table", capacity, sizeof(*values), 0, t->socket);
	if (values == NULL) {
		rte_hash_free(hash);
		return -ENOMEM;
	}
	t->hash = hash;
	t->values = values;
	t->capacity = capacity;
	return 0;
}

static void
free_room(struct octo_table *t)
{
	rte_free(t->values);
	rte_hash_free(t->hash);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_table_create)
struct octo_table *
octo_table_create(const char *name, int socket)
{
	struct octo_table *t = rte_zmalloc_socket("octo_table", sizeof(*t), 0, socket);
	int ret;

	if (t == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	t->socket = socket;
	rte_strscpy(t->name, name, sizeof(t->name));
	ret = make_room(t, INITIAL_ENTRIES);
	if (ret != 0) {
		rte_free(t);
		rte_errno = -ret;
		return NULL;
	}
	return t;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_table_free)
void
octo_table_free(struct octo_table *t)
{
	if (t == NULL)
		return;
	free_room(t);
	rte_free(t);
}

static int
insert(struct octo_table *t, key_ref key, void *value)
{
	/* returns the position of the key if it exists already */
	int32_t position = rte_hash_add_key(t->hash, &key);

	if (position < 0)
		return -ENOMEM;
	if (t->values[position] != NULL)
		return -EEXIST;
	t->values[position] = value;
	return 0;
}

static int
copy_all(const struct octo_table *from, struct octo_table *to)
{
	const void *key;
	uint32_t next = 0;
	void *unused;
	int32_t position = rte_hash_iterate(from->hash, &key, &unused, &next);
	int ret = 0;

	while (position >= 0 && ret == 0) {
		ret = insert(to, *(const key_ref *)key, from->values[position]);
		position = rte_hash_iterate(from->hash, &key, &unused, &next);
	}
	return ret;
}

static int
grow(struct octo_table *t)
{
	struct octo_table before = *t;
	int ret;

	ret = make_room(t, t->capacity * GROWTH);
	if (ret != 0)
		return -ENOMEM;
	ret = copy_all(&before, t);
	if (ret != 0) {
		free_room(t);
		t->hash = before.hash;
		t->values = before.values;
		t->capacity = before.capacity;
		return ret;
	}
	free_room(&before);
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_table_add)
int
octo_table_add(struct octo_table *t, const struct octo_tuple *key, void *value)
{
	int ret;

	if (octo_table_count(t) == t->capacity) {
		if (octo_table_find(t, key) != NULL)
			return -EEXIST;
		ret = grow(t);
		if (ret != 0)
			return ret;
	}
	return insert(t, key, value);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_table_remove)
void *
octo_table_remove(struct octo_table *t, const struct octo_tuple *key)
{
	int32_t position = rte_hash_del_key(t->hash, &key);
	void *value;

	if (position < 0)
		return NULL;
	value = t->values[position];
	t->values[position] = NULL;
	return value;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_table_find)
void *
octo_table_find(const struct octo_table *t, const struct octo_tuple *key)
{
	int32_t position = rte_hash_lookup(t->hash, &key);

	return position >= 0 ? t->values[position] : NULL;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_table_count)
uint32_t
octo_table_count(const struct octo_table *t)
{
	return rte_hash_count(t->hash);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_table_next)
void *
octo_table_next(const struct octo_table *t, uint32_t *next)
{
	while (*next < t->capacity) {
		void *value = t->values[(*next)++];

		if (value != NULL)
			return value;
	}
	return NULL;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_table_bytes)
size_t
octo_table_bytes(const struct octo_table *t)
{
	const size_t keys = t->capacity;
	const size_t buckets = keys / KEYS_PER_BUCKET;

	return 2 * buckets * RTE_CACHE_LINE_MIN_SIZE + keys * HASH_KEY_BYTES +
	       sizeof(uint32_t) * (rte_align64pow2(keys + 1) + rte_align64pow2(buckets + 1)) +
	       keys * sizeof(t->values[0]);
}
