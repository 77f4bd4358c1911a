/* SPDX-License-Identifier: BSD-3-Clause */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_launch.h>

#include "demo_traffic.h"

#define LOOK_MS 100
#define SHOW_AFTER_S 2

/* What the port has counted so far. */
struct counters {
	uint64_t home;
	uint64_t stray;
	struct demo_pf_result pf[DEMO_NB_PFS];
};

static int
read_counters(uint16_t port, struct counters *c)
{
	char name[RTE_ETH_XSTATS_NAME_SIZE];
	int ret = app_xstat(port, "rx_home_packets", &c->home);

	if (ret == 0)
		ret = app_xstat(port, "rx_stray_packets", &c->stray);
	for (unsigned int i = 0; i < DEMO_NB_PFS && ret == 0; i++) {
		snprintf(name, sizeof(name), "pf%u_rx_good_packets", i);
		ret = app_xstat(port, name, &c->pf[i].rx_packets);
		if (ret != 0)
			break;
		snprintf(name, sizeof(name), "pf%u_tx_good_packets", i);
		ret = app_xstat(port, name, &c->pf[i].tx_packets);
	}
	return ret;
}

static void
prepare(struct demo_traffic *traffic, uint64_t packets)
{
	for (unsigned int i = 0; i < DEMO_NB_LCORES; i++) {
		struct demo_worker *w = &traffic->worker[i];

		/* the first lcores take one more where it does not divide */
		w->to_send = packets / DEMO_NB_LCORES + (i < packets % DEMO_NB_LCORES);
		w->sent = 0;
		w->echoed = 0;
		w->elsewhere = 0;
		memset(&w->count, 0, sizeof(w->count));
		rte_atomic_store_explicit(&w->progress, 0, rte_memory_order_relaxed);
	}
	rte_atomic_store_explicit(&traffic->busy, DEMO_NB_LCORES, rte_memory_order_relaxed);
}

/* Look on until the workers have ended; on a terminal, say how far they are. */
static void
look_on(struct demo_traffic *traffic, const char *name, uint64_t packets)
{
	const uint64_t start = rte_get_timer_cycles();
	const bool terminal = isatty(STDERR_FILENO);
	bool shown = false;

	while (rte_atomic_load_explicit(&traffic->busy, rte_memory_order_relaxed) > 0) {
		uint64_t done = 0;

		rte_delay_us_sleep(LOOK_MS * 1000);
		if (!terminal || rte_get_timer_cycles() - start < SHOW_AFTER_S * rte_get_timer_hz())
			continue;
		for (unsigned int i = 0; i < DEMO_NB_LCORES; i++)
			done += rte_atomic_load_explicit(&traffic->worker[i].progress,
							 rte_memory_order_relaxed);
		fprintf(stderr, "\r%s: %" PRIu64 " %% ", name, done * 100 / packets);
		shown = true;
	}
	if (shown)
		fprintf(stderr, "\r%*s\r", (int)strlen(name) + 10, "");
}

static int
run_workers(struct demo_traffic *traffic, const char *name, uint64_t packets)
{
	int ret = 0;

	prepare(traffic, packets);
	for (unsigned int i = 0; i < DEMO_NB_LCORES && ret == 0; i++)
		ret = rte_eal_remote_launch(demo_traffic_work, &traffic->worker[i], app_lcore(i));
	if (ret != 0)
		return ret;
	look_on(traffic, name, packets);
	rte_eal_mp_wait_lcore();
	return 0;
}

static void
add_up(const struct demo_traffic *traffic, struct demo_result *r)
{
	uint64_t sent = 0, received = 0;

	for (unsigned int i = 0; i < DEMO_NB_LCORES; i++) {
		const struct demo_worker *w = &traffic->worker[i];

		sent += w->sent;
		received += w->count.received;
		r->packets += w->echoed;
		r->elsewhere += w->elsewhere;
		r->reordered += w->count.reordered;
		/* a stranger in place of a packet shows as lost; on top of all, as one too many */
		r->duplicated += w->count.duplicated + w->count.foreign;
	}
	/* a late one of an earlier phase must not make up for one of this phase */
	r->lost = sent > received ? sent - received : 0;
}

int
demo_phase_run(struct demo_traffic *traffic, const struct demo_ports *ports, const char *name,
	       uint64_t packets, struct demo_result *result)
{
	struct counters before, after;
	int ret = read_counters(ports->octo, &before);

	if (ret == 0)
		ret = run_workers(traffic, name, packets);
	if (ret == 0)
		ret = read_counters(ports->octo, &after);
	if (ret != 0)
		return ret;
	*result = (struct demo_result){
		.name = name,
		.home_packets = after.home - before.home,
		.stray_packets = after.stray - before.stray,
	};
	for (unsigned int i = 0; i < DEMO_NB_PFS; i++) {
		result->pf[i].rx_packets = after.pf[i].rx_packets - before.pf[i].rx_packets;
		result->pf[i].tx_packets = after.pf[i].tx_packets - before.pf[i].tx_packets;
	}
	add_up(traffic, result);
	return 0;
}
