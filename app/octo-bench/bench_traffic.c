/* SPDX-License-Identifier: BSD-3-Clause */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_pause.h>

#include "bench_traffic.h"

/* Packets under way at most: they fit in any one ring. */
#define WINDOW (BENCH_RING / 2)

/* After so long without any packet, what is missing counts as lost. */
#define PATIENCE_S 10

/* Looked at ever more rarely. */
#define LOOK_US 500
#define IDLE_POLLS 1024
#define LOOK_US_MAX 50000

/* More than a queue needs to find its home: it looks at its first burst and every 64th. */
#define SETTLE_POLLS 1024

uint32_t
bench_pick_in_turn(struct bench_worker *w)
{
	return (w->sent * APP_NB_WORKERS + w->index) % w->traffic->flows->nb;
}

uint32_t
bench_pick_any(struct bench_worker *w)
{
	return (bench_worker_random(w) >> 32) * w->traffic->flows->nb >> 32;
}

/* What all workers have told of one thing so far. */
static uint64_t
total_sent(const struct bench_traffic *t)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < APP_NB_WORKERS; i++)
		n += rte_atomic_load_explicit(&t->worker[i].told_sent, rte_memory_order_acquire);
	return n;
}

static uint64_t
total_received(const struct bench_traffic *t)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < APP_NB_WORKERS; i++)
		n += rte_atomic_load_explicit(&t->worker[i].told_received,
					      rte_memory_order_acquire);
	return n + t->given_up;
}

static bool
all_done(const struct bench_traffic *t)
{
	bool done = true;

	/* pairs with the release in generate(): what was sent before is told */
	for (unsigned int i = 0; i < APP_NB_WORKERS; i++)
		done &= rte_atomic_load_explicit(&t->worker[i].done, rte_memory_order_acquire);
	return done;
}

static void
send_burst(struct bench_worker *w, uint16_t n)
{
	const struct bench_traffic *t = w->traffic;
	struct rte_mbuf *pkts[APP_BURST];
	uint16_t sent = 0;

	if (rte_pktmbuf_alloc_bulk(t->pool, pkts, n) != 0)
		return;
	/* before they are: none may come back unaccounted for */
	rte_atomic_store_explicit(&w->told_sent, w->sent + n, rte_memory_order_release);
	for (uint16_t i = 0; i < n; i++) {
		bench_frame_fill(pkts[i], &t->flows->frame[t->pick(w)]);
		w->sent++;
	}
	/* the window fits in the cable, so there is room as soon as others move on */
	while (sent < n) {
		sent += rte_eth_tx_burst(t->nic->peer, w->index, pkts + sent, n - sent);
		if (sent < n)
			rte_pause();
	}
}

static void
generate(struct bench_worker *w)
{
	struct bench_traffic *t = w->traffic;

	if (w->sent == w->to_send || rte_atomic_load_explicit(&t->stop, rte_memory_order_relaxed)) {
		rte_atomic_store_explicit(&w->done, true, rte_memory_order_release);
		return;
	}
	/* each worker may fill its part */
	if (total_sent(t) - total_received(t) <= WINDOW - APP_NB_WORKERS * APP_BURST)
		send_burst(w, RTE_MIN(w->to_send - w->sent, (uint64_t)APP_BURST));
}

static inline void
account(struct bench_worker *w, uint16_t queue, const struct rte_mbuf *m)
{
	const struct bench_traffic *t = w->traffic;
	const int64_t flow = bench_frame_flow(m, t->flows->nb);

	if (unlikely(flow < 0)) {
		w->foreign++;
		return;
	}
	w->arrived[flow]++;
	w->of_queue[queue]++;
	if (t->expected != NULL && unlikely(t->expected[flow] != queue))
		w->misdirected++;
}

static void
receive(struct bench_worker *w, uint16_t queue)
{
	struct rte_mbuf *pkts[APP_BURST];
	const uint16_t n = rte_eth_rx_burst(w->traffic->nic->octo, queue, pkts, APP_BURST);

	for (uint16_t i = 0; i < n; i++)
		account(w, queue, pkts[i]);
	if (n == 0)
		return;
	rte_pktmbuf_free_bulk(pkts, n);
	w->received += n;
	rte_atomic_store_explicit(&w->told_received, w->received, rte_memory_order_release);
}

/* Has everything come, or has nothing come for long? */
static bool
is_over(const struct bench_traffic *t, uint64_t *last, uint64_t *since)
{
	const uint64_t received = total_received(t);

	if (received != *last || !all_done(t)) {
		*last = received;
		*since = rte_rdtsc();
	}
	return all_done(t) &&
	       (received >= total_sent(t) || rte_rdtsc() - *since > PATIENCE_S * rte_get_tsc_hz());
}

static int
work(void *arg)
{
	struct bench_worker *w = arg;
	uint64_t last = UINT64_MAX, since = rte_rdtsc();
	unsigned int idle = 0;

	/* the others' packets pass here, too: go on until all have come */
	while (!is_over(w->traffic, &last, &since)) {
		const uint64_t before = w->sent + w->received;

		generate(w);
		for (uint16_t i = 0; i < w->nb_queues; i++)
			receive(w, w->queue[i]);
		/* the others cannot go on: perhaps they wait for a CPU */
		idle = w->sent + w->received == before ? idle + 1 : 0;
		if (idle % IDLE_POLLS == IDLE_POLLS - 1)
			app_step_aside();
	}
	return 0;
}

int
bench_traffic_open(struct bench_traffic *t, const struct bench *bench, const struct bench_nic *nic,
		   const struct bench_flows *flows, bench_pick_t pick, const void *pick_arg)
{
	memset(t, 0, sizeof(*t));
	t->nic = nic;
	t->pool = bench->peer_pool;
	t->flows = flows;
	t->pick = pick;
	t->pick_arg = pick_arg;
	for (unsigned int i = 0; i < APP_NB_WORKERS; i++) {
		struct bench_worker *w = &t->worker[i];

		w->traffic = t;
		w->index = i;
		w->random = bench_random_of(i);
		w->arrived = calloc(flows->nb, sizeof(w->arrived[0]));
		if (w->arrived == NULL) {
			fprintf(stderr, "%s: no memory to count %u flows\n", app_name, flows->nb);
			return -ENOMEM;
		}
	}
	return 0;
}

void
bench_traffic_close(struct bench_traffic *t)
{
	for (unsigned int i = 0; i < APP_NB_WORKERS; i++)
		free(t->worker[i].arrived);
	/* another NIC may not be made */
	*t = (struct bench_traffic){0};
}

void
bench_traffic_poll(struct bench_traffic *t, unsigned int worker, uint16_t queue)
{
	struct bench_worker *w = &t->worker[worker];

	w->queue[w->nb_queues++] = queue;
}

static void
forget(struct bench_traffic *t)
{
	for (unsigned int i = 0; i < APP_NB_WORKERS; i++) {
		struct bench_worker *w = &t->worker[i];

		w->misdirected = w->foreign = 0;
		w->sent_before = w->sent;
		w->received_before = w->received;
		memset(w->of_queue, 0, sizeof(w->of_queue));
		memset(w->arrived, 0, t->flows->nb * sizeof(w->arrived[0]));
	}
}

static int
poll_often(void *arg)
{
	struct bench_worker *w = arg;

	for (unsigned int n = 0; n < SETTLE_POLLS; n++)
		for (uint16_t i = 0; i < w->nb_queues; i++)
			receive(w, w->queue[i]);
	return 0;
}

int
bench_traffic_settle(struct bench_traffic *t)
{
	int ret = 0;

	for (unsigned int i = 0; i < APP_NB_WORKERS && ret == 0; i++)
		ret = rte_eal_remote_launch(poll_often, &t->worker[i], app_lcore(i));
	rte_eal_mp_wait_lcore();
	return ret;
}

/* One that neither sends nor polls would only be in the way. */
static bool
has_work(const struct bench_worker *w)
{
	return w->to_send > w->sent || w->nb_queues > 0;
}

int
bench_traffic_start(struct bench_traffic *t, const uint64_t to_send[APP_NB_WORKERS])
{
	int ret = 0;

	rte_atomic_store_explicit(&t->stop, false, rte_memory_order_relaxed);
	t->given_up += total_sent(t) - total_received(t);
	for (unsigned int i = 0; i < APP_NB_WORKERS; i++) {
		struct bench_worker *w = &t->worker[i];

		w->to_send = to_send[i] == UINT64_MAX ? UINT64_MAX : w->sent + to_send[i];
		rte_atomic_store_explicit(&w->done, !has_work(w), rte_memory_order_relaxed);
	}
	for (unsigned int i = 0; i < APP_NB_WORKERS && ret == 0; i++)
		if (has_work(&t->worker[i]))
			ret = rte_eal_remote_launch(work, &t->worker[i], app_lcore(i));
	return ret;
}

static bool
is_anybody_at_work(void)
{
	for (unsigned int i = 0; i < APP_NB_WORKERS; i++)
		if (rte_eal_get_lcore_state(app_lcore(i)) == RUNNING)
			return true;
	return false;
}

void
bench_traffic_stop(struct bench_traffic *t)
{
	rte_atomic_store_explicit(&t->stop, true, rte_memory_order_relaxed);
	rte_eal_mp_wait_lcore();
}

static int
run(struct bench_traffic *t, const uint64_t to_send[APP_NB_WORKERS])
{
	const uint64_t before = total_received(t);
	const int ret = bench_traffic_start(t, to_send);
	unsigned int pause = LOOK_US;

	while (ret == 0 && is_anybody_at_work()) {
		rte_delay_us_sleep(pause);
		pause = RTE_MIN(2 * pause, (unsigned int)LOOK_US_MAX);
		bench_progress_part(total_received(t) - before, to_send[0] + to_send[1]);
	}
	bench_progress_end();
	rte_eal_mp_wait_lcore();
	return ret;
}

int
bench_traffic_send(struct bench_traffic *t, uint64_t nb, uint64_t *strays)
{
	const uint64_t to_send[APP_NB_WORKERS] = {(nb + 1) / 2, nb / 2};
	struct bench_received before, after;
	int ret = bench_nic_received(t->nic, &before);

	forget(t);
	if (ret == 0)
		ret = run(t, to_send);
	if (ret == 0)
		ret = bench_nic_received(t->nic, &after);
	if (ret == 0)
		*strays = after.stray - before.stray;
	return ret;
}

void
bench_traffic_count(const struct bench_traffic *t, struct bench_count *count)
{
	memset(count, 0, sizeof(*count));
	for (unsigned int i = 0; i < APP_NB_WORKERS; i++) {
		const struct bench_worker *w = &t->worker[i];

		count->sent += w->sent - w->sent_before;
		count->received += w->received - w->received_before;
		count->misdirected += w->misdirected + w->foreign;
		for (unsigned int q = 0; q < BENCH_MAX_QUEUES; q++)
			count->of_queue[q] += w->of_queue[q];
	}
}

uint32_t
bench_traffic_arrived(const struct bench_traffic *t, uint32_t flow)
{
	uint32_t n = 0;

	for (unsigned int i = 0; i < APP_NB_WORKERS; i++)
		n += t->worker[i].arrived[flow];
	return n;
}
