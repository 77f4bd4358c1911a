/* SPDX-License-Identifier: BSD-3-Clause */

#include "octosim.h"

/* The frames of a batch that a 5-tuple rule can match. */
struct steerable {
	uint16_t n;
	uint8_t frame[OCTOSIM_BURST]; /* index in the batch */
	struct octo_tuple tuple[OCTOSIM_BURST];
	uint32_t sig[OCTOSIM_BURST];
};

static void
collect(const struct octosim_batch *b, struct steerable *s)
{
	s->n = 0;
	for (uint16_t i = 0; i < b->n; i++) {
		if (b->pf[i] == NULL || !octosim_class_has_ports(b->parsed[i].cls))
			continue;
		s->frame[s->n] = i;
		octosim_parse_tuple(b->hdr[i], &b->parsed[i], &s->tuple[s->n]);
		s->sig[s->n] = octosim_table_sig(&s->tuple[s->n]);
		s->n++;
	}
}

static void
count_hit(struct octosim_rule *rule, const struct rte_mbuf *frame)
{
	struct octosim_counter *counter = rule->fate.counter;

	rule->hits++;
	rule->bytes += frame->pkt_len;
	if (counter != NULL) {
		counter->hits++;
		counter->bytes += frame->pkt_len;
	}
	if (rule->fate.age != NULL)
		octosim_age_hit(rule->fate.age);
}

/* What masked rules see of the frame; made once, and once more if they look into tunnels. */
static struct octosim_key *
get_key(struct octosim_batch *b, uint16_t i, bool inner)
{
	const uint32_t bit = 1u << i;

	if (((inner ? b->keyed_inner : b->keyed) & bit) == 0)
		octosim_key_extract(b->hdr[i], octosim_batch_avail(b, i), &b->parsed[i], inner,
				    &b->key[i]);
	b->keyed |= bit;
	b->keyed_inner |= inner ? bit : 0;
	return &b->key[i];
}

/* The exact rules of the switch that match. */
static void
find_exact_mpfs(const struct octosim_nic *nic, struct steerable *s, struct octosim_rule *rules[])
{
	const struct octo_tuple *keys[OCTOSIM_BURST];
	struct octosim_rule *found[OCTOSIM_BURST];

	if (nic->mpfs.count == 0 || s->n == 0)
		return;
	for (uint16_t k = 0; k < s->n; k++)
		keys[k] = &s->tuple[k];
	octosim_table_lookup(&nic->mpfs, keys, s->sig, s->n, found);
	for (uint16_t k = 0; k < s->n; k++)
		if (found[k] != NULL && likely(!found[k]->inert))
			rules[s->frame[k]] = found[k];
}

/* The better of two; with equal priority the first, which is the more specific. */
static struct octosim_rule *
better(struct octosim_rule *a, struct octosim_rule *b)
{
	return a == NULL || (b != NULL && b->priority < a->priority) ? b : a;
}

/* The switch's rule for each frame, or NULL. */
static void
find_mpfs(const struct octosim_nic *nic, struct octosim_batch *b, struct steerable *s,
	  struct octosim_rule *rules[])
{
	for (uint16_t i = 0; i < b->n; i++)
		rules[i] = NULL;
	find_exact_mpfs(nic, s, rules);
	for (uint16_t i = 0; i < b->n; i++) {
		if (nic->masked.count > 0 && b->pf[i] != NULL)
			rules[i] = better(rules[i],
					  octosim_generic_find(&nic->masked,
							       get_key(b, i, nic->masked.inner > 0),
							       NULL));
		/* for all that comes from the wire: the last resort */
		rules[i] = better(rules[i], nic->way[OCTOSIM_UPLINK][0]);
	}
}

static void
apply_mpfs(struct octosim_nic *nic, struct octosim_batch *b, struct steerable *s)
{
	struct octosim_rule *rules[OCTOSIM_BURST];

	find_mpfs(nic, b, s, rules);
	for (uint16_t i = 0; i < b->n; i++) {
		struct octosim_rule *rule = rules[i];

		if (rule == NULL || b->pf[i] == NULL)
			continue;
		count_hit(rule, b->frame[i]);
		b->pf[i] = octosim_nic_target(nic, octosim_fate_dest(&rule->fate)->target);
		if (b->pf[i] == NULL)
			nic->stats.no_pf++;
		else
			b->pf[i]->stats.mpfs_hits++;
	}
}

/* One look-up for all frames of the batch that go to this PF. */
static void
apply_arfs(struct octosim_pf *pf, struct octosim_batch *b, const struct steerable *s)
{
	const struct octo_tuple *keys[OCTOSIM_BURST];
	struct octosim_rule *rules[OCTOSIM_BURST];
	uint32_t sigs[OCTOSIM_BURST];
	uint8_t frame[OCTOSIM_BURST];
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
	octosim_table_lookup(&pf->arfs, keys, sigs, n, rules);
	for (uint16_t k = 0; k < n; k++)
		if (rules[k] != NULL && likely(!rules[k]->inert))
			b->rule[frame[k]] = rules[k];
}

static uint32_t
ports_with_rules(const struct octosim_nic *nic)
{
	uint32_t ports = 0;

	for (uint16_t i = 0; i < OCTOSIM_MAX_PORTS; i++)
		if (nic->pf[i] != NULL && nic->pf[i]->arfs.count > 0)
			ports |= 1u << i;
	return ports;
}

static void
steer_queues(struct octosim_nic *nic, struct octosim_batch *b, const struct steerable *s,
	     uint32_t ports)
{
	for (uint16_t i = 0; s->n > 0 && i < OCTOSIM_MAX_PORTS; i++)
		if ((ports >> i & 1) != 0)
			apply_arfs(nic->pf[i], b, s);
}

void
octosim_steer(struct octosim_nic *nic, struct octosim_batch *b)
{
	const uint32_t ports = ports_with_rules(nic);
	const bool mpfs = nic->mpfs.count > 0 || nic->masked.count > 0 ||
			  nic->way[OCTOSIM_UPLINK][0] != NULL;
	struct steerable s;

	if (!mpfs && ports == 0)
		return;
	collect(b, &s);
	if (mpfs)
		apply_mpfs(nic, b, &s);
	steer_queues(nic, b, &s, ports);
}

void
octosim_steer_queues(struct octosim_nic *nic, struct octosim_batch *b)
{
	const uint32_t ports = ports_with_rules(nic);
	struct steerable s;

	if (ports == 0)
		return;
	collect(b, &s);
	steer_queues(nic, b, &s, ports);
}

/* The next rule of the group, which comes behind `after` unless that is NULL. */
static struct octosim_rule *
next_rule(struct octosim_batch *b, uint16_t i, uint32_t group, const struct octosim_rule *after)
{
	const struct octosim_generic *t = &b->pf[i]->generic;
	struct octosim_key *key;

	if (t->count == 0)
		return NULL;
	key = get_key(b, i, t->inner > 0);
	key->group = group;
	return octosim_generic_find(t, key, after);
}

/* What a rule does, whatever comes then. */
static void
apply_rule(struct octosim_batch *b, uint16_t i, struct octosim_rule *rule)
{
	const struct octosim_fate *fate = &rule->fate;

	count_hit(rule, b->frame[i]);
	b->marked[i] |= fate->flags & (OCTOSIM_FATE_MARK | OCTOSIM_FATE_FLAG);
	if (fate->flags & OCTOSIM_FATE_MARK)
		b->mark[i] = fate->mark;
}

const struct octosim_dest *
octosim_steer_ingress(struct octosim_batch *b, uint16_t i)
{
	struct octosim_rule *exact = b->rule[i];
	const struct octosim_rule *after = NULL;
	uint32_t group = 0;

	for (;;) {
		struct octosim_rule *rule = better(exact, next_rule(b, i, group, after));
		const struct octosim_dest *dest;

		if (rule == NULL)
			return NULL;
		apply_rule(b, i, rule);
		dest = octosim_fate_dest(&rule->fate);
		if (dest->kind != OCTOSIM_TO_NEXT && dest->kind != OCTOSIM_TO_GROUP)
			return dest;
		if (rule == exact)
			exact = NULL;
		else
			after = rule;
		if (dest->kind == OCTOSIM_TO_NEXT)
			continue;
		group = dest->group;
		after = NULL;
		exact = NULL;
	}
}
