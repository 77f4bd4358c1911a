/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A frame, in one piece and in a chain of segments: read for its 5-tuple, by the
 * port and by the simulated NIC, which must agree; checked and filled in.
 */

#include <stdlib.h>

#include <rte_mbuf.h>

#include "fuzz.h"
#include "octo_packet.h"
#include "mpsim_csum.h"
#include "mpsim_parse.h"
#include "mpsim_rss.h"

#define MAX_SEGMENTS 4
#define MAX_FRAME 2048

/* Mbufs in libc's heap, each of exactly its data: ASan sees every byte too far. */
struct chain {
	struct rte_mbuf m[MAX_SEGMENTS];
	unsigned int nb;
};

static void
add_segment(struct chain *c, const uint8_t *data, uint16_t len)
{
	struct rte_mbuf *m = &c->m[c->nb];

	*m = (struct rte_mbuf){.data_len = len, .pkt_len = len, .nb_segs = 1};
	m->buf_addr = malloc(len);
	FUZZ_CHECK(m->buf_addr != NULL || len == 0, "no memory");
	if (len > 0)
		memcpy(m->buf_addr, data, len);
	if (c->nb > 0) {
		c->m[c->nb - 1].next = m;
		c->m[0].nb_segs++;
		c->m[0].pkt_len += len;
	}
	c->nb++;
}

/* cuts[]: lengths of all segments but the last */
static void
make_chain(struct chain *c, const uint8_t *frame, uint16_t len, const uint8_t *cuts,
	   unsigned int nb_cuts)
{
	c->nb = 0;
	for (unsigned int i = 0; i < nb_cuts && len > cuts[i]; i++) {
		add_segment(c, frame, cuts[i]);
		frame += cuts[i];
		len -= cuts[i];
	}
	add_segment(c, frame, len);
}

static void
free_chain(struct chain *c)
{
	for (unsigned int i = 0; i < c->nb; i++)
		free(c->m[i].buf_addr);
}

/* The port knows less than the NIC, but never anything else. */
static void
check_tuple(const uint8_t *frame, uint16_t len, const struct octo_tuple *t)
{
	struct mpsim_parsed p;
	struct octo_tuple other;

	mpsim_parse(frame, RTE_MIN(len, MPSIM_HDR_MAX), len, &p);
	FUZZ_CHECK(mpsim_class_has_ports(p.cls), "a 5-tuple for the port, none for the NIC");
	mpsim_parse_tuple(frame, &p, &other);
	FUZZ_CHECK(octo_tuple_equal(t, &other), "the port and the NIC read different 5-tuples");
}

static void
check_port(const uint8_t *frame, uint16_t len, const struct rte_mbuf *chained)
{
	struct octo_tuple whole, pieces;
	bool found = octo_packet_parse(frame, RTE_MIN(len, OCTO_PACKET_HDR_MAX), len, &whole);

	FUZZ_CHECK(octo_packet_tuple(chained, &pieces) == found, "segments matter");
	if (!found)
		return;
	FUZZ_CHECK(octo_tuple_equal(&whole, &pieces), "segments matter");
	check_tuple(frame, len, &whole);
}

static void
check_nic(const uint8_t *frame, uint16_t len, struct rte_mbuf *m)
{
	static struct mpsim_rss rss;
	struct mpsim_parsed p;
	uint32_t hash;

	if (rss.hf == 0) {
		mpsim_rss_set_key(&rss, mpsim_rss_default_key);
		mpsim_rss_set_hf(&rss, MPSIM_RSS_HF);
	}
	mpsim_parse(frame, RTE_MIN(len, MPSIM_HDR_MAX), len, &p);
	FUZZ_CHECK(p.l3_off <= len && p.l4_off + p.l4_len <= len, "headers behind the frame");
	mpsim_rss_hash(&rss, frame, &p, &hash);
	/* the NIC reads headers in place, so they have to be */
	if (m->data_len >= RTE_MIN(len, MPSIM_HDR_MAX))
		mpsim_csum_check(m, rte_pktmbuf_mtod(m, const uint8_t *), &p, true, true, true);
}

/* What is filled in is right; what is refused is not touched. */
static void
check_transmit(struct rte_mbuf *m, struct fuzz_input *in)
{
	static const uint64_t l4[] = {0, RTE_MBUF_F_TX_TCP_CKSUM, RTE_MBUF_F_TX_UDP_CKSUM,
				      RTE_MBUF_F_TX_SCTP_CKSUM};
	const uint8_t what = fuzz_u8(in);

	m->l2_len = fuzz_u8(in) & 0x7f;
	m->l3_len = fuzz_u8(in);
	m->ol_flags = l4[what & 3] | ((what & 4) != 0 ? RTE_MBUF_F_TX_IP_CKSUM : 0);
	if (mpsim_csum_headers(m) <= m->data_len)
		mpsim_csum_fill(m);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	RTE_SET_USED(argc);
	RTE_SET_USED(argv);
	return 0;
}

/* Five bytes: how it is cut, and what is to be filled in. The rest is the frame. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {.at = data, .left = size};
	uint8_t cuts[MAX_SEGMENTS - 1];
	struct fuzz_input transmit;
	struct chain whole, pieces;
	uint8_t head[6];
	uint16_t len;

	fuzz_bytes(&in, head, sizeof(head));
	memcpy(cuts, head, sizeof(cuts));
	transmit = (struct fuzz_input){.at = head + 3, .left = 3};
	len = RTE_MIN(in.left, (size_t)MAX_FRAME);
	make_chain(&whole, in.at, len, NULL, 0);
	make_chain(&pieces, in.at, len, cuts, RTE_DIM(cuts));
	check_port(whole.m[0].buf_addr, len, &pieces.m[0]);
	if (len >= RTE_ETHER_HDR_LEN) {
		check_nic(whole.m[0].buf_addr, len, &whole.m[0]);
		check_nic(whole.m[0].buf_addr, len, &pieces.m[0]);
		check_transmit(&pieces.m[0], &transmit);
	}
	free_chain(&whole);
	free_chain(&pieces);
	return 0;
}
