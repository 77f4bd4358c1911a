/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "mpsim_flow.h"

static struct mpsim_hash_key *
find_key(const struct mpsim_nic *nic, const uint8_t *key)
{
	struct mpsim_hash_key *k;

	LIST_FOREACH(k, &nic->hash_keys, list)
		if (memcmp(k->key, key, sizeof(k->key)) == 0)
			return k;
	return NULL;
}

static struct mpsim_hash_key *
get_key(struct mpsim_nic *nic, const uint8_t *key)
{
	struct mpsim_hash_key *fresh, *k;

	/* outside the lock, because filling the table takes long */
	fresh = rte_malloc("mpsim_hash_key", sizeof(*fresh), 0);
	if (fresh == NULL)
		return NULL;
	fresh->refs = 0;
	mpsim_nic_lock(nic);
	k = find_key(nic, key);
	if (k == NULL) {
		memcpy(fresh->key, key, sizeof(fresh->key));
		mpsim_rss_fill_table(fresh->table, key);
		LIST_INSERT_HEAD(&nic->hash_keys, fresh, list);
		k = fresh;
		fresh = NULL;
	}
	k->refs++;
	mpsim_nic_unlock(nic);
	rte_free(fresh);
	return k;
}

static void
put_key(struct mpsim_nic *nic, struct mpsim_hash_key *k)
{
	bool last;

	mpsim_nic_lock(nic);
	last = --k->refs == 0;
	if (last)
		LIST_REMOVE(k, list);
	mpsim_nic_unlock(nic);
	if (last)
		rte_free(k);
}

/* Hash types of an action without any: those of the PF, or all known ones. */
static uint64_t
choose_types(const struct mpsim_pf *pf, uint64_t types)
{
	types &= MPSIM_RSS_HF;
	if (types == 0 && pf->rss)
		types = pf->rss_state.hf;
	return types != 0 ? types : MPSIM_RSS_HF;
}

static struct mpsim_spread *
make_spread(struct mpsim_pf *pf, const struct rte_flow_action_rss *rss)
{
	const bool own_key = rss->key != NULL && rss->key_len != 0;
	/* no queues means all queues, as with other NICs */
	const uint16_t nb_queues = rss->queue_num > 0 ? rss->queue_num : pf->nb_rxq;
	struct mpsim_spread *s;

	s = rte_zmalloc("mpsim_spread", sizeof(*s) + nb_queues * sizeof(s->queues[0]), 0);
	if (s == NULL)
		return NULL;
	s->key = get_key(pf->nic, own_key ? rss->key : pf->rss_state.key);
	if (s->key == NULL) {
		rte_free(s);
		return NULL;
	}
	s->types = choose_types(pf, rss->types);
	s->func = rss->func;
	s->level = rss->level;
	mpsim_rss_set_types(s->input_len, s->types);
	s->nb_queues = nb_queues;
	for (uint16_t i = 0; i < nb_queues; i++)
		s->queues[i] = rss->queue_num > 0 ? rss->queue[i] : i;
	return s;
}

void
mpsim_dest_release(struct mpsim_pf *pf, struct mpsim_dest *dest)
{
	if (dest->spread == NULL)
		return;
	put_key(pf->nic, dest->spread->key);
	rte_free(dest->spread);
	dest->spread = NULL;
}

static struct mpsim_counter *
find_counter(const struct mpsim_pf *pf, uint32_t id)
{
	struct mpsim_counter *c;

	LIST_FOREACH(c, &pf->counters, list)
		if (c->id == id)
			return c;
	return NULL;
}

/* Get the counter with this id, which rules of the PF share. */
static struct mpsim_counter *
get_counter(struct mpsim_pf *pf, uint32_t id)
{
	struct mpsim_counter *fresh, *c;

	fresh = rte_zmalloc("mpsim_counter", sizeof(*fresh), 0);
	if (fresh == NULL)
		return NULL;
	mpsim_nic_lock(pf->nic);
	c = find_counter(pf, id);
	if (c == NULL) {
		fresh->id = id;
		LIST_INSERT_HEAD(&pf->counters, fresh, list);
		c = fresh;
		fresh = NULL;
	}
	c->refs++;
	mpsim_nic_unlock(pf->nic);
	rte_free(fresh);
	return c;
}

void
mpsim_counter_release(struct mpsim_pf *pf, struct mpsim_counter *c)
{
	bool last;

	mpsim_nic_lock(pf->nic);
	last = --c->refs == 0;
	if (last && c->id != 0)
		LIST_REMOVE(c, list);
	mpsim_nic_unlock(pf->nic);
	if (last)
		rte_free(c);
}

/* Count the rule as a user: an indirect action with users cannot be destroyed. */
static void
hold_handles(struct mpsim_pf *pf, const struct mpsim_orders *orders, struct mpsim_fate *fate)
{
	mpsim_nic_lock(pf->nic);
	if (orders->dest_handle != NULL) {
		fate->shared = &orders->dest_handle->dest;
		mpsim_indirect_use_locked(fate->shared);
	}
	if (orders->count_handle != NULL) {
		fate->counter = orders->count_handle->counter;
		fate->counter->refs++;
	}
	if (orders->age_handle != NULL) {
		fate->age = orders->age_handle->age;
		fate->age->refs++;
	}
	mpsim_nic_unlock(pf->nic);
}

int
mpsim_fate_make(struct mpsim_pf *pf, const struct mpsim_orders *orders, struct mpsim_fate *fate,
		struct rte_flow_error *error)
{
	*fate = orders->fate;
	fate->own.port = (uint8_t)pf->index;
	if (orders->rss != NULL) {
		fate->own.spread = make_spread(pf, orders->rss);
		if (fate->own.spread == NULL)
			goto no_memory;
	}
	if (orders->count_id != 0) {
		fate->counter = get_counter(pf, orders->count_id);
		if (fate->counter == NULL)
			goto free_dest;
	}
	if (orders->age != NULL) {
		fate->age = mpsim_age_create(pf, orders->age);
		if (fate->age == NULL)
			goto free_counter;
	}
	if (orders->dest_handle != NULL || orders->count_handle != NULL ||
	    orders->age_handle != NULL)
		hold_handles(pf, orders, fate);
	return 0;
free_counter:
	if (fate->counter != NULL)
		mpsim_counter_release(pf, fate->counter);
free_dest:
	mpsim_dest_release(pf, &fate->own);
no_memory:
	return mpsim_flow_refuse(error, ENOMEM, RTE_FLOW_ERROR_TYPE_UNSPECIFIED,
				 "no memory for the actions");
}

void
mpsim_fate_release(struct mpsim_pf *pf, struct mpsim_fate *fate)
{
	if (fate->age != NULL)
		mpsim_age_put(pf, fate->age);
	if (fate->counter != NULL)
		mpsim_counter_release(pf, fate->counter);
	mpsim_dest_release(pf, &fate->own);
	if (fate->shared != NULL)
		mpsim_indirect_leave(pf->nic, fate->shared);
}
