/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>

#include <eal_export.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_string_fns.h>

#include "octo_table.h"

#define INITIAL_CAPACITY 1024

/*
 * Entries are chained by their numbers, which are their positions + 1; 0 ends a chain. An entry
 * stays where it is while the table grows or others are removed, so that octo_table_next() misses
 * none. rte_hash has neither property, and a copy of each key.
 */
struct entry {
	const struct octo_tuple *key;
	void *value;   /* NULL: the entry is free */
	uint32_t next; /* entry of the same chain */
	uint32_t head; /* first entry of the chain of keys whose hash is this position */
};

struct octo_table {
	struct entry *entries; /* array of `capacity` */
	uint32_t capacity;     /* a power of two */
	uint32_t nb;           /* keys */
	uint32_t touched;      /* entries that were ever used: the first ones */
	uint32_t free;         /* chain of those that are free again */
	char name[17];
};

RTE_EXPORT_INTERNAL_SYMBOL(octo_table_create)
struct octo_table *
octo_table_create(const char *name)
{
	struct octo_table *t = rte_zmalloc(name, sizeof(*t), 0);

	if (t != NULL)
		t->entries = rte_calloc(name, INITIAL_CAPACITY, sizeof(struct entry), 0);
	if (t == NULL || t->entries == NULL) {
		rte_free(t);
		rte_errno = ENOMEM;
		return NULL;
	}
	t->capacity = INITIAL_CAPACITY;
	rte_strscpy(t->name, name, sizeof(t->name));
	return t;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_table_free)
void
octo_table_free(struct octo_table *t)
{
	if (t == NULL)
		return;
	rte_free(t->entries);
	rte_free(t);
}

static uint32_t *
head_of(const struct octo_table *t, const struct octo_tuple *key)
{
	return &t->entries[octo_tuple_hash(key, 0) % t->capacity].head;
}

/* Where the number of the key's entry is stored; it is 0 if there is none. */
static uint32_t *
find(const struct octo_table *t, const struct octo_tuple *key)
{
	uint32_t *number = head_of(t, key);

	while (*number != 0 && !octo_tuple_equal(t->entries[*number - 1].key, key))
		number = &t->entries[*number - 1].next;
	return number;
}

static void
chain(struct octo_table *t, uint32_t number)
{
	struct entry *e = &t->entries[number - 1];
	uint32_t *head = head_of(t, e->key);

	e->next = *head;
	*head = number;
}

/* All entries are in use. */
static int
grow(struct octo_table *t)
{
	struct entry *old = t->entries;
	struct entry *entries = rte_calloc(t->name, 2 * (size_t)t->capacity, sizeof(struct entry),
					   0);

	if (entries == NULL)
		return -ENOMEM;
	t->entries = entries;
	t->capacity *= 2;
	for (uint32_t i = 0; i < t->nb; i++) {
		entries[i].key = old[i].key;
		entries[i].value = old[i].value;
		chain(t, i + 1);
	}
	rte_free(old);
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_table_add)
int
octo_table_add(struct octo_table *t, const struct octo_tuple *key, void *value)
{
	uint32_t number = t->free;
	struct entry *e;

	if (*find(t, key) != 0)
		return -EEXIST;
	if (t->nb == t->capacity && grow(t) != 0)
		return -ENOMEM;
	if (number == 0)
		number = ++t->touched;
	e = &t->entries[number - 1];
	if (number == t->free)
		t->free = e->next;
	e->key = key;
	e->value = value;
	chain(t, number);
	t->nb++;
	return 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_table_remove)
void *
octo_table_remove(struct octo_table *t, const struct octo_tuple *key)
{
	uint32_t *place = find(t, key);
	const uint32_t number = *place;
	struct entry *e;
	void *value;

	if (number == 0)
		return NULL;
	e = &t->entries[number - 1];
	value = e->value;
	*place = e->next;
	e->value = NULL;
	e->next = t->free;
	t->free = number;
	t->nb--;
	return value;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_table_find)
void *
octo_table_find(const struct octo_table *t, const struct octo_tuple *key)
{
	const uint32_t number = *find(t, key);

	return number == 0 ? NULL : t->entries[number - 1].value;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_table_count)
uint32_t
octo_table_count(const struct octo_table *t)
{
	return t->nb;
}

void *
octo_table_next(const struct octo_table *t, uint32_t *next)
{
	while (*next < t->touched) {
		void *value = t->entries[(*next)++].value;

		if (value != NULL)
			return value;
	}
	return NULL;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_table_bytes)
size_t
octo_table_bytes(const struct octo_table *t)
{
	return t->capacity * sizeof(struct entry);
}
