/* SPDX-License-Identifier: BSD-3-Clause */

#include <stdio.h>
#include <string.h>

#include <eal_export.h>
#include <rte_common.h>

#include "octo_counts.h"

/* Structs of nothing but counters are as good as arrays of them. */
#define NB_OF(type) (sizeof(type) / sizeof(uint64_t))
#define DELTAS(type, before, now, delta, restarted)                                                \
	octo_rate_deltas((const uint64_t *)(before), (const uint64_t *)(now), (uint64_t *)(delta), \
			 NB_OF(type), restarted)
#define SUMS(type, sum, amount) add_all((uint64_t *)(sum), (const uint64_t *)(amount), NB_OF(type))

static void
add_all(uint64_t *sum, const uint64_t *amount, unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++)
		octo_rate_add(&sum[i], amount[i]);
}

static bool
counts_by_queue(uint64_t bytes, const uint64_t *of_queue, unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++)
		if (of_queue[i] > 0)
			return true;
	return bytes == 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_counts_bytes_of)
uint64_t
octo_counts_bytes_of(uint64_t bytes, const uint64_t *of_queue, unsigned int nb, unsigned int queue,
		     bool has_sent)
{
	if (queue < nb && counts_by_queue(bytes, of_queue, nb))
		return of_queue[queue];
	return has_sent ? OCTO_RATE_UNKNOWN : 0;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_counts_span)
void
octo_counts_span(const struct octo_counts *before, const struct octo_counts *now,
		 struct octo_counts *span)
{
	bool work_restarted = false;
	bool restarted = false;

	memcpy(span, now, sizeof(*span));
	span->ns = now->ns - before->ns;
	DELTAS(struct octo_traffic, &before->port, &now->port, &span->port, &restarted);
	for (uint16_t i = 0; i < now->nb_pfs; i++)
		DELTAS(struct octo_traffic, &before->pf[i], &now->pf[i], &span->pf[i], &restarted);
	for (uint16_t i = 0; i < now->nb_queues; i++)
		DELTAS(struct octo_queue_traffic, &before->queue[i], &now->queue[i],
		       &span->queue[i], &restarted);
	for (uint16_t i = 0; i < now->nb_sockets; i++)
		DELTAS(struct octo_uncore_bytes, &before->socket[i], &now->socket[i],
		       &span->socket[i], &restarted);
	span->hits = octo_rate_gain(before->hits, now->hits);
	/* the application's own, which begins anew whenever it does */
	DELTAS(struct octo_work, &before->work, &now->work, &span->work, &work_restarted);
	span->restarted = restarted;
}

/* Of the times that it was known. */
static void
add_work(struct octo_work *sum, const struct octo_work *work)
{
	if (work->cycles == OCTO_RATE_UNKNOWN || work->packets == OCTO_RATE_UNKNOWN)
		return;
	sum->cycles += work->cycles;
	sum->packets += work->packets;
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_counts_add)
void
octo_counts_add(struct octo_counts *sum, const struct octo_counts *span)
{
	sum->ns += span->ns;
	sum->nb_pfs = span->nb_pfs;
	sum->nb_rx_queues = span->nb_rx_queues;
	sum->nb_tx_queues = span->nb_tx_queues;
	sum->nb_queues = span->nb_queues;
	sum->nb_sockets = span->nb_sockets;
	sum->restarted |= span->restarted;
	SUMS(struct octo_traffic, &sum->port, &span->port);
	for (uint16_t i = 0; i < span->nb_pfs; i++)
		SUMS(struct octo_traffic, &sum->pf[i], &span->pf[i]);
	for (uint16_t i = 0; i < span->nb_queues; i++)
		SUMS(struct octo_queue_traffic, &sum->queue[i], &span->queue[i]);
	for (uint16_t i = 0; i < span->nb_sockets; i++)
		SUMS(struct octo_uncore_bytes, &sum->socket[i], &span->socket[i]);
	add_all(&sum->hits, &span->hits, 1);
	sum->rules = span->rules;
	sum->latency = span->latency;
	add_work(&sum->work, &span->work);
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_counts_strays)
void
octo_counts_strays(const struct octo_counts *counts, uint64_t *home, uint64_t *stray)
{
	*home = 0;
	*stray = 0;
	for (uint16_t i = 0; i < counts->nb_rx_queues; i++) {
		*home += counts->queue[i].home_packets;
		*stray += counts->queue[i].stray_packets;
	}
}

/* Tells fields whose names begin alike. */
struct teller {
	octo_field_fn tell;
	void *to;
	char prefix[16];
};

static void
tell(const struct teller *t, const char *name, double value)
{
	char full[64];

	snprintf(full, sizeof(full), "%s%s", t->prefix, name);
	t->tell(t->to, full, value);
}

static double
known(uint64_t value)
{
	return value == OCTO_RATE_UNKNOWN ? NAN : (double)value;
}

static void
tell_traffic(const struct teller *t, const struct octo_traffic *of, uint64_t ns)
{
	tell(t, "rx_packets_per_second", octo_rate_per_second(of->rx_packets, ns));
	tell(t, "rx_bits_per_second", 8 * octo_rate_per_second(of->rx_bytes, ns));
	tell(t, "tx_packets_per_second", octo_rate_per_second(of->tx_packets, ns));
	tell(t, "tx_bits_per_second", 8 * octo_rate_per_second(of->tx_bytes, ns));
	tell(t, "rx_missed_per_second", octo_rate_per_second(of->rx_missed, ns));
	tell(t, "rx_errors_per_second", octo_rate_per_second(of->rx_errors, ns));
	tell(t, "rx_nombuf_per_second", octo_rate_per_second(of->rx_nombuf, ns));
	tell(t, "tx_errors_per_second", octo_rate_per_second(of->tx_errors, ns));
}

static void
tell_strays(const struct teller *t, uint64_t home, uint64_t stray, uint64_t ns)
{
	tell(t, "home_packets_per_second", octo_rate_per_second(home, ns));
	tell(t, "stray_packets_per_second", octo_rate_per_second(stray, ns));
	tell(t, "stray_ppm", 1e6 * octo_rate_share(stray, home));
}

static void
tell_socket(const struct teller *t, const struct octo_uncore_bytes *bytes, uint64_t ns)
{
	static const char *const names[] = {
		[OCTO_UNCORE_LINK_OUT] = "link_out_bytes_per_second",
		[OCTO_UNCORE_LINK_IN] = "link_in_bytes_per_second",
		[OCTO_UNCORE_DRAM_READ] = "dram_read_bytes_per_second",
		[OCTO_UNCORE_DRAM_WRITE] = "dram_write_bytes_per_second",
		[OCTO_UNCORE_DRAM] = "dram_bytes_per_second",
	};

	for (int kind = 0; kind < OCTO_UNCORE_KINDS; kind++)
		tell(t, names[kind], octo_rate_per_second(bytes->of[kind], ns));
}

static void
tell_rest(const struct teller *t, const struct octo_counts *span)
{
	tell(t, "rules", known(span->rules.rules));
	tell(t, "rules_learned", known(span->rules.learned));
	tell(t, "rules_ineffective", known(span->rules.ineffective));
	tell(t, "rule_hits_per_second", octo_rate_per_second(span->hits, span->ns));
	tell(t, "busy_cycles_per_packet", octo_rate_each(span->work.cycles, span->work.packets));
	tell(t, "latency_min_ns", known(span->latency.min_ns));
	tell(t, "latency_avg_ns", known(span->latency.avg_ns));
	tell(t, "latency_max_ns", known(span->latency.max_ns));
	tell(t, "latency_jitter_ns", known(span->latency.jitter_ns));
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_counts_tell_port)
void
octo_counts_tell_port(const struct octo_counts *span, octo_field_fn fn, void *to)
{
	struct teller t = {.tell = fn, .to = to};
	uint64_t home, stray;

	octo_counts_strays(span, &home, &stray);
	tell(&t, "interval_ms", (double)span->ns / 1e6);
	tell(&t, "counters_restarted", span->restarted);
	tell_traffic(&t, &span->port, span->ns);
	tell_strays(&t, home, stray, span->ns);
	tell_rest(&t, span);
	for (uint16_t i = 0; i < span->nb_pfs; i++) {
		snprintf(t.prefix, sizeof(t.prefix), "pf%u_", i);
		tell_traffic(&t, &span->pf[i], span->ns);
	}
	for (uint16_t i = 0; i < span->nb_sockets; i++) {
		snprintf(t.prefix, sizeof(t.prefix), "socket%u_", i);
		tell_socket(&t, &span->socket[i], span->ns);
	}
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_counts_tell_queue)
void
octo_counts_tell_queue(const struct octo_counts *span, uint16_t queue, const char *prefix,
		       octo_field_fn fn, void *to)
{
	const struct octo_queue_traffic *q = &span->queue[queue];
	struct teller t = {.tell = fn, .to = to};

	snprintf(t.prefix, sizeof(t.prefix), "%s", prefix);
	if (queue < span->nb_rx_queues) {
		tell(&t, "rx_packets_per_second",
		     octo_rate_per_second(q->home_packets + q->stray_packets, span->ns));
		tell(&t, "rx_bits_per_second",
		     8 * octo_rate_per_second(q->home_bytes + q->stray_bytes, span->ns));
		tell_strays(&t, q->home_packets, q->stray_packets, span->ns);
	}
	if (queue < span->nb_tx_queues) {
		tell(&t, "tx_packets_per_second", octo_rate_per_second(q->tx_packets, span->ns));
		tell(&t, "tx_bits_per_second", 8 * octo_rate_per_second(q->tx_bytes, span->ns));
	}
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_counts_tell_totals)
void
octo_counts_tell_totals(const struct octo_counts *sum, octo_field_fn fn, void *to)
{
	const struct teller t = {.tell = fn, .to = to};
	const struct octo_traffic *port = &sum->port;
	uint64_t home, stray;

	octo_counts_strays(sum, &home, &stray);
	tell(&t, "rx_packets", known(port->rx_packets));
	tell(&t, "rx_bytes", known(port->rx_bytes));
	tell(&t, "tx_packets", known(port->tx_packets));
	tell(&t, "tx_bytes", known(port->tx_bytes));
	tell(&t, "rx_missed", known(port->rx_missed));
	tell(&t, "rx_errors", known(port->rx_errors));
	tell(&t, "rx_nombuf", known(port->rx_nombuf));
	tell(&t, "tx_errors", known(port->tx_errors));
	tell(&t, "home_packets", known(home));
	tell(&t, "stray_packets", known(stray));
	tell(&t, "rule_hits", known(sum->hits));
}

RTE_EXPORT_INTERNAL_SYMBOL(octo_counts_tell_queue_totals)
void
octo_counts_tell_queue_totals(const struct octo_counts *sum, uint16_t queue, const char *prefix,
			      octo_field_fn fn, void *to)
{
	const struct octo_queue_traffic *q = &sum->queue[queue];
	struct teller t = {.tell = fn, .to = to};

	snprintf(t.prefix, sizeof(t.prefix), "%s", prefix);
	if (queue < sum->nb_rx_queues) {
		tell(&t, "home_packets", known(q->home_packets));
		tell(&t, "home_bytes", known(q->home_bytes));
		tell(&t, "stray_packets", known(q->stray_packets));
		tell(&t, "stray_bytes", known(q->stray_bytes));
	}
	if (queue < sum->nb_tx_queues) {
		tell(&t, "tx_packets", known(q->tx_packets));
		tell(&t, "tx_bytes", known(q->tx_bytes));
	}
}
