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

/*
 * The switch's rule for each frame, or NULL. One for all that comes from the
 * wire is the last resort, unless its priority is higher.
 */
static void
find_mpfs(const struct octosim_nic *nic, const struct octosim_batch *b, struct steerable *s,
	  struct octosim_rule *rules[])
{
	struct octosim_rule *const all = nic->way[OCTOSIM_UPLINK];
	const struct octo_tuple *keys[OCTOSIM_BURST];
	struct octosim_rule *found[OCTOSIM_BURST];

	for (uint16_t i = 0; i < b->n; i++)
		rules[i] = all;
	if (nic->mpfs.count == 0 || s->n == 0)
		return;
	for (uint16_t k = 0; k < s->n; k++)
		keys[k] = &s->tuple[k];
	octosim_table_lookup(&nic->mpfs, keys, s->sig, s->n, found);
	for (uint16_t k = 0; k < s->n; k++)
		if (found[k] != NULL && likely(!found[k]->inert) &&
		    (all == NULL || found[k]->priority <= all->priority))
			rules[s->frame[k]] = found[k];
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
	struct steerable s;

	if (nic->mpfs.count == 0 && nic->way[OCTOSIM_UPLINK] == NULL && ports == 0)
		return;
	collect(b, &s);
	if (nic->mpfs.count > 0 || nic->way[OCTOSIM_UPLINK] != NULL)
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
