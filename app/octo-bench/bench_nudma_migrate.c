/* SPDX-License-Identifier: BSD-3-Clause */

/* A receiver that goes to the other socket, while its packets keep coming. */

#include <errno.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_launch.h>

#include "bench_flow.h"
#include "bench_nudma.h"

/* Bursts at rest, before and after, of which the path counts. */
#define BURSTS 64

/* Until its packets come by the other PF. */
#define FOLLOW_S 20

/* Polls that bring nothing until what is under way is given up. */
#define PATIENCE 100000

/* Behind the headers and the mark of a frame. */
#define NUMBER_AT BENCH_FRAME_LEN
#define LENGTH (BENCH_FRAME_LEN + sizeof(uint32_t))

struct receiver {
	const struct nudma_port *port;
	const struct bench *bench;
	struct bench_flows flows;
	struct nudma_migration *result;
	uint32_t sent;   /* frames, which are numbered */
	uint32_t wanted; /* number of the next one */
	uint64_t came;
	unsigned int home; /* the PF that frames are to come by in the end */
	unsigned int phase;
};

static void
send_burst(struct receiver *r)
{
	struct rte_mbuf *pkts[APP_BURST];
	uint16_t sent;

	if (rte_pktmbuf_alloc_bulk(r->bench->peer_pool, pkts, APP_BURST) != 0)
		return;
	for (uint32_t i = 0; i < APP_BURST; i++) {
		bench_frame_fill(pkts[i], &r->flows.frame[0]);
		*rte_pktmbuf_mtod_offset(pkts[i], uint32_t *, NUMBER_AT) = r->sent + i;
		pkts[i]->data_len = pkts[i]->pkt_len = LENGTH;
	}
	sent = rte_eth_tx_burst(r->port->peer, 0, pkts, APP_BURST);
	r->sent += sent;
	rte_pktmbuf_free_bulk(pkts + sent, APP_BURST - sent);
}

static uint16_t
take_burst(struct receiver *r)
{
	struct rte_mbuf *pkts[APP_BURST];
	const uint16_t n = rte_eth_rx_burst(r->port->port, 0, pkts, APP_BURST);

	for (uint16_t i = 0; i < n; i++) {
		const uint32_t number = *rte_pktmbuf_mtod_offset(pkts[i], uint32_t *, NUMBER_AT);

		/* one that was overtaken comes after one of a higher number */
		r->result->reordered += number < r->wanted;
		r->wanted = RTE_MAX(r->wanted, number + 1);
	}
	rte_pktmbuf_free_bulk(pkts, n);
	r->came += n;
	return n;
}

static void
take_all(struct receiver *r)
{
	for (uint32_t empty = 0; r->came < r->sent && empty < PATIENCE;)
		empty = take_burst(r) > 0 ? 0 : empty + 1;
}

static int
by_pf(const struct receiver *r, uint64_t packets[NUDMA_NB_PFS])
{
	struct nudma_account sum;

	return nudma_port_account(r->port, &sum, packets);
}

/* Frames keep coming until all of a burst come by the PF of this socket. */
static int
follow(struct receiver *r)
{
	const uint64_t end = rte_get_timer_cycles() + FOLLOW_S * rte_get_timer_hz();
	uint64_t before[NUDMA_NB_PFS], after[NUDMA_NB_PFS] = {0};

	do {
		if (rte_get_timer_cycles() > end || bench_is_stopped())
			return -ETIMEDOUT;
		if (by_pf(r, before) != 0)
			return -EIO;
		send_burst(r);
		take_burst(r);
		rte_delay_us_sleep(20);
		if (by_pf(r, after) != 0)
			return -EIO;
	} while (after[r->home] == before[r->home] || after[1 - r->home] != before[1 - r->home]);
	take_all(r);
	return 0;
}

static int
stay(struct receiver *r)
{
	uint64_t before[NUDMA_NB_PFS], after[NUDMA_NB_PFS];
	int ret = by_pf(r, before);

	for (unsigned int i = 0; i < BURSTS; i++) {
		send_burst(r);
		take_burst(r);
	}
	take_all(r);
	if (ret == 0)
		ret = by_pf(r, after);
	for (unsigned int i = 0; i < NUDMA_NB_PFS && ret == 0; i++)
		r->result->by_pf[r->phase][i] = after[i] - before[i];
	return ret;
}

static int
be_there(void *arg)
{
	struct receiver *r = arg;
	const int ret = follow(r);

	return ret == 0 ? stay(r) : ret;
}

/* The same thread of control, on the CPU that plays on a socket. */
static int
run_on(struct receiver *r, unsigned int socket)
{
	int ret;

	r->home = socket;
	ret = rte_eal_remote_launch(be_there, r, app_lcore(socket));
	return ret == 0 ? rte_eal_wait_lcore(app_lcore(socket)) : ret;
}

int
nudma_migrate(const struct nudma_port *p, const struct bench *bench,
	      struct nudma_migration *migration)
{
	static const unsigned int way[] = {NUDMA_APP, NUDMA_FAR};
	struct receiver r = {.port = p, .bench = bench, .result = migration};
	int ret = bench_flows_make(&r.flows, 1, p->peer, p->port, bench_flow_write_plain);

	*migration = (struct nudma_migration){0};
	for (r.phase = 0; r.phase < RTE_DIM(way) && ret == 0; r.phase++)
		ret = run_on(&r, way[r.phase]);
	migration->packets = r.sent;
	migration->lost = r.sent - RTE_MIN(r.came, (uint64_t)r.sent);
	bench_flows_free(&r.flows);
	if (ret != 0)
		fprintf(stderr, "%s: packets do not follow their receiver\n", app_name);
	return ret;
}
