/* SPDX-License-Identifier: BSD-3-Clause */

#include "mpsim.h"

/* The frames of a batch that have a 5-tuple. */
struct steerable {
	uint16_t n;
	uint8_t frame[MPSIM_BURST]; /* index in the batch */
	struct octo_tuple tuple[MPSIM_BURST];
	uint32_t sig[MPSIM_BURST];
};

static void
collect(const struct mpsim_batch *b, struct steerable *s)
{
	s->n = 0;
	for (uint16_t i = 0; i < b->n; i++) {
		if (b->pf[i] == NULL || !mpsim_class_has_ports(b->parsed[i].cls))
			continue;
		s->frame[s->n] = i;
		mpsim_parse_tuple(b->hdr[i], &b->parsed[i], &s->tuple[s->n]);
		s->sig[s->n] = mpsim_table_sig(&s->tuple[s->n]);
		s->n++;
	}
}

static void
count_hit(struct mpsim_rule *rule, const struct rte_mbuf *frame)
{
	struct mpsim_counter *counter = rule->fate.counter;

	rule->hits++;
	rule->bytes += frame->pkt_len;
	if (counter != NULL) {
		counter->hits++;
		counter->bytes += frame->pkt_len;
	}
	if (rule->fate.age != NULL)
		mpsim_age_hit(rule->fate.age);
}

/*
 * The key of a frame for masked rules; extracted once, and again if tunnelled headers are
 * needed.
 */
static struct mpsim_key *
get_key(struct mpsim_batch *b, uint16_t i, bool inner)
{
	const uint32_t bit = 1u << i;

	if (((inner ? b->keyed_inner : b->keyed) & bit) == 0)
		mpsim_key_extract(b->hdr[i], mpsim_batch_avail(b, i), &b->parsed[i], inner,
				  &b->key[i]);
	b->keyed |= bit;
	b->keyed_inner |= inner ? bit : 0;
	return &b->key[i];
}

/* Find the matching exact rules of the switch. */
static void
find_exact_mpfs(const struct mpsim_nic *nic, struct steerable *s, struct mpsim_rule *rules[])
{
	const struct octo_tuple *keys[MPSIM_BURST];
	struct mpsim_rule *found[MPSIM_BURST];

	if (nic->mpfs.count == 0 || s->n == 0)
		return;
	for (uint16_t k = 0; k < s->n; k++)
		keys[k] = &s->tuple[k];
	mpsim_table_lookup(&nic->mpfs, keys, s->sig, s->n, found);
	for (uint16_t k = 0; k < s->n; k++)
		if (found[k] != NULL && likely(!found[k]->inert))
			rules[s->frame[k]] = found[k];
}

/* The better of two rules; with equal priority the first one, which is more specific. */
static struct mpsim_rule *
better(struct mpsim_rule *a, struct mpsim_rule *b)
{
	return a == NULL || (b != NULL && b->priority < a->priority) ? b : a;
}

/* Find the switch's rule for each frame, or NULL. */
static void
find_mpfs(const struct mpsim_nic *nic, struct mpsim_batch *b, struct steerable *s,
	  struct mpsim_rule *rules[])
{
	for (uint16_t i = 0; i < b->n; i++)
		rules[i] = NULL;
	find_exact_mpfs(nic, s, rules);
	for (uint16_t i = 0; i < b->n; i++) {
		if (nic->masked.count > 0 && b->pf[i] != NULL)
			rules[i] = better(rules[i],
					  mpsim_generic_find(&nic->masked,
							     get_key(b, i, nic->masked.inner > 0),
							     NULL));
		/* rule for all traffic from the wire: lowest precedence */
		rules[i] = better(rules[i], nic->way[MPSIM_UPLINK][0]);
	}
}

static void
apply_mpfs(struct mpsim_nic *nic, struct mpsim_batch *b, struct steerable *s)
{
	struct mpsim_rule *rules[MPSIM_BURST];

	find_mpfs(nic, b, s, rules);
	for (uint16_t i = 0; i < b->n; i++) {
		struct mpsim_rule *rule = rules[i];

		if (rule == NULL || b->pf[i] == NULL)
			continue;
		count_hit(rule, b->frame[i]);
		b->pf[i] = mpsim_nic_target(nic, mpsim_fate_dest(&rule->fate)->target);
		if (b->pf[i] == NULL)
			nic->stats.no_pf++;
		else
			b->pf[i]->stats.mpfs_hits++;
	}
}

/* Look up all frames of the batch for this PF at once. */
static void
apply_arfs(struct mpsim_pf *pf, struct mpsim_batch *b, const struct steerable *s)
{
	const struct octo_tuple *keys[MPSIM_BURST];
	struct mpsim_rule *rules[MPSIM_BURST];
	uint32_t sigs[MPSIM_BURST];
	uint8_t frame[MPSIM_BURST];
	uint16_t n = 0;

	for (uint16_t k = 0; k < s->n; k++) {
		if (b->pf[s->frame[k]] != pf)
			continue;
		keys[n] = &s->tuple[k];
		sigs[n] = s->sig[k];
		frame[n++] = s->frame[k];
	}
	if (n == 0)
		return;
	mpsim_table_lookup(&pf->arfs, keys, sigs, n, rules);
	for (uint16_t k = 0; k < n; k++) {
		struct mpsim_rule *rule = rules[k];

		/* a rule that is ignored does not hide the next one of the 5-tuple */
		while (rule != NULL && unlikely(rule->inert))
			rule = rule->next;
		if (rule != NULL)
			b->rule[frame[k]] = rule;
	}
}

static uint32_t
ports_with_rules(const struct mpsim_nic *nic)
{
	uint32_t ports = 0;

	for (uint16_t i = 0; i < MPSIM_MAX_PORTS; i++)
		if (nic->pf[i] != NULL && nic->pf[i]->arfs.count > 0)
			ports |= 1u << i;
	return ports;
}

static void
steer_queues(struct mpsim_nic *nic, struct mpsim_batch *b, const struct steerable *s,
	     uint32_t ports)
{
	for (uint16_t i = 0; s->n > 0 && i < MPSIM_MAX_PORTS; i++)
		if ((ports >> i & 1) != 0)
			apply_arfs(nic->pf[i], b, s);
}

void
mpsim_steer(struct mpsim_nic *nic, struct mpsim_batch *b)
{
	const uint32_t ports = ports_with_rules(nic);
	const bool mpfs = nic->mpfs.count > 0 || nic->masked.count > 0 ||
			  nic->way[MPSIM_UPLINK][0] != NULL;
	struct steerable s;

	if (!mpfs && ports == 0)
		return;
	collect(b, &s);
	if (mpfs)
		apply_mpfs(nic, b, &s);
	steer_queues(nic, b, &s, ports);
}

void
mpsim_steer_queues(struct mpsim_nic *nic, struct mpsim_batch *b)
{
	const uint32_t ports = ports_with_rules(nic);
	struct steerable s;

	if (ports == 0)
		return;
	collect(b, &s);
	steer_queues(nic, b, &s, ports);
}

/* The next rule of the group after `after`, or the first one if that is NULL. */
static struct mpsim_rule *
next_rule(struct mpsim_batch *b, uint16_t i, uint32_t group, const struct mpsim_rule *after)
{
	const struct mpsim_generic *t = &b->pf[i]->generic;
	struct mpsim_key *key;

	if (t->count == 0)
		return NULL;
	key = get_key(b, i, t->inner > 0);
	key->group = group;
	return mpsim_generic_find(t, key, after);
}

/* Apply a rule's actions other than its destination. */
static void
apply_rule(struct mpsim_batch *b, uint16_t i, struct mpsim_rule *rule)
{
	const struct mpsim_fate *fate = &rule->fate;

	count_hit(rule, b->frame[i]);
	b->marked[i] |= fate->flags & (MPSIM_FATE_MARK | MPSIM_FATE_FLAG);
	if (fate->flags & MPSIM_FATE_MARK)
		b->mark[i] = fate->mark;
}

const struct mpsim_dest *
mpsim_steer_ingress(struct mpsim_batch *b, uint16_t i)
{
	struct mpsim_rule *exact = b->rule[i];
	const struct mpsim_rule *after = NULL;
	uint32_t group = 0;

	for (;;) {
		struct mpsim_rule *rule = better(exact, next_rule(b, i, group, after));
		const struct mpsim_dest *dest;

		if (rule == NULL)
			return NULL;
		apply_rule(b, i, rule);
		dest = mpsim_fate_dest(&rule->fate);
		if (dest->kind != MPSIM_TO_NEXT && dest->kind != MPSIM_TO_GROUP)
			return dest;
		if (rule == exact)
			exact = NULL;
		else
			after = rule;
		if (dest->kind == MPSIM_TO_NEXT)
			continue;
		group = dest->group;
		after = NULL;
		exact = NULL;
	}
}
