/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_malloc.h>

#include "bench_stream.h"

/* What has not come after so long while nothing else came was lost. */
#define PATIENCE_MS 1000
#define LOOK_MS 5

/* The same where some are lost on purpose. */
#define PAUSE_MS 300

/* Until what is on its way must have come, however seldom the workers have a CPU. */
#define MAX_WAY_S 20

/* So often in a row is too often. */
#define MAX_LAPSES 5

#define IDLE_TURNS 256

/* Packets after which queues know their homes. */
#define WARM_UP 100000

int
bench_stream_open(struct bench_stream *s, const struct bench_stream_conf *conf)
{
	memset(s, 0, sizeof(*s));
	s->nic = conf->nic;
	s->pool = conf->bench->peer_pool;
	s->rx_pool = conf->bench->pool;
	s->flows = conf->flows;
	s->turn = conf->turn;
	s->take = conf->take;
	s->arg = conf->arg;
	rte_spinlock_init(&s->sending);
	s->number = calloc(conf->flows->nb, sizeof(s->number[0]));
	if (s->number == NULL) {
		fprintf(stderr, "%s: no memory to number %u flows\n", app_name, conf->flows->nb);
		return -ENOMEM;
	}
	return bench_order_open(&s->order, conf->flows->nb, conf->seen, conf->arg);
}

static void
set_lane(struct bench_lane *lane, uint16_t port, uint16_t queue, uint8_t owner)
{
	lane->port = port;
	lane->queue = queue;
	bench_lane_give(lane, owner);
}

void
bench_stream_add_lane(struct bench_stream *s, uint16_t port, uint16_t queue, uint8_t owner)
{
	set_lane(&s->lane[s->nb_lanes++], port, queue, owner);
}

void
bench_stream_set_out(struct bench_stream *s, uint16_t port, uint16_t queue, uint8_t owner)
{
	set_lane(&s->out, port, queue, owner);
}

static void
mark(struct rte_mbuf **pkts, uint16_t nb, const void *pf)
{
	for (uint16_t i = 0; i < nb; i++)
		if (likely(pkts[i]->data_len == BENCH_FRAME_LEN))
			bench_label_of(pkts[i])->pf = (uint32_t)(uintptr_t)pf;
}

static uint16_t
mark_received(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t nb, uint16_t max,
	      void *pf)
{
	RTE_SET_USED(port);
	RTE_SET_USED(queue);
	RTE_SET_USED(max);
	mark(pkts, nb, pf);
	return nb;
}

static uint16_t
mark_sent(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t nb, void *pf)
{
	RTE_SET_USED(port);
	RTE_SET_USED(queue);
	mark(pkts, nb, pf);
	return nb;
}

static int
mark_queue(struct bench_stream *s, uintptr_t pf, uint16_t queue)
{
	struct bench_mark_of_pf *m = &s->mark[s->nb_marks];

	bench_nic_leg(s->nic, pf, queue, &m->port, &m->queue);
	m->callback = s->marks_tx ?
			      rte_eth_add_tx_callback(m->port, m->queue, mark_sent, (void *)pf) :
			      rte_eth_add_rx_callback(m->port, m->queue, mark_received, (void *)pf);
	if (m->callback == NULL) {
		fprintf(stderr, "%s: packets of port %u cannot be marked: %s\n", app_name, m->port,
			rte_strerror(rte_errno));
		return -rte_errno;
	}
	s->nb_marks++;
	return 0;
}

static int
mark_all(struct bench_stream *s)
{
	int ret = 0;

	for (unsigned int pf = 0; pf < s->nic->conf.nb_pfs; pf++)
		for (uint16_t q = 0; q < s->nic->conf.nb_queues && ret == 0; q++)
			ret = mark_queue(s, pf, q);
	return ret;
}

int
bench_stream_mark_rx(struct bench_stream *s)
{
	return mark_all(s);
}

int
bench_stream_mark_tx(struct bench_stream *s)
{
	s->marks_tx = true;
	return mark_all(s);
}

/* A port leaves its callbacks to the next one of the same number. */
static void
unmark_all(struct bench_stream *s)
{
	while (s->nb_marks > 0) {
		const struct bench_mark_of_pf *m = &s->mark[--s->nb_marks];

		if (s->marks_tx)
			rte_eth_remove_tx_callback(m->port, m->queue, m->callback);
		else
			rte_eth_remove_rx_callback(m->port, m->queue, m->callback);
		rte_free((void *)(uintptr_t)m->callback);
	}
}

void
bench_stream_close(struct bench_stream *s)
{
	unmark_all(s);
	bench_order_close(&s->order);
	free(s->number);
	s->number = NULL;
}

/* Under the sender's lock: a burst of packets, of the flows in turn. */
static void
make_burst(struct bench_stream *s)
{
	if (rte_pktmbuf_alloc_bulk(s->pool, s->unsent, APP_BURST) != 0)
		return;
	for (uint16_t i = 0; i < APP_BURST; i++) {
		bench_frame_fill(s->unsent[i], &s->flows->frame[s->next_flow]);
		*bench_label_of(s->unsent[i]) = (struct bench_label){
			.number = s->number[s->next_flow]++};
		s->next_flow = s->next_flow + 1 == s->flows->nb ? 0 : s->next_flow + 1;
	}
	s->first_unsent = 0;
	s->nb_unsent = APP_BURST;
	/* before they are: none may come back unaccounted for */
	rte_atomic_store_explicit(&s->sent, bench_stream_sent(s) + APP_BURST,
				  rte_memory_order_release);
}

static bool
may_send(const struct bench_stream *s)
{
	const uint64_t back = bench_order_delivered(&s->order) +
			      rte_atomic_load_explicit(&s->given_up, rte_memory_order_relaxed);

	return !rte_atomic_load_explicit(&s->stop, rte_memory_order_relaxed) &&
	       (int64_t)(bench_stream_sent(s) - back) <= BENCH_STREAM_WINDOW - APP_BURST;
}

static void
try_send(struct bench_stream *s, uint8_t worker)
{
	const uint8_t owner = bench_lane_owner(&s->out);

	if ((owner != worker && owner != BENCH_ANYBODY) || !rte_spinlock_trylock(&s->sending))
		return;
	if (s->nb_unsent == 0 && may_send(s))
		make_burst(s);
	if (s->nb_unsent > 0) {
		const uint16_t n = rte_eth_tx_burst(s->out.port, s->out.queue,
						    s->unsent + s->first_unsent, s->nb_unsent);

		s->first_unsent += n;
		s->nb_unsent -= n;
	}
	rte_spinlock_unlock(&s->sending);
}

static uint16_t
receive(struct bench_stream *s, uint8_t worker)
{
	struct rte_mbuf *pkts[APP_BURST];
	uint16_t got = 0;

	for (unsigned int i = 0; i < s->nb_lanes; i++) {
		uint16_t n;

		if (bench_lane_owner(&s->lane[i]) != worker)
			continue;
		n = rte_eth_rx_burst(s->lane[i].port, s->lane[i].queue, pkts, APP_BURST);
		if (n == 0)
			continue;
		bench_order_receive(&s->order, worker, i, pkts, n);
		if (s->take != NULL)
			s->take(s->arg, i, pkts, n);
		else
			rte_pktmbuf_free_bulk(pkts, n);
		got += n;
	}
	return got;
}

static int
work(void *arg)
{
	struct bench_stream *s = arg;
	const uint8_t worker = rte_lcore_id() == app_lcore(0) ? 0 : 1;
	unsigned int idle = 0;

	while (!rte_atomic_load_explicit(&s->quit, rte_memory_order_relaxed)) {
		const uint16_t got = receive(s, worker);

		if (got == 0 || bench_lane_owner(&s->out) == worker)
			try_send(s, worker);
		bench_order_look(&s->order);
		if (s->turn != NULL)
			s->turn(s->arg, worker);
		/* others wait for a CPU */
		idle = got == 0 ? idle + 1 : 0;
		if (idle % IDLE_TURNS == IDLE_TURNS - 1)
			app_step_aside();
	}
	return 0;
}

int
bench_stream_start(struct bench_stream *s)
{
	int ret = 0;

	for (unsigned int i = 0; i < APP_NB_WORKERS && ret == 0; i++)
		ret = rte_eal_remote_launch(work, s, app_lcore(i));
	return ret;
}

/* Sleep; returns whether anything came meanwhile, or nothing is under way. */
static bool
has_progress(struct bench_stream *s, unsigned int patience_ms)
{
	const uint64_t before = bench_order_delivered(&s->order);
	const uint64_t given_up = rte_atomic_load_explicit(&s->given_up, rte_memory_order_relaxed);

	for (unsigned int i = 0; i < patience_ms / LOOK_MS; i++) {
		rte_delay_us_sleep(LOOK_MS * 1000);
		if (bench_order_delivered(&s->order) != before ||
		    bench_stream_sent(s) <= before + given_up)
			return true;
	}
	return false;
}

void
bench_stream_give_up(struct bench_stream *s)
{
	rte_atomic_store_explicit(&s->given_up,
				  bench_stream_sent(s) - bench_order_delivered(&s->order),
				  rte_memory_order_relaxed);
}

void
bench_stream_forgive(struct bench_stream *s)
{
	rte_atomic_store_explicit(&s->given_up, 0, rte_memory_order_relaxed);
}

int
bench_stream_warm_up(struct bench_stream *s)
{
	int ret = 0;

	while (ret == 0 && bench_order_delivered(&s->order) < WARM_UP)
		ret = bench_stream_watch(s);
	return ret;
}

int
bench_stream_watch(struct bench_stream *s)
{
	for (int lapses = 0; lapses < MAX_LAPSES; lapses++) {
		if (has_progress(s, PATIENCE_MS))
			return 0;
		bench_stream_give_up(s);
	}
	fprintf(stderr, "%s: no packet comes any more\n", app_name);
	return -ETIMEDOUT;
}

/* Whoever takes the lock after us sees that no more is to be sent. */
void
bench_stream_hush(struct bench_stream *s)
{
	rte_atomic_store_explicit(&s->stop, true, rte_memory_order_relaxed);
	while (!rte_spinlock_trylock(&s->sending))
		rte_delay_us_sleep(LOOK_MS * 1000);
	rte_spinlock_unlock(&s->sending);
}

/* In rings, pipelines, on wires, with a worker: a packet that is lost has no buffer any more. */
static bool
is_any_under_way(const struct bench_stream *s)
{
	return rte_mempool_in_use_count(s->pool) + rte_mempool_in_use_count(s->rx_pool) >
	       s->nb_unsent;
}

/* Returns how many do not come. A worker may have no CPU for long: then nothing is lost yet. */
static int64_t
drain(struct bench_stream *s, unsigned int patience_ms)
{
	const uint64_t end = rte_rdtsc() + MAX_WAY_S * rte_get_tsc_hz();

	bench_stream_hush(s);
	/* perhaps what was given up comes, after all */
	bench_stream_forgive(s);
	while (bench_order_delivered(&s->order) < bench_stream_sent(s) &&
	       (has_progress(s, patience_ms) || (is_any_under_way(s) && rte_rdtsc() < end)))
		;
	/* what was never given to the port is not lost */
	return (int64_t)(bench_stream_sent(s) - bench_order_delivered(&s->order)) - s->nb_unsent;
}

int64_t
bench_stream_pause(struct bench_stream *s)
{
	return drain(s, PAUSE_MS);
}

void
bench_stream_resume(struct bench_stream *s)
{
	bench_stream_give_up(s);
	rte_atomic_store_explicit(&s->stop, false, rte_memory_order_relaxed);
}

uint64_t
bench_stream_stop(struct bench_stream *s)
{
	const int64_t lost = drain(s, PATIENCE_MS);

	rte_atomic_store_explicit(&s->quit, true, rte_memory_order_relaxed);
	rte_eal_mp_wait_lcore();
	rte_pktmbuf_free_bulk(s->unsent + s->first_unsent, s->nb_unsent);
	s->nb_unsent = 0;
	return lost < 0 ? 0 : (uint64_t)lost;
}

void
bench_stream_result(const struct bench_stream *s, struct bench_changes *c)
{
	c->pfs = s->nic->conf.nb_pfs;
	c->duplicated = s->order.duplicated;
	c->reordered = s->order.reordered;
	c->foreign = s->order.foreign;
	c->packets = bench_order_delivered(&s->order);
	c->fence_timeouts = bench_nic_fence_timeouts(s->nic);
	c->rehomes = bench_nic_xstat(s->nic, "rehomes");
	c->wait_us = bench_nic_wait_us(s->nic);
}
