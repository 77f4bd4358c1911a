/* SPDX-License-Identifier: BSD-3-Clause */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bitops.h>
#include <rte_common.h>

#include "octo_counts.h"

/* Structs that consist of uint64_t counters are processed as arrays. */
#define NB_OF(type) (sizeof(type) / sizeof(uint64_t))
#define DELTAS(type, before, now, delta, restarted)                                                \
	add_deltas((const uint64_t *)(before), (const uint64_t *)(now), (uint64_t *)(delta),       \
		   NB_OF(type), restarted)
#define SUMS(type, sum, amount) add_all((uint64_t *)(sum), (const uint64_t *)(amount), NB_OF(type))

/* The fields of struct octo_traffic, in order. */
static const struct {
	const char *xstat; /* name of the xstat */
	const char *total;
	const char *rate;
	unsigned int per_count;
} traffic[NB_OF(struct octo_traffic)] = {
	{"rx_good_packets", "rx_packets", "rx_packets_per_second", 1},
	{"rx_good_bytes", "rx_bytes", "rx_bits_per_second", 8},
	{"tx_good_packets", "tx_packets", "tx_packets_per_second", 1},
	{"tx_good_bytes", "tx_bytes", "tx_bits_per_second", 8},
	{"rx_missed_errors", "rx_missed", "rx_missed_per_second", 1},
	{"rx_errors", "rx_errors", "rx_errors_per_second", 1},
	{"rx_mbuf_allocation_errors", "rx_nombuf", "rx_nombuf_per_second", 1},
	{"tx_errors", "tx_errors", "tx_errors_per_second", 1},
};

/* The fields of struct octo_queue_traffic: names of xstats after "rx_q<N>_", and of totals. */
#define NB_RX_FIELDS 4
static const char *const queue_totals[NB_OF(struct octo_queue_traffic)] = {
	"home_packets", "home_bytes", "stray_packets", "stray_bytes", "tx_packets", "tx_bytes",
};

static const char *const rule_xstats[NB_OF(struct octo_rule_state)] = {
	"steered_flows",
	"learned_flows",
	"steered_flows_ineffective",
};

void
octo_counts_begin(struct octo_counts *now, const struct octo_counts *before)
{
	memset(now, 0, sizeof(*now));
	now->hits = OCTO_RATE_UNKNOWN;
	now->work.cycles = OCTO_RATE_UNKNOWN;
	memset(&now->latency, 0xff, sizeof(now->latency));
	if (before != NULL)
		memcpy(now->pf, before->pf, sizeof(now->pf));
}

/* Parse "<prefix><index>_<rest>". Returns the rest, or NULL. */
static const char *
read_index(const char *name, const char *prefix, unsigned long max, uint16_t *index)
{
	const size_t len = strlen(prefix);
	unsigned long value;
	char *end;

	if (strncmp(name, prefix, len) != 0 || !isdigit((unsigned char)name[len]))
		return NULL;
	value = strtoul(name + len, &end, 10);
	if (value >= max || *end != '_')
		return NULL;
	*index = (uint16_t)value;
	return end + 1;
}

static void
take_traffic(struct octo_traffic *of, const char *name, uint64_t value)
{
	for (unsigned int i = 0; i < RTE_DIM(traffic); i++)
		if (strcmp(name, traffic[i].xstat) == 0)
			((uint64_t *)of)[i] = value;
}

static void
take_pf(struct octo_counts *now, uint16_t pf, const char *name, uint64_t value)
{
	struct octo_counts_by_queue *e = &now->pf_counts;
	uint16_t queue;
	const char *rest = read_index(name, "tx_q", OCTO_COUNTS_MAX_QUEUES, &queue);

	e->pfs |= RTE_BIT32(pf);
	if (rest == NULL) {
		take_traffic(&now->pf[pf], name, value);
	} else if (strcmp(rest, "bytes") == 0) {
		e->nb_told[pf] = RTE_MAX(e->nb_told[pf], queue + 1);
		e->by_queue |= value > 0 ? RTE_BIT32(pf) : 0;
	}
}

static void
take_rx_queue(struct octo_counts *now, uint16_t queue, const char *name, uint64_t value)
{
	for (unsigned int i = 0; i < NB_RX_FIELDS; i++) {
		if (strcmp(name, queue_totals[i]) != 0)
			continue;
		((uint64_t *)&now->queue[queue])[i] = value;
		now->nb_rx_queues = RTE_MAX(now->nb_rx_queues, queue + 1);
	}
}

static void
take_tx_queue(struct octo_counts *now, uint16_t queue, const char *name, uint64_t value)
{
	struct octo_counts_by_queue *e = &now->pf_counts;
	uint16_t pf;
	const char *rest = read_index(name, "pf", OCTO_COUNTS_MAX_PFS, &pf);

	if (rest != NULL && strcmp(rest, "packets") == 0) {
		now->queue[queue].tx_packets += value;
		now->nb_tx_queues = RTE_MAX(now->nb_tx_queues, queue + 1);
		e->sent_by[queue] |= value > 0 ? RTE_BIT32(pf) : 0;
	} else if (strcmp(name, "bytes") == 0) {
		now->queue[queue].tx_bytes = value;
		e->nb_own = RTE_MAX(e->nb_own, queue + 1);
	}
}

static void
take_port(struct octo_counts *now, const char *name, uint64_t value)
{
	uint16_t pf;

	take_traffic(&now->port, name, value);
	for (unsigned int i = 0; i < RTE_DIM(rule_xstats); i++)
		if (strcmp(name, rule_xstats[i]) == 0)
			((uint64_t *)&now->rules)[i] = value;
	if (read_index(name, "tx_pf", OCTO_COUNTS_MAX_PFS, &pf) != NULL)
		now->nb_pfs = RTE_MAX(now->nb_pfs, pf + 1);
}

void
octo_counts_take(struct octo_counts *now, const char *name, uint64_t value)
{
	static const struct {
		const char *prefix;
		unsigned long max;
		void (*take)(struct octo_counts *now, uint16_t i, const char *name, uint64_t value);
	} of[] = {
		{"pf", OCTO_COUNTS_MAX_PFS, take_pf},
		{"rx_q", OCTO_COUNTS_MAX_QUEUES, take_rx_queue},
		{"tx_q", OCTO_COUNTS_MAX_QUEUES, take_tx_queue},
	};
	uint16_t index;

	for (unsigned int i = 0; i < RTE_DIM(of); i++) {
		const char *rest = read_index(name, of[i].prefix, of[i].max, &index);

		if (rest != NULL) {
			of[i].take(now, index, rest, value);
			return;
		}
	}
	take_port(now, name, value);
}

/*
 * Did a PF that does not count bytes by queue send for this queue? The counts of a PF that is
 * gone stay valid.
 */
static bool
is_uncounted(const struct octo_counts *now, uint16_t queue)
{
	const struct octo_counts_by_queue *e = &now->pf_counts;

	for (uint16_t pf = 0; pf < OCTO_COUNTS_MAX_PFS; pf++) {
		if ((e->pfs & e->sent_by[queue] & RTE_BIT32(pf)) == 0)
			continue;
		if (queue >= RTE_MIN(e->nb_told[pf], e->nb_own))
			return true;
		if ((e->by_queue & RTE_BIT32(pf)) == 0 && now->pf[pf].tx_bytes > 0)
			return true;
	}
	return false;
}

void
octo_counts_end(struct octo_counts *now)
{
	now->nb_queues = RTE_MAX(now->nb_rx_queues, now->nb_tx_queues);
	for (uint16_t i = 0; i < now->nb_tx_queues; i++)
		if (is_uncounted(now, i))
			now->queue[i].tx_bytes = OCTO_RATE_UNKNOWN;
}

static void
add_deltas(const uint64_t *before, const uint64_t *now, uint64_t *delta, unsigned int nb,
	   bool *restarted)
{
	for (unsigned int i = 0; i < nb; i++)
		delta[i] = octo_rate_delta(before[i], now[i], restarted);
}

static void
add_all(uint64_t *sum, const uint64_t *amount, unsigned int nb)
{
	for (unsigned int i = 0; i < nb; i++)
		octo_rate_add(&sum[i], amount[i]);
}

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
	/* apart: the application restarts these counters by itself */
	DELTAS(struct octo_work, &before->work, &now->work, &span->work, &work_restarted);
	span->restarted = restarted;
}

/* Add only the spans in which the work is known. */
static void
add_work(struct octo_work *sum, const struct octo_work *work)
{
	if (work->cycles == OCTO_RATE_UNKNOWN || work->packets == OCTO_RATE_UNKNOWN)
		return;
	sum->cycles += work->cycles;
	sum->packets += work->packets;
}

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
	octo_rate_add(&sum->hits, span->hits);
	sum->rules = span->rules;
	sum->latency = span->latency;
	add_work(&sum->work, &span->work);
}

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

/* Passes on fields with a prefix before their names. */
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
	for (unsigned int i = 0; i < RTE_DIM(traffic); i++)
		tell(t, traffic[i].rate,
		     traffic[i].per_count * octo_rate_per_second(((const uint64_t *)of)[i], ns));
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

void
octo_counts_tell_totals(const struct octo_counts *sum, octo_field_fn fn, void *to)
{
	const struct teller t = {.tell = fn, .to = to};
	uint64_t home, stray;

	octo_counts_strays(sum, &home, &stray);
	for (unsigned int i = 0; i < RTE_DIM(traffic); i++)
		tell(&t, traffic[i].total, known(((const uint64_t *)&sum->port)[i]));
	tell(&t, "home_packets", known(home));
	tell(&t, "stray_packets", known(stray));
	tell(&t, "rule_hits", known(sum->hits));
}

void
octo_counts_tell_queue_totals(const struct octo_counts *sum, uint16_t queue, const char *prefix,
			      octo_field_fn fn, void *to)
{
	const unsigned int first = queue < sum->nb_rx_queues ? 0 : NB_RX_FIELDS;
	const unsigned int end = queue < sum->nb_tx_queues ? RTE_DIM(queue_totals) : NB_RX_FIELDS;
	struct teller t = {.tell = fn, .to = to};

	snprintf(t.prefix, sizeof(t.prefix), "%s", prefix);
	for (unsigned int i = first; i < end; i++)
		tell(&t, queue_totals[i], known(((const uint64_t *)&sum->queue[queue])[i]));
}
