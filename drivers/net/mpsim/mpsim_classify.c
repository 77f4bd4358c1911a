/* SPDX-License-Identifier: BSD-3-Clause */

#include <rte_ether.h>
#include <rte_prefetch.h>

#include "mpsim.h"
#include "mpsim_filter.h"

/* Make the headers contiguous: a chain may have them in several segments. */
static void
read_headers(struct mpsim_nic *nic, struct mpsim_batch *b)
{
	for (uint16_t i = 0; i < b->n; i++) {
		const struct rte_mbuf *m = b->frame[i];

		if (likely(m->data_len >= RTE_MIN(m->pkt_len, (uint32_t)MPSIM_HDR_MAX)))
			b->hdr[i] = rte_pktmbuf_mtod(m, const uint8_t *);
		else
			b->hdr[i] = rte_pktmbuf_read(m, 0,
						     RTE_MIN(m->pkt_len, (uint32_t)MPSIM_HDR_MAX),
						     nic->scratch[i]);
		rte_prefetch0(b->hdr[i]);
	}
}

/* Parse the headers; the frame is for this port unless a transfer rule matches. */
static void
assign(struct mpsim_batch *b, uint16_t i, struct mpsim_pf *pf)
{
	const uint32_t len = b->frame[i]->pkt_len;

	mpsim_parse(b->hdr[i], mpsim_batch_avail(b, i), len, &b->parsed[i]);
	b->rule[i] = NULL;
	b->marked[i] = 0;
	b->pf[i] = pf;
}

/* Accept frames for this NIC, at first for the uplink, or without one the default PF. */
static void
admit(struct mpsim_nic *nic, struct mpsim_batch *b)
{
	const bool eswitch = mpsim_has_eswitch(nic);
	struct mpsim_pf *pf = eswitch ? nic->pf[MPSIM_UPLINK] : mpsim_nic_default_pf(nic);

	nic->stats.wire_packets += b->n;
	for (uint16_t i = 0; i < b->n; i++) {
		const uint32_t len = b->frame[i]->pkt_len;

		b->pf[i] = NULL;
		nic->stats.wire_bytes += len;
		if (unlikely(len < RTE_ETHER_HDR_LEN)) {
			nic->stats.runts++;
			continue;
		}
		/* an E-Switch accepts all frames: the PFs filter addresses */
		if (unlikely(!eswitch && !mpsim_filter_accepts(nic, b->hdr[i]))) {
			nic->stats.mac_filtered++;
			continue;
		}
		assign(b, i, pf);
		if (unlikely(pf == NULL))
			nic->stats.no_pf++;
	}
}

static bool
vlan_let_in(const struct mpsim_pf *pf, const struct mpsim_parsed *p)
{
	const uint16_t id = p->vlan_tci & 0xfff;

	/* id 0 is a priority tag, which means no VLAN */
	return !pf->vlan_filter || !p->vlan || id == 0 || (pf->vlans[id / 64] >> (id % 64) & 1);
}

/* Does the PF accept the frame? If not, count why. */
static bool
pf_takes(struct mpsim_pf *pf, const struct mpsim_parsed *p, uint32_t len)
{
	uint64_t *drop = NULL;

	if (unlikely(!pf->started))
		drop = &pf->stats.stopped;
	else if (unlikely(pf->mute != MPSIM_MUTE_NOT))
		drop = &pf->stats.dead;
	else if (unlikely(!rte_atomic_load_explicit(&pf->link_up, rte_memory_order_relaxed)))
		drop = &pf->stats.link_down;
	else if (unlikely(len > pf->max_frame))
		drop = &pf->stats.oversize;
	else if (unlikely(!vlan_let_in(pf, p)))
		drop = &pf->stats.vlan_filtered;
	if (likely(drop == NULL))
		return true;
	(*drop)++;
	return false;
}

/* Address filter of a PF of an E-Switch; other NICs filter in admit(). */
static bool
address_fits(const struct mpsim_pf *pf, const uint8_t *dst)
{
	struct mpsim_nic *nic = pf->nic;

	if (likely(!mpsim_has_eswitch(nic)) || mpsim_is_representor(pf) ||
	    mpsim_filter_accepts(nic, dst))
		return true;
	nic->stats.mac_filtered++;
	return false;
}

/* Choose the queue of an RSS action, by its own hash, which the mbuf then carries. */
static struct mpsim_rxq *
queue_by_spread(struct mpsim_batch *b, uint16_t i, const struct mpsim_spread *s)
{
	const struct mpsim_parsed *p = &b->parsed[i];
	struct mpsim_inside in;

	if (s->level > 1 &&
	    mpsim_key_tunnel(b->hdr[i], mpsim_batch_avail(b, i), p, &in) != MPSIM_TUNNEL_NONE)
		p = &in.parsed;
	b->hashed[i] = mpsim_rss_hash_by(s->key->table, s->input_len, b->hdr[i], p, &b->hash[i]);
	return b->pf[i]->rxq[s->queues[b->hashed[i] ? b->hash[i] % s->nb_queues : 0]];
}

/* The rule has an indirect action of another PF, which accepts the frame or not. */
static bool
go_to_pf(struct mpsim_batch *b, uint16_t i, uint8_t index)
{
	struct mpsim_nic *nic = b->pf[i]->nic;
	struct mpsim_pf *pf = mpsim_nic_target(nic, index);

	if (pf == NULL) {
		nic->stats.no_pf++;
		return false;
	}
	if (!pf_takes(pf, &b->parsed[i], b->frame[i]->pkt_len))
		return false;
	pf->stats.mpfs_hits++;
	b->pf[i] = pf;
	b->hashed[i] = pf->rss &&
		       mpsim_rss_hash(&pf->rss_state, b->hdr[i], &b->parsed[i], &b->hash[i]);
	return true;
}

static struct mpsim_rxq *
queue_by_rule(struct mpsim_batch *b, uint16_t i, const struct mpsim_dest *dest)
{
	struct mpsim_rxq *q = NULL;
	struct mpsim_pf *pf;

	if (dest->port != b->pf[i]->index && !go_to_pf(b, i, dest->port))
		return NULL;
	pf = b->pf[i];
	if (dest->kind == MPSIM_TO_QUEUE)
		q = pf->rxq[dest->target];
	else if (dest->kind == MPSIM_TO_RSS)
		q = queue_by_spread(b, i, dest->spread);
	pf->stats.arfs_hits++;
	if (q == NULL)
		pf->stats.rule_drops++;
	return q;
}

static struct mpsim_rxq *
queue_by_rss(struct mpsim_pf *pf, bool hashed, uint32_t hash)
{
	struct mpsim_rxq *q = pf->rxq[hashed ? mpsim_rss_queue(&pf->rss_state, hash) : 0];

	if (unlikely(pf->isolated)) {
		pf->stats.isolated++;
		return NULL;
	}
	if (unlikely(q == NULL))
		pf->stats.stopped++;
	return q;
}

static void
find_queue(struct mpsim_batch *b, uint16_t i)
{
	struct mpsim_pf *pf = b->pf[i];
	const uint32_t len = b->frame[i]->pkt_len;
	const struct mpsim_dest *dest;
	struct mpsim_rxq *q;

	b->rxq[i] = NULL;
	if (pf == NULL || !address_fits(pf, b->hdr[i]) || !pf_takes(pf, &b->parsed[i], len))
		return;
	b->hashed[i] = pf->rss &&
		       mpsim_rss_hash(&pf->rss_state, b->hdr[i], &b->parsed[i], &b->hash[i]);
	dest = mpsim_has_ingress_rules(b, i) ? mpsim_steer_ingress(b, i) : NULL;
	if (dest != NULL)
		q = queue_by_rule(b, i, dest);
	else
		q = queue_by_rss(pf, b->hashed[i], b->hash[i]);
	if (q != NULL && unlikely(!q->started)) {
		pf->stats.stopped++;
		return;
	}
	b->rxq[i] = q;
}

void
mpsim_classify(struct mpsim_nic *nic, struct mpsim_batch *b)
{
	read_headers(nic, b);
	admit(nic, b);
	mpsim_steer(nic, b);
	for (uint16_t i = 0; i < b->n; i++)
		find_queue(b, i);
}

void
mpsim_classify_on(struct mpsim_pf *pf, struct mpsim_batch *b)
{
	read_headers(pf->nic, b);
	for (uint16_t i = 0; i < b->n; i++)
		assign(b, i, pf);
	mpsim_steer_queues(pf->nic, b);
	for (uint16_t i = 0; i < b->n; i++)
		find_queue(b, i);
}
