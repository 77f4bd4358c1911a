/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include <rte_common.h>
#include <rte_hash_crc.h>
#include <rte_malloc.h>

#include "mpsim_generic.h"

int
mpsim_generic_prepare(struct mpsim_generic *t, int socket)
{
	const uint32_t buckets = rte_align32pow2(t->max);

	if (t->bucket != NULL)
		return 0;
	t->bucket = rte_zmalloc_socket("mpsim_generic", buckets * sizeof(*t->bucket),
				       RTE_CACHE_LINE_SIZE, socket);
	if (t->bucket == NULL)
		return -ENOMEM;
	TAILQ_INIT(&t->masks);
	t->bucket_mask = buckets - 1;
	return 0;
}

void
mpsim_generic_free(struct mpsim_generic *t)
{
	rte_free(t->bucket);
	t->bucket = NULL;
}

/* Fill in the masked words of a key. Returns their hash. */
static inline uint32_t
mask_words(const struct mpsim_mask *m, const struct mpsim_key *key, uint64_t words[])
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
set_mask(struct mpsim_mask *m, const struct mpsim_key *mask)
{
	const uint64_t *k = (const uint64_t *)mask;

	memset(m, 0, sizeof(*m));
	for (unsigned int i = 0; i < MPSIM_KEY_WORDS; i++) {
		if (k[i] == 0)
			continue;
		m->word[m->nb_words] = i;
		m->bits[m->nb_words++] = k[i];
		m->inner |= i * sizeof(uint64_t) >= offsetof(struct mpsim_key, layer[1]) &&
			    i * sizeof(uint64_t) < offsetof(struct mpsim_key, group);
	}
	m->best = UINT32_MAX;
}

static bool
is_same_mask(const struct mpsim_mask *a, const struct mpsim_mask *b)
{
	return a->nb_words == b->nb_words && memcmp(a->word, b->word, a->nb_words) == 0 &&
	       memcmp(a->bits, b->bits, a->nb_words * sizeof(a->bits[0])) == 0;
}

static struct mpsim_mask *
get_mask(struct mpsim_generic *t, const struct mpsim_key *mask)
{
	struct mpsim_mask wanted, *m;

	set_mask(&wanted, mask);
	TAILQ_FOREACH(m, &t->masks, list)
		if (is_same_mask(m, &wanted))
			return m;
	m = rte_malloc("mpsim_mask", sizeof(*m), 0);
	if (m == NULL)
		return NULL;
	*m = wanted;
	m->serial = t->next_mask++;
	t->inner += m->inner;
	TAILQ_INSERT_TAIL(&t->masks, m, list);
	return m;
}

static void
put_mask(struct mpsim_generic *t, struct mpsim_mask *m)
{
	if (m->entries > 0)
		return;
	TAILQ_REMOVE(&t->masks, m, list);
	t->inner -= m->inner;
	rte_free(m);
}

/* An entry of this priority was added: keep the list of masks sorted. */
static void
promote(struct mpsim_generic *t, struct mpsim_mask *m, uint32_t priority)
{
	struct mpsim_mask *other;

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
entry_is(const struct mpsim_entry *e, const struct mpsim_mask *m, uint32_t hash,
	 const uint64_t words[])
{
	return e->hash == hash && e->mask == m &&
	       memcmp(e->words, words, m->nb_words * sizeof(words[0])) == 0;
}

static struct mpsim_entry *
make_entry(struct mpsim_mask *m, const struct mpsim_key *value, struct mpsim_rule *rule)
{
	struct mpsim_entry *e = rte_malloc("mpsim_entry",
					   sizeof(*e) + m->nb_words * sizeof(e->words[0]), 0);

	if (e == NULL)
		return NULL;
	e->mask = m;
	e->rule = rule;
	e->hash = mask_words(m, value, e->words);
	return e;
}

/* Insert a new entry into its bucket. */
static int
insert(struct mpsim_generic *t, struct mpsim_entry *e)
{
	struct mpsim_entry **head = &t->bucket[e->hash & t->bucket_mask];

	for (const struct mpsim_entry *o = *head; o != NULL; o = o->next)
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
mpsim_generic_add(struct mpsim_generic *t, const struct mpsim_key *value,
		  const struct mpsim_key *mask, struct mpsim_rule *rule, struct mpsim_entry **entry)
{
	struct mpsim_mask *m;
	struct mpsim_entry *e;
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
mpsim_generic_remove(struct mpsim_generic *t, struct mpsim_entry *entry)
{
	struct mpsim_entry **at = &t->bucket[entry->hash & t->bucket_mask];

	while (*at != entry)
		at = &(*at)->next;
	*at = entry->next;
	t->count--;
	entry->mask->entries--;
	put_mask(t, entry->mask);
	rte_free(entry);
}

/* Return the better one of `best` and the rules that match under this mask. */
static struct mpsim_rule *
find_by_mask(const struct mpsim_generic *t, const struct mpsim_mask *m, const struct mpsim_key *key,
	     const struct mpsim_rule *after, struct mpsim_rule *best)
{
	uint64_t words[MPSIM_KEY_WORDS];
	const uint32_t hash = mask_words(m, key, words);

	for (const struct mpsim_entry *e = t->bucket[hash & t->bucket_mask]; e != NULL;
	     e = e->next) {
		if (!entry_is(e, m, hash, words) || e->rule->inert)
			continue;
		if (after != NULL && !mpsim_rule_precedes(after, e->rule))
			continue;
		if (best == NULL || mpsim_rule_precedes(e->rule, best))
			best = e->rule;
	}
	return best;
}

struct mpsim_rule *
mpsim_generic_find(const struct mpsim_generic *t, const struct mpsim_key *key,
		   const struct mpsim_rule *after)
{
	const struct mpsim_mask *m;
	struct mpsim_rule *best = NULL;

	if (t->count == 0)
		return NULL;
	TAILQ_FOREACH(m, &t->masks, list) {
		if (best != NULL && m->best > best->priority)
			break;
		best = find_by_mask(t, m, key, after, best);
	}
	return best;
}
