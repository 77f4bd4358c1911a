/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include <rte_common.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>

#include "octosim_generic.h"

int
octosim_generic_prepare(struct octosim_generic *t, int socket)
{
	const uint32_t buckets = rte_align32pow2(t->max);

	if (t->bucket != NULL)
		return 0;
	t->bucket = rte_zmalloc_socket("octosim_generic", buckets * sizeof(*t->bucket),
				       RTE_CACHE_LINE_SIZE, socket);
	if (t->bucket == NULL)
		return -ENOMEM;
	TAILQ_INIT(&t->masks);
	t->bucket_mask = buckets - 1;
	return 0;
}

void
octosim_generic_free(struct octosim_generic *t)
{
	rte_free(t->bucket);
	t->bucket = NULL;
}

/* Words of a key under a mask; returns their hash. */
static inline uint32_t
mask_words(const struct octosim_mask *m, const struct octosim_key *key, uint64_t words[])
{
	const uint64_t *k = (const uint64_t *)key;
	uint32_t hash = m->serial;

	for (unsigned int i = 0; i < m->nb_words; i++) {
		words[i] = k[m->word[i]] & m->bits[i];
		hash = rte_hash_crc_8byte(words[i], hash);
	}
	return hash;
}

static void
set_mask(struct octosim_mask *m, const struct octosim_key *mask)
{
	const uint64_t *k = (const uint64_t *)mask;

	memset(m, 0, sizeof(*m));
	for (unsigned int i = 0; i < OCTOSIM_KEY_WORDS; i++) {
		if (k[i] == 0)
			continue;
		m->word[m->nb_words] = i;
		m->bits[m->nb_words++] = k[i];
		m->inner |= i * sizeof(uint64_t) >= offsetof(struct octosim_key, layer[1]) &&
			    i * sizeof(uint64_t) < offsetof(struct octosim_key, group);
	}
	m->best = UINT32_MAX;
}

static bool
is_same_mask(const struct octosim_mask *a, const struct octosim_mask *b)
{
	return a->nb_words == b->nb_words && memcmp(a->word, b->word, a->nb_words) == 0 &&
	       memcmp(a->bits, b->bits, a->nb_words * sizeof(a->bits[0])) == 0;
}

static struct octosim_mask *
get_mask(struct octosim_generic *t, const struct octosim_key *mask)
{
	struct octosim_mask wanted, *m;

	set_mask(&wanted, mask);
	TAILQ_FOREACH(m, &t->masks, list)
		if (is_same_mask(m, &wanted))
			return m;
	m = rte_malloc("octosim_mask", sizeof(*m), 0);
	if (m == NULL)
		return NULL;
	*m = wanted;
	m->serial = t->next_mask++;
	t->inner += m->inner;
	TAILQ_INSERT_TAIL(&t->masks, m, list);
	return m;
}

static void
put_mask(struct octosim_generic *t, struct octosim_mask *m)
{
	if (m->entries > 0)
		return;
	TAILQ_REMOVE(&t->masks, m, list);
	t->inner -= m->inner;
	rte_free(m);
}

/* The mask has got an entry of this priority: keep the list sorted. */
static void
promote(struct octosim_generic *t, struct octosim_mask *m, uint32_t priority)
{
	struct octosim_mask *other;

	if (priority >= m->best)
		return;
	m->best = priority;
	TAILQ_REMOVE(&t->masks, m, list);
	TAILQ_FOREACH(other, &t->masks, list)
		if (other->best > priority)
			break;
	if (other != NULL)
		TAILQ_INSERT_BEFORE(other, m, list);
	else
		TAILQ_INSERT_TAIL(&t->masks, m, list);
}

static inline bool
entry_is(const struct octosim_entry *e, const struct octosim_mask *m, uint32_t hash,
	 const uint64_t words[])
{
	return e->hash == hash && e->mask == m &&
	       memcmp(e->words, words, m->nb_words * sizeof(words[0])) == 0;
}

static struct octosim_entry *
make_entry(struct octosim_mask *m, const struct octosim_key *value, struct octosim_rule *rule)
{
	struct octosim_entry *e = rte_malloc("octosim_entry",
					     sizeof(*e) + m->nb_words * sizeof(e->words[0]), 0);

	if (e == NULL)
		return NULL;
	e->mask = m;
	e->rule = rule;
	e->hash = mask_words(m, value, e->words);
	return e;
}

/* Put an entry that is not there yet into its bucket. */
static int
insert(struct octosim_generic *t, struct octosim_entry *e)
{
	struct octosim_entry **head = &t->bucket[e->hash & t->bucket_mask];

	for (const struct octosim_entry *o = *head; o != NULL; o = o->next)
		if (o->rule->priority == e->rule->priority && o->rule != e->rule &&
		    entry_is(o, e->mask, e->hash, e->words))
			return -EEXIST;
	if (t->count >= t->max)
		return -ENOSPC;
	e->next = *head;
	*head = e;
	e->mask->entries++;
	t->count++;
	promote(t, e->mask, e->rule->priority);
	return 0;
}

int
octosim_generic_add(struct octosim_generic *t, const struct octosim_key *value,
		    const struct octosim_key *mask, struct octosim_rule *rule,
		    struct octosim_entry **entry)
{
	struct octosim_mask *m;
	struct octosim_entry *e;
	int ret = -ENOMEM;

	m = get_mask(t, mask);
	if (m == NULL)
		return -ENOMEM;
	e = make_entry(m, value, rule);
	if (e != NULL)
		ret = insert(t, e);
	if (ret == 0) {
		*entry = e;
		return 0;
	}
	rte_free(e);
	put_mask(t, m);
	return ret;
}

void
octosim_generic_remove(struct octosim_generic *t, struct octosim_entry *entry)
{
	struct octosim_entry **at = &t->bucket[entry->hash & t->bucket_mask];

	while (*at != entry)
		at = &(*at)->next;
	*at = entry->next;
	t->count--;
	entry->mask->entries--;
	put_mask(t, entry->mask);
	rte_free(entry);
}

/* The better of `best` and what matches under this mask. */
static struct octosim_rule *
find_by_mask(const struct octosim_generic *t, const struct octosim_mask *m,
	     const struct octosim_key *key, const struct octosim_rule *after,
	     struct octosim_rule *best)
{
	uint64_t words[OCTOSIM_KEY_WORDS];
	const uint32_t hash = mask_words(m, key, words);

	for (const struct octosim_entry *e = t->bucket[hash & t->bucket_mask]; e != NULL;
	     e = e->next) {
		if (!entry_is(e, m, hash, words) || e->rule->inert)
			continue;
		if (after != NULL && !octosim_rule_precedes(after, e->rule))
			continue;
		if (best == NULL || octosim_rule_precedes(e->rule, best))
			best = e->rule;
	}
	return best;
}

struct octosim_rule *
octosim_generic_find(const struct octosim_generic *t, const struct octosim_key *key,
		     const struct octosim_rule *after)
{
	const struct octosim_mask *m;
	struct octosim_rule *best = NULL;

	if (t->count == 0)
		return NULL;
	TAILQ_FOREACH(m, &t->masks, list) {
		if (best != NULL && m->best > best->priority)
			break;
		best = find_by_mask(t, m, key, after, best);
	}
	return best;
}
