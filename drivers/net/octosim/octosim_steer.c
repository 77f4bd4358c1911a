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
	rule->hits++;
	rule->bytes += frame->pkt_len;
}

static void
apply_mpfs(struct octosim_nic *nic, struct octosim_batch *b, struct steerable *s)
{
	const struct octo_tuple *keys[OCTOSIM_BURST];
	struct octosim_rule *rules[OCTOSIM_BURST];

	for (uint16_t k = 0; k < s->n; k++)
		keys[k] = &s->tuple[k];
	octosim_table_lookup(&nic->mpfs, keys, s->sig, s->n, rules);
	for (uint16_t k = 0; k < s->n; k++) {
		const uint16_t i = s->frame[k];
		struct octosim_rule *rule = rules[k];

		if (rule == NULL || unlikely(rule->inert))
			continue;
		count_hit(rule, b->frame[i]);
		b->pf[i] = nic->pf[rule->target];
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

void
octosim_steer(struct octosim_nic *nic, struct octosim_batch *b)
{
	uint32_t arfs = 0;
	struct steerable s;

	for (uint16_t i = 0; i < OCTOSIM_MAX_PFS; i++)
		if (nic->pf[i] != NULL && nic->pf[i]->arfs.count > 0)
			arfs |= 1u << i;
	if (nic->mpfs.count == 0 && arfs == 0)
		return;
	collect(b, &s);
	if (s.n == 0)
		return;
	if (nic->mpfs.count > 0)
		apply_mpfs(nic, b, &s);
	for (uint16_t i = 0; i < OCTOSIM_MAX_PFS; i++)
		if ((arfs >> i & 1) != 0)
			apply_arfs(nic->pf[i], b, &s);
}
